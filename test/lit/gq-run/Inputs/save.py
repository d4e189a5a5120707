# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""save.py PATH DTYPE SHAPE: saves 1, 2, 3, ... as an array."""

import os
import sys

import numpy as np

path, dtype, shape = sys.argv[1:]
shape = [int(size) for size in shape.split(",") if size]
array = np.arange(1, 1 + np.prod(shape, dtype=int))
# Raw bytes, as which ml_dtypes saves small floats.
kind = {"V1": "u1", "V2": "u2"}.get(dtype, dtype)
array = array.astype(kind).reshape(shape).view(dtype)
os.makedirs(os.path.dirname(path), exist_ok=True)
np.save(path, array)
