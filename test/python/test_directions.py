# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a direction of nvfp4 does in its own way, against the oracle."""

import itertools

import cases
import elements
import formats
import gq
import numpy as np
import oracle
import pytest
import runtime
import test_formats
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

RNG = 0x243F6A8885A308D3, 0x100000007
SIGNS = 0xD7E8
RUN = runtime.quantize


def allowed(d, recipe, columnwise):
    """Whether the parts of a direction go together."""
    return (
        (d.four_over_six is None or (recipe == "te" and not d.stochastic))
        and (d.outer == "group" or recipe == "te")
        and (d.signs is None or columnwise)
        and not (d.square and (d.stochastic or d.signs is not None or d.outer != "group"))
        and (d.scale_max == 448 or d.four_over_six is not None)
    )


def directions(recipe, columnwise):
    parts = itertools.product(
        (False, True), (None, 0, SIGNS), (False, True),
        ("group", "column" if columnwise else "row"), (None, "mae", "mse"), (448, 256),
    )  # fmt: skip
    made = [oracle.Direction(*p) for p in parts]
    return [d for d in made if allowed(d, recipe, columnwise)]


ALL = {(r, c): directions(r, c) for r in ("nvfuser", "te") for c in (False, True)}


def test_philox():
    assert [int(w) for w in oracle.philox((0, 0, 0, 0), (0, 0))] == [
        0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8,
    ]  # fmt: skip


def outer_amaxes(rng, count):
    """Some of them are wide off what the elements are."""
    some = [0, 2688, 1e-30, 3e38, np.inf, np.nan, 1e-45]
    values = np.exp2(rng.uniform(-4, 8, count))
    return np.where(rng.random(count) < 0.9, values, rng.choice(some, count)).astype("f4")


def made_case(source, sizes, k, element, recipe, rowwise, columnwise, **options):
    """A Case of hard numbers with the outer amaxes that the directions ask for."""
    groups = [formats.matrix(source, m, k, element) for m in sizes]
    outside = [formats.matrix(source, m, k, element) for m in (3, 5)]
    outer = columnwise_outer = None
    if recipe == "te":
        outer = outer_amaxes(source, len(sizes))
        if rowwise.outer == "row":
            outer = outer_amaxes(source, sum(sizes) + 8)
        columnwise_outer = outer_amaxes(source, len(sizes))
        if columnwise.outer == "column":
            columnwise_outer = outer_amaxes(source, (len(sizes), k))
    elif source.random() < 0.5:
        outer = outer_amaxes(source, len(sizes))
    return cases.Case(
        groups, element, "nvfp4", recipe, outside=outside, outer=outer,
        columnwise_outer=columnwise_outer, rowwise=rowwise, columnwise=columnwise,
        **options,
    )  # fmt: skip


@examples(300)
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_random(data, seed):
    draw, rng = data.draw, np.random.default_rng(seed)
    recipe = draw(st.sampled_from(["nvfuser", "te"]))
    rowwise = draw(st.sampled_from(ALL[recipe, False]), "rowwise")
    columnwise = draw(st.sampled_from(ALL[recipe, True]), "columnwise")
    size = st.sampled_from([0, 1, 15, 16, 17, 31, 33, 100, 128, 129, 200])
    case = made_case(
        rng,
        draw(st.lists(size, max_size=4), "sizes"),
        16 * draw(st.integers(1, 20), "blocks"),
        draw(st.sampled_from(formats.ELEMENTS)),
        recipe,
        rowwise,
        columnwise,
        layout=draw(st.sampled_from(["tile128x4", "linear"])),
        rows=draw(st.sampled_from(["all", "grouped"])),
        rng=draw(st.tuples(*[st.integers(0, 2**64 - 1)] * 2)),
        gather=rng if draw(st.booleans(), "gather") else None,
    )
    for names in formats.DIRECTIONS:
        numbers = draw(test_formats.NUMBERS, "numbers")
        case.run(RUN, directions=names, amax=True, numbers=numbers)


def test_ragged():
    rng = np.random.default_rng(0)
    for rowwise, columnwise in [
        (oracle.Direction(stochastic=True), oracle.Direction(stochastic=True, signs=5)),
        (oracle.Direction(square=True),) * 2,
        (oracle.Direction(four_over_six="mse", scale_max=256),) * 2,
    ]:
        groups = [formats.matrix(rng, m, k, "bf16") for m, k in formats.RAGGED["odd"]]
        case = cases.Case(
            groups, "bf16", "nvfp4", "te", ragged=True, gaps=[16 * e for e in range(6)],
            outer=formats.amaxes(groups), rowwise=rowwise, columnwise=columnwise, rng=RNG,
        )  # fmt: skip
        for names in formats.DIRECTIONS:
            case.run(RUN, directions=names)


def test_squares_have_one_code():
    """Rowwise and columnwise codes of blocks of 16x16 are the same."""
    rng = np.random.default_rng(1)
    square = oracle.Direction(square=True, four_over_six="mae")
    groups = [formats.matrix(rng, 96, 64, "bf16")]
    case = cases.Case(groups, "bf16", "nvfp4", "te", outer=formats.amaxes(groups),
                      rowwise=square, columnwise=square, spare=0)  # fmt: skip
    out = case.run(RUN)
    rows = oracle.unpack(out["data"].view(np.uint8))
    columns = oracle.unpack(out["columnwise_data"].view(np.uint8).reshape(64, 48))
    np.testing.assert_array_equal(rows, columns.T)


#
# Stochastic rounding
#


def stochastic_codes(x, seed, columnwise=False):
    """The codes of x, whose largest magnitude in each block is 6: its scales are
    1."""
    direction = oracle.Direction(stochastic=True)
    operands = {
        "input": cases.Operand(elements.encode(x, "f32"), "f32"),
        "offsets": cases.Operand(np.array([0, len(x)]), "i64"),
        "rng_state": cases.Operand(np.array([seed, 9], np.int64), "i64"),
    }
    name = "columnwise_" if columnwise else ""
    shape = (x.size // 2,) if columnwise else (len(x), x.shape[1] // 2)
    operands[name + "data"] = cases.Operand(np.zeros(shape, np.uint8), "i8")
    scales = np.zeros(128 * max(x.shape), np.uint8)
    scales = scales if columnwise else scales.reshape(-1, oracle.up(x.shape[1] // 16, 4))
    operands[name + "scales"] = cases.Operand(scales, "f8E4M3FN")
    attributes = cases.Attributes(
        "nvfp4", "nvfuser", "tile128x4", "grouped", direction, direction
    )
    data = RUN(operands, attributes)[name + "data"]
    codes = oracle.unpack(data.reshape(-1)).reshape(x.shape[::-1] if columnwise else x.shape)
    return codes.T if columnwise else codes


def test_mean():
    """Of 4,096 seeds, in every interval of the grid, within 4 standard errors of
    what 256 equally likely bytes give."""
    lows, highs = oracle.E2M1[:-1], oracle.E2M1[1:]
    at = np.array([0.0, 0.03, 0.25, 0.5, 0.71, 0.999])
    v = (lows[:, None] + (highs - lows)[:, None] * at).reshape(-1)
    x = np.zeros((6, 16), np.float32)
    x[:, 0], x[:, 1:].flat[: 2 * v.size] = 6, np.concatenate([v, -v])
    total = np.zeros(x.shape)
    for seed in range(4096):
        total += oracle.e2m1_value(stochastic_codes(x, seed))
    outcomes = oracle.e2m1_value(
        oracle.e2m1_stochastic(x[..., None], np.arange(256, dtype=np.uint8))
    ).astype(np.float64)
    error = 4 * outcomes.std(-1) / 64
    assert (np.abs(total / 4096 - outcomes.mean(-1)) <= error).all()
    # That is x itself, but for the last of 256 chances.
    steps = np.where(np.abs(x) < 2, 0.5, np.where(np.abs(x) < 4, 1, 2))
    assert (np.abs(outcomes.mean(-1) - x) <= steps / 256).all()


@pytest.mark.parametrize("columnwise", [False, True])
def test_bits(columnwise):
    """The bytes that are used, found by how many of 255 fractions they round up:
    those of the definition, and evenly distributed."""
    m, k = 64, 256
    used = np.zeros((m, k), np.int64)
    for j in range(1, 256):
        x = np.full((m, k), j / 512, np.float32)
        x[::16, ::16] = 6
        if columnwise:
            x[::16] = 6
        else:
            x[:, ::16] = 6
        used += stochastic_codes(x, 3, columnwise) & 7 == 1
    place = oracle.Place(0, k, 3, 9)
    shape = (k, m // 16) if columnwise else (m, k // 16)
    expected = oracle.random_bytes(shape, place, columnwise).reshape(shape[0], -1)
    expected = expected.T if columnwise else expected
    known = np.ones((m, k), bool)
    known[(slice(None, None, 16),) if columnwise else (slice(None), slice(None, None, 16))] = False
    np.testing.assert_array_equal(used[known], expected[known])
    counts = np.bincount(used[known], minlength=256)
    mean = counts.mean()
    assert ((counts - mean) ** 2 / mean).sum() < 255 + 4 * np.sqrt(510)


def test_splits_and_gather():
    """Bits depend neither on the groups of rows nor on where rows come from."""
    rng = np.random.default_rng(2)
    x = formats.matrix(rng, 160, 64, "bf16")
    stochastic = oracle.Direction(stochastic=True)
    results = []
    for sizes in [160], [16, 0, 48, 96], [32, 128], [160]:
        groups = np.split(x, np.cumsum(sizes)[:-1])
        case = cases.Case(
            groups, "bf16", "nvfp4", "te", outer=np.float32(10), rowwise=stochastic,
            columnwise=stochastic, rng=RNG, gather=rng if len(results) == 3 else None,
        )  # fmt: skip
        out = case.run(RUN)
        columns, at = [], 0
        for size in sizes:
            padded = oracle.up(size, 32)
            codes = oracle.unpack(out["columnwise_data"])[at : at + 64 * padded]
            columns.append(codes.reshape(64, padded)[:, :size])
            at += 64 * padded
        results.append((out["data"], np.concatenate(columns, 1)))
    for data, columns in results[1:]:
        np.testing.assert_array_equal(data, results[0][0])
        np.testing.assert_array_equal(columns, results[0][1])


def test_gradient_of_weights():
    """Of transformed columns, also of blocks that lack rows: nothing is lost."""
    rng = np.random.default_rng(4)
    sizes, k, n = [5, 0, 33, 16], 32, 48
    turned = oracle.Direction(signs=SIGNS)
    parts = []
    for columns in n, k:
        groups = [rng.standard_normal((m, columns), np.float32) for m in sizes]
        groups = [elements.rounded(g, "bf16") for g in groups]
        outer = np.array([8.0] * len(sizes), np.float32)
        case = cases.Case(groups, "bf16", "nvfp4", "te", outer=outer,
                          columnwise=turned, index="int32")  # fmt: skip
        out = case.run(RUN, directions="columnwise")
        parts.append((groups, out["columnwise_data"], out["columnwise_scales"], case))
    (y, a, sa, case), (x, b, sb, _) = parts
    result = np.zeros((len(sizes), n, k), np.float32)
    arrays = {"a": a, "b": b, "a_scales": sa, "b_scales": sb, "out": result,
              "offsets": case.inputs["offsets"].array,
              "alpha": np.full(len(sizes), (8 / 2688) ** 2, np.float32)}  # fmt: skip
    types = {"a": "i8", "b": "i8", "a_scales": "f8E4M3FN", "b_scales": "f8E4M3FN",
             "offsets": "i32", "alpha": "f32", "out": "f32"}  # fmt: skip
    runtime.grouped_wgrad(arrays, types, 0, 0, 1)
    for dy, inputs, dw in zip(y, x, result):
        exact = dy.T.astype(np.float64) @ inputs
        assert ((dw - exact) ** 2).sum() <= 0.03 * (exact**2).sum()


#
# Errors
#

WRONG = {
    "is for stochastic": ({}, {"rng_state"}),
    "needs rng_state": ({"stochastic": True}, set()),
    "scale_max": ({"scale_max": 256}, set()),
    "recipe\\(te\\) and rounding": ({"four_over_six": "mae", "stochastic": True}, {"rng_state"}),
    "which both directions share": ({"square": True, "outer": "row"}, set()),
    "to be of 'columnwise'": ({"signs": 1}, set()),
    "group or row": ({"outer": "column"}, set()),
}  # fmt: skip


@pytest.mark.parametrize("message", WRONG)
def test_errors(message):
    parts, extra = WRONG[message]
    x = np.ones((16, 64), np.float32)
    case = cases.Case([x], "f32", "nvfp4", "te", outer=np.float32(6))
    operands = case.operands(directions="rowwise")
    if extra:
        operands["rng_state"] = cases.Operand(np.zeros(2, np.int64), "i64")
    case.attributes.rowwise = oracle.Direction(**parts)
    with pytest.raises(gq.Error, match=message):
        RUN(operands, case.attributes)
