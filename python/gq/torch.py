# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of gq as custom operators of torch: torch.ops.gq.

    import gq.torch

    q = gq.torch.grouped_block_quantize(x, offsets)
    y = gq.torch.grouped_mm(q, w)

For torch.compile and torch.export, which see a single operator: no graph break, and
shapes without running it. They take the arguments of gq's functions of the same
names, but arrays are tensors, producers are names, there is no `out`, no `stream` and
no `shapes`, and parts of a buffer that belong to no group are zero.
The resulting bytes are the same; an operator takes more host time than the function.
grouped_linear() and fake_quantize() have gradients. quantize_() replaces the experts
of a model; from_exported_program() and backend() import layers of experts.

Errors are those of the functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch

from . import _arrays, _formats, _functions
from ._call import Planner
from ._experts import QuantizedExperts, QuantizedMLP, quantize_, weight_format
from ._importer import backend, from_exported_program
from ._functions import Direction
from .layout import up

__all__ = [
    "Quantized",
    "QuantizedExperts",
    "QuantizedMLP",
    "backend",
    "block_dequantize",
    "block_quantize",
    "fake_quantize",
    "from_exported_program",
    "group_offsets",
    "grouped_amax",
    "grouped_block_quantize",
    "grouped_dequantize",
    "grouped_linear",
    "grouped_mm",
    "grouped_quantize",
    "grouped_wgrad",
    "nv_grouped_block_quantize",
    "preprocess_grouped_matmul_sf",
    "quantize_",
    "quantize_weights",
    "update_scales",
]

_KIND = _arrays.Torch(torch)
_name = _formats.dtype_name


class Quantized(NamedTuple):
    """What operators of quantization return; None is what was not asked for.

    Attributes: as those of gq.Quantized.
    """

    data: torch.Tensor | None = None
    scales: torch.Tensor | None = None
    columnwise_data: torch.Tensor | None = None
    columnwise_scales: torch.Tensor | None = None
    amax: torch.Tensor | None = None
    dbias: torch.Tensor | None = None
    scale_offsets: torch.Tensor | None = None
    offsets: torch.Tensor | None = None
    format: str | None = None
    scale_inv: torch.Tensor | None = None
    columns: int | None = None
    row_amax: torch.Tensor | None = None


# ---------------------------------------------------------------------------
# Operators
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


def _define(name, planner, options, several=False):
    """Defines the operator gq::name of the planner of a function.

    Its arguments are the arrays of the planner by name, any of which but the first
    may be None, and then the options of the planner. These are listed as a schema
    lists them; "Direction" is a string there. If the inputs may be several, the
    first argument is a list of them, and the planner's first option their number.
    """
    # An operator gives the same bytes in each call, in all of its results.
    planner = Planner(planner._names, planner._plan, zeroes=True)
    arrays = planner._names[1:] if several else planner._names
    kinds = [option.split()[0] for option in options]
    listed = ["Tensor[] x"] if several else [f"Tensor {arrays[0]}"]
    listed += [f"Tensor? {n}" for n in (arrays if several else arrays[1:])]
    listed += [o.replace("Direction", "str") for o in options]

    def split(arguments):
        """The planner's options and arrays, and the names and labels of the latter."""
        count = len(arguments) - len(kinds)
        inputs, names, labels = (arguments[0],), None, None
        if several:
            inputs, names, labels = _functions._names_of(arguments[0], arrays)
        decoded = [
            _decode(v) if k.startswith("Direction") and v is not None else v
            for k, v in zip(kinds, arguments[count:])
        ]
        counted = [len(inputs)] if several else []
        return (*counted, *decoded), (*inputs, *arguments[1:count]), names, labels

    def run(*arguments):
        given, tensors, names, labels = split(arguments)
        result = planner.run(given, tensors, None, None, names, labels)
        if isinstance(result, torch.Tensor):
            return [result]
        more = getattr(result, "scale_offsets", None)
        return [*result] if more is None else [*result, more]

    op = torch.library.custom_op(
        f"gq::{name}", run, mutates_args=(), schema=f"({', '.join(listed)}) -> Tensor[]"
    )

    @op.register_fake
    def fake(*arguments):
        given, tensors, names, labels = split(arguments)
        outputs, device = planner.shapes(_KIND, given, tensors, names, labels)
        where = _KIND.device(device)
        return [
            torch.empty(shape, dtype=_KIND.dtype(element), device=where)
            for shape, element in outputs
        ]

    return op


_quantize_op = _define(
    "grouped_block_quantize",
    _functions._quantize_planner,
    (
        "str format", "str? recipe", "str? scale_layout", "str rows",
        "Direction rowwise", "Direction columnwise", "str? producer", "bool amax",
        "str? dbias", "bool row_amax", "bool closed", "bool wants_offsets",
    ),
    several=True,
)  # fmt: skip
_scaled_op = _define(
    "grouped_quantize",
    _functions._scaled_planner,
    (
        "str format", "str rows", "bool rowwise", "bool columnwise", "str? producer",
        "bool amax", "str? dbias", "bool scale_inv",
    ),
    several=True,
)  # fmt: skip
_amax_op = _define(
    "grouped_amax",
    _functions._amax_planner,
    (
        "str rows", "Direction? columnwise", "str? producer", "bool amax",
        "bool columnwise_amax", "bool row_amax", "bool column_amax",
    ),
    several=True,
)  # fmt: skip
_offsets_op = _define(
    "group_offsets",
    _functions._offsets_planner,
    ("str dtype", "bool closed", "bool scale_offsets"),
)
_mm_op = _define(
    "grouped_mm",
    _functions._mm_planner,
    (
        "str? format", "str? b_format", "str b_major", "str out_dtype", "bool closed",
        "str? epilogue", "str? pairs", "str? kernel",
    ),
)  # fmt: skip
_wgrad_op = _define(
    "grouped_wgrad",
    _functions._wgrad_planner,
    ("str? format", "str? b_format", "SymInt n", "SymInt k", "str out_dtype",
     "str? kernel"),
)
_dequantize_op = _define(
    "grouped_dequantize",
    _functions._dequantize_planner,
    (
        "str? format", "str? recipe", "str? scale_layout", "str axis", "str outer",
        "int? scale_max", "SymInt? columns", "str out_dtype", "bool closed",
        "bool has_out", "str? epilogue",
    ),
)  # fmt: skip
_block_quantize_op = _define(
    "block_quantize", _functions._block_quantize_planner, ("str format",)
)
_block_dequantize_op = _define(
    "block_dequantize",
    _functions._block_dequantize_planner,
    ("str format", "str out_dtype", "str? epilogue"),
)
_preprocess_op = _define(
    "preprocess_grouped_matmul_sf",
    _functions._preprocess_planner,
    ("str format", "bool closed"),
)


def _listed(x):
    return list(x) if isinstance(x, (tuple, list)) else [x]


def _taken(outs, **wanted):
    """The results by name, of those that were wanted, and what is left of them."""
    items = iter(outs)
    return {n: next(items) for n, is_wanted in wanted.items() if is_wanted}, items


def _dbias(dbias, inputs):
    """The type of the sums of columns, or None."""
    if not dbias:
        return None
    return _name(inputs[0].dtype if dbias is True else dbias)


def _columns(x, producer):
    """K of the inputs x of a producer."""
    k = x[0].shape[-1]
    if producer is None or len(x) > 1:
        return k
    return k // _functions.producers.count_inputs(producer)


# ---------------------------------------------------------------------------
# Quantization
# ---------------------------------------------------------------------------


def grouped_block_quantize(
    x: torch.Tensor | Sequence[torch.Tensor],
    offsets: torch.Tensor,
    format: str = "nvfp4",
    *,
    recipe: str | None = None,
    scale_layout: str | None = None,
    rows: str = "all",
    rowwise: bool | Direction = True,
    columnwise: bool | Direction = False,
    producer: str | None = None,
    row_indices: torch.Tensor | None = None,
    scale_offsets: torch.Tensor | None = None,
    global_scale: torch.Tensor | None = None,
    outer_amax: torch.Tensor | None = None,
    columnwise_outer_amax: torch.Tensor | None = None,
    rng_state: torch.Tensor | None = None,
    noop_flag: torch.Tensor | None = None,
    amax: bool = False,
    dbias: bool | str | torch.dtype | None = None,
    row_amax: bool = False,
) -> Quantized:
    """gq.grouped_block_quantize() as the operator gq::grouped_block_quantize."""
    amaxes = outer_amax is not None or columnwise_outer_amax is not None
    if recipe is None and (amaxes or row_amax):
        recipe = "te"
    inputs = _listed(x)
    outs = _quantize_op(
        inputs, row_indices, offsets, scale_offsets, None, None, global_scale,
        outer_amax, columnwise_outer_amax, rng_state, noop_flag, format, recipe,
        scale_layout, rows, _encode(rowwise), _encode(columnwise), producer, amax,
        _dbias(dbias, inputs), row_amax, _functions.is_closed(offsets, scale_offsets),
        True,
    )  # fmt: skip
    found, rest = _taken(
        outs, data=rowwise, scales=rowwise, columnwise_data=columnwise,
        columnwise_scales=columnwise, amax=amax, dbias=dbias, row_amax=row_amax,
    )  # fmt: skip
    if scale_offsets is None:
        scale_offsets = next(rest, None)
    return Quantized(
        **found, scale_offsets=scale_offsets, offsets=offsets, format=format,
        columns=_columns(inputs, producer),
    )  # fmt: skip


def nv_grouped_block_quantize(
    input: torch.Tensor,
    input_offsets: torch.Tensor,
    output_offsets: torch.Tensor,
    global_scale: torch.Tensor | None = None,
    block_size: int = 16,
    dtype: str | torch.dtype = "float4_e2m1fn",
) -> tuple[torch.Tensor, torch.Tensor]:
    """gq.nv_grouped_block_quantize() by the operator gq::grouped_block_quantize."""
    _functions.check_nvfuser(block_size, dtype)
    outs = _quantize_op(
        [input], None, input_offsets, output_offsets, None, None, global_scale, None,
        None, None, None, "nvfp4", "nvfuser", "tile128x4", "all", "usual", "", None,
        False, None, False, _functions.is_closed(input_offsets, output_offsets), False,
    )  # fmt: skip
    return outs[0], outs[1]


def grouped_quantize(
    x: torch.Tensor | Sequence[torch.Tensor],
    offsets: torch.Tensor,
    format: str = "fp8_e4m3",
    *,
    scale: torch.Tensor | None = None,
    outer_amax: torch.Tensor | None = None,
    rows: str = "all",
    rowwise: bool = True,
    columnwise: bool = False,
    producer: str | None = None,
    row_indices: torch.Tensor | None = None,
    noop_flag: torch.Tensor | None = None,
    amax: bool = False,
    dbias: bool | str | torch.dtype | None = None,
    scale_inv: bool = True,
) -> Quantized:
    """gq.grouped_quantize() as the operator gq::grouped_quantize."""
    inputs = _listed(x)
    outs = _scaled_op(
        inputs, row_indices, offsets, None, None, outer_amax, scale, noop_flag, format,
        rows, rowwise, columnwise, producer, amax, _dbias(dbias, inputs), scale_inv,
    )  # fmt: skip
    found, _ = _taken(
        outs, data=rowwise, columnwise_data=columnwise, amax=amax, dbias=dbias,
        scale_inv=scale_inv,
    )  # fmt: skip
    return Quantized(
        **found, offsets=offsets, format=format, columns=_columns(inputs, producer)
    )


def block_quantize(
    x: torch.Tensor,
    format: str = "nvfp4",
    *,
    global_scale: torch.Tensor | None = None,
) -> Quantized:
    """gq.block_quantize() as the operator gq::block_quantize."""
    data, scales = _block_quantize_op(x, global_scale, format)
    return Quantized(data, scales, format=format, columns=x.shape[1])


def preprocess_grouped_matmul_sf(
    scales: torch.Tensor,
    offsets: torch.Tensor,
    scale_offsets: torch.Tensor,
    format: str = "nvfp4",
) -> torch.Tensor:
    """gq.preprocess_grouped_matmul_sf() as gq::preprocess_grouped_matmul_sf."""
    closed = _functions.is_closed(offsets, scale_offsets)
    return _preprocess_op(scales, offsets, scale_offsets, format, closed)[0]


def quantize_weights(w: torch.Tensor, format: str = "nvfp4", **options) -> Quantized:
    """gq.quantize_weights(); not an operator."""
    q = _functions.quantize_weights(w, format, **options)
    return Quantized(q.data, q.scales, format=format, columns=q.columns)


def grouped_amax(
    x: torch.Tensor | Sequence[torch.Tensor],
    offsets: torch.Tensor,
    *,
    amax: bool = True,
    row_amax: bool = False,
    column_amax: bool = False,
    columnwise_amax: bool = False,
    columnwise: Direction | None = None,
    rows: str = "all",
    producer: str | None = None,
    row_indices: torch.Tensor | None = None,
    noop_flag: torch.Tensor | None = None,
) -> torch.Tensor | tuple[torch.Tensor, ...]:
    """gq.grouped_amax() as the operator gq::grouped_amax."""
    encoded = None if columnwise is None else _encode(columnwise)
    outs = _amax_op(
        _listed(x), row_indices, offsets, None, None, noop_flag, rows, encoded,
        producer, amax, columnwise_amax, row_amax, column_amax,
    )  # fmt: skip
    return outs[0] if len(outs) == 1 else tuple(outs)


def group_offsets(
    counts: torch.Tensor,
    *,
    dtype: str | torch.dtype = "int32",
    closed: bool = True,
    scale_offsets: bool = True,
) -> torch.Tensor | tuple[torch.Tensor, ...]:
    """gq.group_offsets() as the operator gq::group_offsets."""
    outs = _offsets_op(counts, _name(dtype), closed, scale_offsets)
    return outs[0] if len(outs) == 1 else tuple(outs)


@torch.library.custom_op("gq::update_scales", mutates_args=("history", "scale"))
def _update_scales(
    amax: torch.Tensor, history: torch.Tensor, scale: torch.Tensor, format: str,
    amax_algo: str, margin: int,
) -> None:  # fmt: skip
    _functions.update_scales(
        amax, history, scale, format, amax_algo=amax_algo, margin=margin
    )


@_update_scales.register_fake
def _(amax, history, scale, format, amax_algo, margin):
    return None


def update_scales(
    amax: torch.Tensor,
    history: torch.Tensor,
    scale: torch.Tensor,
    format: str = "fp8_e4m3",
    *,
    amax_algo: str = "max",
    margin: int = 0,
) -> tuple[torch.Tensor, torch.Tensor]:
    """gq.update_scales() as the operator gq::update_scales."""
    _update_scales(amax, history, scale, format, amax_algo, margin)
    return history, scale


# ---------------------------------------------------------------------------
# Matmuls
# ---------------------------------------------------------------------------


def grouped_mm(
    a: Quantized | torch.Tensor,
    b: Quantized | torch.Tensor,
    offsets: torch.Tensor | None = None,
    *,
    a_scales: torch.Tensor | None = None,
    b_scales: torch.Tensor | None = None,
    scale_offsets: torch.Tensor | None = None,
    format: str | None = None,
    b_format: str | None = None,
    b_major: str = "k",
    alpha: torch.Tensor | None = None,
    row_scales: torch.Tensor | None = None,
    column_scales: torch.Tensor | None = None,
    bias: torch.Tensor | None = None,
    epilogue: str | None = None,
    pairs: str | None = None,
    kernel: str | None = None,
    out_dtype: str | torch.dtype = "bfloat16",
) -> torch.Tensor:
    """gq.grouped_mm() as the operator gq::grouped_mm."""
    *arrays, format, b_format = _functions.mm_arguments(
        a, b, a_scales, b_scales, offsets, scale_offsets, format, b_format
    )
    return _mm_op(
        *arrays, alpha, row_scales, column_scales, bias, format, b_format, b_major,
        _name(out_dtype), _functions.is_closed(*arrays[4:]), epilogue, pairs, kernel,
    )[0]  # fmt: skip


def grouped_wgrad(
    a: Quantized | torch.Tensor,
    b: Quantized | torch.Tensor,
    offsets: torch.Tensor | None = None,
    *,
    n: int | None = None,
    k: int | None = None,
    a_scales: torch.Tensor | None = None,
    b_scales: torch.Tensor | None = None,
    format: str | None = None,
    b_format: str | None = None,
    alpha: torch.Tensor | None = None,
    kernel: str | None = None,
    out_dtype: str | torch.dtype = "float32",
) -> torch.Tensor:
    """gq.grouped_wgrad() as the operator gq::grouped_wgrad."""
    *arrays, format, b_format, n, k = _functions.wgrad_arguments(
        a, b, a_scales, b_scales, offsets, format, b_format, n, k
    )
    return _wgrad_op(
        *arrays, alpha, format, b_format, n, k, _name(out_dtype), kernel
    )[0]


# ---------------------------------------------------------------------------
# The way back
# ---------------------------------------------------------------------------


def grouped_dequantize(
    data: Quantized | torch.Tensor,
    offsets: torch.Tensor | None = None,
    *,
    scales: torch.Tensor | None = None,
    scale_offsets: torch.Tensor | None = None,
    format: str | None = None,
    recipe: str | None = None,
    scale_layout: str | None = None,
    outer: str = "group",
    scale_max: int | None = None,
    global_scale: torch.Tensor | None = None,
    outer_amax: torch.Tensor | None = None,
    scale_inv: torch.Tensor | None = None,
    epilogue: str | None = None,
    out_dtype: str | torch.dtype = "bfloat16",
) -> torch.Tensor:
    """gq.grouped_dequantize() of rows as the operator gq::grouped_dequantize.

    Rows in no group are zero.
    """
    if _functions.is_quantized(data):
        format = format or _functions.block_format(data)
        offsets = data.offsets if offsets is None else offsets
        scales = data.scales if scales is None else scales
        scale_offsets = data.scale_offsets if scale_offsets is None else scale_offsets
        scale_inv = data.scale_inv if scale_inv is None else scale_inv
        data = data.data
    if recipe is None and outer_amax is not None:
        recipe = "te"
    return _dequantize_op(
        data, scales, offsets, scale_offsets, None, None, global_scale, outer_amax,
        scale_inv, format, recipe, scale_layout, "rowwise", outer, scale_max, None,
        _name(out_dtype), _functions.is_closed(offsets, scale_offsets), False, epilogue,
    )[0]  # fmt: skip


def block_dequantize(
    data: Quantized | torch.Tensor,
    scales: torch.Tensor | None = None,
    format: str | None = None,
    *,
    global_scale: torch.Tensor | None = None,
    epilogue: str | None = None,
    out_dtype: str | torch.dtype = "bfloat16",
) -> torch.Tensor:
    """gq.block_dequantize() as the operator gq::block_dequantize."""
    if _functions.is_quantized(data):
        scales = data.scales if scales is None else scales
        format, data = format or data.format, data.data
    return _block_dequantize_op(
        data, scales, global_scale, format or "nvfp4", _name(out_dtype), epilogue
    )[0]


# ---------------------------------------------------------------------------
# With gradients
# ---------------------------------------------------------------------------


@torch.library.custom_op("gq::fake_quantize", mutates_args=())
def _fake_quantize(
    x: torch.Tensor,
    offsets: torch.Tensor,
    format: str,
    global_scale: torch.Tensor | None,
    outer_amax: torch.Tensor | None,
) -> torch.Tensor:
    out = torch.zeros_like(x, memory_format=torch.contiguous_format)
    if x.is_cuda and _formats.find(format).block_rows > 1:  # Which have no kernel.
        q = _functions.grouped_block_quantize(
            x, offsets, format, global_scale=global_scale, outer_amax=outer_amax
        )
        return _functions.grouped_dequantize(q, out=out)
    return _functions.fake_quantize(
        x, offsets, format, rows="grouped", global_scale=global_scale,
        outer_amax=outer_amax, out=out,
    )  # fmt: skip


@_fake_quantize.register_fake
def _(x, offsets, format, global_scale, outer_amax):
    return torch.empty_like(x, memory_format=torch.contiguous_format)


def _keep_offsets(ctx, inputs, output):
    ctx.save_for_backward(inputs[1])


def _straight_through(ctx, gradient):
    """As if nothing had been rounded; rows in no group are zero whatever x is."""
    (offsets,) = ctx.saved_tensors
    rows = torch.arange(gradient.shape[0], device=gradient.device)
    outside = (rows < offsets[0]) | (rows >= offsets[-1])
    return gradient.masked_fill(outside[:, None], 0), None, None, None, None


_fake_quantize.register_autograd(_straight_through, setup_context=_keep_offsets)


def fake_quantize(
    x: torch.Tensor,
    offsets: torch.Tensor,
    format: str = "nvfp4",
    *,
    global_scale: torch.Tensor | None = None,
    outer_amax: torch.Tensor | None = None,
) -> torch.Tensor:
    """What is left of x after quantization, the operator gq::fake_quantize.

    Its gradient is that of the identity (straight-through). Rows in no group are
    zero, and so is their gradient.

    Args:
      x: [M, K] float32, bfloat16 or float16.
      offsets: [G+1] int32 or int64.
      format: one of gq.FORMATS.
      global_scale, outer_amax: [] or [G] float32, of nvfp4, as for
        grouped_block_quantize().

    Returns:
      [M, K] of the type of x.
    """
    return _fake_quantize(x, offsets, format, global_scale, outer_amax)


def _cut(t, *shape):
    """The beginning of a buffer as a tensor of this shape."""
    size = 1
    for extent in shape:
        size *= extent
    return t.reshape(-1)[:size].reshape(shape)


def _quantized_weights(w, f):
    """Weights [G, N, K] in both directions: for rows of x, and for rows of dy."""
    groups, n, k = w.shape
    offsets = torch.arange(groups + 1, dtype=torch.int32, device=w.device) * n
    q = grouped_block_quantize(w.reshape(-1, k), offsets, f.name, columnwise=True)
    if f.layout == "tile128x4":
        scales = up(n, 128), up(k // f.block_columns, 4)
        columnwise_scales = up(k, 128), up(n // f.block_columns, 4)
    else:
        scales = n // f.block_rows, k // f.block_columns
        columnwise_scales = k // f.block_rows, n // f.block_columns
    across = (k, f.stored(n)) if f.transposes else (n, f.stored(k))
    return (
        q.data.reshape(groups, n, -1), _cut(q.scales, groups, *scales),
        _cut(q.columnwise_data, groups, *across),
        _cut(q.columnwise_scales, groups, *columnwise_scales),
    )  # fmt: skip


class _GroupedLinear(torch.autograd.Function):
    @staticmethod
    def forward(context, x, w, offsets, format, w_format):
        f = _formats.find(w_format, "w_format")
        q = grouped_block_quantize(x.contiguous(), offsets, format, columnwise=True)
        data, scales, across, scales_across = _quantized_weights(w, f)
        context.save_for_backward(
            q.columnwise_data, q.columnwise_scales, across, scales_across, offsets
        )
        context.formats, context.shape = (format, f), w.shape
        context.dtypes = _name(x.dtype), _name(w.dtype)
        return grouped_mm(
            q, data, b_scales=scales, b_format=w_format, out_dtype=_name(x.dtype)
        )

    @staticmethod
    def backward(context, dy):
        columns, column_scales, across, scales_across, offsets = context.saved_tensors
        (format, f), (_, n, k) = context.formats, context.shape
        q = grouped_block_quantize(dy.contiguous(), offsets, format, columnwise=True)
        dx = dw = None
        if context.needs_input_grad[0]:
            dx = grouped_mm(
                q, across, b_scales=scales_across, b_format=f.name,
                b_major="k" if f.transposes else "n", out_dtype=context.dtypes[0],
            )  # fmt: skip
        if context.needs_input_grad[1]:
            dw = grouped_wgrad(
                q.columnwise_data, columns, offsets, n=n, k=k,
                a_scales=q.columnwise_scales, b_scales=column_scales, format=format,
                b_format=format, out_dtype=context.dtypes[1],
            )  # fmt: skip
        return dx, dw, None, None, None


def grouped_linear(
    x: torch.Tensor,
    w: torch.Tensor,
    offsets: torch.Tensor,
    format: str = "mxfp8_e4m3",
    w_format: str | None = None,
) -> torch.Tensor:
    """A linear layer of experts that is quantized in training too, with gradients.

    y[i] = w[e] x[i] for each row i of group e. Each of the three products
    multiplies what is quantized along what it contracts: y rows of x and of w, dx
    rows of dy and columns of w, dw[e] the columns of a group of dy and of x. The
    gradients are those of the layer without quantization, of these operands.

    Args:
      x: [M, K] float32, bfloat16 or float16.
      w: [G, N, K] of one of these types.
      offsets: [G+1] int32 or int64: expert e has the rows offsets[e] to
        offsets[e+1].
      format: of x and dy, one of gq.FORMATS; N and K are multiples of its block
        and of 32.
      w_format: of w, with scales as `format` has; None is `format`, or
        "fp8_e4m3_128x128" for "fp8_e4m3_1x128".

    Returns:
      [M, N] of the type of x; rows in no group are zero.

    Raises:
      gq.Error: INVALID_ARGUMENT, the message names the argument.
    """
    if w.dim() != 3:
        raise _functions.invalid_argument(
            f"w: expected [G, N, K], found shape {list(w.shape)}"
        )
    if x.shape[-1] != w.shape[2]:
        raise _functions.invalid_argument(
            f"w: expected [G, N, {x.shape[-1]}], K as of x, found {list(w.shape)}"
        )
    f = _formats.find(format)
    if f.block_rows > 1:
        raise _functions.invalid_argument(
            f"format: expected one whose blocks have one row, found {format!r}"
        )
    if w_format is None:
        w_format = weight_format(format)
    multiple = max(f.block_columns, _formats.find(w_format, "w_format").block_columns, 32)
    if w.shape[1] % multiple or w.shape[2] % multiple:
        raise _functions.invalid_argument(
            f"w: expected N and K that are multiples of {multiple}, found"
            f" {list(w.shape)}"
        )
    return _GroupedLinear.apply(x, w, offsets, format, w_format)
