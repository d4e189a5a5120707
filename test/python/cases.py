# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Problems for gq.grouped_block_quantize: its operands, and what it must give.

A Case is quantized once by the oracle, in both directions; check() runs the op
for some of its outputs, by a runner that takes the operands and attributes.
"""

import dataclasses

import modules
import numpy as np
import oracle

# Of the op, in its order.
OPERANDS = [
    "input", "row_indices", "offsets", "scale_offsets", "first_dims", "last_dims",
    "global_scale", "outer_amax", "columnwise_outer_amax", "data", "scales",
    "columnwise_data", "columnwise_scales", "amax", "dbias",
    "scale_offsets_out",
]  # fmt: skip
OUTPUTS = OPERANDS[OPERANDS.index("data") :]


@dataclasses.dataclass
class Operand:
    """An array and its element type as MLIR writes it."""

    array: np.ndarray
    element: str


@dataclasses.dataclass
class Attributes:
    format: str
    recipe: str
    layout: str
    rows: str


class Expected:
    """An output: poison, into which groups are written."""

    def __init__(self, shape, element, dtype=np.uint8):
        self.element = element
        self.poisoned = modules.Poisoned(shape, dtype)
        self.array = self.poisoned.array.copy()

    def write(self, values, at=0):
        values = np.ascontiguousarray(values, self.array.dtype).reshape(-1)
        self.array.reshape(-1)[at : at + values.size] = values


class Case:
    """Groups [m, K] and the outputs that they must give.

    Arguments:
      groups: arrays [m, K] of one dtype, the same K unless `ragged`.
      outside: arrays [m, K] of rows before and after all groups; None if
        `ragged`, where `gaps` elements follow each group instead.
      gaps: a number a group. Tiles of scales that are left out before it, so
        that scale offsets are given; None derives them.
      closed: with scale offsets, whether the offsets say where the last group
        ends.
      outer: global scales or, for te, outer amaxes: None, a scalar or [G].
      columnwise_outer: the outer amaxes of columns, likewise.
      spare: elements that flat outputs have more than they need.
    """

    def __init__(
        self, groups, fmt, recipe="nvfuser", layout="tile128x4", rows="all",
        outside=None, ragged=False, gaps=None, closed=True, index="int64",
        outer=None, columnwise_outer=None, spare=5,
    ):  # fmt: skip
        self.attributes = Attributes(fmt, recipe, layout, rows)
        self.groups, self.ragged = groups, ragged
        self.gaps, self.spare, self.index = gaps, spare, index
        self.closed = closed or gaps is None or ragged
        self.outside = outside
        self.format = oracle.FORMATS[fmt]
        self.inputs, self.expected = {}, {}
        self._place()
        for name, values in [("outer", outer), ("columnwise_outer", columnwise_outer)]:
            if values is not None:
                te = name + "_amax" if recipe == "te" else "global_scale"
                self.inputs[te] = Operand(np.asarray(values, np.float32), "f32")
        if columnwise_outer is None:
            columnwise_outer = outer
        self._rows(outer)
        self._columns(columnwise_outer)
        amax = Expected(len(groups), "f32", np.float32)
        with np.errstate(invalid="ignore"):
            amax.write([self._amax(g) for g in groups])
        self.expected["amax"] = amax

    @staticmethod
    def _amax(x):
        return np.nanmax(np.abs(x.astype(np.float64)), initial=0.0)

    def _indices(self, values):
        values = np.array(values, self.index)
        return Operand(values, modules.index_of(values))

    def _place(self):
        """The input and what says where its groups are."""
        groups, n = self.groups, len(self.groups)
        if self.ragged:
            sizes = [g.size + gap for g, gap in zip(groups, self.gaps or [0] * n)]
            starts = np.cumsum([4, *sizes])
            x = np.full(starts[-1] + 6, np.nan, groups[0].dtype)
            for g, start in zip(groups, starts):
                x[start : start + g.size] = g.reshape(-1)
            self.inputs["first_dims"] = self._indices([len(g) for g in groups])
            self.inputs["last_dims"] = self._indices([g.shape[1] for g in groups])
        else:
            front, back = self.outside
            x = np.concatenate([front, *groups, *([back] if self.closed else [])])
            starts = np.cumsum([len(front), *(len(g) for g in groups)])
            starts = starts if self.closed else starts[:-1]
        self.starts = starts
        self.inputs["input"] = Operand(x, modules.element_of(x))
        self.inputs["offsets"] = self._indices(starts)

    def _outer(self, outer, e):
        return None if outer is None else outer if np.ndim(outer) == 0 else outer[e]

    def _data(self):
        x = self.inputs["input"].array
        return Expected((*x.shape[:-1], x.shape[-1] * self.format.bits // 8),
                        self.format.data)  # fmt: skip

    def _flat(self, parts, element, unit):
        out = Expected(sum(p.size for p in parts) + self.spare * unit, element,
                       parts[0].dtype if parts else np.uint8)  # fmt: skip
        at = 0
        for p in parts:
            out.write(p, at)
            at += p.size
        return out

    def _rows(self, outer):
        a, f = self.attributes, self.format
        codes, linear = [], []
        for e, g in enumerate(self.groups):
            c, s = oracle.quantize_rows(g, a.format, a.recipe, self._outer(outer, e))
            codes.append(oracle.stored(c, a.format))
            linear.append(s)
        data = self._data()
        width = 1 if self.ragged else data.array.shape[1]
        for c, start in zip(codes, self.starts):
            at = int(start) * f.bits // 8 if self.ragged else int(start) * width
            data.write(c, at)
        if not self.ragged and a.rows == "all":
            shared = outer if np.ndim(outer) == 0 else None
            back = self.outside[1][: None if self.closed else 0]
            for x, at in (self.outside[0], 0), (back, len(data.array) - len(back)):
                c, _ = oracle.quantize_rows(x, a.format, a.recipe, shared)
                data.write(oracle.stored(c, a.format), at * width)
        self.expected["data"] = data
        self.expected["scales"] = self._scales(linear)

    def _scales(self, linear):
        a, f = self.attributes, self.format
        scale_dtype = np.float32 if f.scale == "f32" else np.uint8
        if self.ragged or (a.layout == "linear" and f.block[0] > 1):
            parts = [oracle.laid_out(s, a.layout) for s in linear]
            return self._flat(parts, f.scale, 1)
        m, k = self.inputs["input"].array.shape
        c = k // f.block[1]
        if a.layout == "linear":
            out = Expected((m, c), f.scale, scale_dtype)
            for s, start in zip(linear, self.starts):
                out.write(s, int(start) * c)
            return out
        p, row, starts = oracle.up(c, 4), 0, []
        for s, gap in zip(linear, self.gaps or [0] * len(linear)):
            starts.append(row + 128 * gap)
            row = starts[-1] + oracle.up(len(s), 128)
        out = Expected((row + 128 * (self.spare > 0), p), f.scale)
        for s, start in zip(linear, starts):
            out.write(oracle.tile(s), start * p)
        if self.gaps is None:
            starts = self._indices(starts)
            out_starts = Expected(len(linear), starts.element, starts.array.dtype)
            out_starts.write(starts.array)
            self.expected["scale_offsets_out"] = out_starts
        else:
            self.inputs["scale_offsets"] = self._indices(starts)
        return out

    def _columns(self, outer):
        a, f = self.attributes, self.format
        codes, scales = [], []
        for e, g in enumerate(self.groups):
            c, s = oracle.quantize_columns(g, a.format, a.recipe, self._outer(outer, e))
            codes.append(oracle.stored(c, a.format))
            scales.append(oracle.laid_out(s, a.layout))
        if f.transposes:
            data = self._flat([c.reshape(-1) for c in codes], f.data, 1)
        else:
            data = self._data()
            for c, start in zip(codes, self.starts):
                width = data.array.shape[1] if data.array.ndim == 2 else None
                at = int(start) * f.bits // 8 if self.ragged else int(start) * width
                data.write(c, at)
        self.expected["columnwise_data"] = data
        self.expected["columnwise_scales"] = self._flat(scales, f.scale, 1)

    def run(self, runner, directions="both", amax=False, dbias=None,
            scale_offsets_out=False):  # fmt: skip
        """Runs the op; checks and returns its outputs."""
        wanted = {"amax"} if amax else set()
        if directions != "columnwise":
            wanted |= {"data", "scales"}
            if scale_offsets_out:
                wanted |= {"scale_offsets_out"}
        if directions != "rowwise":
            wanted |= {"columnwise_data", "columnwise_scales"}
        operands = {}
        for name in OPERANDS:
            if name in wanted:
                e = self.expected[name]
                e.poisoned.reset()
                operands[name] = Operand(e.poisoned.array, e.element)
            elif name == "dbias" and dbias:
                k = self.inputs["input"].array.shape[1]
                out = modules.Poisoned((len(self.groups), k), modules.ELEMENTS[dbias])
                operands[name] = Operand(out.array, dbias)
            elif name in self.inputs:
                operands[name] = self.inputs[name]
        if directions == "columnwise":
            operands.pop("scale_offsets", None)
        if directions == "rowwise":
            operands.pop("columnwise_outer_amax", None)
        results = runner(operands, self.attributes)
        for name in sorted(wanted):
            e = self.expected[name]
            e.poisoned.check_surroundings()
            np.testing.assert_array_equal(
                results[name].view(e.array.dtype), e.array, name
            )
        if dbias:
            out.check_surroundings()
        return results
