# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and runs moe_layer.mlir and checks what comes out.

The golden case nvfp4_grouped_mm holds activations, the bytes that they quantize
to, and the layer's output in float64. A gate of 64 gives silu(64) = 64 in
float32, so with up = activation / 64 the layer's own activation is the golden
one, bit for bit, and so must be all that follows.
"""

import pathlib
import sys

import ml_dtypes
import numpy as np

import gq

root = pathlib.Path(__file__).resolve().parents[1]


def load(name):
    return np.load(root / "golden" / "nvfp4_grouped_mm" / f"{name}.npy")


activation = load("a_source").view(ml_dtypes.bfloat16)
up = (activation.astype(np.float32) / 64).astype(ml_dtypes.bfloat16)
gate = np.full_like(up, 64)
offsets = load("offsets")
weight_scales = load("b_scales").reshape(3, 128, 8)
scales0 = np.full((load("scales").size // 8, 8), 0xA5, np.uint8)

layer = gq.compile((root / "examples" / "moe_layer.mlir").read_text())
out, data, scales = layer(
    gate, up, offsets, load("scale_offsets"), load("b_data"), weight_scales,
    load("alpha"), scales0,
)  # fmt: skip

expected = load("out")
error = np.linalg.norm(out - expected) / np.linalg.norm(expected)
wrong_data = np.count_nonzero(data != load("data"))
wrong_scales = np.count_nonzero(
    scales.view(np.uint8).reshape(-1) != load("scales").reshape(-1)
)
print(f"Rows of the experts: {np.diff(offsets).tolist()}")
print(f"Data:   {data.size} bytes, {wrong_data} differ from the golden data")
print(f"Scales: {scales.size} bytes with padding, {wrong_scales} differ")
print(f"Output: relative error {error:.1e} against float64")
sys.exit(wrong_data != 0 or wrong_scales != 0 or not error < 1e-6)
