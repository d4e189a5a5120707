# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Epilogues of gq.grouped_mm, as MLIR and in NumPy.

For pytest and for test/gpu/run.py, so it needs nothing but NumPy.
"""

import dataclasses

import numpy as np


@dataclasses.dataclass
class Epilogue:
    """x / 2 + 1, of pairs max(gate, 0) * up, of products rounded to `product`."""

    pairs: str | None
    product: str

    def region(self, out):
        """As MLIR writes it, for elements of `out`."""
        gate, up = ("%e0", "%e1") if self.product == "f32" else ("%x0", "%x1")
        names = [gate, up] if self.pairs else [gate]
        lines = []
        if self.product != "f32":
            lines = [
                f"{x} = arith.extf %e{i} : {self.product} to f32"
                for i, x in enumerate(names)
            ]
        if self.pairs:
            lines += ["%zero = arith.constant 0.0 : f32",
                      f"%relu = arith.maximumf {gate}, %zero : f32",
                      f"%y = arith.mulf %relu, {up} : f32"]  # fmt: skip
        else:
            lines += ["%half = arith.constant 0.5 : f32", "%one = arith.constant 1.0 : f32",
                      f"%x = arith.mulf {gate}, %half : f32",
                      "%y = arith.addf %x, %one : f32"]  # fmt: skip
        if out != "f32":
            lines.append(f"%r = arith.truncf %y : f32 to {out}")
        lines.append(f"gq.yield {'%y' if out == 'f32' else '%r'} : {out}")
        arguments = ", ".join(f"%e{i} : {self.product}" for i in range(len(names)))
        return "epilogue {\n^bb0(" + arguments + "):\n  " + "\n  ".join(lines) + "\n}"

    def columns(self, c):
        """The columns of gate and of up."""
        half = c.shape[1] // 2
        if self.pairs == "interleaved":
            return c[:, ::2], c[:, 1::2]
        return c[:, :half], c[:, half:]

    def apply(self, *columns):
        """In float32."""
        x = [c.astype(np.float32) for c in columns]
        with np.errstate(all="ignore"):
            if self.pairs:
                return np.maximum(x[0], np.float32(0)) * x[1]
            return x[0] * np.float32(0.5) + np.float32(1)

    def bounds(self, low, high, dtype):
        """The least and the largest results, where products have these bounds."""
        if not self.pairs:
            corners = [self.apply(x) for x in (low, high)]
        else:
            (gl, ul), (gh, uh) = self.columns(low), self.columns(high)
            # Infinity times 0, which up may be in between, is no number either.
            zero = np.clip(0, ul, uh)
            corners = [self.apply(g, u) for g in (gl, gh) for u in (ul, uh, zero)]
        with np.errstate(over="ignore"):
            corners = np.stack(corners).astype(dtype).astype(np.float64)
        # Infinity times 0: where one bound is NaN and another is not, all is right.
        some = np.isnan(corners).any(0) & ~np.isnan(corners).all(0)
        least, most = corners.min(0), corners.max(0)
        return np.where(some, -np.inf, least), np.where(some, np.inf, most), some
