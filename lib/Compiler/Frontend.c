//===- Frontend.c - from MLIR text to LLVM IR -----------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Frontend.h"
#include "Signature.h"
#include "Source.h"

#include "../IR/ElementType.h"
#include "../Support/Print.h"
#include "gq-c/Dialect.h"
#include "gq-c/Passes.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Diagnostics.h>
#include <mlir-c/IR.h>
#include <mlir-c/Pass.h>
#include <mlir-c/RegisterEverything.h>
#include <mlir-c/Target/LLVMIR.h>
#include <pthread.h>
#include <stdlib.h>

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

/// What the compiler says about the text of one caller.
typedef struct Diagnostics {
  gqText text;
  /// What to call the text in locations.
  const char *sourceName;
} Diagnostics;

/// Writes a location as compilers do, so that editors can jump to it. Text
/// that was parsed from memory has the file name "-".
static void appendLocation(Diagnostics *diagnostics, MlirLocation location) {
  gqText *text = &diagnostics->text;
  if (!mlirLocationIsAFileLineColRange(location)) {
    mlirLocationPrint(location, gqAppendString, text);
    return;
  }
  MlirStringRef file =
      mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location));
  if (mlirStringRefEqual(file, mlirStringRefCreateFromCString("-")))
    file = mlirStringRefCreateFromCString(diagnostics->sourceName);
  gqAppendString(file, text);
  gqTextPrintf(text, ":%d:%d",
               mlirLocationFileLineColRangeGetStartLine(location),
               mlirLocationFileLineColRangeGetStartColumn(location));
}

static void appendDiagnostic(Diagnostics *diagnostics,
                             MlirDiagnostic diagnostic, const char *severity) {
  gqText *text = &diagnostics->text;
  if (text->length)
    gqTextAppend(text, "\n", 1);
  appendLocation(diagnostics, mlirDiagnosticGetLocation(diagnostic));
  gqTextPrintf(text, ": %s: ", severity);
  mlirDiagnosticPrint(diagnostic, gqAppendString, text);
}

/// Keeps errors and their notes. Warnings and remarks have no place in a
/// status; taking them here keeps MLIR from printing them.
static MlirLogicalResult handleDiagnostic(MlirDiagnostic diagnostic,
                                          void *diagnostics) {
  if (mlirDiagnosticGetSeverity(diagnostic) != MlirDiagnosticError)
    return mlirLogicalResultSuccess();
  appendDiagnostic(diagnostics, diagnostic, "error");
  intptr_t numNotes = mlirDiagnosticGetNumNotes(diagnostic);
  for (intptr_t i = 0; i < numNotes; ++i)
    appendDiagnostic(diagnostics, mlirDiagnosticGetNote(diagnostic, i), "note");
  return mlirLogicalResultSuccess();
}

/// The failure of a step, with what was said about it.
static gqStatus failStep(const Diagnostics *diagnostics, const char *step) {
  if (diagnostics->text.length)
    return gqFail(GQ_COMPILE_ERROR, "%s", gqTextString(&diagnostics->text));
  return gqFail(GQ_COMPILE_ERROR, "%s failed without a diagnostic", step);
}

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

/// A memref becomes a tensor, anything else a scalar. Callers pass row-major
/// memory, so a memref with another layout has no equivalent.
static bool convertType(MlirType type, gqType *result) {
  *result = (gqType){.rank = -1};
  if (!mlirTypeIsAMemRef(type))
    return gqElementTypeOf(type, &result->type);
  int64_t rank = mlirShapedTypeGetRank(type);
  if (rank > GQ_MAX_RANK ||
      !mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type)))
    return false;
  result->rank = (int32_t)rank;
  for (int64_t i = 0; i < rank; ++i)
    result->sizes[i] = mlirShapedTypeIsDynamicDim(type, i)
                           ? -1
                           : mlirShapedTypeGetDimSize(type, i);
  return gqElementTypeOf(mlirShapedTypeGetElementType(type), &result->type);
}

static MlirAttribute getEntry(MlirAttribute dictionary, const char *name) {
  return mlirDictionaryAttrGetElementByName(
      dictionary, mlirStringRefCreateFromCString(name));
}

static gqStatus failType(MlirStringRef function, const char *role, intptr_t i,
                         MlirType type) {
  gqText text = {0};
  mlirTypePrint(type, gqAppendString, &text);
  gqStatus status = gqFail(
      GQ_COMPILE_ERROR, "%s %d of function '%.*s': a caller cannot pass %s",
      role, (int)i, (int)function.length, function.data, gqTextString(&text));
  gqTextFree(&text);
  return status;
}

/// Writes the types that `gq-finalize-boundary` left in an array attribute,
/// and after each what the array attribute `more` has for it.
static gqStatus writeTypes(MlirStringRef function, const char *role,
                           MlirAttribute types, MlirAttribute more,
                           gqText *text) {
  for (intptr_t i = 0, e = mlirArrayAttrGetNumElements(types); i < e; ++i) {
    MlirType type = mlirTypeAttrGetValue(mlirArrayAttrGetElement(types, i));
    gqType converted;
    if (!convertType(type, &converted))
      return failType(function, role, i, type);
    gqTypeWrite(text, &converted);
    gqTextPrintf(text, " %d\n",
                 mlirAttributeIsADenseBoolArray(more)
                     ? mlirDenseBoolArrayGetElement(more, i)
                     : mlirDenseI32ArrayGetElement(more, i));
  }
  return GQ_OK;
}

static gqStatus writeSignature(MlirStringRef name, MlirAttribute boundary,
                               gqText *text) {
  MlirAttribute inputs = getEntry(boundary, "inputs");
  MlirAttribute results = getEntry(boundary, "results");
  gqTextPrintf(text, "%zu ", name.length);
  gqAppendString(name, text);
  gqTextPrintf(text, " %d %d\n", (int)mlirArrayAttrGetNumElements(inputs),
               (int)mlirArrayAttrGetNumElements(results));
  gqStatus status =
      writeTypes(name, "argument", inputs, getEntry(boundary, "written"), text);
  if (status != GQ_OK)
    return status;
  return writeTypes(name, "result", results, getEntry(boundary, "sources"),
                    text);
}

/// Writes the signature of `op` if it is a public function: those carry
/// `gq.boundary`, helpers and declarations do not.
static gqStatus writeIfPublic(MlirOperation op, gqText *text, int32_t *count) {
  MlirAttribute boundary = mlirOperationGetDiscardableAttributeByName(
      op, mlirStringRefCreateFromCString("gq.boundary"));
  if (mlirAttributeIsNull(boundary))
    return GQ_OK;
  MlirStringRef name = mlirStringAttrGetValue(mlirOperationGetAttributeByName(
      op, mlirSymbolTableGetSymbolAttributeName()));
  // Upstream's conversion copies a function's attributes to its C interface.
  if (gqStartsWith(name.data, name.length, "_mlir_ciface_"))
    return GQ_OK;
  ++*count;
  return writeSignature(name, boundary, text);
}

static gqStatus writeSignatures(MlirModule module, gqText *signatures) {
  gqText functions = {0};
  int32_t count = 0;
  gqStatus status = GQ_OK;
  for (MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(module));
       !mlirOperationIsNull(op) && status == GQ_OK;
       op = mlirOperationGetNextInBlock(op))
    status = writeIfPublic(op, &functions, &count);
  gqTextPrintf(signatures, "%d\n", count);
  gqTextAppend(signatures, functions.data, functions.length);
  if (functions.failed)
    signatures->failed = true;
  gqTextFree(&functions);
  if (status == GQ_OK && signatures->failed)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  if (status == GQ_OK && count == 0)
    return gqFail(GQ_COMPILE_ERROR, "the module has no public function");
  return status;
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

static bool hasName(MlirOperation op, const char *name) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)),
                            mlirStringRefCreateFromCString(name));
}

/// Finds an operation that the pipeline has left as it was.
typedef struct Unlowered {
  MlirOperation first;
  /// Casts are left where something else is; they matter if nothing else is.
  MlirOperation firstCast;
} Unlowered;

static MlirWalkResult findUnlowered(MlirOperation op, void *data) {
  static const char *const lowered[] = {"llvm.", "builtin.module", "gpu.",
                                        "nvvm."};
  Unlowered *unlowered = data;
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  for (size_t i = 0; i < sizeof(lowered) / sizeof(lowered[0]); ++i)
    if (gqStartsWith(name.data, name.length, lowered[i]))
      return MlirWalkResultAdvance;
  if (!hasName(op, "builtin.unrealized_conversion_cast")) {
    unlowered->first = op;
    return MlirWalkResultInterrupt;
  }
  if (mlirOperationIsNull(unlowered->firstCast))
    unlowered->firstCast = op;
  return MlirWalkResultAdvance;
}

static void appendTypes(MlirOperation op, intptr_t count,
                        MlirValue (*get)(MlirOperation, intptr_t),
                        gqText *text) {
  gqTextAppend(text, "(", 1);
  for (intptr_t i = 0; i < count; ++i) {
    gqTextPrintf(text, i ? ", " : "");
    mlirTypePrint(mlirValueGetType(get(op, i)), gqAppendString, text);
  }
  gqTextAppend(text, ")", 1);
}

/// The failure of the translation. MLIR says that it has no translation for a
/// dialect, but the cause is an operation that should be gone by then.
static gqStatus failTranslation(MlirModule module, Diagnostics *diagnostics) {
  Unlowered unlowered = {0};
  mlirOperationWalk(mlirModuleGetOperation(module), findUnlowered, &unlowered,
                    MlirWalkPreOrder);
  MlirOperation op = mlirOperationIsNull(unlowered.first) ? unlowered.firstCast
                                                          : unlowered.first;
  if (mlirOperationIsNull(op))
    return failStep(diagnostics, "the translation to LLVM IR");
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  gqText message = {0};
  gqTextPrintf(&message,
               "'%.*s' op on these types has no lowering: ", (int)name.length,
               name.data);
  appendTypes(op, mlirOperationGetNumOperands(op), mlirOperationGetOperand,
              &message);
  gqTextPrintf(&message, " -> ");
  appendTypes(op, mlirOperationGetNumResults(op), mlirOperationGetResult,
              &message);
  gqTextFree(&diagnostics->text);
  mlirEmitError(mlirOperationGetLocation(op), gqTextString(&message));
  gqTextFree(&message);
  return failStep(diagnostics, "the translation to LLVM IR");
}

//===----------------------------------------------------------------------===//
// Pipeline
//===----------------------------------------------------------------------===//

/// MLIR's registry of passes is global to the process.
static void registerPasses(void) {
  mlirRegisterAllPasses();
  gqRegisterPasses();
}

static void *waitFor(void *lock) {
  pthread_mutex_lock(lock);
  pthread_mutex_unlock(lock);
  return NULL;
}

/// Whether `count` more threads can be started now.
static bool canStartThreads(unsigned count) {
  unsigned started = 0;
  pthread_t *threads = malloc(count * sizeof(*threads));
  if (!threads)
    return false;
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  while (started < count &&
         pthread_create(&threads[started], NULL, waitFor, &lock) == 0)
    ++started;
  pthread_mutex_unlock(&lock);
  for (unsigned i = 0; i < started; ++i)
    pthread_join(threads[i], NULL);
  free(threads);
  return started == count;
}

/// With threads for the kernels of a GPU, each of which takes long; nothing
/// else does. Diagnostics keep their order. LLVM ends the process where it
/// cannot start a thread, so that none are used there.
static MlirContext createContext(const gqTarget *target) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__gq__(), registry);
  MlirContext context = mlirContextCreateWithRegistry(registry, target->isCuda);
  if (target->isCuda && !canStartThreads(mlirContextGetNumThreads(context)))
    mlirContextEnableMultithreading(context, false);
  mlirDialectRegistryDestroy(registry);
  mlirRegisterAllLLVMTranslations(context);
  return context;
}

static gqStatus runPipeline(MlirModule module, const char *pipeline,
                            Diagnostics *diagnostics) {
  MlirPassManager manager = mlirPassManagerCreate(mlirModuleGetContext(module));
  MlirLogicalResult result =
      mlirOpPassManagerAddPipeline(mlirPassManagerGetAsOpPassManager(manager),
                                   mlirStringRefCreateFromCString(pipeline),
                                   gqAppendString, &diagnostics->text);
  if (mlirLogicalResultIsSuccess(result))
    result = mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module));
  mlirPassManagerDestroy(manager);
  if (mlirLogicalResultIsFailure(result))
    return failStep(diagnostics, "the pass pipeline");
  return GQ_OK;
}

static gqStatus lower(MlirModule module, const char *pipeline,
                      Diagnostics *diagnostics, LLVMContextRef context,
                      LLVMModuleRef *result, gqText *signatures) {
  gqStatus status =
      gqSourceCheck(module) ? GQ_OK : failStep(diagnostics, "a check");
  if (status == GQ_OK)
    status = runPipeline(module, pipeline, diagnostics);
  if (status == GQ_OK)
    status = writeSignatures(module, signatures);
  if (status != GQ_OK)
    return status;
  *result =
      mlirTranslateModuleToLLVMIR(mlirModuleGetOperation(module), context);
  return *result ? GQ_OK : failTranslation(module, diagnostics);
}

gqStatus gqFrontendRun(const char *mlir, size_t length,
                       const gqCompileOptions *options, const gqTarget *target,
                       LLVMContextRef context, LLVMModuleRef *module,
                       gqText *signatures) {
  static pthread_once_t registered = PTHREAD_ONCE_INIT;
  const char *refused = gqSourceRefuse(mlir, length);
  if (refused)
    return gqFail(GQ_COMPILE_ERROR, "%s", refused);
  pthread_once(&registered, registerPasses);
  Diagnostics diagnostics = {
      {0}, options->sourceName ? options->sourceName : "<mlir>"};
  MlirContext mlirContext = createContext(target);
  mlirContextAttachDiagnosticHandler(mlirContext, handleDiagnostic,
                                     &diagnostics, NULL);
  MlirModule source =
      mlirModuleCreateParse(mlirContext, mlirStringRefCreate(mlir, length));
  gqText pipeline = {0};
  gqTargetWritePipeline(target, options, &pipeline);
  gqStatus status;
  if (mlirModuleIsNull(source)) {
    status = failStep(&diagnostics, "the parser");
  } else {
    status = lower(source, gqTextString(&pipeline), &diagnostics, context,
                   module, signatures);
    mlirModuleDestroy(source);
  }
  mlirContextDestroy(mlirContext);
  gqTextFree(&pipeline);
  gqTextFree(&diagnostics.text);
  return status;
}
