# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""arith.extf and arith.truncf of floats of 8 and 4 bits, against ml_dtypes."""

import gq
import ml_dtypes
import modules
import numpy as np
import pytest

SMALL = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
}
ROUNDED = ["f8E4M3FN", "f8E5M2"]
WIDE = modules.ELEMENTS | {"f64": np.dtype(np.float64)}


def convert(x, op, source, target, dtype):
    text = f"""
      func.func @main(%x : tensor<?x{source}>, %y0 : tensor<?x{target}>) -> tensor<?x{target}> {{
        %y = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                              iterator_types = ["parallel"]}}
            ins(%x : tensor<?x{source}>) outs(%y0 : tensor<?x{target}>) {{
        ^bb0(%e : {source}, %unused : {target}):
          %r = {op} %e : {source} to {target}
          linalg.yield %r : {target}
        }} -> tensor<?x{target}>
        return %y : tensor<?x{target}>
      }}"""
    return modules.compiled(text)(x, np.zeros(len(x), dtype))


def check(actual, expected):
    """The same numbers, zeros of the same sign, and NaN."""
    actual, expected = (np.asarray(x).astype(np.float64) for x in (actual, expected))
    np.testing.assert_array_equal(actual, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(actual[numbers]), np.signbit(expected[numbers]))


@pytest.mark.parametrize("small", SMALL)
@pytest.mark.parametrize("wide", WIDE)
def test_extends_every_code(small, wide):
    codes = np.arange(256, dtype=np.uint8)
    with np.errstate(all="ignore"):
        expected = codes.view(SMALL[small]).astype(np.float32).astype(WIDE[wide])
    check(convert(codes, "arith.extf", small, wide, WIDE[wide]), expected)


@pytest.mark.parametrize("small", ROUNDED)
@pytest.mark.parametrize("wide", ["bf16", "f16"])
def test_rounds_every_number(small, wide):
    x = np.arange(1 << 16, dtype=np.uint16).view(WIDE[wide])
    with np.errstate(all="ignore"):
        expected = x.astype(np.float32).astype(SMALL[small])
    codes = convert(x, "arith.truncf", wide, small, np.uint8)
    check(codes.view(SMALL[small]), expected)


@pytest.mark.parametrize("small", ROUNDED)
def test_rounds_float32(small):
    """Every code, what lies in the middle of two, and what is next to these."""
    values = np.arange(256, dtype=np.uint8).view(SMALL[small]).astype(np.float32)
    values = np.sort(values[np.isfinite(values)])
    middles = (values[1:] + values[:-1]) / 2
    x = np.concatenate([values, middles, [464, 480, 61440, 65536]]).astype(np.float32)
    x = np.concatenate([x, np.nextafter(x, np.float32(np.inf)), np.nextafter(x, np.float32(-np.inf))])
    x = np.concatenate([x, np.random.default_rng(0).integers(0, 1 << 32, 1 << 20).astype(np.uint32).view(np.float32)])
    with np.errstate(all="ignore"):
        expected = x.astype(SMALL[small])
    check(convert(x, "arith.truncf", "f32", small, np.uint8).view(SMALL[small]), expected)


@pytest.mark.parametrize(
    "op, source, target",
    [
        ("arith.truncf", "f64", "f8E4M3FN"),  # would round twice
        ("arith.truncf", "f32", "f8E8M0FNU"),
        ("arith.extf", "f8E4M3FNUZ", "f32"),
        ("arith.extf", "f4E2M1FN", "f32"),
        ("arith.truncf", "f32", "f4E2M1FN"),
        ("arith.truncf", "bf16", "f4E2M1FN"),
    ],
)
def test_refuses(op, source, target):
    """Nothing is left over: what has no lowering is an error."""
    text = f"""
      func.func @main(%x : tensor<?x{source}>, %y0 : tensor<?x{target}>) -> tensor<?x{target}> {{
        %y = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                              iterator_types = ["parallel"]}}
            ins(%x : tensor<?x{source}>) outs(%y0 : tensor<?x{target}>) {{
        ^bb0(%e : {source}, %unused : {target}):
          %r = {op} %e : {source} to {target}
          linalg.yield %r : {target}
        }} -> tensor<?x{target}>
        return %y : tensor<?x{target}>
      }}"""
    with pytest.raises(gq.Error, match="no lowering here|f4E2M1FN|f4|f8E4M3FNUZ"):
        gq.compile(text, cache_dir="")
