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
// The checks below return whether all is well. On a failure they record the
// status in `op` and leave a message that names the op, the operand, what was
// found and what is expected; nothing more may then be done.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_RUNTIME_CPUCHECK_H
#define GQ_LIB_RUNTIME_CPUCHECK_H

#include "gq/Runtime/Status.h"
#include "runtime_kernels/layout/Groups.h"

#include <fenv.h>
#include <stdbool.h>

/// An op that runs.
typedef struct gqCpuOp {
  /// Its name without the dialect's.
  const char *name;
  gqStatus status;
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
};

/// Sets of element types, one bit each.
enum {
  GQ_TYPES_FLOAT = 1 << GQ_F32 | 1 << GQ_BF16 | 1 << GQ_F16,
  GQ_TYPES_INDEX = 1 << GQ_I32 | 1 << GQ_I64,
  GQ_TYPES_F32 = 1 << GQ_F32,
  GQ_TYPES_CODES = 1 << GQ_I8,
  GQ_TYPES_SCALES = 1 << GQ_F8E4M3FN,
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

/// What an op requires of an operand.
typedef struct gqRequirement {
  const char *name;
  const gqBuffer *buffer;
  /// One of the sets above.
  int32_t types;
  gqPlacement placement;
  int32_t rank;
  int64_t sizes[GQ_OPERAND_RANK];
  /// The sizes in the op's terms, such as "[M, K / 2]", for the message.
  const char *shape;
} gqRequirement;

/// Checks type, rank, extents, placement and presence of an operand. What it
/// accepts has extents of at most 2^56 and as many bytes, more than a machine
/// can address, so that arithmetic on extents does not overflow.
bool gqCpuCheckOperand(gqCpuOp *op, const gqRequirement *requirement);

/// Checks format (nvfp4) and layout of the scales.
bool gqCpuCheckAttributes(gqCpuOp *op, int32_t format, int32_t scaleLayout,
                          gqScaleLayout expected);

/// Checks that K, the columns of an operand `name`, is a positive multiple of
/// the block.
bool gqCpuCheckColumns(gqCpuOp *op, const char *name, int64_t k);

/// What both quantizing ops ask for: `input` is [M, K] with K a positive
/// multiple of 16, `data` is [M, K / 2]. With `rowIndices`, unless it is null
/// or absent, `input` is [N, K], and they are [M] numbers of its rows.
bool gqCpuCheckQuantized(gqCpuOp *op, const gqBuffer *input,
                         const gqBuffer *rowIndices, const gqBuffer *data);

/// Checks `offsets` and `scale_offsets` with the padded scales `scales`, which
/// must be [R, paddedColumns], and fills `groups`. Every group then lies in
/// [0, numRows) and its padded rows in [0, R), without overlap.
bool gqCpuCheckGroups(gqCpuOp *op, const gqBuffer *offsets,
                      const gqBuffer *scaleOffsets, const char *scalesName,
                      const gqBuffer *scales, int64_t numRows,
                      int64_t paddedColumns, gq_dev_groups *groups);

#endif // GQ_LIB_RUNTIME_CPUCHECK_H
