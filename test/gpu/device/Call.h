//===- Call.h - calling device functions from test kernels -------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TEST_GPU_CALL_H
#define GQ_TEST_GPU_CALL_H

#include "Operands.h"

#include "runtime_kernels/kernels/Kernels.h"

/// Of the kernels of a file, one in GQ_TEST_KERNEL_STEP is built; the others
/// trap.
#ifndef TEST_KERNEL_STEP
#define TEST_KERNEL_STEP 1
#endif
#define IS_LEFT_OUT (__COUNTER__ % TEST_KERNEL_STEP != 0)

/// What hooks read, and what one that loads ahead keeps for its next call.
typedef struct HookInputs {
  gq_dev_matrix matrix;
  float next[16];
} HookInputs;

/// What a producer is to a kernel: a hook that is none of its own.
static inline void gq_dev_load16_made16(const void *inputs, int64_t row,
                                        int64_t column, float x[16]) {
  gq_dev_load16_bf16(inputs, row, column, x);
}
static inline void gq_dev_load16_made32(const void *inputs, int64_t row,
                                        int64_t column, float x[16]) {
  gq_dev_load16_f32(inputs, row, column, x);
}

/// gq_dev_load16_bf16 of the call before: loadsAhead of QuantizeRows.def,
/// inputsAhead of QuantizeTiles.def.
static inline void gq_dev_load16_ahead(const void *inputs, int64_t row,
                                       int64_t column, float *out) {
  HookInputs *hook = (HookInputs *)inputs;
  if (out)
    for (int i = 0; i < 16; ++i)
      out[i] = hook->next[i];
  if (row >= 0)
    gq_dev_load16_bf16(&hook->matrix, row, column, hook->next);
}

/// For hooks that ask, as the lowering computes it.
GQ_DEV uint32_t alignmentOf(uint64_t data, int64_t stride, int32_t type) {
  int64_t bytes = stride * gqElementTypeSize((gqElementType)type);
  return ((data | (uint64_t)bytes) & 15) == 0;
}

/// Calls gq_dev_<FUNCTION>, whose operands are `LIST`, as a kernel that the
/// lowering generates does. `o` is the family's struct of Operands.h; the hook
/// and the constants are variables of their names, so that one that is missing
/// does not compile. CALL counts its uses to leave kernels out, so that each of
/// these has one; CALL_ALWAYS is for small kernels, or where IS_LEFT_OUT was
/// asked before.
#define CALL(FUNCTION, LIST)                                                   \
  (IS_LEFT_OUT ? __builtin_trap() : CALL_ALWAYS(FUNCTION, LIST))
#define CALL_ALWAYS(FUNCTION, LIST)                                            \
  gq_dev_##FUNCTION(GQ_AFTER_COMMA(LIST(ARGUMENT)))
#define ARGUMENT(ROLE, TYPE, NAME) , ARGUMENT_##ROLE(TYPE, NAME)
#define ARGUMENT_HOOK(TYPE, NAME)                                              \
  NAME, &(HookInputs) {                                                        \
    .matrix = {                                                                \
      (const void GQ_GLOBAL *)o.input,                                         \
      o.inputStride,                                                           \
      alignmentOf(o.input, o.inputStride, heldType)                            \
    }                                                                          \
  }
#define ARGUMENT_FUNCTION(TYPE, NAME) NAME
#define ARGUMENT_INPUT(TYPE, NAME) (const TYPE GQ_GLOBAL *)o.NAME
#define ARGUMENT_OUTPUT(TYPE, NAME) (TYPE GQ_GLOBAL *)o.NAME
#define ARGUMENT_EXTENT(TYPE, NAME) o.NAME
#define ARGUMENT_SIZE(TYPE, NAME) o.NAME
#define ARGUMENT_CONSTANT(TYPE, NAME) NAME
#define ARGUMENT_LAUNCH_CONSTANT(TYPE, NAME) NAME

#endif // GQ_TEST_GPU_CALL_H
