# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gq.grouped_amax against the oracle."""

import os
import pathlib

import amaxes
import cases
import elements
import gq
import modules
import numpy as np
import oracle
import pytest
import values
from examples import examples
from hypothesis import given
from hypothesis import strategies as st


def check(problem, fusion=True):
    results = modules.compiled(problem.text, fusion)(*problem.arrays)
    problem.check([results] if len(problem.outs) == 1 else results)


@pytest.mark.parametrize("sizes", amaxes.SIZES, ids=str)
@pytest.mark.parametrize("element", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("signs", [None, 0xD7E8])
def test_all_outputs(sizes, element, signs):
    rng = np.random.default_rng(0)
    check(amaxes.Problem(rng, sizes, 272, element, amaxes.OUTPUTS, outside=(5, 130), signs=signs))


def test_golden():
    """The amaxes that the golden case of a transform is quantized with."""
    folder = pathlib.Path(os.environ["GQ_GOLDEN_DIR"]) / "nvfp4_te_column_hadamard"
    x, offsets, amax, columnwise = (
        np.load(folder / f"{name}.npy") for name in ("input", "offsets", "amax", "amax_columnwise")
    )
    text = """
      func.func @main(%x : tensor<?x256xbf16>, %o : tensor<?xi64>, %a0 : tensor<?xf32>,
          %t0 : tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
        %a, %t = gq.grouped_amax columnwise<transform = hadamard16, signs = 0xD7E8>
            ins(%x : tensor<?x256xbf16>) groups(%o : tensor<?xi64>)
            amax_out(%a0 : tensor<?xf32>) columnwise_amax_out(%t0 : tensor<?xf32>)
            -> tensor<?xf32>, tensor<?xf32>
        return %a, %t : tensor<?xf32>, tensor<?xf32>
      }"""
    found = gq.compile(text, cache_dir="")(x, offsets, np.zeros_like(amax), np.zeros_like(amax))
    np.testing.assert_array_equal(found[0], amax)
    np.testing.assert_array_equal(found[1], columnwise)


@pytest.mark.parametrize("sizes", amaxes.RAGGED, ids=str)
def test_ragged(sizes):
    check(amaxes.Problem(np.random.default_rng(0), sizes, None, "bf16", ["amax"], outside=(1, 0)))


@examples(150)
@given(seed=st.integers(0, 2**32))
def test_random(seed):
    check(amaxes.some(np.random.default_rng(seed)))


def test_many_groups():
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 4, 4096).tolist()
    check(amaxes.Problem(rng, sizes, 64, "bf16", amaxes.OUTPUTS, rows="grouped"))


def test_nan_and_infinities():
    x = np.float32([[np.nan] * 16, [-np.inf] + [np.nan] * 15, [-0.0] * 16, [2.0**-149] * 16])
    text = """
      func.func @main(%x : tensor<4x16xf32>, %o : tensor<5xi32>, %a0 : tensor<4xf32>) -> tensor<4xf32> {
        %a = gq.grouped_amax ins(%x : tensor<4x16xf32>) groups(%o : tensor<5xi32>)
            amax_out(%a0 : tensor<4xf32>) -> tensor<4xf32>
        return %a : tensor<4xf32>
      }"""
    amax = gq.compile(text, cache_dir="")(x, np.int32([0, 1, 2, 3, 4]), np.zeros(4, "f4"))
    np.testing.assert_array_equal(amax, np.float32([0, np.inf, 0, 2.0**-149]))
    np.testing.assert_array_equal(amax, [oracle.amax(row) for row in x])


def test_producer_is_fused():
    """A linalg.generic before it, whether it is fused or not."""
    text = """
      #id = affine_map<(m, k) -> (m, k)>
      func.func @main(%x : tensor<?x32xf32>, %o : tensor<?xi32>, %r0 : tensor<?xf32>) -> tensor<?xf32> {
        %c0 = arith.constant 0 : index
        %two = arith.constant 2.0 : f32
        %m = tensor.dim %x, %c0 : tensor<?x32xf32>
        %y0 = tensor.empty(%m) : tensor<?x32xf32>
        %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
            ins(%x : tensor<?x32xf32>) outs(%y0 : tensor<?x32xf32>) {
        ^bb0(%e : f32, %out : f32):
          %p = arith.mulf %e, %two : f32
          linalg.yield %p : f32
        } -> tensor<?x32xf32>
        %r = gq.grouped_amax ins(%y : tensor<?x32xf32>) groups(%o : tensor<?xi32>)
            row_amax_out(%r0 : tensor<?xf32>) -> tensor<?xf32>
        return %r : tensor<?xf32>
      }"""
    x = np.random.default_rng(0).standard_normal((10, 32)).astype("f4")
    for fusion in True, False:
        rows = gq.compile(text, fusion=fusion, cache_dir="")(x, np.int32([0, 4, 10]), np.zeros(10, "f4"))
        np.testing.assert_array_equal(rows, 2 * oracle.amax(x, 1))


ROWS = """
  func.func @main(%x : tensor<?x?xf32>, %i : tensor<?xi32>, %o : tensor<?xi32>, %a0 : tensor<?xf32>,
      %r0 : tensor<?xf32>, %c0 : tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>) {
    %a, %r, %c = gq.grouped_amax ins(%x : tensor<?x?xf32>) row_indices(%i : tensor<?xi32>)
        groups(%o : tensor<?xi32>) amax_out(%a0 : tensor<?xf32>) row_amax_out(%r0 : tensor<?xf32>)
        column_amax_out(%c0 : tensor<?x?xf32>) -> tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>
    return %a, %r, %c : tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>
  }"""
RAGGED = """
  func.func @main(%x : tensor<?xf32>, %o : tensor<?xi64>, %m : tensor<?xi64>, %k : tensor<?xi64>,
      %a0 : tensor<?xf32>) -> tensor<?xf32> {
    %a = gq.grouped_amax ins(%x : tensor<?xf32>) groups(%o : tensor<?xi64>)
        shapes(%m, %k : tensor<?xi64>, tensor<?xi64>) amax_out(%a0 : tensor<?xf32>) -> tensor<?xf32>
    return %a : tensor<?xf32>
  }"""


@pytest.mark.parametrize("name, array, status, message", [
    ("o", np.int32([0, 5, 4, 8]), "INVALID_OFFSETS", r"offsets\[2\] = 4"),
    ("o", np.int32([0, 2, 4, 9]), "INVALID_OFFSETS", r"offsets\[3\] = 9"),
    ("o", np.int32([]), "INVALID_ARGUMENT", "offsets"),
    ("i", np.int32([0] * 7 + [8]), "INVALID_ROW_INDICES", r"row_indices\[7\] = 8"),
    ("x", np.zeros((8, 24), "f4"), "INVALID_ARGUMENT", "K = 24"),
    ("a", np.zeros(4, "f4"), "INVALID_ARGUMENT", "amax has shape"),
    ("r", np.zeros(7, "f4"), "INVALID_ARGUMENT", "row_amax has shape"),
    ("c", np.zeros((3, 16), "f4"), "INVALID_ARGUMENT", "column_amax has shape"),
])  # fmt: skip
def test_errors(name, array, status, message):
    arrays = {
        "x": np.ones((8, 32), "f4"), "i": np.arange(8, dtype="i4"), "o": np.int32([0, 2, 5, 8]),
        "a": np.full(3, 7, "f4"), "r": np.full(8, 7, "f4"), "c": np.full((3, 32), 7, "f4"),
    }  # fmt: skip
    run = modules.compiled(ROWS)
    assert run(*(a.copy() for a in arrays.values()))[0].tolist() == [1, 1, 1]
    arrays[name] = array
    before = {n: a.copy() for n, a in arrays.items()}
    with pytest.raises(gq.Error, match=message) as raised:
        run(*arrays.values())
    assert raised.value.status == status
    for n, a in arrays.items():
        np.testing.assert_array_equal(a, before[n], n)


@pytest.mark.parametrize("o, m, k, message", [
    ([0, 64], [2], [24], r"last_dims\[0\] = 24"),
    ([0, 64], [3], [32], "too large"),
    ([8, 64], [1], [16], r"offsets\[0\] = 8"),
    ([0, 64], [-1], [16], "negative"),
])  # fmt: skip
def test_ragged_errors(o, m, k, message):
    out = cases.Poisoned(1, np.float32)
    with pytest.raises(gq.Error, match=message):
        modules.compiled(RAGGED)(np.ones(64, "f4"), np.int64(o), np.int64(m), np.int64(k), out.array)
    assert (out.array.view(np.uint8) == cases.POISON).all()


def per_token(k, element, rows="all", flag=False):
    """(x, offsets, [flag], amaxes, data, scales) -> data, scales, amaxes of rows."""
    x, q = f"tensor<?x{k}x{element}>", f"tensor<?x{k // 2}xi8>"
    t = f"tensor<?x{oracle.tiled_columns(k)}xf8E4M3FN, #gq.tile128x4>"
    noop = "noop_flag(%f : tensor<i32>)" if flag else ""
    return f"""
      func.func @main(%x : {x}, %o : tensor<?xi32>, {"%f : tensor<i32>," if flag else ""}
          %r0 : tensor<?xf32>, %q0 : {q}, %t0 : {t}) -> ({q}, {t}, tensor<?xf32>) {{
        %r = gq.grouped_amax rows({rows}) ins(%x : {x}) groups(%o : tensor<?xi32>) {noop}
            row_amax_out(%r0 : tensor<?xf32>) -> tensor<?xf32>
        %q, %t = gq.grouped_block_quantize format(nvfp4) recipe(te) rows({rows})
            rowwise<outer = row> ins(%x : {x}) groups(%o : tensor<?xi32>)
            outer_amax(%r : tensor<?xf32>) {noop} outs(%q0, %t0 : {q}, {t}) -> {q}, {t}
        return %q, %t, %r : {q}, {t}, tensor<?xf32>
      }}"""


def per_token_outputs(m, groups, k):
    rows = oracle.up(m, 128) + 128 * groups
    return (
        cases.Poisoned(m, np.float32).array, cases.Poisoned((m, k // 2)).array,
        cases.Poisoned((rows, oracle.tiled_columns(k))).array,
    )  # fmt: skip


@pytest.mark.parametrize("rows", ["all", "grouped"])
@pytest.mark.parametrize("fusion", [True, False])
@pytest.mark.parametrize("k, element", [(272, "bf16"), (64, "f32")])
def test_per_token(k, element, fusion, rows):
    """Amax and encode, in two ops and in one, against the oracle."""
    rng = np.random.default_rng(0)
    sizes, front, back = [100, 0, 129, 33], 3, 5
    m = front + sum(sizes) + back
    x = values.matrix(rng, m, k, element)
    offsets = np.int32(front + np.cumsum([0, *sizes]))
    amax, data, scales = per_token_outputs(m, len(sizes), k)
    expected = amax.copy(), data.copy(), scales.copy()
    codes, linear = oracle.quantize_rows(x, "nvfp4", "te", oracle.amax(x, 1)[:, None])
    written = slice(None) if rows == "all" else slice(front, m - back)
    expected[0][written] = oracle.amax(x, 1)[written]
    expected[1][written] = oracle.pack(codes)[written]
    row = 0
    for begin, end in zip(offsets, offsets[1:]):
        tiles = oracle.tile(linear[begin:end]).reshape(-1, scales.shape[1])
        expected[2][row : row + len(tiles)] = tiles
        row += len(tiles)
    text = per_token(k, element, rows)
    results = modules.compiled(text, fusion)(elements.encode(x, element), offsets, amax, data, scales)
    for found, right in zip(results, (expected[1], expected[2], expected[0])):
        cases.check_bits(np.asarray(found), right, "per token")


@pytest.mark.parametrize("fusion", [True, False])
def test_noop_flag(fusion):
    x = np.random.default_rng(0).standard_normal((40, 64)).astype("f4")
    offsets, run = np.int32([0, 10, 40]), modules.compiled(per_token(64, "f32", flag=True), fusion)
    before = per_token_outputs(40, 2, 64)
    amax, data, scales = (a.copy() for a in before)
    skipped = run(x, offsets, np.int32(7), amax, data, scales)
    for found, same in zip(skipped, (before[1], before[2], before[0])):
        cases.check_bits(np.asarray(found), same, "skipped")
    done = run(x, offsets, np.int32(0), amax, data, scales)
    np.testing.assert_array_equal(done[2], oracle.amax(x, 1))
