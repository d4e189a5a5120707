# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A linear layer of experts in NVFP4: its forward pass, dgrad and wgrad.

Tokens are sorted by expert: expert e has the rows offsets[e] to offsets[e+1] of x,
[M, K], and dy, [M, N], and the weights w[e], [N, K].

  y[i] = w[e] x[i]        contracts K: rows of x, rows of w
  dx[i] = w[e]^T dy[i]    contracts N: rows of dy, columns of w
  dw[e] = dy^T x          contracts the rows of a group: columns of dy and of x

All three multiply what gq has quantized; the outer scales, a / 2688 for the outer
amax a, are factors of the results. Needs NumPy and gq.
"""

import dataclasses

import gq
import numpy as np

# The largest code times the largest scale, and the signs of the transform.
LARGEST = 6 * 448
SIGNS = 0xD7E8


@dataclasses.dataclass(frozen=True)
class Recipe:
    """How a layer is quantized.

    Attributes:
      per_token: an outer amax for each row, and for each column of a group; else
        one for each group.
      square_weights: blocks of 16 by 16 of weights, with one amax per expert.
      four_over_six: of two scales for a block the better one is taken.
      hadamard: what wgrad contracts is transformed before.
      stochastic: gradients are rounded stochastically.
    """

    per_token: bool = False
    square_weights: bool = False
    four_over_six: bool = False
    hadamard: bool = False
    stochastic: bool = False

    @property
    def largest(self):
        return 6 * 256 if self.four_over_six else LARGEST

    def factor(self, amax):
        """What an outer amax makes of a result."""
        return amax * np.float32(1 / self.largest)

    def direction(self, outer, columnwise=False, gradient=False, square=False):
        return gq.Direction(
            outer=None if outer == "group" else outer,
            transform="hadamard16" if columnwise and self.hadamard and not square else None,
            signs=SIGNS if columnwise and self.hadamard and not square else None,
            rounding="stochastic" if gradient and self.stochastic else None,
            block=(16, 16) if square else None,
            four_over_six="mae" if self.four_over_six else None,
            scale_max=256 if self.four_over_six else None,
        )


def quantize(x, offsets, recipe, rng_state=None):
    """Tokens or their gradients in both directions; a `rng_state` is that of
    gradients. Returns the gq.Quantized, and its outer amaxes of rows and of
    columns, [M] and [G, K] or [G] and [G]."""
    gradient = rng_state is not None
    token = recipe.per_token
    rowwise = recipe.direction("row" if token else "group", gradient=gradient)
    columnwise = recipe.direction("column" if token else "group", True, gradient)
    transform = None
    if recipe.hadamard:
        transform = gq.Direction(transform="hadamard16", signs=SIGNS)
    if token:
        rows, columns = gq.grouped_amax(
            x, offsets, amax=False, row_amax=True, column_amax=True, columnwise=transform
        )
    elif recipe.hadamard:
        rows, columns = gq.grouped_amax(
            x, offsets, columnwise_amax=True, columnwise=transform
        )
    else:
        rows = columns = gq.grouped_amax(x, offsets)
    state = rng_state if gradient and recipe.stochastic else None
    q = gq.grouped_block_quantize(
        x, offsets, recipe="te", rowwise=rowwise, columnwise=columnwise, outer_amax=rows,
        columnwise_outer_amax=columns, rng_state=state,
    )  # fmt: skip
    return q, rows, columns


@dataclasses.dataclass
class Weights:
    """Weights [E, N, K] in both directions.

    Attributes:
      rows, row_scales: codes [E, N, K/2] and scales, for the forward pass.
      columns, column_scales: codes [E, K, N/2] and scales, for dgrad.
      row_amax, column_amax: [E] or, per token, [E, N] and [E, K].
    """

    rows: np.ndarray
    row_scales: np.ndarray
    columns: np.ndarray
    column_scales: np.ndarray
    row_amax: np.ndarray
    column_amax: np.ndarray


def quantize_weights(w, recipe):
    experts, n, k = w.shape
    flat, offsets = w.reshape(-1, k), np.arange(experts + 1, dtype=np.int32) * n
    own = recipe.per_token and not recipe.square_weights
    if own:
        rows, columns = gq.grouped_amax(
            flat, offsets, amax=False, row_amax=True, column_amax=True
        )
    else:
        rows = columns = gq.grouped_amax(flat, offsets)
    # Columns of weights are contracted with rows of dy, which are not transformed.
    plain = dataclasses.replace(recipe, hadamard=False)
    square = recipe.square_weights
    q = gq.grouped_block_quantize(
        flat, offsets, recipe="te",
        rowwise=plain.direction("row" if own else "group", square=square),
        columnwise=plain.direction("column" if own else "group", True, square=square),
        outer_amax=rows, columnwise_outer_amax=columns,
    )  # fmt: skip

    def up(a, b):
        return -(-a // b) * b

    def cut(array, *shape):
        return array.reshape(-1)[: int(np.prod(shape))].reshape(shape)

    return Weights(
        cut(q.data, experts, n, k // 2),
        cut(q.scales, experts, up(n, 128), up(k // 16, 4)),
        cut(q.columnwise_data, experts, k, n // 2),
        cut(q.columnwise_scales, experts, up(k, 128), up(n // 16, 4)),
        rows.reshape(experts, n) if own else rows, columns,
    )  # fmt: skip


def multiply(q, amax, codes, scales, weights_amax, offsets, recipe):
    """Rows of a gq.Quantized by weights: [M, N] float32."""
    factor, own = recipe.factor, recipe.factor(weights_amax)
    per_group = np.ones(len(offsets) - 1, np.float32)
    if own.ndim == 1:
        per_group = per_group * own
    row_scales = factor(amax) if recipe.per_token else None
    if not recipe.per_token:
        per_group = per_group * factor(amax)
    return gq.grouped_mm(
        q, codes, b_scales=scales, format="nvfp4", alpha=per_group,
        row_scales=row_scales, column_scales=own if own.ndim == 2 else None,
        out_dtype="float32",
    )  # fmt: skip


class Linear:
    """The layer, with the operands that its backward pass needs.

    Arguments:
      recipe: a Recipe.
      seed: of stochastic rounding.
    """

    def __init__(self, recipe, seed=0):
        self.recipe, self.seed, self.steps = recipe, seed, 0

    def forward(self, x, w, offsets):
        self.offsets = offsets
        self.w = quantize_weights(w, self.recipe)
        self.x, rows, self.x_columns = quantize(x, offsets, self.recipe)
        return multiply(
            self.x, rows, self.w.rows, self.w.row_scales, self.w.row_amax, offsets,
            self.recipe,
        )  # fmt: skip

    def backward(self, dy):
        """Returns dx and dw."""
        recipe, w = self.recipe, self.w
        self.steps += 1
        state = np.array([self.seed, self.steps], np.int64)
        q, rows, columns = quantize(dy, self.offsets, recipe, state)
        dx = multiply(q, rows, w.columns, w.column_scales, w.column_amax, self.offsets, recipe)
        dw = gq.grouped_wgrad(q, self.x, out_dtype="float32")
        a, b = recipe.factor(columns), recipe.factor(self.x_columns)
        if recipe.per_token:
            return dx, dw * (a[:, :, None] * b[:, None, :])
        return dx, dw * (a * b)[:, None, None]
