//===- Temporary.h - files that get their names when complete ----*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file is written under a name that nobody could know beforehand, and that
// was free, and then renamed: readers see the whole file or none, and a link
// that somebody left in its place is not followed. All names are relative to an
// open folder, so that no path is too long. For the library and the tools,
// which share no code otherwise; so these are inline.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_COMPILER_TEMPORARY_H
#define GQ_LIB_COMPILER_TEMPORARY_H

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
  /// Room for the name of a temporary file and its null character.
  GQ_TEMPORARY_SIZE = 64,
  /// Seconds after which a file that is being written has been given up.
  GQ_TEMPORARY_AGE = 3600,
};

/// Creates and opens a file in `folder`; its name, written to `name`, is
/// `prefix`, of at most 16 characters, and 32 random ones. -1 on a failure,
/// with errno.
static inline int gqTemporaryCreate(int folder, const char *prefix,
                                    char name[GQ_TEMPORARY_SIZE], mode_t mode) {
  uint64_t random[2];
  if (getrandom(random, sizeof(random), 0) != sizeof(random))
    return -1;
  snprintf(name, GQ_TEMPORARY_SIZE, "%s%016llx%016llx", prefix,
           (unsigned long long)random[0], (unsigned long long)random[1]);
  return openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
}

/// Removes the temporary files with `prefix` that processes which were killed
/// have left in `folder`.
static inline void gqTemporaryRemoveOld(int folder, const char *prefix) {
  int descriptor = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *directory = descriptor < 0 ? NULL : fdopendir(descriptor);
  if (!directory)
    return;
  for (struct dirent *entry; (entry = readdir(directory));) {
    struct stat file;
    if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
        strlen(entry->d_name) == strlen(prefix) + 32 &&
        fstatat(folder, entry->d_name, &file, AT_SYMLINK_NOFOLLOW) == 0 &&
        file.st_mtime < time(NULL) - GQ_TEMPORARY_AGE)
      unlinkat(folder, entry->d_name, 0);
  }
  closedir(directory);
}

#endif // GQ_LIB_COMPILER_TEMPORARY_H
