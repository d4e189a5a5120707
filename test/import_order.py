# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Imports gq and what has a compiler of its own in every order, each in a process.

Each process then makes all of them compile and run something, last imported first,
so that a symbol which one takes from another shows. NumPy and ml_dtypes, which gq and
JAX import, come first, last or by them alone. What is not installed is left out, and
said so.
"""

import concurrent.futures
import importlib.util
import itertools
import os
import subprocess
import sys
import time

WORK = {
    "gq": """
import gq, numpy
x = numpy.random.default_rng(0).standard_normal((64, 64), numpy.float32)
q = gq.grouped_block_quantize(x, numpy.int32([0, 9, 64]), producer="silu")
back = gq.grouped_dequantize(q, out_dtype="float32")
silu = x / (1 + numpy.exp(-x))
assert abs(back - silu).max() < 0.5 and back.any()
try:
    gq.compile("func.func @f() { nonsense }")
    raise SystemExit("compiled nonsense")
except gq.Error as error:
    assert error.status == "COMPILE_ERROR"
""",
    "jax": """
import jax, jax.numpy
f = jax.jit(lambda x: jax.numpy.exp(x) @ x.T)
assert f(jax.numpy.ones((8, 8))).shape == (8, 8)
""",
    "torch": """
import torch
a = torch.ones(8, 8)
assert (a @ a).sum() == 512 and torch.from_dlpack(a).sum() == 64
""",
    "triton": """
import triton
import triton._C.libtriton as libtriton
context = libtriton.ir.context()
libtriton.ir.load_dialects(context)
""",
    "numpy": "import numpy; assert (numpy.ones(4) @ numpy.ones(4)) == 4",
    "ml_dtypes": "import ml_dtypes; assert ml_dtypes.bfloat16(2) == 2",
}
COMPILERS, PLAIN = ("gq", "jax", "torch", "triton"), ("numpy", "ml_dtypes")


def is_installed(name):
    return name == "gq" or importlib.util.find_spec(name) is not None


def orders():
    compilers = [m for m in COMPILERS if is_installed(m)]
    plain = [m for m in PLAIN if is_installed(m)]
    yield from itertools.permutations(compilers)
    for few in itertools.permutations(plain):
        yield (*few, *compilers)
        yield (*compilers, *few)


def run(order):
    """What is wrong, or None."""
    lines = [f"import {m}" for m in order] + [WORK[m] for m in reversed(order)]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        capture_output=True,
        text=True,
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
    )
    if done.returncode == 0:
        return None
    return f"{', '.join(order)}: exited with {done.returncode}\n{done.stderr}"


def main():
    start, everything = time.monotonic(), list(dict.fromkeys(orders()))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = [f for f in pool.map(run, everything) if f]
    print(*failures, sep="\n")
    for name in COMPILERS + PLAIN:
        if not is_installed(name):
            print(f"skipped: {name} is not installed")
    seconds = time.monotonic() - start
    print(f"{len(everything)} orders, {len(failures)} failed, {seconds:.0f} s")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
