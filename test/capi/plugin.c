//===- plugin.c - which programs the plugin lets load it ---------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   test_capi_plugin LIBGQ
//
//===----------------------------------------------------------------------===//

#include "llvm/Config/llvm-config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <unistd.h>

static const char *path;
static unsigned hostMajor, hostMinor;

/// What this program's own LLVM would return.
__attribute__((visibility("default"))) void
LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch) {
  *major = hostMajor, *minor = hostMinor, *patch = 0;
}

/// The beginning of both of MLIR's plugin structs.
typedef struct Info {
  uint32_t apiVersion;
  const char *name, *version;
  void (*registerAll)(void);
} Info;

/// Loads the plugin as MLIR's programs do, and returns the version of `entry`;
/// what it writes to stderr goes to `message`.
static uint32_t load(const char *entry, char *message, size_t size) {
  void *library = dlopen(path, RTLD_LAZY | RTLD_GLOBAL);
  assert_non_null(library);
  Info (*getInfo)(void);
  *(void **)&getInfo = dlsym(library, entry);
  assert_non_null(getInfo);
  FILE *file = tmpfile();
  assert_non_null(file);
  int saved = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  Info info = getInfo();
  dup2(saved, STDERR_FILENO);
  close(saved);
  rewind(file);
  message[fread(message, 1, size - 1, file)] = 0;
  fclose(file);
  assert_string_equal(info.name, "gq");
  return info.apiVersion;
}

static const char *const entries[] = {"mlirGetDialectPluginInfo",
                                      "mlirGetPassPluginInfo"};

static void testSameVersion(void **state) {
  (void)state;
  hostMajor = LLVM_VERSION_MAJOR, hostMinor = LLVM_VERSION_MINOR;
  for (int i = 0; i < 2; ++i) {
    char message[256];
    assert_int_equal(load(entries[i], message, sizeof message), 1);
    assert_string_equal(message, "");
  }
}

static void testOtherVersions(void **state) {
  (void)state;
  static const unsigned versions[][2] = {
      {19, 1},
      {LLVM_VERSION_MAJOR + 1, LLVM_VERSION_MINOR},
      {LLVM_VERSION_MAJOR, LLVM_VERSION_MINOR + 1}};
  for (int i = 0; i < 6; ++i) {
    hostMajor = versions[i / 2][0], hostMinor = versions[i / 2][1];
    char message[256], version[64];
    assert_int_equal(load(entries[i % 2], message, sizeof message), 0);
    snprintf(version, sizeof version, "this program has LLVM %u.%u\n",
             hostMajor, hostMinor);
    assert_non_null(strstr(message, version));
  }
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  path = argv[1];
  const struct CMUnitTest tests[] = {cmocka_unit_test(testSameVersion),
                                     cmocka_unit_test(testOtherVersions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
