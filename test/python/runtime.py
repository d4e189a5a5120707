# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls the C functions of the CPU (gq/Runtime/Cpu.h)."""

import ctypes

import cases
import gq
from gq import _library

_ELEMENTS = [
    "i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "f8E4M3FN",
    "f8E5M2", "f8E8M0FNU",
]  # fmt: skip
_LAYOUTS = ["linear", "tile128x4"]
_RECIPES = ["nvfuser", "te"]
_ROWS = ["all", "grouped"]
# The first format with a single scale.
_TENSOR = 64


class _Buffer(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("type", ctypes.c_int64),
        ("rank", ctypes.c_int64),
        ("sizes", ctypes.c_int64 * 3),
        ("strides", ctypes.c_int64 * 3),
    ]


def _buffer(operand):
    if operand is None:
        return _Buffer()
    a = operand.array
    strides = [s // a.itemsize for s in a.strides]
    return _Buffer(
        a.ctypes.data,
        _ELEMENTS.index(operand.element),
        a.ndim,
        (ctypes.c_int64 * 3)(*a.shape),
        (ctypes.c_int64 * 3)(*strides),
    )


def _packed(direction):
    """A direction as a number (gq/Runtime/Directions.h)."""
    return (
        direction.stochastic
        | (direction.signs is not None) << 2
        | [None, "mae", "mse"].index(direction.four_over_six) << 4
        | (direction.scale_max == 256) << 6
        | direction.square << 7
        | ["group", "row", "column"].index(direction.outer) << 8
        | (direction.signs or 0) << 16
    )


def quantize(operands, attributes):
    """Runs the op that the format is of on arrays; returns its outputs by name.
    Raises gq.Error."""
    buffers = [_buffer(operands.get(name)) for name in cases.OPERANDS]
    table, rows = (_Buffer * len(buffers))(*buffers), _ROWS.index(attributes.rows)
    if attributes.format in gq.TENSOR_FORMATS:
        number = _TENSOR + gq.TENSOR_FORMATS.index(attributes.format)
        _library.lib.gqCpuGroupedQuantize(table, number, rows)
    else:
        used = attributes.directions(operands)
        _library.lib.gqCpuGroupedBlockQuantize(
            table,
            gq.FORMATS.index(attributes.format),
            _RECIPES.index(attributes.recipe),
            _LAYOUTS.index(attributes.layout),
            rows,
            *(
                ctypes.c_int32(_packed(used[word]) if word in used else 0)
                for word in ("rowwise", "columnwise")
            ),
        )
    _library.check(_library.lib.gqCpuStatus())
    return {n: operands[n].array for n in cases.OUTPUTS if n in operands}


DEQUANTIZE_OPERANDS = [
    "data", "scales", "offsets", "scale_offsets", "first_dims", "last_dims",
    "global_scale", "outer_amax", "scale_inv", "out",
]  # fmt: skip
_AXES = ["rowwise", "columnwise"]
_OUTERS = ["group", "row", "column"]


def grouped_dequantize(operands, attributes):
    """Runs the op on arrays. Raises gq.Error."""
    buffers = [_buffer(operands.get(name)) for name in DEQUANTIZE_OPERANDS]
    fmt = attributes.format
    _library.lib.gqCpuGroupedDequantize(
        (_Buffer * len(buffers))(*buffers),
        gq.FORMATS.index(fmt) if fmt in gq.FORMATS else -1,
        _RECIPES.index(attributes.recipe),
        _LAYOUTS.index(attributes.layout),
        _AXES.index(attributes.axis),
        _OUTERS.index(attributes.outer),
        attributes.scale_max,
    )
    _library.check(_library.lib.gqCpuStatus())


def block_dequantize(operands, fmt):
    """Runs the op on arrays, "global_scale" optional. Raises gq.Error."""
    names = ["data", "scales", "global_scale", "out"]
    buffers = [_buffer(operands.get(name)) for name in names]
    _library.lib.gqCpuBlockDequantize(
        (_Buffer * len(buffers))(*buffers), gq.FORMATS.index(fmt), 0
    )
    _library.check(_library.lib.gqCpuStatus())


MM_OPERANDS = [
    "a", "b", "a_scales", "b_scales", "offsets", "scale_offsets", "alpha",
    "row_scales", "column_scales", "bias", "out",
]  # fmt: skip


WGRAD_OPERANDS = ["a", "b", "a_scales", "b_scales", "offsets", "alpha", "out"]


def _multiply(function, names, arrays, elements, *attributes):
    buffers = [
        _buffer(cases.Operand(arrays[n], elements[n]) if n in arrays else None)
        for n in names
    ]
    function((_Buffer * len(buffers))(*buffers), *attributes)
    _library.check(_library.lib.gqCpuStatus())


def grouped_mm(arrays, elements, *attributes):
    """Calls gqCpuGroupedMm on arrays and their types by name. Raises gq.Error.

    The attributes are numbers: formats, layout and major.
    """
    function = _library.lib.gqCpuGroupedMm
    _multiply(function, MM_OPERANDS, arrays, elements, *attributes)


def grouped_wgrad(arrays, elements, *attributes):
    """The same with gqCpuGroupedWgrad, which has no major."""
    function = _library.lib.gqCpuGroupedWgrad
    _multiply(function, WGRAD_OPERANDS, arrays, elements, *attributes)


def preprocess(scales, offsets, scale_offsets, out):
    """Runs gq.preprocess_grouped_matmul_sf on scales of nvfp4. Raises gq.Error."""
    index = f"i{8 * offsets.itemsize}"
    operands = (
        (scales, "f8E4M3FN"),
        (offsets, index),
        (scale_offsets, index),
        (out, "f8E4M3FN"),
    )
    buffers = [_buffer(cases.Operand(*o)) for o in operands]
    _library.lib.gqCpuPreprocessGroupedMatmulSf(
        (_Buffer * len(buffers))(*buffers),
        gq.FORMATS.index("nvfp4"),
        _LAYOUTS.index("tile128x4"),
    )
    _library.check(_library.lib.gqCpuStatus())
