# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/quantization-error.* are what tools/quantization_error.py makes."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_is_current(tmp_path):
    made = [tmp_path / "table.md", tmp_path / "plot.svg"]
    script = ROOT / "tools" / "quantization_error.py"
    subprocess.run([sys.executable, script, *made], check=True)
    for path, name in zip(made, ("quantization-error.md", "quantization-error.svg")):
        assert path.read_text() == (ROOT / "docs" / name).read_text(), name
