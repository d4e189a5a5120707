# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Settings of pytest and of hypothesis."""

import os
import pathlib
import sys

import hypothesis
import pytest

# What the tests on a GPU run, too.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "gpu"))

pytest.register_assert_rewrite("modules", "cases", "formats", "matmul", "training")

# With $CI set every run tries the same examples; without it new ones are tried
# and a failure prints the line that reproduces it.
hypothesis.settings.register_profile(
    "gq",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    database=None,
    print_blob=True,
    suppress_health_check=list(hypothesis.HealthCheck),
)
hypothesis.settings.load_profile("gq")
