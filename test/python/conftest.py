# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Settings of pytest and of hypothesis."""

import collections
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


def pytest_collection_modifyitems(config, items):
    """With $GQ_TEST_STEP, of each test's cases only so-manyth ones: where all of
    them would take too long. Every test has a case at least."""
    step = int(os.environ.get("GQ_TEST_STEP") or 1)
    counts = collections.Counter()
    kept, left = [], []
    for item in items:
        name = item.nodeid.partition("[")[0]
        (kept if counts[name] % step == 0 else left).append(item)
        counts[name] += 1
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = kept
