# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every format, direction and shape of the grouped quantization."""

import cases
import dequantize
import elements
import formats
import golden
import gq
import numpy as np
import oracle
import pytest
import runtime
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

FORMATS = list(oracle.ALL_FORMATS)
BATCHES = formats.batches(golden.DIR)


def test_oracle():
    """The oracle, which is independent, has every format."""
    assert tuple(oracle.FORMATS) == gq.FORMATS
    assert tuple(oracle.TENSOR_FORMATS) == gq.TENSOR_FORMATS


# The element type of the input matters neither to the compiler nor to the order
# of the work.
COMPILED = [
    n for n in BATCHES if n.startswith("numbers") or (" f32 " not in n and " f16 " not in n)
]
CALLED = [n for n in BATCHES if n not in COMPILED and " both" in n]


def check(batch, function):
    for case, operands in batch.calls:
        function(operands, case.attributes)
        case.check({n: o.array for n, o in operands.items() if n in cases.OUTPUTS})


@pytest.mark.parametrize("name", COMPILED)
def test_compiled(name):
    batch = BATCHES[name]()
    module = gq.compile(batch.function, cache_dir="")
    check(batch, lambda operands, _: module(*(o.array for o in operands.values())))


@pytest.mark.parametrize("name", CALLED)
def test_called(name):
    check(BATCHES[name](), runtime.quantize)


@pytest.mark.parametrize("name", [n for n in BATCHES if n.startswith(("golden", "repeated"))])
def test_batch(name):
    """The modules that a GPU runs."""
    batch = BATCHES[name]()
    module = gq.compile(batch.text, cache_dir="")
    batch.check(module(*batch.arrays, entry="main"))


FACTORS = st.one_of(
    st.floats(2.0**-20, 2.0**20, width=32),
    st.sampled_from([1, -1, 0, -0.0, 2688, 2.0**-140, 3e38, np.inf, np.nan]),
)
# The data of both directions: codes, or numbers of some type.
NUMBERS = st.tuples(*[st.sampled_from([None, None, *formats.ELEMENTS])] * 2)


@st.composite
def outers(draw, count):
    kind = draw(st.sampled_from(["none", "scalar", "group"]))
    if kind == "none":
        return None
    if kind == "scalar":
        return np.float32(draw(FACTORS))
    drawn = draw(st.lists(FACTORS, min_size=count, max_size=count))
    return np.array(drawn, np.float32)


@examples(400)
@given(data=st.data(), fmt=st.sampled_from(FORMATS), seed=st.integers(0, 2**32))
def test_random(data, fmt, seed):
    draw = data.draw
    rng = np.random.default_rng(seed)
    ragged = draw(st.booleans(), "ragged")
    recipe = draw(st.sampled_from(formats.recipes(fmt)), "recipe")
    layout = draw(st.sampled_from(formats.layouts(fmt)), "layout")
    element = draw(st.sampled_from(formats.ELEMENTS))
    size = st.sampled_from([0, 0, 1, 15, 16, 31, 32, 33, 100, 127, 128, 129, 300])
    sizes = draw(st.lists(size, min_size=ragged, max_size=5), "sizes")
    block = oracle.ALL_FORMATS[fmt].block[1]
    few = st.integers(1, max(1, 400 // block))
    k = block * draw(few, "blocks")
    outside = None
    if ragged:
        ks = [block * draw(st.one_of(few, st.just(0))) for _ in sizes]
        gap = st.sampled_from([0, 0, 16, 48])
        gaps = [draw(gap) for _ in sizes]
    else:
        ks = [k] * len(sizes)
        gaps = None
        if layout == "tile128x4" and draw(st.booleans(), "gaps"):
            gaps = [draw(st.sampled_from([0, 0, 1])) for _ in sizes]
        outside = [formats.matrix(rng, draw(st.integers(0, 40)), k, element) for _ in "fb"]
    groups = [formats.matrix(rng, m, n, element) for m, n in zip(sizes, ks)]
    outer = columnwise_outer = None
    if fmt in oracle.TENSOR_FORMATS:
        outer = draw(outers(len(groups)).filter(lambda x: x is not None), "outer")
    if fmt == "nvfp4":
        outer = draw(outers(len(groups)), "outer")
        if recipe == "te":
            if outer is None:
                outer = formats.amaxes(groups)
            columnwise_outer = draw(outers(len(groups)), "columnwise outer")
    case = cases.Case(
        groups, element, fmt, recipe, layout,
        rows=draw(st.sampled_from(["all", "grouped"]), "rows"),
        outside=outside, ragged=ragged, gaps=gaps,
        index=draw(st.sampled_from(["int32", "int64"]), "index"),
        outer=outer, columnwise_outer=columnwise_outer,
    )  # fmt: skip
    for directions in formats.DIRECTIONS:
        case.run(
            runtime.quantize,
            directions=directions,
            amax=True,
            scale_offsets_out="scale_offsets_out" in case.expected,
            numbers=draw(NUMBERS, "numbers"),
        )


def test_dbias():
    """One sum, rounded once to the type of the output, in every direction."""
    case = formats.dbias_case("nvfp4", "bf16", [0, 1, 127, 2304, 0, 20000])
    run = runtime.quantize
    sums = case.run(run, directions="columnwise", dbias="f32")["dbias"].copy()
    for element in formats.ELEMENTS:
        for directions in formats.DIRECTIONS:
            again = case.run(run, directions=directions, dbias=element)["dbias"]
            np.testing.assert_array_equal(again, elements.encode(sums, element))


AMAXES = st.one_of(
    st.floats(0, 2.0**20, width=32),
    st.sampled_from([0, 2.0**-149, 2.0**-120, 3e38, np.inf, np.nan]),
)


def update_scales(fmt, algo, margin, h, g):
    t, a = f"tensor<{h}x{g}xf32>", f"tensor<{g}xf32>"
    return gq.compile(f"""
      func.func @main(%a : {a}, %h0 : {t}, %s0 : {a}) -> ({t}, {a}) {{
        %h, %s = gq.update_scales format({fmt}) amax_algo({algo}) margin({margin})
            ins(%a : {a}) outs(%h0, %s0 : {t}, {a}) -> {t}, {a}
        return %h, %s : {t}, {a}
      }}""", cache_dir="")  # fmt: skip


@pytest.mark.parametrize("margin", [0, 1, 126])
@pytest.mark.parametrize("algo", ["max", "most_recent"])
@pytest.mark.parametrize("fmt", list(oracle.TENSOR_FORMATS))
def test_update_scales(fmt, algo, margin):
    """Steps one after the other, of a history of any length."""
    module = update_scales(fmt, algo, margin, "?", "?")

    @examples(40)
    @given(h=st.integers(1, 5), g=st.integers(0, 9), data=st.data())
    def run(h, g, data):
        def draw(count, of):
            values = data.draw(st.lists(of, min_size=count, max_size=count))
            return np.array(values, np.float32)

        history, scale = draw(h * g, AMAXES).reshape(h, g), draw(g, FACTORS)
        for _ in range(3):
            amax = draw(g, AMAXES)
            expected = oracle.update_scales(fmt, amax, history, scale, algo, margin)
            history, scale = module(amax, history.copy(), scale.copy())
            for actual, e, name in zip((history, scale), expected, ("history", "scale")):
                cases.check_bits(actual, e.astype(np.float32), name)

    run()


def test_many_groups():
    """Of 4,096 groups, each with its own size and scale, every one is found."""
    rng = np.random.default_rng(5)
    sizes = np.where(rng.random(4096) < 0.3, 0, rng.integers(0, 70, 4096))
    groups = [formats.matrix(rng, m, 48, "bf16") for m in sizes]
    scales = np.exp2(rng.integers(-9, 9, 4096)).astype(np.float32)
    case = cases.Case(groups, "bf16", "fp8_e4m3", layout="linear", outer=scales)
    for directions in formats.DIRECTIONS:
        case.run(runtime.quantize, directions=directions, amax=True)


@pytest.mark.parametrize("fmt", ["fp8_e4m3", "mxfp8_e4m3", "nvfp4"])
def test_many_groups_and_back(fmt):
    """Of 4096 groups of few rows, codes become numbers, by one op and by two."""
    rng = np.random.default_rng(0)
    k = oracle.ALL_FORMATS[fmt].block[1]
    groups = [formats.matrix(rng, m, k, "bf16") for m in rng.integers(0, 4, 4096)]
    outer = None
    if fmt in oracle.TENSOR_FORMATS:
        outer = np.exp2(rng.uniform(-8, 8, len(groups))).astype(np.float32)
    case = cases.Case(
        groups, "bf16", fmt, layout=formats.layouts(fmt)[0], rows="grouped", outer=outer
    )
    case.run(runtime.quantize, amax=True, numbers=("f32", "bf16"))
    for axis in dequantize.AXES:
        problem = dequantize.Problem(case, axis, "f32")
        runtime.grouped_dequantize(problem.operands, problem.attributes)
        problem.check()
