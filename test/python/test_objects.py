# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keys of tensors in tuples, and calls by addresses (gq/Runtime/Objects.h)."""

import ctypes

import gq
import numpy as np
import pytest
from gq import _arrays, _call
from gq._library import DLTensor

CODES = {"i": 0, "u": 1, "f": 2}


@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))
def describe(array, tensor):
    """As a framework's exchange API does; objects that are no arrays are errors."""
    t = tensor.contents
    t.data, t.byte_offset = array.ctypes.data - 8, 8
    t.device_type, t.device_id = getattr(array, "device_of_test", (1, 0))
    t.ndim, t.code = array.ndim, CODES[array.dtype.kind]
    t.bits, t.lanes = 8 * array.itemsize, 1
    kept.clear()
    kept.append((ctypes.c_int64 * 8)(*array.shape))
    kept.append((ctypes.c_int64 * 8)(*(s // array.itemsize for s in array.strides)))
    t.shape, t.strides = (ctypes.cast(k, ctypes.POINTER(ctypes.c_int64)) for k in kept)
    return 0


@ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor))
def refuse(array, tensor):
    return -1


kept: list = []


def reader(function):
    address = lambda f: ctypes.cast(f, ctypes.c_void_p).value  # noqa: E731
    api = ctypes.pythonapi
    return _arrays._Reader(
        address(api.PyTuple_GetItem), address(api.PyErr_Clear), address(function), id(None)
    )


READER = reader(describe)


class Elsewhere(np.ndarray):
    device_of_test = (2, 3)


def read(*objects, by=READER, of=None):
    """The key, or None, and the addresses."""
    frame = _arrays.Frame()
    of = objects if of is None else of
    words = _arrays._read_objects(
        ctypes.addressof(by), of, len(of), frame.address, frame.key_address
    )
    return frame.key(words) if words else None, list(frame.addresses[: len(of)])


X = np.zeros((4, 6), np.float32)
#: No two of them are the same arguments.
DIFFERENT = [
    (X,), (X, X), (None, X), (X, None, X), (X[:3],), (X.reshape(6, 4),), (X.reshape(-1),),
    (X.view(np.int32),), (X.view(np.int64),), (np.zeros((), np.float32),),
    (X[:0],), (np.zeros((0, 7), np.float32),), (X.view(Elsewhere),), (X, X.view(Elsewhere)),
]  # fmt: skip


def test_keys():
    keys = [read(*objects)[0] for objects in DIFFERENT]
    assert None not in keys and len(set(keys)) == len(keys)
    again = [read(*(None if a is None else a.copy() for a in o))[0] for o in DIFFERENT]
    assert len(again[-1]) == len(keys[-1])
    # Absent ones at the end are told apart by the length of the tuple, which the
    # caller has.
    assert read(X, None)[0] == read(X)[0]


def test_addresses():
    y = np.zeros(5, np.int64)
    _, addresses = read(None, X, None, y)
    assert addresses[:2] == [X.ctypes.data, y.ctypes.data]


def test_what_has_no_key():
    assert read(X.T)[0] is None and read(X[:, :3])[0] is None
    assert read(X[:, :1].T)[0] is None
    assert read(X, by=reader(refuse))[0] is None
    assert read(*[X] * 65)[0] is None and read(*[X] * 64)[0] is not None
    assert read(X, of=[X])[0] is None, "a list is no tuple"
    assert read()[0] is None


def test_calls_by_address():
    x = np.ones((2, 64), np.float32)
    wanted = gq.grouped_block_quantize(x, np.int32([0, 2]))
    plan = list(gq._functions._quantize_planner._plans.values())[-1]
    frame = _arrays.Frame()
    _arrays.NumPy.read(frame, (x, np.int32([0, 2]), *wanted, wanted.scale_offsets))
    wanted.data[:] = 0
    assert plan.run(frame, list(wanted), None).data is wanted.data
    assert wanted.data.any()
    count = (ctypes.c_int64 * 65)()
    status = _call._invoke_at(plan._handle, plan._like, ctypes.addressof(count), 65, 0)
    with pytest.raises(gq.Error, match="found 65 arguments, at most 64 fit"):
        gq._library.check(status)
