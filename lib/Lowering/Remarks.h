//===- Remarks.h - what passes did and did not do -----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR has no C API for remarks; these are defined in Passes.cpp. Name and
// category of a remark are the name of the pass, for --remarks-filter-passed
// and --remarks-filter-missed.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_LOWERING_REMARKS_H
#define GQ_LIB_LOWERING_REMARKS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Reports what `pass` did.
void gqRemarkPassed(MlirLocation location, const char *pass,
                    const char *message);

/// Reports that `pass` left something alone, and why.
void gqRemarkMissed(MlirLocation location, const char *pass,
                    const char *message);

#ifdef __cplusplus
}
#endif

#endif // GQ_LIB_LOWERING_REMARKS_H
