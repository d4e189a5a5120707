# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What computes the values that are quantized: element-wise ops and loops.

NumPy and ml_dtypes round to the element type after each operation.
"""

import cases
import modules
import numpy as np
import oracle
import pytest

SHAPES = {"static": (512, 256), "dynamic": ("?", 256), "all dynamic": ("?", "?")}


def operands(element, m=512, k=256):
    """Two matrices whose products and sums have to be rounded."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, m, k)) * 2.0 ** rng.integers(-3, 4, (2, m, k))
    return a.astype(modules.ELEMENTS[element]), b.astype(modules.ELEMENTS[element])


# The ops on %a and %b that make %h, and the same in NumPy.
PRODUCERS = {
    "mul, add": (
        """%0 = arith.mulf %a, %b : {x}
           %h = arith.addf %0, %b : {x}""",
        lambda a, b: a * b + b,
    ),
    "add, sub": (
        """%0 = arith.addf %a, %b : {x}
           %h = arith.subf %0, %a : {x}""",
        lambda a, b: (a + b) - a,
    ),
    "four": (
        """%0 = arith.mulf %a, %a : {x}
           %1 = arith.mulf %0, %b : {x}
           %2 = arith.subf %1, %0 : {x}
           %h = arith.divf %2, %b : {x}""",
        lambda a, b: ((a * a) * b - a * a) / b,
    ),
    "arith, math, arith": (
        """%0 = arith.mulf %a, %b : {x}
           %1 = math.absf %0 : {x}
           %2 = math.sqrt %1 : {x}
           %3 = arith.addf %2, %a : {x}
           %4 = math.floor %3 : {x}
           %h = arith.subf %3, %4 : {x}""",
        lambda a, b: (lambda c: c - np.floor(c))(np.sqrt(abs(a * b)) + a),
    ),
}


def types(element, shape):
    m, k = SHAPES[shape]
    return modules.Types(k, element, m=m)


def elementwise(t, ops):
    return f"""
      func.func @main(%a : {t.x}, %b : {t.x}) -> {t.x} {{
        {ops.format(x=t.x)}
        return %h : {t.x}
      }}"""


def quantized(t, ops):
    return f"""
      func.func @main(%a : {t.x}, %b : {t.x}, %q0 : {t.q}, %s0 : {t.s})
          -> ({t.q}, {t.s}) {{
        {ops.format(x=t.x)}
        %q, %s = gq.block_quantize format(nvfp4) ins(%h : {t.x})
            outs(%q0, %s0 : {t.q}, {t.s}) -> {t.q}, {t.s}
        return %q, %s : {t.q}, {t.s}
      }}"""


def read_only(*arrays):
    for array in arrays:
        array.flags.writeable = False
    return arrays


@pytest.mark.parametrize("fusion", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("element", ["bf16", "f16", "f32"])
@pytest.mark.parametrize("producer", PRODUCERS)
def test_one_rounding_an_operation(producer, element, shape, fusion):
    ops, compute = PRODUCERS[producer]
    t = types(element, shape)
    a, b = read_only(*operands(element))
    with np.errstate(all="ignore"):
        expected = compute(a, b)
    assert expected.dtype == a.dtype

    h = modules.compiled(elementwise(t, ops), fusion)(a, b)
    bits = f"u{a.itemsize}"
    nan = np.isnan(expected.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(h.astype(np.float32)), nan)
    np.testing.assert_array_equal(h.view(bits)[~nan], expected.view(bits)[~nan])

    data = np.full((a.shape[0], a.shape[1] // 2), cases.POISON, np.uint8)
    scales = np.full((a.shape[0], a.shape[1] // 16), cases.POISON, np.uint8)
    modules.compiled(quantized(t, ops), fusion)(a, b, data, scales)
    q, s = oracle.block_quantize(expected)
    np.testing.assert_array_equal(data, q)
    np.testing.assert_array_equal(scales, s)


def test_the_roundings_matter():
    """So that the test above cannot pass without them."""
    for element in "bf16", "f16":
        a, b = operands(element)
        wide_a, wide_b = a.astype(np.float32), b.astype(np.float32)
        for _, compute in PRODUCERS.values():
            with np.errstate(all="ignore"):
                wide = compute(wide_a, wide_b).astype(a.dtype)
                assert (wide != compute(a, b)).any()


TENSOR = "tensor<4xf32>"


def run(text, *arrays, fusion, entry=None):
    results = modules.compiled(text, fusion)(*arrays, entry=entry)
    return results if isinstance(results, tuple) else (results,)


def inputs():
    return np.float32([0, 1, 2, 3]), np.float32([1, 1, 1, 1])


# Results that are, or would be, in one buffer. Each is freed.
SHARED = {
    "twice": ("", "%0, %0", f"{TENSOR}, {TENSOR}"),
    "cast": (
        f"%1 = tensor.cast %0 : {TENSOR} to tensor<?xf32>",
        "%0, %1",
        f"{TENSOR}, tensor<?xf32>",
    ),
    "expand": (
        f"""%1 = tensor.expand_shape %0 [[0, 1]] output_shape [2, 2]
              : {TENSOR} into tensor<2x2xf32>""",
        "%0, %1",
        f"{TENSOR}, tensor<2x2xf32>",
    ),
    "slice": (
        f"%1 = tensor.extract_slice %0[0] [4] [1] : {TENSOR} to {TENSOR}",
        "%0, %1",
        f"{TENSOR}, {TENSOR}",
    ),
    "expanded argument": (
        f"""%1 = tensor.expand_shape %a [[0, 1]] output_shape [2, 2]
              : {TENSOR} into tensor<2x2xf32>""",
        "%0, %1",
        f"{TENSOR}, tensor<2x2xf32>",
    ),
    "private function": (
        f"%1:2 = call @pair(%0) : ({TENSOR}) -> ({TENSOR}, {TENSOR})",
        "%1#0, %1#1",
        f"{TENSOR}, {TENSOR}",
    ),
}


@pytest.mark.parametrize("fusion", [True, False])
@pytest.mark.parametrize("shared", SHARED)
def test_each_result_has_its_own_buffer(shared, fusion):
    view, values, results = SHARED[shared]
    text = f"""
      func.func private @pair(%a : {TENSOR}) -> ({TENSOR}, {TENSOR}) {{
        %0 = arith.addf %a, %a : {TENSOR}
        return %0, %0 : {TENSOR}, {TENSOR}
      }}
      func.func @main(%a : {TENSOR}, %b : {TENSOR}) -> ({results}) {{
        %0 = arith.addf %a, %b : {TENSOR}
        {view}
        return {values} : {results}
      }}"""
    a, b = read_only(*inputs())
    first, second = run(text, a, b, fusion=fusion)
    expected = [a + b, a + b]
    if shared == "expanded argument":
        expected[1] = a
    if shared == "private function":
        expected = [2 * (a + b)] * 2
    assert not np.shares_memory(first, second)
    assert not np.shares_memory(second, a)
    np.testing.assert_array_equal(first, expected[0])
    np.testing.assert_array_equal(second.reshape(-1), expected[1])


@pytest.mark.parametrize("fusion", [True, False])
def test_an_argument_that_is_no_destination_is_not_written(fusion):
    """Nor is one that a result is not written into for sure."""
    t = modules.Types(64, "f32")
    text = f"""
      func.func @main(%x : {t.x}, %q0 : {t.q}, %s0 : {t.s}) -> {t.s} {{
        %q, %s = gq.block_quantize format(nvfp4) ins(%x : {t.x})
            outs(%q0, %s0 : {t.q}, {t.s}) -> {t.q}, {t.s}
        return %s : {t.s}
      }}"""
    x = np.ones((3, 64), np.float32)
    data, scales = np.zeros((3, 32), np.uint8), np.zeros((3, 4), np.uint8)
    read_only(x, data)
    assert modules.compiled(text, fusion).signature().sources == (2,)
    run(text, x, data, scales, fusion=fusion)
    assert not data.any()
    np.testing.assert_array_equal(scales, oracle.block_quantize(x)[1])


@pytest.mark.parametrize("fusion", [True, False])
def test_linalg_result_aimed_at_an_argument(fusion):
    """Fused or not, it is written into that argument."""
    text = f"""
      #id = affine_map<(i) -> (i)>
      func.func @main(%a : {TENSOR}, %b : {TENSOR}, %out : {TENSOR}) -> {TENSOR} {{
        %0 = arith.addf %a, %b : {TENSOR}
        %1 = linalg.generic {{indexing_maps = [#id, #id],
                              iterator_types = ["parallel"]}}
            ins(%0 : {TENSOR}) outs(%out : {TENSOR}) {{
        ^bb0(%x : f32, %unused : f32):
          %y = arith.mulf %x, %x : f32
          linalg.yield %y : f32
        }} -> {TENSOR}
        return %1 : {TENSOR}
      }}"""
    a, b = read_only(*inputs())
    out = np.zeros(4, np.float32)
    assert modules.compiled(text, fusion).signature().sources == (2,)
    (result,) = run(text, a, b, out, fusion=fusion)
    assert np.shares_memory(result, out)
    np.testing.assert_array_equal(out, (a + b) ** 2)


LAYERS = f"""
  func.func @one(%a : {TENSOR}, %b : {TENSOR}, %n : index) -> {TENSOR} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> {TENSOR} {{
      %y = arith.addf %x, %b : {TENSOR}
      scf.yield %y : {TENSOR}
    }}
    return %r : {TENSOR}
  }}
  func.func @two(%a : {TENSOR}, %b : {TENSOR}, %n : index)
      -> ({TENSOR}, {TENSOR}) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b)
        -> ({TENSOR}, {TENSOR}) {{
      %z = arith.addf %x, %y : {TENSOR}
      scf.yield %z, %x : {TENSOR}, {TENSOR}
    }}
    return %r#0, %r#1 : {TENSOR}, {TENSOR}
  }}
  func.func @in_place(%a : {TENSOR}, %b : {TENSOR}, %n : index) -> {TENSOR} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> {TENSOR} {{
      %y = linalg.add ins(%x, %b : {TENSOR}, {TENSOR}) outs(%x : {TENSOR})
          -> {TENSOR}
      scf.yield %y : {TENSOR}
    }}
    return %r : {TENSOR}
  }}"""


@pytest.mark.parametrize("fusion", [True, False])
@pytest.mark.parametrize("layers", [0, 1, 5])
def test_loop_over_layers(layers, fusion):
    """The body yields another tensor than it got."""
    a, b = read_only(*inputs())
    n = np.int64(layers)
    (result,) = run(LAYERS, a, b, n, fusion=fusion, entry="one")
    np.testing.assert_array_equal(result, a + layers * b)

    x, y = a, b
    for _ in range(layers):
        x, y = x + y, x
    results = run(LAYERS, a, b, n, fusion=fusion, entry="two")
    np.testing.assert_array_equal(results, [x, y])
    assert not np.shares_memory(*results)
    for result in results:
        assert not np.shares_memory(result, a) and not np.shares_memory(result, b)

    before, a = a, a.copy()
    (result,) = run(LAYERS, a, b, n, fusion=fusion, entry="in_place")
    assert np.shares_memory(result, a)
    np.testing.assert_array_equal(a, before + layers * b)
