# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers in place of codes: the function, and the pass that makes them of two ops.

The op itself is tested with all formats, directions and shapes (test_formats.py).
"""

import os
import subprocess

import cases
import elements
import formats
import golden
import gq
import modules
import numpy as np
import oracle
import pytest
import runtime

FORMATS = [*gq.FORMATS, *gq.TENSOR_FORMATS]
OFFSETS = np.array([3, 40, 40, 170, 198], np.int32)
ROWS, GROUPS = 200, 4
TOOLS = os.environ.get("GQ_TOOLS")


def matrix(fmt, element="bf16"):
    k = formats.columns(272, fmt)
    x = formats.matrix(np.random.default_rng(0), ROWS, k, element)
    return elements.encode(x, element).view(modules.ELEMENTS[element])


def scales_of(fmt):
    """What the format may have besides blocks: arguments of both functions."""
    amax = np.float32([3, 0, 700, 1e-3])
    if fmt in gq.TENSOR_FORMATS:
        return [{"scale": amax}, {"outer_amax": amax}]
    return [{}, {"global_scale": amax}, {"outer_amax": amax}] if fmt == "nvfp4" else [{}]


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("axis", ["rowwise", "columnwise"])
@pytest.mark.parametrize("out", ["float32", "bfloat16", "float16"])
def test_function(fmt, axis, out):
    """What the two functions make; rows in no group stay."""
    x = matrix(fmt)
    single = fmt in gq.TENSOR_FORMATS
    quantize = gq.grouped_quantize if single else gq.grouped_block_quantize
    columnwise = axis == "columnwise"
    for scales in scales_of(fmt):
        q = quantize(x, OFFSETS, fmt, rowwise=not columnwise, columnwise=columnwise, **scales)
        given = {} if single else scales
        if single:
            given = {"scale_inv": q.scale_inv}
        dtype = np.dtype(getattr(modules.ml_dtypes, out, None) or out)
        y, z = (cases.Poisoned(x.shape, dtype) for _ in range(2))
        gq.grouped_dequantize(q, axis=axis, out=y.array, **given)
        found = gq.fake_quantize(
            x, OFFSETS, fmt, axis=axis, rows="grouped", out=z.array, **scales
        )
        assert found is z.array
        cases.check_bits(z.array, y.array, "numbers")
        z.check_surroundings()


def test_defaults():
    """Rows in no group, too, in the type of x."""
    x = matrix("mxfp8_e4m3")
    y = gq.fake_quantize(x, OFFSETS, "mxfp8_e4m3")
    q = gq.block_quantize(x, "mxfp8_e4m3")
    assert y.dtype == x.dtype
    cases.check_bits(y, gq.block_dequantize(*q, "mxfp8_e4m3"), "numbers")


def test_directions():
    """Of rows with an outer amax each, and of columns, transformed and rounded
    stochastically."""
    x = matrix("nvfp4")
    rows = np.linspace(0, 9, ROWS, dtype=np.float32)
    columns = np.ones((GROUPS, x.shape[1]), np.float32)
    state = np.array([5, 6], np.int64)
    for axis, direction, amax, rng_state in [
        ("rowwise", gq.Direction(outer="row"), rows, None),
        ("rowwise", gq.Direction(four_over_six="mse"), np.float32(4), None),
        (
            "columnwise", gq.Direction(four_over_six="mae", scale_max=256, outer="column"),
            columns, None,
        ),
        ("columnwise", gq.Direction(outer="column"), columns, None),
        (
            "columnwise", gq.Direction(rounding="stochastic", transform="hadamard16", signs=77),
            np.float32(9), state,
        ),
    ]:  # fmt: skip
        columnwise = axis == "columnwise"
        amaxes = {"columnwise_outer_amax" if columnwise else "outer_amax": amax}
        directions = {"rowwise": False, axis: direction}
        q = gq.grouped_block_quantize(x, OFFSETS, rng_state=rng_state, **amaxes, **directions)
        expected = gq.grouped_dequantize(
            q, axis=axis, outer=direction.outer or "group", scale_max=direction.scale_max,
            outer_amax=amax, out=np.zeros(x.shape, np.float32),
        )  # fmt: skip
        found = gq.fake_quantize(
            x, OFFSETS, axis=axis, direction=direction, outer_amax=amax, rng_state=rng_state,
            out_dtype="float32",
        )  # fmt: skip
        inside = slice(OFFSETS[0], OFFSETS[-1])
        cases.check_bits(found[inside], expected[inside], axis)


@pytest.mark.parametrize("axis", ["rowwise", "columnwise"])
@pytest.mark.parametrize("scale_max", [256, 448])
def test_scale_max(axis, scale_max):
    """Of four over six: numbers are as large as what is quantized, with outer scales of
    6 * 256 / a, too."""
    x = np.random.default_rng(0).standard_normal((ROWS, 64), np.float32)
    found = gq.fake_quantize(
        x, OFFSETS, axis=axis, outer_amax=np.abs(x).max(), rows="grouped",
        direction=gq.Direction(four_over_six="mse", scale_max=scale_max), out=np.zeros_like(x),
    )  # fmt: skip
    inside = slice(OFFSETS[0], OFFSETS[-1])
    slope = np.vdot(found[inside], x[inside]) / np.vdot(x[inside], x[inside])
    assert 0.98 < slope < 1.02


def test_producer_and_gather():
    rng = np.random.default_rng(0)
    tokens = rng.standard_normal((50, 128), np.float32)
    indices = rng.integers(0, 50, ROWS).astype(np.int32)
    found = gq.fake_quantize(
        tokens, OFFSETS, producer="silu_and_mul", row_indices=indices, rows="grouped",
        out=np.zeros((ROWS, 64), np.float32),
    )  # fmt: skip
    q = gq.grouped_block_quantize(
        tokens, OFFSETS, producer="silu_and_mul", row_indices=indices
    )
    out = np.zeros((ROWS, 64), np.float32)
    cases.check_bits(found, gq.grouped_dequantize(q, out=out), "numbers")


def test_golden_per_tensor():
    c = golden.load("fp8_e4m3_per_tensor")
    y = gq.fake_quantize(
        c["input"], c["offsets"], "fp8_e4m3", scale=c["scale"], out_dtype="float32"
    )
    cases.check_bits(y, c["dequantized"], "numbers")


@pytest.mark.parametrize("name", [*golden.QUANTIZE_CASES, "mxfp8_e4m3", "mxfp8_e5m2"])
def test_golden(name):
    """What the golden codes and scales stand for."""
    c = golden.load(name)
    fmt = name if name in FORMATS else "nvfp4"
    scales = {"global_scale": c["global_scale"]} if "global_scale" in c else {}
    k = c["input"].shape[1]
    tiled = c["scales"].reshape(-1, oracle.up(k // oracle.FORMATS[fmt].block[1], 4))
    expected, found = (np.zeros(c["input"].shape, np.float32) for _ in range(2))
    gq.grouped_dequantize(
        c["data"], c["offsets"], scales=tiled, scale_offsets=c["scale_offsets"], format=fmt,
        out=expected, **scales,
    )  # fmt: skip
    offsets = c["offsets"]
    if len(offsets) == len(c["scale_offsets"]):  # They have no end.
        offsets = np.append(offsets, len(expected)).astype(offsets.dtype)
    gq.fake_quantize(c["input"], offsets, fmt, rows="grouped", out=found, **scales)
    cases.check_bits(found, expected, "numbers")


def test_refused():
    x = np.ones((4, 64), np.float32)
    offsets = np.int32([0, 4])
    for arguments, message in [
        ({"axis": "both"}, "axis: expected"),
        ({"format": "fp8"}, "format"),
        ({"format": "fp8_e4m3"}, "scale: expected one of it and outer_amax"),
        ({"format": "mxfp4", "direction": 1}, "direction: expected a Direction"),
        ({"out_dtype": "int8"}, "out_dtype: expected"),
        ({"format": "fp8_e4m3_1x128"}, "expected a multiple of 128 columns"),
    ]:
        with pytest.raises(gq.ArgumentError, match=message):
            gq.fake_quantize(x, offsets, **arguments)


def shaped(*shape):
    return cases.Operand(np.zeros(shape, np.float32), "f32")


@pytest.mark.parametrize("changes, message", [
    ({"scales": cases.Operand(np.zeros((256, 4), np.uint8), "f8E8M0FNU")},
     "expected no scales of numbers, found both data and scales"),
    ({"columnwise_scales": cases.Operand(np.zeros(4096, np.uint8), "f8E8M0FNU")},
     "expected no scales of numbers, found both columnwise_data and columnwise_scales"),
    ({"data": shaped(256, 127)}, r"data has shape \[256, 127\], expected \[256, 128\]"),
    ({"columnwise_data": shaped(255, 128)}, r"columnwise_data has shape \[255, 128\]"),
    ({"columnwise_data": shaped(256 * 128)}, "columnwise_data has rank 1, expected"),
    ({"scale_offsets_out": cases.Operand(np.zeros(2, np.int64), "i64")},
     "scale_offsets_out is for rowwise scales"),
])  # fmt: skip
def test_cpu_refuses(changes, message):
    """Nothing is written."""
    case = formats.rows_case("same_2", "f32", "mxfp8_e4m3", "nvfuser", "tile128x4")
    operands = case.operands(directions="both", numbers=("f32", "f32"))
    written = [operands[n].array for n in ("data", "columnwise_data")]
    with pytest.raises(gq.Error, match=message):
        runtime.quantize(operands | changes, case.attributes)
    assert all((a.view(np.uint8) == cases.POISON).all() for a in written)


def pair(fmt, axis):
    """Quantization, dequantization and what lies between, on tensors."""
    f = oracle.FORMATS[fmt]
    k = formats.columns(272, fmt)
    layout = formats.layouts(fmt)[0]
    encoding = ", #gq.tile128x4" if layout == "tile128x4" else ""
    clause = "outs" if axis == "rowwise" else "columnwise_outs"
    across = axis == "columnwise"
    data = f"tensor<?x{k}x{f.data.replace('i8', 'f4E2M1FN')}>"
    if across and f.transposes:
        data = f"tensor<?x{f.data.replace('i8', 'f4E2M1FN')}>"
    if across or (f.block[0] > 1):
        scales = f"tensor<?x{f.scale}{encoding}>"
    else:
        c = k // f.block[1]
        scales = f"tensor<?x{oracle.up(c, 4) if encoding else c}x{f.scale}{encoding}>"
    x, y, o = f"tensor<?x{k}xbf16>", f"tensor<?x{k}xf32>", "tensor<?xi32>"
    return f"""
      func.func @main(%x : {x}, %o : {o}, %q0 : {data}, %s0 : {scales}, %y0 : {y}) -> {y} {{
        %q, %s = gq.grouped_block_quantize format({fmt}) scale_layout({layout}) ins(%x : {x})
            groups(%o : {o}) {clause}(%q0, %s0 : {data}, {scales}) -> {data}, {scales}
        %y = gq.grouped_dequantize format({fmt}) scale_layout({layout}) axis({axis})
            ins(%q : {data}) scales(%s : {scales}) groups(%o : {o}) outs(%y0 : {y}) -> {y}
        return %y : {y}
      }}"""


@pytest.mark.skipif(TOOLS is None, reason="$GQ_TOOLS names no folder")
@pytest.mark.parametrize("fmt", gq.FORMATS)
@pytest.mark.parametrize("axis", ["rowwise", "columnwise"])
def test_pass(fmt, axis):
    """The same bytes before and after, rows in no group among them."""
    text = pair(fmt, axis)
    fused = subprocess.run(
        [f"{TOOLS}/gq-opt", "--pass-pipeline=builtin.module(gq-fuse-fake-quantize)"],
        input=text, text=True, capture_output=True, check=True,
    ).stdout  # fmt: skip
    assert "dequantize" in text and "dequantize" not in fused
    x, f = matrix(fmt), oracle.FORMATS[fmt]
    c, rows = x.shape[1] // f.block[1], oracle.up(ROWS, 128) + 128 * GROUPS
    flat = axis == "columnwise"
    tiled = f.scale != "f32"
    data = np.zeros(
        rows * x.shape[1] if flat and f.transposes else (ROWS, x.shape[1] * f.bits // 8),
        np.uint8,
    )  # fmt: skip
    scales = np.zeros(
        rows * x.shape[1] if flat or f.block[0] > 1
        else (rows, oracle.up(c, 4)) if tiled else (ROWS, c),
        np.uint8 if tiled else np.float32,
    )  # fmt: skip
    found = []
    for module in text, fused:
        y = cases.Poisoned(x.shape, np.float32)
        modules.compiled(module)(x, OFFSETS, data, scales, y.array)
        y.check_surroundings()
        found.append(y.array)
    cases.check_bits(found[1], found[0], "numbers")
    assert (found[1].view(np.uint8)[: OFFSETS[0]] == cases.POISON).all()
