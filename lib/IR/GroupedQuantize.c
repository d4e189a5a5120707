//===- GroupedQuantize.c - gq.grouped_quantize --------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "GroupedBlockQuantize.h"
#include "Ops.h"

MlirLogicalResult gqGroupedQuantizeVerify(MlirOperation op) {
  static const intptr_t absent[] = {GQ_GROUPED_QUANTIZE_scales,
                                    GQ_GROUPED_QUANTIZE_columnwise_scales,
                                    GQ_GROUPED_QUANTIZE_scale_offsets,
                                    GQ_GROUPED_QUANTIZE_scale_offsets_out,
                                    GQ_GROUPED_QUANTIZE_global_scale,
                                    GQ_GROUPED_QUANTIZE_columnwise_outer_amax,
                                    GQ_GROUPED_QUANTIZE_rng_state,
                                    GQ_GROUPED_QUANTIZE_row_amax};
  gqGroupedQuantize desc = gqGroupedQuantizeGet(op);
  bool valid =
      gqCheckTensorFormat(op, desc.format) &&                        // (C35)
      gqCheckAbsent(op, sizeof(absent) / sizeof(*absent), absent) && // (C34)
      (mlirValueIsNull(desc.scale) != mlirValueIsNull(desc.rowwise.outerAmax) ||
       gqOpError(op, "requires one of 'scale' and 'outer_amax'")) && // (C36)
      gqCheckQuantizedGroups(op, &desc);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
