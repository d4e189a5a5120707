# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random operands through every path, against the oracle."""

import cases
import modules
import numpy as np
import oracle
import values
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

# The largest M that is tried with each K.
ROWS = {16: 700, 48: 700, 64: 700, 208: 700, 1040: 300, 4096: 64, 8208: 20}

ELEMENT = st.sampled_from(list(modules.ELEMENTS))
SEED = st.integers(0, 2**32)


@st.composite
def groups(draw, rows):
    """Groups of at most `rows` rows in all."""
    sizes = st.one_of(
        st.just(0),
        st.sampled_from([1, 127, 128, 129, 256]),
        st.integers(0, 300),
    )
    drawn, left = [], rows
    for size in draw(st.lists(sizes, max_size=12)):
        drawn.append(min(size, left))
        left -= drawn[-1]
    front, back = (min(draw(st.integers(0, 9)), left // 2) for _ in range(2))
    count = len(drawn) + 1
    gap = st.sampled_from([0, 0, 1, 2])
    gaps = draw(st.lists(gap, min_size=count, max_size=count))
    index = draw(st.sampled_from(["int32", "int64"]))
    return values.Groups(front, drawn, back, gaps, index, draw(st.booleans()))


@st.composite
def global_scales(draw, kind, count):
    scale = st.one_of(
        st.floats(2.0**-60, 2.0**60, width=32),
        st.floats(2.0**-3, 2.0**12, width=32),
        st.sampled_from([1, -1, 0, 2.0**-140, 3e38, np.inf, np.nan]),
    )
    if kind is None:
        return None
    if kind == "scalar":
        return np.array(draw(scale), np.float32)
    drawn = draw(st.lists(scale, min_size=count, max_size=count))
    return np.array(drawn, np.float32)


def poison(*shape):
    return np.full(shape, cases.POISON, np.uint8)


def check_quantize(x, g, scale, kind, rows, k, packed):
    """Runs every path on groups `g` of `x`; `k` is K or "?" in the types."""
    t = modules.Types(
        k, modules.element_of(x), modules.index_of(g.offsets), kind, packed
    )
    paths = [(modules.grouped_block_quantize(t, rows), True)]
    if rows == "all" and kind != "group":
        paths += [(modules.separate_ops(t), fusion) for fusion in (True, False)]
    expected = oracle.grouped_block_quantize(
        x,
        g.offsets,
        g.scale_offsets,
        poison(g.m, x.shape[1] // 2),
        poison(g.scale_rows, oracle.tiled_columns(x.shape[1])),
        scale,
        rows,
    )
    for text, fusion in paths:
        actual = modules.quantize(
            text, fusion, x, g.offsets, g.scale_offsets, scale, g.scale_rows
        )
        np.testing.assert_array_equal(actual[0], expected[0])
        np.testing.assert_array_equal(actual[1], expected[1])


@examples(1000)
@given(
    data=st.data(),
    k=st.sampled_from(list(ROWS)),
    static=st.booleans(),
    packed=st.booleans(),
    element=ELEMENT,
    kind=st.sampled_from([None, "scalar", "group"]),
    rows=st.sampled_from(["all", "grouped"]),
    seed=SEED,
)
def test_quantize(data, k, static, packed, element, kind, rows, seed):
    g = data.draw(groups(ROWS[k]), "groups")
    scale = data.draw(global_scales(kind, len(g.sizes)), "global scale")
    rng = np.random.default_rng(seed)
    x = values.matrix(rng, g.m, k, element).astype(modules.ELEMENTS[element])
    check_quantize(x, g, scale, kind, rows, k if static else "?", packed)


def test_many_groups():
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 4, 4096).tolist()
    g = values.Groups(0, sizes, 0, [0] * 4097, "int32", True)
    x = values.matrix(rng, g.m, 64, "bf16").astype(modules.ELEMENTS["bf16"])
    check_quantize(x, g, None, None, "all", 64, False)


def test_large():
    rng = np.random.default_rng(0)
    sizes = rng.multinomial(4096, np.full(128, 1 / 128)).tolist()
    g = values.Groups(0, sizes, 0, [0] * 129, "int32", True)
    x = rng.standard_normal((4096, 4096), np.float32)
    x = x.astype(modules.ELEMENTS["bf16"])
    check_quantize(x, g, np.float32(500), "scalar", "all", 4096, False)


def random_scales(rng, shape):
    """e4m3 codes of scales, all of them but NaN, half of them near 1."""
    near = rng.integers(0x30, 0x40, shape, np.uint8)
    any_of_them = rng.integers(0, 0x7F, shape, np.uint8)
    return np.where(rng.random(shape) < 0.5, near, any_of_them)


def tiled_scales(rng, count, rows, c):
    """Scales of `count` matrices; those in padding are NaN: they must not
    matter."""
    shape = count, oracle.up(rows, 128), oracle.up(c, 4)
    scales = np.empty(shape, np.uint8)
    for matrix in scales:
        tiles = oracle.tile(random_scales(rng, (rows, c)), padding=0x7F)
        matrix[:] = tiles.reshape(matrix.shape)
    return scales


@examples(200)
@given(
    g=groups(200),
    n=st.sampled_from([1, 7, 32, 128, 130]),
    k=st.sampled_from([16, 48, 64, 208, 512]),
    static=st.booleans(),
    packed=st.booleans(),
    out=ELEMENT,
    scaled=st.booleans(),
    seed=SEED,
)
def test_grouped_mm(g, n, k, static, packed, out, scaled, seed):
    """K <= 512, where sums are exact in float64: equality, whatever the order."""
    rng = np.random.default_rng(seed)
    count, c = len(g.sizes), k // 16
    operands = (
        rng.integers(0, 256, (g.m, k // 2), np.uint8),
        rng.integers(0, 256, (count, n, k // 2), np.uint8),
        oracle.preprocess_grouped_matmul_sf(
            random_scales(rng, (g.m, c)),
            g.offsets,
            g.scale_offsets,
            np.full((g.scale_rows, oracle.up(c, 4)), 0x7F, np.uint8),
            padding=0x7F,
        ),
        tiled_scales(rng, count, n, c),
        g.offsets,
        g.scale_offsets,
    )
    alpha = (rng.standard_normal(count) / 512).astype(np.float32)

    t = modules.Types(
        k if static else "?", out, modules.index_of(g.offsets), None, packed
    )
    result = cases.Poisoned((g.m, n), modules.ELEMENTS[out])
    expected = oracle.grouped_mm(*operands, alpha if scaled else None, result.array)
    actual = modules.compiled(modules.grouped_mm(t, out, scaled))(
        *operands, *([alpha] if scaled else []), result.array
    )
    result.check_surroundings()
    np.testing.assert_array_equal(actual, expected)


@examples(50)
@given(g=groups(200), k=st.sampled_from([64, 208]), element=ELEMENT, seed=SEED)
def test_quantize_and_multiply(g, k, element, seed):
    """With fusion on only the rows of groups are quantized: no difference."""
    rng = np.random.default_rng(seed)
    count, n = len(g.sizes), 32
    x = (rng.standard_normal((g.m, k)) * 4).astype(modules.ELEMENTS[element])
    b = rng.integers(0, 256, (count, n, k // 2), np.uint8)
    b_scales = tiled_scales(rng, count, n, k // 16)
    scales = poison(g.scale_rows, oracle.tiled_columns(k))
    out = cases.Poisoned((g.m, n), np.float32)
    a, a_scales = oracle.grouped_block_quantize(
        x, g.offsets, g.scale_offsets, poison(g.m, k // 2), scales
    )
    expected = oracle.grouped_mm(
        a, b, a_scales, b_scales, g.offsets, g.scale_offsets, None, out.array
    )
    t = modules.Types(k, element, modules.index_of(g.offsets))
    text = modules.quantize_and_multiply(t, "f32")
    for fusion in True, False:
        out = cases.Poisoned((g.m, n), np.float32)
        actual = modules.compiled(text, fusion)(
            x, b, b_scales, g.offsets, g.scale_offsets, scales.copy(), out.array
        )
        out.check_surroundings()
        np.testing.assert_array_equal(actual, expected)


@examples(50)
@given(
    g=groups(300),
    k=st.sampled_from([64, 208]),
    element=st.sampled_from(["bf16", "f16"]),
    seed=SEED,
)
def test_producer(g, k, element, seed):
    """silu(gate) * up, quantized: the bytes of quantizing what it computes.

    The activation comes from a function of its own, so that no tolerance for
    its exponential is needed; that it is silu at all is checked with one.
    """
    rng = np.random.default_rng(seed)
    gate, up = (rng.standard_normal((2, g.m, k)) * 4).astype(modules.ELEMENTS[element])
    t = modules.Types(k, element, modules.index_of(g.offsets))
    h = modules.compiled(modules.silu_mul(t, quantize=False))(gate, up)
    exact = gate.astype(float) / (1 + np.exp(-gate.astype(float)))
    exact *= up.astype(float)
    np.testing.assert_allclose(h.astype(float), exact, rtol=2**-8, atol=1e-7)

    expected = oracle.grouped_block_quantize(
        h,
        g.offsets,
        g.scale_offsets,
        poison(g.m, k // 2),
        poison(g.scale_rows, oracle.tiled_columns(k)),
    )
    for fusion in True, False:
        q, s = (cases.Poisoned(e.shape) for e in expected)
        actual = modules.compiled(modules.silu_mul(t, quantize=True), fusion)(
            gate, up, g.offsets, g.scale_offsets, q.array, s.array
        )
        q.check_surroundings()
        s.check_surroundings()
        np.testing.assert_array_equal(actual[0], expected[0])
        np.testing.assert_array_equal(actual[1].view(np.uint8), expected[1])
