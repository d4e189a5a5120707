//===- Scaler.h - what every scale rule takes and gives ----------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A scale rule computes, from the largest magnitude of a block and an outer
// scale, the block's scale and the factor that its elements are multiplied by
// before they are rounded to codes. Each rule is a file here; Block.h chooses
// among them. In each, NAME being that of the rule:
//
//   gq_dev_NAME_reference(scaler, amax, outer)  the formula
//
// and on the chip, where the bytes are the same:
//
//   gq_dev_NAME_regular(scaler, amax, outer)    without a branch, of blocks for
//                                               which is_regular
//   gq_dev_NAME_is_regular(scaler, range, outer)  asked once of many blocks
//   gq_dev_NAME_any(scaler, amax, outer)        of any block, slowly
//   gq_dev_NAME_either(scaler, amax, outer)     of any block, with a branch for
//                                               those that are rare
//
// A rule that needs more of a block than its largest magnitude, such as one
// that tries two scales, returns more than one of these scales; its caller in
// Block.h would pass it the elements.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_SCALERS_SCALER_H
#define GQ_KERNELS_SCALERS_SCALER_H

#include "gq/Runtime/Types.h"
#include "runtime_kernels/codecs/E2M1.h"

/// What a rule depends on: constants in the callers.
typedef struct gq_dev_scaler {
  gqFormat format;
  gqRecipe recipe;
#ifdef GQ_DEV_CHIP
  /// Whether there is an outer scale; if not, none is looked at.
  bool hasOuter;
  /// In which way elements come to the conversion, if to e2m1: factors include
  /// gq_dev_e2m1_one of it.
  gq_dev_e2m1_way way;
#endif
} gq_dev_scaler;

typedef struct gq_dev_block_scale {
  /// As it is stored: a byte, or the bits of a float32.
  uint32_t bits;
  /// What the elements are multiplied by.
  float factor;
} gq_dev_block_scale;

/// The largest magnitude that a code of the format stands for.
GQ_DEV float gq_dev_code_max(gqFormat format) {
  return gqFormatGetTraits(format).dataMax;
}

#ifdef GQ_DEV_CHIP

/// An outer scale, as rules take it.
typedef struct gq_dev_outer {
  /// What the largest magnitude of a block is multiplied by.
  float factor;
  /// 1 / scale.
  float inverse;
} gq_dev_outer;

/// Any block's scale.
typedef struct gq_dev_any_scale {
  gq_dev_block_scale block;
  /// Whether its elements need no clamping; else the factor may be without
  /// gq_dev_e2m1_one.
  bool regular;
} gq_dev_any_scale;

/// The largest of several blocks' largest magnitudes, and the bits of the
/// smallest one that is not 0, less 1.
typedef struct gq_dev_range {
  float most;
  uint32_t least;
} gq_dev_range;

GQ_DEV gq_dev_range gq_dev_no_range(void) {
  return (gq_dev_range){0.0f, UINT32_MAX};
}

GQ_DEV void gq_dev_extend_range(gq_dev_range *range, float amax) {
  uint32_t bits = gq_dev_f32_bits(amax) - 1;
  range->most = gq_dev_max_number(range->most, amax);
  range->least = bits < range->least ? bits : range->least;
}

#endif // GQ_DEV_CHIP

#endif // GQ_KERNELS_SCALERS_SCALER_H
