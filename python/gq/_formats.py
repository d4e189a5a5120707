# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tables of the library: element types, formats, ops."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import itertools
import re
from typing import Any

from ._library import GqFormatTraits, invalid_argument, lib


@dataclasses.dataclass(frozen=True)
class Element:
    """A gqElementType: what it is called, and what it is in DLPack.

    `numpy` is the dtype in NumPy, of ml_dtypes where NumPy has none, and `plain`
    the one without ml_dtypes. `torch` names the dtype of torch, `dlpack` is code,
    bits and lanes. `aliases` are other dtypes that its bytes may come in.
    """

    mlir: str
    size: int
    numpy: str
    plain: str | None
    torch: str
    dlpack: tuple[int, int, int]
    aliases: tuple[str, ...] = ()


_BYTES = ("uint8", "int8")
#: By number of the gqElementType.
ELEMENTS = (
    Element("i1", 1, "bool", None, "bool", (6, 8, 1), ("uint8",)),
    Element("i8", 1, "uint8", None, "float4_e2m1fn_x2", (17, 4, 2), _BYTES),
    Element("i16", 2, "int16", None, "int16", (0, 16, 1)),
    Element("i32", 4, "int32", None, "int32", (0, 32, 1)),
    Element("i64", 8, "int64", None, "int64", (0, 64, 1)),
    Element("f16", 2, "float16", None, "float16", (2, 16, 1)),
    Element("bf16", 2, "bfloat16", "uint16", "bfloat16", (4, 16, 1), ("uint16",)),
    Element("f32", 4, "float32", None, "float32", (2, 32, 1)),
    Element("f64", 8, "float64", None, "float64", (2, 64, 1)),
    Element("f8E4M3FN", 1, "float8_e4m3fn", "uint8", "float8_e4m3fn", (10, 8, 1), _BYTES),
    Element("f8E5M2", 1, "float8_e5m2", "uint8", "float8_e5m2", (12, 8, 1), _BYTES),
    Element("f8E8M0FNU", 1, "float8_e8m0fnu", "uint8", "float8_e8m0fnu", (14, 8, 1), _BYTES),
)  # fmt: skip
BY_MLIR = {e.mlir: e for e in ELEMENTS}


@functools.cache
def elements_of(name: str) -> tuple[str, ...]:
    """What an array of the dtype called `name` can be: names in MLIR."""
    return tuple(
        e.mlir for e in ELEMENTS if name in (e.numpy, e.torch) or name in e.aliases
    )


#: The element type of codes that are not packed: [M, K], where "i8" is [M, K/2].
F4 = "f4E2M1FN"


def dtype_name(dtype: Any) -> str:
    """The name of a dtype of torch or NumPy, which may be a name already."""
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    return name.removeprefix("torch.")


def element(dtype: Any) -> str:
    """The element type in MLIR of a dtype of torch or NumPy, or that is called so there
    or in MLIR."""
    name = dtype_name(dtype)
    if name in (F4, "float4_e2m1fn"):
        return F4
    if name in ("uint8", "int8"):
        return "i8"
    for e in ELEMENTS:
        if name in (e.mlir, e.torch, e.numpy):
            return e.mlir
    allowed = ", ".join([*(e.torch for e in ELEMENTS), F4])
    raise invalid_argument(f"dtype: expected one of {allowed}, found {dtype!r}")


def integer(value, element: str) -> int:
    """A number that an integer type of MLIR holds; "i8" also as unsigned."""
    bits = int(element[1:])
    if not hasattr(value, "__index__") or not -(2 ** (bits - 1)) <= value < 2**bits:
        raise invalid_argument(f"value: expected one of {element}, found {value}")
    return int(value)


@dataclasses.dataclass(frozen=True)
class Format:
    """A format of blocks; see gqFormatTraits."""

    name: str
    block_rows: int
    block_columns: int
    bits: int
    data: str
    scale: str
    transposes: bool

    def stored(self, columns: int) -> int:
        """The extent in memory of so many codes."""
        return columns * self.bits // 8 if self.data == "i8" else columns

    @property
    def layout(self) -> str:
        """The usual layout of its scales: f32 has no tiles."""
        return "linear" if self.scale == "f32" else "tile128x4"


def _formats(first):
    """Those with consecutive numbers."""
    traits = GqFormatTraits()
    for number in itertools.count(first):
        if not lib.gqFormatFind(number, ctypes.byref(traits)):
            return
        yield Format(
            traits.name.decode(),
            traits.block_rows,
            traits.block_columns,
            traits.data_bits,
            ELEMENTS[traits.data_type].mlir,
            ELEMENTS[traits.scale_type].mlir,
            traits.transposes,
        )


_BY_NAME = {f.name: f for f in _formats(0)}
_TENSOR_BY_NAME = {f.name: f for f in _formats(64)}

#: The names of the formats with block scales, such as "nvfp4".
FORMATS: tuple[str, ...] = tuple(_BY_NAME)

#: Those of the formats with a single scale, such as "fp8_e4m3".
TENSOR_FORMATS: tuple[str, ...] = tuple(_TENSOR_BY_NAME)


@functools.cache
def words(enumeration: str) -> tuple[str, ...]:
    """The words of an enumeration of the dialect, such as "scale_layout"."""
    cases = (lib.gqEnumGetKeyword(enumeration.encode(), i) for i in itertools.count())
    return tuple(word.decode() for word in itertools.takewhile(bool, cases))


def word(enumeration: str, value: str, argument: str) -> str:
    """`value`, which is a word of the enumeration."""
    allowed = words(enumeration)
    if not isinstance(value, str) or value not in allowed:
        raise invalid_argument(
            f"{argument}: expected one of {', '.join(allowed)}, found {value!r}"
        )
    return value


def find(name: str, argument: str = "format") -> Format:
    """The format called `name`."""
    try:
        return _BY_NAME[name]
    except (KeyError, TypeError):
        raise invalid_argument(
            f"{argument}: expected one of {', '.join(FORMATS)}, found {name!r}"
        ) from None


def find_tensor(name: str) -> Format:
    """The format with a single scale called `name`; its blocks say nothing."""
    try:
        return _TENSOR_BY_NAME[name]
    except (KeyError, TypeError):
        raise invalid_argument(
            f"format: expected {' or '.join(TENSOR_FORMATS)}, found {name!r}"
        ) from None


@dataclasses.dataclass(frozen=True)
class Op:
    """An op as gq/Runtime/Ops.def lists it.

    `attributes` are (name, mnemonic of the enumeration), `operands` (name,
    presence, role).
    """

    name: str
    attributes: tuple[tuple[str, str], ...]
    operands: tuple[tuple[str, str, str], ...]


def _op(number):
    rows = [row.split() for row in lib.gqOpRows(number).decode().splitlines()]
    snake = lambda name: re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()  # noqa: E731
    return Op(
        lib.gqOpName(number).decode(),
        tuple((r[1], snake(r[2])) for r in rows if r[0] == "attribute"),
        tuple(tuple(r[1:]) for r in rows if r[0] == "operand"),
    )


#: By name, such as "grouped_mm".
OPS: dict[str, Op] = {}
for _number in itertools.takewhile(lib.gqOpName, itertools.count()):
    OPS[lib.gqOpName(_number).decode()] = _op(_number)
