//===- Executable.c - running compiled functions --------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Executable.h"
#include "Memref.h"
#include "Object.h"
#include "Signature.h"
#include "Tensor.h"

#include "gq/Runtime/Cpu.h"

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <stdlib.h>
#include <string.h>

struct gqExecutable {
  LLVMOrcLLJITRef jit;
  /// In the linked object.
  const gqModuleTable *table;
  gqSignatures signatures;
};

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

static gqStatus failLink(LLVMErrorRef error) {
  char *message = LLVMGetErrorMessage(error);
  gqStatus status = gqFail(GQ_COMPILE_ERROR, "%s", message);
  LLVMDisposeErrorMessage(message);
  return status;
}

/// Collects what the linker reports aside, such as the names of missing
/// functions; a look-up only returns that it failed.
static void reportLinkError(void *text, LLVMErrorRef error) {
  char *message = LLVMGetErrorMessage(error);
  gqTextPrintf(text, "%s%s", ((gqText *)text)->length ? "\n" : "", message);
  LLVMDisposeErrorMessage(message);
}

/// For the time after linking: the session outlives the text above.
static void ignoreLinkError(void *unused, LLVMErrorRef error) {
  (void)unused;
  LLVMConsumeError(error);
}

/// Defines what generated code calls in this library. LLJIT finds the C library
/// and libm in the process by itself, but this library's symbols need not be
/// visible there.
static LLVMErrorRef defineRuntime(LLVMOrcLLJITRef jit) {
  static const struct {
    const char *name;
    void (*function)(void);
  } functions[] = {
      {"gqCpuBlockQuantize", (void (*)(void))gqCpuBlockQuantize},
      {"gqCpuPreprocessGroupedMatmulSf",
       (void (*)(void))gqCpuPreprocessGroupedMatmulSf},
      {"gqCpuGroupedBlockQuantize", (void (*)(void))gqCpuGroupedBlockQuantize},
      {"gqCpuGroupedMm", (void (*)(void))gqCpuGroupedMm},
      {"memrefCopy", (void (*)(void))gqMemrefCopy},
  };
  enum { COUNT = sizeof(functions) / sizeof(functions[0]) };
  LLVMOrcCSymbolMapPair pairs[COUNT];
  for (size_t i = 0; i < COUNT; ++i) {
    pairs[i].Name = LLVMOrcLLJITMangleAndIntern(jit, functions[i].name);
    pairs[i].Sym = (LLVMJITEvaluatedSymbol){
        (LLVMOrcExecutorAddress)(uintptr_t)functions[i].function,
        {LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable,
         0}};
  }
  return LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(jit),
                               LLVMOrcAbsoluteSymbols(pairs, COUNT));
}

/// Links `object`, which it takes, and finds the module's table.
static LLVMErrorRef link(LLVMOrcLLJITRef jit, LLVMMemoryBufferRef object,
                         LLVMOrcExecutorAddress *table) {
  LLVMErrorRef error = defineRuntime(jit);
  if (error) {
    LLVMDisposeMemoryBuffer(object);
    return error;
  }
  error =
      LLVMOrcLLJITAddObjectFile(jit, LLVMOrcLLJITGetMainJITDylib(jit), object);
  return error ? error : LLVMOrcLLJITLookup(jit, table, GQ_MODULE_TABLE_SYMBOL);
}

static gqStatus linkTable(LLVMOrcLLJITRef jit, LLVMMemoryBufferRef object,
                          const gqModuleTable **table) {
  gqText reports = {0};
  LLVMOrcExecutionSessionRef session = LLVMOrcLLJITGetExecutionSession(jit);
  LLVMOrcExecutionSessionSetErrorReporter(session, reportLinkError, &reports);
  LLVMOrcExecutorAddress address = 0;
  LLVMErrorRef error = link(jit, object, &address);
  LLVMOrcExecutionSessionSetErrorReporter(session, ignoreLinkError, NULL);
  gqStatus status = GQ_OK;
  if (error)
    status = failLink(error);
  if (error && reports.length)
    status = gqFail(GQ_COMPILE_ERROR, "%s", gqTextString(&reports));
  gqTextFree(&reports);
  *table = (const gqModuleTable *)(uintptr_t)address;
  return status;
}

gqStatus gqExecutableLoad(LLVMMemoryBufferRef object,
                          gqExecutable **executable) {
  gqExecutable *result = calloc(1, sizeof(gqExecutable));
  if (!result) {
    LLVMDisposeMemoryBuffer(object);
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  }
  LLVMErrorRef error = LLVMOrcCreateLLJIT(&result->jit, NULL);
  if (error) {
    LLVMDisposeMemoryBuffer(object);
    free(result);
    return failLink(error);
  }
  gqStatus status = linkTable(result->jit, object, &result->table);
  if (status == GQ_OK)
    status = gqSignaturesParse(result->table->signatures, &result->signatures);
  if (status != GQ_OK) {
    LLVMConsumeError(LLVMOrcDisposeLLJIT(result->jit));
    free(result);
    return status;
  }
  if (result->table->initialize)
    result->table->initialize();
  *executable = result;
  return GQ_OK;
}

void gqExecutableDestroy(gqExecutable *executable) {
  if (!executable)
    return;
  if (executable->table->finalize)
    executable->table->finalize();
  gqSignaturesFree(&executable->signatures);
  LLVMConsumeError(LLVMOrcDisposeLLJIT(executable->jit));
  free(executable);
}

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

static gqStatus failFunction(const gqExecutable *executable, const char *name) {
  gqText text = {0};
  if (name)
    gqTextPrintf(&text, "no function '%s'; ", name);
  if (executable->signatures.count == 0)
    gqTextPrintf(&text, "the module has no public function");
  else if (name)
    gqTextPrintf(&text, "the module has");
  else
    gqTextPrintf(&text, "name one of the module's functions:");
  for (int32_t i = 0; i < executable->signatures.count; ++i)
    gqTextPrintf(&text, "%s '%s'", i ? "," : "",
                 executable->signatures.functions[i].name);
  gqStatus status = gqFail(GQ_INVALID_ARGUMENT, "%s", gqTextString(&text));
  gqTextFree(&text);
  return status;
}

gqStatus gqExecutableGetSignature(gqExecutable *executable, const char *name,
                                  const gqSignature **signature) {
  const gqSignatures *all = &executable->signatures;
  *signature = NULL;
  if (!name && all->count == 1)
    *signature = all->functions;
  for (int32_t i = 0; name && i < all->count; ++i)
    if (strcmp(all->functions[i].name, name) == 0)
      *signature = &all->functions[i];
  return *signature ? GQ_OK : failFunction(executable, name);
}

//===----------------------------------------------------------------------===//
// Invocation
//===----------------------------------------------------------------------===//

/// A place for any argument or result: the descriptor of a memref, or a scalar
/// in its first word.
typedef struct Slot {
  int64_t words[3 + 2 * GQ_MAX_RANK];
} Slot;

_Static_assert(sizeof(gqMemref) == 3 * sizeof(int64_t),
               "a slot holds a descriptor of the highest rank");

/// The arguments and results of one call, in one allocation.
typedef struct Frame {
  const gqSignature *signature;
  Slot *inputSlots;
  Slot *resultSlots;
  void **inputs;
  /// Of fresh results only.
  void **results;
} Frame;

static gqStatus createFrame(const gqSignature *signature, Frame *frame) {
  size_t numInputs = (size_t)signature->numInputs;
  size_t count = numInputs + (size_t)signature->numResults;
  Slot *slots = calloc(count + 1, sizeof(Slot) + sizeof(void *));
  if (!slots)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  void **pointers = (void **)(slots + count);
  *frame = (Frame){signature, slots, slots + numInputs, pointers,
                   pointers + numInputs};
  return GQ_OK;
}

static void destroyFrame(Frame *frame) { free(frame->inputSlots); }

/// Describes `tensor` in its slot and returns what the entry takes.
static void *passInput(const gqType *type, const DLTensor *tensor, Slot *slot) {
  if (type->rank < 0)
    return gqTensorData(tensor);
  gqMemref *memref = (gqMemref *)slot;
  memref->allocated = memref->aligned = gqTensorData(tensor);
  int64_t stride = 1;
  for (int32_t i = type->rank - 1; i >= 0; --i) {
    memref->sizesAndStrides[i] = tensor->shape[i];
    memref->sizesAndStrides[type->rank + i] = stride;
    stride *= tensor->shape[i];
  }
  return memref;
}

static void fillFrame(Frame *frame, DLTensor *const *inputs) {
  const gqSignature *signature = frame->signature;
  for (int32_t i = 0; i < signature->numInputs; ++i)
    frame->inputs[i] =
        passInput(&signature->inputs[i], inputs[i], &frame->inputSlots[i]);
  int32_t numFresh = gqSignatureCountFresh(signature);
  for (int32_t i = 0; i < numFresh; ++i)
    frame->results[i] = &frame->resultSlots[i];
}

static DLManagedTensor *takeScalar(gqElementType type, const void *value) {
  size_t size = (size_t)gqElementTypeSize(type);
  void *memory = malloc(size);
  if (!memory)
    return NULL;
  memcpy(memory, value, size);
  return gqTensorCreate(gqTensorDtype(type), 0, NULL, memory, memory);
}

/// Takes over what the function left in the slot of a fresh result.
static DLManagedTensor *takeResult(const gqType *type, const void *slot) {
  if (type->rank < 0)
    return takeScalar(type->type, slot);
  const gqMemref *memref = slot;
  char *data =
      (char *)memref->aligned + memref->offset * gqElementTypeSize(type->type);
  return gqTensorCreate(gqTensorDtype(type->type), type->rank,
                        memref->sizesAndStrides, data, memref->allocated);
}

static DLManagedTensor *createView(const DLTensor *tensor) {
  return gqTensorCreate(tensor->dtype, tensor->ndim, tensor->shape,
                        gqTensorData(tensor), NULL);
}

static void releaseOutputs(DLManagedTensor **outputs, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (outputs[i])
      outputs[i]->deleter(outputs[i]);
    outputs[i] = NULL;
  }
}

/// Wraps every result, so that each fresh one has an owner whatever happens.
static gqStatus takeOutputs(Frame *frame, DLTensor *const *inputs,
                            DLManagedTensor **outputs) {
  const gqSignature *signature = frame->signature;
  void **fresh = frame->results;
  gqStatus status = GQ_OK;
  for (int32_t i = 0; i < signature->numResults; ++i) {
    int32_t source = signature->sources[i];
    outputs[i] = source < 0 ? takeResult(&signature->results[i], *fresh++)
                            : createView(inputs[source]);
    if (!outputs[i])
      status = gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  }
  if (status != GQ_OK)
    releaseOutputs(outputs, (size_t)signature->numResults);
  return status;
}

static gqStatus checkInputs(const gqSignature *signature,
                            DLTensor *const *inputs, size_t numInputs,
                            size_t numOutputs) {
  if (numInputs != (size_t)signature->numInputs)
    return gqFail(GQ_INVALID_ARGUMENT,
                  "function '%s' takes %d arguments, found %zu",
                  signature->name, signature->numInputs, numInputs);
  if (numOutputs != (size_t)signature->numResults)
    return gqFail(GQ_INVALID_ARGUMENT,
                  "function '%s' has %d results, found room for %zu",
                  signature->name, signature->numResults, numOutputs);
  for (size_t i = 0; i < numInputs; ++i) {
    gqStatus status = gqTypeCheck(&signature->inputs[i], inputs[i]);
    if (status != GQ_OK)
      return gqFail(status, "argument %zu: %s", i, gqGetLastErrorMessage());
  }
  return GQ_OK;
}

/// Calls the function. A gq op that fails does not stop it, so there are
/// results to take even then.
static gqStatus call(const gqExecutable *executable, Frame *frame,
                     DLTensor *const *inputs, DLManagedTensor **outputs) {
  const gqSignature *signature = frame->signature;
  fillFrame(frame, inputs);
  gqCpuStatus();
  executable->table->entries[signature - executable->signatures.functions](
      frame->results, frame->inputs);
  gqStatus status = gqCpuStatus();
  gqStatus taken = takeOutputs(frame, inputs, outputs);
  if (status == GQ_OK)
    return taken;
  releaseOutputs(outputs, (size_t)signature->numResults);
  return status;
}

gqStatus gqInvoke(gqExecutable *executable, const char *function,
                  DLTensor *const *inputs, size_t numInputs,
                  DLManagedTensor **outputs, size_t numOutputs) {
  for (size_t i = 0; i < numOutputs; ++i)
    outputs[i] = NULL;
  const gqSignature *signature;
  gqStatus status = gqExecutableGetSignature(executable, function, &signature);
  if (status == GQ_OK)
    status = checkInputs(signature, inputs, numInputs, numOutputs);
  Frame frame;
  if (status == GQ_OK)
    status = createFrame(signature, &frame);
  if (status != GQ_OK)
    return status;
  status = call(executable, &frame, inputs, outputs);
  destroyFrame(&frame);
  return status;
}
