//===- ExpandSmallFloats.c - gq-expand-small-floats --------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream does not expand conversions of f8E4M3FN, which no later pass lowers,
// and expands those of f4E2M1FN incorrectly. Conversions are computed from and
// to float32; other arithmetic on such types is an error.
//
//===----------------------------------------------------------------------===//

#include "../IR/Checks.h"
#include "Build.h"
#include "Passes.h"
#include "Query.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

/// What a type of 8 bits with a sign is made of.
typedef struct SmallFloat {
  int mantissaBits, bias;
  /// The codes of the largest magnitude, of anything larger, and of NaN.
  int largest, beyond, nan;
} SmallFloat;

/// For anything larger, e4m3 has only NaN.
static const SmallFloat e4m3 = {3, 7, 0x7e, 0x7f, 0x7f};
static const SmallFloat e5m2 = {2, 15, 0x7b, 0x7c, 0x7e};

static const SmallFloat *smallFloatOf(MlirType type) {
  return mlirTypeIsAFloat8E4M3FN(type) ? &e4m3
         : mlirTypeIsAFloat8E5M2(type) ? &e5m2
                                       : NULL;
}

static bool isSmall(MlirType type) {
  if (mlirTypeIsAShaped(type))
    type = mlirShapedTypeGetElementType(type);
  return mlirTypeIsAFloat(type) && mlirFloatTypeGetWidth(type) < 16;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

static MlirType i32(const gqBuilder *b) {
  return mlirIntegerTypeGet(b->context, 32);
}

static MlirValue number(const gqBuilder *b, int64_t value) {
  return gqBuildConstant(b, i32(b), value);
}

static MlirValue unary(const gqBuilder *b, const char *name, MlirValue x,
                       MlirType type) {
  return gqBuildValue(b, name, 1, &x, type);
}

static MlirValue binary(const gqBuilder *b, const char *name, MlirValue x,
                        MlirValue y) {
  MlirValue both[] = {x, y};
  return gqBuildValue(b, name, 2, both, mlirValueGetType(x));
}

/// An i32 and a constant.
static MlirValue with(const gqBuilder *b, const char *name, MlirValue x,
                      int64_t y) {
  return binary(b, name, x, number(b, y));
}

static MlirValue select(const gqBuilder *b, MlirValue condition, MlirValue x,
                        MlirValue y) {
  MlirValue operands[] = {condition, x, y};
  return gqBuildValue(b, "arith.select", 3, operands, mlirValueGetType(x));
}

/// Compares an i32 with a constant.
static MlirValue compare(const gqBuilder *b, gqPredicate predicate, MlirValue x,
                         int64_t y) {
  return gqBuildCompare(b, predicate, x, number(b, y));
}

static MlirValue asFloat(const gqBuilder *b, MlirValue bits) {
  return unary(b, "arith.bitcast", bits, mlirF32TypeGet(b->context));
}

static MlirValue asBits(const gqBuilder *b, MlirValue x) {
  return unary(b, "arith.bitcast", x, i32(b));
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// The bits of a scale of two, 0 to 255, as those of a float32.
static MlirValue buildPowerOfTwo(const gqBuilder *b, MlirValue code) {
  MlirValue bits = with(b, "arith.shli", code, 23);
  bits = select(b, compare(b, GQ_CMPI_EQ, code, 0), number(b, 0x400000), bits);
  return select(b, compare(b, GQ_CMPI_EQ, code, 255), number(b, 0x7fc00000),
                bits);
}

/// The code's magnitude as the upper bits of a float32 has another bias: the
/// product with a power of two makes up for it, denormals included.
static MlirValue buildExtended(const gqBuilder *b, const SmallFloat *type,
                               MlirValue code) {
  MlirValue magnitude = with(b, "arith.andi", code, 0x7f);
  MlirValue moved = with(b, "arith.shli", magnitude, 23 - type->mantissaBits);
  MlirValue power = number(b, (int64_t)(127 + 127 - type->bias) << 23);
  MlirValue value =
      binary(b, "arith.mulf", asFloat(b, moved), asFloat(b, power));
  MlirValue bits = asBits(b, value);
  // inf, and NaN, of which one is not told from another.
  if (type->beyond != type->nan)
    bits = select(b, compare(b, GQ_CMPI_EQ, magnitude, type->beyond),
                  number(b, 0x7f800000), bits);
  int64_t lastNumber = type->beyond != type->nan ? type->beyond : type->largest;
  bits = select(b, compare(b, GQ_CMPI_UGT, magnitude, lastNumber),
                number(b, 0x7fc00000), bits);
  MlirValue sign = with(b, "arith.shli", with(b, "arith.andi", code, 0x80), 24);
  return binary(b, "arith.ori", bits, sign);
}

/// Rounds to nearest even. Denormals by a sum whose last place is that of the
/// smallest one, the others by a sum with the bits that are left out.
static MlirValue buildTruncated(const gqBuilder *b, const SmallFloat *type,
                                MlirValue bits) {
  int shift = 23 - type->mantissaBits;
  MlirValue magnitude = with(b, "arith.andi", bits, 0x7fffffff);
  MlirValue odd =
      with(b, "arith.andi", with(b, "arith.shrui", magnitude, shift), 1);
  MlirValue sum = with(b, "arith.addi", magnitude,
                       (INT64_C(1) << (shift - 1)) - 1 -
                           ((int64_t)(127 - type->bias) << 23));
  MlirValue normal =
      with(b, "arith.shrui", binary(b, "arith.addi", sum, odd), shift);
  int64_t magic = (int64_t)(127 + 24 - type->mantissaBits - type->bias) << 23;
  MlirValue rounded = asBits(b, binary(b, "arith.addf", asFloat(b, magnitude),
                                       asFloat(b, number(b, magic))));
  MlirValue denormal = with(b, "arith.subi", rounded, magic);
  int64_t smallest = (int64_t)(127 + 1 - type->bias) << 23;
  MlirValue code =
      select(b, compare(b, GQ_CMPI_ULT, magnitude, smallest), denormal, normal);
  // Compared unsigned, so that values too large for a code are too.
  code = select(b, compare(b, GQ_CMPI_UGT, code, type->largest),
                number(b, type->beyond), code);
  code = select(b, compare(b, GQ_CMPI_UGT, magnitude, 0x7f800000),
                number(b, type->nan), code);
  MlirValue sign =
      with(b, "arith.andi", with(b, "arith.shrui", bits, 24), 0x80);
  return binary(b, "arith.ori", code, sign);
}

static void replace(MlirOperation op, MlirValue by) {
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), by);
  mlirOperationDestroy(op);
}

static bool expandExtension(MlirOperation op) {
  MlirValue from = mlirOperationGetOperand(op, 0);
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  MlirType small = mlirValueGetType(from);
  const SmallFloat *format = smallFloatOf(small);
  if (!format && !mlirTypeIsAFloat8E8M0FNU(small))
    return gqOpError(op, "converts a small float that is neither f8E4M3FN, "
                         "f8E5M2 nor f8E8M0FNU, or a vector of such, which has "
                         "no lowering here");
  gqBuilder b = gqBuilderBefore(op);
  MlirType i8 = mlirIntegerTypeGet(b.context, 8);
  MlirValue code =
      unary(&b, "arith.extui", unary(&b, "arith.bitcast", from, i8), i32(&b));
  MlirValue value = asFloat(&b, format ? buildExtended(&b, format, code)
                                       : buildPowerOfTwo(&b, code));
  if (!mlirTypeIsAF32(type))
    value = unary(
        &b, mlirFloatTypeGetWidth(type) > 32 ? "arith.extf" : "arith.truncf",
        value, type);
  replace(op, value);
  return true;
}

static bool expandTruncation(MlirOperation op) {
  MlirValue from = mlirOperationGetOperand(op, 0);
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  const SmallFloat *format = smallFloatOf(type);
  MlirType wide = mlirValueGetType(from);
  if (!format || !gqIsFloat(wide))
    return gqOpError(op, "rounds to a small float other than f32, bf16 or f16 "
                         "to f8E4M3FN or f8E5M2, which has no lowering here");
  if (!mlirAttributeIsNull(gqGetAttribute(op, "roundingmode")))
    return gqOpError(op, "rounds to a small float with a 'roundingmode', which "
                         "has no lowering here");
  gqBuilder b = gqBuilderBefore(op);
  if (!mlirTypeIsAF32(wide))
    from = unary(&b, "arith.extf", from, mlirF32TypeGet(b.context));
  MlirValue code = buildTruncated(&b, format, asBits(&b, from));
  MlirType i8 = mlirIntegerTypeGet(b.context, 8);
  replace(op, unary(&b, "arith.bitcast", unary(&b, "arith.trunci", code, i8),
                    type));
  return true;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Scalar arithmetic with an operand or a result of a small type.
static bool isOfSmallFloats(MlirOperation op) {
  if (!gqIsOfDialect(op, "arith.") && !gqIsOfDialect(op, "math."))
    return false;
  bool any = false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); ++i)
    any |= isSmall(mlirValueGetType(mlirOperationGetOperand(op, i)));
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); ++i)
    any |= isSmall(mlirValueGetType(mlirOperationGetResult(op, i)));
  return any;
}

static bool expand(MlirOperation op) {
  static const char *const moves[] = {"arith.constant", "arith.select",
                                      "arith.bitcast", NULL};
  if (gqIsNamed(op, "arith.extf"))
    return expandExtension(op);
  if (gqIsNamed(op, "arith.truncf"))
    return expandTruncation(op);
  return gqIsOneOf(op, moves) ||
         gqOpError(op, "computes with a float of less than 16 bits, which has "
                       "no lowering here; extend it first");
}

MlirLogicalResult gqExpandSmallFloats(MlirOperation root) {
  gqOpList ops = gqCollect(root, isOfSmallFloats);
  bool valid = true;
  for (intptr_t i = 0; i < ops.size; ++i)
    valid &= expand(ops.ops[i]);
  gqOpListFree(&ops);
  return valid ? mlirLogicalResultSuccess() : mlirLogicalResultFailure();
}
