# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The differential tester: a few configurations, and that it finds defects."""

import json
import pathlib
import re

import configurations
import differential
import numpy as np
import pytest

OPS_DEF = pathlib.Path(__file__).parents[2] / "include/gq/Runtime/Ops.def"


def test_every_op():
    """An op of Ops.def has a row in configurations.OPS."""
    names = re.findall(r"^GQ_OP\(\w+, (\w+)\)$", OPS_DEF.read_text(), re.M)
    assert set(names) == set(configurations.OPS)


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
