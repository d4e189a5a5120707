//===- Dialect.h - C API of the gq dialect -----------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect's handle, attributes and ops. An op is described by a struct with
// the op's attributes and operands: gq<Op>Get reads it from an operation,
// gq<Op>Create makes an operation from it. An absent optional operand is a null
// value. gq/Runtime/Ops.def lists the attributes and operands of each op and
// says what they hold; here 4-bit data may also be f4E2M1FN, [M, K].
//
//===----------------------------------------------------------------------===//

#ifndef GQ_C_DIALECT_H
#define GQ_C_DIALECT_H

#include "gq/Runtime/Directions.h"

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Declares mlirGetDialectHandle__gq__().
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Gq, gq);

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// The keyword of a case of an enumeration, by number in the order of values:
/// "nvfp4", "mxfp4", ... of "format". Null if there is no such case or
/// enumeration. These are called as their attributes are, such as
/// "scale_layout" and "mm_kernel", and as the parts of `#gq.direction`. The
/// text is the library's.
MLIR_CAPI_EXPORTED const char *gqEnumGetKeyword(const char *enumeration,
                                                intptr_t number);

MLIR_CAPI_EXPORTED MlirAttribute gqFormatAttrGet(MlirContext context,
                                                 gqFormat format);
MLIR_CAPI_EXPORTED gqFormat gqFormatAttrGetValue(MlirAttribute attribute);

MLIR_CAPI_EXPORTED MlirAttribute gqRecipeAttrGet(MlirContext context,
                                                 gqRecipe recipe);
MLIR_CAPI_EXPORTED gqRecipe gqRecipeAttrGetValue(MlirAttribute attribute);

MLIR_CAPI_EXPORTED MlirAttribute
gqScaleLayoutAttrGet(MlirContext context, gqScaleLayout scaleLayout);
MLIR_CAPI_EXPORTED gqScaleLayout
gqScaleLayoutAttrGetValue(MlirAttribute attribute);

MLIR_CAPI_EXPORTED MlirAttribute gqMajorAttrGet(MlirContext context,
                                                gqMajor major);
MLIR_CAPI_EXPORTED gqMajor gqMajorAttrGetValue(MlirAttribute attribute);

MLIR_CAPI_EXPORTED MlirAttribute gqRowsAttrGet(MlirContext context,
                                               gqRows rows);
MLIR_CAPI_EXPORTED gqRows gqRowsAttrGetValue(MlirAttribute attribute);

MLIR_CAPI_EXPORTED MlirAttribute gqAxisAttrGet(MlirContext context,
                                               gqAxis axis);
MLIR_CAPI_EXPORTED gqAxis gqAxisAttrGetValue(MlirAttribute attribute);

MLIR_CAPI_EXPORTED MlirAttribute gqOuterAttrGet(MlirContext context,
                                                gqOuter outer);
MLIR_CAPI_EXPORTED gqOuter gqOuterAttrGetValue(MlirAttribute attribute);

MLIR_CAPI_EXPORTED MlirAttribute gqAmaxAlgoAttrGet(MlirContext context,
                                                   gqAmaxAlgo amaxAlgo);
MLIR_CAPI_EXPORTED gqAmaxAlgo gqAmaxAlgoAttrGetValue(MlirAttribute attribute);

/// A margin, an i32 attribute.
MLIR_CAPI_EXPORTED MlirAttribute gqMarginAttrGet(MlirContext context,
                                                 gqMargin margin);
MLIR_CAPI_EXPORTED gqMargin gqMarginAttrGetValue(MlirAttribute attribute);

/// A largest scale, an i32 attribute.
MLIR_CAPI_EXPORTED MlirAttribute gqScaleMaxAttrGet(MlirContext context,
                                                   gqScaleMax scaleMax);
MLIR_CAPI_EXPORTED gqScaleMax gqScaleMaxAttrGetValue(MlirAttribute attribute);

/// `#gq.direction<...>`: how one direction of an op differs from the default
/// (gq/Runtime/Directions.h). Parts that are left out are 0. Get writes
/// rounding and transform, and the others unless they are 0.
MLIR_CAPI_EXPORTED MlirAttribute
gqDirectionAttrGet(MlirContext context, const gqDirectionTraits *traits);
MLIR_CAPI_EXPORTED gqDirectionTraits
gqDirectionAttrGetTraits(MlirAttribute attribute);
MLIR_CAPI_EXPORTED bool gqAttributeIsADirection(MlirAttribute attribute);

MLIR_CAPI_EXPORTED MlirAttribute gqMmKernelAttrGet(MlirContext context,
                                                   gqMmKernel kernel);
MLIR_CAPI_EXPORTED gqMmKernel gqMmKernelAttrGetValue(MlirAttribute attribute);

MLIR_CAPI_EXPORTED MlirAttribute gqPairsAttrGet(MlirContext context,
                                                gqPairs pairs);
MLIR_CAPI_EXPORTED gqPairs gqPairsAttrGetValue(MlirAttribute attribute);

/// `#gq.tile128x4`, the encoding of a tensor of tiled scales.
MLIR_CAPI_EXPORTED MlirAttribute gqTile128x4AttrGet(MlirContext context);
MLIR_CAPI_EXPORTED bool gqAttributeIsATile128x4(MlirAttribute attribute);

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// gq.block_quantize.
typedef struct gqBlockQuantize {
#define GQ_BLOCK_QUANTIZE_ATTRIBUTE(NAME, FIELD, ENUM, PRESENCE) gq##ENUM FIELD;
#define GQ_BLOCK_QUANTIZE_OPERAND(NAME, FIELD, MEMBER, PRESENCE, ROLE)         \
  MlirValue MEMBER;
#include "gq/Runtime/Ops.def"
} gqBlockQuantize;

MLIR_CAPI_EXPORTED bool gqOperationIsABlockQuantize(MlirOperation op);
MLIR_CAPI_EXPORTED gqBlockQuantize gqBlockQuantizeGet(MlirOperation op);
/// The created operation has results of the types of `data` and `scales` if
/// those are tensors, none if they are memrefs. It is owned by the caller until
/// it is inserted into a block.
MLIR_CAPI_EXPORTED MlirOperation
gqBlockQuantizeCreate(MlirLocation location, const gqBlockQuantize *desc);

/// gq.preprocess_grouped_matmul_sf.
typedef struct gqPreprocessGroupedMatmulSf {
#define GQ_PREPROCESS_GROUPED_MATMUL_SF_ATTRIBUTE(NAME, FIELD, ENUM, PRESENCE) \
  gq##ENUM FIELD;
#define GQ_PREPROCESS_GROUPED_MATMUL_SF_OPERAND(NAME, FIELD, MEMBER, PRESENCE, \
                                                ROLE)                          \
  MlirValue MEMBER;
#include "gq/Runtime/Ops.def"
} gqPreprocessGroupedMatmulSf;

MLIR_CAPI_EXPORTED bool
gqOperationIsAPreprocessGroupedMatmulSf(MlirOperation op);
MLIR_CAPI_EXPORTED gqPreprocessGroupedMatmulSf
gqPreprocessGroupedMatmulSfGet(MlirOperation op);
/// As gqBlockQuantizeCreate.
MLIR_CAPI_EXPORTED MlirOperation gqPreprocessGroupedMatmulSfCreate(
    MlirLocation location, const gqPreprocessGroupedMatmulSf *desc);

enum {
  /// The most inputs that an op which quantizes groups can have.
  GQ_MAX_INPUTS = 8,
};

/// A direction of an op that quantizes groups.
typedef struct gqDirection {
  /// `#gq.direction`, or null for the default.
  MlirAttribute attribute;
  /// The outputs; an op without them does not have this direction. Formats with
  /// block scales have both or neither, others only data.
  MlirValue data, scales;
  /// The outer amax of the recipe te, or that from which a scale is computed.
  /// If the columnwise direction has none, that of the rowwise one is for both.
  MlirValue outerAmax;
} gqDirection;

/// gq.grouped_block_quantize. All operands but inputs and offsets are optional.
typedef struct gqGroupedBlockQuantize {
#define GQ_GROUPED_BLOCK_QUANTIZE_ATTRIBUTE(NAME, FIELD, ENUM, PRESENCE)       \
  gq##ENUM FIELD;
#include "gq/Runtime/Ops.def"
  /// 1, or with a producer up to GQ_MAX_INPUTS.
  intptr_t numInputs;
  MlirValue inputs[GQ_MAX_INPUTS];
  /// An array of affine maps (m, k) -> ... or, for an input that is read by
  /// index, (m, k)[r] -> ..., one per input; null without a producer.
  MlirAttribute maps;
  /// Computes an element from those of the inputs; null if there is none. Get
  /// returns the operation's own region. Create takes its body and leaves it
  /// empty.
  MlirRegion producer;
  gqDirection rowwise, columnwise;
  MlirValue rowIndices;
  MlirValue offsets, scaleOffsets, scaleOffsetsOut;
  /// For ragged groups.
  MlirValue firstDims, lastDims;
  MlirValue globalScale;
  /// For stochastic rounding.
  MlirValue rngState;
  /// For formats with a single scale.
  MlirValue scale, scaleInv;
  MlirValue noopFlag;
  MlirValue amax, rowAmax, dbias;
  /// For gq.grouped_amax.
  MlirValue columnwiseAmax, columnAmax;
} gqGroupedBlockQuantize;

MLIR_CAPI_EXPORTED bool gqOperationIsAGroupedBlockQuantize(MlirOperation op);
MLIR_CAPI_EXPORTED gqGroupedBlockQuantize
gqGroupedBlockQuantizeGet(MlirOperation op);
/// As gqBlockQuantizeCreate.
MLIR_CAPI_EXPORTED MlirOperation gqGroupedBlockQuantizeCreate(
    MlirLocation location, const gqGroupedBlockQuantize *desc);

/// gq.grouped_amax. Of the members above it has `rows`, inputs, groups, the
/// attribute of `columnwise`, `noopFlag` and the amaxes; the others are null.
typedef gqGroupedBlockQuantize gqGroupedAmax;

MLIR_CAPI_EXPORTED bool gqOperationIsAGroupedAmax(MlirOperation op);
MLIR_CAPI_EXPORTED gqGroupedAmax gqGroupedAmaxGet(MlirOperation op);
/// As gqBlockQuantizeCreate.
MLIR_CAPI_EXPORTED MlirOperation gqGroupedAmaxCreate(MlirLocation location,
                                                     const gqGroupedAmax *desc);

/// gq.grouped_quantize: the same operands, with those for blocks absent, and
/// the attributes `format` and `rows`; other attributes are ignored.
typedef gqGroupedBlockQuantize gqGroupedQuantize;

MLIR_CAPI_EXPORTED bool gqOperationIsAGroupedQuantize(MlirOperation op);
/// The recipe says whether there is an outer amax; the layout is linear.
MLIR_CAPI_EXPORTED gqGroupedQuantize gqGroupedQuantizeGet(MlirOperation op);
/// As gqBlockQuantizeCreate.
MLIR_CAPI_EXPORTED MlirOperation
gqGroupedQuantizeCreate(MlirLocation location, const gqGroupedQuantize *desc);

/// gq.update_scales.
typedef struct gqUpdateScales {
#define GQ_UPDATE_SCALES_ATTRIBUTE(NAME, FIELD, ENUM, PRESENCE) gq##ENUM FIELD;
#define GQ_UPDATE_SCALES_OPERAND(NAME, FIELD, MEMBER, PRESENCE, ROLE)          \
  MlirValue MEMBER;
#include "gq/Runtime/Ops.def"
} gqUpdateScales;

MLIR_CAPI_EXPORTED bool gqOperationIsAUpdateScales(MlirOperation op);
MLIR_CAPI_EXPORTED gqUpdateScales gqUpdateScalesGet(MlirOperation op);
/// As gqBlockQuantizeCreate.
MLIR_CAPI_EXPORTED MlirOperation
gqUpdateScalesCreate(MlirLocation location, const gqUpdateScales *desc);

/// gq.group_offsets.
typedef struct gqGroupOffsets {
#define GQ_GROUP_OFFSETS_OPERAND(NAME, FIELD, MEMBER, PRESENCE, ROLE)          \
  MlirValue MEMBER;
#include "gq/Runtime/Ops.def"
} gqGroupOffsets;

MLIR_CAPI_EXPORTED bool gqOperationIsAGroupOffsets(MlirOperation op);
MLIR_CAPI_EXPORTED gqGroupOffsets gqGroupOffsetsGet(MlirOperation op);
/// As gqBlockQuantizeCreate.
MLIR_CAPI_EXPORTED MlirOperation
gqGroupOffsetsCreate(MlirLocation location, const gqGroupOffsets *desc);

/// gq.grouped_mm.
typedef struct gqGroupedMm {
#define GQ_GROUPED_MM_ATTRIBUTE(NAME, FIELD, ENUM, PRESENCE) gq##ENUM FIELD;
#define GQ_GROUPED_MM_OPERAND(NAME, FIELD, MEMBER, PRESENCE, ROLE)             \
  MlirValue MEMBER;
#include "gq/Runtime/Ops.def"
} gqGroupedMm;

MLIR_CAPI_EXPORTED bool gqOperationIsAGroupedMm(MlirOperation op);
/// The attribute `kernel` of this op or of gq.grouped_wgrad, which only
/// concerns GPUs; auto if it is absent.
MLIR_CAPI_EXPORTED gqMmKernel gqMmGetKernel(MlirOperation op);
/// The attribute `pairs`, which the description does not have.
MLIR_CAPI_EXPORTED gqPairs gqGroupedMmGetPairs(MlirOperation op);
/// The region `epilogue` of a gq.grouped_mm, gq.block_dequantize or
/// gq.grouped_dequantize, null if there is none: descriptions do not have it.
MLIR_CAPI_EXPORTED MlirRegion gqEpilogueOf(MlirOperation op);
MLIR_CAPI_EXPORTED gqGroupedMm gqGroupedMmGet(MlirOperation op);
/// As gqBlockQuantizeCreate; without an epilogue.
MLIR_CAPI_EXPORTED MlirOperation gqGroupedMmCreate(MlirLocation location,
                                                   const gqGroupedMm *desc);

/// gq.grouped_wgrad.
typedef struct gqGroupedWgrad {
#define GQ_GROUPED_WGRAD_ATTRIBUTE(NAME, FIELD, ENUM, PRESENCE) gq##ENUM FIELD;
#define GQ_GROUPED_WGRAD_OPERAND(NAME, FIELD, MEMBER, PRESENCE, ROLE)          \
  MlirValue MEMBER;
#include "gq/Runtime/Ops.def"
} gqGroupedWgrad;

MLIR_CAPI_EXPORTED bool gqOperationIsAGroupedWgrad(MlirOperation op);
MLIR_CAPI_EXPORTED gqGroupedWgrad gqGroupedWgradGet(MlirOperation op);
/// As gqBlockQuantizeCreate.
MLIR_CAPI_EXPORTED MlirOperation
gqGroupedWgradCreate(MlirLocation location, const gqGroupedWgrad *desc);

/// gq.block_dequantize.
typedef struct gqBlockDequantize {
#define GQ_BLOCK_DEQUANTIZE_ATTRIBUTE(NAME, FIELD, ENUM, PRESENCE)             \
  gq##ENUM FIELD;
#define GQ_BLOCK_DEQUANTIZE_OPERAND(NAME, FIELD, MEMBER, PRESENCE, ROLE)       \
  MlirValue MEMBER;
#include "gq/Runtime/Ops.def"
} gqBlockDequantize;

MLIR_CAPI_EXPORTED bool gqOperationIsABlockDequantize(MlirOperation op);
MLIR_CAPI_EXPORTED gqBlockDequantize gqBlockDequantizeGet(MlirOperation op);
/// As gqBlockQuantizeCreate; without an epilogue.
MLIR_CAPI_EXPORTED MlirOperation
gqBlockDequantizeCreate(MlirLocation location, const gqBlockDequantize *desc);

/// gq.grouped_dequantize.
typedef struct gqGroupedDequantize {
#define GQ_GROUPED_DEQUANTIZE_ATTRIBUTE(NAME, FIELD, ENUM, PRESENCE)           \
  gq##ENUM FIELD;
#define GQ_GROUPED_DEQUANTIZE_OPERAND(NAME, FIELD, MEMBER, PRESENCE, ROLE)     \
  MlirValue MEMBER;
#include "gq/Runtime/Ops.def"
} gqGroupedDequantize;

MLIR_CAPI_EXPORTED bool gqOperationIsAGroupedDequantize(MlirOperation op);
MLIR_CAPI_EXPORTED gqGroupedDequantize gqGroupedDequantizeGet(MlirOperation op);
/// As gqBlockQuantizeCreate; without an epilogue.
MLIR_CAPI_EXPORTED MlirOperation gqGroupedDequantizeCreate(
    MlirLocation location, const gqGroupedDequantize *desc);

#ifdef __cplusplus
}
#endif

#endif // GQ_C_DIALECT_H
