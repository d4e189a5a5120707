//===- Op.c - a gq op as a call of the function of its name ---------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Python.h"

#include "gq/Runtime/Types.h"

#include <ctype.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_OPERANDS = 32,
  MAX_NAME = 64,
};

/// An operand of the op as Ops.def lists it, and the values that it has.
typedef struct Operand {
  char name[MAX_NAME];
  bool isOut;
  intptr_t first, count;
} Operand;

/// An op that is being written.
typedef struct Op {
  Program *program;
  MlirOperation op;
  /// Without the dialect's.
  char name[MAX_NAME];
  Operand operands[MAX_OPERANDS];
  int numOperands;
  gqText call;
} Op;

static bool is(const Op *op, const char *name) {
  return strcmp(op->name, name) == 0;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Finds the row of the op in Ops.def.
static const char *rowsOf(const char *name) {
  for (int32_t i = 0; gqOpName(i); ++i)
    if (strcmp(gqOpName(i), name) == 0)
      return gqOpRows(i);
  return NULL;
}

/// Reads which values each operand has: one, or as many as the attribute
/// operandSegmentSizes or the only one that may be absent says.
static bool readOperands(Op *op) {
  const char *rows = rowsOf(op->name);
  if (!rows)
    return false;
  bool isRequired[MAX_OPERANDS] = {false};
  int numRequired = 0;
  for (const char *row = rows; *row; row = strchr(row, '\n') + 1) {
    Operand *operand = &op->operands[op->numOperands];
    char presence[MAX_NAME], role[MAX_NAME];
    if (sscanf(row, "operand %63s %63s %63s", operand->name, presence, role) !=
        3)
      continue;
    operand->isOut = strcmp(role, "OUT") == 0;
    isRequired[op->numOperands] = strcmp(presence, "REQUIRED") == 0;
    numRequired += isRequired[op->numOperands++];
  }
  MlirAttribute segments = pythonAttribute(op->op, "operandSegmentSizes");
  intptr_t total = mlirOperationGetNumOperands(op->op), first = 0;
  for (int i = 0; i < op->numOperands; ++i) {
    Operand *operand = &op->operands[i];
    operand->first = first;
    operand->count = isRequired[i] ? 1 : total - numRequired;
    if (!mlirAttributeIsNull(segments))
      operand->count = mlirDenseI32ArrayGetElement(segments, i);
    first += operand->count;
  }
  return true;
}

static const Operand *find(const Op *op, const char *name) {
  for (int i = 0; i < op->numOperands; ++i)
    if (strcmp(op->operands[i].name, name) == 0)
      return &op->operands[i];
  return NULL;
}

static bool has(const Op *op, const char *name) {
  const Operand *operand = find(op, name);
  return operand && operand->count > 0;
}

static const char *nameOf(const Op *op, const Operand *operand, intptr_t i) {
  return pythonNameOf(op->program,
                      mlirOperationGetOperand(op->op, operand->first + i));
}

/// An argument "NAME=VALUE" unless the operand is absent.
static void appendOperand(Op *op, const char *name, const char *argument) {
  if (has(op, name))
    gqTextPrintf(&op->call, ", %s=%s", argument, nameOf(op, find(op, name), 0));
}

/// gq.Graph knows the extents of ops but the first.
static bool checkExtents(const Op *op) {
  for (int i = 0; i < op->numOperands; ++i)
    for (intptr_t k = 0; k < op->operands[i].count; ++k) {
      MlirType type = mlirValueGetType(
          mlirOperationGetOperand(op->op, op->operands[i].first + k));
      if (!mlirTypeIsARankedTensor(type))
        return false;
      for (int64_t d = 1; d < mlirShapedTypeGetRank(type); ++d)
        if (mlirShapedTypeIsDynamicDim(type, d))
          return false;
    }
  return true;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// #gq.direction<rounding = stochastic, block = 16x16> as
/// gq.Direction(rounding="stochastic", block=(16, 16)).
static void appendDirection(Op *op, MlirAttribute direction) {
  gqText printed = {0};
  pythonAppendAttribute(direction, &printed);
  const char *at = strchr(gqTextString(&printed), '<');
  gqTextPrintf(&op->call, "gq.Direction(");
  char name[MAX_NAME], value[MAX_NAME];
  int length;
  for (int i = 0; at && sscanf(at + 1, "%63[a-z_] = %63[^,>]%n", name, value,
                               &length) == 2;
       ++i) {
    char rows[MAX_NAME], columns[MAX_NAME];
    gqTextPrintf(&op->call, "%s%s=", i ? ", " : "", name);
    if (strcmp(name, "block") == 0 &&
        sscanf(value, "%63[0-9]x%63[0-9]", rows, columns) == 2)
      gqTextPrintf(&op->call, "(%s, %s)", rows, columns);
    else
      gqTextPrintf(&op->call, isdigit(*value) ? "%s" : "\"%s\"", value);
    at += 1 + length;
    at += at[0] == ',';
  }
  gqTextPrintf(&op->call, ")");
  gqTextFree(&printed);
}

/// Attributes that the arguments of the function say otherwise.
static bool isImplied(const Op *op, const char *name) {
  static const char *const implied[] = {"operandSegmentSizes", "rowwise",
                                        "columnwise", "maps"};
  for (size_t i = 0; i < sizeof(implied) / sizeof(implied[0]); ++i)
    if (strcmp(name, implied[i]) == 0)
      return true;
  bool hasLayout =
      is(op, "grouped_block_quantize") || is(op, "grouped_dequantize");
  return strcmp(name, "scale_layout") == 0 && !hasLayout;
}

/// What is left out, as the functions do.
static bool isDefault(const char *name, const char *word) {
  static const char *const defaults[][2] = {
      {"recipe", "nvfuser"}, {"rows", "all"},     {"b_major", "k"},
      {"pairs", "none"},     {"axis", "rowwise"}, {"outer", "group"},
      {"amax_algo", "max"}};
  for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); ++i)
    if (strcmp(name, defaults[i][0]) == 0 && strcmp(word, defaults[i][1]) == 0)
      return true;
  return false;
}

/// The arguments that are integers.
static bool isInteger(const char *name) {
  return strcmp(name, "margin") == 0 || strcmp(name, "scale_max") == 0;
}

/// Words and integers, which are arguments of the attribute's name; 0 is left
/// out, as a word that is the default.
static bool appendAttributes(Op *op) {
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(op->op); ++i) {
    MlirNamedAttribute attribute = mlirOperationGetAttribute(op->op, i);
    MlirStringRef string = mlirIdentifierStr(attribute.name);
    char name[MAX_NAME], word[MAX_NAME];
    snprintf(name, sizeof(name), "%.*s", (int)string.length, string.data);
    if (isImplied(op, name))
      continue;
    gqText printed = {0};
    pythonAppendAttribute(attribute.attribute, &printed);
    bool isWord =
        sscanf(gqTextString(&printed), "#gq<%*[a-z_](%63[^)])>", word) == 1;
    gqTextFree(&printed);
    if (isWord && isDefault(name, word))
      continue;
    if (!isWord && !isInteger(name))
      return false;
    if (isWord)
      gqTextPrintf(&op->call, ", %s=\"%s\"", name, word);
    else if (mlirIntegerAttrGetValueInt(attribute.attribute) != 0)
      gqTextPrintf(&op->call, ", %s=%lld", name,
                   (long long)mlirIntegerAttrGetValueInt(attribute.attribute));
  }
  return true;
}

/// A direction of quantization: wanted or not, or how.
static void appendWanted(Op *op, const char *name, const char *data,
                         bool isDefault) {
  MlirAttribute direction = pythonAttribute(op->op, name);
  bool wanted = has(op, data);
  if (!wanted && isDefault)
    gqTextPrintf(&op->call, ", %s=False", name);
  if (wanted && !mlirAttributeIsNull(direction)) {
    gqTextPrintf(&op->call, ", %s=", name);
    appendDirection(op, direction);
  } else if (wanted && !isDefault) {
    gqTextPrintf(&op->call, ", %s=True", name);
  }
}

/// Whether a result is wanted that is not there by default, or the other way.
static void appendFlag(Op *op, const char *name, bool isDefault) {
  if (has(op, name) != isDefault)
    gqTextPrintf(&op->call, ", %s=%s", name, isDefault ? "False" : "True");
}

//===----------------------------------------------------------------------===//
// Inputs and producers
//===----------------------------------------------------------------------===//

/// Whether each input is read at the element's place, or at its column.
static bool checkMaps(const Op *op, const Operand *inputs) {
  MlirAttribute maps = pythonAttribute(op->op, "maps");
  for (intptr_t i = 0; i < inputs->count; ++i) {
    MlirType type =
        mlirValueGetType(mlirOperationGetOperand(op->op, inputs->first + i));
    static const char *const rows[] = {"affine_map<(d0, d1) -> ()>",
                                       "affine_map<(d0, d1) -> (d1)>",
                                       "affine_map<(d0, d1) -> (d0, d1)>"};
    static const char *const gathered[] = {
        "affine_map<(d0, d1)[s0] -> ()>", "affine_map<(d0, d1)[s0] -> (d1)>",
        "affine_map<(d0, d1)[s0] -> (s0, d1)>"};
    int64_t rank = mlirShapedTypeGetRank(type);
    gqText text = {0};
    pythonAppendAttribute(mlirArrayAttrGetElement(maps, i), &text);
    bool usual = rank <= 2 &&
                 strcmp(gqTextString(&text),
                        (has(op, "row_indices") ? gathered : rows)[rank]) == 0;
    gqTextFree(&text);
    if (!usual)
      return false;
  }
  return true;
}

/// Whether what is called `name` is of numbers, not of codes.
static bool holdsNumbers(const Op *op, const char *name) {
  if (!has(op, name))
    return false;
  MlirType element = mlirShapedTypeGetElementType(
      mlirValueGetType(mlirOperationGetOperand(op->op, find(op, name)->first)));
  return mlirTypeIsAF32(element) || mlirTypeIsABF16(element) ||
         mlirTypeIsAF16(element);
}

/// The inputs, and the function that their elements are made with.
static bool appendInputs(Op *op) {
  const Operand *inputs = find(op, "inputs");
  if (holdsNumbers(op, "data") || holdsNumbers(op, "columnwise_data"))
    return false;
  bool isProducer = !mlirAttributeIsNull(pythonAttribute(op->op, "maps"));
  char function[16];
  if (isProducer &&
      (!checkMaps(op, inputs) ||
       !elementWrite(op->program, mlirOperationGetRegion(op->op, 0), 0,
                     (MlirType){NULL}, function)))
    return false;
  if (inputs->count > 1)
    gqTextPrintf(&op->call, "(");
  for (intptr_t i = 0; i < inputs->count; ++i)
    gqTextPrintf(&op->call, "%s%s", i ? ", " : "", nameOf(op, inputs, i));
  gqTextPrintf(&op->call, inputs->count > 1 ? "), %s" : ", %s",
               nameOf(op, find(op, "offsets"), 0));
  if (isProducer)
    gqTextPrintf(&op->call, ", producer=%s", function);
  appendOperand(op, "row_indices", "row_indices");
  if (has(op, "first_dims"))
    gqTextPrintf(&op->call, ", shapes=(%s, %s)",
                 nameOf(op, find(op, "first_dims"), 0),
                 nameOf(op, find(op, "last_dims"), 0));
  appendOperand(op, "noop_flag", "noop_flag");
  return true;
}

static void appendOperands(Op *op, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; ++i)
    appendOperand(op, names[i], names[i]);
}

/// The type of the sums of columns.
static void appendDbias(Op *op) {
  if (!has(op, "dbias"))
    return;
  MlirType type = mlirValueGetType(
      mlirOperationGetOperand(op->op, find(op, "dbias")->first));
  MlirType element = mlirShapedTypeGetElementType(type);
  const char *name = mlirTypeIsABF16(element)  ? "bfloat16"
                     : mlirTypeIsAF16(element) ? "float16"
                                               : "float32";
  gqTextPrintf(&op->call, ", dbias=\"%s\"", name);
}

static bool appendQuantization(Op *op) {
  static const char *const names[] = {"scale_offsets", "global_scale",
                                      "outer_amax",    "columnwise_outer_amax",
                                      "rng_state",     "scale"};
  if (!appendInputs(op))
    return false;
  appendOperands(op, names, sizeof(names) / sizeof(names[0]));
  appendWanted(op, "rowwise", "data", true);
  appendWanted(op, "columnwise", "columnwise_data", false);
  appendFlag(op, "amax", false);
  appendDbias(op);
  if (is(op, "grouped_quantize"))
    appendFlag(op, "scale_inv", true);
  else
    appendFlag(op, "row_amax", false);
  return true;
}

static bool appendAmax(Op *op) {
  if (!appendInputs(op))
    return false;
  appendFlag(op, "amax", true);
  appendFlag(op, "columnwise_amax", false);
  appendFlag(op, "row_amax", false);
  appendFlag(op, "column_amax", false);
  MlirAttribute direction = pythonAttribute(op->op, "columnwise");
  if (!mlirAttributeIsNull(direction)) {
    gqTextPrintf(&op->call, ", columnwise=");
    appendDirection(op, direction);
  }
  return true;
}

/// Other ops, whose operands are arguments: the first `numPlaces` by place.
static bool appendPlain(Op *op, int numPlaces) {
  bool isOffsets = is(op, "group_offsets");
  for (int i = 0; i < op->numOperands; ++i) {
    const Operand *operand = &op->operands[i];
    if (operand->isOut && i >= numPlaces)
      continue;
    if (i < numPlaces)
      gqTextPrintf(&op->call, "%s%s", i ? ", " : "", nameOf(op, operand, 0));
    else if (strcmp(operand->name, "first_dims") != 0 &&
             strcmp(operand->name, "last_dims") != 0)
      appendOperand(op, operand->name, operand->name);
  }
  if (has(op, "first_dims"))
    gqTextPrintf(&op->call, ", shapes=(%s, %s)",
                 nameOf(op, find(op, "first_dims"), 0),
                 nameOf(op, find(op, "last_dims"), 0));
  if (isOffsets)
    appendFlag(op, "scale_offsets", true);
  MlirRegion region = mlirOperationGetNumRegions(op->op)
                          ? mlirOperationGetRegion(op->op, 0)
                          : (MlirRegion){NULL};
  if (mlirRegionIsNull(region) ||
      mlirBlockIsNull(mlirRegionGetFirstBlock(region)))
    return true;
  char function[16];
  MlirType out = mlirValueGetType(mlirOperationGetResult(op->op, 0));
  if (!elementWrite(op->program, region, 0, mlirShapedTypeGetElementType(out),
                    function))
    return false;
  gqTextPrintf(&op->call, ", epilogue=%s", function);
  return true;
}

/// The extents of groups and of matrices that the results say.
static void appendExtents(Op *op) {
  const Operand *out = find(op, "out");
  MlirType type =
      out ? mlirValueGetType(mlirOperationGetOperand(op->op, out->first))
          : (MlirType){NULL};
  if (is(op, "grouped_wgrad"))
    gqTextPrintf(&op->call, ", n=%lld, k=%lld",
                 (long long)mlirShapedTypeGetDimSize(type, 1),
                 (long long)mlirShapedTypeGetDimSize(type, 2));
  if (is(op, "grouped_dequantize") && mlirShapedTypeGetRank(type) == 2)
    gqTextPrintf(&op->call, ", columns=%lld",
                 (long long)mlirShapedTypeGetDimSize(type, 1));
  if (is(op, "group_offsets")) {
    MlirType counts = mlirValueGetType(mlirOperationGetOperand(op->op, 0));
    MlirType offsets = mlirValueGetType(
        mlirOperationGetOperand(op->op, find(op, "offsets")->first));
    if (mlirShapedTypeGetDimSize(counts, 0) ==
        mlirShapedTypeGetDimSize(offsets, 0))
      gqTextPrintf(&op->call, ", closed=False");
    bool wide =
        mlirIntegerTypeGetWidth(mlirShapedTypeGetElementType(offsets)) == 64;
    gqTextPrintf(&op->call, ", dtype=\"%s\"", wide ? "int64" : "int32");
  }
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// The order in which functions of quantization return what was asked for;
/// others have the op's.
static const char *const quantized[] = {
    "data",  "scales",   "columnwise_data", "columnwise_scales", "amax",
    "dbias", "row_amax", "scale_inv",       "scale_offsets_out"};

static bool returnsQuantized(const Op *op) {
  return is(op, "grouped_block_quantize") || is(op, "grouped_quantize") ||
         is(op, "block_quantize");
}

/// The outs in the order of the function. Returns how many there are.
static int orderOuts(const Op *op, const Operand *outs[MAX_OPERANDS]) {
  int count = 0;
  if (returnsQuantized(op)) {
    for (size_t i = 0; i < sizeof(quantized) / sizeof(quantized[0]); ++i)
      if (has(op, quantized[i]))
        outs[count++] = find(op, quantized[i]);
    return count;
  }
  for (int i = 0; i < op->numOperands; ++i)
    if (op->operands[i].isOut && op->operands[i].count)
      outs[count++] = &op->operands[i];
  return count;
}

/// The result that an out is: they are in the op's order.
static MlirValue resultOf(const Op *op, const Operand *out) {
  intptr_t number = 0;
  for (int i = 0; &op->operands[i] != out; ++i)
    number += op->operands[i].isOut && op->operands[i].count;
  return mlirOperationGetResult(op->op, number);
}

static void writeResults(Op *op) {
  const Operand *outs[MAX_OPERANDS];
  int count = orderOuts(op, outs);
  Program *program = op->program;
  gqTextPrintf(program->text, "%s", program->indent);
  int quantity = returnsQuantized(op) ? pythonFresh(program) : -1;
  if (quantity >= 0)
    gqTextPrintf(program->text, "v%d", quantity);
  for (int i = 0; i < count; ++i) {
    const char *name = outs[i]->name;
    if (quantity >= 0) {
      if (strcmp(name, "scale_offsets_out") == 0)
        name = "scale_offsets";
      pythonName(program, resultOf(op, outs[i]), "v%d.%s", quantity, name);
      continue;
    }
    int fresh = pythonFresh(program);
    gqTextPrintf(program->text, "%sv%d", i ? ", " : "", fresh);
    pythonName(program, resultOf(op, outs[i]), "v%d", fresh);
  }
  // The arguments of update_scales() are its results.
  if (!is(op, "update_scales")) {
    gqTextPrintf(&op->call, ", out=[");
    for (int i = 0; i < count; ++i)
      gqTextPrintf(&op->call, "%s%s", i ? ", " : "", nameOf(op, outs[i], 0));
    gqTextPrintf(&op->call, "]");
  }
  gqTextPrintf(program->text, " = gq.%s(%s)\n", op->name,
               gqTextString(&op->call));
}

static bool write(Op *op) {
  if (!readOperands(op))
    return false;
  if (!checkExtents(op))
    return false;
  bool valid;
  if (is(op, "grouped_block_quantize") || is(op, "grouped_quantize"))
    valid = appendQuantization(op);
  else if (is(op, "grouped_amax"))
    valid = appendAmax(op);
  else
    valid =
        appendPlain(op, is(op, "update_scales")                           ? 3
                        : is(op, "preprocess_grouped_matmul_sf")          ? 3
                        : is(op, "grouped_mm") || is(op, "grouped_wgrad") ? 2
                                                                          : 1);
  if (!valid || !appendAttributes(op))
    return false;
  appendExtents(op);
  writeResults(op);
  return true;
}

static Op opOf(Program *program, MlirOperation operation) {
  Op op = {.program = program, .op = operation};
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(operation));
  snprintf(op.name, sizeof(op.name), "%.*s", (int)name.length - 3,
           name.data + 3);
  return op;
}

MlirValue opOutOf(MlirOperation operation, intptr_t result) {
  Op op = opOf(NULL, operation);
  if (readOperands(&op))
    for (int i = 0; i < op.numOperands; ++i)
      if (op.operands[i].isOut && op.operands[i].count && result-- == 0)
        return mlirOperationGetOperand(operation, op.operands[i].first);
  return (MlirValue){NULL};
}

bool opWrite(Program *program, MlirOperation operation) {
  Op op = opOf(program, operation);
  bool valid = write(&op);
  gqTextFree(&op.call);
  return valid;
}
