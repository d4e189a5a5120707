//===- Values.h - random numbers ---------------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TOOLS_GQBENCH_VALUES_H
#define GQ_TOOLS_GQBENCH_VALUES_H

#include "gq/Runtime/Status.h"

#include <dlpack/dlpack.h>
#include <stddef.h>

/// The next 24 random bits of a generator, whose first state is a seed.
uint32_t valuesRandom(uint32_t *state);

/// Fills `size` bytes of a device with elements of both signs and magnitudes
/// around 1, as activations have: bf16, f16 or f32. Of bytes, i8 are random,
/// codes of f8 have any of the middle exponents. Another seed, other values.
gqStatus valuesFill(DLDevice device, void *memory, gqElementType type,
                    size_t size, uint32_t seed);

#endif // GQ_TOOLS_GQBENCH_VALUES_H
