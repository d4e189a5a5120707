# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What computes the elements that are quantized, in the same kernel.

A producer is a name of `NAMES` or a function of gq values::

    gq.grouped_block_quantize((gate, up), offsets, producer="silu_and_mul")
    gq.grouped_block_quantize((x, bias), offsets, producer=lambda x, b: relu(x + b))

The function is called once for each signature, with a Value for each input; what
it does to them becomes part of the kernel, with the numbers that it reads elsewhere as
they are then. Values are float32; the result is rounded once to the type of the inputs,
or to float32 if those differ; see typed() for other types. Python's `if` cannot test a
Value: use where().
"""

from __future__ import annotations

import inspect
import math
import numbers
from collections.abc import Callable, Sequence

from . import _formats
from ._library import invalid_argument

#: The types of values of a producer that is typed(), and their bits.
TYPED = {
    "f64": 64, "f32": 32, "bf16": 16, "f16": 16, "f8E4M3FN": 8, "f8E5M2": 8,
    "f8E8M0FNU": 8, "f4E2M1FN": 4,
}  # fmt: skip


class _Trace:
    """The operations of a producer, in order, as MLIR writes them."""

    def __init__(self):
        self.lines = []

    def add(self, text, kind="f32"):
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        if kind == "i1":
            return Condition(self, name)
        return Value(self, name, kind)

    def value(self, x, kind="f32"):
        """A Value of a Value or a number, of this type."""
        if isinstance(x, Value):
            if x._trace is not self:
                raise invalid_argument("producer: a value of another producer")
            if x._kind != kind:
                raise TypeError(
                    f"producer: expected a value of {kind}, found {x._kind}; see cast()"
                )
            return x
        if isinstance(x, numbers.Real):
            return self.add(f"arith.constant {literal(float(x), kind)} : {kind}", kind)
        raise TypeError(f"producer: expected a value or a number, found {type(x).__name__}")


#: Infinity and NaN as bits.
_SPECIAL = {
    "f32": ("0x7F800000", "0xFF800000", "0x7FC00000"),
    "bf16": ("0x7F80", "0xFF80", "0x7FC0"),
    "f16": ("0x7C00", "0xFC00", "0x7E00"),
    "f64": ("0x7FF0000000000000", "0xFFF0000000000000", "0x7FF8000000000000"),
}


def literal(x: float, kind: str) -> str:
    """A number as MLIR writes it for a float type."""
    if not math.isfinite(x):
        if kind not in _SPECIAL:
            raise invalid_argument(f"producer: {kind} has no {x}")
        plus, minus, nan = _SPECIAL[kind]
        return nan if math.isnan(x) else plus if x > 0 else minus
    text = repr(x)
    if "e" in text and "." not in text:
        text = text.replace("e", ".0e")
    return text


class Condition:
    """A truth of each element, for where()."""

    def __init__(self, trace, name):
        self._trace, self._name = trace, name

    def __repr__(self):
        return f"gq.producers.Condition({self._name})"

    def __bool__(self):
        raise TypeError("producer: the truth of an element is not known; use where()")

    def _join(self, op, other):
        text = f"arith.{op} {self._name}, {other._name} : i1"
        return self._trace.add(text, "i1")

    def __and__(self, other):
        return self._join("andi", other)

    def __or__(self, other):
        return self._join("ori", other)


class Value:
    """An element that a producer computes with, a float32 unless it is typed()."""

    __array_ufunc__ = None

    def __init__(self, trace, name, kind="f32"):
        self._trace, self._name, self._kind = trace, name, kind

    def __repr__(self):
        return f"gq.producers.Value({self._name})"

    def __bool__(self):
        raise TypeError("producer: an element's value is not known; use where()")

    def _binary(self, op, other, swap=False):
        other = self._trace.value(other, self._kind)
        a, b = (other, self) if swap else (self, other)
        text = f"{op} {a._name}, {b._name} : {self._kind}"
        return self._trace.add(text, self._kind)

    def _compare(self, predicate, other):
        other = self._trace.value(other, self._kind)
        text = f"arith.cmpf {predicate}, {self._name}, {other._name} : {self._kind}"
        return self._trace.add(text, "i1")

    def __add__(self, other):
        return self._binary("arith.addf", other)

    def __radd__(self, other):
        return self._binary("arith.addf", other, True)

    def __sub__(self, other):
        return self._binary("arith.subf", other)

    def __rsub__(self, other):
        return self._binary("arith.subf", other, True)

    def __mul__(self, other):
        return self._binary("arith.mulf", other)

    def __rmul__(self, other):
        return self._binary("arith.mulf", other, True)

    def __truediv__(self, other):
        return self._binary("arith.divf", other)

    def __rtruediv__(self, other):
        return self._binary("arith.divf", other, True)

    def __neg__(self):
        return _unary("arith.negf", self)

    def __pos__(self):
        return self

    def __abs__(self):
        return _unary("math.absf", self)

    def __pow__(self, exponent):
        """To a whole number, by multiplications."""
        if not isinstance(exponent, int) or exponent < 1:
            raise TypeError("producer: ** takes a whole number from 1 on")
        result = self
        for _ in range(exponent - 1):
            result = result * self
        return result

    def __lt__(self, other):
        return self._compare("olt", other)

    def __le__(self, other):
        return self._compare("ole", other)

    def __gt__(self, other):
        return self._compare("ogt", other)

    def __ge__(self, other):
        return self._compare("oge", other)


def _unary(op, x):
    return x._trace.add(f"{op} {x._name} : {x._kind}", x._kind)


def _of(*values):
    """The first Value among them."""
    for x in values:
        if isinstance(x, Value):
            return x
    raise TypeError("producer: expected a value of the producer")


def typed(function: Callable | None = None, *, inputs: Sequence[str] = ()) -> Callable:
    """Marks a producer whose values have the types of the inputs, unlike float32.

    Operations are of these types and round to them, so their operands have the same
    type; cast() converts. The type of the result is that of the value returned.

    Args:
      function: the producer, or None in `@typed(inputs=...)`.
      inputs: of an epilogue, the types that it takes the values in, such as
        "float32"; otherwise they are rounded to the type of the result first.
    """
    if function is None:
        return lambda function: typed(function, inputs=inputs)
    function._is_typed = True  # type: ignore[attr-defined]
    function._inputs = tuple(map(_formats.element, inputs))  # type: ignore[attr-defined]
    return function


def cast(x: Value, dtype: str) -> Value:
    """x as a float type, such as "float32", rounded to nearest even.

    Raises:
      ArgumentError: another type, or one as wide as that of x.
    """
    kind = _formats.element(dtype)
    if TYPED.get(kind, TYPED[x._kind]) == TYPED[x._kind]:
        raise invalid_argument(
            f"dtype: expected a float that is wider or narrower than {x._kind}, found"
            f" {dtype!r}"
        )
    op = "extf" if TYPED[kind] > TYPED[x._kind] else "truncf"
    return x._trace.add(f"arith.{op} {x._name} : {x._kind} to {kind}", kind)


def exp(x: Value) -> Value:
    """e to the power of x."""
    return _unary("math.exp", x)


def tanh(x: Value) -> Value:
    """The hyperbolic tangent."""
    return _unary("math.tanh", x)


def erf(x: Value) -> Value:
    """The error function."""
    return _unary("math.erf", x)


def sqrt(x: Value) -> Value:
    """The square root."""
    return _unary("math.sqrt", x)


def maximum(a, b) -> Value:
    """The larger one; NaN if one is."""
    x = _of(a, b)
    return x._trace.value(a, x._kind)._binary("arith.maximumf", b)


def minimum(a, b) -> Value:
    """The smaller one; NaN if one is."""
    x = _of(a, b)
    return x._trace.value(a, x._kind)._binary("arith.minimumf", b)


def where(condition: Condition, a, b) -> Value:
    """`a` where the condition holds, else `b`."""
    trace = condition._trace
    kind = next((x._kind for x in (a, b) if isinstance(x, Value)), "f32")
    a, b = trace.value(a, kind), trace.value(b, kind)
    text = f"arith.select {condition._name}, {a._name}, {b._name} : {kind}"
    return trace.add(text, kind)


def sigmoid(x: Value) -> Value:
    """1 / (1 + e^-x)."""
    return 1.0 / (exp(-x) + 1.0)


def silu(x: Value) -> Value:
    """x / (1 + e^-x)."""
    return x / (exp(-x) + 1.0)


def relu(x: Value) -> Value:
    """x where it is positive, else 0; NaN stays."""
    return maximum(x, 0.0)


def gelu(x: Value) -> Value:
    """x * (1 + erf(x / sqrt(2))) / 2."""
    return x * 0.5 * (erf(x * 0.7071067811865476) + 1.0)


def gelu_tanh(x: Value) -> Value:
    """The approximation of gelu() by tanh."""
    return x * 0.5 * (tanh((x + x * x * x * 0.044715) * 0.7978845608028654) + 1.0)


def silu_and_mul(gate: Value, up: Value) -> Value:
    """silu(gate) * up."""
    return silu(gate) * up


def gelu_and_mul(gate: Value, up: Value) -> Value:
    """gelu(gate) * up."""
    return gelu(gate) * up


def gelu_tanh_and_mul(gate: Value, up: Value) -> Value:
    """gelu_tanh(gate) * up."""
    return gelu_tanh(gate) * up


def relu2(x: Value) -> Value:
    """The square of relu(x)."""
    return relu(x) ** 2


#: The producers with names.
NAMES: dict[str, Callable] = {
    f.__name__: f
    for f in (
        silu, gelu, gelu_tanh, relu, relu2, sigmoid, tanh,
        silu_and_mul, gelu_and_mul, gelu_tanh_and_mul,
    )
}  # fmt: skip


def find(producer, argument: str = "producer") -> Callable:
    """The function of a producer, which may be a name; `argument` is what errors
    call it."""
    if callable(producer):
        return producer
    if isinstance(producer, str) and producer in NAMES:
        return NAMES[producer]
    raise invalid_argument(
        f"{argument}: expected a function or one of {', '.join(NAMES)}, "
        f"found {producer!r}"
    )


def count_inputs(producer, argument: str = "producer") -> int:
    """How many inputs a producer takes; `argument` as of find()."""
    function = find(producer, argument)
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return 1
    return sum(
        p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
        for p in parameters
    )


def trace(producer, elements: list[str]) -> tuple[list[str], str, str]:
    """A producer traced for the values %e0, %e1, ... of these element types.

    Returns the lines of MLIR, the value they end in and its element type.
    """
    trace, values, function = _Trace(), [], find(producer)
    is_typed = getattr(function, "_is_typed", False)
    for i, e in enumerate(elements):
        if e == "f32" or is_typed:
            values.append(Value(trace, f"%e{i}", e))
        else:
            values.append(trace.add(f"arith.extf %e{i} : {e} to f32"))
    try:
        result = function(*values)
    except AttributeError as error:
        raise TypeError(f"producer: {error}") from error
    if is_typed:
        kind = _of(result)._kind
        return trace.lines, trace.value(result, kind)._name, kind
    result = trace.value(result)
    element = elements[0] if len(set(elements)) == 1 else "f32"
    if element == "f32":
        return trace.lines, result._name, element
    trace.lines.append(f"%r = arith.truncf {result._name} : f32 to {element}")
    return trace.lines, "%r", element


def region(producer, elements: list[str]) -> str:
    """The region of the op: a producer traced for inputs of these types."""
    lines, result, element = trace(producer, elements)
    arguments = ", ".join(f"%e{i} : {e}" for i, e in enumerate(elements))
    body = "\n    ".join([*lines, f"gq.yield {result} : {element}"])
    return f"({{\n  ^bb0({arguments}):\n    {body}\n  }})"
