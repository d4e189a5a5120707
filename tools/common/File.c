//===- File.c - reading files ---------------------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "File.h"

#include "lib/Compiler/Temporary.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static gqStatus failSystem(void) {
  return gqFail(GQ_IO_ERROR, "%s", strerror(errno));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

gqStatus fileReadAll(FILE *file, char **content, size_t *length) {
  size_t capacity = 1 << 16;
  *content = NULL;
  *length = 0;
  do {
    capacity *= 2;
    char *larger = realloc(*content, capacity);
    if (!larger) {
      free(*content);
      return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
    }
    *content = larger;
    *length += fread(*content + *length, 1, capacity - 1 - *length, file);
  } while (*length == capacity - 1);
  (*content)[*length] = '\0';
  if (!ferror(file))
    return GQ_OK;
  free(*content);
  return failSystem();
}

gqStatus fileRead(const char *path, char **content, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return failSystem();
  gqStatus status = fileReadAll(file, content, length);
  fclose(file);
  return status;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static const char temporaryPrefix[] = ".gq-writing-";

gqStatus outputFolderOpen(const char *path, int *folder) {
  *folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (*folder < 0)
    return failSystem();
  gqTemporaryRemoveOld(*folder, temporaryPrefix);
  return GQ_OK;
}

gqStatus outputFileOpen(int folder, OutputFile *file) {
  *file = (OutputFile){.folder = folder};
  int descriptor =
      gqTemporaryCreate(folder, temporaryPrefix, file->temporary, 0666);
  if (descriptor < 0) {
    *file->temporary = '\0';
    return failSystem();
  }
  file->stream = fdopen(descriptor, "wb");
  if (file->stream)
    return GQ_OK;
  close(descriptor);
  return failSystem();
}

gqStatus outputFileClose(OutputFile *file) {
  bool failed = ferror(file->stream);
  failed |= fclose(file->stream) != 0;
  file->stream = NULL;
  return failed ? failSystem() : GQ_OK;
}

gqStatus outputFilePlace(OutputFile *file, const char *name) {
  if (renameat(file->folder, file->temporary, file->folder, name) != 0)
    return failSystem();
  *file->temporary = '\0';
  return GQ_OK;
}

void outputFileDiscard(OutputFile *file) {
  if (file->stream)
    fclose(file->stream);
  if (*file->temporary)
    unlinkat(file->folder, file->temporary, 0);
  *file = (OutputFile){0};
}

static gqStatus writeInto(const char *path,
                          gqStatus (*write)(FILE *, const void *),
                          const void *data) {
  FILE *file = fopen(path, "wb");
  if (!file)
    return failSystem();
  gqStatus status = write(file, data);
  bool failed = ferror(file);
  failed |= fclose(file) != 0;
  return status == GQ_OK && failed ? failSystem() : status;
}

static gqStatus replace(int folder, const char *name,
                        gqStatus (*write)(FILE *, const void *),
                        const void *data) {
  OutputFile file;
  gqStatus status = outputFileOpen(folder, &file);
  if (status == GQ_OK)
    status = write(file.stream, data);
  if (status == GQ_OK)
    status = outputFileClose(&file);
  if (status == GQ_OK)
    status = outputFilePlace(&file, name);
  if (status != GQ_OK)
    outputFileDiscard(&file);
  return status;
}

gqStatus fileWrite(const char *path, gqStatus (*write)(FILE *, const void *),
                   const void *data) {
  struct stat found;
  if (stat(path, &found) == 0 && !S_ISREG(found.st_mode))
    return writeInto(path, write, data);
  const char *slash = strrchr(path, '/');
  char *parent =
      slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");
  if (!parent)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  int folder;
  gqStatus status = outputFolderOpen(parent, &folder);
  free(parent);
  if (status != GQ_OK)
    return status;
  status = replace(folder, slash ? slash + 1 : path, write, data);
  close(folder);
  return status;
}
