# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""That the bytes of an op on the CPU do not depend on the number of threads.

Problems are large enough that all threads have something to do.
"""

import ctypes

import amaxes
import cases
import dequantize
import elements
import formats
import modules
import numpy as np
import oracle
import pytest
import runtime
import test_grouped_mm
import test_grouped_wgrad
import values

COUNTS = [1, 2, 3, 7]
# More than a job has, in both extents; few rows, none.
SIZES, K = [130, 0, 1, 200], 1152


@pytest.fixture
def set_num_threads():
    """OpenMP's omp_set_num_threads, in the runtime that gq finds."""
    function = ctypes.CDLL("libgomp.so.1").omp_set_num_threads
    yield function
    function(1)


def check_all(set_num_threads, run):
    """`run` returns results by name, the same ones each time."""
    expected = None
    for count in COUNTS:
        set_num_threads(count)
        results = run()
        expected = expected or {n: np.copy(x) for n, x in results.items()}
        for name, x in expected.items():
            cases.check_bits(results[name], x, f"{name}, {count} threads")


def normal(rng, m):
    """[m, K] of numbers that bf16 has, whose sums are finite."""
    return elements.rounded(rng.standard_normal((m, K)), "bf16").astype(np.float32)


TOKENS = {
    "rowwise": oracle.Direction(outer="row"),
    "columnwise": oracle.Direction(outer="column"),
}
HADAMARD = {"columnwise": oracle.Direction(signs=0xD7E8, stochastic=True)}


@pytest.mark.parametrize(
    "fmt, recipe, directions",
    [(fmt, "nvfuser", {}) for fmt in oracle.ALL_FORMATS]
    + [("nvfp4", "te", d) for d in ({}, TOKENS, HADAMARD)],
)
def test_quantize(set_num_threads, fmt, recipe, directions):
    """Both directions, amax, dbias and scale offsets, rows in no group."""
    rng = np.random.default_rng(0)
    groups, outside = ([normal(rng, m) for m in sizes] for sizes in (SIZES, (3, 150)))
    rows = sum(SIZES) + 153
    outer, columnwise = rng.uniform(1, 5, len(SIZES)), None
    if directions is TOKENS:
        outer, columnwise = rng.uniform(1, 5, rows), rng.uniform(1, 5, (len(SIZES), K))
    elif fmt in oracle.FORMATS and fmt != "nvfp4":
        outer = None
    outer, columnwise = (
        None if x is None else x.astype("f4") for x in (outer, columnwise)
    )
    tiled = fmt in oracle.FORMATS and oracle.FORMATS[fmt].scale != "f32"
    case = cases.Case(
        groups, "bf16", fmt, recipe, "tile128x4" if tiled else "linear",
        outside=outside, outer=outer, columnwise_outer=columnwise, rng=(1, 2),
        **directions,
    )  # fmt: skip
    options = {"amax": True, "dbias": "f32", "scale_offsets_out": tiled}
    check_all(set_num_threads, lambda: case.run(runtime.quantize, **options))


@pytest.mark.parametrize("fmt", ["nvfp4", "mxfp8_e4m3", "fp8_e4m3_128x128"])
@pytest.mark.parametrize("axis", ["rowwise", "columnwise"])
def test_dequantize(set_num_threads, fmt, axis):
    rng = np.random.default_rng(0)
    groups = [formats.matrix(rng, m, K, "bf16") for m in SIZES]
    layout = formats.layouts(fmt)[0]
    case = cases.Case(groups, "bf16", fmt, layout=layout)

    def run():
        problem = dequantize.Problem(case, axis, "bf16")
        runtime.grouped_dequantize(problem.operands, problem.attributes)
        problem.check()
        return {"out": problem.out.array}

    check_all(set_num_threads, run)


@pytest.mark.parametrize("signs", [None, 0xD7E8])
def test_amax(set_num_threads, signs):
    rng = np.random.default_rng(0)
    options = {"outside": (3, 150), "signs": signs}
    p = amaxes.Problem(rng, SIZES, K, "bf16", amaxes.OUTPUTS, **options)
    function = modules.compiled(p.text)

    def run():
        outs = [x.array for x in p.operands().values()]
        results = function(*outs)
        p.check(results)
        return dict(enumerate(results))

    check_all(set_num_threads, run)


@pytest.mark.parametrize(
    "pair", [("nvfp4",) * 2, ("fp8_e4m3_1x128", "fp8_e4m3_128x128")]
)
def test_products(set_num_threads, pair):
    """Sums that round are in the same order, too."""
    rng = np.random.default_rng(0)
    g = test_grouped_mm.groups([70, 0, 1, 130])
    mm = test_grouped_mm.problem(rng, pair, g, n=256, k=384, bias="bf16")
    wgrad = test_grouped_wgrad.problem(rng, pair, [70, 0, 1, 130], 256, 128)
    for p, function in (mm, runtime.grouped_mm), (wgrad, runtime.grouped_wgrad):

        def run(p=p, function=function):
            p.out.array.view(np.uint8)[:] = cases.POISON
            function(p.operands, p.elements(), *p.numbers()[: 4 if p is mm else 3])
            return {"out": p.out.array}

        check_all(set_num_threads, run)


def test_scale_layout(set_num_threads):
    """The linear scales of 4096 rows, as tiles."""
    rng = np.random.default_rng(0)
    g = values.Groups(3, [2000, 0, 1, 2000], 92, [0, 1, 0, 1, 0], "int32", True)
    linear = rng.integers(0, 0x7F, (g.m, 71), np.uint8)
    expected = oracle.preprocess_grouped_matmul_sf(
        linear,
        g.offsets,
        g.scale_offsets,
        np.full((g.scale_rows, 72), cases.POISON, np.uint8),
    )

    def run():
        out = cases.Poisoned((g.scale_rows, 72))
        runtime.preprocess(linear, g.offsets, g.scale_offsets, out.array)
        out.check_surroundings()
        np.testing.assert_array_equal(out.array, expected)
        return {"scales": out.array}

    check_all(set_num_threads, run)
