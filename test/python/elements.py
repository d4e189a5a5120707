# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The element types of inputs, in NumPy, which has no bf16.

Arrays are computed as float32 and stored as their type, bf16 as uint16.
"""

import numpy as np

DTYPES = {"f32": np.float32, "bf16": np.uint16, "f16": np.float16}
# The largest number, the smallest normal one and the smallest one.
LIMITS = {
    "f32": (2.0**128 - 2.0**104, 2.0**-126, 2.0**-149),
    "bf16": (2.0**128 - 2.0**120, 2.0**-126, 2.0**-133),
    "f16": (65504.0, 2.0**-14, 2.0**-24),
}


def encode(x, element):
    """Floats as `element` stores them, float32 rounded to nearest even."""
    if element != "bf16":
        return x.astype(DTYPES[element])
    x = x.astype(np.float32)
    bits = np.where(np.isnan(x), np.copysign(np.float32(np.nan), x), x).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def decode(stored, element):
    """What is stored, as float32."""
    if element != "bf16":
        return stored.astype(np.float32)
    return (stored.astype(np.uint32) << 16).view(np.float32)


def rounded(x, element):
    """Floats rounded to those that `element` has, as float32."""
    return decode(encode(x, element), element)
