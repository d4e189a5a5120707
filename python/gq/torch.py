# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of gq as custom operators of torch: torch.ops.gq.

    import gq.torch

    q = gq.torch.grouped_block_quantize(x, offsets)
    y = gq.torch.grouped_mm(q, w)

For torch.compile and torch.export, which see one operator each: no graph break,
and shapes without a run. They take what the functions of the same names in gq
take, but arrays are tensors, a producer is a name, there is no `out`, and what of
a buffer belongs to no group is zero. Results are the same bytes; an operator takes
the host longer than the function. fake_quantize() has a gradient.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from . import _arrays, _functions
from ._call import Planner
from ._functions import Direction

__all__ = [
    "Quantized",
    "fake_quantize",
    "grouped_amax",
    "grouped_block_quantize",
    "grouped_dequantize",
    "grouped_mm",
    "quantize_weights",
]

_KIND = _arrays.Torch(torch)


class Quantized(NamedTuple):
    """What grouped_block_quantize() returns; None is what was not asked for."""

    data: torch.Tensor | None = None
    scales: torch.Tensor | None = None
    columnwise_data: torch.Tensor | None = None
    columnwise_scales: torch.Tensor | None = None
    amax: torch.Tensor | None = None
    dbias: torch.Tensor | None = None
    scale_offsets: torch.Tensor | None = None
    offsets: torch.Tensor | None = None
    format: str | None = None


def quantize_weights(w, format: str = "nvfp4", **options) -> Quantized:
    """gq.quantize_weights(); not an operator."""
    q = _functions.quantize_weights(w, format, **options)
    return Quantized(q.data, q.scales, format=format)


def _define(schema, planner, prepare):
    """Defines an operator by the planner of a function.

    `prepare` makes of its arguments the options, the tensors, and names and labels
    of the latter.
    """
    # An operator gives the same bytes in each call, in all of its results.
    planner = Planner(planner._names, planner._plan, zeroes=True)

    def run(*arguments):
        options, tensors, names, labels = prepare(*arguments)
        result = planner.run(options, tensors, None, None, names, labels)
        if isinstance(result, torch.Tensor):
            return [result]
        more = getattr(result, "scale_offsets", None)
        return [*result] if more is None else [*result, more]

    name = f"gq::{schema[: schema.index('(')]}"
    op = torch.library.custom_op(
        name, run, mutates_args=(), schema=schema[schema.index("(") :]
    )

    @op.register_fake
    def fake(*arguments):
        options, tensors, names, labels = prepare(*arguments)
        outputs, device = planner.shapes(_KIND, options, tensors, names, labels)
        where = _KIND.device(device)
        return [
            torch.empty(shape, dtype=_KIND.dtype(element), device=where)
            for shape, element in outputs
        ]

    return op


# ---------------------------------------------------------------------------
# grouped_block_quantize
# ---------------------------------------------------------------------------

_FIELDS = ("rounding", "transform", "signs", "block", "outer", "four_over_six", "scale_max")


def _encode(direction):
    """A direction as a string: an operator takes no objects."""
    if not isinstance(direction, Direction):
        return "usual" if direction else ""
    values = (getattr(direction, name) for name in _FIELDS)
    return ";".join("" if v is None else str(v) for v in values)


def _decode(text):
    if text in ("", "usual"):
        return text == "usual"
    values = dict(zip(_FIELDS, text.split(";")))
    given = {n: v for n, v in values.items() if v}
    for name in ("signs", "scale_max"):
        if name in given:
            given[name] = int(given[name])
    if "block" in given:
        given["block"] = tuple(int(n) for n in given["block"].strip("()").split(","))
    return Direction(**given)


def _is_closed(offsets, scale_offsets):
    return scale_offsets is None or offsets.shape != scale_offsets.shape


def _prepare_quantize(
    x, offsets, format, recipe, scale_layout, rows, rowwise, columnwise, producer,
    row_indices, scale_offsets, global_scale, outer_amax, columnwise_outer_amax,
    rng_state, amax, dbias,
):  # fmt: skip
    inputs, names, labels = _functions._names_of(x, _functions._QUANTIZE_NAMES)
    options = (
        len(inputs), format, recipe, scale_layout, rows, _decode(rowwise),
        _decode(columnwise), producer, amax, dbias or False,
        _is_closed(offsets, scale_offsets), True,
    )  # fmt: skip
    tensors = (
        *inputs, row_indices, offsets, scale_offsets, None, None, global_scale,
        outer_amax, columnwise_outer_amax, rng_state,
    )  # fmt: skip
    return options, tensors, names, labels


_quantize = _define(
    "grouped_block_quantize(Tensor[] x, Tensor offsets, str format, str? recipe,"
    " str? scale_layout, str rows, str rowwise, str columnwise, str? producer,"
    " Tensor? row_indices, Tensor? scale_offsets, Tensor? global_scale,"
    " Tensor? outer_amax, Tensor? columnwise_outer_amax, Tensor? rng_state,"
    " bool amax, str? dbias) -> Tensor[]",
    _functions._quantize_planner,
    _prepare_quantize,
)


def grouped_block_quantize(
    x, offsets, format: str = "nvfp4", *, recipe: str | None = None,
    scale_layout: str | None = None, rows: str = "all", rowwise=True,
    columnwise=False, producer: str | None = None, row_indices=None,
    scale_offsets=None, global_scale=None, outer_amax=None,
    columnwise_outer_amax=None, rng_state=None, amax: bool = False,
    dbias: str | None = None,
) -> Quantized:  # fmt: skip
    """gq.grouped_block_quantize() as the operator gq::grouped_block_quantize.

    `dbias` is the name of a type, such as "float32".
    """
    if recipe is None and (outer_amax is not None or columnwise_outer_amax is not None):
        recipe = "te"
    inputs = list(x) if isinstance(x, (tuple, list)) else [x]
    outs = _quantize(
        inputs, offsets, format, recipe, scale_layout, rows, _encode(rowwise),
        _encode(columnwise), producer, row_indices, scale_offsets, global_scale,
        outer_amax, columnwise_outer_amax, rng_state, amax, dbias,
    )  # fmt: skip
    items = iter(outs)
    take = lambda wanted: next(items) if wanted else None  # noqa: E731
    data, scales = take(rowwise), take(rowwise)
    columnwise_data, columnwise_scales = take(columnwise), take(columnwise)
    found, sums = take(amax), take(dbias)
    if scale_offsets is None:
        scale_offsets = next(items, None)
    return Quantized(
        data, scales, columnwise_data, columnwise_scales, found, sums,
        scale_offsets, offsets, format,
    )  # fmt: skip


# ---------------------------------------------------------------------------
# grouped_mm
# ---------------------------------------------------------------------------


def _prepare_mm(
    a, b, offsets, a_scales, b_scales, scale_offsets, format, b_format, b_major,
    alpha, row_scales, column_scales, bias, out_dtype,
):  # fmt: skip
    closed = _is_closed(offsets, scale_offsets)
    options = (format, b_format, b_major, out_dtype, closed)
    tensors = (
        a, b, a_scales, b_scales, offsets, scale_offsets, alpha, row_scales,
        column_scales, bias,
    )  # fmt: skip
    return options, tensors, None, None


_mm = _define(
    "grouped_mm(Tensor a, Tensor b, Tensor offsets, Tensor? a_scales,"
    " Tensor? b_scales, Tensor? scale_offsets, str? format, str? b_format,"
    " str b_major, Tensor? alpha, Tensor? row_scales, Tensor? column_scales,"
    " Tensor? bias, str out_dtype) -> Tensor[]",
    _functions._mm_planner,
    _prepare_mm,
)


def grouped_mm(
    a, b, offsets=None, *, a_scales=None, b_scales=None, scale_offsets=None,
    format: str | None = None, b_format: str | None = None, b_major: str = "k",
    alpha=None, row_scales=None, column_scales=None, bias=None,
    out_dtype: str = "bfloat16",
):  # fmt: skip
    """gq.grouped_mm() as the operator gq::grouped_mm; `out_dtype` is a name."""
    if isinstance(a, Quantized):
        format = format or a.format
        offsets = a.offsets if offsets is None else offsets
        a_scales = a.scales if a_scales is None else a_scales
        scale_offsets = a.scale_offsets if scale_offsets is None else scale_offsets
        a = a.data
    if isinstance(b, Quantized):
        b_format = b_format or b.format
        b_scales = b.scales if b_scales is None else b_scales
        b = b.data
    return _mm(
        a, b, offsets, a_scales, b_scales, scale_offsets, format, b_format, b_major,
        alpha, row_scales, column_scales, bias, out_dtype,
    )[0]  # fmt: skip


# ---------------------------------------------------------------------------
# grouped_dequantize, fake_quantize, grouped_amax
# ---------------------------------------------------------------------------


def _prepare_dequantize(
    data, offsets, scales, scale_offsets, format, recipe, scale_layout, global_scale,
    outer_amax, scale_inv, out_dtype,
):  # fmt: skip
    options = (
        format, recipe, scale_layout, "rowwise", None, out_dtype,
        _is_closed(offsets, scale_offsets), False,
    )  # fmt: skip
    tensors = (
        data, scales, offsets, scale_offsets, None, None, global_scale, outer_amax,
        scale_inv,
    )  # fmt: skip
    return options, tensors, None, None


_dequantize = _define(
    "grouped_dequantize(Tensor data, Tensor offsets, Tensor? scales,"
    " Tensor? scale_offsets, str? format, str? recipe, str? scale_layout,"
    " Tensor? global_scale, Tensor? outer_amax, Tensor? scale_inv, str out_dtype)"
    " -> Tensor[]",
    _functions._dequantize_planner,
    _prepare_dequantize,
)


def grouped_dequantize(
    data, offsets=None, *, scales=None, scale_offsets=None, format: str | None = None,
    recipe: str | None = None, scale_layout: str | None = None, global_scale=None,
    outer_amax=None, scale_inv=None, out_dtype: str = "bfloat16",
):  # fmt: skip
    """gq.grouped_dequantize() of rows as the operator gq::grouped_dequantize.

    Rows in no group are zero.
    """
    if isinstance(data, Quantized):
        format = format or data.format
        offsets = data.offsets if offsets is None else offsets
        scales = data.scales if scales is None else scales
        scale_offsets = data.scale_offsets if scale_offsets is None else scale_offsets
        data = data.data
    if recipe is None and outer_amax is not None:
        recipe = "te"
    return _dequantize(
        data, offsets, scales, scale_offsets, format, recipe, scale_layout,
        global_scale, outer_amax, scale_inv, out_dtype,
    )[0]  # fmt: skip


@torch.library.custom_op("gq::fake_quantize", mutates_args=())
def _fake_quantize(x: torch.Tensor, offsets: torch.Tensor, format: str) -> torch.Tensor:
    q = _functions.grouped_block_quantize(x, offsets, format)
    out = torch.zeros_like(x)
    return _functions.grouped_dequantize(q, out=out)


@_fake_quantize.register_fake
def _(x, offsets, format):
    return torch.empty_like(x)


_fake_quantize.register_autograd(
    # Straight through: as if nothing had been rounded.
    lambda context, gradient: (gradient, None, None)
)


def fake_quantize(x, offsets, format: str = "nvfp4"):
    """What is left of x after quantization, the operator gq::fake_quantize.

    Its gradient is that of the identity (straight-through). Rows in no group are
    zero.

    Args:
      x: [M, K] float32, bfloat16 or float16.
      offsets: [G+1] int32 or int64.
      format: one of gq.FORMATS.

    Returns:
      [M, K] of the type of x.
    """
    return _fake_quantize(x, offsets, format)


def _prepare_amax(x, offsets, row_indices, producer, amax, row_amax, column_amax):
    inputs, names, labels = _functions._names_of(x, _functions._AMAX_NAMES)
    options = (len(inputs), "all", producer, amax, row_amax, column_amax)
    return options, (*inputs, row_indices, offsets, None, None), names, labels


_amax = _define(
    "grouped_amax(Tensor[] x, Tensor offsets, Tensor? row_indices, str? producer,"
    " bool amax, bool row_amax, bool column_amax) -> Tensor[]",
    _functions._amax_planner,
    _prepare_amax,
)


def grouped_amax(
    x, offsets, *, amax: bool = True, row_amax: bool = False,
    column_amax: bool = False, producer: str | None = None, row_indices=None,
):  # fmt: skip
    """gq.grouped_amax() as the operator gq::grouped_amax."""
    inputs = list(x) if isinstance(x, (tuple, list)) else [x]
    outs = _amax(inputs, offsets, row_indices, producer, amax, row_amax, column_amax)
    return outs[0] if len(outs) == 1 else tuple(outs)
