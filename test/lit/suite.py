# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The test format of the suite, in a module because lit pickles it."""

import pathlib
import re

import lit.formats


class Suite(lit.formats.ShTest):
    """Of a mode other than "gq-opt", the tests that it makes a difference to: not those
    without gq-opt, and not those with `MODES: gq-opt`, which take long and look at
    machine code."""

    def __init__(self, mode):
        super().__init__(True)
        self.mode = mode

    def getTestsInDirectory(self, *arguments):
        for test in super().getTestsInDirectory(*arguments):
            text = pathlib.Path(test.getSourcePath()).read_text()
            depends = re.search(r"RUN:.*(?<![/\w-])gq-opt\b", text)
            if self.mode == "gq-opt" or depends and "MODES: gq-opt" not in text:
                yield test
