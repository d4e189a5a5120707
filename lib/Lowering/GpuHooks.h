//===- GpuHooks.h - the inputs of GPU kernels --------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device functions read their input through a hook, load16: that of the
// element type, or one made of the op's producer; an epilogue is a function
// that they call before they store. Here is the text of them, in the LLVM
// dialect, for a kernel that has each input as %x<i>, a pointer, and
// %s<i>, the elements from one row to the next.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_LOWERING_GPUHOOKS_H
#define GQ_LIB_LOWERING_GPUHOOKS_H

#include "../IR/Checks.h"
#include "../IR/GroupedBlockQuantize.h"
#include "../Support/Text.h"
#include "Build.h"

/// How an input is read.
typedef enum gqGpuAccess {
  /// 16 elements of its row.
  GQ_GPU_ACCESS_MATRIX,
  /// 16 elements of the only row.
  GQ_GPU_ACCESS_ROW,
  /// The element of the row.
  GQ_GPU_ACCESS_COLUMN,
  /// The only element.
  GQ_GPU_ACCESS_SCALAR
} gqGpuAccess;

typedef struct gqGpuInput {
  gqGpuAccess access;
  /// Of the row that the op's row indices give, in an op with a producer.
  bool gathered;
  /// The element type, as MLIR writes it and as the hooks are named.
  const char *type;
  int64_t elementSize;
} gqGpuInput;

/// `map` is null without a producer.
gqGpuInput gqGpuInputOf(MlirType buffer, MlirAffineMap map);

/// Declarations of the hooks of the inputs' types, each once.
void gqPrintHookDeclarations(gqText *text, const gqGpuInput *inputs,
                             intptr_t numInputs);

/// The hooks @load16 and @load16_unaligned, and @elements, which they call and
/// gqFillElements fills. `rowIndexBits` is the width of the row indices, 0 if
/// there are none; `ahead` is what gqLoadsAhead said.
void gqPrintProducerHooks(gqText *text, const gqGpuInput *inputs,
                          intptr_t numInputs, int32_t rowIndexBits, bool ahead);

/// Whether hooks of a producer, if there is one, should load ahead where the
/// kernel can: if it divides, which takes long, or calls no exact function of
/// the math dialect, which takes registers, and makes bf16 of two matrices or
/// rows of bf16 that are not gathered.
bool gqLoadsAhead(MlirRegion producer, const gqGpuInput *inputs,
                  intptr_t numInputs);

/// Fills %inputs, an array of gq_dev_matrix, with what a hook that gathers
/// needs behind them, and room for what one that loads ahead holds, and
/// computes %aligned: whether each can be read 16 bytes at a time. If the hook
/// of a matrix asks for that, `asks`, the matrix says so.
void gqPrintInputs(gqText *text, const gqGpuInput *inputs, intptr_t numInputs,
                   bool gathers, bool ahead, bool asks);

/// @epilogue, a gq_epilogue, and @element, which it calls and gqFillElement
/// fills: of two elements, the second of which only pairs use.
void gqPrintEpilogue(gqText *text, MlirRegion epilogue);

/// Puts the body of an epilogue into @element of a gpu.module.
void gqFillElement(MlirOperation module, MlirRegion epilogue);

/// As many elements as @elements computes.
enum { GQ_GPU_ELEMENTS = 4 };

/// The function @elements: its arguments are the inputs' elements as floats,
/// all of one element after those of the other, and where to store the results
/// as floats. With `usual` it returns an i32, which is 0 if a quotient may be
/// wrong, and there is @one_element, which is right and of one.
void gqPrintElements(gqText *text, intptr_t numInputs, bool usual);

/// Whether there is a division of f32 without leave to be less exact.
bool gqDividesExactly(MlirRegion producer);

/// Whether it has a function of the math dialect that takes registers: one that
/// is not an instruction and may not be approximated.
bool gqCallsFunctions(MlirRegion producer);

/// Puts the producer's body into what gqPrintElements printed, for each
/// element.
void gqFillElements(MlirOperation module, MlirRegion producer, bool usual);

#endif // GQ_LIB_LOWERING_GPUHOOKS_H
