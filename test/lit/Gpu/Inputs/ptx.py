# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the PTX of the gpu.binary operations of a module on standard input.

ptx.py [NUMBER]: all of it, or that of one of them.
"""

import re
import sys

texts = re.findall(r'assembly = "(.*?)">', sys.stdin.read(), re.S)
if len(sys.argv) > 1:
    texts = [texts[int(sys.argv[1])]]
escape = re.compile(r"\\([0-9A-F]{2})")
for text in texts:
    print(escape.sub(lambda m: chr(int(m[1], 16)), text).rstrip("\0"))
