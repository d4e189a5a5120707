# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions without MLIR: a module of one op, compiled once a signature, called.

A planner describes the op for arrays of some shapes and types (`Problem` in,
`Spec` out). What follows from that is a Plan, which is kept: the next call with
arrays of the same shapes and types only allocates results and passes addresses.
"""

from __future__ import annotations

import ctypes
import dataclasses
import inspect
import operator
import re
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _arrays, _formats
from ._arrays import CPU, CUDA, on_device
from ._executable import compile as compile_module
from ._library import DLTensor, Error, check, invalid_argument, lib

# ---------------------------------------------------------------------------
# What is asked for
# ---------------------------------------------------------------------------

FLOATS = ("f32", "bf16", "f16")
INDICES = ("i32", "i64")


def _shape(shape):
    return "[" + ", ".join("?" if s is None else str(s) for s in shape) + "]"


class Problem:
    """The arguments of a call, by name; absent ones are left out.

    `elements` has the element type of each argument that was taken.
    """

    def __init__(self, given, labels, device, agree=operator.eq):
        self._given, self._labels, self.device = given, labels, device
        #: Whether an extent is the one expected.
        self.agree = agree
        self.elements: dict[str, str] = {}

    def __contains__(self, name):
        return name in self._given

    def refuse(self, name, message):
        raise invalid_argument(f"{self._labels.get(name, name)}: {message}")

    def take(self, name, allowed, shape):
        """Checks an argument and returns its shape.

        It is of one of the `allowed` element types and has these extents, of
        which None may be any.
        """
        d = self._given.get(name)
        if d is None:
            self.refuse(name, "expected an array, found none")
        fits = len(shape) == len(d.shape) and all(
            s is None or self.agree(s, found) for s, found in zip(shape, d.shape)
        )
        element = next((e for e in allowed if e in d.elements), None)
        if not fits or element is None:
            kinds = " or ".join(_formats.BY_MLIR[e].torch for e in allowed)
            self.refuse(
                name,
                f"expected {kinds} {_shape(shape)}, found {d.dtype} {_shape(d.shape)}",
            )
        if not d.is_contiguous:
            self.refuse(
                name,
                "expected row-major contiguous memory, found other strides; see"
                " contiguous() of torch or numpy.ascontiguousarray()",
            )
        self.elements[name] = element
        return d.shape

    def rank(self, name):
        """The rank of an argument, 0 if it is absent."""
        return len(self._given[name].shape) if name in self._given else 0


@dataclasses.dataclass(frozen=True)
class Use:
    """An argument of the function in the module.

    The extents that are None are not known at compile time. `slices` are pairs
    (first column, columns): the operands are these parts of it, in order.
    """

    name: str
    element: str
    shape: tuple[int | None, ...]
    is_tiled: bool = False
    slices: tuple[tuple[int, int], ...] = ()

    def type(self, shape=None):
        dims = "".join(f"{'?' if s is None else s}x" for s in shape or self.shape)
        encoding = ", #gq.tile128x4" if self.is_tiled else ""
        return f"tensor<{dims}{self.element}{encoding}>"


@dataclasses.dataclass(frozen=True)
class Output:
    """A result: what a new one has for a shape, and how it is used."""

    use: Use
    shape: tuple[int, ...] | None
    #: Whether `out` may be larger in its first extent.
    is_buffer: bool = False
    #: Whether the op may leave some of it as it was.
    is_partial: bool = True


@dataclasses.dataclass
class Spec:
    """An op and what to do with its results.

    `operands` are the uses by operand of the op; `outputs` likewise, in its
    order. `attributes` are those of the op in MLIR by name. `wrap` makes of the
    list of results what the function returns.
    """

    op: str
    operands: dict[str, list[Use]]
    outputs: dict[str, Output]
    attributes: dict[str, str]
    region: str = ""
    wrap: Callable = tuple

    def text(self):
        """The module."""
        uses = [u for us in self.operands.values() for u in us]
        outs = [o.use for o in self.outputs.values()]
        values = {u.name: (f"%{u.name}", u.type()) for u in uses + outs}
        arguments = ", ".join(f"{v} : {t}" for v, t in values.values())
        types = [u.type() for u in outs]
        lines, results = self.operation(values, "r")
        listed = ", ".join(results)
        body = "\n  ".join([*lines, f"return {listed} : {', '.join(types)}"])
        return f"func.func @main({arguments}) -> ({', '.join(types)}) {{\n  {body}\n}}\n"

    def operation(self, values, prefix, location=""):
        """The lines of the op, whose uses are `values` (with their types) by name.

        Returns them and the values of `outputs`; names that it makes begin with
        `prefix`. `location` ends each line.
        """
        given = {**self.operands, **{n: [o.use] for n, o in self.outputs.items()}}
        lines, operands, segments = [], [], []
        op = _formats.OPS[self.op]
        for name, _, _ in op.operands:
            found = []
            for use in given.get(name, ()):
                found += _values(use, *values[use.name], prefix, lines, location)
            operands += found
            segments.append(len(found))
        attributes = dict(self.attributes)
        if sum(p != "REQUIRED" for _, p, _ in op.operands) > 1:
            counts = ", ".join(map(str, segments))
            attributes["operandSegmentSizes"] = f"array<i32: {counts}>"
        listed = ", ".join(f"{n} = {a}" for n, a in sorted(attributes.items()))
        properties = f" <{{{listed}}}>" if attributes else ""
        names, types = zip(*operands)
        named = self.results(prefix)
        result_types = ", ".join(values[self.outputs[n].use.name][1] for n in named)
        lines.append(
            f'{", ".join(named.values())} = "gq.{self.op}"({", ".join(names)}){properties}'
            f" {self.region} : ({', '.join(types)}) -> ({result_types}){location}"
        )
        return lines, [named[n] for n in self.outputs]

    def results(self, prefix):
        """The values of the results by output, in the order of the op."""
        order = [n for n, _, _ in _formats.OPS[self.op].operands if n in self.outputs]
        return {n: f"%{prefix}{i}" for i, n in enumerate(order)}


def _values(use, value, kind, prefix, lines, location):
    """The values of a use and their types; slices are added to the lines."""
    if not use.slices:
        return [(value, kind)]
    zero, rows = f"%{prefix}_zero", f"%{prefix}_{use.name}_rows"
    lines.append(f"{zero} = arith.constant 0 : index{location}")
    lines.append(f"{rows} = tensor.dim {value}, {zero} : {kind}{location}")
    values = []
    for first, columns in use.slices:
        part = f"%{prefix}_{use.name}_from_{first}"
        part_type = f"tensor<?x{columns}x{use.element}>"
        lines.append(
            f"{part} = tensor.extract_slice {value}[0, {first}] [{rows}, {columns}]"
            f" [1, 1] : {kind} to {part_type}{location}"
        )
        values.append((part, part_type))
    return values


def enumeration(kind: str, value: str, argument: str) -> str:
    """An attribute in MLIR that is a word of an enumeration."""
    return f"#gq<{kind}({_formats.word(kind, value, argument)})>"


def enumerations(op: str, **values) -> dict[str, str]:
    """The attributes of an op in MLIR that are enumerations; None is left out.

    They are called as the arguments of the function are.
    """
    kinds = dict(_formats.OPS[op].attributes)
    return {
        name: enumeration(kinds[name], value, name)
        for name, value in values.items()
        if value is not None
    }


# ---------------------------------------------------------------------------
# Plans
# ---------------------------------------------------------------------------

# All else than the address of the DLTensors are plain integers too: the
# conversions of ctypes to pointers take longer than the call.
_invoke_at = lib["gqInvokeAt"]
_invoke_at.restype = ctypes.c_int
_invoke_at.argtypes = (
    ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t,
    ctypes.c_void_p,
)  # fmt: skip


class _Tensors:
    """DLTensors that say all of the tensors of a call but where they are."""

    def __init__(self, descriptions):
        n = len(descriptions)
        self._tensors = (DLTensor * n)()
        self._shapes = []
        for tensor, (element, shape, device) in zip(self._tensors, descriptions):
            extents = (ctypes.c_int64 * len(shape))(*shape)
            self._shapes.append(extents)
            tensor.device_type, tensor.device_id = device
            tensor.ndim = len(shape)
            tensor.code, tensor.bits, tensor.lanes = _formats.BY_MLIR[element].dlpack
            tensor.shape = ctypes.cast(extents, ctypes.POINTER(ctypes.c_int64))
        self.address = ctypes.addressof(self._tensors)


class Plan:
    """What a call does for arrays of given shapes and types."""

    def __init__(self, executable, names, descriptions, makers, device, wrap, kind):
        self._executable, self._names = executable, names
        self._handle = executable._handle.value
        self._tensors = _Tensors(descriptions)
        self._like, self._count = self._tensors.address, len(names)
        self._makers, self._first = makers, len(names) - len(makers)
        self._device, self._wrap, self._kind = device, wrap, kind
        self._pointer = kind.pointer
        self._stream_of = None if device[0] == CPU else kind.stream

    def run(self, frame, out, stream):
        """Calls the function on the arrays whose addresses the frame holds.

        Those of `out` are among them, unless it is None.
        """
        if out is None:
            addresses, at, pointer, out = frame.addresses, self._first, self._pointer, []
            for make in self._makers:
                array = make()
                out.append(array)
                addresses[at] = pointer(array)
                at += 1
        if stream is None and self._stream_of is not None:
            stream = self._stream_of(self._device)
        status = _invoke_at(
            self._handle, self._like, frame.address, self._count, stream
        )
        if status:
            self._raise(status)
        return self._wrap(out)

    def _raise(self, status):
        """The failure, in which arguments have names."""
        try:
            check(status)
        except Error as error:
            raise error.renamed(self._names) from None


_executables: dict[tuple, object] = {}
_compiling = threading.Lock()


def executable(text, device):
    """The compiled module, compiled once for a device."""
    key = text, device
    with _compiling:
        if key not in _executables:
            if device[0] == CPU:
                _executables[key] = compile_module(text)
            else:
                with on_device(device[1]):
                    _executables[key] = compile_module(text, target="cuda")
    return _executables[key]


class Recorded:
    """What is no array but a value of a graph, which records ops; see graph.py."""

    _graph: Any


# Frames that no call uses.
_frames: list[_arrays.Frame] = []


class Planner:
    """A function of an op: the names of its arguments, and how to plan a call.

    Args:
      plan: called with a Problem and the options, returns a Spec.
      names: the arguments that are arrays, in the order that run() takes them.
      zeroes: whether new results are zero where the op does not write.
      written: what the function calls its results, where they are arguments.
    """

    # Of more shapes than anybody uses at a time.
    _LIMIT = 8192

    def __init__(self, names, plan, zeroes=False, written=None):
        self._names, self._plan, self._plans = names, plan, {}
        self._zeroes, self._written = zeroes, written

    def name_of_out(self, i, count, name=None):
        """What messages call a result that is given."""
        if self._written is not None:
            return self._written[i]
        shown = f"out[{i}]" if count > 1 else "out"
        return f"{shown} ({name})" if name is not None and count > 1 else shown

    def run(self, options, arrays, out=None, stream=None, names=None, labels=None):
        """Plans and runs a call.

        Args:
          options: hashable; what is not an array.
          arrays: in the order of the names, None where there is none.
          out: None or a list of arrays for the results.
          names: for the arrays, if they are not those of the planner.
          labels: what messages call them, if not by their names.
        """
        kind = _arrays._kinds.get(type(arrays[0]))
        if kind is not None:
            try:
                frame = _frames.pop()
            except IndexError:
                frame = _arrays.Frame()
            given, outs = (arrays, None) if out is None else ((*arrays, *out), len(out))
            read = kind.read(frame, given)
            try:
                plan = self._plans.get((options, outs, read))
            except TypeError:
                # An option without a hash, which _check_options() names.
                plan = None
            if plan is not None:
                if stream is not None:
                    stream = _arrays.stream_handle(stream)
                result = plan.run(frame, out, stream)
                _frames.append(frame)
                return result
        return self._make_and_run(
            options, arrays, out, stream, names or self._names, labels or {}
        )

    def _make_and_run(self, options, arrays, out, stream, names, labels):
        self._check_options(options)
        for a in arrays:
            if isinstance(a, Recorded):
                return a._graph._record(self, options, arrays, out, names, labels)
        shown = [labels.get(n, n) for n in names]
        if stream is not None:
            stream = _arrays.stream_handle(stream)
        if arrays[0] is None:
            raise invalid_argument(f"{shown[0]}: expected an array, found none")
        arrays = [np.asarray(a) if isinstance(a, np.generic) else a for a in arrays]
        kind, arrays = _as_one_kind(arrays, shown, stream)
        returned = out
        if out is not None:
            outs = [self.name_of_out(i, len(out)) for i in range(len(out))]
            if kind is _arrays.Arrays:
                out = [_as_array(a, n, stream) for a, n in zip(out, outs)]
            for a, n in zip(out, outs):
                if _arrays.kind_of(a) is not kind:
                    raise TypeError(f"{n}: expected an array like {shown[0]}, found"
                                    f" {type(a).__name__}")  # fmt: skip
        frame = _arrays.Frame()
        given = (*arrays, *(out or ()))
        read = kind.read(frame, given)
        if read is None:
            _refuse_without_memory(kind, given, [*shown, *(outs if out else ())])
        key = options, None if out is None else len(out), read
        plan = self._plans.get(key)
        if plan is None:
            plan = self._make(kind, options, arrays, out, names, labels)
            if len(self._plans) >= self._LIMIT:
                self._plans.clear()
            self._plans[key] = plan
        result = plan.run(frame, out, stream)
        return plan._wrap(returned) if returned is not None else result

    def _check_options(self, options):
        """Refuses what has no hash, a list for example: no option is of that kind."""
        names = list(inspect.signature(self._plan).parameters)[1:]
        for name, option in zip(names, options):
            try:
                hash(option)
            except TypeError:
                found = type(option).__name__
                raise TypeError(
                    f"{name}: expected another kind of value, found {found}"
                ) from None

    def shapes(self, kind, options, arrays, names=None, labels=None):
        """The (shape, element type) of each result, and their device."""
        names = names or self._names
        _, spec, device = self._spec(kind, options, arrays, names, labels or {})
        return [(o.shape, o.use.element) for o in spec.outputs.values()], device

    def _spec(self, kind, options, arrays, names, labels):
        """The descriptions of arguments by name, the Spec and the device."""
        given = {
            n: describe(kind, a, labels.get(n, n))
            for n, a in zip(names, arrays)
            if a is not None
        }
        device = _common_device(given, labels)
        problem = Problem(given, labels, device, getattr(kind, "agree", operator.eq))
        return given, self._plan(problem, *options), device

    def _make(self, kind, options, arrays, out, names, labels):
        given, spec, device = self._spec(kind, options, arrays, names, labels)
        outputs = list(spec.outputs.values())
        spec.operands = _in_order(spec.operands, given)
        uses = [u for us in spec.operands.values() for u in us]
        unused = sorted(set(given) - {u.name for u in uses})
        if unused:
            name = labels.get(unused[0], unused[0])
            raise invalid_argument(f"{name}: expected none here")
        descriptions = [(u.element, given[u.name].shape, device) for u in uses]
        if out is None:
            for o in outputs:
                if o.shape is None or None in o.shape:
                    raise invalid_argument(
                        f"out: {o.use.name} needs it: its extents depend on the"
                        " contents of arguments"
                    )
            shapes = [o.shape for o in outputs]
        else:
            shapes = check_out(kind, out, outputs, device, self.name_of_out)
        descriptions += [
            (o.use.element, shape, device) for o, shape in zip(outputs, shapes)
        ]
        makers = [
            kind.maker(shape, o.use.element, device, self._zeroes and o.is_partial)
            for o, shape in zip(outputs, shapes)
        ]
        compiled = self._compile(spec, device)
        shown = [labels.get(u.name, u.name) for u in uses]
        shown += [o.use.name for o in outputs]
        return Plan(compiled, shown, descriptions, makers, device, spec.wrap, kind)


    @staticmethod
    def _compile(spec, device):
        """The executable. What the verifier refuses are arguments: an error of those."""
        try:
            return executable(spec.text(), device)
        except Error as error:
            refused = re.match(r"<mlir>:\d+:\d+: error: 'gq\.\w+' op (.*)", error.message)
            if refused is None:
                raise
        names = {n: uses[0].name for n, uses in spec.operands.items() if uses}
        message = re.sub(
            r"'(\w+)'", lambda m: f"'{names.get(m[1], m[1])}'", refused[1]
        )
        raise invalid_argument(f"{spec.op}: {message}")


def _in_order(operands, given):
    """The operands in the order in which their arguments are passed."""
    order = {name: i for i, name in enumerate(given)}
    return dict(
        sorted(operands.items(), key=lambda item: order[item[1][0].name] if item[1] else -1)
    )


def _refuse_without_memory(kind, arrays, names):
    """Names the first array that cannot be read."""
    for a, name in zip(arrays, names):
        if a is not None and kind.read(_arrays.Frame(), (a,)) is None:
            raise invalid_argument(
                f"{name}: expected an array in memory, found none: it is sparse, or a value"
                " of a transformation such as torch.vmap"
            )


def _as_array(x, name, stream):
    """The Array of what is one or has __dlpack__."""
    if isinstance(x, _arrays.Array) or not hasattr(x, "__dlpack__"):
        return x
    try:
        return _arrays.from_dlpack(x, stream)
    except Error as error:
        raise Error(error.status, f"{name}: {error.message}") from None
    except Exception as error:
        # Whatever an array raises that was deleted: a TypeError of JAX.
        raise invalid_argument(
            f"{name}: expected an array with data, found {error}"
        ) from error


def _as_one_kind(arrays, names, stream):
    """The kind of the first array, and all of them as such."""
    kinds = []
    for a, n in zip(arrays, names):
        if a is None:
            continue
        kind = _arrays.kind_of(a)
        if kind is None and not hasattr(a, "__dlpack__"):
            raise TypeError(
                f"{n}: expected a NumPy array, a torch tensor or an object with"
                f" __dlpack__, found {type(a).__name__}"
            )
        kinds.append(kind or _arrays.Arrays)
    first = kinds[0]
    if first is not _arrays.Arrays:
        for a, n in zip(arrays, names):
            if a is not None and _arrays.kind_of(a) is not first:
                raise TypeError(
                    f"{n}: expected an array like {names[0]}, found {type(a).__name__}"
                )
        return first, arrays
    return first, [
        None if a is None else _as_array(a, n, stream)
        for a, n in zip(arrays, names)
    ]


def describe(kind, array, name):
    """The Description of an array of this kind, which an error calls by its name."""
    try:
        return kind.describe(array)
    except Error as error:
        raise Error(error.status, f"{name}: {error.message}") from None


def _where(device):
    names = {CPU: "the CPU", CUDA: f"CUDA device {device[1]}"}
    return names.get(device[0], f"DLPack device type {device[0]}")


def _common_device(given, labels):
    """The device of all arguments."""
    names = iter(given.items())
    first, d = next(names)
    if d.device[0] not in (CPU, CUDA):
        raise invalid_argument(
            f"{labels.get(first, first)}: expected the CPU or a CUDA device, found DLPack device type"
            f" {d.device[0]}"
        )
    for name, other in names:
        if other.device != d.device:
            raise invalid_argument(
                f"{labels.get(name, name)}: expected {_where(d.device)}, where"
                f" {labels.get(first, first)} is, found"
                f" {_where(other.device)}"
            )
    return d.device


def check_out(kind, out, outputs, device, name_of):
    """The shapes of `out`, which is what the outputs need."""
    if len(out) != len(outputs):
        listed = ", ".join(o.use.name for o in outputs)
        raise invalid_argument(
            f"out: expected {len(outputs)} arrays ({listed}), found {len(out)}"
        )
    shapes = []
    for i, (a, o) in enumerate(zip(out, outputs)):
        name = name_of(i, len(out), o.use.name)
        d = describe(kind, a, name)
        if d.device != device:
            raise invalid_argument(
                f"{name}: expected {_where(device)}, found {_where(d.device)}"
            )
        shape = list(o.shape) if o.shape is not None else [None]
        if o.is_buffer:
            shape[0] = None
        agree = getattr(kind, "agree", operator.eq)
        Problem({name: d}, {}, device, agree).take(name, [o.use.element], shape)
        if not d.is_writable:
            raise invalid_argument(f"{name}: it is read-only")
        shapes.append(d.shape)
    return shapes
