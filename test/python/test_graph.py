# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs that are recorded: the same bytes as the functions one after the other."""

import copy
import inspect
import math
import pathlib

import gq
import ml_dtypes
import numpy as np
import pytest
from gq import _call, producers

RNG = np.random.default_rng(0)
OFFSETS = np.int32([0, 100, 100, 300])


def numbers(*shape):
    return RNG.standard_normal(shape, np.float32)


def ffn():
    """A feed-forward network of experts: K 256, hidden 256."""
    with gq.Graph() as g:
        x = g.input("x", ["M", 256], "bfloat16")
        offsets = g.input("offsets", [4], "int32")
        up, up_scales = g.input("up", [3, 512, 128], "i8"), g.input("us", [3, 512, 16], "float8_e4m3fn")
        down = g.input("down", [3, 256, 128], "uint8")
        down_scales = g.input("ds", [3, 256, 16], "float8_e4m3fn")
        q = gq.grouped_block_quantize(x, offsets)
        both = gq.grouped_mm(q, up, b_scales=up_scales, b_format="nvfp4")
        h = gq.graph.map("silu_and_mul", *gq.graph.split(both, 2))
        q = gq.grouped_block_quantize(h, offsets)
        g.output(gq.grouped_mm(q, down, b_scales=down_scales, b_format="nvfp4"))
    return g


def test_a_layer():
    x = numbers(300, 256).astype(ml_dtypes.bfloat16)
    up, down = (gq.quantize_weights(numbers(3, n, 256)) for n in (512, 256))
    y = ffn()(x, OFFSETS, up.data, up.scales, down.data, down.scales)
    both = gq.grouped_mm(gq.grouped_block_quantize(x, OFFSETS), up)
    q = gq.grouped_block_quantize(both, OFFSETS, producer="silu_and_mul")
    np.testing.assert_array_equal(y, gq.grouped_mm(q, down))
    assert y.shape == (300, 256) and y.dtype == ml_dtypes.bfloat16


def test_ops():
    """Every function, on what others made."""
    x, dy, w = numbers(300, 128), numbers(300, 256), numbers(300, 128)
    scale = np.float32([3, 5, 7])

    def all_of(x, dy, w, offsets, scale, starts):
        both = gq.grouped_block_quantize(
            x, offsets, "mxfp8_e4m3", columnwise=True, amax=True, dbias="float32"
        )
        gradient = gq.grouped_block_quantize(
            dy, offsets, "mxfp8_e4m3", rowwise=False, columnwise=True
        )
        rows = gq.block_quantize(w)
        fp8 = gq.grouped_quantize(x, offsets, scale=scale)
        amaxes = gq.grouped_amax(x, offsets, row_amax=True)
        tiled = gq.preprocess_grouped_matmul_sf(rows.scales, offsets, starts)
        separate = gq.grouped_dequantize(
            rows.data, offsets, scales=tiled, scale_offsets=starts, format="nvfp4",
            out_dtype="float32",
        )  # fmt: skip
        return [
            *gq.group_offsets(starts), both.data, both.amax, both.dbias,
            gq.grouped_wgrad(gradient, both),
            fp8.data, fp8.scale_inv, *amaxes, gq.grouped_dequantize(both),
            gq.grouped_dequantize(fp8, out_dtype="float32"), rows.scales,
            gq.block_dequantize(rows), separate, gq.fake_quantize(x, offsets),
        ]  # fmt: skip

    with gq.Graph() as g:
        inputs = [
            g.input("x", ["M", 128], "float32"), g.input("dy", ["M", 256], "float32"),
            g.input("w", ["M", 128], "float32"), g.input("offsets", [4], "int32"),
            g.input("scale", [3], "float32"), g.input("starts", [3], "int32"),
        ]  # fmt: skip
        g.output(*all_of(*inputs))
    arrays = x, dy, w, OFFSETS, scale, np.int32([0, 128, 128])
    wanted = all_of(*arrays)
    for found, array in zip(g(*arrays), wanted, strict=True):
        assert found.shape == array.shape and found.dtype == array.dtype
        np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.float16])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sum_rows(dtype, index):
    """Rows of tokens back in their order, added up; no row for -1 and M."""
    with gq.Graph() as g:
        y = g.input("y", ["M", 64], np.dtype(dtype).name)
        g.output(gq.graph.sum_rows(y, g.input("i", [None, 3], np.dtype(index).name)))
    rows, indices = numbers(20, 64).astype(dtype), RNG.integers(0, 20, (7, 3)).astype(index)
    indices[2, 1], indices[3, 0], indices[5] = 20, -1, -1
    padded = np.concatenate([rows, np.zeros((1, 64), dtype)]).astype(np.float32)
    there = np.where((indices >= 0) & (indices < 20), indices, 20)
    a, b, c = (padded[there[:, j]] for j in range(3))
    np.testing.assert_array_equal(g(rows, indices), ((a + b) + c).astype(dtype))


def test_sum_rows_of_wrong_arguments():
    with gq.Graph() as g:
        y, i = g.input("y", ["M", 64], "float32"), g.input("i", ["T", 3], "int32")
        for arguments, message in (
            ((y, g.input("j", ["T", "J"], "int32")), "indices: .* the last one known"),
            ((y, y), "indices: expected int32 or int64, found f32"),
            ((i, i), "tensor: expected floats, found i32"),
            ((g.input("z", [64], "float32"), i), "tensor: expected two extents"),
        ):
            with pytest.raises(gq.Error, match=message):
                gq.graph.sum_rows(*arguments)
        with pytest.raises(TypeError, match="indices: expected a Tensor"):
            gq.graph.sum_rows(y, np.zeros((2, 3), np.int32))
        g.output(y)


def test_elements():
    """Operators, a row, a scalar, a function; rounded to the type of the inputs."""
    with gq.Graph() as g:
        x, y = (g.input(n, ["M", 64], "float32") for n in "xy")
        row, scalar = g.input("row", [64], "float32"), g.input("scalar", [], "float32")
        z = 2 - (x * row + y / scalar) * -1 + 0.5
        g.output(z, gq.graph.map(lambda a: producers.maximum(a, 0), -z), 1 / x - 3 * y)
    a, b, r, s = numbers(5, 64), numbers(5, 64), numbers(64), np.float32(3)
    z = 2 - (a * r + b / s) * -1 + np.float32(0.5)
    found = g(a, b, r, s)
    np.testing.assert_array_equal(found[0], z)
    np.testing.assert_array_equal(found[1], np.maximum(-z, 0))
    np.testing.assert_array_equal(found[2], 1 / a - 3 * b)


def test_broadcast():
    """w[:, None]: along some extents, first or second, of three."""
    with gq.Graph() as g:
        x, w = g.input("x", ["M", 64], "float32"), g.input("w", ["M"], "float32")
        cube, wide = g.input("c", ["M", 3, 8], "float32"), g.input("d", ["M", 8], "float32")
        assert repr(w[:, None]) == "gq.graph.Broadcast(f32 [M, 1])"
        g.output(
            1 - (w[:, None] + w[:, None]) - x / w[:, None], cube * wide[:, None, :],
            cube - w[:, None, None], gq.graph.map(lambda a, b: a * b, w[:, None], x, out=x),
            -w[:, None] * x, gq.graph.map("relu", w[:, None]),
        )  # fmt: skip
        with pytest.raises(gq.Error, match="index: expected : for each extent of"):
            x[None, :]
        with pytest.raises(gq.Error, match="index: expected : for each extent of"):
            w[:4, None]
        for bad in lambda: x * wide[:, None, :], lambda: cube * wide[:, :, None]:
            with pytest.raises(gq.Error, match=r"tensors\[1\]: expected \[M, K\]"):
                bad()
        with pytest.raises(TypeError, match="out: expected a Tensor"):
            gq.graph.map("silu", x, out=w[:, None])
        with pytest.raises(TypeError, match="x: expected a Tensor of this graph"):
            gq.block_quantize(w[:, None])
        with pytest.raises(TypeError, match="output: expected a Tensor"):
            g.output(w[:, None])
        with pytest.raises(TypeError, match="not known"):
            bool(w[:, None])
    a, b, c, d = numbers(5, 64), numbers(5), numbers(5, 3, 8), numbers(5, 8)
    columns = b[:, None]
    wanted = (1 - (columns + columns) - a / columns, c * d[:, None], c - b[:, None, None], a * columns,
              -columns * a, np.maximum(columns, 0))  # fmt: skip
    for found, array in zip(g(a, b, c, d), wanted, strict=True):
        np.testing.assert_array_equal(found, array)
    with pytest.raises(gq.Error, match="w: expected M = 5, as x has, found 4"):
        g(a, b[:4], c, d)


def test_it_is_fused():
    """The printed module, through the passes that the CPU's pipeline begins with."""
    text = str(ffn())
    assert text.count('"gq.') == 4 and text.count("linalg.generic") == 1
    assert "loc(" not in text
    assert repr(ffn()).startswith("gq.Graph(x: tensor<?x256xbf16>, offsets: tensor<4xi32>,")
    # What is printed is a module like any other.
    x = numbers(300, 256).astype(ml_dtypes.bfloat16)
    up, down = (gq.quantize_weights(numbers(3, n, 256)) for n in (512, 256))
    arrays = x, OFFSETS, up.data, up.scales, down.data, down.scales
    np.testing.assert_array_equal(gq.compile(text)(*arrays), ffn()(*arrays))


def test_it_is_compiled_once(monkeypatch):
    compiled = []
    compile_module = _call.compile_module
    monkeypatch.setattr(
        _call, "compile_module", lambda *a, **k: (compiled.append(a), compile_module(*a, **k))[1]
    )
    with gq.Graph() as g:
        x = g.input("x", [None, 48], "float32")
        g.output(gq.block_quantize(x * 3).data)
    for rows in 2, 3, 2:
        assert g(numbers(rows, 48)).shape == (rows, 24)
    assert len(compiled) == 1


def test_errors_name_the_line():
    """The compiler's, where the op was recorded."""
    with gq.Graph() as g:
        x, o = g.input("x", [None, 64], "float32"), g.input("o", [3], "int32")
        direction = gq.Direction(transform="hadamard16")
        line = inspect.currentframe().f_lineno + 1
        q = gq.grouped_block_quantize(x, o, "mxfp8_e4m3", rowwise=direction)
        g.output(q.data)
    with pytest.raises(gq.Error, match=f"{pathlib.Path(__file__).name}:{line}:") as raised:
        g.compile()
    assert raised.value.status == "COMPILE_ERROR"


class Foreign:
    """An array that has nothing but its export."""

    def __init__(self, array):
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__


@pytest.mark.parametrize("kind", [np.asarray, Foreign])
def test_extents_of_one_name(kind):
    """Equal, or the compiled loop would read what is no part of the smaller one."""
    with gq.Graph() as g:
        x, y = (g.input(n, ["M", 64], "float32") for n in "xy")
        z = g.input("z", [None, 64], "float32")
        g.output(x + y, z * 2)
    a, b = numbers(5, 64), numbers(2, 64)
    found = g(kind(a), kind(a), kind(b))
    np.testing.assert_array_equal(found[0], a + a)
    np.testing.assert_array_equal(found[1], b * 2)
    for first, second in (a, b), (b, a):
        message = f"y: expected M = {len(first)}, as x has, found {len(second)}"
        with pytest.raises(gq.Error, match=message):
            g(kind(first), kind(second), kind(b))


def test_parts_fills_and_gathers():
    """Slices with steps of known extents, numbers in all of a tensor, rows at indices,
    which a quantization reads without a copy."""
    x, rows = numbers(6, 96), np.int64([[5], [0], [0], [3]])
    with gq.Graph() as g:
        t, i = g.input("x", [6, 96], "float32"), g.input("rows", ["M", 1], "int64")
        offsets = g.input("offsets", [2], "int32")
        q = gq.grouped_block_quantize(gq.graph.gather(t, i), offsets)
        g.output(
            t[1:6:2, 3:50:7], t[:, 8:], t[-2:, :], q.data,
            gq.graph.fill(-0.1, g.empty([i.shape[0], 3], "float32")),
            gq.graph.fill(-3, g.empty([2], "int32")),
            gq.graph.fill(1.5, g.empty([2], "float8_e4m3fn")), t[2, :], t[1:, -1], t[0, 1],
        )  # fmt: skip
    found = g(x, rows, np.int32([0, 4]))
    wanted = gq.grouped_block_quantize(x, np.int32([0, 4]), row_indices=rows[:, 0])
    for a, b in zip(found, (x[1:6:2, 3:50:7], x[:, 8:], x[-2:], wanted.data)):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(found[4], np.full((4, 3), -0.1, np.float32))
    for a, b in zip(found[7:], (x[2], x[1:, -1], x[0, 1]), strict=True):
        np.testing.assert_array_equal(a, b)
    assert found[5].tolist() == [-3, -3] and found[6].astype(np.float32).tolist() == [1.5, 1.5]


def test_copies():
    """Of what holds a graph, also after it was compiled."""
    with gq.Graph() as g:
        g.output(g.input("x", [2], "float32") * 2)
    x = np.float32([1, 2])
    g(x)
    np.testing.assert_array_equal(copy.deepcopy([g])[0](x), x * 2)


def test_sizes_of_numpy():
    with gq.Graph() as g:
        g.output(g.input("x", np.array([2, 64]), np.float32) * 2)
    x = numbers(2, 64)
    np.testing.assert_array_equal(g(x), x * 2)


@producers.typed
def WIDE(x):
    return producers.cast(x, "float64")


@producers.typed
def MIXED(x):
    return x + producers.cast(x, "float64")


@producers.typed
def SAME(x):
    return producers.cast(x, "float32")


def test_outs():
    """Results in tensors that are given: inputs, empty ones, codes that are not packed;
    rows that an op does not write keep what was in them."""
    with gq.Graph("quantize") as g:
        x, offsets = g.input("x", [None, 64], "float32"), g.input("offsets", [None], "i32")
        codes = g.empty([x.shape[0], 64], "f4E2M1FN")
        scales = g.empty([gq.graph.index("ceildivui", x.shape[0], 128) * 128 + 256, 4], "f8E4M3FN", True)
        q = gq.grouped_block_quantize(x, offsets, out=[codes, scales])
        amax = gq.grouped_amax(x[:, 0:48], offsets, out=[g.input("amax", [3], "float32")])
        old = g.input("old", [None, 64], "float32")
        y = gq.grouped_dequantize(q.data, offsets, scales=q.scales, format="nvfp4", out=old)
        g.output(q.data, amax, y, x + old)
    assert "func.func @quantize(" in str(g) and q.data.shape == (x.shape[0], 64)
    array, before = numbers(300, 64), numbers(300, 64)
    data, largest, rows, both = g(array, np.int32([0, 100, 100, 200]), np.zeros(3, np.float32), before)
    wanted = gq.grouped_block_quantize(array, np.int32([0, 100, 100, 200]))
    np.testing.assert_array_equal(data, wanted.data)
    np.testing.assert_array_equal(largest, gq.grouped_amax(array[:, :48].copy(), wanted.offsets))
    kept = before.copy()
    gq.grouped_dequantize(wanted, out=kept)
    np.testing.assert_array_equal(rows, kept)
    np.testing.assert_array_equal(both, array + before)
    # Extents that nothing but the ops relates.
    with pytest.raises(ValueError, match=r"^INVALID_ARGUMENT: extents: expected old.0 = x.0 = 300, found 299"):
        g(array, wanted.offsets, np.zeros(3, np.float32), before[:-1])
    with pytest.raises(ValueError, match="^INVALID_ARGUMENT: extents: "):
        g(array, wanted.offsets[:-1], np.zeros(3, np.float32), before)


def test_update_scales():
    """An op that writes into its arguments gives new values in a graph."""
    with gq.Graph() as g:
        amax, history = g.input("amax", [3], "float32"), g.input("history", [None, 3], "float32")
        g.output(*gq.update_scales(amax, history, g.input("scale", [3], "float32"), margin=1))
    arrays = np.float32([1, 2, 3]), np.float32([[4, 0, 0], [0, 9, 0]]), np.ones(3, np.float32)
    found = g(*(a.copy() for a in arrays))
    wanted = gq.update_scales(*arrays, margin=1)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b)


def test_results_in_the_order_of_the_op():
    """Both of dbias and row_amax, whose order in the op is another than in Python."""
    x = numbers(300, 64)
    q = gq.grouped_block_quantize(
        x, OFFSETS, rowwise=gq.Direction(outer="row"), row_amax=True, dbias=True
    )
    np.testing.assert_array_equal(q.row_amax, np.abs(x).max(1))
    np.testing.assert_allclose(q.dbias[0], x[:100].sum(0), rtol=1e-4, atol=1e-4)


def test_typed():
    """Elements that are computed in the types of the inputs, with constants of these."""
    @producers.typed
    def twice(a, b):
        rounded = producers.cast(producers.cast(a, "float32") * 0.1, "bfloat16")
        return producers.where(rounded < b, rounded + b, producers.maximum(b, 0.0))

    with gq.Graph() as g:
        x, y = (g.input(n, [None, 3, 8], "bfloat16") for n in "xy")
        g.output(gq.graph.map(twice, x, y, out=g.empty([x.shape[0], 3, 8], "bfloat16")))
    a, b = (numbers(5, 3, 8).astype(ml_dtypes.bfloat16) for _ in range(2))
    r = (a.astype(np.float32) * np.float32(0.1)).astype(ml_dtypes.bfloat16)
    wanted = np.where(r < b, r + b, np.maximum(b, 0).astype(b.dtype))
    np.testing.assert_array_equal(g(a, b), wanted)


def test_a_program(tmp_path, capsys, monkeypatch):
    """gq.graph.main(): prints modules; runs one on arrays in files."""
    def double():
        with gq.Graph("double") as g:
            g.output(g.input("x", ["M", 4], "bfloat16") * 2)
        return g

    def halve():
        with gq.Graph("halve") as g:
            g.output(g.input("x", [4], "float32") / 2)
        return g

    monkeypatch.setattr("sys.argv", ["program.py"])
    gq.graph.main(double, double, halve)
    assert capsys.readouterr().out == str(double()) + "\n" + str(halve())
    x = numbers(3, 4).astype(ml_dtypes.bfloat16)
    np.save(tmp_path / "x.npy", x.view(np.uint16))
    command = f"program.py --in {tmp_path}/x.npy --out {tmp_path}/out"
    monkeypatch.setattr("sys.argv", command.split())
    gq.graph.main(double)
    assert capsys.readouterr().out == "result 0: bfloat16 [3, 4]\n"
    found = np.load(tmp_path / "out/0.npy")
    assert found.dtype == np.uint16
    np.testing.assert_array_equal(found.view(ml_dtypes.bfloat16), x * 2)


def test_wrong_arguments():
    with gq.Graph() as other:
        other.output(other.input("z", [2, 64], "float32") * 2)
    stranger = other._inputs[0]
    with gq.Graph() as g:
        x, o = g.input("x", ["M", 64], "float32"), g.input("o", [3], "int32")
        y, tall = g.input("y", ["N", 64], "float32"), g.input("tall", [64], "float32")
        wide = g.input("wide", ["M", "K"], "float32")
        for call, kind, message in [
            (lambda: gq.grouped_block_quantize(x, np.int32([0, 2, 3])), TypeError,
             "offsets: expected a Tensor of this graph, found ndarray"),
            (lambda: gq.grouped_block_quantize(stranger, o), TypeError, "offsets: expected a Tensor of this graph"),
            (lambda: gq.grouped_block_quantize(np.ones((2, 64), np.float32), o), TypeError,
             "x: expected a Tensor of this graph"),
            (lambda: gq.grouped_block_quantize(o, o), gq.Error, "x: expected float32"),
            (lambda: gq.grouped_block_quantize((x, y), o, producer="silu_and_mul"), gq.Error,
             r"x\[1\]: expected .* \[M, 64\], found float32 \[N, 64\]"),
            (lambda: gq.grouped_block_quantize(wide, o), gq.Error,
             r"x: expected a number of columns that is known, found \[M, K\]"),
            (lambda: gq.block_quantize(wide), gq.Error, "x: expected a number of columns"),
            (lambda: gq.block_quantize(x, out=[x]), gq.Error, "out: expected 2 arrays"),
            (lambda: gq.block_quantize(x, out=[x, numbers(2, 4)]), TypeError,
             r"out\[1\]: expected a Tensor of this graph, found ndarray"),
            (lambda: gq.block_quantize(x, out=[x, y]), gq.Error,
             r"out\[0\] \(data\): expected float4_e2m1fn_x2 \[M, 32\], found float32"),
            (lambda: gq.update_scales(tall, tall, tall), gq.Error,
             r"history: expected float32 \[\?, 64\], found float32 \[64\]"),
            (lambda: gq.grouped_mm(x, x, o, epilogue="foo"), ValueError, "^INVALID_ARGUMENT: a: expected"),
            (lambda: g.empty([2.5], "float32"), gq.Error, "shape: .*, found 2.5"),
            (lambda: g.empty([2], "tf32"), gq.Error, "dtype: expected one of bool, .*, f4E2M1FN"),
            (lambda: gq.graph.index("xori", x.shape[0], 2), gq.Error, "op: expected one of addi"),
            (lambda: x[0], gq.Error, "index: expected a slice or number for each extent"),
            (lambda: x[:, 64], gq.Error, "index: expected some of 64, found 64"),
            (lambda: x[:, -65], gq.Error, "index: expected some of 64, found -65"),
            (lambda: x[0, :], gq.Error, "index: expected all of M, found 0"),
            (lambda: x[:, True], gq.Error, "index: expected a slice or number for each"),
            (lambda: x[:2, :], gq.Error, "index: expected all of M, found slice"),
            (lambda: x[:, ::-1], gq.Error, "index: expected some of 64, found slice"),
            (lambda: x[:, 64:], gq.Error, "index: expected some of 64, found slice"),
            (lambda: o[:, 0:1], gq.Error, "index: expected a slice or number for each extent"),
            (lambda: gq.graph.fill(1, numbers(2)), TypeError, "out: expected a Tensor"),
            (lambda: gq.graph.fill("1", x), TypeError, "value: expected a number, found str"),
            (lambda: gq.graph.fill(0.5, o), gq.Error, "value: expected one of i32, found 0.5"),
            (lambda: gq.graph.fill(2**32, o), gq.Error, "value: expected one of i32"),
            (lambda: gq.graph.fill(math.inf, g.empty([2], "float8_e4m3fn")), gq.Error, "f8E4M3FN has no inf"),
            (lambda: gq.graph.gather(x, o), gq.Error, r"indices: expected int32 or int64 \[M, 1\]"),
            (lambda: gq.graph.gather(x, x), gq.Error, r"indices: expected int32 or int64 \[M, 1\]"),
            (lambda: gq.graph.gather(x, numbers(2)), TypeError, "indices: expected a Tensor"),
            (lambda: gq.graph.map("silu", x, out=y), gq.Error, r"tensors\[0\]: expected \[M, K\]"),
            (lambda: gq.graph.map(WIDE, x, out=x), gq.Error, "out: expected f64, found f32"),
            (lambda: gq.graph.map(MIXED, x), TypeError, "expected a value of f32, found f64"),
            (lambda: gq.graph.map(SAME, x), gq.Error, "dtype: expected a float that is wider or narrower"),
            (lambda: gq.Graph("1"), gq.Error, "name: expected that of a function"),
            (lambda: x + y, gq.Error, r"tensors\[1\]: expected \[M, K\]"),
            (lambda: x + o, gq.Error, r"tensors\[1\]: expected floats, found i32"),
            (lambda: x + stranger, TypeError, r"tensors\[1\]: expected a Tensor of the graph"),
            (lambda: gq.graph.map("silu_and_mul", x), gq.Error, "tensors: expected 2"),
            (lambda: gq.graph.split(x, 3), gq.Error, r"tensor: expected \[M, 3 \* K\]"),
            (lambda: gq.graph.split(x, 0), gq.Error, "parts: expected at least 1, found 0"),
            (lambda: gq.graph.split(x, -2), gq.Error, "parts: expected at least 1"),
            (lambda: gq.graph.split(numbers(2, 64), 2), TypeError, "tensor: expected a Tensor"),
            (lambda: gq.graph.map(lambda: 1.0), gq.Error, "function: expected one of at least"),
            (lambda: g.input("n", [2.5], "float32"), gq.Error, "shape: .*, found 2.5"),
            (lambda: g.input("n", [-1], "float32"), gq.Error, "shape: .*, found -1"),
            (lambda: g.input("x", [2], "float32"), gq.Error, "name: expected an identifier of its own"),
            (lambda: g.input("1", [2], "float32"), gq.Error, "name: expected an identifier"),
            (lambda: g.input(5, [2], "float32"), gq.Error, "name: expected an identifier .*, found 5"),
            (lambda: g.input("n", 5, "float32"), gq.Error, "shape: expected extents, found 5"),
            (lambda: g.input("n", "MK", "float32"), gq.Error, "shape: expected extents"),
            (lambda: g.input("n", [2], "float31"), gq.Error, "dtype: expected one of bool, .*, found 'float31'"),
            (lambda: g.output(stranger), TypeError, "output: expected a Tensor, Value or Dim of this"),
            (lambda: g.compile(), gq.Error, "the graph is not complete"),
            (lambda: bool(x), TypeError, "not known"),
        ]:  # fmt: skip
            with pytest.raises(kind, match=message):
                call()
        g.output(x * tall)
    with pytest.raises(gq.Error, match="the graph is complete"):
        x * 2
    with pytest.raises(gq.Error, match="output: the graph has none"), gq.Graph():
        pass
    with pytest.raises(gq.Error, match=r"tall: expected float32 \[64\]"):
        g(numbers(2, 64), np.int32([0, 1, 2]), numbers(2, 64), numbers(3), numbers(2, 3))


def test_any_op():
    """Graph.op(): results of several kinds, regions, constants, what is beside."""
    beside = 'memref.global "private" constant @half : memref<f32> = dense<0.5>'
    with gq.Graph(attributes={"my.note": "1 : i64"}, beside=beside) as g:
        x = g.input("x", ["M", 8], "float32")
        half = g.op("memref.get_global", attributes={"name": "@half"}, results=["memref<f32>"])
        half = g.op("memref.load", [half], results=["f32"])
        assert repr(half) == "gq.graph.Value(f32)" and half.type == "f32"

        @gq.graph.region("index", x.type)
        def body(i, total):
            half = g.op("tensor.extract", [total, 0, i], results=["f32"])
            three = g.op("arith.addf", [half, g.constant(3, "f32")], results=["f32"])
            y = g.op("tensor.insert", [three, total, 0, i], results=[x.type])
            g.op("scf.yield", [y + x])

        y = g.op("scf.for", [0, 8, 2, x], results=[x.type], regions=[body])
        # Of a result that has as many rows as nobody knows.
        assert y.shape[1] == 8 and y.shape[0] != x.shape[0]
        z = gq.graph.map(lambda a, b: a - b, y, x, out=g.empty([y.shape[0], 8], "float32"))
        many = g.op("tensor.splat", [half], results=["tensor<4xf32>"])
        pair = g.op(
            "tensor.cast", [g.op("tensor.cast", [many], results=["tensor<?xf32>"])],
            results=["tensor<4xf32>"],
        )  # fmt: skip
        g.output(z, pair)
    a = numbers(5, 8)
    y = a.copy()
    for i in range(0, 8, 2):
        y[0, i] += np.float32(3)
        y += a
    found = g(a)
    np.testing.assert_array_equal(found[0], y - a)
    np.testing.assert_array_equal(found[1], np.full(4, 0.5, np.float32))
    assert "attributes {my.note = 1 : i64}" in str(g) and beside in str(g)


def test_index_values():
    """An index is an extent, as an input and as a result."""
    with gq.Graph() as g:
        x, i = g.input("x", ["M", 4], "float32"), g.input("i", [1], "int32")
        n = g.op("tensor.extract", [i, 0], results=["i32"])
        n = g.op("arith.index_cast", [n], results=["index"])
        assert isinstance(n, gq.graph.Dim) and n == n and n != x.shape[0]
        ones = gq.graph.fill(1, g.empty([n + 1, 4], "float32"))
        g.output(ones, x)
    found = g(numbers(2, 4), np.int32([2]))[0]
    np.testing.assert_array_equal(found, np.ones((3, 4), np.float32))
    with gq.Graph() as g:
        n = g.input("n", type="index")
        g.output(n * 2, 4)
    assert str(g).startswith("func.func @main(%in.n : index) -> (index, index) {")


def test_calls():
    """A graph that is called is a part of the module, once."""
    def made(name, factor):
        with gq.Graph(name, attributes={"sym_visibility": '"private"'}) as g:
            g.output(g.input("x", ["M", 4], "float32") * factor)
        return g

    def double():
        return made("double", 2.0)

    with gq.Graph() as g:
        x = g.input("x", ["M", 4], "float32")
        g.output(g.call(double(), g.call(double(), x)))
    x = numbers(3, 4)
    np.testing.assert_array_equal(g(x), x * 4)
    assert str(g).count("func.func private @double") == 1
    with gq.Graph() as h:
        x = h.input("x", ["M", 4], "float32")
        h.output(h.call(double(), x), h.call(made("double", 3.0), x))
    with pytest.raises(gq.Error, match="graph: two have the name double"):
        h(numbers(3, 4))
    with gq.Graph() as g:
        x = g.input("x", [4], "float32")
        with pytest.raises(gq.Error, match="graph: expected one whose `with` has ended"):
            g.call(g, x)
        with pytest.raises(TypeError, match="graph: expected a Graph, found function"):
            g.call(double, x)
        g.output(x)


def test_wrong_ops():
    with gq.Graph() as other:
        alien = other.input("x", [4], "float32")
        other.output(alien)
    with gq.Graph() as g:
        x = g.input("x", ["M", 4], "float32")
        for name in "extract", "tensor extract", None:
            with pytest.raises(gq.Error, match="name: expected that of an op, found"):
                g.op(name)
        for operand in alien, None, 1.5, True:
            with pytest.raises(TypeError, match="operands: expected a Tensor, Value or Dim"):
                g.op("tensor.cast", [operand], results=["tensor<4xf32>"])
        for number, kind in (300, "i8"), (1, "memref<f32>"), (1.5, "i32"):
            with pytest.raises(gq.Error):
                g.constant(number, kind)
        value = g.constant(1, "f32")
        with pytest.raises(TypeError, match="found Value"):
            gq.block_quantize(value)
        y = g.op("tensor.cats", [x], results=[x.type])
        line = inspect.currentframe().f_lineno - 1
        g.output(y)
    with pytest.raises(gq.Error, match=rf"test_graph.py:{line}:\d+: .*tensor.cats"):
        g(numbers(3, 4))
    with pytest.raises(ZeroDivisionError):
        with gq.Graph() as g:
            g.op("scf.if", [g.constant(1, "i8")], regions=[lambda: 1 / 0])
