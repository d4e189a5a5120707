//===- Object.h - from LLVM IR to an object file -----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiled module is an object file that exports one symbol, a table of all
// there is to know about it. Everything else in it is internal, so that the
// names of a module's functions clash with nothing.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_COMPILER_OBJECT_H
#define GQ_LIB_COMPILER_OBJECT_H

#include "gq/Runtime/Status.h"

#include <llvm-c/Types.h>

/// The processor that we run on.
typedef struct gqHost {
  char *triple;
  char *cpu;
  char *features;
} gqHost;

/// Makes LLVM's native target known and describes the host.
gqHost gqHostCreate(void);
void gqHostDestroy(gqHost *host);

/// Calls a function of the module. `arguments` points to a memref descriptor
/// for each tensor and to the value for each scalar; `results` to memory for
/// the same, one for each result that is not a view of an argument.
typedef void (*gqEntry)(void *const *results, void *const *arguments);

#define GQ_MODULE_TABLE_SYMBOL "gq_module_table"

/// What the symbol above names.
typedef struct gqModuleTable {
  /// The text that Signature.h describes.
  const char *signatures;
  /// Call the module's constructors and destructors by priority; null if there
  /// are none.
  void (*initialize)(void);
  void (*finalize)(void);
  /// In the order of the signatures.
  gqEntry entries[];
} gqModuleTable;

/// Optimizes `module` for the host and emits it, with its table. On success
/// `*object` is owned by the caller. Errors: GQ_COMPILE_ERROR.
gqStatus gqObjectEmit(LLVMModuleRef module, const gqHost *host,
                      const char *signatures, LLVMMemoryBufferRef *object);

#endif // GQ_LIB_COMPILER_OBJECT_H
