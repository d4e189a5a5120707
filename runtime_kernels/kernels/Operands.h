//===- Operands.h - lists of a kernel's operands -----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operands of a kernel family are listed once, in a .def file, as a macro
//
//   #define GQ_SOME_FAMILY_OPERANDS(X) X(ROLE, type, name) ...
//
// The list defines the parameters of the device function and the fields that it
// keeps them in (Kernels.h), what a launch depends on (Launch.h), the struct
// that the lowering fills and the call that it emits
// (lib/Lowering/GpuKernel.h), and what tests pass. So a new operand is one
// line, and none can be in the wrong place.
//
// Roles:
//   HOOK             two parameters: the function through which elements are
//                    read, of type `type`, and `inputs`, which it reads from
//   FUNCTION         another function, of type `type`; null if there is none
//   INPUT, OUTPUT    an address in global memory, of const `type` or of `type`;
//                    null if there is none
//   EXTENT           an int64_t that the launch depends on too
//   SIZE             another int64_t
//   CONSTANT         an int32_t that is constant in a kernel
//   LAUNCH_CONSTANT  one that the launch depends on too
//
// Of EXTENT to LAUNCH_CONSTANT, `type` is what the device function keeps the
// value as.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_OPERANDS_H
#define GQ_KERNELS_KERNELS_OPERANDS_H

#include "runtime_kernels/kernels/DequantizeTiles.def"
#include "runtime_kernels/kernels/GroupOffsets.def"
#include "runtime_kernels/kernels/GroupedAmax.def"
#include "runtime_kernels/kernels/GroupedMm.def"
#include "runtime_kernels/kernels/GroupedWgrad.def"
#include "runtime_kernels/kernels/QuantizeRows.def"
#include "runtime_kernels/kernels/QuantizeTiles.def"
#include "runtime_kernels/kernels/ReduceTiles.def"
#include "runtime_kernels/kernels/SwizzleScales.def"
#include "runtime_kernels/kernels/UpdateScales.def"

/// The families: X(ENUMERATOR, name, device function, threads of a CTA). The
/// enumerator is that of gqKernelFamily without GQ_KERNEL_, the operands are
/// GQ_<ENUMERATOR>_OPERANDS, the device function gq_dev_<function>, to which
/// some families add what it is for (Kernels.h, grouped_mm/TilesOf.h).
#define GQ_KERNEL_FAMILIES(X)                                                  \
  X(QUANTIZE_ROWS, QuantizeRows, quantize_rows, 128)                           \
  X(QUANTIZE_WHOLE_ROWS, QuantizeWholeRows, quantize_whole_rows, 256)          \
  X(QUANTIZE_TILES, QuantizeTiles, quantize_tiles, 128)                        \
  X(QUANTIZE_SMALL_GROUPS, QuantizeSmallGroups, quantize_small_groups, 128)    \
  X(REDUCE_TILES, ReduceTiles, reduce_tiles, 128)                              \
  X(SWIZZLE_SCALES, SwizzleScales, swizzle_scales, 128)                        \
  X(GROUPED_MM_TILES, GroupedMmTiles, grouped_mm_tiles, 384)                   \
  X(GROUPED_MM_PREPARE, GroupedMmPrepare, grouped_mm_prepare, 256)             \
  X(GROUPED_MM_DECODE, GroupedMmDecode, grouped_mm_decode, 640)                \
  X(GROUPED_MM_ANY, GroupedMmAny, grouped_mm_any, 256)                         \
  X(CLEAR_AMAX, ClearAmax, clear_amax, 128)                                    \
  X(GROUPED_AMAX, GroupedAmax, grouped_amax, 128)                              \
  X(GROUPED_WGRAD_TILES, GroupedWgradTiles, grouped_wgrad_tiles, 256)          \
  X(GROUPED_WGRAD_ANY, GroupedWgradAny, grouped_wgrad_any, 256)                \
  X(DEQUANTIZE_TILES, DequantizeTiles, dequantize_tiles, 128)                  \
  X(UPDATE_SCALES, UpdateScales, update_scales, 128)                           \
  X(GROUP_OFFSETS, GroupOffsets, group_offsets, 32)

/// What follows the first comma.
#define GQ_AFTER_COMMA(...) GQ_AFTER_COMMA_(__VA_ARGS__)
#define GQ_AFTER_COMMA_(FIRST, ...) __VA_ARGS__

/// Its arguments if operands of this role are of a kind, else nothing: hooks,
#define GQ_IF_HOOK_HOOK(...) __VA_ARGS__
#define GQ_IF_HOOK_FUNCTION(...)
#define GQ_IF_HOOK_INPUT(...)
#define GQ_IF_HOOK_OUTPUT(...)
#define GQ_IF_HOOK_EXTENT(...)
#define GQ_IF_HOOK_SIZE(...)
#define GQ_IF_HOOK_CONSTANT(...)
#define GQ_IF_HOOK_LAUNCH_CONSTANT(...)

/// other functions,
#define GQ_IF_FUNCTION_HOOK(...)
#define GQ_IF_FUNCTION_FUNCTION(...) __VA_ARGS__
#define GQ_IF_FUNCTION_INPUT(...)
#define GQ_IF_FUNCTION_OUTPUT(...)
#define GQ_IF_FUNCTION_EXTENT(...)
#define GQ_IF_FUNCTION_SIZE(...)
#define GQ_IF_FUNCTION_CONSTANT(...)
#define GQ_IF_FUNCTION_LAUNCH_CONSTANT(...)

/// addresses,
#define GQ_IF_ADDRESS_HOOK(...)
#define GQ_IF_ADDRESS_FUNCTION(...)
#define GQ_IF_ADDRESS_INPUT(...) __VA_ARGS__
#define GQ_IF_ADDRESS_OUTPUT(...) __VA_ARGS__
#define GQ_IF_ADDRESS_EXTENT(...)
#define GQ_IF_ADDRESS_SIZE(...)
#define GQ_IF_ADDRESS_CONSTANT(...)
#define GQ_IF_ADDRESS_LAUNCH_CONSTANT(...)

/// numbers that are not constant,
#define GQ_IF_NUMBER_HOOK(...)
#define GQ_IF_NUMBER_FUNCTION(...)
#define GQ_IF_NUMBER_INPUT(...)
#define GQ_IF_NUMBER_OUTPUT(...)
#define GQ_IF_NUMBER_EXTENT(...) __VA_ARGS__
#define GQ_IF_NUMBER_SIZE(...) __VA_ARGS__
#define GQ_IF_NUMBER_CONSTANT(...)
#define GQ_IF_NUMBER_LAUNCH_CONSTANT(...)

/// constants,
#define GQ_IF_CONSTANT_HOOK(...)
#define GQ_IF_CONSTANT_FUNCTION(...)
#define GQ_IF_CONSTANT_INPUT(...)
#define GQ_IF_CONSTANT_OUTPUT(...)
#define GQ_IF_CONSTANT_EXTENT(...)
#define GQ_IF_CONSTANT_SIZE(...)
#define GQ_IF_CONSTANT_CONSTANT(...) __VA_ARGS__
#define GQ_IF_CONSTANT_LAUNCH_CONSTANT(...) __VA_ARGS__

/// what the launch depends on.
#define GQ_IF_LAUNCH_HOOK(...)
#define GQ_IF_LAUNCH_FUNCTION(...)
#define GQ_IF_LAUNCH_INPUT(...)
#define GQ_IF_LAUNCH_OUTPUT(...)
#define GQ_IF_LAUNCH_EXTENT(...) __VA_ARGS__
#define GQ_IF_LAUNCH_SIZE(...)
#define GQ_IF_LAUNCH_CONSTANT(...)
#define GQ_IF_LAUNCH_LAUNCH_CONSTANT(...) __VA_ARGS__

#endif // GQ_KERNELS_KERNELS_OPERANDS_H
