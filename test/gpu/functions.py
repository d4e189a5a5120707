# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases of test/python/cases.py by the functions of the gq package.

`to` makes of a NumPy array and its element type in MLIR what is passed: the array
itself, or a tensor of torch.
"""

import elements
import formats
import gq
import numpy as np
import oracle

# nvFuser's test first: 1024 rows of 256 columns; then harder ones.
CONFIGURATIONS = {
    "nvfuser": (256, [115, 144, 8, 757], "bf16", "int32"),
    "one group": (128, [128], "bf16", "int32"),
    "one row": (64, [1], "f32", "int64"),
    "no rows": (64, [0, 0, 0], "bf16", "int32"),
    "empty groups": (144, [0, 0, 129, 0, 1, 0], "f16", "int64"),
    "multiples of 128": (512, [128, 256, 384], "bf16", "int64"),
    "one less and one more": (272, [127, 129, 255, 257], "f32", "int32"),
    "rows in no group": (160, [33, 65], "bf16", "int32"),
    "wide": (5120, [7, 0, 3], "bf16", "int32"),
    "narrow": (16, [300, 1, 299], "f16", "int32"),
    "many groups": (64, [i % 5 for i in range(128)], "bf16", "int32"),
    "a large group": (64, [3, 2000, 1], "bf16", "int64"),
    "columns of padded scales": (48, [100, 28], "f32", "int32"),
}


def decode(array):
    """A NumPy array as the tests hold it: bf16 and codes as integers."""
    kinds = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
    return array.view(kinds[array.dtype.itemsize])


def direction(wanted, d):
    """What the function takes for a direction of the oracle."""
    if not wanted or d == oracle.Direction():
        return wanted
    four = d.four_over_six
    return gq.Direction(
        rounding="stochastic" if d.stochastic else None,
        transform=None if d.signs is None else "hadamard16",
        signs=d.signs,
        block=(16, 16) if d.square else None,
        outer=None if d.outer == "group" else d.outer,
        four_over_six=four,
        scale_max=d.scale_max if four else None,
    )


def grouped_block_quantize(operands, attributes, to=lambda array, element: array):
    """Runs a case by the function; returns what was passed for the outputs."""
    given = {name: to(o.array, o.element) for name, o in operands.items()}
    order = [
        "data", "scales", "columnwise_data", "columnwise_scales", "amax", "dbias",
        "scale_offsets_out", "scale_inv",
    ]  # fmt: skip
    outs = [given[name] for name in order if name in given]
    shapes = None
    if "first_dims" in given:
        shapes = given["first_dims"], given["last_dims"]
    dbias = operands["dbias"].element if "dbias" in given else False
    common = dict(
        rows=attributes.rows, amax="amax" in given, dbias=dbias, shapes=shapes, out=outs
    )
    inputs = ["row_indices", "outer_amax"]
    if attributes.format in gq.FORMATS:
        inputs += ["scale_offsets", "global_scale", "columnwise_outer_amax", "rng_state"]
        gq.grouped_block_quantize(
            given["input"], given["offsets"], attributes.format,
            recipe=attributes.recipe, scale_layout=attributes.layout,
            rowwise=direction("data" in given, attributes.rowwise),
            columnwise=direction("columnwise_data" in given, attributes.columnwise),
            **common, **{n: given[n] for n in inputs if n in given},
        )  # fmt: skip
    else:
        gq.grouped_quantize(
            given["input"], given["offsets"], attributes.format,
            rowwise="data" in given, columnwise="columnwise_data" in given,
            scale_inv="scale_inv" in given, **common,
            **{n: given[n] for n in [*inputs, "scale"] if n in given},
        )  # fmt: skip
    return {name: given[name] for name in order if name in given}


def arguments(name):
    """A configuration: x as stored, its element type, offsets, scale offsets."""
    k, sizes, element, index = CONFIGURATIONS[name]
    rng = np.random.default_rng(len(name))
    more = 5 if name == "rows in no group" else 0
    x = formats.matrix(rng, sum(sizes) + more, k, element)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(index)
    padded = np.array([oracle.up(s, 128) for s in sizes])
    scale_offsets = (np.cumsum(padded) - padded).astype(index)
    return elements.encode(x, element), element, offsets, scale_offsets


def expected(x, offsets, scale_offsets, element):
    """(data, scales) of the oracle for a configuration."""
    k = x.shape[1]
    rows = int(scale_offsets[-1]) + oracle.up(int(offsets[-1] - offsets[-2]), 128)
    data = np.zeros((len(x), k // 2), np.uint8)
    scales = np.zeros((rows, oracle.tiled_columns(k)), np.uint8)
    return oracle.grouped_block_quantize(
        elements.decode(x, element), offsets, scale_offsets, data, scales
    )


def check(data, scales, wanted):
    """Whether uint8 arrays are what the oracle says; the buffer may be longer."""
    np.testing.assert_array_equal(data, wanted[0])
    np.testing.assert_array_equal(scales[: len(wanted[1])], wanted[1])
