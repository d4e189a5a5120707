# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The scalar conversions that CPU and GPU share, against ml_dtypes.

Float32 inputs are every bf16 and f16 value, every value near a rounding
boundary of the format, and four million random bit patterns.
"""

import ctypes
import os

import ml_dtypes
import numpy as np
import pytest

if "GQ_CONVERSIONS" not in os.environ:
    pytest.skip("GQ_CONVERSIONS names no library", allow_module_level=True)
library = ctypes.CDLL(os.environ["GQ_CONVERSIONS"])


def convert(name, values, dtype):
    values = np.ascontiguousarray(values)
    result = np.empty(values.shape, dtype)
    pointers = (ctypes.c_void_p(a.ctypes.data) for a in (values, result))
    getattr(library, name)(*pointers, ctypes.c_size_t(values.size))
    return result


def bits(values):
    return np.asarray(values, np.float32).view(np.uint32)


def boundaries(format_dtype, codes):
    """Each value, each midpoint of two, and their neighbours in float32."""
    values = codes.view(format_dtype).astype(np.float64)
    values = np.unique(np.abs(values[np.isfinite(values)]))
    points = np.concatenate([values, (values[1:] + values[:-1]) / 2])
    points = points[points < 3e38].astype(np.float32)
    near = np.concatenate([points, np.nextafter(points, np.float32(np.inf)),
                           np.nextafter(points, np.float32(-np.inf))])  # fmt: skip
    return np.concatenate([near, -near])


@pytest.fixture(scope="module")
def floats():
    every16 = np.arange(1 << 16, dtype=np.uint16)
    rng = np.random.default_rng(3)
    return np.concatenate([
        every16.view(ml_dtypes.bfloat16).astype(np.float32),
        every16.view(np.float16).astype(np.float32),
        rng.integers(0, 1 << 32, 1 << 22, np.uint32).view(np.float32),
    ])  # fmt: skip


ALL_CODES = np.arange(256, dtype=np.uint8)


FP8 = pytest.mark.parametrize(
    "name, dtype, largest",
    [("e4m3", ml_dtypes.float8_e4m3fn, 448), ("e5m2", ml_dtypes.float8_e5m2, 57344)],
)


@FP8
def test_fp8_from_f32(floats, name, dtype, largest):
    x = np.concatenate([floats, boundaries(dtype, ALL_CODES)])
    codes = convert(f"{name}_from_f32", x, np.uint8)
    # ml_dtypes does not saturate.
    nan = np.isnan(x)
    clipped = np.clip(np.where(nan, 0, x), -largest, largest)
    expected = clipped.astype(dtype).view(np.uint8)
    np.testing.assert_array_equal(codes[~nan], expected[~nan])
    assert np.all(codes[nan] == 0x7F)


@FP8
def test_f32_from_fp8(name, dtype, largest):
    values = convert(f"f32_from_{name}", ALL_CODES, np.float32)
    expected = ALL_CODES.view(dtype).astype(np.float32)
    np.testing.assert_array_equal(values, expected)
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(bits(values[number]), bits(expected[number]))
    assert np.nanmax(np.abs(expected[np.isfinite(expected)])) == largest


def test_e2m1_from_f32(floats):
    codes = np.arange(16, dtype=np.uint8)
    x = np.concatenate([floats, boundaries(ml_dtypes.float4_e2m1fn, codes)])
    x = x[~np.isnan(x)]
    expected = np.clip(x, -6, 6).astype(ml_dtypes.float4_e2m1fn).view(np.uint8)
    np.testing.assert_array_equal(convert("e2m1_from_f32", x, np.uint8), expected)


def test_e8m0_values():
    values = convert("f32_from_e8m0", ALL_CODES, np.float32)
    expected = ALL_CODES.view(ml_dtypes.float8_e8m0fnu).astype(np.float32)
    np.testing.assert_array_equal(bits(values[:255]), bits(expected[:255]))
    assert np.isnan(values[255]) and np.isnan(expected[255])
    inverse = convert("f32_from_e8m0_inverse", ALL_CODES, np.float32)
    np.testing.assert_array_equal(inverse[:255].astype(np.float64),
                                  1 / expected[:255].astype(np.float64))  # fmt: skip
    assert np.isnan(inverse[255])


def test_e8m0_from_f32(floats):
    """The smallest power of two that is no less, as ml_dtypes encodes it.

    ml_dtypes rounds to nearest, so it is given a power of two.
    """
    x = np.abs(np.concatenate([floats, boundaries(ml_dtypes.float8_e8m0fnu, ALL_CODES)]))
    codes = convert("e8m0_from_f32", x, np.uint8)
    assert np.all(codes[np.isnan(x)] == 255)
    assert np.all(codes[np.isinf(x)] == 254)
    assert np.all(codes[x == 0] == 0)
    ordinary = np.isfinite(x) & (x > 0)
    mantissa, exponent = np.frexp(x[ordinary].astype(np.float64))
    power = np.where(mantissa == 0.5, exponent - 1, exponent)
    clamped = np.exp2(np.clip(power, -127, 127).astype(np.float64)).astype(np.float32)
    expected = clamped.astype(ml_dtypes.float8_e8m0fnu).view(np.uint8)
    np.testing.assert_array_equal(codes[ordinary], expected)
