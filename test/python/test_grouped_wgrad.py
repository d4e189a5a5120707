# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gq.grouped_wgrad in every pair of formats."""

import cases
import gq
import matmul
import modules
import numpy as np
import oracle
import pytest
import runtime
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

PAIRS = matmul.pairs(one_row=False)


class Problem(matmul.Problem):
    OP = "gq.grouped_wgrad"
    CLAUSES = {
        "ins": ["a", "b"],
        "scales": ["a_scales", "b_scales"],
        "groups": ["offsets"],
        "alpha": ["alpha"],
        "outs": ["out"],
    }

    def check(self, actual):
        self.out.check_surroundings()
        o = [self.operands.get(name) for name in runtime.WGRAD_OPERANDS]
        bounds = oracle.grouped_wgrad_bounds(
            *o, fmt=self.fmt, b_format=self.b_format, precision=self.precision
        )
        assert matmul.is_right(actual, *bounds).all()


def columnwise(rng, sizes, before, columns, fmt, wide, spare):
    """Random data and scales as the columnwise direction stores them.

    What pads a transposed row is as random, what pads tiles of scales NaN; `spare`
    rows of zeros or elements follow, `before` rows precede.
    """
    f = oracle.FORMATS.get(fmt)
    m = sum(sizes)
    if f and f.transposes:
        data = []
        for size in sizes:
            shape = columns, oracle.up(size, 32)
            data.append(matmul.codes(rng, shape, fmt).reshape(-1))
        data = np.concatenate([*data, np.zeros(spare, np.uint8)])
    else:
        data = matmul.codes(rng, (before + m + spare, columns), fmt)
    if not f:
        return data, None
    parts = []
    for size in sizes:
        shape = columns // f.block[0], -(-oracle.up(size, 32) // f.block[1])
        linear = matmul.scales(rng, shape, fmt, wide)
        tiled = f.scale != "f32"
        nan = matmul.nan_scale(fmt)
        parts.append(oracle.tile(linear, nan) if tiled else linear.reshape(-1))
    empty = np.zeros(0, np.float32 if f.scale == "f32" else np.uint8)
    return data, np.concatenate([*parts, empty, np.zeros(spare, empty.dtype)])


def problem(
    rng, pair, sizes, n, k, out="f32", alpha=False, wide=False, before=2, spare=3,
    index="int32",
):  # fmt: skip
    a, a_scales = columnwise(rng, sizes, before, n, pair[0], wide, spare)
    b, b_scales = columnwise(rng, sizes, before, k, pair[1], wide, spare)
    result = cases.Poisoned((len(sizes), n, k), modules.ELEMENTS[out])
    operands = {"a": a, "b": b, "a_scales": a_scales, "b_scales": b_scales}
    operands["offsets"] = (before + np.cumsum([0, *sizes])).astype(index)
    if alpha:
        operands["alpha"] = rng.standard_normal(len(sizes)).astype(np.float32)
    operands["out"] = result.array
    present = {name: x for name, x in operands.items() if x is not None}
    return Problem(*pair, present, result)


def block_of(fmt):
    return oracle.FORMATS[fmt].block[1] if fmt in oracle.FORMATS else 1


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: "-".join(pair))
@pytest.mark.parametrize("packed", [False, True])
def test_formats(pair, packed):
    """Blocks cut off at a group's end, an empty group, more than a tile."""
    rng = np.random.default_rng(0)
    block = block_of(pair[0])
    p = problem(rng, pair, [150, 0, 1, 33], oracle.up(130, block), oracle.up(70, block))
    p.check(p.run(packed=packed))


@examples(150)
@given(
    pair=st.sampled_from(PAIRS),
    sizes=st.lists(
        st.one_of(st.just(0), st.sampled_from([1, 31, 32, 128, 129]), st.integers(0, 200)),
        max_size=5,
    ),
    n=st.integers(1, 9),
    k=st.integers(1, 9),
    out=st.sampled_from(list(modules.ELEMENTS)),
    alpha=st.booleans(),
    wide=st.booleans(),
    before=st.integers(0, 5),
    spare=st.integers(0, 5),
    index=st.sampled_from(["int32", "int64"]),
    seed=st.integers(0, 2**32),
)
def test_random(pair, sizes, n, k, out, alpha, wide, before, spare, index, seed):
    rng = np.random.default_rng(seed)
    block = block_of(pair[0])
    n, k = (min(x, 2) if block == 128 else x for x in (n, k))
    p = problem(
        rng, pair, sizes, n * block, k * block, out, alpha, wide, before, spare, index
    )
    p.check(p.run())


@pytest.mark.parametrize("fmt", ["nvfp4", "mxfp4", "mxfp8_e5m2", "fp8_e4m3_1x128", "fp8_e4m3_128x128"])
def test_of_what_is_quantized(fmt):
    """The columnwise outputs of gq.grouped_block_quantize, as they are."""
    f = oracle.FORMATS[fmt]
    n, k, m, g = 128, 256, 200, 3
    tiled = f.scale != "f32"
    element = "f4E2M1FN" if f.bits == 4 else f.data
    layout = "" if tiled else "scale_layout(linear)"

    def types(columns):
        data = "tensor<?x" if f.transposes else f"tensor<?x{columns}x"
        return f"{data}{element}>", f"tensor<?x{f.scale}{', #gq.tile128x4' if tiled else ''}>"

    def quantize(x, columns):
        q, s = types(columns)
        return f"""
            %q{x}, %s{x} = gq.grouped_block_quantize format({fmt}) {layout}
                ins(%{x} : tensor<?x{columns}xf32>) groups(%o : tensor<?xi32>)
                columnwise_outs(%q{x}0, %s{x}0 : {q}, {s}) -> {q}, {s}"""

    (qa, sa), (qb, sb) = types(n), types(k)
    text = f"""
      func.func @main(%a : tensor<?x{n}xf32>, %b : tensor<?x{k}xf32>, %o : tensor<?xi32>,
          %qa0 : {qa}, %sa0 : {sa}, %qb0 : {qb}, %sb0 : {sb}, %out : tensor<?x{n}x{k}xf32>)
          -> tensor<?x{n}x{k}xf32> {{
        {quantize("a", n)} {quantize("b", k)}
        %c = gq.grouped_wgrad format({fmt}) {layout} ins(%qa, %qb : {qa}, {qb})
            scales(%sa, %sb : {sa}, {sb}) groups(%o : tensor<?xi32>)
            outs(%out : tensor<?x{n}x{k}xf32>) -> tensor<?x{n}x{k}xf32>
        return %c : tensor<?x{n}x{k}xf32>
      }}"""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((m, n)), rng.standard_normal((m, k))
    a, b = a.astype(np.float32), b.astype(np.float32)
    offsets = np.int32([3, 70, 70, 195])

    def room(columns):
        size = (m, columns) if not f.transposes else ((m + 32 * g) * columns,)
        size = (*size[:-1], size[-1] * f.bits // 8)
        dtype = np.uint8 if tiled else np.float32
        return np.zeros(size, np.uint8), np.zeros(1 << 16, dtype)

    out = np.full((g, n, k), 7, np.float32)
    result = gq.compile(text, cache_dir="")(a, b, offsets, *room(n), *room(k), out)
    for e, (begin, end) in enumerate(zip(offsets, offsets[1:])):
        exact = a[begin:end].T.astype(np.float64) @ b[begin:end]
        quantized = []
        for x in a[begin:end], b[begin:end]:
            c, s = oracle.quantize_columns(x, fmt)
            c = c if f.transposes else c.T
            quantized.append(oracle.dequantize_codes(c, s, fmt))
        np.testing.assert_allclose(result[e], quantized[0] @ quantized[1].T, 1e-6, 1e-9)
        assert np.linalg.norm(result[e] - exact) <= 0.25 * np.linalg.norm(exact)


@pytest.mark.parametrize("pair", [("mxfp8_e4m3", "mxfp4"), ("f8E4M3FN", "f8E4M3FN")])
def test_rows_apart(pair):
    rng = np.random.default_rng(0)
    p = problem(rng, pair, [70, 3], 64, 32)
    contiguous = p.run().copy()
    p.check(contiguous)
    apart = dict(p.operands)
    for name in "a", "b":
        x = p.operands[name]
        wide = np.full((len(x), x.shape[1] + 3), 0x7F, x.dtype)
        apart[name] = wide[:, 2:-1]
        apart[name][:] = x
    apart["out"][:] = 7
    runtime.grouped_wgrad(apart, p.elements(), *p.numbers())
    np.testing.assert_array_equal(apart["out"], contiguous)


WRONG = {
    "a": (lambda a: a[:-1].copy(), r"a has 4094 elements, too few for the 3 rows of group 1, which begin at 3072"),
    "a_scales": (lambda s: s[:-1].copy(), "a_scales has 1535 elements, too few for group 1, which ends at 1536"),
    "b_scales": (lambda s: s[:-512].copy(), "b_scales has 1024 elements, too few for group 1"),
    "offsets": (lambda o: o[:2].copy(), "offsets has 2 entries, expected 3 for the 2 groups of out"),
    "out": (lambda o: np.zeros((2, 24, 32), np.float32), "out has 24 columns of a, expected a positive multiple of the block of 16"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_refuses(name):
    change, message = WRONG[name]
    rng = np.random.default_rng(0)
    sizes = [70, 3]
    p = problem(rng, ("nvfp4", "nvfp4"), sizes, 32, 32, spare=0)
    wrong = dict(p.operands)
    wrong[name] = change(wrong[name])
    with pytest.raises(gq.Error, match=message):
        runtime.grouped_wgrad(wrong, p.elements(), *p.numbers())
    assert (p.out.array.view(np.uint8) == cases.POISON).all()


@pytest.mark.parametrize("value", [2**55, 2**56, 2**62, 2**63 - 1])
def test_huge_offsets(value):
    """Flat data does not say how many rows there are."""
    rng = np.random.default_rng(0)
    # 256 columns: the product with the rows has more than 64 bits.
    p = problem(rng, ("nvfp4", "nvfp4"), [70, 3], 256, 32, index="int64")
    p.operands["offsets"][2] = value
    with pytest.raises(gq.Error, match="a has .* elements, too few|lies beyond") as raised:
        runtime.grouped_wgrad(p.operands, p.elements(), *p.numbers())
    assert raised.value.status == "INVALID_OFFSETS"
    # Rows before the first group take no room.
    p.operands["offsets"][:] = [2**50, 2**50 + 70, 2**50 + 73]
    runtime.grouped_wgrad(p.operands, p.elements(), *p.numbers())
    p.check(p.operands["out"])


def test_overlap():
    rng = np.random.default_rng(0)
    p = problem(rng, ("f8E4M3FN", "f8E4M3FN"), [70, 3], 32, 32)
    arrays = p.operands | {"alpha": p.out.array.reshape(-1)[5:7]}
    elements = p.elements() | {"alpha": "f32"}
    with pytest.raises(gq.Error, match="out is written and overlaps alpha in memory"):
        runtime.grouped_wgrad(arrays, elements, *p.numbers())
    assert (p.out.array.view(np.uint8) == cases.POISON).all()
