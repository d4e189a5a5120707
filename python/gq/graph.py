# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs of ops and element-wise work, compiled as one module.

    with gq.Graph() as g:
        x = g.input("x", ["M", 256], "bfloat16")
        offsets = g.input("offsets", [4], "int32")
        w = g.input("w", [3, 512, 128], "i8")
        scales = g.input("scales", [3, 512, 16], "float8_e4m3fn")
        q = gq.grouped_block_quantize(x, offsets)
        y = gq.grouped_mm(q, w, b_scales=scales, b_format="nvfp4")
        gate, up = gq.graph.split(y, 2)
        q = gq.grouped_block_quantize(gq.graph.map("silu_and_mul", gate, up), offsets)
        g.output(q.data, q.scales)

    data, scales = g(x, offsets, w, scales)

The functions of gq record the op where an argument is a Tensor of a graph; the passes
then fuse what fits, as in any module. print(g) shows it. What is wrong with an
argument is raised where the function is called; what the compiler finds wrong names
the line of the program that recorded the op.

Graph.op() records any op of MLIR's by its name, with functions as its regions.
"""

from __future__ import annotations

import collections
import dataclasses
import numbers
import operator
import pathlib
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import _arrays, _formats, producers
from ._call import FLOATS, INDICES, Recorded, check_out, describe, executable
from ._executable import Executable
from ._library import Error, invalid_argument

__all__ = [
    "Broadcast", "Dim", "Graph", "Tensor", "Value", "fill", "gather", "index", "main",
    "map", "region", "split", "sum_rows",
]  # fmt: skip


# ---------------------------------------------------------------------------
# Extents
# ---------------------------------------------------------------------------


# What ops of arith do to extents, which are not negative.
_ARITHMETIC: dict[str, Callable[[Any, Any], int]] = {
    "addi": operator.add, "subi": operator.sub, "muli": operator.mul,
    "floordivsi": operator.floordiv, "divui": operator.floordiv,
    "divsi": operator.floordiv, "ceildivui": lambda a, b: -(-a // b),
    "ceildivsi": lambda a, b: -(-a // b), "remui": operator.mod,
    "remsi": operator.mod, "minui": min, "minsi": min, "maxui": max, "maxsi": max,
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Dim:
    """An extent that a call decides: one of an input, or computed from such. What has
    the type index in MLIR is one too.

    Sums, products and quotients of them are Dims. Two are the same if they are
    computed in the same way from the extents of the same names.
    """

    # "dim": (name,), an extent of an input. "index": (value,), what an op results in;
    # "of": (value, type, extent), that of a tensor which an op results in.

    op: str
    operands: tuple

    def __repr__(self):
        if self.op in ("dim", "index", "of"):
            return str(self.operands[0])
        signs = {"addi": "+", "muli": "*", "floordivsi": "//"}
        a, b = self.operands
        if self.op not in signs:
            return f"{self.op}({a}, {b})"
        return f"({a} {signs[self.op]} {b})"

    def __add__(self, other):
        return Dim("addi", (self, other)) if other != 0 else self

    def __mul__(self, other):
        return Dim("muli", (self, other)) if other != 1 else self

    def __floordiv__(self, other):
        return Dim("floordivsi", (self, other)) if other != 1 else self

    def is_free(self):
        """Whether an extent that was given as None is part of it, or that of a value."""
        if self.op == "dim":
            return "." in self.operands[0]
        return self.op in ("index", "of") or any(
            isinstance(o, Dim) and o.is_free() for o in self.operands
        )

    def is_of_inputs(self):
        """Whether the inputs decide it."""
        return self.op not in ("index", "of") and all(
            o.is_of_inputs() for o in self.operands if isinstance(o, Dim)
        )

    def value(self, known: dict[Dim, int]) -> int:
        """The number, where those of the inputs are known."""
        if self.op == "dim":
            return known[self]
        operands = (o.value(known) if isinstance(o, Dim) else o for o in self.operands)
        return _ARITHMETIC[self.op](*operands)

    def __sub__(self, other):
        return self + -other

    def __lt__(self, other):
        """Extents are not less than what they must be, as far as is known."""
        return False

    def __neg__(self):
        # Rounding up to 1 negates twice.
        if self.op == "muli" and self.operands[1] == -1:
            return self.operands[0]
        return self * -1

    __radd__, __rmul__ = __add__, __mul__


def index(op: str, a: Dim | int, b: Dim | int) -> Dim:
    """An extent computed by an op of the dialect arith, such as "ceildivui".

    Raises:
      ArgumentError: another op.
    """
    if op not in _ARITHMETIC:
        raise invalid_argument(f"op: expected one of {', '.join(_ARITHMETIC)}, found {op!r}")
    return Dim(op, (a, b))


# ---------------------------------------------------------------------------
# Tensors
# ---------------------------------------------------------------------------


class Value(Recorded):
    """A value of a graph that is no Tensor, for Graph.op().

    Attributes:
      type: as MLIR writes it.
    """

    def __init__(self, graph, name, kind):
        self._graph, self._name, self.type = graph, name, kind

    def __repr__(self):
        return f"gq.graph.Value({self.type})"

    def _type(self):
        return self.type


class _Elements(Recorded):
    """What element-wise work takes."""

    __array_ufunc__ = None

    def __bool__(self):
        raise TypeError("the value of a tensor of a graph is not known")

    def __add__(self, other):
        return _binary(lambda a, b: a + b, self, other)

    def __radd__(self, other):
        return _binary(lambda a, b: b + a, self, other)

    def __sub__(self, other):
        return _binary(lambda a, b: a - b, self, other)

    def __rsub__(self, other):
        return _binary(lambda a, b: b - a, self, other)

    def __mul__(self, other):
        return _binary(lambda a, b: a * b, self, other)

    def __rmul__(self, other):
        return _binary(lambda a, b: b * a, self, other)

    def __truediv__(self, other):
        return _binary(lambda a, b: a / b, self, other)

    def __rtruediv__(self, other):
        return _binary(lambda a, b: b / a, self, other)

    def __neg__(self):
        return map(lambda a: -a, self)


class Tensor(_Elements):
    """A tensor of a graph.

    Attributes:
      shape: int or Dim.
      dtype: the element type as MLIR writes it; "i8" is two codes of f4.
    """

    def __init__(self, graph, name, shape, element, is_tiled=None):
        self.shape, self.dtype = tuple(shape), element
        self._graph, self._name = graph, name
        # None of an input of which no use has told yet.
        self._is_tiled = is_tiled

    def __repr__(self):
        return f"gq.graph.Tensor({self.dtype} {list(self.shape)})"

    @property
    def type(self) -> str:
        """As MLIR writes it."""
        return self._type()

    def _type(self):
        dims = "".join(f"{'?' if isinstance(s, Dim) else s}x" for s in self.shape)
        encoding = ", #gq.tile128x4" if self._is_tiled else ""
        return f"tensor<{dims}{self.dtype}{encoding}>"

    def __getitem__(self, index) -> Any:
        """A part: x[:, first:last], with a slice for each extent, which may have a step, or
        a number, x[0, :], which leaves the extent out. Of an extent that a call decides it
        is all.

        With None it is a Broadcast: x * w[:, None] multiplies each row by one number.

        Raises:
          ArgumentError: another index.
        """
        if isinstance(index, tuple) and None in index:
            return Broadcast(self, index)
        graph, parts = self._graph, index if isinstance(index, tuple) else (index,)
        if len(parts) != len(self.shape) or not all(_is_index(p) for p in parts):
            raise invalid_argument(
                f"index: expected a slice or number for each extent of"
                f" {list(self.shape)}, found {index!r}"
            )
        shape, places = [], []
        for part, extent in zip(parts, self.shape):
            if part == slice(None):
                shape.append(extent)
                is_known = isinstance(extent, int)
                places.append((0, extent if is_known else graph._extent(extent), 1))
                continue
            if isinstance(extent, Dim):
                raise invalid_argument(f"index: expected all of {extent}, found {part}")
            if isinstance(part, slice):
                chosen = range(*part.indices(extent))
                shape.append(len(chosen))
            else:
                chosen = range(extent)[part : part + 1 or None]
            if not chosen or chosen.step < 1:
                raise invalid_argument(f"index: expected some of {extent}, found {part}")
            places.append((chosen.start, len(chosen), chosen.step))
        part = Tensor(graph, f"%{graph._fresh()}", shape, self.dtype, bool(self._is_tiled))
        at, sizes, steps = (f"[{', '.join(str(n) for n in p)}]" for p in zip(*places))
        graph._add(
            lambda loc:
                f"{part._name} = tensor.extract_slice {self._name}{at} {sizes} {steps} :"
                f" {self._type()} to {part._type()}{loc}"
        )  # fmt: skip
        return part


def _is_index(part):
    return isinstance(part, (slice, int)) and not isinstance(part, bool)


class Broadcast(_Elements):
    """A tensor for element-wise work along some extents: w[:, None] of w [M] is [M, 1],
    and has one element for each row."""

    def __init__(self, tensor, index):
        if [i for i in index if i is not None] != [slice(None)] * len(tensor.shape):
            raise invalid_argument(
                f"index: expected : for each extent of {list(tensor.shape)}, and None,"
                f" found {index!r}"
            )
        self._graph, self._tensor, self.dtype = tensor._graph, tensor, tensor.dtype
        extents = iter(tensor.shape)
        self.shape = tuple(1 if i is None else next(extents) for i in index)
        self._index, self._kept = index, [i is not None for i in index]

    def __repr__(self):
        return f"gq.graph.Broadcast({self.dtype} {list(self.shape)})"

    def __neg__(self):
        return Broadcast(-self._tensor, self._index)


def _binary(function, a, b):
    if isinstance(a, Broadcast) and isinstance(b, Tensor):
        # The first one has the result's shape.
        return map(lambda y, x: function(x, y), b, a)
    if isinstance(a, Broadcast) and (not isinstance(b, Broadcast) or a._kept == b._kept):
        return Broadcast(_binary(function, a._tensor, getattr(b, "_tensor", b)), a._index)
    if isinstance(b, _Elements):
        return map(function, a, b)
    return map(lambda x: function(x, b), a)


class _Kind:
    """Tensors of a graph, as a kind of arrays that are described and no more.

    `agree` says whether extents are equal.
    """

    def __init__(self, agree):
        self.agree = agree

    @staticmethod
    def describe(t):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected a Tensor, found {t}")
        shape, element = t.shape, t.dtype
        if element == _formats.F4:
            # Two codes are a byte.
            shape, element = (*shape[:-1], shape[-1] // 2), "i8"
        names = _formats.BY_MLIR[element]
        return _arrays.Description(shape, names.torch, (element,), (_arrays.CPU, 0))


#: The type of a Tensor: extents, elements and tiles.
_TENSOR = re.compile(r"tensor<((?:(?:\?|\d+)x)*)(\w+)(, #gq\.tile128x4)?>")


def _kind(o):
    return type(o).__name__


def _dictionary(attributes):
    return f"{{{', '.join(f'{n} = {a}' for n, a in attributes.items())}}}"


def _written(lines, with_locations):
    return [line(location if with_locations else "") for line, location in lines]


def _module(graphs, with_locations=False):
    """The module of graphs: what is beside them, those that they call, and they."""
    functions: dict[str, Graph] = {}

    def visit(graph):
        for other in graph._called:
            visit(other)
        known = functions.setdefault(graph.name, graph)
        if known is not graph and known._text(False) != graph._text(False):
            raise invalid_argument(f"graph: two have the name {graph.name}")

    for graph in graphs:
        visit(graph)
    beside = dict.fromkeys(g._beside for g in functions.values() if g._beside)
    texts = [g._text(with_locations) for g in functions.values()]
    return "\n".join([*(f"{text}\n" for text in beside), *texts])


def _shown(tensor):
    """What messages call an input."""
    return tensor._name.removeprefix("%in.")


def _size(extent):
    """An extent that is known, an int or another integer such as one of NumPy."""
    try:
        size = operator.index(extent)
    except TypeError:
        size = -1
    if size < 0:
        raise invalid_argument(
            f"shape: expected whole numbers, names and None, found {extent!r}"
        )
    return size


def _location():
    """Where the program is that uses this package, as MLIR writes it."""
    here, frame = pathlib.Path(__file__).parent, sys._getframe(1)
    while frame.f_back and here in pathlib.Path(frame.f_code.co_filename).parents:
        frame = frame.f_back
    name = frame.f_code.co_filename.replace("\\", "\\\\").replace('"', '\\"')
    return f' loc("{name}":{frame.f_lineno}:1)'


# ---------------------------------------------------------------------------
# Graphs
# ---------------------------------------------------------------------------


class Graph:
    """A function that is recorded, then compiled and run.

    Used in a `with` statement, at whose end it is complete.

    Args:
      name: of the function in the module.
      attributes: of the function, as for op().
      beside: what else the module holds, as text in MLIR: what attributes of ops refer
        to, such as declarations and globals.
    """

    def __init__(
        self,
        name: str = "main",
        *,
        attributes: Mapping[str, str] | None = None,
        beside: str = "",
    ):
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_][\w$.]*", name):
            raise invalid_argument(f"name: expected that of a function, found {name!r}")
        self.name = name
        self._attributes, self._beside = dict(attributes or {}), beside
        # Those that are called.
        self._called: list[Graph] = []
        self._inputs: list[Tensor | Value] = []
        self._outputs: list[Tensor | Value] | None = None
        # Lines as functions of locations, and these; of the region being recorded.
        self._lines: list[tuple[Callable[[str], str], str]] = []
        # The values of extents, those in outer regions last.
        self._dims: collections.ChainMap[Dim | int, str] = collections.ChainMap()
        # Extents that an op requires to be equal, of which a call decides one.
        self._equal: list[tuple[Any, Any]] = []
        self._count = 0
        self._is_complete = False
        # What was compiled, by device.
        self._executables: dict[tuple[int, int], Executable] = {}
        # Whether rows that an op does not write are zero instead of anything.
        self._zeroes = False

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None and self._outputs is None:
            raise invalid_argument("output: the graph has none")
        self._is_complete = kind is None

    def __deepcopy__(self, memo):
        # A graph that is complete does not change.
        return self

    def __repr__(self):
        inputs = ", ".join(f"{_shown(t)}: {t._type()}" for t in self._inputs)
        results = ", ".join(t._type() for t in self._outputs or ())
        return f"gq.Graph({inputs} -> {results})"

    def __str__(self):
        """The module in MLIR."""
        return _module([self])

    def _text(self, with_locations):
        """The function."""
        arguments = ", ".join(f"{t._name} : {t._type()}" for t in self._inputs)
        outputs = self._outputs or ()
        types = ", ".join(t._type() for t in outputs)
        names = ", ".join(t._name for t in outputs)
        last = f"return {names} : {types}" if outputs else "return"
        body = "\n  ".join([*_written(self._lines, with_locations), last])
        visibility = self._attributes.get("sym_visibility", "").strip('"')
        others = {n: a for n, a in self._attributes.items() if n != "sym_visibility"}
        attributes = f" attributes {_dictionary(others)}" if others else ""
        return (
            f"func.func {visibility and visibility + ' '}@{self.name}({arguments}) ->"
            f" ({types}){attributes} {{\n  {body}\n}}\n"
        )

    # What is recorded ------------------------------------------------------

    def _fresh(self, hint="t"):
        # No identifier has a dot.
        self._count += 1
        return f"{hint}.{self._count}"

    def _add(self, line):
        """Records a line, a function of its location."""
        if self._is_complete:
            raise invalid_argument("the graph is complete: its `with` has ended")
        self._lines.append((line, _location()))

    def input(
        self,
        name: str,
        shape: Sequence[int | str | None] | None = None,
        dtype: Any = None,
        tiled: bool | None = None,
        *,
        type: str | None = None,
    ) -> Any:
        """An argument of the graph, in the order of these calls: a Tensor.

        Args:
          name: what messages call it, a Python identifier.
          shape: ints, and for extents that a call decides, names: those of one name
            are equal. None is an extent of its own; a call checks that it is what ops
            require of it. For ops only the first extent may be such.
          dtype: of torch or NumPy, or as they or MLIR call it: "bfloat16", "int32";
            "i8" for packed codes of 4 bits, "f4E2M1FN" for such that are counted one
            by one: the array has half as many bytes.
          tiled: whether it is scales in tiles; None is what its first use requires.
          type: instead of these, a type as MLIR writes it: of a Value, or index.

        Raises:
          Error: INVALID_ARGUMENT: a name that is no identifier or is taken, a dtype
            that there is none of, an extent that is none.
        """
        # What producers call their values has no dot.
        value = f"%in.{name}"
        is_name = isinstance(name, str) and name.isidentifier()
        if not is_name or value in [t._name for t in self._inputs]:
            raise invalid_argument(
                f"name: expected an identifier of its own, found {name!r}"
            )
        if type is not None:
            self._inputs.append(Value(self, value, type))
            return self._value(value, type)
        element = _formats.element(dtype)
        if shape is None or isinstance(shape, str) or not hasattr(shape, "__iter__"):
            raise invalid_argument(f"shape: expected extents, found {shape!r}")
        dims: list[Any] = [
            Dim("dim", (s or f"{name}.{i}",))
            if s is None or isinstance(s, str)
            else _size(s)
            for i, s in enumerate(shape)
        ]
        tensor = Tensor(self, value, dims, element, tiled)
        self._inputs.append(tensor)
        for i, dim in enumerate(dims):
            if isinstance(dim, Dim) and dim not in self._dims:
                at, found = self._extent(i), f"%{self._fresh('dim')}"
                self._add(
                    lambda loc, v=found, t=tensor, at=at:
                        f"{v} = tensor.dim {t._name}, {at} : {t._type()}{loc}"
                )  # fmt: skip
                self._dims[dim] = found
        return tensor

    def empty(
        self, shape: Sequence[int | Dim], dtype: Any, tiled: bool = False
    ) -> Tensor:
        """A tensor that holds anything, for `out` of a function.

        Args:
          shape: ints, and extents of other tensors: x.shape[0], or sums, products and
            quotients of such.
          dtype, tiled: as for input().

        Raises:
          ArgumentError: as input().
        """
        dims = [s if isinstance(s, Dim) else _size(s) for s in shape]
        return self._empty(dims, _formats.element(dtype), tiled)

    def output(self, *values: Tensor | Value | Dim | int) -> None:
        """Adds results of the graph; without arguments it says that there are none.

        Raises:
          TypeError: it is nothing of this graph.
        """
        # Extents become values before anything is added.
        self._outputs = [*(self._outputs or ()), *self._operands("output", values)]

    def op(
        self,
        name: str,
        operands: Sequence[Any] = (),
        *,
        attributes: Mapping[str, str] | None = None,
        results: Sequence[str] = (),
        regions: Sequence[Callable | None] = (),
    ) -> Any:
        """Records an op of any dialect that gq-opt knows, as MLIR's generic form has it.

        Args:
          name: with the dialect's, such as "tensor.pad".
          operands: Tensors, Values and Dims; an int is a constant of type index.
          attributes: by name, as MLIR writes them: {"dim": "1 : i64"}.
          results: their types, as MLIR writes them: [x.type].
          regions: for each a function that records its block, with the last op, whose
            arguments region() gives types; None is a region without a block.

        Returns:
          None, the result, or a tuple of several: a Tensor where the type is that of
          one, of type index a Dim, else a Value.

        Raises:
          Error: INVALID_ARGUMENT for a name that is none. What else is wrong the
            compiler says, with the line of this call.
          TypeError: an operand is nothing of this graph.
        """
        if not isinstance(name, str) or not re.fullmatch(r"\w+(\.\w+)+", name):
            raise invalid_argument(f"name: expected that of an op, found {name!r}")
        values = self._operands("operands", operands)
        blocks = [self._region(function) for function in regions]
        prefix = f"%{self._fresh('r')}"
        count = f":{len(results)}" if len(results) > 1 else ""
        names = [f"{prefix}#{i}" if count else prefix for i in range(len(results))]

        def text(location):
            head = f"{prefix}{count} = " if results else ""
            types = ", ".join(v._type() for v in values)
            inner = ", ".join(block(bool(location)) for block in blocks)
            return (
                f'{head}"{name}"({", ".join(v._name for v in values)})'
                f"{f' ({inner})' if blocks else ''}"
                f"{' ' + _dictionary(attributes) if attributes else ''}"
                f" : ({types}) -> ({', '.join(results)}){location}"
            )

        self._add(text)
        found = tuple(self._value(n, t) for n, t in zip(names, results))
        return found if len(found) > 1 else found[0] if found else None

    def constant(self, value: float, type: str) -> Value:
        """A number of a type such as "f32" or "i64", for op().

        Raises:
          Error: INVALID_ARGUMENT: the type has no such number.
        """
        if type in producers.TYPED:
            literal = producers.literal(float(value), type)
        elif re.fullmatch(r"i\d+", type):
            literal = str(_formats.integer(value, type))
        else:
            raise invalid_argument(f"type: expected that of a number, found {type!r}")
        return self.op(
            "arith.constant", attributes={"value": f"{literal} : {type}"}, results=[type]
        )

    def call(self, graph: Graph, *operands: Any) -> Any:
        """Calls another graph, which is complete and becomes part of the module.

        Returns:
          What op() returns.

        Raises:
          Error: INVALID_ARGUMENT: it is not complete.
          TypeError: it is no Graph, or an operand nothing of this graph.
        """
        if not isinstance(graph, Graph):
            raise TypeError(f"graph: expected a Graph, found {_kind(graph)}")
        if not graph._is_complete:
            raise invalid_argument("graph: expected one whose `with` has ended")
        self._called.append(graph)
        return self.op(
            "func.call",
            operands,
            attributes={"callee": f"@{graph.name}"},
            results=[t._type() for t in graph._outputs or ()],
        )

    def _operands(self, argument, given):
        """Values of what op() takes."""
        for o in given:
            is_other = isinstance(o, Recorded) and o._graph is not self
            is_known = isinstance(o, (Tensor, Value, Dim, int))
            if is_other or not is_known or isinstance(o, bool):
                expected = "a Tensor, Value or Dim of this graph"
                raise TypeError(f"{argument}: expected {expected}, found {_kind(o)}")
            if isinstance(o, Tensor) and o._is_tiled is None:
                o._is_tiled = False
        return [
            o if isinstance(o, Recorded) else Value(self, self._extent(o), "index")
            for o in given
        ]

    def _value(self, name, kind):
        """What has a type in MLIR: a Tensor, a Dim or a Value."""
        if kind == "index":
            dim = Dim("index", (name,))
            self._dims[dim] = name
            return dim
        found = _TENSOR.fullmatch(kind)
        if not found or found[2] not in (*_formats.BY_MLIR, _formats.F4):
            return Value(self, name, kind)
        shape = [
            Dim("of", (name, kind, i)) if s == "?" else int(s)
            for i, s in enumerate(found[1].split("x")[:-1])
        ]
        return Tensor(self, name, shape, found[2], found[3] is not None)

    def _region(self, function):
        """Records a region; its text is a function of whether there are locations."""
        if function is None:
            return lambda _: "{}"
        kinds = getattr(function, "_types", ())
        names = [f"%{self._fresh('a')}" for _ in kinds]
        outer, self._lines, self._dims = self._lines, [], self._dims.new_child()
        try:
            function(*(self._value(n, k) for n, k in zip(names, kinds)))
            lines = self._lines
        finally:
            self._lines, self._dims = outer, self._dims.parents
        listed = ", ".join(f"{n}: {k}" for n, k in zip(names, kinds))

        def text(with_locations):
            body = "\n    ".join([f"^bb0({listed}):", *_written(lines, with_locations)])
            return f"{{\n  {body}\n  }}"

        return text

    def _extent(self, extent):
        """The value of an int or a Dim."""
        if extent in self._dims:
            return self._dims[extent]
        value = f"%{self._fresh('n')}"
        if isinstance(extent, int):
            self._add(lambda loc: f"{value} = arith.constant {extent} : index{loc}")
        elif extent.op == "of":
            tensor, kind, i = extent.operands
            at = self._extent(i)
            self._add(lambda loc: f"{value} = tensor.dim {tensor}, {at} : {kind}{loc}")
        else:
            a, b = (self._extent(o) for o in extent.operands)
            self._add(lambda loc: f"{value} = arith.{extent.op} {a}, {b} : index{loc}")
        self._dims[extent] = value
        return value

    def _empty(self, shape, element, is_tiled=False):
        """A tensor of these extents that holds anything."""
        tensor = Tensor(self, f"%{self._fresh()}", shape, element, is_tiled)
        dims = ", ".join(self._extent(s) for s in tensor.shape if isinstance(s, Dim))
        self._add(
            lambda loc: f"{tensor._name} = tensor.empty({dims}) : {tensor._type()}{loc}"
        )
        return tensor

    def _record(self, planner, options, arrays, out, names, labels):
        """Records the op of a function of gq; what the function returns."""
        labels = labels or {}
        for name, a in zip(names, arrays):
            if a is not None and (not isinstance(a, Tensor) or a._graph is not self):
                raise TypeError(
                    f"{labels.get(name, name)}: expected a Tensor of this graph, found"
                    f" {type(a).__name__}"
                )
        given = {n: a for n, a in zip(names, arrays) if a is not None}
        for name, a in given.items():
            if any(isinstance(s, Dim) for s in a.shape[1:]):
                raise invalid_argument(
                    f"{labels.get(name, name)}: expected a number of columns that is"
                    f" known, found {list(a.shape)}"
                )
        kind = _Kind(self._agree)
        _, spec, device = planner._spec(kind, options, arrays, names, labels)
        values = dict(given)
        for use in (u for uses in spec.operands.values() for u in uses):
            self._lay_out(values[use.name], use, labels.get(use.name, use.name))
        outputs = list(spec.outputs.values())
        for i, t in enumerate(out or ()):
            if not isinstance(t, Tensor) or t._graph is not self:
                raise TypeError(
                    f"{planner.name_of_out(i, len(out))}: expected a Tensor of this graph,"
                    f" found {type(t).__name__}"
                )
        if out is not None:
            check_out(kind, out, outputs, device, planner.name_of_out)
            for i, (t, o) in enumerate(zip(out, outputs)):
                self._lay_out(t, o.use, planner.name_of_out(i, len(out), o.use.name))
                values[o.use.name] = t
        for o in outputs if out is None else ():
            if o.shape is None or None in o.shape:
                raise invalid_argument(
                    f"{o.use.name}: its extents depend on the contents of arguments"
                )
            made = self._empty(o.shape, o.use.element, o.use.is_tiled)
            values[o.use.name] = fill(0, made) if self._zeroes else made
        prefix = self._fresh("r")

        def text(location):
            typed = {n: (t._name, t._type()) for n, t in values.items()}
            return "\n  ".join(spec.operation(typed, prefix + "_", location)[0])

        self._add(text)
        results = []
        for name, value in spec.results(prefix + "_").items():
            of = values[spec.outputs[name].use.name]
            results.append((name, Tensor(self, value, of.shape, of.dtype, of._is_tiled)))
        return spec.wrap([dict(results)[n] for n in spec.outputs])

    @staticmethod
    def _lay_out(tensor, use, shown):
        """Checks the layout of a tensor, or decides that of an input."""
        if tensor._is_tiled is None:
            tensor._is_tiled = use.is_tiled
        if tensor._is_tiled != use.is_tiled:
            layout = "tiles" if use.is_tiled else "no tiles"
            raise invalid_argument(f"{shown}: expected scales in {layout}")

    def _agree(self, expected, found):
        """Whether extents are equal. Where one is free, a call checks it."""
        if expected == found:
            return True
        if not any(isinstance(e, Dim) and e.is_free() for e in (expected, found)):
            return False
        pair = expected, found
        if all(e.is_of_inputs() for e in pair if isinstance(e, Dim)):
            self._equal.append(pair)
        return True

    # What is run -----------------------------------------------------------

    def compile(self, target: str = "cpu") -> None:
        """Compiles the graph now instead of at its first call; once in a process.

        Args:
          target: "cpu", or "cuda" for the thread's device.

        Raises:
          Error: COMPILE_ERROR, the message names the line that recorded the op.
          ArgumentError: another target.
        """
        device = (_arrays.CPU, 0)
        if target not in ("cpu", "cuda"):
            raise invalid_argument(f"target: expected cpu or cuda, found {target!r}")
        if target == "cuda":
            device = (_arrays.CUDA, _arrays.current_device())
        self._compiled(device)

    def _check_extents(self, arrays):
        """Refuses arrays whose extents of one name differ: the compiled function would
        read beyond the smaller one."""
        known: dict[Dim, tuple[int, str]] = {}
        for t, a in zip(self._inputs, arrays):
            name = _shown(t)
            if not hasattr(a, "shape") and hasattr(a, "__dlpack__"):
                a = _arrays.from_dlpack(a)
            # Another rank is what the executable refuses, and what is no array.
            for dim, found in zip(getattr(t, "shape", ()), getattr(a, "shape", ())):
                if not isinstance(dim, Dim):
                    continue
                expected, first = known.setdefault(dim, (found, name))
                if found != expected:
                    raise invalid_argument(
                        f"{name}: expected {dim} = {expected}, as {first} has, found"
                        f" {found}"
                    )
        numbers = {d: n for d, (n, _) in known.items()}
        for pair in self._equal:
            a, b = (e.value(numbers) if isinstance(e, Dim) else e for e in pair)
            if a != b:
                raise invalid_argument(
                    f"extents: expected {pair[1]} = {pair[0]} = {a}, found {b}"
                )

    def _compiled(self, device):
        if not self._is_complete:
            raise invalid_argument(
                "the graph is not complete: its `with` has not ended"
            )
        if device not in self._executables:
            self._executables[device] = executable(_module([self], True), device)
        return self._executables[device]

    def __call__(self, *arrays, stream=None):
        """Runs the graph on arrays for its inputs; see Executable.invoke().

        They are of NumPy, of torch or have __dlpack__; where the first one is decides
        the target. Tensors of torch give such.

        Raises:
          Error: as Executable.invoke(); INVALID_ARGUMENT also if extents of one name
            differ.
        """
        device = (_arrays.CPU, 0)
        if arrays and self._inputs:
            found = _device_of(arrays[0], _shown(self._inputs[0]))
            device = found if found[0] == _arrays.CUDA else device
        module = self._compiled(device)
        self._check_extents(arrays)
        # It is the only public function, unless others are called.
        entry = self.name if self._called else None
        try:
            return module(*arrays, entry=entry, stream=stream)
        except Error as error:
            names = [_shown(t) for t in self._inputs]
            raise error.renamed(names) from None


def _device_of(array, name):
    """The device of an array, the CPU's of what is none."""
    kind = _arrays.kind_of(array)
    if kind is not None:
        return describe(kind, array, name).device
    if hasattr(array, "__dlpack_device__"):
        return tuple(int(d) for d in array.__dlpack_device__())
    return _arrays.CPU, 0


# ---------------------------------------------------------------------------
# Regions
# ---------------------------------------------------------------------------


def region(*types: str) -> Callable[[Callable], Callable]:
    """For a function that records a region of Graph.op(): the types of its arguments,
    as MLIR writes them."""

    def typed(function):
        function._types = types
        return function

    return typed


# ---------------------------------------------------------------------------
# Element-wise work
# ---------------------------------------------------------------------------

def map(
    function: str | Callable, *tensors: Tensor | Broadcast, out: Tensor | None = None
) -> Tensor:
    """Records what a producer computes of each element; see gq.producers.

    Args:
      function: a name of producers.NAMES or a function of values.
      tensors: of the shape of the result, such as [M, K], or its last extents, a row
        [K] or a scalar []; w[:, None] is a number for each row. The first one has the
        result's shape unless there is an out. Of float32, bfloat16 or float16; for a function that is producers.typed() of any
        floats.
      out: a tensor of the type and shape of the result, which holds anything.

    Returns:
      A tensor of the type of the tensors, or of float32 if they differ.

    Raises:
      Error: INVALID_ARGUMENT for another number of tensors or other shapes.
      TypeError: something is no Tensor.
    """
    is_typed = getattr(function, "_is_typed", False)
    named = [(f"tensors[{i}]", t) for i, t in enumerate(tensors)]
    for name, t in named + ([] if out is None else [("out", out)]):
        is_taken = isinstance(t, Tensor if t is out else _Elements)
        if not is_taken or t._graph is not (tensors or (t,))[0]._graph:
            found = type(t).__name__
            raise TypeError(f"{name}: expected a Tensor of the graph, found {found}")
        if t.dtype not in (producers.TYPED if is_typed else FLOATS):
            raise invalid_argument(f"{name}: expected floats, found {t.dtype}")
    takes = producers.count_inputs(function, "function")
    if len(tensors) != takes:
        raise invalid_argument(
            f"tensors: expected {takes}, which the function takes, found {len(tensors)}"
        )
    if not tensors:
        raise invalid_argument("function: expected one of at least one value")
    graph, shape = tensors[0]._graph, (tensors[0] if out is None else out).shape
    for name, t in named:
        last = shape[len(shape) - len(t.shape) :]
        kept = getattr(t, "_kept", [True] * len(t.shape))
        if len(t.shape) > len(shape) or not all(
            graph._agree(a, b) for a, b, k in zip(last, t.shape, kept) if k
        ):
            raise invalid_argument(
                f"{name}: expected [M, K], and then the same, [K] or []: found"
                f" {list(t.shape)} with {list(shape)}"
            )
    lines, result, element = producers.trace(function, [t.dtype for t in tensors])
    if out is not None and out.dtype != element:
        raise invalid_argument(f"out: expected {element}, found {out.dtype}")
    empty = graph._empty(shape, element) if out is None else out
    rank = len(shape)
    names = [f"d{i}" for i in range(rank)]
    maps = []
    for t in (*tensors, empty):
        last = names[rank - len(t.shape) :]
        read = [n for n, k in zip(last, getattr(t, "_kept", last)) if k]
        maps.append(f"affine_map<({', '.join(names)}) -> ({', '.join(read)})>")
    sources: list[Any] = [getattr(t, "_tensor", t) for t in tensors]
    listed, loops = ", ".join(maps), ", ".join(['"parallel"'] * rank)
    values = ", ".join(f"%e{i} : {t.dtype}" for i, t in enumerate(tensors))
    mapped = Tensor(graph, f"%{graph._fresh()}", shape, element, False)
    inputs = ", ".join(t._name for t in sources)

    def text(location):
        types = ", ".join(t._type() for t in sources)
        last = f"linalg.yield {result} : {element}"
        body = "\n    ".join(f"{line}{location}" for line in [*lines, last])
        return (
            f"{mapped._name} = linalg.generic {{indexing_maps = [{listed}],"
            f" iterator_types = [{loops}]}}\n"
            f"      ins({inputs} : {types}) outs({empty._name} : {empty._type()}) {{\n"
            f"  ^bb0({values}, %o : {element}):\n"
            f"    {body}\n  }} -> {mapped._type()}{location}"
        )

    graph._add(text)
    return mapped


def split(tensor: Tensor, parts: int) -> tuple[Tensor, ...]:
    """The columns of a tensor [M, parts * K] as that many tensors [M, K].

    Raises:
      Error: INVALID_ARGUMENT: it has another shape, or parts is less than 1.
      TypeError: it is no Tensor.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"tensor: expected a Tensor of a graph, found {type(tensor).__name__}"
        )
    if not isinstance(parts, int) or parts < 1:
        raise invalid_argument(f"parts: expected at least 1, found {parts!r}")
    is_matrix = len(tensor.shape) == 2 and not isinstance(tensor.shape[1], Dim)
    if not is_matrix or tensor.shape[1] % parts:
        raise invalid_argument(
            f"tensor: expected [M, {parts} * K], found {list(tensor.shape)}"
        )
    k = tensor.shape[1] // parts
    return tuple(tensor[:, i * k : (i + 1) * k] for i in range(parts))


def fill(value: float, out: Tensor) -> Tensor:
    """A tensor of the type and shape of `out`, which holds anything, of one number.

    Raises:
      ArgumentError: the type has no such number.
      TypeError: `out` is no Tensor, or the value no number.
    """
    if not isinstance(out, Tensor):
        raise TypeError(f"out: expected a Tensor of a graph, found {type(out).__name__}")
    if not isinstance(value, numbers.Real):
        raise TypeError(f"value: expected a number, found {type(value).__name__}")
    graph, element = out._graph, out.dtype
    if element in producers.TYPED:
        literal = producers.literal(float(value), element)
    else:
        literal = str(_formats.integer(value, element))
    number = f"%{graph._fresh()}"
    filled = Tensor(graph, f"%{graph._fresh()}", out.shape, element, out._is_tiled)

    def text(loc):
        return (
            f"{number} = arith.constant {literal} : {element}{loc}\n"
            f"  {filled._name} = linalg.fill ins({number} : {element})"
            f" outs({out._name} : {out._type()}) -> {out._type()}{loc}"
        )

    graph._add(text)
    return filled


def gather(tensor: Tensor, indices: Tensor) -> Tensor:
    """The rows of a tensor at some indices, for ops that quantize them: these gather
    themselves, as with row_indices. Nothing else that is compiled reads it.

    Args:
      tensor: [N, ...].
      indices: [M, 1] int32 or int64.

    Returns:
      [M, ...] of the type of the tensor.

    Raises:
      ArgumentError: another shape or type.
      TypeError: one is no Tensor.
    """
    for name, t in ("tensor", tensor), ("indices", indices):
        if not isinstance(t, Tensor) or t._graph is not tensor._graph:
            found = type(t).__name__
            raise TypeError(f"{name}: expected a Tensor of the graph, found {found}")
    if not tensor.shape or tensor._is_tiled:
        raise invalid_argument(f"tensor: expected rows, found {tensor}")
    if len(indices.shape) != 2 or indices.shape[1] != 1 or indices.dtype not in INDICES:
        raise invalid_argument(f"indices: expected int32 or int64 [M, 1], found {indices}")
    graph, shape = tensor._graph, (indices.shape[0], *tensor.shape[1:])
    rows = Tensor(graph, f"%{graph._fresh()}", shape, tensor.dtype, False)
    graph._add(
        lambda loc:
            f"{rows._name} = tensor.gather {tensor._name}[{indices._name}] gather_dims([0])"
            f" : ({tensor._type()}, {indices._type()}) -> {rows._type()}{loc}"
    )  # fmt: skip
    return rows


def sum_rows(tensor: Tensor, indices: Tensor) -> Tensor:
    """Sums of rows of a tensor, each of as many: what puts the rows of sorted tokens
    back and adds up those of a token.

    result[t] is the sum of tensor[indices[t, j]] over j, in float32 and in this order,
    rounded once. A row that there is not counts as zeros.

    Args:
      tensor: [M, K] float32, bfloat16 or float16.
      indices: [T, J] int32 or int64; J is known.

    Returns:
      [T, K] of the type of the tensor.

    Raises:
      Error: INVALID_ARGUMENT for other shapes or types.
      TypeError: one is no Tensor.
    """
    for name, t in ("tensor", tensor), ("indices", indices):
        if not isinstance(t, Tensor) or t._graph is not tensor._graph:
            found = type(t).__name__
            raise TypeError(f"{name}: expected a Tensor of the graph, found {found}")
        if len(t.shape) != 2 or isinstance(t.shape[1], Dim):
            raise invalid_argument(
                f"{name}: expected two extents, the last one known, found"
                f" {list(t.shape)}"
            )
    for name, t, kinds in ("tensor", tensor, FLOATS), ("indices", indices, INDICES):
        if t.dtype not in kinds:
            expected = "floats" if kinds is FLOATS else "int32 or int64"
            raise invalid_argument(f"{name}: expected {expected}, found {t.dtype}")
    graph, element = tensor._graph, tensor.dtype
    rows, columns = graph._extent(tensor.shape[0]), tensor.shape[1]
    empty = graph._empty((indices.shape[0], columns), element)
    result = Tensor(graph, f"%{graph._fresh()}", empty.shape, element, False)
    lines = [
        "%t = linalg.index 0 : index",
        "%k = linalg.index 1 : index",
        "%none = arith.constant 0 : index",
        "%sum = arith.constant 0.0 : f32",
        f"%zero = arith.constant 0.0 : {element}",
    ]
    total = "%sum"
    for j in range(indices.shape[1]):
        lines += [
            f"%j{j} = arith.constant {j} : index",
            f"%i{j} = tensor.extract {indices._name}[%t, %j{j}] : {indices._type()}",
            f"%n{j} = arith.index_cast %i{j} : {indices.dtype} to index",
            # Negative ones are large as they are compared here.
            f"%is{j} = arith.cmpi ult, %n{j}, {rows} : index",
            f"%r{j} = arith.select %is{j}, %n{j}, %none : index",
            f"%e{j} = tensor.extract {tensor._name}[%r{j}, %k] : {tensor._type()}",
            f"%v{j} = arith.select %is{j}, %e{j}, %zero : {element}",
        ]
        value = f"%v{j}"
        if element != "f32":
            lines.append(f"%f{j} = arith.extf %v{j} : {element} to f32")
            value = f"%f{j}"
        lines.append(f"%s{j} = arith.addf {total}, {value} : f32")
        total = f"%s{j}"
    if element != "f32":
        lines.append(f"%rounded = arith.truncf {total} : f32 to {element}")
        total = "%rounded"
    lines.append(f"linalg.yield {total} : {element}")

    def text(location):
        body = "\n    ".join(f"{line}{location}" for line in lines)
        return (
            f"{result._name} = linalg.generic {{indexing_maps ="
            ' [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel",'
            ' "parallel"]}\n'
            f"      outs({empty._name} : {empty._type()}) {{\n"
            f"  ^bb0(%o : {element}):\n    {body}\n  }} -> {result._type()}{location}"
        )

    graph._add(text)
    return result


# ---------------------------------------------------------------------------
# Programs
# ---------------------------------------------------------------------------


def main(*functions: Callable[[], Graph]) -> None:
    """The command line of a program whose functions make graphs, as gq-translate writes.

    Without arguments it prints the modules. With --in FILE.npy for each input it runs
    one on the CPU: --entry NAME says which, if there are several, and --out FOLDER gets
    the results as 0.npy, 1.npy, ...; bf16 is stored as uint16, f8 and packed f4 as uint8,
    as for gq-run.
    """
    import argparse

    import numpy as np

    parser = argparse.ArgumentParser(description="Prints the module, or runs a graph.")
    names = [f.__name__ for f in functions]
    parser.add_argument("--entry", choices=names, default=names[0])
    parser.add_argument("--in", action="append", default=[], metavar="FILE.npy")
    parser.add_argument("--out", type=pathlib.Path, metavar="FOLDER")
    options = vars(parser.parse_args())
    if not options["in"]:
        print(_module([f() for f in functions]), end="")
        return
    graph = functions[names.index(options["entry"])]()
    results = graph(*(np.load(file) for file in options["in"]))
    results = results if isinstance(results, tuple) else (results,)
    for i, result in enumerate(results):
        print(f"result {i}: {result.dtype} {list(result.shape)}")
        if options["out"]:
            options["out"].mkdir(parents=True, exist_ok=True)
            plain = {2: np.uint16, 1: np.uint8}.get(result.dtype.itemsize)
            is_plain = result.dtype.isbuiltin == 1 or plain is None
            stored = result if is_plain else result.view(plain)
            np.save(options["out"] / f"{i}.npy", stored)
