//===- OpInfo.c - gq ops by their lists ---------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpInfo.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <assert.h>
#include <string.h>

static const char segmentsName[] = "operandSegmentSizes";

// attributesOf<Op> and operandsOf<Op>.
#define GQ_BEGIN_ATTRIBUTES(OP)                                                \
  static const gqAttributeInfo attributesOf##OP[] = {
#define GQ_ATTRIBUTE(OP, NAME, FIELD, ENUM, PRESENCE)                          \
  {#NAME, offsetof(gq##OP, FIELD), gqGet##ENUM, gqGet##ENUM##Value,            \
   GQ_##PRESENCE},
#define GQ_END_ATTRIBUTES(OP)                                                  \
  {                                                                            \
    NULL, 0, NULL, NULL, GQ_REQUIRED                                           \
  } /* Some have none. */                                                      \
  }                                                                            \
  ;
#define GQ_BEGIN_OPERANDS(OP, UPPER)                                           \
  static const gqOperandInfo operandsOf##OP[] = {
#define GQ_OPERAND(OP, UPPER, NAME, FIELD, MEMBER, PRESENCE, ROLE)             \
  {#NAME, offsetof(gq##OP, MEMBER), GQ_##PRESENCE, GQ_##ROLE},
#define GQ_END_OPERANDS(OP, UPPER)                                             \
  }                                                                            \
  ;
#include "gq/Runtime/Ops.def"

#define GQ_OP(OP, MNEMONIC)                                                    \
  const gqOpInfo gq##OP##Info = {                                              \
      "gq." #MNEMONIC,                                                         \
      "gqCpu" #OP,                                                             \
      sizeof(attributesOf##OP) / sizeof(gqAttributeInfo) - 1,                  \
      sizeof(operandsOf##OP) / sizeof(gqOperandInfo),                          \
      attributesOf##OP,                                                        \
      operandsOf##OP};
#include "gq/Runtime/Ops.def"

const gqOpInfo *gqOpInfoOf(MlirOperation op) {
  static const gqOpInfo *const infos[] = {
#define GQ_OP(OP, MNEMONIC) &gq##OP##Info,
#include "gq/Runtime/Ops.def"
  };
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  for (size_t i = 0; i < sizeof(infos) / sizeof(*infos); ++i)
    if (mlirStringRefEqual(name,
                           mlirStringRefCreateFromCString(infos[i]->name)))
      return infos[i];
  return NULL;
}

#define GQ_DEFINE_ENUM_ATTR(ENUM)                                              \
  static_assert(sizeof(gq##ENUM) == sizeof(int32_t), "");                      \
  MlirAttribute gqGet##ENUM(MlirContext context, int32_t value) {              \
    return gq##ENUM##AttrGet(context, (gq##ENUM)value);                        \
  }                                                                            \
  int32_t gqGet##ENUM##Value(MlirAttribute attribute) {                        \
    return (int32_t)gq##ENUM##AttrGetValue(attribute);                         \
  }
GQ_DEFINE_ENUM_ATTR(Format)
GQ_DEFINE_ENUM_ATTR(Recipe)
GQ_DEFINE_ENUM_ATTR(ScaleLayout)
GQ_DEFINE_ENUM_ATTR(Major)
GQ_DEFINE_ENUM_ATTR(Rows)
GQ_DEFINE_ENUM_ATTR(Axis)
GQ_DEFINE_ENUM_ATTR(Outer)
GQ_DEFINE_ENUM_ATTR(AmaxAlgo)
GQ_DEFINE_ENUM_ATTR(Margin)
GQ_DEFINE_ENUM_ATTR(ScaleMax)

#define GQ_DEFINE_INTEGER_ATTR(NAME)                                           \
  MlirAttribute gq##NAME##AttrGet(MlirContext context, gq##NAME value) {       \
    return mlirIntegerAttrGet(mlirIntegerTypeGet(context, 32), value);         \
  }                                                                            \
  gq##NAME gq##NAME##AttrGetValue(MlirAttribute attribute) {                   \
    return (gq##NAME)mlirIntegerAttrGetValueInt(attribute);                    \
  }
GQ_DEFINE_INTEGER_ATTR(Margin)
GQ_DEFINE_INTEGER_ATTR(ScaleMax)

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

MlirAttribute gqGetAttribute(MlirOperation op, const char *name) {
  return mlirOperationGetAttributeByName(op,
                                         mlirStringRefCreateFromCString(name));
}

MlirValue *gqOperandMember(const gqOpInfo *info, void *desc,
                           intptr_t position) {
  return (MlirValue *)((char *)desc + info->operands[position].member);
}

/// How many operands of `op` are the one at `position`. An op without segments
/// has one optional operand at most.
static intptr_t sizeAt(MlirOperation op, const gqOpInfo *info,
                       intptr_t position) {
  MlirAttribute segments = mlirOperationGetInherentAttributeByName(
      op, mlirStringRefCreateFromCString(segmentsName));
  if (!mlirAttributeIsNull(segments))
    return mlirDenseI32ArrayGetElement(segments, position);
  return info->operands[position].presence == GQ_REQUIRED ||
         mlirOperationGetNumOperands(op) == info->numOperands;
}

/// The number in `op` of the first operand at `position`.
static intptr_t firstAt(MlirOperation op, const gqOpInfo *info,
                        intptr_t position) {
  intptr_t first = 0;
  for (intptr_t i = 0; i < position; ++i)
    first += sizeAt(op, info, i);
  return first;
}

intptr_t gqNumOperandsAt(MlirOperation op, intptr_t position) {
  return sizeAt(op, gqOpInfoOf(op), position);
}

MlirValue gqOperandAt(MlirOperation op, intptr_t position) {
  const gqOpInfo *info = gqOpInfoOf(op);
  return sizeAt(op, info, position)
             ? mlirOperationGetOperand(op, firstAt(op, info, position))
             : (MlirValue){NULL};
}

MlirValue gqResultAt(MlirOperation op, intptr_t position) {
  const gqOpInfo *info = gqOpInfoOf(op);
  assert(info->operands[position].role == GQ_OUT);
  if (!mlirOperationGetNumResults(op) || !sizeAt(op, info, position))
    return (MlirValue){NULL};
  intptr_t firstInit = 0;
  while (info->operands[firstInit].role == GQ_IN)
    ++firstInit;
  return mlirOperationGetResult(op, firstAt(op, info, position) -
                                        firstAt(op, info, firstInit));
}

bool gqHaveSameOperand(MlirOperation a, MlirOperation b, intptr_t position) {
  const gqOpInfo *info = gqOpInfoOf(a);
  assert(info == gqOpInfoOf(b));
  intptr_t size = sizeAt(a, info, position);
  intptr_t firstA = firstAt(a, info, position);
  intptr_t firstB = firstAt(b, info, position);
  bool same = sizeAt(b, info, position) == size;
  for (intptr_t i = 0; same && i < size; ++i)
    same = mlirValueEqual(mlirOperationGetOperand(a, firstA + i),
                          mlirOperationGetOperand(b, firstB + i));
  return same;
}

int32_t gqEnumAttribute(MlirOperation op, intptr_t row) {
  const gqAttributeInfo *info = &gqOpInfoOf(op)->attributes[row];
  MlirAttribute attribute = gqGetAttribute(op, info->name);
  if (!mlirAttributeIsNull(attribute))
    return info->getValue(attribute);
  return row ? gqEnumAttribute(op, row - 1) : -1;
}

void gqOpRead(MlirOperation op, void *desc, intptr_t maxVariadic) {
  const gqOpInfo *info = gqOpInfoOf(op);
  for (intptr_t i = 0; i < info->numAttributes; ++i) {
    int32_t value = gqEnumAttribute(op, i);
    memcpy((char *)desc + info->attributes[i].member, &value, sizeof(value));
  }
  intptr_t next = 0;
  for (intptr_t i = 0; i < info->numOperands; ++i) {
    const gqOperandInfo *operand = &info->operands[i];
    MlirValue *values = gqOperandMember(info, desc, i);
    intptr_t size = sizeAt(op, info, i);
    intptr_t room = operand->presence == GQ_VARIADIC ? maxVariadic : 1;
    for (intptr_t k = 0; k < size && k < room; ++k)
      values[k] = mlirOperationGetOperand(op, next + k);
    next += size;
  }
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

MlirNamedAttribute gqAttribute(MlirContext context, const char *name,
                               MlirAttribute attribute) {
  return mlirNamedAttributeGet(
      mlirIdentifierGet(context, mlirStringRefCreateFromCString(name)),
      attribute);
}

/// Adds the operands, the types of the results and, for an op that has them,
/// the segments.
static void addOperands(MlirOperationState *state, MlirContext context,
                        const gqOpInfo *info, const void *desc,
                        intptr_t numVariadic) {
  int32_t segments[GQ_MAX_OPERANDS] = {0};
  intptr_t numNotRequired = 0;
  assert(info->numOperands <= GQ_MAX_OPERANDS);
  for (intptr_t i = 0; i < info->numOperands; ++i) {
    const gqOperandInfo *operand = &info->operands[i];
    const MlirValue *values = gqOperandMember(info, (void *)desc, i);
    bool isVariadic = operand->presence == GQ_VARIADIC;
    intptr_t size = isVariadic ? numVariadic : !mlirValueIsNull(*values);
    mlirOperationStateAddOperands(state, size, values);
    segments[i] = (int32_t)size;
    numNotRequired += operand->presence != GQ_REQUIRED;
    MlirType type = size ? mlirValueGetType(*values) : (MlirType){NULL};
    if (operand->role == GQ_OUT && size && mlirTypeIsARankedTensor(type))
      mlirOperationStateAddResults(state, 1, &type);
  }
  if (numNotRequired <= 1) // The number of operands tells.
    return;
  MlirNamedAttribute attribute =
      gqAttribute(context, segmentsName,
                  mlirDenseI32ArrayGet(context, info->numOperands, segments));
  mlirOperationStateAddAttributes(state, 1, &attribute);
}

/// Whether the description of an op, not another op, says what attribute `name`
/// is.
static bool isDescribed(MlirStringRef name, const gqOpInfo *info,
                        const gqOpExtras *extras) {
  for (intptr_t i = 0; i < info->numAttributes; ++i)
    if (mlirStringRefEqual(
            name, mlirStringRefCreateFromCString(info->attributes[i].name)))
      return true;
  for (intptr_t i = 0; i < extras->numAttributes; ++i)
    if (mlirStringRefEqual(
            name, mlirStringRefCreateFromCString(extras->attributes[i].name)))
      return true;
  return mlirStringRefEqual(name, mlirStringRefCreateFromCString(segmentsName));
}

/// The enumeration in a row, as a description has it.
static int32_t describedValue(const gqOpInfo *info, const void *desc,
                              intptr_t row) {
  int32_t value;
  memcpy(&value, (const char *)desc + info->attributes[row].member,
         sizeof(value));
  return value;
}

static void addAttributes(MlirOperationState *state, MlirContext context,
                          const gqOpInfo *info, const void *desc,
                          const gqOpExtras *extras) {
  for (intptr_t i = 0; i < info->numAttributes; ++i) {
    const gqAttributeInfo *row = &info->attributes[i];
    int32_t value = describedValue(info, desc, i);
    int32_t leftOut = i ? describedValue(info, desc, i - 1) : -1;
    if (row->presence == GQ_OPTIONAL && value == leftOut)
      continue;
    MlirNamedAttribute attribute =
        gqAttribute(context, row->name, row->get(context, value));
    mlirOperationStateAddAttributes(state, 1, &attribute);
  }
  for (intptr_t i = 0; i < extras->numAttributes; ++i) {
    if (mlirAttributeIsNull(extras->attributes[i].attribute))
      continue;
    MlirNamedAttribute attribute = gqAttribute(
        context, extras->attributes[i].name, extras->attributes[i].attribute);
    mlirOperationStateAddAttributes(state, 1, &attribute);
  }
  if (mlirOperationIsNull(extras->like))
    return;
  for (intptr_t i = 0; i < mlirOperationGetNumAttributes(extras->like); ++i) {
    MlirNamedAttribute attribute = mlirOperationGetAttribute(extras->like, i);
    if (!isDescribed(mlirIdentifierStr(attribute.name), info, extras))
      mlirOperationStateAddAttributes(state, 1, &attribute);
  }
}

MlirOperation gqOpCreate(MlirLocation location, const gqOpInfo *info,
                         const void *desc, const gqOpExtras *extras) {
  MlirContext context = mlirLocationGetContext(location);
  MlirOperationState state = mlirOperationStateGet(
      mlirStringRefCreateFromCString(info->name), location);
  const gqOpExtras none = {0};
  if (!extras)
    extras = &none;
  addAttributes(&state, context, info, desc, extras);
  addOperands(&state, context, info, desc, extras->numVariadic);
  if (!mlirRegionIsNull(extras->region)) {
    MlirRegion region = mlirRegionCreate();
    mlirRegionTakeBody(region, extras->region);
    mlirOperationStateAddOwnedRegions(&state, 1, &region);
  }
  return mlirOperationCreate(&state);
}
