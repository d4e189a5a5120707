//===- test_cache.c - compiled modules on disk ----------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A hit leaves the file alone; a miss puts a new file in its place, with
// another inode. That is how these tests tell one from the other.
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static const char answer[] = "func.func @main() -> i32 {\n"
                             "  %r = arith.constant 42 : i32\n"
                             "  return %r : i32\n"
                             "}\n";

/// The folder of one test, below a folder that the test made.
typedef struct Folder {
  char root[64];
  char cache[80];
} Folder;

static int makeFolder(void **state) {
  Folder *folder = calloc(1, sizeof(Folder));
  strcpy(folder->root, "gq-test-cache-XXXXXX");
  if (!mkdtemp(folder->root))
    return -1;
  snprintf(folder->cache, sizeof(folder->cache), "%s/a/b", folder->root);
  *state = folder;
  return 0;
}

/// Calls `visit` for each file in the cache; returns how many there are.
static int forEachFile(const char *cache,
                       void (*visit)(const char *path, void *data),
                       void *data) {
  int count = 0;
  DIR *directory = opendir(cache);
  if (!directory)
    return 0;
  for (struct dirent *entry; (entry = readdir(directory));) {
    char path[512];
    if (entry->d_name[0] == '.')
      continue;
    snprintf(path, sizeof(path), "%s/%s", cache, entry->d_name);
    if (visit)
      visit(path, data);
    ++count;
  }
  closedir(directory);
  return count;
}

static void removeFile(const char *path, void *data) {
  (void)data;
  unlink(path);
}

static int removeFolder(void **state) {
  Folder *folder = *state;
  char parent[80];
  forEachFile(folder->cache, removeFile, NULL);
  snprintf(parent, sizeof(parent), "%s/a", folder->root);
  rmdir(folder->cache);
  rmdir(parent);
  unlink(parent);
  int result = rmdir(folder->root);
  free(folder);
  return result;
}

static void copyPath(const char *path, void *data) { strcpy(data, path); }

/// The only file of the cache.
static void findFile(const Folder *folder, char *path) {
  assert_int_equal(forEachFile(folder->cache, copyPath, path), 1);
}

static ino_t inodeOf(const char *path) {
  struct stat file;
  assert_int_equal(stat(path, &file), 0);
  return file.st_ino;
}

/// Compiles the module and checks what it computes.
static void compileAndRun(const gqCompileOptions *options) {
  gqExecutable *executable;
  if (gqCompile(answer, strlen(answer), options, &executable) != GQ_OK)
    fail_msg("%s", gqGetLastErrorMessage());
  DLManagedTensor *output;
  invoke(executable, "main", NULL, 0, &output, 1);
  assert_int_equal(*(const int32_t *)output->dl_tensor.data, 42);
  release(output);
  gqExecutableDestroy(executable);
}

/// Compiles into the cache, which has one file then.
static void fillCache(const Folder *folder, char *path) {
  gqCompileOptions options = {.cacheDir = folder->cache};
  compileAndRun(&options);
  findFile(folder, path);
}

static long sizeOf(const char *path) {
  struct stat file;
  assert_int_equal(stat(path, &file), 0);
  return (long)file.st_size;
}

static void flipByte(const char *path, long position) {
  FILE *file = fopen(path, "r+b");
  assert_non_null(file);
  assert_int_equal(fseek(file, position, SEEK_SET), 0);
  int byte = fgetc(file);
  assert_int_equal(fseek(file, position, SEEK_SET), 0);
  fputc(byte ^ 0xff, file);
  assert_int_equal(fclose(file), 0);
}

/// The module is compiled again and its file replaced by a right one.
static void checkMiss(const Folder *folder, const char *path) {
  gqCompileOptions options = {.cacheDir = folder->cache};
  long inode = inodeOf(path);
  compileAndRun(&options);
  assert_int_not_equal(inodeOf(path), inode);
  inode = inodeOf(path);
  compileAndRun(&options);
  assert_int_equal(inodeOf(path), inode);
}

static void testHit(void **state) {
  Folder *folder = *state;
  char path[512];
  fillCache(folder, path);
  ino_t inode = inodeOf(path);
  fillCache(folder, path);
  assert_int_equal(inodeOf(path), inode);
}

/// The name of the file is a digest, 64 hexadecimal digits.
static void testFileName(void **state) {
  Folder *folder = *state;
  char path[512];
  fillCache(folder, path);
  const char *name = strrchr(path, '/') + 1;
  assert_int_equal(strspn(name, "0123456789abcdef"), 64);
  assert_int_equal(strlen(name), 64);
}

static mode_t modeOf(const char *path) {
  struct stat file;
  assert_int_equal(lstat(path, &file), 0);
  return file.st_mode & 07777;
}

/// Code is readable by its owner only, whatever the umask.
static void testModes(void **state) {
  Folder *folder = *state;
  char path[512];
  mode_t old = umask(0);
  fillCache(folder, path);
  umask(old);
  assert_int_equal(modeOf(path), 0600);
  assert_int_equal(modeOf(folder->cache), 0700);
}

/// Compiles and returns whether the cache was neither read nor written: its
/// only file, which is corrupt, stays as it is.
static bool isUnused(const Folder *folder, const char *path) {
  ino_t inode = inodeOf(path);
  gqCompileOptions options = {.cacheDir = folder->cache};
  compileAndRun(&options);
  return inodeOf(path) == inode;
}

/// A folder that others may write to, that is another user's, or that is a
/// link.
static void testFolderOfOthers(void **state) {
  Folder *folder = *state;
  char path[512], moved[96];
  fillCache(folder, path);
  flipByte(path, sizeOf(path) - 1);
  const mode_t modes[] = {0777, 0720, 0702};
  for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); ++i) {
    assert_int_equal(chmod(folder->cache, modes[i]), 0);
    assert_true(isUnused(folder, path));
  }
  assert_int_equal(chmod(folder->cache, 0755), 0);
  assert_false(isUnused(folder, path));
  flipByte(path, sizeOf(path) - 1);
  if (geteuid() == 0) {
    assert_int_equal(chown(folder->cache, 65534, 65534), 0);
    assert_true(isUnused(folder, path));
    assert_int_equal(chown(folder->cache, 0, 0), 0);
  }
  snprintf(moved, sizeof(moved), "%s/a/c", folder->root);
  assert_int_equal(rename(folder->cache, moved), 0);
  assert_int_equal(symlink("c", folder->cache), 0);
  assert_true(isUnused(folder, path));
  // With a slash the system would follow it.
  strcat(folder->cache, "/");
  assert_true(isUnused(folder, path));
  folder->cache[strlen(folder->cache) - 1] = '\0';
  assert_int_equal(unlink(folder->cache), 0);
  assert_int_equal(rename(moved, folder->cache), 0);
}

/// Another entry's content under this name: only the digest and the key tell,
/// so a file that others could have written is not even read.
static void testFileOfOthers(void **state) {
  Folder *folder = *state;
  char path[512], target[96];
  fillCache(folder, path);
  assert_int_equal(chmod(path, 0602), 0);
  checkMiss(folder, path);
  assert_int_equal(chmod(path, 0620), 0);
  checkMiss(folder, path);
  if (geteuid() == 0) {
    assert_int_equal(chown(path, 65534, 65534), 0);
    checkMiss(folder, path);
  }
  snprintf(target, sizeof(target), "%s/entry", folder->root);
  assert_int_equal(rename(path, target), 0);
  assert_int_equal(symlink("../../entry", path), 0);
  checkMiss(folder, path);
  assert_int_equal(unlink(target), 0);
}

/// Files without an end, or with nothing at the other end.
static void testSpecialFiles(void **state) {
  Folder *folder = *state;
  char path[512];
  fillCache(folder, path);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(mkfifo(path, 0600), 0);
  checkMiss(folder, path);
  // Sparse, and larger than memory.
  assert_int_equal(truncate(path, (off_t)1 << 42), 0);
  checkMiss(folder, path);
  // A folder cannot be replaced.
  assert_int_equal(unlink(path), 0);
  assert_int_equal(mkdir(path, 0700), 0);
  assert_true(isUnused(folder, path));
  assert_int_equal(rmdir(path), 0);
}

/// What a killed process has left is removed; what another one is writing
/// stays.
static void testLeftovers(void **state) {
  Folder *folder = *state;
  char path[512], old[128], young[128];
  fillCache(folder, path);
  snprintf(old, sizeof(old), "%s/writing-%032d", folder->cache, 1);
  snprintf(young, sizeof(young), "%s/writing-%032d", folder->cache, 2);
  fclose(fopen(old, "w"));
  fclose(fopen(young, "w"));
  const struct timeval times[] = {{time(NULL) - 7200, 0},
                                  {time(NULL) - 7200, 0}};
  assert_int_equal(utimes(old, times), 0);
  flipByte(path, sizeOf(path) - 1);
  checkMiss(folder, path);
  assert_int_not_equal(access(old, F_OK), 0);
  assert_int_equal(access(young, F_OK), 0);
  // No file of ours is left.
  assert_int_equal(forEachFile(folder->cache, NULL, NULL), 2);
}

/// Whatever changes the object changes the key; the name of the text does not.
static void testKey(void **state) {
  Folder *folder = *state;
  gqCompileOptions options = {.cacheDir = folder->cache};
  compileAndRun(&options);
  options.sourceName = "model.mlir";
  compileAndRun(&options);
  assert_int_equal(forEachFile(folder->cache, NULL, NULL), 1);
  options.noFusion = true;
  compileAndRun(&options);
  assert_int_equal(forEachFile(folder->cache, NULL, NULL), 2);
  const char *other = "func.func @main() {\n  return\n}\n";
  gqExecutable *executable;
  assert_int_equal(gqCompile(other, strlen(other), &options, &executable),
                   GQ_OK);
  gqExecutableDestroy(executable);
  assert_int_equal(forEachFile(folder->cache, NULL, NULL), 3);
}

/// Wherever a byte is wrong: the header, the key, as with two keys of the same
/// hash, or the object.
static void testCorruptFile(void **state) {
  Folder *folder = *state;
  char path[512];
  fillCache(folder, path);
  long size = sizeOf(path);
  const long positions[] = {0, 8, 16, 24, 40, size / 2, size - 1};
  for (size_t i = 0; i < sizeof(positions) / sizeof(positions[0]); ++i) {
    flipByte(path, positions[i]);
    checkMiss(folder, path);
  }
}

static void testTruncatedFile(void **state) {
  Folder *folder = *state;
  char path[512];
  fillCache(folder, path);
  long size = sizeOf(path);
  const long sizes[] = {0, 7, 31, 32, 100, size - 1, size + 1};
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
    assert_int_equal(truncate(path, sizes[i]), 0);
    checkMiss(folder, path);
  }
}

/// Kernels depend on the toolkit, whatever its path is called.
static void testToolkit(void **state) {
  Folder *folder = *state;
  static const char *const names[] = {"bin/ptxas", "bin/fatbinary",
                                      "nvvm/libdevice/libdevice.10.bc"};
  static const char *const folders[] = {"", "bin", "nvvm", "nvvm/libdevice"};
  const gqCompileOptions options = {
      .cacheDir = folder->cache, .target = "cuda", .chip = "sm_90a"};
  char toolkit[96], path[160];
  snprintf(toolkit, sizeof(toolkit), "%s/my 'cuda' \"}", folder->root);
  for (int i = 0; i < 4; ++i) {
    snprintf(path, sizeof(path), "%s/%s", toolkit, folders[i]);
    assert_int_equal(mkdir(path, 0700), 0);
  }
  setenv("GQ_CUDA_TOOLKIT", toolkit, 1);
  for (int i = 0; i < 3; ++i) {
    snprintf(path, sizeof(path), "%s/%s", toolkit, names[i]);
    fclose(fopen(path, "w"));
  }
  gqExecutable *executable;
  for (int i = 0; i < 4; ++i) {
    for (int again = 0; again < 2; ++again) {
      if (gqCompile(answer, strlen(answer), &options, &executable) != GQ_OK)
        fail_msg("%s", gqGetLastErrorMessage());
      gqExecutableDestroy(executable);
      assert_int_equal(forEachFile(folder->cache, NULL, NULL), i + 1);
    }
    snprintf(path, sizeof(path), "%s/%s", toolkit, names[i % 3]);
    FILE *file = fopen(path, "a");
    fputc('x', file);
    fclose(file);
  }
  unsetenv("GQ_CUDA_TOOLKIT");
  for (int i = 0; i < 3; ++i) {
    snprintf(path, sizeof(path), "%s/%s", toolkit, names[i]);
    assert_int_equal(unlink(path), 0);
  }
  for (int i = 3; i >= 0; --i) {
    snprintf(path, sizeof(path), "%s/%s", toolkit, folders[i]);
    assert_int_equal(rmdir(path), 0);
  }
}

/// A file is where a folder is needed.
static void testUnusableFolder(void **state) {
  Folder *folder = *state;
  gqCompileOptions options = {.cacheDir = folder->cache};
  char path[80];
  snprintf(path, sizeof(path), "%s/a", folder->root);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fclose(file), 0);
  compileAndRun(&options);
  compileAndRun(&options);
}

/// "" is no folder, and above all not the root.
static void testNoCache(void **state) {
  (void)state;
  int before = forEachFile("/", NULL, NULL);
  gqCompileOptions options = {.cacheDir = ""};
  compileAndRun(&options);
  setenv("GQ_CACHE_DIR", "", 1);
  compileAndRun(NULL);
  assert_int_equal(forEachFile("/", NULL, NULL), before);
}

/// Which of the environment's folders is used.
static void testEnvironment(void **state) {
  Folder *folder = *state;
  char parent[80];
  snprintf(parent, sizeof(parent), "%s/a", folder->root);
  unsetenv("GQ_CACHE_DIR");
  setenv("HOME", "/nowhere", 1);
  setenv("XDG_CACHE_HOME", parent, 1);
  compileAndRun(NULL);
  char xdg[96], path[512];
  snprintf(xdg, sizeof(xdg), "%s/gq", parent);
  assert_int_equal(forEachFile(xdg, copyPath, path), 1);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(rmdir(xdg), 0);
  setenv("GQ_CACHE_DIR", folder->cache, 1);
  compileAndRun(NULL);
  findFile(folder, path);
  // The option comes before the environment.
  assert_int_equal(unlink(path), 0);
  gqCompileOptions options = {.cacheDir = ""};
  compileAndRun(&options);
  assert_int_equal(forEachFile(folder->cache, NULL, NULL), 0);
}

static void *compileInThread(void *cache) {
  for (int i = 0; i < 5; ++i) {
    gqCompileOptions options = {.cacheDir = cache};
    gqExecutable *executable;
    if (gqCompile(answer, strlen(answer), &options, &executable) != GQ_OK)
      return cache;
    gqExecutableDestroy(executable);
  }
  return NULL;
}

/// Several writers of one file leave one right file.
static void testThreads(void **state) {
  Folder *folder = *state;
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i)
    assert_int_equal(
        pthread_create(&threads[i], NULL, compileInThread, folder->cache), 0);
  for (int i = 0; i < 4; ++i) {
    void *failed;
    assert_int_equal(pthread_join(threads[i], &failed), 0);
    assert_null(failed);
  }
  char path[512];
  findFile(folder, path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(testHit, makeFolder, removeFolder),
      cmocka_unit_test_setup_teardown(testFileName, makeFolder, removeFolder),
      cmocka_unit_test_setup_teardown(testModes, makeFolder, removeFolder),
      cmocka_unit_test_setup_teardown(testFolderOfOthers, makeFolder,
                                      removeFolder),
      cmocka_unit_test_setup_teardown(testFileOfOthers, makeFolder,
                                      removeFolder),
      cmocka_unit_test_setup_teardown(testSpecialFiles, makeFolder,
                                      removeFolder),
      cmocka_unit_test_setup_teardown(testLeftovers, makeFolder, removeFolder),
      cmocka_unit_test_setup_teardown(testKey, makeFolder, removeFolder),
      cmocka_unit_test_setup_teardown(testToolkit, makeFolder, removeFolder),
      cmocka_unit_test_setup_teardown(testCorruptFile, makeFolder,
                                      removeFolder),
      cmocka_unit_test_setup_teardown(testTruncatedFile, makeFolder,
                                      removeFolder),
      cmocka_unit_test_setup_teardown(testUnusableFolder, makeFolder,
                                      removeFolder),
      cmocka_unit_test(testNoCache),
      cmocka_unit_test_setup_teardown(testEnvironment, makeFolder,
                                      removeFolder),
      cmocka_unit_test_setup_teardown(testThreads, makeFolder, removeFolder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
