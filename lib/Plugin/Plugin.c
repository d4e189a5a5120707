//===- Plugin.c - entry points of the MLIR plugin ----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `mlir-opt --load-dialect-plugin --load-pass-plugin` looks for. The
// structs mirror mlir/Tools/Plugins/{Dialect,Pass}Plugin.h, which are C++.
//
//===----------------------------------------------------------------------===//

#include "gq-c/Dialect.h"
#include "gq-c/Passes.h"

#include "llvm/Config/llvm-config.h"

#include <dlfcn.h>
#include <stdio.h>

/// Programs load plugins of this version and refuse others.
enum { PLUGIN_API_VERSION = 1, REFUSED_API_VERSION = 0 };

typedef struct DialectPluginLibraryInfo {
  uint32_t apiVersion;
  const char *name;
  const char *version;
  void (*registerDialects)(void *registry);
} DialectPluginLibraryInfo;

typedef struct PassPluginLibraryInfo {
  uint32_t apiVersion;
  const char *name;
  const char *version;
  void (*registerPasses)(void);
} PassPluginLibraryInfo;

static void registerDialects(void *registry) {
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__gq__(),
                                 (MlirDialectRegistry){registry});
}

MLIR_CAPI_EXPORTED DialectPluginLibraryInfo mlirGetDialectPluginInfo(void);
MLIR_CAPI_EXPORTED PassPluginLibraryInfo mlirGetPassPluginInfo(void);

/// REFUSED_API_VERSION, with a message, for a program of another LLVM: its MLIR
/// would read this plugin's objects as its own. The dynamic linker brings the
/// plugin's own LLVM in beside the program's, so the first one counts. A
/// program that has LLVM inside and exports nothing of it is not recognized.
static uint32_t apiVersion(void) {
  void (*getVersion)(unsigned *, unsigned *, unsigned *) = NULL;
  *(void **)&getVersion = dlsym(RTLD_DEFAULT, "LLVMGetVersion");
  unsigned major = LLVM_VERSION_MAJOR, minor = LLVM_VERSION_MINOR, patch;
  if (getVersion)
    getVersion(&major, &minor, &patch);
  if (major == LLVM_VERSION_MAJOR && minor == LLVM_VERSION_MINOR)
    return PLUGIN_API_VERSION;
  fprintf(stderr,
          "gq: this plugin is for programs of LLVM %d.%d, such as mlir-opt-%d; "
          "this program has LLVM %u.%u\n",
          LLVM_VERSION_MAJOR, LLVM_VERSION_MINOR, LLVM_VERSION_MAJOR, major,
          minor);
  return REFUSED_API_VERSION;
}

DialectPluginLibraryInfo mlirGetDialectPluginInfo(void) {
  return (DialectPluginLibraryInfo){apiVersion(), "gq", GQ_VERSION,
                                    registerDialects};
}

PassPluginLibraryInfo mlirGetPassPluginInfo(void) {
  return (PassPluginLibraryInfo){apiVersion(), "gq", GQ_VERSION,
                                 gqRegisterPasses};
}
