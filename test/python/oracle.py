# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the gq ops compute for nvfp4 (recipe nvfuser), in NumPy.

Shares no code and no method with the implementation: e2m1 by thresholds, e4m3
by ml_dtypes, the tile layout by a transposition, the matmul by NumPy. Codes
and scales are uint8. M rows, K columns, G groups; a row has C = K / 16 scales
and P = up(C, 4) of them in tile128x4.

Functions that model an op with outputs take the outputs' initial contents and
return new arrays: what the op leaves alone comes through them.
"""

import ml_dtypes
import numpy as np

BLOCK = 16
F32_MAX = np.finfo(np.float32).max
# The magnitude of the e2m1 codes 0 to 7; code + 8 is its negative.
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)


def up(a, b):
    return -(-a // b) * b


def tiled_columns(k):
    """P, the scale columns of a row of K elements in tile128x4."""
    return up(k // BLOCK, 4)


def e2m1(x):
    """The codes of float32 `x`: round to nearest, ties to even, saturate."""
    a = np.abs(x)
    code = np.zeros(x.shape, np.uint8)
    # Between codes c and c + 1 the tie goes to the even one of the two.
    for c, tie in enumerate((E2M1[:-1] + E2M1[1:]) / 2):
        code += (a > tie) if c % 2 == 0 else (a >= tie)
    code += np.signbit(x) * np.uint8(8)
    code[np.isnan(x)] = 7
    return code


def e4m3(x):
    """The codes of float32 `x`, not NaN: round to nearest even, saturate."""
    return np.clip(x, -448, 448).astype(ml_dtypes.float8_e4m3fn).view(np.uint8)


def e4m3_value(code):
    return code.view(ml_dtypes.float8_e4m3fn).astype(np.float32)


def pack(codes):
    """Two codes a byte, the even index in the low nibble."""
    return codes[..., 0::2] | codes[..., 1::2] << 4


def unpack(data):
    codes = np.stack([data & 15, data >> 4], -1)
    return codes.reshape(*data.shape[:-1], 2 * data.shape[-1])


def e2m1_value(codes):
    return np.concatenate([E2M1, -E2M1])[codes]


def block_quantize(x, global_scale=None):
    """x [M, K] f32, bf16 or f16 -> data [M, K/2], linear scales [M, C].

    `global_scale` is None, a scalar, or [M]; 1 is the same as None, because
    multiplying by 1 is exact.
    """
    m, k = x.shape
    b = x.astype(np.float32).reshape(m, k // BLOCK, BLOCK)
    one = np.float32(1)
    with np.errstate(all="ignore"):
        # NumPy's fmax would return a signaling NaN instead of dropping it.
        amax = np.where(np.isnan(b), np.float32(0), np.abs(b)).max(axis=-1)
        s = amax / np.float32(6)
        if global_scale is not None:
            g = np.broadcast_to(np.asarray(global_scale, np.float32), m)[:, None]
            s = s * g
        scales = e4m3(np.fmin(s, F32_MAX))
        d = e4m3_value(scales)
        if global_scale is not None:
            d = d * (one / g)
        inverse = np.fmin(one / d, F32_MAX)
        codes = e2m1(b * inverse[..., None])
    return pack(codes.reshape(m, k)), scales


def group_ranges(m, offsets, scale_offsets):
    """The (begin, end) rows of each group; `offsets` has G or G+1 entries."""
    starts = [int(o) for o in offsets]
    if len(starts) == len(scale_offsets):
        starts.append(m)
    return list(zip(starts[:-1], starts[1:]))


def tile(linear, padding=0):
    """Scales [m, C] of one group -> up(m, 128) * P bytes in tile128x4."""
    m, c = linear.shape
    padded = np.full((up(m, 128), up(c, 4)), padding, np.uint8)
    padded[:m, :c] = linear
    t = padded.reshape(-1, 4, 32, padded.shape[1] // 4, 4)
    return t.transpose(0, 3, 2, 1, 4).reshape(-1)


def untile(tiled, m, c):
    """The inverse of tile(); `tiled` may be longer than the group."""
    p = up(c, 4)
    t = tiled.reshape(-1)[: up(m, 128) * p].reshape(-1, p // 4, 32, 4, 4)
    return t.transpose(0, 3, 2, 1, 4).reshape(-1, p)[:m, :c]


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
    scale if there is one a group.
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


def dequantize(data, linear, global_scale=None):
    """data [M, K/2], linear scales [M, C] -> float64 [M, K]."""
    values = e2m1_value(unpack(data)).astype(np.float64)
    values *= np.repeat(e4m3_value(linear), BLOCK, axis=-1)
    return values if global_scale is None else values / np.float64(global_scale)


def round_to(x, dtype):
    """float64 `x` rounded once, to nearest even, to f32, f16 or bf16."""
    if dtype != ml_dtypes.bfloat16:
        with np.errstate(over="ignore"):
            return x.astype(dtype)
    # By way of float32, rounded to odd: two more bits suffice for that, so the
    # second rounding sees which side of a tie x lies on.
    with np.errstate(all="ignore"):
        f = x.astype(np.float32)
        other = np.nextafter(f, np.where(x > f, np.inf, -np.inf).astype("f4"))
    odd = (f != x) & (f.view(np.uint32) % 2 == 0)
    return np.where(odd, other, f).astype(ml_dtypes.bfloat16)


def grouped_mm(a, b, a_scales, b_scales, offsets, scale_offsets, alpha, out):
    """a [M, K/2], b [G, N, K/2], scales in tile128x4 -> a copy of `out` set.

    `alpha` is None or [G]; `out` [M, N]. Rows in no group stay. The sums are
    exact while they stay below 2^53 * 2^-20, so for K <= 512 whatever the
    operands hold.
    """
    out = out.copy()
    c = a.shape[1] * 2 // BLOCK
    p = up(c, 4)
    a_scales = a_scales.reshape(-1)
    ranges = group_ranges(len(a), offsets, scale_offsets)
    for e, (begin, end) in enumerate(ranges):
        tiles = a_scales[int(scale_offsets[e]) * p :]
        lhs = dequantize(a[begin:end], untile(tiles, end - begin, c))
        rhs = dequantize(b[e], untile(b_scales[e], b.shape[1], c))
        scale = 1.0 if alpha is None else np.float64(alpha[e])
        out[begin:end] = round_to(lhs @ rhs.T * scale, out.dtype)
    return out
