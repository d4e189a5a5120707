# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The golden cases through compiled MLIR, byte for byte."""

import cases
import golden
import modules
import numpy as np
import oracle
import pytest


def arrays_and_types(case, static, packed):
    """A case's arrays and the Types of its operands."""
    c = (
        golden.source(case)
        if case == "nvfp4_grouped_mm"
        else golden.load(case)
    )
    m, k = c["input"].shape
    extents = {}
    if static:
        extents = {
            "m": m,
            "offsets": len(c["offsets"]),
            "groups": len(c["scale_offsets"]),
            "scale_rows": c["scales"].size // oracle.tiled_columns(k),
        }
    t = modules.Types(
        k,
        modules.element_of(c["input"]),
        modules.index_of(c["offsets"]),
        "scalar" if "global_scale" in c else None,
        packed,
        **extents,
    )
    return c, t


@pytest.mark.parametrize("fusion", [True, False])
@pytest.mark.parametrize(
    "static, packed", [(True, False), (False, False), (True, True)]
)
@pytest.mark.parametrize(
    "function", [modules.grouped_block_quantize, modules.separate_ops]
)
@pytest.mark.parametrize("case", golden.QUANTIZE_CASES + ["nvfp4_grouped_mm"])
def test_quantize(case, function, static, packed, fusion):
    c, t = arrays_and_types(case, static, packed)
    data, scales = modules.quantize(
        function(t),
        fusion,
        c["input"],
        c["offsets"],
        c["scale_offsets"],
        c.get("global_scale"),
        c["scales"].size // oracle.tiled_columns(t.k),
    )
    np.testing.assert_array_equal(data, c["data"])
    np.testing.assert_array_equal(scales.reshape(-1), c["scales"])


@pytest.mark.parametrize("out", modules.ELEMENTS)
def test_grouped_mm(out):
    c = golden.load("nvfp4_grouped_mm")
    k = c["a_source"].shape[1]
    p = oracle.tiled_columns(k)
    text = modules.grouped_mm(modules.Types(k, out), out, alpha=True)
    dtype = modules.ELEMENTS[out]
    result = cases.Poisoned(c["out"].shape, dtype)
    c_out = modules.compiled(text)(
        c["data"],
        c["b_data"],
        c["scales"].reshape(-1, p),
        c["b_scales"].reshape(len(c["b_scales"]), -1, p),
        c["offsets"],
        c["scale_offsets"],
        c["alpha"],
        result.array,
    )
    result.check_surroundings()
    assert c_out.dtype == dtype
    if out == "f32":
        np.testing.assert_allclose(c_out, c["out"], rtol=1e-6, atol=0)
    np.testing.assert_array_equal(c_out, oracle.round_to(c["out"], dtype))
