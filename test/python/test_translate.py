# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gq-translate --mlir-to-python: each module of lit's inputs and of the examples, to
Python and back, is the same up to names and the order of ops that depend on no other.
What has no program is known, and why."""

import collections
import itertools
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
#: Why there is no program, by what is written in such modules; and that they cannot be
#: read.
REASONS = {
    "'builtin.module' op has no equivalent in gq.Graph: it has no function":
        lambda text: not re.search(r"^  func\.func .*{$", text, re.M),
    "'builtin.module' op has no equivalent in gq.Graph: it has attributes":
        lambda text: text.startswith(("module @", "module attributes")),
    "'func.func' op has no equivalent in gq.Graph: it has several blocks":
        lambda text: "^bb1" in text and "@region(" not in text,
    "'scf.execute_region' op has no equivalent in gq.Graph: a region of several blocks":
        lambda text: "@region(" in text,
    "'func.func' op has no equivalent in gq.Graph: its name has other characters than"
    " letters, digits, '_', '$' and '.'":
        lambda text: '@"a name"' in text,
    "'func.func' op has no equivalent in gq.Graph: it calls itself, or what does":
        lambda text: "call @recursive" in text,
}  # fmt: skip


def tool(name, *options, text):
    done = subprocess.run(
        [f"{TOOLS}/{name}", *options], input=text, capture_output=True, text=True
    )
    return done.stdout, done.stderr


def split(text, mark="// -----"):
    return re.split(f"^{mark}\n", text, flags=re.M)


def inputs():
    """The text of each module."""
    files = [*(ROOT / "test/lit").rglob("*.mlir"), *(ROOT / "examples").rglob("*.mlir")]
    return [p for f in sorted(files) for p in split(f.read_text() + "\n")]


# ---------------------------------------------------------------------------
# Ops as what they compute
# ---------------------------------------------------------------------------


class Parser:
    """Reads a module in generic form as what its ops compute, whatever their order."""

    PURE = ('"arith.', '"gq.', '"linalg.', '"math.', '"tensor.')

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
        is_pure = results and name.startswith(self.PURE) and "memref" not in kind
        return name, op, is_pure

    def region(self, outer):
        """What a block does, in its order, but for what is computed and has no effect
        of its own: of the block's arguments and their types."""
        values, count, kinds = dict(outer), 0, []
        self.depth += 1
        if self.peek().startswith("^"):
            while (token := self.next()) != ":" or self.peek(-2) != ")":
                if token.startswith("%"):
                    values[token] = hash((self.depth, count))
                    count += 1
                else:
                    kinds.append(token)
        done = []
        while self.peek() != "}":
            name, op, is_pure = self.op(values)
            if not is_pure:
                done.append((name, op))
        self.depth -= 1
        # Functions have no order.
        return tuple(kinds), tuple(sorted(done) if self.depth == 0 else done)


def computed(text):
    """A module in generic form by what its functions compute."""
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


def generic_form(texts):
    """The modules as the passes leave them, in generic form."""
    mark = "\n// -----\n"
    passed, _ = tool(
        "gq-opt", "--split-input-file", f"--pass-pipeline={PASSES}", text=mark.join(texts)
    )
    # Canonicalization loses an encoding between to_buffer and to_tensor.
    kept = [a.strip() or b for a, b in zip(split(passed), texts, strict=True)]
    generic, said = tool(
        "gq-opt", "--split-input-file", "--mlir-print-op-generic",
        "--mlir-print-local-scope", text=mark.join(kept),
    )  # fmt: skip
    assert said == ""
    return split(generic)


@pytest.fixture(scope="module")
def translated():
    """(the module as it is printed or "", the program or "", what was said of it)."""
    texts = inputs()
    text = "\n// -----\n".join(texts)
    printed, _ = tool("gq-opt", "--split-input-file", text=text)
    programs, said = tool("gq-translate", "--mlir-to-python", "--split-input-file", text=text)
    lines = np.cumsum([0] + [t.count("\n") + 2 for t in texts])
    errors = {}
    for line in said.splitlines():
        if place := re.match(r"<stdin>:(\d+):\d+: error: (.*)", line):
            at = int(np.searchsorted(lines, int(place[1]), side="right")) - 1
            errors.setdefault(at, place[2])
    printed, programs = split(printed), split(programs, "# -----")
    assert len(programs) == len(printed) == len(texts)
    return [(t.strip(), p, errors.get(i)) for i, (t, p) in enumerate(zip(printed, programs))]


def test_round_trip(translated):
    """Modules from the programs are those that these were made of."""
    kept = [(text, program) for text, program, _ in translated if program]
    assert len(kept) > 200
    back = [gq.graph._module(graphs_of(program)) for _, program in kept]
    forms = [generic_form([text for text, _ in kept]), generic_form(back)]
    for (text, program), a, b in zip(kept, *forms, strict=True):
        assert computed(a) == computed(b), f"{text}\n{program}\n{a}\n{b}"


def test_without_a_program(translated):
    """Each module that can be read has a program, but for those that are known not to;
    what cannot be read has an error."""
    found = collections.Counter()
    for text, program, error in translated:
        reasons = [r for r, is_so in REASONS.items() if is_so(text)] if text else [error]
        assert (program == "") == bool(reasons), f"{text}\n{program}\n{error}"
        assert error in (reasons or [None]) and (text or error), f"{text}\n{error}"
        found[error if text else "invalid"] += 1
    assert found[None] > 200 and found["invalid"] > 100 and found.keys() > REASONS.keys()


#: A module, and texts in it with others that make it another one.
MODULE = """
memref.global "private" constant @two : memref<2xf32> = dense<2.0>
func.func private @of(f32) -> f32
func.func @main(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>, %m: memref<4xf32>)
    -> (tensor<?x4xf32>, index) attributes {note} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %h = arith.constant 0.5 : f32
  memref.store %h, %m[%c1] : memref<4xf32>
  memref.store %h, %m[%c0] : memref<4xf32>
  %r = func.call @of(%h) : (f32) -> f32
  %s = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %x) -> (tensor<?x4xf32>) {
    %e = tensor.insert %r into %t[%i, %c1] : tensor<?x4xf32>
    %d = arith.subf %e, %y : tensor<?x4xf32>
    scf.yield %d : tensor<?x4xf32>
  }
  %n = tensor.dim %s, %c0 : tensor<?x4xf32>
  return %s, %n : tensor<?x4xf32>, index
}
"""
CHANGES = (
    ("dense<2.0>", "dense<3.0>"), ("private @of(f32)", "private @of(f32 {m.a})"),
    ("{note}", "{other}"), ("0.5", "0.25"), ("%m[%c1]", "%m[%c4]"),
    ("  memref.store %h, %m[%c0] : memref<4xf32>\n", ""), ("@of(%h)", "@of(%o)"),
    ("to %c4", "to %c1"), ("%t[%i, %c1]", "%t[%i, %c0]"), ("into %t", "into %y"),
    ("%e, %y", "%y, %e"), ("arith.subf", "arith.addf"), ("scf.yield %d", "scf.yield %e"),
    ("tensor.dim %s", "tensor.dim %x"), ("attributes {note} {", "{"),
)  # fmt: skip


def test_the_comparison():
    """Of modules sees what differs, and nothing in one that was translated."""
    text = MODULE.replace("%h = ", "%o = arith.constant 1.0 : f32\n  %h = ")
    assert all(text.count(old) == 1 for old, _ in CHANGES)
    changed = [text.replace(*change) for change in CHANGES]
    program, _ = tool("gq-translate", "--mlir-to-python", text=text)
    back = gq.graph._module(graphs_of(program))
    same, first, *others = map(computed, generic_form([back, text, *changed]))
    assert same == first
    assert [c for c, o in zip(CHANGES, others, strict=True) if o == first] == []


def argument(t, rng, rows):
    """An array for an input of a graph; extents that are not known are the same for
    all rows, and enough for buffers. The last group has `rows`, the others none."""
    integers = t.dtype in ("i32", "i64")
    free = 4 if integers else 65536 if len(t.shape) == 1 else 512 if t._is_tiled else 128
    shape = [free if isinstance(s, gq.graph.Dim) else s for s in t.shape]
    if integers:
        numbers = np.zeros(shape, "int" + t.dtype[1:])
        if len(shape) == 1:
            numbers[-1:] = rows
        return numbers
    if t.dtype == "f4E2M1FN":
        shape[-1] //= 2
    # As many numbers as an array of some thousands has, again and again.
    if t.dtype in ("f32", "f64", "f16", "bf16"):
        numbers = rng.standard_normal(4099)
        kind = ml_dtypes.bfloat16 if t.dtype == "bf16" else t.dtype.replace("f", "float")
        return np.resize(numbers.astype(kind), shape)
    return np.resize(rng.integers(0, 0x77, 4099).astype(np.uint8), shape)


def run(function, arrays):
    """The bytes of the results, or None for an error."""
    try:
        results = function(*(a.copy() for a in arrays))
    except gq.Error:
        return None
    results = results if isinstance(results, tuple) else (results,)
    return [np.asarray(r).tobytes() for r in results]


def test_bytes(translated):
    """What a graph computes is what its module does, where all of it is written."""
    rng, ran = np.random.default_rng(0), 0
    kept = [(t, p) for t, p, _ in translated if p and "memref" not in t]
    for text, program in kept[::2]:
        graphs = [
            g for g in graphs_of(program)
            if g._outputs and all(isinstance(t, gq.graph.Tensor) for t in g._inputs)
        ]  # fmt: skip
        # Loops take what extents they like from tensors that nobody compares.
        if not graphs or "tensor.empty" in text or 'g.op("linalg.' in program:
            continue
        try:
            module = gq.compile(text)
        except gq.Error:
            continue
        for graph, rows in itertools.product(graphs, (128, 0)):
            arrays = [argument(t, rng, rows) for t in graph._inputs]
            # None: extents do not fit, and the module may read beyond them.
            if (found := run(graph, arrays)) is not None:
                wanted = run(lambda *a, g=graph: module(*a, entry=g.name), arrays)
                assert found == wanted, f"{text}\n{program}"
                ran += 1
    assert ran > 30
