# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""e2m1, e4m3 and the matmul's rounding as the ops compute them.

Inputs are made so that nothing but what is tested can change a byte.
"""

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


def neighbours(x, distance):
    """Float32 x > 0, [...] -> [..., 2 * distance + 1] around each."""
    steps = np.arange(-distance, distance + 1)
    bits = x.astype(np.float32).view(np.int32)[..., None] + steps
    return bits.astype(np.int32).view(np.float32)


def near_ties(g):
    """Blocks [n, 16] on the brink with a global scale g, and their d and 1/g.

    The first of a block is its largest magnitude and makes a scale that is next
    to a tie; the others are next to ties of codes. There the last bit of an
    intermediate result decides, and so does the order of operations.
    """
    scales = oracle.e4m3_value(np.arange(0x10, 0x7F, dtype=np.uint8))
    ties = (scales[1:] + scales[:-1]) / 2
    x = np.zeros((ties.size * 9, 16), np.float32)
    x[:, 0] = neighbours(6 * ties / g, 4).reshape(-1)
    _, scales = oracle.block_quantize(x, g)
    d = oracle.e4m3_value(scales)
    ties = (oracle.E2M1[1:] + oracle.E2M1[:-1]) / 2
    x[:, 1:] = neighbours(ties * d / g, 1)[..., :5, :].reshape(-1, 15)
    assert (x.max(axis=1) == x[:, 0]).all()
    return x, d


def test_order_of_operations():
    """Also, that each other order would give other bytes for these blocks."""
    one, six = np.float32(1), np.float32(6)
    other_scale = other_inverse = division = 0
    rng = np.random.default_rng(0)
    for g in np.exp2(rng.uniform(-6, 6, 20)).astype(np.float32):
        x, d = near_ties(g)
        codes, scales = quantize(x, g, grouped=False)
        expected = oracle.block_quantize(x, g)
        np.testing.assert_array_equal(oracle.pack(codes), expected[0])
        np.testing.assert_array_equal(scales, expected[1])
        other_scale += (scales != oracle.e4m3(x[:, :1] * g / six)).sum()
        other_inverse += (codes != oracle.e2m1(x * (one / (d / g)))).sum()
        division += (codes != oracle.e2m1(x / (d * (one / g)))).sum()
    assert other_scale and other_inverse and division


@pytest.mark.parametrize("out, bits", [("bf16", 8), ("f16", 11)])
def test_grouped_mm_rounds_once(out, bits):
    """2^bits + 1 or 3, ties of `out`, plus or minus 2^-20, which float32 loses.

    A row has three blocks, which make the three terms; b is 1, 1, 0.5.
    """
    base = 2.0**bits
    rows, expected = [], []
    one, three, half, minus = 2, 5, 1, 8  # e2m1 codes
    for odd, tiny, result in [
        (one, half, base + 2),
        (one, 0, base),
        (one, half | minus, base),
        (three, half, base + 4),
        (three, 0, base + 4),
        (three, half | minus, base + 2),
    ]:
        for sign in 0, minus:
            row = np.zeros(48, np.uint8)
            row[0], row[16], row[32] = one ^ sign, odd ^ sign, tiny ^ sign
            rows.append(row)
            expected.append(-result if sign else result)
    b = np.zeros((1, 1, 48), np.uint8)
    b[..., 0], b[..., 16], b[..., 32] = one, one, half
    smallest = 2.0**-9
    a_scales = oracle.e4m3(np.float32([[16, 1, smallest]] * len(rows)))
    b_scales = oracle.e4m3(np.float32([[base / 16, 1, smallest]]))
    result = np.zeros((len(rows), 1), modules.ELEMENTS[out])
    t = modules.Types(48, out)
    modules.compiled(modules.grouped_mm(t, out, alpha=False))(
        oracle.pack(np.array(rows)),
        oracle.pack(b),
        oracle.tile(a_scales).reshape(128, 4),
        oracle.tile(b_scales).reshape(1, 128, 4),
        np.int32([0, len(rows)]),
        np.int32([0]),
        result,
    )
    assert result.astype(float).reshape(-1).tolist() == expected


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
