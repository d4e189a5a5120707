# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ops as functions of arrays."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from . import _arrays, _formats, producers
from ._arrays import AnyArray
from ._call import FLOATS, INDICES, Output, Planner, Spec, Use
from ._call import enumeration, enumerations
from ._library import check, invalid_argument, lib
from .layout import buffer_extents, padded, up


def _whole(value, argument, least=1, most=2**63 - 1):
    """Refuses what is no whole number in this range."""
    if not hasattr(value, "__index__") or not least <= value <= most:
        raise invalid_argument(
            f"{argument}: expected a whole number from {least} to {most}, found {value!r}"
        )


def _bools(**flags):
    """Refuses what is no bool: "no" would be true."""
    for argument, value in flags.items():
        if not isinstance(value, bool):
            raise invalid_argument(f"{argument}: expected a bool, found {value!r}")


@dataclasses.dataclass(frozen=True)
class Direction:
    """How one direction differs from the default; see `DirectionAttr` of the dialect.

    Attributes:
      rounding: "nearest" or "stochastic", which takes a `rng_state`.
      transform: "none" or "hadamard16", for columns.
      signs: the rows of a transform that change their sign, as bits.
      block: the (rows, columns) that share a scale, such as (16, 16).
      outer: what each outer amax applies to: "group", "row" or "column".
      four_over_six: "none", "mae" or "mse".
      scale_max: 256 or 448, for four_over_six.

    Raises:
      ArgumentError: another word or kind of value.
    """

    rounding: str | None = None
    transform: str | None = None
    signs: int | None = None
    block: tuple[int, int] | None = None
    outer: str | None = None
    four_over_six: str | None = None
    scale_max: int | None = None

    def __post_init__(self):
        for name in ("rounding", "transform", "outer", "four_over_six"):
            if getattr(self, name) is not None:
                _formats.word(name, getattr(self, name), name)
        for name in ("signs", "scale_max"):
            if getattr(self, name) is not None:
                _whole(getattr(self, name), name, 0, 0xFFFF)
        if self.block is not None:
            is_pair = isinstance(self.block, (tuple, list)) and len(self.block) == 2
            if not is_pair or not all(isinstance(b, int) and b > 0 for b in self.block):
                raise invalid_argument(
                    f"block: expected (rows, columns), found {self.block!r}"
                )
            object.__setattr__(self, "block", tuple(self.block))

    def _attribute(self):
        parts = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is None:
                continue
            if field.name == "block":
                value = f"{value[0]}x{value[1]}"
            elif field.name == "signs":
                value = f"0x{value:04X}"
            parts.append(f"{field.name} = {value}")
        return f"#gq.direction<{', '.join(parts)}>"


class Quantized(tuple):
    """What a function of quantization returns: a tuple with names.

    Its items are those of `names`: what was asked for, in this order.

    Attributes:
      names: some of "data", "scales", "columnwise_data", "columnwise_scales",
        "amax", "dbias", "row_amax" and "scale_inv", which are attributes too.
      format: the name of the format.
      offsets: the groups, as they were given.
      scale_offsets: where the groups' tiles begin in `scales`, or None.
      columns: K.
    """

    names: tuple[str, ...] = ()
    format: str | None = None
    columns: int | None = None
    offsets: Any = None
    scale_offsets: Any = None
    data: Any = None
    scales: Any = None
    columnwise_data: Any = None
    columnwise_scales: Any = None
    amax: Any = None
    dbias: Any = None
    row_amax: Any = None
    scale_inv: Any = None

    def __repr__(self):
        parts = ", ".join(
            f"{n}={getattr(a, 'dtype', '?')}{list(a.shape)}" for n, a in zip(self.names, self)
        )
        return f"gq.Quantized({self.format}: {parts})"


def _quantized(names, format, columns):
    """A function that makes a Quantized of outputs, of which the last may be scale
    offsets."""
    members = {n: property(itemgetter(i)) for i, n in enumerate(names)}
    members.update(names=names, format=format, columns=columns)
    count = len(names)
    kind = type("Quantized", (Quantized,), members)

    def wrap(outs):
        result = kind(outs[:count])
        if len(outs) > count:
            result.scale_offsets = outs[count]
        return result

    return wrap


# ---------------------------------------------------------------------------
# grouped_block_quantize
# ---------------------------------------------------------------------------

# The element types of codes without scales of blocks.
_PLAIN = tuple(_formats.find_tensor(name).data for name in _formats.TENSOR_FORMATS)
_QUANTIZE_NAMES = (
    "row_indices", "offsets", "scale_offsets", "first_dims", "last_dims",
    "global_scale", "outer_amax", "columnwise_outer_amax", "rng_state", "noop_flag",
)  # fmt: skip


def _groups(p, closed):
    """[G or G+1] offsets: their Use and G."""
    (n,) = p.take("offsets", INDICES, [None])
    if closed and n < 1:
        p.refuse("offsets", "expected at least one entry, found none")
    use = Use("offsets", p.elements["offsets"], (n,))
    return use, n - 1 if closed else n


def is_closed(offsets: AnyArray, scale_offsets: AnyArray):
    """Whether offsets are G+1, as far as can be seen: no more than G otherwise."""
    if scale_offsets is None:
        return True
    shape = getattr(offsets, "shape", None)
    return shape is None or shape != getattr(scale_offsets, "shape", None)


def _optional(p, name, elements, shape):
    """The uses of an argument that may be absent."""
    if name not in p:
        return []
    found = p.take(name, elements, shape)
    return [Use(name, p.elements[name], found)]


def _outer(p, name, groups, shape=None):
    """An argument that is [] or [G] f32, or of another shape if one is given."""
    if shape is None:
        shape = [groups] if p.rank(name) else []
    return _optional(p, name, ("f32",), shape)


def _of(direction, name):
    """What a direction says of `name`."""
    return getattr(direction, name, None)


def _dynamic_rows(uses):
    """The uses, whose first extent is not known at compile time."""
    return [dataclasses.replace(u, shape=(None, *u.shape[1:])) for u in uses]


def _inputs(p, producer, count, gathered):
    """The uses of the inputs with their maps, and M (None if gathered) and K."""
    names = ["x"] if count == 1 else [f"x{i}" for i in range(count)]
    take = 1 if producer is None else producers.count_inputs(producer)
    rows, k = p.take(names[0], FLOATS, [None, None])
    if producer is None or (count == 1 and take > 1):
        if k % take:
            p.refuse("x", f"expected a multiple of {take} columns, found {k}")
        k //= take
        slices = tuple((i * k, k) for i in range(take)) if take > 1 else ()
        use = Use(names[0], p.elements[names[0]], (None, take * k), slices=slices)
        return [use], ["mk"] * take, rows, k
    if take != count:
        p.refuse(names[0], f"expected {take} inputs of the producer, found {count}")
    uses, maps = [], []
    for name in names:
        rank = p.rank(name)
        if rank == 2:
            p.take(name, FLOATS, [rows, k])
            uses.append(Use(name, p.elements[name], (None, k)))
            maps.append("mk")
        elif rank == 1:
            p.take(name, FLOATS, [k])
            uses.append(Use(name, p.elements[name], (k,)))
            maps.append("k")
        else:
            p.take(name, FLOATS, [])
            uses.append(Use(name, p.elements[name], ()))
            maps.append("")
    return uses, maps, rows, k


_MAPS = {
    ("mk", False): "(m, k) -> (m, k)",
    ("mk", True): "(m, k)[r] -> (r, k)",
    ("k", False): "(m, k) -> (k)",
    ("k", True): "(m, k) -> (k)",
    ("", False): "(m, k) -> ()",
    ("", True): "(m, k) -> ()",
}


def _region(producer, x, attributes):
    """The region of a producer of _Rows; its maps become an attribute."""
    if producer is None:
        return ""
    elements = [u.element for u in x.operands["inputs"] for _ in u.slices or (0,)]
    listed = ", ".join(f"affine_map<{_MAPS[m, x.gathered]}>" for m in x.maps)
    attributes["maps"] = f"[{listed}]"
    return producers.region(producer, elements)


@dataclasses.dataclass
class _Rows:
    """What ops on groups of rows, or on ragged groups, read.

    m and k are None for ragged groups, whose flat input has `size` elements, which
    is None for others. `operands` are the inputs and those that say which of their
    elements belong to which group; `index` are the element types of offsets.
    """

    gathered: bool
    maps: list
    m: int | None
    k: int | None
    size: int | None
    groups: int
    index: tuple
    operands: dict


def _rows(p, producer, count, closed=True, block=1, why=""):
    """Takes x, row_indices, offsets, first_dims and last_dims.

    K is a multiple of `block`; `why` says in the message whose block that is.
    """
    ragged, gathered = "first_dims" in p, "row_indices" in p
    maps, m, k, size, indices = [], None, None, None, []
    if ragged:
        (size,) = p.take("x", FLOATS, [None])
        inputs = [Use("x", p.elements["x"], (None,))]
    else:
        inputs, maps, m, k = _inputs(p, producer, count, gathered)
        if block > 1 and (k == 0 or k % block):
            p.refuse(
                inputs[0].name, f"expected a multiple of {block} columns{why}, found {k}"
            )
    if gathered:
        (m,) = p.take("row_indices", INDICES, [None])
        indices = [Use("row_indices", p.elements["row_indices"], (None,))]
    offsets, groups = _groups(p, closed)
    index = (offsets.element,)
    operands = {
        "inputs": inputs,
        "row_indices": indices,
        "offsets": [offsets],
        "first_dims": _optional(p, "first_dims", index, [groups]),
        "last_dims": _optional(p, "last_dims", index, [groups]),
    }
    return _Rows(gathered, maps, m, k, size, groups, index, operands)


def _layout(scale_layout, f):
    """The layout of scales of a format."""
    if scale_layout is None:
        return f.layout
    return _formats.word("scale_layout", scale_layout, "scale_layout")


def _dbias(dbias, x):
    """The element type of the sums of columns of _Rows."""
    if dbias is True:
        return x.operands["inputs"][0].element
    return _element(dbias, "dbias")


def _check_directions(p, rowwise, columnwise):
    for name, direction in ("rowwise", rowwise), ("columnwise", columnwise):
        if not isinstance(direction, (bool, Direction)):
            p.refuse(name, f"expected a bool or a Direction, found {direction!r}")
    if not (rowwise or columnwise):
        p.refuse("rowwise", "expected it or columnwise, found neither")


def _plan_quantize(
    p, count, format, recipe, scale_layout, rows, rowwise, columnwise, producer, amax,
    dbias, row_amax, closed, wants_offsets,
):  # fmt: skip
    f = _formats.find(format)
    _check_directions(p, rowwise, columnwise)
    _bools(amax=amax, row_amax=row_amax)
    layout = _layout(scale_layout, f)
    closed = closed or "scale_offsets" not in p
    why = f", the block of {format}"
    x = _rows(p, producer, count, closed, f.block_columns, why)
    m, k, groups, ragged = x.m, x.k, x.groups, x.k is None
    operands = {
        **x.operands,
        "scale_offsets": _optional(p, "scale_offsets", x.index, [groups]),
        "global_scale": _outer(p, "global_scale", groups),
        "outer_amax": _outer(
            p, "outer_amax", groups, [m] if _of(rowwise, "outer") == "row" else None
        ),
        "columnwise_outer_amax": _outer(
            p,
            "columnwise_outer_amax",
            groups,
            [groups, k] if _of(columnwise, "outer") == "column" else None,
        ),
        "rng_state": _optional(p, "rng_state", ("i64",), [2]),
        "noop_flag": _optional(p, "noop_flag", ("i32",), []),
    }
    if _of(rowwise, "outer") == "row":
        operands["outer_amax"] = _dynamic_rows(operands["outer_amax"])
    tiled = layout == "tile128x4"
    if ragged:
        flat = (f.stored(x.size),)
        shapes = {"data": flat, "scales": None, "columnwise_scales": None}
        shapes["columnwise_data"] = None if f.transposes else flat
        static = dict.fromkeys(shapes, (None,))
    else:
        shapes = dict(vars(buffer_extents(m, k, groups, format, layout)))
        static = {
            n: (None, *s[1:]) if len(s) == 2 else (None,) for n, s in shapes.items()
        }
    outputs, names = {}, []

    def add(name, element, shape, use_shape, is_buffer=False, is_tiled=False):
        use = Use(name, element, use_shape, is_tiled)
        outputs[name] = Output(use, shape, is_buffer)

    for wanted, prefix in (rowwise, ""), (columnwise, "columnwise_"):
        if not wanted:
            continue
        data, scales = prefix + "data", prefix + "scales"
        names += [data, scales]
        is_flat = len(static[data]) == 1
        add(data, f.data, shapes[data], static[data], is_flat)
        is_linear = not tiled and len(static[scales]) == 2
        add(scales, f.scale, shapes[scales], static[scales], not is_linear, tiled)
    if amax:
        names.append("amax")
        add("amax", "f32", (groups,), (groups,))
    if dbias:
        names.append("dbias")
        element = _dbias(dbias, x)
        add("dbias", element, (groups, k), (groups, k))
    if row_amax:
        names.append("row_amax")
        add("row_amax", "f32", None if ragged else (m,), (None,))
    if wants_offsets and rowwise and tiled and not ragged and "scale_offsets" not in p:
        add("scale_offsets_out", x.index[0], (groups,), (groups,))
    attributes = enumerations(
        "grouped_block_quantize",
        format=format,
        recipe=recipe,
        scale_layout=layout,
        rows=rows,
    )
    for name, direction in ("rowwise", rowwise), ("columnwise", columnwise):
        if isinstance(direction, Direction):
            attributes[name] = direction._attribute()
    region = _region(producer, x, attributes)
    wrap = _quantized(tuple(names), format, k)
    return Spec(
        "grouped_block_quantize", operands, outputs, attributes, region, wrap
    )


def _names_of(x, names):
    """The inputs of an argument as a tuple, with names and labels if several."""
    if not isinstance(x, (tuple, list)):
        return (x,), None, None
    if not x:
        raise invalid_argument("x: expected an array or several, found none")
    if len(x) == 1:
        return tuple(x), None, None
    mine = [f"x{i}" for i in range(len(x))]
    labels = {name: f"x[{i}]" for i, name in enumerate(mine)}
    return tuple(x), (*mine, *names), labels


def _dims(shapes):
    """first_dims and last_dims, which may be absent."""
    if shapes is None:
        return None, None
    if not isinstance(shapes, (tuple, list)) or len(shapes) != 2:
        raise invalid_argument(
            f"shapes: expected (first_dims, last_dims), found {type(shapes).__name__}"
        )
    return shapes


def _listed(out):
    """`out` as a list, if there is one."""
    return out if out is None or isinstance(out, (tuple, list)) else (out,)


def _single(out, out_dtype):
    """`out` for one result as a list, if there is one, and the type of the result,
    which is then that of the array."""
    out = _listed(out)
    return out, getattr(out[0], "dtype", None) if out else out_dtype


_quantize_planner = Planner(("x", *_QUANTIZE_NAMES), _plan_quantize)


def grouped_block_quantize(
    x: AnyArray | Sequence[AnyArray],
    offsets: AnyArray,
    format: str = "nvfp4",
    *,
    recipe: str | None = None,
    scale_layout: str | None = None,
    rows: str = "all",
    rowwise: bool | Direction = True,
    columnwise: bool | Direction = False,
    producer: str | Callable | None = None,
    row_indices: AnyArray | None = None,
    scale_offsets: AnyArray | None = None,
    shapes: tuple[AnyArray, AnyArray] | None = None,
    global_scale: AnyArray | None = None,
    outer_amax: AnyArray | None = None,
    columnwise_outer_amax: AnyArray | None = None,
    rng_state: AnyArray | None = None,
    noop_flag: AnyArray | None = None,
    amax: bool = False,
    dbias: Any = False,
    row_amax: bool = False,
    out: AnyArray | Sequence[AnyArray] | None = None,
    stream: Any = None,
) -> Quantized:
    """Quantizes the rows of groups and lays out their scales for a grouped matmul.

    Group e has rows offsets[e] up to offsets[e+1] of `x`. Arrays are NumPy's, torch's,
    or have __dlpack__; all are of the same kind, on the same device and contiguous.
    On a CUDA device nothing waits: the work is put into the stream, and
    check_stream() reports what is wrong with the contents of offsets.

    Args:
      x: [M, K] float32, bfloat16 or float16, K a multiple of the format's block;
        [N, K] with row_indices; flat [N] with shapes. With a producer a tuple of
        its inputs, each [M, K], a row [K] or a scalar []; or one array that holds
        them side by side, such as [M, 2 * K] for "silu_and_mul".
      offsets: [G+1] int32 or int64; with scale_offsets also [G].
      format: one of FORMATS.
      recipe: for nvfp4, "nvfuser" (with an optional global_scale) or "te" (with an
        outer_amax); None is "te" if there is an outer_amax.
      scale_layout: "tile128x4" or "linear"; None is what grouped_mm() takes.
      rows: "all" quantizes the data of rows in no group too, "grouped" leaves it alone.
      rowwise, columnwise: whether that direction is wanted, or a Direction.
      producer: computes the elements: a name of producers.NAMES or a function
        that is traced; see producers.
      row_indices: [M] int32 or int64: row m is row row_indices[m] of x.
      scale_offsets: [G] of the type of offsets: where the tiles of groups begin in
        the scales. If absent, groups are packed.
      shapes: (first_dims, last_dims), [G] each: groups are matrices with their own
        extents, and offsets count elements. Requires `out`.
      global_scale: [] or [G] float32.
      outer_amax, columnwise_outer_amax: [] or [G] float32; with an `outer` of the
        direction [M], one per row, and [G, K], one per column of a group.
      rng_state: [2] int64, the seed and the offset of stochastic rounding.
      noop_flag: [] int32; if it is not 0, out is left alone.
      amax: whether the largest magnitudes [G] float32 are returned.
      dbias: whether the sums of columns [G, K] are, or their type; True is that of x.
      row_amax: whether the op computes the amaxes of rows and returns them, [M]
        float32; for a rowwise direction with outer="row", instead of outer_amax. On a
        GPU a row has to fit on the chip; where it does not, grouped_amax() computes an
        outer_amax.
      out: arrays for everything that is returned, and for the scale offsets if they
        are wanted; may be longer than needed where the size depends on groups.
      stream: a CUDA stream or its address; None is torch's current one for torch
        tensors, the thread's for others. New tensors of torch belong to its current
        one: who names another orders the two.

    Returns:
      A Quantized: those of data, scales, columnwise_data, columnwise_scales, amax,
      dbias and row_amax that were requested, in this order. 4-bit codes are packed,
      two per byte: float4_e2m1fn_x2 in torch, uint8 in NumPy. Parts of a new buffer
      that belong to no group are not initialized.

    Raises:
      ArgumentError: an argument, which the message names, is wrong, or excludes another
        one; nothing ran.
      Error: on the CPU INVALID_OFFSETS and INVALID_ROW_INDICES.
      TypeError: an argument is not an array, or is one of another kind.
    """
    x, names, labels = _names_of(x, _QUANTIZE_NAMES)
    first_dims, last_dims = _dims(shapes)
    amaxes = outer_amax is not None or columnwise_outer_amax is not None
    if recipe is None and (amaxes or row_amax):
        recipe = "te"
    out = _listed(out)
    closed = is_closed(offsets, scale_offsets)
    wanted = 2 * bool(rowwise) + 2 * bool(columnwise) + bool(amax) + bool(dbias)
    wanted += bool(row_amax)
    wants_offsets = out is None or len(out) > wanted
    options = (
        len(x), format, recipe, scale_layout, rows, rowwise, columnwise, producer,
        amax, dbias, row_amax, closed, wants_offsets,
    )  # fmt: skip
    result = _quantize_planner.run(
        options,
        (
            *x, row_indices, offsets, scale_offsets, first_dims, last_dims,
            global_scale, outer_amax, columnwise_outer_amax, rng_state, noop_flag,
        ),
        out, stream, names, labels,
    )  # fmt: skip
    result.offsets = offsets
    if scale_offsets is not None:
        result.scale_offsets = scale_offsets
    return result


def check_nvfuser(block_size: Any, dtype: Any):
    """Refuses what nvFuser's op has and gq's has not."""
    if block_size != 16:
        raise invalid_argument(f"block_size: expected 16, found {block_size}")
    if _formats.dtype_name(dtype) not in ("float4_e2m1fn", "float4_e2m1fn_x2"):
        raise invalid_argument(f"dtype: expected float4_e2m1fn, found {dtype}")


def nv_grouped_block_quantize(
    input: AnyArray,
    input_offsets: AnyArray,
    output_offsets: AnyArray,
    global_scale: AnyArray | None = None,
    block_size: int = 16,
    dtype: Any = "float4_e2m1fn",
    *,
    out: AnyArray | Sequence[AnyArray] | None = None,
    stream: Any = None,
) -> tuple:
    """nvFuser's op: NVFP4 of groups whose offsets are all given.

    Args:
      input: [M, K] float32, bfloat16 or float16.
      input_offsets: [G] or [G+1] int32 or int64: where groups begin in the rows;
        with G, the last one ends with them.
      output_offsets: [G] of the same type: where the groups begin in the scales,
        multiples of 128.
      global_scale: [] float32; None is none.
      block_size: 16.
      dtype: of the codes, float4_e2m1fn.
      out, stream: as for grouped_block_quantize().

    Returns:
      (data, scales): [M, K/2] packed codes, and scales in tiles [M rounded up to
      128, and 128 more for each further group, K/16 rounded up to 4].

    Raises: as grouped_block_quantize().
    """
    check_nvfuser(block_size, dtype)
    closed = is_closed(input_offsets, output_offsets)
    options = (
        1, "nvfp4", "nvfuser", "tile128x4", "all", True, False, None, False, False,
        False, closed, False,
    )  # fmt: skip
    return tuple(
        _quantize_planner.run(
            options,
            (
                input, None, input_offsets, output_offsets, None, None, global_scale,
                None, None, None, None,
            ),
            out, stream, None,
            {"x": "input", "offsets": "input_offsets", "scale_offsets": "output_offsets"},
        )
    )  # fmt: skip


# ---------------------------------------------------------------------------
# FP8 per tensor
# ---------------------------------------------------------------------------

_SCALED_NAMES = (
    "row_indices", "offsets", "first_dims", "last_dims", "outer_amax", "scale",
    "noop_flag",
)  # fmt: skip


def block_format(q):
    """The format of a Quantized for the ops in which FP8 per tensor is none."""
    return None if q.format in _formats.TENSOR_FORMATS else q.format


def is_quantized(x):
    """Whether it is a Quantized, of gq or of gq.torch."""
    return isinstance(x, tuple) and hasattr(x, "columnwise_data")


def _plan_scaled(
    p, count, format, rows, rowwise, columnwise, producer, amax, dbias, scale_inv
):
    element = _formats.find_tensor(format).data
    if ("scale" in p) == ("outer_amax" in p):
        p.refuse("scale", "expected one of it and outer_amax")
    _bools(rowwise=rowwise, columnwise=columnwise, amax=amax, scale_inv=scale_inv)
    _check_directions(p, rowwise, columnwise)
    x = _rows(p, producer, count, block=16)
    m, k, groups, ragged = x.m, x.k, x.groups, x.k is None
    operands = {
        **x.operands,
        "outer_amax": _outer(p, "outer_amax", groups),
        "scale": _outer(p, "scale", groups),
        "noop_flag": _optional(p, "noop_flag", ("i32",), []),
    }
    outputs = {}

    def add(name, kind, shape, static, is_buffer=False):
        outputs[name] = Output(Use(name, kind, static), shape, is_buffer)

    if rowwise:
        shape = (x.size,) if ragged else (m, k)
        add("data", element, shape, (None,) if ragged else (None, k), ragged)
    if columnwise:
        shape = None if ragged else (k * padded(m, groups, 32),)
        add("columnwise_data", element, shape, (None,), True)
    if amax:
        add("amax", "f32", (groups,), (groups,))
    if dbias:
        kind = _dbias(dbias, x)
        add("dbias", kind, (groups, k), (groups, k))
    if scale_inv:
        add("scale_inv", "f32", (groups,), (groups,))
    attributes = enumerations("grouped_quantize", format=format, rows=rows)
    region = _region(producer, x, attributes)
    wrap = _quantized(tuple(outputs), format, k)
    return Spec("grouped_quantize", operands, outputs, attributes, region, wrap)


_scaled_planner = Planner(("x", *_SCALED_NAMES), _plan_scaled)


def grouped_quantize(
    x: AnyArray | Sequence[AnyArray],
    offsets: AnyArray,
    format: str = "fp8_e4m3",
    *,
    scale: AnyArray | None = None,
    outer_amax: AnyArray | None = None,
    rows: str = "all",
    rowwise: bool = True,
    columnwise: bool = False,
    producer: str | Callable | None = None,
    row_indices: AnyArray | None = None,
    shapes: tuple[AnyArray, AnyArray] | None = None,
    noop_flag: AnyArray | None = None,
    amax: bool = False,
    dbias: Any = False,
    scale_inv: bool = True,
    out: AnyArray | Sequence[AnyArray] | None = None,
    stream: Any = None,
) -> Quantized:
    """Quantizes groups to FP8 with one scale for each group.

    Args:
      x, offsets, rows, rowwise, columnwise, producer, row_indices, shapes:
        as for grouped_block_quantize(); K is a multiple of 16, and columnwise data
        is transposed.
      noop_flag, amax, dbias, stream: as for grouped_block_quantize().
      format: "fp8_e4m3" or "fp8_e5m2".
      scale: [] or [G] float32, what x is multiplied with (delayed scaling).
      outer_amax: [] or [G] float32, of which the scale is made (current scaling).
        There is one of the two.
      scale_inv: whether 1 / scale of each group, [G] float32, is returned.
      out: arrays for all that is returned.

    Returns:
      A Quantized: data, columnwise_data, amax, dbias, scale_inv, those that were
      asked for, in this order.

    Raises: as grouped_block_quantize().
    """
    x, names, labels = _names_of(x, _SCALED_NAMES)
    first_dims, last_dims = _dims(shapes)
    options = (
        len(x), format, rows, rowwise, columnwise, producer, amax, dbias, scale_inv
    )  # fmt: skip
    arrays = (
        *x, row_indices, offsets, first_dims, last_dims, outer_amax, scale, noop_flag
    )  # fmt: skip
    result = _scaled_planner.run(options, arrays, _listed(out), stream, names, labels)
    result.offsets = offsets
    return result


# ---------------------------------------------------------------------------
# Fake quantization
# ---------------------------------------------------------------------------

_FAKE_NAMES = (
    "row_indices", "offsets", "global_scale", "outer_amax", "rng_state", "scale"
)  # fmt: skip


def _plan_fake(p, count, format, recipe, rows, axis, direction, producer, out_dtype):
    single = format in _formats.TENSOR_FORMATS
    f = None if single else _formats.find(format)
    _formats.word("axis", axis, "axis")
    columnwise = axis == "columnwise"
    if not isinstance(direction, Direction | None):
        p.refuse("direction", f"expected a Direction, found {direction!r}")
    if single and ("scale" in p) == ("outer_amax" in p):
        p.refuse("scale", "expected one of it and outer_amax")
    block = f.block_columns if f else 16
    x = _rows(p, producer, count, True, block, f", the block of {format}" if f else "")
    shape = {
        "row": None if columnwise else [x.m],
        "column": [x.groups, x.k] if columnwise else None,
    }.get(_of(direction, "outer"))
    outer_amax = _outer(p, "outer_amax", x.groups, shape)
    if _of(direction, "outer") == "row":
        outer_amax = _dynamic_rows(outer_amax)
    of_columns = columnwise and f is not None
    operands = {
        **x.operands,
        "global_scale": _outer(p, "global_scale", x.groups),
        "columnwise_outer_amax" if of_columns else "outer_amax": outer_amax,
        "rng_state": _optional(p, "rng_state", ("i64",), [2]),
        "scale": _outer(p, "scale", x.groups),
    }
    element = x.operands["inputs"][0].element
    if out_dtype is not None:
        element = _element(out_dtype, "out_dtype")
    out = Output(Use("out", element, (None, x.k)), (x.m, x.k))
    op = "grouped_block_quantize" if f else "grouped_quantize"
    chosen = {"recipe": recipe, "scale_layout": f.layout} if f else {}
    attributes = enumerations(op, format=format, rows=rows, **chosen)
    if direction is not None:
        attributes[axis] = direction._attribute()
    region = _region(producer, x, attributes)
    data = "columnwise_data" if columnwise else "data"
    return Spec(op, operands, {data: out}, attributes, region, _only)


_fake_planner = Planner(("x", *_FAKE_NAMES), _plan_fake)


def fake_quantize(
    x: AnyArray | Sequence[AnyArray],
    offsets: AnyArray,
    format: str = "nvfp4",
    *,
    recipe: str | None = None,
    rows: str = "all",
    axis: str = "rowwise",
    direction: Direction | None = None,
    producer: str | Callable | None = None,
    row_indices: AnyArray | None = None,
    global_scale: AnyArray | None = None,
    outer_amax: AnyArray | None = None,
    rng_state: AnyArray | None = None,
    scale: AnyArray | None = None,
    out_dtype: Any = None,
    out: AnyArray | None = None,
    stream: Any = None,
) -> Any:
    """The numbers that the codes of a quantization stand for, without the codes.

    What quantization and grouped_dequantize() together make, to the byte, in one pass.
    A GPU has a kernel for rows, of formats in blocks of one row.

    Args:
      x, offsets, recipe, producer, row_indices, global_scale, rng_state, stream: as for
        grouped_block_quantize().
      format: one of FORMATS or of TENSOR_FORMATS.
      rows: "all" makes numbers of rows in no group too, "grouped" leaves them alone, as
        the columnwise direction does.
      axis: "rowwise" or "columnwise", the direction of the blocks.
      direction: how that differs from the default.
      outer_amax: [] or [G] float32, with an `outer` of the direction [M] or [G, K]; of
        TENSOR_FORMATS, what scales are made of.
      scale: [] or [G] float32, of TENSOR_FORMATS: as for grouped_quantize().
      out_dtype: bfloat16, float16 or float32, of the result; None is that of x.
      out: an array for the result, whose type it then has.

    Returns:
      [M, K]. Rows of a new array that are left alone are not initialized.

    Raises: as grouped_block_quantize().
    """
    x, names, labels = _names_of(x, _FAKE_NAMES)
    if recipe is None and outer_amax is not None:
        recipe = "te"
    out, out_dtype = _single(out, out_dtype)
    return _fake_planner.run(
        (len(x), format, recipe, rows, axis, direction, producer, out_dtype),
        (*x, row_indices, offsets, global_scale, outer_amax, rng_state, scale),
        out, stream, names, labels,
    )  # fmt: skip


def _plan_update(p, format, amax_algo, margin):
    _formats.find_tensor(format)
    (groups,) = p.take("amax", ("f32",), [None])
    attributes = enumerations("update_scales", format=format, amax_algo=amax_algo)
    _whole(margin, "margin", 0, 126)
    attributes["margin"] = f"{margin} : i32"
    history = Use("history", "f32", (None, groups))
    return Spec(
        "update_scales",
        {"amax": [Use("amax", "f32", (groups,))]},
        {
            "history": Output(history, (None, groups), True),
            "scale": Output(Use("scale", "f32", (groups,)), (groups,)),
        },
        attributes,
        wrap=_several,
    )


_update_planner = Planner(("amax",), _plan_update, written=("history", "scale"))


def update_scales(
    amax: AnyArray,
    history: AnyArray,
    scale: AnyArray,
    format: str = "fp8_e4m3",
    *,
    amax_algo: str = "max",
    margin: int = 0,
    stream: Any = None,
) -> tuple:
    """The next scales of delayed scaling, in place.

    `amax` goes in front of the history, whose oldest entry is dropped; scale[e] is
    then max/a * 2^-margin of the largest amax a of the group in the history, or of
    the latest one, and stays as it is where a is 0 or not finite.

    Args:
      amax: [G] float32, of grouped_quantize().
      history: [H, G] float32, the latest first. Written.
      scale: [G] float32. Written.
      format: "fp8_e4m3" or "fp8_e5m2".
      amax_algo: "max" or "most_recent".
      margin: 0 to 126.
      stream: as for grouped_block_quantize().

    Returns:
      (history, scale).

    Raises: as grouped_block_quantize().
    """
    out = (history, scale)
    return _update_planner.run((format, amax_algo, margin), (amax,), out, stream)


# ---------------------------------------------------------------------------
# group_offsets
# ---------------------------------------------------------------------------


def _plan_offsets(p, dtype, closed, scale_offsets):
    index = {"int32": "i32", "int64": "i64"}.get(_formats.dtype_name(dtype))
    if index is None:
        raise invalid_argument(f"dtype: expected 'int32' or 'int64', found {dtype!r}")
    _bools(closed=closed, scale_offsets=scale_offsets)
    (groups,) = p.take("counts", INDICES, [None])
    outputs = {"offsets": groups + int(closed)}
    if scale_offsets:
        outputs["scale_offsets"] = groups
    return Spec(
        "group_offsets",
        {"counts": [Use("counts", p.elements["counts"], (groups,))]},
        {n: Output(Use(n, index, (g,)), (g,), False, False) for n, g in outputs.items()},
        {},
        wrap=_several,
    )


_offsets_planner = Planner(("counts",), _plan_offsets)


def group_offsets(
    counts: AnyArray,
    *,
    dtype: Any = "int32",
    closed: bool = True,
    scale_offsets: bool = True,
    out: AnyArray | Sequence[AnyArray] | None = None,
    stream: Any = None,
) -> Any:
    """Where groups begin, from how many rows each has: what other functions take.

    offsets[e] is the sum of the counts before e, and scale_offsets[e] that of the
    counts rounded up to 128. Nothing waits for the counts of a GPU: there a negative
    one is 0, and a sum stops at what the type holds; check_stream() then raises.

    Args:
      counts: [G] int32 or int64, such as torch.bincount() returns.
      dtype: of what is returned, "int32" or "int64".
      closed: whether offsets have the end of the last group too.
      scale_offsets: whether they are wanted.
      out: arrays for the results.
      stream: as for grouped_block_quantize().

    Returns:
      offsets [G+1] ([G] if not closed), or (offsets, scale_offsets), of which the
      latter are [G].

    Raises:
      gq.Error: on the CPU if a count is negative or a sum is more than the type
        holds, and as grouped_block_quantize().
    """
    options = (dtype, closed, scale_offsets)
    return _offsets_planner.run(options, (counts,), _listed(out), stream)


# ---------------------------------------------------------------------------
# grouped_amax
# ---------------------------------------------------------------------------

_AMAX_NAMES = ("row_indices", "offsets", "first_dims", "last_dims", "noop_flag")


def _only(outs):
    return outs[0]


def _several(outs):
    return outs[0] if len(outs) == 1 else tuple(outs)


def _plan_amax(
    p, count, rows, columnwise, producer, amax, columnwise_amax, row_amax, column_amax
):
    _bools(
        amax=amax, columnwise_amax=columnwise_amax, row_amax=row_amax,
        column_amax=column_amax,
    )  # fmt: skip
    if not (amax or columnwise_amax or row_amax or column_amax):
        p.refuse("amax", "expected it, columnwise_amax, row_amax or column_amax")
    if not isinstance(columnwise, Direction | None):
        p.refuse("columnwise", f"expected a Direction, found {columnwise!r}")
    x = _rows(p, producer, count)
    m, k, groups = x.m, x.k, x.groups
    operands = {
        **x.operands,
        "noop_flag": _optional(p, "noop_flag", ("i32",), []),
    }
    outputs = {}
    for name, wanted, shape, static in (
        ("amax", amax, (groups,), (groups,)),
        ("columnwise_amax", columnwise_amax, (groups,), (groups,)),
        ("row_amax", row_amax, (m,), (None,)),
        ("column_amax", column_amax, (groups, k), (groups, k)),
    ):
        if wanted:
            outputs[name] = Output(Use(name, "f32", static), shape)
    attributes = enumerations("grouped_amax", rows=rows)
    if columnwise is not None:
        attributes["columnwise"] = columnwise._attribute()
    region = _region(producer, x, attributes)
    return Spec("grouped_amax", operands, outputs, attributes, region, _several)


_amax_planner = Planner(("x", *_AMAX_NAMES), _plan_amax)


def grouped_amax(
    x: AnyArray | Sequence[AnyArray],
    offsets: AnyArray,
    *,
    amax: bool = True,
    row_amax: bool = False,
    column_amax: bool = False,
    columnwise_amax: bool = False,
    columnwise: Direction | None = None,
    rows: str = "all",
    producer: str | Callable | None = None,
    row_indices: AnyArray | None = None,
    shapes: tuple[AnyArray, AnyArray] | None = None,
    noop_flag: AnyArray | None = None,
    out: AnyArray | Sequence[AnyArray] | None = None,
    stream: Any = None,
) -> Any:
    """The largest magnitudes of groups, of rows and of columns, ignoring NaN.

    Args:
      x, offsets, producer, row_indices, shapes, stream: as for
        grouped_block_quantize(); K is a multiple of 16, and offsets hold G+1.
      amax, columnwise_amax, row_amax, column_amax: which are wanted.
      columnwise: a Direction with a transform of columns: column_amax is then that
        of what is transformed, and columnwise_amax that of each group.
      noop_flag: [] int32; if it is not 0, out is left alone.
      rows: with "grouped", row_amax of rows in no group is left as it is in out.
      out: arrays for what is wanted.

    Returns:
      float32 [G], [M] and [G, K], those that are wanted, in this order: one array or
      a tuple.

    Raises: as grouped_block_quantize().
    """
    x, names, labels = _names_of(x, _AMAX_NAMES)
    first_dims, last_dims = _dims(shapes)
    options = (
        len(x), rows, columnwise, producer, amax, columnwise_amax, row_amax, column_amax,
    )  # fmt: skip
    arrays = (*x, row_indices, offsets, first_dims, last_dims, noop_flag)
    return _amax_planner.run(options, arrays, _listed(out), stream, names, labels)


# ---------------------------------------------------------------------------
# The way back
# ---------------------------------------------------------------------------


def _plan_dequantize(
    p, format, recipe, scale_layout, axis, outer, scale_max, columns, out_dtype, closed,
    has_out, epilogue,
):  # fmt: skip
    f = _formats.find(format) if format is not None else None
    element = _element(out_dtype, "out_dtype")
    allowed = (f.data,) if f else _PLAIN
    _formats.word("axis", axis, "axis")
    if columns is not None:
        _whole(columns, "columns")
    ragged, columnwise = "first_dims" in p, axis == "columnwise"
    layout = _layout(scale_layout, f) if f else scale_layout or "tile128x4"
    offsets, groups = _groups(p, closed)
    index = (offsets.element,)
    is_flat = ragged or (columnwise and (f is None or f.transposes))
    of_axis = "column" if columnwise else "row"
    if outer not in ("group", of_axis) or (outer != "group" and ragged):
        raise invalid_argument(
            f"outer: expected 'group' or, without shapes, '{of_axis}', found {outer!r}"
        )
    if is_flat:
        (size,) = p.take("data", allowed, [None])
        data, k = Use("data", p.elements["data"], (None,)), columns
        shape = (size * 8 // f.bits if f else size,) if ragged else None
        if not ragged and k is None:
            raise invalid_argument("columns: expected K, where data is flat")
    else:
        m, stored = p.take("data", allowed, [None, None])
        data, k = Use("data", p.elements["data"], (None, stored)), stored
        if f:
            k = stored * 8 // f.bits
        shape = (m, k)
    out = Use("out", element, (None,) if ragged else (None, k))
    shared = {"row": [None if is_flat else m], "column": [groups, k]}.get(outer)
    operands = {"data": [data]}
    if f:
        tiled = layout == "tile128x4"
        block_rows = f.block_rows
        if ragged or columnwise or (block_rows > 1 and not tiled):
            scales = (None,)
        else:
            width = k // f.block_columns
            scales = (None, up(width, 4) if tiled else width)
        p.take("scales", (f.scale,), scales)
        operands["scales"] = [Use("scales", f.scale, scales, tiled)]
    outer_amax = _outer(p, "outer_amax", groups, shared)
    if outer == "row":
        outer_amax = _dynamic_rows(outer_amax)
    operands |= {
        "offsets": [offsets],
        "scale_offsets": _optional(p, "scale_offsets", index, [groups]),
        "first_dims": _optional(p, "first_dims", index, [groups]),
        "last_dims": _optional(p, "last_dims", index, [groups]),
        "global_scale": _outer(p, "global_scale", groups),
        "outer_amax": outer_amax,
        "scale_inv": _outer(p, "scale_inv", groups),
    }
    attributes = enumerations(
        "grouped_dequantize", format=format, recipe=recipe, scale_layout=layout, axis=axis,
        outer=outer,
    )  # fmt: skip
    if scale_max is not None:
        _whole(scale_max, "scale_max")
        if scale_max not in (256, 448) or recipe != "te":
            raise invalid_argument(
                f"scale_max: expected 256 or 448, of recipe te, found {scale_max!r}"
            )
        attributes["scale_max"] = f"{scale_max} : i32"
    if ragged and epilogue is not None:
        raise invalid_argument("epilogue: expected none with shapes")
    region = _epilogue(epilogue, None, element, attributes)
    output = Output(out, shape if shape else (None if not has_out else (None, k)), True)
    return Spec("grouped_dequantize", operands, {"out": output}, attributes, region, _only)


_dequantize_planner = Planner(
    (
        "data", "scales", "offsets", "scale_offsets", "first_dims", "last_dims",
        "global_scale", "outer_amax", "scale_inv",
    ),
    _plan_dequantize,
)  # fmt: skip


def grouped_dequantize(
    data: Quantized | AnyArray,
    offsets: AnyArray | None = None,
    *,
    scales: AnyArray | None = None,
    scale_offsets: AnyArray | None = None,
    format: str | None = None,
    recipe: str | None = None,
    scale_layout: str | None = None,
    axis: str = "rowwise",
    outer: str = "group",
    scale_max: int | None = None,
    columns: int | None = None,
    shapes: tuple[AnyArray, AnyArray] | None = None,
    global_scale: AnyArray | None = None,
    outer_amax: AnyArray | None = None,
    scale_inv: AnyArray | None = None,
    epilogue: str | Callable | None = None,
    out_dtype: Any = "bfloat16",
    out: AnyArray | Sequence[AnyArray] | None = None,
    stream: Any = None,
) -> Any:
    """The numbers that codes and scales of groups stand for.

    Args:
      data: a Quantized, which brings scales, offsets and format; or data as
        grouped_block_quantize() wrote it, in one direction.
      offsets, scale_offsets, recipe, scale_layout, shapes, global_scale, outer_amax:
        those that it was quantized with.
      stream: as for grouped_block_quantize().
      scales: of the same direction; none without a format.
      format: of data; without, data is float8_e4m3fn or float8_e5m2 of FP8 per
        tensor and there is a scale_inv.
      axis: "rowwise" or "columnwise", the direction of data and scales. Columns that
        were transformed are not transformed back.
      outer: "row" or "column" where outer_amax is that of a Direction with this outer,
        [M] or [G, K].
      scale_max: 256 where outer_amax is that of a Direction with this scale_max.
      columns: K, where data is flat and no Quantized.
      scale_inv: [] or [G] float32.
      epilogue: computes the elements that are stored from those, rounded to out_dtype,
        that `out` would hold without: a name of producers.NAMES or a function of one
        value that is traced; see producers. Not with shapes.
      out_dtype: bfloat16, float16 or float32, of the result.
      out: [M, K] for the result; rows in no group stay. It is needed where data
        is flat columnwise data, which does not say M.

    Returns:
      [M, K], or flat with shapes.

    Raises: as grouped_block_quantize().
    """
    if is_quantized(data):
        q = data
        format = format or block_format(q)
        scale_inv = q.scale_inv if scale_inv is None else scale_inv
        columns = _own_columns(q, columns, "columns")
        offsets = q.offsets if offsets is None else offsets
        if axis == "columnwise":
            data, scales = q.columnwise_data, q.columnwise_scales
        else:
            data, scales = q.data, q.scales
            scale_offsets = q.scale_offsets if scale_offsets is None else scale_offsets
    if recipe is None and outer_amax is not None:
        recipe = "te"
    first_dims, last_dims = _dims(shapes)
    closed = is_closed(offsets, scale_offsets)
    out, out_dtype = _single(out, out_dtype)
    options = (
        format, recipe, scale_layout, axis, outer, scale_max, columns, out_dtype, closed,
        out is not None, epilogue,
    )  # fmt: skip
    arrays = (
        data, scales, offsets, scale_offsets, first_dims, last_dims, global_scale,
        outer_amax, scale_inv,
    )  # fmt: skip
    return _dequantize_planner.run(options, arrays, out, stream)


def _plan_block_dequantize(p, format, out_dtype, epilogue):
    f = _formats.find(format)
    element = _element(out_dtype, "out_dtype")
    m, stored = p.take("data", (f.data,), [None, None])
    k = stored * 8 // f.bits
    rows, columns = up(m, f.block_rows) // f.block_rows, k // f.block_columns
    p.take("scales", (f.scale,), [rows, columns])
    operands = {
        "data": [Use("data", f.data, (None, stored))],
        "scales": [Use("scales", f.scale, (None, columns))],
        "global_scale": _optional(p, "global_scale", ("f32",), []),
    }
    outputs = {"out": Output(Use("out", element, (None, k)), (m, k))}
    attributes = enumerations("block_dequantize", format=format, scale_layout="linear")
    region = _epilogue(epilogue, None, element, attributes)
    return Spec("block_dequantize", operands, outputs, attributes, region, _only)


_block_dequantize_planner = Planner(
    ("data", "scales", "global_scale"), _plan_block_dequantize
)


def block_dequantize(
    data: Quantized | AnyArray,
    scales: AnyArray | None = None,
    format: str | None = None,
    *,
    global_scale: AnyArray | None = None,
    epilogue: str | Callable | None = None,
    out_dtype: Any = "bfloat16",
    out: AnyArray | Sequence[AnyArray] | None = None,
    stream: Any = None,
) -> Any:
    """The numbers that codes and linear scales stand for.

    Args:
      data: a Quantized of block_quantize(), or codes [M, K], 4 bits packed.
      scales: [M, K/block], for blocks of 128 by 128 [M/128, K/128] rounded up.
      format: one of FORMATS; "nvfp4" if data is no Quantized.
      global_scale: [] float32, of nvfp4.
      out_dtype: bfloat16, float16 or float32, of the result.
      epilogue, out, stream: as of grouped_dequantize().

    Returns:
      [M, K].

    Raises: as grouped_block_quantize().
    """
    if is_quantized(data):
        scales = data.scales if scales is None else scales
        data, format = data.data, format or data.format
    out, out_dtype = _single(out, out_dtype)
    options = (format or "nvfp4", out_dtype, epilogue)
    arrays = (data, scales, global_scale)
    return _block_dequantize_planner.run(options, arrays, out, stream)


# ---------------------------------------------------------------------------
# The ops that it is made of
# ---------------------------------------------------------------------------


def _plan_block_quantize(p, format):
    f = _formats.find(format)
    m, k = p.take("x", FLOATS, [None, None])
    extents = buffer_extents(m, k, 1, format, "linear")
    shape = up(m, f.block_rows) // f.block_rows, k // f.block_columns
    operands = {
        "input": [Use("x", p.elements["x"], (None, k))],
        "global_scale": _optional(p, "global_scale", ("f32",), []),
    }
    outputs = {
        "data": Output(Use("data", f.data, (None, f.stored(k))), extents.data),
        "scales": Output(Use("scales", f.scale, (None, shape[1])), shape),
    }
    attributes = enumerations("block_quantize", format=format, scale_layout="linear")
    wrap = _quantized(("data", "scales"), format, k)
    return Spec("block_quantize", operands, outputs, attributes, wrap=wrap)


_block_quantize_planner = Planner(("x", "global_scale"), _plan_block_quantize)


def block_quantize(
    x: AnyArray,
    format: str = "nvfp4",
    *,
    global_scale: AnyArray | None = None,
    out: AnyArray | Sequence[AnyArray] | None = None,
    stream: Any = None,
) -> Quantized:
    """Quantizes rows; scales are linear.

    Args:
      x: [M, K] float32, bfloat16 or float16, K a multiple of the block.
      format: one of FORMATS.
      global_scale: [] float32, of nvfp4.
      out, stream: as for grouped_block_quantize().

    Returns:
      A Quantized: data, and scales [M, K/block] or, for blocks of 128 by 128,
      [M/128, K/128] rounded up.

    Raises: as grouped_block_quantize().
    """
    return _block_quantize_planner.run(
        (format,), (x, global_scale), _listed(out), stream
    )


def _plan_preprocess(p, format, closed):
    f = _formats.find(format)
    m, columns = p.take("scales", (f.scale,), [None, None])
    offsets, groups = _groups(p, closed)
    rows = up(m, 128) + 128 * (groups - 1) if groups else 0
    p.take("scale_offsets", (offsets.element,), [groups])
    operands = {
        "input": [Use("scales", f.scale, (None, columns))],
        "offsets": [offsets],
        "scale_offsets": [Use("scale_offsets", offsets.element, (groups,))],
    }
    width = up(columns, 4)
    use = Use("tiled", f.scale, (None, width), True)
    attributes = enumerations(
        "preprocess_grouped_matmul_sf", format=format, scale_layout="tile128x4"
    )
    return Spec(
        "preprocess_grouped_matmul_sf",
        operands,
        {"scales": Output(use, (rows, width), True)},
        attributes,
        wrap=_only,
    )


_preprocess_planner = Planner(("scales", "offsets", "scale_offsets"), _plan_preprocess)


def preprocess_grouped_matmul_sf(
    scales: AnyArray,
    offsets: AnyArray,
    scale_offsets: AnyArray,
    format: str = "nvfp4",
    *,
    out: AnyArray | Sequence[AnyArray] | None = None,
    stream: Any = None,
) -> Any:
    """Lays out the linear scales of groups as a grouped matmul reads them.

    Args:
      scales: [M, K/block] of the format's type, which is not f32.
      offsets: [G+1] or [G] int32 or int64.
      scale_offsets: [G] of the same type; see layout.scale_offsets().
      format: one of FORMATS.
      out: [R, K/block rounded up to 4], R a multiple of 128.
      stream: as for grouped_block_quantize().

    Returns:
      [M rounded up to 128, and 128 more for each further group, K/block rounded
      up to 4], or out.

    Raises: as grouped_block_quantize().
    """
    closed = is_closed(offsets, scale_offsets)
    out = _listed(out)
    arrays = scales, offsets, scale_offsets
    return _preprocess_planner.run((format, closed), arrays, out, stream)


# ---------------------------------------------------------------------------
# Matmuls
# ---------------------------------------------------------------------------

def _element(dtype, argument):
    """The element type of a result: of MLIR, torch, NumPy or by name."""
    name = _formats.dtype_name(dtype)
    for element in FLOATS:
        e = _formats.BY_MLIR[element]
        if name in (element, e.torch):
            return element
    raise invalid_argument(
        f"{argument}: expected bfloat16, float16 or float32, found {dtype!r}"
    )


def _same_rule(f, g):
    return (f.scale, f.block_columns) == (g.scale, g.block_columns)


def _pair(p, format, b_format):
    """The two formats, or None and None."""
    if format is None:
        if b_format is not None:
            raise invalid_argument("b_format: expected none without format")
        return None, None
    f, g = _formats.find(format), _formats.find(b_format or format, "b_format")
    if not _same_rule(f, g):
        raise invalid_argument(
            f"b_format: expected one with scales as {f.name} has, found {g.name}"
        )
    return f, g


def _epilogue(epilogue, pairs, element, attributes):
    """The region of an epilogue; `pairs` becomes an attribute."""
    if epilogue is None:
        if pairs is not None:
            raise invalid_argument("pairs: expected an epilogue")
        return ""
    if pairs is not None:
        attributes["pairs"] = enumeration("pairs", pairs, "pairs")
    take = producers.count_inputs(epilogue, "epilogue")
    if take != (1 if pairs is None else 2):
        wanted = "one value without pairs" if pairs is None else "two values with pairs"
        raise invalid_argument(
            f"epilogue: expected a function of {wanted}, found one of {take}"
        )
    given = getattr(epilogue, "_inputs", ())
    return producers.region(epilogue, list(given or [element] * take))


def _plan_mm(p, format, b_format, b_major, out_dtype, closed, epilogue, pairs, kernel):
    f, g = _pair(p, format, b_format)
    _formats.word("major", b_major, "b_major")
    pairs = None if pairs == "none" else pairs
    element = _element(out_dtype, "out_dtype")
    m, stored_k = p.take("a", (f.data,) if f else _PLAIN, [None, None])
    k = stored_k * (8 // f.bits) if f else stored_k
    allowed = (g.data,) if g else _PLAIN
    if b_major == "k":
        groups, n, _ = p.take("b", allowed, [None, None, g.stored(k) if g else k])
    else:
        groups, _, n = p.take("b", allowed, [None, k, None])
        n = n * (8 // g.bits) if g else n
    offsets, found = _groups(p, closed)
    if not p.agree(groups, found):
        p.refuse("offsets", f"expected {groups} groups, as b has, found {found}")
    operands = {
        "a": [Use("a", p.elements["a"], (None, stored_k))],
        "b": [Use("b", p.elements["b"], p.take("b", allowed, [None] * 3))],
    }
    layout = f.layout if f else "tile128x4"
    if f:
        columns, tiled = k // f.block_columns, layout == "tile128x4"
        if tiled:
            a_shape, rows = [None, up(columns, 4)], [groups, up(n, 128), up(columns, 4)]
        else:
            a_shape = [m, columns]
            rows = [groups, up(n, g.block_rows) // g.block_rows, columns]
        p.take("a_scales", (f.scale,), a_shape)
        p.take("b_scales", (g.scale,), rows)
        a_use = Use("a_scales", f.scale, (None, a_shape[1]), tiled)
        operands["a_scales"] = [a_use]
        operands["b_scales"] = [Use("b_scales", g.scale, tuple(rows), tiled)]
        if tiled:
            p.take("scale_offsets", INDICES, [None])
    index = (offsets.element,)
    operands["offsets"] = [offsets]
    operands["scale_offsets"] = _optional(p, "scale_offsets", index, [groups])
    operands["alpha"] = _optional(p, "alpha", ("f32",), [groups])
    operands["row_scales"] = _dynamic_rows(_optional(p, "row_scales", ("f32",), [m]))
    operands["column_scales"] = _optional(p, "column_scales", ("f32",), [groups, n])
    operands["bias"] = _optional(p, "bias", FLOATS, [groups, n])
    if pairs is not None and n % 2:
        p.refuse("b", f"expected an even N for pairs, found {n}")
    columns = n if pairs is None else n // 2
    outputs = {"out": Output(Use("out", element, (None, columns)), (m, columns))}
    attributes = enumerations(
        "grouped_mm",
        format=format,
        b_format=b_format if b_format != format else None,
        scale_layout=layout,
        b_major=b_major,
    )
    if kernel is not None:
        attributes["kernel"] = enumeration("mm_kernel", kernel, "kernel")
    region = _epilogue(epilogue, pairs, element, attributes)
    return Spec("grouped_mm", operands, outputs, attributes, region, _only)


_mm_planner = Planner(
    (
        "a", "b", "a_scales", "b_scales", "offsets", "scale_offsets", "alpha",
        "row_scales", "column_scales", "bias",
    ),
    _plan_mm,
)  # fmt: skip


def mm_arguments(a, b, a_scales, b_scales, offsets, scale_offsets, format, b_format):
    """The arguments of grouped_mm(), some of which a Quantized brings."""
    if is_quantized(a):
        a, a_scales, offsets, scale_offsets, format = (
            a.data,
            a.scales if a_scales is None else a_scales,
            a.offsets if offsets is None else offsets,
            a.scale_offsets if scale_offsets is None else scale_offsets,
            format or block_format(a),
        )
    if is_quantized(b):
        b_format = b_format or block_format(b)
        b_scales = b.scales if b_scales is None else b_scales
        b = b.data
    return a, b, a_scales, b_scales, offsets, scale_offsets, format, b_format


def grouped_mm(
    a: Quantized | AnyArray,
    b: Quantized | AnyArray,
    offsets: AnyArray | None = None,
    *,
    a_scales: AnyArray | None = None,
    b_scales: AnyArray | None = None,
    scale_offsets: AnyArray | None = None,
    format: str | None = None,
    b_format: str | None = None,
    b_major: str = "k",
    alpha: AnyArray | None = None,
    row_scales: AnyArray | None = None,
    column_scales: AnyArray | None = None,
    bias: AnyArray | None = None,
    epilogue: str | Callable | None = None,
    pairs: str | None = None,
    kernel: str | None = None,
    out_dtype: Any = "bfloat16",
    out: AnyArray | Sequence[AnyArray] | None = None,
    stream: Any = None,
) -> Any:
    """Multiplies the rows of each group by the weights of its own.

    out[i, n] = factor * sum_k a[i, k] * b[e, n, k] + bias[e, n] for each row i of
    group e, with factor = alpha[e] * row_scales[i] * column_scales[e, n]. Sums are
    float32 or wider and rounded once.

    Args:
      a: a Quantized of grouped_block_quantize(), which brings its scales, offsets
        and format, or of grouped_quantize(), whose scale_inv is for alpha; or codes
        [M, K], 4-bit codes packed [M, K/2].
      b: a Quantized of quantize_weights(), or codes [G, N, K]; with b_major "n"
        [G, K, N].
      offsets: [G+1] int32 or int64, with scale_offsets also [G].
      a_scales, b_scales: as grouped_block_quantize() and quantize_weights() make
        them; none without a format.
      scale_offsets: [G]: where groups begin in a_scales in tiles.
      format, b_format: of a and b; without it, a and b are float8_e4m3fn
        or float8_e5m2 without block scales.
      b_major: "k" or "n", the innermost extent of b.
      alpha: [G] float32.
      row_scales: [M] float32.
      column_scales: [G, N] float32.
      bias: [G, N] float32, bfloat16 or float16.
      epilogue: computes the elements that are stored from what `out` would be
        without it, rounded to out_dtype: a name of producers.NAMES or a function
        of one value, with pairs of two, that is traced; see producers.
      pairs: which two columns the epilogue takes, such as gate and up:
        "interleaved", 2j and 2j+1, or "halves", j and j + N/2.
      kernel: which kernel a GPU runs, see `MmKernelAttr` of the dialect; None is the
        one that gq chooses.
      out_dtype: bfloat16, float16 or float32, of the result.
      out: [M, N], with pairs [M, N/2], for the result.
      stream: as for grouped_block_quantize().

    Returns:
      [M, N], with pairs [M, N/2]; what of a new one belongs to no group holds
      anything.

    Raises: as grouped_block_quantize().
    """
    a, b, a_scales, b_scales, offsets, scale_offsets, format, b_format = mm_arguments(
        a, b, a_scales, b_scales, offsets, scale_offsets, format, b_format
    )
    closed = is_closed(offsets, scale_offsets)
    out, out_dtype = _single(out, out_dtype)
    arrays = (
        a, b, a_scales, b_scales, offsets, scale_offsets, alpha, row_scales,
        column_scales, bias,
    )  # fmt: skip
    options = (format, b_format, b_major, out_dtype, closed, epilogue, pairs, kernel)
    return _mm_planner.run(options, arrays, out, stream)


def _plan_wgrad(p, format, b_format, n, k, out_dtype, kernel):
    f, g = _pair(p, format, b_format)
    element = _element(out_dtype, "out_dtype")
    offsets, groups = _groups(p, True)
    _whole(n, "n")
    _whole(k, "k")
    operands = {}
    for name, other, extent in ("a", f, n), ("b", g, k):
        flat = other is not None and other.transposes
        stored = other.stored(extent) if other else extent
        allowed = (other.data,) if other else _PLAIN
        p.take(name, allowed, [None] if flat else [None, stored])
        shape = (None,) if flat else (None, stored)
        operands[name] = [Use(name, p.elements[name], shape)]
    layout = f.layout if f else "tile128x4"
    for name, other in ("a_scales", f), ("b_scales", g):
        if other:
            p.take(name, (other.scale,), [None])
            use = Use(name, other.scale, (None,), layout == "tile128x4")
            operands[name] = [use]
    operands["offsets"] = [offsets]
    operands["alpha"] = _optional(p, "alpha", ("f32",), [groups])
    shape = groups, n, k
    attributes = enumerations(
        "grouped_wgrad",
        format=format,
        b_format=b_format if b_format != format else None,
        scale_layout=layout,
    )
    if kernel is not None:
        attributes["kernel"] = enumeration("mm_kernel", kernel, "kernel")
    outputs = {"out": Output(Use("out", element, shape), shape)}
    return Spec("grouped_wgrad", operands, outputs, attributes, wrap=_only)


_wgrad_planner = Planner(
    ("a", "b", "a_scales", "b_scales", "offsets", "alpha"), _plan_wgrad
)


def wgrad_arguments(a, b, a_scales, b_scales, offsets, format, b_format, n, k):
    """The arguments of grouped_wgrad(), some of which a Quantized brings."""
    if is_quantized(a):
        offsets = a.offsets if offsets is None else offsets
        a, a_scales, format, n = _columns_of(a, a_scales, format, n, "n")
    if is_quantized(b):
        b, b_scales, b_format, k = _columns_of(b, b_scales, b_format, k, "k")
    for name, value in ("n", n), ("k", k):
        if value is None:
            raise invalid_argument(f"{name}: expected it, where a and b are arrays")
    return a, b, a_scales, b_scales, offsets, format, b_format, n, k


def _own_columns(q, columns, name):
    """The columns of a Quantized, which an argument may repeat."""
    if columns is None:
        return q.columns
    if q.columns is not None and columns != q.columns:
        raise invalid_argument(f"{name}: expected {q.columns}, found {columns}")
    return columns


def _columns_of(q, scales, format, columns, name):
    """The data of a Quantized for sums over rows, its scales, format and columns. FP8
    per tensor has no blocks along them, and its rowwise data is taken."""
    columns = _own_columns(q, columns, name)
    if block_format(q) is None:
        return q.data, scales, format, columns
    scales = q.columnwise_scales if scales is None else scales
    return q.columnwise_data, scales, format or q.format, columns


def grouped_wgrad(
    a: Quantized | AnyArray,
    b: Quantized | AnyArray,
    offsets: AnyArray | None = None,
    *,
    n: int | None = None,
    k: int | None = None,
    a_scales: AnyArray | None = None,
    b_scales: AnyArray | None = None,
    format: str | None = None,
    b_format: str | None = None,
    alpha: AnyArray | None = None,
    kernel: str | None = None,
    out_dtype: Any = "float32",
    out: AnyArray | Sequence[AnyArray] | None = None,
    stream: Any = None,
) -> Any:
    """The gradient of weights: multiplies along the rows of each group.

    out[e, n, k] = alpha[e] * sum_i a[i, n] * b[i, k] over the rows i of group e.

    Args:
      a, b: Quantized of the output's gradient and of the input with columnwise
        data, which bring their scales, offsets, formats, N and K, or of
        grouped_quantize() with rowwise data, whose scale_inv are for alpha; or
        columnwise data as it is, without a format [M, N] and [M, K].
      offsets: [G+1] int32 or int64.
      n, k: the extents, if a and b are not Quantized.
      a_scales, b_scales, format, b_format, alpha, kernel, out_dtype, out, stream: as
        for grouped_mm(); the scales are columnwise ones.

    Returns:
      [G, N, K].

    Raises: as grouped_block_quantize().
    """
    a, b, a_scales, b_scales, offsets, format, b_format, n, k = wgrad_arguments(
        a, b, a_scales, b_scales, offsets, format, b_format, n, k
    )
    out, out_dtype = _single(out, out_dtype)
    options = (format, b_format, n, k, out_dtype, kernel)
    arrays = (a, b, a_scales, b_scales, offsets, alpha)
    return _wgrad_planner.run(options, arrays, out, stream)


# ---------------------------------------------------------------------------
# Weights
# ---------------------------------------------------------------------------


def quantize_weights(
    w: AnyArray,
    format: str = "nvfp4",
    *,
    recipe: str | None = None,
    global_scale: AnyArray | None = None,
    outer_amax: AnyArray | None = None,
    stream: Any = None,
) -> Quantized:
    """Quantizes the weights of experts as grouped_mm() takes them.

    Args:
      w: [G, N, K] float32, bfloat16 or float16 of NumPy or torch.
      format, recipe, global_scale, outer_amax, stream: as for
        grouped_block_quantize().

    Returns:
      A Quantized: data [G, N, K], 4 bits packed, and scales [G, N rounded up to
      128, K/block rounded up to 4] in tiles, or linear for scales of f32.

    Raises: as grouped_block_quantize().
    """
    kind = _arrays.kind_of(w)
    if kind is None or kind is _arrays.Arrays:
        raise TypeError(
            f"w: expected an array of NumPy or torch, found {type(w).__name__}"
        )
    if len(w.shape) != 3:
        raise invalid_argument(f"w: expected [G, N, K], found shape {list(w.shape)}")
    f = _formats.find(format)
    groups, n, k = w.shape
    device = kind.describe(w).device
    rows, columns = up(n, f.block_rows) // f.block_rows, k // f.block_columns
    if f.layout == "tile128x4":
        rows, columns = up(n, 128), up(columns, 4)
    flat = f.layout != "tile128x4" and f.block_rows > 1
    scales = (groups * rows * columns,) if flat else (groups * rows, columns)
    out = [
        kind.maker((groups * n, f.stored(k)), f.data, device)(),
        kind.maker(scales, f.scale, device)(),
    ]
    result = grouped_block_quantize(
        w.reshape(groups * n, k), _uniform(w, groups, n), format, recipe=recipe,
        global_scale=global_scale, outer_amax=outer_amax, out=out, stream=stream,
    )  # fmt: skip
    parts = (
        result.data.reshape(groups, n, f.stored(k)),
        result.scales.reshape(groups, rows, columns),
    )
    return _quantized(("data", "scales"), format, k)(parts)


def _uniform(w, groups, n):
    """The offsets of groups of n rows, where `w` is."""
    if _arrays.kind_of(w) is _arrays.NumPy:
        import numpy as np

        return np.arange(groups + 1, dtype=np.int32) * np.int32(n)
    import torch

    return torch.arange(groups + 1, dtype=torch.int32, device=w.device) * n


def check_stream(stream: Any = None) -> None:
    """Waits for a CUDA stream and raises what its kernels found wrong with data.

    Args:
      stream: a stream or its address; None is torch's current one, or that of the
        thread.

    Raises:
      Error: INVALID_OFFSETS or INVALID_ROW_INDICES.
    """
    if stream is None:
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_available():
            stream = torch.cuda.current_stream()
        else:
            stream = lib.gqGetStream() or 0
    check(lib.gqStreamStatus(_arrays.stream_handle(stream)))
