# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python package: what goes in, what comes out, and who owns it."""

import ctypes
import gc
import os
import pathlib
import re
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
from gq import _library, _tensors

K = 64
TEXT = modules.block_quantize(modules.Types(K, "bf16"))
# A result that is not an argument: the codes come from a tensor of its own.
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


HEADERS = pathlib.Path(__file__).resolve().parents[2] / "include" / "gq" / "Runtime"


def body(header, kind, name):
    """What is between the braces of a typedef, without its comments."""
    text = (HEADERS / header).read_text()
    pattern = rf"typedef {kind} {name} {{(.*?)}} {name};"
    return re.sub("//.*", "", re.search(pattern, text, re.DOTALL)[1])


def test_declarations_are_those_of_the_headers():
    structs = {
        "gqCompileOptions": ("Executable.h", _library.GqCompileOptions),
        "gqFormatTraits": ("Types.h", _library.GqFormatTraits),
        "gqType": ("Executable.h", _library.GqType),
        "gqSignature": ("Executable.h", _library.GqSignature),
    }
    for name, (header, declared) in structs.items():
        members = re.findall(r"(\w+)(?:\[\w+\])?[;,]", body(header, "struct", name))
        snake = [re.sub("[A-Z]", lambda c: "_" + c[0].lower(), m) for m in members]
        assert snake == [field for field, _ in declared._fields_]
    types = re.findall(r"GQ_(\w+)", body("Types.h", "enum", "gqElementType"))
    assert types == [_tensors.type_name(t).upper() for t in range(len(types))]
    statuses = body("Status.h", "enum", "gqStatus")
    for name, value in re.findall(r"GQ_(\w+) = (\d+)", statuses):
        assert _library.lib.gqStatusName(int(value)).decode() == name


def test_declarations_have_the_layout_of_c(tmp_path):
    structs = {
        "DLTensor": _library.DLTensor,
        "DLManagedTensor": _library.DLManagedTensor,
        "gqFormatTraits": _library.GqFormatTraits,
        "gqCompileOptions": _library.GqCompileOptions,
        "gqType": _library.GqType,
        "gqSignature": _library.GqSignature,
    }
    checks = ["#include <gq/Runtime/Executable.h>"]
    for name, declared in structs.items():
        checks.append(f"_Static_assert(sizeof({name}) == {ctypes.sizeof(declared)});")
        for field, _ in declared._fields_:
            member = re.sub("_(.)", lambda m: m[1].upper(), field)
            if name.startswith("DL"):
                # DLPack writes members like this, and two of them are structs.
                parts = {"device_type": "device", "code": "dtype"}
                member = parts.get(field, field)
                if field in ("device_id", "bits", "lanes"):
                    continue
            offset = getattr(declared, field).offset
            checks.append(
                f"_Static_assert(__builtin_offsetof({name}, {member}) == {offset});"
            )
    source = tmp_path / "layout.c"
    source.write_text("\n".join(checks) + "\n")
    include = HEADERS.parents[1]
    subprocess.run(
        ["clang-22", "-std=c23", "-fsyntax-only", f"-I{include}", source], check=True
    )


def test_signature():
    bf16, i8 = gq.Type("bf16", (None, 64)), gq.Type("i8", (None, 32))
    f8 = gq.Type("f8E4M3FN", (None, 4))
    assert modules.compiled(TEXT).signature() == gq.Signature(
        "main", (bf16, i8, f8), (i8, f8), (1, 2), (False, True, True)
    )
    assert modules.compiled(FRESH).signature("main") == gq.Signature(
        "main", (bf16, f8), (i8, f8), (None, 1), (False, True)
    )
    scalar = modules.block_quantize(modules.Types(K, "f32", scale="scalar"))
    inputs = modules.compiled(scalar).signature().inputs
    assert inputs[1] == gq.Type("f32", ())


def test_no_result_and_one_result():
    assert modules.compiled("func.func @f() { return }")() is None
    t = "tensor<2xi64>"
    identity = f"func.func @f(%x : {t}) -> {t} {{ return %x : {t} }}"
    assert modules.compiled(identity).signature().sources == (0,)
    x = np.array([1, -2])
    result = modules.compiled(identity)(x)
    np.testing.assert_array_equal(result, x)
    assert result.dtype == np.int64 and np.shares_memory(result, x)


def test_scalar():
    """No tensors: arrays of rank 0 outside, and NumPy's scalars as arguments."""
    run = modules.compiled("func.func @f(%x : i32) -> i32 { return %x : i32 }")
    i32 = gq.Type("i32", None)
    assert run.signature() == gq.Signature(
        "f", (i32,), (i32,), (None,), (False,)
    )
    for x in np.int32(-5), np.array(-5, np.int32):
        result = run(x)
        assert result.shape == () and result.dtype == np.int32 and result == -5


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


def test_fresh_result_outlives_the_executable(monkeypatch):
    destroyed, destroy = [], gq.lib.gqExecutableDestroy
    monkeypatch.setattr(
        gq.lib,
        "gqExecutableDestroy",
        lambda handle: (destroy(handle), destroyed.append(handle)),
    )
    x, _, s = operands()
    executable = gq.compile(FRESH, cache_dir="")
    data, _ = executable(x, s)
    assert not destroyed
    del executable
    gc.collect()
    assert destroyed
    data[:] = ~data
    check(x, ~data, s)


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


def test_result_on_a_gpu():
    """No array pretends that the memory is the host's; it is released."""
    deleted = []
    managed = _library.DLManagedTensor()
    managed.dl_tensor.device_type = 2
    kind = type(managed.deleter)
    managed.deleter = kind(lambda pointer: deleted.append(pointer))
    owner = _tensors.Owner(ctypes.pointer(managed), None)
    with pytest.raises(gq.Error, match="device type 2"):
        owner.array(np.dtype(np.uint8))
    assert not deleted
    del owner
    gc.collect()
    assert len(deleted) == 1


def test_result_with_strides():
    memory = np.arange(12, dtype=np.int32)
    managed = _library.DLManagedTensor()
    tensor, pair = managed.dl_tensor, ctypes.c_int64 * 2
    tensor.data, tensor.device_type, tensor.ndim = memory.ctypes.data, 1, 2
    tensor.shape, tensor.strides, tensor.byte_offset = pair(3, 2), pair(1, 6), 4
    managed.deleter = type(managed.deleter)(lambda pointer: None)
    result = _tensors.Owner(ctypes.pointer(managed), None).array(memory.dtype)
    assert result.tolist() == [[1, 7], [2, 8], [3, 9]]


def test_entry():
    t = "tensor<1xf32>"
    f = "func.func @{}(%a : {t}, %b : {t}) -> {t} {{ return %{} : {t} }}"
    run = modules.compiled(f.format("first", "a", t=t) + f.format("second", "b", t=t))
    a, b = np.float32([1]), np.float32([2])
    assert run.invoke("first", a, b) == 1 and run(a, b, entry="second") == 2


def test_cache_dir(tmp_path):
    """One file for each way to compile, and what is read back works."""
    text = modules.separate_ops(modules.Types(K, "f32"))
    for count, fusion in (1, True), (1, True), (2, False), (2, False):
        gq.compile(text, fusion=fusion, cache_dir=tmp_path)
        assert sum(f.is_file() for f in tmp_path.rglob("*")) == count
    for _ in range(2):
        x, q, s = operands()
        gq.compile(TEXT, cache_dir=str(tmp_path))(x, q, s)
        check(x, q, s)


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


def test_failure_of_another_thread():
    """One call fails and then computes on, while others come and go."""
    t = modules.Types(K, "bf16")
    slow = f"""
      #id = affine_map<(i, j) -> (i, j)>
      func.func @main(%x : {t.x}, %q0 : {t.q}, %s0 : {t.s},
                      %y : tensor<?x?xf32>)
          -> ({t.q}, {t.s}, tensor<?x?xf32>) {{
        %q, %s = gq.block_quantize format(nvfp4) ins(%x : {t.x})
            outs(%q0, %s0 : {t.q}, {t.s}) -> {t.q}, {t.s}
        %exp = linalg.generic {{indexing_maps = [#id],
                                iterator_types = ["parallel", "parallel"]}}
            outs(%y : tensor<?x?xf32>) {{
        ^bb0(%a : f32):
          %e = math.exp %a : f32
          linalg.yield %e : f32
        }} -> tensor<?x?xf32>
        return %q, %s, %exp : {t.q}, {t.s}, tensor<?x?xf32>
      }}"""
    slow, quick = modules.compiled(slow), modules.compiled(TEXT)
    done = threading.Event()

    def work():
        x, q, s = operands()
        while not done.is_set():
            quick(x, q, s)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        x, q, s = operands()
        with pytest.raises(gq.Error, match="scales has shape"):
            slow(x, q, s[:-1], np.zeros((2048, 2048), np.float32))
    finally:
        done.set()
        thread.join()


def run_python(code, **environment):
    # What a library with sanitizers needs, if it has them.
    sanitizers = ("LD_PRELOAD", "ASAN_OPTIONS", "UBSAN_OPTIONS")
    kept = {name: os.environ[name] for name in sanitizers if name in os.environ}
    return subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(sys.path), **kept, **environment},
        capture_output=True,
        text=True,
    )


def test_no_library():
    result = run_python("import gq", GQ_LIBRARY="/no/such/libgq.so")
    assert result.returncode != 0
    assert "ImportError: gq cannot load $GQ_LIBRARY (/no/such/libgq.so: " in result.stderr


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
    result = run_python(code, GQ_LIBRARY=os.environ["GQ_LIBRARY"])
    assert result.stdout.split() == ["uint16", "uint8"], result.stderr
