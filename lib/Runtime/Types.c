//===- Types.c - formats and ops for other languages ----------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gq/Runtime/Types.h"

#include <stddef.h>

#define GQ_ASSERT_VALUE(VALUE, NAME, ...)                                      \
  _Static_assert(VALUE < GQ_NUM_FORMATS, "values are consecutive");
GQ_FORMATS(GQ_ASSERT_VALUE)

bool gqFormatFind(int32_t format, gqFormatTraits *traits) {
  switch (format) {
#define GQ_FIND(VALUE, ...) case VALUE:
    GQ_ALL_FORMATS(GQ_FIND)
#undef GQ_FIND
    *traits = gqFormatGetTraits((gqFormat)format);
    return true;
  }
  return false;
}

// The rows of each op are one string: those of its attributes, in which the
// macros below begin it, and those of its operands, which end it.
#define GQ_BEGIN_ATTRIBUTES(OP) static const char rowsOf##OP[] = ""
#define GQ_ATTRIBUTE(OP, NAME, FIELD, ENUM, PRESENCE)                          \
  "attribute " #NAME " " #ENUM " " #PRESENCE "\n"
#define GQ_OPERAND(OP, UPPER, NAME, FIELD, MEMBER, PRESENCE, ROLE)             \
  "operand " #NAME " " #PRESENCE " " #ROLE "\n"
#define GQ_END_OPERANDS(OP, UPPER) ;
#include "gq/Runtime/Ops.def"

static const struct {
  const char *name, *rows;
} ops[] = {
#define GQ_OP(OP, MNEMONIC) {#MNEMONIC, rowsOf##OP},
#include "gq/Runtime/Ops.def"
};

static bool isOp(int32_t op) {
  return op >= 0 && op < (int32_t)(sizeof(ops) / sizeof(*ops));
}

const char *gqOpName(int32_t op) { return isOp(op) ? ops[op].name : NULL; }

const char *gqOpRows(int32_t op) { return isOp(op) ? ops[op].rows : NULL; }
