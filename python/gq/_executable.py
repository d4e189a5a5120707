# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled modules: compile() and Executable."""

from __future__ import annotations

import ctypes
import dataclasses
import os
import weakref

from . import _arrays, _tensors
from ._library import DLManagedTensor, DLTensor, GqCompileOptions
from ._library import Error, check, lib, signature


@dataclasses.dataclass(frozen=True)
class Type:
    """The type of an argument or a result.

    Attributes:
      dtype: the element type as MLIR writes it, such as "f8E4M3FN". Packed f4
        is "i8", and its last extent is half of the tensor's.
      shape: a tuple with None where an extent is dynamic, or None for a scalar
        that is not a tensor.
    """

    dtype: str
    shape: tuple[int | None, ...] | None

    def __str__(self):
        if self.shape is None:
            return self.dtype
        return f"{self.dtype}[{', '.join('?' if s is None else str(s) for s in self.shape)}]"

    @classmethod
    def _of(cls, c):
        sizes = (None if s < 0 else s for s in c.sizes[: max(c.rank, 0)])
        shape = None if c.rank < 0 else tuple(sizes)
        return cls(_tensors.type_name(c.type), shape)


@dataclasses.dataclass(frozen=True)
class Signature:
    """What a function takes and returns.

    Attributes:
      name: the function's name.
      inputs, results: tuples of Type.
      sources: for each result the index of the argument that it is written
        into, or None if it is a fresh array.
      written: for each argument, whether its memory may be written: an array
        that shares memory with no other argument.
    """

    name: str
    inputs: tuple[Type, ...]
    results: tuple[Type, ...]
    sources: tuple[int | None, ...]
    written: tuple[bool, ...]

    def __str__(self):
        inputs, results = (", ".join(map(str, t)) for t in (self.inputs, self.results))
        return f"{self.name}({inputs}) -> ({results})"


class Executable:
    """A compiled module; made by gq.compile(). Threads may share one."""

    def __init__(self, handle, target="cpu"):
        self._handle, self._target = handle, target
        weakref.finalize(self, lib.gqExecutableDestroy, handle).atexit = False

    def __repr__(self):
        functions = ", ".join(map(str, self._signatures()))
        where = "" if self._target == "cpu" else f" on {self._target}"
        return f"gq.Executable({functions}{where})"

    def _signatures(self):
        """Of the only public function; none if there are more."""
        try:
            return [self.signature()]
        except Error:
            return []

    def __call__(self, *arrays, entry=None, stream=None):
        """Runs the only public function, or `entry`; see invoke()."""
        return self.invoke(entry, *arrays, stream=stream)

    def invoke(self, entry, *arrays, stream=None):
        """Runs the public function `entry` (None: the only one) on `arrays`.

        Args:
          *arrays: one NumPy array, NumPy scalar, tensor of torch or object with
            __dlpack__ on the CPU for each argument, of its shape and dtype, row-major and
            contiguous; a scalar argument is an array of rank 0. bf16 is
            ml_dtypes.bfloat16 or uint16; f8 is the ml_dtypes type, uint8 or
            int8; f4 of shape [..., K] is uint8 or int8 of shape [..., K/2],
            two codes per byte, the even index in the low nibble. They are
            borrowed for the call. One that may be written
            (signature().written) shares no memory with another.
            For the target "cuda" they are tensors of torch or objects with
            __dlpack__, on one CUDA device, and scalars are on the CPU.
          stream: for "cuda" a CUDA stream or its address; None is torch's current
            one, where a tensor of torch is passed, else that of the thread. The
            call only puts work into it.

        Returns:
          None, one array, or a tuple of arrays, by the number of results.
          A result that was written into an argument (signature().sources) is a
          view of the argument's memory and keeps the argument alive. A fresh
          one owns its memory. i8, packed f4 included, comes as uint8; bf16 and
          f8 as the ml_dtypes type, or as uint16 and uint8 without ml_dtypes.
          If a tensor of torch was passed, and for "cuda", a result that was
          written into an argument is that argument, and a fresh one is a tensor
          of torch, or an Array where none was passed.

        Raises:
          Error: INVALID_ARGUMENT if the arrays do not fit the function, or one
            to be written is read-only or overlaps another one, and then
            nothing has run;
            INVALID_OFFSETS if offsets describe no groups, INVALID_ROW_INDICES
            if an index is not one of a row: the op that finds
            that writes nothing and gq's ops after it do not run, but what
            other ops wrote into arguments stays; OUT_OF_MEMORY if the extents
            that follow from the arguments are more than memory holds.
          TypeError: something is not an array at all.
        """
        c = signature(self._handle, entry)
        if stream is not None:
            stream = _arrays.stream_handle(stream)
        on_device = self._target == "cuda"
        borrowed, device, torch = [], None, None
        for i, array in enumerate(arrays):
            is_scalar = i < c.num_inputs and c.inputs[i].rank < 0
            if on_device and not is_scalar:
                tensor, kept, where = _tensors.borrow_on_device(array, i, stream)
                device = device or where
            else:
                written = i in c.sources[: c.num_results] or (
                    i < c.num_inputs and c.written[i]
                )
                tensor, kept = _tensors.borrow(array, i, written)
            borrowed.append((tensor, kept))
            kind = _arrays.kind_of(array)
            torch = kind if isinstance(kind, _arrays.Torch) else torch
        inputs = [tensor for tensor, _ in borrowed]
        if not on_device:
            outputs = self._run(c, inputs)
        else:
            if device is None or device[0] != _arrays.CUDA:
                device = _arrays.CUDA, _arrays.current_device()
            elif stream is None and torch is not None:
                stream = torch.stream(device)
            with _arrays.on_device(device[1]):
                if stream is not None:
                    lib.gqSetStream(stream)
                outputs = self._run(c, inputs)
        sources = [None if s < 0 else s for s in c.sources[: c.num_results]]
        if on_device or torch is not None:
            results = _as_arguments(outputs, sources, arrays, torch)
        else:
            # All of them get an owner before anything can fail.
            owners = [
                _tensors.Owner(managed, None if s is None else (arrays[s], borrowed[s]))
                for managed, s in zip(outputs, sources)
            ]
            results = [
                owner.array(_tensors.result_dtype(c.results[i].type))
                for i, owner in enumerate(owners)
            ]
        if len(results) > 1:
            return tuple(results)
        return results[0] if results else None

    def _run(self, c, inputs):
        """The DLManagedTensors of the results."""
        outputs = (ctypes.POINTER(DLManagedTensor) * c.num_results)()
        pointers = [ctypes.pointer(tensor) for tensor in inputs]
        check(
            lib.gqInvoke(
                self._handle,
                c.name,
                (ctypes.POINTER(DLTensor) * len(inputs))(*pointers),
                len(inputs),
                outputs,
                len(outputs),
            )
        )
        return outputs

    def signature(self, entry=None):
        """The Signature of the public function `entry` (None: the only one).

        Raises:
          Error: INVALID_ARGUMENT if there is no such function, or several and
            `entry` is None; the message lists those there are.
        """
        c = signature(self._handle, entry)
        return Signature(
            c.name.decode(),
            tuple(Type._of(c.inputs[i]) for i in range(c.num_inputs)),
            tuple(Type._of(c.results[i]) for i in range(c.num_results)),
            tuple(None if s < 0 else s for s in c.sources[: c.num_results]),
            tuple(c.written[: c.num_inputs]),
        )


def _as_arguments(outputs, sources, arguments, torch):
    """The argument that each result was written into, or a new array: a tensor of torch,
    unless that is None."""
    made = [
        _arrays.from_managed(managed) if source is None else None
        for managed, source in zip(outputs, sources)
    ]
    results = []
    for managed, source, array in zip(outputs, sources, made):
        if source is not None:
            managed.contents.deleter(managed)
            results.append(arguments[source])
        else:
            results.append(array if torch is None else torch.from_array(array))
    return results


def compile(
    mlir_text: str | bytes,
    target: str = "cpu",
    fusion: bool = True,
    cache_dir: str | os.PathLike | None = None,
    fuse_quantization: bool = False,
) -> Executable:
    """Compiles a module.

    Args:
      mlir_text: str or bytes; gq ops and upstream dialects, with at least one
        public function. Text, not bytecode.
      target: where it runs: "cpu", or "cuda" for the thread's device.
      fusion: whether to fuse. On the CPU, quantization and scale layout become
        one op; element-wise ops before them become one loop, which writes the
        tensor that the op reads. The bytes are the same without.
      cache_dir: the folder that keeps compiled modules. None means
        $GQ_CACHE_DIR, else gq in the user's cache folder; "" means none. What
        it holds is run: it is used only if it belongs to this user and no other
        may write to it.
      fuse_quantization: whether the kernels of a GPU's matmuls quantize their
        outputs, where a quantization is behind them. The bytes are the same.

    Returns:
      An Executable.

    Raises:
      Error: COMPILE_ERROR with the compiler's diagnostics as the message, also where
          there is no public function;
        INVALID_ARGUMENT for an unknown target.
    """
    text = mlir_text.encode() if isinstance(mlir_text, str) else mlir_text
    if not isinstance(text, bytes):
        raise TypeError(
            f"mlir_text: expected str or bytes, found {type(text).__name__}"
        )
    if not isinstance(target, str):
        raise TypeError(f"target: expected a str, found {type(target).__name__}")
    folder = None if cache_dir is None else os.fsencode(cache_dir)
    options = GqCompileOptions(
        target=target.encode(),
        no_fusion=not fusion,
        cache_dir=folder,
        fuse_quantization=fuse_quantization,
    )
    handle = ctypes.c_void_p()
    check(
        lib.gqCompile(
            text, len(text), ctypes.byref(options), ctypes.byref(handle)
        )
    )
    return Executable(handle, target)
