//===- CpuCheck.h - running and checking an op on the CPU --------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frame of every CPU op:
//
//   gqCpuOp op;
//   if (!gqCpuBegin(&op, "block_quantize"))
//     return;
//   if (check(&op, operands, ...))
//     run(operands);
//   gqCpuEnd(&op);
//
// The checks below return whether they passed. On failure they record the
// status in `op` and leave a message that names the op, the operand, what was
// found and what was expected; nothing more may be done then.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPUCHECK_H
#define GQ_LIB_RUNTIME_CPUCHECK_H

#include "Overlap.h"

#include "gq/Runtime/Status.h"
#include "runtime_kernels/groups/Groups.h"

#include <fenv.h>
#include <stdbool.h>

/// An operand that has memory.
typedef struct gqCpuOperand {
  const char *name;
  gqSpan span;
  bool written;
} gqCpuOperand;

enum { GQ_CPU_MAX_OPERANDS = 32 };

/// An op that runs.
typedef struct gqCpuOp {
  /// Its name without the dialect's.
  const char *name;
  gqStatus status;
  /// Those that gqCpuCheckOperand() has accepted.
  gqCpuOperand operands[GQ_CPU_MAX_OPERANDS];
  int32_t numOperands;
  /// The caller's floating-point environment.
  fenv_t environment;
} gqCpuOp;

/// Starts an op, unless the failure of an earlier one is pending in this
/// thread: then returns false. Switches to the default floating-point
/// environment, because bytes must not depend on a rounding mode or a flushing
/// of denormals that the process has set.
bool gqCpuBegin(gqCpuOp *op, const char *name);

/// Ends an op that began: restores the floating-point environment and makes a
/// failure pending for gqCpuStatus().
void gqCpuEnd(gqCpuOp *op);

/// Records a failure; the message is `<op>: <format...>`. Returns false.
bool gqCpuFail(gqCpuOp *op, gqStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

enum {
  /// An extent that the caller reads out of the operand.
  GQ_ANY_EXTENT = -1,
  /// For an op without groups.
  GQ_NO_GROUPS = -1,
};

/// Sets of element types, one bit each.
enum {
  GQ_TYPES_FLOAT = 1 << GQ_F32 | 1 << GQ_BF16 | 1 << GQ_F16,
  GQ_TYPES_INDEX = 1 << GQ_I32 | 1 << GQ_I64,
  GQ_TYPES_F32 = 1 << GQ_F32,
  GQ_TYPES_FP8 = 1 << GQ_F8E4M3FN | 1 << GQ_F8E5M2,
};

/// How the elements of an operand may be placed.
typedef enum gqPlacement {
  /// Row-major without gaps.
  GQ_CONTIGUOUS,
  /// Rows anywhere, their elements consecutive.
  GQ_ROWS,
  /// The same, for an operand that is written: rows that do not overlap.
  GQ_DISJOINT_ROWS,
} gqPlacement;

/// What an op does with an operand.
typedef enum gqAccess { GQ_READ, GQ_WRITTEN } gqAccess;

/// What an op requires of an operand.
typedef struct gqRequirement {
  const char *name;
  const gqBuffer *buffer;
  /// One of the sets above.
  int32_t types;
  gqPlacement placement;
  gqAccess access;
  int32_t rank;
  int64_t sizes[GQ_OPERAND_RANK];
  /// The sizes in the op's terms, such as "[M, K / 2]", for the message.
  const char *shape;
} gqRequirement;

/// Whether a buffer's type, which may be no gqElementType, is one of `types`.
bool gqCpuHasType(const gqBuffer *buffer, int32_t types);

/// Checks type, rank, extents, placement and presence of an operand. What it
/// accepts has extents of at most 2^56 and as many bytes, more than a machine
/// can address, so that arithmetic on extents does not overflow.
bool gqCpuCheckOperand(gqCpuOp *op, const gqRequirement *requirement);

/// Checks that an operand is contiguous, of rank 1 and one of `types`, with
/// `size` elements or GQ_ANY_EXTENT.
bool gqCpuCheckFlat(gqCpuOp *op, const char *name, gqAccess access,
                    const gqBuffer *buffer, int32_t types, int64_t size,
                    const char *shape);

/// Checks that group e's part of an operand, which ends at element `end`, lies
/// inside of it.
bool gqCpuCheckRoom(gqCpuOp *op, const char *name, const gqBuffer *buffer,
                    int64_t e, int64_t end);

/// Checks that no operand that is written shares a byte with another one, of
/// all that were checked before.
bool gqCpuCheckOverlap(gqCpuOp *op);

/// Sets of scale layouts, one bit each.
enum {
  GQ_LAYOUTS_LINEAR = 1 << GQ_SCALE_LAYOUT_LINEAR,
  GQ_LAYOUTS_TILE128X4 = 1 << GQ_SCALE_LAYOUT_TILE128X4,
};

/// Checks that the format exists and has block scales.
bool gqCpuCheckFormat(gqCpuOp *op, int32_t format);

/// Checks that the format exists and has a single scale.
bool gqCpuCheckTensorFormat(gqCpuOp *op, int32_t format);

/// Checks that there is this format and that the op has this layout of its
/// scales.
bool gqCpuCheckAttributes(gqCpuOp *op, int32_t format, int32_t scaleLayout,
                          int32_t layouts);

/// Checks that a flag is absent or [] i32.
bool gqCpuCheckFlag(gqCpuOp *op, const char *name, const gqBuffer *flag);

/// Whether a flag, as checked, is there and not 0.
bool gqCpuIsSet(const gqBuffer *flag);

/// Checks that this is a gqRows.
bool gqCpuCheckRows(gqCpuOp *op, int32_t rows);

/// Checks that K, the columns of an operand `name`, is a positive multiple of
/// the block.
bool gqCpuCheckColumns(gqCpuOp *op, const char *name, gqFormat format,
                       int64_t k);

/// Checks that `input` is [M, K] with K a positive multiple of the block. With
/// `rowIndices`, unless it is null or absent, `input` is [N, K], and they are
/// [M] numbers of its rows.
bool gqCpuCheckInput(gqCpuOp *op, gqFormat format, const gqBuffer *input,
                     const gqBuffer *rowIndices);

/// Checks that `data` holds the codes of [M, K].
bool gqCpuCheckData(gqCpuOp *op, const char *name, gqAccess access,
                    gqFormat format, const gqBuffer *data, int64_t m,
                    int64_t k);

/// Checks that `scales` are the linear ones of rows of [M, K].
bool gqCpuCheckLinearScales(gqCpuOp *op, gqAccess access, gqFormat format,
                            const gqBuffer *scales, int64_t m, int64_t k);

/// Checks that a scalar `name` of type f32 is absent or [] or, for a
/// `numGroups` that is not negative, [G].
bool gqCpuCheckFactor(gqCpuOp *op, const char *name, const gqBuffer *factor,
                      int64_t numGroups);

/// The same for the global scale, which only nvfp4 has.
bool gqCpuCheckGlobalScale(gqCpuOp *op, gqFormat format,
                           const gqBuffer *globalScale, int64_t numGroups);

/// Checks `offsets`, and `scale_offsets` unless absent, and fills `groups`.
/// Offsets count `unit`s, of which there are `count`; they do not decrease and
/// lie in [0, count].
bool gqCpuCheckGroups(gqCpuOp *op, const gqBuffer *offsets,
                      const gqBuffer *scaleOffsets, const char *unit,
                      int64_t count, gq_dev_groups *groups);

/// Checks that the padded scales are [R, paddedColumns] with whole tiles and,
/// if there are scale offsets, that every group's padded rows lie in [0, R),
/// without overlap.
bool gqCpuCheckTiledScales(gqCpuOp *op, const char *name, gqAccess access,
                           gqFormat format, const gqBuffer *scales,
                           int64_t paddedColumns, gq_dev_groups groups);

#endif // GQ_LIB_RUNTIME_CPUCHECK_H
