# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gq.grouped_mm in every pair of formats, with all that a result can have."""

import dataclasses

import cases
import epilogues
import golden
import gq
import make_golden
import matmul
import modules
import numpy as np
import oracle
import pytest
import runtime
import values
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

PAIRS = matmul.pairs(one_row=True)
FACTORS = ["alpha", "row_scales", "column_scales"]


@dataclasses.dataclass
class Problem(matmul.Problem):
    epilogue: epilogues.Epilogue | None = None

    OP = "gq.grouped_mm"
    CLAUSES = {
        "ins": ["a", "b"],
        "scales": ["a_scales", "b_scales"],
        "groups": ["offsets", "scale_offsets"],
        **{name: [name] for name in [*FACTORS, "bias"]},
        "outs": ["out"],
    }

    def expected(self):
        """The least and the largest right results."""
        o = {name: self.operands.get(name) for name in runtime.MM_OPERANDS}
        options = {n: o[n] for n in ("row_scales", "column_scales", "bias")}
        product = self.out.array
        if self.epilogue:
            n = product.shape[1] * (2 if self.epilogue.pairs else 1)
            product = np.zeros((len(product), n), modules.ELEMENTS[self.epilogue.product])
        return oracle.grouped_mm_bounds(
            *(o[n] for n in runtime.MM_OPERANDS[:7]), product, **options,
            fmt=self.fmt, b_format=self.b_format, b_major="n" if self._is_major_n() else "k",
            precision=self.precision,
        )  # fmt: skip

    def _is_major_n(self):
        return "b_major(n)" in self.attributes

    def numbers(self):
        return *super().numbers(), int(self._is_major_n())

    def check(self, actual):
        """`actual` is right, to the bit where no rounding of sums shows."""
        self.out.check_surroundings()
        grouped = np.zeros(len(actual), bool)
        for begin, end in oracle.group_ranges(
            len(actual), self.operands["offsets"], self.operands.get("scale_offsets")
        ):
            grouped[begin:end] = True
        low, high = self.expected()
        if self.epilogue:
            low, high, any_value = self.epilogue.bounds(low, high, actual.dtype)
            right = matmul.is_right(actual, low, high) | any_value
        else:
            right = matmul.is_right(actual, low, high)
        assert right[grouped].all()
        assert (stored_bytes(actual[~grouped]) == cases.POISON).all()


def stored_bytes(array):
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def has_major(fmt):
    """Whether weights may have N innermost: columnwise data is not transposed."""
    return fmt not in oracle.FORMATS or not oracle.FORMATS[fmt].transposes


def problem(
    rng, pair, g, n, k, out="f32", factors=(), bias=None, wide=False, major="k",
    epilogue=None, kernel=None,
):  # fmt: skip
    """A problem of random operands over the groups `g`."""
    fmt, b_format = pair
    count, operands = len(g.sizes), {}
    operands["a"] = matmul.codes(rng, (g.m, k), fmt)
    shape = (count, k, n) if major == "n" else (count, n, k)
    operands["b"] = matmul.codes(rng, shape, b_format)
    offsets = g.offsets
    f, bf = (oracle.FORMATS.get(x) for x in pair)
    if f:
        c = k // f.block[1]
        linear = matmul.scales(rng, (g.m, c), fmt, wide)
        shape = count, -(-n // bf.block[0]), c
        b_linear = matmul.scales(rng, shape, b_format, wide)
    if f and f.scale != "f32":
        # What pads tiles is NaN: it must not matter.
        nan = matmul.nan_scale(fmt)
        tiles = np.full((g.scale_rows, oracle.up(c, 4)), nan, np.uint8)
        operands["a_scales"] = oracle.preprocess_grouped_matmul_sf(
            linear, offsets, g.scale_offsets, tiles, padding=nan
        )
        operands["b_scales"] = np.stack(
            [oracle.tile(x, nan).reshape(-1, oracle.up(c, 4)) for x in b_linear]
        ) if count else np.zeros((0, oracle.up(n, 128), oracle.up(c, 4)), np.uint8)  # fmt: skip
        operands["offsets"] = offsets
        operands["scale_offsets"] = g.scale_offsets
    else:
        if f:
            operands["a_scales"], operands["b_scales"] = linear, b_linear
        if not g.closed:
            offsets = np.append(offsets, offsets.dtype.type(g.m))
        operands["offsets"] = offsets
    shapes = {"alpha": (count,), "row_scales": (g.m,), "column_scales": (count, n)}
    for name in factors:
        operands[name] = rng.standard_normal(shapes[name]).astype(np.float32)
    if bias:
        operands["bias"] = (rng.standard_normal((count, n)) * 64).astype(
            modules.ELEMENTS[bias]
        )
    pairs = epilogue and epilogue.pairs
    result = cases.Poisoned((g.m, n // 2 if pairs else n), modules.ELEMENTS[out])
    operands["out"] = result.array
    operands = {n: operands[n] for n in runtime.MM_OPERANDS if n in operands}
    attributes = "b_major(n)" if major == "n" else ""
    attributes += f" kernel({kernel})" if kernel else ""
    attributes += f" pairs({pairs})" if pairs else ""
    region = epilogue.region(out) if epilogue else ""
    return Problem(fmt, b_format, operands, result, attributes, region, epilogue=epilogue)


def groups(sizes, **options):
    arguments = {"front": 2, "back": 3, "gaps": [0, 1] * len(sizes), "index": "int32"}
    arguments |= {"closed": True, **options}
    arguments["gaps"] = arguments["gaps"][: len(sizes) + 1]
    return values.Groups(arguments.pop("front"), sizes, **arguments)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: "-".join(pair))
@pytest.mark.parametrize("packed", [False, True])
def test_formats(pair, packed):
    """More than a tile of rows, of columns and of K; blocks cut off at N."""
    rng = np.random.default_rng(0)
    p = problem(rng, pair, groups([70, 0, 1, 130]), n=150, k=384)
    p.check(p.run(packed=packed, static=packed))


@pytest.mark.parametrize(
    "pair", [p for p in PAIRS if has_major(p[1])], ids=lambda pair: "-".join(pair)
)
@pytest.mark.parametrize("packed", [False, True])
def test_major(pair, packed):
    """Weights [G, K, N]. N of 4 bits is even, since two share a byte."""
    rng = np.random.default_rng(0)
    p = problem(rng, pair, groups([70, 0, 1, 130]), n=150, k=384, major="n")
    p.check(p.run(packed=packed, static=packed))


EPILOGUES = [
    epilogues.Epilogue(pairs, product)
    for pairs in (None, "interleaved", "halves")
    for product in modules.ELEMENTS
]


@pytest.mark.parametrize("epilogue", EPILOGUES, ids=lambda e: f"{e.pairs}-{e.product}")
@pytest.mark.parametrize("out", modules.ELEMENTS)
@pytest.mark.parametrize("static", [True, False])
def test_epilogue(epilogue, out, static):
    """The bytes of two ops: one that multiplies, and one that computes the rest."""
    rng = np.random.default_rng(0)
    g = groups([70, 0, 1, 130])
    options = {"n": 150, "k": 64, "factors": FACTORS, "bias": "bf16"}
    p = problem(rng, ("nvfp4", "nvfp4"), g, out=out, epilogue=epilogue, **options)
    actual = p.run(static=static)
    p.check(actual)
    product = cases.Poisoned((g.m, 150), modules.ELEMENTS[epilogue.product])
    plain = Problem("nvfp4", "nvfp4", p.operands | {"out": product.array}, product)
    c = plain.run()
    plain.check(c)
    columns = epilogue.columns(c) if epilogue.pairs else (c,)
    with np.errstate(over="ignore"):
        expected = epilogue.apply(*columns).astype(actual.dtype)
    actual, expected = (x[2:-3].astype(np.float32) for x in (actual, expected))
    np.testing.assert_array_equal(actual, expected)


@st.composite
def drawn_groups(draw):
    sizes = st.one_of(st.just(0), st.sampled_from([1, 64, 65, 128, 129]), st.integers(0, 90))
    drawn = draw(st.lists(sizes, max_size=6))
    front, back = draw(st.integers(0, 5)), draw(st.integers(0, 5))
    gaps = draw(st.lists(st.integers(0, 1), min_size=len(drawn) + 1, max_size=len(drawn) + 1))
    index = draw(st.sampled_from(["int32", "int64"]))
    return values.Groups(front, drawn, back, gaps, index, draw(st.booleans()))


ELEMENT = st.sampled_from(list(modules.ELEMENTS))


@examples(250)
@given(
    pair=st.sampled_from(PAIRS),
    g=drawn_groups(),
    n=st.sampled_from([1, 3, 64, 65, 128, 130, 300]),
    blocks=st.integers(1, 5),
    extra=st.integers(0, 15),
    out=ELEMENT,
    factors=st.sets(st.sampled_from(FACTORS)),
    bias=st.none() | ELEMENT,
    wide=st.booleans(),
    packed=st.booleans(),
    static=st.booleans(),
    major=st.sampled_from("kn"),
    epilogue=st.none() | st.sampled_from(EPILOGUES),
    seed=st.integers(0, 2**32),
)
def test_random(
    pair, g, n, blocks, extra, out, factors, bias, wide, packed, static, major,
    epilogue, seed,
):  # fmt: skip
    f = oracle.FORMATS.get(pair[0])
    k = f.block[1] * blocks if f else 16 * blocks - extra
    rng = np.random.default_rng(seed)
    factors = [name for name in FACTORS if name in factors]
    if not has_major(pair[1]):
        major = "k"
    elif major == "n" and pair[1] == "mxfp4":
        n += n % 2
    if epilogue and epilogue.pairs:
        n += n % 2
    p = problem(rng, pair, g, n, k, out, factors, bias, wide, major, epilogue)
    p.check(p.run(packed=packed, static=static))


@pytest.mark.parametrize("pair", [("mxfp8_e4m3", "mxfp8_e5m2"), ("mxfp4", "mxfp8_e4m3")])
def test_ends_of_the_exponent_range(pair):
    """The largest scale times the smallest is 1; neither overflows before."""
    rng = np.random.default_rng(0)
    p = problem(rng, pair, groups([9], front=0, back=0, gaps=[0, 0]), n=8, k=64)
    p.operands["a_scales"][:] = 254
    p.operands["b_scales"][:] = 0
    result = p.run()
    assert np.isfinite(result).all() and (result != 0).any()
    p.check(result)
    p.operands["b_scales"][:] = 254  # 2^254: beyond float32, not float64
    result = p.run()
    assert np.isinf(result).any()
    p.check(result)


@pytest.mark.parametrize("pair", [
    ("mxfp8_e4m3", "mxfp4"), ("fp8_e4m3_1x128", "fp8_e4m3_128x128"),
    ("f8E4M3FN", "f8E5M2"),
])  # fmt: skip
def test_nan_stays_in_its_row_and_column(pair):
    rng = np.random.default_rng(0)
    p = problem(rng, pair, groups([70, 66], front=0, back=0, gaps=[0, 0, 0]), n=130, k=256)
    p.operands["a"][75, 100] = 0x7F
    scales = p.operands.get("b_scales")
    if scales is None:
        p.operands["b"][1, 129, 5] = 0xFE  # NaN in f8E5M2
        columns = [129]
    elif scales.dtype == np.float32:
        scales[1, 1, 1] = np.nan  # of columns 128 and 129
        columns = [128, 129]
    else:
        scales[1].reshape(-1)[128 * 8] = 255  # of row 128
        columns = [128]
    result = p.run()
    expected = np.zeros((136, 130), bool)
    expected[75] = True
    expected[70:, columns] = True
    np.testing.assert_array_equal(np.isnan(result), expected)
    p.check(result)


@pytest.mark.parametrize("out, half", [("bf16", 2.0**-8), ("f16", 2.0**-11)])
def test_bias_is_added_before_the_rounding(out, half):
    """1 + half a unit + a bit that float32 loses behind 1: one rounding, up."""
    one = np.full((1, 1), 0x38, np.uint8)
    for off, expected in (2.0**-30, 1 + 2 * half), (0, 1), (-(2.0**-30), 1):
        operands = {
            "a": one,
            "b": one[None],
            "offsets": np.int32([0, 1]),
            "bias": np.float32([[half + off]]),
        }
        result = cases.Poisoned((1, 1), modules.ELEMENTS[out])
        operands["out"] = result.array
        p = Problem("f8E4M3FN", "f8E4M3FN", operands, result)
        assert p.run().astype(float).item() == expected


@pytest.mark.parametrize("pair", [("nvfp4", "nvfp4"), ("fp8_e4m3_1x128", "fp8_e5m2_128x128")])
def test_rows_apart(pair):
    """Rows of a, out and linear scales that are not next to each other."""
    rng = np.random.default_rng(0)
    p = problem(rng, pair, groups([70, 3]), n=70, k=256, factors=FACTORS, bias="bf16")
    contiguous = p.run().copy()
    p.check(contiguous)
    apart = dict(p.operands)
    linear = p.operands["a_scales"].dtype == np.float32
    for name in ["a", "out"] + ["a_scales"] * linear:
        x = p.operands[name]
        wide = np.full((len(x), x.shape[1] + 3), 7, x.dtype)
        apart[name] = wide[:, 2:-1]
        apart[name][:] = x
    apart["out"][:] = 7
    runtime.grouped_mm(apart, p.elements(), *p.numbers())
    assert (apart["out"].base[:, [0, 1, -1]] == 7).all()
    np.testing.assert_array_equal(apart["out"][2:-3], contiguous[2:-3])
    assert (apart["out"][[0, 1, -3, -2, -1]] == 7).all()


WRONG = {
    "a_scales": (lambda o: o.pop("a_scales"), "expected a_scales with a format"),
    "b_scales": (
        lambda o: o.update(b_scales=o["b_scales"][:, :1].copy()),
        r"b_scales has shape \[2, 1, 2\], expected \[2, 2, 2\] = \[G, up\(N, block\)",
    ),
    "row_scales": (
        lambda o: o.update(row_scales=np.zeros(5, "f4")),
        r"row_scales has shape \[5\], expected \[78\] = \[M\]",
    ),
    "column_scales": (
        lambda o: o.update(column_scales=np.zeros((2, 5), "f4")),
        r"column_scales has shape \[2, 5\], expected \[2, 150\] = \[G, N\]",
    ),
    "bias": (
        lambda o: o.update(bias=np.zeros((3, 150), "f4")),
        r"bias has shape \[3, 150\], expected \[2, 150\] = \[G, N\]",
    ),
    "scale_offsets": (
        lambda o: o.update(scale_offsets=np.zeros(2, "i4")),
        "expected no scale_offsets without scales in tile128x4",
    ),
    "offsets": (
        lambda o: o.update(offsets=o["offsets"][:2].copy()),
        r"b has shape \[2, 150, 256\], expected \[1, 150, 256\]",
    ),
    "a": (
        lambda o: o.update(a=o["a"][:, :200].copy()),
        "a has K = 200 columns, expected a positive multiple of the block of 128",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_refuses(name):
    """What only the runtime can see."""
    change, message = WRONG[name]
    rng = np.random.default_rng(0)
    pair = "fp8_e4m3_1x128", "fp8_e4m3_128x128"
    p = problem(rng, pair, groups([70, 3]), n=150, k=256)
    wrong = dict(p.operands)
    change(wrong)
    with pytest.raises(gq.Error, match=message):
        elements = dataclasses.replace(p, operands=wrong).elements()
        runtime.grouped_mm(wrong, elements, *p.numbers())
    assert (stored_bytes(p.out.array) == cases.POISON).all()


@pytest.mark.parametrize("formats, layout, major, message", [
    ((3, 8), 1, 0, "format 8 is unknown, expected 0 to 7"),
    ((-1, 3), 1, 0, "format -1 is unknown"),
    ((3, -1), 1, 0, "format -1 is unknown"),
    ((5, 5), 0, 0, "format fp8_e4m3_128x128 has blocks of several rows"),
    ((4, 5), 1, 0, "scale_layout 1 is not supported, expected linear"),
    ((3, 2), 0, 0, "scale_layout 0 is not supported, expected tile128x4"),
    ((0, 2), 1, 0, "formats nvfp4 and mxfp8_e4m3 do not have the same scale rule"),
    ((0, 0), 1, 1, "format nvfp4 has K innermost in b, b_major must be k"),
    ((2, 2), 1, 2, "b_major 2 is unknown"),
])  # fmt: skip
def test_refuses_formats(formats, layout, major, message):
    rng = np.random.default_rng(0)
    p = problem(rng, ("nvfp4", "nvfp4"), groups([70, 3]), n=150, k=256)
    with pytest.raises(gq.Error, match=message):
        runtime.grouped_mm(p.operands, p.elements(), *formats, layout, major)


def test_quantized_operands():
    """What the op reads is what gq.grouped_block_quantize writes."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((73, 256)).astype(np.float32)
    w = rng.standard_normal((2, 150, 256)).astype(np.float32)
    offsets = np.int32([0, 70, 73])
    exact = np.concatenate([x[:70] @ w[0].T, x[70:] @ w[1].T])
    for pair in PAIRS:
        if pair[0] not in oracle.FORMATS:
            continue
        g = values.Groups(0, [70, 3], 0, [0, 0, 0], "int32", True)
        p = problem(rng, pair, g, n=150, k=256)
        quantized, linear = oracle.quantize_rows(x, pair[0])
        p.operands["a"][:] = oracle.stored(quantized, pair[0])
        if oracle.FORMATS[pair[0]].scale == "f32":
            p.operands["a_scales"][:] = linear
        else:
            p.operands["a_scales"] = oracle.preprocess_grouped_matmul_sf(
                linear, offsets, g.scale_offsets, p.operands["a_scales"]
            )
        for e in range(2):
            quantized, linear = oracle.quantize_rows(w[e], pair[1])
            p.operands["b"][e] = oracle.stored(quantized, pair[1])
            flat = p.operands["b_scales"][e].reshape(-1)
            flat[:] = linear.reshape(-1) if linear.dtype == np.float32 else oracle.tile(linear)
        result = p.run()
        p.check(result)
        error = np.linalg.norm(result - exact) / np.linalg.norm(exact)
        four_bits = [oracle.FORMATS[f].bits == 4 for f in pair]
        e5m2 = ["e5m2" in f for f in pair]
        assert error < (0.2 if any(four_bits) else 0.1 if any(e5m2) else 0.05), pair


@pytest.mark.parametrize("name", ["alpha", "row_scales", "column_scales", "bias"])
def test_overlap(name):
    rng = np.random.default_rng(0)
    g = groups([70, 3])
    p = problem(rng, ("f8E4M3FN", "f8E4M3FN"), g, n=32, k=32)
    shape = {"alpha": (2,), "row_scales": (g.m,)}.get(name, (2, 32))
    inside = p.out.array.reshape(-1)[5 : 5 + int(np.prod(shape))].reshape(shape)
    message = f"out is written and overlaps {name} in memory"
    with pytest.raises(gq.Error, match=message):
        runtime.grouped_mm(
            p.operands | {name: inside}, p.elements() | {name: "f32"}, *p.numbers()
        )
    assert (stored_bytes(p.out.array) == cases.POISON).all()


@pytest.mark.parametrize("out", modules.ELEMENTS)
@pytest.mark.parametrize("case", make_golden.CASES)
def test_golden(case, out):
    """Sums in float64 are rounded, in an order that is not that of the golden data."""
    (fmt, b_format, _, _), c = make_golden.CASES[case], golden.load(case)
    result = cases.Poisoned(c["out"].shape, modules.ELEMENTS[out])
    named = {
        "a": c["data"], "b": c["b_data"], "a_scales": c["scales"],
        "b_scales": c["b_scales"], "offsets": c["offsets"],
        "scale_offsets": c.get("scale_offsets"), "alpha": c["alpha"], "out": result.array,
    }  # fmt: skip
    operands = {name: x for name, x in named.items() if x is not None}
    actual = Problem(fmt, b_format, operands, result).run()
    result.check_surroundings()
    bits = {"f32": 23, "f16": 10, "bf16": 7}[out]
    np.testing.assert_allclose(
        actual.astype(np.float64), c["out"], rtol=2.0 ** -(bits + 1), atol=2**-25
    )


@pytest.mark.parametrize("case", make_golden.CASES)
def test_golden_is_current(case):
    made, c = make_golden.arrays(case), golden.load(case)
    assert made.keys() == c.keys()
    for name in made:
        np.testing.assert_array_equal(made[name], c[name])
