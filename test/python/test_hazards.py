# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""test/gpu/hazards.py over the fake driver, with what the CPU computes in the place of
kernels. What needs streams, graphs or 95 GB is left to GPUs."""

import os
import subprocess
import sys

import pytest

# The device's memory is the host's.
CODE = """
import ctypes, sys
import gq, hazards
import numpy as np
from gq import _arrays

compiled = gq.compile

def host(a):
    if not isinstance(a, _arrays.Array):
        return a
    dtype = _arrays.NumPy.dtype(a.dtype)
    size = int(np.prod(a.shape)) * dtype.itemsize
    memory = (ctypes.c_char * size).from_address(a._pointer)
    return np.frombuffer(memory, np.uint8).view(dtype).reshape(a.shape)

def compile(text, target="cpu", fusion=True, cache_dir=None):
    executable = compiled(text, "cpu", fusion, cache_dir)
    if target == "cpu":
        return executable

    def call(*arguments, stream=None):
        arrays = [host(a) for a in arguments]
        results = executable(*arrays)
        results = results if isinstance(results, tuple) else (results,)
        signature = executable.signature()
        return tuple(
            hazards.uploaded(r, t.dtype) if s is None else arguments[s]
            for r, t, s in zip(results, signature.results, signature.sources)
        )
    return call

gq.compile = compile
hazards.COUNTS = 1, 17, 127  # More take longer here.
sys.argv[1:] = ARGUMENTS
sys.exit(hazards.main())
"""


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-c", CODE.replace("ARGUMENTS", repr(list(arguments)))],
        capture_output=True, text=True,
        env={
            **os.environ,
            "GQ_CUDA_DRIVER": os.environ["GQ_CUDA_FAKE"],
            "PYTHONPATH": os.pathsep.join(sys.path),  # what conftest.py adds, too
        },
    )  # fmt: skip


pytestmark = pytest.mark.skipif("GQ_CUDA_FAKE" not in os.environ, reason="no fake driver")


@pytest.mark.parametrize("name", ["expert_counts", "denormal_amaxes", "views"])
def test_passes(name):
    done = run(name)
    assert done.stdout.endswith("PASS\n1 passed, 0 failed\n"), done.stdout + done.stderr


@pytest.mark.skipif("asan" not in os.environ.get("LD_PRELOAD", ""), reason="no sanitizer")
def test_short_offsets():
    """Offsets of which the last one is not in memory."""
    done = run("--planted", "short_offsets")
    assert done.returncode != 0 and "heap-buffer-overflow" in done.stderr, done.stderr
