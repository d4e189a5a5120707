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

/// Opens a folder for outputFileOpen(); to be closed. Removes what runs of a
/// tool that were killed have left there. Errors: GQ_IO_ERROR; the message does
/// not name the folder.
gqStatus outputFolderOpen(const char *path, int *folder);

/// A file that gets its name in a folder when it is complete. Until then it has
/// another one, and what had the name stays.
typedef struct OutputFile {
  int folder;
  char temporary[64];
  /// Null once it is closed.
  FILE *stream;
} OutputFile;

/// Starts a file. Errors: GQ_IO_ERROR; the message does not name the file.
gqStatus outputFileOpen(int folder, OutputFile *file);

/// Completes a file that was written. Errors: GQ_IO_ERROR, also for an earlier
/// failure; the file still exists.
gqStatus outputFileClose(OutputFile *file);

/// Gives a closed file its name, or removes a file, closed or not.
gqStatus outputFilePlace(OutputFile *file, const char *name);
void outputFileDiscard(OutputFile *file);

/// Writes a file at `path` with `write`: completely, or not at all. If `path`
/// is not a regular file, such as a FIFO or /dev/stdout, it is written to
/// directly. Errors: those of `write`, and GQ_IO_ERROR; the message does not
/// name the file.
gqStatus fileWrite(const char *path,
                   gqStatus (*write)(FILE *file, const void *data),
                   const void *data);

#endif // GQ_TOOLS_COMMON_FILE_H
