//===- api.c - arguments of the C API, under a fuzzer ---------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The input chooses a function and what it is called with: an op of
// gq/Runtime/Cpu.h, of which gq/Runtime/Ops.def has a row, on buffers of any
// type, rank, extents and strides; or gqInvoke on tensors. Extents are chosen
// among those that belong together and those that overflow. Every buffer has
// exactly the memory that its extents and strides name. A call succeeds, or
// says why it does not; a second one finds no failure pending.
//
//===----------------------------------------------------------------------===//

#include "Input.h"

#include "gq/Runtime/Cpu.h"
#include "gq/Runtime/Executable.h"

enum {
  MAX_OPERANDS = 32,
  MAX_BYTES = 1 << 18,
};

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// An attribute: an enumerator, one that is none, or any number.
static int32_t takeAttribute(Input *input) {
  uint8_t byte = takeByte(input);
  return byte < 0xf0 ? byte % 16 - 1 : (int32_t)takeInt(input);
}

/// Any op: its operands, its attributes and directions. More arguments than a
/// function has are passed in registers or on the stack, where it does not
/// look.
typedef void (*Op)(const void *operands, int32_t, int32_t, int32_t, int32_t,
                   int32_t, int32_t, int32_t, int32_t);

static const struct {
  void (*function)(void);
  size_t numOperands;
} ops[] = {
#define GQ_OP(OP, MNEMONIC)                                                    \
  {(void (*)(void))gqCpu##OP, sizeof(gq##OP##Operands) / sizeof(gqBuffer)},
#include "gq/Runtime/Ops.def"
};

enum { NUM_OPS = sizeof(ops) / sizeof(ops[0]) };

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// The sizes that a problem is made of.
typedef struct Sizes {
  int64_t m, n, k, g;
} Sizes;

static int64_t up(int64_t a, int64_t b) { return (a + b - 1) / b * b; }

static int64_t takeExtent(Input *input, const Sizes *s) {
  const int64_t blocks[] = {16, 32, 128};
  int64_t block = blocks[takeChoice(input, 3)];
  switch (takeChoice(input, 32)) {
  case 0:
    return s->m;
  case 1:
    return s->k;
  case 2:
    return s->k / 2;
  case 3:
    return s->k / block;
  case 4:
    return up(s->k / block, 4);
  case 5:
    return s->g;
  case 6:
    return s->g + 1;
  case 7:
    return s->n;
  case 8:
    return s->n / 2;
  case 9:
    return up(s->n, 128);
  case 10:
    return up(s->n, block) / block;
  case 11:
    return up(s->m, 128) * s->g;
  case 12:
    return s->k * up(s->m, 32) * s->g;
  case 13:
    return up(s->k, 128) * up(up(s->m, 32) / block, 4) * s->g;
  case 14:
    return s->m * s->k;
  case 15:
    return s->m / 2;
  case 16:
    return up(s->m, 128) / 128;
  case 17:
    return s->k / 2 * up(s->m, 32) * s->g;
  case 18:
    return 0;
  case 19:
    return 1;
  case 20:
    return -1;
  case 21:
    return INT64_MAX;
  case 22:
    return INT64_MIN;
  case 23:
    return INT64_MAX / 16 + 1;
  case 24:
    return s->m + 1;
  case 25:
    return s->k - 1;
  case 26:
    return (int64_t)1 << 32;
  default:
    return takeByte(input);
  }
}

/// The bytes from the first element to the end of the last one; -1 if there is
/// no such memory, as for extents that are negative or overflow.
static int64_t bytesOf(const gqBuffer *buffer, int64_t elementSize) {
  __int128 last = 0;
  for (int64_t i = 0; i < buffer->rank; ++i) {
    if (buffer->sizes[i] < 0 || buffer->strides[i] < 0)
      return -1;
    if (buffer->sizes[i] == 0)
      return 0;
    last += (__int128)(buffer->sizes[i] - 1) * buffer->strides[i];
    if (last > INT64_MAX / 16)
      return -1;
  }
  return ((int64_t)last + 1) * elementSize;
}

/// Numbers in increasing order, or any.
static void fill(char *data, int64_t bytes, int64_t elementSize,
                 const Sizes *sizes, Input *input) {
  uint8_t kind = takeByte(input);
  int64_t step = kind % 3 == 0   ? up(sizes->m, 128)
                 : kind % 3 == 1 ? sizes->m / (sizes->g ? sizes->g : 1)
                                 : takeByte(input);
  uint64_t state = kind;
  for (int64_t i = 0; i < bytes / elementSize; ++i) {
    int64_t value = i * step;
    if (kind >= 0xc0) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      value = (int64_t)(state >> (kind & 31));
    }
    memcpy(data + i * elementSize, &value, (size_t)elementSize);
  }
}

/// Chooses a buffer; false if it names more memory than there is to be had.
static bool takeBuffer(Input *input, const Sizes *sizes, gqBuffer *buffer,
                       void **memory) {
  *buffer = (gqBuffer){0};
  *memory = NULL;
  uint8_t kind = takeByte(input);
  if (kind % 4 == 0) // Absent.
    return true;
  buffer->type = takeChoice(input, 13);
  buffer->rank = takeChoice(input, 8);
  int64_t rank = buffer->rank > 3 ? 3 : buffer->rank;
  if (buffer->rank > 3)
    buffer->rank -= 4;
  rank = buffer->rank;
  int64_t stride = 1;
  for (int64_t i = 0; i < rank; ++i)
    buffer->sizes[i] = takeExtent(input, sizes);
  for (int64_t i = rank - 1; i >= 0; --i) {
    buffer->strides[i] = stride;
    if (__builtin_mul_overflow(stride, buffer->sizes[i], &stride))
      stride = INT64_MAX;
  }
  if (kind % 4 == 1 && rank > 0) { // Rows apart, or any strides.
    uint8_t at = takeByte(input) % (uint8_t)rank;
    buffer->strides[at] = takeExtent(input, sizes);
  }
  int64_t elementSize = gqElementTypeSize((gqElementType)buffer->type);
  elementSize = elementSize ? elementSize : 1;
  int64_t bytes = bytesOf(buffer, elementSize);
  if (bytes > MAX_BYTES)
    return false;
  // What no memory can be is refused before it is looked at.
  *memory = malloc(bytes > 0 ? (size_t)bytes : 1);
  if (bytes > 0)
    fill(*memory, bytes, elementSize, sizes, input);
  buffer->data = *memory;
  return true;
}

static void callOp(Input *input) {
  Sizes sizes = {takeByte(input), takeByte(input) % 80,
                 16 * (1 + takeByte(input) % 16), takeByte(input) % 6};
  uint32_t op = takeChoice(input, NUM_OPS);
  gqBuffer operands[MAX_OPERANDS];
  void *memory[MAX_OPERANDS] = {0};
  _Static_assert(sizeof(gqGroupedBlockQuantizeOperands) <= sizeof(operands),
                 "room for the op of most operands");
  bool possible = true;
  for (size_t i = 0; i < ops[op].numOperands && possible; ++i)
    possible = takeBuffer(input, &sizes, &operands[i], &memory[i]);
  if (possible) {
    int32_t a[8];
    for (int i = 0; i < 8; ++i)
      a[i] = takeAttribute(input);
    ((Op)ops[op].function)(operands, a[0], a[1], a[2], a[3], a[4], a[5], a[6],
                           a[7]);
    if (gqCpuStatus() != GQ_OK)
      expect(*gqGetLastErrorMessage() != '\0', "a message");
    expect(gqCpuStatus() == GQ_OK, "a failure to be told once");
  }
  for (size_t i = 0; i < ops[op].numOperands; ++i)
    free(memory[i]);
}

//===----------------------------------------------------------------------===//
// Compiled functions
//===----------------------------------------------------------------------===//

static const char *const texts[] = {
    "func.func @main(%x: tensor<?x64xbf16>, %o: tensor<?xi32>,\n"
    "    %q0: tensor<?x64xf4E2M1FN>,\n"
    "    %s0: tensor<?x4xf8E4M3FN, #gq.tile128x4>)\n"
    "    -> (tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>) {\n"
    "  %q, %s = gq.grouped_block_quantize format(nvfp4)\n"
    "      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<?xi32>)\n"
    "      outs(%q0, %s0 : tensor<?x64xf4E2M1FN>,\n"
    "           tensor<?x4xf8E4M3FN, #gq.tile128x4>)\n"
    "      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>\n"
    "  return %q, %s : tensor<?x64xf4E2M1FN>,\n"
    "                  tensor<?x4xf8E4M3FN, #gq.tile128x4>\n"
    "}\n",
    "func.func @main(%a: tensor<?x?xf32>, %b: i64, %c: f32)\n"
    "    -> (tensor<?x?xf32>, i64) {\n"
    "  return %a, %b : tensor<?x?xf32>, i64\n"
    "}\n",
    "func.func @main(%n: index) -> tensor<?x4xi8> {\n"
    "  %r = tensor.empty(%n) : tensor<?x4xi8>\n"
    "  return %r : tensor<?x4xi8>\n"
    "}\n",
};

enum {
  NUM_TEXTS = sizeof(texts) / sizeof(texts[0]),
  MAX_ARGUMENTS = 6,
};

static gqExecutable *executables[NUM_TEXTS];

static gqExecutable *takeExecutable(Input *input) {
  uint32_t index = takeChoice(input, NUM_TEXTS);
  gqCompileOptions options = {.cacheDir = ""};
  if (!executables[index])
    expect(gqCompile(texts[index], strlen(texts[index]), &options,
                     &executables[index]) == GQ_OK,
           "a module that compiles");
  return executables[index];
}

/// A tensor and its memory. Extents name at most a few kilobytes, or no memory
/// at all.
typedef struct Tensor {
  DLTensor dl;
  int64_t shape[12], strides[12];
  void *memory;
} Tensor;

static void takeTensor(Input *input, const Sizes *sizes, Tensor *tensor) {
  static const DLDataType dtypes[] = {
      {kDLFloat, 32, 1}, {kDLBfloat, 16, 1}, {kDLInt, 32, 1}, {kDLUInt, 8, 1},
      {kDLInt, 64, 1},   {kDLUInt, 16, 1},   {kDLInt, 8, 2},  {kDLFloat, 0, 1}};
  *tensor = (Tensor){0};
  uint8_t kind = takeByte(input);
  tensor->dl =
      (DLTensor){.device = {kind < 0xf0 ? kDLCPU : kDLCUDA, kind == 0xff},
                 .dtype = dtypes[takeChoice(input, 8)],
                 .shape = tensor->shape,
                 .ndim = kind < 0xe0 ? kind % 4 : 12};
  int64_t elements = 1;
  for (int i = 0; i < tensor->dl.ndim; ++i) {
    tensor->shape[i] = i == 1 && kind % 4 == 2 ? 64 : takeExtent(input, sizes);
    if (tensor->shape[i] < 0 ||
        __builtin_mul_overflow(elements, tensor->shape[i], &elements))
      elements = 0;
  }
  if (kind & 0x10) {
    tensor->dl.strides = tensor->strides;
    for (int i = 0; i < tensor->dl.ndim; ++i)
      tensor->strides[i] = takeExtent(input, sizes);
  }
  tensor->dl.byte_offset = kind & 0x20 ? 16 : 0;
  // More than that is claimed, and not looked at: gqInvoke reads no argument.
  int64_t bytes = elements <= MAX_BYTES / 8 ? elements * 8 : 0;
  tensor->memory = calloc(1, (size_t)bytes + 32);
  tensor->dl.data = tensor->memory;
  // Else generated code would run over what is not there.
  if (bytes == 0 && elements)
    tensor->dl.dtype.lanes = 3;
  int64_t size = gqElementTypeSize(GQ_I64);
  if (bytes)
    fill(tensor->memory, bytes,
         tensor->dl.dtype.bits >= 8 ? tensor->dl.dtype.bits / 8 : size, sizes,
         input);
}

static void callInvoke(Input *input) {
  Sizes sizes = {takeByte(input) % 64, takeByte(input), 64,
                 takeByte(input) % 6};
  gqExecutable *executable = takeExecutable(input);
  Tensor tensors[MAX_ARGUMENTS];
  DLTensor *inputs[MAX_ARGUMENTS];
  DLManagedTensor *outputs[MAX_ARGUMENTS];
  size_t numInputs = takeChoice(input, MAX_ARGUMENTS);
  size_t numOutputs = takeChoice(input, MAX_ARGUMENTS);
  for (size_t i = 0; i < numInputs; ++i) {
    takeTensor(input, &sizes, &tensors[i]);
    inputs[i] = &tensors[i].dl;
  }
  const char *names[] = {NULL, "main", "", "_mlir_ciface_main"};
  const char *name = names[takeChoice(input, 4)];
  const gqSignature *signature;
  // A right number of arguments more often than chance has it.
  if (gqExecutableGetSignature(executable, name, &signature) == GQ_OK &&
      takeByte(input) % 4) {
    for (; numInputs < (size_t)signature->numInputs; ++numInputs) {
      takeTensor(input, &sizes, &tensors[numInputs]);
      inputs[numInputs] = &tensors[numInputs].dl;
    }
    numOutputs = (size_t)signature->numResults;
  }
  // tensor.empty of any extent: memory runs out, or it is there.
  gqStatus status =
      gqInvoke(executable, name, inputs, numInputs, outputs, numOutputs);
  expect(status == GQ_OK || *gqGetLastErrorMessage(), "a message");
  for (size_t i = 0; i < numOutputs; ++i) {
    expect((outputs[i] != NULL) == (status == GQ_OK), "all results or none");
    if (outputs[i])
      outputs[i]->deleter(outputs[i]);
  }
  for (size_t i = 0; i < numInputs; ++i)
    free(tensors[i].memory);
}

static void callNames(Input *input) {
  int32_t number = (int32_t)takeInt(input);
  expect(gqStatusName((gqStatus)number) != NULL, "a name");
  expect(gqElementTypeName((gqElementType)number) != NULL, "a name");
  gqElementTypeSize((gqElementType)number);
  gqFormatTraits traits;
  if (gqFormatFind(number, &traits))
    expect(traits.name != NULL, "a name");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Input input = {data, size};
  switch (takeChoice(&input, 8)) {
  case 0:
    callNames(&input);
    break;
  case 1:
  case 2:
    callInvoke(&input);
    break;
  default:
    callOp(&input);
  }
  return 0;
}
