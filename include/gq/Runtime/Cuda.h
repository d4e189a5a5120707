//===- Cuda.h - the runtime on CUDA devices ----------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams, device memory and what code generated for a GPU calls. The CUDA
// driver is opened at the first call: libcuda.so.1, or the file that
// $GQ_CUDA_DRIVER names. CUDA 11.8 or later; no toolkit.
//
// Every function works in the calling thread's current CUDA context. If there
// is none, the primary context of device 0 becomes the current one. What the
// runtime needs for a context (loaded kernels, a memory pool, status words) is
// made at its first use and kept: a context that was used must not be
// destroyed. A primary context that the runtime made current is never released.
//
// Errors of all functions that return a status: GQ_NO_DRIVER, GQ_NO_DEVICE, and
// GQ_CUDA_ERROR with the driver call and what it returned, such as
// "cuLaunchKernelEx: CUDA_ERROR_INVALID_VALUE (1): invalid argument".
//
// Kernels run asynchronously: the failure of one is reported by a later call.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_RUNTIME_CUDA_H
#define GQ_RUNTIME_CUDA_H

#include "gq/Runtime/Status.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

enum {
  /// Room for the name of a chip and its null character.
  GQ_CHIP_SIZE = 16,
};

/// The ordinal of the device that the calling thread works on.
GQ_EXPORT gqStatus gqGetDevice(int32_t *device);

/// Makes the primary context of a device current in the calling thread, like
/// cudaSetDevice.
GQ_EXPORT gqStatus gqSetDevice(int32_t device);

/// The chip of the thread's device as compilers name it: "sm_90a", "sm_100a",
/// "sm_120a"; without the "a" for other compute capabilities. Makes no context.
GQ_EXPORT gqStatus gqDeviceChip(char name[GQ_CHIP_SIZE]);

/// What the thread's device is, for reports.
typedef struct gqDeviceInfo {
  /// Such as "NVIDIA H100 80GB HBM3".
  char name[128];
  /// gqDeviceChip().
  char chip[GQ_CHIP_SIZE];
  /// The CUDA version of the driver: 13000 is 13.0.
  int32_t cudaVersion;
  int32_t multiprocessorCount;
  /// Bytes of L2 cache.
  int64_t l2Size;
} gqDeviceInfo;

GQ_EXPORT gqStatus gqGetDeviceInfo(gqDeviceInfo *info);

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

/// Creates a stream of the thread's device that waits for no other, to be
/// destroyed by the caller; null after a failure. Any CUstream will do as well.
GQ_EXPORT gqStatus gqStreamCreate(void **stream);

/// Destroys a stream once its work is done. Null is allowed.
GQ_EXPORT gqStatus gqStreamDestroy(void *stream);

/// Sets the CUstream that generated code and the functions below use in this
/// thread; null, as at the start, is the legacy default stream. Borrowed: it
/// must outlive its use, and belong to the context that is current then.
GQ_EXPORT void gqSetStream(void *stream);

/// The stream of this thread.
GQ_EXPORT void *gqGetStream(void);

/// Waits for the stream of this thread.
GQ_EXPORT gqStatus gqSynchronize(void);

/// Waits for `stream`, and returns and clears what its kernels found wrong with
/// their data. Errors: GQ_INVALID_OFFSETS, the message says which offsets; rows
/// that they put out of range were dropped. GQ_INVALID_ROW_INDICES; zeros were
/// used for the rows that do not exist.
GQ_EXPORT gqStatus gqStreamStatus(void *stream);

/// Creates an event that measures time, to be destroyed by the caller.
GQ_EXPORT gqStatus gqEventCreate(void **event);
GQ_EXPORT gqStatus gqEventDestroy(void *event);

/// Records `event` in the stream of this thread.
GQ_EXPORT gqStatus gqEventRecord(void *event);

/// Waits for `end` and measures the time from `start` to it.
GQ_EXPORT gqStatus gqEventElapsed(void *start, void *end, double *microseconds);

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

// The work that calls put into a stream, as a graph that is launched as a
// whole. It uses the captured addresses: a replay reads what they hold at that
// time.

/// Begins to capture the work that is put into the stream of this thread: until
/// gqGraphEnd() it is recorded instead of run. gqInvoke can be captured after a
/// first call on the device (see gq/Runtime/Executable.h). Errors:
/// GQ_INVALID_ARGUMENT on the legacy default stream, which cannot be captured.
GQ_EXPORT gqStatus gqGraphBegin(void);

/// Ends the capture, even after a failure in between. `*graph`, null after a
/// failure, is to be destroyed by the caller. What was captured must outlive
/// it: arguments, executables, and streams, whose status words it uses.
GQ_EXPORT gqStatus gqGraphEnd(void **graph);

/// Launches a graph in the stream of this thread, any number of times. Launches
/// of one graph run one after the other.
GQ_EXPORT gqStatus gqGraphLaunch(void *graph);

/// Destroys a graph once its launches are done. Null is allowed.
GQ_EXPORT gqStatus gqGraphDestroy(void *graph);

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Allocates `size` bytes on the thread's device, in stream order, from a pool
/// of the runtime that keeps freed memory. Owned by the caller. Null for 0
/// bytes. Errors: GQ_OUT_OF_MEMORY.
GQ_EXPORT gqStatus gqDeviceAlloc(size_t size, void **memory);

/// Frees what gqDeviceAlloc or generated code allocated on the thread's device,
/// in stream order. Null is allowed.
GQ_EXPORT gqStatus gqDeviceFree(void *memory);

/// The same in the order of `stream` of `device`, in any thread and whatever
/// its current device. For deleters, which cannot return a status: a failure is
/// left for gqCudaStatus(). While `stream` is captured, memory of before is
/// kept until the next allocation after the capture; so long the stream must
/// live.
GQ_EXPORT void gqDeviceRelease(int32_t device, void *stream, void *memory);

/// Copy `size` bytes in the order of this thread's stream, and wait for it.
GQ_EXPORT gqStatus gqCopyToDevice(void *target, const void *source,
                                  size_t size);
GQ_EXPORT gqStatus gqCopyToHost(void *target, const void *source, size_t size);

//===----------------------------------------------------------------------===//
// Generated code
//===----------------------------------------------------------------------===//

/// Returns and clears the first failure of the functions below in this thread,
/// and makes its message the last one. While a failure is pending they launch,
/// allocate and copy nothing. gqInvoke calls this itself.
GQ_EXPORT gqStatus gqCudaStatus(void);

/// The device address of the word into which kernels on `stream` OR what they
/// find wrong: 1 for offsets, 2 for scale_offsets, 4 for row_indices, 8 for an
/// output that is smaller than the groups need. Null after a failure. The word
/// is allocated at the first call for a stream and kept as long as the context.
/// The first call in a context must not be captured; after it, up to 64 streams
/// may be used for the first time in captures.
GQ_EXPORT uint32_t *gqStreamStatusWord(void *stream);

/// The number of multiprocessors of the thread's device, for sizing grids. 1
/// after a failure, so that dividing by it is safe.
GQ_EXPORT int64_t gqDeviceMultiprocessorCount(void);

/// How to launch a kernel of a gqKernelFamily on the thread's device. The
/// extents are the EXTENT and LAUNCH_CONSTANT rows of the family's list of
/// operands in runtime_kernels/kernels/, in its order; surplus ones are
/// ignored. An unknown family, from code newer than this runtime, is a failure
/// and gets an empty grid; so are extents that are negative or that no device
/// has room for.
GQ_EXPORT gqLaunchPlan gqPlanLaunch(int64_t family, int64_t extent0,
                                    int64_t extent1, int64_t extent2,
                                    int64_t extent3, int64_t extent4,
                                    int64_t extent5, int64_t extent6,
                                    int64_t extent7);

/// Checks of an op whose kernels are about to be launched, number `op` of
/// gq/Runtime/Ops.def, that the extent `found` in dimension `dim` of operand
/// number `operand` is `extent` / `divisor` rounded up, and that rounded up to
/// a multiple of `multiple`. Otherwise GQ_INVALID_ARGUMENT is pending for
/// gqCudaStatus(), and nothing is launched.
GQ_EXPORT void gqLaunchExtent(int64_t op, int64_t operand, int64_t dim,
                              int64_t found, int64_t extent, int64_t divisor,
                              int64_t multiple);

/// Tells where operand number `operand`, in the order of gq/Runtime/Ops.def, of
/// an op whose kernels are about to be launched is in memory: `rows` runs of
/// `width` bytes from `address` on, `stride` bytes apart. Several inputs have
/// the same number.
GQ_EXPORT void gqLaunchOperand(int64_t operand, int64_t address, int64_t rows,
                               int64_t width, int64_t stride);

/// Checks that no operand that the op, number `op` of gq/Runtime/Ops.def,
/// writes shares a byte with another one, as gq/Runtime/Cpu.h requires, and
/// forgets them. Otherwise GQ_INVALID_ARGUMENT is pending for gqCudaStatus(),
/// and nothing is launched.
GQ_EXPORT void gqLaunchCheck(int64_t op);

/// The copy of a constant, `size` bytes at `data`, in the current context. It
/// is made at the first use there, which waits and must not be captured, and
/// kept in
/// `*word`, which is null at first and then owned by the runtime. Null for 0
/// bytes and after a failure.
GQ_EXPORT void *gqDeviceConstant(void **word, const void *data, size_t size);

/// Frees the copies in all contexts and sets `*word` to null. For the
/// destructor of the code that owns the constant: no kernel that reads a copy
/// may be running or be part of a graph that will be launched.
GQ_EXPORT void gqDeviceConstantRelease(void **word);

// What memref.alloc and memref.dealloc are lowered to where memrefs are device
// memory, by finalize-memref-to-llvm{use-generic-functions=true} at the end of
// gq-to-nvvm: gqDeviceAlloc and gqDeviceFree for code that takes no status.
// `size` and `alignment`, at most 256, are in bytes.
GQ_EXPORT void *_mlir_memref_to_llvm_alloc(int64_t size);
GQ_EXPORT void *_mlir_memref_to_llvm_aligned_alloc(int64_t alignment,
                                                   int64_t size);
GQ_EXPORT void _mlir_memref_to_llvm_free(void *memory);

// The functions that MLIR's gpu dialect is lowered to. Unlike upstream's, they
// print nothing; only mgpuEventSynchronize synchronizes with the host; all use
// the current context; and memory comes from the pool above, so that it can be
// allocated and freed in a captured graph.

/// Records an image (cubin, fatbin or PTX), which must stay in place until it
/// is unloaded. Called by constructors, and needs no driver: the image is
/// loaded at its first use in each context, which must not be captured.
GQ_EXPORT void *mgpuModuleLoad(void *image, size_t size);

/// The same for PTX that ends in a null character, which the driver compiles
/// at optimization level 0 to 4.
GQ_EXPORT void *mgpuModuleLoadJIT(void *image, int optimizationLevel);

/// Unloads the image everywhere. No kernel of it may be running or be part of a
/// graph that will be launched.
GQ_EXPORT void mgpuModuleUnload(void *module);

/// A global of an image with this name, of any type, says that all of the
/// image's kernels wait (PTX: griddepcontrol.wait) before they touch memory. So
/// they are launched while the kernel before them in the stream ends.
#define GQ_PROGRAMMATIC_LAUNCH "gq_programmatic_launch"

/// Finds a kernel in the current context. `name` must live as long as
/// `module`, which owns what is returned.
GQ_EXPORT void *mgpuModuleGetFunction(void *module, const char *name);

/// Launches a kernel of mgpuModuleGetFunction. An empty grid launches nothing.
/// `sharedSize` is in bytes; `extra` and `numParameters` are ignored.
GQ_EXPORT void mgpuLaunchKernel(void *function, intptr_t gridX, intptr_t gridY,
                                intptr_t gridZ, intptr_t blockX,
                                intptr_t blockY, intptr_t blockZ,
                                int32_t sharedSize, void *stream,
                                void **parameters, void **extra,
                                size_t numParameters);
GQ_EXPORT void
mgpuLaunchClusterKernel(void *function, intptr_t clusterX, intptr_t clusterY,
                        intptr_t clusterZ, intptr_t gridX, intptr_t gridY,
                        intptr_t gridZ, intptr_t blockX, intptr_t blockY,
                        intptr_t blockZ, int32_t sharedSize, void *stream,
                        void **parameters, void **extra, size_t numParameters);

/// The stream of this thread, which its owner keeps: it is neither destroyed
/// nor waited for.
GQ_EXPORT void *mgpuStreamCreate(void);
GQ_EXPORT void mgpuStreamDestroy(void *stream);
GQ_EXPORT void mgpuStreamSynchronize(void *stream);
GQ_EXPORT void mgpuStreamWaitEvent(void *stream, void *event);

GQ_EXPORT void *mgpuEventCreate(void);
GQ_EXPORT void mgpuEventDestroy(void *event);
GQ_EXPORT void mgpuEventSynchronize(void *event);
GQ_EXPORT void mgpuEventRecord(void *event, void *stream);

/// Host-shared memory is managed memory and does not come from the pool.
GQ_EXPORT void *mgpuMemAlloc(uint64_t size, void *stream, bool isHostShared);
GQ_EXPORT void mgpuMemFree(void *memory, void *stream);
GQ_EXPORT void mgpuMemcpy(void *target, void *source, size_t size,
                          void *stream);
/// `count` is in values.
GQ_EXPORT void mgpuMemset32(void *target, unsigned int value, size_t count,
                            void *stream);
GQ_EXPORT void mgpuMemset16(void *target, unsigned short value, size_t count,
                            void *stream);

GQ_EXPORT void mgpuMemHostRegister(void *memory, uint64_t size);
GQ_EXPORT void mgpuMemHostUnregister(void *memory);
/// `descriptor` is that of a ranked memref without gaps; `elementSize` is in
/// bytes.
GQ_EXPORT void mgpuMemHostRegisterMemRef(int64_t rank, void *descriptor,
                                         int64_t elementSize);
GQ_EXPORT void mgpuMemHostUnregisterMemRef(int64_t rank, void *descriptor,
                                           int64_t elementSize);

/// gqSetDevice().
GQ_EXPORT void mgpuSetDefaultDevice(int32_t device);

#ifdef __cplusplus
}
#endif

#endif // GQ_RUNTIME_CUDA_H
