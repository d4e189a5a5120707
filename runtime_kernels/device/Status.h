//===- Status.h - what kernels report about their operands -------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the device functions, which set it, and the host, which reads it.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_DEVICE_STATUS_H
#define GQ_KERNELS_DEVICE_STATUS_H

/// Bits of the status word.
enum {
  /// Row starts are negative, decrease, or lie beyond the last row.
  GQ_DEV_STATUS_OFFSETS = 1,
  /// Scale offsets are no multiples of 128, decrease, overlap the padded rows
  /// of the group before, or leave too few rows for the group.
  GQ_DEV_STATUS_SCALE_OFFSETS = 2,
};

#endif // GQ_KERNELS_DEVICE_STATUS_H
