# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The differential tester: a few configurations, and that it finds defects."""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys

import configurations
import differential
import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[2]
IR = ROOT / "include/gq/IR"
# What fusion makes of linalg ops, and what several operands are called.
FUSED, ALIASES = {"maps", "producer"}, {"inputs": "input"}
# Two ops that declare the same, and check that each has its part of it.
BOTH = "grouped_block_quantize", "grouped_quantize"


def declared_ops():
    """(op, operand or attribute, its enumeration if it has one, or clause)."""
    text = (IR / "GqOps.td").read_text()
    for definition in re.split(r"^(?:def|defvar|class) ", text, flags=re.M)[1:]:
        name = re.search(r'Gq_Op<"(\w+)"', definition)
        op = BOTH if definition.startswith("groupedQuantize") else name and (name[1],)
        if not op:
            continue
        enums = re.findall(r"Gq_(\w+)Attr\b[^$]*?:\$(\w+)", definition)
        enums = {name: enum for enum, name in enums}
        for name in re.findall(r":\$(\w+)", definition):
            yield op, name, enums.get(name)
        assembly = definition if op == BOTH else definition.partition("assemblyFormat")[2]
        for clause in re.findall(r"`(\w+)`", assembly):
            yield op, None, clause


def declared_values():
    """Enumeration -> its values, as written; and a direction's parameters."""
    text = (IR / "GqAttrs.td").read_text()
    enums = {
        name: re.findall(r'I32EnumAttrCase<"\w+", \d+, "(\w+)">', cases)
        for name, cases in re.findall(r"def Gq_(\w+) : Gq_Enum<([^\]]*)\]>", text)
    }
    rows = (ROOT / "include/gq/Runtime/Formats.def").read_text()
    enums["Format"] = re.findall(r"X\(\d+, \w+, (\w+), ", rows)
    direction = re.search(r"def Gq_DirectionAttr.*?let parameters = (.*?);", text, re.S)[1]
    enum = r"::gq::(\w+)>\">:\$(\w+)"
    return enums, re.findall(r":\$(\w+)", direction), dict(re.findall(enum, direction))


def forgotten_values(text):
    """The values of the dialect's attributes that are not in a text."""
    enums, parameters, names = declared_values()
    names |= {enum: name for _, name, enum in declared_ops() if name and enum in enums}
    assert set(enums) == set(names)
    missing = [f"direction: {p}" for p in parameters if f"{p} = " not in text]
    for enum, name in names.items():
        # The first one is the default, and need not be written.
        for value in enums[enum][1:]:
            if not re.search(rf"\b(\w+_)?{name}(\(| = ){value}\b", text):
                missing.append(f"{name}: {value}")
    return missing


def is_in(texts, ops, word):
    return any(re.search(rf"\b{word}\b", texts[op]) for op in ops)


def test_every_option(monkeypatch):
    """Configurations have every op, operand, attribute and value of the dialect."""
    monkeypatch.setattr(configurations, "group_sizes", lambda rng, unit: [3, 0])
    texts = collections.defaultdict(str)
    for i in range(1000):
        rng = np.random.default_rng([1, i])
        module = configurations.draw_module(rng, list(configurations.OPS))
        problem = configurations.build(configurations.draw_problem(rng, module))
        names = " ".join(a.name for a in problem.arguments)
        texts[module["op"]] += f"{problem.function(False)}\n{names}\n"
    assert not [
        (ops, name) for ops, name, _ in declared_ops()
        if name and name not in FUSED and not is_in(texts, ops, ALIASES.get(name, name))
    ]  # fmt: skip
    assert not forgotten_values("".join(texts.values()))


def test_every_seed():
    """The modules of test/lit, which the fuzzer of modules begins with, have every
    op, clause and value."""
    texts = collections.defaultdict(str)
    for path in (ROOT / "test/lit").rglob("*.mlir"):
        for module in path.read_text().split("// -----"):
            for op in set(re.findall(r"\bgq\.(\w+)", module)):
                texts[op] += module
    assert not [
        (ops, clause) for ops, name, clause in declared_ops()
        if not name and not is_in(texts, ops, clause)
    ]  # fmt: skip
    assert not forgotten_values("".join(texts.values()))


# The fake driver, whose kernels do nothing, is chosen by a process.
FAKE_GPU = """
import ctypes
import configurations, differential
import numpy as np

gpu = differential.OnGpu()
for op in configurations.OPS:
    c = differential.draw(1, 1, [op], gpu=True)[-1]
    problem = configurations.build(c)
    # What the outputs were comes back, so all arrived where it belongs.
    results = gpu.run(problem.function(c["static"]), problem)
    arrays = {a.name: a.array for a in problem.arguments}
    for name, result in zip(problem.outputs, results, strict=True):
        assert result.shape == arrays[name].shape, (c, name)
        assert result.tobytes() == arrays[name].tobytes(), (c, name)

# Its memory is the host's: a write before the first argument is noticed.
def overrun(*arguments, stream):
    ctypes.memset(arguments[0]._pointer - 1, 0, 1)
    return [a for a, of in zip(arguments, problem.arguments) if of.name in problem.outputs][0]

gpu._compiled = lambda text, fusion: overrun
problem.outputs = problem.outputs[:1]
said = differential.failure(gpu, problem, "")
assert said == "WRITTEN: 1 bytes, the first at or after []", said
print("passed")
"""


@pytest.mark.skipif("GQ_CUDA_FAKE" not in os.environ, reason="no fake driver")
def test_on_fake_gpu():
    done = subprocess.run(
        [sys.executable, "-c", FAKE_GPU], capture_output=True, text=True,
        env={
            **os.environ,
            "GQ_CUDA_DRIVER": os.environ["GQ_CUDA_FAKE"],
            "PYTHONPATH": os.pathsep.join(sys.path),  # what conftest.py adds, too
        },
    )  # fmt: skip
    assert done.stdout == "passed\n", done.stderr


def test_random(tmp_path):
    _, lines = differential.test(
        differential.InProcess(), 400, 1, list(configurations.OPS), tmp_path
    )
    assert not lines


class Planted(differential.InProcess):
    """A target with a defect: results of more than `rows` rows end wrong."""

    def __init__(self, rows):
        super().__init__()
        self.rows = rows

    def run(self, text, problem):
        results = [r.copy() for r in super().run(text, problem)]
        for r in results:
            stored = r.view(np.uint8)
            if r.ndim == 2 and len(r) > self.rows and stored.size:
                stored.reshape(-1)[-1] ^= 1
        return results


class Refuses(differential.InProcess):
    """A target that takes no f16."""

    def run(self, text, problem):
        if "xf16>" in text:
            raise self.error("COMPILE_ERROR", "f16 is not supported")
        return super().run(text, problem)


@pytest.mark.parametrize("form", ["memref", "tensor"])
def test_finds_bytes(tmp_path, form, monkeypatch):
    """A planted defect is found, and made as small as it is."""
    monkeypatch.setitem(
        configurations.GroupedBlockQuantize.OPTIONS, "form", [form]
    )
    planted = Planted(128)
    _, lines = differential.test(
        planted, 4000, 2, ["grouped_block_quantize"], tmp_path, limit=1
    )
    assert len(lines) == 1
    c = json.loads(lines[0].split("\n")[1])
    path = tmp_path / "failure-0.mlir"
    assert 128 < sum(m for m, *_ in c["groups"]) + c["front"] + c["back"] < 150
    assert c["k"] == 1
    assert (c["gather"], c["amax"], c["dbias"]) == (False, False, None)
    # The file shows it by itself, and shows nothing where there is no defect.
    assert differential.replay(planted, path) is not None
    assert differential.replay(differential.InProcess(), path) is None


def test_finds_errors(tmp_path):
    _, lines = differential.test(
        Refuses(), 4000, 3, ["block_quantize"], tmp_path, limit=1
    )
    c = json.loads(lines[0].split("\n")[1])
    assert "f16 is not supported" in lines[0]
    assert (c["m"], c["element"], c["format"]) == (0, "f16", "nvfp4")
    text = (tmp_path / "failure-0.mlir").read_text()
    assert len(text) < 2000
