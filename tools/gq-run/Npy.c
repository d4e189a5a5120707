//===- Npy.c - numpy's .npy files -----------------------------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Npy.h"

#include "tools/common/File.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/// DLPack 1.1's code of bool, which older headers lack.
enum { DL_BOOL = 6 };

static const char magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

/// The dtypes that can be read. The first of those with the same DLDataType is
/// how it is written.
static const struct {
  const char *descr;
  DLDataType dtype;
} dtypes[] = {
    {"|b1", {DL_BOOL, 8, 1}},   {"|u1", {kDLUInt, 8, 1}},
    {"|i1", {kDLInt, 8, 1}},    {"|V1", {kDLUInt, 8, 1}},
    {"<u2", {kDLUInt, 16, 1}},  {"<i2", {kDLInt, 16, 1}},
    {"<f2", {kDLFloat, 16, 1}}, {"<V2", {kDLUInt, 16, 1}},
    {"|V2", {kDLUInt, 16, 1}},  {"<i4", {kDLInt, 32, 1}},
    {"<f4", {kDLFloat, 32, 1}}, {"<i8", {kDLInt, 64, 1}},
    {"<f8", {kDLFloat, 64, 1}},
};
enum { NUM_DTYPES = sizeof(dtypes) / sizeof(dtypes[0]) };

//===----------------------------------------------------------------------===//
// The header, a Python dictionary
//===----------------------------------------------------------------------===//

/// A position in the header. After the first mismatch nothing matches.
typedef struct Parser {
  const char *at;
  const char *end;
  bool failed;
} Parser;

static void skipSpace(Parser *parser) {
  while (parser->at < parser->end &&
         (*parser->at == ' ' || *parser->at == '\t' || *parser->at == '\n'))
    ++parser->at;
}

static bool accept(Parser *parser, const char *token) {
  skipSpace(parser);
  size_t length = strlen(token);
  if (parser->failed || (size_t)(parser->end - parser->at) < length ||
      memcmp(parser->at, token, length) != 0)
    return false;
  parser->at += length;
  return true;
}

static void expect(Parser *parser, const char *token) {
  if (!accept(parser, token))
    parser->failed = true;
}

/// Parses a string without escapes into `text`, cut to its size.
static void parseString(Parser *parser, char *text, size_t size) {
  const char *quote = accept(parser, "'") ? "'" : "\"";
  if (*quote == '"')
    expect(parser, quote);
  size_t length = 0;
  for (; parser->at < parser->end && *parser->at != *quote; ++parser->at)
    if (length + 1 < size)
      text[length++] = *parser->at;
  text[length] = '\0';
  expect(parser, quote);
}

static bool parseBool(Parser *parser) {
  bool value = accept(parser, "True");
  if (!value)
    expect(parser, "False");
  return value;
}

/// Parses an extent. The header ends in a null character, so strtoll stops.
static int64_t parseExtent(Parser *parser) {
  char *end;
  skipSpace(parser);
  errno = 0;
  long long value = strtoll(parser->at, &end, 10);
  if (end == parser->at || end > parser->end || errno || value < 0)
    parser->failed = true;
  parser->at = end;
  return value;
}

static void parseShape(Parser *parser, NpyArray *array) {
  expect(parser, "(");
  while (!parser->failed && !accept(parser, ")")) {
    if (array->rank == NPY_MAX_RANK) {
      parser->failed = true;
      return;
    }
    array->shape[array->rank++] = parseExtent(parser);
    if (!accept(parser, ",")) {
      expect(parser, ")");
      return;
    }
  }
}

/// What a header says besides the shape.
typedef struct Header {
  /// Empty if the dtype is no simple one.
  char descr[16];
  bool isFortran;
} Header;

static bool parseHeader(const char *text, size_t length, Header *header,
                        NpyArray *array) {
  Parser parser = {text, text + length, false};
  bool hasDescr = false, hasOrder = false, hasShape = false;
  expect(&parser, "{");
  while (!parser.failed && !accept(&parser, "}")) {
    char key[16];
    parseString(&parser, key, sizeof(key));
    expect(&parser, ":");
    if (!hasDescr && strcmp(key, "descr") == 0) {
      hasDescr = true;
      if (accept(&parser, "["))
        return true; // A structured dtype: all else follows from that.
      parseString(&parser, header->descr, sizeof(header->descr));
    } else if (!hasOrder && strcmp(key, "fortran_order") == 0) {
      hasOrder = true;
      header->isFortran = parseBool(&parser);
    } else if (!hasShape && strcmp(key, "shape") == 0) {
      hasShape = true;
      parseShape(&parser, array);
    } else {
      return false;
    }
    if (!accept(&parser, ",")) {
      expect(&parser, "}");
      break;
    }
  }
  return !parser.failed && hasDescr && hasOrder && hasShape;
}

static gqStatus findDtype(const char *descr, DLDataType *dtype) {
  for (int i = 0; i < NUM_DTYPES; ++i) {
    if (strcmp(dtypes[i].descr, descr) != 0)
      continue;
    *dtype = dtypes[i].dtype;
    return GQ_OK;
  }
  if (*descr == '>')
    return gqFail(GQ_IO_ERROR, "dtype '%s' is big-endian", descr);
  return gqFail(GQ_IO_ERROR, "unsupported dtype '%s'",
                *descr ? descr : "structured");
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static uint32_t readLittleEndian(const char *bytes, int count) {
  uint32_t value = 0;
  for (int i = 0; i < count; ++i)
    value |= (uint32_t)(unsigned char)bytes[i] << (8 * i);
  return value;
}

/// Finds the header: magic, version, its length in two bytes (version 1) or
/// four, and its text. `*dataStart` is where it ends.
static gqStatus findHeader(const char *content, size_t length,
                           size_t *headerStart, size_t *dataStart) {
  if (length < sizeof(magic) || memcmp(content, magic, sizeof(magic)) != 0)
    return gqFail(GQ_IO_ERROR, "not a .npy file");
  *headerStart = *dataStart = length;
  if (length >= 12) {
    int major = (unsigned char)content[6];
    if (major < 1 || major > 3)
      return gqFail(GQ_IO_ERROR, "unknown .npy version %d", major);
    int lengthBytes = major == 1 ? 2 : 4;
    *headerStart = 8 + (size_t)lengthBytes;
    *dataStart = *headerStart + readLittleEndian(content + 8, lengthBytes);
  }
  if (length < 12 || length < *dataStart)
    return gqFail(GQ_IO_ERROR, "truncated: the file ends in its header");
  return GQ_OK;
}

static bool computeSize(NpyArray *array) {
  array->size = array->dtype.bits / 8;
  bool overflow = false;
  // An empty array has no size to overflow, in whatever order its extents are.
  for (int i = 0; i < array->rank; ++i)
    if (array->shape[i] == 0)
      array->size = 0;
  for (int i = 0; i < array->rank; ++i)
    overflow |=
        __builtin_mul_overflow(array->size, array->shape[i], &array->size);
  return !overflow;
}

/// Fills `array` from the content of a file, of which it makes the data.
static gqStatus parseContent(char *content, size_t length, NpyArray *array) {
  size_t headerStart = 0, dataStart = 0;
  gqStatus status = findHeader(content, length, &headerStart, &dataStart);
  if (status != GQ_OK)
    return status;
  Header header = {0};
  if (!parseHeader(content + headerStart, dataStart - headerStart, &header,
                   array))
    return gqFail(GQ_IO_ERROR, "the header cannot be parsed");
  status = findDtype(header.descr, &array->dtype);
  if (status != GQ_OK)
    return status;
  if (header.isFortran)
    return gqFail(GQ_IO_ERROR, "the array is in Fortran order; save what "
                               "numpy.ascontiguousarray makes of it");
  if (!computeSize(array) || array->size > length - dataStart)
    return gqFail(GQ_IO_ERROR,
                  "truncated: the file has %zu bytes of data, fewer than its "
                  "header says",
                  length - dataStart);
  memmove(content, content + dataStart, array->size);
  array->data = content;
  return GQ_OK;
}

gqStatus npyRead(FILE *file, NpyArray *array) {
  *array = (NpyArray){0};
  char *content;
  size_t length;
  gqStatus status = fileReadAll(file, &content, &length);
  if (status != GQ_OK)
    return status;
  status = parseContent(content, length, array);
  if (status != GQ_OK)
    free(content);
  return status;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// The bits of a stored element: two packed codes of f4 are one.
static int bitsOf(DLDataType dtype) { return dtype.bits * dtype.lanes; }

static const char *descrOf(DLDataType dtype) {
  if (bitsOf(dtype) == 8 && dtype.code != DL_BOOL)
    return "|u1";
  for (int i = 0; i < NUM_DTYPES; ++i)
    if (dtypes[i].dtype.code == dtype.code &&
        dtypes[i].dtype.bits == bitsOf(dtype))
      return dtypes[i].descr;
  return "<u2"; // bfloat16, the only one left.
}

/// Writes version 1: the header is padded with spaces so that the data starts
/// at a multiple of 64.
static void writeHeader(FILE *file, const DLTensor *tensor) {
  char text[1024];
  int length = snprintf(text, sizeof(text),
                        "{'descr': '%s', 'fortran_order': False, 'shape': (",
                        descrOf(tensor->dtype));
  // As NumPy writes it, so that equal arrays are equal files: (2,), (2, 3).
  for (int i = 0; i < tensor->ndim; ++i)
    length += snprintf(text + length, sizeof(text) - length, "%s%" PRId64,
                       i ? ", " : "", tensor->shape[i]);
  length += snprintf(text + length, sizeof(text) - length, "%s), }",
                     tensor->ndim == 1 ? "," : "");
  int padded = (10 + length + 1 + 63) / 64 * 64 - 10;
  fwrite(magic, sizeof(magic), 1, file);
  fwrite((char[]){1, 0, (char)(padded & 0xff), (char)(padded >> 8)}, 4, 1,
         file);
  fprintf(file, "%s%*s\n", text, padded - length - 1, "");
}

gqStatus npyWrite(FILE *file, const DLTensor *tensor) {
  size_t size = bitsOf(tensor->dtype) / 8;
  for (int i = 0; i < tensor->ndim; ++i)
    size *= tensor->shape[i];
  writeHeader(file, tensor);
  fwrite((char *)tensor->data + tensor->byte_offset, 1, size, file);
  if (ferror(file))
    return gqFail(GQ_IO_ERROR, "%s", strerror(errno));
  return GQ_OK;
}
