# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays to borrowed DLTensors, and DLManagedTensors to owning arrays."""

import ctypes
import weakref

import numpy as np

from . import _arrays, _formats
from ._library import DLManagedTensor, DLTensor, Error, invalid_argument

_CPU = 1  # kDLCPU

# DLDataTypeCode by the name of a NumPy dtype, where its kind does not say it.
_KINDS = {"i": 0, "u": 1, "f": 2, "b": 6}
_CODES = {e.numpy: e.dlpack[0] for e in _formats.ELEMENTS if e.plain}


def type_name(element_type):
    """The MLIR name of a gqElementType."""
    return _formats.ELEMENTS[element_type].mlir


def result_dtype(element_type):
    """The NumPy dtype in which a gqElementType is returned."""
    return _arrays.NumPy.dtype(type_name(element_type))


def _type_code(dtype):
    """The DLDataTypeCode of a dtype, or None if it has none."""
    if dtype.name in _CODES:
        return _CODES[dtype.name]
    return _KINDS.get(dtype.kind) if dtype.isnative else None


def _from_numpy(array, index, written):
    if not array.flags.c_contiguous:
        raise invalid_argument(
            f"argument {index}: expected row-major contiguous memory, found shape"
            f" {list(array.shape)} with strides {list(array.strides)} in bytes"
        )
    if written and not array.flags.writeable:
        raise _read_only(index)
    code = _type_code(array.dtype)
    if code is None:
        raise invalid_argument(
            f"argument {index}: the dtype {array.dtype} is not supported"
            " (f4 data is passed packed, as uint8)"
        )
    return DLTensor(
        data=array.ctypes.data,
        device_type=_CPU,
        ndim=array.ndim,
        code=code,
        bits=8 * array.itemsize,
        lanes=1,
        shape=(ctypes.c_int64 * array.ndim)(*array.shape),
    )


def _read_only(index):
    return invalid_argument(
        f"argument {index}: a result is written into it, but it is read-only"
    )


def _check_device(device, index):
    if device != _CPU:
        raise invalid_argument(
            f"argument {index}: expected a tensor on the CPU, found DLPack device"
            f" type {int(device)}"
        )


def _from_dlpack(array, index):
    """The tensor inside the capsule, and the capsule, which owns it."""
    _check_device(array.__dlpack_device__()[0], index)
    capsule = array.__dlpack__()
    pointer = _arrays._capsule_pointer(capsule, b"dltensor")
    return DLManagedTensor.from_address(pointer).dl_tensor, capsule


def borrow(array, index, written):
    """The DLTensor of argument `index`, and what must outlive it.

    `written` says whether a result is written into the argument.
    """
    if isinstance(array, (np.ndarray, np.generic)):
        array = np.asarray(array)
        return _from_numpy(array, index, written), array
    if isinstance(_arrays.kind_of(array), _arrays.Torch):
        # Not by DLPack, which refuses what has gradients and some types.
        tensor, kept, (device, _) = borrow_on_device(array, index, None)
        _check_device(device, index)
        return tensor, kept
    if hasattr(array, "__dlpack__"):
        if written and _arrays.is_constant(array):
            raise _read_only(index)
        return _from_dlpack(array, index)
    raise TypeError(
        f"argument {index}: expected a NumPy array or an object with __dlpack__,"
        f" found {type(array).__name__}"
    )


def borrow_on_device(array, index, stream):
    """The DLTensor of argument `index`, what must outlive it, and its device."""
    kind = _arrays.kind_of(array)
    if kind is None and not hasattr(array, "__dlpack__"):
        raise TypeError(
            f"argument {index}: expected a tensor of torch or an object with"
            f" __dlpack__, found {type(array).__name__}"
        )
    try:
        if kind is None:
            kind, array = _arrays.Arrays, _arrays.from_dlpack(array, stream)
        d = kind.describe(array)
    except Error as error:
        raise invalid_argument(f"argument {index}: {error.message}") from None
    if not d.is_contiguous:
        raise invalid_argument(
            f"argument {index}: expected row-major contiguous memory, found shape"
            f" {list(d.shape)} with other strides"
        )
    if not d.elements:
        raise invalid_argument(f"argument {index}: the dtype {d.dtype} is not supported")
    # Bytes may be of several types, and are taken as any of them.
    plain = {"uint8": (1, 8, 1), "int8": (0, 8, 1), "uint16": (1, 16, 1)}
    code, bits, lanes = (
        plain.get(d.dtype) or _formats.BY_MLIR[d.elements[0]].dlpack
    )
    tensor = DLTensor(
        data=kind.pointer(array),
        device_type=d.device[0],
        device_id=d.device[1],
        ndim=len(d.shape),
        code=code,
        bits=bits,
        lanes=lanes,
        shape=(ctypes.c_int64 * len(d.shape))(*d.shape),
    )
    return tensor, array, d.device


class Owner:
    """Memory of a DLManagedTensor, released with the last array over it."""

    def __init__(self, managed, source):
        """Takes over `managed`. `source`, or None, is kept alive as well."""
        self._source = source
        tensor = managed.contents.dl_tensor
        self._device = tensor.device_type
        self._shape = tuple(tensor.shape[: tensor.ndim])
        self._data = (tensor.data or 0) + tensor.byte_offset
        # In elements; none means row-major.
        self._strides = (
            tuple(tensor.strides[: tensor.ndim]) if tensor.strides else None
        )
        finalizer = weakref.finalize(self, managed.contents.deleter, managed)
        # At exit the memory stays: arrays may still be in use by then.
        finalizer.atexit = False

    def array(self, dtype):
        """The memory as an array of `dtype` that keeps this object alive."""
        if self._device != _CPU:
            raise invalid_argument(
                "NumPy has no arrays for results on DLPack device type"
                f" {self._device}"
            )
        strides = self._strides
        if strides is not None:
            strides = tuple(s * dtype.itemsize for s in strides)
        self.__array_interface__ = {
            "version": 3,
            "shape": self._shape,
            # Custom dtypes have no string: they come as bytes and are viewed.
            "typestr": f"|V{dtype.itemsize}",
            "data": (self._data, False),
            "strides": strides,
        }
        return np.asarray(self).view(dtype)
