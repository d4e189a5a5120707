# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs moe_ffn.mlir on a GPU, as one CUDA graph, and on the CPU.

moe_ffn.py GQ_RUN: 300 tokens, most of them of three experts, and random weights.
Both results are bf16; they differ where float32 sums, added up in another order,
are rounded to another code.
"""

import pathlib
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np

MODULE = pathlib.Path(__file__).with_suffix(".mlir")
OFFSETS = np.int32([2, 140, 140, 297])
# The code of 1/16, every scale of the weights.
SCALE = np.float32(1 / 16).astype(ml_dtypes.float8_e4m3fn).view(np.uint8)


def arguments():
    """The arguments of @main as gq-run takes them; e2m1 codes a byte each at first."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((300, 256)).astype(ml_dtypes.bfloat16).view(np.uint16)
    codes = [rng.integers(0, 16, shape, np.uint8)
             for shape in ((3, 128, 256), (3, 128, 256), (3, 256, 128))]  # fmt: skip
    y0 = np.full((300, 256), 3, ml_dtypes.bfloat16).view(np.uint16)
    scales = [np.full((3, n, k // 16), SCALE) for _, n, k in map(np.shape, codes)]
    packed = [c[..., 0::2] | c[..., 1::2] << 4 for c in codes]
    weights = [array for pair in zip(packed, scales) for array in pair]
    return codes, [x, OFFSETS, *weights, y0]


def run(gq_run, folder, *options):
    """Runs the module; returns its result and what gq-run printed."""
    inputs = [f"--in={folder}/{i}.npy" for i in range(9)]
    command = [gq_run, MODULE, *inputs, f"--out={folder}/out", *options]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    result = np.load(f"{folder}/out/0.npy").view(ml_dtypes.bfloat16)
    return result.astype(np.float64), done.stdout.strip()


def main():
    with tempfile.TemporaryDirectory() as folder:
        for i, array in enumerate(arguments()[1]):
            np.save(f"{folder}/{i}.npy", array)
        expected, _ = run(sys.argv[1], folder, "--target=cpu")
        options = ("--target=cuda", "--graph", "--repeat=100")
        y, time = run(sys.argv[1], folder, *options)
    error = np.linalg.norm(y - expected) / np.linalg.norm(expected)
    print(f"As one CUDA graph, {time}")
    print(f"Relative difference from the CPU: {error:.1e}")
    sys.exit(not error < 2e-3)


if __name__ == "__main__":
    main()
