//===- Object.c - from LLVM IR to an object file --------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Object.h"
#include "Harden.h"
#include "Signature.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Host
//===----------------------------------------------------------------------===//

static void initializeNativeTarget(void) {
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  // For inline assembly.
  LLVMInitializeNativeAsmParser();
}

gqHost gqHostCreate(void) {
  static pthread_once_t initialized = PTHREAD_ONCE_INIT;
  pthread_once(&initialized, initializeNativeTarget);
  return (gqHost){LLVMGetDefaultTargetTriple(), LLVMGetHostCPUName(),
                  LLVMGetHostCPUFeatures()};
}

void gqHostDestroy(gqHost *host) {
  LLVMDisposeMessage(host->triple);
  LLVMDisposeMessage(host->cpu);
  LLVMDisposeMessage(host->features);
}

static gqStatus createTargetMachine(const gqHost *host,
                                    LLVMTargetMachineRef *machine) {
  LLVMTargetRef target;
  char *message = NULL;
  if (LLVMGetTargetFromTriple(host->triple, &target, &message)) {
    gqStatus status = gqFail(GQ_COMPILE_ERROR, "%s", message);
    LLVMDisposeMessage(message);
    return status;
  }
  *machine = LLVMCreateTargetMachine(target, host->triple, host->cpu,
                                     host->features, LLVMCodeGenLevelDefault,
                                     LLVMRelocPIC, LLVMCodeModelDefault);
  return GQ_OK;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// The module being completed, and the types that occur everywhere.
typedef struct Builder {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef ir;
  LLVMTypeRef pointer;
  LLVMTypeRef i64;
} Builder;

/// Starts a private function without a result.
static LLVMValueRef startFunction(Builder *builder, const char *name,
                                  LLVMTypeRef *parameters, unsigned count) {
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(builder->context),
                                      parameters, count, /*IsVarArg=*/false);
  LLVMValueRef function = LLVMAddFunction(builder->module, name, type);
  LLVMSetLinkage(function, LLVMPrivateLinkage);
  LLVMPositionBuilderAtEnd(
      builder->ir,
      LLVMAppendBasicBlockInContext(builder->context, function, "entry"));
  return function;
}

/// Loads element `index` of an array of pointers.
static LLVMValueRef loadPointer(Builder *builder, LLVMValueRef array,
                                unsigned index) {
  LLVMValueRef offset = LLVMConstInt(builder->i64, index, /*SignExtend=*/false);
  LLVMValueRef address = LLVMBuildInBoundsGEP2(builder->ir, builder->pointer,
                                               array, &offset, 1, "");
  return LLVMBuildLoad2(builder->ir, builder->pointer, address, "");
}

/// Several results come back as one struct, of the type that the function
/// returns when it is not called through its C interface; this hands them out.
static void unpackResults(Builder *builder, LLVMTypeRef packedType,
                          LLVMValueRef packed, LLVMValueRef results,
                          unsigned count) {
  LLVMValueRef value = LLVMBuildLoad2(builder->ir, packedType, packed, "");
  for (unsigned i = 0; i < count; ++i)
    LLVMBuildStore(builder->ir,
                   LLVMBuildExtractValue(builder->ir, value, i, ""),
                   loadPointer(builder, results, i));
}

/// Calls `callee`, the C interface of `function`: memrefs are passed as
/// pointers to their descriptors and scalars by value; one scalar result is
/// returned, anything else is written through a first pointer argument.
static void buildCall(Builder *builder, const gqSignature *signature,
                      LLVMValueRef function, LLVMValueRef callee,
                      LLVMValueRef results, LLVMValueRef arguments,
                      LLVMValueRef *operands) {
  LLVMTypeRef type = LLVMGlobalGetValueType(callee);
  LLVMTypeRef returned = LLVMGetReturnType(type);
  bool returnsValue = LLVMGetTypeKind(returned) != LLVMVoidTypeKind;
  unsigned numFresh = (unsigned)gqSignatureCountFresh(signature);
  LLVMTypeRef packedType = LLVMGetReturnType(LLVMGlobalGetValueType(function));
  unsigned count = 0;
  if (numFresh > 0 && !returnsValue)
    operands[count++] = numFresh == 1
                            ? loadPointer(builder, results, 0)
                            : LLVMBuildAlloca(builder->ir, packedType, "");
  for (int32_t i = 0; i < signature->numInputs; ++i, ++count) {
    operands[count] = loadPointer(builder, arguments, (unsigned)i);
    if (signature->inputs[i].rank >= 0)
      continue;
    LLVMTypeRef scalar = LLVMTypeOf(LLVMGetParam(callee, count));
    operands[count] = LLVMBuildLoad2(builder->ir, scalar, operands[count], "");
  }
  LLVMValueRef call =
      LLVMBuildCall2(builder->ir, type, callee, operands, count, "");
  if (returnsValue)
    LLVMBuildStore(builder->ir, call, loadPointer(builder, results, 0));
  else if (numFresh > 1)
    unpackResults(builder, packedType, operands[0], results, numFresh);
}

/// Builds the gqEntry of a function.
static gqStatus buildEntry(Builder *builder, const gqSignature *signature,
                           LLVMValueRef *entry) {
  gqText name = {0};
  gqTextPrintf(&name, "_mlir_ciface_%s", signature->name);
  LLVMValueRef function =
      LLVMGetNamedFunction(builder->module, signature->name);
  LLVMValueRef callee =
      LLVMGetNamedFunction(builder->module, gqTextString(&name));
  gqTextFree(&name);
  if (!function || !callee)
    return gqFail(GQ_COMPILE_ERROR, "function '%s' has no C interface",
                  signature->name);
  LLVMValueRef *operands =
      calloc((size_t)signature->numInputs + 1, sizeof(LLVMValueRef));
  if (!operands)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  LLVMTypeRef parameters[] = {builder->pointer, builder->pointer};
  *entry = startFunction(builder, "gq_entry", parameters, 2);
  buildCall(builder, signature, function, callee, LLVMGetParam(*entry, 0),
            LLVMGetParam(*entry, 1), operands);
  LLVMBuildRetVoid(builder->ir);
  free(operands);
  return GQ_OK;
}

//===----------------------------------------------------------------------===//
// Constructors
//===----------------------------------------------------------------------===//

/// An element of `llvm.global_ctors` or `llvm.global_dtors`.
typedef struct Structor {
  unsigned priority;
  LLVMValueRef function;
} Structor;

static int compareAscending(const void *a, const void *b) {
  const Structor *lhs = a, *rhs = b;
  return (lhs->priority > rhs->priority) - (lhs->priority < rhs->priority);
}

static int compareDescending(const void *a, const void *b) {
  return compareAscending(b, a);
}

/// Replaces `list`, one of the two, by a function that calls its elements: the
/// JIT does not run the initializers of object files. Null if there is no list.
static gqStatus buildStructors(Builder *builder, LLVMValueRef list,
                               const char *name,
                               int (*compare)(const void *, const void *),
                               LLVMValueRef *function) {
  *function = LLVMConstNull(builder->pointer);
  if (!list)
    return GQ_OK;
  LLVMValueRef array = LLVMGetInitializer(list);
  size_t count =
      LLVMIsAConstantArray(array) ? (size_t)LLVMGetNumOperands(array) : 0;
  Structor *structors = calloc(count + 1, sizeof(Structor));
  if (!structors)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  for (size_t i = 0; i < count; ++i) {
    LLVMValueRef element = LLVMGetOperand(array, (unsigned)i);
    LLVMValueRef priority = LLVMGetOperand(element, 0);
    structors[i] = (Structor){(unsigned)LLVMConstIntGetZExtValue(priority),
                              LLVMGetOperand(element, 1)};
  }
  qsort(structors, count, sizeof(Structor), compare);
  *function = startFunction(builder, name, NULL, 0);
  LLVMTypeRef type = LLVMGlobalGetValueType(*function);
  for (size_t i = 0; i < count; ++i)
    LLVMBuildCall2(builder->ir, type, structors[i].function, NULL, 0, "");
  LLVMBuildRetVoid(builder->ir);
  free(structors);
  LLVMDeleteGlobal(list);
  return GQ_OK;
}

static gqStatus buildInitializers(Builder *builder, LLVMValueRef *initialize,
                                  LLVMValueRef *finalize) {
  gqStatus status = buildStructors(
      builder, LLVMGetNamedGlobal(builder->module, "llvm.global_ctors"),
      "gq_initialize", compareAscending, initialize);
  if (status != GQ_OK)
    return status;
  return buildStructors(
      builder, LLVMGetNamedGlobal(builder->module, "llvm.global_dtors"),
      "gq_finalize", compareDescending, finalize);
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

/// Makes a definition invisible from outside. It gets a name that nobody else
/// has: LLVM takes a function called `sqrt` for the C library's, even an
/// internal one, and the table must not find its own name taken. Returns false
/// if memory ran out.
static bool hide(LLVMValueRef value) {
  size_t length;
  const char *old = LLVMGetValueName2(value, &length);
  gqText name = {0};
  gqTextPrintf(&name, "gq.%.*s", (int)length, old);
  bool named = !name.failed;
  LLVMSetValueName2(value, gqTextString(&name), name.length);
  gqTextFree(&name);
  LLVMSetLinkage(value, LLVMInternalLinkage);
  return named;
}

/// Everything that the module defines is reached through the table.
static gqStatus internalize(LLVMModuleRef module) {
  bool hidden = true;
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function;
       function = LLVMGetNextFunction(function))
    if (!LLVMIsDeclaration(function))
      hidden &= hide(function);
  for (LLVMValueRef global = LLVMGetFirstGlobal(module); global;
       global = LLVMGetNextGlobal(global))
    if (!LLVMIsDeclaration(global) &&
        LLVMGetLinkage(global) != LLVMAppendingLinkage)
      hidden &= hide(global);
  return hidden ? GQ_OK : gqFail(GQ_OUT_OF_MEMORY, "out of memory");
}

static void addTable(Builder *builder, const char *text,
                     LLVMValueRef initialize, LLVMValueRef finalize,
                     LLVMValueRef *entries, size_t count) {
  LLVMValueRef string = LLVMConstStringInContext2(
      builder->context, text, strlen(text), /*DontNullTerminate=*/false);
  LLVMValueRef signatures =
      LLVMAddGlobal(builder->module, LLVMTypeOf(string), "gq_signatures");
  LLVMSetInitializer(signatures, string);
  LLVMSetGlobalConstant(signatures, true);
  LLVMSetLinkage(signatures, LLVMPrivateLinkage);
  LLVMValueRef fields[] = {signatures, initialize, finalize,
                           LLVMConstArray2(builder->pointer, entries, count)};
  LLVMValueRef value =
      LLVMConstStructInContext(builder->context, fields, 4, /*Packed=*/false);
  LLVMValueRef table =
      LLVMAddGlobal(builder->module, LLVMTypeOf(value), GQ_MODULE_TABLE_SYMBOL);
  LLVMSetInitializer(table, value);
  LLVMSetGlobalConstant(table, true);
}

static gqStatus buildTable(Builder *builder, const char *text,
                           const gqSignatures *signatures) {
  size_t count = (size_t)signatures->count;
  LLVMValueRef initialize, finalize;
  LLVMValueRef *entries = calloc(count + 1, sizeof(LLVMValueRef));
  if (!entries)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  gqStatus status = buildInitializers(builder, &initialize, &finalize);
  for (size_t i = 0; i < count && status == GQ_OK; ++i)
    status = buildEntry(builder, &signatures->functions[i], &entries[i]);
  // The entries find functions by name, so names change after them.
  if (status == GQ_OK)
    status = internalize(builder->module);
  if (status == GQ_OK)
    addTable(builder, text, initialize, finalize, entries, count);
  free(entries);
  return status;
}

static gqStatus completeModule(LLVMModuleRef module, const char *text) {
  gqSignatures signatures;
  gqStatus status = gqSignaturesParse(text, &signatures);
  if (status != GQ_OK)
    return status;
  LLVMContextRef context = LLVMGetModuleContext(module);
  Builder builder = {context, module, LLVMCreateBuilderInContext(context),
                     LLVMPointerTypeInContext(context, 0),
                     LLVMInt64TypeInContext(context)};
  status = buildTable(&builder, text, &signatures);
  LLVMDisposeBuilder(builder.ir);
  gqSignaturesFree(&signatures);
  return status;
}

//===----------------------------------------------------------------------===//
// Code generation
//===----------------------------------------------------------------------===//

static gqStatus verify(LLVMModuleRef module) {
  char *message = NULL;
  gqStatus status = GQ_OK;
  if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message))
    status = gqFail(GQ_COMPILE_ERROR, "%s", message);
  LLVMDisposeMessage(message);
  return status;
}

static gqStatus optimize(LLVMModuleRef module, LLVMTargetMachineRef machine) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(module, "default<O2>", machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (!error)
    return GQ_OK;
  char *message = LLVMGetErrorMessage(error);
  gqStatus status = gqFail(GQ_COMPILE_ERROR, "%s", message);
  LLVMDisposeErrorMessage(message);
  return status;
}

static gqStatus emit(LLVMModuleRef module, LLVMTargetMachineRef machine,
                     LLVMMemoryBufferRef *object) {
  char *message = NULL;
  if (!LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile,
                                           &message, object))
    return GQ_OK;
  gqStatus status = gqFail(GQ_COMPILE_ERROR, "%s", message);
  LLVMDisposeMessage(message);
  return status;
}

static void setTarget(LLVMModuleRef module, const gqHost *host,
                      LLVMTargetMachineRef machine) {
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
  LLVMSetTarget(module, host->triple);
  LLVMSetModuleDataLayout(module, layout);
  LLVMDisposeTargetData(layout);
}

/// Keeps what the backend finds wrong, such as inline assembly; by default it
/// would print it and end the process.
static void handleDiagnostic(LLVMDiagnosticInfoRef diagnostic, void *text) {
  if (LLVMGetDiagInfoSeverity(diagnostic) != LLVMDSError)
    return;
  char *message = LLVMGetDiagInfoDescription(diagnostic);
  gqTextPrintf(text, "%s%s", ((gqText *)text)->length ? "\n" : "", message);
  LLVMDisposeMessage(message);
}

static gqStatus emitFor(LLVMTargetMachineRef machine, const gqHost *host,
                        LLVMModuleRef module, const char *signatures,
                        LLVMMemoryBufferRef *object) {
  setTarget(module, host, machine);
  gqStatus status = completeModule(module, signatures);
  if (status == GQ_OK)
    gqModuleHarden(module);
  if (status == GQ_OK)
    status = verify(module);
  if (status == GQ_OK)
    status = optimize(module, machine);
  if (status == GQ_OK)
    status = emit(module, machine, object);
  return status;
}

gqStatus gqObjectEmit(LLVMModuleRef module, const gqHost *host,
                      const char *signatures, LLVMMemoryBufferRef *object) {
  LLVMTargetMachineRef machine;
  gqStatus status = createTargetMachine(host, &machine);
  if (status != GQ_OK)
    return status;
  gqText errors = {0};
  LLVMContextRef context = LLVMGetModuleContext(module);
  LLVMContextSetDiagnosticHandler(context, handleDiagnostic, &errors);
  *object = NULL;
  status = emitFor(machine, host, module, signatures, object);
  LLVMContextSetDiagnosticHandler(context, NULL, NULL);
  LLVMDisposeTargetMachine(machine);
  if (errors.length) {
    status = gqFail(GQ_COMPILE_ERROR, "%s", gqTextString(&errors));
    if (*object)
      LLVMDisposeMemoryBuffer(*object);
  }
  gqTextFree(&errors);
  return status;
}
