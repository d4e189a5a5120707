//===- gq-translate.c - modules in other languages ------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Python.h"

#include "gq-c/Dialect.h"
#include "tools/common/File.h"
#include "tools/common/Tools.h"

#include <getopt.h>
#include <mlir-c/Diagnostics.h>
#include <mlir-c/RegisterEverything.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: gq-translate --mlir-to-python [--split-input-file] [FILE.mlir]\n"
    "\n"
    "Writes a program in Python that rebuilds the module with gq.Graph, a "
    "graph\n"
    "for each function, and prints or runs it. Without FILE, or with -, it\n"
    "reads the standard input. What gq.Graph cannot express is an error at "
    "the\n"
    "op's location.\n"
    "\n"
    "  --split-input-file  the file holds modules between lines \"// -----\":\n"
    "                      write their programs between lines \"# -----\",\n"
    "                      nothing for one that is an error\n"
    "  --help, --version\n";

typedef struct Options {
  bool toPython, split;
  /// Of the file, in messages.
  const char *path, *name;
} Options;

/// Returns false if the program should end, with `*exitCode`.
static bool parseOptions(int argc, char **argv, Options *options,
                         int *exitCode) {
  static const struct option known[] = {
      {"mlir-to-python", no_argument, NULL, 'p'},
      {"split-input-file", no_argument, NULL, 's'},
      {"help", no_argument, NULL, 'h'},
      {"version", no_argument, NULL, 'v'},
      {0}};
  *exitCode = EXIT_FAILURE;
  for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
    switch (c) {
    case 'p':
      options->toPython = true;
      break;
    case 's':
      options->split = true;
      break;
    case 'h':
    case 'v':
      *exitCode = EXIT_SUCCESS;
      fputs(c == 'h' ? usage : "gq-translate " GQ_VERSION "\n", stdout);
      return false;
    default: // getopt_long has said what is wrong.
      return false;
    }
  }
  if (!options->toPython || argc - optind > 1) {
    fprintf(stderr, "gq-translate: expected --mlir-to-python and at most one "
                    "MLIR file; see --help\n");
    return false;
  }
  options->path = optind < argc ? argv[optind] : "-";
  bool isInput = strcmp(options->path, "-") == 0;
  options->name = isInput ? "<stdin>" : options->path;
  return true;
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

static void printString(MlirStringRef string, void *file) {
  fwrite(string.data, 1, string.length, file);
}

/// Text that was parsed from memory has the file name "-".
static MlirLogicalResult report(MlirDiagnostic diagnostic, void *name) {
  static const char *const severities[] = {"error", "warning", "note",
                                           "remark"};
  MlirLocation location = mlirDiagnosticGetLocation(diagnostic);
  if (mlirLocationIsAFileLineColRange(location))
    fprintf(stderr, "%s:%d:%d", (const char *)name,
            mlirLocationFileLineColRangeGetStartLine(location),
            mlirLocationFileLineColRangeGetStartColumn(location));
  else
    mlirLocationPrint(location, printString, stderr);
  fprintf(stderr, ": %s: ", severities[mlirDiagnosticGetSeverity(diagnostic)]);
  mlirDiagnosticPrint(diagnostic, printString, stderr);
  fprintf(stderr, "\n");
  for (intptr_t i = 0; i < mlirDiagnosticGetNumNotes(diagnostic); ++i)
    report(mlirDiagnosticGetNote(diagnostic, i), name);
  return mlirLogicalResultSuccess();
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

static MlirContext createContext(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__gq__(), registry);
  MlirContext context =
      mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);
  mlirDialectRegistryDestroy(registry);
  return context;
}

/// The name is part of a docstring.
static const char *baseName(const char *path) {
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  return strpbrk(name, "\"\\\n") ? "a file" : name;
}

/// Translates a part of the source that has so many lines before it.
static bool translate(MlirContext context, const char *source, size_t length,
                      int numLines, const Options *options, gqText *program) {
  gqText padded = {0};
  for (int i = 0; i < numLines; ++i)
    gqTextAppend(&padded, "\n", 1);
  gqTextAppend(&padded, source, length);
  MlirModule module = mlirModuleCreateParse(
      context, mlirStringRefCreate(gqTextString(&padded), padded.length));
  bool valid = !mlirModuleIsNull(module) && !padded.failed &&
               pythonWrite(module, baseName(options->name), program);
  if (!mlirModuleIsNull(module))
    mlirModuleDestroy(module);
  gqTextFree(&padded);
  return valid;
}

/// The end of a part: where the next line "// -----" begins, or the end.
static const char *endOfPart(const char *source, const Options *options) {
  static const char separator[] = "\n// -----";
  const char *next = options->split ? strstr(source, separator) : NULL;
  return next ? next + 1 : source + strlen(source);
}

/// Writes the programs of all parts of the source, which ends in a null
/// character.
static bool translateAll(const char *source, const Options *options) {
  MlirContext context = createContext();
  mlirContextAttachDiagnosticHandler(context, report, (void *)options->name,
                                     NULL);
  bool allValid = true;
  int numLines = 0;
  for (const char *part = source, *end;; part = end) {
    end = endOfPart(part, options);
    gqText program = {0};
    bool valid = translate(context, part, (size_t)(end - part), numLines,
                           options, &program);
    if (valid)
      fputs(gqTextString(&program), stdout);
    allValid &= valid && !program.failed;
    gqTextFree(&program);
    for (const char *at = part; at < end; ++at)
      numLines += *at == '\n';
    if (!*end)
      break;
    puts("# -----");
  }
  mlirContextDestroy(context);
  return fflush(stdout) == 0 && allValid;
}

int gqTranslateMain(int argc, char **argv) {
  Options options = {0};
  int exitCode;
  if (!parseOptions(argc, argv, &options, &exitCode))
    return exitCode;
  char *source;
  size_t length;
  gqStatus status = strcmp(options.path, "-") == 0
                        ? fileReadAll(stdin, &source, &length)
                        : fileRead(options.path, &source, &length);
  if (status != GQ_OK) {
    fprintf(stderr, "gq-translate: %s: %s\n", options.path,
            gqGetLastErrorMessage());
    return EXIT_FAILURE;
  }
  bool valid = translateAll(source, &options);
  free(source);
  return valid ? EXIT_SUCCESS : EXIT_FAILURE;
}
