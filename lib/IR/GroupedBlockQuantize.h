//===- GroupedBlockQuantize.h - questions to the ops -------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What verification, fusion and the lowerings ask of an op that quantizes
// groups by its description. Such ops have one list of operands
// (gq/Runtime/GroupedQuantize.def): what reads them by their positions
// GQ_GROUPED_BLOCK_QUANTIZE_<name> is right for all of them.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_IR_GROUPEDBLOCKQUANTIZE_H
#define GQ_LIB_IR_GROUPEDBLOCKQUANTIZE_H

#include "OpInfo.h"

#include "mlir-c/AffineMap.h"

/// Whether `op` quantizes groups.
bool gqQuantizesGroups(MlirOperation op);

/// Whether it has the inputs, the producer and the groups of one that does:
/// gq.grouped_amax too. All of them have one description.
bool gqReadsGroups(MlirOperation op);

/// Creates an op from `desc`, of the kind of `op` if that reads groups, with
/// the attributes of `op` that descriptions do not cover, so that unknown ones
/// survive. `op` is kept.
MlirOperation gqGroupedBlockQuantizeRebuild(MlirOperation op,
                                            MlirLocation location,
                                            const gqGroupedBlockQuantize *desc);

/// Checks all that the ops which quantize groups have in common. Emits an error
/// and returns false otherwise.
bool gqCheckQuantizedGroups(MlirOperation op,
                            const gqGroupedBlockQuantize *desc);

/// Checks likewise that none of these operands is there.
bool gqCheckAbsent(MlirOperation op, intptr_t count, const intptr_t *positions);

/// Whether the op has this direction.
bool gqHasDirection(const gqDirection *direction);

/// Whether its data are the numbers that codes stand for, without scales (C39).
bool gqHoldsNumbers(const gqDirection *direction);

/// The scale over those of the blocks in a direction of `desc`: the global
/// scale or the outer amax of its own or of both. Of formats with a single
/// scale the scale or the amax that it follows from. Null if there is none.
MlirValue gqOuterScale(const gqGroupedBlockQuantize *desc,
                       const gqDirection *direction);

/// The kind of the outer scale `outer`, which is [], [G] or null.
gqOuterKind gqOuterKindOf(MlirValue outer);

/// The traits of a direction's attribute, or the default ones.
gqDirectionTraits gqDirectionGetTraits(const gqDirection *direction);

/// The kind of a direction's outer scale.
gqOuterKind gqOuterKindOfDirection(const gqGroupedBlockQuantize *desc,
                                   const gqDirection *direction);

/// Whether a direction rounds stochastically.
bool gqIsStochastic(const gqGroupedBlockQuantize *desc);

/// Whether an input's map (m, k)[r] -> ... reads rows by index.
bool gqIsGatherMap(MlirAffineMap map);

/// Whether groups have numbers of columns of their own.
bool gqIsRagged(const gqGroupedBlockQuantize *desc);

/// M and K or, if ragged, the number of elements, as far as they are known
/// without the inputs of a producer.
void gqGroupedBlockQuantizeExtents(const gqGroupedBlockQuantize *desc,
                                   int64_t extents[2]);

/// Checks the inputs, producer, maps and row indices of such an op, and that M
/// and K can be found; completes `extents`, those of
/// gqGroupedBlockQuantizeExtents(), by what the inputs say.
bool gqCheckGroupInputs(MlirOperation op, const gqGroupedBlockQuantize *desc,
                        int64_t extents[2]);

/// Checks that `first_dims` and `last_dims` come together, and that if they
/// are, that none of the others is: `names` says what these are called.
bool gqCheckShapes(MlirOperation op, const gqGroupedBlockQuantize *desc,
                   bool others, const char *names);

/// Checks that `indices`, unless null, hold an entry per group, of the type of
/// `offsets`.
bool gqCheckGroupIndices(MlirOperation op, const gqGroupedBlockQuantize *desc,
                         const char *name, MlirValue indices, int64_t groups);

/// An operand that has the extent M (`dim` 0) or K (1) of groups of rows, in
/// its own dimension `*position`; null if only operands inside of groups have
/// it.
MlirValue gqGroupedBlockQuantizeFindExtent(const gqGroupedBlockQuantize *desc,
                                           intptr_t dim, intptr_t *position);

/// Whether there are such operands for M and K, or none are needed since groups
/// are ragged.
bool gqGroupedBlockQuantizeHasExtents(const gqGroupedBlockQuantize *desc);

#endif // GQ_LIB_IR_GROUPEDBLOCKQUANTIZE_H
