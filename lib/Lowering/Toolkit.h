//===- Toolkit.h - where the CUDA toolkit is ---------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_LOWERING_TOOLKIT_H
#define GQ_LIB_LOWERING_TOOLKIT_H

/// The folder of a CUDA toolkit with ptxas, fatbinary and libdevice:
/// $GQ_CUDA_TOOLKIT, else the one that the build found, $CUDA_HOME, $CUDA_PATH
/// or /usr/local/cuda. Null if none of them is one: then PTX is what there is,
/// and kernels cannot call libdevice.
const char *gqCudaToolkit(void);

#endif // GQ_LIB_LOWERING_TOOLKIT_H
