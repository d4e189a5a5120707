# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of activations.mlir, for run.py and for pytest.

exp and tanh differ from one target to another, and nothing else does. So the
bytes must be right for a value that they may have: an element is computed in
float64 with a bound of the error that float32 makes, half an ulp an operation
and two for exp and tanh (CUDA's functions promise that, and the C library's are
better). If both ends of that interval are the same bf16, its bytes must be what
the oracle makes of that; if not, of the one or of the other.
"""

import pathlib

import cases
import elements
import numpy as np

TEXT = (pathlib.Path(__file__).parent / "activations.mlir").read_text()


class Bounded:
    """A number in float64, and by how much what float32 makes of it is off."""

    HALF_ULP = 2.0**-24

    def __init__(self, value, error=0.0):
        self.value, self.error = np.broadcast_arrays(value, np.float64(error))

    @classmethod
    def rounded(cls, value, error, half_ulps=1):
        """The result of an operation, `error` off because of its operands."""
        exact = (error == 0) & (value == value.astype(np.float32))
        rounding = half_ulps * cls.HALF_ULP * (abs(value) + error)
        return cls(value, np.where(exact, 0, error + rounding))

    def __add__(self, other):
        other = bounded(other)
        return self.rounded(self.value + other.value, self.error + other.error)

    def __neg__(self):
        return Bounded(-self.value, self.error)

    def __sub__(self, other):
        return self + -bounded(other)

    def __mul__(self, other):
        other = bounded(other)
        error = abs(self.value) * other.error + abs(other.value) * self.error
        return self.rounded(self.value * other.value, error + self.error * other.error)

    def __rtruediv__(self, number):
        value = number / self.value
        least = abs(self.value) - self.error
        return self.rounded(value, abs(value) * self.error / least)

    def exp(self):
        value = np.exp(self.value)
        return self.rounded(value, value * np.expm1(self.error), half_ulps=4)

    def tanh(self):
        # As steep as at most where it is nearest to 0.
        least = np.maximum(abs(self.value) - self.error, 0)
        slope = 1 - np.tanh(least) ** 2
        return self.rounded(np.tanh(self.value), slope * self.error, half_ulps=4)

    def positive(self):
        return Bounded(np.where(self.value > 0, self.value, 0), self.error)

    def clamp(self, least, most):
        return Bounded(np.clip(self.value, least, most), self.error)

    def ends(self, element):
        """The least and the largest that it may be as `element`."""
        for sign in -1, 1:
            # A zero that is exact keeps its sign.
            end = np.where(self.error, self.value + sign * self.error, self.value)
            yield elements.rounded(end, element)


def bounded(x):
    return x if isinstance(x, Bounded) else Bounded(np.float32(x).astype(np.float64))


# Of gelu.
A, B, B3 = 0.797884583, 0.0356774069, 0.107032225


def sigmoid(x):
    return 1.0 / ((-x).exp() + 1.0)


def gelu_tanh(x):
    return (x * (x * x * B + A)).tanh()


def dgelu(x, dy):
    t = gelu_tanh(x)
    slope = (bounded(1) - t * t) * (x * x * B3 + A)
    return ((t + 1.0) * 0.5 + x * 0.5 * slope) * dy


def dsilu(x, dy):
    s = sigmoid(x)
    return s * (x * (bounded(1) - s) + 1.0) * dy


def clamped_swiglu(x, gate):
    x, gate = x.clamp(-np.inf, 7), gate.clamp(-7, 7)
    return x * sigmoid(x * 1.702) * (gate + 1.0)


# As activations.mlir computes them; those with a gradient give dbias as well.
FUNCTIONS = {
    "gelu": lambda x: x * (gelu_tanh(x) * 0.5 + 0.5),
    "silu": lambda x: x * sigmoid(x),
    "relu": lambda x: x.positive(),
    "qgelu": lambda x: x * sigmoid(x * 1.702),
    "srelu": lambda x: x.positive() * x.positive(),
    "swiglu": lambda x, gate: x * sigmoid(x) * gate,
    "clamped_swiglu": clamped_swiglu,
    "dgelu": dgelu,
    "dsilu": dsilu,
    "drelu": lambda x, dy: Bounded(np.where(x.value > 0, dy.value, 0)),
    "dqgelu": lambda x, dy: dsilu(x * 1.702, dy),
    "dsrelu": lambda x, dy: x.positive() * 2.0 * dy,
}


class Activation:
    """One of the functions: `arrays`, its arguments, and what it must give."""

    def __init__(self, name):
        rng = np.random.default_rng(5)
        sizes, k = [0, 130, 1, 300, 33], 160
        function = FUNCTIONS[name]
        # So that something is clamped.
        deviation = 3 if "clamped" in name else 1
        inputs = [
            elements.rounded(rng.normal(0, deviation, (sum(sizes), k)), "bf16")
            for _ in range(function.__code__.co_argcount)
        ]
        fmt = "mxfp8_e4m3" if name.startswith("d") else "nvfp4"
        self._ends = [
            cases.Case(np.split(end, np.cumsum(sizes)[:-1]), "bf16", fmt, index="int32")
            for end in function(*map(bounded, inputs)).ends("bf16")
        ]
        operands = self._ends[0].operands(
            amax=fmt == "nvfp4", dbias="f32" if fmt == "mxfp8_e4m3" else None
        )
        del operands["input"]
        self._outputs = [name for name in operands if name in cases.OUTPUTS]
        self.arrays = [elements.encode(x, "bf16") for x in inputs]
        self.arrays += [operand.array for operand in operands.values()]

    def check(self, results):
        """Raises AssertionError."""
        for name, result in zip(self._outputs, results, strict=True):
            if name == "dbias":
                self._check_dbias(result)
                continue
            one, other = (
                case.expected[name].array.reshape(-1).view(np.uint8)
                for case in self._ends
            )
            # The test says something only where the two are the same.
            assert np.count_nonzero(one != other) <= 1e-3 * one.size
            result = result.reshape(-1).view(np.uint8)
            right = (result == one) | (result == other)
            assert right.all(), f"{name}: {np.count_nonzero(~right)} of {right.size} bytes"

    def _check_dbias(self, dbias):
        for least, most, d in zip(*(case.groups for case in self._ends), dbias):
            off = 1e-5 * np.sqrt(len(least))
            assert (d >= least.astype(np.float64).sum(0) - off).all(), "dbias"
            assert (d <= most.astype(np.float64).sum(0) + off).all(), "dbias"
