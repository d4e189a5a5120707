//===- Executable.c - running compiled functions --------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Executable.h"
#include "Harden.h"
#include "Heap.h"
#include "Memref.h"
#include "Object.h"
#include "Signature.h"
#include "Tensor.h"

#include "gq/Runtime/Cpu.h"
#include "gq/Runtime/Cuda.h"

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <stdlib.h>
#include <string.h>

struct gqExecutable {
  bool isCuda;
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

/// Reports missing functions, which the linker lists as "Symbols not found:
/// [ f, g ]", in the user's terms.
static gqStatus failSymbols(const char *report) {
  static const char before[] = "Symbols not found: [ ";
  const char *names = strstr(report, before);
  const char *end = names ? strstr(names, " ]") : NULL;
  if (!end)
    return gqFail(GQ_COMPILE_ERROR, "%s", report);
  names += sizeof(before) - 1;
  return gqFail(GQ_COMPILE_ERROR,
                "undefined: %.*s (declared in the module; defined neither "
                "there nor by gq, the C library or the process)",
                (int)(end - names), names);
}

/// For the time after linking: the session outlives the text above.
static void ignoreLinkError(void *unused, LLVMErrorRef error) {
  (void)unused;
  LLVMConsumeError(error);
}

/// A function of this library that generated code calls.
typedef struct RuntimeFunction {
  const char *name;
  void (*function)(void);
} RuntimeFunction;

#define GQ_FUNCTION(NAME) {#NAME, (void (*)(void))NAME}

static const RuntimeFunction cpuFunctions[] = {
    GQ_FUNCTION(gqCpuBlockQuantize),
    GQ_FUNCTION(gqCpuPreprocessGroupedMatmulSf),
    GQ_FUNCTION(gqCpuGroupedBlockQuantize),
    GQ_FUNCTION(gqCpuGroupedAmax),
    GQ_FUNCTION(gqCpuGroupedQuantize),
    GQ_FUNCTION(gqCpuUpdateScales),
    GQ_FUNCTION(gqCpuGroupOffsets),
    GQ_FUNCTION(gqCpuGroupedMm),
    GQ_FUNCTION(gqCpuGroupedWgrad),
    GQ_FUNCTION(gqCpuBlockDequantize),
    GQ_FUNCTION(gqCpuGroupedDequantize),
    {"memrefCopy", (void (*)(void))gqMemrefCopy},
    {GQ_HEAP_ALLOCATE_SYMBOL, (void (*)(void))gqHeapAllocate},
    {GQ_HEAP_FREE_SYMBOL, (void (*)(void))gqHeapFree},
};

/// Not memrefCopy, which would work on memory of the host: a module that calls
/// it does not link.
static const RuntimeFunction cudaFunctions[] = {
    // Only what a module itself calls: memrefs are not on the host.
    {GQ_HEAP_ALLOCATE_SYMBOL, (void (*)(void))malloc},
    {GQ_HEAP_FREE_SYMBOL, (void (*)(void))free},
    GQ_FUNCTION(_mlir_memref_to_llvm_aligned_alloc),
    GQ_FUNCTION(_mlir_memref_to_llvm_alloc),
    GQ_FUNCTION(_mlir_memref_to_llvm_free),
    GQ_FUNCTION(gqDeviceConstant),
    GQ_FUNCTION(gqDeviceConstantRelease),
    GQ_FUNCTION(gqDeviceMultiprocessorCount),
    GQ_FUNCTION(gqGetStream),
    GQ_FUNCTION(gqLaunchCheck),
    GQ_FUNCTION(gqLaunchExtent),
    GQ_FUNCTION(gqLaunchOperand),
    GQ_FUNCTION(gqPlanLaunch),
    GQ_FUNCTION(gqStreamStatusWord),
    GQ_FUNCTION(mgpuEventCreate),
    GQ_FUNCTION(mgpuEventDestroy),
    GQ_FUNCTION(mgpuEventRecord),
    GQ_FUNCTION(mgpuEventSynchronize),
    GQ_FUNCTION(mgpuLaunchClusterKernel),
    GQ_FUNCTION(mgpuLaunchKernel),
    GQ_FUNCTION(mgpuMemAlloc),
    GQ_FUNCTION(mgpuMemFree),
    GQ_FUNCTION(mgpuMemHostRegister),
    GQ_FUNCTION(mgpuMemHostRegisterMemRef),
    GQ_FUNCTION(mgpuMemHostUnregister),
    GQ_FUNCTION(mgpuMemHostUnregisterMemRef),
    GQ_FUNCTION(mgpuMemcpy),
    GQ_FUNCTION(mgpuMemset16),
    GQ_FUNCTION(mgpuMemset32),
    GQ_FUNCTION(mgpuModuleGetFunction),
    GQ_FUNCTION(mgpuModuleLoad),
    GQ_FUNCTION(mgpuModuleLoadJIT),
    GQ_FUNCTION(mgpuModuleUnload),
    GQ_FUNCTION(mgpuSetDefaultDevice),
    GQ_FUNCTION(mgpuStreamCreate),
    GQ_FUNCTION(mgpuStreamDestroy),
    GQ_FUNCTION(mgpuStreamSynchronize),
    GQ_FUNCTION(mgpuStreamWaitEvent),
};

enum {
  NUM_CPU_FUNCTIONS = sizeof(cpuFunctions) / sizeof(RuntimeFunction),
  NUM_CUDA_FUNCTIONS = sizeof(cudaFunctions) / sizeof(RuntimeFunction),
};

/// Defines what generated code calls in this library. LLJIT finds the C library
/// and libm in the process by itself, but this library's symbols need not be
/// visible there.
static LLVMErrorRef defineRuntime(LLVMOrcLLJITRef jit, bool isCuda) {
  const RuntimeFunction *functions = isCuda ? cudaFunctions : cpuFunctions;
  size_t count = isCuda ? NUM_CUDA_FUNCTIONS : NUM_CPU_FUNCTIONS;
  LLVMOrcCSymbolMapPair pairs[NUM_CPU_FUNCTIONS + NUM_CUDA_FUNCTIONS];
  for (size_t i = 0; i < count; ++i) {
    pairs[i].Name = LLVMOrcLLJITMangleAndIntern(jit, functions[i].name);
    pairs[i].Sym = (LLVMJITEvaluatedSymbol){
        (LLVMOrcExecutorAddress)(uintptr_t)functions[i].function,
        {LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable,
         0}};
  }
  return LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(jit),
                               LLVMOrcAbsoluteSymbols(pairs, count));
}

/// Links `object`, which it takes, and finds the module's table.
static LLVMErrorRef link(LLVMOrcLLJITRef jit, LLVMMemoryBufferRef object,
                         bool isCuda, LLVMOrcExecutorAddress *table) {
  LLVMErrorRef error = defineRuntime(jit, isCuda);
  if (error) {
    LLVMDisposeMemoryBuffer(object);
    return error;
  }
  error =
      LLVMOrcLLJITAddObjectFile(jit, LLVMOrcLLJITGetMainJITDylib(jit), object);
  return error ? error : LLVMOrcLLJITLookup(jit, table, GQ_MODULE_TABLE_SYMBOL);
}

static gqStatus linkTable(LLVMOrcLLJITRef jit, LLVMMemoryBufferRef object,
                          bool isCuda, const gqModuleTable **table) {
  gqText reports = {0};
  LLVMOrcExecutionSessionRef session = LLVMOrcLLJITGetExecutionSession(jit);
  LLVMOrcExecutionSessionSetErrorReporter(session, reportLinkError, &reports);
  LLVMOrcExecutorAddress address = 0;
  LLVMErrorRef error = link(jit, object, isCuda, &address);
  LLVMOrcExecutionSessionSetErrorReporter(session, ignoreLinkError, NULL);
  gqStatus status = GQ_OK;
  if (error)
    status = failLink(error);
  if (error && reports.length)
    status = failSymbols(gqTextString(&reports));
  gqTextFree(&reports);
  *table = (const gqModuleTable *)(uintptr_t)address;
  return status;
}

gqStatus gqExecutableLoad(LLVMMemoryBufferRef object, bool isCuda,
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
  result->isCuda = isCuda;
  gqStatus status = linkTable(result->jit, object, isCuda, &result->table);
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

/// Says that there is no function `name`, and which there are.
static void describeFunctions(const gqSignatures *all, const char *name,
                              gqText *text) {
  if (name)
    gqTextPrintf(text, "no function '%s'; the module has", name);
  else
    gqTextPrintf(text, "name one of the module's functions:");
  for (int32_t i = 0; i < all->count; ++i)
    gqTextPrintf(text, "%s '%s'", i ? "," : "", all->functions[i].name);
}

gqStatus gqExecutableGetSignature(gqExecutable *executable, const char *name,
                                  const gqSignature **signature) {
  const gqSignatures *all = &executable->signatures;
  int32_t found = !name && all->count == 1 ? 0 : -1;
  for (int32_t i = 0; name && i < all->count; ++i)
    if (strcmp(all->functions[i].name, name) == 0)
      found = i;
  *signature = found < 0 ? NULL : &all->functions[found];
  if (found >= 0)
    return GQ_OK;
  gqText text = {0};
  describeFunctions(all, name, &text);
  gqStatus status = gqFail(GQ_INVALID_ARGUMENT, "%s", gqTextString(&text));
  gqTextFree(&text);
  return status;
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
  /// Where its tensors are.
  DLDevice device;
  Slot *inputSlots;
  Slot *resultSlots;
  void **inputs;
  /// Of fresh results only.
  void **results;
} Frame;

static gqStatus createFrame(const gqSignature *signature, DLDevice device,
                            Frame *frame) {
  size_t numInputs = (size_t)signature->numInputs;
  size_t count = numInputs + (size_t)signature->numResults;
  Slot *slots = calloc(count + 1, sizeof(Slot) + sizeof(void *));
  if (!slots)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  void **pointers = (void **)(slots + count);
  *frame = (Frame){signature,         device,   slots,
                   slots + numInputs, pointers, pointers + numInputs};
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
  const gqMemory owner = {{kDLCPU, 0}, NULL, memory};
  return gqTensorCreate(gqTensorDtype(type), 0, NULL, memory, &owner);
}

/// Takes over what the function left in the slot of a new result. The layout
/// of a result's type is the identity, so its offset is 0.
static DLManagedTensor *takeResult(const gqType *type, const void *slot,
                                   DLDevice device) {
  if (type->rank < 0)
    return takeScalar(type->type, slot);
  const gqMemref *memref = slot;
  const gqMemory memory = {device,
                           device.device_type == kDLCPU ? NULL : gqGetStream(),
                           memref->allocated};
  return gqTensorCreate(gqTensorDtype(type->type), type->rank,
                        memref->sizesAndStrides, memref->aligned, &memory);
}

/// The extents come from the arguments, and while there is nothing to store
/// they may be anything.
static gqStatus checkResult(const DLTensor *tensor, int32_t number) {
  for (int32_t i = 0; i < tensor->ndim; ++i)
    if (tensor->shape[i] < 0)
      return gqFail(GQ_INVALID_ARGUMENT,
                    "result %d: its extent %d would be %lld", number, i,
                    (long long)tensor->shape[i]);
  return GQ_OK;
}

static DLManagedTensor *createView(const DLTensor *tensor) {
  const gqMemory borrowed = {tensor->device, NULL, NULL};
  return gqTensorCreate(tensor->dtype, tensor->ndim, tensor->shape,
                        gqTensorData(tensor), &borrowed);
}

static void releaseOutputs(DLManagedTensor **outputs, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (outputs[i])
      outputs[i]->deleter(outputs[i]);
    outputs[i] = NULL;
  }
}

/// Wraps every result, so that each fresh one has an owner whatever happens.
/// Without `outputs` there is no fresh one.
static gqStatus takeOutputs(Frame *frame, DLTensor *const *inputs,
                            DLManagedTensor **outputs) {
  if (!outputs)
    return GQ_OK;
  const gqSignature *signature = frame->signature;
  void **fresh = frame->results;
  gqStatus status = GQ_OK;
  for (int32_t i = 0; i < signature->numResults; ++i) {
    int32_t source = signature->sources[i];
    outputs[i] =
        source < 0 ? takeResult(&signature->results[i], *fresh++, frame->device)
                   : createView(inputs[source]);
    if (!outputs[i])
      status = gqFail(GQ_OUT_OF_MEMORY, "out of memory");
    else if (status == GQ_OK)
      status = checkResult(&outputs[i]->dl_tensor, i);
  }
  if (status != GQ_OK)
    releaseOutputs(outputs, (size_t)signature->numResults);
  return status;
}

/// Scalars are read by the host, wherever the tensors are.
static gqStatus checkInput(const gqType *type, const DLTensor *tensor,
                           DLDevice device) {
  return type->rank < 0 ? gqTypeCheck(type, tensor)
                        : gqTensorCheck(type, tensor, device);
}

/// Whether two tensors share a byte.
static bool overlap(const gqSignature *signature, DLTensor *const *inputs,
                    int32_t i, int32_t k) {
  uintptr_t first = (uintptr_t)gqTensorData(inputs[i]);
  uintptr_t second = (uintptr_t)gqTensorData(inputs[k]);
  size_t firstSize = gqTensorNumBytes(&signature->inputs[i], inputs[i]);
  size_t secondSize = gqTensorNumBytes(&signature->inputs[k], inputs[k]);
  return first < second ? second - first < firstSize && secondSize > 0
                        : first - second < secondSize && firstSize > 0;
}

/// What is written overlaps nothing else. Scalars are read before that.
static gqStatus checkOverlap(const gqSignature *signature,
                             DLTensor *const *inputs) {
  for (int32_t i = 0; i < signature->numInputs; ++i)
    for (int32_t k = 0; signature->written[i] && k < signature->numInputs; ++k)
      if (k != i && signature->inputs[k].rank >= 0 &&
          overlap(signature, inputs, i, k))
        return gqFail(GQ_INVALID_ARGUMENT,
                      "argument %d is written and overlaps argument %d in "
                      "memory",
                      i, k);
  return GQ_OK;
}

static gqStatus checkInputs(const gqSignature *signature, DLDevice device,
                            DLTensor *const *inputs, size_t numInputs,
                            size_t numOutputs) {
  if (numInputs != (size_t)signature->numInputs)
    return gqFail(GQ_INVALID_ARGUMENT,
                  "function '%s' takes %d arguments, found %zu",
                  signature->name, signature->numInputs, numInputs);
  bool areReturned = numOutputs || gqSignatureCountFresh(signature);
  if (areReturned && numOutputs != (size_t)signature->numResults)
    return gqFail(GQ_INVALID_ARGUMENT,
                  "function '%s' has %d results, found room for %zu",
                  signature->name, signature->numResults, numOutputs);
  for (size_t i = 0; i < numInputs; ++i) {
    gqStatus status = checkInput(&signature->inputs[i], inputs[i], device);
    if (status != GQ_OK)
      return gqFail(status, "argument %zu: %s", i, gqGetLastErrorMessage());
  }
  return checkOverlap(signature, inputs);
}

/// Finds where a function runs. A failure that is pending in this thread comes
/// from something that has no other way to report it.
static gqStatus startCall(const gqExecutable *executable, DLDevice *device) {
  *device = (DLDevice){kDLCPU, 0};
  if (!executable->isCuda) {
    gqCpuStatus();
    return GQ_OK;
  }
  device->device_type = kDLCUDA;
  gqStatus status = gqCudaStatus();
  return status == GQ_OK ? gqGetDevice(&device->device_id) : status;
}

/// Releases the results of a call that failed, and keeps its message: a device
/// that is lost makes that fail too.
static void dropOutputs(gqStatus status, Frame *frame, DLTensor *const *inputs,
                        DLManagedTensor **outputs) {
  gqText message = {0};
  gqTextPrintf(&message, "%s", gqGetLastErrorMessage());
  if (takeOutputs(frame, inputs, outputs) == GQ_OK && outputs)
    releaseOutputs(outputs, (size_t)frame->signature->numResults);
  if (frame->device.device_type == kDLCUDA)
    gqCudaStatus();
  gqFail(status, "%s", gqTextString(&message));
  gqTextFree(&message);
}

/// Calls the function. A gq op that fails does not stop it, so there are
/// results to take even then.
static gqStatus call(const gqExecutable *executable, Frame *frame,
                     DLTensor *const *inputs, DLManagedTensor **outputs) {
  const gqSignature *signature = frame->signature;
  fillFrame(frame, inputs);
  gqStatus memory = gqHeapCall(
      executable->table->entries[signature - executable->signatures.functions],
      frame->results, frame->inputs);
  gqStatus status = executable->isCuda ? gqCudaStatus() : gqCpuStatus();
  if (memory != GQ_OK)
    return memory;
  if (status == GQ_OK)
    return takeOutputs(frame, inputs, outputs);
  dropOutputs(status, frame, inputs, outputs);
  return status;
}

gqStatus gqInvoke(gqExecutable *executable, const char *function,
                  DLTensor *const *inputs, size_t numInputs,
                  DLManagedTensor **outputs, size_t numOutputs) {
  for (size_t i = 0; i < numOutputs; ++i)
    outputs[i] = NULL;
  const gqSignature *signature;
  DLDevice device;
  gqStatus status = gqExecutableGetSignature(executable, function, &signature);
  if (status == GQ_OK)
    status = startCall(executable, &device);
  if (status == GQ_OK)
    status = checkInputs(signature, device, inputs, numInputs, numOutputs);
  Frame frame;
  if (status == GQ_OK)
    status = createFrame(signature, device, &frame);
  if (status != GQ_OK)
    return status;
  status = call(executable, &frame, inputs, numOutputs ? outputs : NULL);
  destroyFrame(&frame);
  return status;
}
