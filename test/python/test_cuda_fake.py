# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package on a CUDA device of the fake driver, whose kernels do nothing: what is
passed, where it runs, and what is refused before. test/gpu/torch_ops.py has the rest,
on a GPU."""

import os
import subprocess
import sys

import pytest

CODE = """
import ctypes, re
import gq
from gq import _arrays
from gq._library import lib

GPU = (2, 0)
x = _arrays.allocate((70, 64), "f32", GPU)
offsets = _arrays.allocate((3,), "i32", GPU)
q = gq.grouped_block_quantize(x, offsets, stream=0)
assert [(a.shape, a.dtype, a.device) for a in q] == [
    ((70, 32), "i8", GPU), ((256, 4), "f8E4M3FN", GPU)]
assert repr(q.data) == "gq.Array(i8 [70, 32] on cuda:0)"
assert q.data.__dlpack_device__() == GPU
interface = q.scales.__cuda_array_interface__
assert interface["shape"] == (256, 4) and interface["typestr"][1:] == "u1"
assert interface["stream"] == 1 and interface["data"][0] == q.scales._pointer
again = gq.grouped_block_quantize(x, offsets, out=[*q])
assert again.data is q.data

# The stream that is named is the one that is used, and stays the thread's.
stream = ctypes.c_void_p()
lib.gqStreamCreate.argtypes = [ctypes.POINTER(ctypes.c_void_p)]
assert lib.gqStreamCreate(ctypes.byref(stream)) == 0
gq.grouped_block_quantize(x, offsets, stream=stream.value)
assert lib.gqGetStream() == stream.value
_arrays.wait_for(stream.value, 1)
gq.check_stream(stream.value)

# A capsule of another library's, and ours given away.
taken = _arrays.from_dlpack(q.data)
assert taken._pointer == q.data._pointer and taken.device == GPU

def refused(message, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except gq.Error as error:
        assert re.search(message, str(error)), str(error)
        return
    raise AssertionError(message)

host = _arrays.allocate((3,), "i32", (1, 0))
refused("offsets: expected CUDA device 0, where x is, found the CPU",
        gq.grouped_block_quantize, x, host)
other = _arrays.allocate((3,), "i32", GPU)
other.device = (2, 1)
refused("offsets: .* found CUDA device 1", gq.grouped_block_quantize, x, other)
refused("data is written and overlaps x in memory", gq.grouped_block_quantize, x, offsets,
        out=[_arrays.Array((70, 32), "i8", GPU, x._pointer, x), q.scales])

# On the device where the arrays are, whatever the thread's is, which stays.
with _arrays.on_device(1):
    x1, offsets1 = (_arrays.allocate(a.shape, a.dtype, (2, 1)) for a in (x, offsets))
for _ in range(2):
    q1 = gq.grouped_block_quantize(x1, offsets1, out=[
        _arrays.Array(a.shape, a.dtype, (2, 1), a._pointer, a) for a in q])
    assert q1.data.device == (2, 1) and _arrays.current_device() == 0
refused("data is written and overlaps x in memory", gq.grouped_block_quantize, x1, offsets1,
        out=[_arrays.Array((70, 32), "i8", (2, 1), x1._pointer, x1), q1.scales])
assert _arrays.current_device() == 0

# A graph, for the device where its first argument is.
with gq.Graph() as g:
    gx, go = g.input("x", ["M", 64], "float32"), g.input("offsets", [3], "int32")
    gq_ = gq.grouped_block_quantize(gq.graph.map("silu", gx * 2), go)
    g.output(gq_.data, gq_.scales)
for a, o in (x, offsets), (x1, offsets1):
    data, scales = g(a, o)
    assert (data.shape, data.dtype, data.device) == ((70, 32), "i8", a.device)
    assert scales.shape == (256, 4) and _arrays.current_device() == 0
refused("offsets: expected a tensor on CUDA device 0, found", g, x, host)

run = gq.compile('''
    func.func @main(%x : tensor<?x64xf32>, %q0 : tensor<?x32xi8>)
        -> (tensor<?x32xi8>, tensor<?x4xf8E4M3FN>) {
      %c0 = arith.constant 0 : index
      %m = tensor.dim %x, %c0 : tensor<?x64xf32>
      %s0 = tensor.empty(%m) : tensor<?x4xf8E4M3FN>
      %q, %s = gq.block_quantize format(nvfp4) ins(%x : tensor<?x64xf32>)
          outs(%q0, %s0 : tensor<?x32xi8>, tensor<?x4xf8E4M3FN>)
          -> tensor<?x32xi8>, tensor<?x4xf8E4M3FN>
      return %q, %s : tensor<?x32xi8>, tensor<?x4xf8E4M3FN>
    }''', target="cuda", cache_dir="")
data, scales = run(x, q.data, stream=stream.value)
assert data is q.data
assert (scales.shape, scales.dtype, scales.device) == ((70, 4), "f8E4M3FN", GPU)
refused("argument 1: expected int8 .*found float8", run, x, q.scales)
refused("argument 0: expected a tensor on CUDA device 0, found the CPU", run,
        _arrays.allocate((70, 64), "f32", (1, 0)), q.data)
print("passed")
"""


def test_fake_driver():
    fake = os.environ.get("GQ_CUDA_FAKE")
    if fake is None:
        pytest.skip("$GQ_CUDA_FAKE names no driver")
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        env={**os.environ, "GQ_CUDA_DRIVER": fake},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "passed\n", done.stderr
