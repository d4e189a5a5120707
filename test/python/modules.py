# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The MLIR that the tests compile, each text once."""

import functools

import cases
import gq
import ml_dtypes
import numpy as np

ELEMENTS = {
    "f32": np.dtype(np.float32),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f16": np.dtype(np.float16),
}


def element_of(array):
    """The MLIR name of a floating-point array's dtype."""
    return next(e for e, dtype in ELEMENTS.items() if dtype == array.dtype)


def index_of(array):
    return f"i{8 * array.itemsize}"


@functools.cache
def compiled(text, fusion=True):
    return gq.compile(text, fusion=fusion, cache_dir="")


class Types:
    """The types of the operands of a quantization.

    `element` and `index` are MLIR's names; every extent may be "?". `scale` is
    the global scale: None, "scalar" or "group". `packed` codes are i8, others
    f4.
    """

    def __init__(
        self, k, element, index="i32", scale=None, packed=False, m="?",
        offsets="?", groups="?", scale_rows="?",
    ):  # fmt: skip
        linear = "?" if k == "?" else k // 16
        tiled = "?" if k == "?" else (linear + 3) // 4 * 4
        self.m, self.k, self.element = m, k, element
        self.x = f"tensor<{m}x{k}x{element}>"
        half = "?" if k == "?" else k // 2
        self.codes = f"{half}xi8" if packed else f"{k}xf4E2M1FN"
        self.q = f"tensor<{m}x{self.codes}>"
        self.s = f"tensor<{m}x{linear}xf8E4M3FN>"
        self.t = f"tensor<{scale_rows}x{tiled}xf8E4M3FN, #gq.tile128x4>"
        self.o = f"tensor<{offsets}x{index}>"
        self.so = f"tensor<{groups}x{index}>"
        self.argument = self.clause = ""
        if scale is not None:
            g = {"scalar": "tensor<f32>", "group": f"tensor<{groups}xf32>"}[scale]
            self.argument = f"%g : {g},"
            self.clause = f"global_scale(%g : {g})"


def grouped_block_quantize(t, rows="all"):
    """(x, offsets, scale offsets, [global scale], data, scales) -> both."""
    return f"""
      func.func @main(%x : {t.x}, %o : {t.o}, %so : {t.so}, {t.argument}
                      %q0 : {t.q}, %t0 : {t.t}) -> ({t.q}, {t.t}) {{
        %q, %t = gq.grouped_block_quantize format(nvfp4) rows({rows})
            ins(%x : {t.x}) groups(%o, %so : {t.o}, {t.so}) {t.clause}
            outs(%q0, %t0 : {t.q}, {t.t}) -> {t.q}, {t.t}
        return %q, %t : {t.q}, {t.t}
      }}"""


def _quantize_and_lay_out(t):
    """The two ops that fusion joins: %x, %o, %so, %q0, %t0 to %q and %t."""
    extents = ["%m"] * (t.m == "?") + ["%c"] * (t.k == "?")
    return f"""
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c16 = arith.constant 16 : index
        %m = tensor.dim %x, %c0 : {t.x}
        %k = tensor.dim %x, %c1 : {t.x}
        %c = arith.divui %k, %c16 : index
        %s0 = tensor.empty({", ".join(extents)}) : {t.s}
        %q, %s = gq.block_quantize format(nvfp4) ins(%x : {t.x}) {t.clause}
            outs(%q0, %s0 : {t.q}, {t.s}) -> {t.q}, {t.s}
        %t = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%s : {t.s})
            groups(%o, %so : {t.o}, {t.so}) outs(%t0 : {t.t}) -> {t.t}"""


def separate_ops(t):
    """The same function as grouped_block_quantize(t), in two ops."""
    return f"""
      func.func @main(%x : {t.x}, %o : {t.o}, %so : {t.so}, {t.argument}
                      %q0 : {t.q}, %t0 : {t.t}) -> ({t.q}, {t.t}) {{
        {_quantize_and_lay_out(t)}
        return %q, %t : {t.q}, {t.t}
      }}"""


def block_quantize(t):
    """(x, [global scale], data, linear scales) -> data, linear scales."""
    return f"""
      func.func @main(%x : {t.x}, {t.argument} %q0 : {t.q}, %s0 : {t.s})
          -> ({t.q}, {t.s}) {{
        %q, %s = gq.block_quantize format(nvfp4) ins(%x : {t.x}) {t.clause}
            outs(%q0, %s0 : {t.q}, {t.s}) -> {t.q}, {t.s}
        return %q, %s : {t.q}, {t.s}
      }}"""


def silu_mul(t, quantize):
    """silu(gate) * up, and with `quantize` the quantization of that.

    (gate, up) -> h, or (gate, up, offsets, scale offsets, data, scales) ->
    data and scales. The element type must not be f32.
    """
    rest, results, after, values = "", t.x, "", f"%x : {t.x}"
    if quantize:
        rest = f", %o : {t.o}, %so : {t.so}, %q0 : {t.q}, %t0 : {t.t}"
        results = f"({t.q}, {t.t})"
        after = _quantize_and_lay_out(t)
        values = f"%q, %t : {t.q}, {t.t}"
    return f"""
      #id = affine_map<(i, j) -> (i, j)>
      func.func @main(%gate : {t.x}, %up : {t.x}{rest}) -> {results} {{
        %zero = arith.constant 0 : index
        %rows = tensor.dim %gate, %zero : {t.x}
        %x0 = tensor.empty(%rows) : {t.x}
        %x = linalg.generic {{indexing_maps = [#id, #id, #id],
                              iterator_types = ["parallel", "parallel"]}}
            ins(%gate, %up : {t.x}, {t.x}) outs(%x0 : {t.x}) {{
        ^bb0(%a : {t.element}, %b : {t.element}, %unused : {t.element}):
          %g = arith.extf %a : {t.element} to f32
          %u = arith.extf %b : {t.element} to f32
          %one = arith.constant 1.0 : f32
          %negative = arith.negf %g : f32
          %exp = math.exp %negative : f32
          %denominator = arith.addf %exp, %one : f32
          %silu = arith.divf %g, %denominator : f32
          %product = arith.mulf %silu, %u : f32
          %y = arith.truncf %product : f32 to {t.element}
          linalg.yield %y : {t.element}
        }} -> {t.x} {after}
        return {values}
      }}"""


def grouped_mm(t, out, alpha):
    """(a, b, a scales, b scales, offsets, scale offsets, [alpha], out)."""
    b = f"tensor<?x?x{t.codes}>"
    sb = t.t.replace("?x", "?x?x", 1)
    c = f"tensor<?x?x{out}>"
    argument = "%alpha : tensor<?xf32>," if alpha else ""
    clause = "alpha(%alpha : tensor<?xf32>)" if alpha else ""
    return f"""
      func.func @main(%a : {t.q}, %b : {b}, %sa : {t.t}, %sb : {sb},
                      %o : {t.o}, %so : {t.so}, {argument} %c0 : {c}) -> {c} {{
        %c = gq.grouped_mm format(nvfp4) ins(%a, %b : {t.q}, {b})
            scales(%sa, %sb : {t.t}, {sb}) groups(%o, %so : {t.o}, {t.so})
            {clause} outs(%c0 : {c}) -> {c}
        return %c : {c}
      }}"""


def quantize_and_multiply(t, out):
    """(x, b, b scales, offsets, scale offsets, scales, out) -> out.

    The codes and the scales of x go nowhere else.
    """
    b = f"tensor<?x?x{t.codes}>"
    sb = t.t.replace("?x", "?x?x", 1)
    c = f"tensor<?x?x{out}>"
    return f"""
      func.func @main(%x : {t.x}, %b : {b}, %sb : {sb}, %o : {t.o},
                      %so : {t.so}, %t0 : {t.t}, %out0 : {c}) -> {c} {{
        %zero = arith.constant 0 : index
        %rows = tensor.dim %x, %zero : {t.x}
        %q0 = tensor.empty(%rows) : {t.q}
        {_quantize_and_lay_out(t)}
        %out = gq.grouped_mm format(nvfp4) ins(%q, %b : {t.q}, {b})
            scales(%t, %sb : {t.t}, {sb}) groups(%o, %so : {t.o}, {t.so})
            outs(%out0 : {c}) -> {c}
        return %out : {c}
      }}"""


def quantize(text, fusion, x, offsets, scale_offsets, scale, scale_rows):
    """Runs a grouped quantization on poisoned outputs: data, scales as uint8."""
    m, k = x.shape
    data = cases.Poisoned((m, k // 2))
    scales = cases.Poisoned((scale_rows, (k // 16 + 3) // 4 * 4))
    scale = [] if scale is None else [scale]
    q, t = compiled(text, fusion)(
        x, offsets, scale_offsets, *scale, data.array, scales.array
    )
    data.check_surroundings()
    scales.check_surroundings()
    return q, t.view(np.uint8)
