//===- CudaModule.c - loading and launching kernels -----------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaContext.h"

#include "gq/Runtime/Cuda.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Module Module;

/// A kernel in one context: what mgpuModuleGetFunction returns.
typedef struct Kernel {
  Module *module;
  gqCudaContext *context;
  /// Borrowed from generated code.
  const char *name;
  CUfunction function;
  /// The image's.
  bool waits;
  /// The dynamic shared memory that it may use; guarded by the module's lock.
  int32_t sharedLimit;
  struct Kernel *next;
} Kernel;

/// A module in one context.
typedef struct Image {
  gqCudaContext *context;
  CUmodule handle;
  /// Whether its kernels wait for the one before them by themselves
  /// (GQ_PROGRAMMATIC_LAUNCH).
  bool waits;
  Kernel *kernels;
  struct Image *next;
} Image;

/// What mgpuModuleLoad returns.
struct Module {
  const void *data;
  /// For PTX alone; -1 if the image says how it was compiled.
  int optimizationLevel;
  pthread_mutex_t lock;
  /// Guarded by the lock.
  Image *images;
};

enum {
  /// The dynamic shared memory that a kernel may use without asking, in bytes.
  DEFAULT_SHARED_LIMIT = 48 << 10,
  UNKNOWN_LEVEL = -1,
  LOG_SIZE = 4096,
};

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

/// Even while a failure is pending: the module outlives it.
static void *recordModule(const void *data, int optimizationLevel) {
  Module *module = calloc(1, sizeof(Module));
  if (!module) {
    gqCudaPend(gqFail(GQ_OUT_OF_MEMORY, "out of memory"));
    return NULL;
  }
  module->data = data;
  module->optimizationLevel = optimizationLevel;
  pthread_mutex_init(&module->lock, NULL);
  return module;
}

void *mgpuModuleLoad(void *image, size_t size) {
  (void)size; // The driver reads it from the image.
  return recordModule(image, UNKNOWN_LEVEL);
}

void *mgpuModuleLoadJIT(void *image, int optimizationLevel) {
  return recordModule(image, optimizationLevel);
}

/// Unloads an image in its context, which need not be the current one.
static gqStatus unloadImage(const Image *image) {
  const gqCudaContext *context = image->context;
  gqStatus status;
  if (!gqCudaPush(context, &status))
    return status;
  status = GQ_CUDA_CALL(context, cuModuleUnload, image->handle);
  gqCudaPop(context);
  return status;
}

static void destroyImage(Image *image) {
  while (image->kernels) {
    Kernel *next = image->kernels->next;
    free(image->kernels);
    image->kernels = next;
  }
  free(image);
}

void mgpuModuleUnload(void *handle) {
  Module *module = handle;
  if (!module)
    return;
  while (module->images) {
    Image *next = module->images->next;
    gqCudaPend(unloadImage(module->images));
    destroyImage(module->images);
    module->images = next;
  }
  pthread_mutex_destroy(&module->lock);
  free(module);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// Whether PTX is for a later chip than `chip`, or for just one other: the
/// driver calls either invalid.
static bool isForOtherChip(const char *ptx, const char *chip) {
  static const char target[] = ".target sm_", prefix[] = "sm_";
  const char *directive = strstr(ptx, target);
  if (!directive || strncmp(chip, prefix, strlen(prefix)) != 0)
    return false;
  char *suffix;
  long wanted = strtol(directive + strlen(target), &suffix, 10);
  long found = strtol(chip + strlen(prefix), NULL, 10);
  return wanted > found || (wanted != found && *suffix == 'a');
}

static gqStatus explainLoad(const Module *module, CUresult result,
                            const char *chip, const char **explanation) {
  bool isPtx = module->optimizationLevel != UNKNOWN_LEVEL;
  if (result == CUDA_ERROR_NO_BINARY_FOR_GPU ||
      (result == CUDA_ERROR_INVALID_PTX && isPtx &&
       isForOtherChip(module->data, chip))) {
    *explanation = "the kernels were not compiled for this chip";
    return GQ_UNSUPPORTED_CHIP;
  }
  *explanation = "the kernels cannot be loaded";
  if (result == CUDA_ERROR_INVALID_PTX ||
      result == CUDA_ERROR_JIT_COMPILER_NOT_FOUND)
    *explanation = "the driver refuses the PTX";
  if (result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
    *explanation = "the driver is too old for the PTX";
  return result == CUDA_ERROR_OUT_OF_MEMORY ? GQ_OUT_OF_MEMORY : GQ_CUDA_ERROR;
}

/// `log` is the output of the driver's compiler, possibly empty.
static gqStatus failLoad(const Module *module, const gqCudaContext *context,
                         CUresult result, char *log) {
  char chip[GQ_CHIP_SIZE];
  if (gqDeviceChip(chip) != GQ_OK)
    strcpy(chip, "unknown chip");
  size_t length = strlen(log);
  while (length && log[length - 1] == '\n')
    log[--length] = '\0';
  const char *explanation;
  gqStatus status = explainLoad(module, result, chip, &explanation);
  gqCudaCheckCall(context, result, "cuModuleLoadDataEx");
  return gqFail(status, "%s (%s): %s%s%s", explanation, chip,
                gqGetLastErrorMessage(), length ? "\n" : "", log);
}

static gqStatus loadData(const Module *module, const gqCudaContext *context,
                         CUmodule *handle) {
  char log[LOG_SIZE] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_OPTIMIZATION_LEVEL};
  void *values[] = {log, (void *)(uintptr_t)(LOG_SIZE - 1),
                    (void *)(intptr_t)module->optimizationLevel};
  unsigned count = module->optimizationLevel == UNKNOWN_LEVEL ? 2 : 3;
  CUresult result = context->driver->cuModuleLoadDataEx(handle, module->data,
                                                        count, options, values);
  return result == CUDA_SUCCESS ? GQ_OK
                                : failLoad(module, context, result, log);
}

/// Whether the image's kernels wait by themselves.
static gqStatus findMarker(const gqCudaContext *context, CUmodule handle,
                           bool *waits) {
  CUdeviceptr marker;
  size_t size;
  CUresult result = context->driver->cuModuleGetGlobal(&marker, &size, handle,
                                                       GQ_PROGRAMMATIC_LAUNCH);
  *waits = result == CUDA_SUCCESS;
  if (result == CUDA_ERROR_NOT_FOUND)
    return GQ_OK;
  return gqCudaCheckCall(context, result, "cuModuleGetGlobal");
}

static gqStatus loadImage(Module *module, gqCudaContext *context,
                          Image **image) {
  gqStatus status =
      gqCudaRefuseCapture(context, gqGetStream(), "the first use of a kernel");
  if (status != GQ_OK)
    return status;
  Image *result = calloc(1, sizeof(Image));
  if (!result)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  status = loadData(module, context, &result->handle);
  if (status != GQ_OK) {
    free(result);
    return status;
  }
  status = findMarker(context, result->handle, &result->waits);
  if (status != GQ_OK) {
    context->driver->cuModuleUnload(result->handle);
    free(result);
    return status;
  }
  result->context = context;
  result->next = module->images;
  *image = module->images = result;
  return GQ_OK;
}

static gqStatus findImage(Module *module, gqCudaContext *context,
                          Image **image) {
  for (*image = module->images; *image; *image = (*image)->next)
    if ((*image)->context == context)
      return GQ_OK;
  return loadImage(module, context, image);
}

/// The failure of a driver call about a kernel.
static gqStatus checkKernel(const gqCudaContext *context, CUresult result,
                            const char *call, const char *kernel) {
  gqStatus status = gqCudaCheckCall(context, result, call);
  if (status == GQ_OK)
    return status;
  return gqFail(status, "kernel '%s': %s", kernel, gqGetLastErrorMessage());
}

static gqStatus createKernel(Module *module, Image *image, const char *name,
                             Kernel **kernel) {
  CUfunction function;
  gqStatus status = gqCudaRefuseCapture(image->context, gqGetStream(),
                                        "the first use of a kernel");
  if (status != GQ_OK)
    return status;
  status = checkKernel(image->context,
                       image->context->driver->cuModuleGetFunction(
                           &function, image->handle, name),
                       "cuModuleGetFunction", name);
  if (status != GQ_OK)
    return status;
  Kernel *result = calloc(1, sizeof(Kernel));
  if (!result)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  *result = (Kernel){.module = module,
                     .context = image->context,
                     .name = name,
                     .function = function,
                     .waits = image->waits,
                     .sharedLimit = DEFAULT_SHARED_LIMIT,
                     .next = image->kernels};
  *kernel = image->kernels = result;
  return GQ_OK;
}

static gqStatus findKernel(Module *module, gqCudaContext *context,
                           const char *name, Kernel **kernel) {
  Image *image;
  gqStatus status = findImage(module, context, &image);
  if (status != GQ_OK)
    return status;
  for (*kernel = image->kernels; *kernel; *kernel = (*kernel)->next)
    if (strcmp((*kernel)->name, name) == 0)
      return GQ_OK;
  return createKernel(module, image, name, kernel);
}

void *mgpuModuleGetFunction(void *handle, const char *name) {
  Module *module = handle;
  gqCudaContext *context = gqCudaBegin();
  if (!context)
    return NULL;
  if (!module) {
    gqCudaPend(gqFail(GQ_OUT_OF_MEMORY,
                      "kernel '%s': its module could not be recorded", name));
    return NULL;
  }
  Kernel *kernel;
  pthread_mutex_lock(&module->lock);
  gqStatus status = findKernel(module, context, name, &kernel);
  pthread_mutex_unlock(&module->lock);
  gqCudaPend(status);
  return status == GQ_OK ? kernel : NULL;
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

/// Extents in blocks or threads.
typedef struct Extents {
  intptr_t x, y, z;
} Extents;

static bool isEmpty(Extents extents) {
  return extents.x == 0 || extents.y == 0 || extents.z == 0;
}

static bool isExtent(intptr_t extent) {
  return extent >= 0 && extent <= UINT32_MAX;
}

static gqStatus checkExtents(const Kernel *kernel, const char *what,
                             Extents extents) {
  if (isExtent(extents.x) && isExtent(extents.y) && isExtent(extents.z))
    return GQ_OK;
  return gqFail(GQ_INVALID_ARGUMENT,
                "kernel '%s': no device has a %s of %" PRIdPTR " x %" PRIdPTR
                " x %" PRIdPTR,
                kernel->name, what, extents.x, extents.y, extents.z);
}

/// More than the default must be requested, once.
static gqStatus allowShared(Kernel *kernel, int32_t size) {
  gqStatus status = GQ_OK;
  pthread_mutex_lock(&kernel->module->lock);
  if (size > kernel->sharedLimit) {
    status =
        checkKernel(kernel->context,
                    kernel->context->driver->cuFuncSetAttribute(
                        kernel->function,
                        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, size),
                    "cuFuncSetAttribute", kernel->name);
    if (status == GQ_OK)
      kernel->sharedLimit = size;
  }
  pthread_mutex_unlock(&kernel->module->lock);
  return status;
}

static CUlaunchAttribute clusterAttribute(Extents cluster) {
  CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
  attribute.value.clusterDim.x = (unsigned)cluster.x;
  attribute.value.clusterDim.y = (unsigned)cluster.y;
  attribute.value.clusterDim.z = (unsigned)cluster.z;
  return attribute;
}

static CUlaunchAttribute programmaticAttribute(void) {
  CUlaunchAttribute attribute = {
      .id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION};
  attribute.value.programmaticStreamSerializationAllowed = 1;
  return attribute;
}

/// Launches what was checked; if the driver refuses, the message has the
/// configuration.
static gqStatus launchConfig(Kernel *kernel, const CUlaunchConfig *config,
                             void **parameters) {
  gqStatus status = GQ_OK;
  if (config->sharedMemBytes > DEFAULT_SHARED_LIMIT)
    status = allowShared(kernel, (int32_t)config->sharedMemBytes);
  if (status == GQ_OK)
    status = checkKernel(kernel->context,
                         kernel->context->driver->cuLaunchKernelEx(
                             config, kernel->function, parameters, NULL),
                         "cuLaunchKernelEx", kernel->name);
  if (status == GQ_OK)
    return GQ_OK;
  return gqFail(status,
                "%s (grid %u x %u x %u, block %u x %u x %u, %u bytes of shared "
                "memory)",
                gqGetLastErrorMessage(), config->gridDimX, config->gridDimY,
                config->gridDimZ, config->blockDimX, config->blockDimY,
                config->blockDimZ, config->sharedMemBytes);
}

/// `cluster` is null for a launch without clusters.
static gqStatus launch(Kernel *kernel, const Extents *cluster, Extents grid,
                       Extents block, int32_t sharedSize, CUstream stream,
                       void **parameters) {
  gqStatus status = checkExtents(kernel, "grid", grid);
  if (status == GQ_OK)
    status = checkExtents(kernel, "block", block);
  if (status == GQ_OK && cluster)
    status = checkExtents(kernel, "cluster", *cluster);
  if (status != GQ_OK || isEmpty(grid))
    return status;
  CUlaunchAttribute attributes[2];
  CUlaunchConfig config = {
      .gridDimX = (unsigned)grid.x,
      .gridDimY = (unsigned)grid.y,
      .gridDimZ = (unsigned)grid.z,
      .blockDimX = (unsigned)block.x,
      .blockDimY = (unsigned)block.y,
      .blockDimZ = (unsigned)block.z,
      .sharedMemBytes = (unsigned)sharedSize,
      .hStream = stream,
      .attrs = attributes,
  };
  if (cluster)
    attributes[config.numAttrs++] = clusterAttribute(*cluster);
  if (kernel->waits)
    attributes[config.numAttrs++] = programmaticAttribute();
  return launchConfig(kernel, &config, parameters);
}

/// A null kernel goes with a pending failure.
void mgpuLaunchKernel(void *function, intptr_t gridX, intptr_t gridY,
                      intptr_t gridZ, intptr_t blockX, intptr_t blockY,
                      intptr_t blockZ, int32_t sharedSize, void *stream,
                      void **parameters, void **extra, size_t numParameters) {
  (void)extra;
  (void)numParameters;
  if (!gqCudaBegin() || !function)
    return;
  gqCudaPend(launch(function, /*cluster=*/NULL, (Extents){gridX, gridY, gridZ},
                    (Extents){blockX, blockY, blockZ}, sharedSize, stream,
                    parameters));
}

void mgpuLaunchClusterKernel(void *function, intptr_t clusterX,
                             intptr_t clusterY, intptr_t clusterZ,
                             intptr_t gridX, intptr_t gridY, intptr_t gridZ,
                             intptr_t blockX, intptr_t blockY, intptr_t blockZ,
                             int32_t sharedSize, void *stream,
                             void **parameters, void **extra,
                             size_t numParameters) {
  (void)extra;
  (void)numParameters;
  if (!gqCudaBegin() || !function)
    return;
  Extents cluster = {clusterX, clusterY, clusterZ};
  gqCudaPend(launch(function, &cluster, (Extents){gridX, gridY, gridZ},
                    (Extents){blockX, blockY, blockZ}, sharedSize, stream,
                    parameters));
}
