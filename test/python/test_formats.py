# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every format, direction and shape of the grouped quantization."""

import cases
import modules
import numpy as np
import oracle
import pytest
import runtime
import values
from hypothesis import given, settings
from hypothesis import strategies as st

FORMATS = list(oracle.FORMATS)
# Rows of K columns; the rows of the groups. The rest are in no group.
ROWS = {
    "one": (128, 128, [128]),
    "two": (256, 128, [128, 128]),
    "first_512x128": (512, 128, [128, 384]),
    "first_1024x144": (1024, 144, [128, 384, 512]),
    "first_1024x144_empty": (1024, 144, [128, 384, 0, 512]),
    "first_1536x160": (1536, 160, [128, 384, 512, 512]),
    "first_4096x512": (4096, 512, [128, 256, 384, 1024, 2304]),
    "first_65536x512": (65536, 512, [128, 256, 384, 1024, 2304]),
    "first_512x160": (512, 160, [128, 0, 0, 256]),
    # No multiples of 16, 32 or 128.
    "odd_1": (1, 128, [1]),
    "odd_600x144": (600, 144, [0, 127, 1, 33, 257, 0, 17]),
    "odd_512x160": (512, 160, [15, 97, 31, 200, 129]),
    "odd_513x272": (513, 272, [513]),
}
# The shapes of ragged groups.
RAGGED = {
    "last_256x896": [(256, 128), (256, 256), (256, 512)],
    "both_2": [(128, 128), (256, 256)],
    "both_640": [(256, 128), (512, 640)],
    "both_empty": [(128, 128), (0, 0), (128, 128)],
    "odd": [(1, 128), (33, 16), (0, 144), (127, 272), (5, 0), (300, 48)],
}
DIRECTIONS = ["rowwise", "columnwise", "both"]


def layouts(fmt):
    tiled = oracle.FORMATS[fmt].scale != "f32"
    return ["tile128x4", "linear"] if tiled else ["linear"]


def columns(k, fmt):
    return oracle.up(k, oracle.FORMATS[fmt].block[1])


def recipes(fmt):
    return ["nvfuser", "te"] if fmt == "nvfp4" else ["nvfuser"]


def matrix(rng, m, k, dtype):
    """Hard numbers along the rows, or along the columns."""
    if k % 16 == 0 and (m % 16 or rng.random() < 0.5):
        return values.matrix(rng, m, k, dtype)
    return np.ascontiguousarray(values.matrix(rng, k, oracle.up(m, 16), dtype)[:, :m].T)


def amaxes(groups):
    """Outer amaxes as they are used: those of the groups."""
    with np.errstate(invalid="ignore"):
        return np.array([cases.Case._amax(g) for g in groups], np.float32)


def check_all(case, runner=runtime.grouped_block_quantize):
    for directions in DIRECTIONS:
        case.run(
            runner,
            directions,
            amax=True,
            scale_offsets_out="scale_offsets_out" in case.expected,
        )


def rows_and_elements():
    """Of the huge one a single element type."""
    for name, (m, _, _) in ROWS.items():
        for element in modules.ELEMENTS:
            if m < 10000 or element == "bf16":
                yield name, element


@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("name, element", list(rows_and_elements()))
def test_rows(name, element, fmt):
    m, k, sizes = ROWS[name]
    k = columns(k, fmt)
    rng = np.random.default_rng(m)
    dtype = modules.ELEMENTS[element]
    groups = [matrix(rng, size, k, dtype) for size in sizes]
    # A huge capacity is there to be left alone.
    unused = np.zeros((m - sum(sizes), k), dtype)
    for recipe in recipes(fmt):
        for layout in layouts(fmt):
            case = cases.Case(
                groups, fmt, recipe, layout, rows="grouped",
                outside=(unused[:0], unused),
                outer=amaxes(groups) if recipe == "te" else None,
            )  # fmt: skip
            check_all(case)


@pytest.mark.parametrize("element", modules.ELEMENTS)
@pytest.mark.parametrize("fmt", FORMATS)
@pytest.mark.parametrize("name", RAGGED)
def test_ragged(name, fmt, element):
    rng = np.random.default_rng(1)
    dtype = modules.ELEMENTS[element]
    groups = [
        matrix(rng, m, columns(k, fmt), dtype) for m, k in RAGGED[name]
    ]
    for recipe in recipes(fmt):
        for layout in layouts(fmt):
            case = cases.Case(
                groups, fmt, recipe, layout, ragged=True,
                gaps=[2 * e for e in range(len(groups))],
                outer=amaxes(groups) if recipe == "te" else None,
            )  # fmt: skip
            check_all(case)


FACTORS = st.one_of(
    st.floats(2.0**-20, 2.0**20, width=32),
    st.sampled_from([1, -1, 0, -0.0, 2688, 2.0**-140, 3e38, np.inf, np.nan]),
)


@st.composite
def outers(draw, count):
    kind = draw(st.sampled_from(["none", "scalar", "group"]))
    if kind == "none":
        return None
    if kind == "scalar":
        return np.float32(draw(FACTORS))
    drawn = draw(st.lists(FACTORS, min_size=count, max_size=count))
    return np.array(drawn, np.float32)


@settings(max_examples=400, deadline=None)
@given(data=st.data(), fmt=st.sampled_from(FORMATS), seed=st.integers(0, 2**32))
def test_random(data, fmt, seed):
    draw = data.draw
    rng = np.random.default_rng(seed)
    ragged = draw(st.booleans(), "ragged")
    recipe = draw(st.sampled_from(recipes(fmt)), "recipe")
    layout = draw(st.sampled_from(layouts(fmt)), "layout")
    dtype = modules.ELEMENTS[draw(st.sampled_from(list(modules.ELEMENTS)))]
    size = st.sampled_from([0, 0, 1, 15, 16, 31, 32, 33, 100, 127, 128, 129, 300])
    sizes = draw(st.lists(size, min_size=ragged, max_size=5), "sizes")
    block = oracle.FORMATS[fmt].block[1]
    few = st.integers(1, max(1, 400 // block))
    k = block * draw(few, "blocks")
    outside = None
    if ragged:
        ks = [block * draw(st.one_of(few, st.just(0))) for _ in sizes]
        gap = st.sampled_from([0, 0, 2, 34])
        gaps = [draw(gap) for _ in sizes]
    else:
        ks = [k] * len(sizes)
        gaps = None
        if layout == "tile128x4" and draw(st.booleans(), "gaps"):
            gaps = [draw(st.sampled_from([0, 0, 1])) for _ in sizes]
        outside = [matrix(rng, draw(st.integers(0, 40)), k, dtype) for _ in "fb"]
    groups = [matrix(rng, m, n, dtype) for m, n in zip(sizes, ks)]
    outer = columnwise_outer = None
    if fmt == "nvfp4":
        outer = draw(outers(len(groups)), "outer")
        if recipe == "te":
            if outer is None:
                outer = amaxes(groups)
            columnwise_outer = draw(outers(len(groups)), "columnwise outer")
    case = cases.Case(
        groups, fmt, recipe, layout,
        rows=draw(st.sampled_from(["all", "grouped"]), "rows"),
        outside=outside, ragged=ragged, gaps=gaps,
        index=draw(st.sampled_from(["int32", "int64"]), "index"),
        outer=outer, columnwise_outer=columnwise_outer,
    )  # fmt: skip
    check_all(case)


@pytest.mark.parametrize("element", modules.ELEMENTS)
def test_dbias(element):
    """Of f32: 1e-5 * sqrt(rows) of float64; of others: that, rounded once."""
    rng = np.random.default_rng(2)
    sizes, k = [0, 1, 127, 2304, 0, 20000], 64
    dtype = modules.ELEMENTS[element]
    groups = [rng.standard_normal((m, k)).astype(dtype) for m in sizes]
    outside = [np.full((3, k), 1e4, dtype)] * 2
    case = cases.Case(groups, "nvfp4", outside=outside)
    run = runtime.grouped_block_quantize
    sums = case.run(run, "columnwise", dbias="f32")["dbias"].copy()
    for g, s in zip(groups, sums):
        error = np.abs(s - g.astype(np.float64).sum(0)).max()
        assert error <= 1e-5 * np.sqrt(len(g))
    for out in modules.ELEMENTS:
        for directions in DIRECTIONS:
            again = case.run(run, directions, dbias=out)["dbias"]
            rounded = oracle.round_to(sums.astype(np.float64), modules.ELEMENTS[out])
            np.testing.assert_array_equal(again, rounded)
