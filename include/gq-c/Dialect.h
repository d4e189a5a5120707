//===- Dialect.h - C API of the gq dialect -----------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect's handle, attributes and ops. An op is described by a struct
// with the op's attributes and operands: gq<Op>Get reads it off an operation,
// gq<Op>Create makes an operation from it. An absent optional operand is a
// null value.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_C_DIALECT_H
#define GQ_C_DIALECT_H

#include "gq/Runtime/Types.h"

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Declares mlirGetDialectHandle__gq__().
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Gq, gq);

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

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

MLIR_CAPI_EXPORTED MlirAttribute gqRowsAttrGet(MlirContext context,
                                               gqRows rows);
MLIR_CAPI_EXPORTED gqRows gqRowsAttrGetValue(MlirAttribute attribute);

/// `#gq.tile128x4`, the encoding of a tensor of tiled scales.
MLIR_CAPI_EXPORTED MlirAttribute gqTile128x4AttrGet(MlirContext context);
MLIR_CAPI_EXPORTED bool gqAttributeIsATile128x4(MlirAttribute attribute);

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// gq.block_quantize.
typedef struct gqBlockQuantize {
  gqFormat format;
  gqScaleLayout scaleLayout;
  /// [M, K] f32, bf16 or f16.
  MlirValue input;
  /// [] f32; optional.
  MlirValue globalScale;
  /// [M, K] of the format's type, or [M, K/2] i8 for f4E2M1FN.
  MlirValue data;
  /// [M, K/block] or [M/128, K/128] rounded up, of the format's type.
  MlirValue scales;
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
  gqFormat format;
  gqScaleLayout scaleLayout;
  /// [M, K/block] of the format's type of scales.
  MlirValue input;
  /// [G+1] or [G] i32 or i64.
  MlirValue offsets;
  /// [G] of the type of `offsets`.
  MlirValue scaleOffsets;
  /// [rows, K/block rounded up to 4] of that type, #gq.tile128x4.
  MlirValue scales;
} gqPreprocessGroupedMatmulSf;

MLIR_CAPI_EXPORTED bool
gqOperationIsAPreprocessGroupedMatmulSf(MlirOperation op);
MLIR_CAPI_EXPORTED gqPreprocessGroupedMatmulSf
gqPreprocessGroupedMatmulSfGet(MlirOperation op);
/// As gqBlockQuantizeCreate.
MLIR_CAPI_EXPORTED MlirOperation gqPreprocessGroupedMatmulSfCreate(
    MlirLocation location, const gqPreprocessGroupedMatmulSf *desc);

enum {
  /// The most inputs that a gq.grouped_block_quantize can have.
  GQ_MAX_INPUTS = 8,
};

/// gq.grouped_block_quantize; docs/Dialect.md says what the operands hold. All
/// but inputs and offsets are optional.
typedef struct gqGroupedBlockQuantize {
  gqFormat format;
  gqRecipe recipe;
  gqScaleLayout scaleLayout;
  gqRows rows;
  /// f32, bf16 or f16. Without a producer one of [M, K], of [N, K] if there
  /// are row indices, or flat; with one, up to GQ_MAX_INPUTS of the extents
  /// that their maps ask for.
  intptr_t numInputs;
  MlirValue inputs[GQ_MAX_INPUTS];
  /// [M] i32 or i64: row m is read from row rowIndices[m] < N; optional.
  MlirValue rowIndices;
  /// An array of affine maps (m, k) -> ... or, for an input that is read by
  /// index, (m, k)[r] -> ..., one an input; null without a producer.
  MlirAttribute maps;
  /// Computes an element from those of the inputs; null if there is none. Get
  /// returns the operation's own region. Create takes its body and leaves it
  /// empty.
  MlirRegion producer;
  /// [G+1] or, with scale offsets, [G] i32 or i64.
  MlirValue offsets;
  /// [G] of the type of `offsets`.
  MlirValue scaleOffsets;
  /// [G] of the type of `offsets`, for ragged groups.
  MlirValue firstDims, lastDims;
  /// [] or [G] f32.
  MlirValue globalScale, outerAmax, columnwiseOuterAmax;
  /// [M, K], or flat.
  MlirValue data;
  /// [rows, K/block rounded up to 4] #gq.tile128x4, [M, K/block], or flat.
  MlirValue scales;
  /// [M, K], or flat.
  MlirValue columnwiseData;
  /// Flat.
  MlirValue columnwiseScales;
  /// [G] f32.
  MlirValue amax;
  /// [G, K] f32, bf16 or f16.
  MlirValue dbias;
  /// [G] of the type of `offsets`.
  MlirValue scaleOffsetsOut;
} gqGroupedBlockQuantize;

MLIR_CAPI_EXPORTED bool gqOperationIsAGroupedBlockQuantize(MlirOperation op);
MLIR_CAPI_EXPORTED gqGroupedBlockQuantize
gqGroupedBlockQuantizeGet(MlirOperation op);
/// As gqBlockQuantizeCreate.
MLIR_CAPI_EXPORTED MlirOperation gqGroupedBlockQuantizeCreate(
    MlirLocation location, const gqGroupedBlockQuantize *desc);

/// gq.grouped_mm.
typedef struct gqGroupedMm {
  gqFormat format;
  gqScaleLayout scaleLayout;
  /// [M, K] f4E2M1FN or [M, K/2] i8.
  MlirValue a;
  /// [G, N, K] f4E2M1FN or [G, N, K/2] i8.
  MlirValue b;
  /// [rows, K/block rounded up to 4] f8E4M3FN, #gq.tile128x4.
  MlirValue aScales;
  /// [G, N rounded up to 128, K/block rounded up to 4] f8E4M3FN,
  /// #gq.tile128x4.
  MlirValue bScales;
  /// [G+1] or [G] i32 or i64.
  MlirValue offsets;
  /// [G] of the type of `offsets`.
  MlirValue scaleOffsets;
  /// [G] f32; optional.
  MlirValue alpha;
  /// [M, N] f32, bf16 or f16.
  MlirValue out;
} gqGroupedMm;

MLIR_CAPI_EXPORTED bool gqOperationIsAGroupedMm(MlirOperation op);
MLIR_CAPI_EXPORTED gqGroupedMm gqGroupedMmGet(MlirOperation op);
/// As gqBlockQuantizeCreate.
MLIR_CAPI_EXPORTED MlirOperation gqGroupedMmCreate(MlirLocation location,
                                                   const gqGroupedMm *desc);

#ifdef __cplusplus
}
#endif

#endif // GQ_C_DIALECT_H
