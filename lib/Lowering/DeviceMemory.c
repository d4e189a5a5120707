//===- DeviceMemory.c - gq-device-memory -------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../IR/Checks.h"
#include "../Support/Memory.h"
#include "Build.h"
#include "Functions.h"
#include "Passes.h"
#include "Query.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/LLVM.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static MlirStringRef string(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

static MlirType pointerType(MlirContext context) {
  return mlirLLVMPointerTypeGet(context, 0);
}

//===----------------------------------------------------------------------===//
// The stream
//===----------------------------------------------------------------------===//

static bool declareStream(MlirOperation module) {
  MlirContext context = mlirOperationGetContext(module);
  MlirType pointer = pointerType(context);
  return gqDeclareFunction(module, "gqGetStream",
                           mlirFunctionTypeGet(context, 0, NULL, 1, &pointer));
}

static MlirType tokenType(MlirContext context) {
  return mlirTypeParseGet(context, string("!gpu.async.token"));
}

/// The stream of the calling thread, as gpu ops depend on it: gpu-to-llvm turns
/// tokens into streams.
static MlirValue buildStreamToken(const gqBuilder *builder) {
  MlirType pointer = pointerType(builder->context);
  MlirValue stream = mlirOperationGetResult(
      gqBuildCall(builder, "gqGetStream", 0, NULL, 1, &pointer), 0);
  return gqBuildValue(builder, "builtin.unrealized_conversion_cast", 1, &stream,
                      tokenType(builder->context));
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

static void convertCopy(MlirOperation copy) {
  gqBuilder builder = gqBuilderBefore(copy);
  MlirValue operands[] = {buildStreamToken(&builder),
                          mlirOperationGetOperand(copy, 1),
                          mlirOperationGetOperand(copy, 0)};
  gqBuildValue(&builder, "gpu.memcpy", 3, operands, tokenType(builder.context));
  mlirOperationDestroy(copy);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static const char segmentSizes[] = "operandSegmentSizes";

/// A launch that would make a stream and wait for it: without dependencies (the
/// first of the 13 groups of operands) and without a stream (the last).
static bool isSynchronousLaunch(MlirOperation op) {
  if (!gqIsNamed(op, "gpu.launch_func"))
    return false;
  MlirAttribute segments = gqGetAttribute(op, segmentSizes);
  return mlirDenseI32ArrayGetElement(segments, 0) == 0 &&
         mlirDenseI32ArrayGetElement(segments, 12) == 0;
}

/// Launches behind what is in the stream.
static void convertLaunch(MlirOperation launch) {
  gqBuilder builder = gqBuilderBefore(launch);
  MlirValue token = buildStreamToken(&builder);
  MlirType type = mlirValueGetType(token);
  MlirOperationState state =
      mlirOperationStateGet(string("gpu.launch_func"), builder.location);
  mlirOperationStateAddResults(&state, 1, &type);
  mlirOperationStateAddOperands(&state, 1, &token);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(launch); ++i) {
    MlirValue operand = mlirOperationGetOperand(launch, i);
    mlirOperationStateAddOperands(&state, 1, &operand);
  }
  MlirAttribute old = gqGetAttribute(launch, segmentSizes);
  int32_t segments[13] = {1};
  for (intptr_t i = 1; i < 13; ++i)
    segments[i] = mlirDenseI32ArrayGetElement(old, i);
  MlirNamedAttribute attributes[] = {
      gqAttribute(builder.context, "kernel", gqGetAttribute(launch, "kernel")),
      gqAttribute(builder.context, segmentSizes,
                  mlirDenseI32ArrayGet(builder.context, 13, segments)),
  };
  mlirOperationStateAddAttributes(&state, 2, attributes);
  gqInsert(&builder, mlirOperationCreate(&state));
  mlirOperationDestroy(launch);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The size in bytes of an element of a constant; 0 if it has none.
static int64_t elementSize(MlirType type) {
  if (mlirTypeIsAIndex(type))
    return 8;
  if (!mlirTypeIsAInteger(type) && !mlirTypeIsAFloat(type))
    return 0;
  unsigned bits = mlirTypeIsAFloat(type) ? mlirFloatTypeGetWidth(type)
                                         : mlirIntegerTypeGetWidth(type);
  return bits == 1 ? 1 : bits % 8 ? 0 : bits / 8;
}

/// Computes the size in bytes of a memref of static shape. Returns whether it,
/// and so every stride, fits; also while an extent is 0.
static bool sizeOf(MlirType type, int64_t *size) {
  int64_t bytes = elementSize(mlirShapedTypeGetElementType(type));
  bool empty = false;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); ++i) {
    int64_t extent = mlirShapedTypeGetDimSize(type, i);
    empty |= extent == 0;
    if (__builtin_mul_overflow(bytes, extent ? extent : 1, &bytes))
      return false;
  }
  *size = empty ? 0 : bytes;
  return true;
}

/// llvm.insertvalue
static MlirValue insert(const gqBuilder *builder, MlirValue value,
                        MlirValue into, int64_t position) {
  MlirValue operands[] = {into, value};
  MlirType type = mlirValueGetType(into);
  MlirNamedAttribute attribute =
      gqAttribute(builder->context, "position",
                  mlirDenseI64ArrayGet(builder->context, 1, &position));
  return mlirOperationGetResult(gqBuild(builder, "llvm.insertvalue", 2,
                                        operands, 1, &type, 1, &attribute),
                                0);
}

/// The memref of no extents at `pointer`.
static MlirValue buildScalarMemref(const gqBuilder *builder, MlirValue pointer,
                                   MlirType element) {
  MlirContext context = builder->context;
  MlirType descriptor =
      mlirTypeParseGet(context, string("!llvm.struct<(ptr, ptr, i64)>"));
  MlirValue value =
      gqBuildValue(builder, "llvm.mlir.poison", 0, NULL, descriptor);
  value = insert(builder, pointer, value, 0);
  value = insert(builder, pointer, value, 1);
  value = insert(builder,
                 gqBuildConstant(builder, mlirIntegerTypeGet(context, 64), 0),
                 value, 2);
  return gqBuildValue(builder, "builtin.unrealized_conversion_cast", 1, &value,
                      mlirMemRefTypeGet(element, 0, NULL,
                                        mlirAttributeGetNull(),
                                        mlirAttributeGetNull()));
}

/// memref.reinterpret_cast of the memref of no extents at the first element to
/// a type of static shape without gaps.
static MlirValue buildReshaped(const gqBuilder *builder, MlirValue first,
                               MlirType type) {
  MlirContext context = builder->context;
  intptr_t rank = mlirShapedTypeGetRank(type);
  int64_t *sizes = calloc(2 * (size_t)rank + 1, sizeof(int64_t));
  if (!sizes)
    gqOutOfMemory();
  int64_t *strides = sizes + rank, stride = 1, offset = 0;
  for (intptr_t i = rank - 1; i >= 0; --i) {
    sizes[i] = mlirShapedTypeGetDimSize(type, i);
    strides[i] = stride;
    stride *= sizes[i];
  }
  int32_t segments[] = {1, 0, 0, 0};
  MlirNamedAttribute attributes[] = {
      gqAttribute(context, "static_offsets",
                  mlirDenseI64ArrayGet(context, 1, &offset)),
      gqAttribute(context, "static_sizes",
                  mlirDenseI64ArrayGet(context, rank, sizes)),
      gqAttribute(context, "static_strides",
                  mlirDenseI64ArrayGet(context, rank, strides)),
      gqAttribute(context, segmentSizes,
                  mlirDenseI32ArrayGet(context, 4, segments)),
  };
  free(sizes);
  return mlirOperationGetResult(gqBuild(builder, "memref.reinterpret_cast", 1,
                                        &first, 1, &type, 4, attributes),
                                0);
}

/// The constants of a module, and for each that is read the global word that
/// the runtime keeps its copies in.
typedef struct Constants {
  MlirSymbolTable symbols;
  gqOpList globals;
  MlirOperation *words;
} Constants;

static bool isConstant(MlirOperation op) {
  if (!gqIsNamed(op, "memref.global"))
    return false;
  MlirAttribute value = gqGetAttribute(op, "initial_value");
  return !mlirAttributeIsNull(gqGetAttribute(op, "constant")) &&
         !mlirAttributeIsNull(value) && !mlirAttributeIsAUnit(value);
}

/// The number of the constant that a memref.get_global reads, or -1.
static intptr_t findConstant(const Constants *constants,
                             MlirOperation getGlobal) {
  MlirStringRef name =
      mlirFlatSymbolRefAttrGetValue(gqGetAttribute(getGlobal, "name"));
  for (intptr_t i = 0; i < constants->globals.size; ++i)
    if (mlirStringRefEqual(name, mlirStringAttrGetValue(gqGetAttribute(
                                     constants->globals.ops[i], "sym_name"))))
      return i;
  return -1;
}

/// Parses `text` and adds it to the module, under another name if its own is
/// taken.
static MlirOperation addSymbol(const Constants *constants, MlirContext context,
                               const char *text) {
  MlirOperation op =
      mlirOperationCreateParse(context, string(text), string("constants"));
  mlirSymbolTableInsert(constants->symbols, op);
  return op;
}

/// The address of the word of constant `i`.
static MlirValue buildWord(const gqBuilder *builder, Constants *constants,
                           intptr_t i) {
  if (mlirOperationIsNull(constants->words[i]))
    constants->words[i] =
        addSymbol(constants, builder->context,
                  "llvm.mlir.global internal @gq_constant() : !llvm.ptr {\n"
                  "  %0 = llvm.mlir.zero : !llvm.ptr\n"
                  "  llvm.return %0 : !llvm.ptr\n"
                  "}");
  MlirType pointer = pointerType(builder->context);
  MlirNamedAttribute name =
      gqAttribute(builder->context, "global_name",
                  mlirFlatSymbolRefAttrGet(
                      builder->context, mlirStringAttrGetValue(gqGetAttribute(
                                            constants->words[i], "sym_name"))));
  return mlirOperationGetResult(
      gqBuild(builder, "llvm.mlir.addressof", 0, NULL, 1, &pointer, 1, &name),
      0);
}

/// Replaces a constant of the host by its copy on the device.
static bool convertConstant(MlirOperation module, Constants *constants,
                            MlirOperation getGlobal) {
  intptr_t number = findConstant(constants, getGlobal);
  MlirValue host = mlirOperationGetResult(getGlobal, 0);
  MlirType type = mlirValueGetType(host);
  if (number < 0)
    return gqOpError(getGlobal, "is host memory; only constant globals are "
                                "copied to the device");
  if (!elementSize(mlirShapedTypeGetElementType(type)))
    return gqOpError(getGlobal,
                     "has elements of a type that is not stored in bytes");
  int64_t size;
  if (!sizeOf(type, &size))
    return gqOpError(getGlobal, "is larger than any memory");
  MlirContext context = mlirOperationGetContext(module);
  MlirType index = mlirIndexTypeGet(context);
  MlirType i64 = mlirIntegerTypeGet(context, 64);
  MlirType pointer = pointerType(context);
  MlirType inputs[] = {pointer, pointer, i64};
  if (!gqDeclareFunction(module, "gqDeviceConstant",
                         mlirFunctionTypeGet(context, 3, inputs, 1, &pointer)))
    return false;

  MlirValue users = host;
  gqBuilder builder = gqBuilderBefore(getGlobal);
  // The copy of the op is what the address is taken of.
  MlirOperation onHost = mlirOperationClone(getGlobal);
  gqInsert(&builder, onHost);
  host = mlirOperationGetResult(onHost, 0);
  MlirValue address = gqBuildValue(
      &builder, "memref.extract_aligned_pointer_as_index", 1, &host, index);
  address = gqBuildValue(&builder, "arith.index_cast", 1, &address, i64);
  MlirValue operands[] = {buildWord(&builder, constants, number),
                          gqBuildPointer(&builder, address, 0),
                          gqBuildConstant(&builder, i64, size)};
  MlirValue device = mlirOperationGetResult(
      gqBuildCall(&builder, "gqDeviceConstant", 3, operands, 1, &pointer), 0);
  device =
      buildScalarMemref(&builder, device, mlirShapedTypeGetElementType(type));
  if (mlirShapedTypeGetRank(type))
    device = buildReshaped(&builder, device, type);
  mlirValueReplaceAllUsesOfWith(users, device);
  mlirOperationDestroy(getGlobal);
  return true;
}

/// Calls `function` when the module's code is unloaded.
static void registerDestructor(MlirOperation function) {
  gqBuilder builder = gqBuilderBefore(function);
  MlirContext context = builder.context;
  MlirAttribute name = mlirFlatSymbolRefAttrGet(
      context, mlirStringAttrGetValue(gqGetAttribute(function, "sym_name")));
  MlirAttribute priority =
      mlirIntegerAttrGet(mlirIntegerTypeGet(context, 32), 0);
  MlirAttribute data = mlirAttributeParseGet(context, string("#llvm.zero"));
  MlirNamedAttribute attributes[] = {
      gqAttribute(context, "dtors", mlirArrayAttrGet(context, 1, &name)),
      gqAttribute(context, "priorities",
                  mlirArrayAttrGet(context, 1, &priority)),
      gqAttribute(context, "data", mlirArrayAttrGet(context, 1, &data)),
  };
  gqBuild(&builder, "llvm.mlir.global_dtors", 0, NULL, 0, NULL, 3, attributes);
}

/// Adds a destructor that frees the copies.
static bool buildDestructor(MlirOperation module, Constants *constants) {
  MlirContext context = mlirOperationGetContext(module);
  MlirType pointer = pointerType(context);
  if (!gqDeclareFunction(module, "gqDeviceConstantRelease",
                         mlirFunctionTypeGet(context, 1, &pointer, 0, NULL)))
    return false;
  MlirOperation function =
      addSymbol(constants, context,
                "llvm.func internal @gq_release_constants() {\n"
                "  llvm.return\n"
                "}");
  gqBuilder builder = gqBuilderBefore(mlirBlockGetTerminator(
      mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0))));
  for (intptr_t i = 0; i < constants->globals.size; ++i) {
    if (mlirOperationIsNull(constants->words[i]))
      continue;
    MlirValue word = buildWord(&builder, constants, i);
    gqBuildCall(&builder, "gqDeviceConstantRelease", 1, &word, 0, NULL);
  }
  registerDestructor(function);
  return true;
}

static bool isGetGlobal(MlirOperation op) {
  return gqIsNamed(op, "memref.get_global") && gqIsOnHost(op);
}

static bool convertConstants(MlirOperation module) {
  gqOpList reads = gqCollectDirectly(module, isGetGlobal);
  Constants constants = {.symbols = mlirSymbolTableCreate(module),
                         .globals = gqCollectDirectly(module, isConstant)};
  constants.words =
      calloc((size_t)constants.globals.size + 1, sizeof(MlirOperation));
  if (!constants.words)
    gqOutOfMemory();
  bool valid = true;
  for (intptr_t i = 0; i < reads.size; ++i)
    valid &= convertConstant(module, &constants, reads.ops[i]);
  if (valid && reads.size)
    valid = buildDestructor(module, &constants);
  free(constants.words);
  gqOpListFree(&constants.globals);
  mlirSymbolTableDestroy(constants.symbols);
  gqOpListFree(&reads);
  return valid;
}

//===----------------------------------------------------------------------===//
// What is left
//===----------------------------------------------------------------------===//

static bool hasMemref(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
    if (mlirTypeIsAMemRef(type) || mlirTypeIsAUnrankedMemRef(type))
      return true;
  }
  return false;
}

/// Whether an operation on memrefs does not touch their elements, or touches
/// them on the device.
static bool isForDevice(MlirOperation op) {
  static const char *const names[] = {
      "arith.select",
      "builtin.unrealized_conversion_cast",
      "gpu.launch_func",
      "gpu.memcpy",
      "memref.assume_alignment",
      "memref.cast",
      "memref.collapse_shape",
      "memref.dealloc",
      "memref.dim",
      "memref.expand_shape",
      "memref.extract_aligned_pointer_as_index",
      "memref.extract_strided_metadata",
      "memref.memory_space_cast",
      "memref.rank",
      "memref.reinterpret_cast",
      "memref.subview",
      "memref.transpose",
      "memref.view",
      NULL,
  };
  return gqIsOneOf(op, names) || gqIsOfDialect(op, "cf.") ||
         gqIsOfDialect(op, "func.") || gqIsOfDialect(op, "scf.");
}

/// On the host it would access device memory.
static bool isHostAccess(MlirOperation op) {
  if (!gqIsOnHost(op))
    return false;
  return gqIsNamed(op, "memref.alloca") || (hasMemref(op) && !isForDevice(op));
}

static bool checkAccesses(MlirOperation module) {
  gqOpList accesses = gqCollect(module, isHostAccess);
  for (intptr_t i = 0; i < accesses.size; ++i)
    gqOpError(accesses.ops[i],
              "would run on the host, on device memory; it has no GPU "
              "lowering%s",
              gqIsNamed(accesses.ops[i], "memref.load") // tensor.extract
                  ? "; gq.group_offsets makes offsets of counts, and a "
                    "linalg.generic computes with other elements"
                  : "");
  bool valid = !accesses.size;
  gqOpListFree(&accesses);
  return valid;
}

MlirLogicalResult gqDeviceMemory(MlirOperation module) {
  bool valid = declareStream(module) && convertConstants(module);
  gqOpList copies = gqCollectDirectly(module, gqIsPlainCopy);
  for (intptr_t i = 0; valid && i < copies.size; ++i)
    if (gqIsOnHost(copies.ops[i]))
      convertCopy(copies.ops[i]);
  gqOpListFree(&copies);
  gqOpList launches = gqCollectDirectly(module, isSynchronousLaunch);
  for (intptr_t i = 0; valid && i < launches.size; ++i)
    convertLaunch(launches.ops[i]);
  gqOpListFree(&launches);
  valid = valid && checkAccesses(module);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
