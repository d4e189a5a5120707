# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bytecode_version.py IN OLD OUT NEW: replaces the dialect's version in bytecode.

It is alone in its section, the number of which is 7 in MLIR's bytecode; integers
are twice the number, plus 1.
"""

import pathlib
import sys

source, old, target, new = sys.argv[1:]
section = [bytes([7, 3, 2 * int(n) + 1]) for n in (old, new)]
data = pathlib.Path(source).read_bytes()
assert data.count(section[0]) == 1, f"{data.count(section[0])} versions"
pathlib.Path(target).write_bytes(data.replace(*section))
