//===- Status.c - status codes and messages ------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gq/Runtime/Status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
  /// Holds a page of compiler diagnostics; what is longer ends in "...".
  MESSAGE_SIZE = 8192,
};

static _Thread_local char message[MESSAGE_SIZE];

const char *gqVersion(void) { return GQ_VERSION; }

const char *gqStatusName(gqStatus status) {
  switch (status) {
  case GQ_OK:
    return "OK";
  case GQ_INVALID_ARGUMENT:
    return "INVALID_ARGUMENT";
  case GQ_INVALID_OFFSETS:
    return "INVALID_OFFSETS";
  case GQ_COMPILE_ERROR:
    return "COMPILE_ERROR";
  case GQ_OUT_OF_MEMORY:
    return "OUT_OF_MEMORY";
  case GQ_IO_ERROR:
    return "IO_ERROR";
  case GQ_NO_DRIVER:
    return "NO_DRIVER";
  case GQ_NO_DEVICE:
    return "NO_DEVICE";
  case GQ_CUDA_ERROR:
    return "CUDA_ERROR";
  case GQ_UNSUPPORTED_CHIP:
    return "UNSUPPORTED_CHIP";
  case GQ_INVALID_ROW_INDICES:
    return "INVALID_ROW_INDICES";
  }
  return "UNKNOWN";
}

const char *gqGetLastErrorMessage(void) { return message; }

gqStatus(gqFail)(gqStatus status, const char *format, ...) {
  // Formatted into a copy, so that the last message may be an argument of the
  // next.
  char text[MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  if (length < 0)
    text[0] = '\0';
  if (length >= MESSAGE_SIZE)
    memcpy(text + MESSAGE_SIZE - 4, "...", 4);
  memcpy(message, text, sizeof(message));
  return status;
}
