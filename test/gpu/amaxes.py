# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Problems for gq.grouped_amax, compiled and compared with the oracle.

For run.py and for pytest, so it needs nothing but NumPy and what is beside it or
in test/python.
"""

import cases
import elements
import numpy as np
import oracle
import values

OUTPUTS = ["amax", "columnwise_amax", "row_amax", "column_amax"]
# The rows and columns of groups; the first of all of them are those of groups
# of rows.
SIZES = [
    [128], [1], [0, 127, 1, 33, 257, 0, 17], [15, 97, 31, 200, 129], [], [0, 0], [3] * 150,
]  # fmt: skip
RAGGED = [
    [(256, 128), (256, 896)],
    [(1, 128), (33, 16), (0, 144), (127, 272), (5, 0), (300, 48)],
]


class Problem:
    """Groups of rows, or ragged ones, and the outputs that they must give.

    Arguments:
      sizes: the rows of each group or, if ragged, its rows and columns.
      outs: names in OUTPUTS.
      static: whether extents are in the types.
      outside: rows before and after all groups or, if ragged, elements after
        each, in units of 16.
      gather: the input's rows are shuffled, and row indices say where they are.
      producer: the input is multiplied by a number a row.
      signs: of a transform of columns; None is no transform.
      noop: the flag; None is none.
    """

    def __init__(
        self, rng, sizes, k, element, outs, index="i32", rows="all", static=False,
        outside=(0, 0), gather=False, producer=False, signs=None, noop=None,
    ):  # fmt: skip
        outs = [name for name in outs if name != "columnwise_amax" or signs is not None]
        self.signs = signs if {"columnwise_amax", "column_amax"} & set(outs) else None
        self.outs, self.rows, self.static, self.element = outs, rows, static, element
        self.gather, self.producer, self.index = gather, producer, index
        self.ragged = k is None
        dtype = np.int32 if index == "i32" else np.int64
        self._inputs, self._expected = {}, {}
        if self.ragged:
            groups = [self._matrix(rng, m, columns) for m, columns in sizes]
            ends = np.cumsum([oracle.up(g.size, 16) + 16 * outside[0] for g in groups])
            x = np.full((ends[-1],), 1e30, np.float32)
            starts = np.array([0, *ends])
            for g, start in zip(groups, starts):
                x[start : start + g.size] = g.reshape(-1)
            self._add("input", elements.encode(x, element), element)
            self._add("offsets", starts.astype(dtype), index)
            self._add("first_dims", np.array([m for m, _ in sizes], dtype), index)
            self._add("last_dims", np.array([c for _, c in sizes], dtype), index)
        else:
            x = self._matrix(rng, outside[0] + sum(sizes) + outside[1], k)
            starts = outside[0] + np.cumsum([0, *sizes])
            computed = self._add_rows(rng, x, dtype)
            self._add("offsets", starts.astype(dtype), index)
            groups = [computed[a:b] for a, b in zip(starts, starts[1:])]
            self._expect_rows(computed, starts)
            columns = [oracle.amax(self._columns(g), 0) for g in groups]
            self._expect("column_amax", np.array(columns, np.float32).reshape(len(groups), k))
        if noop is not None:
            self._add("noop_flag", np.array(noop, np.int32), "i32")
        columnwise = [oracle.amax(self._columns(g)) for g in groups]
        self._expect("columnwise_amax", np.array(columnwise, np.float32))
        self._expect("amax", np.array([oracle.amax(g) for g in groups], np.float32))
        if noop:
            for array in self._expected.values():
                array.view(np.uint8)[...] = cases.POISON

    def _matrix(self, rng, m, k):
        return values.matrix(rng, m, k, self.element)

    def _columns(self, group):
        return group if self.signs is None else oracle.transformed_columns(group, self.signs)

    def _add(self, name, array, element):
        self._inputs[name] = cases.Operand(array, element)

    def _add_rows(self, rng, x, dtype):
        """The inputs, and what is computed of them."""
        m, computed = len(x), x
        if self.producer:
            factors = rng.standard_normal(m).astype(np.float32)
            with np.errstate(all="ignore"):
                computed = x * factors[:, None]
        if self.gather:
            at = rng.permutation(m + 3)[:m]
            source = np.ones((m + 3, x.shape[1]), np.float32)
            source[at], x = x, source
            self._add("row_indices", at.astype(dtype), self.index)
        self._add("input", elements.encode(x, self.element), self.element)
        if self.producer:
            self._add("factors", factors, "f32")
        return computed

    def _expect_rows(self, x, starts):
        expected = cases.Expected(len(x), "f32", np.float32)
        if self.rows == "all":
            starts = [0, len(x)]
        expected.write(oracle.amax(x[starts[0] : starts[-1]], 1), starts[0])
        self._expect("row_amax", expected.array)

    def _expect(self, name, array):
        if name in self.outs:
            self._expected[name] = array

    def operands(self):
        outs = {name: cases.Operand(cases.Poisoned(self._expected[name].shape, np.float32).array, "f32")
                for name in OUTPUTS if name in self.outs}  # fmt: skip
        return {**self._inputs, **outs}

    @property
    def arrays(self):
        return [o.array for o in self.operands().values()]

    @property
    def text(self):
        """(operands) -> the results."""
        types = {
            name: f"tensor<{''.join(f'{n}x' if self.static else '?x' for n in o.array.shape)}{o.element}>"
            for name, o in self.operands().items()
        }

        def clause(word, *names):
            names = [name for name in names if name in types]
            if not names:
                return ""
            return f"{word}({', '.join(f'%{n}' for n in names)} : {', '.join(types[n] for n in names)})"

        maps = producer = ""
        if self.producer:
            rows = "affine_map<(m, k)[r] -> (r, k)>" if self.gather else "affine_map<(m, k) -> (m, k)>"
            maps = f"maps [{rows}, affine_map<(m, k) -> (m)>]"
            widen = "" if self.element == "f32" else f"%w = arith.extf %e : {self.element} to f32"
            producer = f"""producer {{
            ^bb0(%e : {self.element}, %f : f32):
              {widen}
              %p = arith.mulf {"%w" if widen else "%e"}, %f : f32
              gq.yield %p : f32
            }}"""
        columnwise = ""
        if self.signs is not None:
            columnwise = f"columnwise<transform = hadamard16, signs = {self.signs:#x}>"
        outs = [name for name in OUTPUTS if name in self.outs]
        results = ", ".join(types[name] for name in outs)
        return f"""
        func.func @main({", ".join(f"%{n} : {t}" for n, t in types.items())}) -> ({results}) {{
          {", ".join(f"%r_{n}" for n in outs)} = gq.grouped_amax rows({self.rows}) {columnwise}
              {clause("ins", "input", "factors")} {clause("row_indices", "row_indices")} {maps}
              {clause("groups", "offsets")} {clause("shapes", "first_dims", "last_dims")} {clause("noop_flag", "noop_flag")}
              {" ".join(clause(f"{name}_out", name) for name in outs)} -> {results} {producer}
          return {", ".join(f"%r_{n}" for n in outs)} : {results}
        }}"""

    def check(self, results):
        for name, result in zip([n for n in OUTPUTS if n in self.outs], results, strict=True):
            cases.check_bits(result, self._expected[name], name)


def some(rng):
    """A random problem."""
    element = rng.choice(["f32", "bf16", "f16"])
    index = rng.choice(["i32", "i64"])
    static = bool(rng.integers(2))
    signs = [None, 0, 0xD7E8, int(rng.integers(1 << 16))][rng.integers(4)]
    if rng.integers(4) == 0:
        sizes = RAGGED[rng.integers(len(RAGGED))]
        return Problem(rng, sizes, None, element, ["amax", "columnwise_amax"], index,
                       static=static, outside=(int(rng.integers(3)), 0), signs=signs)  # fmt: skip
    sizes = SIZES[rng.integers(len(SIZES))]
    k = int(rng.choice([16, 48, 128, 272, 1040]))
    outs = [name for name in OUTPUTS if rng.integers(2)] or ["column_amax"]
    rows = rng.choice(["all", "grouped"])
    outside = tuple(int(n) for n in rng.integers(0, 20, 2))
    gather, producer = (bool(rng.integers(3) == 0) for _ in range(2))
    if outs == ["columnwise_amax"] and signs is None:
        outs = ["amax"]
    return Problem(rng, sizes, k, element, outs, index, rows, static, outside, gather, producer, signs)
