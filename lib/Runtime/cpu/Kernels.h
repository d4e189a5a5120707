//===- Kernels.h - loops for an instruction set ------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Included once by the file of each instruction set, which is compiled for it
// and defines GQ_CPU_KERNELS, the name of the table. All but the table is
// static, so that no function that needs an instruction set can be taken for
// one of the same name that does not.
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/CpuKernels.h"

#include "DequantizeLines.h"
#include "Measure.h"
#include "Product.h"
#include "Quantize.h"
#include "SumColumns.h"

const gqCpuKernels GQ_CPU_KERNELS = {
    .quantize = quantize,
    .measure = measure,
    .sumColumns = sumColumns,
    .dequantize = dequantize,
    .sumProducts = sumProducts,
    .quantizeSquares = quantizeSquares,
};
