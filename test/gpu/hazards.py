# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What breaks kernels in use: sizes, addresses and orders of work that tests with
small arrays on one stream do not have.

hazards.py [TEST...]: runs all tests, or those. Needs a GPU, the package gq, NumPy,
and test/python and the folder of this file in $PYTHONPATH. Every argument is an
allocation of exactly its size, so that under `compute-sanitizer` an access beyond
one is found: `compute-sanitizer python3 test/gpu/hazards.py expert_counts
denormal_amaxes views`. `rows_beyond_31_bits` takes 95 GB of the GPU. The last line
counts the tests.

hazards.py --planted [DEFECT...]: plants each of PLANTED, or those, which its test
must find. `short_offsets` is compute-sanitizer's to find, and planted only if named.
"""

import ctypes
import functools
import os
import sys
import time
import traceback

import cases
import configurations
import differential
import elements
import formats
import gq
import numpy as np
import oracle
from gq import _arrays
from gq._library import check, lib

CUDA = _arrays.CUDA
TESTS = []
for name in "gqCopyToDevice", "gqCopyToHost":
    getattr(lib, name).argtypes = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t
for name in "gqStreamCreate", "gqGraphEnd":
    getattr(lib, name).argtypes = [ctypes.POINTER(ctypes.c_void_p)]
for name in "gqGraphLaunch", "gqGraphDestroy", "gqStreamDestroy":
    getattr(lib, name).argtypes = [ctypes.c_void_p]
DRIVER = ctypes.CDLL(os.environ.get("GQ_CUDA_DRIVER", "libcuda.so.1"))
HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Skipped(Exception):
    pass


#: A defect and the test that finds it.
PLANTED = {
    "late_producer": "producers_on_other_streams",
    "old_offsets": "replays",
    "short_offsets": "expert_counts",
}
# The one that there is.
defect = None


def test(function):
    TESTS.append(function)
    return function


DRIVER.cuMemcpyAsync.argtypes = ctypes.c_uint64, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p


def copy(target, source, size, stream):
    """On the device, in the order of a stream."""
    status = DRIVER.cuMemcpyAsync(target, source, size, stream)
    assert status == 0, f"cuMemcpyAsync: {status}"


def current_device():
    return _arrays.current_device()


class Memory:
    """An allocation of exactly `size` bytes, which the driver frees."""

    def __init__(self, size):
        self.size, self.address, pointer = size, 0, ctypes.c_uint64()
        current_device()  # Makes a context current.
        status = DRIVER.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(max(size, 1)))
        if status == 2:  # CUDA_ERROR_OUT_OF_MEMORY
            raise Skipped(f"the GPU has no {size / 1e9:.1f} GB")
        assert status == 0, f"cuMemAlloc of {size} bytes: {status}"
        self.address = pointer.value

    def __del__(self):
        DRIVER.cuMemFree_v2(ctypes.c_uint64(self.address))

    def array(self, shape, element):
        device = CUDA, current_device()
        return _arrays.Array(tuple(shape), element, device, self.address, self)

    def write(self, array, at=0):
        array = np.ascontiguousarray(array)
        check(lib.gqCopyToDevice(self.address + at, array.ctypes.data, array.nbytes))

    def read(self, at, size):
        out = np.empty(size, np.uint8)
        check(lib.gqCopyToHost(out.ctypes.data, self.address + at, size))
        return out

    def repeat(self, size):
        """Fills all of it with what its first `size` bytes hold, again and again."""
        while size < self.size:
            part = min(size, self.size - size)
            copy(self.address + size, self.address, part, lib.gqGetStream())
            size += part
        check(lib.gqStreamStatus(lib.gqGetStream()))


def uploaded(array, element, stored=None):
    """`stored` of its elements are in memory; by default all."""
    kept = array.reshape(-1)[:stored]
    memory = Memory(kept.nbytes)
    memory.write(kept)
    return memory.array(array.shape, element)


def downloaded(array, dtype=np.uint8):
    size = int(np.prod(array.shape)) * _arrays.NumPy.dtype(array.dtype).itemsize
    out = np.empty(size, np.uint8)
    check(lib.gqCopyToHost(out.ctypes.data, array._pointer, size))
    return out.view(dtype)


class Stream:
    def __enter__(self):
        self.handle, self._before = ctypes.c_void_p(), lib.gqGetStream()
        check(lib.gqStreamCreate(ctypes.byref(self.handle)))
        lib.gqSetStream(self.handle)
        return self

    def __exit__(self, *error):
        check(lib.gqStreamStatus(self.handle))
        lib.gqSetStream(self._before)
        check(lib.gqStreamDestroy(self.handle))

    def use(self):
        lib.gqSetStream(self.handle)

    def wait_for(self, other):
        _arrays.wait_for(other.handle.value, self.handle.value)


class Exact(differential.OnGpu):
    """Runs problems of the differential tester with an allocation for each
    argument."""

    @staticmethod
    def _is_short(a, problem):
        read = a.name == "offsets" and a.name not in problem.outputs
        return defect == "short_offsets" and read and a.array.size > 1

    def _run(self, executable, problem):
        arguments = [
            uploaded(a.array, a.element, -1 if self._is_short(a, problem) else None)
            for a in problem.arguments
        ]
        results = executable(*arguments, stream=self._stream.value)
        results = results if isinstance(results, tuple) else (results,)
        check(lib.gqStreamStatus(self._stream))
        dtypes = [_arrays.NumPy.dtype(r.dtype) for r in results]
        return [downloaded(r, d).reshape(r.shape) for r, d in zip(results, dtypes)]


def runs(runner, c):
    problem = configurations.build(c)
    said = differential.failure(runner, problem, problem.function(c["static"]))
    assert said is None, f"{c}\n{said}"


#===----------------------------------------------------------------------===#
# Sizes
#===----------------------------------------------------------------------===#

# Numbers of groups; of models, and of none.
COUNTS = 1, 3, 5, 17, 40, 60, 127, 4096


@test
def expert_counts():
    """Every op on as many groups, each of a few rows or of none."""
    runner = Exact()
    for count in COUNTS:
        rng = np.random.default_rng([19, count])
        for op in configurations.OPS:
            c = differential.draw(19, count, [op], gpu=True)[0]
            if "groups" not in c:
                continue
            if op in ("update_scales", "group_offsets"):
                c["groups"] = count
            else:
                rows = rng.integers(0, 2 if count > 1000 else 5, count)
                rest = c["groups"][0][1:] if c["groups"] else [1, 0]
                c["groups"] = [[int(m), *rest] for m in rows]
            if op == "grouped_wgrad" and count > 1000:  # A result of each group.
                c |= {"pair": ("mxfp8_e4m3", "mxfp8_e4m3"), "n": 1, "k": 1}
            runs(runner, c)


@test
def denormal_amaxes():
    """Blocks whose largest magnitude is denormal, of every format."""

    def tiny(rng, m, k, element):
        bits = {"f32": 1 << 23, "bf16": 1 << 7, "f16": 1 << 10}[element]
        unit = {"f32": 2.0**-149, "bf16": 2.0**-133, "f16": 2.0**-24}[element]
        largest = rng.integers(1, bits, (m, 1))
        x = rng.integers(-bits, bits, (m, k)) % largest * rng.choice([-1, 1], (m, k))
        return (x * unit).astype(np.float32)

    runner, before = Exact(), formats.matrix
    formats.matrix = tiny
    try:
        for number in range(60):
            op = ("grouped_block_quantize", "block_quantize", "grouped_quantize")[number % 3]
            c = differential.draw(23, number, [op], gpu=True)[0]
            c |= {"hard": True, "dbias": None} if "hard" in c else {}
            runs(runner, c)
    finally:
        formats.matrix = before


#===----------------------------------------------------------------------===#
# Views
#===----------------------------------------------------------------------===#

SLICES = """
func.func @main(%x: tensor<?x?x{e}>, %o: tensor<?xi32>, %q: tensor<?x?xi8>,
    %s: tensor<?x?xf8E4M3FN>, %y: tensor<?x?x{e}>, %m: index, %row: index)
    -> (tensor<?x?xi8>, tensor<?x?xf8E4M3FN>, tensor<?x?x{e}>) {{
  %x1 = tensor.extract_slice %x[%row, {column}] [%m, 64] [1, 1]
      : tensor<?x?x{e}> to tensor<?x64x{e}>
  %q1 = tensor.extract_slice %q[%row, {column}] [%m, 32] [1, 1]
      : tensor<?x?xi8> to tensor<?x32xi8>
  %s1 = tensor.extract_slice %s[%row, {column}] [%m, 4] [1, 1]
      : tensor<?x?xf8E4M3FN> to tensor<?x4xf8E4M3FN>
  %y1 = tensor.extract_slice %y[%row, {column}] [%m, 64] [1, 1]
      : tensor<?x?x{e}> to tensor<?x64x{e}>
  %q2, %s2 = gq.grouped_block_quantize format(nvfp4) scale_layout(linear)
      ins(%x1 : tensor<?x64x{e}>) groups(%o : tensor<?xi32>)
      outs(%q1, %s1 : tensor<?x32xi8>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x32xi8>, tensor<?x4xf8E4M3FN>
  %y2 = gq.grouped_dequantize format(nvfp4) scale_layout(linear)
      ins(%q2 : tensor<?x32xi8>) scales(%s2 : tensor<?x4xf8E4M3FN>)
      groups(%o : tensor<?xi32>) outs(%y1 : tensor<?x64x{e}>) -> tensor<?x64x{e}>
  %q3 = tensor.insert_slice %q2 into %q[%row, {column}] [%m, 32] [1, 1]
      : tensor<?x32xi8> into tensor<?x?xi8>
  %s3 = tensor.insert_slice %s2 into %s[%row, {column}] [%m, 4] [1, 1]
      : tensor<?x4xf8E4M3FN> into tensor<?x?xf8E4M3FN>
  %y3 = tensor.insert_slice %y2 into %y[%row, {column}] [%m, 64] [1, 1]
      : tensor<?x64x{e}> into tensor<?x?x{e}>
  return %q3, %s3, %y3 : tensor<?x?xi8>, tensor<?x?xf8E4M3FN>, tensor<?x?x{e}>
}}"""


@test
def views():
    """Rows apart, at addresses that are aligned to an element: as on the CPU."""
    rng = np.random.default_rng(29)
    for element in formats.ELEMENTS:
        for column in range(0, 9):
            text, m = SLICES.format(e=element, column=column), 150
            x = elements.encode(formats.matrix(rng, m + 9, 96, element), element)[:, : 64 + 11]
            offsets = np.int32([2, 40, 40, 131])
            q, s, y = (
                np.full((m + 9, width), cases.POISON, np.uint8)
                for width in (41, 13, 75 * x.itemsize)
            )
            arrays = [np.ascontiguousarray(x), offsets, q, s, y.view(x.dtype)]
            kinds = [element, "i32", "i8", "f8E4M3FN", element]
            scalars = [np.array(m), np.array(5)]
            # On the device first: the CPU writes into the arrays.
            on_device = [uploaded(a, k) for a, k in zip(arrays, kinds)]
            results = gq.compile(text, target="cuda", cache_dir="")(*on_device, *scalars)
            check(lib.gqStreamStatus(lib.gqGetStream()))
            wanted = gq.compile(text, cache_dir="")(*arrays, *scalars)
            for name, r, w in zip(("data", "scales", "out"), results, wanted, strict=True):
                same = np.array_equal(downloaded(r), w.reshape(-1).view(np.uint8))
                assert same, f"{name} of {element}, column {column}"


#===----------------------------------------------------------------------===#
# Extents beyond 32 bits
#===----------------------------------------------------------------------===#

QUANTIZE = """
func.func @main(%x: tensor<?x{k}xbf16>, %o: tensor<?xi64>, %q0: tensor<?x{k}xf4E2M1FN>,
    %s0: tensor<?x{p}xf8E4M3FN, #gq.tile128x4>)
    -> (tensor<?x{k}xf4E2M1FN>, tensor<?x{p}xf8E4M3FN, #gq.tile128x4>) {{
  %q, %s = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?x{k}xbf16>) groups(%o : tensor<?xi64>)
      outs(%q0, %s0 : tensor<?x{k}xf4E2M1FN>, tensor<?x{p}xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x{k}xf4E2M1FN>, tensor<?x{p}xf8E4M3FN, #gq.tile128x4>
  return %q, %s : tensor<?x{k}xf4E2M1FN>, tensor<?x{p}xf8E4M3FN, #gq.tile128x4>
}}"""
# Rows and columns, amaxes of both, and back.
BOTH = """
func.func @main(%x: tensor<?x{k}xbf16>, %o: tensor<?xi64>, %q0: tensor<?x{k}xf8E4M3FN>,
    %s0: tensor<?x{b}xf32>, %qt0: tensor<?xf8E4M3FN>, %st0: tensor<?xf32>,
    %a0: tensor<?xf32>, %r0: tensor<?xf32>, %y0: tensor<?x{k}xbf16>)
    -> (tensor<?x{k}xf8E4M3FN>, tensor<?x{b}xf32>, tensor<?xf8E4M3FN>, tensor<?xf32>,
        tensor<?xf32>, tensor<?xf32>, tensor<?x{k}xbf16>) {{
  %q, %s, %qt, %st, %a = gq.grouped_block_quantize format(fp8_e4m3_1x128)
      scale_layout(linear) ins(%x : tensor<?x{k}xbf16>) groups(%o : tensor<?xi64>)
      outs(%q0, %s0 : tensor<?x{k}xf8E4M3FN>, tensor<?x{b}xf32>)
      columnwise_outs(%qt0, %st0 : tensor<?xf8E4M3FN>, tensor<?xf32>)
      amax_out(%a0 : tensor<?xf32>)
      -> tensor<?x{k}xf8E4M3FN>, tensor<?x{b}xf32>, tensor<?xf8E4M3FN>, tensor<?xf32>,
         tensor<?xf32>
  %r = gq.grouped_amax ins(%x : tensor<?x{k}xbf16>) groups(%o : tensor<?xi64>)
      row_amax_out(%r0 : tensor<?xf32>) -> tensor<?xf32>
  %y = gq.grouped_dequantize format(fp8_e4m3_1x128) scale_layout(linear)
      ins(%q : tensor<?x{k}xf8E4M3FN>) scales(%s : tensor<?x{b}xf32>)
      groups(%o : tensor<?xi64>) outs(%y0 : tensor<?x{k}xbf16>) -> tensor<?x{k}xbf16>
  return %q, %s, %qt, %st, %a, %r, %y : tensor<?x{k}xf8E4M3FN>, tensor<?x{b}xf32>,
      tensor<?xf8E4M3FN>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?x{k}xbf16>
}}"""
MULTIPLY = """
func.func @main(%a: tensor<?x{k}xf8E4M3FN>, %b: tensor<?x{n}x{k}xf8E4M3FN>,
    %o: tensor<?xi64>, %c0: tensor<?x{n}xbf16>) -> tensor<?x{n}xbf16> {{
  %c = gq.grouped_mm {kernel} ins(%a, %b : tensor<?x{k}xf8E4M3FN>, tensor<?x{n}x{k}xf8E4M3FN>)
      groups(%o : tensor<?xi64>) outs(%c0 : tensor<?x{n}xbf16>) -> tensor<?x{n}xbf16>
  return %c : tensor<?x{n}xbf16>
}}"""


def windows(count, width, rng):
    """Where to look at `count` rows: around powers of two of rows and of bytes, of
    `width` each, at both ends, and anywhere."""
    at = {0, count - 1}
    for power in range(28, 38):
        for row in (1 << power, (1 << power) // width):
            at |= {row - 1, row, row + 1}
    at |= set(rng.integers(0, count, 200).tolist())
    return sorted(row for row in at if 0 <= row < count)


@test
def rows_beyond_31_bits():
    """2^31 rows and more, 95 GB; the middle one of three groups has most of them."""
    k, period, rng = 16, 100_003, np.random.default_rng(31)
    before, after = 5, 1000
    count = (1 << 31) + before + 11 + after
    base = elements.encode(formats.matrix(rng, period, k, "bf16"), "bf16")
    offsets = np.int64([0, before, count - after, count])
    starts = np.cumsum([0, *(oracle.up(int(n), 128) for n in np.diff(offsets))])
    data, scales = Memory(count * k // 2), Memory(int(starts[-1]) * 4)
    x = Memory(count * k * 2)
    x.write(base)
    x.repeat(base.nbytes)
    run = gq.compile(QUANTIZE.format(k=k, p=4), target="cuda", cache_dir="")
    run(x.array((count, k), "bf16"), uploaded(offsets, "i64"), data.array((count, k // 2), "i8"),
        scales.array((int(starts[-1]), 4), "f8E4M3FN"))  # fmt: skip
    check(lib.gqStreamStatus(lib.gqGetStream()))
    codes, linear = oracle.quantize_rows(elements.decode(base, "bf16"), "nvfp4")
    codes = oracle.stored(codes, "nvfp4")
    for row in windows(count, k, rng):
        found = data.read(row * k // 2, k // 2)
        assert np.array_equal(found, codes[row % period]), f"data of row {row}"
        e = int(np.searchsorted(offsets, row, "right")) - 1
        i, tile = row - int(offsets[e]), int(starts[e])
        tile = scales.read((tile + i // 128 * 128) * 4, 512)
        found = tile[i % 32 * 16 + i % 128 // 32 * 4 :][:4]
        assert np.array_equal(found, [linear[row % period, 0], 0, 0, 0]), f"scales of row {row}"


@test
def elements_beyond_32_bits():
    """Two groups of more than 2^32 elements together, in both directions."""
    k, period, count, rng = 1024, 128 * 31, 128 * 33_001, np.random.default_rng(37)
    base = elements.encode(formats.matrix(rng, period, k, "bf16"), "bf16")
    x = Memory(count * k * 2)
    x.write(base)
    x.repeat(base.nbytes)
    offsets, blocks = np.int64([0, period, count]), count // 128
    shapes = {
        "data": ((count, k), "f8E4M3FN"), "scales": ((count, k // 128), "f32"),
        "columns": ((count * k,), "f8E4M3FN"), "their scales": ((k * blocks,), "f32"),
        "amax": ((2,), "f32"), "amaxes of rows": ((count,), "f32"),
        "out": ((count, k), "bf16"),
    }  # fmt: skip
    memory = {
        name: Memory(int(np.prod(shape)) * _arrays.NumPy.dtype(element).itemsize)
        for name, (shape, element) in shapes.items()
    }
    run = gq.compile(BOTH.format(k=k, b=k // 128), target="cuda", cache_dir="")
    run(x.array((count, k), "bf16"), uploaded(offsets, "i64"),
        *(memory[name].array(*shape) for name, shape in shapes.items()))  # fmt: skip
    check(lib.gqStreamStatus(lib.gqGetStream()))
    # What one period gives on the CPU.
    once = {
        name: np.zeros([{count: period, count * k: period * k, k * blocks: k * period // 128}
                        .get(n, n) for n in shape], _arrays.NumPy.dtype(element))
        for name, (shape, element) in shapes.items()
    }  # fmt: skip
    once["amax"] = np.zeros(1, np.float32)
    cpu = gq.compile(BOTH.format(k=k, b=k // 128), cache_dir="")
    cpu(base, np.int64([0, period]), *once.values())
    once = {name: a.view(np.uint8) for name, a in once.items()}
    for name in "data", "scales", "amaxes of rows", "out":
        rows = once[name].reshape(period, -1)
        width = rows.shape[1]
        for row in windows(count, width, rng):
            found = memory[name].read(row * width, width)
            assert np.array_equal(found, rows[row % period]), f"{name} of row {row}"
    amax = memory["amax"].read(0, 8)
    assert np.array_equal(amax, np.tile(once["amax"], 2)), "amax"
    # Columns of the second group: k runs of all its rows, which are whole periods
    # and the first rows of one more.
    rest = count - period
    for name, unit, size in (("columns", 1, 1), ("their scales", 128, 4)):
        wanted = once[name].reshape(k, -1)
        first, run_of = k * period // unit * size, rest // unit * size
        for column in (0, 1, k // 2, k - 1):
            for part in windows(rest // 128, 128 * k, rng)[::4]:
                at, length = part * 128 // unit * size, 128 // unit * size
                found = memory[name].read(first + column * run_of + at, length)
                here = part * 128 % period // unit * size
                same = np.array_equal(found, wanted[column, here : here + length])
                assert same, f"{name} of column {column}, block {part}"


@test
def products_beyond_32_bits():
    """Products of more than 2^32 bytes of rows, to as many bytes of results."""
    k, n, period, count, rng = 512, 1024, 10_007, 8_400_011, np.random.default_rng(41)
    # Neither NaN nor large.
    base = rng.integers(0, 256, (period, k), np.uint8) & 0xB7
    weights = rng.integers(0, 256, (2, n, k), np.uint8) & 0xB7
    a = Memory(count * k)
    a.write(base)
    a.repeat(base.nbytes)
    offsets = np.int64([3, 1000, count - 2])
    one, two = (oracle.e4m3_value(x).astype(np.float64) for x in (base, weights))
    out, b = Memory(count * n * 2), uploaded(weights, "f8E4M3FN")
    for kernel in "any", "decode16", "tiles128":
        text = MULTIPLY.format(k=k, n=n, kernel=f"kernel({kernel})")
        run = gq.compile(text, target="cuda", cache_dir="")
        out.write(np.full(n * 2, cases.POISON, np.uint8))
        out.repeat(n * 2)
        run(a.array((count, k), "f8E4M3FN"), b, uploaded(offsets, "i64"),
            out.array((count, n), "bf16"))  # fmt: skip
        check(lib.gqStreamStatus(lib.gqGetStream()))
        for row in windows(count, n * 2, rng):
            found = out.read(row * n * 2, n * 2)
            if not offsets[0] <= row < offsets[-1]:
                assert (found == cases.POISON).all(), f"{kernel}: row {row} is in no group"
                continue
            x, w = one[row % period], two[int(row >= offsets[1])]
            # Half a unit of bf16, and what sums on matrix units lose.
            off = 2.0**-8 * np.abs(w @ x) + 2.0**-9 * (np.abs(w) @ np.abs(x))
            found = elements.decode(found.view(np.uint16), "bf16")
            assert (np.abs(found - w @ x) <= off).all(), f"{kernel}: row {row}"


#===----------------------------------------------------------------------===#
# Orders of work
#===----------------------------------------------------------------------===#

STEP = """
func.func @main(%x: tensor<?x256xbf16>, %n: tensor<8xi32>, %q0: tensor<?x256xf4E2M1FN>,
    %s0: tensor<1536x16xf8E4M3FN, #gq.tile128x4>)
    -> (tensor<?x256xf4E2M1FN>, tensor<1536x16xf8E4M3FN, #gq.tile128x4>) {
  %o0 = tensor.empty() : tensor<9xi32>
  %o = gq.group_offsets ins(%n : tensor<8xi32>) outs(%o0 : tensor<9xi32>) -> tensor<9xi32>
  %q, %s = gq.grouped_block_quantize format(nvfp4) rows(grouped)
      ins(%x : tensor<?x256xbf16>) groups(%o : tensor<9xi32>)
      outs(%q0, %s0 : tensor<?x256xf4E2M1FN>, tensor<1536x16xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x256xf4E2M1FN>, tensor<1536x16xf8E4M3FN, #gq.tile128x4>
  return %q, %s : tensor<?x256xf4E2M1FN>, tensor<1536x16xf8E4M3FN, #gq.tile128x4>
}"""


class Steps:
    """Inputs of the step, what it gives, and its arguments on a device."""

    def __init__(self, count, m=500):
        rng = np.random.default_rng(43)
        self.inputs, self.wanted = [], []
        cpu = gq.compile(STEP, cache_dir="")
        for _ in range(count):
            x = elements.encode(formats.matrix(rng, m, 256, "bf16"), "bf16")
            counts = rng.multinomial(int(rng.integers(m + 1)), [1 / 8] * 8).astype(np.int32)
            results = self._poison(m)
            cpu(x, counts, *results)
            self.inputs.append((x, counts))
            self.wanted.append(np.concatenate([r.reshape(-1) for r in results]))
        self.poison = self._poison(m)

    @staticmethod
    def _poison(m):
        shapes = (m, 128), (1536, 16)
        return [np.full(shape, cases.POISON, np.uint8) for shape in shapes]

    def arguments(self):
        return [
            uploaded(a, kind)
            for a, kind in zip((*self.inputs[0], *self.poison), ("bf16", "i32", "i8", "f8E4M3FN"))
        ]

    def write(self, arguments, number):
        for array, value in zip(arguments, (*self.inputs[number], *self.poison)):
            array._owner.write(value)

    def check(self, arguments, number, what):
        found = np.concatenate([downloaded(a) for a in arguments[2:]])
        assert np.array_equal(found, self.wanted[number]), what


@test
def replays():
    """A graph that was captured once, 10,000 times with other offsets and rows."""
    steps, run = Steps(40), gq.compile(STEP, target="cuda", cache_dir="")
    with Stream() as stream:
        arguments = steps.arguments()
        run(*arguments, stream=stream.handle.value)
        steps.check(arguments, 0, "the first call")
        graph = ctypes.c_void_p()
        check(lib.gqGraphBegin())
        run(*arguments, stream=stream.handle.value)
        check(lib.gqGraphEnd(ctypes.byref(graph)))
        for i in range(10_000):
            if defect != "old_offsets":
                steps.write(arguments, i % 40)
            check(lib.gqGraphLaunch(graph))
            steps.check(arguments, i % 40, f"replay {i}")
        check(lib.gqGraphDestroy(graph))


def chain(rounds, k):
    """Rounds of a gather, a quantization and its inverse, all but the last one on the
    same buffers."""
    matrix, codes, scales = f"?x{k}xbf16", f"?x{k}xf4E2M1FN", f"?x{k // 16}xf8E4M3FN"
    text, x, inits = "", "%x", ("%eq", "%es", "%ey")
    for i in range(rounds):
        q, s, y = inits if i < rounds - 1 else ("%q", "%s", "%y")
        text += f"""
  %q{i}, %s{i} = gq.grouped_block_quantize format(nvfp4) scale_layout(linear)
      ins({x} : tensor<{matrix}>) row_indices(%idx : tensor<?xi32>)
      groups(%o : tensor<?xi32>) outs({q}, {s} : tensor<{codes}>, tensor<{scales}>)
      -> tensor<{codes}>, tensor<{scales}>
  %y{i} = gq.grouped_dequantize format(nvfp4) scale_layout(linear)
      ins(%q{i} : tensor<{codes}>) scales(%s{i} : tensor<{scales}>)
      groups(%o : tensor<?xi32>) outs({y} : tensor<{matrix}>) -> tensor<{matrix}>"""
        x, inits = f"%y{i}", (f"%q{i}", f"%s{i}", f"%y{i}")
    last = rounds - 1
    return f"""
func.func @main(%x: tensor<{matrix}>, %idx: tensor<?xi32>, %o: tensor<?xi32>,
    %q: tensor<{codes}>, %s: tensor<{scales}>, %y: tensor<{matrix}>)
    -> (tensor<{codes}>, tensor<{scales}>, tensor<{matrix}>) {{
  %zero = arith.constant 0 : index
  %m = tensor.dim %x, %zero : tensor<{matrix}>
  %eq = tensor.empty(%m) : tensor<{codes}>
  %es = tensor.empty(%m) : tensor<{scales}>
  %ey = tensor.empty(%m) : tensor<{matrix}>{text}
  return %q{last}, %s{last}, %y{last} : tensor<{codes}>, tensor<{scales}>, tensor<{matrix}>
}}"""


@test
def early_starts():
    """Kernels that may start before the one before them ends: each reads all of what
    that one writes, from other places, and overwrites what that one reads."""
    m, k, rng = 6000, 1024, np.random.default_rng(44)
    text, offsets = chain(10, k), np.int32([0, 7, 3001, m])
    index = rng.permutation(m).astype(np.int32)
    cpu, steps = gq.compile(text, cache_dir=""), []
    results = [np.zeros((m, n), np.uint8) for n in (k // 2, k // 16)]
    results.append(np.zeros((m, k), np.uint16))
    for _ in range(4):
        x = elements.encode(rng.standard_normal((m, k)), "bf16")
        cpu(x, index, offsets, *results)
        steps.append((x, [r.reshape(-1).view(np.uint8).copy() for r in results]))
    run = gq.compile(text, target="cuda", cache_dir="")
    with Stream() as stream:
        on_device = [
            uploaded(a, kind)
            for a, kind in zip(
                (x, index, offsets, *results), ("bf16", "i32", "i32", "i8", "f8E4M3FN", "bf16")
            )
        ]
        run(*on_device, stream=stream.handle.value)
        graph = ctypes.c_void_p()
        check(lib.gqGraphBegin())
        run(*on_device, stream=stream.handle.value)
        check(lib.gqGraphEnd(ctypes.byref(graph)))
        for i in range(200):
            rows, wanted = steps[i % len(steps)]
            on_device[0]._owner.write(rows)
            if i % 2:
                check(lib.gqGraphLaunch(graph))
            else:
                run(*on_device, stream=stream.handle.value)
            for found, expected in zip(on_device[3:], wanted):
                assert np.array_equal(downloaded(found), expected), f"run {i}"
        check(lib.gqGraphDestroy(graph))


@test
def producers_on_other_streams():
    """What a call reads is written late, by another stream, while a third one works."""
    steps, run = Steps(8), gq.compile(STEP, target="cuda", cache_dir="")
    sleep = HOST_FUNCTION(lambda _: time.sleep(0.02))
    with Stream() as producer, Stream() as consumer, Stream() as other:
        arguments, beside = steps.arguments(), steps.arguments()
        sources = [[uploaded(a, k) for a, k in zip(step, ("bf16", "i32"))] for step in steps.inputs]
        for i in range(60):
            number, late = i % 8, i % 3 == 0
            consumer.use()
            steps.write(arguments, (number + 1) % 8)
            other.use()
            steps.write(beside, (number + 2) % 8)
            if late:
                status = DRIVER.cuLaunchHostFunc(producer.handle, sleep, None)
                assert status == 0, f"cuLaunchHostFunc: {status}"
            for target, source in zip(arguments, sources[number]):
                size = source._owner.size
                copy(target._pointer, source._pointer, size, producer.handle)
            if defect != "late_producer":
                consumer.wait_for(producer)
            run(*arguments, stream=consumer.handle.value)
            for _ in range(5):
                run(*beside, stream=other.handle.value)
            consumer.use()
            steps.check(arguments, number, f"call {i}")
            other.use()
            steps.check(beside, (number + 2) % 8, f"beside call {i}")


@test
def two_devices():
    """One process and one executable on two GPUs, in turns."""
    count = ctypes.c_int()
    current_device()  # Initializes the driver.
    assert DRIVER.cuDeviceGetCount(ctypes.byref(count)) == 0
    if count.value < 2:
        raise Skipped("there is one GPU")
    steps, run = Steps(8), gq.compile(STEP, target="cuda", cache_dir="")
    arguments = []
    for device in range(2):
        with _arrays.on_device(device):
            arguments.append(steps.arguments())
    for i in range(100):
        for device in range(2):
            with _arrays.on_device(device):
                steps.write(arguments[device], (i + device) % 8)
                run(*arguments[device], stream=0)
        for device in range(2):
            with _arrays.on_device(device):
                gq.check_stream(0)
                steps.check(arguments[device], (i + device) % 8, f"call {i} on device {device}")


def outcome(test):
    """(what to say of a test, whether it passed: None if it was skipped)"""
    try:
        test()
    except Skipped as reason:
        return f"SKIP ({reason})", None
    except Exception:  # noqa: BLE001
        return f"FAIL\n{traceback.format_exc(-3)}", False
    return "PASS", True


def planted(name):
    """Runs the test that finds a defect; raises unless it is found."""
    global defect
    defect, test = name, next(f for f in TESTS if f.__name__ == PLANTED[name])
    try:
        test()
    except (AssertionError, gq.Error) as e:
        print(f"{name} is found: {e}")
        return
    finally:
        defect = None
    raise AssertionError(f"{PLANTED[name]} has not found {name}")


def main():
    tests = {f.__name__: f for f in TESTS}
    names = sys.argv[1:] or list(tests)
    if names[0] == "--planted":
        tests = {name: functools.partial(planted, name) for name in PLANTED}
        names = names[1:] or [name for name in PLANTED if name != "short_offsets"]
    results = []
    for name in names:
        start = time.monotonic()
        said, passed = outcome(tests[name])
        results.append(passed)
        print(f"{name}: {time.monotonic() - start:.1f} s, {said}", flush=True)
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return results.count(False) != 0


if __name__ == "__main__":
    sys.exit(main())
