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
    "reads the standard input. What has no program, such as a function of\n"
    "several blocks, is an error at the op's location.\n"
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

/// What is being translated: a part of a file after so many lines.
typedef struct Part {
  const char *name;
  int numLines;
} Part;

/// Text that was parsed from memory has the file name "-".
static MlirLogicalResult report(MlirDiagnostic diagnostic, void *data) {
  const Part *part = data;
  static const char *const severities[] = {"error", "warning", "note",
                                           "remark"};
  MlirLocation location = mlirDiagnosticGetLocation(diagnostic);
  if (mlirLocationIsAFileLineColRange(location)) {
    // A module that is not written as one is at line 0.
    int line = mlirLocationFileLineColRangeGetStartLine(location);
    fprintf(stderr, "%s:%d:%d", part->name, part->numLines + line + !line,
            mlirLocationFileLineColRangeGetStartColumn(location) + !line);
  } else {
    mlirLocationPrint(location, printString, stderr);
  }
  fprintf(stderr, ": %s: ", severities[mlirDiagnosticGetSeverity(diagnostic)]);
  mlirDiagnosticPrint(diagnostic, printString, stderr);
  fprintf(stderr, "\n");
  for (intptr_t i = 0; i < mlirDiagnosticGetNumNotes(diagnostic); ++i)
    report(mlirDiagnosticGetNote(diagnostic, i), data);
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

static bool translate(MlirContext context, const char *source, size_t length,
                      const Options *options, gqText *program) {
  // What is parsed ends in a null character.
  gqText text = {0};
  gqTextAppend(&text, source, length);
  MlirModule module = mlirModuleCreateParse(
      context, mlirStringRefCreate(gqTextString(&text), text.length));
  bool valid = !mlirModuleIsNull(module) && !text.failed &&
               pythonWrite(module, baseName(options->name), program);
  if (!mlirModuleIsNull(module))
    mlirModuleDestroy(module);
  gqTextFree(&text);
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
  Part current = {options->name, 0};
  mlirContextAttachDiagnosticHandler(context, report, &current, NULL);
  bool allValid = true;
  for (const char *part = source, *end;; part = end) {
    end = endOfPart(part, options);
    gqText program = {0};
    bool valid =
        translate(context, part, (size_t)(end - part), options, &program);
    if (valid)
      fputs(gqTextString(&program), stdout);
    allValid &= valid && !program.failed;
    gqTextFree(&program);
    for (const char *at = part; at < end; ++at)
      current.numLines += *at == '\n';
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
