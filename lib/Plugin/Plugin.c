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

enum { PLUGIN_API_VERSION = 1 };

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

DialectPluginLibraryInfo mlirGetDialectPluginInfo(void) {
  return (DialectPluginLibraryInfo){PLUGIN_API_VERSION, "gq", GQ_VERSION,
                                    registerDialects};
}

PassPluginLibraryInfo mlirGetPassPluginInfo(void) {
  return (PassPluginLibraryInfo){PLUGIN_API_VERSION, "gq", GQ_VERSION,
                                 gqRegisterPasses};
}
