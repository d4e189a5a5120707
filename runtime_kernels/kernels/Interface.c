//===- Interface.c - the version of what kernels call ---------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bitcode that was compiled with other operands than the lowering passes would
// link anyway and compute wrong bytes, so gq-attach-target looks for this
// symbol.
//
//===----------------------------------------------------------------------===//

#include "runtime_kernels/kernels/Interface.h"

extern const char GQ_KERNEL_INTERFACE;
const char GQ_KERNEL_INTERFACE = 0;
