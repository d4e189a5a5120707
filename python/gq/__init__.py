# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Grouped block quantization: functions of arrays, and MLIR compiled and run.

A layer of experts, quantized::

    import gq

    w = gq.quantize_weights(weights)               # [G, N, K] bf16
    q = gq.grouped_block_quantize(x, offsets)      # [M, K] bf16, [G+1] int32
    y = gq.grouped_mm(q, w)                        # [M, N] bf16

Arrays are NumPy's, torch's (on the CPU or a CUDA device), or anything that has
__dlpack__; results are of the same kind, for the last an Array. Functions
compile once for each signature.

compile() takes MLIR with gq ops.

The library is $GQ_LIBRARY, else that of the wheel, else the libgq.so that the
dynamic linker finds; importing gq raises ImportError if there is none.
"""

from . import graph, layout, producers
from ._arrays import Array
from ._executable import Executable, Signature, Type, compile
from ._formats import FORMATS, TENSOR_FORMATS
from ._functions import (
    Direction,
    Quantized,
    block_dequantize,
    block_quantize,
    check_stream,
    fake_quantize,
    group_offsets,
    grouped_amax,
    grouped_block_quantize,
    grouped_dequantize,
    grouped_mm,
    grouped_quantize,
    grouped_wgrad,
    nv_grouped_block_quantize,
    preprocess_grouped_matmul_sf,
    quantize_weights,
    update_scales,
)
from ._library import ArgumentError, Error, lib
from .graph import Graph

# The library's, which has it from CMakeLists.txt.
__version__ = lib.gqVersion().decode()

# Where it is from for whoever sees it raised.
Error.__module__ = ArgumentError.__module__ = __name__

__all__ = [
    "FORMATS",
    "ArgumentError",
    "Array",
    "Direction",
    "Error",
    "Executable",
    "Graph",
    "Quantized",
    "Signature",
    "TENSOR_FORMATS",
    "Type",
    "__version__",
    "block_dequantize",
    "block_quantize",
    "check_stream",
    "compile",
    "fake_quantize",
    "graph",
    "group_offsets",
    "grouped_amax",
    "grouped_block_quantize",
    "grouped_dequantize",
    "grouped_mm",
    "grouped_quantize",
    "grouped_wgrad",
    "layout",
    "nv_grouped_block_quantize",
    "preprocess_grouped_matmul_sf",
    "producers",
    "quantize_weights",
    "update_scales",
]
