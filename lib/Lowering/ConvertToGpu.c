//===- ConvertToGpu.c - convert-gq-to-gpu ------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each op becomes kernels (GpuKernel.h) of the device functions in
// runtime_kernels/kernels/: those of Kernels.h go through rows; where columns,
// column sums or groups of their own shapes ask for more, that of Tiles.h goes
// through tiles.
//
//===----------------------------------------------------------------------===//

#include "../IR/Checks.h"
#include "Functions.h"
#include "GpuKernel.h"
#include "GpuOverlap.h"
#include "Passes.h"
#include "Query.h"

#include "gq-c/Dialect.h"
#include "runtime_kernels/kernels/Launch.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <inttypes.h>
#include <string.h>

/// What the kernels of an op have in common.
typedef struct Launcher {
  MlirOperation module;
  gqBuilder builder;
  /// Of the calling thread.
  MlirValue stream;
  /// Kernels so far.
  int32_t *number;
} Launcher;

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

/// Declares the functions of gq/Runtime/Cuda.h that the launches call. False,
/// after an error, if the module has others of their names.
static bool declareHostFunctions(MlirOperation module) {
  MlirContext context = mlirOperationGetContext(module);
  MlirType pointer = mlirLLVMPointerTypeGet(context, 0);
  MlirType i64 = mlirIntegerTypeGet(context, 64);
  MlirType extents[] = {i64, i64, i64, i64, i64};
  const struct {
    const char *name;
    intptr_t numOperands;
    const MlirType *operands;
    const MlirType *result;
  } functions[] = {
      {"gqGetStream", 0, NULL, &pointer},
      {"gqStreamStatusWord", 1, &pointer, &pointer},
      {"gqKernelGrid", 3, extents, &i64},
      {"gqTilesGrid", 5, extents, &i64},
      {"gqTilesWorkspace", 4, extents, &i64},
      {"gqReduceTilesGrid", 4, extents, &i64},
  };
  for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); ++i)
    if (!gqDeclareFunction(
            module, functions[i].name,
            mlirFunctionTypeGet(context, functions[i].numOperands,
                                functions[i].operands, 1, functions[i].result)))
      return false;
  return true;
}

static MlirValue buildHostCall(const Launcher *launcher, const char *name,
                               intptr_t numOperands, const MlirValue *operands,
                               MlirType result) {
  return mlirOperationGetResult(
      gqBuildCall(&launcher->builder, name, numOperands, operands, 1, &result),
      0);
}

static MlirType i64Type(const Launcher *launcher) {
  return mlirIntegerTypeGet(launcher->builder.context, 64);
}

static MlirValue buildI64(const Launcher *launcher, int64_t value) {
  return gqBuildConstant(&launcher->builder, i64Type(launcher), value);
}

/// The address of the stream's status word, in global memory.
static MlirValue buildStatusWord(const Launcher *launcher) {
  MlirValue word =
      buildHostCall(launcher, "gqStreamStatusWord", 1, &launcher->stream,
                    mlirLLVMPointerTypeGet(launcher->builder.context, 0));
  return gqBuildValue(&launcher->builder, "llvm.ptrtoint", 1, &word,
                      i64Type(launcher));
}

/// Launches a kernel with as many CTAs as the host function `grid` says.
static bool launch(const Launcher *launcher, gqGpuKernel *kernel,
                   const char *grid, intptr_t numOperands,
                   const MlirValue *operands) {
  char symbol[32];
  snprintf(symbol, sizeof(symbol), "gq_kernels_%" PRId32,
           (*launcher->number)++);
  return gqGpuKernelLaunch(
      kernel, launcher->module, symbol,
      buildHostCall(launcher, grid, numOperands, operands, i64Type(launcher)),
      launcher->stream);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static gqExtent fixedExtent(const Launcher *launcher, int64_t extent) {
  return (gqExtent){buildI64(launcher, extent), extent};
}

/// `extent` of a buffer times a constant.
static gqExtent buildExtent(const Launcher *launcher, MlirValue buffer,
                            intptr_t dim, int64_t factor) {
  int64_t extent = gqDim(buffer, dim);
  if (extent != GQ_DYNAMIC)
    return fixedExtent(launcher, extent * factor);
  MlirValue size = gqBuildBufferValues(&launcher->builder, buffer).sizes[dim];
  MlirValue factors[] = {size, buildI64(launcher, factor)};
  return (gqExtent){factor == 1 ? size
                                : gqBuildValue(&launcher->builder, "arith.muli",
                                               2, factors, i64Type(launcher)),
                    GQ_DYNAMIC};
}

/// How many elements an entry of `data` is.
static int64_t elementsOf(MlirValue data) {
  return mlirTypeIsAInteger(
             mlirShapedTypeGetElementType(mlirValueGetType(data)))
             ? 2
             : 1;
}

/// M (`dim` 0) or K (1) of an op on groups of rows.
static gqExtent findExtent(const Launcher *launcher,
                           const gqGroupedBlockQuantize *desc, intptr_t dim) {
  intptr_t position;
  MlirValue operand = gqGroupedBlockQuantizeFindExtent(desc, dim, &position);
  return buildExtent(launcher, operand, position,
                     dim == 1 ? elementsOf(operand) : 1);
}

/// The entries of `offsets`, null for none.
static gqExtent buildNumOffsets(const Launcher *launcher, MlirValue offsets) {
  return mlirValueIsNull(offsets) ? fixedExtent(launcher, 0)
                                  : buildExtent(launcher, offsets, 0, 1);
}

/// G. Without offsets all rows are one group.
static gqExtent buildGroups(const Launcher *launcher, MlirValue offsets,
                            MlirValue scaleOffsets) {
  if (mlirValueIsNull(offsets))
    return fixedExtent(launcher, 1);
  if (!mlirValueIsNull(scaleOffsets))
    return buildExtent(launcher, scaleOffsets, 0, 1);
  gqExtent entries = buildExtent(launcher, offsets, 0, 1);
  if (entries.fixed != GQ_DYNAMIC)
    return fixedExtent(launcher, entries.fixed - 1);
  MlirValue terms[] = {entries.value, buildI64(launcher, 1)};
  return (gqExtent){gqBuildValue(&launcher->builder, "arith.subi", 2, terms,
                                 i64Type(launcher)),
                    GQ_DYNAMIC};
}

/// The width of the integers of a buffer, of none that of any.
static int32_t integerBits(MlirValue buffer) {
  if (mlirValueIsNull(buffer))
    return 32;
  return (int32_t)mlirIntegerTypeGetWidth(
      mlirShapedTypeGetElementType(mlirValueGetType(buffer)));
}

static gqElementType elementType(MlirType element) {
  return mlirTypeIsABF16(element)  ? GQ_BF16
         : mlirTypeIsAF16(element) ? GQ_F16
                                   : GQ_F32;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// The address of an optional operand.
static void passBuffer(const Launcher *launcher, gqGpuKernel *kernel,
                       const char *name, MlirValue buffer) {
  gqGpuKernelPassPointer(
      kernel, name,
      mlirValueIsNull(buffer)
          ? buffer
          : gqBuildBufferValues(&launcher->builder, buffer).address);
}

static MlirValue buildStride(const Launcher *launcher, MlirValue buffer) {
  gqBufferValues values = gqBuildBufferValues(&launcher->builder, buffer);
  int64_t size = gqElementTypeSize(values.type);
  MlirValue factors[] = {values.strides[0], buildI64(launcher, size)};
  return size == 1 ? factors[0]
                   : gqBuildValue(&launcher->builder, "arith.muli", 2, factors,
                                  i64Type(launcher));
}

/// The bytes from one row to the next of an optional operand; 0 of one that is
/// flat.
static void passStride(const Launcher *launcher, gqGpuKernel *kernel,
                       const char *name, MlirValue buffer) {
  if (mlirValueIsNull(buffer) ||
      mlirShapedTypeGetRank(mlirValueGetType(buffer)) == 1)
    gqGpuKernelPassConstant(kernel, name, "i64", 0);
  else
    gqGpuKernelPassInteger(kernel, name, buildStride(launcher, buffer));
}

/// The number of elements of an optional operand without gaps.
static void passSize(const Launcher *launcher, gqGpuKernel *kernel,
                     const char *name, MlirValue buffer) {
  if (mlirValueIsNull(buffer)) {
    gqGpuKernelPassConstant(kernel, name, "i64", 0);
    return;
  }
  gqBufferValues values = gqBuildBufferValues(&launcher->builder, buffer);
  gqGpuKernelPassInteger(kernel, name,
                         values.rank == 1
                             ? values.sizes[0]
                             : gqBuildValue(&launcher->builder, "arith.muli", 2,
                                            values.sizes, i64Type(launcher)));
}

/// offsets, scale_offsets and their lengths.
static void passGroups(const Launcher *launcher, gqGpuKernel *kernel,
                       MlirValue offsets, MlirValue scaleOffsets) {
  passBuffer(launcher, kernel, "offsets", offsets);
  gqGpuKernelPassExtent(kernel, "num_offsets",
                        buildExtent(launcher, offsets, 0, 1));
  passBuffer(launcher, kernel, "scale_offsets", scaleOffsets);
  gqGpuKernelPassExtent(kernel, "groups",
                        buildGroups(launcher, offsets, scaleOffsets));
}

/// The number of rows that each input which is read by index has.
static MlirValue buildSourceRows(const Launcher *launcher,
                                 const gqGroupedBlockQuantize *desc) {
  const gqBuilder *builder = &launcher->builder;
  MlirValue rows = {NULL};
  for (intptr_t i = 0; i < desc->numInputs; ++i) {
    if (!mlirAttributeIsNull(desc->maps) &&
        !gqIsGatherMap(
            mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(desc->maps, i))))
      continue;
    MlirValue both[] = {rows,
                        gqBuildBufferValues(builder, desc->inputs[i]).sizes[0]};
    rows = mlirValueIsNull(rows) ? both[1]
                                 : gqBuildValue(builder, "arith.minsi", 2, both,
                                                i64Type(launcher));
  }
  return rows;
}

/// row_indices and source_rows.
static void passRowIndices(const Launcher *launcher, gqGpuKernel *kernel,
                           const gqGroupedBlockQuantize *desc) {
  passBuffer(launcher, kernel, "row_indices", desc->rowIndices);
  if (mlirValueIsNull(desc->rowIndices)) {
    gqGpuKernelPassConstant(kernel, "source_rows", "i64", 0);
    return;
  }
  kernel->rowIndexBits = integerBits(desc->rowIndices);
  gqGpuKernelPassInteger(kernel, "source_rows",
                         buildSourceRows(launcher, desc));
}

static void addInputs(gqGpuKernel *kernel, const gqGroupedBlockQuantize *desc) {
  kernel->producer = desc->producer;
  for (intptr_t i = 0; i < desc->numInputs; ++i)
    gqGpuKernelAddInput(kernel, desc->inputs[i],
                        mlirAttributeIsNull(desc->maps)
                            ? (MlirAffineMap){NULL}
                            : mlirAffineMapAttrGetValue(
                                  mlirArrayAttrGetElement(desc->maps, i)));
}

//===----------------------------------------------------------------------===//
// Kernels of rows
//===----------------------------------------------------------------------===//

static bool launchGroupedBlockQuantize(const Launcher *launcher,
                                       const gqGroupedBlockQuantize *desc,
                                       MlirValue statusWord) {
  gqGpuKernel kernel =
      gqGpuKernelBegin(&launcher->builder, "grouped_block_quantize",
                       "grouped_block_quantize", GQ_DEV_CTA);
  MlirValue outer = gqOuterScale(desc, &desc->rowwise);
  bool packed = desc->scaleLayout == GQ_SCALE_LAYOUT_TILE128X4 &&
                mlirValueIsNull(desc->scaleOffsets);
  addInputs(&kernel, desc);
  // For so many registers suffice, without this the assembler may spill to have
  // more CTAs. Others take more registers.
  if (mlirValueIsNull(desc->rowIndices) && mlirRegionIsNull(desc->producer) &&
      strcmp(kernel.inputs[0].type, "f32"))
    kernel.minCtas =
        GQ_DEV_CTAS_PER_MULTIPROCESSOR - !mlirValueIsNull(outer) - packed;
  gqExtent rows = findExtent(launcher, desc, 0);
  gqExtent columns = findExtent(launcher, desc, 1);
  gqGpuKernelPassExtent(&kernel, "rows", rows);
  gqGpuKernelPassExtent(&kernel, "columns", columns);
  passRowIndices(launcher, &kernel, desc);
  passGroups(launcher, &kernel, desc->offsets, desc->scaleOffsets);
  passBuffer(launcher, &kernel, "outer", outer);
  passBuffer(launcher, &kernel, "data", desc->rowwise.data);
  passStride(launcher, &kernel, "data_stride", desc->rowwise.data);
  passBuffer(launcher, &kernel, "scales", desc->rowwise.scales);
  passStride(launcher, &kernel, "scales_stride", desc->rowwise.scales);
  gqGpuKernelPassExtent(&kernel, "scale_rows",
                        buildExtent(launcher, desc->rowwise.scales, 0, 1));
  passBuffer(launcher, &kernel, "scale_offsets_out", desc->scaleOffsetsOut);
  gqGpuKernelPassPointer(&kernel, "status", statusWord);
  gqGpuKernelPassConstant(&kernel, "format", "i32", desc->format);
  gqGpuKernelPassConstant(&kernel, "recipe", "i32", desc->recipe);
  gqGpuKernelPassConstant(&kernel, "scale_layout", "i32", desc->scaleLayout);
  gqGpuKernelPassConstant(&kernel, "packed", "i32", packed);
  gqGpuKernelPassConstant(&kernel, "rows_mode", "i32", desc->rows);
  gqGpuKernelPassConstant(&kernel, "offset_bits", "i32",
                          integerBits(desc->offsets));
  gqGpuKernelPassConstant(&kernel, "outer_kind", "i32", gqOuterKindOf(outer));
  gqGpuKernelPassConstant(&kernel, "row_index_bits", "i32",
                          kernel.rowIndexBits);
  MlirValue extents[] = {
      rows.value, columns.value,
      buildGroups(launcher, desc->offsets, desc->scaleOffsets).value};
  return launch(launcher, &kernel, "gqKernelGrid", 3, extents);
}

static bool launchBlockQuantize(const Launcher *launcher,
                                const gqBlockQuantize *desc) {
  gqGpuKernel kernel = gqGpuKernelBegin(&launcher->builder, "block_quantize",
                                        "block_quantize", GQ_DEV_CTA);
  gqGpuKernelAddInput(&kernel, desc->input, (MlirAffineMap){NULL});
  gqExtent rows = buildExtent(launcher, desc->data, 0, 1);
  gqExtent columns =
      buildExtent(launcher, desc->data, 1, elementsOf(desc->data));
  gqGpuKernelPassExtent(&kernel, "rows", rows);
  gqGpuKernelPassExtent(&kernel, "columns", columns);
  passBuffer(launcher, &kernel, "outer", desc->globalScale);
  passBuffer(launcher, &kernel, "data", desc->data);
  passStride(launcher, &kernel, "data_stride", desc->data);
  passBuffer(launcher, &kernel, "scales", desc->scales);
  passStride(launcher, &kernel, "scales_stride", desc->scales);
  gqGpuKernelPassConstant(&kernel, "format", "i32", desc->format);
  gqGpuKernelPassConstant(&kernel, "recipe", "i32", GQ_RECIPE_NVFUSER);
  gqGpuKernelPassConstant(&kernel, "outer_kind", "i32",
                          gqOuterKindOf(desc->globalScale));
  MlirValue extents[] = {rows.value, columns.value, buildI64(launcher, 0)};
  return launch(launcher, &kernel, "gqKernelGrid", 3, extents);
}

static bool
launchPreprocessGroupedMatmulSf(const Launcher *launcher,
                                const gqPreprocessGroupedMatmulSf *desc,
                                MlirValue statusWord) {
  gqGpuKernel kernel =
      gqGpuKernelBegin(&launcher->builder, "preprocess_grouped_matmul_sf",
                       "preprocess_grouped_matmul_sf", GQ_DEV_CTA);
  gqExtent rows = buildExtent(launcher, desc->input, 0, 1);
  passBuffer(launcher, &kernel, "linear", desc->input);
  passStride(launcher, &kernel, "linear_stride", desc->input);
  gqGpuKernelPassExtent(&kernel, "rows", rows);
  gqGpuKernelPassExtent(&kernel, "scale_columns",
                        buildExtent(launcher, desc->input, 1, 1));
  passGroups(launcher, &kernel, desc->offsets, desc->scaleOffsets);
  passBuffer(launcher, &kernel, "scales", desc->scales);
  gqGpuKernelPassExtent(&kernel, "scale_rows",
                        buildExtent(launcher, desc->scales, 0, 1));
  gqGpuKernelPassPointer(&kernel, "status", statusWord);
  gqGpuKernelPassConstant(&kernel, "format", "i32", desc->format);
  gqGpuKernelPassConstant(&kernel, "offset_bits", "i32",
                          integerBits(desc->offsets));
  MlirValue extents[] = {
      rows.value,
      buildExtent(launcher, desc->input, 1, gqFormatBlockSize(desc->format))
          .value,
      buildGroups(launcher, desc->offsets, desc->scaleOffsets).value};
  return launch(launcher, &kernel, "gqKernelGrid", 3, extents);
}

//===----------------------------------------------------------------------===//
// The kernel of tiles
//===----------------------------------------------------------------------===//

/// What the kernel computes: GQ_DEV_ bits of `parts`.
static int32_t partsOf(const gqGroupedBlockQuantize *desc) {
  const struct {
    MlirValue operand;
    int32_t part;
  } table[] = {
      {desc->rowwise.data, GQ_DEV_ROWWISE},
      {desc->columnwise.data, GQ_DEV_COLUMNWISE},
      {desc->amax, GQ_DEV_AMAX},
      {desc->dbias, GQ_DEV_DBIAS},
      {desc->scaleOffsetsOut, GQ_DEV_SCALE_OFFSETS_OUT},
      {desc->scaleOffsets, GQ_DEV_SCALE_OFFSETS},
      {desc->firstDims, GQ_DEV_RAGGED},
  };
  int32_t parts = 0;
  for (size_t i = 0; i < sizeof(table) / sizeof(*table); ++i)
    if (!mlirValueIsNull(table[i].operand))
      parts |= table[i].part;
  return parts;
}

/// The type in which the elements to quantize are exact.
static gqElementType heldType(const gqGroupedBlockQuantize *desc) {
  if (mlirRegionIsNull(desc->producer))
    return elementType(
        mlirShapedTypeGetElementType(mlirValueGetType(desc->inputs[0])));
  MlirOperation yield =
      mlirBlockGetTerminator(mlirRegionGetFirstBlock(desc->producer));
  return elementType(mlirValueGetType(mlirOperationGetOperand(yield, 0)));
}

/// memref.alloc of `bytes`, an i64.
static MlirValue buildAlloc(const gqBuilder *builder, MlirValue bytes) {
  MlirContext context = builder->context;
  MlirValue size = gqBuildValue(builder, "arith.index_cast", 1, &bytes,
                                mlirIndexTypeGet(context));
  const int64_t extents[] = {mlirShapedTypeGetDynamicSize()};
  MlirType type = mlirMemRefTypeContiguousGet(mlirIntegerTypeGet(context, 8), 1,
                                              extents, mlirAttributeGetNull());
  int32_t segments[] = {1, 0};
  MlirNamedAttribute attribute =
      gqAttribute(context, "operandSegmentSizes",
                  mlirDenseI32ArrayGet(context, 2, segments));
  return mlirOperationGetResult(
      gqBuild(builder, "memref.alloc", 1, &size, 1, &type, 1, &attribute), 0);
}

/// What amax and dbias are made of, `workspace` holds group by group.
static bool launchReduceTiles(const Launcher *launcher,
                              const gqGroupedBlockQuantize *desc,
                              MlirValue workspace, gqExtent rows,
                              gqExtent columns, gqExtent groups) {
  gqGpuKernel kernel =
      gqGpuKernelBegin(&launcher->builder, "grouped_block_quantize_reduce",
                       "reduce_tiles", GQ_DEV_TILES_CTA);
  int32_t parts = partsOf(desc);
  passBuffer(launcher, &kernel, "workspace", workspace);
  gqGpuKernelPassExtent(&kernel, "rows", rows);
  gqGpuKernelPassExtent(&kernel, "columns", columns);
  gqGpuKernelPassExtent(&kernel, "groups", groups);
  passBuffer(launcher, &kernel, "amax", desc->amax);
  passBuffer(launcher, &kernel, "dbias", desc->dbias);
  gqGpuKernelPassConstant(&kernel, "parts", "i32", parts);
  gqGpuKernelPassConstant(&kernel, "dbias_type", "i32",
                          mlirValueIsNull(desc->dbias)
                              ? GQ_F32
                              : elementType(mlirShapedTypeGetElementType(
                                    mlirValueGetType(desc->dbias))));
  MlirValue extents[] = {rows.value, columns.value, groups.value,
                         buildI64(launcher, parts)};
  return launch(launcher, &kernel, "gqReduceTilesGrid", 4, extents);
}

static bool launchTiles(const Launcher *launcher,
                        const gqGroupedBlockQuantize *desc,
                        MlirValue statusWord) {
  gqGpuKernel kernel =
      gqGpuKernelBegin(&launcher->builder, "grouped_block_quantize",
                       "grouped_block_quantize_tiles", GQ_DEV_TILES_CTA);
  bool ragged = gqIsRagged(desc);
  int32_t parts = partsOf(desc);
  kernel.minCtas = gq_dev_tiles_ctas(desc->format, parts & GQ_DEV_COLUMNWISE,
                                     heldType(desc));
  gqExtent rows = ragged ? buildExtent(launcher, desc->inputs[0], 0, 1)
                         : findExtent(launcher, desc, 0);
  gqExtent columns =
      ragged ? fixedExtent(launcher, 1) : findExtent(launcher, desc, 1);
  gqExtent groups = buildGroups(launcher, desc->offsets, desc->scaleOffsets);
  MlirValue outer = gqOuterScale(desc, &desc->rowwise);
  MlirValue columnwiseOuter = gqOuterScale(desc, &desc->columnwise);
  bool reduces = parts & (GQ_DEV_AMAX | GQ_DEV_DBIAS);
  MlirValue workspace = {NULL};
  if (reduces) {
    MlirValue operands[] = {rows.value, columns.value, groups.value,
                            buildI64(launcher, parts)};
    workspace = buildAlloc(&launcher->builder,
                           buildHostCall(launcher, "gqTilesWorkspace", 4,
                                         operands, i64Type(launcher)));
  }

  addInputs(&kernel, desc);
  gqGpuKernelPassExtent(&kernel, "rows", rows);
  gqGpuKernelPassExtent(&kernel, "columns", columns);
  passRowIndices(launcher, &kernel, desc);
  passBuffer(launcher, &kernel, "offsets", desc->offsets);
  gqGpuKernelPassExtent(&kernel, "num_offsets",
                        buildNumOffsets(launcher, desc->offsets));
  passBuffer(launcher, &kernel, "scale_offsets", desc->scaleOffsets);
  passBuffer(launcher, &kernel, "first_dims", desc->firstDims);
  passBuffer(launcher, &kernel, "last_dims", desc->lastDims);
  gqGpuKernelPassExtent(&kernel, "groups", groups);
  passBuffer(launcher, &kernel, "outer", outer);
  passBuffer(launcher, &kernel, "columnwise_outer", columnwiseOuter);
  passBuffer(launcher, &kernel, "data", desc->rowwise.data);
  passStride(launcher, &kernel, "data_stride", desc->rowwise.data);
  passBuffer(launcher, &kernel, "scales", desc->rowwise.scales);
  passStride(launcher, &kernel, "scales_stride", desc->rowwise.scales);
  passSize(launcher, &kernel, "scales_size", desc->rowwise.scales);
  passBuffer(launcher, &kernel, "columnwise_data", desc->columnwise.data);
  passStride(launcher, &kernel, "columnwise_data_stride",
             desc->columnwise.data);
  passSize(launcher, &kernel, "columnwise_data_size", desc->columnwise.data);
  passBuffer(launcher, &kernel, "columnwise_scales", desc->columnwise.scales);
  passSize(launcher, &kernel, "columnwise_scales_size",
           desc->columnwise.scales);
  passBuffer(launcher, &kernel, "scale_offsets_out", desc->scaleOffsetsOut);
  passBuffer(launcher, &kernel, "workspace", workspace);
  gqGpuKernelPassPointer(&kernel, "status", statusWord);
  gqGpuKernelPassConstant(&kernel, "parts", "i32", parts);
  gqGpuKernelPassConstant(&kernel, "format", "i32", desc->format);
  gqGpuKernelPassConstant(&kernel, "recipe", "i32", desc->recipe);
  gqGpuKernelPassConstant(&kernel, "scale_layout", "i32", desc->scaleLayout);
  gqGpuKernelPassConstant(&kernel, "rows_mode", "i32", desc->rows);
  gqGpuKernelPassConstant(&kernel, "offset_bits", "i32",
                          integerBits(desc->offsets));
  gqGpuKernelPassConstant(&kernel, "outer_kind", "i32", gqOuterKindOf(outer));
  gqGpuKernelPassConstant(&kernel, "columnwise_outer_kind", "i32",
                          gqOuterKindOf(columnwiseOuter));
  gqGpuKernelPassConstant(&kernel, "row_index_bits", "i32",
                          kernel.rowIndexBits);
  gqGpuKernelPassConstant(&kernel, "held_type", "i32", heldType(desc));
  MlirValue extents[] = {
      rows.value, columns.value, groups.value,
      buildI64(launcher, kernel.minCtas),
      buildI64(launcher, gqFormatGetTraits(desc->format).dataBits)};
  bool valid = launch(launcher, &kernel, "gqTilesGrid", 5, extents);
  if (reduces) {
    valid = valid &&
            launchReduceTiles(launcher, desc, workspace, rows, columns, groups);
    gqBuild(&launcher->builder, "memref.dealloc", 1, &workspace, 0, NULL, 0,
            NULL);
  }
  return valid;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Whether a kernel of rows computes all of it.
static bool hasOnlyRows(const gqGroupedBlockQuantize *desc) {
  int32_t parts = partsOf(desc);
  return gqFormatGetTraits(desc->format).blockRows == 1 &&
         (parts == GQ_DEV_ROWWISE ||
          parts == (GQ_DEV_ROWWISE | GQ_DEV_SCALE_OFFSETS) ||
          (parts == (GQ_DEV_ROWWISE | GQ_DEV_SCALE_OFFSETS_OUT) &&
           desc->scaleLayout == GQ_SCALE_LAYOUT_TILE128X4));
}

/// gq.block_quantize as an op on one group of all rows.
static gqGroupedBlockQuantize groupOfAllRows(const gqBlockQuantize *desc) {
  return (gqGroupedBlockQuantize){
      .format = desc->format,
      .recipe = GQ_RECIPE_NVFUSER,
      .scaleLayout = desc->scaleLayout,
      .rows = GQ_ROWS_GROUPED,
      .numInputs = 1,
      .inputs = {desc->input},
      .globalScale = desc->globalScale,
      .rowwise = {.data = desc->data, .scales = desc->scales}};
}

static bool launchOp(const Launcher *launcher, MlirOperation op) {
  if (gqOperationIsABlockQuantize(op)) {
    gqBlockQuantize desc = gqBlockQuantizeGet(op);
    if (gqFormatGetTraits(desc.format).blockRows == 1)
      return launchBlockQuantize(launcher, &desc);
    gqGroupedBlockQuantize group = groupOfAllRows(&desc);
    return launchTiles(launcher, &group, buildStatusWord(launcher));
  }
  MlirValue statusWord = buildStatusWord(launcher);
  if (gqOperationIsAPreprocessGroupedMatmulSf(op)) {
    gqPreprocessGroupedMatmulSf desc = gqPreprocessGroupedMatmulSfGet(op);
    return launchPreprocessGroupedMatmulSf(launcher, &desc, statusWord);
  }
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
  return hasOnlyRows(&desc)
             ? launchGroupedBlockQuantize(launcher, &desc, statusWord)
             : launchTiles(launcher, &desc, statusWord);
}

static bool convert(MlirOperation module, MlirOperation op, int32_t *number) {
  if (gqOperationIsAGroupedMm(op))
    return gqOpError(op, "has no GPU kernel yet");
  if (!gqCheckLowerable(op))
    return false;
  if (mlirOperationIsNull(gqEnclosingFunction(op, module)))
    return gqOpError(op, "needs to be in a func.func of the module itself to "
                         "be lowered to kernels");
  Launcher launcher = {
      .module = module, .builder = gqBuilderBefore(op), .number = number};
  launcher.stream =
      buildHostCall(&launcher, "gqGetStream", 0, NULL,
                    mlirLLVMPointerTypeGet(launcher.builder.context, 0));
  if (!gqBuildOverlapCheck(&launcher.builder, module, op))
    return false;
  if (!launchOp(&launcher, op))
    return gqOpError(op, "has become a kernel that does not parse");
  mlirOperationDestroy(op);
  return true;
}

MlirLogicalResult gqConvertToGpu(MlirOperation module) {
  gqOpList ops = gqCollect(module, gqIsComputeOp);
  bool valid = ops.size == 0 || declareHostFunctions(module);
  int32_t number = 0;
  if (valid)
    for (intptr_t i = 0; i < ops.size; ++i)
      valid &= convert(module, ops.ops[i], &number);
  if (ops.size)
    mlirOperationSetAttributeByName(
        module, mlirStringRefCreateFromCString("gpu.container_module"),
        mlirUnitAttrGet(mlirOperationGetContext(module)));
  gqOpListFree(&ops);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
