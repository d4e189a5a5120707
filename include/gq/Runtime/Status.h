//===- Status.h - status codes and messages ----------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every function of the runtime that can fail returns a gqStatus and leaves a
// message for the calling thread. The runtime never prints and never aborts.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_RUNTIME_STATUS_H
#define GQ_RUNTIME_STATUS_H

#include "gq/Runtime/Types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gqStatus {
  GQ_OK = 0,
  /// An argument of the call itself is wrong: shape, dtype, count, name.
  GQ_INVALID_ARGUMENT = 1,
  /// The contents of `offsets` or `scale_offsets` do not describe groups.
  GQ_INVALID_OFFSETS = 2,
  /// The module does not parse, verify, lower or link.
  GQ_COMPILE_ERROR = 3,
  /// Memory, of the host or of a device, could not be allocated.
  GQ_OUT_OF_MEMORY = 4,
  /// A file could not be read or written.
  GQ_IO_ERROR = 5,
  /// There is no CUDA driver that the runtime can use.
  GQ_NO_DRIVER = 6,
  /// There is a CUDA driver and no device.
  GQ_NO_DEVICE = 7,
  /// A call of the CUDA driver failed; the message names it.
  GQ_CUDA_ERROR = 8,
  /// The kernels were not compiled for the chip of the device.
  GQ_UNSUPPORTED_CHIP = 9,
  /// `row_indices` holds a number that is out of range.
  GQ_INVALID_ROW_INDICES = 10,
} gqStatus;

/// The version of this library, such as "0.1.0". A string with static lifetime.
GQ_EXPORT const char *gqVersion(void);

/// The name of `status` without its prefix, such as "INVALID_OFFSETS". A
/// string with static lifetime.
GQ_EXPORT const char *gqStatusName(gqStatus status);

/// The message of the last failure in the calling thread, never null; owned by
/// the runtime and valid until the next failure in this thread.
GQ_EXPORT const char *gqGetLastErrorMessage(void);

/// Returns and clears the status of the gq ops that generated code ran on this
/// thread's CPU since the last call. The first failure is kept; an op that
/// finds a failure pending does nothing, so that no op works on the output of
/// one that failed. gqInvoke calls this itself.
GQ_EXPORT gqStatus gqCpuStatus(void);

/// Records a failure: formats the message of the calling thread and returns
/// `status`, so that a caller can write `return gqFail(...)`.
GQ_EXPORT gqStatus gqFail(gqStatus status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#ifdef __clang_analyzer__
// What it returns, for the static analyzer, which sees one file at a time.
#define gqFail(status, ...) (gqFail(status, __VA_ARGS__), (status))
#endif

#ifdef __cplusplus
}
#endif

#endif // GQ_RUNTIME_STATUS_H
