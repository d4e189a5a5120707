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

#include "gq/Runtime/Formats.def"

#include <stdbool.h>
#include <stdint.h>

/// Marks symbols that the shared library exports; all others are hidden.
#define GQ_EXPORT __attribute__((visibility("default")))

/// Declares a function in a header. Always inlined: device functions are
/// specialized by constants, which must reach every function that they call.
#define GQ_INLINE static inline __attribute__((always_inline))

/// The GPU kernels of gq.grouped_mm; gq.grouped_wgrad has ANY and TILES128.
typedef enum gqMmKernel {
  /// Chosen by shape and rows per group.
  GQ_MM_KERNEL_AUTO = 0,
  /// For any format and alignment; slow.
  GQ_MM_KERNEL_ANY = 1,
  /// For up to 8 or 16 rows per group, by mma.sync.
  GQ_MM_KERNEL_DECODE8 = 2,
  GQ_MM_KERNEL_DECODE16 = 3,
  /// Tiles of 32, 64 or 128 rows, by wgmma: sm_90a.
  GQ_MM_KERNEL_TILES32 = 4,
  GQ_MM_KERNEL_TILES64 = 5,
  GQ_MM_KERNEL_TILES128 = 6,
  /// The same of 256 rows, which are first dequantized to a workspace.
  GQ_MM_KERNEL_TILES256 = 7,
} gqMmKernel;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

/// The element types that a buffer at a function's boundary can have. Packed
/// f4E2M1FN is GQ_I8, two codes per byte, the even index in the low nibble.
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

/// The size in bytes of one element of `type`; 0 if `type` is not an
/// enumerator.
GQ_INLINE int64_t gqElementTypeSize(gqElementType type) {
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

/// The element type `type` as it is written in MLIR.
GQ_INLINE const char *gqElementTypeMnemonic(int64_t type) {
  switch (type) {
  case GQ_I1:
    return "i1";
  case GQ_I8:
    return "i8";
  case GQ_I16:
    return "i16";
  case GQ_I32:
    return "i32";
  case GQ_I64:
    return "i64";
  case GQ_F16:
    return "f16";
  case GQ_BF16:
    return "bf16";
  case GQ_F32:
    return "f32";
  case GQ_F64:
    return "f64";
  case GQ_F8E4M3FN:
    return "f8E4M3FN";
  case GQ_F8E5M2:
    return "f8E5M2";
  case GQ_F8E8M0FNU:
    return "f8E8M0FNU";
  }
  return "an unknown type";
}

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

/// What a block is quantized to; see gqFormatGetTraits(). The values are those
/// of the dialect's enumeration of the same name.
typedef enum gqFormat {
  /// Elements without blocks and scales: what an operation has if it states no
  /// format, where that is allowed.
  GQ_FORMAT_NONE = -1,
#define GQ_FORMAT(VALUE, NAME, ...) GQ_FORMAT_##NAME = VALUE,
  GQ_ALL_FORMATS(GQ_FORMAT)
#undef GQ_FORMAT
} gqFormat;

/// Formats with block scales.
enum {
#define GQ_ONE(...) +1
  GQ_NUM_FORMATS = GQ_FORMATS(GQ_ONE),
#undef GQ_ONE
};

/// The columns of each format's block: GQ_BLOCK_COLUMNS_NVFP4, and so on.
enum {
#define GQ_FORMAT(VALUE, NAME, MNEMONIC, CODE, RULE, ROWS, COLUMNS, ...)       \
  GQ_BLOCK_COLUMNS_##NAME = COLUMNS,
  GQ_FORMATS(GQ_FORMAT)
#undef GQ_FORMAT
};

/// What an element becomes.
typedef enum gqCode {
#define GQ_CODE(NAME, ...) GQ_CODE_##NAME,
  GQ_CODES(GQ_CODE)
#undef GQ_CODE
} gqCode;

/// The bits, the gqElementType in memory and the largest magnitude of each
/// code: GQ_E2M1_BITS, GQ_E2M1_TYPE, GQ_E2M1_MAX, and so on.
enum {
#define GQ_CODE(NAME, BITS, TYPE, MLIR_TYPE, MAX)                              \
  GQ_##NAME##_BITS = BITS, GQ_##NAME##_TYPE = TYPE, GQ_##NAME##_MAX = MAX,
  GQ_CODES(GQ_CODE)
#undef GQ_CODE
};

/// How the scale of a block is computed from its largest magnitude.
typedef enum gqScaleRule {
#define GQ_SCALE_RULE(NAME, ...) GQ_SCALE_RULE_##NAME,
  GQ_SCALE_RULES(GQ_SCALE_RULE)
#undef GQ_SCALE_RULE
} gqScaleRule;

/// The gqElementType of each rule's scales in memory.
enum {
#define GQ_SCALE_RULE(NAME, TYPE, ...) GQ_SCALE_TYPE_##NAME = TYPE,
  GQ_SCALE_RULES(GQ_SCALE_RULE)
#undef GQ_SCALE_RULE
};

/// What a format is made of.
typedef struct gqFormatTraits {
  /// As the dialect writes it.
  const char *name;
  /// The extents of a block in the rowwise direction. In the columnwise
  /// direction a block is `blockColumns` rows high and `blockRows` columns
  /// wide.
  int64_t blockRows, blockColumns;
  gqCode code;
  /// Bits of a code. Two 4-bit codes share a byte, the even index in the low
  /// nibble.
  int64_t dataBits;
  /// In memory; GQ_I8 stands for two codes of f4E2M1FN.
  gqElementType dataType;
  /// The largest magnitude that a code stands for.
  float dataMax;
  gqScaleRule scaleRule;
  /// A one-byte type or GQ_F32; scales of the latter have no tile128x4 layout.
  gqElementType scaleType;
  /// Whether the columnwise direction stores its codes transposed.
  bool transposes;
} gqFormatTraits;

GQ_INLINE gqFormatTraits gqFormatGetTraits(gqFormat format) {
  switch (format) {
#define GQ_FORMAT(VALUE, NAME, MNEMONIC, CODE, RULE, ROWS, COLUMNS,            \
                  TRANSPOSES)                                                  \
  case GQ_FORMAT_##NAME:                                                       \
    return (gqFormatTraits){.name = #MNEMONIC,                                 \
                            .blockRows = ROWS,                                 \
                            .blockColumns = COLUMNS,                           \
                            .code = GQ_CODE_##CODE,                            \
                            .dataBits = GQ_##CODE##_BITS,                      \
                            .dataType = (gqElementType)GQ_##CODE##_TYPE,       \
                            .dataMax = GQ_##CODE##_MAX,                        \
                            .scaleRule = GQ_SCALE_RULE_##RULE,                 \
                            .scaleType = (gqElementType)GQ_SCALE_TYPE_##RULE,  \
                            .transposes = TRANSPOSES};
    GQ_ALL_FORMATS(GQ_FORMAT)
#undef GQ_FORMAT
  case GQ_FORMAT_NONE:
    break;
  }
  return (gqFormatTraits){.name = "no format",
                          .blockRows = 1,
                          .blockColumns = 1,
                          .code = GQ_CODE_E4M3,
                          .dataBits = 8,
                          .dataType = GQ_I8,
                          .dataMax = 0.0f,
                          .scaleRule = GQ_SCALE_RULE_MX,
                          .scaleType = GQ_I8,
                          .transposes = false};
}

/// Whether a format has one scale per block, which is computed and stored. If
/// not, an operand holds one per group.
GQ_INLINE bool gqFormatHasBlockScales(gqFormat format) {
  return gqFormatGetTraits(format).scaleRule != GQ_SCALE_RULE_GIVEN;
}

#ifdef __cplusplus
extern "C" {
#endif

// For languages that do not read the headers. Strings have static lifetime, and
// are null for an unknown number.

/// gqFormatGetTraits(); returns whether there is such a format.
GQ_EXPORT bool gqFormatFind(int32_t format, gqFormatTraits *traits);

/// The name of op number `op` of gq/Runtime/Ops.def.
GQ_EXPORT const char *gqOpName(int32_t op);

/// Its rows, one line each: "attribute <name> <Enum> <presence>", then
/// "operand <name> <presence> <role>".
GQ_EXPORT const char *gqOpRows(int32_t op);

#ifdef __cplusplus
}
#endif

//===----------------------------------------------------------------------===//
// Attributes of ops
//===----------------------------------------------------------------------===//

/// How GQ_SCALE_RULE_NVFP4 computes the scale of a block from its largest
/// magnitude. MX and FP8 have no choice; for GQ_SCALE_RULE_GIVEN the recipe
/// says what is given.
typedef enum gqRecipe {
  /// nvFuser's, with an optional global scale. GIVEN: the scale.
  GQ_RECIPE_NVFUSER = 0,
  /// Transformer Engine's, with an outer amax. GIVEN: an amax, from which the
  /// scale follows.
  GQ_RECIPE_TE = 1,
} gqRecipe;

/// How an element is rounded to a code.
typedef enum gqRounding {
  /// To the nearest, ties to even.
  GQ_ROUNDING_NEAREST = 0,
  /// Up or down by random bits that depend on a state and on the element's
  /// position (runtime_kernels/transforms/Philox.h).
  GQ_ROUNDING_STOCHASTIC = 1,
} gqRounding;

/// What is applied to the elements of a block before it is quantized.
typedef enum gqTransform {
  GQ_TRANSFORM_NONE = 0,
  /// Signs, then a Hadamard transform of 16 rows of a column
  /// (runtime_kernels/transforms/Hadamard.h).
  GQ_TRANSFORM_HADAMARD16 = 1,
} gqTransform;

/// What each outer amax applies to.
typedef enum gqOuter {
  /// A group, or all rows.
  GQ_OUTER_OF_GROUP = 0,
  /// A row; in the rowwise direction.
  GQ_OUTER_OF_ROW = 1,
  /// A column of a group; in the columnwise direction.
  GQ_OUTER_OF_COLUMN = 2,
} gqOuter;

/// The error by which one of two scales is chosen for a block, one that maps
/// its largest magnitude to 6 and one that maps it to 4
/// (runtime_kernels/scalers/FourOverSix.h).
typedef enum gqFourOverSix {
  /// There is one scale, for 6.
  GQ_FOUR_OVER_SIX_NONE = 0,
  /// The sum of the magnitudes of the errors.
  GQ_FOUR_OVER_SIX_MAE = 1,
  /// The sum of their squares.
  GQ_FOUR_OVER_SIX_MSE = 2,
} gqFourOverSix;

/// What there is one outer scale for. An outer scale is the scale above those
/// of the blocks: a global scale of the recipe nvfuser, an outer amax of te, or
/// the scale that is given.
typedef enum gqOuterKind {
  GQ_OUTER_NONE = 0,
  /// One for all rows.
  GQ_OUTER_ONE = 1,
  /// One per group; rows in no group are quantized without.
  GQ_OUTER_PER_GROUP = 2,
  /// One per row.
  GQ_OUTER_PER_ROW = 3,
  /// One per column of each group.
  GQ_OUTER_PER_COLUMN = 4,
} gqOuterKind;

/// Where the scale of a block is stored.
typedef enum gqScaleLayout {
  /// [rows, columns / block], row-major.
  GQ_SCALE_LAYOUT_LINEAR = 0,
  /// Tiles of 128 rows by 4 scale columns, each 512 consecutive bytes, as the
  /// block-scaled tensor-core instructions read them. A group starts at a
  /// multiple of 128 rows.
  GQ_SCALE_LAYOUT_TILE128X4 = 1,
} gqScaleLayout;

/// Which extent of a matmul's weights is innermost.
typedef enum gqMajor {
  /// K: [G, N, K], as rows are quantized.
  GQ_MAJOR_K = 0,
  /// N: [G, K, N], as columns are quantized by formats that do not transpose.
  GQ_MAJOR_N = 1,
} gqMajor;

/// Which two columns of a product the epilogue of a matmul takes together.
typedef enum gqPairs {
  /// It takes one.
  GQ_PAIRS_NONE = 0,
  /// 2 * j and the one after.
  GQ_PAIRS_INTERLEAVED = 1,
  /// j and j + N / 2.
  GQ_PAIRS_HALVES = 2,
} gqPairs;

/// The direction in which data was quantized, and so the form it is stored in.
typedef enum gqAxis {
  /// As gq.grouped_block_quantize writes its `outs`.
  GQ_AXIS_ROWWISE = 0,
  /// As it writes its `columnwise_outs`.
  GQ_AXIS_COLUMNWISE = 1,
} gqAxis;

/// Which rows have their data quantized. Rows in no group never have scales.
typedef enum gqRows {
  GQ_ROWS_ALL = 0,
  GQ_ROWS_GROUPED = 1,
} gqRows;

/// Which of a tensor's recent amaxes its next scale is computed from.
typedef enum gqAmaxAlgo {
  /// The largest one.
  GQ_AMAX_ALGO_MAX = 0,
  /// The latest one.
  GQ_AMAX_ALGO_MOST_RECENT = 1,
} gqAmaxAlgo;

/// A scale is 2^-margin times what maps an amax to the largest code.
typedef int32_t gqMargin;

/// The largest scale of a block that an outer amax of the recipe te is for:
/// 448, for which 0 stands too, or 256 of four over six.
typedef int32_t gqScaleMax;

enum {
  /// The largest one: 2^-margin is a normal float32.
  GQ_MAX_MARGIN = 126,
};

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

enum {
  /// A ragged group begins at a multiple of this many elements: a GPU loads 16
  /// at a time.
  GQ_RAGGED_ALIGNMENT = 16,
};

/// The families of GPU kernels. The values are part of compiled code.
typedef enum gqKernelFamily {
  GQ_KERNEL_QUANTIZE_ROWS = 0,
  GQ_KERNEL_QUANTIZE_TILES = 1,
  GQ_KERNEL_REDUCE_TILES = 2,
  GQ_KERNEL_SWIZZLE_SCALES = 3,
  GQ_KERNEL_GROUPED_MM_TILES = 4,
  GQ_KERNEL_GROUPED_MM_DECODE = 5,
  GQ_KERNEL_GROUPED_MM_ANY = 6,
  GQ_KERNEL_CLEAR_AMAX = 7,
  GQ_KERNEL_GROUPED_AMAX = 8,
  GQ_KERNEL_GROUPED_WGRAD_TILES = 9,
  GQ_KERNEL_GROUPED_WGRAD_ANY = 10,
  GQ_KERNEL_DEQUANTIZE_TILES = 11,
  GQ_KERNEL_QUANTIZE_WHOLE_ROWS = 12,
  GQ_KERNEL_UPDATE_SCALES = 13,
  GQ_KERNEL_GROUP_OFFSETS = 14,
  GQ_KERNEL_GROUPED_MM_PREPARE = 15,
  GQ_KERNEL_QUANTIZE_SMALL_GROUPS = 16,
} gqKernelFamily;

/// How a kernel is launched.
typedef struct gqLaunchPlan {
  /// CTAs of the one-dimensional grid, 0 if it is not to be launched.
  int64_t grid;
  /// Bytes of the workspace that the kernel is given, 0 if it needs none.
  int64_t workspace;
} gqLaunchPlan;

enum {
  /// How many numbers the launch of a kernel depends on at most.
  GQ_LAUNCH_EXTENTS = 8,
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
GQ_INLINE bool gqBufferIsAbsent(const gqBuffer *buffer) {
  return !buffer->data && buffer->rank == 0;
}

/// The kind of an optional operand that is [] or [G].
static inline gqOuterKind gqBufferOuterKind(const gqBuffer *buffer) {
  if (gqBufferIsAbsent(buffer))
    return GQ_OUTER_NONE;
  return buffer->rank ? GQ_OUTER_PER_GROUP : GQ_OUTER_ONE;
}

#endif // GQ_RUNTIME_TYPES_H
