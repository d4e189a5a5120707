# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python package: what goes in, what comes out, and who owns it."""

import ctypes
import gc
import subprocess
import sys
import threading
import weakref

import gq
import ml_dtypes
import modules
import numpy as np
import oracle
import pytest

K = 64
TEXT = modules.block_quantize(modules.Types(K, "bf16"))
# A result that is no argument: the codes come from a tensor of its own.
FRESH = """
  func.func @main(%x : tensor<?x64xbf16>, %s0 : tensor<?x4xf8E4M3FN>)
      -> (tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>) {
    %c0 = arith.constant 0 : index
    %m = tensor.dim %x, %c0 : tensor<?x64xbf16>
    %q0 = tensor.empty(%m) : tensor<?x64xf4E2M1FN>
    %q, %s = gq.block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
        outs(%q0, %s0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
        -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
    return %q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  }"""


def operands(m=3):
    x = np.random.default_rng(m).standard_normal((m, K)).astype(ml_dtypes.bfloat16)
    return x, np.empty((m, K // 2), np.uint8), np.empty((m, K // 16), np.uint8)


def check(x, data, scales):
    expected = oracle.block_quantize(x)
    np.testing.assert_array_equal(data, expected[0])
    np.testing.assert_array_equal(scales.view(np.uint8), expected[1])


def test_signature():
    bf16, i8 = gq.Type("bf16", (None, 64)), gq.Type("i8", (None, 32))
    f8 = gq.Type("f8E4M3FN", (None, 4))
    assert modules.compiled(TEXT).signature() == gq.Signature(
        "main", (bf16, i8, f8), (i8, f8), (1, 2)
    )
    assert modules.compiled(FRESH).signature("main") == gq.Signature(
        "main", (bf16, f8), (i8, f8), (None, 1)
    )
    scalar = modules.block_quantize(modules.Types(K, "f32", scale="scalar"))
    inputs = modules.compiled(scalar).signature().inputs
    assert inputs[1] == gq.Type("f32", ())


def test_no_result_and_one_result():
    assert modules.compiled("func.func @f() { return }")() is None
    t = "tensor<2xi64>"
    identity = f"func.func @f(%x : {t}) -> {t} {{ return %x : {t} }}"
    x = np.array([1, -2])
    result = modules.compiled(identity)(x)
    np.testing.assert_array_equal(result, x)
    assert result.dtype == np.int64 and np.shares_memory(result, x)


def test_result_written_into_an_argument_is_a_view_of_it():
    x, q, s = operands()
    data, scales = modules.compiled(TEXT)(x, q, s)
    assert data.dtype == np.uint8 and scales.dtype == ml_dtypes.float8_e4m3fn
    assert data.ctypes.data == q.ctypes.data
    assert scales.ctypes.data == s.ctypes.data
    check(x, q, s)
    argument = weakref.ref(q)
    part = data[1:]
    del q, data
    gc.collect()
    assert argument() is not None
    del part
    gc.collect()
    assert argument() is None


def test_fresh_result_outlives_the_executable():
    x, _, s = operands()
    executable = gq.compile(FRESH, cache_dir="")
    data, _ = executable(x, s)
    before = weakref.ref(executable)
    del executable
    gc.collect()
    assert before() is None
    data[0, 0] ^= 1
    data[0, 0] ^= 1
    check(x, data, s)


def test_fresh_results_are_freed():
    def peak():
        status = open("/proc/self/status").read()
        return int(status.split("VmRSS:")[1].split()[0])

    x, _, s = operands(1 << 16)  # 2 MiB of codes
    run = modules.compiled(FRESH)
    run(x, s)
    before = peak()
    for _ in range(100):
        run(x, s)
    assert peak() - before < 50 << 10


def test_no_rows():
    x, q, s = operands(0)
    for results in modules.compiled(TEXT)(x, q, s), modules.compiled(FRESH)(x, s):
        assert [r.shape for r in results] == [(0, 32), (0, 4)]


@pytest.mark.parametrize("convert", [
    lambda x, q, s: (x.view(np.uint16), q.view(np.int8), s.view(np.int8)),
    lambda x, q, s: (x, q, s.view(ml_dtypes.float8_e4m3fn)),
])  # fmt: skip
def test_other_dtypes(convert):
    x, q, s = operands()
    modules.compiled(TEXT)(*convert(x, q, s))
    check(x, q, s)


class Foreign:
    """An array of another library: nothing but DLPack, and it has bf16."""

    def __init__(self, array, device=1):
        self.array, self.device = array, device

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self):
        if self.array.dtype != ml_dtypes.bfloat16:
            return self.array.__dlpack__()
        capsule = self.array.view(np.uint16).__dlpack__()
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        # The type code follows data, device and ndim; 4 is kDLBfloat.
        ctypes.c_uint8.from_address(get(capsule, b"dltensor") + 20).value = 4
        return capsule


def test_dlpack():
    x, q, s = operands()
    data, _ = modules.compiled(TEXT)(Foreign(x), Foreign(q), Foreign(s))
    assert np.shares_memory(data, q)
    check(x, q, s)
    argument = weakref.ref(q)
    del q
    gc.collect()
    assert argument() is not None
    del data
    gc.collect()
    assert argument() is None


def test_dlpack_of_a_gpu():
    x, q, s = operands()
    with pytest.raises(gq.Error, match="argument 1: .*CPU"):
        modules.compiled(TEXT)(x, Foreign(q, device=2), s)


def test_entry():
    t = "tensor<1xf32>"
    f = "func.func @{}(%a : {t}, %b : {t}) -> {t} {{ return %{} : {t} }}"
    run = modules.compiled(f.format("first", "a", t=t) + f.format("second", "b", t=t))
    a, b = np.float32([1]), np.float32([2])
    assert run.invoke("first", a, b) == 1 and run(a, b, entry="second") == 2


def test_cache_dir(tmp_path):
    for _ in range(2):
        x, q, s = operands()
        gq.compile(TEXT, cache_dir=tmp_path)(x, q, s)
        check(x, q, s)
        assert len([f for f in tmp_path.rglob("*") if f.is_file()]) == 1


def test_threads():
    """Calls at once: right results, and each thread has its own failure."""
    run = modules.compiled(TEXT)
    wrong = []

    def work(number):
        x, q, s = operands(100 + number)
        for _ in range(50):
            try:
                run(x, q, s)
                check(x, q, s)
                run(x, q, s[:-1])
            except gq.Error as error:
                if f"[{99 + number}, 4]" not in error.message:
                    wrong.append(error)
            except AssertionError as error:
                wrong.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def run_python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(sys.path), **environment},
        capture_output=True,
        text=True,
    )


def test_no_library():
    result = run_python("import gq", GQ_LIBRARY="/no/such/libgq.so")
    assert result.returncode != 0
    assert "ImportError: cannot load libgq.so as $GQ_LIBRARY" in result.stderr


def test_without_ml_dtypes():
    code = f"""
import sys
sys.modules["ml_dtypes"] = None
import gq, numpy as np
x, q, s = np.zeros((1, 64), "u2"), np.zeros((1, 32), "u1"), np.ones((1, 4), "u1")
t = "tensor<1xbf16>"
f = "func.func @f(%x : " + t + ") -> " + t + " {{ return %x : " + t + " }}"
print(gq.compile(f, cache_dir="")(np.zeros(1, "u2")).dtype)
print(gq.compile('''{TEXT}''', cache_dir="")(x, q, s)[1].dtype)
"""
    import os

    result = run_python(code, GQ_LIBRARY=os.environ["GQ_LIBRARY"])
    assert result.stdout.split() == ["uint16", "uint8"], result.stderr
