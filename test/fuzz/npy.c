//===- npy.c - the reader of .npy files, under a fuzzer -------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The input is a file. What is read must be whole, and what is written of it
// must be read as the same.
//
//===----------------------------------------------------------------------===//

#include "Input.h"

#include "tools/gq-run/Npy.h"

static gqStatus readBytes(const void *data, size_t size, NpyArray *array) {
  FILE *file = fmemopen((void *)data, size, "rb");
  expect(file != NULL, "a stream");
  gqStatus status = npyRead(file, array);
  fclose(file);
  return status;
}

/// Where the data of a file begins that was read: it has no more of it.
static size_t dataStartOf(const uint8_t *file) {
  uint32_t length = (uint32_t)(file[8] | file[9] << 8);
  return file[6] == 1
             ? 10 + length
             : 12 + (length | (size_t)file[10] << 16 | (size_t)file[11] << 24);
}

static void check(const NpyArray *array, const uint8_t *file, size_t fileSize) {
  size_t size = array->dtype.bits / 8;
  expect(array->rank >= 0 && array->rank <= NPY_MAX_RANK, "a rank");
  for (int i = 0; i < array->rank; ++i) {
    expect(array->shape[i] >= 0, "an extent");
    size *= (size_t)array->shape[i];
  }
  expect(size == array->size, "the size of the shape");
  expect(dataStartOf(file) + size <= fileSize, "data that is in the file");
  volatile uint8_t sum = 0;
  for (size_t i = 0; i < size; ++i)
    sum += ((const uint8_t *)array->data)[i];
}

static void writeAndRead(const NpyArray *array) {
  DLTensor tensor = {.data = array->data,
                     .device = {kDLCPU, 0},
                     .ndim = array->rank,
                     .dtype = array->dtype,
                     .shape = (int64_t *)array->shape};
  char *text = NULL;
  size_t length = 0;
  FILE *file = open_memstream(&text, &length);
  gqStatus status = npyWrite(file, &tensor);
  fclose(file);
  expect(status == GQ_OK, "an array that can be written");
  NpyArray again;
  expect(readBytes(text, length, &again) == GQ_OK, "what was written");
  expect(again.rank == array->rank && again.size == array->size &&
             memcmp(again.shape, array->shape,
                    sizeof(again.shape[0]) * (size_t)array->rank) == 0 &&
             memcmp(again.data, array->data, array->size) == 0,
         "the same array");
  free(again.data);
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  NpyArray array;
  if (size == 0)
    return 0;
  if (readBytes(data, size, &array) != GQ_OK) {
    expect(*gqGetLastErrorMessage() != '\0', "a message");
    return 0;
  }
  check(&array, data, size);
  writeAndRead(&array);
  free(array.data);
  return 0;
}

//===----------------------------------------------------------------------===//
// Files with a header
//===----------------------------------------------------------------------===//

static const char *const descrs[] = {"|b1", "|u1", "|i1", "<u2", "<f4",
                                     "<i8", "<f8", "|V2", ">f4", "x"};
static const char *const extents[] = {"0",
                                      "1",
                                      "2",
                                      "3",
                                      "16",
                                      "4294967296",
                                      "4611686018427387904",
                                      "9223372036854775807",
                                      "9223372036854775808",
                                      "-1",
                                      "0x10",
                                      ""};
static const char *const bools[] = {"False", "True", "0"};

#define PICK(SEED, LIST)                                                       \
  (LIST)[nextRandom(SEED, sizeof(LIST) / sizeof((LIST)[0]))]

/// Writes a file whose header may say anything; returns its length.
static size_t writeFile(uint8_t *data, size_t maxSize, unsigned *seed) {
  char text[512];
  int length = snprintf(
      text, sizeof(text), "{'descr': '%s', 'fortran_order': %s, 'shape': (",
      PICK(seed, descrs), nextRandom(seed, 4) ? "False" : PICK(seed, bools));
  int rank = (int)nextRandom(seed, nextRandom(seed, 8) ? 4 : 34);
  for (int i = 0; i < rank; ++i)
    length += snprintf(text + length, sizeof(text) - (size_t)length, "%s,",
                       nextRandom(seed, 3) ? extents[1 + nextRandom(seed, 3)]
                                           : PICK(seed, extents));
  length += snprintf(text + length, sizeof(text) - (size_t)length, "), }\n");
  bool isLong = nextRandom(seed, 2);
  uint8_t start[12] = {0x93,
                       'N',
                       'U',
                       'M',
                       'P',
                       'Y',
                       isLong ? 2 : 1,
                       0,
                       (uint8_t)length,
                       (uint8_t)(length >> 8),
                       0,
                       0};
  size_t startSize = isLong ? 12 : 10, size = startSize + (size_t)length;
  size_t rest = nextRandom(seed, 200);
  if (size + rest > maxSize)
    return 0;
  memcpy(data, start, startSize);
  memcpy(data + startSize, text, (size_t)length);
  memset(data + size, 0x5a, rest);
  return size + rest;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                               unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                               unsigned seed) {
  size_t written = 0;
  if (nextRandom(&seed, 4) == 0)
    written = writeFile(data, maxSize, &seed);
  return written ? written : LLVMFuzzerMutate(data, size, maxSize);
}
