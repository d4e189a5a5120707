# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of NumPy, of torch and of others, in one way.

A kind of arrays gives the addresses of a call's arrays and a key of what they are
(`read`), describes one (`describe`), and makes new ones (`maker`). An array of neither
NumPy nor torch becomes an Array by DLPack.
"""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import sys
import weakref
from typing import Any

import numpy as np

from . import _formats
from ._library import DLManagedTensor, DLTensor, check, invalid_argument, lib

ml_dtypes: Any
try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None


#: What functions take: an array of NumPy, a tensor of torch, an Array, or what else has
#: __dlpack__ and __dlpack_device__, such as an array of JAX. No type says that: the
#: frameworks annotate these methods differently.
AnyArray = Any


CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13


@dataclasses.dataclass(frozen=True)
class Description:
    """What an array is.

    `elements` are the names in MLIR of what its elements can be, `dtype` is what
    the framework calls them, `device` a DLDeviceType and its number.
    """

    shape: tuple[int, ...]
    dtype: str
    elements: tuple[str, ...]
    device: tuple[int, int]
    is_contiguous: bool = True
    is_writable: bool = True


class Frame:
    """Where the arrays of a call are, for gqInvokeAt(). One call uses it at a time.

    Attributes:
      addresses: of the arrays that there are, in order.
      address: of the first one.
    """

    __slots__ = ("addresses", "address", "_key", "key_address")

    def __init__(self):
        words = (ctypes.c_int64 * (_OBJECTS + _KEY))()
        self.addresses = memoryview(words).cast("B").cast("q")
        self.address = ctypes.addressof(words)
        self._key = self.addresses[_OBJECTS:]
        self.key_address = self.address + 8 * _OBJECTS

    def key(self, words):
        """The key that gqReadObjects() wrote."""
        return self._key[:words].tobytes()


def _read(frame, arrays, part):
    """Puts the addresses of arrays into the frame, and returns a key of what they are,
    None if some are no arrays of the kind or have no memory. `part` gives both of one."""
    addresses, at, key = frame.addresses, 0, []
    try:
        for a in arrays:
            if a is None:
                key.append(None)
            else:
                addresses[at], what = part(a)
                key.append(what)
                at += 1
    except (AttributeError, TypeError, RuntimeError):
        return None
    return tuple(key)


# GQ_MAX_OBJECTS and GQ_MAX_KEY.
_OBJECTS, _KEY = 64, 64 * 9


_shape = np.ndarray.shape.__get__
_HEAD = object.__basicsize__
_address = ctypes.c_void_p.from_address
_probe = np.zeros(1)
assert _address(id(_probe) + _HEAD).value == _probe.ctypes.data, "another NumPy"


class NumPy:
    """Arrays of NumPy, with the dtypes of ml_dtypes."""

    @staticmethod
    def read(frame, arrays):
        return _read(frame, arrays, NumPy._part)

    @staticmethod
    def _part(a):
        # A TypeError of whatever is no ndarray, such as a scalar.
        return _address(id(a) + _HEAD).value, (a.dtype, _shape(a), a.flags.num)

    @staticmethod
    def pointer(a):
        # The address stands behind the object's head in all versions of NumPy;
        # a.ctypes.data and a.__array_interface__ take ten times as long.
        return _address(id(a) + _HEAD).value

    @staticmethod
    def describe(a):
        native = a.dtype.isnative
        return Description(
            a.shape,
            a.dtype.name if native else str(a.dtype),
            _formats.elements_of(a.dtype.name) if native else (),
            (CPU, 0),
            a.flags.c_contiguous,
            a.flags.writeable,
        )

    @staticmethod
    def dtype(element):
        e = _formats.BY_MLIR[element]
        if e.plain is None:
            return np.dtype(e.numpy)
        return np.dtype(getattr(ml_dtypes, e.numpy) if ml_dtypes else e.plain)

    @staticmethod
    def maker(shape, element, device, zeroes=False):
        """A function that makes new arrays."""
        dtype, make = NumPy.dtype(element), np.zeros if zeroes else np.empty
        return functools.partial(make, shape, dtype)

    @staticmethod
    def stream(device):
        return None


class _Exchange(ctypes.Structure):
    """DLPackExchangeAPI of dlpack.h 1.3."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p),
        ("managed_from_object", ctypes.c_void_p),
        ("managed_to_object", ctypes.c_void_p),
        ("tensor_from_object", ctypes.c_void_p),
        ("current_stream", ctypes.c_void_p),
    ]


class _Reader(ctypes.Structure):
    """gqObjectReader."""

    _fields_ = [
        ("item", ctypes.c_void_p),
        ("clear_error", ctypes.c_void_p),
        ("describe", ctypes.c_void_p),
        ("none", ctypes.c_void_p),
    ]


# The readers, which stay where they are.
_readers: list[_Reader] = []


def _reader(exchange):
    """The address of a gqObjectReader of a capsule, None for another version."""
    name = b"dlpack_exchange_api"
    if not _capsule_valid(exchange, name):
        return None
    table = _Exchange.from_address(_capsule_pointer(exchange, name))
    if table.major != 1 or not table.tensor_from_object:
        return None
    reader = _Reader(
        _function("PyTuple_GetItem"),
        _function("PyErr_Clear"),
        table.tensor_from_object,
        id(None),
    )
    _readers.append(reader)
    return ctypes.addressof(reader)


class Torch:
    """Tensors of torch, on the CPU or a CUDA device, on torch's current stream."""

    def __init__(self, torch):
        self._torch = torch
        current = lambda i: torch.cuda.current_stream(i).cuda_stream  # noqa: E731
        # What triton asks too: it takes a tenth of the time.
        self._stream = getattr(torch._C, "_cuda_getCurrentRawStream", current)
        # DLPack's C exchange API, of torch 2.10 and later.
        exchange = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
        self._reader = None if exchange is None else _reader(exchange)
        self._dtypes = {}
        for e in _formats.ELEMENTS:
            dtype = getattr(torch, e.torch, None)
            self._dtypes[e.mlir] = torch.uint8 if dtype is None else dtype

    def read(self, frame, arrays):
        """Puts the addresses into the frame; a key, None if some are no tensors or have no
        memory, as sparse ones and those of torch.vmap.

        gqReadObjects() takes a fifth of the time of attributes.
        """
        if self._reader is not None:
            words = _read_objects(
                self._reader, arrays, len(arrays), frame.address, frame.key_address
            )
            if words:
                return frame.key(words)
        return _read(frame, arrays, Torch._part)

    @staticmethod
    def _part(t):
        return t.data_ptr(), (t.dtype, t.shape, t.device, t.is_contiguous())

    @staticmethod
    def pointer(t):
        return t.data_ptr()

    @staticmethod
    def describe(t):
        kinds = {"cpu": CPU, "cuda": CUDA}
        name = str(t.dtype).removeprefix("torch.")
        kind = kinds.get(t.device.type)
        if kind is None:
            raise invalid_argument(
                f"expected a tensor on the CPU or a CUDA device, found device {t.device}"
            )
        return Description(
            tuple(t.shape),
            name,
            _formats.elements_of(name),
            (kind, t.device.index or 0),
            t.is_contiguous(),
        )

    def dtype(self, element):
        return self._dtypes[element]

    def device(self, device):
        name = "cpu" if device[0] == CPU else f"cuda:{device[1]}"
        return self._torch.device(name)

    def maker(self, shape, element, device, zeroes=False):
        torch, dtype, where = self._torch, self._dtypes[element], self.device(device)
        # Of f4 and f8, not all torch functions exist.
        size = _formats.BY_MLIR[element].size
        plain = getattr(torch, {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}[size])
        if zeroes:
            return lambda: torch.zeros(shape, dtype=plain, device=where).view(dtype)
        # Half the time of torch.empty(); the pattern has one element in memory.
        integers = torch.empty(1, dtype=plain, device=where).expand(shape)
        like = functools.partial(
            torch.empty_like, memory_format=torch.contiguous_format
        )
        make = functools.partial(like, integers.view(dtype))
        if element != "i8":
            return make

        def make_f4():
            try:
                return make()
            except NotImplementedError:
                # With deterministic algorithms torch fills it, which f4 has not.
                return like(integers).view(dtype)

        return make_f4

    def stream(self, device):
        return self._stream(device[1]) if device[0] == CUDA else None

    def from_array(self, array):
        """An Array as a tensor: as bytes first, which every version imports."""
        shape, e = array.shape, _formats.BY_MLIR[array.dtype]
        capsule = _export(array, (0, 8 * e.size, 1))
        tensor = self._torch.utils.dlpack.from_dlpack(capsule)
        dtype = self._torch.uint8 if e.mlir == "i8" else self._dtypes[e.mlir]
        return tensor.view(dtype).reshape(shape)


class Array:
    """Memory on the CPU or a CUDA device with a shape and a type.

    Other libraries take it without a copy: by `__dlpack__`, on the CPU also by
    `numpy.asarray`, on CUDA by `__cuda_array_interface__`.

    Attributes:
      shape: a tuple of int.
      dtype: the element type as MLIR writes it; "i8" is two codes of f4.
      device: (DLPack's device type, its number): (1, 0) is the CPU, (2, i) the
        CUDA device i.
    """

    def __init__(self, shape, element, device, pointer, owner, writable=True, stream=0):
        self.shape, self.dtype, self.device = tuple(shape), element, device
        self._pointer, self._owner, self._writable = pointer, owner, writable
        # The CUDA stream in which its contents are ready.
        self._stream = stream
        self._description = self._layout = None

    def __repr__(self):
        where = "cpu" if self.device[0] == CPU else f"cuda:{self.device[1]}"
        return f"gq.Array({self.dtype} {list(self.shape)} on {where})"

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """A capsule. A consumer on another CUDA stream waits for this one's."""
        if copy:
            raise BufferError("gq.Array: __dlpack__ makes no copies")
        if dl_device is not None and tuple(dl_device) != self.device:
            raise BufferError(f"gq.Array: it is on the device {self.device}")
        if self.device[0] == CUDA:
            wait_for(self._stream, stream)
        return _export(self)

    @property
    def _interface(self):
        dtype = NumPy.dtype(self.dtype)
        known = dtype.kind in "biuf" and dtype.isbuiltin == 1
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": dtype.str if known else f"|V{dtype.itemsize}",
            "data": (self._pointer, not self._writable),
            "strides": None,
        }

    def __array__(self, dtype=None, copy=None):
        if self.device[0] != CPU:
            raise TypeError("gq.Array on a CUDA device: copy it to the CPU first")
        flat = np.asarray(_Bytes(self))
        result = flat.view(NumPy.dtype(self.dtype)).reshape(self.shape)
        if dtype is None or dtype == result.dtype:
            return result.copy() if copy else result
        if copy is False:
            raise ValueError(f"gq.Array of {self.dtype}: as {dtype} it is a copy")
        return result.astype(dtype)

    @property
    def __cuda_array_interface__(self):
        if self.device[0] != CUDA:
            raise AttributeError("gq.Array on the CPU: see numpy.asarray()")
        interface = self._interface
        if interface["typestr"].startswith("|V"):
            interface["typestr"] = f"<u{np.dtype(interface['typestr']).itemsize}"
        # 1 is the legacy default stream.
        return {**interface, "stream": self._stream or 1}


class _Bytes:
    """The memory of an Array on the CPU as bytes, for NumPy."""

    def __init__(self, array):
        self._array = array
        size = _formats.BY_MLIR[array.dtype].size
        for extent in array.shape:
            size *= extent
        self.__array_interface__ = {
            "version": 3,
            "shape": (size,),
            "typestr": "|u1",
            "data": (array._pointer, not array._writable),
        }


class Arrays:
    """Array and what else has __dlpack__."""

    @staticmethod
    def read(frame, arrays):
        return _read(frame, arrays, Arrays._part)

    @staticmethod
    def _part(a):
        return a._pointer, (a.dtype, a.shape, a.device, a._writable, a._layout)

    @staticmethod
    def pointer(a):
        return a._pointer

    @staticmethod
    def describe(a):
        return a._description or Description(
            a.shape, a.dtype, (a.dtype,), a.device, True, a._writable
        )

    @staticmethod
    def dtype(element):
        return element

    @staticmethod
    def maker(shape, element, device, zeroes=False):
        assert not zeroes, "only torch asks for it"
        return lambda: allocate(shape, element, device)

    @staticmethod
    def stream(device):
        return lib.gqGetStream() or 0 if device[0] == CUDA else None


_ALIGNMENT = 64


def allocate(shape, element, device):
    """A new Array; on a CUDA device in order with the thread's stream."""
    size = _formats.BY_MLIR[element].size
    for extent in shape:
        size *= extent
    if device[0] == CPU:
        # Aligned as JAX wants it, which copies else.
        owner = np.empty(size + _ALIGNMENT, np.uint8)
        address = owner.ctypes.data
        return Array(shape, element, device, address + -address % _ALIGNMENT, owner)
    memory, stream = ctypes.c_void_p(), lib.gqGetStream()
    check(lib.gqDeviceAlloc(size, ctypes.byref(memory)))
    array = Array(shape, element, device, memory.value or 0, None, stream=stream or 0)
    release = weakref.finalize(
        array, lib.gqDeviceRelease, device[1], stream, memory.value
    )
    release.atexit = False
    return array


def wait_for(producer, consumer):
    """Makes a consumer's stream, as DLPack numbers it, wait for a producer's."""
    legacy = {None: 0, 1: 0}
    if consumer == -1:
        return
    consumer = legacy.get(consumer, consumer)
    if consumer == (producer or 0):
        return
    before = lib.gqGetStream()
    event = ctypes.c_void_p()
    lib.gqSetStream(producer)
    try:
        check(lib.gqEventCreate(ctypes.byref(event)))
        check(lib.gqEventRecord(event))
        lib.mgpuStreamWaitEvent(consumer, event)
        check(lib.gqCudaStatus())
    finally:
        lib.gqSetStream(before)
        lib.gqEventDestroy(event)


def current_device():
    """The ordinal of the thread's CUDA device."""
    current = ctypes.c_int32()
    check(lib.gqGetDevice(ctypes.byref(current)))
    return current.value


class on_device:  # noqa: N801
    """The thread works on a CUDA device, and then on the one before."""

    __slots__ = ("_device", "_before")

    def __init__(self, device):
        self._device = device

    def __enter__(self):
        self._before = current_device()
        if self._before != self._device:
            check(lib.gqSetDevice(self._device))

    def __exit__(self, *_):
        if self._before != self._device:
            check(lib.gqSetDevice(self._before))


# ---------------------------------------------------------------------------
# DLPack
# ---------------------------------------------------------------------------

_api = ctypes.pythonapi
# With the interpreter's lock, unlike other functions of the library.
_read_objects = ctypes.PYFUNCTYPE(
    ctypes.c_size_t, ctypes.c_void_p, ctypes.py_object, ctypes.c_size_t,
    ctypes.c_void_p, ctypes.c_void_p,
)(("gqReadObjects", lib))  # fmt: skip
_capsule_new = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
)(("PyCapsule_New", _api))
_capsule_pointer = ctypes.PYFUNCTYPE(
    ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p
)(("PyCapsule_GetPointer", _api))
_capsule_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", _api)
)


def _function(name):
    """The address of a function of CPython."""
    return ctypes.cast(getattr(_api, name), ctypes.c_void_p).value


# gqInterpreter.
_interpreter = (ctypes.c_void_p * 7)(
    _function("Py_IsInitialized"), _function("PyGILState_Ensure"),
    _function("PyGILState_Release"), _function("Py_IncRef"), _function("Py_DecRef"),
    _function("PyCapsule_IsValid"), _function("PyCapsule_GetPointer"),
)  # fmt: skip
_new_export = ctypes.PYFUNCTYPE(
    ctypes.c_void_p, ctypes.c_void_p, ctypes.py_object, ctypes.POINTER(DLTensor)
)(("gqExport", lib))
_destroy_export = ctypes.cast(lib.gqExportDestroy, ctypes.c_void_p).value


def _export(array, dlpack=None, strides=None):
    """A capsule of an Array, with another data type of DLPack if one is given."""
    rank = len(array.shape)
    tensor = DLTensor()
    tensor.data, tensor.ndim = array._pointer, rank
    tensor.shape = (ctypes.c_int64 * rank)(*array.shape)
    if strides is not None:
        tensor.strides = (ctypes.c_int64 * rank)(*strides)
    tensor.device_type, tensor.device_id = array.device
    dlpack = dlpack or _formats.BY_MLIR[array.dtype].dlpack
    tensor.code, tensor.bits, tensor.lanes = dlpack
    address = _new_export(ctypes.addressof(_interpreter), array, ctypes.byref(tensor))
    if not address:
        raise MemoryError
    return _capsule_new(address, b"dltensor", _destroy_export)


def from_managed(managed):
    """The Array of a DLManagedTensor, which it takes over, of a fresh result."""
    tensor = managed.contents.dl_tensor
    dtype = tensor.code, tensor.bits, tensor.lanes
    element = "i8" if dtype == (0, 8, 1) else _elements_of_dlpack(dtype)[0]
    array = Array(
        tensor.shape[: tensor.ndim],
        element,
        (tensor.device_type, tensor.device_id),
        (tensor.data or 0) + tensor.byte_offset,
        None,
        stream=lib.gqGetStream() or 0,
    )
    weakref.finalize(array, managed.contents.deleter, managed).atexit = False
    return array


_ALIASES = {(0, 8, 1): "int8", (1, 8, 1): "uint8", (1, 16, 1): "uint16"}


def _elements_of_dlpack(dtype):
    named = _ALIASES.get(dtype)
    exact = tuple(e.mlir for e in _formats.ELEMENTS if e.dlpack == dtype)
    return exact or (_formats.elements_of(named) if named else ())


def from_dlpack(x, stream=None):
    """The Array of an object with __dlpack__, which stays alive with it.

    On a CUDA device its contents are ready in `stream`; None is this thread's.
    """
    kind, number = (int(d) for d in x.__dlpack_device__())
    if kind == CUDA:
        stream = stream if stream is not None else lib.gqGetStream() or 0
        # DLPack's number of the legacy default stream is 1.
        capsule = x.__dlpack__(stream=stream or 1)
    else:
        capsule = x.__dlpack__()
    tensor = DLManagedTensor.from_address(
        _capsule_pointer(capsule, b"dltensor")
    ).dl_tensor
    shape = tuple(tensor.shape[: tensor.ndim])
    dtype = tensor.code, tensor.bits, tensor.lanes
    elements = _elements_of_dlpack(dtype)
    names = {0: "int", 1: "uint", 2: "float", 4: "bfloat"}
    if not elements and dtype[0] in names and dtype[2] == 1:
        name = f"{names[dtype[0]]}{dtype[1]}"
    else:
        name = elements[0] if elements else f"DLPack type {dtype}"
    strides = tensor.strides[: tensor.ndim] if tensor.strides else None
    is_writable = not is_constant(x)
    array = Array(
        shape,
        elements[0] if elements else name,
        (kind, number if kind == CUDA else 0),
        (tensor.data or 0) + tensor.byte_offset,
        (capsule, x),
        is_writable,
        stream or 0,
    )
    is_contiguous = _is_contiguous(shape, strides)
    array._layout = name, is_contiguous
    array._description = Description(
        shape, name, elements, array.device, is_contiguous, is_writable
    )
    return array


def is_constant(x):
    """Whether it is an array of JAX: these do not change, which capsules do not say."""
    return type(x).__module__.partition(".")[0] in ("jax", "jaxlib")


def _is_contiguous(shape, strides):
    if strides is None or 0 in shape:
        return True
    expected = 1
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent != 1 and stride != expected:
            return False
        expected *= extent
    return True


# ---------------------------------------------------------------------------
# Which kind
# ---------------------------------------------------------------------------

#: By type of an array.
_kinds: dict[type, object] = {np.ndarray: NumPy, Array: Arrays}
_torch_kind: list = []


def kind_of(x):
    """The kind of arrays that `x` is of; None if it is none that is known as such.

    Then from_dlpack() makes an Array of it.
    """
    found = _kinds.get(type(x))
    if found is not None:
        return found
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(x, torch.Tensor):
        if not _torch_kind:
            _torch_kind.append(Torch(torch))
        _kinds[type(x)] = _torch_kind[0]
        return _torch_kind[0]
    if isinstance(x, np.ndarray):
        return NumPy
    return None


def stream_handle(stream, argument="stream"):
    """The CUstream of an int, or of a stream of torch or CuPy."""
    for name in "cuda_stream", "ptr":
        if hasattr(stream, name):
            return int(getattr(stream, name))
    if isinstance(stream, int):
        return stream
    raise TypeError(
        f"{argument}: expected a CUDA stream or its address, found"
        f" {type(stream).__name__}"
    )
