# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each array of each function with each defect: refused by name, and nothing runs.

On the CPU, and on a CUDA device of the fake driver, which notes launches.
test/gpu/torch_ops.py has a few of them with tensors of torch.
"""

import copy
import ctypes
import os
import pickle
import re
import subprocess
import sys

import gq
import numpy as np
import pytest
from gq import _arrays, producers

CPU, GPU, ANOTHER, ELSEWHERE = (1, 0), (2, 0), (2, 1), (10, 0)


class Tensor:
    """What has nothing but __dlpack__: the real memory of an Array."""

    def __init__(self, shape, element, device, strides=None, is_freed=False):
        self.shape, self.element, self.device = shape, element, device
        self.strides, self.is_freed = strides, is_freed
        # Twice as much as strides of 2 need; memory of the fake driver is the host's.
        on = GPU if device == GPU and "GQ_CUDA_DRIVER" in os.environ else CPU
        size = 2 * int(np.prod(shape, dtype=np.int64)) + 1
        self.memory = _arrays.allocate((size,), element, on)

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **_):
        pointer = 0 if self.is_freed else self.memory._pointer
        array = _arrays.Array(self.shape, self.element, self.device, pointer, self)
        return _arrays._export(array, strides=self.strides)


class Deleted(Tensor):
    def __dlpack__(self, **_):
        raise RuntimeError("Array has been deleted")


M, N, K, G = 8, 128, 128, 2
F8, SCALE8 = "f8E4M3FN", "f8E8M0FNU"
X, OFFSETS, STARTS = ((M, K), "f32"), ((G + 1,), "i32"), ((G,), "i32")
PER_GROUP = (G,), "f32"
# Of mxfp8_e4m3, whose scales stand in tiles.
CODES, SCALES = ((M, K), F8), ((256, 4), SCALE8)
COLUMNS = ((1024, N), F8), ((4096,), SCALE8)

#: Name: the function, its arrays (shape and element type) and the other arguments.
#: Of arrays in `out`, the name stands for the place.
FUNCTIONS = {
    "grouped_block_quantize": (
        gq.grouped_block_quantize,
        dict(x=X, offsets=OFFSETS, scale_offsets=STARTS, row_indices=((M,), "i32"),
             global_scale=((), "f32")),
        {},
    ),
    "te": (
        gq.grouped_block_quantize,
        dict(x=X, offsets=OFFSETS, outer_amax=PER_GROUP, columnwise_outer_amax=PER_GROUP,
             rng_state=((2,), "i64"), noop_flag=((), "i32")),
        dict(columnwise=True, rowwise=gq.Direction(rounding="stochastic"),
             out=[((M, K // 2), "i8"), ((256, 8), F8), ((K * 64,), "i8"),
                  ((128 * 8 * 2,), F8)]),
    ),
    "nv_grouped_block_quantize": (
        gq.nv_grouped_block_quantize,
        dict(input=X, input_offsets=OFFSETS, output_offsets=STARTS, global_scale=((), "f32")),
        {},
    ),
    "grouped_quantize": (
        gq.grouped_quantize,
        dict(x=X, offsets=OFFSETS, scale=PER_GROUP, noop_flag=((), "i32")), {},
    ),
    "current scaling": (
        gq.grouped_quantize, dict(x=X, offsets=OFFSETS, outer_amax=PER_GROUP), {},
    ),
    "update_scales": (
        gq.update_scales, dict(amax=PER_GROUP, history=((4, G), "f32"), scale=PER_GROUP), {},
    ),
    "group_offsets": (
        gq.group_offsets, dict(counts=((G,), "i64")),
        dict(out=[((G + 1,), "i32"), ((G,), "i32")]),
    ),
    "grouped_amax": (
        gq.grouped_amax, dict(x=X, offsets=OFFSETS, row_indices=((M,), "i64")), {},
    ),
    "grouped_mm": (
        gq.grouped_mm,
        dict(a=CODES, b=((G, N, K), F8), offsets=OFFSETS, a_scales=SCALES,
             b_scales=((G, N, 4), SCALE8), scale_offsets=STARTS, alpha=PER_GROUP,
             row_scales=((M,), "f32"), column_scales=((G, N), "f32"), bias=((G, N), "bf16")),
        dict(format="mxfp8_e4m3"),
    ),
    "grouped_wgrad": (
        gq.grouped_wgrad,
        dict(a=COLUMNS[0], b=COLUMNS[0], a_scales=COLUMNS[1], b_scales=COLUMNS[1],
             offsets=OFFSETS, alpha=PER_GROUP),
        dict(format="mxfp8_e4m3", n=N, k=K),
    ),
    "grouped_dequantize": (
        gq.grouped_dequantize,
        dict(data=((M, K // 2), "i8"), offsets=OFFSETS, scales=((256, 8), F8),
             scale_offsets=STARTS, global_scale=((), "f32")),
        dict(format="nvfp4"),
    ),
    "dequantize fp8": (
        gq.grouped_dequantize,
        dict(data=((M, K), F8), offsets=OFFSETS, scale_inv=PER_GROUP), {},
    ),
    "block_quantize": (gq.block_quantize, dict(x=X, global_scale=((), "f32")), {}),
    "block_dequantize": (
        gq.block_dequantize,
        dict(data=((M, K // 2), "i8"), scales=((M, 8), F8), global_scale=((), "f32")), {},
    ),
    "preprocess_grouped_matmul_sf": (
        gq.preprocess_grouped_matmul_sf,
        dict(scales=((M, 8), F8), offsets=OFFSETS, scale_offsets=STARTS), {},
    ),
}  # fmt: skip

#: Function of FUNCTIONS: its arguments that are words, and the words.
WORDS = {
    "grouped_block_quantize": dict(
        format=gq.FORMATS, recipe=("nvfuser", "te"), scale_layout=("linear", "tile128x4"),
        rows=("all", "grouped"), producer=tuple(producers.NAMES),
        dbias=("bfloat16", "float16", "float32"),
    ),
    "nv_grouped_block_quantize": dict(dtype=("float4_e2m1fn",)),
    "grouped_quantize": dict(
        format=gq.TENSOR_FORMATS, rows=("all", "grouped"), producer=tuple(producers.NAMES),
        dbias=("bfloat16", "float16", "float32"),
    ),
    "update_scales": dict(format=gq.TENSOR_FORMATS, amax_algo=("max", "most_recent")),
    "group_offsets": dict(dtype=("int32", "int64")),
    "grouped_amax": dict(rows=("all", "grouped"), producer=tuple(producers.NAMES)),
    "grouped_mm": dict(
        format=gq.FORMATS, b_format=gq.FORMATS, b_major=("k", "n"),
        out_dtype=("bfloat16", "float16", "float32"), epilogue=tuple(producers.NAMES),
        kernel=("auto", "any", "decode8", "decode16", "tiles32", "tiles64", "tiles128", "tiles256"),
    ),
    "grouped_wgrad": dict(
        format=gq.FORMATS, b_format=gq.FORMATS, out_dtype=("bfloat16", "float16", "float32"),
        kernel=("auto", "any", "decode8", "decode16", "tiles32", "tiles64", "tiles128", "tiles256"),
    ),
    "grouped_dequantize": dict(
        format=gq.FORMATS, recipe=("nvfuser", "te"), scale_layout=("linear", "tile128x4"),
        axis=("rowwise", "columnwise"), outer=("group", "row"),
        out_dtype=("bfloat16", "float16", "float32"),
    ),
    "block_quantize": dict(format=gq.FORMATS),
    "block_dequantize": dict(
        format=gq.FORMATS, out_dtype=("bfloat16", "float16", "float32")
    ),
    "preprocess_grouped_matmul_sf": dict(format=gq.FORMATS),
}  # fmt: skip

#: Defect: what becomes of an array of a shape and a type on a device.
DEFECTS = {
    "another kind of device": lambda s, e, d: Tensor(s, e, ELSEWHERE),
    "the host, or a device": lambda s, e, d: Tensor(s, e, CPU if d == GPU else GPU),
    "another device": lambda s, e, d: Tensor(s, e, ANOTHER),
    "dtype": lambda s, e, d: Tensor(s, "f64", d),
    "another dtype": lambda s, e, d: Tensor(s, "i1" if e != "i8" else "f16", d),
    "rank": lambda s, e, d: Tensor((*s, 1), e, d),
    "a stride of 2": lambda s, e, d: Tensor(s, e, d, strides(s)) if s else None,
    "freed": lambda s, e, d: Tensor(s, e, d, is_freed=True),
    "deleted": lambda s, e, d: Deleted(s, e, d),
    "no array": lambda s, e, d: [1.0],
}


def strides(shape):
    """Of elements that stand two apart."""
    result = [2]
    for extent in reversed(shape[1:]):
        result.insert(0, result[0] * extent)
    return result


def message(name, defect, first):
    """What the error says; an argument on another device than the first is named,
    whichever of the two is wrong."""
    if "device" in defect and name == first and defect != "another kind of device":
        # A place of `out` is named with what belongs there.
        return r"^(\w+: )?\w+(\[\d\] \(\w+\))?: expected .*(, where|, found)"
    return rf"^(\w+: )?{name}: expected "


def arguments(function, device):
    """The function, its arrays and its other arguments, all as they should be."""
    call, arrays, options = FUNCTIONS[function]
    made, options = {n: Tensor(*a, device) for n, a in arrays.items()}, dict(options)
    if "out" in options:
        options["out"] = [_arrays.allocate(*a, device) for a in options["out"]]
    return call, made, options


def refuse(function, name, defect, device):
    """Calls a function with an array that has a defect; what is wrong, or None."""
    arrays = FUNCTIONS[function][1]
    call, made, options = arguments(function, device)
    made[name] = DEFECTS[defect](*arrays[name], device)
    if made[name] is None:
        return None
    first, before = next(iter(arrays)), launched()
    try:
        call(**made, **options)
    except (gq.Error, TypeError) as error:
        if not re.search(message(name, defect, first), str(error)):
            return f"{function}, {name}, {defect}: {error}"
        if isinstance(error, TypeError) != (defect == "no array"):
            return f"{function}, {name}, {defect}: {error!r}"
        if launched() != before:
            return f"{function}, {name}, {defect}: something ran"
        return None
    return f"{function}, {name}, {defect}: no error"


def launched():
    """How many kernels the fake driver was given."""
    if "GQ_CUDA_DRIVER" not in os.environ:
        return 0
    calls = ctypes.CDLL(os.environ["GQ_CUDA_DRIVER"]).fakeCudaCalls
    return calls(b"cuLaunchKernel") + calls(b"cuLaunchKernelEx")


def all_of(function, device):
    """All that is wrong; on a device also that good arguments launch something."""
    arrays = FUNCTIONS[function][1]
    wrong = [
        refuse(function, name, defect, device) for name in arrays for defect in DEFECTS
    ]
    if device == GPU:
        before, (call, made, options) = launched(), arguments(function, device)
        call(**made, **options)
        if launched() == before:
            wrong.append(f"{function}: nothing was launched")
    return [w for w in wrong if w]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_on_the_cpu(function):
    assert all_of(function, CPU) == []


@pytest.mark.parametrize(
    ("function", "name"), [(f, n) for f, names in WORDS.items() for n in names]
)
@pytest.mark.parametrize("value", ["foo", 3])
def test_words(function, name, value):
    """An unknown word is a ValueError that names the argument and lists what there is."""
    call, made, options = arguments(function, CPU)
    with pytest.raises(ValueError, match=f"^INVALID_ARGUMENT: {name}: expected ") as raised:
        call(**made, **{**options, name: value})
    assert isinstance(raised.value, gq.ArgumentError)
    assert str(raised.value).endswith(f", found {value!r}") or name == "dtype"
    for word in WORDS[function][name]:
        assert re.search(rf"\b{word}\b", str(raised.value)), word


@pytest.mark.parametrize(
    ("part", "words"),
    {
        "rounding": ("nearest", "stochastic"),
        "transform": ("none", "hadamard16"),
        "outer": ("group", "row", "column"),
        "four_over_six": ("none", "mae", "mse"),
    }.items(),
)
def test_words_of_directions(part, words):
    with pytest.raises(ValueError, match=f"{part}: expected .*, found 'foo'") as raised:
        gq.Direction(**{part: "foo"})
    assert all(word in str(raised.value) for word in words)
    assert all(getattr(gq.Direction(**{part: word}), part) == word for word in words)


@pytest.mark.parametrize("value", ["16x16", 16, (16,), (16, 16.0)])
def test_blocks_of_directions(value):
    with pytest.raises(ValueError, match="block: expected "):
        gq.Direction(block=value)


@pytest.mark.parametrize("value", [(0, 0), (-1, 16)])
def test_blocks_that_are_empty(value):
    with pytest.raises(gq.ArgumentError, match="block: expected "):
        gq.Direction(block=value)


@pytest.mark.parametrize("value", [-1, 1 << 16, 10**20, 0.5, "1"])
def test_numbers_of_directions(value):
    for name in "signs", "scale_max":
        with pytest.raises(
            gq.ArgumentError, match=f"{name}: expected a whole number from 0 to 65535, found"
        ):
            gq.Direction(**{name: value})


#: Function of FUNCTIONS: its arguments that are whole numbers, and bools.
NUMBERS = {
    "update_scales": ("margin",), "grouped_wgrad": ("n", "k"), "grouped_dequantize": ("columns",),
}  # fmt: skip
FLAGS = {
    "grouped_block_quantize": ("amax", "row_amax"),
    "grouped_quantize": ("rowwise", "columnwise", "amax", "scale_inv"),
    "group_offsets": ("closed", "scale_offsets"),
    "grouped_amax": ("amax", "row_amax", "column_amax", "columnwise_amax"),
}


@pytest.mark.parametrize(("function", "names"), (NUMBERS | FLAGS).items())
def test_numbers_and_flags(function, names):
    """What would be taken for another value is refused: a word is true."""
    kind = "whole number" if function in NUMBERS else "bool"
    for name in names:
        for value in "no", 0.5, 10**30:
            call, made, options = arguments(function, CPU)
            with pytest.raises(
                gq.ArgumentError, match=f"^INVALID_ARGUMENT: {name}: expected a {kind}"
            ):
                call(**made, **{**options, name: value})


def test_a_direction_where_there_is_none():
    """FP8 per tensor has no directions that differ; amaxes have one that is no bool."""
    call, made, _ = arguments("grouped_quantize", CPU)
    with pytest.raises(gq.ArgumentError, match="rowwise: expected a bool, found Direction"):
        call(**made, rowwise=gq.Direction(rounding="stochastic"))
    call, made, _ = arguments("grouped_amax", CPU)
    with pytest.raises(gq.ArgumentError, match="columnwise: expected a Direction"):
        call(**made, columnwise=True)


def test_inputs_and_shapes():
    """Several arrays in an argument."""
    call, made, _ = arguments("grouped_block_quantize", CPU)
    offsets = made["offsets"]
    with pytest.raises(gq.ArgumentError, match="x: expected an array or several, found none"):
        call([], offsets)
    for shapes in (), (offsets,), 5:
        with pytest.raises(gq.ArgumentError, match=r"shapes: expected \(first_dims, last"):
            call(**made, shapes=shapes)


def test_what_is_no_word():
    """Of the functions that take a module."""
    empty = "func.func @main(%x: tensor<1xi8>) -> tensor<1xi8> { return %x : tensor<1xi8> }"
    module = gq.compile(empty)
    for name, call in {
        "mlir_text": lambda: gq.compile(5),
        "target": lambda: gq.compile(empty, target=5),
        "entry": lambda: module.invoke(5, np.zeros(1, np.int8)),
    }.items():
        with pytest.raises(TypeError, match=f"^{name}: expected .*, found int"):
            call()


@pytest.mark.parametrize(
    "error", [gq.Error("COMPILE_ERROR", "a"), gq.Error("INVALID_ARGUMENT", "x: b")]
)
def test_errors_are_copied(error):
    """As an executor of processes does, to raise them in another one."""
    for other in pickle.loads(pickle.dumps(error)), copy.copy(error):
        assert type(other) is type(error) and str(other) == str(error)
        assert (other.status, other.message) == (error.status, error.message)


def test_options_without_a_hash():
    call, made, _ = arguments("grouped_block_quantize", CPU)
    for name in "recipe", "scale_layout", "rows", "producer":
        with pytest.raises(TypeError, match=f"^{name}: expected another kind of value"):
            call(**made, **{name: ["te"]})


@pytest.mark.parametrize("value", ["no", 1, None])
def test_directions_are_bools_or_directions(value):
    call, made, _ = arguments("grouped_block_quantize", CPU)
    with pytest.raises(ValueError, match="columnwise: expected a bool or a Direction"):
        call(**made, columnwise=value)


def test_what_the_verifier_refuses():
    """The op's own constraints have no position in a module that nobody wrote."""
    call, made, _ = arguments("grouped_block_quantize", CPU)
    with pytest.raises(
        gq.ArgumentError,
        match=r"^INVALID_ARGUMENT: grouped_block_quantize: requires 'rng_state' for",
    ):
        call(**made, rowwise=gq.Direction(rounding="stochastic"))


def test_on_a_device():
    fake = os.environ.get("GQ_CUDA_FAKE")
    if fake is None:
        pytest.skip("$GQ_CUDA_FAKE names no driver")
    done = subprocess.run(
        [sys.executable, __file__],
        env={**os.environ, "GQ_CUDA_DRIVER": fake},
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.returncode) == ("", 0), done.stderr


if __name__ == "__main__":
    failures = [w for function in FUNCTIONS for w in all_of(function, GPU)]
    print(*failures, sep="\n", end="" if not failures else "\n")
    sys.exit(bool(failures))
