# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples of training, in a small form."""

import pathlib
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "examples"))

import nvfp4_linear
import svg
import tiny_moe
import training_accuracy


@pytest.fixture(scope="module")
def results():
    return training_accuracy.table(m=128, n=64, k=128)


def test_accuracy(results):
    """Everything is as near as four bits are, but for a transform that mixes tokens
    of unequal size; a row of the table a recipe."""
    for rows in results.values():
        assert list(rows) == list(training_accuracy.RECIPES)
        for name, values in rows.items():
            assert len(values) == len(training_accuracy.PASSES)
            assert all(15 < v < 22 for v in values[:3]), (name, values)
            assert 12 < values[3] < 22, (name, values)
    assert training_accuracy.markdown(results).count("\n") == 1 + 2 * len(training_accuracy.RECIPES)


def test_per_token_is_not_worse(results):
    """Beyond what one draw of the data makes of it."""
    for rows in results.values():
        for token, tensor in zip(rows["per token"], rows["per tensor"]):
            assert token > tensor - 0.3


def test_plots(results):
    for text in training_accuracy.plot(results).values():
        rectangles = ET.fromstring(text).findall("{http://www.w3.org/2000/svg}rect")
        # The background, the legend, and a bar for each number.
        recipes, passes = len(training_accuracy.RECIPES), len(training_accuracy.PASSES)
        assert len(rectangles) == 1 + recipes + recipes * passes
    curve = ET.fromstring(svg.lines("t", "x", "y", {"a": [3.0, 1.0], "b": [2.0, 2.0]}))
    assert len(curve.findall("{http://www.w3.org/2000/svg}polyline")) == 2


def test_layer_per_token_and_per_tensor_agree():
    """Both are the same products but for the outer scales."""
    rng = np.random.default_rng(0)
    x, dy = rng.standard_normal((64, 64), np.float32), rng.standard_normal((64, 32), np.float32)
    w, offsets = rng.standard_normal((2, 32, 64), np.float32), np.int32([0, 16, 64])
    for per_token in False, True:
        layer = nvfp4_linear.Linear(nvfp4_linear.Recipe(per_token=per_token, hadamard=True))
        y = layer.forward(x, w, offsets)
        dx, dw = layer.backward(dy)
        for e, rows in enumerate((slice(0, 16), slice(16, 64))):
            for found, exact in (
                (y[rows], x[rows] @ w[e].T), (dx[rows], dy[rows] @ w[e]), (dw[e], dy[rows].T @ x[rows])
            ):  # fmt: skip
                assert np.linalg.norm(found - exact) < 0.2 * np.linalg.norm(exact)


@pytest.mark.parametrize("make", [
    tiny_moe.Bf16Linear, lambda: nvfp4_linear.Linear(tiny_moe.NVFP4),
], ids=["bf16", "nvfp4"])  # fmt: skip
def test_training(make):
    losses = tiny_moe.train(make, steps=8, batch=64)
    assert losses[0] > losses[-1] + 0.4 and np.isfinite(losses).all()


def test_gradients():
    """Of the model, in float32, against differences."""

    class Plain(tiny_moe.Bf16Linear):
        def forward(self, x, w, offsets):
            self.x, self.w, self.groups = x, w, list(zip(offsets, offsets[1:]))
            return np.concatenate([x[a:b] @ w.T for (a, b), w in zip(self.groups, w)])

        def backward(self, dy):
            dx = np.concatenate([dy[a:b] @ w for (a, b), w in zip(self.groups, self.w)])
            return dx, np.stack([dy[a:b].T @ self.x[a:b] for a, b in self.groups])

    rng = np.random.default_rng(0)
    layer = tiny_moe.Layer(rng, p := {}, "", Plain)
    p = {n: x for n, x in p.items()}
    x, d = rng.standard_normal((40, tiny_moe.WIDTH)), rng.standard_normal((40, tiny_moe.WIDTH))
    layer._spread = lambda rows, l=layer: _spread64(l, rows)
    layer.forward(x, p)
    dx = layer.backward(d, p, g := {})
    for array, gradient in (x, dx), (p["up"], g["up"]), (p["down"], g["down"]):
        at = tuple(rng.integers(0, n) for n in array.shape)
        if array is not x:
            at = (layer.chosen[0], *at[1:])
        before = array[at]
        values = []
        for step in 1e-5, -1e-5:
            array[at] = before + step
            values.append((layer.forward(x, p) * d).sum())
        array[at] = before
        np.testing.assert_allclose((values[0] - values[1]) / 2e-5, gradient[at], 1e-4, 1e-6)


def _spread64(layer, rows):
    padded = np.zeros((layer.starts[-1], rows.shape[1]))
    padded[layer.at] = rows
    return padded
