//===- Toolkit.c - what kernels are made with --------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#define _GNU_SOURCE // dladdr1, memmem

#include "Toolkit.h"

#include "runtime_kernels/kernels/Interface.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool gqFindToolkitFile(const char *folder, gqToolkitFile file,
                       char path[PATH_MAX]) {
  static const char *const names[GQ_NUM_TOOLKIT_FILES] = {
      "bin/ptxas", "bin/fatbinary", "nvvm/libdevice/libdevice.10.bc"};
  return snprintf(path, PATH_MAX, "%s/%s", folder, names[file]) < PATH_MAX &&
         access(path, R_OK) == 0;
}

static bool has(const char *toolkit, gqToolkitFile file) {
  char path[PATH_MAX];
  return gqFindToolkitFile(toolkit, file, path);
}

bool gqToolkitAssembles(const char *toolkit) {
  return has(toolkit, GQ_TOOLKIT_PTXAS) && has(toolkit, GQ_TOOLKIT_FATBINARY);
}

const char *gqCudaToolkit(void) {
  const char *chosen = getenv("GQ_CUDA_TOOLKIT");
  if (chosen)
    return has(chosen, GQ_TOOLKIT_LIBDEVICE) ? chosen : NULL;
  const char *candidates[] = {GQ_CUDA_TOOLKIT, getenv("CUDA_HOME"),
                              getenv("CUDA_PATH"), "/usr/local/cuda"};
  const char *found = NULL;
  for (size_t i = 0; i < sizeof(candidates) / sizeof(candidates[0]); ++i) {
    if (!candidates[i] || !has(candidates[i], GQ_TOOLKIT_LIBDEVICE))
      continue;
    if (gqToolkitAssembles(candidates[i]))
      return candidates[i];
    found = found ? found : candidates[i];
  }
  return found;
}

bool gqThisFile(char path[PATH_MAX]) {
  // An object of this library, not a function: that may be a stub elsewhere.
  static const char here = 0;
  Dl_info info;
  struct link_map *map = NULL;
  if (!dladdr1(&here, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
    return false;
  // The program has no path there, and the name it was called by may lack a
  // folder.
  return realpath(*map->l_name ? map->l_name : "/proc/self/exe", path);
}

bool gqDeviceBitcode(const char *chip, char *path, size_t size) {
  char folder[PATH_MAX];
  *path = '\0';
  if (!gqThisFile(folder))
    return false;
  *strrchr(folder, '/') = '\0';
  int length = snprintf(path, size, "%s/gq/device/gq-%s.bc", folder, chip);
  return length >= 0 && (size_t)length < size && access(path, R_OK) == 0;
}

#define NAME_OF_(SYMBOL) #SYMBOL
#define NAME_OF(SYMBOL) NAME_OF_(SYMBOL)

bool gqIsBitcodeCurrent(const char *path) {
  // Bitcode holds the names of symbols verbatim, one after the other.
  static const char symbol[] = NAME_OF(GQ_KERNEL_INTERFACE);
  FILE *file = fopen(path, "rb");
  if (!file)
    return false;
  long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  bool isRead = size > 0 && fseek(file, 0, SEEK_SET) == 0;
  char *bytes = isRead ? malloc((size_t)size) : NULL;
  bool current = bytes && fread(bytes, (size_t)size, 1, file) == 1 &&
                 memmem(bytes, (size_t)size, symbol, sizeof(symbol) - 1);
  free(bytes);
  fclose(file);
  return current;
}
