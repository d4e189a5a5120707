# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrices of numbers that are hard to quantize, and groups of rows."""

import dataclasses

import elements
import numpy as np
import oracle


def _normal(rng, shape, element):
    return rng.standard_normal(shape) * 2.0 ** rng.integers(-20, 20)


def _log_uniform(rng, shape, element):
    """Every magnitude of the type, denormals included."""
    exponent = rng.uniform(-150, 128, (*shape[:-1], 1))
    if element == "f16":
        exponent = rng.uniform(-26, 16, (*shape[:-1], 1))
    exponent = exponent + rng.uniform(-8, 0, shape)
    return rng.choice([-1.0, 1.0], shape) * np.exp2(exponent)


def _any_bits(rng, shape, element):
    """Every bit pattern; half of the blocks get no huge ones."""
    dtype = np.dtype(elements.DTYPES[element])
    size = dtype.itemsize
    bits = rng.integers(0, 2 ** (8 * size), shape, f"u{size}").view(dtype)
    x = elements.decode(bits, element).astype(np.float64)
    tame = rng.random((*shape[:-1], 1)) < 0.5
    return np.where(tame & ~(np.abs(x) < 1000), 1.5, x)


def _code_ties(rng, shape, element):
    """Blocks whose scale is a power of two, full of codes and ties of codes."""
    grid = np.concatenate([oracle.E2M1, (oracle.E2M1[1:] + oracle.E2M1[:-1]) / 2])
    x = rng.choice(np.concatenate([grid, -grid]), shape).astype(np.float64)
    x[..., rng.integers(0, oracle.BLOCK)] = 6
    return x * np.exp2(rng.integers(-6, 8, (*shape[:-1], 1)))


def _scale_ties(rng, shape, element):
    """Blocks whose largest magnitude is six times a scale or a tie of two."""
    scales = oracle.e4m3_value(np.arange(127, dtype=np.uint8)).astype(np.float64)
    largest = 6 * np.concatenate([scales, (scales[1:] + scales[:-1]) / 2])
    x = rng.uniform(-1, 1, shape) * 0.99
    x[..., rng.integers(0, oracle.BLOCK)] = rng.choice([-1, 1])
    return x * rng.choice(largest, (*shape[:-1], 1))


def _special(rng, shape, element):
    """Mostly zeros, infinities, NaN, the smallest and the largest numbers."""
    largest, normal, smallest = elements.LIMITS[element]
    pool = [0, -0.0, np.inf, -np.inf, np.nan, -np.nan, largest, 1, -6]
    pool += [smallest, -normal]
    few = rng.choice(pool, (*shape[:-1], 3))
    index = rng.integers(0, 3, shape)
    return np.take_along_axis(few, index, -1)


DISTRIBUTIONS = [
    _normal,
    _log_uniform,
    _any_bits,
    _code_ties,
    _scale_ties,
    _special,
]


def matrix(rng, m, k, element):
    """[m, k] of numbers of `element`, as float32; the blocks of a row have the
    row's distribution."""
    x = np.empty((m, k // oracle.BLOCK, oracle.BLOCK), np.float32)
    kinds = rng.integers(0, len(DISTRIBUTIONS), m)
    with np.errstate(all="ignore"):
        for kind, values in enumerate(DISTRIBUTIONS):
            shape = x[kinds == kind].shape
            x[kinds == kind] = elements.rounded(values(rng, shape, element), element)
    return x.reshape(m, k)


@dataclasses.dataclass
class Groups:
    """Consecutive groups of rows, and where their scales go.

    Attributes:
      front, sizes, back: rows before the groups, in each, and after them.
      gaps: 128 rows each, left out before each group's scales and at the end.
      index: "int32" or "int64".
      closed: whether the offsets have an entry that ends the last group;
        without it there are no rows after it.
    """

    front: int
    sizes: list[int]
    back: int
    gaps: list[int]
    index: str
    closed: bool

    def __post_init__(self):
        begin = self.front + np.cumsum([0, *self.sizes])
        self.m = int(begin[-1]) + (self.back if self.closed else 0)
        self.offsets = (begin if self.closed else begin[:-1]).astype(self.index)
        row, starts = 0, []
        for size, gap in zip(self.sizes, self.gaps):
            starts.append(row + 128 * gap)
            row = starts[-1] + oracle.up(size, 128)
        self.scale_offsets = np.array(starts, self.index)
        self.scale_rows = row + 128 * self.gaps[-1]
