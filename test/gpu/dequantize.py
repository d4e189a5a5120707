# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Problems for gq.grouped_dequantize: what a Case quantizes to, and back.

For run.py and for pytest, so it needs nothing but NumPy and what is beside it or
in test/python.
"""

import dataclasses

import cases
import elements
import formats
import numpy as np
import oracle

# Of the op, in its order.
OPERANDS = [
    "data", "scales", "offsets", "scale_offsets", "first_dims", "last_dims",
    "global_scale", "outer_amax", "scale_inv", "out",
]  # fmt: skip
AXES = ["rowwise", "columnwise"]


@dataclasses.dataclass
class Attributes:
    format: str
    recipe: str
    layout: str
    axis: str
    outer: str = "group"
    scale_max: int = 0


def stored_float(x, element, epilogue=None):
    """oracle.stored_float() of what an epilogue makes of it, if there is one."""
    if epilogue:
        x = elements.decode(oracle.stored_float(x, epilogue.product), epilogue.product)
        x = epilogue.apply(x)
    return oracle.stored_float(x, element)


def check_out(out, expected, element, epilogue=None):
    if epilogue:  # Any NaN of an epilogue is right.
        x, y = (elements.decode(a, element) for a in (out, expected))
        out = np.where(np.isnan(x) & np.isnan(y), expected, out)
    cases.check_bits(out, expected, "out")


class Problem:
    """One direction of a Case, to be dequantized to `out`.

    With `rng`, data and scales are any bytes: codes and scales that no
    quantization writes. What belongs to no group, padding included, may be too. Of
    a format with a single scale the Case's scales are the `scale_inv`. `epilogue` is
    one of epilogues.py; groups then have no shapes.
    """

    def __init__(self, case, axis, out, rng=None, epilogue=None):
        a = case.attributes
        self.epilogue = epilogue
        self.case, self.format = case, case.format
        direction = a.columnwise if axis == "columnwise" else a.rowwise
        single = a.format in oracle.TENSOR_FORMATS
        name = self.format.data if single else a.format
        scale_max = 0  # 448, or not of te.
        if direction.four_over_six:
            scale_max = direction.scale_max
        self.attributes = Attributes(
            name, a.recipe, a.layout, axis, direction.outer, scale_max
        )
        prefix = "columnwise_" if axis == "columnwise" else ""
        self.operands = {}
        for name in ["data"] if single else ["data", "scales"]:
            stored = case.expected[prefix + name]
            array = stored.array.copy()
            if rng is not None:
                array = self._any(rng, array)
            self.operands[name] = cases.Operand(array, stored.element)
        inputs = dict(case.inputs)
        if axis == "columnwise":
            inputs.pop("scale_offsets", None)
            if "columnwise_outer_amax" in inputs:
                inputs["outer_amax"] = inputs["columnwise_outer_amax"]
        if single:
            inputs["scale_inv"] = inputs["scale"]
        names = "global_scale", "outer_amax", "scale_inv"
        self.outer = next((inputs[n] for n in names if n in inputs), None)
        for name in OPERANDS[2:-1]:
            if name in inputs:
                self.operands[name] = inputs[name]
        self.element = out
        dtype = elements.DTYPES[out]
        self.out = cases.Poisoned(case.shape, dtype)
        self.expected = self.out.array.copy()
        self.operands["out"] = cases.Operand(self.out.array, out)
        self._expect(axis)

    def _any(self, rng, array):
        bits = rng.integers(0, 256, array.nbytes, np.uint8)
        if array.dtype == np.float32:
            keep = rng.random(array.shape) < 0.5
            values = bits.view(np.float32).reshape(array.shape)
            return np.where(keep, array, values)
        return bits.view(array.dtype).reshape(array.shape)

    def _expect(self, axis):
        a = self.attributes
        flat = self.expected.reshape(-1)
        self._at = self._scale_at = 0
        largest = a.scale_max or 448
        for e, (g, start) in enumerate(zip(self.case.groups, self.case.starts)):
            outer = self.outer and self.outer.array
            m, k = g.shape
            if a.outer == "row":
                outer = outer[int(start) : int(start) + m, None]
            elif a.outer == "column":
                outer = outer[e][:, None]
            elif np.ndim(outer):
                outer = outer[e]
            if axis == "rowwise":
                c, s = self._rows(e, int(start), m, k)
                x = oracle.dequantize_rows(c, s, a.format, a.recipe, outer, largest)
            else:
                c, s = self._columns(int(start), m, k)
                x = oracle.dequantize_columns(
                    c, s, m, a.format, a.recipe, outer, largest
                )
            x = np.ascontiguousarray(x, np.float32)
            at = int(start) * (1 if self.case.ragged else k)
            stored = stored_float(x, self.element, self.epilogue)
            flat[at : at + m * k] = stored.reshape(-1)

    def _data(self, start, m, k):
        """Codes in the shape of the input."""
        data, f = self.operands["data"].array, self.format
        if self.case.ragged:
            at = start * f.bits // 8
            part = data[at : at + m * k * f.bits // 8].reshape(m, k * f.bits // 8)
        else:
            part = data[start : start + m]
        return oracle.codes_of(part, self.attributes.format)

    def _next_scales(self, lines, blocks):
        """Those of groups that follow each other."""
        tiled = self.attributes.layout == "tile128x4"
        size = oracle.up(lines, 128) * oracle.up(blocks, 4) if tiled else lines * blocks
        part = self.operands["scales"].array.reshape(-1)[self._scale_at :][:size]
        self._scale_at += size
        return oracle.untile(part, lines, blocks) if tiled else part.reshape(lines, blocks)

    def _rows(self, e, start, m, k):
        f, layout = self.format, self.attributes.layout
        if f.scale is None:
            return self._data(start, m, k), None
        scales = self.operands["scales"].array
        lines, blocks = -(-m // f.block[0]), k // f.block[1]
        if self.case.ragged or (layout == "linear" and f.block[0] > 1):
            linear = self._next_scales(lines, blocks)
        elif layout == "linear":
            linear = scales[start : start + m]
        elif "scale_offsets" in self.operands:
            row = int(self.operands["scale_offsets"].array[e])
            linear = oracle.untile(scales[row:], m, blocks)
        else:
            linear = self._next_scales(lines, blocks)
        return self._data(start, m, k), linear

    def _columns(self, start, m, k):
        f = self.format
        linear = None
        if f.scale is not None:
            blocks = -(-oracle.up(m, 32) // f.block[1])
            linear = self._next_scales(k // f.block[0], blocks)
        if not f.transposes:
            return self._data(start, m, k), linear
        size = k * oracle.up(m, 32) * f.bits // 8
        part = self.operands["data"].array[self._at : self._at + size]
        self._at += size
        return oracle.codes_of(part.reshape(k, -1) if k else part.reshape(0, 0),
                               self.attributes.format), linear  # fmt: skip

    def check(self, out=None):
        out = (self.out.array if out is None else out).view(self.out.array.dtype)
        check_out(out, self.expected, self.element, self.epilogue)
        self.out.check_surroundings()


class Golden:
    """FP8 per tensor of the golden data, as a Problem."""

    attributes = Attributes("f8E4M3FN", "nvfuser", "linear", "rowwise")
    element, epilogue = "f32", None

    def __init__(self, folder):
        names = "data", "offsets", "scale_inv", "dequantized"
        stored = {n: np.load(folder / "fp8_e4m3_per_tensor" / f"{n}.npy") for n in names}
        self.expected = stored["dequantized"]
        self.out = cases.Poisoned(self.expected.shape, np.float32)
        self.operands = {
            "data": cases.Operand(stored["data"], "f8E4M3FN"),
            "offsets": cases.Operand(
                stored["offsets"], f"i{8 * stored['offsets'].itemsize}"
            ),
            "scale_inv": cases.Operand(stored["scale_inv"], "f32"),
            "out": cases.Operand(self.out.array, "f32"),
        }

    check = Problem.check


def types_of(problem, static=False):
    return {n: formats.memref(o, static) for n, o in problem.operands.items()}


def op_text(types, attributes, region=""):
    """The op on %data, %scales, ..., with the region of an epilogue."""
    a = attributes
    fmt = "" if a.format in oracle.PLAIN else f"format({a.format})"
    return f"""gq.grouped_dequantize {fmt} recipe({a.recipe})
        scale_layout({a.layout}) axis({a.axis}) outer({a.outer}) scale_max({a.scale_max})
        {formats.clause("ins", types, "data")}
        {formats.clause("scales", types, "scales")}
        {formats.clause("groups", types, "offsets", "scale_offsets")}
        {formats.clause("shapes", types, "first_dims", "last_dims")}
        {formats.clause("global_scale", types, "global_scale")}
        {formats.clause("outer_amax", types, "outer_amax")}
        {formats.clause("scale_inv", types, "scale_inv")} {region}
        {formats.clause("outs", types, "out")}"""


def function(problem, static=False):
    """MLIR of main(operands), which gives back its output; with an epilogue on
    tensors, else on memrefs."""
    if problem.epilogue:
        types = {
            n: t.replace("memref<", "tensor<") for n, t in types_of(problem, static).items()
        }
        if problem.attributes.layout == "tile128x4" and "scales" in types:
            types["scales"] = types["scales"].replace(">", ", #gq.tile128x4>")
        parameters = ", ".join(f"%{name} : {type}" for name, type in types.items())
        op = op_text(types, problem.attributes, problem.epilogue.region(problem.element))
        return f"""
          func.func @main({parameters}) -> {types["out"]} {{
            %y = {op} -> {types["out"]}
            return %y : {types["out"]}
          }}"""
    types = types_of(problem, static)
    parameters = ", ".join(f"%{name} : {type}" for name, type in types.items())
    return f"""
      func.func @main({parameters}) -> {types["out"]} {{
        {op_text(types, problem.attributes)}
        return %out : {types["out"]}
      }}"""


def listed():
    """Names of all formats, recipes, layouts and axes."""
    for fmt in oracle.FORMATS:
        for recipe in formats.recipes(fmt):
            for layout in formats.layouts(fmt):
                for axis in AXES:
                    yield fmt, recipe, layout, axis


def problems(fmt, recipe, layout, axis, out, rng=None):
    """Groups of rows, ragged ones, what `varied` has, and with te scales of up to 256."""
    for name in formats.ROWS:
        if formats.ROWS[name][0] < 10000:
            case = formats.rows_case(name, "bf16", fmt, recipe, layout)
            yield Problem(case, axis, out, rng)
    for name in formats.RAGGED:
        case = formats.ragged_case(name, "bf16", fmt, recipe, layout)
        yield Problem(case, axis, out, rng)
    for case, _ in formats.varied(fmt, recipe, layout, "f32", axis):
        yield Problem(case, axis, out, rng)
    if recipe == "te":
        small = oracle.Direction(four_over_six="mse", scale_max=256)
        case = formats.rows_case(
            "odd_600x144", "bf16", fmt, recipe, layout, rowwise=small, columnwise=small
        )
        yield Problem(case, axis, out, rng)
