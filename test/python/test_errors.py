# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is wrong is refused: the status, a message that names the culprit, and
outputs as they were."""

import cases
import gq
import hostile
import ml_dtypes
import modules
import numpy as np
import oracle
import pytest

M, K = 300, 64


def function(build=modules.grouped_block_quantize, index=np.int32):
    return build(modules.Types(K, "f32", f"i{8 * np.dtype(index).itemsize}"))


class Call:
    """The arguments of a call that is right, to be made wrong."""

    NAMES = ["x", "offsets", "scale_offsets", "data", "scales"]

    def __init__(self, index=np.int32):
        rng = np.random.default_rng(0)
        self.x = rng.standard_normal((M, K)).astype(np.float32)
        self.offsets = np.array([0, 100, 200, 300], index)
        self.scale_offsets = np.array([0, 128, 256], index)
        self.data = np.full((M, K // 2), cases.POISON, np.uint8)
        self.scales = np.full((384, 4), cases.POISON, np.uint8)

    def run(self, text, fusion=True):
        arrays = [getattr(self, name) for name in self.NAMES]
        return modules.compiled(text, fusion)(*arrays)

    def succeeds(self, text):
        expected = oracle.grouped_block_quantize(*vars(self).values())
        data, scales = self.run(text)
        np.testing.assert_array_equal(data, expected[0])
        np.testing.assert_array_equal(scales.view(np.uint8), expected[1])

    def fails(self, text, status, message, fusion=True):
        with pytest.raises(gq.Error, match=message) as raised:
            self.run(text, fusion)
        assert raised.value.status == status
        assert (self.scales.view(np.uint8) == cases.POISON).all()
        assert (self.data.view(np.uint8) == cases.POISON).all()


OFFSETS = [
    ("offsets", [-1, 100, 200, 300], r"\boffsets\[0\] = -1 is negative"),
    ("offsets", [0, 100, 99, 300], r"\boffsets\[2\] = 99\b"),
    ("offsets", [0, 100, 200, 199], r"\boffsets\[3\] = 199\b"),
    ("offsets", [0, 100, 200, 301], r"\boffsets\[3\] = 301\b"),
    ("offsets", [0, 100, 301], r"\boffsets\[2\] = 301\b"),
    ("offsets", [0, 0, 0, 2**31 - 1], r"\boffsets\[3\] = 2147483647\b"),
    ("scale_offsets", [0, 129, 384], r"scale_offsets\[1\] = 129\b"),
    ("scale_offsets", [0, 192, 320], r"scale_offsets\[1\] = 192\b"),
    ("scale_offsets", [-128, 0, 128], r"scale_offsets\[0\] = -128 is negative"),
    ("scale_offsets", [0, 0, 128], r"scale_offsets\[1\] = 0 overlaps"),
    ("scale_offsets", [0, 256, 128], r"scale_offsets\[2\] = 128 overlaps"),
    ("scale_offsets", [0, 128, 384], r"scale_offsets\[2\] = 384\b"),
    ("scale_offsets", [0, 128, 2**31 - 128], r"scale_offsets\[2\] = 2147483520"),
]


@pytest.mark.parametrize("build", [
    modules.grouped_block_quantize,
    modules.separate_ops,
])  # fmt: skip
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("name, contents, message", OFFSETS)
def test_offsets(build, index, name, contents, message):
    text = function(build, index)
    wrong = Call(index)
    setattr(wrong, name, np.array(contents, index))
    wrong.fails(text, "INVALID_OFFSETS", message)
    Call(index).succeeds(text)


@pytest.mark.parametrize("build", [
    modules.grouped_block_quantize,
    modules.separate_ops,
])  # fmt: skip
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("name", hostile.OF_ROWS)
def test_hostile_offsets(build, index, name):
    text = function(build, index)
    call = Call(index)
    rng = np.random.default_rng(0)
    call.x = rng.standard_normal((hostile.ROWS, K)).astype(np.float32)
    call.offsets, call.scale_offsets = hostile.offsets(name, index)
    call.data = np.full((hostile.ROWS, K // 2), cases.POISON, np.uint8)
    call.scales = np.full((hostile.SCALE_ROWS, 4), cases.POISON, np.uint8)
    if hostile.CASES[name]:
        call.fails(text, "INVALID_OFFSETS", r"offsets\[")
    else:
        call.succeeds(text)


def test_without_fusion_the_first_op_has_run_when_the_second_fails():
    wrong = Call()
    wrong.offsets[2] = 99
    with pytest.raises(gq.Error, match="preprocess_grouped_matmul_sf: offsets"):
        wrong.run(function(modules.separate_ops), fusion=False)
    assert (wrong.data != cases.POISON).any()
    assert (wrong.scales == cases.POISON).all()


def test_the_op_after_one_that_fails_does_not_run():
    wrong = Call()
    wrong.data = wrong.data[:-1]
    text = function(modules.separate_ops)
    wrong.fails(text, "INVALID_ARGUMENT", "block_quantize: data", False)


@pytest.mark.parametrize("value", [2**31, 2**62, 2**63 - 128, -(2**63)])
def test_offsets_of_64_bits(value):
    for name in "offsets", "scale_offsets":
        wrong = Call(np.int64)
        getattr(wrong, name)[2] = value
        message = rf"\b{name}\[2\] = {value}\b"
        wrong.fails(function(index=np.int64), "INVALID_OFFSETS", message)


def test_offsets_of_a_matmul():
    text = modules.grouped_mm(modules.Types(K, "f32"), "f32", alpha=False)
    c = Call()
    a, b = np.zeros((M, K // 2), "u1"), np.zeros((3, 8, K // 2), "u1")
    b_scales = np.zeros((3, 128, 4), "u1")
    out = np.full((M, 8), 7, np.float32)
    c.offsets[1] = 201
    with pytest.raises(gq.Error, match=r"\boffsets\[2\] = 200\b") as raised:
        modules.compiled(text)(
            a, b, c.scales, b_scales, c.offsets, c.scale_offsets, out
        )
    assert raised.value.status == "INVALID_OFFSETS"
    assert (out == 7).all()


def read_only(array):
    array.flags.writeable = False
    return array


ARGUMENTS = {
    "dtype of x": (0, "x", lambda x: x.astype(np.float64)),
    "bf16 as x": (0, "x", lambda x: x.astype(ml_dtypes.bfloat16)),
    "int32 as x": (0, "x", lambda x: x.view(np.int32)),
    "byte order of x": (0, "x", lambda x: x.astype(">f4")),
    "rank of x": (0, "x", lambda x: x.reshape(-1)),
    "columns of x": (0, "x", lambda x: np.ascontiguousarray(x[:, :48])),
    "strides of x": (0, "x", lambda x: np.repeat(x, 2, 0)[::2]),
    "dtype of offsets": (1, "offsets", lambda o: o.astype(np.int64)),
    "sign of offsets": (1, "offsets", lambda o: o.view(np.uint32)),
    "dtype of scale_offsets": (2, "scale_offsets", lambda o: o.astype("f4")),
    "rank of scale_offsets": (2, "scale_offsets", lambda o: o[:, None]),
    "codes of data": (3, "data", lambda d: d.view(ml_dtypes.float4_e2m1fn)),
    "columns of data": (3, "data", lambda d: d[:, :16].copy()),
    "strides of data": (3, "data", lambda d: d[::-1]),
    "read-only data": (3, "data", read_only),
    "dtype of scales": (4, "scales", lambda s: s.view(ml_dtypes.float8_e5m2)),
    "columns of scales": (4, "scales", lambda s: s.reshape(128, 12)),
}


@pytest.mark.parametrize("what", ARGUMENTS)
def test_arguments(what):
    number, name, change = ARGUMENTS[what]
    wrong = Call()
    setattr(wrong, name, change(getattr(wrong, name)))
    wrong.fails(function(), "INVALID_ARGUMENT", rf"argument {number}: ")


def test_overlap():
    """Offsets that were checked would be replaced while they are used."""
    types = f"tensor<?x{K // 2}xi8>, tensor<?x4xf8E4M3FN, #gq.tile128x4>"
    text = f"""
      func.func @main(%x: tensor<?x{K}xf32>, %o: tensor<?xi32>,
          %q0: tensor<?x{K // 2}xi8>,
          %t0: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %so0: tensor<?xi32>)
          -> ({types}, tensor<?xi32>) {{
        %q, %t, %so = gq.grouped_block_quantize format(nvfp4)
            ins(%x : tensor<?x{K}xf32>) groups(%o : tensor<?xi32>)
            outs(%q0, %t0 : {types}) scale_offsets_out(%so0 : tensor<?xi32>)
            -> {types}, tensor<?xi32>
        return %q, %t, %so : {types}, tensor<?xi32>
      }}"""
    rows = 4096
    memory = np.array([0, rows // 2, rows], np.int32)
    data = np.full((rows, K // 2), cases.POISON, np.uint8)
    scales = np.full((rows + 256, 4), cases.POISON, np.uint8)
    x = np.zeros((rows, K), np.float32)
    quantize = modules.compiled(text)
    message = "argument 4 is written and overlaps argument 1 in memory"
    with pytest.raises(gq.Error, match=message) as raised:
        quantize(x, memory, data, scales, memory[1:])
    assert raised.value.status == "INVALID_ARGUMENT"
    assert (data == cases.POISON).all() and (scales == cases.POISON).all()
    assert quantize.signature().written == (False, False, True, True, True)


# What only the op can see, because the function's extents are dynamic.
OPERANDS = {
    "offsets": lambda o: o[:2].copy(),
    "data": lambda d: d[:-1].copy(),
    "scales": lambda s: s[:-1].copy(),
}


@pytest.mark.parametrize("name", OPERANDS)
def test_operands(name):
    wrong = Call()
    setattr(wrong, name, OPERANDS[name](getattr(wrong, name)))
    wrong.fails(function(), "INVALID_ARGUMENT", rf"\b{name} has ")


@pytest.mark.parametrize("count", [0, 4, 6])
def test_number_of_arguments(count):
    arrays = [getattr(Call(), name) for name in Call.NAMES] * 2
    message = f"takes 5 arguments, found {count}"
    with pytest.raises(gq.Error, match=message) as raised:
        modules.compiled(function())(*arrays[:count])
    assert raised.value.status == "INVALID_ARGUMENT"


def test_no_array():
    arrays = [getattr(Call(), name) for name in Call.NAMES]
    with pytest.raises(TypeError, match="argument 1: .* list"):
        modules.compiled(function())(arrays[0], [0, 300], *arrays[2:])


@pytest.mark.parametrize("entry", [None, "c"])
def test_entry(entry):
    text = "func.func @a() { return } func.func @b() { return }"
    for call in modules.compiled(text).signature, modules.compiled(text).invoke:
        with pytest.raises(gq.Error, match=r"\ba\b.*\bb\b") as raised:
            call(entry)
        assert raised.value.status == "INVALID_ARGUMENT"


@pytest.mark.parametrize("text, message", [
    ("", "^COMPILE_ERROR: the module has no public function$"),
    ("func.func @f(", "^COMPILE_ERROR: <mlir>:1:13: error: expected"),
    ("func.func @f() {\n  return %nothing : i32 }",
     "^COMPILE_ERROR: <mlir>:2:10: error: .*undeclared"),
    (function().replace("xf4E2M1FN>", "xf32>"), "f4E2M1FN"),
    (function().replace(f"{K}xf4", f"{2 * K}xf4"), "grouped_block_quantize"),
    (function().replace("nvfp4", "nvfp5"), "nvfp5|nvfp4"),
    ("func.func @f() { gq.nothing return }", "unknown.*gq.nothing|gq.nothing.*unknown"),
])  # fmt: skip
def test_compile_error(text, message):
    with pytest.raises(gq.Error, match=message) as raised:
        gq.compile(text, cache_dir="")
    assert raised.value.status == "COMPILE_ERROR"


def test_target():
    with pytest.raises(gq.Error, match="'abacus'.*cpu") as raised:
        gq.compile(function(), target="abacus")
    assert raised.value.status == "INVALID_ARGUMENT"
