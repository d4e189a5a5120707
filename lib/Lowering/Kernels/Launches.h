//===- Launches.h - the launches of each op -----------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each builds the launches of an op's kernels; false after an error.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_LOWERING_KERNELS_LAUNCHES_H
#define GQ_LIB_LOWERING_KERNELS_LAUNCHES_H

#include "Launcher.h"

/// What the kernel computes: GQ_DEV_ bits of `parts`.
int32_t gqPartsOf(const gqGroupedBlockQuantize *desc);

/// Of two kernels, one for what is small and one for what is large, those that
/// an op may need: both where that is known to a launch only.
typedef struct gqSizes {
  bool small, large;
} gqSizes;

/// Rows of groups, in blocks with one row.
bool gqLaunchQuantizeRows(const gqLauncher *launcher,
                          const gqGroupedBlockQuantize *desc,
                          gqGpuAddress statusWord);

/// Rows whose amaxes the op computes and which a CTA can hold on the chip.
bool gqLaunchQuantizeWholeRows(const gqLauncher *launcher, MlirOperation op,
                               const gqGroupedBlockQuantize *desc,
                               gqGpuAddress statusWord);

/// Rows in blocks with one row, without groups.
bool gqLaunchBlockQuantize(const gqLauncher *launcher,
                           const gqBlockQuantize *desc);

/// Everything else that is quantized.
bool gqLaunchQuantizeTiles(const gqLauncher *launcher,
                           const gqGroupedBlockQuantize *desc,
                           gqGpuAddress statusWord);

bool gqLaunchSwizzleScales(const gqLauncher *launcher,
                           const gqPreprocessGroupedMatmulSf *desc,
                           gqGpuAddress statusWord);

bool gqLaunchUpdateScales(const gqLauncher *launcher,
                          const gqUpdateScales *desc);

bool gqLaunchGroupOffsets(const gqLauncher *launcher,
                          const gqGroupOffsets *desc, gqGpuAddress statusWord);

bool gqLaunchGroupedAmax(const gqLauncher *launcher, const gqGroupedAmax *desc,
                         gqGpuAddress statusWord);

/// `epilogue`: null without one.
bool gqLaunchDequantize(const gqLauncher *launcher,
                        const gqGroupedDequantize *desc, MlirRegion epilogue,
                        gqGpuAddress statusWord);

/// Without a kernel, several that share all numbers of rows per group. The
/// quantization behind is null if its kernels do not quantize.
bool gqLaunchGroupedMm(const gqLauncher *launcher, MlirOperation op,
                       MlirOperation quantization, gqGpuAddress statusWord);

bool gqLaunchGroupedWgrad(const gqLauncher *launcher, MlirOperation op,
                          gqGpuAddress statusWord);

#endif // GQ_LIB_LOWERING_KERNELS_LAUNCHES_H
