# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compare.py A B: fails unless two arrays have the same bytes."""

import sys

import numpy as np

a, b = (np.load(path) for path in sys.argv[1:])
differences = np.flatnonzero(a.reshape(-1) != b.reshape(-1))
assert differences.size == 0, f"{differences.size} differ, the first at {differences[0]}"
