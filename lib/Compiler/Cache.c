//===- Cache.c - compiled objects on disk ---------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cache.h"
#include "Temporary.h"

#include <llvm-c/blake3.h>
#include <stdlib.h>

/// BLAKE3, https://github.com/BLAKE3-team/BLAKE3-specs.
typedef struct Digest {
  uint8_t bytes[LLVM_BLAKE3_OUT_LEN];
} Digest;

/// A file is this header, the key and the object.
typedef struct Header {
  char magic[8];
  uint64_t keyLength;
  uint64_t objectLength;
  /// Of the two lengths, the key and the object.
  Digest digest;
} Header;

static const char magic[8] = {'g', 'q', 'c', 'a', 'c', 'h', 'e', '2'};
static const char temporaryPrefix[] = "writing-";

enum {
  /// No entry is larger; a module whose object is, is compiled each time.
  MAX_FILE_SIZE = 1 << 28,
  /// Characters of a name that is a digest in hexadecimal.
  NAME_LENGTH = 2 * LLVM_BLAKE3_OUT_LEN,
};

//===----------------------------------------------------------------------===//
// Digests
//===----------------------------------------------------------------------===//

static Digest digestOf(const gqText *key, const char *object, size_t length) {
  const uint64_t lengths[] = {key->length, length};
  llvm_blake3_hasher hasher;
  llvm_blake3_hasher_init(&hasher);
  llvm_blake3_hasher_update(&hasher, lengths, sizeof(lengths));
  llvm_blake3_hasher_update(&hasher, key->data, key->length);
  llvm_blake3_hasher_update(&hasher, object, length);
  Digest digest;
  llvm_blake3_hasher_finalize(&hasher, digest.bytes, sizeof(digest.bytes));
  return digest;
}

/// The file of a key.
static void nameOf(const gqText *key, char name[NAME_LENGTH + 1]) {
  Digest digest = digestOf(key, NULL, 0);
  for (size_t i = 0; i < sizeof(digest.bytes); ++i)
    snprintf(name + 2 * i, 3, "%02x", digest.bytes[i]);
}

//===----------------------------------------------------------------------===//
// Folders
//===----------------------------------------------------------------------===//

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

/// Makes a folder and those above it. A failure shows when it is opened.
static void makeFolders(char *path) {
  for (char *at = path + 1; *at; ++at) {
    if (*at != '/')
      continue;
    *at = '\0';
    mkdir(path, 0700);
    *at = '/';
  }
  mkdir(path, 0700);
}

/// Whether nobody else can have put code there: it is of the wanted type, this
/// user's, and nobody else may write to it.
static bool isOwn(int descriptor, mode_t type, struct stat *file) {
  return fstat(descriptor, file) == 0 && (file->st_mode & S_IFMT) == type &&
         file->st_uid == geteuid() && !(file->st_mode & (S_IWGRP | S_IWOTH));
}

/// Opens the folder; -1 if it cannot be trusted. With `make` it is created if
/// it does not exist.
static int openFolder(const char *folder, bool make) {
  char *path = strdup(folder);
  if (!path)
    return -1;
  // A link would be followed to "link/".
  for (size_t length = strlen(path); length > 1 && path[length - 1] == '/';)
    path[--length] = '\0';
  if (make)
    makeFolders(path);
  int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  free(path);
  struct stat file;
  if (descriptor < 0 || isOwn(descriptor, S_IFDIR, &file))
    return descriptor;
  close(descriptor);
  return -1;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Reads `size` bytes. Returns memory to be freed, or null.
static char *readBytes(int descriptor, size_t size) {
  char *content = malloc(size + 1);
  size_t count = 0;
  while (content && count < size) {
    ssize_t more = read(descriptor, content + count, size - count);
    if (more <= 0) {
      free(content);
      return NULL;
    }
    count += (size_t)more;
  }
  return content;
}

/// Reads a file of the folder whole. Returns memory to be freed, or null. Does
/// not wait for a writer, should it be a FIFO.
static char *readFile(int folder, const char *name, size_t *length) {
  int descriptor =
      openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0)
    return NULL;
  struct stat file;
  char *content = NULL;
  if (isOwn(descriptor, S_IFREG, &file) && file.st_size <= MAX_FILE_SIZE) {
    *length = (size_t)file.st_size;
    content = readBytes(descriptor, *length);
  }
  close(descriptor);
  return content;
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
  if (memcmp(body, key->data, key->length) != 0)
    return false;
  Digest digest = digestOf(key, body + key->length, header.objectLength);
  return memcmp(&digest, &header.digest, sizeof(digest)) == 0;
}

char *gqCacheLoad(const char *folder, const gqText *key, size_t *length) {
  char name[NAME_LENGTH + 1];
  nameOf(key, name);
  int descriptor = openFolder(folder, /*make=*/false);
  if (descriptor < 0)
    return NULL;
  size_t fileLength = 0;
  char *content = readFile(descriptor, name, &fileLength);
  close(descriptor);
  if (!content || !isEntry(content, fileLength, key)) {
    free(content);
    return NULL;
  }
  size_t skipped = sizeof(Header) + key->length;
  *length = fileLength - skipped;
  memmove(content, content + skipped, *length);
  return content;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static bool writeBytes(int descriptor, const void *data, size_t size) {
  const char *at = data;
  while (size > 0) {
    ssize_t count = write(descriptor, at, size);
    if (count < 0)
      return false;
    at += count;
    size -= (size_t)count;
  }
  return true;
}

static bool writeEntry(int descriptor, const gqText *key, const char *object,
                       size_t length) {
  Header header = {{0}, key->length, length, digestOf(key, object, length)};
  memcpy(header.magic, magic, sizeof(magic));
  return writeBytes(descriptor, &header, sizeof(header)) &&
         writeBytes(descriptor, key->data, key->length) &&
         writeBytes(descriptor, object, length);
}

/// Readers see the whole file or none: it gets its name when it is complete.
void gqCacheStore(const char *folder, const gqText *key, const char *object,
                  size_t length) {
  char name[NAME_LENGTH + 1], temporary[GQ_TEMPORARY_SIZE];
  nameOf(key, name);
  if (sizeof(Header) + key->length + length > MAX_FILE_SIZE)
    return;
  int descriptor = openFolder(folder, /*make=*/true);
  if (descriptor < 0)
    return;
  gqTemporaryRemoveOld(descriptor, temporaryPrefix);
  int file = gqTemporaryCreate(descriptor, temporaryPrefix, temporary, 0600);
  if (file >= 0) {
    bool written = writeEntry(file, key, object, length);
    if (close(file) != 0 || !written ||
        renameat(descriptor, temporary, descriptor, name) != 0)
      unlinkat(descriptor, temporary, 0);
  }
  close(descriptor);
}
