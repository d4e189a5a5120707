//===- Driver.c - the CUDA driver, opened at run time ---------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Driver cu;

void driverCheck(int result, const char *call, int line) {
  if (!result)
    return;
  fprintf(stderr, "line %d: %s: CUDA error %d\n", line, call, result);
  exit(2);
}

static void *symbol(void *library, const char *name) {
  void *address = dlsym(library, name);
  if (!address) {
    fprintf(stderr, "the driver has no %s\n", name);
    exit(2);
  }
  return address;
}

int driverOpen(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(77);
  }
  void *address;
#define LOAD(NAME, SYMBOL, PARAMETERS)                                         \
  address = symbol(library, SYMBOL);                                           \
  memcpy(&cu.NAME, &address, sizeof(address));
  DRIVER_FUNCTIONS(LOAD)
#undef LOAD
  int device;
  Handle context;
  CU(Init(0));
  CU(DeviceGet(&device, 0));
  CU(DevicePrimaryCtxRetain(&context, device));
  CU(CtxSetCurrent(context));
  return device;
}

Handle driverLoad(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    exit(2);
  }
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  // PTX has to end with a null character.
  char *image = calloc(1, (size_t)size + 1);
  if (!image || fread(image, 1, (size_t)size, file) != (size_t)size) {
    fprintf(stderr, "%s: not read\n", path);
    exit(2);
  }
  fclose(file);
  Handle module;
  CU(ModuleLoadData(&module, image));
  free(image);
  return module;
}
