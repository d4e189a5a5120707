//===- CudaOperands.c - what a launch asks of its operands ----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaContext.h"
#include "Overlap.h"

#include "gq/Runtime/Cuda.h"

#include <inttypes.h>
#include <stdbool.h>

enum { MAX_OPERANDS = 64 };

typedef struct Operand {
  const char *name;
  bool written;
} Operand;

enum { IN, OUT };
#define GQ_BEGIN_OPERANDS(OP, UPPER) static const Operand operandsOf##OP[] = {
#define GQ_OPERAND(OP, UPPER, NAME, FIELD, MEMBER, PRESENCE, ROLE)             \
  {#NAME, ROLE == OUT},
#define GQ_END_OPERANDS(OP, UPPER)                                             \
  }                                                                            \
  ;
#include "gq/Runtime/Ops.def"

static const struct {
  const char *name;
  const Operand *operands;
  int64_t numOperands;
} ops[] = {
#define GQ_OP(OP, MNEMONIC)                                                    \
  {#MNEMONIC, operandsOf##OP, sizeof(operandsOf##OP) / sizeof(Operand)},
#include "gq/Runtime/Ops.def"
};

/// Whether generated code was made from the same lists.
static bool isKnown(int64_t op, int64_t operand) {
  return op >= 0 && op < (int64_t)(sizeof(ops) / sizeof(*ops)) &&
         operand >= 0 && operand < ops[op].numOperands;
}

static gqStatus failVersion(void) {
  return gqFail(GQ_INVALID_ARGUMENT,
                "the code was compiled by another version");
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

/// ceil(x / y), of an x that is not negative.
static int64_t quotient(int64_t x, int64_t y) { return x / y + (x % y != 0); }

void gqLaunchExtent(int64_t op, int64_t operand, int64_t dim, int64_t found,
                    int64_t extent, int64_t divisor, int64_t multiple) {
  int64_t expected;
  if (!isKnown(op, operand) || divisor < 1 || multiple < 1)
    gqCudaPend(failVersion());
  else if (extent < 0 ||
           __builtin_mul_overflow(quotient(quotient(extent, divisor), multiple),
                                  multiple, &expected))
    gqCudaPend(gqFail(GQ_INVALID_ARGUMENT,
                      "%s: an extent of %" PRId64 " is invalid", ops[op].name,
                      extent));
  else if (found != expected)
    gqCudaPend(gqFail(GQ_INVALID_ARGUMENT,
                      "%s: %s has the extent %" PRId64 " in dimension %" PRId64
                      ", expected %" PRId64,
                      ops[op].name, ops[op].operands[operand].name, found, dim,
                      expected));
}

//===----------------------------------------------------------------------===//
// Overlap
//===----------------------------------------------------------------------===//

/// Of the op that generated code is about to launch in this thread.
static _Thread_local struct {
  int32_t count;
  int64_t operands[MAX_OPERANDS];
  gqSpan spans[MAX_OPERANDS];
} launched;

void gqLaunchOperand(int64_t operand, int64_t address, int64_t rows,
                     int64_t width, int64_t stride) {
  if (launched.count == MAX_OPERANDS)
    return;
  launched.operands[launched.count] = operand;
  launched.spans[launched.count++] =
      (gqSpan){(uintptr_t)address, rows, width, stride};
}

static gqStatus check(int64_t op) {
  for (int32_t i = 0; i < launched.count; ++i)
    for (int32_t k = 0; k < launched.count; ++k) {
      const Operand *a = &ops[op].operands[launched.operands[i]];
      const Operand *b = &ops[op].operands[launched.operands[k]];
      if (k != i && a->written &&
          gqSpansOverlap(launched.spans[i], launched.spans[k]))
        return gqFail(GQ_INVALID_ARGUMENT,
                      "%s: %s is written and overlaps %s in memory",
                      ops[op].name, a->name, b->name);
    }
  return GQ_OK;
}

void gqLaunchCheck(int64_t op) {
  bool known = isKnown(op, 0);
  for (int32_t i = 0; known && i < launched.count; ++i)
    known = isKnown(op, launched.operands[i]);
  gqCudaPend(known ? check(op) : failVersion());
  launched.count = 0;
}
