# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every combination of what a direction of nvfp4 can ask for: it is lowered, for
the CPU and for GPUs, or refused by the verifier, so for both, with a message that
names what is wrong. The bytes are those of test_directions.py and, of GPU kernels,
of the emulated ones."""

import itertools
import os
import pathlib
import subprocess

import numpy as np
import oracle
import pytest
import test_directions

OPT = pathlib.Path(os.environ["GQ_LIBRARY"]).resolve().parents[1] / "bin" / "gq-opt"
PARTS = (
    (False, True), (None, "none", "signs", "mask"), (False, True), ("group", "row", "column"),
    (None, "mae", "mse"), (None, 256, 448),
)  # fmt: skip


def refused(columnwise, recipe, stochastic, transform, square, outer, four, scale_max):
    """What the message says of the first thing that is wrong; None if nothing is."""
    te, turns = recipe == "te", transform in ("none", "mask")
    if outer != "group" and not te:
        return "recipe(te) for an outer amax per row or column"
    if outer == ("row" if columnwise else "column"):
        return "'outer' of 'columnwise'" if columnwise else "'outer' of 'rowwise'"
    if turns and not columnwise:
        return "a transform to be of 'columnwise'"
    if transform == "signs":
        return "'signs' to be 16 bits and of a transform"
    if square and (stochastic or turns or outer != "group"):
        return "blocks of 16x16"
    if four and (not te or stochastic):
        return "recipe(te) and rounding to nearest for four over six"
    if scale_max and not four:
        return "'scale_max' to be 256 or 448 and of four over six"
    return None


def direction(stochastic, transform, square, outer, four, scale_max):
    """The parts as they are written."""
    texts = {
        "rounding = stochastic": stochastic,
        "transform = hadamard16": transform in ("none", "mask"),
        "signs = 0xD7E8": transform in ("signs", "mask"),
        "block = 16x16": square,
        f"outer = {outer}": outer != "group",
        f"four_over_six = {four}": four,
        f"scale_max = {scale_max}": scale_max,
    }
    parts = ", ".join(text for text, is_there in texts.items() if is_there)
    return f"<{parts}>" if parts else ""


def function(name, columnwise, recipe, parts, message):
    """One op, and where it is wrong the message that is expected."""
    columns = "3x64xf32" if columnwise else "3xf32"
    outer = {"group": "3xf32", "row": "?xf32", "column": columns}[parts[3]]
    word = "columnwise" if columnwise else "rowwise"
    text = direction(*parts)
    amax = "columnwise_outer_amax" if columnwise else "outer_amax"
    outs = (
        "columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)"
        if columnwise
        else "outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)"
    )
    return f"""
      func.func @{name}(%x : memref<?x64xbf16>, %o : memref<4xi32>, %a : memref<{outer}>,
          %rng : memref<2xi64>, %q : memref<?x32xi8>, %s : memref<?x4xf8E4M3FN>,
          %qt : memref<?xi8>, %st : memref<?xf8E4M3FN>) {{
        {f"// expected-error @+1 {{{{requires {message}}}}}" if message else ""}
        gq.grouped_block_quantize format(nvfp4) recipe({recipe}) {word + text if text else ""}
            ins(%x : memref<?x64xbf16>) groups(%o : memref<4xi32>)
            {f"{amax}(%a : memref<{outer}>)" if recipe == "te" else ""}
            {"rng_state(%rng : memref<2xi64>)" if parts[0] else ""}
            {outs}
        return
      }}"""


def functions():
    """(text, message) of all."""
    made = itertools.product((False, True), ("nvfuser", "te"), itertools.product(*PARTS))
    for i, (columnwise, recipe, parts) in enumerate(made):
        message = refused(columnwise, recipe, *parts)
        yield function(f"f{i}", columnwise, recipe, parts, message), message


def opt(text, *options):
    return subprocess.run(
        [OPT, "-", *options], input=text, text=True, capture_output=True, check=False
    )


def test_refused():
    wrong = [text for text, message in functions() if message]
    assert len(wrong) > 1000
    done = opt("\n// -----\n".join(wrong), "--split-input-file", "--verify-diagnostics")
    assert done.returncode == 0, done.stderr[:2000]


@pytest.mark.parametrize("target", ["gpu", "runtime"])
def test_lowered(target):
    right = [text for text, message in functions() if not message]
    assert len(right) == 88
    done = opt("\n".join(right), f"--pass-pipeline=builtin.module(convert-gq-to-{target})")
    assert done.returncode == 0, done.stderr[:2000]
    assert "gq." not in done.stdout


@pytest.mark.parametrize("recipe", ["nvfuser", "te"])
def test_bytes(recipe):
    """Each direction at least once, on the CPU."""
    rows, columns = (test_directions.ALL[recipe, c] for c in (False, True))
    for i in range(max(len(rows), len(columns))):
        case = test_directions.made_case(
            np.random.default_rng(i), [17, 0, 130], 48, "bf16", recipe,
            rows[i % len(rows)], columns[i % len(columns)], rng=(i, 3),
        )  # fmt: skip
        case.run(test_directions.RUN)
    assert oracle.Direction() in rows
