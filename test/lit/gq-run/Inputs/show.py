# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""show.py FILE...: prints the dtype, shape and elements of arrays."""

import sys

import numpy as np

for path in sys.argv[1:]:
    array = np.load(path)
    print(array.dtype, array.shape, array.tolist())
