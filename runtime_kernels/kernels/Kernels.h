//===- Kernels.h - the bodies of the GPU kernels -----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function per kernel family, gq_dev_<function>, or several (below); its
// operands are described in the .def file of the family. A kernel calls one of
// them with its own parameters and constants; inlining specializes it. It is
// compiled to LLVM bitcode, one file per chip, for the lowering to link.
//
// Launch: a one-dimensional grid of CTAs; every thread calls the function once.
// Any grid gives the same bytes; Launch.h chooses a fast one.
//
// Offsets stay on the device and are never trusted: see groups/Faults.h.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_KERNELS_H
#define GQ_KERNELS_KERNELS_KERNELS_H

#include "gq/Runtime/Types.h"
#include "runtime_kernels/kernels/Inputs.h"
#include "runtime_kernels/kernels/Launch.h"
#include "runtime_kernels/kernels/Operands.h"

/// Whether a launch leaves all outputs as they are.
GQ_DEV bool gq_dev_is_noop(const int32_t GQ_GLOBAL *flag) {
  return flag && *flag != 0;
}

/// Declares a function that the bitcode exports.
#define GQ_DEV_KERNEL __attribute__((always_inline))

/// The parameters of a device function, from the list of its operands.
#define GQ_DEV_PARAMETERS(LIST) GQ_AFTER_COMMA(LIST(GQ_DEV_PARAMETER))
#define GQ_DEV_PARAMETER(ROLE, TYPE, NAME) , GQ_DEV_PARAMETER_##ROLE(TYPE, NAME)
#define GQ_DEV_PARAMETER_HOOK(TYPE, NAME) TYPE *NAME, const void *inputs
#define GQ_DEV_PARAMETER_FUNCTION(TYPE, NAME) TYPE *NAME
#define GQ_DEV_PARAMETER_INPUT(TYPE, NAME) const TYPE GQ_GLOBAL *NAME
#define GQ_DEV_PARAMETER_OUTPUT(TYPE, NAME) TYPE GQ_GLOBAL *NAME
#define GQ_DEV_PARAMETER_EXTENT(TYPE, NAME) int64_t NAME
#define GQ_DEV_PARAMETER_SIZE(TYPE, NAME) int64_t NAME
#define GQ_DEV_PARAMETER_CONSTANT(TYPE, NAME) int32_t NAME
#define GQ_DEV_PARAMETER_LAUNCH_CONSTANT(TYPE, NAME) int32_t NAME

/// What hands them to another function.
#define GQ_DEV_ARGUMENTS(LIST) GQ_AFTER_COMMA(LIST(GQ_DEV_ARGUMENT))
#define GQ_DEV_ARGUMENT(ROLE, TYPE, NAME) , NAME GQ_IF_HOOK_##ROLE(, inputs)

/// The fields of a struct that keeps them,
#define GQ_DEV_FIELDS(LIST) LIST(GQ_DEV_FIELD)
#define GQ_DEV_FIELD(ROLE, TYPE, NAME) GQ_DEV_FIELD_##ROLE(TYPE, NAME);
#define GQ_DEV_FIELD_HOOK(TYPE, NAME)                                          \
  TYPE *NAME;                                                                  \
  const void *inputs
#define GQ_DEV_FIELD_FUNCTION(TYPE, NAME) TYPE *NAME
#define GQ_DEV_FIELD_INPUT(TYPE, NAME) const TYPE GQ_GLOBAL *NAME
#define GQ_DEV_FIELD_OUTPUT(TYPE, NAME) TYPE GQ_GLOBAL *NAME
#define GQ_DEV_FIELD_EXTENT(TYPE, NAME) TYPE NAME
#define GQ_DEV_FIELD_SIZE(TYPE, NAME) TYPE NAME
#define GQ_DEV_FIELD_CONSTANT(TYPE, NAME) TYPE NAME
#define GQ_DEV_FIELD_LAUNCH_CONSTANT(TYPE, NAME) TYPE NAME

/// and what initializes it from the parameters.
#define GQ_DEV_INITIALIZERS(LIST) GQ_AFTER_COMMA(LIST(GQ_DEV_INITIALIZER))
#define GQ_DEV_INITIALIZER(ROLE, TYPE, NAME)                                   \
  , GQ_DEV_INITIALIZER_##ROLE(TYPE, NAME)
#define GQ_DEV_INITIALIZER_HOOK(TYPE, NAME) .NAME = NAME, .inputs = inputs
#define GQ_DEV_INITIALIZER_FUNCTION(TYPE, NAME) .NAME = NAME
#define GQ_DEV_INITIALIZER_INPUT(TYPE, NAME) .NAME = NAME
#define GQ_DEV_INITIALIZER_OUTPUT(TYPE, NAME) .NAME = NAME
#define GQ_DEV_INITIALIZER_EXTENT(TYPE, NAME) .NAME = (TYPE)NAME
#define GQ_DEV_INITIALIZER_SIZE(TYPE, NAME) .NAME = (TYPE)NAME
#define GQ_DEV_INITIALIZER_CONSTANT(TYPE, NAME) .NAME = (TYPE)NAME
#define GQ_DEV_INITIALIZER_LAUNCH_CONSTANT(TYPE, NAME) .NAME = (TYPE)NAME

#define GQ_DEV_DECLARE(FAMILY, NAME, FUNCTION, THREADS)                        \
  void gq_dev_##FUNCTION(GQ_DEV_PARAMETERS(GQ_##FAMILY##_OPERANDS));
GQ_KERNEL_FAMILIES(GQ_DEV_DECLARE)

/// Of the kernels of tiles there is a function for each format and none for
/// all, gq_dev_<function>_<FORMAT>: one for all would have several times the
/// code, all of which is linked and gone through for each kernel.
#define GQ_QUANTIZE_TILES_OF(FORMAT)                                           \
  void gq_dev_quantize_tiles_##FORMAT(                                         \
      GQ_DEV_PARAMETERS(GQ_QUANTIZE_TILES_OPERANDS))
#define GQ_QUANTIZE_SMALL_GROUPS_OF(FORMAT)                                    \
  void gq_dev_quantize_small_groups_##FORMAT(                                  \
      GQ_DEV_PARAMETERS(GQ_QUANTIZE_SMALL_GROUPS_OPERANDS))
#define GQ_DEV_DECLARE_TILES(VALUE, FORMAT, ...)                               \
  GQ_QUANTIZE_TILES_OF(FORMAT);                                                \
  GQ_QUANTIZE_SMALL_GROUPS_OF(FORMAT);
GQ_ALL_FORMATS(GQ_DEV_DECLARE_TILES)

#endif // GQ_KERNELS_KERNELS_KERNELS_H
