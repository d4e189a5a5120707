# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""e2m1 and e4m3 as the ops compute them, for every number of 16 bits."""

import ctypes
import platform

import ml_dtypes
import modules
import numpy as np
import oracle
import pytest

def quantize(x, scale, grouped):
    """Codes [M, K] and linear scales [M, K/16] of x, with a global scale."""
    m, k = x.shape
    t = modules.Types(k, modules.element_of(x), scale="scalar")
    g = np.array(scale, np.float32)
    if grouped:
        offsets, scale_offsets = np.int32([0, m]), np.int32([0])
        data, scales = modules.quantize(
            modules.grouped_block_quantize(t),
            True,
            x,
            offsets,
            scale_offsets,
            g,
            oracle.up(m, 128),
        )
        scales = oracle.untile(scales, m, k // 16)
    else:
        data, scales = np.empty((m, k // 2), "u1"), np.empty((m, k // 16), "u1")
        modules.compiled(modules.block_quantize(t))(x, g, data, scales)
    return oracle.unpack(data), scales


def every_number(element):
    return np.arange(2**16, dtype=np.uint16).view(modules.ELEMENTS[element])


def awkward_floats():
    """All ties and codes of e2m1, their neighbours, and random bit patterns."""
    grid = oracle.E2M1
    x = np.concatenate([grid, (grid[1:] + grid[:-1]) / 2])
    bits = x.view(np.uint32)[:, None] + np.arange(-300, 300).astype(np.uint32)
    rng = np.random.default_rng(0)
    random = rng.integers(0, 2**32, 2**19, np.uint32)
    small = rng.uniform(-7, 7, 2**19).astype(np.float32)
    x = np.concatenate([bits.reshape(-1).view(np.float32), small])
    return np.concatenate([x, -x, random.view(np.float32)])


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("element", modules.ELEMENTS)
def test_e2m1(element, grouped):
    """Every number, infinities and NaN too, in a block whose reciprocal is 1.

    Each block holds a 6, so that with a global scale of 448 its scale saturates
    at 448 whatever else is in it, and 448 * (1 / 448) is 1 in float32.
    """
    assert np.float32(448) * (np.float32(1) / np.float32(448)) == 1
    if element == "f32":
        numbers = awkward_floats()
    else:
        numbers = every_number(element)
    blocks = np.resize(numbers, (oracle.up(-(-len(numbers) // 15), 4), 15))
    # The 6 is not always at the same place in its block.
    at = np.arange(len(blocks)) % 16
    x = np.full((len(blocks), 16), 6, numbers.dtype)
    tested = np.arange(16) != at[:, None]
    x[tested] = blocks.reshape(-1)
    codes, scales = quantize(x.reshape(-1, 64), 448, grouped)

    assert (scales == 0x7E).all()
    codes = codes.reshape(-1, 16)
    assert (codes[~tested] == 7).all()
    wide = blocks.reshape(-1).astype(np.float32)
    nan = np.isnan(wide)
    clipped = np.where(nan, np.float32(6), np.clip(wide, -6, 6))
    expected = clipped.astype(ml_dtypes.float4_e2m1fn).view(np.uint8) & 15
    np.testing.assert_array_equal(codes[tested], expected)
    np.testing.assert_array_equal(oracle.e2m1(wide), expected)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("element", ["bf16", "f16"])
def test_e4m3(element, grouped):
    """Every number as the largest of its block, scaled so that it is e4m3's.

    With a global scale of 6 the scale before its rounding is |x| / 6 * 6, which
    is |x| again for all but the tiniest numbers.
    """
    numbers = every_number(element)
    x = np.zeros((len(numbers), 16), numbers.dtype)
    x[np.arange(len(x)), np.arange(len(x)) % 16] = numbers
    _, scales = quantize(x, 6, grouped)

    wide = np.abs(numbers.astype(np.float32))
    wide[np.isnan(wide)] = 0
    six = np.float32(6)
    with np.errstate(over="ignore"):
        assert (wide / six * six == wide)[wide > 2.0**-120].all()
    expected = np.minimum(wide, 448).astype(ml_dtypes.float8_e4m3fn)
    np.testing.assert_array_equal(scales[:, 0], expected.view(np.uint8))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names x86's modes")
@pytest.mark.parametrize("mode", [0x400, 0x800, 0xC00])
def test_rounding_mode_of_the_process_does_not_matter(mode):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((64, 64)).astype(np.float32)
    t = modules.Types(64, "f32")
    run = modules.compiled(modules.block_quantize(t))
    data, scales = np.empty((64, 32), "u1"), np.empty((64, 4), "u1")
    set_mode = ctypes.CDLL("libm.so.6").fesetround
    assert set_mode(mode) == 0
    try:
        run(x, data, scales)
    finally:
        set_mode(0)
    expected = oracle.block_quantize(x)
    np.testing.assert_array_equal(data, expected[0])
    np.testing.assert_array_equal(scales, expected[1])
