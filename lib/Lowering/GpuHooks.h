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
#include "GpuTable.h"

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

/// When hooks load what the next call of them computes.
typedef enum gqAhead {
  /// They load what they compute.
  GQ_AHEAD_NEVER = 0,
  /// After they compute, so that it takes the registers of that; the kernel
  /// does something else until it is there.
  GQ_AHEAD_LAST,
  /// Before they compute, until when it is there.
  GQ_AHEAD_FIRST,
} gqAhead;

/// A producer, and how its hooks compute it.
typedef struct gqGpuProducer {
  /// Computes an element from those of the inputs; null if there is none.
  MlirRegion region;
  gqAhead ahead;
  /// What is tabulated of it, by hooks that load ahead; null if nothing is.
  const gqGpuTable *table;
} gqGpuProducer;

/// The hooks @load16 and @load16_unaligned and what they call, which
/// gqFillProducer fills. `rowIndexBits` is the width of the row indices, 0 if
/// there are none.
void gqPrintProducerHooks(gqText *text, const gqGpuProducer *producer,
                          const gqGpuInput *inputs, intptr_t numInputs,
                          int32_t rowIndexBits);

/// Puts a producer into what gqPrintProducerHooks printed.
void gqFillProducer(MlirOperation module, const gqGpuProducer *producer);

/// Whether hooks of a producer, if there is one, can load ahead: if it makes
/// bf16 of one or two matrices or rows of bf16 that are not gathered.
bool gqCanLoadAhead(MlirRegion producer, const gqGpuInput *inputs,
                    intptr_t numInputs);

/// Whether they should where they can and nothing is tabulated: of two, if it
/// divides, which takes long, or calls no exact function of the math dialect,
/// which takes registers.
bool gqShouldLoadAhead(MlirRegion producer);

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

/// What functions of elements call.
void gqPrintElementDeclarations(gqText *text);

/// The function @<name>: its arguments are the inputs' elements as floats, all
/// of one element after those of the other, and where to store the results as
/// floats. With `usual` it returns an i32, which is 0 if a quotient may be
/// wrong.
void gqPrintElements(gqText *text, const char *name, intptr_t numInputs,
                     bool usual);

/// @one_element, which is right and returns one.
void gqPrintOneElement(gqText *text, intptr_t numInputs);

/// Whether there is a division of f32 without leave to be less exact.
bool gqDividesExactly(MlirRegion producer);

/// Whether it has a function of the math dialect that takes registers: one that
/// is not an instruction and may not be approximated.
bool gqCallsFunctions(MlirRegion producer);

/// Whether an operation has a flag of fastmath, such as "afn", or all of them.
bool gqHasFastMathFlag(MlirOperation op, const char *flag);

/// Whether an operation is a division or a function, exact or not.
bool gqTakesLong(MlirOperation op);

/// Puts a producer's body into what gqPrintElements printed, for each element,
/// and into what gqPrintOneElement did.
void gqFillElements(MlirOperation module, const char *name, MlirRegion producer,
                    bool usual);
void gqFillOneElement(MlirOperation module, MlirRegion producer);

#endif // GQ_LIB_LOWERING_GPUHOOKS_H
