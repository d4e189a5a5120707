# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package as pip installs it without a library; test/wheel.sh has one."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python"
CODE = """
import gq
run = gq.compile("func.func @f(%x : i32) -> i32 { return %x : i32 }", cache_dir="")
print(gq.__file__, run.signature().name)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder of an installation."""
    folder = tmp_path_factory.mktemp("install")
    # A copy, because building leaves files beside the sources.
    source = shutil.copytree(PACKAGE, folder / "source")
    shutil.copy(PACKAGE.parent / "CMakeLists.txt", folder)  # which has the version
    subprocess.run(
        [
            *[sys.executable, "-m", "pip", "install", "--quiet", "--no-index"],
            *["--disable-pip-version-check", "--no-build-isolation", "--no-deps"],
            *["--config-settings=wheel.cmake=false"],
            *["--target", folder / "target", source],
        ],
        check=True,
    )
    return folder / "target"


def run(folder, library):
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    del environment["GQ_LIBRARY"]
    if library:
        environment["GQ_LIBRARY"] = library
    return subprocess.run(
        [sys.executable, "-c", CODE],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
    )


def test_with_the_library(installed):
    done = run(installed, os.path.abspath(os.environ["GQ_LIBRARY"]))
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{installed / 'gq' / '__init__.py'} f\n"


def test_without_a_library(installed):
    done = run(installed, None)
    assert done.returncode == 1
    assert "ImportError: gq cannot find libgq.so; build it and set $GQ_LIBRARY" in (
        done.stderr
    )
