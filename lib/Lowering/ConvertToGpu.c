//===- ConvertToGpu.c - convert-gq-to-gpu ------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each op becomes kernels (GpuKernel.h) of the device functions in
// runtime_kernels/kernels/: quantize_rows and swizzle_scales go through rows;
// where columns, column sums or groups of their own shapes ask for more,
// quantize_tiles goes through tiles. Those of grouped_mm are of the same
// operands, one or several for an op, of which each launch runs one.
//
//===----------------------------------------------------------------------===//

#include "../IR/Checks.h"
#include "../IR/ElementType.h"
#include "ChooseKernels.h"
#include "Functions.h"
#include "FuseQuantization.h"
#include "Fusion.h"
#include "GpuKernel.h"
#include "GpuOperands.h"
#include "Passes.h"
#include "Query.h"

#include "gq-c/Dialect.h"
#include "runtime_kernels/layout/Tile128x4.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/// What the kernels of an op share.
typedef struct Launcher {
  MlirOperation module;
  gqBuilder builder;
  /// Of the calling thread.
  MlirValue stream;
  /// Kernels so far.
  int32_t *number;
  /// The op that they are for.
  const char *chip;
} Launcher;

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

/// Declares the functions of gq/Runtime/Cuda.h that the launches call. False,
/// after an error, if the module has others of their names.
static bool declareHostFunctions(MlirOperation module) {
  MlirContext context = mlirOperationGetContext(module);
  MlirType pointer = mlirLLVMPointerTypeGet(context, 0);
  const struct {
    const char *name;
    intptr_t numOperands;
    const MlirType *operands;
    const MlirType *result;
  } functions[] = {
      {"gqGetStream", 0, NULL, &pointer},
      {"gqStreamStatusWord", 1, &pointer, &pointer},
  };
  for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); ++i)
    if (!gqDeclareFunction(
            module, functions[i].name,
            mlirFunctionTypeGet(context, functions[i].numOperands,
                                functions[i].operands, 1, functions[i].result)))
      return false;
  return gqGpuDeclarePlan(module);
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

/// Launches a kernel of a family with as many CTAs as `plan` says.
static bool launch(const Launcher *launcher, gqKernelFamily family,
                   const char *name, const void *operands, gq_dev_bounds bounds,
                   gqGpuPlan plan) {
  char symbol[32];
  snprintf(symbol, sizeof(symbol), "gq_kernels_%" PRId32,
           (*launcher->number)++);
  gqGpuKernel kernel = {symbol, name, family, operands, bounds};
  return gqGpuKernelLaunch(&kernel, &launcher->builder, launcher->module,
                           plan.grid, launcher->stream);
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

/// The entries of an optional operand of one dimension.
static gqExtent buildCount(const Launcher *launcher, MlirValue buffer) {
  return mlirValueIsNull(buffer) ? fixedExtent(launcher, 0)
                                 : buildExtent(launcher, buffer, 0, 1);
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

/// The width of a buffer's integers; any width if there is no buffer.
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

/// The element type of an optional buffer; any type if it is absent.
static gqElementType elementTypeOf(MlirValue buffer) {
  gqElementType type = GQ_F32;
  if (!mlirValueIsNull(buffer))
    gqElementTypeOf(mlirShapedTypeGetElementType(mlirValueGetType(buffer)),
                    &type);
  return type;
}

/// The address of an optional operand.
static gqGpuAddress buildAddress(const Launcher *launcher, MlirValue buffer) {
  return (gqGpuAddress){
      true, mlirValueIsNull(buffer)
                ? buffer
                : gqBuildBufferValues(&launcher->builder, buffer).address};
}

static const gqGpuAddress noAddress = {.given = true};

/// The type of the elements that an epilogue takes; without one, of `out`.
static gqElementType valueTypeOf(MlirRegion epilogue, MlirValue out) {
  return mlirRegionIsNull(epilogue)
             ? elementTypeOf(out)
             : elementType(mlirValueGetType(
                   mlirBlockGetArgument(mlirRegionGetFirstBlock(epilogue), 0)));
}

/// The address of the stream's status word.
static gqGpuAddress buildStatusWord(const Launcher *launcher) {
  MlirValue word =
      buildHostCall(launcher, "gqStreamStatusWord", 1, &launcher->stream,
                    mlirLLVMPointerTypeGet(launcher->builder.context, 0));
  return (gqGpuAddress){true, gqBuildValue(&launcher->builder, "llvm.ptrtoint",
                                           1, &word, i64Type(launcher))};
}

/// a * b
static gqExtent buildProduct(const Launcher *launcher, MlirValue a,
                             MlirValue b) {
  MlirValue factors[] = {a, b};
  return (gqExtent){gqBuildValue(&launcher->builder, "arith.muli", 2, factors,
                                 i64Type(launcher)),
                    GQ_DYNAMIC};
}

/// An operation on extents, a constant where both are.
static gqExtent buildArithmetic(const Launcher *launcher, const char *name,
                                gqExtent a, gqExtent b, int64_t fixed) {
  MlirValue both[] = {a.value, b.value};
  return a.fixed != GQ_DYNAMIC && b.fixed != GQ_DYNAMIC
             ? fixedExtent(launcher, fixed)
             : (gqExtent){gqBuildValue(&launcher->builder, name, 2, both,
                                       i64Type(launcher)),
                          GQ_DYNAMIC};
}

static gqExtent buildLesser(const Launcher *launcher, gqExtent a, gqExtent b) {
  return buildArithmetic(launcher, "arith.minsi", a, b,
                         a.fixed < b.fixed ? a.fixed : b.fixed);
}

/// The bytes from one row of an optional operand to the next; 0 if it is flat.
static gqExtent buildStride(const Launcher *launcher, MlirValue buffer) {
  if (mlirValueIsNull(buffer) ||
      mlirShapedTypeGetRank(mlirValueGetType(buffer)) == 1)
    return fixedExtent(launcher, 0);
  gqBufferValues values = gqBuildBufferValues(&launcher->builder, buffer);
  int64_t size = gqElementTypeSize(values.type);
  return size == 1 ? (gqExtent){values.strides[0], GQ_DYNAMIC}
                   : buildProduct(launcher, values.strides[0],
                                  buildI64(launcher, size));
}

/// The number of elements of an optional operand without gaps.
static gqExtent buildSize(const Launcher *launcher, MlirValue buffer) {
  if (mlirValueIsNull(buffer))
    return fixedExtent(launcher, 0);
  gqBufferValues values = gqBuildBufferValues(&launcher->builder, buffer);
  return values.rank == 1
             ? (gqExtent){values.sizes[0], GQ_DYNAMIC}
             : buildProduct(launcher, values.sizes[0], values.sizes[1]);
}

/// The number of rows that each input which is read by index has.
static gqExtent buildSourceRows(const Launcher *launcher,
                                const gqGroupedBlockQuantize *desc) {
  if (mlirValueIsNull(desc->rowIndices))
    return fixedExtent(launcher, 0);
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
  return (gqExtent){rows, GQ_DYNAMIC};
}

static gqGpuConstant constant(int32_t value) {
  return (gqGpuConstant){true, value};
}

/// The width of the row indices; 0 without any.
static int32_t rowIndexBits(const gqGroupedBlockQuantize *desc) {
  return mlirValueIsNull(desc->rowIndices) ? 0 : integerBits(desc->rowIndices);
}

static gqGpuHook buildHook(const Launcher *launcher,
                           const gqGroupedBlockQuantize *desc) {
  gqGpuHook hook = {.producer = desc->producer,
                    .rowIndexBits = rowIndexBits(desc)};
  for (intptr_t i = 0; i < desc->numInputs; ++i)
    gqGpuHookAddInput(&hook, &launcher->builder, desc->inputs[i],
                      mlirAttributeIsNull(desc->maps)
                          ? (MlirAffineMap){NULL}
                          : mlirAffineMapAttrGetValue(
                                mlirArrayAttrGetElement(desc->maps, i)));
  return hook;
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

//===----------------------------------------------------------------------===//
// Kernels of rows
//===----------------------------------------------------------------------===//

static bool isPacked(const gqGroupedBlockQuantize *desc) {
  return !mlirValueIsNull(desc->rowwise.scales) &&
         desc->scaleLayout == GQ_SCALE_LAYOUT_TILE128X4 &&
         mlirValueIsNull(desc->scaleOffsets);
}

/// The attribute of a direction as the kernels take it.
static int32_t packedTraits(const gqDirection *direction) {
  gqDirectionTraits traits = gqDirectionGetTraits(direction);
  return gqDirectionPack(&traits);
}

static gqQuantizeRowsOperands rowsOperands(const Launcher *launcher,
                                           const gqGroupedBlockQuantize *desc,
                                           gqGpuAddress statusWord) {
  MlirValue outer = gqOuterScale(desc, &desc->rowwise);
  return (gqQuantizeRowsOperands){
      .load = buildHook(launcher, desc),
      .rows = findExtent(launcher, desc, 0),
      .columns = findExtent(launcher, desc, 1),
      .rowIndices = buildAddress(launcher, desc->rowIndices),
      .sourceRows = buildSourceRows(launcher, desc),
      .offsets = buildAddress(launcher, desc->offsets),
      .numOffsets = buildCount(launcher, desc->offsets),
      .scaleOffsets = buildAddress(launcher, desc->scaleOffsets),
      .groups = buildGroups(launcher, desc->offsets, desc->scaleOffsets),
      .outer = buildAddress(launcher, outer),
      .rngState = buildAddress(launcher, desc->rngState),
      .data = buildAddress(launcher, desc->rowwise.data),
      .dataStride = buildStride(launcher, desc->rowwise.data),
      .scales = buildAddress(launcher, desc->rowwise.scales),
      .scalesStride = buildStride(launcher, desc->rowwise.scales),
      .scaleRows = buildCount(launcher, desc->rowwise.scales),
      .scaleOffsetsOut = buildAddress(launcher, desc->scaleOffsetsOut),
      .noopFlag = buildAddress(launcher, desc->noopFlag),
      .status = statusWord,
      .format = constant(desc->format),
      .recipe = constant(desc->recipe),
      .scaleLayout = constant(mlirValueIsNull(desc->rowwise.scales)
                                  ? GQ_SCALE_LAYOUT_LINEAR
                                  : desc->scaleLayout),
      .packed = constant(isPacked(desc)),
      .rowsMode = constant(desc->rows),
      .offsetBits = constant(integerBits(desc->offsets)),
      .outerKind = constant(gqOuterKindOfDirection(desc, &desc->rowwise)),
      .rowIndexBits = constant(rowIndexBits(desc)),
      .heldType = constant(heldType(desc)),
      .dataType = constant(elementTypeOf(desc->rowwise.data)),
      .loadsAhead = constant(false),
      .warpsPerPiece = constant(mlirRegionIsNull(desc->producer) ||
                                        !mlirValueIsNull(desc->rowIndices)
                                    ? 1
                                    : GQ_DEV_ROWS_PIECE_WARPS),
      .rowwiseTraits = constant(packedTraits(&desc->rowwise)),
  };
}

static bool launchGroupedBlockQuantize(const Launcher *launcher,
                                       const gqGroupedBlockQuantize *desc,
                                       gqGpuAddress statusWord) {
  bool hasOuter = !mlirValueIsNull(gqOuterScale(desc, &desc->rowwise));
  gqQuantizeRowsOperands operands = rowsOperands(launcher, desc, statusWord);
  bool numbers = gqHoldsNumbers(&desc->rowwise);
  bool draws = gqIsStochastic(desc); // There are only rows.
  gqGpuHook *hook = &operands.load;
  // There are registers for it where there is nothing else to hold.
  hook->ahead = !hasOuter && !isPacked(desc) && !numbers && !draws &&
                gqLoadsAhead(hook->producer, hook->inputs, hook->numInputs);
  operands.loadsAhead = constant(hook->ahead);
  bool onlyLoads = mlirValueIsNull(desc->rowIndices) && !numbers &&
                   mlirRegionIsNull(desc->producer) &&
                   operands.load.inputs[0].elementSize == 2;
  return launch(
      launcher, GQ_KERNEL_QUANTIZE_ROWS, "grouped_block_quantize", &operands,
      gq_dev_quantize_rows_bounds(onlyLoads, hook->ahead,
                                  hook->ahead &&
                                      gqDividesExactly(hook->producer),
                                  draws, hasOuter, isPacked(desc)),
      gqGpuBuildPlan(&launcher->builder, GQ_KERNEL_QUANTIZE_ROWS, &operands));
}

/// Rows whose amaxes the op computes and which a CTA can hold on the chip.
static bool launchWholeRows(const Launcher *launcher, MlirOperation op,
                            const gqGroupedBlockQuantize *desc,
                            gqGpuAddress statusWord) {
  int64_t columns = findExtent(launcher, desc, 1).fixed;
  gqDirectionTraits traits = gqDirectionGetTraits(&desc->rowwise);
  if (!mlirValueIsNull(desc->amax) || !mlirValueIsNull(desc->dbias) ||
      !gqDirectionIsUsual(&traits))
    return gqOpError(op,
                     "has no GPU kernel for 'row_amax' with 'amax', "
                     "'dbias' or the attributes of 'rowwise'; gq.grouped_amax "
                     "computes it");
  if (columns == GQ_DYNAMIC || !gq_dev_whole_rows_fit(columns))
    return gqOpError(op,
                     "requires a static K of at most %d bytes of elements for "
                     "'row_amax' on a GPU; gq.grouped_amax computes it for any "
                     "K",
                     GQ_DEV_WHOLE_ROWS_MEMORY / GQ_DEV_WHOLE_ROWS);
  gqQuantizeRowsOperands rows = rowsOperands(launcher, desc, statusWord);
  bool onlyLoads = mlirRegionIsNull(desc->producer) &&
                   !gqHoldsNumbers(&desc->rowwise) &&
                   rows.load.inputs[0].elementSize == 2;
  gq_dev_bounds bounds =
      gq_dev_quantize_whole_rows_bounds(columns, heldType(desc), onlyLoads);
  gqQuantizeWholeRowsOperands operands = {
#define GQ_SAME_OPERAND(ROLE, TYPE, NAME) .NAME = rows.NAME,
      GQ_QUANTIZE_ANY_ROWS_OPERANDS(GQ_SAME_OPERAND)
#undef GQ_SAME_OPERAND
          .rowAmax = buildAddress(launcher, desc->rowAmax),
      .ctas = constant(bounds.minCtas),
  };
  return launch(launcher, GQ_KERNEL_QUANTIZE_WHOLE_ROWS,
                "grouped_block_quantize_whole_rows", &operands, bounds,
                gqGpuBuildPlan(&launcher->builder,
                               GQ_KERNEL_QUANTIZE_WHOLE_ROWS, &operands));
}

static bool launchBlockQuantize(const Launcher *launcher,
                                const gqBlockQuantize *desc) {
  gqGpuHook hook = {.numInputs = 0};
  gqGpuHookAddInput(&hook, &launcher->builder, desc->input,
                    (MlirAffineMap){NULL});
  gqQuantizeRowsOperands operands = {
      .load = hook,
      .rows = buildExtent(launcher, desc->data, 0, 1),
      .columns = buildExtent(launcher, desc->data, 1, elementsOf(desc->data)),
      .rowIndices = noAddress,
      .sourceRows = fixedExtent(launcher, 0),
      .offsets = noAddress,
      .numOffsets = fixedExtent(launcher, 0),
      .scaleOffsets = noAddress,
      .groups = fixedExtent(launcher, 0),
      .outer = buildAddress(launcher, desc->globalScale),
      .rngState = noAddress,
      .data = buildAddress(launcher, desc->data),
      .dataStride = buildStride(launcher, desc->data),
      .scales = buildAddress(launcher, desc->scales),
      .scalesStride = buildStride(launcher, desc->scales),
      .scaleRows = fixedExtent(launcher, 0),
      .scaleOffsetsOut = noAddress,
      .noopFlag = noAddress,
      .status = noAddress,
      .format = constant(desc->format),
      .recipe = constant(GQ_RECIPE_NVFUSER),
      .scaleLayout = constant(GQ_SCALE_LAYOUT_LINEAR),
      .packed = constant(false),
      .rowsMode = constant(GQ_ROWS_ALL),
      .offsetBits = constant(0),
      .outerKind = constant(gqOuterKindOf(desc->globalScale)),
      .rowIndexBits = constant(0),
      .heldType = constant(elementType(
          mlirShapedTypeGetElementType(mlirValueGetType(desc->input)))),
      .dataType = constant(elementTypeOf(desc->data)),
      .loadsAhead = constant(false),
      .warpsPerPiece = constant(1),
      .rowwiseTraits = constant(0),
  };
  return launch(
      launcher, GQ_KERNEL_QUANTIZE_ROWS, "block_quantize", &operands,
      (gq_dev_bounds){.threads = GQ_DEV_QUANTIZE_ROWS_THREADS},
      gqGpuBuildPlan(&launcher->builder, GQ_KERNEL_QUANTIZE_ROWS, &operands));
}

static bool
launchPreprocessGroupedMatmulSf(const Launcher *launcher,
                                const gqPreprocessGroupedMatmulSf *desc,
                                gqGpuAddress statusWord) {
  gqSwizzleScalesOperands operands = {
      .linear = buildAddress(launcher, desc->input),
      .linearStride = buildStride(launcher, desc->input),
      .rows = buildExtent(launcher, desc->input, 0, 1),
      .scaleColumns = buildExtent(launcher, desc->input, 1, 1),
      .offsets = buildAddress(launcher, desc->offsets),
      .numOffsets = buildCount(launcher, desc->offsets),
      .scaleOffsets = buildAddress(launcher, desc->scaleOffsets),
      .groups = buildGroups(launcher, desc->offsets, desc->scaleOffsets),
      .scales = buildAddress(launcher, desc->scales),
      .scaleRows = buildExtent(launcher, desc->scales, 0, 1),
      .status = statusWord,
      .format = constant(desc->format),
      .offsetBits = constant(integerBits(desc->offsets)),
  };
  return launch(
      launcher, GQ_KERNEL_SWIZZLE_SCALES, "preprocess_grouped_matmul_sf",
      &operands, (gq_dev_bounds){.threads = GQ_DEV_SWIZZLE_SCALES_THREADS},
      gqGpuBuildPlan(&launcher->builder, GQ_KERNEL_SWIZZLE_SCALES, &operands));
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
      {desc->scaleInv, GQ_DEV_SCALE_INVERSES},
  };
  int32_t parts = 0;
  for (size_t i = 0; i < sizeof(table) / sizeof(*table); ++i)
    if (!mlirValueIsNull(table[i].operand))
      parts |= table[i].part;
  const gqDirection *directions[] = {&desc->rowwise, &desc->columnwise};
  for (size_t i = 0; i < 2; ++i) {
    gqDirectionTraits traits = gqDirectionGetTraits(directions[i]);
    parts |= gq_dev_parts_of_direction(&traits);
  }
  return parts;
}

/// memref.alloc of `bytes`, an i64.
static MlirValue buildAlloc(const gqBuilder *builder, MlirValue bytes,
                            int64_t fixed) {
  MlirContext context = builder->context;
  bool isFixed = fixed != GQ_DYNAMIC;
  const int64_t extents[] = {isFixed ? fixed : mlirShapedTypeGetDynamicSize()};
  MlirType type = mlirMemRefTypeContiguousGet(mlirIntegerTypeGet(context, 8), 1,
                                              extents, mlirAttributeGetNull());
  MlirValue size = {NULL};
  if (!isFixed)
    size = gqBuildValue(builder, "arith.index_cast", 1, &bytes,
                        mlirIndexTypeGet(context));
  int32_t segments[] = {!isFixed, 0};
  MlirNamedAttribute attribute =
      gqAttribute(context, "operandSegmentSizes",
                  mlirDenseI32ArrayGet(context, 2, segments));
  return mlirOperationGetResult(gqBuild(builder, "memref.alloc", !isFixed,
                                        &size, 1, &type, 1, &attribute),
                                0);
}

static void buildDealloc(const gqBuilder *builder, MlirValue buffer) {
  gqBuild(builder, "memref.dealloc", 1, &buffer, 0, NULL, 0, NULL);
}

/// Computes amax and dbias from what the kernel of tiles has stored for them.
static bool launchReduceTiles(const Launcher *launcher,
                              const gqGroupedBlockQuantize *desc,
                              const gqQuantizeTilesOperands *tiles) {
  gqReduceTilesOperands operands = {
      .workspace = tiles->workspace,
      .rows = tiles->rows,
      .columns = tiles->columns,
      .groups = tiles->groups,
      .noopFlag = tiles->noopFlag,
      .amax = buildAddress(launcher, desc->amax),
      .dbias = tiles->dbias,
      .parts = tiles->parts,
      .dbiasType = tiles->dbiasType,
  };
  return launch(
      launcher, GQ_KERNEL_REDUCE_TILES, "grouped_block_quantize_reduce",
      &operands, (gq_dev_bounds){.threads = GQ_DEV_REDUCE_TILES_THREADS},
      gqGpuBuildPlan(&launcher->builder, GQ_KERNEL_REDUCE_TILES, &operands));
}

/// Which kernels there are for the groups of an op: those that its rows may
/// make small, or large, or both where that is known to a launch only.
typedef struct Sizes {
  bool small, large;
} Sizes;

static Sizes sizesOfGroups(const gqGroupedBlockQuantize *desc,
                           const gqQuantizeTilesOperands *operands) {
  int64_t rows = operands->rows.fixed, columns = operands->columns.fixed;
  int64_t groups = operands->groups.fixed;
  // With a producer four CTAs have too few registers. What is reduced beside
  // codes of 4 bits was measured in both directions, dbias beside rows, too,
  // but not of float32.
  const int32_t both = GQ_DEV_ROWWISE | GQ_DEV_COLUMNWISE;
  int32_t parts = (int32_t)operands->parts.value;
  bool isShort = gqFormatGetTraits(desc->format).dataBits == 4;
  bool reduces = parts & (GQ_DEV_AMAX | GQ_DEV_DBIAS);
  bool isMeasured =
      operands->heldType.value != GQ_F32 &&
      ((parts & both) == both || !(parts & (GQ_DEV_COLUMNWISE | GQ_DEV_AMAX)));
  bool isUsual =
      !(parts & GQ_DEV_UNUSUAL) && (!isShort || !reduces || isMeasured);
  const gqDirectionTraits rowwise = gqDirectionGetTraits(&desc->rowwise);
  const gqDirectionTraits columnwise = gqDirectionGetTraits(&desc->columnwise);
  bool fourOverSix = gqDirectionHasFourOverSix(&rowwise) ||
                     gqDirectionHasFourOverSix(&columnwise);
  bool isTall =
      gq_dev_tiles_has_tall_lanes(parts, fourOverSix,
                                  (gqElementType)operands->heldType.value) &&
      mlirValueIsNull(desc->rowIndices);
  bool fits = (isUsual || isTall) && mlirRegionIsNull(operands->load.producer);
  if (!fits || !gq_dev_has_small_groups_kernel(
                   desc->format, desc->scaleLayout, operands->parts.value,
                   (gqElementType)operands->heldType.value))
    return (Sizes){false, true};
  if (columns == GQ_DYNAMIC || groups == GQ_DYNAMIC)
    return (Sizes){true, true};
  bool small = gq_dev_has_small_groups(
      desc->format, parts, rows == GQ_DYNAMIC ? 0 : rows, columns, groups);
  return (Sizes){small, !small || rows == GQ_DYNAMIC};
}

static bool launchTiles(const Launcher *launcher,
                        const gqGroupedBlockQuantize *desc,
                        gqGpuAddress statusWord) {
  bool ragged = gqIsRagged(desc);
  int32_t parts = partsOf(desc);
  MlirValue outer = gqOuterScale(desc, &desc->rowwise);
  MlirValue columnwiseOuter = gqOuterScale(desc, &desc->columnwise);
  gqQuantizeTilesOperands operands = {
      .load = buildHook(launcher, desc),
      .rows = ragged ? buildExtent(launcher, desc->inputs[0], 0, 1)
                     : findExtent(launcher, desc, 0),
      .columns =
          ragged ? fixedExtent(launcher, 1) : findExtent(launcher, desc, 1),
      .rowIndices = buildAddress(launcher, desc->rowIndices),
      .sourceRows = buildSourceRows(launcher, desc),
      .offsets = buildAddress(launcher, desc->offsets),
      .numOffsets = buildCount(launcher, desc->offsets),
      .scaleOffsets = buildAddress(launcher, desc->scaleOffsets),
      .firstDims = buildAddress(launcher, desc->firstDims),
      .lastDims = buildAddress(launcher, desc->lastDims),
      .groups = buildGroups(launcher, desc->offsets, desc->scaleOffsets),
      .outer = buildAddress(launcher, outer),
      .columnwiseOuter = buildAddress(launcher, columnwiseOuter),
      .rngState = buildAddress(launcher, desc->rngState),
      .data = buildAddress(launcher, desc->rowwise.data),
      .dataStride = buildStride(launcher, desc->rowwise.data),
      .scales = buildAddress(launcher, desc->rowwise.scales),
      .scalesStride = buildStride(launcher, desc->rowwise.scales),
      .scalesSize = buildSize(launcher, desc->rowwise.scales),
      .columnwiseData = buildAddress(launcher, desc->columnwise.data),
      .columnwiseDataStride = buildStride(launcher, desc->columnwise.data),
      .columnwiseDataSize = buildSize(launcher, desc->columnwise.data),
      .columnwiseScales = buildAddress(launcher, desc->columnwise.scales),
      .columnwiseScalesSize = buildSize(launcher, desc->columnwise.scales),
      .scaleOffsetsOut = buildAddress(launcher, desc->scaleOffsetsOut),
      .scaleInv = buildAddress(launcher, desc->scaleInv),
      .workspace = noAddress,
      .dbias = buildAddress(launcher, desc->dbias),
      .noopFlag = buildAddress(launcher, desc->noopFlag),
      .status = statusWord,
      .parts = constant(parts),
      .format = constant(desc->format),
      .recipe = constant(desc->recipe),
      .scaleLayout = constant(desc->scaleLayout),
      .rowsMode = constant(desc->rows),
      .offsetBits = constant(integerBits(desc->offsets)),
      .outerKind = constant(gqOuterKindOfDirection(desc, &desc->rowwise)),
      .columnwiseOuterKind =
          constant(gqOuterKindOfDirection(desc, &desc->columnwise)),
      .rowwiseTraits = constant(packedTraits(&desc->rowwise)),
      .columnwiseTraits = constant(packedTraits(&desc->columnwise)),
      .rowIndexBits = constant(rowIndexBits(desc)),
      .heldType = constant(heldType(desc)),
      .dbiasType = constant(mlirValueIsNull(desc->dbias)
                                ? GQ_F32
                                : elementType(mlirShapedTypeGetElementType(
                                      mlirValueGetType(desc->dbias)))),
  };
  const Sizes sizes = sizesOfGroups(desc, &operands);
  const struct {
    bool exists;
    gqKernelFamily family;
    const char *name;
  } kernels[] = {
      {sizes.large, GQ_KERNEL_QUANTIZE_TILES, "grouped_block_quantize"},
      {sizes.small, GQ_KERNEL_QUANTIZE_SMALL_GROUPS,
       "grouped_block_quantize_small_groups"},
  };
  bool reduces = parts & (GQ_DEV_AMAX | GQ_DEV_DBIAS), valid = true;
  MlirValue workspace = {NULL};
  if (sizes.small && sizes.large)
    operands.parts = constant(parts | GQ_DEV_LARGE_GROUPS);
  for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); ++i) {
    if (!kernels[i].exists)
      continue;
    gqGpuPlan plan =
        gqGpuBuildPlan(&launcher->builder, kernels[i].family, &operands);
    if (reduces && mlirValueIsNull(workspace)) {
      workspace = buildAlloc(&launcher->builder, plan.workspace, GQ_DYNAMIC);
      operands.workspace = buildAddress(launcher, workspace);
    }
    bool small = kernels[i].family == GQ_KERNEL_QUANTIZE_SMALL_GROUPS;
    gqElementType held = heldType(desc);
    gq_dev_bounds bounds =
        small ? gq_dev_quantize_small_groups_bounds(desc->format, parts, held)
              : gq_dev_quantize_tiles_bounds(desc->format, parts, held);
    valid = valid && launch(launcher, kernels[i].family, kernels[i].name,
                            &operands, bounds, plan);
    operands.parts = constant(parts);
  }
  if (reduces) {
    valid = valid && launchReduceTiles(launcher, desc, &operands);
    buildDealloc(&launcher->builder, workspace);
  }
  return valid;
}

//===----------------------------------------------------------------------===//
// Delayed scales
//===----------------------------------------------------------------------===//

static bool launchUpdateScales(const Launcher *launcher,
                               const gqUpdateScales *desc) {
  gqUpdateScalesOperands operands = {
      .amax = buildAddress(launcher, desc->amax),
      .history = buildAddress(launcher, desc->history),
      .scale = buildAddress(launcher, desc->scale),
      .groups = buildExtent(launcher, desc->amax, 0, 1),
      .steps = buildExtent(launcher, desc->history, 0, 1),
      .format = constant(desc->format),
      .amaxAlgo = constant(desc->amaxAlgo),
      .margin = constant(desc->margin),
  };
  return launch(
      launcher, GQ_KERNEL_UPDATE_SCALES, "update_scales", &operands,
      (gq_dev_bounds){.threads = GQ_DEV_UPDATE_SCALES_THREADS},
      gqGpuBuildPlan(&launcher->builder, GQ_KERNEL_UPDATE_SCALES, &operands));
}

//===----------------------------------------------------------------------===//
// Offsets
//===----------------------------------------------------------------------===//

static bool launchGroupOffsets(const Launcher *launcher,
                               const gqGroupOffsets *desc,
                               gqGpuAddress statusWord) {
  gqGroupOffsetsOperands operands = {
      .counts = buildAddress(launcher, desc->counts),
      .offsets = buildAddress(launcher, desc->offsets),
      .scaleOffsets = buildAddress(launcher, desc->scaleOffsets),
      .groups = buildExtent(launcher, desc->counts, 0, 1),
      .numOffsets = buildExtent(launcher, desc->offsets, 0, 1),
      .status = statusWord,
      .countBits = constant(integerBits(desc->counts)),
      .offsetBits = constant(integerBits(desc->offsets)),
  };
  return launch(
      launcher, GQ_KERNEL_GROUP_OFFSETS, "group_offsets", &operands,
      (gq_dev_bounds){.threads = GQ_DEV_GROUP_OFFSETS_THREADS},
      gqGpuBuildPlan(&launcher->builder, GQ_KERNEL_GROUP_OFFSETS, &operands));
}

//===----------------------------------------------------------------------===//
// Amaxes
//===----------------------------------------------------------------------===//

static bool launchGroupedAmax(const Launcher *launcher,
                              const gqGroupedAmax *desc,
                              gqGpuAddress statusWord) {
  bool ragged = gqIsRagged(desc);
  gqDirectionTraits columnwise = gqDirectionGetTraits(&desc->columnwise);
  int32_t parts =
      (mlirValueIsNull(desc->amax) ? 0 : GQ_DEV_AMAX_OF_GROUPS) |
      (mlirValueIsNull(desc->rowAmax) ? 0 : GQ_DEV_AMAX_OF_ROWS) |
      (mlirValueIsNull(desc->columnAmax) ? 0 : GQ_DEV_AMAX_OF_COLUMNS) |
      (mlirValueIsNull(desc->columnwiseAmax)
           ? 0
           : GQ_DEV_AMAX_OF_TRANSFORMED_GROUPS) |
      (ragged ? GQ_DEV_RAGGED : 0);
  gqClearAmaxOperands clear = {
      .rows = ragged ? buildExtent(launcher, desc->inputs[0], 0, 1)
                     : findExtent(launcher, desc, 0),
      .columns =
          ragged ? fixedExtent(launcher, 1) : findExtent(launcher, desc, 1),
      .offsets = buildAddress(launcher, desc->offsets),
      .firstDims = buildAddress(launcher, desc->firstDims),
      .lastDims = buildAddress(launcher, desc->lastDims),
      .groups = buildGroups(launcher, desc->offsets, (MlirValue){NULL}),
      .noopFlag = buildAddress(launcher, desc->noopFlag),
      .columnwiseAmax = buildAddress(launcher, desc->columnwiseAmax),
      .amax = buildAddress(launcher, desc->amax),
      .rowAmax = buildAddress(launcher, desc->rowAmax),
      .columnAmax = buildAddress(launcher, desc->columnAmax),
      .parts = constant(parts),
      .rowsMode = constant(desc->rows),
      .offsetBits = constant(integerBits(desc->offsets)),
  };
  gqGroupedAmaxOperands operands = {
      .load = buildHook(launcher, desc),
      .rows = clear.rows,
      .columns = clear.columns,
      .offsets = clear.offsets,
      .firstDims = clear.firstDims,
      .lastDims = clear.lastDims,
      .groups = clear.groups,
      .noopFlag = clear.noopFlag,
      .columnwiseAmax = clear.columnwiseAmax,
      .amax = clear.amax,
      .rowAmax = clear.rowAmax,
      .columnAmax = clear.columnAmax,
      .parts = clear.parts,
      .rowsMode = clear.rowsMode,
      .offsetBits = clear.offsetBits,
      .rowIndices = buildAddress(launcher, desc->rowIndices),
      .sourceRows = buildSourceRows(launcher, desc),
      .status = statusWord,
      .rowIndexBits = constant(rowIndexBits(desc)),
      .transform = constant((int32_t)columnwise.transform),
      .signs = constant((int32_t)columnwise.signs),
      .heldType = constant(heldType(desc)),
  };
  return launch(launcher, GQ_KERNEL_CLEAR_AMAX, "grouped_amax_clear", &clear,
                (gq_dev_bounds){.threads = GQ_DEV_CLEAR_AMAX_THREADS},
                gqGpuBuildPlan(&launcher->builder, GQ_KERNEL_CLEAR_AMAX,
                               &clear)) &&
         launch(launcher, GQ_KERNEL_GROUPED_AMAX, "grouped_amax", &operands,
                gq_dev_grouped_amax_bounds(),
                gqGpuBuildPlan(&launcher->builder, GQ_KERNEL_GROUPED_AMAX,
                               &operands));
}

//===----------------------------------------------------------------------===//
// Dequantization
//===----------------------------------------------------------------------===//

/// gq.block_dequantize as an op on one group of all rows, without offsets.
static gqGroupedDequantize allRowsOf(const gqBlockDequantize *desc) {
  return (gqGroupedDequantize){
      .format = desc->format,
      .recipe = GQ_RECIPE_NVFUSER,
      .scaleLayout = desc->scaleLayout,
      .axis = GQ_AXIS_ROWWISE,
      .data = desc->data,
      .scales = desc->scales,
      .globalScale = desc->globalScale,
      .out = desc->out,
  };
}

static bool launchDequantize(const Launcher *launcher,
                             const gqGroupedDequantize *desc,
                             MlirRegion epilogue, gqGpuAddress statusWord) {
  bool ragged = !mlirValueIsNull(desc->firstDims);
  bool columnwise = desc->axis == GQ_AXIS_COLUMNWISE;
  MlirValue outer = desc->format == GQ_FORMAT_NONE ? desc->scaleInv
                    : desc->recipe == GQ_RECIPE_TE ? desc->outerAmax
                                                   : desc->globalScale;
  int32_t parts =
      (columnwise ? GQ_DEV_COLUMNWISE : GQ_DEV_ROWWISE) |
      (ragged ? GQ_DEV_RAGGED : 0) |
      (mlirValueIsNull(desc->scaleOffsets) ? 0 : GQ_DEV_SCALE_OFFSETS);
  gqOuterKind outerKind = desc->outer == GQ_OUTER_OF_ROW ? GQ_OUTER_PER_ROW
                          : desc->outer == GQ_OUTER_OF_COLUMN
                              ? GQ_OUTER_PER_COLUMN
                              : gqOuterKindOf(outer);
  bool divides = !mlirValueIsNull(desc->globalScale);
  bool manyScales = columnwise && desc->format == GQ_FORMAT_NVFP4;
  gq_dev_bounds bounds = gq_dev_dequantize_tiles_bounds(
      elementTypeOf(desc->data), gq_dev_dequantizes_by_rows(parts),
      gq_dev_dequantize_pieces(desc->format, desc->scaleLayout), manyScales,
      divides, strcmp(launcher->chip, "sm_120a") == 0);
  gqDequantizeTilesOperands operands = {
      .data = buildAddress(launcher, desc->data),
      .dataStride = buildStride(launcher, desc->data),
      .dataSize = buildSize(launcher, desc->data),
      .scales = buildAddress(launcher, desc->scales),
      .scalesStride = buildStride(launcher, desc->scales),
      .scalesSize = buildSize(launcher, desc->scales),
      .rows = buildExtent(launcher, desc->out, 0, 1),
      .columns = ragged ? fixedExtent(launcher, 1)
                        : buildExtent(launcher, desc->out, 1, 1),
      .offsets = buildAddress(launcher, desc->offsets),
      .numOffsets = buildCount(launcher, desc->offsets),
      .scaleOffsets = buildAddress(launcher, desc->scaleOffsets),
      .firstDims = buildAddress(launcher, desc->firstDims),
      .lastDims = buildAddress(launcher, desc->lastDims),
      .groups = buildGroups(launcher, desc->offsets, desc->scaleOffsets),
      .outer = buildAddress(launcher, outer),
      .out = buildAddress(launcher, desc->out),
      .outStride = buildStride(launcher, desc->out),
      .status = statusWord,
      .parts = constant(parts),
      .format = constant((int32_t)desc->format),
      .dataType = constant(elementTypeOf(desc->data)),
      .recipe = constant((int32_t)desc->recipe),
      .scaleLayout = constant((int32_t)desc->scaleLayout),
      .offsetBits = constant(integerBits(desc->offsets)),
      .outerKind = constant(outerKind),
      .epilogue = {true, epilogue},
      .valueType = constant(valueTypeOf(epilogue, desc->out)),
      .outType = constant(elementTypeOf(desc->out)),
      .ctas = constant(bounds.minCtas),
  };
  return launch(launcher, GQ_KERNEL_DEQUANTIZE_TILES,
                mlirValueIsNull(desc->offsets) ? "block_dequantize"
                                               : "grouped_dequantize",
                &operands, bounds,
                gqGpuBuildPlan(&launcher->builder, GQ_KERNEL_DEQUANTIZE_TILES,
                               &operands));
}

//===----------------------------------------------------------------------===//
// The grouped matmul
//===----------------------------------------------------------------------===//

/// The elements from one row to the next, where the type says so.
static int64_t staticStride(MlirValue buffer) {
  MlirType type = mlirValueGetType(buffer);
  bool dense = mlirAttributeIsNull(mlirMemRefTypeGetLayout(type)) ||
               mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type));
  return dense ? gqDim(buffer, 1) : GQ_DYNAMIC;
}

/// buildStride, of a matrix; a constant where it is static.
static gqExtent buildRowStride(const Launcher *launcher, MlirValue matrix,
                               int64_t elementSize) {
  int64_t stride = staticStride(matrix);
  return stride == GQ_DYNAMIC ? buildStride(launcher, matrix)
                              : fixedExtent(launcher, stride * elementSize);
}

/// An op, and what its description does not say.
typedef struct Mm {
  gqGroupedMm desc;
  MlirRegion epilogue;
  gqPairs pairs;
  gqGpuAddress statusWord;
  /// Whether the kernels quantize, as an op behind says: of the product there
  /// is nothing but the type.
  bool quantizes;
  gqGroupedBlockQuantize quantization;
} Mm;

/// What the kernels write.
static MlirValue outOf(const Mm *mm) {
  return mm->quantizes ? mm->quantization.rowwise.data : mm->desc.out;
}

/// Rows of scales of `a`, and of the outputs, if they have any.
static gqExtent buildScaleRows(const Launcher *launcher, const Mm *mm) {
  gqExtent rows = buildExtent(launcher, mm->desc.aScales, 0, 1);
  return mm->quantizes
             ? buildLesser(
                   launcher, rows,
                   buildExtent(launcher, mm->quantization.rowwise.scales, 0, 1))
             : rows;
}

/// The operands of its kernels, the struct of all families, for more than
/// `moreThan` and at most `atMost` rows per group.
static gqGroupedMmTilesOperands buildMmOperands(const Launcher *launcher,
                                                const Mm *mm, int32_t tokens,
                                                int32_t moreThan,
                                                int32_t atMost) {
  const gqGroupedMm *desc = &mm->desc;
  gqElementType outType = elementTypeOf(desc->out);
  bool tiled = !mlirValueIsNull(desc->scaleOffsets);
  bool linear = !tiled && !mlirValueIsNull(desc->aScales);
  bool kInnermost = desc->bMajor == GQ_MAJOR_K;
  gqExtent above = buildExtent(launcher, desc->b, 1, 1);
  gqExtent inner = buildExtent(launcher, desc->b, 2, elementsOf(desc->b));
  MlirValue outer =
      mm->quantizes ? gqOuterScale(&mm->quantization, &mm->quantization.rowwise)
                    : (MlirValue){NULL};
  return (gqGroupedMmTilesOperands){
      .a = buildAddress(launcher, desc->a),
      .aStride = buildRowStride(launcher, desc->a, 1),
      .aScales = buildAddress(launcher, desc->aScales),
      .aScaleStride =
          linear ? buildRowStride(launcher, desc->aScales, sizeof(float))
                 : fixedExtent(launcher, 0),
      .scaleRows =
          tiled ? buildScaleRows(launcher, mm) : fixedExtent(launcher, 0),
      .b = buildAddress(launcher, desc->b),
      .bScales = buildAddress(launcher, desc->bScales),
      .offsets = buildAddress(launcher, desc->offsets),
      .numOffsets = buildCount(launcher, desc->offsets),
      .scaleOffsets = buildAddress(launcher, desc->scaleOffsets),
      .groups = buildExtent(launcher, desc->b, 0, 1),
      .alpha = buildAddress(launcher, desc->alpha),
      .rowScales = buildAddress(launcher, desc->rowScales),
      .columnScales = buildAddress(launcher, desc->columnScales),
      .bias = buildAddress(launcher, desc->bias),
      .out = buildAddress(launcher, outOf(mm)),
      .outStride = buildRowStride(launcher, outOf(mm),
                                  gqElementTypeSize(elementTypeOf(outOf(mm)))),
      .rows = buildExtent(launcher, desc->a, 0, 1),
      .n = kInnermost ? above : inner,
      .k = kInnermost ? inner : above,
      .status = mm->statusWord,
      .workspace = noAddress,
      .format = constant((int32_t)desc->format),
      .bFormat = constant((int32_t)desc->bFormat),
      .aType = constant(elementTypeOf(desc->a)),
      .bType = constant(elementTypeOf(desc->b)),
      .bMajor = constant((int32_t)desc->bMajor),
      .biasType = constant(elementTypeOf(desc->bias)),
      .offsetBits = constant(integerBits(desc->offsets)),
      .outType = constant(outType),
      .epilogue = {true, mm->epilogue},
      .pairs = constant((int32_t)mm->pairs),
      .valueType = constant(valueTypeOf(mm->epilogue, desc->out)),
      .outFormat = constant(mm->quantizes ? (int32_t)mm->quantization.format
                                          : GQ_FORMAT_NONE),
      .outRecipe = constant((int32_t)mm->quantization.recipe),
      .outScales = buildAddress(launcher, mm->quantization.rowwise.scales),
      .outOuter = buildAddress(launcher, outer),
      .outOuterKind = constant(
          mm->quantizes ? gqOuterKindOfDirection(&mm->quantization,
                                                 &mm->quantization.rowwise)
                        : GQ_OUTER_NONE),
      .tokens = constant(tokens),
      .moreThan = constant(moreThan),
      .atMost = constant(atMost),
  };
}

/// Dequantizes the tokens of `operands` to a workspace, which is returned.
static MlirValue launchMmPrepare(const Launcher *launcher,
                                 gqGroupedMmTilesOperands *operands,
                                 bool *valid) {
  gqGpuPlan plan = gqGpuBuildPlan(&launcher->builder,
                                  GQ_KERNEL_GROUPED_MM_PREPARE, operands);
  int64_t rows = operands->rows.fixed, groups = operands->groups.fixed,
          k = operands->k.fixed;
  bool fixed = rows != GQ_DYNAMIC && groups != GQ_DYNAMIC && k != GQ_DYNAMIC;
  MlirValue workspace = buildAlloc(
      &launcher->builder, plan.workspace,
      fixed ? gq_dev_grouped_mm_prepared_size(rows, groups, k) : GQ_DYNAMIC);
  operands->workspace = buildAddress(launcher, workspace);
  gqGroupedMmTilesOperands without = *operands;
  without.epilogue = (gqGpuFunction){true, {NULL}};
  without.outFormat = constant(GQ_FORMAT_NONE);
  without.outScales = without.outOuter = noAddress;
  *valid = launch(launcher, GQ_KERNEL_GROUPED_MM_PREPARE, "grouped_mm_prepare",
                  &without, gq_dev_grouped_mm_prepare_bounds(), plan);
  return workspace;
}

/// Launches one of its kernels.
static bool launchMmKernel(const Launcher *launcher, const Mm *mm,
                           gqMmKernel kernel, int32_t moreThan,
                           int32_t atMost) {
  const gqGroupedMm *desc = &mm->desc;
  const struct {
    const char *name;
    gqKernelFamily family;
    int32_t tokens;
  } kernels[] = {
      [GQ_MM_KERNEL_ANY] = {"grouped_mm_any", GQ_KERNEL_GROUPED_MM_ANY,
                            GQ_DEV_GROUPED_MM_FEW_TOKENS},
      [GQ_MM_KERNEL_DECODE8] = {"grouped_mm_decode8",
                                GQ_KERNEL_GROUPED_MM_DECODE, 8},
      [GQ_MM_KERNEL_DECODE16] = {"grouped_mm_decode16",
                                 GQ_KERNEL_GROUPED_MM_DECODE, 16},
      [GQ_MM_KERNEL_TILES32] = {"grouped_mm_tiles32",
                                GQ_KERNEL_GROUPED_MM_TILES, 32},
      [GQ_MM_KERNEL_TILES64] = {"grouped_mm_tiles64",
                                GQ_KERNEL_GROUPED_MM_TILES, 64},
      [GQ_MM_KERNEL_TILES128] = {"grouped_mm_tiles128",
                                 GQ_KERNEL_GROUPED_MM_TILES, 128},
      [GQ_MM_KERNEL_TILES256] = {"grouped_mm_tiles256",
                                 GQ_KERNEL_GROUPED_MM_TILES,
                                 GQ_DEV_GROUPED_MM_PREPARED_TOKENS},
  };
  gqKernelFamily family = kernels[kernel].family;
  gqGroupedMmTilesOperands operands =
      buildMmOperands(launcher, mm, kernels[kernel].tokens, moreThan, atMost);
  bool prepares = kernel == GQ_MM_KERNEL_TILES256, valid = true;
  MlirValue workspace = {NULL};
  if (prepares)
    workspace = launchMmPrepare(launcher, &operands, &valid);
  gq_dev_bounds bounds =
      family == GQ_KERNEL_GROUPED_MM_TILES
          ? gq_dev_grouped_mm_tiles_bounds(
                desc->format, kernels[kernel].tokens,
                (mlirRegionIsNull(mm->epilogue) && !mm->quantizes) ||
                        valueTypeOf(mm->epilogue, desc->out) != GQ_F32
                    ? 2
                    : 4)
      : family == GQ_KERNEL_GROUPED_MM_DECODE
          ? gq_dev_grouped_mm_decode_bounds(kernels[kernel].tokens)
          : gq_dev_grouped_mm_any_bounds(mm->quantizes);
  valid =
      valid && launch(launcher, family, kernels[kernel].name, &operands, bounds,
                      gqGpuBuildPlan(&launcher->builder, family, &operands));
  if (prepares)
    buildDealloc(&launcher->builder, workspace);
  return valid;
}

/// Without a kernel, several that share all numbers of rows per group. The
/// quantization behind is null if its kernels do not quantize.
static bool launchGroupedMm(const Launcher *launcher, MlirOperation op,
                            MlirOperation quantization,
                            gqGpuAddress statusWord) {
  Mm mm = {.desc = gqGroupedMmGet(op),
           .epilogue = gqEpilogueOf(op),
           .pairs = gqGroupedMmGetPairs(op),
           .statusWord = statusWord,
           .quantizes = !mlirOperationIsNull(quantization)};
  if (mm.quantizes)
    mm.quantization = gqGroupedBlockQuantizeGet(quantization);
  const char *fault =
      mlirRegionIsNull(mm.epilogue) ? NULL : gqCheckKernelEpilogue(op);
  if (fault)
    return gqOpError(op,
                     "needs its epilogue %s as an op of its own to be lowered "
                     "to kernels; run gq-expand-epilogues{kernels} before "
                     "bufferization",
                     fault);
  gqMmKernel kernel = gqMmGetKernel(op);
  // Codes that are multiplied as such are not dequantized.
  if (kernel == GQ_MM_KERNEL_TILES256 && mlirValueIsNull(mm.desc.scaleOffsets))
    kernel = GQ_MM_KERNEL_TILES128;
  if (kernel != GQ_MM_KERNEL_AUTO)
    return launchMmKernel(launcher, &mm, kernel, -1, INT32_MAX);
  gqMmCandidates candidates = gqMmKernelCandidates(op);
  bool valid = true;
  for (int i = 0; i < candidates.size; ++i)
    valid = valid && launchMmKernel(launcher, &mm, candidates.kernels[i],
                                    i ? candidates.atMost[i - 1] : -1,
                                    candidates.atMost[i]);
  return valid;
}

//===----------------------------------------------------------------------===//
// The gradient of weights
//===----------------------------------------------------------------------===//

/// a / b, of a b that is at least 1.
static gqExtent buildQuotient(const Launcher *launcher, gqExtent a,
                              gqExtent b) {
  return buildArithmetic(launcher, "arith.divsi", a, b,
                         b.fixed > 0 ? a.fixed / b.fixed : 0);
}

/// An extent that must be positive for the launch, but may be 0.
static gqExtent buildPositive(const Launcher *launcher, gqExtent extent) {
  return buildArithmetic(launcher, "arith.maxsi", extent,
                         fixedExtent(launcher, 1),
                         extent.fixed > 1 ? extent.fixed : 1);
}

/// `a` or `b`: columnwise data, [M, extent] before it was quantized.
typedef struct WgradSide {
  gqFormat format;
  MlirValue data, scales;
  gqExtent extent;
} WgradSide;

/// M; for flat data, the rows that it has room for.
static gqExtent buildRows(const Launcher *launcher, const WgradSide *side) {
  if (!gqFormatGetTraits(side->format).transposes)
    return buildExtent(launcher, side->data, 0, 1);
  return buildQuotient(
      launcher, buildExtent(launcher, side->data, 0, elementsOf(side->data)),
      buildPositive(launcher, side->extent));
}

/// The columns of scales that there is room for.
static gqExtent buildScaleColumns(const Launcher *launcher,
                                  const WgradSide *side) {
  gqFormatTraits traits = gqFormatGetTraits(side->format);
  bool tiled = gqMmScaleLayout(side->format) == GQ_SCALE_LAYOUT_TILE128X4;
  int64_t unit = tiled ? GQ_DEV_TILE_ROWS : traits.blockRows;
  gqExtent entries = buildExtent(launcher, side->scales, 0, 1);
  gqExtent extent = buildPositive(launcher, side->extent);
  // Lines of scales, in units of as many as an extent is rounded up to.
  gqExtent lines = buildQuotient(
      launcher,
      buildArithmetic(launcher, "arith.addi", extent,
                      fixedExtent(launcher, unit - 1), extent.fixed + unit - 1),
      fixedExtent(launcher, unit));
  return buildQuotient(
      launcher,
      tiled ? buildQuotient(launcher, entries, fixedExtent(launcher, unit))
            : entries,
      lines);
}

static bool launchGroupedWgrad(const Launcher *launcher, MlirOperation op,
                               gqGpuAddress statusWord) {
  gqGroupedWgrad desc = gqGroupedWgradGet(op);
  bool wgmma = gqMmGetKernel(op) == GQ_MM_KERNEL_TILES128;
  bool scaled = desc.format != GQ_FORMAT_NONE;
  WgradSide a = {desc.format, desc.a, desc.aScales,
                 buildExtent(launcher, desc.out, 1, 1)};
  WgradSide b = {desc.bFormat, desc.b, desc.bScales,
                 buildExtent(launcher, desc.out, 2, 1)};
  bool flat = gqFormatGetTraits(desc.format).transposes;
  // The struct of both families.
  gqGroupedWgradTilesOperands operands = {
      .a = buildAddress(launcher, desc.a),
      .aStride =
          flat ? fixedExtent(launcher, 0) : buildRowStride(launcher, desc.a, 1),
      .aScales = buildAddress(launcher, desc.aScales),
      .b = buildAddress(launcher, desc.b),
      .bStride =
          flat ? fixedExtent(launcher, 0) : buildRowStride(launcher, desc.b, 1),
      .bScales = buildAddress(launcher, desc.bScales),
      .offsets = buildAddress(launcher, desc.offsets),
      .groups = buildExtent(launcher, desc.out, 0, 1),
      .alpha = buildAddress(launcher, desc.alpha),
      .out = buildAddress(launcher, desc.out),
      .rows = buildLesser(launcher, buildRows(launcher, &a),
                          buildRows(launcher, &b)),
      .scaleColumns =
          scaled ? buildLesser(launcher, buildScaleColumns(launcher, &a),
                               buildScaleColumns(launcher, &b))
                 : fixedExtent(launcher, 0),
      .n = a.extent,
      .k = b.extent,
      .status = statusWord,
      .format = constant((int32_t)desc.format),
      .bFormat = constant((int32_t)desc.bFormat),
      .aType = constant(elementTypeOf(desc.a)),
      .bType = constant(elementTypeOf(desc.b)),
      .offsetBits = constant(integerBits(desc.offsets)),
      .outType = constant(elementTypeOf(desc.out)),
  };
  gqKernelFamily family =
      wgmma ? GQ_KERNEL_GROUPED_WGRAD_TILES : GQ_KERNEL_GROUPED_WGRAD_ANY;
  return launch(launcher, family,
                wgmma ? "grouped_wgrad_tiles128" : "grouped_wgrad_any",
                &operands, gq_dev_grouped_wgrad_bounds(desc.format, wgmma),
                gqGpuBuildPlan(&launcher->builder, family, &operands));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Whether a kernel of rows computes all of it.
static bool hasOnlyRows(const gqGroupedBlockQuantize *desc) {
  int32_t parts = partsOf(desc) & ~GQ_DEV_UNUSUAL;
  gqDirectionTraits rowwise = gqDirectionGetTraits(&desc->rowwise);
  return gqFormatHasBlockScales(desc->format) &&
         gqFormatGetTraits(desc->format).blockRows == 1 &&
         !gqDirectionHasSquares(&rowwise) &&
         !gqDirectionHasFourOverSix(&rowwise) &&
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
  gqGpuAddress statusWord = buildStatusWord(launcher);
  if (gqOperationIsAPreprocessGroupedMatmulSf(op)) {
    gqPreprocessGroupedMatmulSf desc = gqPreprocessGroupedMatmulSfGet(op);
    return launchPreprocessGroupedMatmulSf(launcher, &desc, statusWord);
  }
  if (gqOperationIsAGroupedMm(op))
    return launchGroupedMm(launcher, op, (MlirOperation){NULL}, statusWord);
  if (gqOperationIsAUpdateScales(op)) {
    gqUpdateScales desc = gqUpdateScalesGet(op);
    return launchUpdateScales(launcher, &desc);
  }
  if (gqOperationIsAGroupOffsets(op)) {
    gqGroupOffsets desc = gqGroupOffsetsGet(op);
    return launchGroupOffsets(launcher, &desc, statusWord);
  }
  if (gqOperationIsAGroupedAmax(op)) {
    gqGroupedAmax desc = gqGroupedAmaxGet(op);
    return launchGroupedAmax(launcher, &desc, statusWord);
  }
  if (gqOperationIsAGroupedWgrad(op))
    return launchGroupedWgrad(launcher, op, statusWord);
  if (gqOperationIsABlockDequantize(op)) {
    gqBlockDequantize desc = gqBlockDequantizeGet(op);
    gqGroupedDequantize rows = allRowsOf(&desc);
    return launchDequantize(launcher, &rows, gqEpilogueOf(op), statusWord);
  }
  if (gqOperationIsAGroupedDequantize(op)) {
    gqGroupedDequantize desc = gqGroupedDequantizeGet(op);
    return launchDequantize(launcher, &desc, gqEpilogueOf(op), statusWord);
  }
  gqGroupedBlockQuantize desc = gqGroupedBlockQuantizeGet(op);
  if ((gqHoldsNumbers(&desc.rowwise) || gqHoldsNumbers(&desc.columnwise)) &&
      !gqKernelMakesNumbers(&desc))
    return gqOpError(op, "has no GPU kernel that makes numbers instead of "
                         "codes but for 'data' with no other result, of rows "
                         "in blocks with one row, with no outer amax, one for "
                         "a group, or one for a row that is computed with "
                         "them; a quantization and gq.grouped_dequantize make "
                         "them");
  if (!mlirValueIsNull(desc.rowAmax))
    return launchWholeRows(launcher, op, &desc, statusWord);
  return hasOnlyRows(&desc)
             ? launchGroupedBlockQuantize(launcher, &desc, statusWord)
             : launchTiles(launcher, &desc, statusWord);
}

/// Whether an op can be converted; else there was an error.
static bool isConvertible(MlirOperation module, MlirOperation op) {
  return gqCheckLowerable(op) &&
         (!mlirOperationIsNull(gqEnclosingFunction(op, module)) ||
          gqOpError(op, "needs to be in a func.func of the module itself to "
                        "be lowered to kernels"));
}

/// A launcher whose launches are where `op` is.
static Launcher launcherAt(MlirOperation module, MlirOperation op,
                           int32_t *number, const char *chip) {
  Launcher launcher = {.module = module,
                       .builder = gqBuilderBefore(op),
                       .number = number,
                       .chip = chip};
  launcher.stream =
      buildHostCall(&launcher, "gqGetStream", 0, NULL,
                    mlirLLVMPointerTypeGet(launcher.builder.context, 0));
  return launcher;
}

static bool convert(MlirOperation module, MlirOperation op, int32_t *number,
                    const char *chip) {
  if (!isConvertible(module, op))
    return false;
  Launcher launcher = launcherAt(module, op, number, chip);
  if (!gqBuildOperandChecks(&launcher.builder, module, op) ||
      !launchOp(&launcher, op))
    return false;
  mlirOperationDestroy(op);
  return true;
}

/// Converts a gq.grouped_mm whose kernels do what the op behind does.
static bool convertBoth(MlirOperation module, MlirOperation mm,
                        MlirOperation quantization, int32_t *number,
                        const char *chip) {
  if (!isConvertible(module, mm) || !isConvertible(module, quantization))
    return false;
  Launcher launcher = launcherAt(module, quantization, number, chip);
  if (!gqBuildRequantizationChecks(&launcher.builder, module, mm,
                                   quantization) ||
      !launchGroupedMm(&launcher, mm, quantization, buildStatusWord(&launcher)))
    return false;
  gqDestroyRequantization(mm, quantization);
  return true;
}

MlirLogicalResult gqConvertToGpu(MlirOperation module, const char *chip,
                                 bool fuseQuantization) {
  gqRequantizations fused = {0};
  if (fuseQuantization)
    fused = gqFindRequantizations(module);
  gqOpList ops = gqCollect(module, gqIsComputeOp);
  bool valid = ops.size == 0 || declareHostFunctions(module);
  int32_t number = 0;
  if (valid)
    for (intptr_t i = 0; i < ops.size; ++i) {
      MlirOperation behind = gqRequantizationBehind(&fused, ops.ops[i]);
      if (!mlirOperationIsNull(behind))
        valid &= convertBoth(module, ops.ops[i], behind, &number, chip);
      else if (gqOpListFind(&fused.quantizations, ops.ops[i]) < 0)
        valid &= convert(module, ops.ops[i], &number, chip);
    }
  if (ops.size)
    mlirOperationSetAttributeByName(
        module, mlirStringRefCreateFromCString("gpu.container_module"),
        mlirUnitAttrGet(mlirOperationGetContext(module)));
  gqOpListFree(&ops);
  gqRequantizationsFree(&fused);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
