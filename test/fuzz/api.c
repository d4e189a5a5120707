//===- api.c - arguments of the C API, under a fuzzer ---------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The input chooses a function and what it is called with. An op of
// gq/Runtime/Ops.def is called with a sound problem (Problems.h), of which some
// fields are then changed: a type, an extent, a stride, an offset, an
// attribute, the memory itself. Every buffer has exactly the memory that its
// extents and strides name. A sound call succeeds; any other succeeds too, or
// says why it does not and has written nothing. Nothing but the elements of
// what an op writes changes. gqInvoke is called with tensors of any kind.
//
//===----------------------------------------------------------------------===//

#include "Problems.h"

#include "gq/Runtime/Executable.h"

enum { MAX_BYTES = 1 << 19 };

static int64_t up(int64_t a, int64_t b) { return (a + b - 1) / b * b; }

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// A number in the place of `value`.
static int64_t takeInstead(Input *input, int64_t value) {
  static const int64_t numbers[] = {
      0,         1,         2,         -1,        3,
      16,        32,        127,       128,       129,
      INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, INT64_MAX / 16 + 1,
  };
  enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };
  uint32_t choice = takeChoice(input, 2 * NUMBERS);
  if (choice < NUMBERS)
    return numbers[choice];
  uint8_t byte = takeByte(input);
  if (choice < NUMBERS + 4)
    return (int64_t)1 << byte % 63;
  // Little more, little less, a multiple, a part.
  uint64_t bits = (uint64_t)value;
  return choice < NUMBERS + 8    ? (int64_t)(bits + 1 + byte % 4)
         : choice < NUMBERS + 12 ? (int64_t)(bits - 1 - byte % 4)
         : choice < NUMBERS + 13 ? (int64_t)(bits * (byte % 8))
         : choice < NUMBERS + 14 ? (int64_t)(bits + byte)
                                 : value / (1 + byte % 8);
}

/// A problem that is sound, or was.
typedef struct Spoilt {
  const Op *op;
  Problem problem;
  bool isSound;
  /// Two operands in the same memory, if they differ.
  size_t same[2];
  /// Whether one of them is written, and the other has bytes of it.
  bool overlaps;
} Spoilt;

/// An operand that is there, if the one that is chosen is followed by any.
static size_t takeOperand(Input *input, const Spoilt *s) {
  size_t count = s->op->numOperands;
  size_t i = takeChoice(input, (uint32_t)count);
  for (size_t steps = 0; steps < count && !s->problem.operands[i].data; ++steps)
    i = (i + 1) % count;
  return i;
}

static void spoil(Input *input, Spoilt *s) {
  Problem *p = &s->problem;
  uint32_t what = takeChoice(input, 16);
  size_t i = takeOperand(input, s);
  gqBuffer *buffer = &p->operands[i];
  uint32_t extent = takeChoice(input, GQ_OPERAND_RANK);
  if (buffer->rank > 0 && buffer->rank <= GQ_OPERAND_RANK)
    extent %= (uint32_t)buffer->rank;
  s->isSound = false;
  switch (what) {
  case 0:
    buffer->type = (int64_t)takeChoice(input, 14) - 1;
    break;
  case 1:
    buffer->rank = (int64_t)takeChoice(input, 6) - 1;
    break;
  case 2:
  case 3:
  case 4:
    buffer->sizes[extent] = takeInstead(input, buffer->sizes[extent]);
    break;
  case 5:
  case 6:
    buffer->strides[extent] = takeInstead(input, buffer->strides[extent]);
    break;
  case 7:
    buffer->data = NULL;
    break;
  case 8: // Absent.
    *buffer = (gqBuffer){0};
    break;
  case 9: // Another one's place.
    *buffer = p->operands[takeOperand(input, s)];
    break;
  case 10:
    p->operands[takeChoice(input, (uint32_t)s->op->numOperands)] = *buffer;
    break;
  case 11:
    s->same[0] = i;
    s->same[1] = takeOperand(input, s);
    break;
  case 12:
    p->attributes[extent] = (int32_t)takeInstead(input, p->attributes[extent]);
    break;
  case 13:
    extent = takeChoice(input, MAX_ATTRIBUTES);
    p->attributes[extent] ^= (int32_t)(1u << takeChoice(input, 32));
    break;
  default: // What an operand of integers holds.
    if (!p->numLists)
      break;
    Integers *list = &p->lists[takeChoice(input, (uint32_t)p->numLists)];
    if (list->count) {
      int64_t *at = &list->values[takeChoice(input, (uint32_t)list->count)];
      *at = takeInstead(input, *at);
    }
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The memory of an operand: `before` bytes in front of its first element.
typedef struct Memory {
  char *bytes, *copy;
  int64_t size, before;
} Memory;

static int64_t elementSizeOf(const gqBuffer *buffer) {
  int64_t size = gqElementTypeSize((gqElementType)buffer->type);
  return size ? size : 1;
}

/// The memory that a buffer names, none if there is no such memory, as for
/// extents that are negative. False if it is more than is to be had.
static bool measure(const gqBuffer *buffer, Memory *memory) {
  // More than any machine has.
  const __int128 none = (__int128)1 << 56;
  int64_t size = elementSizeOf(buffer);
  __int128 before = 0, after = 0, elements = 1;
  for (int64_t d = 0; d < buffer->rank && d < GQ_OPERAND_RANK; ++d) {
    if (buffer->sizes[d] <= 0)
      return true;
    __int128 last = (__int128)(buffer->sizes[d] - 1) * buffer->strides[d];
    before -= last < 0 ? last : 0;
    after += last > 0 ? last : 0;
    if (elements <= none)
      elements *= buffer->sizes[d];
  }
  if (elements * size > none || (before + after) * size > none)
    return true;
  if ((before + after + 1) * size > MAX_BYTES)
    return false;
  memory->before = (int64_t)before * size;
  memory->size = (int64_t)(before + after + 1) * size;
  return true;
}

/// Any bits, or what the list says.
static void fill(const Memory *memory, const gqBuffer *buffer,
                 const Integers *integers, uint64_t *state) {
  for (int64_t i = 0; i < memory->size; ++i) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    memory->bytes[i] = (char)(*state >> 56);
  }
  int64_t size = elementSizeOf(buffer);
  for (int64_t i = 0; integers && i < integers->count; ++i)
    if (memory->before + (i + 1) * size <= memory->size)
      memcpy(memory->bytes + memory->before + i * size, &integers->values[i],
             (size_t)size);
}

/// Has two operands begin at the same element of the same memory.
static void share(Spoilt *s, Memory *memory) {
  const size_t *same = s->same;
  Memory *a = &memory[same[0]], *b = &memory[same[1]];
  if (a == b)
    return;
  s->overlaps = a->size && b->size &&
                (s->op->written[same[0]] || s->op->written[same[1]]);
  // Elements of either type are aligned.
  int64_t before = up(a->before > b->before ? a->before : b->before, 8);
  int64_t behindA = a->size - a->before, behindB = b->size - b->before;
  a->size = before + (behindA > behindB ? behindA : behindB);
  a->before = before;
}

/// Gives every operand its memory; false if that cannot be.
static bool giveMemory(Input *input, Spoilt *s, Memory *memory) {
  gqBuffer *operands = s->problem.operands;
  uint64_t state = (uint64_t)takeInt(input);
  for (size_t i = 0; i < s->op->numOperands; ++i)
    if (operands[i].data && !measure(&operands[i], &memory[i]))
      return false;
  share(s, memory);
  for (size_t i = 0; i < s->op->numOperands; ++i) {
    if (!operands[i].data)
      continue;
    // Of no byte it is a pointer all the same.
    memory[i].bytes = malloc(memory[i].size ? (size_t)memory[i].size : 1);
    memory[i].copy = malloc((size_t)memory[i].size + 1);
    fill(&memory[i], &operands[i], s->problem.integers[i], &state);
    memcpy(memory[i].copy, memory[i].bytes, (size_t)memory[i].size);
    operands[i].data = memory[i].bytes + memory[i].before;
  }
  if (operands[s->same[1]].data)
    operands[s->same[1]].data = operands[s->same[0]].data;
  return true;
}

/// Puts the elements that an op has written into the copy of what was before.
static void copyElements(const gqBuffer *buffer, const Memory *memory) {
  int64_t sizes[GQ_OPERAND_RANK] = {1, 1, 1}, strides[GQ_OPERAND_RANK] = {0};
  int64_t size = elementSizeOf(buffer), skip = GQ_OPERAND_RANK - buffer->rank;
  for (int64_t d = 0; d < buffer->rank; ++d) {
    sizes[skip + d] = buffer->sizes[d];
    strides[skip + d] = buffer->strides[d];
  }
  // The inner stride of what is written is 1.
  for (int64_t i = 0; i < sizes[0]; ++i)
    for (int64_t j = 0; j < sizes[1] && sizes[2] > 0; ++j) {
      int64_t at = memory->before + (i * strides[0] + j * strides[1]) * size;
      memcpy(memory->copy + at, memory->bytes + at, (size_t)(sizes[2] * size));
    }
}

/// What the memory holds after the call.
static void checkMemory(const Spoilt *s, Memory *memory, bool succeeded) {
  expect(!succeeded || !s->overlaps,
         "what is written and overlaps to be refused");
  for (size_t i = 0; succeeded && i < s->op->numOperands; ++i)
    if (s->op->written[i] && s->problem.operands[i].data)
      copyElements(&s->problem.operands[i],
                   &memory[i == s->same[1] ? s->same[0] : i]);
  for (size_t i = 0; i < s->op->numOperands; ++i)
    expect(!memory[i].bytes || memcmp(memory[i].bytes, memory[i].copy,
                                      (size_t)memory[i].size) == 0,
           succeeded ? "nothing but what the op writes to change"
                     : "a call that failed to write nothing");
}

static void callOp(Input *input) {
  static Spoilt s;
  Memory memory[MAX_OPERANDS] = {{0}};
  memset(&s.problem, 0, offsetof(Problem, lists));
  s.problem.numLists = 0;
  s.isSound = true;
  s.same[0] = s.same[1] = 0;
  s.overlaps = false;
  s.op = &ops[takeChoice(input, numOps)];
  s.op->make(input, &s.problem);
  for (uint32_t count = takeChoice(input, 4); count > 0; --count)
    spoil(input, &s);
  if (giveMemory(input, &s, memory)) {
    s.op->run(&s.problem);
    gqStatus status = gqCpuStatus();
    expect(status == GQ_OK || *gqGetLastErrorMessage() != '\0', "a message");
    if (status != GQ_OK && s.isSound) {
      fprintf(stderr, "%s\n", gqGetLastErrorMessage());
      expect(false, "a sound call to succeed");
    }
    expect(gqCpuStatus() == GQ_OK, "a failure to be told once");
    checkMemory(&s, memory, status == GQ_OK);
  }
  for (size_t i = 0; i < s.op->numOperands; ++i) {
    free(memory[i].bytes);
    free(memory[i].copy);
  }
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

/// The sizes that tensors are made of.
typedef struct Sizes {
  int64_t m, n, k, g;
} Sizes;

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

/// Numbers in increasing order, or any.
static void fillTensor(char *data, int64_t bytes, int64_t elementSize,
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
    fillTensor(tensor->memory, bytes,
               tensor->dl.dtype.bits >= 8 ? tensor->dl.dtype.bits / 8 : size,
               sizes, input);
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
