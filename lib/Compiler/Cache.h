//===- Cache.h - compiled objects on disk ------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder of compiled objects, one file each. The file is named after a digest
// of the key and holds the key in full and a digest of everything, so that a
// truncated file or a corrupt one is a miss and nothing worse.
//
// Objects are run, so the folder and each file must be this user's, writable
// by nobody else, and no symbolic links (those on the way to the folder are
// followed). They are made with the modes 0700 and 0600. A file of any other
// kind, or one of more than 256 MiB, is a miss too. What a process that was
// killed has left half-written is removed by a later one after an hour.
//
// Nothing here is an error: what cannot be read is compiled, and what cannot be
// written is compiled again next time.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_COMPILER_CACHE_H
#define GQ_LIB_COMPILER_CACHE_H

#include "../Support/Text.h"

/// The folder that gqCompileOptions.cacheDir stands for, to be freed; null for
/// no cache.
char *gqCacheFolder(const char *cacheDir);

/// Reads the object that was stored under `key`. Returns memory to be freed,
/// or null.
char *gqCacheLoad(const char *folder, const gqText *key, size_t *length);

/// Stores an object, and makes the folder if there is none.
void gqCacheStore(const char *folder, const gqText *key, const char *object,
                  size_t length);

#endif // GQ_LIB_COMPILER_CACHE_H
