# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fp8_layer.py make|check DIR: arguments of examples/fp8_layer.mlir; its result."""

import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "python"))
import elements
import oracle

rng = np.random.default_rng(0)
x = elements.encode(rng.standard_normal((100, 256)), "bf16")
w = elements.encode(rng.standard_normal((512, 256)), "bf16")
offsets = np.int32([2, 60, 60, 61, 97])
bias = rng.standard_normal((4, 128)).astype(np.float32)

command, folder = sys.argv[1:]
if command == "make":
    for name in "x", "w", "offsets", "bias":
        np.save(f"{folder}/{name}.npy", globals()[name])
else:
    out = elements.decode(np.load(f"{folder}/fp8/0.npy"), "bf16")
    a, a_scales = oracle.quantize_rows(elements.decode(x, "bf16"), "fp8_e4m3_1x128")
    b, b_scales = oracle.quantize_rows(elements.decode(w, "bf16"), "fp8_e4m3_128x128")
    low, high = oracle.grouped_mm_bounds(
        a, b.reshape(4, 128, 256), a_scales, b_scales.reshape(4, 1, 2), offsets, None,
        None, np.zeros((100, 128), np.float32), bias=bias, fmt="fp8_e4m3_1x128",
        b_format="fp8_e4m3_128x128",
    )  # fmt: skip
    low, high = (elements.rounded(bound, "bf16")[2:97] for bound in (low, high))
    assert ((low <= out[2:97]) & (out[2:97] <= high)).all()
