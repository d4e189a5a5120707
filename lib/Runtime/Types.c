//===- Types.c - the formats for other languages -------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gq/Runtime/Types.h"

#include <stddef.h>

#define GQ_ASSERT_VALUE(VALUE, NAME, ...)                                      \
  _Static_assert(VALUE < GQ_NUM_FORMATS, "values are consecutive");
GQ_FORMATS(GQ_ASSERT_VALUE)

const char *gqFormatName(int32_t format) {
  return format >= 0 && format < GQ_NUM_FORMATS
             ? gqFormatGetTraits((gqFormat)format).name
             : NULL;
}
