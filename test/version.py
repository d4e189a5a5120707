# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whatever states gq's version states that of CMakeLists.txt.

version.py BUILD_DIR. Asked are the programs, the Python package and its
metadata, the package files of CMake and pkg-config, and the change log.
"""

import importlib
import os
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[1]
build = pathlib.Path(sys.argv[1]).resolve()


def find(pattern, path):
    """The first group of the first match of `pattern` in the file `path`."""
    match = re.search(pattern, path.read_text(), re.MULTILINE)
    assert match, f"{path} has no {pattern}"
    return match[1]


def program(name):
    done = subprocess.run(
        [build / "bin" / name, "--version"], check=True, capture_output=True, text=True
    )
    return done.stdout.split()[-1]


def metadata():
    """The version of a wheel, as the build backend computes it."""
    settings = importlib.import_module("scikit_build_core.settings.skbuild_read_settings")
    build_metadata = importlib.import_module("scikit_build_core.build.metadata")
    tomllib = importlib.import_module("tomllib")
    os.chdir(root / "python")
    text = (root / "python" / "pyproject.toml").read_text()
    read = settings.SettingsReader.from_file("pyproject.toml", {})
    standard = build_metadata.get_standard_metadata(tomllib.loads(text), read.settings)
    return str(standard.version)


def python():
    os.environ["GQ_LIBRARY"] = str(build / "lib" / "libgq.so")
    sys.path.insert(0, str(root / "python"))
    return importlib.import_module("gq").__version__


expected = find(r"^project\(gq VERSION ([0-9.]+)", root / "CMakeLists.txt")
stated = {
    "gq-run --version": program("gq-run"),
    "gq-bench --version": program("gq-bench"),
    "gq.__version__": python(),
    "metadata of the wheel": metadata(),
    "gqConfigVersion.cmake": find(
        r'^set\(PACKAGE_VERSION "(.*)"\)', build / "gqConfigVersion.cmake"
    ),
    "CHANGELOG.md": find(r"^## ([0-9.]+)", root / "CHANGELOG.md"),
}
for package in build.glob("*.pc"):
    stated[package.name] = find(r"^Version: (.*)$", package)

wrong = {where: what for where, what in stated.items() if what != expected}
for where, what in wrong.items():
    print(f"CMakeLists.txt says {expected}, {where} says {what}")
sys.exit(bool(wrong))
