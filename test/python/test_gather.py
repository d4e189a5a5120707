# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows gathered by index where they are quantized, against the oracle."""

import cases
import gq
import modules
import numpy as np
import oracle
import pytest
import values
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from test_random import groups

OUTS = "outs(%q0, %t0 : {t.q}, {t.t}) -> {t.q}, {t.t}"
MAPS = """
      #id = affine_map<(m, k) -> (m, k)>
      #column = affine_map<(m, k) -> (m)>
      #row = affine_map<(m, k) -> (k)>
      #rows = affine_map<(m, k)[r] -> (r, k)>
      #elements = affine_map<(m, k)[r] -> (r)>"""


def row_indices(t, index):
    """The op itself."""
    return f"""
        %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%x : {t.x})
            row_indices(%i : tensor<?x{index}>)
            groups(%o, %so : {t.o}, {t.so}) {OUTS.format(t=t)}"""


def _quantize(t):
    return f"""
        %s0 = tensor.empty(%m) : {t.s}
        %q, %s = gq.block_quantize format(nvfp4) ins(%g : {t.x})
            outs(%q0, %s0 : {t.q}, {t.s}) -> {t.q}, {t.s}
        %t = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%s : {t.s})
            groups(%o, %so : {t.o}, {t.so}) outs(%t0 : {t.t}) -> {t.t}"""


def tensor_gather(t, index):
    return f"""
        %c0 = arith.constant 0 : index
        %rows = tensor.dim %i, %c0 : tensor<?x{index}>
        %ii = tensor.expand_shape %i [[0, 1]] output_shape [%rows, 1]
            : tensor<?x{index}> into tensor<?x1x{index}>
        %g = tensor.gather %x[%ii] gather_dims([0])
            : ({t.x}, tensor<?x1x{index}>) -> {t.x}
        %m = tensor.dim %g, %c0 : {t.x} {_quantize(t)}"""


def generic(t, index):
    return f"""
        %c0 = arith.constant 0 : index
        %m = tensor.dim %i, %c0 : tensor<?x{index}>
        %g0 = tensor.empty(%m) : {t.x}
        %g = linalg.generic {{indexing_maps = [#column, #id],
                              iterator_types = ["parallel", "parallel"]}}
            ins(%i : tensor<?x{index}>) outs(%g0 : {t.x}) {{
        ^bb0(%in : {index}, %out : {t.element}):
          %r = arith.index_cast %in : {index} to index
          %k = linalg.index 1 : index
          %e = tensor.extract %x[%r, %k] : {t.x}
          linalg.yield %e : {t.element}
        }} -> {t.x} {_quantize(t)}"""


def function(form, t, index):
    return f"""{MAPS}
      func.func @main(%x : {t.x}, %i : tensor<?x{index}>, %o : {t.o},
                      %so : {t.so}, %q0 : {t.q}, %t0 : {t.t})
          -> ({t.q}, {t.t}) {{ {form(t, index)}
        return %q, %t : {t.q}, {t.t}
      }}"""


def producer(t, index):
    """x[r] * s[r] * w + b, each operation rounded to f32."""
    widen = "%f = arith.extf %ex : {} to f32\n%1 = arith.mulf %f, %es : f32"
    if t.element == "f32":
        widen = "%1 = arith.mulf %ex, %es : f32"
    return f"""{MAPS}
      func.func @main(%x : {t.x}, %s : tensor<?xf32>, %w : tensor<?xf32>,
                      %b : tensor<?xf32>, %i : tensor<?x{index}>, %o : {t.o},
                      %so : {t.so}, %q0 : {t.q}, %t0 : {t.t})
          -> ({t.q}, {t.t}) {{
        %q, %t = gq.grouped_block_quantize format(nvfp4)
            ins(%x, %s, %w, %b : {t.x}, tensor<?xf32>, tensor<?xf32>,
                                 tensor<?xf32>)
            row_indices(%i : tensor<?x{index}>)
            maps [#rows, #elements, #column, #row]
            groups(%o, %so : {t.o}, {t.so}) {OUTS.format(t=t)} producer {{
        ^bb0(%ex : {t.element}, %es : f32, %ew : f32, %eb : f32):
          {widen.format(t.element)}
          %2 = arith.mulf %1, %ew : f32
          %3 = arith.addf %2, %eb : f32
          gq.yield %3 : f32
        }}
        return %q, %t : {t.q}, {t.t}
      }}"""


def outputs(g, k):
    data = np.full((g.m, k // 2), cases.POISON, np.uint8)
    scales = np.full(
        (g.scale_rows, oracle.tiled_columns(k)), cases.POISON, np.uint8
    )
    return data, scales


def check(text, arrays, g, k, gathered):
    """Runs `text` on the arrays, then the groups and the outputs."""
    expected = oracle.grouped_block_quantize(
        gathered, g.offsets, g.scale_offsets, *outputs(g, k)
    )
    data, scales = modules.compiled(text)(
        *arrays, g.offsets, g.scale_offsets, *outputs(g, k)
    )
    np.testing.assert_array_equal(data, expected[0])
    np.testing.assert_array_equal(scales.view(np.uint8), expected[1])


CASES = dict(
    g=groups(300),
    n=st.sampled_from([1, 7, 300, 1000]),
    k=st.sampled_from([16, 48, 208, 1040]),
    element=st.sampled_from(list(modules.ELEMENTS)),
    index=st.sampled_from(["int32", "int64"]),
    seed=st.integers(0, 2**32),
)


@examples(200)
@given(form=st.sampled_from([row_indices, tensor_gather, generic]), **CASES)
def test_gather(form, g, n, k, element, index, seed):
    rng = np.random.default_rng(seed)
    x = values.matrix(rng, n, k, element).astype(modules.ELEMENTS[element])
    i = rng.integers(0, n, g.m).astype(index)
    t = modules.Types(k, element, modules.index_of(g.offsets))
    text = function(form, t, modules.index_of(i))
    check(text, [x, i], g, k, x[i])


@examples(100)
@given(**CASES)
def test_producer(g, n, k, element, index, seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, k)).astype(modules.ELEMENTS[element])
    s, w = rng.standard_normal(n, "f4"), rng.standard_normal(g.m, "f4")
    b = rng.standard_normal(k, "f4")
    i = rng.integers(0, n, g.m).astype(index)
    t = modules.Types(k, element, modules.index_of(g.offsets))
    gathered = x[i].astype(np.float32) * s[i][:, None] * w[:, None] + b
    text = producer(t, modules.index_of(i))
    check(text, [x, s, w, b, i], g, k, gathered)


N, M, K = 50, 300, 64


@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize(
    "n, row, wrong", [(N, 17, -1), (N, 0, N), (N, M - 1, 2**31 - 1), (0, 0, 0)]
)
@pytest.mark.parametrize("form", [row_indices, producer])
def test_wrong_row_indices(form, n, row, wrong, index):
    g = values.Groups(0, [100, 100, 100], 0, [0] * 4, "int32", True)
    t = modules.Types(K, "bf16")
    x = np.ones((n, K), modules.ELEMENTS["bf16"])
    i = np.full(M, 0 if n == 0 else 3, index)
    i[row] = wrong
    arrays = [x, i]
    text = producer(t, modules.index_of(i))
    if form is row_indices:
        text = function(form, t, modules.index_of(i))
        found = wrong
    else:
        arrays[1:1] = [np.ones(c, np.float32) for c in (n, M, K)]
        found = -1
    data, scales = outputs(g, K)
    with pytest.raises(gq.Error, match=rf"row_indices\[{row}\] = {found} ") as error:
        modules.compiled(text)(*arrays, g.offsets, g.scale_offsets, data, scales)
    assert error.value.status == "INVALID_ROW_INDICES"
    assert (data == cases.POISON).all() and (scales == cases.POISON).all()


@pytest.mark.parametrize("form", [row_indices, producer])
def test_no_row_of_no_row(form):
    """N = 0 is no error where M = 0."""
    g = values.Groups(0, [0, 0], 0, [0] * 3, "int32", True)
    t = modules.Types(K, "bf16")
    arrays = [np.ones((0, K), modules.ELEMENTS["bf16"])]
    text = producer(t, "i32")
    if form is row_indices:
        text = function(form, t, "i32")
    else:
        arrays += [np.ones(c, np.float32) for c in (0, 0, K)]
    arrays.append(np.zeros(0, np.int32))
    check(text, arrays, g, K, np.zeros((0, K), np.float32))
