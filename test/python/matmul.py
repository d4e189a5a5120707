# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Problems for gq.grouped_mm and gq.grouped_wgrad: what the two have in common."""

import dataclasses

import cases
import gq
import modules
import numpy as np
import oracle


def pairs(one_row):
    """Formats that can be multiplied, or element types where there are none; with
    `one_row` the first has blocks of one row."""
    formats = oracle.FORMATS.items()
    return [
        (a, b)
        for a, f in formats
        for b, g in formats
        if (f.scale, f.block[1]) == (g.scale, g.block[1]) and (f.block[0] == 1 or not one_row)
    ] + [(a, b) for a in oracle.PLAIN for b in oracle.PLAIN]


def codes(rng, shape, fmt):
    """Data [..., K] as stored, of random finite codes."""
    f = oracle.FORMATS.get(fmt)
    if f and f.bits == 4:
        return rng.integers(0, 256, (*shape[:-1], shape[-1] // 2), np.uint8)
    finite = 0x7C if "e5m2" in fmt.lower() else 0x7F
    return rng.integers(0, finite, shape, np.uint8) | rng.integers(0, 2, shape, np.uint8) << 7


def scales(rng, shape, fmt, wide):
    """Linear scales as stored; `wide` ones of any size, else near 1."""
    kind = oracle.FORMATS[fmt].scale
    if kind == "f8E4M3FN":
        return rng.integers(0, 0x7F, shape, np.uint8)
    if kind == "f8E8M0FNU":
        low, high = (0, 255) if wide else (120, 134)
        return rng.integers(low, high, shape, np.uint8)
    exponents = rng.uniform(-126, 127, shape) if wide else rng.uniform(-6, 6, shape)
    return np.exp2(exponents).astype(np.float32)


def nan_scale(fmt):
    """A byte that is no number, for scales that must not be read."""
    return 0x7F if oracle.FORMATS[fmt].scale == "f8E4M3FN" else 0xFF


def is_right(actual, low, high):
    """Whether each result lies in its bounds, or is NaN as they are."""
    actual, low, high = (x.astype(np.float64) for x in (actual, low, high))
    return ((low <= actual) & (actual <= high)) | (np.isnan(actual) & np.isnan(low))


@dataclasses.dataclass
class Problem:
    """Operands by name, those that are absent left out, and the formats.

    `out` is the operand of that name, `attributes` are further ones as MLIR
    writes them, `region` is what stands before `outs`, `precision` is that of sums.
    A subclass names the op, and the clauses that it is written with: a word and the
    operands in it.
    """

    fmt: str
    b_format: str
    operands: dict[str, np.ndarray]
    out: cases.Poisoned
    attributes: str = ""
    region: str = ""
    precision: oracle.Precision = oracle.F64

    OP, CLAUSES = "", {}

    def elements(self):
        """The element types of the operands in memory, by name."""
        f, g = (oracle.FORMATS.get(x) for x in (self.fmt, self.b_format))
        known = {"a": f.data if f else self.fmt, "b": g.data if g else self.b_format}
        known |= dict.fromkeys(["a_scales", "b_scales"], f.scale if f else None)
        return {
            name: known.get(name)
            or (modules.index_of if x.dtype.kind == "i" else modules.element_of)(x)
            for name, x in self.operands.items()
        }

    def numbers(self):
        """The attributes as the runtime takes them."""
        f = oracle.FORMATS.get(self.fmt)
        if not f:
            return -1, -1, 1
        formats = [gq.FORMATS.index(x) for x in (self.fmt, self.b_format)]
        return *formats, int(f.scale != "f32")

    def _attributes(self):
        if self.fmt not in oracle.FORMATS:
            return self.attributes
        other = f"b_format({self.b_format})" if self.b_format != self.fmt else ""
        linear = oracle.FORMATS[self.fmt].scale == "f32"
        layout = "scale_layout(linear)" if linear else ""
        return f"format({self.fmt}) {other} {layout} {self.attributes}"

    def _types(self, static, packed):
        types = {}
        for name, element in self.elements().items():
            shape, encoding = list(self.operands[name].shape), ""
            if element == "i8" and not packed:
                element, shape[-1] = "f4E2M1FN", 2 * shape[-1]
            if name in ("a_scales", "b_scales") and element != "f32":
                encoding = ", #gq.tile128x4"
            dims = "".join(f"{s if static else '?'}x" for s in shape)
            types[name] = f"tensor<{dims}{element}{encoding}>"
        return types

    def text(self, static=False, packed=False):
        """A module of the op; extents static or not, f4 as such or packed."""
        t = self._types(static, packed)
        arguments = ", ".join(f"%{name} : {t[name]}" for name in t)
        return f"""
          func.func @main({arguments}) -> {t["out"]} {{
            %c = {self.op(t)}
            return %c : {t["out"]}
          }}"""

    def op(self, types):
        """The op on %a, %b, ..."""
        clauses = []
        for word, names in self.CLAUSES.items():
            names = [n for n in names if n in types]
            values = ", ".join(f"%{n}" for n in names)
            of = ", ".join(types[n] for n in names)
            clauses += [self.region] if word == "outs" else []
            clauses += [f"{word}({values} : {of})"] if names else []
        return f"{self.OP} {self._attributes()} {' '.join(clauses)} -> {types['out']}"

    def run(self, **options):
        """Compiles the module of these options and calls it."""
        return modules.compiled(self.text(**options))(*self.operands.values())
