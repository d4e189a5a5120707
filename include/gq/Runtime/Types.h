//===- Types.h - enumerations and buffers of gq ------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vocabulary that the dialect, the lowering, the runtime and the device
// functions share. Freestanding: needs <stdbool.h> and <stdint.h> only.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_RUNTIME_TYPES_H
#define GQ_RUNTIME_TYPES_H

#include <stdbool.h>
#include <stdint.h>

/// Marks what the shared library exports; everything else in it is hidden.
#define GQ_EXPORT __attribute__((visibility("default")))

/// What a block is quantized to; gqFormatGetTraits says what each is made of.
/// The values are those of the dialect's enumeration of the same name.
typedef enum gqFormat {
  GQ_FORMAT_NVFP4 = 0,
  GQ_FORMAT_MXFP4 = 1,
  GQ_FORMAT_MXFP8_E4M3 = 2,
  GQ_FORMAT_MXFP8_E5M2 = 3,
  GQ_FORMAT_FP8_E4M3_1X128 = 4,
  GQ_FORMAT_FP8_E4M3_128X128 = 5,
  GQ_FORMAT_FP8_E5M2_1X128 = 6,
  GQ_FORMAT_FP8_E5M2_128X128 = 7,
} gqFormat;

enum { GQ_NUM_FORMATS = 8 };

/// How the scale of an NVFP4 block comes from the block's largest magnitude.
/// The other formats have one way each.
typedef enum gqRecipe {
  /// nvFuser's, with an optional global scale.
  GQ_RECIPE_NVFUSER = 0,
  /// Transformer Engine's, with an outer amax; nvfp4 only.
  GQ_RECIPE_TE = 1,
} gqRecipe;

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

/// What a format is made of.
typedef struct gqFormatTraits {
  /// As the dialect writes it.
  const char *name;
  /// The extents of a block of the rowwise direction. A block of the columnwise
  /// direction is `blockColumns` rows high and `blockRows` columns wide.
  int64_t blockRows, blockColumns;
  /// Bits of a code: two of 4 share a byte, the even index in the low nibble.
  int64_t dataBits;
  /// In memory; GQ_I8 stands for two codes of f4E2M1FN.
  gqElementType dataType;
  /// A byte or GQ_F32; the latter have no tile128x4 layout.
  gqElementType scaleType;
  /// Whether the columnwise direction stores its codes transposed.
  bool transposes;
} gqFormatTraits;

static inline gqFormatTraits gqFormatGetTraits(gqFormat format) {
  const gqElementType e4m3 = GQ_F8E4M3FN, e5m2 = GQ_F8E5M2, e8m0 = GQ_F8E8M0FNU;
  switch (format) {
  case GQ_FORMAT_NVFP4:
    return (gqFormatTraits){"nvfp4", 1, 16, 4, GQ_I8, e4m3, true};
  case GQ_FORMAT_MXFP4:
    return (gqFormatTraits){"mxfp4", 1, 32, 4, GQ_I8, e8m0, false};
  case GQ_FORMAT_MXFP8_E4M3:
    return (gqFormatTraits){"mxfp8_e4m3", 1, 32, 8, e4m3, e8m0, false};
  case GQ_FORMAT_MXFP8_E5M2:
    return (gqFormatTraits){"mxfp8_e5m2", 1, 32, 8, e5m2, e8m0, false};
  case GQ_FORMAT_FP8_E4M3_1X128:
    return (gqFormatTraits){"fp8_e4m3_1x128", 1, 128, 8, e4m3, GQ_F32, true};
  case GQ_FORMAT_FP8_E4M3_128X128:
    return (gqFormatTraits){
        "fp8_e4m3_128x128", 128, 128, 8, e4m3, GQ_F32, true};
  case GQ_FORMAT_FP8_E5M2_1X128:
    return (gqFormatTraits){"fp8_e5m2_1x128", 1, 128, 8, e5m2, GQ_F32, true};
  case GQ_FORMAT_FP8_E5M2_128X128:
    return (gqFormatTraits){
        "fp8_e5m2_128x128", 128, 128, 8, e5m2, GQ_F32, true};
  }
  return (gqFormatTraits){"no format", 1, 1, 8, GQ_I8, GQ_I8, false};
}

enum {
  /// Elements that the start of a ragged group is a multiple of: a GPU loads 16
  /// at a time.
  GQ_RAGGED_ALIGNMENT = 16,
};

enum {
  /// The highest rank of an operand of a gq op.
  GQ_OPERAND_RANK = 3,
};

/// An operand of a gq op in memory, as generated code passes it to the CPU
/// runtime. Borrowed for the duration of the call.
typedef struct gqBuffer {
  /// The first element.
  void *data;
  /// A gqElementType.
  int64_t type;
  int64_t rank;
  /// In elements; entries from `rank` on are 0.
  int64_t sizes[GQ_OPERAND_RANK];
  /// In elements; entries from `rank` on are 0.
  int64_t strides[GQ_OPERAND_RANK];
} gqBuffer;

/// Whether an optional operand is absent: a null pointer of rank 0, such as a
/// buffer of zeros.
static inline bool gqBufferIsAbsent(const gqBuffer *buffer) {
  return !buffer->data && buffer->rank == 0;
}

#endif // GQ_RUNTIME_TYPES_H
