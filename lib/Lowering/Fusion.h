//===- Fusion.h - what the fusions share --------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_LOWERING_FUSION_H
#define GQ_LIB_LOWERING_FUSION_H

#include "../IR/GroupedBlockQuantize.h"
#include "Lists.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Whether a tensor of this type can be an input of an op with a producer.
bool gqIsProducerInput(MlirType type);

/// Whether the op is known to have one group fewer than it has offsets, as
/// every op without scale offsets has. With scale offsets it may have one for
/// each, the last of which ends with the matrix.
bool gqOffsetsHaveEnd(const gqGroupedBlockQuantize *desc);

/// Whether K is static and a row of the op fits on a GPU's chip.
bool gqFitsWholeRows(const gqGroupedBlockQuantize *desc);

/// Whether a GPU has a kernel that makes numbers in place of codes of this op,
/// whose data are numbers: of rows alone, in blocks of one row.
bool gqKernelMakesNumbers(const gqGroupedBlockQuantize *desc);

/// The location of a fused op.
MlirLocation gqFusedLocation(MlirOperation a, MlirOperation b);

/// Replaces the results of `op` by those of `fused`, an op of the same kind,
/// that are written to the same operand.
void gqReplaceResults(MlirOperation op, MlirOperation fused);

/// Replaces `op` by one that `desc` describes, of the same outs and with the
/// other attributes of `op`, and returns that.
MlirOperation gqReplaceGroupedBlockQuantize(MlirOperation op,
                                            MlirLocation location,
                                            const gqGroupedBlockQuantize *desc);

/// Returns why an op of `body`, one of linalg.generic, cannot become one of a
/// producer or an epilogue, or null if it can: all are of arith and math and
/// use nothing from outside but constants.
const char *gqCheckScalar(MlirOperation op, MlirBlock body);

/// The same of all ops of a body.
const char *gqCheckScalars(MlirBlock body);

/// Appends copies of the constants from outside that `body` uses to `to`, but
/// of those that the map has already and of what a tensor.extract takes.
void gqCloneConstants(MlirBlock body, MlirBlock to, gqValueMap *map);

/// gq.block_dequantize or gq.grouped_dequantize.
bool gqIsDequantization(MlirOperation op);

/// Whether ops of this kind can have an epilogue.
bool gqTakesEpilogues(MlirOperation op);

/// What the GPU kernels of an op with an epilogue do not compute, so that it
/// needs an op of its own; null if they compute it.
const char *gqCheckKernelEpilogue(MlirOperation op);

/// Creates what an op that takes epilogues is, but for writing `out` and for
/// what `extras` says: it has no epilogue unless that has one.
MlirOperation gqOpCreateWithOut(MlirOperation op, MlirLocation location,
                                MlirValue out, const gqOpExtras *extras);

/// gq.yield, at the end of `body`.
void gqAppendYield(MlirBlock body, MlirValue value, MlirLocation location);

//===----------------------------------------------------------------------===//
// Gathers of rows (FuseRowGather.c)
//===----------------------------------------------------------------------===//

/// Rows of `source`, [N, K], or elements of it, [N], by `indices`, [M] or
/// [M, 1].
typedef struct gqRowGather {
  MlirValue source, indices;
} gqRowGather;

/// Whether input `input` of a linalg.generic is one row index per row.
bool gqIsRowIndexInput(MlirOperation generic, intptr_t input);

/// Matches a tensor.extract in the body of `generic`, a linalg.generic over
/// (m, k) or (m), that reads the element of a gathered row. Returns null, or
/// why it does not.
const char *gqMatchRowExtract(MlirOperation generic, MlirOperation extract,
                              gqRowGather *gather);

/// The rows that an op gathers from: by `indices`, null if it does not, of
/// `count` or GQ_DYNAMIC rows.
typedef struct gqGatheredRows {
  MlirValue indices;
  int64_t count;
} gqGatheredRows;

gqGatheredRows gqGatheredRowsOf(const gqGroupedBlockQuantize *desc);

/// Adds a gather to those of an op. Returns null, or why that is impossible.
const char *gqJoinGather(gqGatheredRows *rows, const gqRowGather *gather);

/// (m, k)[r] -> (r, k) for rank 2, (r) for rank 1.
MlirAttribute gqGatherMap(MlirContext context, intptr_t rank);

/// Whether `op`, which may be null, does nothing but gather.
bool gqIsRowGather(MlirOperation op);

/// Makes the op read input `input`, which comes from such a gather, by row
/// index. Returns the new op, or null after a remark that says why that is
/// impossible.
MlirOperation gqFuseRowGather(MlirOperation op, intptr_t input);

#ifdef __cplusplus
}
#endif

#endif // GQ_LIB_LOWERING_FUSION_H
