# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of the package, on NumPy arrays and what else has DLPack."""

import gc
import os
import threading

import cases
import elements
import formats
import functions
import golden
import gq
import matmul
import ml_dtypes
import numpy as np
import oracle
import pytest
import test_directions
from gq import _arrays, _call, layout, producers

BATCHES = formats.batches(golden.DIR)
DTYPES = {"bf16": ml_dtypes.bfloat16}


def typed(array, element):
    """A stored array in the dtype that a user has."""
    return array.view(DTYPES[element]) if element in DTYPES else array


# ---------------------------------------------------------------------------
# grouped_block_quantize
# ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", functions.CONFIGURATIONS)
def test_configurations(name):
    """nvFuser's test and harder ones, by its function and by gq's own."""
    x, element, offsets, scale_offsets = functions.arguments(name)
    wanted = functions.expected(x, offsets, scale_offsets, element)
    x = typed(x, element)
    scale = np.float32(1)
    for data, scales in (
        gq.grouped_block_quantize(x, offsets),
        gq.grouped_block_quantize(x, offsets, scale_offsets=scale_offsets),
        gq.nv_grouped_block_quantize(x, offsets, scale_offsets),
        gq.nv_grouped_block_quantize(x, offsets, scale_offsets, scale),
    ):
        assert data.shape == (len(x), x.shape[1] // 2) and data.dtype == np.uint8
        assert scales.dtype == ml_dtypes.float8_e4m3fn
        functions.check(data, scales.view(np.uint8), wanted)
    q = gq.grouped_block_quantize(x, offsets)
    np.testing.assert_array_equal(q.scale_offsets, scale_offsets)


def test_offsets_of_nvfuser():
    """G entries: the last group ends with the rows."""
    x, element, offsets, scale_offsets = functions.arguments("nvfuser")
    wanted = functions.expected(x, offsets, scale_offsets, element)
    data, scales = gq.nv_grouped_block_quantize(x, offsets[:-1], scale_offsets)
    functions.check(data, scales.view(np.uint8), wanted)
    assert scales.shape == (1024 + 3 * 128, 16)


# One compilation each: of every format, both directions in all that they have.
NAMES = [
    n
    for n in BATCHES
    if n.startswith("golden")
    or (" both" in n and " bf16 " in n and n.split()[0] in ("varied", "gathered", "ragged", "dbias"))
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_batches(name):
    for case, operands in BATCHES[name]().calls:
        results = functions.grouped_block_quantize(operands, case.attributes, typed)
        case.check({n: a.view(functions.decode(a).dtype) for n, a in results.items()})


@pytest.mark.parametrize("case", golden.QUANTIZE_CASES + ["nvfp4_grouped_mm"])
def test_golden(case):
    c = golden.source(case) if case == "nvfp4_grouped_mm" else golden.load(case)
    data, scales = gq.grouped_block_quantize(
        c["input"], c["offsets"], scale_offsets=c["scale_offsets"],
        global_scale=c.get("global_scale"),
    )  # fmt: skip
    scales = scales.view(np.uint8).reshape(-1)
    np.testing.assert_array_equal(data, c["data"])
    np.testing.assert_array_equal(scales[: c["scales"].size], c["scales"])


def test_what_is_asked_for_comes_by_name_and_in_order():
    x = np.ones((4, 64), np.float32)
    q = gq.grouped_block_quantize(
        x, np.int32([0, 4]), "mxfp8_e4m3", columnwise=True, amax=True, dbias="bfloat16"
    )
    assert q.names == (
        "data", "scales", "columnwise_data", "columnwise_scales", "amax", "dbias"
    )  # fmt: skip
    for name, item in zip(q.names, q):
        assert getattr(q, name) is item
    assert q.amax == 1 and (q.dbias == 4).all() and q.dbias.dtype == ml_dtypes.bfloat16
    assert (q.format, q.columns) == ("mxfp8_e4m3", 64)
    assert "mxfp8_e4m3: data=float8_e4m3fn[4, 64]" in repr(q)
    only = gq.grouped_block_quantize(x, np.int32([0, 4]), rowwise=False, columnwise=True)
    assert only.names == ("columnwise_data", "columnwise_scales") and only.data is None


def test_out():
    x, element, offsets, scale_offsets = functions.arguments("nvfuser")
    q = gq.grouped_block_quantize(typed(x, element), offsets)
    out = [cases.Poisoned(a.shape, functions.decode(a).dtype) for a in q]
    data, scales = gq.grouped_block_quantize(
        typed(x, element), offsets, out=[o.array for o in out]
    )
    assert data is out[0].array and scales is out[1].array
    for o in out:
        o.check_surroundings()
    wanted = functions.expected(x, offsets, scale_offsets, element)
    functions.check(data, scales, wanted)
    assert (scales[len(wanted[1]) :] == cases.POISON).all()


def test_a_signature_is_compiled_once(monkeypatch):
    compiled = []
    compile_module = _call.compile_module
    monkeypatch.setattr(
        _call, "compile_module", lambda *a, **k: (compiled.append(a), compile_module(*a, **k))[1]
    )
    for rows in 5, 6, 5, 700:
        x = np.ones((rows, 1328), np.float32)
        gq.grouped_block_quantize(x, np.int32([0, 2, rows]))
    assert len(compiled) == 1
    gq.grouped_block_quantize(x.astype(np.float16), np.int32([0, 2, rows]))
    assert len(compiled) == 2


def test_threads():
    x, element, offsets, scale_offsets = functions.arguments("nvfuser")
    wanted = functions.expected(x, offsets, scale_offsets, element)
    failures = []

    def work():
        try:
            for _ in range(20):
                data, scales = gq.grouped_block_quantize(typed(x, element), offsets)
                functions.check(data, scales.view(np.uint8), wanted)
        except AssertionError as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


# ---------------------------------------------------------------------------
# Producers
# ---------------------------------------------------------------------------


def numbers(shape, seed=0):
    x = np.random.default_rng(seed).standard_normal(shape, np.float32)
    return x.astype(ml_dtypes.bfloat16)


OFFSETS = np.int32([0, 3, 3, 70])


def same(q, x):
    """Whether `q` is the quantization of x, the producer's result in bf16."""
    expected = gq.grouped_block_quantize(x, OFFSETS)
    np.testing.assert_array_equal(q.data, expected.data)
    rows = int(expected.scale_offsets[-1]) + 128
    a, b = (s.view(np.uint8)[:rows] for s in (q.scales, expected.scales))
    np.testing.assert_array_equal(a, b)


def test_silu_and_mul():
    gate, up = numbers((70, 64)), numbers((70, 64), 1)
    g, u = gate.astype(np.float32), up.astype(np.float32)
    h = (g / (np.exp(-g) + np.float32(1)) * u).astype(ml_dtypes.bfloat16)
    traced = lambda g, u: g / (producers.exp(-g) + 1) * u  # noqa: E731
    by_name = gq.grouped_block_quantize((gate, up), OFFSETS, producer="silu_and_mul")
    side_by_side = gq.grouped_block_quantize(
        np.concatenate([gate, up], 1), OFFSETS, producer="silu_and_mul"
    )
    for q in gq.grouped_block_quantize((gate, up), OFFSETS, producer=traced), side_by_side:
        np.testing.assert_array_equal(q.data, by_name.data)
    # exp of two libraries may differ in the last place, and so may codes then.
    expected = gq.grouped_block_quantize(h, OFFSETS).data
    assert (by_name.data != expected).mean() < 1e-3


def test_expressions():
    """Each operation that NumPy has too, of a matrix, a row and a scalar."""
    x, row, scalar = numbers((70, 64)), numbers(64, 1), np.float32(0.75)
    f = np.float32
    a, b, c = x.astype(f), row.astype(f), scalar
    where, maximum, minimum = producers.where, producers.maximum, producers.minimum
    table = [
        (lambda x, r, s: x + r - s * 2, a + b - c * f(2)),
        (lambda x, r, s: 1.5 / (abs(x) + s) - r, f(1.5) / (np.abs(a) + c) - b),
        (lambda x, r, s: where((x < r) | (x >= s), -x, 3.0), np.where((a < b) | (a >= c), -a, f(3))),
        (lambda x, r, s: where((x > r) & (x <= s), x, r), np.where((a > b) & (a <= c), a, b)),
        (lambda x, r, s: minimum(maximum(x, -0.5), r) * s, np.minimum(np.maximum(a, f(-0.5)), b) * c),
        (lambda x, r, s: (1 - x) ** 3 + r * s, (f(1) - a) * (f(1) - a) * (f(1) - a) + b * c),
        (lambda x, r, s: producers.sqrt(abs(x)) + +r * s, np.sqrt(np.abs(a)) + b * c),
    ]  # fmt: skip
    for producer, expected in table:
        # Inputs of two types: the result stays float32.
        q = gq.grouped_block_quantize((x, row, scalar), OFFSETS, producer=producer)
        same(q, expected)


@pytest.mark.parametrize("name", producers.NAMES)
def test_names(name):
    count = producers.count_inputs(name)
    inputs = tuple(numbers((70, 64), i) for i in range(count))
    q = gq.grouped_block_quantize(inputs, OFFSETS, "mxfp8_e4m3", producer=name)
    a, *rest = (x.astype(np.float64) for x in inputs)
    b = rest[0] if rest else 1
    from math import erf

    gelu = a * 0.5 * (1 + np.vectorize(erf)(a / np.sqrt(2)))
    tanh = a * 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (a + 0.044715 * a**3)))
    sigmoid = 1 / (1 + np.exp(-a))
    relu = np.maximum(a, 0)
    expected = {
        "silu": a * sigmoid, "silu_and_mul": a * sigmoid * b, "gelu": gelu,
        "gelu_and_mul": gelu * b, "gelu_tanh": tanh, "gelu_tanh_and_mul": tanh * b,
        "relu": relu, "relu2": relu**2, "sigmoid": sigmoid, "tanh": np.tanh(a),
    }[name]  # fmt: skip
    scales = layout.untile_groups(q.scales, OFFSETS, 2).view(np.uint8)
    value = q.data.astype(np.float64) * np.repeat(oracle.e8m0_value(scales), 32, 1)
    largest = np.abs(expected).reshape(70, 2, 32).max(-1).repeat(32, 1)
    assert (np.abs(value - expected) <= largest * 0.07).all()


def test_gathered_producer():
    gate, up, at = numbers((9, 64)), numbers((9, 64), 1), np.arange(70)[::-1] % 9
    q = gq.grouped_block_quantize(
        (gate, up), OFFSETS, producer="silu_and_mul", row_indices=at
    )
    expected = gq.grouped_block_quantize(
        (gate[at], up[at]), OFFSETS, producer="silu_and_mul"
    )
    np.testing.assert_array_equal(q.data, expected.data)
    for other in up[0], np.float32(3):  # A row and a scalar are not gathered.
        q = gq.grouped_block_quantize(
            (gate, other), OFFSETS, producer=lambda x, y: x * y, row_indices=at
        )
        expected = gq.grouped_block_quantize(
            (gate[at], other), OFFSETS, producer=lambda x, y: x * y
        )
        np.testing.assert_array_equal(q.data, expected.data)


@pytest.mark.parametrize("fmt", gq.FORMATS)
@pytest.mark.parametrize("shape", [(0, 32, 256), (2, 0, 256), (2, 96, 256)])
def test_extents_of_weights(fmt, shape):
    """Also of no experts, or of no rows."""
    groups, n, k = shape
    q = gq.quantize_weights(np.ones(shape, np.float32), fmt)
    assert q.data.shape == (groups, n, k // 2 if "4" in fmt.split("_")[0] else k)
    assert q.scales.shape[0] == groups


def test_other_columns():
    """Than a Quantized has."""
    q = gq.grouped_block_quantize(numbers((70, 64)), OFFSETS, columnwise=True)
    np.testing.assert_array_equal(gq.grouped_wgrad(q, q, n=64), gq.grouped_wgrad(q, q))
    for call, name in [
        (lambda: gq.grouped_wgrad(q, q, n=48), "n"),
        (lambda: gq.grouped_wgrad(q, q, k=128), "k"),
        (lambda: gq.grouped_dequantize(q, columns=32), "columns"),
    ]:
        with pytest.raises(gq.Error, match=f"{name}: expected 64, found"):
            call()


def test_wrong_producers():
    x = numbers((70, 64))
    for producer, error, message in [
        ("swish", gq.Error, "producer: expected a function or one of silu,"),
        (lambda x: x if x > 0 else -x, TypeError, r"producer: .* use where\(\)"),
        (lambda x: np.exp(x), TypeError, "does not support ufuncs"),
        (lambda x: "x", TypeError, "producer: expected a value or a number, found str"),
        (lambda x, y, z: x, gq.Error, "x: expected a multiple of 3 columns"),
        (lambda x: x**0.5, TypeError, "producer: .* whole number"),
    ]:
        with pytest.raises(error, match=message):
            gq.grouped_block_quantize(x, OFFSETS, producer=producer)
    with pytest.raises(gq.Error, match=r"x\[0\]: expected 2 inputs of the producer"):
        gq.grouped_block_quantize((x, x, x), OFFSETS, producer="silu_and_mul")
    with pytest.raises(gq.Error, match=r"x\[1\]: expected .* \[70, 64\], found"):
        gq.grouped_block_quantize((x, x[:5]), OFFSETS, producer="silu_and_mul")


# ---------------------------------------------------------------------------
# The other ops
# ---------------------------------------------------------------------------


def test_separate_ops():
    x, element, offsets, scale_offsets = functions.arguments("nvfuser")
    wanted = functions.expected(x, offsets, scale_offsets, element)
    data, linear = gq.block_quantize(typed(x, element))
    tiled = gq.preprocess_grouped_matmul_sf(linear, offsets, scale_offsets)
    functions.check(data, tiled.view(np.uint8), wanted)
    for fmt in oracle.FORMATS:
        q = gq.block_quantize(np.ones((130, 256), np.float32), fmt)
        codes, scales = oracle.quantize_rows(np.ones((130, 256), np.float32), fmt)
        np.testing.assert_array_equal(functions.decode(q.data), oracle.stored(codes, fmt))
        assert q.scales.shape == scales.shape


def test_golden_matmul():
    c = golden.load("nvfp4_grouped_mm")
    g, n = c["b_data"].shape[:2]
    p = oracle.tiled_columns(c["a_source"].shape[1])
    out = gq.grouped_mm(
        c["data"], c["b_data"], c["offsets"], a_scales=c["scales"].reshape(-1, p),
        b_scales=c["b_scales"].reshape(g, -1, p), scale_offsets=c["scale_offsets"],
        format="nvfp4", alpha=c["alpha"], out_dtype=np.float32,
    )  # fmt: skip
    np.testing.assert_allclose(out, c["out"], rtol=1e-6, atol=0)


@pytest.mark.parametrize("fmt, b_fmt", [
    (a, b) for a, b in matmul.pairs(one_row=True) if a in oracle.FORMATS
])  # fmt: skip
def test_layers(fmt, b_fmt):
    """Quantized activations and weights meet as they are; the bounds of the sum
    are those of what they stand for."""
    rng = np.random.default_rng(0)
    sizes, n, k = [3, 0, 130], 128, 256
    offsets = layout.offsets_of(np.int64(sizes))
    x = rng.standard_normal((133, k), np.float32)
    w = rng.standard_normal((3, n, k), np.float32)
    bias = rng.standard_normal((3, n), np.float32)
    q, qw = gq.grouped_block_quantize(x, offsets, fmt), gq.quantize_weights(w, b_fmt)
    assert qw.data.shape[:2] == (3, n)
    y = gq.grouped_mm(q, qw, bias=bias, out_dtype="float32")

    def value(x, fmt):
        codes, scales = oracle.quantize_rows(x, fmt)
        return oracle.dequantize_codes(codes, scales, fmt)

    for e in range(3):
        rows = slice(offsets[e], offsets[e + 1])
        if offsets[e] == offsets[e + 1]:
            continue
        a, b = value(x[rows], fmt).astype(np.float64), value(w[e], b_fmt).astype(np.float64)
        expected = a @ b.T + bias[e]
        size = np.abs(a) @ np.abs(b).T + np.abs(bias[e])
        assert (np.abs(y[rows] - expected) <= size * 1e-6).all()


@pytest.mark.parametrize("pairs", ["interleaved", "halves"])
def test_epilogue_of_a_matmul(pairs):
    """As the activation of the product that the op without one gives."""
    rng = np.random.default_rng(0)
    offsets = np.int32([0, 3, 3, 133])
    x = rng.standard_normal((133, 256), np.float32)
    q = gq.grouped_block_quantize(x, offsets, "nvfp4")
    w = gq.quantize_weights(rng.standard_normal((3, 96, 256), np.float32))
    c = gq.grouped_mm(q, w, out_dtype="float32")
    gate, up = (c[:, ::2], c[:, 1::2]) if pairs == "interleaved" else np.split(c, 2, 1)
    y = gq.grouped_mm(q, w, epilogue="silu_and_mul", pairs=pairs, out_dtype="float32")
    np.testing.assert_allclose(y, gate / (1 + np.exp(-gate)) * up, 1e-5, 1e-6)
    y = gq.grouped_mm(q, w, epilogue=lambda g, u: g - u, pairs=pairs, out_dtype="float32")
    np.testing.assert_array_equal(y, gate - up)
    y = gq.grouped_mm(q, w, epilogue=lambda v: v * 2, out_dtype="float32")
    np.testing.assert_array_equal(y, c * 2)


@pytest.mark.parametrize("fmt", oracle.FORMATS)
def test_gradient_of_weights(fmt):
    rng = np.random.default_rng(0)
    offsets = np.int32([0, 100, 100, 230])
    dy = rng.standard_normal((230, 128), np.float32)
    x = rng.standard_normal((230, 256), np.float32)
    a, b = (
        gq.grouped_block_quantize(v, offsets, fmt, rowwise=False, columnwise=True)
        for v in (dy, x)
    )
    dw = gq.grouped_wgrad(a, b)
    assert dw.shape == (3, 128, 256) and dw.dtype == np.float32 and not dw[1].any()
    expected = dy[100:].T @ x[100:]
    error = np.linalg.norm(dw[2] - expected) / np.linalg.norm(expected)
    assert error < (0.18 if "fp4" in fmt else 0.09 if "e5m2" in fmt else 0.06)
    # Scales that are given come before those that a Quantized brings.
    dw = gq.grouped_wgrad(a, b, a_scales=np.zeros_like(a.columnwise_scales))
    assert np.abs(dw).max() < 1e-30


def test_gradient_of_fp8_per_tensor():
    """A Quantized of it brings its rows, which have no blocks."""
    rng = np.random.default_rng(0)
    offsets = np.int32([0, 100, 100, 230])
    dy = rng.standard_normal((230, 48), np.float32)
    x = rng.standard_normal((230, 64), np.float32)
    ones = np.ones(3, np.float32)
    a, b = (gq.grouped_quantize(v, offsets, scale=ones) for v in (dy, x))
    alpha = a.scale_inv * b.scale_inv
    for dw in gq.grouped_wgrad(a, b, alpha=alpha), gq.grouped_wgrad(a.data, b.data, offsets, n=48, k=64):
        for e, (begin, end) in enumerate(zip(offsets, offsets[1:])):
            exact = a.data[begin:end].astype(np.float64).T @ b.data[begin:end].astype(np.float64)
            np.testing.assert_allclose(dw[e], exact, 1e-6, 1e-9)


def test_amax():
    x, element, offsets, _ = functions.arguments("empty groups")
    values = elements.decode(x, element)
    groups = [values[a:b] for a, b in zip(offsets, offsets[1:])]
    expected = np.float32([cases.largest(g) for g in groups])
    np.testing.assert_array_equal(gq.grouped_amax(x, offsets), expected)
    out = np.full(len(groups), 7, np.float32)
    amax, rows, columns = gq.grouped_amax(
        x, offsets, row_amax=True, column_amax=True,
        out=[out, np.empty(len(x), np.float32), np.empty((len(groups), x.shape[1]), np.float32)],
    )  # fmt: skip
    assert amax is out
    np.testing.assert_array_equal(amax, expected)
    np.testing.assert_array_equal(rows, [cases.largest(r) for r in values])
    for g, row in zip(groups, columns):
        np.testing.assert_array_equal(row, [cases.largest(c) for c in g.T])
    with pytest.raises(gq.Error, match="amax: expected it, columnwise_amax, row_amax or column_amax"):
        gq.grouped_amax(x, offsets, amax=False)


# What a recipe of training asks of the two directions.
TRAINING = {
    "per token": (oracle.Direction(outer="row"), oracle.Direction(outer="column")),
    "hadamard": (oracle.Direction(), oracle.Direction(signs=0xD7E8)),
    "gradient": (
        oracle.Direction(stochastic=True, outer="row"),
        oracle.Direction(stochastic=True, signs=0xD7E8, outer="column"),
    ),
    "16x16": (oracle.Direction(square=True),) * 2,
    "four over six": (
        oracle.Direction(four_over_six="mae", scale_max=256, outer="row"),
        oracle.Direction(four_over_six="mse", signs=0xD7E8),
    ),
    "four over six, 16x16": (oracle.Direction(square=True, four_over_six="mse"),) * 2,
}


@pytest.mark.parametrize("name", TRAINING)
def test_directions_of_training(name):
    rng = np.random.default_rng(len(name))
    case = test_directions.made_case(
        rng, [33, 0, 130], 96, "bf16", "te", *TRAINING[name], rng=(3, 2**40)
    )
    for directions in formats.DIRECTIONS:
        case.run(functions.grouped_block_quantize, directions=directions)


@pytest.mark.parametrize("gathered", [False, True])
def test_row_amax(gathered):
    """The amaxes of rows that the op computes, and what it makes of them."""
    rng = np.random.default_rng(7)
    groups = [formats.matrix(rng, m, 96, "bf16") for m in (33, 0, 130)]
    amaxes = np.float32([cases.largest(row) for g in groups for row in g])
    case = cases.Case(
        groups, "bf16", "nvfp4", "te", outer=amaxes, spare=0,
        rowwise=oracle.Direction(outer="row"), gather=rng if gathered else None,
    )  # fmt: skip
    wanted = case.run(functions.grouped_block_quantize, directions="rowwise")
    given = {n: o.array for n, o in case.operands(directions="rowwise").items()}
    out = [np.full_like(given["data"], 7), np.full_like(given["scales"], 7),
           np.full(len(amaxes), np.nan, np.float32)]  # fmt: skip
    q = gq.grouped_block_quantize(
        given["input"], given["offsets"], rowwise=gq.Direction(outer="row"),
        row_indices=given.get("row_indices"), row_amax=True, out=out,
    )  # fmt: skip
    assert q.names == ("data", "scales", "row_amax")
    np.testing.assert_array_equal(q.row_amax, amaxes)
    np.testing.assert_array_equal(q.data, wanted["data"])
    np.testing.assert_array_equal(q.scales, wanted["scales"])
    with pytest.raises(gq.Error, match="row_amax"):
        gq.grouped_block_quantize(given["input"], given["offsets"], row_amax=True)


def test_noop_flag_of_a_single_scale():
    x, offsets, scale = np.ones((8, 64), np.float32), np.int32([0, 3, 8]), np.float32([1, 2])
    wanted = gq.grouped_quantize(x, offsets, scale=scale, amax=True)
    for flag in 1, 0:
        out = [np.full_like(a, 7) for a in wanted]
        gq.grouped_quantize(
            x, offsets, scale=scale, amax=True, noop_flag=np.int32(flag), out=out
        )
        for found, new in zip(out, wanted, strict=True):
            np.testing.assert_array_equal(found, np.full_like(new, 7) if flag else new)


def test_noop_flag():
    x, _, offsets, _ = functions.arguments("multiples of 128")

    def quantize(out, flag=None):
        return gq.grouped_block_quantize(
            x, offsets, columnwise=True, amax=True, noop_flag=flag, out=out
        )

    # Rows of no group stay as they are.
    sevens = [np.full_like(a, 7) for a in quantize(None)]
    made = quantize([a.copy() for a in sevens])
    out, flag = [a.copy() for a in sevens], np.ones((), np.int32)
    for value, expected in (1, sevens), (0, made):
        flag[...] = value
        quantize(out, flag)
        for a, b in zip(out, expected):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("fmt", ["fp8_e4m3", "fp8_e5m2"])
def test_fp8_per_tensor(fmt):
    """Delayed and current scaling, the way back, and the next scale."""
    rng = np.random.default_rng(0)
    offsets = np.int32([0, 100, 100, 230])
    x = rng.standard_normal((230, 64), np.float32)
    scale = np.float32([3, 5, 7])
    largest, code = {"fp8_e4m3": (448, oracle.e4m3), "fp8_e5m2": (57344, oracle.e5m2)}[fmt]
    q = gq.grouped_quantize(x, offsets, fmt, scale=scale, amax=True, columnwise=True)
    assert q.names == ("data", "columnwise_data", "amax", "scale_inv")
    factors = np.repeat(scale, np.diff(offsets))[:, None]
    np.testing.assert_array_equal(functions.decode(q.data), code(x * factors))
    np.testing.assert_array_equal(q.scale_inv, 1 / scale)
    np.testing.assert_array_equal(q.amax, gq.grouped_amax(x, offsets))
    back = gq.grouped_dequantize(q, out_dtype="float32")
    np.testing.assert_array_equal(back, q.data.astype(np.float32) * (1 / factors))
    columns = gq.grouped_dequantize(q, axis="columnwise", out=np.zeros_like(x))
    np.testing.assert_array_equal(columns, back)
    current = gq.grouped_quantize(x, offsets, fmt, outer_amax=q.amax)
    made = np.where(q.amax > 0, np.float32(largest) / np.where(q.amax > 0, q.amax, 1), 1)
    np.testing.assert_array_equal(current.scale_inv, np.float32(1) / made.astype(np.float32))
    history = np.zeros((4, 3), np.float32)
    gq.update_scales(q.amax, history, scale, fmt)
    np.testing.assert_array_equal(history[0], q.amax)
    np.testing.assert_array_equal(scale, np.where(q.amax > 0, made, 5).astype(np.float32))
    with pytest.raises(gq.Error, match="scale: expected one of it and outer_amax"):
        gq.grouped_quantize(x, offsets, fmt)
    with pytest.raises(gq.Error, match="format: expected fp8_e4m3 or fp8_e5m2"):
        gq.grouped_quantize(x, offsets, "nvfp4", scale=scale)


@pytest.mark.parametrize("fmt", ["fp8_e4m3", "fp8_e5m2"])
def test_fp8_gradient(fmt):
    """A gradient through an activation (squared relu), with its dbias, in both
    directions: amax, saturation and dbias are those of what is quantized, which is
    neither of the inputs."""
    rng = np.random.default_rng(0)
    offsets = np.int32([3, 100, 100, 230])
    dtype = {"fp8_e4m3": ml_dtypes.float8_e4m3fn, "fp8_e5m2": ml_dtypes.float8_e5m2}[fmt]
    dy, x = rng.standard_normal((2, 240, 64), np.float32)
    scale = np.float32([30, 5, 700])
    dx = dy * (np.maximum(x, 0) * np.float32(2))
    options = dict(scale=scale, columnwise=True, amax=True, dbias="float32", rows="grouped")
    made, wanted = (
        gq.grouped_quantize(
            v, offsets, fmt, producer=p,
            out=[
                np.zeros((240, 64), dtype), np.zeros(64 * 320, dtype),
                np.zeros(3, np.float32), np.zeros((3, 64), np.float32), np.zeros(3, np.float32),
            ],
            **options,
        )
        for v, p in (
            ((dy, x), lambda g, v: g * (producers.maximum(v, 0.0) * 2.0)), (dx, None)
        )
    )  # fmt: skip
    for name, a, b in zip(wanted.names, made, wanted):
        np.testing.assert_array_equal(a.view(np.uint8), b.view(np.uint8), name)
    largest = [np.abs(dx[a:b]).max(initial=0) for a, b in zip(offsets, offsets[1:])]
    np.testing.assert_array_equal(made.amax, np.float32(largest))
    np.testing.assert_allclose(
        made.dbias, [dx[a:b].sum(0) for a, b in zip(offsets, offsets[1:])], atol=1e-4
    )


def test_way_back_of_tokens():
    """With an outer amax for each row, and each column of a group."""
    rng = np.random.default_rng(0)
    offsets = np.int32([0, 100, 100, 230])
    x = rng.standard_normal((230, 64), np.float32) * np.exp2(rng.integers(-9, 9, (230, 1)))
    x = x.astype(np.float32)
    rows, columns = gq.grouped_amax(x, offsets, amax=False, row_amax=True, column_amax=True)
    q = gq.grouped_block_quantize(
        x, offsets, outer_amax=rows, columnwise_outer_amax=columns,
        rowwise=gq.Direction(outer="row"), columnwise=gq.Direction(outer="column"),
    )  # fmt: skip
    y = gq.grouped_dequantize(q, outer_amax=rows, outer="row", out_dtype="float32")
    # Half of the largest step of e2m1, and of that of the scale.
    assert (np.abs(y - x) <= rows[:, None] * (1 / 6 + 1 / 16)).all()
    assert ((y != 0) | (np.abs(x) < rows[:, None] / 6)).all()
    z = gq.grouped_dequantize(
        q, outer_amax=columns, outer="column", axis="columnwise", out=np.zeros_like(x)
    )
    group = np.repeat(np.arange(3), np.diff(offsets))
    assert (np.abs(z - x) <= columns[group] * (1 / 6 + 1 / 16)).all() and z.any()
    for options, message in [
        ({"outer": "column"}, "outer: expected 'group' or, without shapes, 'row'"),
        ({"outer": "row", "outer_amax": rows[1:]}, "outer_amax: "),
        ({"outer": "row", "scale_max": 255}, "scale_max: expected 256 or 448"),
        ({"outer": "row", "scale_max": 256.0}, "scale_max: expected "),
        ({"outer_amax": None, "scale_max": 448}, "scale_max: .* of recipe te"),
    ]:
        with pytest.raises(gq.Error, match=message):
            gq.grouped_dequantize(q, **{"outer_amax": rows, **options})


def test_one_result_in_a_list():
    """`out` is an array or a list of one, also where the result decides its type."""
    x = np.random.default_rng(0).standard_normal((64, 64), np.float32)
    offsets = np.int32([0, 32, 64])
    q = gq.grouped_block_quantize(x, offsets, "mxfp8_e4m3", columnwise=True)
    w = gq.quantize_weights(x.reshape(2, 32, 64), "mxfp8_e4m3")
    rows = gq.block_quantize(x)
    for call in (
        lambda **o: gq.grouped_dequantize(q, **o),
        lambda **o: gq.block_dequantize(rows, **o),
        lambda **o: gq.grouped_mm(q, w, **o),
        lambda **o: gq.grouped_wgrad(q, q, **o),
    ):
        wanted = call(out_dtype="float32")
        for listed in False, True:
            out = np.zeros_like(wanted)
            assert call(out=[out] if listed else out) is out
            np.testing.assert_array_equal(out, wanted)
        for wrong in [], [out, out]:
            with pytest.raises(gq.Error, match="out: expected 1 arrays"):
                call(out=wrong)
    with pytest.raises(gq.Error, match="out: expected 2 arrays"):
        gq.block_quantize(x, out=rows.data)


@pytest.mark.parametrize("fmt", oracle.FORMATS)
def test_way_back(fmt):
    """Both directions, and rows alone, to what the codes stand for."""
    rng = np.random.default_rng(0)
    x, offsets = rng.standard_normal((233, 256), np.float32), np.int32([0, 100, 100, 233])
    q = gq.grouped_block_quantize(x, offsets, fmt, columnwise=True)
    out = np.full(x.shape, 9, np.float32)
    for axis, quantize in ("rowwise", oracle.quantize_rows), ("columnwise", oracle.quantize_columns):
        gq.grouped_dequantize(q, axis=axis, out=out)
        for a, b in (0, 100), (100, 233):
            g = x[a:b]
            if axis == "columnwise":
                error = np.abs(out[a:b] - g)
                assert (error <= np.abs(g).max() * 0.26).all() and error.mean() < 0.1
                continue
            codes, scales = quantize(g, fmt)
            np.testing.assert_array_equal(out[a:b], oracle.dequantize_codes(codes, scales, fmt).astype(np.float32))
    back = gq.block_dequantize(gq.block_quantize(x, fmt), out_dtype="float32")
    codes, scales = oracle.quantize_rows(x, fmt)
    np.testing.assert_array_equal(back, oracle.dequantize_codes(codes, scales, fmt).astype(np.float32))
    assert gq.grouped_dequantize(q).dtype == ml_dtypes.bfloat16


def test_layout():
    rng = np.random.default_rng(0)
    for rows, columns in (1, 1), (128, 4), (129, 5), (300, 16):
        scales = rng.integers(0, 255, (rows, columns), np.uint8)
        tiled = layout.tile(scales)
        np.testing.assert_array_equal(tiled.reshape(-1), oracle.tile(scales))
        np.testing.assert_array_equal(layout.untile(tiled, rows, columns), scales)
    np.testing.assert_array_equal(
        layout.scale_offsets(np.int64([2, 2, 131, 132])), [0, 0, 256]
    )
    np.testing.assert_array_equal(layout.offsets_of(np.int64([2, 0, 5])), [0, 2, 2, 7])
    codes = rng.integers(0, 15, (3, 8), np.uint8)
    np.testing.assert_array_equal(layout.unpack(oracle.pack(codes)), codes)


@pytest.mark.parametrize("fmt", oracle.FORMATS)
def test_extents_are_enough_and_no_more(fmt):
    """The worst offsets fill the buffers to the last byte but for rounding."""
    block = oracle.FORMATS[fmt].block[1]
    k, groups = 2 * block, 5
    for m in 5, 128, 129, 400:
        extents = layout.buffer_extents(m, k, groups, fmt)
        worst = [1] * (groups - 1) + [m - groups + 1]
        x = np.ones((m, k), np.float32)
        q = gq.grouped_block_quantize(x, layout.offsets_of(np.int64(worst)), fmt, columnwise=True)
        assert tuple(a.shape for a in q) == (
            extents.data, extents.scales, extents.columnwise_data, extents.columnwise_scales
        )  # fmt: skip


# ---------------------------------------------------------------------------
# Other arrays
# ---------------------------------------------------------------------------


def test_arrays_of_others():
    """What has nothing but __dlpack__ gives Arrays, which NumPy and others take."""

    class Foreign:
        def __init__(self, array):
            self.array = array

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

    x, element, offsets, scale_offsets = functions.arguments("one less and one more")
    wanted = functions.expected(x, offsets, scale_offsets, element)
    q = gq.grouped_block_quantize(Foreign(x), Foreign(offsets))
    assert isinstance(q.data, gq.Array) and q.data.dtype == "i8"
    assert repr(q.data) == f"gq.Array(i8 [768, {x.shape[1] // 2}] on cpu)"
    data, scales = np.asarray(q.data), np.asarray(q.scales)
    assert scales.dtype == ml_dtypes.float8_e4m3fn
    starts = np.from_dlpack(q.scale_offsets)
    np.testing.assert_array_equal(starts, scale_offsets)
    del q
    gc.collect()
    functions.check(data, scales.view(np.uint8), wanted)
    np.testing.assert_array_equal(starts, scale_offsets)
    with pytest.raises(AttributeError, match="on the CPU"):
        gq.grouped_block_quantize(Foreign(x), Foreign(offsets)).data.__cuda_array_interface__


def test_copies_of_arrays():
    """NumPy copies an Array where it is told to, and nowhere else."""
    array = _arrays.allocate((2, 3), "f32", (1, 0))
    view = np.asarray(array)
    view[:] = 1
    for copied in np.array(array), np.asarray(array, copy=True), np.asarray(array, np.float64):
        copied[:] = 2
        assert (view == 1).all()
    for same in np.asarray(array, copy=False), np.asarray(array, np.float32):
        assert np.shares_memory(same, view)
    with pytest.raises(ValueError, match="as .*float64.* it is a copy"):
        np.asarray(array, np.float64, copy=False)


def test_exports_are_released():
    import weakref

    x = np.ones((2, 64), np.float32)
    q = gq.grouped_block_quantize(gq._arrays.from_dlpack(x), gq._arrays.from_dlpack(np.int32([0, 2])))
    offsets = q.scale_offsets
    taken, unused, alive = np.from_dlpack(offsets), offsets.__dlpack__(), weakref.ref(offsets)
    del q, offsets, unused
    gc.collect()
    assert alive() is not None
    del taken
    gc.collect()
    assert alive() is None


def jax():
    """JAX on the CPU; not where a sanitizer is loaded, which its library is without."""
    if os.environ.get("LD_PRELOAD"):
        pytest.skip("JAX has no sanitizer")
    os.environ["JAX_PLATFORMS"] = "cpu"
    return pytest.importorskip("jax")


def test_jax():
    """In and out by DLPack, in the types that both have, without a copy."""
    x, element, offsets, scale_offsets = functions.arguments("nvfuser")
    wanted = functions.expected(x, offsets, scale_offsets, element)
    of_jax = [jax().numpy.asarray(a) for a in (typed(x, element), offsets)]
    q = gq.grouped_block_quantize(*of_jax)
    assert all(isinstance(a, gq.Array) for a in q)
    functions.check(np.asarray(q.data), np.asarray(q.scales).view(np.uint8), wanted)
    back = jax().dlpack.from_dlpack(q.scale_offsets)
    np.testing.assert_array_equal(np.asarray(back), scale_offsets)
    assert back.unsafe_buffer_pointer() == q.scale_offsets._pointer
    scales = jax().dlpack.from_dlpack(q.scales)
    assert scales.dtype == ml_dtypes.float8_e4m3fn
    # As bytes: what belongs to no group may be a NaN.
    found, kept = (np.asarray(a).view(np.uint8) for a in (scales, q.scales))
    np.testing.assert_array_equal(found, kept)


def test_jax_layer():
    """Each function on arrays of JAX gives what it gives on those of NumPy."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((70, 64), np.float32)
    w = gq.quantize_weights(rng.standard_normal((3, 32, 64), np.float32), "mxfp8_e4m3")
    offsets, scale = np.int32([0, 3, 3, 70]), np.float32([3, 5, 7])

    def layer(of):
        q = gq.grouped_block_quantize(of(x), of(offsets), "mxfp8_e4m3", producer="gelu")
        y = gq.grouped_mm(q, of(w.data), b_scales=of(w.scales), b_format="mxfp8_e4m3",
                          out_dtype="float32")  # fmt: skip
        fp8 = gq.grouped_quantize(of(x), of(offsets), scale=of(scale))
        both = gq.grouped_block_quantize(
            of(x), of(offsets), "mxfp8_e4m3", rowwise=False, columnwise=True
        )
        return (
            y, fp8.data, gq.grouped_wgrad(both, both), gq.grouped_amax(of(x), of(offsets)),
            gq.grouped_dequantize(q, out_dtype="float32"), *gq.block_quantize(of(x)),
        )  # fmt: skip

    for found, wanted in zip(layer(jax().numpy.asarray), layer(np.asarray)):
        np.testing.assert_array_equal(np.asarray(found), wanted)


def test_jax_arguments():
    """Arrays of JAX are refused by name too; they are read-only where results go."""
    x, offsets = (jax().numpy.asarray(a) for a in (X, O))
    for change, message in [
        (dict(x=x.astype("int32")), "x: expected float32"),
        (dict(x=x[:, :60]), "x: expected a multiple of 16"),
        (dict(offsets=offsets.astype("float32")), "offsets: expected int32 or int64"),
        (dict(global_scale=x), r"global_scale: expected float32 \[2\]"),
    ]:
        with pytest.raises(gq.Error, match=message):
            gq.grouped_block_quantize(**{**dict(x=x, offsets=offsets), **change})
    out = [jax().numpy.asarray(a) for a in OUT]
    for _ in range(2):
        # Arrays that may be written leave a plan, which others must not take.
        gq.grouped_block_quantize(x, offsets, out=[_arrays.from_dlpack(a.copy()) for a in OUT])
        with pytest.raises(gq.Error, match=r"out\[0\] \(data\): it is read-only"):
            gq.grouped_block_quantize(x, offsets, out=out)
    module = gq.compile(
        "func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {"
        " %z = linalg.copy ins(%x : tensor<2xf32>) outs(%y : tensor<2xf32>) -> tensor<2xf32>"
        " return %z : tensor<2xf32> }"
    )
    ones, zeros = (jax().numpy.full(2, v, "float32") for v in (1, 0))
    np.testing.assert_array_equal(module(ones, np.zeros(2, np.float32)), 1)
    with pytest.raises(gq.Error, match="argument 1: .* it is read-only"):
        module(ones, zeros)
    assert not any(np.asarray(a).any() for a in (*out, zeros))
    gone = jax().numpy.asarray(X) + 1
    gone.delete()
    for change in dict(x=gone), dict(offsets=gone):
        with pytest.raises(gq.Error, match=f"{[*change][0]}: expected an array with data"):
            gq.grouped_block_quantize(**{**dict(x=x, offsets=offsets), **change})


# ---------------------------------------------------------------------------
# Bad arguments
# ---------------------------------------------------------------------------


class Elsewhere:
    """Says that it is on a CUDA device."""

    def __init__(self, device=2, number=0):
        self.device = device, number

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **_):
        raise BufferError("it was deleted")


def frozen(a):
    a = a.copy()
    a.flags.writeable = False
    return a


X, O = np.ones((8, 64), np.float32), np.int32([0, 3, 8])
GOOD = dict(x=X, offsets=O)
OUT = [np.zeros((8, 32), np.uint8), np.zeros((256, 4), np.uint8)]
# Codes and scales in one memory.
BOTH = np.zeros((256, 4), np.uint8)
BAD = [
    (dict(x=X.astype(np.float64)), r"x: expected float32 or bfloat16 or float16 \[\?, \?\], found float64 \[8, 64\]"),
    (dict(x=X.astype(">f4")), "x: expected float32"),
    (dict(x=None), "x: expected an array, found none"),
    (dict(offsets=None), "offsets: expected an array, found none"),
    (dict(x=X[0]), "x: expected .*, found float32 \\[64\\]"),
    (dict(x=X[:, :60].copy()), "x: expected a multiple of 16 columns, the block of nvfp4, found 60"),
    (dict(x=X.repeat(2, 0)[::2]), "x: expected row-major contiguous"),
    (dict(x=X.T), "x: expected row-major contiguous|x: expected a multiple of 16"),
    (dict(offsets=O.astype(np.float32)), r"offsets: expected int32 or int64 \[\?\], found float32 \[3\]"),
    (dict(offsets=O[None]), "offsets: expected"),
    (dict(offsets=O[:0]), "offsets: expected at least one entry"),
    (dict(scale_offsets=np.int64([0, 128])), "scale_offsets: expected int32"),
    (dict(scale_offsets=np.int32([0])), r"scale_offsets: expected int32 \[2\], found int32 \[1\]"),
    (dict(global_scale=np.float64(1)), r"global_scale: expected float32 \[\], found float64"),
    (dict(global_scale=np.ones(3, np.float32)), r"global_scale: expected float32 \[2\]"),
    (dict(row_indices=np.ones(8, np.float32)), "row_indices: expected int32 or int64"),
    (dict(format="nvfp5"), "format: expected one of nvfp4, .*found 'nvfp5'"),
    (dict(dbias="int32"), "dbias: expected bfloat16, float16 or float32"),
    (dict(rowwise=False), "rowwise: expected it or columnwise"),
    (dict(out=OUT[:1]), r"out: expected 2 arrays \(data, scales\), found 1"),
    (dict(out=[OUT[0][:7].copy(), OUT[1]]), r"out\[0\].*: expected float4_e2m1fn_x2 \[8, 32\], found uint8 \[7, 32\]"),
    (dict(out=[OUT[0], OUT[1][:, :3]]), r"out\[1\].*: expected float8_e4m3fn \[\?, 4\]"),
    (dict(out=[frozen(OUT[0]), OUT[1]]), r"out\[0\].*: it is read-only"),
    (dict(out=[BOTH.reshape(-1)[:256].reshape(8, 32), BOTH]), "data is written and overlaps scales in memory"),
    (dict(shapes=(O[:2], O[:2]), x=X.reshape(-1)), "out: .* needs it"),
]  # fmt: skip


@pytest.mark.parametrize("change, message", BAD)
def test_bad_arguments(change, message):
    with pytest.raises(gq.Error, match=message) as raised:
        gq.grouped_block_quantize(**{**GOOD, **change})
    assert raised.value.status == "INVALID_ARGUMENT"
    assert not OUT[0].any() and not OUT[1].any()


def test_no_arrays():
    for change, name in [
        (dict(x=[[1.0]]), "x: "),
        (dict(offsets=[0, 8]), "offsets: expected a NumPy array, a torch tensor or an object with __dlpack__, found list"),
        (dict(offsets=Elsewhere()), "offsets: expected an array like x, found Elsewhere"),
        (dict(out=[OUT[0], None]), r"out\[1\]: expected an array like x"),
        (dict(stream="fast"), "stream: expected a CUDA stream"),
    ]:
        with pytest.raises(TypeError, match=name):
            gq.grouped_block_quantize(**{**GOOD, **change})


def test_bad_arguments_of_others():
    """Devices, and memory that is gone."""
    foreign = gq._arrays.from_dlpack
    for change, message in [
        (dict(x=Elsewhere()), "x: expected an array with data, found it was deleted"),
        (dict(x=foreign(X), offsets=Elsewhere()), "offsets: .*it was deleted"),
    ]:
        with pytest.raises(gq.Error, match=message):
            gq.grouped_block_quantize(**{**GOOD, **change})
    on_gpu, on_another = foreign(X), foreign(O)
    on_gpu.device, on_gpu._description = (2, 0), None
    with pytest.raises(gq.Error, match="offsets: expected CUDA device 0, where x is, found the CPU"):
        gq.grouped_block_quantize(on_gpu, foreign(O))
    on_another.device, on_another._description = (2, 1), None
    with pytest.raises(gq.Error, match="offsets: expected CUDA device 0, .* found CUDA device 1"):
        gq.grouped_block_quantize(on_gpu, on_another)
    on_gpu.device = (10, 0)
    with pytest.raises(gq.Error, match="x: expected the CPU or a CUDA device, found DLPack"):
        gq.grouped_block_quantize(on_gpu, foreign(O))


def test_contents_of_offsets():
    for offsets, name in [([0, 9, 8], r"\boffsets\[1\]|offsets\[2\]"), ([0, 3, 9], r"offsets\[2\] = 9")]:
        with pytest.raises(gq.Error, match=name) as raised:
            gq.grouped_block_quantize(X, np.int32(offsets))
        assert raised.value.status == "INVALID_OFFSETS"
    with pytest.raises(gq.Error, match=r"row_indices\[2\]") as raised:
        gq.grouped_block_quantize(X, O, row_indices=np.int32([0, 1, 8, 0, 0, 0, 0, 0]))
    assert raised.value.status == "INVALID_ROW_INDICES"


def test_bad_arguments_of_matmuls():
    q = gq.grouped_block_quantize(X, O)
    w = gq.quantize_weights(np.ones((2, 32, 64), np.float32))
    for change, message in [
        (dict(a=q.data), "b_format: expected none without format"),
        (dict(a=q.data, format="nvfp4"), "offsets: expected an array, found none"),
        (dict(a=q.data, offsets=O, format="nvfp4"), "a_scales: expected an array"),
        (dict(b=w.data), "b_scales: expected an array"),
        (dict(b=w.data[:1], b_scales=w.scales), "offsets: expected 1 groups"),
        (dict(b_scales=w.scales[:, :, :2].copy()), r"b_scales: expected float8_e4m3fn \[2, 128, 4\]"),
        (dict(b_format="mxfp4"), "b_format: expected one with scales as nvfp4"),
        (dict(b_major="m"), "b_major: expected one of k, n"),
        (dict(bias=np.ones((2, 31), np.float32)), r"bias: expected .*\[2, 32\]"),
        (dict(pairs="halves"), "pairs: expected an epilogue"),
        (dict(epilogue="silu", pairs="rows"), "pairs: expected one of none, interleaved, halves"),
        (dict(epilogue="silu_and_mul"), "epilogue: expected a function of one value"),
        (dict(epilogue="silu", pairs="halves"), "epilogue: expected a function of two"),
        (dict(epilogue="swish"), "epilogue: expected a function or one of silu"),
        (dict(epilogue="silu_and_mul", pairs="halves", out=np.ones((8, 32), np.float32)),
         r"out: expected float32 \[8, 16\]"),
        (dict(alpha=np.ones(3, np.float32)), "alpha: expected"),
        (dict(out_dtype="int8"), "out_dtype: expected bfloat16"),
        (dict(out=np.ones((8, 31), np.float32)), r"out: expected float32 \[8, 32\]"),
    ]:
        with pytest.raises(gq.Error, match=message):
            gq.grouped_mm(**{**dict(a=q, b=w), **change})
    with pytest.raises(gq.Error, match="a: expected an array"):
        gq.grouped_wgrad(q, q)
    with pytest.raises(gq.Error, match="w: expected"):
        gq.quantize_weights(X)


def test_nvfuser_arguments():
    starts = np.int32([0, 128])
    for change, message in [
        (dict(block_size=32), "block_size: expected 16"),
        (dict(dtype="float8_e4m3fn"), "dtype: expected float4_e2m1fn"),
        (dict(input_offsets=O.astype(np.float32)), "input_offsets: expected"),
        (dict(output_offsets=np.int64([0, 128])), "output_offsets: expected int32"),
        (dict(input=X.astype(np.int32)), "input: expected"),
        (dict(global_scale=np.float64(2)), "global_scale: expected"),
    ]:
        good = dict(input=X, input_offsets=O, output_offsets=starts)
        with pytest.raises(gq.Error, match=message):
            gq.nv_grouped_block_quantize(**{**good, **change})
