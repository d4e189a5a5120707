# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A tiny language model of experts, trained in NVFP4 and in bf16.

tiny_moe.py [FOLDER] [STEPS]: prints both losses and writes tiny_moe.svg. It reads
the topics of Python's help, character by character, and has two layers of four
experts, of which each token takes one. All linear layers of experts, forward,
dgrad and wgrad, are NVFP4 through gq, or bf16. Needs NumPy and gq.
"""

import pathlib
import pydoc_data.topics
import sys

import numpy as np
import svg
from nvfp4_linear import Linear, Recipe

# Outer amaxes by token, weights in squares, wgrad transformed, gradients rounded
# stochastically.
NVFP4 = Recipe(per_token=True, square_weights=True, hadamard=True, stochastic=True)
CONTEXT, CODE, HIDDEN, EXPERTS = 8, 16, 256, 4
WIDTH = CONTEXT * CODE


def bf16(x):
    """Rounded to bf16, to nearest even."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


class Bf16Linear:
    """As nvfp4_linear.Linear, in bf16."""

    def forward(self, x, w, offsets):
        self.x, self.w = bf16(x), bf16(w)
        self.groups = list(zip(offsets, offsets[1:]))
        return np.concatenate([self.x[a:b] @ w.T for (a, b), w in zip(self.groups, self.w)])

    def backward(self, dy):
        dy = bf16(dy)
        dx = np.concatenate([dy[a:b] @ w for (a, b), w in zip(self.groups, self.w)])
        return dx, np.stack([dy[a:b].T @ self.x[a:b] for a, b in self.groups])


class Layer:
    """x + down(relu(up(x))^2) of one expert per token, times its probability."""

    def __init__(self, rng, parameters, name, make):
        self.name, self.up, self.down = name, make(), make()
        parameters[name + "router"] = rng.normal(0, 0.1, (EXPERTS, WIDTH))
        parameters[name + "up"] = rng.normal(0, WIDTH**-0.5, (EXPERTS, HIDDEN, WIDTH))
        parameters[name + "down"] = rng.normal(0, 0.3 * HIDDEN**-0.5, (EXPERTS, WIDTH, HIDDEN))

    def forward(self, x, p):
        logits = x @ p[self.name + "router"].T
        e = np.exp(logits - logits.max(1, keepdims=True))
        self.probabilities = e / e.sum(1, keepdims=True)
        chosen = self.probabilities.argmax(1)
        self.order = np.argsort(chosen, kind="stable")
        self.chosen = chosen[self.order]
        offsets = np.searchsorted(self.chosen, np.arange(EXPERTS + 1)).astype(np.int32)
        # Groups of whole blocks of 16 rows, which are transformed together.
        sizes = -(-np.diff(offsets) // 16) * 16
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        self.at = np.arange(len(x)) - offsets[self.chosen] + self.starts[self.chosen]
        self.x = x
        h = self.up.forward(self._spread(x[self.order]), p[self.name + "up"], self.starts)
        self.relu = np.maximum(h, 0)
        y = self.down.forward(self.relu**2, p[self.name + "down"], self.starts)
        self.y = y[self.at]
        self.gate = self.probabilities[self.order, self.chosen]
        out = x.copy()
        out[self.order] += self.gate[:, None] * self.y
        return out

    def _spread(self, rows):
        """Rows by expert, each expert's padded with zeros."""
        padded = np.zeros((self.starts[-1], rows.shape[1]), np.float32)
        padded[self.at] = rows
        return padded

    def backward(self, dout, p, g):
        d = dout[self.order]
        dy, g[self.name + "down"] = self.down.backward(self._spread(self.gate[:, None] * d))
        dx, g[self.name + "up"] = self.up.backward(dy * 2 * self.relu)
        dgate = (d * self.y).sum(1)
        probabilities = self.probabilities[self.order]
        dlogits = -probabilities * (dgate * self.gate)[:, None]
        dlogits[np.arange(len(d)), self.chosen] += dgate * self.gate
        g[self.name + "router"] = dlogits.T @ self.x[self.order]
        result = dout.copy()
        result[self.order] += dx[self.at] + dlogits @ p[self.name + "router"]
        return result


class Model:
    def __init__(self, make, symbols, seed=0):
        rng = np.random.default_rng(seed)
        p = self.parameters = {"embed": rng.normal(0, 1, (symbols, CODE))}
        self.layers = [Layer(rng, p, f"layer{i}.", make) for i in range(2)]
        p["head"] = rng.normal(0, WIDTH**-0.5, (symbols, WIDTH))
        for name in p:
            p[name] = p[name].astype(np.float32)
        self.moments = {name: [np.zeros_like(x), np.zeros_like(x)] for name, x in p.items()}

    def step(self, contexts, targets, number, rate=2e-3):
        """One step of Adam; returns the loss."""
        p, g = self.parameters, {}
        x = p["embed"][contexts].reshape(len(contexts), WIDTH)
        for layer in self.layers:
            x = layer.forward(x, p)
        logits = x @ p["head"].T
        logits -= logits.max(1, keepdims=True)
        probabilities = np.exp(logits)
        probabilities /= probabilities.sum(1, keepdims=True)
        rows = np.arange(len(targets))
        loss = -np.log(probabilities[rows, targets]).mean()
        probabilities[rows, targets] -= 1
        d = (probabilities / len(targets)).astype(np.float32)
        g["head"] = d.T @ x
        d = d @ p["head"]
        for layer in reversed(self.layers):
            d = layer.backward(d, p, g)
        g["embed"] = np.zeros_like(p["embed"])
        np.add.at(g["embed"], contexts, d.reshape(*contexts.shape, CODE))
        for name, gradient in g.items():
            first, second = self.moments[name]
            first += 0.1 * (gradient - first)
            second += 0.01 * (gradient**2 - second)
            scale = np.sqrt(1 - 0.99**number) / (1 - 0.9**number)
            p[name] -= (rate * scale * first / (np.sqrt(second) + 1e-8)).astype(np.float32)
        return float(loss)


def text():
    """Characters as numbers."""
    whole = "".join(pydoc_data.topics.topics[k] for k in sorted(pydoc_data.topics.topics))
    symbols = {c: i for i, c in enumerate(sorted(set(whole)))}
    return np.array([symbols[c] for c in whole]), len(symbols)


def train(make, steps, batch=256):
    numbers, symbols = text()
    model, rng = Model(make, symbols), np.random.default_rng(1)
    losses = []
    for number in range(1, steps + 1):
        at = rng.integers(0, len(numbers) - CONTEXT - 1, batch)
        contexts = numbers[at[:, None] + np.arange(CONTEXT)]
        losses.append(model.step(contexts, numbers[at + CONTEXT], number))
    return losses


def smooth(losses, window=20):
    """The mean of the last `window` losses, at each step."""
    sums = np.cumsum([0.0, *losses])
    return [
        (sums[i + 1] - sums[max(0, i + 1 - window)]) / (i + 1 - max(0, i + 1 - window))
        for i in range(len(losses))
    ]


def main(folder, steps):
    series = {
        "bf16": smooth(train(Bf16Linear, steps)),
        "NVFP4 through gq": smooth(train(lambda: Linear(NVFP4), steps)),
    }
    for name, losses in series.items():
        print(f"{name}: {losses[0]:.3f} at first, {losses[-1]:.3f} after {steps} steps")
    title = "A model of two layers of experts: loss, mean of 20 steps"
    plot = svg.lines(title, "step", "loss (nats a character)", series)
    (pathlib.Path(folder) / "tiny_moe.svg").write_text(plot)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".", int(sys.argv[2]) if len(sys.argv) > 2 else 500)
