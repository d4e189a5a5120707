//===- mlir.c - parser, verifiers and passes, under a fuzzer --------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The input is a module, whose first line may name passes, `// passes: a,b`. It
// is parsed and verified and goes through the passes, in this order; whatever
// comes, nothing crashes, and what passes leave is a module that verifies.
//
// The mutator knows what MLIR with gq ops looks like: it changes an extent, an
// element type, the value of a clause to another that it has seen in that
// clause, a value to another one, drops or repeats clauses and lines, and makes
// up lists of passes. It begins with the modules of test/lit, so an op is
// entered by its tests there, an enumerator too, and a pass by its row in
// Passes.td.
//
//===----------------------------------------------------------------------===//

#include "Input.h"

#include "gq-c/Dialect.h"
#include "gq-c/Passes.h"
#include "gq/Runtime/Types.h"
#include "lib/Compiler/Source.h"

#include <ctype.h>
#include <mlir-c/Diagnostics.h>
#include <mlir-c/Pass.h>
#include <mlir-c/RegisterEverything.h>

/// All of Passes.td, the pipelines, and those of upstream that stand between.
static const char *const passes[] = {
#include "passes.inc"
    "gq-to-cpu",
    "gq-to-cpu{fuse=false}",
    "gq-to-nvvm{chip=sm_90a format=isa}",
    "gq-to-nvvm{chip=sm_90a format=isa fuse-quantization}",
    "canonicalize",
    "cse",
    "func.func(convert-elementwise-to-linalg)",
    // clang-format off
    "one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map}",
    // clang-format on
};

enum {
  NUM_PASSES = sizeof(passes) / sizeof(passes[0]),
  MAX_PASSES = 6,
  MAX_TEXT = 1 << 14,
  /// A context keeps every type and attribute it has seen.
  INPUTS_PER_CONTEXT = 100,
};

static const char passesMark[] = "// passes: ";

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static void printText(MlirStringRef text, void *data) {
  (void)data;
  fwrite(text.data, 1, text.length, stderr);
}

static MlirLogicalResult countDiagnostic(MlirDiagnostic diagnostic,
                                         void *count) {
  if (mlirDiagnosticGetSeverity(diagnostic) != MlirDiagnosticError)
    return mlirLogicalResultSuccess();
  ++*(int *)count;
  // To see what an input does.
  if (getenv("GQ_FUZZ_PRINT")) {
    mlirDiagnosticPrint(diagnostic, printText, NULL);
    fputc('\n', stderr);
  }
  return mlirLogicalResultSuccess();
}

static MlirContext createContext(int *errors) {
  static bool registered = false;
  if (!registered) {
    mlirRegisterAllPasses();
    gqRegisterPasses();
  }
  registered = true;
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  mlirDialectHandleInsertDialect(mlirGetDialectHandle__gq__(), registry);
  MlirContext context =
      mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);
  mlirDialectRegistryDestroy(registry);
  mlirRegisterAllLLVMTranslations(context);
  mlirContextAttachDiagnosticHandler(context, countDiagnostic, errors, NULL);
  return context;
}

static void ignoreText(MlirStringRef text, void *data) {
  (void)text;
  (void)data;
}

/// Runs passes that are known; whether they were known and succeeded.
static bool runPasses(MlirModule module, const char *pipeline) {
  MlirPassManager manager = mlirPassManagerCreate(mlirModuleGetContext(module));
  bool success = mlirLogicalResultIsSuccess(mlirOpPassManagerAddPipeline(
      mlirPassManagerGetAsOpPassManager(manager),
      mlirStringRefCreateFromCString(pipeline), ignoreText, NULL));
  if (success)
    success = mlirLogicalResultIsSuccess(
        mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module)));
  mlirPassManagerDestroy(manager);
  return success;
}

static bool isPass(const char *name, size_t length) {
  for (int i = 0; i < NUM_PASSES; ++i)
    if (strlen(passes[i]) == length && memcmp(passes[i], name, length) == 0)
      return true;
  return false;
}

/// Splits the list of the first line at the commas between passes, and keeps
/// the passes that are known.
static void takePipeline(const char *text, char pipeline[512]) {
  strcpy(pipeline, "gq-to-cpu");
  if (strncmp(text, passesMark, strlen(passesMark)) != 0)
    return;
  *pipeline = '\0';
  const char *at = text + strlen(passesMark), *end = strchr(at, '\n');
  end = end ? end : at + strlen(at);
  for (int count = 0; at < end && count < MAX_PASSES; ++count) {
    const char *comma = memchr(at, ',', (size_t)(end - at));
    size_t length = (size_t)((comma ? comma : end) - at);
    if (isPass(at, length))
      snprintf(pipeline + strlen(pipeline), 512 - strlen(pipeline), "%s%.*s",
               *pipeline ? "," : "", (int)length, at);
    at += length + 1;
  }
}

static void runText(const char *text, size_t length) {
  static MlirContext context;
  static int inputs, errors;
  if (inputs++ % INPUTS_PER_CONTEXT == 0) {
    if (inputs > 1)
      mlirContextDestroy(context);
    context = createContext(&errors);
  }
  // Inputs that gqCompile refuses before MLIR sees them.
  if (gqSourceRefuse(text, length))
    return;
  errors = 0;
  MlirModule module =
      mlirModuleCreateParse(context, mlirStringRefCreate(text, length));
  if (mlirModuleIsNull(module)) {
    expect(errors > 0, "a diagnostic");
    return;
  }
  char pipeline[512];
  takePipeline(text, pipeline);
  if (gqSourceCheck(module)) {
    errors = 0;
    if (runPasses(module, pipeline))
      expect(mlirOperationVerify(mlirModuleGetOperation(module)),
             "a module that verifies");
    else
      expect(errors > 0, "a diagnostic of the passes");
  }
  mlirModuleDestroy(module);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  memcpy(text, data, size);
  text[size] = '\0';
  // A null character ends MLIR's text, and is nothing that passes see.
  if (strlen(text) == size && size <= MAX_TEXT)
    runText(text, size);
  free(text);
  return 0;
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

/// A part of the text.
typedef struct Span {
  size_t start, length;
} Span;

static bool isWord(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/// Values that clauses have had: `format(nvfp4)`, `rounding = nearest`.
static struct {
  char clause[32], value[32];
} seen[1024];
static int numSeen;

static void remember(const char *clause, size_t clauseLength, const char *value,
                     size_t valueLength) {
  if (clauseLength >= 32 || valueLength >= 32 || numSeen == 1024)
    return;
  for (int i = 0; i < numSeen; ++i)
    if (strlen(seen[i].clause) == clauseLength &&
        strlen(seen[i].value) == valueLength &&
        memcmp(seen[i].clause, clause, clauseLength) == 0 &&
        memcmp(seen[i].value, value, valueLength) == 0)
      return;
  memcpy(seen[numSeen].clause, clause, clauseLength);
  memcpy(seen[numSeen++].value, value, valueLength);
}

/// Finds the word after `clause(` or `clause = ` at or after `from`; false if
/// there is none.
static bool findValue(const char *text, size_t size, size_t from, Span *clause,
                      Span *value) {
  for (size_t at = from; at + 2 < size; ++at) {
    if (!isWord(text[at]) || isdigit((unsigned char)text[at]))
      continue;
    size_t start = at;
    while (at < size && isWord(text[at]))
      ++at;
    *clause = (Span){start, at - start};
    size_t next = at;
    if (next < size && text[next] == '(')
      ++next;
    else if (next + 3 < size && memcmp(text + next, " = ", 3) == 0)
      next += 3;
    else
      continue;
    size_t end = next;
    while (end < size && isWord(text[end]))
      ++end;
    if (end == next || isdigit((unsigned char)text[next]))
      continue;
    *value = (Span){next, end - next};
    return true;
  }
  return false;
}

/// Finds the `which`-th thing that `find` knows, counted anew from the start.
typedef bool (*Find)(const char *text, size_t size, size_t from, Span *span);

static bool findExtent(const char *text, size_t size, size_t from, Span *span) {
  for (size_t at = from; at < size; ++at) {
    if (!isdigit((unsigned char)text[at]) && text[at] != '?')
      continue;
    if (at && (isWord(text[at - 1]) || text[at - 1] == '%') &&
        text[at - 1] != 'x')
      continue;
    size_t end = at + 1;
    while (end < size && isdigit((unsigned char)text[end]))
      ++end;
    *span = (Span){at, end - at};
    return true;
  }
  return false;
}

static bool findElement(const char *text, size_t size, size_t from,
                        Span *span) {
  for (size_t at = from; at + 1 < size; ++at) {
    if (text[at] != 'x' && text[at] != '<')
      continue;
    size_t end = at + 1;
    while (end < size && isalnum((unsigned char)text[end]))
      ++end;
    if (end == at + 1 || isdigit((unsigned char)text[at + 1]) ||
        (end < size && text[end] != '>' && text[end] != ','))
      continue;
    *span = (Span){at + 1, end - at - 1};
    return true;
  }
  return false;
}

static bool findName(const char *text, size_t size, size_t from, Span *span) {
  for (size_t at = from; at + 1 < size; ++at) {
    if (text[at] != '%')
      continue;
    size_t end = at + 1;
    while (end < size && isWord(text[end]))
      ++end;
    *span = (Span){at, end - at};
    return end > at + 1;
  }
  return false;
}

/// `word(...)` without parentheses in it.
static bool findClause(const char *text, size_t size, size_t from, Span *span) {
  for (size_t at = from; at + 1 < size; ++at) {
    if (text[at] != '(' || !at || !isWord(text[at - 1]))
      continue;
    size_t start = at, end = at + 1;
    while (start && isWord(text[start - 1]))
      --start;
    while (end < size && text[end] != ')' && text[end] != '(')
      ++end;
    if (end == size || text[end] == '(')
      continue;
    *span = (Span){start, end + 1 - start};
    return true;
  }
  return false;
}

static bool findLine(const char *text, size_t size, size_t from, Span *span) {
  const char *newline =
      from < size ? memchr(text + from, '\n', size - from) : NULL;
  if (!newline)
    return false;
  *span = (Span){from, (size_t)(newline - text) + 1 - from};
  return true;
}

/// Any of the things that `find` finds.
static bool findAny(const char *text, size_t size, unsigned *seed, Find find,
                    Span *span) {
  uint32_t count = 0;
  Span found;
  for (size_t at = 0; find(text, size, at, &found);
       at = found.start + found.length)
    if (nextRandom(seed, ++count) == 0)
      *span = found;
  return count > 0;
}

//===----------------------------------------------------------------------===//
// Mutations
//===----------------------------------------------------------------------===//

/// Puts `text` in the place of a span, if there is room. Returns the new size.
static size_t replace(char *data, size_t size, size_t maxSize, Span span,
                      const char *text, size_t length) {
  if (size - span.length + length > maxSize)
    return size;
  memmove(data + span.start + length, data + span.start + span.length,
          size - span.start - span.length);
  memcpy(data + span.start, text, length);
  return size - span.length + length;
}

static size_t changeExtent(char *data, size_t size, size_t maxSize,
                           unsigned *seed) {
  static const char *const extents[] = {"?",
                                        "0",
                                        "1",
                                        "2",
                                        "3",
                                        "4",
                                        "8",
                                        "15",
                                        "16",
                                        "17",
                                        "32",
                                        "33",
                                        "64",
                                        "127",
                                        "128",
                                        "129",
                                        "256",
                                        "4096",
                                        "4294967296",
                                        "281474976710656",
                                        "9223372036854775807"};
  Span span;
  if (!findAny(data, size, seed, findExtent, &span))
    return size;
  const char *extent =
      extents[nextRandom(seed, sizeof(extents) / sizeof(*extents))];
  return replace(data, size, maxSize, span, extent, strlen(extent));
}

static size_t changeElement(char *data, size_t size, size_t maxSize,
                            unsigned *seed) {
  static const char *const others[] = {"f4E2M1FN", "index", "f8E5M2", "i128"};
  Span span;
  if (!findAny(data, size, seed, findElement, &span))
    return size;
  uint32_t type = nextRandom(seed, 16);
  const char *element =
      type < 12 ? gqElementTypeMnemonic(type) : others[type - 12];
  return replace(data, size, maxSize, span, element, strlen(element));
}

static size_t changeValue(char *data, size_t size, size_t maxSize,
                          unsigned *seed) {
  Span clause, value, span = {0, 0}, of = {0, 0};
  uint32_t count = 0;
  for (size_t at = 0; findValue(data, size, at, &clause, &value);
       at = value.start)
    if (nextRandom(seed, ++count) == 0)
      span = value, of = clause;
  uint32_t numChoices = 0;
  int choice = -1;
  for (int i = 0; i < numSeen; ++i)
    if (strlen(seen[i].clause) == of.length &&
        memcmp(seen[i].clause, data + of.start, of.length) == 0 &&
        nextRandom(seed, ++numChoices) == 0)
      choice = i;
  if (choice < 0)
    return size;
  return replace(data, size, maxSize, span, seen[choice].value,
                 strlen(seen[choice].value));
}

static size_t changeName(char *data, size_t size, size_t maxSize,
                         unsigned *seed) {
  Span from, to;
  char name[64];
  if (!findAny(data, size, seed, findName, &from) ||
      !findAny(data, size, seed, findName, &to) || from.length >= sizeof(name))
    return size;
  memcpy(name, data + from.start, from.length);
  return replace(data, size, maxSize, to, name, from.length);
}

static size_t dropOrRepeat(char *data, size_t size, size_t maxSize,
                           unsigned *seed) {
  Span span, to;
  char part[1024];
  Find find = nextRandom(seed, 2) ? findClause : findLine;
  if (!findAny(data, size, seed, find, &span) || span.length >= sizeof(part))
    return size;
  if (nextRandom(seed, 2))
    return replace(data, size, maxSize, span, "", 0);
  memcpy(part, data + span.start, span.length);
  if (!findAny(data, size, seed, find, &to))
    return size;
  to.length = nextRandom(seed, 2) ? to.length : 0;
  return replace(data, size, maxSize, to, part, span.length);
}

static size_t changePasses(char *data, size_t size, size_t maxSize,
                           unsigned *seed) {
  char line[512];
  Span old = {0, 0};
  if (size > strlen(passesMark) &&
      memcmp(data, passesMark, strlen(passesMark)) == 0)
    findLine(data, size, 0, &old);
  int length = snprintf(line, sizeof(line), "%s", passesMark);
  for (uint32_t i = 0, count = 1 + nextRandom(seed, MAX_PASSES); i < count; ++i)
    length += snprintf(line + length, sizeof(line) - (size_t)length, "%s%s",
                       i ? "," : "", passes[nextRandom(seed, NUM_PASSES)]);
  length += snprintf(line + length, sizeof(line) - (size_t)length, "\n");
  return replace(data, size, maxSize, old, line, (size_t)length);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                               unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                               unsigned seed) {
  static size_t (*const mutations[])(char *, size_t, size_t, unsigned *) = {
      changeExtent, changeExtent, changeElement, changeValue,
      changeValue,  changeName,   dropOrRepeat,  changePasses};
  char *text = (char *)data;
  Span clause, value;
  for (size_t at = 0; findValue(text, size, at, &clause, &value);
       at = value.start)
    remember(text + clause.start, clause.length, text + value.start,
             value.length);
  if (nextRandom(&seed, 32) == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  for (uint32_t i = 0, count = 1 + nextRandom(&seed, 4); i < count; ++i)
    size = mutations[nextRandom(&seed, 8)](text, size, maxSize, &seed);
  return size;
}
