//===- Compile.c - from MLIR text to an executable ------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cache.h"
#include "Executable.h"
#include "Frontend.h"
#include "Object.h"
#include "Target.h"

#include "lib/Lowering/Toolkit.h"

#include <limits.h>
#include <link.h>
#include <llvm-c/Core.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/// One call of gqCompile.
typedef struct Compilation {
  /// Ends in a null character, which MLIR's lexer reads.
  gqText mlir;
  gqCompileOptions options;
  gqTarget target;
  gqHost host;
} Compilation;

/// What a module's object depends on.
typedef struct Key {
  gqText text;
  /// A file could not be described: the key would not depend on its state.
  bool incomplete;
} Key;

/// Describes a file, so that the cache forgets what another state of it
/// compiled. The time of the last change is set by the system, also where a
/// package brings the time of modification along.
static void appendFile(Key *key, const char *path) {
  struct stat file;
  if (stat(path, &file) != 0)
    key->incomplete = true;
  else
    gqTextPrintf(&key->text, "file %lld %lld.%09ld %lld.%09ld\n",
                 (long long)file.st_size, (long long)file.st_mtim.tv_sec,
                 file.st_mtim.tv_nsec, (long long)file.st_ctim.tv_sec,
                 file.st_ctim.tv_nsec);
}

/// Describes a library of the process if it is part of the compiler.
static int appendLibrary(struct dl_phdr_info *library, size_t size, void *key) {
  (void)size;
  const char *slash = strrchr(library->dlpi_name, '/');
  const char *name = slash ? slash + 1 : library->dlpi_name;
  if (strncmp(name, "libMLIR", 7) == 0 || strncmp(name, "libLLVM", 7) == 0)
    appendFile(key, library->dlpi_name);
  return 0;
}

/// Describes the files that make code: the one that this is in, LLVM's and,
/// for CUDA, the device functions, which gq-attach-target links, and the parts
/// of the toolkit.
static void appendBuild(Key *key, const gqTarget *target) {
  char path[PATH_MAX];
  if (gqThisFile(path))
    appendFile(key, path);
  dl_iterate_phdr(appendLibrary, key);
  if (!target->isCuda)
    return;
  if (gqDeviceBitcode(target->chip, path, sizeof(path)))
    appendFile(key, path);
  const char *toolkit = gqCudaToolkit();
  for (int file = 0; toolkit && file < GQ_NUM_TOOLKIT_FILES; ++file)
    if (gqFindToolkitFile(toolkit, (gqToolkitFile)file, path))
      appendFile(key, path);
}

/// Everything that the object depends on.
static Key createKey(const Compilation *compilation) {
  Key key = {0};
  gqText *text = &key.text;
  unsigned major, minor, patch;
  LLVMGetVersion(&major, &minor, &patch);
  gqTextPrintf(text, "gq %s\nllvm %u.%u.%u\n", GQ_VERSION, major, minor, patch);
  appendBuild(&key, &compilation->target);
  const gqHost *host = &compilation->host;
  gqTextPrintf(text, "host %s %s %s\npipeline ", host->triple, host->cpu,
               host->features);
  gqTargetWritePipeline(&compilation->target, &compilation->options, text);
  gqTextAppend(text, "\n", 1);
  gqTextAppend(text, compilation->mlir.data, compilation->mlir.length);
  return key;
}

static gqStatus compileInContext(const Compilation *compilation,
                                 LLVMContextRef context,
                                 LLVMMemoryBufferRef *object) {
  LLVMModuleRef module = NULL;
  gqText signatures = {0};
  gqStatus status = gqFrontendRun(
      compilation->mlir.data, compilation->mlir.length, &compilation->options,
      &compilation->target, context, &module, &signatures);
  if (status == GQ_OK) {
    status = gqObjectEmit(module, &compilation->host, gqTextString(&signatures),
                          object);
    LLVMDisposeModule(module);
  }
  gqTextFree(&signatures);
  return status;
}

static gqStatus compileObject(const Compilation *compilation,
                              LLVMMemoryBufferRef *object) {
  LLVMContextRef context = LLVMContextCreate();
  gqStatus status = compileInContext(compilation, context, object);
  LLVMContextDispose(context);
  return status;
}

static bool loadCached(const char *folder, const gqText *key, bool isCuda,
                       gqExecutable **executable) {
  size_t length;
  char *cached = gqCacheLoad(folder, key, &length);
  if (!cached)
    return false;
  LLVMMemoryBufferRef object =
      LLVMCreateMemoryBufferWithMemoryRangeCopy(cached, length, "gq");
  free(cached);
  return gqExecutableLoad(object, isCuda, executable) == GQ_OK;
}

static gqStatus compileUncached(const Compilation *compilation,
                                gqExecutable **executable) {
  LLVMMemoryBufferRef object;
  gqStatus status = compileObject(compilation, &object);
  if (status != GQ_OK)
    return status;
  return gqExecutableLoad(object, compilation->target.isCuda, executable);
}

static gqStatus compileWithKey(const Compilation *compilation,
                               const char *folder, const gqText *key,
                               gqExecutable **executable) {
  bool isCuda = compilation->target.isCuda;
  if (loadCached(folder, key, isCuda, executable))
    return GQ_OK;
  LLVMMemoryBufferRef object;
  gqStatus status = compileObject(compilation, &object);
  if (status != GQ_OK)
    return status;
  gqCacheStore(folder, key, LLVMGetBufferStart(object),
               LLVMGetBufferSize(object));
  return gqExecutableLoad(object, isCuda, executable);
}

/// Compiles through the cache in `folder`.
static gqStatus compileCached(const Compilation *compilation,
                              const char *folder, gqExecutable **executable) {
  Key key = createKey(compilation);
  gqStatus status;
  if (key.text.failed)
    status = gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  else if (key.incomplete)
    status = compileUncached(compilation, executable);
  else
    status = compileWithKey(compilation, folder, &key.text, executable);
  gqTextFree(&key.text);
  return status;
}

gqStatus gqCompile(const char *mlir, size_t length,
                   const gqCompileOptions *options, gqExecutable **executable) {
  *executable = NULL;
  Compilation compilation = {0};
  if (options)
    compilation.options = *options;
  gqStatus status = gqTargetCreate(&compilation.options, &compilation.target);
  if (status != GQ_OK)
    return status;
  gqTextAppend(&compilation.mlir, mlir, length);
  if (compilation.mlir.failed)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  compilation.host = gqHostCreate();
  char *folder = gqCacheFolder(compilation.options.cacheDir);
  status = folder ? compileCached(&compilation, folder, executable)
                  : compileUncached(&compilation, executable);
  free(folder);
  gqHostDestroy(&compilation.host);
  gqTextFree(&compilation.mlir);
  return status;
}
