# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the PTX in the gpu.binary of a module on standard input."""

import re
import sys

text = re.search(r'assembly = "(.*?)">', sys.stdin.read(), re.S).group(1)
escape = re.compile(r"\\([0-9A-F]{2})")
print(escape.sub(lambda m: chr(int(m[1], 16)), text).rstrip("\0"))
