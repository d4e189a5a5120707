# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The test format of the suite, in a module because lit pickles it."""

import os
import pathlib
import re
import zlib

import lit.formats


class Suite(lit.formats.ShTest):
    """Of a mode other than "gq-opt", the tests that it makes a difference to: not those
    without gq-opt, and not those with `MODES: gq-opt`, which take long and look at
    machine code. Of these, one in $GQ_TEST_STEP: mode "gq-opt" has them all."""

    def __init__(self, mode):
        super().__init__(True)
        self.mode = mode
        self.step = int(os.environ.get("GQ_TEST_STEP") or 1)

    def getTestsInDirectory(self, *arguments):
        for test in super().getTestsInDirectory(*arguments):
            text = pathlib.Path(test.getSourcePath()).read_text()
            depends = re.search(r"RUN:.*(?<![/\w-])gq-opt\b", text)
            if self.mode == "gq-opt" or (
                depends
                and "MODES: gq-opt" not in text
                and zlib.crc32(text.encode()) % self.step == 0
            ):
                yield test
