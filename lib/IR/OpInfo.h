//===- OpInfo.h - gq ops by their lists ---------------------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and builds any gq op by its rows of gq/Runtime/Ops.def. An operand is
// named by its position in that list, which is not its number in an operation:
// there, optional ones may be missing and a variadic one may be several.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_LIB_IR_OPINFO_H
#define GQ_LIB_IR_OPINFO_H

#include "gq-c/Dialect.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

//===----------------------------------------------------------------------===//
// Positions: GQ_<OP>_<name in GqOps.td>
//===----------------------------------------------------------------------===//

#define GQ_BEGIN_OPERANDS(OP, UPPER) enum {
#define GQ_OPERAND(OP, UPPER, NAME, FIELD, MEMBER, PRESENCE, ROLE)             \
  GQ_##UPPER##_##NAME,
#define GQ_END_OPERANDS(OP, UPPER)                                             \
  GQ_##UPPER##_NUM_OPERANDS                                                    \
  }                                                                            \
  ;
#include "gq/Runtime/Ops.def"

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// No op has a longer list.
enum { GQ_MAX_OPERANDS = 32 };

typedef enum gqPresence { GQ_REQUIRED, GQ_OPTIONAL, GQ_VARIADIC } gqPresence;
typedef enum gqRole { GQ_IN, GQ_OUT } gqRole;

typedef struct gqOperandInfo {
  const char *name;
  /// The offset of its MlirValue in the op's description.
  size_t member;
  gqPresence presence;
  gqRole role;
} gqOperandInfo;

/// An attribute that is an enumeration, or an int32_t.
typedef struct gqAttributeInfo {
  const char *name;
  /// The offset of the enumeration in the op's description.
  size_t member;
  MlirAttribute (*get)(MlirContext context, int32_t value);
  int32_t (*getValue)(MlirAttribute attribute);
  gqPresence presence;
} gqAttributeInfo;

typedef struct gqOpInfo {
  /// Such as "gq.grouped_mm".
  const char *name;
  /// Of gq/Runtime/Cpu.h. It takes the operands by position, then the
  /// attributes.
  const char *runtimeFunction;
  intptr_t numAttributes, numOperands;
  const gqAttributeInfo *attributes;
  const gqOperandInfo *operands;
} gqOpInfo;

/// gq<Enum>AttrGet and gq<Enum>AttrGetValue, of one type each.
#define GQ_DECLARE_ENUM_ATTR(ENUM)                                             \
  MlirAttribute gqGet##ENUM(MlirContext context, int32_t value);               \
  int32_t gqGet##ENUM##Value(MlirAttribute attribute);
GQ_DECLARE_ENUM_ATTR(Format)
GQ_DECLARE_ENUM_ATTR(Recipe)
GQ_DECLARE_ENUM_ATTR(ScaleLayout)
GQ_DECLARE_ENUM_ATTR(Major)
GQ_DECLARE_ENUM_ATTR(Rows)
GQ_DECLARE_ENUM_ATTR(Axis)
GQ_DECLARE_ENUM_ATTR(Outer)
GQ_DECLARE_ENUM_ATTR(AmaxAlgo)
GQ_DECLARE_ENUM_ATTR(Margin)
GQ_DECLARE_ENUM_ATTR(ScaleMax)

/// gq<Op>Info.
#define GQ_OP(OP, MNEMONIC) extern const gqOpInfo gq##OP##Info;
#include "gq/Runtime/Ops.def"

/// That of `op`; null if it is not a gq op with a list.
const gqOpInfo *gqOpInfoOf(MlirOperation op);

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Where the description of an op holds the operand at a position.
MlirValue *gqOperandMember(const gqOpInfo *info, void *desc, intptr_t position);

/// How many operands of `op` are the one at a position: 0 or 1 but for a
/// variadic one.
intptr_t gqNumOperandsAt(MlirOperation op, intptr_t position);

/// The operand at a position, the first of a variadic one; null if absent.
MlirValue gqOperandAt(MlirOperation op, intptr_t position);

/// The result that is written to the operand at a position; null if that is
/// absent or a memref.
MlirValue gqResultAt(MlirOperation op, intptr_t position);

/// Whether two ops of one kind have the same operand, or operands, at a
/// position.
bool gqHaveSameOperand(MlirOperation a, MlirOperation b, intptr_t position);

/// The value in `op` of the enumeration in a row of its list, also of one that
/// is left out.
int32_t gqEnumAttribute(MlirOperation op, intptr_t row);

/// Reads the attributes and operands of `op` into its description; of a
/// variadic operand up to `maxVariadic`.
void gqOpRead(MlirOperation op, void *desc, intptr_t maxVariadic);

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// What an operation has besides the rows of its list.
typedef struct gqOpExtras {
  /// How many values the variadic operand has.
  intptr_t numVariadic;
  /// Attributes that are no enumerations; null ones are left out.
  intptr_t numAttributes;
  struct {
    const char *name;
    MlirAttribute attribute;
  } attributes[4];
  /// Null if there is none; its body is taken.
  MlirRegion region;
  /// Null, or an operation whose other attributes the new one has too.
  MlirOperation like;
} gqOpExtras;

/// Creates an operation from a description. `extras` may be null.
MlirOperation gqOpCreate(MlirLocation location, const gqOpInfo *info,
                         const void *desc, const gqOpExtras *extras);

/// Defines gq<Op>Get and gq<Op>Create of an op that is no more than its rows.
#define GQ_DEFINE_OP_OF_ROWS(OP)                                               \
  gq##OP gq##OP##Get(MlirOperation op) {                                       \
    gq##OP desc = {0};                                                         \
    gqOpRead(op, &desc, 0);                                                    \
    return desc;                                                               \
  }                                                                            \
  MlirOperation gq##OP##Create(MlirLocation location, const gq##OP *desc) {    \
    return gqOpCreate(location, &gq##OP##Info, desc, NULL);                    \
  }

MlirNamedAttribute gqAttribute(MlirContext context, const char *name,
                               MlirAttribute attribute);
MlirAttribute gqGetAttribute(MlirOperation op, const char *name);

#ifdef __cplusplus
}
#endif

#endif // GQ_LIB_IR_OPINFO_H
