//===- Executable.h - compile and run ----------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles MLIR text and runs its functions on DLPack tensors.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_RUNTIME_EXECUTABLE_H
#define GQ_RUNTIME_EXECUTABLE_H

#include "gq/Runtime/Status.h"

#include <dlpack/dlpack.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A compiled module. Immutable; its functions may be invoked from several
/// threads at once.
typedef struct gqExecutable gqExecutable;

typedef struct gqCompileOptions {
  /// Where the module runs: "cpu" or "cuda". Null means "cpu". For "cuda", MLIR
  /// passes files to the toolkit's ptxas and fatbinary in $TMPDIR, and some of
  /// their names can be guessed: if others can write to that folder, set
  /// another one.
  const char *target;
  /// Do not fuse the graph's ops. The resulting bytes are the same.
  bool noFusion;
  /// The folder of compiled modules; null means $GQ_CACHE_DIR, else
  /// $XDG_CACHE_HOME/gq, else $HOME/.cache/gq. "" compiles without a cache.
  /// Its contents are executed, so the folder and its files must belong to this
  /// user and be writable by no other; the folder is made with the mode 0700
  /// and must not be a symbolic link. Otherwise, or if it cannot be written,
  /// the module is compiled each time, which is not an error.
  const char *cacheDir;
  /// What to call the text in diagnostics, such as its file name; null means
  /// "<mlir>".
  const char *sourceName;
  /// For "cuda": the chip to compile for, such as "sm_90a"; null means that of
  /// the thread's device. If a chip is given, compilation needs neither device
  /// nor driver.
  const char *chip;
  /// For "cuda": have the kernels of matmuls quantize their outputs, where a
  /// quantization is behind them, as the option fuse-quantization of
  /// convert-gq-to-gpu says. The resulting bytes are the same.
  bool fuseQuantization;
} gqCompileOptions;

enum {
  /// The highest rank of a function's argument or result.
  GQ_MAX_RANK = 8,
};

/// The type of a function's argument or result.
typedef struct gqType {
  gqElementType type;
  /// -1 for a scalar that is not a tensor.
  int32_t rank;
  /// -1 where dynamic.
  int64_t sizes[GQ_MAX_RANK];
} gqType;

/// A public function of the module. Tensors of f4E2M1FN [.., K] appear as they
/// are stored: GQ_I8 [.., K/2].
typedef struct gqSignature {
  const char *name;
  int32_t numInputs;
  int32_t numResults;
  const gqType *inputs;
  const gqType *results;
  /// For each result, the argument that it was written into, or -1 if it is a
  /// new buffer.
  const int32_t *sources;
  /// For each argument, whether the function may write to its memory: true for
  /// those that results are written into, and for a memref unless it is only
  /// read. Such an argument must not overlap any other.
  const bool *written;
} gqSignature;

/// Compiles `length` bytes of MLIR text (gq, upstream dialects and what the
/// `gq-to-cpu` or `gq-to-nvvm` pipeline takes; not bytecode, whose reader
/// trusts it). Names that generated code calls, such as those of libm's
/// functions, are reserved: the module may declare such a function, not define
/// one. `options` may be null. On success `*executable` is owned by the caller.
/// Errors: GQ_COMPILE_ERROR with the compiler's diagnostics as the message,
/// also where the module has no public function;
/// GQ_INVALID_ARGUMENT for an unknown target; those of gqDeviceChip() where it
/// is asked for the chip.
GQ_EXPORT gqStatus gqCompile(const char *mlir, size_t length,
                             const gqCompileOptions *options,
                             gqExecutable **executable);

/// Frees an executable; null is allowed. Results it returned stay valid.
GQ_EXPORT void gqExecutableDestroy(gqExecutable *executable);

/// The signature of the public function `name`; null means the only public
/// function. Owned by the executable. Errors: GQ_INVALID_ARGUMENT, the message
/// lists the functions there are.
GQ_EXPORT gqStatus gqExecutableGetSignature(gqExecutable *executable,
                                            const char *name,
                                            const gqSignature **signature);

/// The name of `type` as numpy and ml_dtypes spell it, such as "float8_e4m3fn".
/// A string with static lifetime.
GQ_EXPORT const char *gqElementTypeName(gqElementType type);

/// Whether gqInvoke takes `tensor`, which is on the CPU, as an argument of this
/// type; for "cuda", whether it takes a copy on the device. Errors:
/// GQ_INVALID_ARGUMENT, the message says what is expected and what was found.
GQ_EXPORT gqStatus gqTypeCheck(const gqType *type, const DLTensor *tensor);

/// Runs a function. `inputs` are borrowed, must have the argument's rank,
/// extents and dtype (f8 and packed f4 also as uint8 or int8, bf16 also as
/// uint16, bool also as uint8 of any value), and be row-major, contiguous and
/// aligned to their elements; a scalar argument is a tensor of rank 0.
/// `outputs` receives one DLManagedTensor per result, to be released through
/// its own deleter: a result that was written into an argument is a view of
/// that argument's memory, which the caller keeps alive, with the argument's
/// dtype; a new one owns its memory. If there are no `outputs`, none are
/// returned, for a caller that has them all among its arguments.
///
/// An argument that may be written (gqSignature.written) must not share a byte
/// with another argument: a function may check one and read it again later.
/// Those that are only read may overlap. The same holds for the operands of
/// each gq op, which may be parts of an argument: what it writes must not share
/// a byte with any other operand.
///
/// On failure all `outputs` are null and the message names what is wrong.
/// Arguments, and that they do not overlap, are checked before anything runs. A
/// gq op that finds its operands invalid, such as the contents of offsets,
/// writes nothing, and the gq ops after it do nothing; but other ops may
/// already have written into arguments that results are written into.
/// GQ_OUT_OF_MEMORY: the extents of a tensor, computed from the arguments, are
/// too large for memory; the call ends there.
///
/// For "cuda": tensors are on the thread's device (see gqGetDevice), scalars
/// and scalar results on the CPU. The call only puts work into the thread's
/// stream (see gqSetStream); results are ready when that work is done. A new
/// one is freed in the order of that stream, which must outlive it. The first
/// call on a device loads the kernels and must not be captured in a CUDA graph;
/// an executable must outlive the graphs that captured it. gqStreamStatus
/// reports what kernels find wrong with their data. Errors: also those of
/// gq/Runtime/Cuda.h; a failure that an earlier release of a result left in
/// this thread comes first.
GQ_EXPORT gqStatus gqInvoke(gqExecutable *executable, const char *function,
                            DLTensor *const *inputs, size_t numInputs,
                            DLManagedTensor **outputs, size_t numOutputs);

#ifdef __cplusplus
}
#endif

#endif // GQ_RUNTIME_EXECUTABLE_H
