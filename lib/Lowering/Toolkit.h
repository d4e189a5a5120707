//===- Toolkit.h - what kernels are made with --------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_LOWERING_TOOLKIT_H
#define GQ_LIB_LOWERING_TOOLKIT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The folder of a CUDA toolkit with libdevice: that of $GQ_CUDA_TOOLKIT if it
/// is set, else the first of what the build found, $CUDA_HOME, $CUDA_PATH and
/// /usr/local/cuda that has it, if possible one with ptxas too. Null if there
/// is none: then kernels cannot call libdevice.
const char *gqCudaToolkit(void);

/// The files of a toolkit that make kernels.
typedef enum gqToolkitFile {
  GQ_TOOLKIT_PTXAS,
  GQ_TOOLKIT_FATBINARY,
  GQ_TOOLKIT_LIBDEVICE,
  GQ_NUM_TOOLKIT_FILES
} gqToolkitFile;

/// Whether the toolkit has ptxas and fatbinary. Without them PTX is what
/// kernels become, which the driver compiles.
bool gqToolkitAssembles(const char *toolkit);

/// Writes the path of a file of the toolkit in `folder`. Returns whether it can
/// be read.
bool gqFindToolkitFile(const char *folder, gqToolkitFile file,
                       char path[PATH_MAX]);

/// Writes the path of the library or program that this is part of.
bool gqThisFile(char path[PATH_MAX]);

/// Writes the path of the device functions for `chip`, which are in the folder
/// gq/device beside gqThisFile(). Returns whether the file can be read.
bool gqDeviceBitcode(const char *chip, char *path, size_t size);

/// Whether the device functions at `path` take the operands that this lowering
/// passes (runtime_kernels/kernels/Interface.c).
bool gqIsBitcodeCurrent(const char *path);

#ifdef __cplusplus
}
#endif

#endif // GQ_LIB_LOWERING_TOOLKIT_H
