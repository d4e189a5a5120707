//===- Signature.c - signatures as text -----------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Signature.h"

#include <stdlib.h>
#include <string.h>

void gqTypeWrite(gqText *text, const gqType *type) {
  gqTextPrintf(text, "%d %d", (int)type->type, type->rank);
  for (int32_t i = 0; i < type->rank; ++i)
    gqTextPrintf(text, " %lld", (long long)type->sizes[i]);
}

/// A position in the text. After the first thing that is not as expected,
/// everything reads as zero.
typedef struct Reader {
  const char *at;
  bool failed;
} Reader;

static int64_t readNumber(Reader *reader, int64_t min, int64_t max) {
  char *end;
  long long value = strtoll(reader->at, &end, 10);
  if (end == reader->at || value < min || value > max)
    reader->failed = true;
  reader->at = end;
  return reader->failed ? 0 : value;
}

/// Bounds what a count in the text can make us allocate.
static int32_t readCount(Reader *reader) {
  return (int32_t)readNumber(reader, 0, 1 << 20);
}

static char *readName(Reader *reader) {
  size_t length = (size_t)readCount(reader);
  if (reader->failed || strnlen(reader->at, length + 1) != length + 1) {
    reader->failed = true;
    return NULL;
  }
  char *name = strndup(reader->at + 1, length);
  reader->at += length + 1;
  return name;
}

static gqType readType(Reader *reader) {
  gqType type = {0};
  type.type = (gqElementType)readNumber(reader, GQ_I1, GQ_F8E8M0FNU);
  type.rank = (int32_t)readNumber(reader, -1, GQ_MAX_RANK);
  for (int32_t i = 0; i < type.rank; ++i)
    type.sizes[i] = readNumber(reader, -1, INT64_MAX);
  return type;
}

static void readFunction(Reader *reader, gqSignature *signature) {
  signature->name = readName(reader);
  int32_t numInputs = readCount(reader);
  int32_t numResults = readCount(reader);
  // One more than needed: calloc(0) may return null.
  gqType *inputs = calloc((size_t)numInputs + 1, sizeof(gqType));
  gqType *results = calloc((size_t)numResults + 1, sizeof(gqType));
  int32_t *sources = calloc((size_t)numResults + 1, sizeof(int32_t));
  bool *written = calloc((size_t)numInputs + 1, sizeof(bool));
  signature->inputs = inputs;
  signature->results = results;
  signature->sources = sources;
  signature->written = written;
  if (!signature->name || !inputs || !results || !sources || !written) {
    reader->failed = true;
    return;
  }
  signature->numInputs = numInputs;
  signature->numResults = numResults;
  for (int32_t i = 0; i < numInputs; ++i) {
    inputs[i] = readType(reader);
    written[i] = readNumber(reader, 0, 1);
  }
  for (int32_t i = 0; i < numResults; ++i) {
    results[i] = readType(reader);
    sources[i] = (int32_t)readNumber(reader, -1, numInputs - 1);
  }
}

gqStatus gqSignaturesParse(const char *text, gqSignatures *signatures) {
  Reader reader = {text, false};
  int32_t count = readCount(&reader);
  signatures->count = 0;
  signatures->functions = calloc((size_t)count + 1, sizeof(gqSignature));
  if (!signatures->functions)
    return gqFail(GQ_OUT_OF_MEMORY, "out of memory");
  while (!reader.failed && signatures->count < count)
    readFunction(&reader, &signatures->functions[signatures->count++]);
  if (!reader.failed)
    return GQ_OK;
  gqSignaturesFree(signatures);
  return gqFail(GQ_COMPILE_ERROR, "the module's signatures are unreadable");
}

void gqSignaturesFree(gqSignatures *signatures) {
  for (int32_t i = 0; i < signatures->count; ++i) {
    const gqSignature *signature = &signatures->functions[i];
    free((void *)signature->name);
    free((void *)signature->inputs);
    free((void *)signature->results);
    free((void *)signature->sources);
    free((void *)signature->written);
  }
  free(signatures->functions);
  *signatures = (gqSignatures){0};
}

int32_t gqSignatureCountFresh(const gqSignature *signature) {
  int32_t count = 0;
  for (int32_t i = 0; i < signature->numResults; ++i)
    count += signature->sources[i] < 0;
  return count;
}
