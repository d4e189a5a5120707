//===- Cache.c - compiled objects on disk ---------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cache.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// A file is this header, the key and the object.
typedef struct Header {
  char magic[8];
  uint64_t keyLength;
  uint64_t objectLength;
  uint64_t objectHash;
} Header;

static const char magic[8] = {'g', 'q', 'c', 'a', 'c', 'h', 'e', '1'};

/// 64-bit FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/.
static uint64_t hashBytes(const char *data, size_t length) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < length; ++i)
    hash = (hash ^ (unsigned char)data[i]) * 0x100000001b3u;
  return hash;
}

static char *joinPath(const char *folder, const char *name) {
  gqText path = {0};
  gqTextPrintf(&path, "%s/%s", folder, name);
  if (!path.failed)
    return path.data;
  gqTextFree(&path);
  return NULL;
}

char *gqCacheFolder(const char *cacheDir) {
  if (!cacheDir)
    cacheDir = getenv("GQ_CACHE_DIR");
  if (cacheDir)
    return *cacheDir ? strdup(cacheDir) : NULL;
  const char *xdg = getenv("XDG_CACHE_HOME");
  if (xdg && *xdg)
    return joinPath(xdg, "gq");
  const char *home = getenv("HOME");
  if (home && *home)
    return joinPath(home, ".cache/gq");
  return NULL;
}

static char *pathOf(const char *folder, const gqText *key) {
  char name[17];
  snprintf(name, sizeof(name), "%016" PRIx64,
           hashBytes(key->data, key->length));
  return joinPath(folder, name);
}

/// Reads `file` to its end. Returns memory to be freed, or null.
static char *readAll(FILE *file, size_t *length) {
  gqText content = {0};
  char chunk[1 << 16];
  size_t count;
  while ((count = fread(chunk, 1, sizeof(chunk), file)) > 0)
    gqTextAppend(&content, chunk, count);
  if (ferror(file) || content.failed)
    gqTextFree(&content);
  *length = content.length;
  return content.data;
}

/// Whether the content of a file is that of `key`, complete and unchanged.
static bool isEntry(const char *content, size_t length, const gqText *key) {
  Header header;
  if (length < sizeof(header))
    return false;
  memcpy(&header, content, sizeof(header));
  size_t bodyLength = length - sizeof(header);
  if (memcmp(header.magic, magic, sizeof(magic)) != 0 ||
      header.keyLength != key->length || key->length > bodyLength ||
      header.objectLength != bodyLength - key->length)
    return false;
  const char *body = content + sizeof(header);
  return memcmp(body, key->data, key->length) == 0 &&
         hashBytes(body + key->length, header.objectLength) ==
             header.objectHash;
}

char *gqCacheLoad(const char *folder, const gqText *key, size_t *length) {
  char *path = pathOf(folder, key);
  FILE *file = path ? fopen(path, "rb") : NULL;
  free(path);
  if (!file)
    return NULL;
  size_t fileLength = 0;
  char *content = readAll(file, &fileLength);
  fclose(file);
  if (!content || !isEntry(content, fileLength, key)) {
    free(content);
    return NULL;
  }
  size_t skipped = sizeof(Header) + key->length;
  *length = fileLength - skipped;
  memmove(content, content + skipped, *length);
  return content;
}

/// Makes a folder and those above it. What fails shows when a file is opened.
static void makeFolders(const char *folder) {
  char *path = strdup(folder);
  if (!path)
    return;
  for (char *at = path + 1; *at; ++at) {
    if (*at != '/')
      continue;
    *at = '\0';
    mkdir(path, 0777);
    *at = '/';
  }
  mkdir(path, 0777);
  free(path);
}

static bool writeEntry(FILE *file, const gqText *key, const char *object,
                       size_t length) {
  Header header = {{0}, key->length, length, hashBytes(object, length)};
  memcpy(header.magic, magic, sizeof(magic));
  return fwrite(&header, sizeof(header), 1, file) == 1 &&
         fwrite(key->data, 1, key->length, file) == key->length &&
         fwrite(object, 1, length, file) == length;
}

/// Readers see the whole file or none: it gets its name when it is complete.
void gqCacheStore(const char *folder, const gqText *key, const char *object,
                  size_t length) {
  makeFolders(folder);
  char *path = pathOf(folder, key);
  char *temporary = joinPath(folder, "writing-XXXXXX");
  int descriptor = path && temporary ? mkstemp(temporary) : -1;
  if (descriptor >= 0) {
    FILE *file = fdopen(descriptor, "wb");
    bool written = file && writeEntry(file, key, object, length);
    bool closed = file ? fclose(file) == 0 : close(descriptor) == 0;
    if (!written || !closed || rename(temporary, path) != 0)
      unlink(temporary);
  }
  free(temporary);
  free(path);
}
