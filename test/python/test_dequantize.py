# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gq.grouped_dequantize and gq.block_dequantize, byte for byte."""

import dataclasses

import cases
import dequantize
import elements
import epilogues
import formats
import golden
import gq
import modules
import numpy as np
import oracle
import pytest
import runtime
import test_directions
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

KEYS = list(dequantize.listed())
OUTS = list(elements.DTYPES)


def run(problem):
    runtime.grouped_dequantize(problem.operands, problem.attributes)
    problem.check()


@pytest.mark.parametrize("key", KEYS, ids="-".join)
@pytest.mark.parametrize("out", OUTS)
def test_called(key, out):
    for problem in dequantize.problems(*key, out):
        run(problem)


@pytest.mark.parametrize("key", KEYS, ids="-".join)
def test_any_bytes(key):
    """Codes and scales that no quantization writes, NaN and infinities among
    them."""
    for i, out in enumerate(OUTS):
        for problem in dequantize.problems(*key, out, np.random.default_rng(i)):
            run(problem)


@pytest.mark.parametrize("key", KEYS, ids="-".join)
def test_compiled(key):
    """From MLIR, one module for cases of the same types."""
    for problem in dequantize.problems(*key, "bf16"):
        module = modules.compiled(dequantize.function(problem))
        module(*(problem.operands[n].array for n in problem.operands))
        problem.check()


FACTORS = st.one_of(
    st.floats(2.0**-20, 2.0**20, width=32),
    st.sampled_from([1, -1, 0, -0.0, 2688, 2.0**-140, 3e38, np.inf, np.nan]),
)


@examples(300)
@given(data=st.data(), key=st.sampled_from(KEYS), seed=st.integers(0, 2**32))
def test_random(data, key, seed):
    draw = data.draw
    fmt, recipe, layout, axis = key
    rng = np.random.default_rng(seed)
    ragged = draw(st.booleans(), "ragged")
    size = st.sampled_from([0, 0, 1, 15, 16, 31, 32, 33, 100, 127, 128, 129, 300])
    sizes = draw(st.lists(size, min_size=ragged, max_size=5), "sizes")
    block = oracle.FORMATS[fmt].block[1]
    few = st.integers(1, max(1, 400 // block))
    k = block * draw(few, "blocks")
    outside = gaps = None
    ks = [k] * len(sizes)
    if ragged:
        ks = [block * draw(st.one_of(few, st.just(0))) for _ in sizes]
        gaps = [draw(st.sampled_from([0, 0, 16, 48])) for _ in sizes]
    else:
        if layout == "tile128x4" and draw(st.booleans(), "gaps"):
            gaps = [draw(st.sampled_from([0, 0, 1])) for _ in sizes]
        outside = [np.ones((draw(st.integers(0, 40)), k), np.float32) for _ in "fb"]
    groups = [formats.matrix(rng, m, n, "f32") for m, n in zip(sizes, ks)]
    outer = None
    if fmt == "nvfp4" and (recipe == "te" or draw(st.booleans())):
        count = draw(st.sampled_from([None, len(groups)]))
        outer = np.float32(draw(FACTORS))
        if count is not None:
            drawn = draw(st.lists(FACTORS, min_size=count, max_size=count))
            outer = np.array(drawn, np.float32)
    case = cases.Case(
        groups, "f32", fmt, recipe, layout, rows="grouped", outside=outside,
        ragged=ragged, gaps=gaps, index=draw(st.sampled_from(["int32", "int64"])),
        outer=outer, spare=draw(st.sampled_from([0, 5])),
    )  # fmt: skip
    random = rng if draw(st.booleans(), "any bytes") else None
    run(dequantize.Problem(case, axis, draw(st.sampled_from(OUTS)), random))


def test_golden_fp8_per_tensor():
    run(dequantize.Golden(golden.DIR))


@pytest.mark.parametrize("out", OUTS)
@pytest.mark.parametrize("axis, outer", [("rowwise", "row"), ("columnwise", "column")])
def test_outer_of_rows_and_columns(axis, outer, out):
    """An outer amax for each row, or each column of a group, among them 0, infinities
    and NaN; called and compiled."""
    for layout, k, sizes in [
        ("tile128x4", 272, [3, 0, 130, 64]), ("linear", 64, [1]), ("tile128x4", 16, [200, 7])
    ]:  # fmt: skip
        case = test_directions.made_case(
            np.random.default_rng(k), sizes, k, "f32", "te", oracle.Direction(outer="row"),
            oracle.Direction(outer="column"), rows="grouped", layout=layout,
        )  # fmt: skip
        for rng in None, np.random.default_rng(0):
            problem = dequantize.Problem(case, axis, out, rng)
            assert problem.attributes.outer == outer
            run(problem)
            problem = dequantize.Problem(case, axis, out, rng)
            module = modules.compiled(dequantize.function(problem))
            module(*(o.array for o in problem.operands.values()))
            problem.check()


@pytest.mark.parametrize("value", OUTS)
@pytest.mark.parametrize("out", OUTS)
def test_epilogue(value, out):
    """Compiled, of groups with rows around them and of any bytes: rows of no group
    stay."""
    epilogue = epilogues.Epilogue(None, value)
    for name, axis, *key in [
        ("first_512x160", "rowwise", "nvfp4", "te", "tile128x4"),
        ("odd_600x144", "columnwise", "nvfp4", "nvfuser", "linear"),
        ("first_512x160", "columnwise", "mxfp8_e5m2", "nvfuser", "tile128x4"),
        ("same_2", "rowwise", "fp8_e4m3_128x128", "nvfuser", "linear"),
    ]:
        case = formats.rows_case(name, "bf16", *key)
        for rng in None, np.random.default_rng(0):
            problem = dequantize.Problem(case, axis, out, rng, epilogue)
            module = modules.compiled(dequantize.function(problem))
            problem.check(module(*(o.array for o in problem.operands.values())))


def test_refused():
    case = test_directions.made_case(
        np.random.default_rng(0), [5], 32, "f32", "te", oracle.Direction(outer="row"),
        oracle.Direction(), rows="grouped",
    )  # fmt: skip
    for changes, message in [
        ({"outer": "column"}, "outer 2 is none of the axis"),
        (
            {"recipe": "nvfuser", "scale_max": 0},
            "an outer amax per row or column needs the recipe te",
        ),
        ({"scale_max": 449}, "scale_max 449 is neither 256 nor 448"),
        ({"scale_max": 256, "recipe": "nvfuser"}, "scale_max needs the recipe te"),
        ({"outer": "group"}, r"outer_amax has shape \[13\], expected \[1\]"),
    ]:
        p = dequantize.Problem(case, "rowwise", "f32")
        with pytest.raises(gq.Error, match=message):
            runtime.grouped_dequantize(p.operands, dataclasses.replace(p.attributes, **changes))


@pytest.mark.parametrize("element", list(oracle.PLAIN))
@pytest.mark.parametrize("out", OUTS)
@pytest.mark.parametrize("ragged", [False, True])
def test_per_tensor_columns(element, out, ragged):
    """Transposed codes, any number of columns."""
    rng = np.random.default_rng(0)
    shapes = [(3, 37), (0, 5), (130, 129), (1, 0), (64, 16)]
    if not ragged:
        shapes = [(m, 131) for m, _ in shapes]
    scale_inv = np.float32([0.5, 3, 2.0**-130, 1e30, -7])
    codes = [rng.integers(0, 256, (k, oracle.up(m, 32)), np.uint8) for m, k in shapes]
    sizes = [oracle.up(m * k, 16) + 16 if ragged else m for m, k in shapes]
    starts = np.cumsum([2 if not ragged else 16, *sizes]).astype(np.int64)
    rows = int(starts[-1]) + 3
    poisoned = cases.Poisoned((rows,) if ragged else (rows, 131), elements.DTYPES[out])
    expected = poisoned.array.copy()
    for (m, k), c, s, start in zip(shapes, codes, scale_inv, starts):
        x = np.ascontiguousarray(oracle.dequantize_columns(c, None, m, element, outer=s))
        at = int(start) * (1 if ragged else 131)
        stored = oracle.stored_float(np.asarray(x, np.float32), out).reshape(-1)
        expected.reshape(-1)[at : at + m * k] = stored
    operands = {
        "data": cases.Operand(np.concatenate([c.reshape(-1) for c in codes]), element),
        "offsets": cases.Operand(starts, "i64"),
        "scale_inv": cases.Operand(scale_inv, "f32"),
        "out": cases.Operand(poisoned.array, out),
    }
    if ragged:
        dims = np.array(shapes, np.int64).T
        operands["first_dims"] = cases.Operand(dims[0].copy(), "i64")
        operands["last_dims"] = cases.Operand(dims[1].copy(), "i64")
    attributes = dequantize.Attributes(element, "nvfuser", "linear", "columnwise")
    runtime.grouped_dequantize(operands, attributes)
    cases.check_bits(poisoned.array, expected, "out")
    poisoned.check_surroundings()


@pytest.mark.parametrize("element", list(oracle.PLAIN))
@pytest.mark.parametrize("out", OUTS)
@pytest.mark.parametrize("kind", ["one", "group"])
def test_per_tensor(element, out, kind):
    """All codes; rows before and after the groups."""
    rng = np.random.default_rng(0)
    sizes, k = [3, 0, 70, 1], 256
    data = rng.integers(0, 256, (80, k), np.uint8)
    data[4] = np.arange(256)
    offsets = np.cumsum([2, *sizes]).astype(np.int32)
    scale_inv = np.float32([0.5, 3, 2.0**-130, 1e30])
    scale_inv = scale_inv if kind == "group" else scale_inv[1]
    poisoned = cases.Poisoned((80, k), elements.DTYPES[out])
    expected = poisoned.array.copy()
    for e, (begin, end) in enumerate(zip(offsets, offsets[1:])):
        s = scale_inv[e] if kind == "group" else scale_inv
        x = oracle.dequantize_rows(data[begin:end], None, element, outer=s)
        expected[begin:end] = oracle.stored_float(x, out)
    operands = {
        "data": cases.Operand(data, element),
        "offsets": cases.Operand(offsets, "i32"),
        "scale_inv": cases.Operand(np.asarray(scale_inv), "f32"),
        "out": cases.Operand(poisoned.array, out),
    }
    attributes = dequantize.Attributes(element, "nvfuser", "linear", "rowwise")
    runtime.grouped_dequantize(operands, attributes)
    cases.check_bits(poisoned.array, expected, "out")
    poisoned.check_surroundings()


@pytest.mark.parametrize("fmt", oracle.FORMATS)
@pytest.mark.parametrize("out", OUTS)
def test_block_dequantize(fmt, out):
    f = oracle.FORMATS[fmt]
    rng = np.random.default_rng(0)
    m, k = 131, 2 * f.block[1]
    x = formats.matrix(rng, m, k, "f32")
    for g in [None, np.float32(37.5)] if fmt == "nvfp4" else [None]:
        codes, linear = oracle.quantize_rows(x, fmt, outer=g)
        poisoned = cases.Poisoned((m, k), elements.DTYPES[out])
        operands = {
            "data": cases.Operand(oracle.stored(codes, fmt), f.data),
            "scales": cases.Operand(linear, f.scale),
            "out": cases.Operand(poisoned.array, out),
        }
        if g is not None:
            operands["global_scale"] = cases.Operand(np.asarray(g), "f32")
        runtime.block_dequantize(operands, fmt)
        values = oracle.dequantize_rows(codes, linear, fmt, outer=g)
        cases.check_bits(poisoned.array, oracle.stored_float(values, out), "out")
        poisoned.check_surroundings()
        types = {n: formats.memref(o, False) for n, o in operands.items()}
        text = f"""
          func.func @main({", ".join(f"%{n} : {t}" for n, t in types.items())}) {{
            gq.block_dequantize format({fmt}) {formats.clause("ins", types, "data", "scales")}
                {formats.clause("global_scale", types, "global_scale")}
                {formats.clause("outs", types, "out")}
            return
          }}"""
        poisoned.array[:] = 0
        modules.compiled(text)(*(o.array for o in operands.values()))
        cases.check_bits(poisoned.array, oracle.stored_float(values, out), "out")
        dtype = {"f32": "float32", "bf16": "bfloat16", "f16": "float16"}[out]
        y = gq.block_dequantize(
            operands["data"].array, linear, fmt, epilogue=lambda v: v * 2,
            global_scale=None if g is None else np.asarray(g), out_dtype=dtype,
        )  # fmt: skip
        with np.errstate(over="ignore"):
            values = elements.decode(oracle.stored_float(values, out), out) * np.float32(2)
        y = elements.decode(np.asarray(y).view(elements.DTYPES[out]), out)
        np.testing.assert_array_equal(y, elements.rounded(values, out))


def test_tensors():
    """There and back in one module, the codes packed on the way."""
    text = """
      func.func @main(%x : tensor<?x64xbf16>, %o : tensor<?xi32>, %q0 : tensor<?x64xf4E2M1FN>,
                      %s0 : tensor<?x4xf8E4M3FN, #gq.tile128x4>, %y0 : tensor<?x64xbf16>)
          -> tensor<?x64xbf16> {
        %q, %s = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
            groups(%o : tensor<?xi32>)
            outs(%q0, %s0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
            -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
        %y = gq.grouped_dequantize format(nvfp4) ins(%q : tensor<?x64xf4E2M1FN>)
            scales(%s : tensor<?x4xf8E4M3FN, #gq.tile128x4>) groups(%o : tensor<?xi32>)
            outs(%y0 : tensor<?x64xbf16>) -> tensor<?x64xbf16>
        return %y : tensor<?x64xbf16>
      }"""
    rng = np.random.default_rng(0)
    x = elements.encode(rng.standard_normal((70, 64), np.float32), "bf16")
    offsets = np.int32([3, 3, 60])
    y = cases.Poisoned((70, 64), np.uint16)
    expected = y.array.copy()
    codes, linear = oracle.quantize_rows(elements.decode(x, "bf16"), "nvfp4")
    values = oracle.dequantize_rows(codes, linear, "nvfp4")
    expected[3:60] = oracle.stored_float(values, "bf16")[3:60]
    bf16 = modules.ELEMENTS["bf16"]
    result = gq.compile(text, cache_dir="")(
        x.view(bf16), offsets, np.zeros((70, 32), np.uint8), np.zeros((256, 4), np.uint8),
        y.array.view(bf16),
    )  # fmt: skip
    cases.check_bits(result.view(np.uint16), expected, "y")


def some(axis="rowwise", fmt="nvfp4"):
    case = formats.ragged_case("odd", "bf16", fmt, "nvfuser", formats.layouts(fmt)[0])
    return dequantize.Problem(case, axis, "f32")


def some_rows(axis="rowwise", fmt="nvfp4", recipe="nvfuser"):
    case = formats.rows_case("odd_600x144", "bf16", fmt, recipe, formats.layouts(fmt)[0])
    return dequantize.Problem(case, axis, "f32")


def shorter(name, count=1):
    def change(p):
        o = p.operands[name]
        p.operands[name] = cases.Operand(o.array[:-count].copy(), o.element)

    return change


def put(name, index, value):
    def change(p):
        o = p.operands[name]
        array = o.array.copy()
        array[index] = value
        p.operands[name] = cases.Operand(array, o.element)

    return change


def without(name):
    return lambda p: p.operands.pop(name)


def given_operand(name, value):
    def change(p):
        p.operands[name] = cases.Operand(np.asarray(value, np.float32), "f32")

    return change


REFUSED = [
    (lambda: some_rows(), shorter("data"), "data has shape .*expected"),
    (lambda: some_rows(), shorter("scales", 256), "scales has .* elements, too few for group"),
    (lambda: some_rows("columnwise"), shorter("data", 6), "data has .* elements, too few for group"),
    (lambda: some_rows("columnwise"), shorter("scales", 6), "scales has .* elements, too few"),
    (lambda: some_rows(), put("offsets", 2, -1), "offsets"),
    (lambda: some_rows(), put("offsets", -1, 2**62), "offsets"),
    (lambda: some_rows(), without("scales"), "expected scales with a format"),
    (lambda: some_rows(), given_operand("scale_inv", 1), "expected no scale_inv with a format"),
    (lambda: some_rows(), given_operand("outer_amax", 1), "expected no outer_amax with the recipe nvfuser"),
    (lambda: some_rows(recipe="te"), without("outer_amax"), "expected outer_amax with the recipe te"),
    (lambda: some_rows(recipe="te"), given_operand("global_scale", 1), "global_scale is for the recipe nvfuser"),
    (lambda: some_rows(fmt="mxfp4"), given_operand("global_scale", 1), "mxfp4 has no global_scale"),
    (lambda: some_rows(), given_operand("global_scale", [1, 2]), "global_scale"),
    (lambda: some(), without("last_dims"), "expected last_dims with first_dims"),
    (lambda: some(), put("first_dims", 1, -1), "first_dims.1. = -1 is negative"),
    (lambda: some(), put("last_dims", 1, 7), "last_dims.1. = 7 is not a multiple"),
    (lambda: some(), put("first_dims", 1, 2**62), "too large for elements"),
]  # fmt: skip


@pytest.mark.parametrize("case", REFUSED, ids=[m for _, _, m in REFUSED])
def test_refuses(case):
    make, change, message = case
    problem = make()
    change(problem)
    with pytest.raises(gq.Error, match=message):
        runtime.grouped_dequantize(problem.operands, problem.attributes)
    assert (problem.out.array.view(np.uint8) == cases.POISON).all()


def test_refuses_overlap():
    problem = some_rows()
    out = problem.operands["out"].array
    problem.operands["global_scale"] = cases.Operand(
        out.reshape(-1)[5:6].view(np.float32).reshape(()), "f32"
    )
    with pytest.raises(gq.Error, match="out is written and overlaps global_scale"):
        runtime.grouped_dequantize(problem.operands, problem.attributes)
    assert (problem.out.array.view(np.uint8) == cases.POISON).all()
