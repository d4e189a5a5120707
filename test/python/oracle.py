# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the gq ops compute, in NumPy.

Shares no code and no method with the implementation: e2m1 and fp8 by searching
tables of their numbers, e8m0 by logarithms, columns by transposing the matrix,
the tile layout by a transposition, the matmul by NumPy. Codes are uint8, and so
are scales that are not f32. M rows, K columns, G groups; a row has C = K / block
scales and P = up(C, 4) of them in tile128x4.

Functions that model an op with outputs take the outputs' initial contents and
return new arrays: what the op leaves alone comes through them.
"""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import elements
import numpy as np

# Of nvfp4.
BLOCK = 16
F32_MAX = np.finfo(np.float32).max


def _magnitudes(exponent_bits, mantissa_bits, count):
    """What the first `count` codes of a small float stand for."""
    codes = np.arange(count)
    exponent, mantissa = codes >> mantissa_bits, codes & (1 << mantissa_bits) - 1
    normal = exponent > 0
    mantissa = mantissa + (normal << mantissa_bits)
    power = np.maximum(exponent, 1) - (1 << exponent_bits - 1) + 1 - mantissa_bits
    return np.ldexp(mantissa, power).astype(np.float32)


# The magnitudes of the finite codes, which have the sign bit above them.
E2M1 = _magnitudes(2, 1, 8)
E4M3 = _magnitudes(4, 3, 127)
E5M2 = _magnitudes(5, 2, 124)


def up(a, b):
    return -(-a // b) * b


def tiled_columns(k):
    """P, the scale columns of a row of K elements in tile128x4."""
    return up(k // BLOCK, 4)


def _nearest(x, magnitudes, sign, nan):
    """The codes of float32 `x`: round to nearest, ties to even, saturate."""
    a = np.abs(x)
    ties = (magnitudes[:-1] + magnitudes[1:]) / 2
    code = np.searchsorted(ties, a).astype(np.uint8)
    # A tie found code, and code + 1 is as near.
    tie = ties[np.minimum(code, len(ties) - 1)] == a
    code += tie & (code % 2 == 1)
    code |= np.where(np.signbit(x), np.uint8(sign), np.uint8(0))
    return np.where(np.isnan(x), np.uint8(nan), code)


def e2m1(x):
    return _nearest(x, E2M1, 8, 7)


def e4m3(x):
    return _nearest(x, E4M3, 0x80, 0x7F)


def e5m2(x):
    return _nearest(x, E5M2, 0x80, 0x7F)


def e4m3_value(code):
    values = np.concatenate([E4M3, [np.nan], -E4M3, [np.nan]])
    return values.astype(np.float32)[code]


def e5m2_value(code):
    special = [np.inf, np.nan, np.nan, np.nan]
    values = np.concatenate([E5M2, special, -E5M2, np.negative(special)])
    return values.astype(np.float32)[code]


def e8m0(x):
    """The codes of float32 x >= 0, not NaN: the next power of two."""
    mantissa, exponent = np.frexp(x.astype(np.float64))
    exponent = np.where(mantissa == 0.5, exponent - 1, exponent)
    exponent = np.where(np.isinf(x), 127, np.where(x == 0, -127, exponent))
    return (np.clip(exponent, -127, 127) + 127).astype(np.uint8)


def e8m0_value(code):
    """As float64, which has them all; 255 is NaN."""
    value = np.exp2(code.astype(np.float64) - 127)
    return np.where(code == 255, np.nan, value)


def pack(codes):
    """Two codes per byte, the even index in the low nibble."""
    return codes[..., 0::2] | codes[..., 1::2] << 4


def unpack(data):
    codes = np.stack([data & 15, data >> 4], -1)
    return codes.reshape(*data.shape[:-1], 2 * data.shape[-1])


def e2m1_value(codes):
    return np.concatenate([E2M1, -E2M1])[codes]


@dataclasses.dataclass(frozen=True)
class Format:
    """What a format is made of.

    Attributes:
      block: the rows and columns of a block.
      bits, code, value, largest: of an element's code, how it is made, what it
        stands for, and the largest magnitude of that.
      data, scale: the element types as MLIR writes them.
      transposes: whether columnwise data is stored transposed.
    """

    block: tuple[int, int]
    bits: int
    code: Callable
    value: Callable
    largest: float
    data: str
    scale: str
    transposes: bool


_E2M1 = 4, e2m1, e2m1_value, 6, "i8"
_E4M3 = 8, e4m3, e4m3_value, 448, "f8E4M3FN"
_E5M2 = 8, e5m2, e5m2_value, 57344, "f8E5M2"
FORMATS = {
    "nvfp4": Format((1, 16), *_E2M1, "f8E4M3FN", True),
    "mxfp4": Format((1, 32), *_E2M1, "f8E8M0FNU", False),
    "mxfp8_e4m3": Format((1, 32), *_E4M3, "f8E8M0FNU", False),
    "mxfp8_e5m2": Format((1, 32), *_E5M2, "f8E8M0FNU", False),
    "fp8_e4m3_1x128": Format((1, 128), *_E4M3, "f32", True),
    "fp8_e4m3_128x128": Format((128, 128), *_E4M3, "f32", True),
    "fp8_e5m2_1x128": Format((1, 128), *_E5M2, "f32", True),
    "fp8_e5m2_128x128": Format((128, 128), *_E5M2, "f32", True),
}
# Formats of a whole tensor, or of a group, whose scale is given: the block is
# what columns are a multiple of.
TENSOR_FORMATS = {
    "fp8_e4m3": Format((1, 16), *_E4M3, None, True),
    "fp8_e5m2": Format((1, 16), *_E5M2, None, True),
}
ALL_FORMATS = FORMATS | TENSOR_FORMATS
# What data without a format holds, by its element type: codes without scales.
PLAIN = {"f8E4M3FN": e4m3_value, "f8E5M2": e5m2_value}
# What scales stand for, by their element type.
SCALES = {
    "f8E4M3FN": e4m3_value,
    "f8E8M0FNU": e8m0_value,
    "f32": lambda scales: scales,
}


def te_outer_scale(outer_amax):
    """E of the recipe te."""
    a = np.asarray(outer_amax, np.float32)
    e = np.fmin(np.float32(2688) / a, F32_MAX)
    return np.where((a == 0) | (e == 0), np.float32(1), e)


def amax(x, axis=None):
    """The largest magnitudes of `x`, NaN dropped; 0 of nothing."""
    # NumPy's fmax would return a signaling NaN instead of dropping it.
    return np.where(np.isnan(x), np.float32(0), np.abs(x)).max(axis, initial=0)

def tensor_scale(fmt, amax):
    """The factor that maps the amax to the largest code; 1 if it is 0 or not finite."""
    a = np.asarray(amax, np.float32)
    with np.errstate(all="ignore"):
        s = np.fmin(np.float32(ALL_FORMATS[fmt].largest) / a, F32_MAX)
    return np.where(np.isfinite(a) & (a > 0), s, np.float32(1)).astype(np.float32)


def update_scales(fmt, amax, history, scale, algo="max", margin=0):
    """amax [G], history [H, G], scale [G] -> the next history and scale."""
    history = np.concatenate([amax[None], history[:-1]])
    a = history[0]
    if algo == "max":
        a = np.where(np.isnan(history), np.float32(0), history).max(0)
    with np.errstate(all="ignore"):
        new = np.float32(ALL_FORMATS[fmt].largest) / a * np.float32(2.0**-margin)
    new = np.where(np.isinf(new), F32_MAX, new)
    return history, np.where(np.isfinite(a) & (a > 0), new, scale)


def group_offsets(counts, dtype=np.int32, closed=True):
    """counts [G] -> offsets [G+1], or [G], and scale offsets [G]."""
    counts = [int(c) for c in counts]
    offsets = [sum(counts[:e]) for e in range(len(counts) + closed)]
    scales = [sum(-(-c // 128) * 128 for c in counts[:e]) for e in range(len(counts))]
    return np.array(offsets, dtype), np.array(scales, dtype)


def block_scales(amax, fmt, recipe, outer):
    """The stored scales of blocks, and the factors of their elements. Formats of
    a whole tensor have the outer scale, or that of an outer amax, as the factor.

    `outer` is the global scale or, for the recipe te, the outer amax; None is
    none.
    """
    if fmt in TENSOR_FORMATS:
        scale = np.float32(1) if outer is None else np.float32(outer)
        if recipe == "te" and outer is not None:
            scale = tensor_scale(fmt, outer)
        return np.zeros(amax.shape, np.uint8), np.broadcast_to(scale, amax.shape)
    one, largest = np.float32(1), np.float32(FORMATS[fmt].largest)
    if fmt == "nvfp4":
        if recipe == "te":
            g = one if outer is None else te_outer_scale(outer)
            s = amax * (g * (one / np.float32(6)))
        else:
            g = one if outer is None else np.asarray(outer, np.float32)
            s = amax / np.float32(6)
            s = s if outer is None else s * g
        scales = e4m3(np.fmin(s, F32_MAX))
        d = e4m3_value(scales)
        d = d if outer is None else d * (one / g)
        return scales, np.fmin(one / d, F32_MAX)
    if FORMATS[fmt].scale == "f8E8M0FNU":
        scales = e8m0(amax * (one / largest))
        return scales, np.exp2(127 - scales.astype(np.float64)).astype("f4")
    s = np.fmin(largest / amax, F32_MAX)
    s = np.where(np.isfinite(amax) & (amax > 0), s, one)
    return one / s, s


@dataclasses.dataclass(frozen=True)
class Direction:
    """How a direction of nvfp4 differs from the default.

    Attributes:
      stochastic: whether codes are rounded up or down by random bytes.
      signs: None, or the rows of 16 that change their sign before a Hadamard
        transform of them, as bits.
      square: whether blocks are of 16 by 16.
      outer: "group", "row" or "column", of which there is an outer amax.
      four_over_six: None, or the error by which the better of two scales is
        found, "mae" or "mse".
      scale_max: of that, 448 or 256.
    """

    stochastic: bool = False
    signs: int | None = None
    square: bool = False
    outer: str = "group"
    four_over_six: str | None = None
    scale_max: int = 448

    @property
    def usual(self):
        return self == Direction(outer=self.outer)


@dataclasses.dataclass(frozen=True)
class Place:
    """Where the elements of a group are, and the state of random bits.

    Attributes:
      first: the index of its first element in what is quantized, as a row.
      pitch: how far the next row of the group is.
      seed, offset: unsigned integers of 64 bits.
    """

    first: int = 0
    pitch: int = 0
    seed: int = 0
    offset: int = 0


def philox(counter, key):
    """Philox4x32-10 of arrays of four words and two numbers -> four arrays."""
    c = [np.asarray(word, np.uint64) & np.uint64(0xFFFFFFFF) for word in counter]
    low, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    for i in range(10):
        k = [(key[0] + i * 0x9E3779B9) % 2**32, (key[1] + i * 0xBB67AE85) % 2**32]
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(b >> shift) ^ c[1] ^ np.uint64(k[0]), b & low,
             (a >> shift) ^ c[3] ^ np.uint64(k[1]), a & low]  # fmt: skip
    return c


def random_bytes(shape, place, columnwise):
    """The bytes of blocks: `shape` is rows and blocks of 16, transposed if
    columnwise -> [*shape, 16]."""
    line, block = np.indices(shape, np.uint64)
    sixteen, first, pitch = (np.uint64(n) for n in (16, place.first, place.pitch))
    if columnwise:
        b = first + block * sixteen * pitch + line
    else:
        b = (first + line * pitch) // sixteen + block
    high = b >> np.uint64(32) | np.uint64(columnwise << 31)
    words = philox((b, high, place.offset % 2**32, place.offset >> 32),
                   (place.seed % 2**32, place.seed >> 32))  # fmt: skip
    words = np.stack(words, -1).astype("<u4")
    return words.view(np.uint8).reshape(*shape, 16)


def e2m1_stochastic(y, random):
    """The codes of y, with a random byte for each."""

    def step(v):
        return np.where(v < 2, 0.5, np.where(v < 4, 1, 2)).astype(np.float32)

    v = np.where(np.isnan(y), np.float32(6), np.abs(y))
    t = random.astype(np.float32) / np.float32(256) * step(v) + v
    magnitude = np.fmin(np.floor(t / step(t)) * step(t), np.float32(6))
    code = np.searchsorted(E2M1, magnitude).astype(np.uint8)
    return code | np.where(np.signbit(y) & ~np.isnan(y), np.uint8(8), np.uint8(0))


def hadamard(lines, signs):
    """Lines [..., 16] transformed, rounded to bf16."""
    minus = (signs >> np.arange(16) & 1).astype(bool)
    v = np.where(minus, -lines, lines)
    for stride in 1, 2, 4, 8:
        pairs = v.reshape(*v.shape[:-1], 8 // stride, 2, stride)
        a, b = pairs[..., 0, :], pairs[..., 1, :]
        v = np.stack([a + b, a - b], -2).reshape(v.shape)
    v = v * np.float32(0.25)
    return elements.rounded(v, "bf16")


def transformed_columns(x, signs):
    """x [m, K] with its columns transformed in blocks of 16 rows: [up(m, 16), K]."""
    padded = np.zeros((up(len(x), 16), x.shape[1]), np.float32)
    padded[: len(x)] = x
    with np.errstate(all="ignore"):
        lines = hadamard(padded.T.reshape(x.shape[1], len(padded) // 16, 16), signs)
    return lines.reshape(x.shape[1], len(padded)).T


def _summed(terms, axis):
    """Of float32, in order."""
    total = np.zeros_like(terms.take(0, axis))
    for i in range(terms.shape[axis]):
        total = total + terms.take(i, axis)
    return total


def _four_over_six(b, amax, outer, d, columnwise):
    """The scales and factors of blocks, where `b` is [n, 16, c, 16] and `amax`
    and `outer` are those of the lines [n, 16, c]."""
    f = np.float32
    most = f(6 * d.scale_max)
    a = most if outer is None else outer
    e = np.fmin(most / a, F32_MAX)
    e = np.where((a == 0) | (e == 0), f(1), e)
    base = amax / f(6) * e
    candidates = []
    for scale in base, base * f(1.5):
        scales = e4m3(np.fmin(scale, f(448)))
        value = e4m3_value(scales)
        factors = np.fmin(f(1) / (value * (f(1) / e)), F32_MAX)
        codes = e2m1(b * factors[..., None])
        v = e2m1_value(codes) * value[..., None] * np.asarray(a)[..., None] / most
        off = v - b
        errors = np.abs(off) if d.four_over_six == "mae" else off * off
        if d.square:
            # Rows of the matrix, whichever way the lines go.
            rows = _summed(errors, 1) if columnwise else _summed(errors, 3)
            rows = rows if columnwise else rows.swapaxes(1, 2)
            for half in 8, 4, 2, 1:
                rows = rows[..., :half] + rows[..., half : 2 * half]
            total = np.broadcast_to(rows[..., 0][:, None], amax.shape)
        else:
            total = _summed(errors, 3)
        candidates.append((scales, factors, total))
    six, four = candidates
    better = four[2] < six[2]
    return np.where(better, four[0], six[0]), np.where(better, four[1], six[1])


def _quantize_unusual(x, recipe, outer, d, place, columnwise):
    """quantize_rows() for a direction of nvfp4 that differs from the default."""
    m, k = x.shape
    padded = np.zeros((up(m, 16), k), np.float32)
    padded[:m] = x
    b = padded.reshape(up(m, 16) // 16, 16, k // 16, 16)
    if outer is not None:
        outer = np.asarray(outer, np.float32)
        if outer.ndim:
            outer = np.concatenate([outer, np.ones((up(m, 16) - m, 1), np.float32)])
            outer = outer.reshape(up(m, 16) // 16, 16, 1)
    with np.errstate(all="ignore"):
        if d.signs is not None:
            b = hadamard(b, d.signs)
        magnitudes = np.where(np.isnan(b), np.float32(0), np.abs(b))
        amax = magnitudes.max(3)
        if d.square:
            amax = np.broadcast_to(amax.max(1, keepdims=True), amax.shape)
        if d.four_over_six:
            if outer is not None:
                outer = np.broadcast_to(outer, amax.shape)
            scales, factors = _four_over_six(b, amax, outer, d, columnwise)
        else:
            scales, factors = block_scales(amax, "nvfp4", recipe, outer)
        y = b * factors[..., None]
        if d.stochastic:
            shape = padded.shape[0], k // 16
            codes = e2m1_stochastic(y, random_bytes(shape, place, columnwise).reshape(y.shape))
        else:
            codes = e2m1(y)
    return codes.reshape(padded.shape)[:m], scales.reshape(len(padded), k // 16)[:m]


def quantize_rows(x, fmt, recipe="nvfuser", outer=None, direction=Direction(),
                  place=Place(), columnwise=False):  # fmt: skip
    """x [M, K] f32, bf16 or f16 -> codes [M, K], linear scales.

    Where the last block of a row or column is cut off, what is missing counts
    0. `outer` broadcasts to the scales.
    """
    if not direction.usual:
        return _quantize_unusual(x, recipe, outer, direction, place, columnwise)
    rows, columns = ALL_FORMATS[fmt].block
    m, k = x.shape
    padded = np.zeros((up(m, rows), up(k, columns)), np.float32)
    padded[:m, :k] = x
    counts = padded.shape[0] // rows, padded.shape[1] // columns
    b = padded.reshape(counts[0], rows, counts[1], columns)
    with np.errstate(all="ignore"):
        scales, factors = block_scales(amax(b, (1, 3)), fmt, recipe, outer)
        codes = ALL_FORMATS[fmt].code(b * factors[:, None, :, None])
    return codes.reshape(padded.shape)[:m, :k], scales


def quantize_columns(x, fmt, recipe="nvfuser", outer=None, direction=Direction(),
                     place=Place()):  # fmt: skip
    """x [m, K] of one group -> codes, scales [K, blocks] of its columns.

    The codes are [m, K] or, where the format transposes, [K, up(m, 32)]. The
    missing rows count 0 and are written as 0.
    """
    m, k = x.shape
    padded = np.zeros((k, up(m, 32)), x.dtype)
    padded[:, :m] = x.T
    codes, scales = quantize_rows(padded, fmt, recipe, outer, direction, place, True)
    # A transform makes 16 of the rows of a block, if there is one.
    codes[:, m if direction.signs is None else up(m, 16) :] = 0
    return (codes if ALL_FORMATS[fmt].transposes else codes[:, :m].T), scales


def block_quantize(x, global_scale=None):
    """x [M, K] -> nvfp4 data [M, K/2], linear scales [M, C].

    `global_scale` is None, a scalar, or [M].
    """
    g = global_scale if np.ndim(global_scale) == 0 else global_scale[:, None]
    codes, scales = quantize_rows(x, "nvfp4", outer=g)
    return pack(codes), scales


def stored(codes, fmt):
    """Codes as bytes."""
    return pack(codes) if ALL_FORMATS[fmt].bits == 4 else codes


def laid_out(scales, layout):
    """The scales of one group as they are stored, flat."""
    return tile(scales) if layout == "tile128x4" else scales.reshape(-1)


def group_ranges(m, offsets, scale_offsets):
    """The (begin, end) rows of each group; `offsets` has G or G+1 entries.

    Without scale offsets, None, it has G+1.
    """
    starts = [int(o) for o in offsets]
    if scale_offsets is not None and len(starts) == len(scale_offsets):
        starts.append(m)
    return list(zip(starts[:-1], starts[1:]))


def tile(linear, padding=0):
    """Scales [m, C] of one group -> up(m, 128) * P bytes in tile128x4."""
    m, c = linear.shape
    padded = np.full((up(m, 128), up(c, 4)), padding, np.uint8)
    padded[:m, :c] = linear
    t = padded.reshape(len(padded) // 128, 4, 32, padded.shape[1] // 4, 4)
    return t.transpose(0, 3, 2, 1, 4).reshape(-1)


def untile(tiled, m, c):
    """The inverse of tile(); `tiled` may be longer than the group."""
    p = up(c, 4)
    t = tiled.reshape(-1)[: up(m, 128) * p].reshape(up(m, 128) // 128, p // 4, 32, 4, 4)
    return t.transpose(0, 3, 2, 1, 4).reshape(up(m, 128), p)[:m, :c]


def preprocess_grouped_matmul_sf(
    linear, offsets, scale_offsets, scales, padding=0
):
    """Linear scales [M, C] -> a copy of `scales` with the groups' tiles set.

    `scales` holds any multiple of P bytes, in any shape.
    """
    out = scales.copy()
    flat = out.reshape(-1)
    p = up(linear.shape[1], 4)
    ranges = group_ranges(len(linear), offsets, scale_offsets)
    for (begin, end), row in zip(ranges, scale_offsets):
        tiles = tile(linear[begin:end], padding)
        flat[int(row) * p : int(row) * p + tiles.size] = tiles
    return out


def grouped_block_quantize(
    x, offsets, scale_offsets, data, scales, global_scale=None, rows="all"
):
    """x [M, K] -> copies of `data` [M, K/2] and `scales` (tile128x4) set.

    `global_scale` is None, a scalar or [G]. rows="grouped" leaves the data of
    rows in no group alone; with "all" they are quantized too, without a global
    scale if there is one per group.
    """
    m = len(x)
    ranges = group_ranges(m, offsets, scale_offsets)
    grouped = np.zeros(m, bool)
    g = global_scale
    if np.ndim(g):
        g = np.ones(m, np.float32)
    for e, (begin, end) in enumerate(ranges):
        grouped[begin:end] = True
        if np.ndim(g):
            g[begin:end] = global_scale[e]
    codes, linear = block_quantize(x, g)
    data = data.copy()
    written = grouped if rows == "grouped" else slice(None)
    data[written] = codes[written]
    return data, preprocess_grouped_matmul_sf(
        linear, offsets, scale_offsets, scales
    )


def codes_of(data, fmt):
    """Data as stored -> codes one by one."""
    return unpack(data) if fmt in FORMATS and FORMATS[fmt].bits == 4 else data


def dequantize_codes(codes, linear, fmt):
    """Codes [M, K], linear scales [M, C] -> float64 [M, K].

    Blocks of 128 rows have scales [up(M, 128) / 128, C]; the last one of a row may
    be cut off. Without a format, `fmt` being an element type, there are none.
    """
    if fmt in PLAIN:
        return PLAIN[fmt](codes).astype(np.float64)
    f = FORMATS[fmt]
    m, k = codes.shape
    scales = SCALES[f.scale](linear).astype(np.float64)
    scales = scales.repeat(f.block[0], 0)[:m].repeat(f.block[1], 1)[:, :k]
    with np.errstate(invalid="ignore"):
        return f.value(codes).astype(np.float64) * scales


def dequantize(data, linear, global_scale=None, fmt="nvfp4"):
    """Data as stored [M, ...], linear scales -> float64 [M, K]."""
    values = dequantize_codes(codes_of(data, fmt), linear, fmt)
    return values if global_scale is None else values / np.float64(global_scale)


def dequantize_rows(codes, linear, fmt, recipe="nvfuser", outer=None, scale_max=448):
    """Codes [M, K], linear scales -> float32 [M, K], rounded as the ops do.

    `outer` is the global scale, for te the outer amax, or one a row as [M, 1], and
    where `fmt` is an element type the scale of all codes; None is none.
    """
    if fmt in PLAIN:
        with np.errstate(all="ignore"):
            return PLAIN[fmt](codes) * np.float32(outer)
    f = FORMATS[fmt]
    m, k = codes.shape
    with np.errstate(all="ignore"):
        d = SCALES[f.scale](linear).astype(np.float32)
        if recipe == "te":
            d = d * np.float32(outer) * (np.float32(1) / np.float32(6 * scale_max))
        d = d.repeat(f.block[0], 0)[:m].repeat(f.block[1], 1)[:, :k]
        x = f.value(codes) * d
        if recipe == "nvfuser" and outer is not None:
            x = x / np.float32(outer)
    return x


def dequantize_columns(
    codes, linear, m, fmt, recipe="nvfuser", outer=None, scale_max=448
):
    """What quantize_columns() gave for m rows -> float32 [m, K].

    `outer` of te may be one a column, [K, 1].
    """
    transposes = fmt in PLAIN or FORMATS[fmt].transposes
    codes = codes[:, :m] if transposes else codes.T
    return dequantize_rows(codes, linear, fmt, recipe, outer, scale_max).T


def stored_float(x, element):
    """float32 -> f32, f16 or, as uint16, bf16; NaN is all ones but the sign."""
    nan = np.isnan(x)
    if element == "f32":
        return np.where(nan, np.uint32(0x7FFFFFFF), x.view(np.uint32)).view(np.float32)
    if element == "f16":
        with np.errstate(over="ignore"):
            bits = x.astype(np.float16).view(np.uint16)
        return np.where(nan, np.uint16(0x7FFF), bits).view(np.float16)
    # To nearest even: the two halves of float32.
    x = np.where(nan, np.float32(0), x)
    high, low = np.divmod(x.view(np.uint32).astype(np.int64), 1 << 16)
    bits = high + ((low > 0x8000) | ((low == 0x8000) & (high % 2 == 1)))
    return np.where(nan, 0x7FFF, bits).astype(np.uint16)


def round_to(x, dtype):
    """float64 `x` rounded once, to nearest even, to f32, f16 or bf16."""
    if np.issubdtype(dtype, np.floating):
        with np.errstate(over="ignore"):
            return x.astype(dtype)
    # By way of float32, rounded to odd: two more bits suffice for that, so the
    # second rounding sees which side of a tie x lies on.
    with np.errstate(all="ignore"):
        f = x.astype(np.float32)
        other = np.nextafter(f, np.where(x > f, np.inf, -np.inf).astype("f4"))
    odd = (f != x) & (f.view(np.uint32) % 2 == 0)
    return np.where(odd, other, f).astype(dtype)


class Precision(NamedTuple):
    """How exact sums of K products are: off by no more than (K + 8) * unit + lost
    of the sum of magnitudes."""

    unit: float
    lost: float = 0.0


F64, F32 = Precision(2.0**-53), Precision(2.0**-24)
# Matrix units of 8-bit codes keep 14 bits of the largest of 32 products.
BYTES = Precision(2.0**-24, 2.0**-9)


def _product(error, precision, lhs, rhs, factor, added, dtype):
    """lhs [M, K] . rhs [N, K], scaled and added to, as `dtype`; `error` times
    what it may be off is added before the rounding."""
    with np.errstate(invalid="ignore", over="ignore"):
        value = lhs @ rhs.T * factor + added
        if error:
            part = (lhs.shape[1] + 8) * precision.unit + precision.lost
            off = part * (np.abs(lhs) @ np.abs(rhs.T)) * np.abs(factor)
            off += 8 * precision.unit * np.abs(added)
            value = np.where(np.isfinite(value), value + error * off, value)
        return round_to(value, dtype)


def _grouped_mm(
    error, a, b, a_scales, b_scales, offsets, scale_offsets, alpha, out,
    fmt="nvfp4", b_format=None, b_major="k", row_scales=None, column_scales=None,
    bias=None, precision=F64,
):  # fmt: skip
    """grouped_mm(), each result moved by `error` times what it may be off."""
    out, b_format = out.copy(), b_format or fmt
    tiled = scale_offsets is not None
    if tiled:
        columns = a.shape[1] * 8 // FORMATS[fmt].bits // FORMATS[fmt].block[1]
        flat = a_scales.reshape(-1, up(columns, 4))
    for e, (begin, end) in enumerate(group_ranges(len(a), offsets, scale_offsets)):
        lhs_scales = None if a_scales is None else a_scales[begin:end]
        rhs_scales = None if b_scales is None else b_scales[e]
        if tiled:
            lhs_scales = untile(flat[int(scale_offsets[e]) :], end - begin, columns)
            rhs_scales = untile(b_scales[e], out.shape[1], columns)
        lhs = dequantize(a[begin:end], lhs_scales, fmt=fmt)
        codes = codes_of(b[e], b_format)
        codes = codes.T if b_major == "n" else codes
        rhs = dequantize_codes(codes, rhs_scales, b_format)
        factor = np.full((end - begin, out.shape[1]), 1.0)
        factor *= 1.0 if alpha is None else np.float64(alpha[e])
        if row_scales is not None:
            factor *= row_scales[begin:end, None].astype(np.float64)
        if column_scales is not None:
            factor *= column_scales[e].astype(np.float64)
        added = 0.0 if bias is None else bias[e].astype(np.float64)
        out[begin:end] = _product(error, precision, lhs, rhs, factor, added, out.dtype)
    return out


def grouped_mm(*operands, **options):
    """a [M, ...], b [G, N, ...] as stored, scales -> a copy of `out` set.

    Operands: a, b, a_scales, b_scales, offsets, scale_offsets, alpha, out; of the
    options row_scales [M], column_scales [G, N], bias [G, N], fmt, b_format and
    b_major, with "n" of which b is [G, K, N].
    Scales are in tile128x4 if there are scale offsets, else linear, or None
    where `fmt` and `b_format` are element types. `alpha` is None or [G]; `out`
    [M, N]. Rows in no group stay. For nvfp4 the sums are exact while they stay
    below 2^53 * 2^-20, so for K <= 512 whatever the operands hold.
    """
    return _grouped_mm(0, *operands, **options)


def grouped_mm_bounds(*operands, **options):
    """The least and the largest that grouped_mm() may give.

    K sums in float64 are off by no more than K * 2^-53 of the sum of magnitudes,
    the factors and the bias add a few of that. Twice, because NumPy's sums are.
    The option `precision` is that of others.
    """
    return tuple(_grouped_mm(error, *operands, **options) for error in (-2, 2))


def _columns(data, scales, offsets, columns, fmt):
    """Columnwise data and scales as stored -> float64 [columns, m] a group; m is
    a multiple of 32 where the format transposes."""
    f, at, scale_at = FORMATS.get(fmt), 0, 0
    for begin, end in group_ranges(None, offsets, None):
        m, linear = end - begin, None
        if f and f.transposes:
            width = up(m, 32) * f.bits // 8
            codes = codes_of(data[at : at + columns * width].reshape(columns, width), fmt)
            at += columns * width
            # What pads the last block is zero, or the rest of one that was transformed.
            m = up(m, 32)
        else:
            codes = codes_of(data[begin:end], fmt).T
        if f:
            lines, blocks = columns // f.block[0], -(-up(m, 32) // f.block[1])
            tiled = f.scale != "f32"
            size = up(lines, 128) * up(blocks, 4) if tiled else lines * blocks
            part = scales[scale_at : scale_at + size]
            linear = untile(part, lines, blocks) if tiled else part.reshape(lines, blocks)
            scale_at += size
        yield dequantize_codes(codes[:, :m], linear, fmt)


def _grouped_wgrad(
    error, a, b, a_scales, b_scales, offsets, alpha, out, fmt="nvfp4", b_format=None,
    precision=F64,
):  # fmt: skip
    """grouped_wgrad(), each result moved by `error` times what it may be off."""
    out = out.copy()
    lhs = _columns(a, a_scales, offsets, out.shape[1], fmt)
    rhs = _columns(b, b_scales, offsets, out.shape[2], b_format or fmt)
    for e, (x, y) in enumerate(zip(lhs, rhs, strict=True)):
        factor = 1.0 if alpha is None else np.float64(alpha[e])
        out[e] = _product(error, precision, x, y, factor, 0.0, out.dtype)
    return out


def grouped_wgrad(*operands, **options):
    """Columnwise data and scales -> `out` [G, N, K].

    Operands: a, b, a_scales, b_scales, offsets, alpha, out; options fmt, b_format.
    What is absent is None.
    """
    return _grouped_wgrad(0, *operands, **options)


def grouped_wgrad_bounds(*operands, **options):
    """The least and the largest that grouped_wgrad() may give."""
    return tuple(_grouped_wgrad(error, *operands, **options) for error in (-2, 2))
