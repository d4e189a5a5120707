//===- Toolkit.c - where the CUDA toolkit is ---------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Toolkit.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool isToolkit(const char *folder) {
  static const char *const files[] = {"bin/ptxas", "bin/fatbinary",
                                      "nvvm/libdevice/libdevice.10.bc"};
  for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i) {
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
    if (access(path, R_OK) != 0)
      return false;
  }
  return true;
}

const char *gqCudaToolkit(void) {
  const char *chosen = getenv("GQ_CUDA_TOOLKIT");
  if (chosen)
    return isToolkit(chosen) ? chosen : NULL;
  const char *candidates[] = {GQ_CUDA_TOOLKIT, getenv("CUDA_HOME"),
                              getenv("CUDA_PATH"), "/usr/local/cuda"};
  for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); ++i)
    if (candidates[i] && isToolkit(candidates[i]))
      return candidates[i];
  return NULL;
}
