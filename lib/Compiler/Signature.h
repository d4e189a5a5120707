//===- Signature.h - signatures as text --------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The signatures of a module's functions travel inside the compiled object, so
// that an object read from the cache needs nothing else. They are text:
//
//   <number of functions>
//   <length of the name> <name> <inputs> <results>        for each function
//   <element type> <rank> <size>... <written>             for each input
//   <element type> <rank> <size>... <source>              for each result
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_COMPILER_SIGNATURE_H
#define GQ_LIB_COMPILER_SIGNATURE_H

#include "../Support/Text.h"
#include "gq/Runtime/Executable.h"

/// All functions of a module.
typedef struct gqSignatures {
  gqSignature *functions;
  int32_t count;
} gqSignatures;

/// Appends the line of one type, without the end of the line.
void gqTypeWrite(gqText *text, const gqType *type);

/// Reads what Frontend.c wrote. On success `signatures` is to be freed.
gqStatus gqSignaturesParse(const char *text, gqSignatures *signatures);

void gqSignaturesFree(gqSignatures *signatures);

/// The results that are fresh buffers and not views of an argument.
int32_t gqSignatureCountFresh(const gqSignature *signature);

#endif // GQ_LIB_COMPILER_SIGNATURE_H
