# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What stands beside each public name: annotations, shapes, errors, a repr."""

import inspect
import pathlib
import subprocess
import sys

import gq
import pytest
from gq import layout, producers

FUNCTIONS = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module, names in (
        (gq, gq.__all__),
        (layout, vars(layout)),
        (producers, producers.NAMES),
    )
    for name in names
    if inspect.isfunction(getattr(module, name))
    and not name.startswith("_")
    and getattr(module, name).__module__.startswith("gq")
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_annotations(name):
    signature = inspect.signature(FUNCTIONS[name])
    for parameter in signature.parameters.values():
        assert parameter.annotation is not parameter.empty, parameter.name
    assert signature.return_annotation is not signature.empty


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if "producers" not in n])
def test_docstrings(name):
    """Each argument is in it, and what is returned and raised."""
    function = FUNCTIONS[name]
    text = inspect.getdoc(function) or ""
    for argument in inspect.signature(function).parameters:
        assert argument in text, argument
    if name.startswith("gq.") and "layout" not in name:
        returns = inspect.signature(function).return_annotation
        assert "Returns:" in text or returns == "None"
        assert "Raises:" in text


def test_types():
    """mypy, where it is installed."""
    pytest.importorskip("mypy")
    package = pathlib.Path(gq.__file__).parent
    assert (package / "py.typed").exists()
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--ignore-missing-imports", package],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout


def test_repr():
    module = gq.compile("func.func @f(%x : tensor<?x4xf32>) { return }", cache_dir="")
    assert repr(module) == "gq.Executable(f(f32[?, 4]) -> ())"
    assert "Direction(rounding='stochastic'" in repr(gq.Direction("stochastic"))
    assert gq.__version__ == gq.lib.gqVersion().decode()
