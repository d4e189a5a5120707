//===- Types.h - enumerations and buffers of gq ------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vocabulary that the dialect, the lowering, the runtime and the device
// functions share. Freestanding: needs <stdint.h> only.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_RUNTIME_TYPES_H
#define GQ_RUNTIME_TYPES_H

#include <stdint.h>

/// Marks what the shared library exports; everything else in it is hidden.
#define GQ_EXPORT __attribute__((visibility("default")))

/// What a block is quantized to: data code, block size, scale code and recipe.
/// The values are those of the dialect's enumeration of the same name.
typedef enum gqFormat {
  /// e2m1 data, blocks of 16, e4m3 scales.
  GQ_FORMAT_NVFP4 = 0,
} gqFormat;

/// Where the scale of a block is stored.
typedef enum gqScaleLayout {
  /// [rows, columns / block], row-major.
  GQ_SCALE_LAYOUT_LINEAR = 0,
  /// Tiles of 128 rows by 4 scale columns, each 512 consecutive bytes, as the
  /// block-scaled tensor-core instructions read them. A group starts at a
  /// multiple of 128 rows.
  GQ_SCALE_LAYOUT_TILE128X4 = 1,
} gqScaleLayout;

/// Which rows have their data quantized. Rows in no group never have scales.
typedef enum gqRows {
  GQ_ROWS_ALL = 0,
  GQ_ROWS_GROUPED = 1,
} gqRows;

/// The element types that a buffer at a function's boundary can have. Packed
/// f4E2M1FN is GQ_I8, two codes a byte, the even index in the low nibble.
typedef enum gqElementType {
  GQ_I1 = 0,
  GQ_I8,
  GQ_I16,
  GQ_I32,
  GQ_I64,
  GQ_F16,
  GQ_BF16,
  GQ_F32,
  GQ_F64,
  GQ_F8E4M3FN,
  GQ_F8E5M2,
  GQ_F8E8M0FNU,
} gqElementType;

/// The size in bytes of one element of `type`; 0 if `type` is none of the
/// enumerators.
static inline int64_t gqElementTypeSize(gqElementType type) {
  switch (type) {
  case GQ_I1:
  case GQ_I8:
  case GQ_F8E4M3FN:
  case GQ_F8E5M2:
  case GQ_F8E8M0FNU:
    return 1;
  case GQ_I16:
  case GQ_F16:
  case GQ_BF16:
    return 2;
  case GQ_I32:
  case GQ_F32:
    return 4;
  case GQ_I64:
  case GQ_F64:
    return 8;
  }
  return 0;
}

enum {
  /// The highest rank of an operand of a gq op.
  GQ_OPERAND_RANK = 3,
};

/// An operand of a gq op in memory, as generated code passes it to the CPU
/// runtime. Borrowed for the duration of the call.
typedef struct gqBuffer {
  /// The first element; null if the optional operand is absent.
  void *data;
  /// A gqElementType.
  int64_t type;
  int64_t rank;
  /// In elements; entries from `rank` on are 0.
  int64_t sizes[GQ_OPERAND_RANK];
  /// In elements; entries from `rank` on are 0.
  int64_t strides[GQ_OPERAND_RANK];
} gqBuffer;

#endif // GQ_RUNTIME_TYPES_H
