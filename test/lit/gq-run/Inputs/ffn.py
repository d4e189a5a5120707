# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ffn.py make|check DIR: arguments of examples/moe_ffn.mlir; its result."""

import pathlib
import sys

import numpy as np

root = pathlib.Path(__file__).resolve().parents[4]
sys.path += [str(root / "test" / "python"), str(root / "examples")]
import elements
import moe_ffn
import oracle


def matmul(x, codes):
    """Rows of groups by their weights, all scales of which are 1/16."""
    y = np.zeros((len(x), codes.shape[1]))
    for e, (begin, end) in enumerate(zip(moe_ffn.OFFSETS, moe_ffn.OFFSETS[1:])):
        y[begin:end] = x[begin:end] @ (oracle.e2m1_value(codes[e]) / 16).T
    return elements.rounded(y, "bf16")


def quantized(x):
    """What x stands for once it is quantized."""
    codes, scales = oracle.quantize_rows(x, "nvfp4")
    return oracle.e2m1_value(codes) * np.repeat(oracle.e4m3_value(scales), 16, axis=1)


command, folder = sys.argv[1:]
(gate, up, down), arguments = moe_ffn.arguments()
if command == "make":
    for i, array in enumerate(arguments):
        np.save(f"{folder}/{i}.npy", array)
else:
    y = elements.decode(np.load(f"{folder}/out/0.npy"), "bf16")
    tokens = quantized(elements.decode(arguments[0], "bf16"))
    g, u = matmul(tokens, gate), matmul(tokens, up)
    hidden = elements.rounded(g / (1 + np.exp(-g.astype(np.float64))) * u, "bf16")
    expected = matmul(quantized(hidden), down)
    # Rows in no group keep what they were.
    expected[: moe_ffn.OFFSETS[0]] = expected[moe_ffn.OFFSETS[-1] :] = 3
    # An element of the activation on the edge between two codes may go either way.
    error = np.linalg.norm(y - expected) / np.linalg.norm(expected)
    assert error < 2e-3, error
