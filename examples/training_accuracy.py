# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How far a layer in NVFP4 is from float64, by recipe: a table and a plot.

training_accuracy.py [FOLDER]: prints the table of docs/notes/training.md, and
writes accuracy.svg there. Needs NumPy and gq.
"""

import pathlib
import sys

import numpy as np
import svg
from nvfp4_linear import Linear, Recipe

RECIPES = {
    "per tensor": Recipe(),
    "per token": Recipe(per_token=True),
    "2D weights": Recipe(square_weights=True),
    "per token, 2D weights": Recipe(per_token=True, square_weights=True),
    "four over six": Recipe(four_over_six=True),
    "four over six, 2D": Recipe(four_over_six=True, square_weights=True),
}
PASSES = ["forward", "dgrad", "wgrad", "wgrad, Hadamard"]


def normal(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def heavy_tailed(rng, *shape):
    """Student's t with 3 degrees of freedom, and tokens of unequal size."""
    x = rng.standard_t(3, shape)
    return (x * np.exp(rng.normal(0, 0.5, (*shape[:-1], 1)))).astype(np.float32)


DATA = {"normal": normal, "heavy-tailed": heavy_tailed}


def snr(found, exact):
    """Signal to noise in decibels, by the mean over the rows: of y and dx tokens, of
    dw experts."""
    power, noise = (exact**2).sum(-1), ((found - exact) ** 2).sum(-1)
    return -10 * np.log10((noise / power).mean())


def measure(recipe, make, m=384, n=256, k=512, experts=3):
    """The SNR of forward, dgrad, wgrad, and wgrad with the transform."""
    rng = np.random.default_rng(0)
    offsets = np.int32([0, m // 4, m // 4 * 3, m])[: experts + 1]
    x, dy = make(rng, m, k), make(rng, m, n)
    w = normal(rng, experts, n, k)
    results = []
    for hadamard in False, True:
        layer = Linear(Recipe(**{**vars(recipe), "hadamard": hadamard}))
        y = layer.forward(x, w, offsets)
        dx, dw = layer.backward(dy)
        exact = [np.concatenate(p) for p in zip(*(
            (
                x[a:b].astype("f8") @ w[e].astype("f8").T,
                dy[a:b].astype("f8") @ w[e].astype("f8"),
            ) for e, (a, b) in enumerate(zip(offsets, offsets[1:]))
        ))]  # fmt: skip
        exact.append(np.stack([
            (dy[a:b].astype("f8").T @ x[a:b].astype("f8")).reshape(-1)
            for a, b in zip(offsets, offsets[1:])
        ]))  # fmt: skip
        found = [y, dx, dw.reshape(experts, -1)]
        results += [snr(f, e) for f, e in zip(found, exact)][2 if hadamard else 0 :]
    return results


def table(**sizes):
    """{data: {recipe: [SNR of each pass]}}"""
    return {
        data: {name: measure(recipe, make, **sizes) for name, recipe in RECIPES.items()}
        for data, make in DATA.items()
    }


def markdown(results):
    lines = [f"| data | recipe | {' | '.join(PASSES)} |", "|---" * (2 + len(PASSES)) + "|"]
    for data, rows in results.items():
        for name, values in rows.items():
            lines.append(f"| {data} | {name} | {' | '.join(f'{v:.2f}' for v in values)} |")
    return "\n".join(lines)


def plot(results):
    groups = [f"{p}" for p in PASSES]
    return {
        data: svg.bars(f"SNR against float64, {data} data", "dB", groups, rows)
        for data, rows in results.items()
    }


if __name__ == "__main__":
    results = table()
    print(markdown(results))
    if len(sys.argv) > 1:
        for data, text in plot(results).items():
            (pathlib.Path(sys.argv[1]) / f"training-{data}.svg").write_text(text)
