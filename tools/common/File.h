//===- File.h - reading files ------------------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GQ_TOOLS_COMMON_FILE_H
#define GQ_TOOLS_COMMON_FILE_H

#include "gq/Runtime/Status.h"

#include <stddef.h>
#include <stdio.h>

/// Reads what is left of a file, which need not be seekable. `*content` is to
/// be freed and ends in a null character that `*length` does not count. Errors:
/// GQ_IO_ERROR, GQ_OUT_OF_MEMORY; the message does not name the file.
gqStatus fileReadAll(FILE *file, char **content, size_t *length);

/// The same for the file at `path`.
gqStatus fileRead(const char *path, char **content, size_t *length);

#endif // GQ_TOOLS_COMMON_FILE_H
