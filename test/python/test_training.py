# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A layer of experts and its gradients in one graph; run.py does it on a GPU."""

import gq
import pytest
import training


@pytest.mark.parametrize("fusion", [True, False])
@pytest.mark.parametrize("case", training.CASES)
def test_layer(case, fusion):
    fmt, w_fmt, _ = case
    step = gq.compile(training.layer(fmt, w_fmt), fusion=fusion, cache_dir="")
    assert training.problem(case, step(*training.arguments()), "cpu") is None
