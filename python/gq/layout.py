# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where groups and scales are: offsets, extents of buffers, tiles.

Of M rows of K columns in G groups, m rows in one of them. Functions of arrays
take those of NumPy and tensors of torch, on any device, and return the same.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from . import _formats
from ._arrays import AnyArray
from ._arrays import NumPy as _NumPy
from ._arrays import kind_of as _kind_of
from ._library import invalid_argument as _invalid_argument


def up(x: int, unit: int) -> int:
    """`x` rounded up to a multiple of `unit`."""
    return -(-x // unit) * unit


def padded(m: int, groups: int, unit: int) -> int:
    """The most rows that groups of `m` rows have, each rounded up to the unit."""
    return up(m, unit) + unit * (groups - 1) if groups else 0


@dataclasses.dataclass(frozen=True)
class Extents:
    """The shapes of what grouped_block_quantize() writes, as they are in memory.

    Those of `scales` in tiles and of flat buffers are enough for any offsets of
    as many groups.

    Attributes:
      data: rowwise data.
      scales: rowwise scales.
      columnwise_data, columnwise_scales: those of the columnwise direction.
    """

    data: tuple[int, ...]
    scales: tuple[int, ...]
    columnwise_data: tuple[int, ...]
    columnwise_scales: tuple[int, ...]


def buffer_extents(
    m: int, k: int, groups: int, format: str = "nvfp4", scale_layout: str | None = None
) -> Extents:
    """The Extents for `groups` groups in `m` rows of `k` columns.

    `format` is one of gq.FORMATS, `scale_layout` "tile128x4" or "linear"; None is what
    grouped_mm() takes.

    Raises:
      Error: INVALID_ARGUMENT for an unknown format, or a `k` that is not a multiple
        of its block.
    """
    f = _formats.find(format)
    if scale_layout is not None:
        _formats.word("scale_layout", scale_layout, "scale_layout")
    if k <= 0 or k % f.block_columns:
        raise _invalid_argument(
            f"k: expected a positive multiple of {f.block_columns}, the block of"
            f" {format}, found {k}"
        )
    block = f.block_columns
    scales: tuple[int, ...]
    tiled = (scale_layout or f.layout) == "tile128x4"
    if tiled:
        scales = padded(m, groups, 128), up(k // block, 4)
        columns = up(k, 128) * (padded(m, groups, 4 * block) // block)
    else:
        scales = (m, k // block)
        if f.block_rows > 1:
            rows = padded(m, groups, f.block_rows) // f.block_rows
            scales = (rows * (k // block),)
        columns = (k // f.block_rows) * (padded(m, groups, max(32, block)) // block)
    flat = f.stored(k * padded(m, groups, 32))
    data = (m, f.stored(k))
    return Extents(data, scales, (flat,) if f.transposes else data, (columns,))


def scale_offsets(offsets: AnyArray) -> AnyArray:
    """Where the tiles of packed groups begin in the scales, in rows.

    Args:
      offsets: [G+1], int32 or int64: where groups begin in the rows and the last
        one ends.

    Returns:
      [G] of the same type: scale_offsets[e+1] = scale_offsets[e] + m of group e,
      rounded up to 128.
    """
    rows = (offsets[1:] - offsets[:-1] + 127) // 128 * 128
    result = rows.cumsum(0)
    return (result - rows).astype(offsets.dtype) if _is_numpy(offsets) else (
        result - rows
    ).to(offsets.dtype)


def offsets_of(counts: AnyArray) -> AnyArray:
    """[G+1] offsets, int32, of [G] counts of rows."""
    if _is_numpy(counts):
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    import torch

    result = counts.new_zeros(counts.shape[0] + 1, dtype=torch.int32)
    result[1:] = counts.cumsum(0)
    return result


def tile(scales: AnyArray) -> AnyArray:
    """Linear scales [rows, columns] of one group in tiles of 128 by 4.

    Returns:
      [rows rounded up to 128, columns rounded up to 4], the padding zero, in the
      order of memory that the op has: tile after tile of 512 bytes.
    """
    rows, columns = scales.shape
    result = _zeros(scales, (up(rows, 128), up(columns, 4)))
    _bytes(result)[:rows, :columns] = _bytes(scales)
    r, c = result.shape
    cut = _bytes(result).reshape(r // 128, 4, 32, c // 4, 4)
    return _like(_permute(cut, (0, 3, 2, 1, 4)), scales).reshape(r, c)


def untile(
    scales: AnyArray, rows: int | None = None, columns: int | None = None
) -> AnyArray:
    """The scales in tiles [R, P] of one group in linear order.

    Args:
      rows, columns: those that are kept; None is all, the padding too.
    """
    r, c = scales.shape
    cut = _bytes(scales).reshape(r // 128, c // 4, 32, 4, 4)
    linear = _like(_permute(cut, (0, 3, 2, 1, 4)), scales).reshape(r, c)
    return linear[:rows, :columns]


def untile_groups(
    scales: AnyArray, offsets: AnyArray, columns: int, starts: AnyArray | None = None
) -> AnyArray:
    """Rowwise scales in tiles of all groups as linear scales [M, columns].

    Waits for `offsets` if they are on a device: it is for looking at results.

    Args:
      scales: [R, P] as grouped_block_quantize() returns them.
      offsets: [G+1].
      starts: the scale offsets; None if groups are packed.
    """
    starts = [int(s) for s in (scale_offsets(offsets) if starts is None else starts)]
    bounds = [int(o) for o in offsets]
    result = _zeros(scales, (bounds[-1], columns))
    for begin, end, start in zip(bounds, bounds[1:], starts):
        part = scales[start : start + up(end - begin, 128)]
        _bytes(result)[begin:end] = _bytes(untile(part, end - begin, columns))
    return result


def unpack(data: AnyArray) -> AnyArray:
    """The codes of packed f4 data [..., K/2], one a byte: uint8 [..., K]."""
    data = _bytes(data)
    pairs = (data & 15, data >> 4)
    if _is_numpy(data):
        return np.stack(pairs, -1).reshape(*data.shape[:-1], -1)
    import torch

    return torch.stack(pairs, -1).reshape(*data.shape[:-1], -1)


def _is_numpy(x):
    return _kind_of(x) is _NumPy


def _bytes(x):
    """The same memory in integers of the same size, which both know."""
    if _is_numpy(x):
        return x.view(f"u{x.dtype.itemsize}")
    import torch

    kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return x.view(kinds[x.element_size()])


def _like(x, other):
    if _is_numpy(other):
        return np.ascontiguousarray(x).view(other.dtype)
    return x.contiguous().view(other.dtype)


def _permute(x, order):
    return x.transpose(order) if _is_numpy(x) else x.permute(order)


def _zeros(like, shape):
    if _is_numpy(like):
        return np.zeros(shape, like.dtype)
    return _bytes(like).new_zeros(shape).view(like.dtype)
