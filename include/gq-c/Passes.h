//===- Passes.h - C API of the gq passes -------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_C_PASSES_H
#define GQ_C_PASSES_H

#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Registers the gq passes and the pipelines `gq-to-cpu` and `gq-to-nvvm` with
/// MLIR's global registry, so that mlirParsePassPipeline and
/// mlirOpPassManagerAddPipeline find them. The pipelines contain upstream
/// passes: a program that uses one calls mlirRegisterAllPasses() first.
MLIR_CAPI_EXPORTED void gqRegisterPasses(void);

#ifdef __cplusplus
}
#endif

#endif // GQ_C_PASSES_H
