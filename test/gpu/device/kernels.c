//===- kernels.c - kernels made from the device functions -----------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lowering generates, by hand: each kernel calls one body with its
// parameters and constants. The bodies come from the bitcode.
//
//===----------------------------------------------------------------------===//

#include "Operands.h"

#include "runtime_kernels/kernels/Kernels.h"

// How kernels are declared.
#ifndef KERNEL
#define KERNEL __attribute__((device_kernel)) void
#endif

#define GROUPED(NAME, LOAD, FORMAT, RECIPE, LAYOUT, PACKED, ROWS, BITS, KIND,  \
                INDEX_BITS)                                                    \
  KERNEL NAME(Operands o) {                                                    \
    gq_dev_matrix matrix = {(const void GQ_GLOBAL *)o.input, o.inputStride};   \
    gq_dev_grouped_block_quantize(                                             \
        gq_dev_load16_##LOAD, &matrix, o.rows, o.columns,                      \
        (const void GQ_GLOBAL *)o.rowIndices, o.sourceRows,                    \
        (const void GQ_GLOBAL *)o.offsets, o.numOffsets,                       \
        (const void GQ_GLOBAL *)o.scaleOffsets, o.groups,                      \
        (const float GQ_GLOBAL *)o.outer, (uint8_t GQ_GLOBAL *)o.data,         \
        o.dataStride, (uint8_t GQ_GLOBAL *)o.scales, o.scalesStride,           \
        o.scaleRows, (void GQ_GLOBAL *)o.scaleOffsetsOut,                      \
        (uint32_t GQ_GLOBAL *)o.status, GQ_FORMAT_##FORMAT,                    \
        GQ_RECIPE_##RECIPE, GQ_SCALE_LAYOUT_##LAYOUT, PACKED, GQ_ROWS_##ROWS,  \
        BITS, GQ_OUTER_##KIND, INDEX_BITS);                                    \
  }

#define BLOCK(NAME, LOAD, FORMAT)                                              \
  KERNEL NAME(Operands o) {                                                    \
    gq_dev_matrix matrix = {(const void GQ_GLOBAL *)o.input, o.inputStride};   \
    gq_dev_block_quantize(gq_dev_load16_##LOAD, &matrix, o.rows, o.columns, 0, \
                          (uint8_t GQ_GLOBAL *)o.data, o.dataStride,           \
                          (uint8_t GQ_GLOBAL *)o.linear, o.scaleColumns,       \
                          GQ_FORMAT_##FORMAT, GQ_RECIPE_NVFUSER,               \
                          GQ_OUTER_NONE);                                      \
  }

#define PREPROCESS(NAME)                                                       \
  KERNEL NAME(Operands o) {                                                    \
    gq_dev_preprocess_grouped_matmul_sf(                                       \
        (const uint8_t GQ_GLOBAL *)o.linear, o.scaleColumns, o.rows,           \
        o.scaleColumns, (const void GQ_GLOBAL *)o.offsets, o.numOffsets,       \
        (const void GQ_GLOBAL *)o.scaleOffsets, o.groups,                      \
        (uint8_t GQ_GLOBAL *)o.scales, o.scaleRows,                            \
        (uint32_t GQ_GLOBAL *)o.status, GQ_FORMAT_NVFP4, 32);                  \
  }

#include "Variants.h"
