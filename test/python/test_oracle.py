# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The oracle against the golden data and against definitions."""

import golden
import elements
import formats
import ml_dtypes
import numpy as np
import oracle
import pytest


def quantize_case(case):
    if case == "nvfp4_grouped_mm":
        return golden.source(case)
    return golden.load(case)


@pytest.mark.parametrize("case", golden.QUANTIZE_CASES + ["nvfp4_grouped_mm"])
@pytest.mark.parametrize("rows", ["all", "grouped"])
@pytest.mark.parametrize("form", ["G", "G+1"])
def test_golden_quantize(case, rows, form):
    c = quantize_case(case)
    offsets = c["offsets"][:-1] if form == "G" else c["offsets"]
    data, scales = oracle.grouped_block_quantize(
        c["input"],
        offsets,
        c["scale_offsets"],
        np.full_like(c["data"], 0xA5),
        np.full_like(c["scales"], 0xA5),
        c.get("global_scale"),
        rows,
    )
    np.testing.assert_array_equal(data, c["data"])
    np.testing.assert_array_equal(scales, c["scales"])


def test_golden_grouped_mm():
    c = golden.load("nvfp4_grouped_mm")
    out = oracle.grouped_mm(
        c["data"], c["b_data"], c["scales"], c["b_scales"], c["offsets"],
        c["scale_offsets"], c["alpha"], np.full_like(c["out"], np.nan),
    )  # fmt: skip
    np.testing.assert_allclose(out, c["out"], rtol=1e-14, atol=0)


@pytest.mark.parametrize("name", [n for n in formats.GOLDEN if n.startswith("nvfp4_te")])
def test_golden_directions(name):
    c = formats.Golden(golden.DIR, name)
    a, inputs = c.attributes, {n: o.array for n, o in c.operands().items()}
    x, offsets = elements.decode(inputs["input"], "bf16"), inputs["offsets"]
    k, rng = x.shape[1], inputs.get("rng_state", np.zeros(2, np.int64)).view(np.uint64)
    rows, columns, outer = [], [], inputs["outer_amax"]
    for e, (begin, end) in enumerate(zip(offsets[:-1], offsets[1:])):
        place = oracle.Place(int(begin) * k, k, int(rng[0]), int(rng[1]))
        own = outer[begin:end, None] if a.rowwise.outer == "row" else outer[e]
        own_column = inputs.get("columnwise_outer_amax", outer)[e]
        own_column = own_column[:, None] if np.ndim(own_column) else own_column
        g = x[begin:end]
        rows.append(oracle.quantize_rows(g, "nvfp4", "te", own, a.rowwise, place))
        columns.append(oracle.quantize_columns(g, "nvfp4", "te", own_column, a.columnwise, place))
    c.check({
        "data": oracle.pack(np.concatenate([codes for codes, _ in rows])),
        "scales": np.concatenate([oracle.tile(s) for _, s in rows]),
        "columnwise_data": np.concatenate([oracle.pack(q).reshape(-1) for q, _ in columns]),
        "columnwise_scales": np.concatenate([oracle.tile(s) for _, s in columns]),
    })  # fmt: skip


def test_tile_is_the_formula():
    m, c = 300, 7
    linear = np.random.default_rng(0).integers(1, 256, (m, c), np.uint8)
    tiled = oracle.tile(linear)
    r, j = np.mgrid[:384, :8]
    at = (
        r // 128 * 128 * 8
        + j // 4 * 512
        + r % 32 * 16
        + r % 128 // 32 * 4
        + j % 4
    )
    padded = np.pad(linear, ((0, 84), (0, 1)))
    np.testing.assert_array_equal(tiled[at], padded)
    np.testing.assert_array_equal(oracle.untile(tiled, m, c), linear)


def nearest_even(x, values):
    """The index of the value nearest to each x; of two the even index."""
    distance = np.abs(x.astype(np.float64)[:, None] - values.astype(np.float64))
    nearest = distance == distance.min(axis=1, keepdims=True)
    first = nearest.argmax(axis=1)
    return first + ((nearest.sum(axis=1) == 2) & (first % 2 == 1))


def around(values):
    """Floats >= 0: `values`, those halfway between, the neighbours of both."""
    v = np.concatenate([values, (values[1:] + values[:-1]) / 2])
    v = np.concatenate([v, np.nextafter(v, np.inf), np.nextafter(v, -np.inf)])
    return v[v >= 0]


def test_e2m1_is_nearest_even():
    x = around(oracle.E2M1)
    expected = nearest_even(x, oracle.E2M1)
    np.testing.assert_array_equal(oracle.e2m1(x), expected)
    np.testing.assert_array_equal(oracle.e2m1(-x), expected + 8)
    special = np.float32([np.nan, -np.nan, np.inf, -np.inf, -0.0, 1e30, -7])
    assert list(oracle.e2m1(special)) == [7, 7, 7, 15, 8, 7, 15]


@pytest.mark.parametrize(
    "encode, table, dtype, nan",
    [
        (oracle.e4m3, oracle.E4M3, ml_dtypes.float8_e4m3fn, 0x7F),
        (oracle.e5m2, oracle.E5M2, ml_dtypes.float8_e5m2, 0x7F),
    ],
)
def test_fp8_is_nearest_even(encode, table, dtype, nan):
    codes = np.arange(len(table), dtype=np.uint8)
    np.testing.assert_array_equal(table, codes.view(dtype).astype(np.float32))
    largest = float(ml_dtypes.finfo(dtype).max)
    assert table[-1] == largest
    x = around(table)
    np.testing.assert_array_equal(encode(x), nearest_even(x, table))
    every = np.arange(2**16, dtype=np.uint16)
    every = [every.view(t).astype(np.float32) for t in ("f2", ml_dtypes.bfloat16)]
    x = np.concatenate([*every, x, -x])
    with np.errstate(invalid="ignore"):
        # ml_dtypes does not saturate, and keeps the sign of a NaN.
        expected = np.clip(x, -largest, largest).astype(dtype).view(np.uint8)
    expected[np.isnan(x)] = nan
    np.testing.assert_array_equal(encode(x), expected)


def test_e4m3_value():
    codes = np.arange(256, dtype=np.uint8)
    expected = codes.view(ml_dtypes.float8_e4m3fn).astype(np.float32)
    np.testing.assert_array_equal(oracle.e4m3_value(codes), expected)


def test_elements():
    """bf16 and f16 as ml_dtypes and NumPy round and store them."""
    every = np.arange(2**16, dtype=np.uint16)
    for element, dtype in ("bf16", ml_dtypes.bfloat16), ("f16", np.float16):
        info = ml_dtypes.finfo(dtype)
        limits = [info.max, info.tiny, info.smallest_subnormal]
        assert elements.LIMITS[element] == tuple(map(float, limits))
        x = every.view(dtype).astype(np.float32)
        stored = every.view(elements.DTYPES[element])
        np.testing.assert_array_equal(elements.decode(stored, element), x)
        with np.errstate(over="ignore"):
            x = around(np.sort(x[np.isfinite(x) & (x >= 0)]))
            x = np.concatenate([x, -x, np.float32([np.inf, np.nan, -np.nan])])
            expected = x.astype(dtype)
        encoded = elements.encode(x, element)
        np.testing.assert_array_equal(encoded.view("u2"), expected.view("u2"))
    payload = np.uint32([0x7FFFFFFF, 0xFF800001]).view(np.float32)
    assert np.isnan(elements.rounded(payload, "bf16")).all()


@pytest.mark.parametrize("dtype", ["float32", "float16", ml_dtypes.bfloat16])
def test_round_to_rounds_once(dtype):
    """Ties of the target, off by too little for float32 to tell."""
    dtype = np.dtype(dtype)
    steps = np.arange(0x10, 0x400, dtype=f"u{dtype.itemsize}")
    exact = steps.view(dtype).astype(np.float64)
    tie = (exact[1:] + exact[:-1]) / 2
    even = np.where(steps[1:] % 2 == 0, exact[1:], exact[:-1])
    for sign in 1, -1:
        for x, y in [
            (exact, exact),
            (tie, even),
            (tie * (1 + 1e-12), exact[1:]),
            (tie * (1 - 1e-12), exact[:-1]),
        ]:
            rounded = oracle.round_to(sign * x, dtype).astype(np.float64)
            np.testing.assert_array_equal(rounded, sign * y)
    big = oracle.round_to(np.array([1e300, -1e300, np.nan]), dtype)
    np.testing.assert_array_equal(
        big.astype(np.float64), [np.inf, -np.inf, np.nan]
    )


def test_dequantize_inverts_the_codes():
    codes = np.tile(np.arange(16, dtype=np.uint8), (2, 3))
    linear = np.array([[0x38, 0x40, 0x01]] * 2, np.uint8)  # 1, 2, 2^-9
    values = oracle.dequantize(oracle.pack(codes), linear, np.float32(2))
    e2m1 = np.concatenate([oracle.E2M1, -oracle.E2M1])
    expected = np.concatenate([e2m1, 2 * e2m1, e2m1 / 512]) / 2
    np.testing.assert_array_equal(values, [expected] * 2)
    assert oracle.pack(np.uint8([[1, 2]])) == [[0x21]]


def test_global_scale_a_group():
    """Each group as with its scale alone; rows in no group as without one."""
    x = np.random.default_rng(0).standard_normal((7, 32)).astype(np.float32)
    scales = np.float32([3, 1000])
    data, tiled = oracle.grouped_block_quantize(
        x,
        np.int32([1, 3, 6]),
        np.int32([0, 128]),
        np.zeros((7, 16), np.uint8),
        np.zeros((256, 4), np.uint8),
        scales,
    )
    for begin, end, e in (0, 1, None), (1, 3, 0), (3, 6, 1), (6, 7, None):
        g = None if e is None else scales[e]
        codes, linear = oracle.block_quantize(x[begin:end], g)
        np.testing.assert_array_equal(data[begin:end], codes)
        if e is not None:
            group = tiled[128 * e : 128 * (e + 1)].reshape(-1)
            np.testing.assert_array_equal(group, oracle.tile(linear))
