//===- CudaGraph.c - captured graphs --------------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaContext.h"

#include "gq/Runtime/Cuda.h"

/// CU_STREAM_LEGACY, which is what null means unless the program was compiled
/// for per-thread default streams.
static bool isLegacy(CUstream stream) {
  return !stream || stream == (CUstream)0x1;
}

gqStatus gqGraphBegin(void) {
  gqCudaContext *context;
  gqStatus status = gqCudaEnter(&context);
  if (status != GQ_OK)
    return status;
  CUstream stream = gqGetStream();
  if (isLegacy(stream))
    return gqFail(GQ_INVALID_ARGUMENT,
                  "the legacy default stream cannot be captured in a CUDA "
                  "graph; set another with gqSetStream");
  // Other threads may do meanwhile what a capture forbids this one.
  return GQ_CUDA_CALL(context, cuStreamBeginCapture, stream,
                      CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
}

gqStatus gqGraphEnd(void **graph) {
  gqCudaContext *context;
  *graph = NULL;
  gqStatus status = gqCudaEnter(&context);
  if (status != GQ_OK)
    return status;
  CUgraph captured = NULL;
  status = GQ_CUDA_CALL(context, cuStreamEndCapture, gqGetStream(), &captured);
  if (status != GQ_OK)
    return status;
  CUgraphExec executable = NULL;
  status = GQ_CUDA_CALL(context, cuGraphInstantiateWithFlags, &executable,
                        captured, /*flags=*/0);
  context->driver->cuGraphDestroy(captured);
  *graph = status == GQ_OK ? executable : NULL;
  return status;
}

gqStatus gqGraphLaunch(void *graph) {
  gqCudaContext *context;
  gqStatus status = gqCudaEnter(&context);
  if (status != GQ_OK)
    return status;
  return GQ_CUDA_CALL(context, cuGraphLaunch, graph, gqGetStream());
}

gqStatus gqGraphDestroy(void *graph) {
  gqCudaContext *context;
  gqStatus status = gqCudaEnter(&context);
  if (status != GQ_OK || !graph)
    return status;
  return GQ_CUDA_CALL(context, cuGraphExecDestroy, graph);
}
