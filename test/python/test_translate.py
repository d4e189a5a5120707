# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gq-translate --mlir-to-python: each function of lit's inputs and of the examples, to
Python and back, is the same up to names and the order of ops that depend on no other;
or its error names an op and where that is."""

import os
import pathlib
import re
import subprocess

import gq
import ml_dtypes
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = os.environ.get("GQ_TOOLS")
pytestmark = pytest.mark.skipif(TOOLS is None, reason="$GQ_TOOLS names no folder")
#: What is done to both modules: extents of results are those of their outs.
PASSES = "builtin.module(resolve-ranked-shaped-type-result-dims,canonicalize,cse)"
REFUSED = re.compile(
    r"^<stdin>:(\d+):\d+: error: '([\w.]+)' op has no equivalent in gq\.Graph", re.M
)


def tool(name, *options, text):
    done = subprocess.run(
        [f"{TOOLS}/{name}", *options], input=text, capture_output=True, text=True
    )
    return done.stdout, done.stderr


def split(text, mark="// -----"):
    return [part.strip("\n") for part in text.split(f"\n{mark}\n")]


def functions():
    """The text of each function that can be read, of its own."""
    files = [*(ROOT / "test/lit").rglob("*.mlir"), *(ROOT / "examples").glob("*.mlir")]
    parts = [p for f in sorted(files) for p in f.read_text().split("// -----")]
    printed, _ = tool(
        "gq-opt", "--split-input-file", "--mlir-print-local-scope",
        text="\n// -----\n".join(parts),
    )  # fmt: skip
    return re.findall(r"^  func\.func [^\n]*{\n.*?^  }$", printed, re.M | re.S)


# ---------------------------------------------------------------------------
# Ops as what they compute
# ---------------------------------------------------------------------------


class Parser:
    """Reads a function in generic form as what its ops compute, whatever their order."""

    TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|%[\w$.#-]+(?::\d+)?|\^\w+|->|[\w.$!#-]+|.)')

    def __init__(self, text):
        self.tokens = self.TOKEN.findall(text)
        self.at, self.depth = 0, 0

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def peek(self, ahead=0):
        return self.tokens[self.at + ahead]

    def until(self, *ends):
        """The tokens up to one that begins with one of `ends`, outside of brackets."""
        found, depth = [], 0
        while depth or not self.peek().startswith(ends):
            token = self.next()
            depth += (token in "([{<") - (token in ")]}>")
            found.append(token)
        return tuple(found)

    def op(self, values):
        """An op; its results are named in `values`."""
        results = []
        while self.peek().startswith("%"):
            results.append(self.next())
            assert self.next() in ("=", ",")
        name = self.next()
        assert self.next() == "(", name
        operands = []
        while (token := self.next()) != ")":
            if token != ",":
                operands.append(values[token])
        attributes, regions = (), []
        if self.peek() == "<":
            self.next()
            attributes = self.until(">")
            self.next()
        if self.peek() == "(":
            self.next()
            while self.next() == "{":
                regions.append(self.region(values))
                self.next()
                if self.peek() != ",":
                    self.next()
                    break
                self.next()
        kind = self.until('"', "}", "%", "END")
        op = hash((name, tuple(operands), attributes, tuple(regions), kind))
        for result in results:
            stem, _, count = result.partition(":")
            values[stem] = hash((op, 0))
            for i in range(int(count or 1)):
                values[f"{stem}#{i}"] = hash((op, i))
        return name, op

    def region(self, outer):
        """What the last op of a block computes, of the block's arguments."""
        values, count = dict(outer), 0
        self.depth += 1
        if self.peek().startswith("^"):
            while (token := self.next()) != ":" or self.peek(-2) != ")":
                if token.startswith("%"):
                    values[token] = hash((self.depth, count))
                    count += 1
        last = None
        while self.peek() != "}":
            last = self.op(values)
        self.depth -= 1
        return last


def computed(text):
    """The functions of a module in generic form by what they compute."""
    return Parser(text + " END").op({})


# ---------------------------------------------------------------------------
# Tests
# ---------------------------------------------------------------------------


def graphs_of(program):
    """What the functions of a program record."""
    names = {"__name__": "program"}
    exec(compile(program, "program", "exec"), names)
    listed = re.search(r"^    gq\.graph\.main\((.*)\)$", program, re.M)[1].split(", ")
    return [names[name]() for name in listed]


@pytest.fixture(scope="module")
def translated():
    """(the function, the program or "", what was said of it) of each function."""
    texts = functions()
    programs, said = tool(
        "gq-translate", "--mlir-to-python", "--split-input-file",
        text="\n// -----\n".join(texts),
    )  # fmt: skip
    lines = np.cumsum([0] + [t.count("\n") + 2 for t in texts])
    errors = {}
    for line in said.splitlines():
        if place := re.match(r"<stdin>:(\d+):", line):
            at = int(np.searchsorted(lines, int(place[1]) - 1, side="right")) - 1
            errors.setdefault(at, line)
    programs = programs.split("# -----\n")
    assert len(programs) == len(texts)
    return [(t, p, errors.get(i)) for i, (t, p) in enumerate(zip(texts, programs))]


def test_round_trip(translated):
    """Modules from the programs are those that these were made of."""
    kept = [(text, program) for text, program, _ in translated if program]
    assert len(kept) > 100
    mark = "\n// -----\n"
    back = [str(graph) for _, program in kept for graph in graphs_of(program)]
    forms = []
    for texts in [text for text, _ in kept], back:
        custom, said = tool(
            "gq-opt", "--split-input-file", f"--pass-pipeline={PASSES}", text=mark.join(texts)
        )
        assert said == ""
        generic, said = tool(
            "gq-opt", "--split-input-file", "--mlir-print-op-generic",
            "--mlir-print-local-scope", text=custom,
        )  # fmt: skip
        assert said == ""
        forms.append(split(generic))
    for (text, program), a, b in zip(kept, *forms, strict=True):
        assert computed(a) == computed(b), f"{text}\n{program}\n{a}\n{b}"


def test_errors(translated):
    """What has no equivalent is named, at its place; nothing else fails."""
    count = 0
    for text, program, error in translated:
        if program:
            assert error is None, error
            continue
        # What refers to other functions or modules cannot be read without them.
        if re.search(r"@(?!\w+\()|call @", text) and not REFUSED.match(error or ""):
            continue
        assert REFUSED.match(error or ""), f"{text}\n{error}"
        count += 1
    assert count > 100


def argument(t, rng):
    """An array for an input of a graph; extents that are not known are the same for
    all rows, and enough for buffers."""
    integers = t.dtype in ("i32", "i64")
    free = 4 if integers else 65536 if len(t.shape) == 1 else 512 if t._is_tiled else 128
    shape = [free if isinstance(s, gq.graph.Dim) else s for s in t.shape]
    if integers:
        # Groups of 128 rows.
        spread = np.linspace(0, 128, shape[0]) if len(shape) == 1 else np.zeros(shape)
        return spread.astype("int" + t.dtype[1:])
    if t.dtype in ("f32", "f64", "f16"):
        return rng.standard_normal(shape).astype(t.dtype.replace("f", "float"))
    if t.dtype == "bf16":
        return rng.standard_normal(shape).astype(ml_dtypes.bfloat16)
    if t.dtype == "f4E2M1FN":
        shape[-1] //= 2
    return rng.integers(0, 0x77, shape).astype(np.uint8)


def run(function, arrays):
    """The bytes of the results, or None for an error: a graph finds extents that do
    not fit before the module runs."""
    try:
        results = function(*(a.copy() for a in arrays))
    except gq.Error:
        return None
    results = results if isinstance(results, tuple) else (results,)
    return [np.asarray(r).tobytes() for r in results]


def test_bytes(translated):
    """What a graph computes is what its module does, where all of it is written."""
    rng, ran = np.random.default_rng(0), 0
    kept = [(t, p) for t, p, _ in translated if p and "tensor.empty" not in t]
    for text, program in kept[::3]:
        [graph] = graphs_of(program)
        arrays = [argument(t, rng) for t in graph._inputs]
        try:
            module = gq.compile(text)
        except gq.Error:
            continue
        found = run(graph, arrays)
        assert found == run(module, arrays), f"{text}\n{program}"
        ran += found is not None
    assert ran > 10
