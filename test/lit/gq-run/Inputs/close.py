# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""close.py A B: fails unless float32 A is float64 B, rounded."""

import sys

import numpy as np

a, b = (np.load(path) for path in sys.argv[1:])
np.testing.assert_allclose(a.reshape(b.shape), b, rtol=2**-23, atol=0)
