//===- Launcher.c - what launches of kernels share ------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launcher.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <inttypes.h>
#include <stdio.h>

static MlirValue buildHostCall(const gqLauncher *launcher, const char *name,
                               intptr_t numOperands, const MlirValue *operands,
                               MlirType result) {
  return mlirOperationGetResult(
      gqBuildCall(&launcher->builder, name, numOperands, operands, 1, &result),
      0);
}

gqLauncher gqLauncherAt(MlirOperation module, MlirOperation op, int32_t *number,
                        const char *chip) {
  gqLauncher launcher = {.module = module,
                         .builder = gqBuilderBefore(op),
                         .number = number,
                         .chip = chip};
  launcher.stream =
      buildHostCall(&launcher, "gqGetStream", 0, NULL,
                    mlirLLVMPointerTypeGet(launcher.builder.context, 0));
  return launcher;
}

static MlirType i64Type(const gqLauncher *launcher) {
  return mlirIntegerTypeGet(launcher->builder.context, 64);
}

static MlirValue buildI64(const gqLauncher *launcher, int64_t value) {
  return gqBuildConstant(&launcher->builder, i64Type(launcher), value);
}

bool gqLaunchPlanned(const gqLauncher *launcher, gqKernelFamily family,
                     const char *name, const void *operands,
                     gq_dev_bounds bounds, gqGpuPlan plan) {
  char symbol[32];
  snprintf(symbol, sizeof(symbol), "gq_kernels_%" PRId32,
           (*launcher->number)++);
  gqGpuKernel kernel = {symbol, name, family, operands, bounds};
  return gqGpuKernelLaunch(&kernel, &launcher->builder, launcher->module,
                           plan.grid, launcher->stream);
}

bool gqLaunchKernel(const gqLauncher *launcher, gqKernelFamily family,
                    const char *name, const void *operands,
                    gq_dev_bounds bounds) {
  return gqLaunchPlanned(launcher, family, name, operands, bounds,
                         gqGpuBuildPlan(&launcher->builder, family, operands));
}

gqExtent gqFixedExtent(const gqLauncher *launcher, int64_t extent) {
  return (gqExtent){buildI64(launcher, extent), extent};
}

gqExtent gqBuildExtent(const gqLauncher *launcher, MlirValue buffer,
                       intptr_t dim, int64_t factor) {
  int64_t extent = gqDim(buffer, dim);
  if (extent != GQ_DYNAMIC)
    return gqFixedExtent(launcher, extent * factor);
  MlirValue size = gqBuildBufferValues(&launcher->builder, buffer).sizes[dim];
  MlirValue factors[] = {size, buildI64(launcher, factor)};
  return (gqExtent){factor == 1 ? size
                                : gqBuildValue(&launcher->builder, "arith.muli",
                                               2, factors, i64Type(launcher)),
                    GQ_DYNAMIC};
}

int64_t gqElementsOf(MlirValue data) {
  return mlirTypeIsAInteger(
             mlirShapedTypeGetElementType(mlirValueGetType(data)))
             ? 2
             : 1;
}

gqExtent gqFindExtent(const gqLauncher *launcher,
                      const gqGroupedBlockQuantize *desc, intptr_t dim) {
  intptr_t position;
  MlirValue operand = gqGroupedBlockQuantizeFindExtent(desc, dim, &position);
  return gqBuildExtent(launcher, operand, position,
                       dim == 1 ? gqElementsOf(operand) : 1);
}

gqExtent gqBuildCount(const gqLauncher *launcher, MlirValue buffer) {
  return mlirValueIsNull(buffer) ? gqFixedExtent(launcher, 0)
                                 : gqBuildExtent(launcher, buffer, 0, 1);
}

gqExtent gqBuildGroups(const gqLauncher *launcher, MlirValue offsets,
                       MlirValue scaleOffsets) {
  if (mlirValueIsNull(offsets))
    return gqFixedExtent(launcher, 1);
  if (!mlirValueIsNull(scaleOffsets))
    return gqBuildExtent(launcher, scaleOffsets, 0, 1);
  gqExtent entries = gqBuildExtent(launcher, offsets, 0, 1);
  if (entries.fixed != GQ_DYNAMIC)
    return gqFixedExtent(launcher, entries.fixed - 1);
  MlirValue terms[] = {entries.value, buildI64(launcher, 1)};
  return (gqExtent){gqBuildValue(&launcher->builder, "arith.subi", 2, terms,
                                 i64Type(launcher)),
                    GQ_DYNAMIC};
}

int32_t gqIntegerBits(MlirValue buffer) {
  if (mlirValueIsNull(buffer))
    return 32;
  return (int32_t)mlirIntegerTypeGetWidth(
      mlirShapedTypeGetElementType(mlirValueGetType(buffer)));
}

/// Of an element, or of what stands for one: bf16, f16 or f32.
static gqElementType floatType(MlirType element) {
  return mlirTypeIsABF16(element)  ? GQ_BF16
         : mlirTypeIsAF16(element) ? GQ_F16
                                   : GQ_F32;
}

gqElementType gqBufferType(MlirValue buffer) {
  gqElementType type = GQ_F32;
  if (!mlirValueIsNull(buffer))
    gqElementTypeOf(mlirShapedTypeGetElementType(mlirValueGetType(buffer)),
                    &type);
  return type;
}

gqGpuAddress gqBuildAddress(const gqLauncher *launcher, MlirValue buffer) {
  return (gqGpuAddress){
      true, mlirValueIsNull(buffer)
                ? buffer
                : gqBuildBufferValues(&launcher->builder, buffer).address};
}

gqElementType gqValueType(MlirRegion epilogue, MlirValue out) {
  return mlirRegionIsNull(epilogue)
             ? gqBufferType(out)
             : floatType(mlirValueGetType(
                   mlirBlockGetArgument(mlirRegionGetFirstBlock(epilogue), 0)));
}

gqGpuAddress gqBuildStatusWord(const gqLauncher *launcher) {
  MlirValue word =
      buildHostCall(launcher, "gqStreamStatusWord", 1, &launcher->stream,
                    mlirLLVMPointerTypeGet(launcher->builder.context, 0));
  return (gqGpuAddress){true, gqBuildValue(&launcher->builder, "llvm.ptrtoint",
                                           1, &word, i64Type(launcher))};
}

/// a * b
static gqExtent buildProduct(const gqLauncher *launcher, MlirValue a,
                             MlirValue b) {
  MlirValue factors[] = {a, b};
  return (gqExtent){gqBuildValue(&launcher->builder, "arith.muli", 2, factors,
                                 i64Type(launcher)),
                    GQ_DYNAMIC};
}

gqExtent gqBuildArithmetic(const gqLauncher *launcher, const char *name,
                           gqExtent a, gqExtent b, int64_t fixed) {
  MlirValue both[] = {a.value, b.value};
  return a.fixed != GQ_DYNAMIC && b.fixed != GQ_DYNAMIC
             ? gqFixedExtent(launcher, fixed)
             : (gqExtent){gqBuildValue(&launcher->builder, name, 2, both,
                                       i64Type(launcher)),
                          GQ_DYNAMIC};
}

gqExtent gqBuildLesser(const gqLauncher *launcher, gqExtent a, gqExtent b) {
  return gqBuildArithmetic(launcher, "arith.minsi", a, b,
                           a.fixed < b.fixed ? a.fixed : b.fixed);
}

gqExtent gqBuildStride(const gqLauncher *launcher, MlirValue buffer) {
  if (mlirValueIsNull(buffer) ||
      mlirShapedTypeGetRank(mlirValueGetType(buffer)) == 1)
    return gqFixedExtent(launcher, 0);
  gqBufferValues values = gqBuildBufferValues(&launcher->builder, buffer);
  int64_t size = gqElementTypeSize(values.type);
  return size == 1 ? (gqExtent){values.strides[0], GQ_DYNAMIC}
                   : buildProduct(launcher, values.strides[0],
                                  buildI64(launcher, size));
}

/// The elements from one row to the next, where the type says so.
static int64_t staticStride(MlirValue buffer) {
  MlirType type = mlirValueGetType(buffer);
  bool dense = mlirAttributeIsNull(mlirMemRefTypeGetLayout(type)) ||
               mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type));
  return dense ? gqDim(buffer, 1) : GQ_DYNAMIC;
}

gqExtent gqBuildRowStride(const gqLauncher *launcher, MlirValue matrix,
                          int64_t elementSize) {
  int64_t stride = staticStride(matrix);
  return stride == GQ_DYNAMIC ? gqBuildStride(launcher, matrix)
                              : gqFixedExtent(launcher, stride * elementSize);
}

gqExtent gqBuildSize(const gqLauncher *launcher, MlirValue buffer) {
  if (mlirValueIsNull(buffer))
    return gqFixedExtent(launcher, 0);
  gqBufferValues values = gqBuildBufferValues(&launcher->builder, buffer);
  return values.rank == 1
             ? (gqExtent){values.sizes[0], GQ_DYNAMIC}
             : buildProduct(launcher, values.sizes[0], values.sizes[1]);
}

gqExtent gqBuildSourceRows(const gqLauncher *launcher,
                           const gqGroupedBlockQuantize *desc) {
  if (mlirValueIsNull(desc->rowIndices))
    return gqFixedExtent(launcher, 0);
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

gqGpuConstant gqConstant(int32_t value) { return (gqGpuConstant){true, value}; }

int32_t gqRowIndexBits(const gqGroupedBlockQuantize *desc) {
  return mlirValueIsNull(desc->rowIndices) ? 0
                                           : gqIntegerBits(desc->rowIndices);
}

gqGpuHook gqBuildHook(const gqLauncher *launcher,
                      const gqGroupedBlockQuantize *desc) {
  gqGpuHook hook = {.producer = {.region = desc->producer},
                    .rowIndexBits = gqRowIndexBits(desc)};
  for (intptr_t i = 0; i < desc->numInputs; ++i)
    gqGpuHookAddInput(&hook, &launcher->builder, desc->inputs[i],
                      mlirAttributeIsNull(desc->maps)
                          ? (MlirAffineMap){NULL}
                          : mlirAffineMapAttrGetValue(
                                mlirArrayAttrGetElement(desc->maps, i)));
  return hook;
}

gqElementType gqHeldType(const gqGroupedBlockQuantize *desc) {
  if (mlirRegionIsNull(desc->producer))
    return gqBufferType(desc->inputs[0]);
  MlirOperation yield =
      mlirBlockGetTerminator(mlirRegionGetFirstBlock(desc->producer));
  return floatType(mlirValueGetType(mlirOperationGetOperand(yield, 0)));
}

int32_t gqPackedTraits(const gqDirection *direction) {
  gqDirectionTraits traits = gqDirectionGetTraits(direction);
  return gqDirectionPack(&traits);
}

MlirValue gqBuildAlloc(const gqBuilder *builder, MlirValue bytes,
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

void gqBuildDealloc(const gqBuilder *builder, MlirValue buffer) {
  gqBuild(builder, "memref.dealloc", 1, &buffer, 0, NULL, 0, NULL);
}
