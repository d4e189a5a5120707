//===- runtime_only.c - a program over libgq_runtime alone -------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gq/Runtime/Cpu.h"

#include <stdio.h>

int main(void) {
  // One block whose largest magnitude is 6: the scale is 1.
  float input[16] = {6, -3, 0.5f};
  uint8_t data[8], scale[1];
  gqBlockQuantizeOperands operands = {
      .input = {input, GQ_F32, 2, {1, 16}, {16, 1}},
      .data = {data, GQ_I8, 2, {1, 8}, {8, 1}},
      .scales = {scale, GQ_F8E4M3FN, 2, {1, 1}, {1, 1}},
  };
  gqCpuBlockQuantize(&operands, GQ_FORMAT_NVFP4, GQ_SCALE_LAYOUT_LINEAR);
  printf("%s %02x %02x %02x\n", gqStatusName(gqCpuStatus()), scale[0], data[0],
         data[1]);
  return 0;
}
