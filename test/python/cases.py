# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Problems for the ops that quantize groups: operands, and what they must give.

A Case is quantized once by the oracle, in both directions. operands() are those
of an op with some of its outputs, and check() says whether they are right.
"""

import dataclasses

import elements
import numpy as np
import oracle

# Of the ops, in their order.
OPERANDS = [
    "input", "row_indices", "offsets", "scale_offsets", "first_dims", "last_dims",
    "global_scale", "outer_amax", "columnwise_outer_amax", "rng_state", "scale",
    "noop_flag", "data", "scales", "columnwise_data", "columnwise_scales", "amax",
    "row_amax", "dbias", "scale_offsets_out", "scale_inv",
]  # fmt: skip
OUTPUTS = OPERANDS[OPERANDS.index("data") :]
# The contents of outputs before a call: no code or scale that a test expects.
POISON = 0xA5


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
    rowwise: oracle.Direction = oracle.Direction()
    columnwise: oracle.Direction = oracle.Direction()

    def directions(self, names):
        """The directions with outputs among `names`, by name."""
        return {
            word: getattr(self, word)
            for word, data in (("rowwise", "data"), ("columnwise", "columnwise_data"))
            if data in names
        }


class Poisoned:
    """An output full of POISON, with more of it before and after."""

    def __init__(self, shape, dtype=np.uint8):
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        self._all = np.empty(size + 256, np.uint8)
        self.array = self._all[128:-128].view(dtype).reshape(shape)
        self._all[:] = POISON

    def check_surroundings(self):
        assert (self._all[:128] == POISON).all()
        assert (self._all[-128:] == POISON).all()


class Expected:
    """An output: poison, into which groups are written."""

    def __init__(self, shape, element, dtype=np.uint8):
        self.element = element
        self.array = Poisoned(shape, dtype).array

    def poisoned(self):
        """What is passed to the op instead."""
        return Poisoned(self.array.shape, self.array.dtype)

    def write(self, values, at=0):
        values = np.ascontiguousarray(values, self.array.dtype).reshape(-1)
        self.array.reshape(-1)[at : at + values.size] = values


def largest(x):
    """The largest magnitude, NaN dropped; 0 if there is none."""
    return np.nanmax(np.abs(x.astype(np.float64)), initial=0.0)


def check_bits(actual, expected, name):
    """Raises AssertionError unless the elements of `actual` are stored so."""
    a, b = (x.reshape(-1).view(f"u{expected.itemsize}") for x in (actual, expected))
    if not np.array_equal(a, b):
        np.testing.assert_array_equal(a, b, name)


class Case:
    """Groups [m, K] and the outputs that they must give.

    Arguments:
      groups: float32 arrays [m, K], the same K unless `ragged`, of numbers that
        `element` has.
      outside: arrays [m, K] of rows before and after all groups; None is none.
        If `ragged`, `gaps` elements follow each group instead.
      capacity: the rows that there are; None is no more than needed.
      gaps: a number a group. Tiles of scales that are left out before it, so
        that scale offsets are given; None derives them.
      closed: with scale offsets, whether the offsets say where the last group
        ends.
      outer: global scales or, for te, outer amaxes: None, a scalar or [G]. Of a
        format with a single scale the scales or, for te, the amaxes of which they
        follow.
      columnwise_outer: the outer amaxes of columns, likewise.
      spare: elements that flat outputs have more than they need.
      rowwise, columnwise: the directions. With an outer amax per row, `outer` has
        that of each row of the input; with one per column, `columnwise_outer` is
        [G, K].
      rng: seed and offset of stochastic rounding.
      gather: a generator; the rows of the input are shuffled, and row indices
        say where they are.
    """

    def __init__(
        self, groups, element, fmt, recipe="nvfuser", layout="tile128x4",
        rows="all", outside=None, capacity=None, ragged=False, gaps=None,
        closed=True, index="int64", outer=None, columnwise_outer=None, spare=5,
        gather=None, rowwise=oracle.Direction(), columnwise=oracle.Direction(),
        rng=(0, 0),
    ):  # fmt: skip
        self.attributes = Attributes(fmt, recipe, layout, rows, rowwise, columnwise)
        self.rng = rng
        state = np.array(rng, np.uint64).view(np.int64)
        self.groups, self.element, self.ragged = groups, element, ragged
        self.gaps, self.spare, self.index = gaps, spare, index
        self.closed = closed or gaps is None or ragged
        self.outside = outside or (groups[0][:0],) * 2
        self.format = oracle.ALL_FORMATS[fmt]
        self.inputs, self.expected, self._poisoned = {}, {}, []
        # By output, of each matrix: where it begins and how it is dequantized.
        self._numbers = {"data": [], "columnwise_data": []}
        self._place(capacity, gather)
        self.inputs["rng_state"] = Operand(state, "i64")
        given = "global_scale" if fmt in oracle.FORMATS else "scale"
        for name, values in [("outer", outer), ("columnwise_outer", columnwise_outer)]:
            if values is not None:
                te = name + "_amax" if recipe == "te" else given
                self.inputs[te] = Operand(np.asarray(values, np.float32), "f32")
        if columnwise_outer is None and rowwise.outer != "row":
            columnwise_outer = outer
        self._rows(outer)
        self._columns(columnwise_outer)
        amax = Expected(len(groups), "f32", np.float32)
        with np.errstate(invalid="ignore"):
            amax.write([largest(g) for g in groups])
        self.expected["amax"] = amax
        if fmt in oracle.TENSOR_FORMATS:
            self._scale_inv(outer)

    def _scale_inv(self, outer):
        a = self.attributes
        scale = oracle.tensor_scale(a.format, outer) if a.recipe == "te" else outer
        with np.errstate(all="ignore"):
            inverse = np.float32(1) / np.asarray(scale, np.float32)
        inverse = np.where(np.isnan(inverse), np.float32(np.nan), inverse)
        out = Expected(len(self.groups), "f32", np.float32)
        out.write(np.broadcast_to(inverse, len(self.groups)))
        self.expected["scale_inv"] = out

    def _indices(self, values):
        values = np.array(values, self.index)
        return Operand(values, f"i{8 * values.itemsize}")

    def _place(self, capacity, gather):
        """The input and what says where its groups are."""
        groups, n = self.groups, len(self.groups)
        if self.ragged:
            sizes = [g.size + gap for g, gap in zip(groups, self.gaps or [0] * n)]
            starts = np.cumsum([16, *sizes])
            x = np.full(starts[-1] + 6, np.nan, np.float32)
            for g, start in zip(groups, starts):
                x[start : start + g.size] = g.reshape(-1)
            self.inputs["first_dims"] = self._indices([len(g) for g in groups])
            self.inputs["last_dims"] = self._indices([g.shape[1] for g in groups])
        else:
            front, back = self.outside
            x = np.concatenate([front, *groups, *([back] if self.closed else [])])
            starts = np.cumsum([len(front), *(len(g) for g in groups)])
            starts = starts if self.closed else starts[:-1]
        x = elements.encode(x, self.element)
        if capacity is not None:
            unused = np.zeros((capacity - len(x), x.shape[1]), x.dtype)
            x = np.concatenate([x, unused])
        self.starts, self.shape = starts, x.shape
        if gather is not None:
            rows = np.ones((len(x) + 3, x.shape[1]), x.dtype)
            at = gather.permutation(len(rows))[: len(x)]
            rows[at], x = x, rows
            self.inputs["row_indices"] = self._indices(at)
        self.inputs["input"] = Operand(x, self.element)
        self.inputs["offsets"] = self._indices(starts)

    def _outer(self, outer, e, direction):
        """That of group e, as it broadcasts to the scales."""
        if direction.outer == "row":
            return outer[self.starts[e] :][: len(self.groups[e]), None]
        if direction.outer == "column":
            return outer[e][:, None]
        return None if outer is None else outer if np.ndim(outer) == 0 else outer[e]

    def _where(self, row, pitch):
        """The Place of rows of `pitch` elements from a row on, or an element."""
        first = int(row) if self.ragged else int(row) * pitch
        return oracle.Place(first, pitch, *self.rng)

    def _data(self):
        *rows, columns = self.shape
        columns = columns * self.format.bits // 8
        return Expected((*rows, columns), self.format.data)

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
            c, s = oracle.quantize_rows(
                g, a.format, a.recipe, self._outer(outer, e, a.rowwise), a.rowwise,
                self._where(self.starts[e], g.shape[1]),
            )  # fmt: skip
            codes.append(oracle.stored(c, a.format))
            linear.append(s)
            shared = self._outer(outer, e, a.rowwise)
            self._add_numbers("data", self.starts[e], oracle.dequantize_rows, (c, s), shared)
        data = self._data()
        width = 1 if self.ragged else data.array.shape[1]
        for c, start in zip(codes, self.starts):
            at = int(start) * f.bits // 8 if self.ragged else int(start) * width
            data.write(c, at)
        if not self.ragged and a.rows == "all":
            shared = outer if np.ndim(outer) == 0 else None
            front, back = self.outside
            for x, at in (front, 0), (back[: None if self.closed else 0], self.starts[-1]):
                if a.rowwise.outer == "row":
                    shared = outer[at:][: len(x), None]
                c, s = oracle.quantize_rows(
                    x, a.format, a.recipe, shared, a.rowwise, self._where(at, x.shape[1])
                )
                self._add_numbers("data", at, oracle.dequantize_rows, (c, s), shared)
                data.write(oracle.stored(c, a.format), int(at) * width)
        self.expected["data"] = data
        scales = self._scales(linear)
        if scales is not None:
            self.expected["scales"] = scales

    def _add_numbers(self, name, at, dequantize, codes, outer):
        """What the numbers of rows from row, or of elements from element, `at` on are
        made of."""
        a = self.attributes
        fmt, recipe = a.format, a.recipe
        direction = a.rowwise if name == "data" else a.columnwise
        if fmt in oracle.TENSOR_FORMATS:
            if outer is None:
                outer = np.float32(1)
            elif recipe == "te":
                outer = oracle.tensor_scale(fmt, outer)
            with np.errstate(all="ignore"):
                outer = np.float32(1) / np.float32(outer)
            fmt = self.format.data
        elif outer is None:
            recipe = "nvfuser"
        arguments = *codes, fmt, recipe, outer, direction.scale_max
        self._numbers[name].append((int(at), dequantize, arguments))

    def _expect_numbers(self, name, element):
        """Data that are the numbers which codes stand for."""
        out = Expected(self.shape, element, elements.DTYPES[element])
        width = 1 if self.ragged else self.shape[1]
        for at, dequantize, arguments in self._numbers[name]:
            x = np.ascontiguousarray(dequantize(*arguments), np.float32)
            out.write(oracle.stored_float(x, element), at * width)
        return out

    def _scales(self, linear):
        a, f = self.attributes, self.format
        if f.scale is None:
            return None
        scale_dtype = np.float32 if f.scale == "f32" else np.uint8
        if self.ragged or (a.layout == "linear" and f.block[0] > 1):
            parts = [oracle.laid_out(s, a.layout) for s in linear]
            return self._flat(parts, f.scale, 1)
        m, k = self.shape
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
            c, s = oracle.quantize_columns(
                g, a.format, a.recipe, self._outer(outer, e, a.columnwise),
                a.columnwise, self._where(self.starts[e], g.shape[1]),
            )  # fmt: skip
            codes.append(oracle.stored(c, a.format))
            scales.append(oracle.laid_out(s, a.layout))
            shared = self._outer(outer, e, a.columnwise)
            self._add_numbers(
                "columnwise_data", self.starts[e], oracle.dequantize_columns,
                (c, s, len(g)), shared,
            )  # fmt: skip
        if f.transposes:
            data = self._flat([c.reshape(-1) for c in codes], f.data, 1)
        else:
            data = self._data()
            for c, start in zip(codes, self.starts):
                width = data.array.shape[1] if data.array.ndim == 2 else None
                at = int(start) * f.bits // 8 if self.ragged else int(start) * width
                data.write(c, at)
        self.expected["columnwise_data"] = data
        if f.scale is not None:
            self.expected["columnwise_scales"] = self._flat(scales, f.scale, 1)

    def operands(self, directions="both", amax=False, dbias=None,
                 scale_offsets_out=False, row_amax=False, noop=None, numbers=None):  # fmt: skip
        """Operands by name; outputs are new and poisoned. `dbias` is its element
        type, `noop` the flag. With `row_amax`, that is an output instead of the
        outer amaxes of rows, which are what it must be. With `numbers`, a pair, the
        data of a direction are numbers of such an element instead of codes, unless
        it is None."""
        wanted = {"amax"} if amax else set()
        numbers = dict(zip(["data", "columnwise_data"], numbers or (None, None)))
        made = {n: self._expect_numbers(n, e) for n, e in numbers.items() if e}
        wanted |= {"scale_inv"} & self.expected.keys()
        unread = set()
        if directions == "columnwise":
            unread = {"scale_offsets"}
        else:
            wanted |= {"data", "scales"} & self.expected.keys()
            if scale_offsets_out:
                wanted |= {"scale_offsets_out"}
        if directions == "rowwise":
            unread = {"columnwise_outer_amax"}
        else:
            wanted |= {"columnwise_data", "columnwise_scales"} & self.expected.keys()
        if dbias:
            shape = len(self.groups), self.shape[1]
            self.expected["dbias"] = Expected(shape, dbias, elements.DTYPES[dbias])
            wanted |= {"dbias"}
        attributes, used = self.attributes, self.attributes.directions(wanted)
        if directions == "columnwise" and attributes.rowwise.outer == "row":
            unread |= {"outer_amax"}
        if not any(d.stochastic for d in used.values()):
            unread |= {"rng_state"}
        if row_amax:
            self._expect_row_amax()
            wanted |= {"row_amax"}
            unread |= {"outer_amax"}
        self._noop = bool(noop)
        self.inputs.pop("noop_flag", None)
        if noop is not None:
            self.inputs["noop_flag"] = Operand(np.array(noop, np.int32), "i32")
        wanted -= {name.replace("data", "scales") for name in made}
        if "data" in made:
            wanted -= {"scale_offsets_out"}
            unread |= {"scale_offsets"}
        self._made = {**self.expected, **made}
        operands = {}
        for name in OPERANDS:
            if name in wanted:
                self._poisoned.append(self._made[name].poisoned())
                element = self._made[name].element
                operands[name] = Operand(self._poisoned[-1].array, element)
            elif name in self.inputs and name not in unread:
                operands[name] = self.inputs[name]
        return operands

    def _expect_row_amax(self):
        amaxes, first, last = self.inputs["outer_amax"].array, 0, self.shape[0]
        if self.attributes.rows == "grouped":
            first = int(self.starts[0])
            last = first + sum(len(g) for g in self.groups)
        self.expected["row_amax"] = Expected(self.shape[0], "f32", np.float32)
        self.expected["row_amax"].write(amaxes[first:last], first)

    def check(self, results):
        """Compares results by name with what they must be."""
        for name in sorted(results):
            e = self._made[name]
            if self._noop:
                assert (results[name].view(np.uint8) == POISON).all(), f"{name} of no operation"
            elif name == "dbias":
                stored = results[name].view(e.array.dtype)
                self._check_dbias(elements.decode(stored, e.element), e.element)
            else:
                check_bits(results[name], e.array, name)
        while self._poisoned:
            self._poisoned.pop().check_surroundings()

    def _check_dbias(self, dbias, element):
        """Within 1e-5 * sqrt(rows) of float64, rounded once."""
        for g, d in zip(self.groups, dbias):
            expected = g.astype(np.float64).sum(0)
            off = 1e-5 * np.sqrt(len(g))
            assert (d >= elements.rounded(expected - off, element)).all(), "dbias"
            assert (d <= elements.rounded(expected + off, element)).all(), "dbias"

    def run(self, runner, **options):
        """Runs the op; checks and returns its outputs."""
        results = runner(self.operands(**options), self.attributes)
        self.check(results)
        return results
