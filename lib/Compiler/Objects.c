//===- Objects.c - calls on tensors of an interpreter ---------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gq/Runtime/Objects.h"

#include "../Support/Text.h"
#include "Tensor.h"

#include "gq/Runtime/Cuda.h"

#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// The word before the extents of a tensor. Unlike a struct with padding, its
/// bytes are all of them set.
typedef struct Header {
  uint8_t index, rank, code, bits;
  uint16_t lanes;
  uint8_t deviceType, device;
} Header;

_Static_assert(sizeof(Header) == sizeof(int64_t), "one word without padding");

static bool hasKey(const DLTensor *tensor) {
  return tensor->ndim >= 0 && tensor->ndim <= GQ_MAX_RANK &&
         tensor->device.device_id >= 0 &&
         tensor->device.device_id <= UINT8_MAX &&
         (uint32_t)tensor->device.device_type <= UINT8_MAX &&
         gqTensorIsContiguous(tensor);
}

/// Appends a tensor to a key of `length` words, and returns the new length.
static size_t append(const DLTensor *tensor, size_t index, int64_t *key,
                     size_t length) {
  const Header header = {
      (uint8_t)index,
      (uint8_t)tensor->ndim,
      tensor->dtype.code,
      tensor->dtype.bits,
      tensor->dtype.lanes,
      (uint8_t)tensor->device.device_type,
      (uint8_t)tensor->device.device_id,
  };
  memcpy(&key[length++], &header, sizeof(header));
  for (int32_t i = 0; i < tensor->ndim; ++i)
    key[length++] = tensor->shape[i];
  return length;
}

size_t gqReadObjects(const gqObjectReader *reader, void *tuple, size_t count,
                     void **data, int64_t *key) {
  size_t length = 0;
  for (size_t i = 0; i < count && count <= GQ_MAX_OBJECTS; ++i) {
    void *object = reader->item(tuple, (intptr_t)i);
    if (object == reader->none)
      continue;
    DLTensor tensor;
    if (!object || reader->describe(object, &tensor)) {
      reader->clearError();
      return 0;
    }
    if (!hasKey(&tensor))
      return 0;
    *data++ = gqTensorData(&tensor);
    length = append(&tensor, i, key, length);
  }
  return length;
}

//===----------------------------------------------------------------------===//
// Exports
//===----------------------------------------------------------------------===//

/// A tensor that others hold.
typedef struct Export {
  DLManagedTensor managed;
  void *owner;
  int64_t sizes[GQ_MAX_RANK];
  int64_t strides[GQ_MAX_RANK];
} Export;

/// Set by the first export.
static const gqInterpreter *interpreterOfExports = NULL;

/// The interpreter is gone when a process ends, and its objects with it.
static void deleteExport(DLManagedTensor *tensor) {
  const gqInterpreter *interpreter = interpreterOfExports;
  Export *export = tensor->manager_ctx;
  if (interpreter->isInitialized()) {
    int state = interpreter->ensure();
    interpreter->decRef(export->owner);
    interpreter->release(state);
  }
  free(export);
}

DLManagedTensor *gqExport(const gqInterpreter *interpreter, void *owner,
                          const DLTensor *tensor) {
  Export *export = calloc(1, sizeof(Export));
  if (!export || tensor->ndim > GQ_MAX_RANK) {
    free(export);
    return NULL;
  }
  interpreterOfExports = interpreter;
  interpreter->incRef(owner);
  export->owner = owner;
  export->managed = (DLManagedTensor){*tensor, export, deleteExport};
  size_t size = (size_t)tensor->ndim * sizeof(int64_t);
  memcpy(export->sizes, tensor->shape, size);
  export->managed.dl_tensor.shape = export->sizes;
  if (tensor->strides) {
    memcpy(export->strides, tensor->strides, size);
    export->managed.dl_tensor.strides = export->strides;
  }
  return &export->managed;
}

void gqExportDestroy(void *capsule) {
  static const char name[] = "dltensor";
  if (!interpreterOfExports->isCapsule(capsule, name))
    return;
  DLManagedTensor *tensor = interpreterOfExports->capsulePointer(capsule, name);
  tensor->deleter(tensor);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

static gqStatus invoke(gqExecutable *executable, const DLTensor *like,
                       void *const *data, size_t count) {
  DLTensor tensors[GQ_MAX_OBJECTS];
  DLTensor *inputs[GQ_MAX_OBJECTS];
  for (size_t i = 0; i < count; ++i) {
    tensors[i] = like[i];
    tensors[i].data = data[i];
    inputs[i] = &tensors[i];
  }
  return gqInvoke(executable, NULL, inputs, count, NULL, 0);
}

/// On a device that is not the thread's, which is so again afterwards. The
/// message of a failure stays that of the call.
static gqStatus invokeElsewhere(gqExecutable *executable, const DLTensor *like,
                                void *const *data, size_t count, int32_t before,
                                void *stream) {
  gqStatus status = gqSetDevice(like->device.device_id);
  if (status != GQ_OK)
    return status;
  gqSetStream(stream);
  status = invoke(executable, like, data, count);
  if (status == GQ_OK)
    return gqSetDevice(before);
  gqText message = {0};
  gqTextPrintf(&message, "%s", gqGetLastErrorMessage());
  gqSetDevice(before);
  gqFail(status, "%s", gqTextString(&message));
  gqTextFree(&message);
  return status;
}

gqStatus gqInvokeAt(gqExecutable *executable, const DLTensor *like,
                    void *const *data, size_t count, void *stream) {
  if (count > GQ_MAX_OBJECTS)
    return gqFail(GQ_INVALID_ARGUMENT, "found %zu arguments, at most %d fit",
                  count, GQ_MAX_OBJECTS);
  if (count == 0 || like->device.device_type != kDLCUDA)
    return invoke(executable, like, data, count);
  int32_t current;
  gqStatus status = gqGetDevice(&current);
  if (status != GQ_OK)
    return status;
  if (current != like->device.device_id)
    return invokeElsewhere(executable, like, data, count, current, stream);
  gqSetStream(stream);
  return invoke(executable, like, data, count);
}
