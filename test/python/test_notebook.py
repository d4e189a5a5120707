# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cells of the example, one after the other."""

import json
import pathlib

NOTEBOOK = pathlib.Path(__file__).resolve().parents[2] / "examples" / "moe_layer.ipynb"


def cells():
    """The sources of the cells with code."""
    notebook = json.loads(NOTEBOOK.read_text())
    return ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]


def test_notebook(capsys):
    names = {}
    for source in cells():
        exec(compile(source, NOTEBOOK.name, "exec"), names)
    assert "relative error" in capsys.readouterr().out
