# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the golden cases; $GQ_GOLDEN_DIR is where they are."""

import json
import os
import pathlib

import ml_dtypes
import numpy as np

DIR = pathlib.Path(
    os.environ.get("GQ_GOLDEN_DIR")
    or pathlib.Path(__file__).resolve().parents[2] / "golden"
)

QUANTIZE_CASES = [
    "nvfp4_f32_four_groups",
    "nvfp4_bf16_four_groups",
    "nvfp4_bf16_global_scale",
    "nvfp4_f16_padded_scale_columns",
    "nvfp4_bf16_empty_groups",
    "nvfp4_f32_edge_blocks",
]


def load(case):
    """A case's arrays by name; bfloat16, stored as uint16, is restored."""
    manifest = json.loads((DIR / "manifest.json").read_text())
    arrays = {}
    for name, (dtype, shape) in manifest[case]["arrays"].items():
        array = np.load(DIR / case / f"{name}.npy")
        if dtype == "bfloat16":
            array = array.view(ml_dtypes.bfloat16)
        assert (array.dtype.name, list(array.shape)) == (dtype, shape)
        arrays[name] = array
    return arrays


def source(case):
    """The arrays of a matmul's left operand as those of a quantize case."""
    arrays = load(case)
    return {
        "input": arrays["a_source"],
        **{n: arrays[n] for n in ("offsets", "scale_offsets", "data", "scales")},
    }
