# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libgq.so and its C declarations (Status.h, Executable.h, dlpack.h)."""

import ctypes
import os
import pathlib
import re
import sys
from ctypes import POINTER, byref, c_bool, c_char_p, c_float, c_int, c_int32
from ctypes import c_int64, c_size_t, c_ssize_t, c_uint8, c_uint16, c_uint64, c_void_p

GQ_OK = 0
GQ_INVALID_ARGUMENT = 1
GQ_MAX_RANK = 8


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class DLManagedTensor(ctypes.Structure):
    pass


DLManagedTensor._fields_ = [
    ("dl_tensor", DLTensor),
    ("manager_ctx", c_void_p),
    ("deleter", ctypes.CFUNCTYPE(None, POINTER(DLManagedTensor))),
]


class GqCompileOptions(ctypes.Structure):
    _fields_ = [
        ("target", c_char_p),
        ("no_fusion", c_bool),
        ("cache_dir", c_char_p),
        ("source_name", c_char_p),
        ("chip", c_char_p),
        ("fuse_quantization", c_bool),
    ]


class GqType(ctypes.Structure):
    _fields_ = [
        ("type", c_int),
        ("rank", c_int32),
        ("sizes", c_int64 * GQ_MAX_RANK),
    ]


class GqSignature(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("num_inputs", c_int32),
        ("num_results", c_int32),
        ("inputs", POINTER(GqType)),
        ("results", POINTER(GqType)),
        ("sources", POINTER(c_int32)),
        ("written", POINTER(c_bool)),
    ]


class GqFormatTraits(ctypes.Structure):
    _fields_ = [
        ("name", c_char_p),
        ("block_rows", c_int64),
        ("block_columns", c_int64),
        ("code", c_int),
        ("data_bits", c_int64),
        ("data_type", c_int),
        ("data_max", c_float),
        ("scale_rule", c_int),
        ("scale_type", c_int),
        ("transposes", c_bool),
    ]


def _find_toolkit():
    """Names the CUDA toolkit of NVIDIA's wheels, if they are installed.

    A toolkit that the user named, or that is in its usual place, comes first.
    """
    names = ("GQ_CUDA_TOOLKIT", "CUDA_HOME", "CUDA_PATH")
    usual = pathlib.Path("/usr/local/cuda/nvvm/libdevice/libdevice.10.bc")
    if any(name in os.environ for name in names) or usual.exists():
        return
    for folder in map(pathlib.Path, sys.path):
        for toolkit in sorted(folder.glob("nvidia/cu[0-9]*"), reverse=True):
            files = "bin/ptxas", "bin/fatbinary", "nvvm/libdevice/libdevice.10.bc"
            if all((toolkit / file).exists() for file in files):
                os.environ["GQ_CUDA_TOOLKIT"] = str(toolkit)
                return


def _load():
    """Opens $GQ_LIBRARY, else the wheel's library or that of the linker's path."""
    _find_toolkit()
    named = os.environ.get("GQ_LIBRARY")
    beside = pathlib.Path(__file__).parent / "lib" / "libgq.so"
    path = named or (str(beside) if beside.exists() else "libgq.so")
    try:
        lib = ctypes.CDLL(path)
    except OSError as error:
        message = (
            f"gq cannot load $GQ_LIBRARY ({error})"
            if named
            else "gq cannot find libgq.so; build it and set $GQ_LIBRARY to its"
            f" path ({error})"
        )
        raise ImportError(message) from error

    def declare(name, result, *arguments):
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments

    executable = c_void_p
    declare("gqFormatFind", c_bool, c_int32, POINTER(GqFormatTraits))
    declare("gqEnumGetKeyword", c_char_p, c_char_p, c_ssize_t)
    declare("gqOpName", c_char_p, c_int32)
    declare("gqOpRows", c_char_p, c_int32)
    declare("gqVersion", c_char_p)
    declare("gqStatusName", c_char_p, c_int)
    declare("gqGetLastErrorMessage", c_char_p)
    declare(
        "gqCompile", c_int, c_char_p, c_size_t, POINTER(GqCompileOptions),
        POINTER(executable),
    )  # fmt: skip
    declare("gqExecutableDestroy", None, executable)
    declare(
        "gqExecutableGetSignature", c_int, executable, c_char_p,
        POINTER(POINTER(GqSignature)),
    )  # fmt: skip
    declare(
        "gqInvoke", c_int, executable, c_char_p,
        POINTER(POINTER(DLTensor)), c_size_t,
        POINTER(POINTER(DLManagedTensor)), c_size_t,
    )  # fmt: skip
    declare("gqGetDevice", c_int, POINTER(c_int32))
    declare("gqSetDevice", c_int, c_int32)
    declare("gqSetStream", None, c_void_p)
    declare("gqGetStream", c_void_p)
    declare("gqStreamStatus", c_int, c_void_p)
    declare("gqDeviceAlloc", c_int, c_size_t, POINTER(c_void_p))
    declare("gqDeviceRelease", None, c_int32, c_void_p, c_void_p)
    declare("gqEventCreate", c_int, POINTER(c_void_p))
    declare("gqEventDestroy", c_int, c_void_p)
    declare("gqEventRecord", c_int, c_void_p)
    declare("mgpuStreamWaitEvent", None, c_void_p, c_void_p)
    declare("gqCudaStatus", c_int)
    return lib


lib = _load()


class Error(Exception):
    """A call into gq failed. One whose status is INVALID_ARGUMENT is an ArgumentError.

    Attributes:
      status: the name of the gqStatus: "INVALID_ARGUMENT" (shape, dtype, count
        or name of something passed), "INVALID_OFFSETS" (the contents of group
        or scale offsets), "INVALID_ROW_INDICES", "COMPILE_ERROR", or another
        one of gq/Runtime/Status.h.
      message: what was wrong, naming the argument or the place in the module.
    """

    def __new__(cls, status, message):
        is_argument = status == lib.gqStatusName(GQ_INVALID_ARGUMENT).decode()
        return super().__new__(ArgumentError if is_argument else cls, status, message)

    def __init__(self, status, message):
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message

    def __reduce__(self):
        # Copies and those that another process raises are made of both, too.
        return Error, (self.status, self.message)

    def renamed(self, names):
        """The error with these names for "argument 0", "argument 1", ..."""
        name = lambda m: names[int(m[1])] if int(m[1]) < len(names) else m[0]  # noqa: E731
        return Error(self.status, re.sub(r"\bargument (\d+)", name, self.message))


class ArgumentError(Error, ValueError):
    """An argument is wrong, and nothing ran; the message begins with its name."""


def invalid_argument(message):
    return Error(lib.gqStatusName(GQ_INVALID_ARGUMENT).decode(), message)


def check(status):
    """Raises the failure that `status` reports, if it does."""
    if status != GQ_OK:
        # The message is this thread's own: no other call can replace it here.
        name = lib.gqStatusName(status).decode()
        raise Error(name, lib.gqGetLastErrorMessage().decode(errors="replace"))


def signature(handle, entry):
    """The GqSignature of `entry`; owned by the executable."""
    if not isinstance(entry, str | None):
        raise TypeError(f"entry: expected a str, found {type(entry).__name__}")
    pointer = POINTER(GqSignature)()
    name = None if entry is None else entry.encode()
    check(lib.gqExecutableGetSignature(handle, name, byref(pointer)))
    return pointer.contents
