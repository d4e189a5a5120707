//===- Target.c - what a module is compiled for ---------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Target.h"

#include "lib/Lowering/Toolkit.h"

#include <string.h>

//===----------------------------------------------------------------------===//
// Target
//===----------------------------------------------------------------------===//

/// The name becomes part of a pipeline, which must not read anything else into
/// it.
static gqStatus setChip(const char *chip, gqTarget *target) {
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
  size_t length = strlen(chip);
  if (strncmp(chip, "sm_", 3) != 0 || strspn(chip, allowed) != length ||
      length >= sizeof(target->chip))
    return gqFail(GQ_INVALID_ARGUMENT,
                  "chip '%s': expected a name such as sm_90a", chip);
  memcpy(target->chip, chip, length + 1);
  return GQ_OK;
}

gqStatus gqTargetCreate(const gqCompileOptions *options, gqTarget *target) {
  const char *name = options->target ? options->target : "cpu";
  *target = (gqTarget){.imageFormat = ""};
  if (strcmp(name, "cpu") == 0)
    return GQ_OK;
  if (strcmp(name, "cuda") != 0)
    return gqFail(
        GQ_INVALID_ARGUMENT,
        "unknown target '%s': the targets of this build are: cpu, cuda", name);
  target->isCuda = true;
  const char *toolkit = gqCudaToolkit();
  target->imageFormat =
      toolkit && gqToolkitAssembles(toolkit) ? "fatbin" : "isa";
  return options->chip ? setChip(options->chip, target)
                       : gqDeviceChip(target->chip);
}

void gqTargetWritePipeline(const gqTarget *target,
                           const gqCompileOptions *options, gqText *pipeline) {
  const char *fuse = options->noFusion ? "false" : "true";
  if (target->isCuda)
    gqTextPrintf(pipeline,
                 "gq-to-nvvm{chip=%s format=%s fuse=%s fuse-quantization=%s}",
                 target->chip, target->imageFormat, fuse,
                 options->fuseQuantization ? "true" : "false");
  else
    gqTextPrintf(pipeline, "gq-to-cpu{fuse=%s}", fuse);
}
