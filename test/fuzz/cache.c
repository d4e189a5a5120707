//===- cache.c - the compile cache, under a fuzzer ------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The input says what happens to the files of a cache between a store and a
// load: cut, changed, swapped, replaced by what is not a file, or stored by
// another thread at the same time. A load gives what was stored under its key,
// or nothing.
//
//===----------------------------------------------------------------------===//

#include "Input.h"

#include "lib/Compiler/Cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENTRIES = 3, MAX_ACTIONS = 8 };

static char folder[64];

/// What is stored under a key: a length and a byte that follow from it.
static gqText keyOf(int entry) {
  gqText key = {0};
  gqTextPrintf(&key, "key %d", entry);
  return key;
}

static size_t lengthOf(int entry) { return (size_t)(1 + 700 * entry); }

static void store(int entry) {
  gqText key = keyOf(entry);
  char *object = malloc(lengthOf(entry));
  memset(object, 'a' + entry, lengthOf(entry));
  gqCacheStore(folder, &key, object, lengthOf(entry));
  free(object);
  gqTextFree(&key);
}

/// Returns whether there was an entry; it is right.
static bool load(int entry) {
  gqText key = keyOf(entry);
  size_t length = 0;
  char *object = gqCacheLoad(folder, &key, &length);
  gqTextFree(&key);
  if (!object)
    return false;
  expect(length == lengthOf(entry), "the length that was stored");
  for (size_t i = 0; i < length; ++i)
    expect(object[i] == 'a' + entry, "the bytes that were stored");
  free(object);
  return true;
}

/// The files of the cache by what order the folder gives.
static int listFiles(char paths[ENTRIES][128]) {
  int count = 0;
  DIR *directory = opendir(folder);
  for (struct dirent *entry; directory && (entry = readdir(directory));)
    if (entry->d_name[0] != '.' && count < ENTRIES &&
        strlen(entry->d_name) == 64)
      snprintf(paths[count++], 128, "%s/%s", folder, entry->d_name);
  if (directory)
    closedir(directory);
  return count;
}

static void removeAll(void) {
  DIR *directory = opendir(folder);
  for (struct dirent *entry; directory && (entry = readdir(directory));) {
    if (entry->d_name[0] == '.')
      continue;
    unlinkat(dirfd(directory), entry->d_name, 0);
    unlinkat(dirfd(directory), entry->d_name, AT_REMOVEDIR);
  }
  if (directory)
    closedir(directory);
}

/// Writes a byte, or flips one, somewhere in a file.
static void alter(const char *path, Input *input) {
  int file = open(path, O_RDWR);
  if (file < 0)
    return;
  struct stat status;
  fstat(file, &status);
  uint8_t bytes[2] = {takeByte(input), takeByte(input)};
  off_t at = status.st_size ? (bytes[0] | bytes[1] << 8) % status.st_size : 0;
  uint8_t byte = 0, change = takeByte(input);
  if (pread(file, &byte, 1, at) == 1) {
    byte ^= change ? change : 1;
    expect(pwrite(file, &byte, 1, at) == 1, "a write");
  }
  close(file);
}

static void cut(const char *path, Input *input) {
  uint8_t bytes[2] = {takeByte(input), takeByte(input)};
  struct stat status;
  if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
    expect(truncate(path, (bytes[0] | bytes[1] << 8) % (status.st_size + 9)) ==
               0,
           "a file to be cut");
}

static void *storeInThread(void *entry) {
  store(*(const int *)entry);
  return NULL;
}

/// One thing that happens; returns whether stores can still succeed.
static bool act(Input *input) {
  char paths[ENTRIES][128], temporary[160];
  int count = listFiles(paths), entry = (int)takeChoice(input, ENTRIES);
  if (count == 0) {
    store(entry);
    return true;
  }
  const char *path = paths[entry % count];
  pthread_t thread;
  snprintf(temporary, sizeof(temporary), "%s/swap", folder);
  switch (takeChoice(input, 9)) {
  case 0:
    store(entry);
    break;
  case 1:
    cut(path, input);
    break;
  case 2:
    alter(path, input);
    break;
  case 3: // Under each other's name.
    rename(path, temporary);
    rename(paths[(entry + 1) % count], path);
    rename(temporary, paths[(entry + 1) % count]);
    break;
  case 4:
    if (unlink(path) == 0)
      expect(mkfifo(path, 0600) == 0, "a FIFO");
    break;
  case 5:
    if (rename(path, temporary) == 0)
      expect(symlink("swap", path) == 0, "a link");
    break;
  case 6:
    chmod(path, takeByte(input) & 0777);
    break;
  case 7: // Stored and loaded at once.
    expect(pthread_create(&thread, NULL, storeInThread, &entry) == 0,
           "a thread");
    for (int i = 0; i < 4; ++i)
      load(i % ENTRIES);
    pthread_join(thread, NULL);
    break;
  default:
    unlink(path);
    mkdir(path, 0700);
    return false; // A folder is not replaced.
  }
  return true;
}

static void removeFolder(void) {
  removeAll();
  rmdir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input input = {data, size};
  if (!*folder) {
    const char *root = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof(folder), "%s/gq-fuzz-XXXXXX", root);
    expect(mkdtemp(folder) != NULL, "a folder");
    atexit(removeFolder);
  }
  for (int i = 0; i < ENTRIES; ++i)
    store(i);
  bool usable = true;
  for (int i = 0; i < MAX_ACTIONS && input.left; ++i) {
    usable &= act(&input);
    for (int j = 0; j < ENTRIES; ++j)
      load(j);
  }
  // Whatever happened, what is stored now is there.
  for (int i = 0; i < ENTRIES; ++i) {
    store(i);
    expect(load(i) || !usable, "what was just stored");
  }
  removeAll();
  return 0;
}
