//===- test_numerics.c - codes, roundings and layouts --------------------===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The small floats are checked against a table of their values, computed from
// the definition (sign, exponent, mantissa) in float64; every rounding against
// a search for the nearest table entry.
//
//===----------------------------------------------------------------------===//

#include "Reference.h"
#include "runtime_kernels/groups/Groups.h"
#include "runtime_kernels/layout/Tile128x4.h"
#include "runtime_kernels/scalers/Block.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

//===----------------------------------------------------------------------===//
// Small floats by definition
//===----------------------------------------------------------------------===//

typedef struct SmallFloat {
  int mantissaBits;
  int bias;
  /// Code of the largest finite magnitude.
  uint32_t maxCode;
  /// What overflow becomes.
  uint32_t overflowCode;
  uint32_t signBit;
} SmallFloat;

static const SmallFloat e4m3 = {3, 7, 0x7e, 0x7e, 0x80};
static const SmallFloat e5m2 = {2, 15, 0x7b, 0x7b, 0x80};
static const SmallFloat f16 = {10, 15, 0x7bff, 0x7c00, 0x8000};
static const SmallFloat bf16 = {7, 127, 0x7f7f, 0x7f80, 0x8000};

/// The magnitude of a code; of the one after maxCode it is the value at which
/// the format would go on.
static double magnitudeOf(const SmallFloat *format, uint32_t code) {
  int exponent = (int)(code >> format->mantissaBits);
  double mantissa = code & ((1u << format->mantissaBits) - 1);
  double one = 1 << format->mantissaBits;
  if (exponent == 0)
    return ldexp(mantissa / one, 1 - format->bias);
  return ldexp(1.0 + mantissa / one, exponent - format->bias);
}

/// The code nearest to x, ties to even, by bisection over the magnitudes.
static uint32_t nearestCode(const SmallFloat *format, double x) {
  uint32_t sign = signbit(x) ? format->signBit : 0;
  double a = fabs(x);
  uint32_t low = 0, high = format->maxCode + 1;
  if (a >= magnitudeOf(format, high))
    return sign | format->overflowCode;
  while (high - low > 1) {
    uint32_t middle = (low + high) / 2;
    if (magnitudeOf(format, middle) <= a)
      low = middle;
    else
      high = middle;
  }
  double below = a - magnitudeOf(format, low);
  double above = magnitudeOf(format, high) - a;
  uint32_t code =
      below < above || (below == above && low % 2 == 0) ? low : high;
  return sign | (code > format->maxCode ? format->overflowCode : code);
}

static void assertSameBits(float x, float y) {
  assert_int_equal(gq_dev_f32_bits(x), gq_dev_f32_bits(y));
}

/// Calls `check` with every tie between neighbouring codes of the format,
/// with the codes' values, and with the float32 (or float64) just below and
/// just above each.
static void forEachNeighbourhood(const SmallFloat *format, bool wide,
                                 void (*check)(double x)) {
  for (uint32_t code = 0; code <= format->maxCode; ++code) {
    double value = magnitudeOf(format, code);
    double tie = (value + magnitudeOf(format, code + 1)) / 2;
    const double points[] = {value, tie};
    for (int i = 0; i < 2; ++i)
      for (int sign = -1; sign <= 1; sign += 2) {
        double x = sign * points[i];
        check(x);
        check(wide ? nextafter(x, INFINITY)
                   : (double)nextafterf((float)x, INFINITY));
        check(wide ? nextafter(x, -INFINITY)
                   : (double)nextafterf((float)x, -INFINITY));
      }
  }
}

//===----------------------------------------------------------------------===//
// e4m3 and e5m2
//===----------------------------------------------------------------------===//

static void testE4M3Decode(void **state) {
  (void)state;
  for (uint32_t code = 0; code < 256; ++code) {
    float x = gq_dev_f32_from_e4m3((uint8_t)code);
    if ((code & 0x7f) == 0x7f) {
      assert_true(isnan(x));
      assert_int_equal(signbit(x) != 0, code >> 7);
      continue;
    }
    double expected = magnitudeOf(&e4m3, code & 0x7f);
    assertSameBits(x, (float)(code & 0x80 ? -expected : expected));
  }
  assert_true(gq_dev_f32_from_e4m3(0x7e) == 448.0f);
  assert_true(gq_dev_f32_from_e4m3(0x01) == 0x1p-9f);
}

static void testE5M2Decode(void **state) {
  (void)state;
  for (uint32_t code = 0; code < 256; ++code) {
    float x = gq_dev_f32_from_e5m2((uint8_t)code);
    assert_int_equal(signbit(x) != 0, code >> 7);
    if ((code & 0x7f) > 0x7c)
      assert_true(isnan(x));
    else if ((code & 0x7f) == 0x7c)
      assert_true(isinf(x));
    else
      assert_true(fabs((double)x) == magnitudeOf(&e5m2, code & 0x7f));
  }
  assert_true(gq_dev_f32_from_e5m2(0x7b) == 57344.0f);
  assert_true(gq_dev_f32_from_e5m2(0x01) == 0x1p-16f);
}

/// Every finite code comes back.
static void testFp8RoundTrip(void **state) {
  (void)state;
  for (uint32_t code = 0; code < 256; ++code) {
    uint8_t byte = (uint8_t)code;
    if ((code & 0x7f) <= e4m3.maxCode)
      assert_int_equal(gq_dev_e4m3_from_f32(gq_dev_f32_from_e4m3(byte)), code);
    if ((code & 0x7f) <= e5m2.maxCode)
      assert_int_equal(gq_dev_e5m2_from_f32(gq_dev_f32_from_e5m2(byte)), code);
  }
}

static void checkE4M3(double x) {
  assert_int_equal(gq_dev_e4m3_from_f32((float)x), nearestCode(&e4m3, x));
}
static void checkE5M2(double x) {
  assert_int_equal(gq_dev_e5m2_from_f32((float)x), nearestCode(&e5m2, x));
}

static void testFp8Rounding(void **state) {
  (void)state;
  forEachNeighbourhood(&e4m3, false, checkE4M3);
  forEachNeighbourhood(&e5m2, false, checkE5M2);
  // A prime stride: 2^24 values of all exponents.
  for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += 257) {
    float x = gq_dev_f32_from_bits((uint32_t)bits);
    if (isnan(x))
      continue;
    checkE4M3((double)x);
    checkE5M2((double)x);
  }
}

static void testFp8Saturation(void **state) {
  (void)state;
  const float large[] = {448.0f, 464.0f, 465.0f, 480.0f, 1e30f, INFINITY};
  for (size_t i = 0; i < sizeof(large) / sizeof(*large); ++i) {
    assert_int_equal(gq_dev_e4m3_from_f32(large[i]), 0x7e);
    assert_int_equal(gq_dev_e4m3_from_f32(-large[i]), 0xfe);
  }
  const float larger[] = {57344.0f, 61440.0f, 65536.0f, 1e30f, INFINITY};
  for (size_t i = 0; i < sizeof(larger) / sizeof(*larger); ++i) {
    assert_int_equal(gq_dev_e5m2_from_f32(larger[i]), 0x7b);
    assert_int_equal(gq_dev_e5m2_from_f32(-larger[i]), 0xfb);
  }
  // One code for NaN of either sign and any payload.
  const uint32_t nans[] = {0x7f800001, 0x7fc00000, 0xff800001, 0xffffffff};
  for (size_t i = 0; i < sizeof(nans) / sizeof(*nans); ++i) {
    float nan = gq_dev_f32_from_bits(nans[i]);
    assert_int_equal(gq_dev_e4m3_from_f32(nan), 0x7f);
    assert_int_equal(gq_dev_e5m2_from_f32(nan), 0x7f);
  }
}

//===----------------------------------------------------------------------===//
// bf16 and f16
//===----------------------------------------------------------------------===//

static void testHalfDecode(const SmallFloat *format,
                           float (*decode)(uint16_t)) {
  for (uint32_t code = 0; code < 65536; ++code) {
    float x = decode((uint16_t)code);
    uint32_t magnitude = code & 0x7fff;
    assert_int_equal(signbit(x) != 0, code >> 15);
    if (magnitude > format->overflowCode)
      assert_true(isnan(x));
    else if (magnitude == format->overflowCode)
      assert_true(isinf(x));
    else
      assert_true(fabs((double)x) == magnitudeOf(format, magnitude));
  }
}

static float decodeBF16(uint16_t x) { return gq_dev_f32_from_bf16(x); }
static float decodeF16(uint16_t x) { return gq_dev_f32_from_f16(x); }

static void testBF16Decode(void **state) {
  (void)state;
  testHalfDecode(&bf16, decodeBF16);
}

static void testF16Decode(void **state) {
  (void)state;
  testHalfDecode(&f16, decodeF16);
}

static void checkBF16(double x) {
  assert_int_equal(gq_dev_bf16_from_f32((float)x), nearestCode(&bf16, x));
}
static void checkF16(double x) {
  assert_int_equal(gq_dev_f16_from_f32((float)x), nearestCode(&f16, x));
}
static void checkBF16FromF64(double x) {
  assert_int_equal(gq_dev_bf16_from_f64(x), nearestCode(&bf16, x));
}
static void checkF16FromF64(double x) {
  assert_int_equal(gq_dev_f16_from_f64(x), nearestCode(&f16, x));
}

static void testHalfRounding(void **state) {
  (void)state;
  forEachNeighbourhood(&bf16, false, checkBF16);
  forEachNeighbourhood(&f16, false, checkF16);
  for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += 1031) {
    float x = gq_dev_f32_from_bits((uint32_t)bits);
    if (isnan(x))
      continue;
    checkBF16((double)x);
    checkF16((double)x);
  }
}

/// A float64 next to a tie becomes the tie when it is first rounded to
/// float32, and then goes to the wrong side; the neighbourhoods hold two such
/// values for each code.
static void testHalfRoundingFromF64(void **state) {
  (void)state;
  forEachNeighbourhood(&bf16, true, checkBF16FromF64);
  forEachNeighbourhood(&f16, true, checkF16FromF64);
  const double special[] = {0.0,   0x1p-1074, 0x1p-149, 0x1p-150,
                            1e300, 0x1p128,   INFINITY, 65520.0};
  for (size_t i = 0; i < sizeof(special) / sizeof(*special); ++i)
    for (int sign = -1; sign <= 1; sign += 2) {
      checkBF16FromF64(sign * special[i]);
      checkF16FromF64(sign * special[i]);
    }
}

static bool isHalfNaN(uint16_t code, const SmallFloat *format) {
  return (code & 0x7fffu) > format->overflowCode;
}

static void testHalfNaN(void **state) {
  (void)state;
  // Payloads whose upper bits are all clear must not become inf.
  const uint32_t payloads[] = {1, 0x1000, 0x3fffff, 0x400000, 0x7fffff};
  for (size_t i = 0; i < sizeof(payloads) / sizeof(*payloads); ++i)
    for (uint32_t sign = 0; sign < 2; ++sign) {
      float x = gq_dev_f32_from_bits(sign << 31 | 0x7f800000 | payloads[i]);
      assert_true(isHalfNaN(gq_dev_bf16_from_f32(x), &bf16));
      assert_true(isHalfNaN(gq_dev_f16_from_f32(x), &f16));
      assert_int_equal(gq_dev_bf16_from_f32(x) >> 15, sign);
      assert_int_equal(gq_dev_f16_from_f32(x) >> 15, sign);
    }
  assert_true(isHalfNaN(gq_dev_bf16_from_f64((double)NAN), &bf16));
  assert_true(isHalfNaN(gq_dev_f16_from_f64((double)NAN), &f16));
}

//===----------------------------------------------------------------------===//
// e2m1
//===----------------------------------------------------------------------===//

static void checkE2M1(uint32_t bits) {
  float x = gq_dev_f32_from_bits(bits);
  uint32_t code = gq_dev_e2m1_from_f32(x), expected = referenceE2M1(x);
  if (code != expected)
    fail_msg("e2m1(%a) is %u, expected %u", (double)x, code, expected);
}

static void testE2M1Thresholds(void **state) {
  (void)state;
  const float points[] = {0.0f, 0.25f, 0.5f, 0.75f,   1.0f, 1.25f,
                          1.5f, 1.75f, 2.0f, 2.5f,    3.0f, 3.5f,
                          4.0f, 5.0f,  6.0f, INFINITY};
  for (size_t i = 0; i < sizeof(points) / sizeof(*points); ++i)
    for (uint32_t offset = 0; offset <= 0x4000; ++offset) {
      uint32_t bits = gq_dev_f32_bits(points[i]) + offset - 0x2000;
      checkE2M1(bits & 0x7fffffff);
      checkE2M1(bits | 0x80000000);
    }
}

static void testE2M1Sample(void **state) {
  (void)state;
  for (uint64_t bits = 0; bits < UINT64_C(1) << 32; bits += 251)
    checkE2M1((uint32_t)bits);
}

static void testE2M1Decode(void **state) {
  (void)state;
  const float magnitudes[] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
  for (uint32_t code = 0; code < 256; ++code) {
    float magnitude = magnitudes[code & 7];
    assertSameBits(gq_dev_f32_from_e2m1(code),
                   code & 8 ? -magnitude : magnitude);
    assert_int_equal(gq_dev_e2m1_from_f32(gq_dev_f32_from_e2m1(code)),
                     code & 15);
  }
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

static void testNvfp4Scale(void **state) {
  (void)state;
  assert_int_equal(gq_dev_nvfp4_scale(6.0f, 1.0f), 0x38);
  assert_int_equal(gq_dev_nvfp4_scale(0.0f, 1.0f), 0);
  assert_int_equal(gq_dev_nvfp4_scale(2688.0f, 1.0f), 0x7e);
  assert_int_equal(gq_dev_nvfp4_scale(INFINITY, 1.0f), 0x7e);
  // inf * 0 is dropped in favour of the largest float.
  assert_int_equal(gq_dev_nvfp4_scale(INFINITY, 0.0f), 0x7e);
  // Just below a tie, where multiplying by 1/6 would reach it.
  assert_int_equal(gq_dev_nvfp4_scale(0x1.c7fffep+0f, 1.0f), 0x29);
  assert_true(gq_dev_nvfp4_inverse(0x38, 1.0f) == 1.0f);
  assert_true(gq_dev_nvfp4_inverse(0x38, 4.0f) == 4.0f);
  assert_true(gq_dev_nvfp4_inverse(0x00, 1.0f) == GQ_DEV_F32_MAX);
}

/// Operation by operation, each rounded from float64 (which for one product or
/// quotient of floats is the same as rounding it once).
static void testNvfp4GlobalScale(void **state) {
  (void)state;
  for (int i = 1; i < 4000; ++i) {
    float globalScale = 2688.0f / (float)i;
    float reciprocal = (float)(1.0 / (double)globalScale);
    for (uint32_t scale = 1; scale <= 0x7e; ++scale) {
      float decoded = (float)(magnitudeOf(&e4m3, scale) * (double)reciprocal);
      assertSameBits(gq_dev_nvfp4_inverse((uint8_t)scale, globalScale),
                     (float)(1.0 / (double)decoded));
    }
    // The amax of a bf16 block.
    for (uint32_t code = 0x3880; code < 0x3900; ++code) {
      float amax = gq_dev_f32_from_bf16((uint16_t)code);
      float sixth = (float)((double)amax / 6.0);
      float scaled = (float)((double)sixth * (double)globalScale);
      assert_int_equal(gq_dev_nvfp4_scale(amax, globalScale),
                       nearestCode(&e4m3, (double)scaled));
    }
  }
}

static void testNvfp4TeOuter(void **state) {
  (void)state;
  assert_true(gq_dev_nvfp4_te_outer(2688.0f) == 1.0f);
  assert_true(gq_dev_nvfp4_te_outer(1344.0f) == 2.0f);
  // Nothing to scale by: no amax, or one that no scale brings down.
  assert_true(gq_dev_nvfp4_te_outer(0.0f) == 1.0f);
  assert_true(gq_dev_nvfp4_te_outer(-0.0f) == 1.0f);
  assert_true(gq_dev_nvfp4_te_outer(INFINITY) == 1.0f);
  assert_true(gq_dev_nvfp4_te_outer(0x1p-149f) == GQ_DEV_F32_MAX);
  assert_true(gq_dev_nvfp4_te_outer(NAN) == GQ_DEV_F32_MAX);
}

/// Operation by operation, in the recipe's order.
static void testNvfp4TeScale(void **state) {
  (void)state;
  const double sixth = (double)(float)(1.0 / 6.0);
  for (int i = 1; i < 4000; ++i) {
    float outerAmax = (float)i * 0.37f;
    float outer = gq_dev_nvfp4_te_outer(outerAmax);
    assertSameBits(outer, (float)(2688.0 / (double)outerAmax));
    float factor = (float)((double)outer * sixth);
    for (uint32_t code = 0x3880; code < 0x4600; code += 7) {
      float amax = gq_dev_f32_from_bf16((uint16_t)code);
      float scaled = (float)((double)amax * (double)factor);
      assert_int_equal(gq_dev_nvfp4_te_scale(amax, outer),
                       nearestCode(&e4m3, (double)scaled));
    }
  }
  assert_int_equal(gq_dev_nvfp4_te_scale(INFINITY, 1.0f), 0x7e);
  assert_int_equal(gq_dev_nvfp4_te_scale(0.0f, GQ_DEV_F32_MAX), 0);
}

/// The least power of two that is no less than amax * (1 / codeMax).
static void checkMxScale(float amax, float codeMax) {
  double reciprocal = (double)(float)(1.0 / (double)codeMax);
  float quotient = (float)((double)amax * reciprocal);
  uint32_t expected = 0;
  while (expected < 254 && ldexp(1.0, (int)expected - 127) < (double)quotient)
    ++expected;
  assert_int_equal(gq_dev_mx_scale(amax, codeMax), expected);
}

static void testMxScale(void **state) {
  (void)state;
  const float codeMax[] = {6.0f, 448.0f, 57344.0f};
  for (int i = 0; i < 3; ++i) {
    // Every bf16, and what lies next to a power of two times codeMax.
    for (uint32_t code = 0; code < 0x7f80; ++code)
      checkMxScale(gq_dev_f32_from_bf16((uint16_t)code), codeMax[i]);
    for (int exponent = -149; exponent < 128; ++exponent) {
      float amax = ldexpf(codeMax[i], exponent);
      if (!isfinite(amax))
        continue;
      checkMxScale(amax, codeMax[i]);
      checkMxScale(nextafterf(amax, 0.0f), codeMax[i]);
      if (isfinite(nextafterf(amax, INFINITY)))
        checkMxScale(nextafterf(amax, INFINITY), codeMax[i]);
    }
    assert_int_equal(gq_dev_mx_scale(INFINITY, codeMax[i]), 254);
  }
  assert_true(gq_dev_mx_inverse(254) == 0x1p-127f);
  assert_true(gq_dev_mx_inverse(0) == 0x1p127f);
}

static void testFp8BlockScale(void **state) {
  (void)state;
  for (uint64_t bits = 1; bits < 0x7f800000; bits += 1031) {
    float amax = gq_dev_f32_from_bits((uint32_t)bits);
    float expected = (float)(448.0 / (double)amax);
    if (isinf(expected))
      expected = GQ_DEV_F32_MAX;
    assertSameBits(gq_dev_fp8_block_scale(amax, 448.0f), expected);
  }
  assert_true(gq_dev_fp8_block_scale(0.0f, 448.0f) == 1.0f);
  assert_true(gq_dev_fp8_block_scale(INFINITY, 57344.0f) == 1.0f);
  assert_true(gq_dev_fp8_block_scale(0x1p-149f, 448.0f) == GQ_DEV_F32_MAX);
}

/// What is stored with each format is its scale, and the factor its inverse.
static void testBlockScales(void **state) {
  (void)state;
  const gqFormat fp8[] = {GQ_FORMAT_FP8_E4M3_1X128, GQ_FORMAT_FP8_E4M3_128X128,
                          GQ_FORMAT_FP8_E5M2_1X128, GQ_FORMAT_FP8_E5M2_128X128};
  for (int i = 0; i < 4; ++i) {
    float codeMax = i < 2 ? 448.0f : 57344.0f;
    gq_dev_block_scale scale =
        gq_dev_block_scale_from_amax(fp8[i], GQ_RECIPE_NVFUSER, 3.0f, 1.0f);
    assertSameBits(scale.factor, codeMax / 3.0f);
    assert_int_equal(scale.bits, gq_dev_f32_bits(1.0f / (codeMax / 3.0f)));
    // Denormal, not zero.
    scale = gq_dev_block_scale_from_amax(fp8[i], GQ_RECIPE_NVFUSER, 0x1p-140f,
                                         1.0f);
    assert_int_equal(scale.bits, 0x200000);
  }
  const gqFormat mx[] = {GQ_FORMAT_MXFP4, GQ_FORMAT_MXFP8_E4M3,
                         GQ_FORMAT_MXFP8_E5M2};
  const float maxima[] = {6.0f, 448.0f, 57344.0f};
  for (int i = 0; i < 3; ++i) {
    assert_true(gq_dev_code_max(mx[i]) == maxima[i]);
    gq_dev_block_scale scale =
        gq_dev_block_scale_from_amax(mx[i], GQ_RECIPE_NVFUSER, maxima[i], 1.0f);
    assert_int_equal(scale.bits, gq_dev_mx_scale(maxima[i], maxima[i]));
    assert_true(scale.factor == gq_dev_mx_inverse((uint8_t)scale.bits));
  }
  gq_dev_block_scale te = gq_dev_block_scale_from_amax(
      GQ_FORMAT_NVFP4, GQ_RECIPE_TE, 0x1.c7fffep+0f, 1.0f);
  assert_int_equal(te.bits, 0x2a); // nvfuser: 0x29, see testNvfp4Scale.
}

/// The largest magnitude is found at every place and NaN is dropped at every
/// place.
static void testAmax(void **state) {
  (void)state;
  for (int count = 8; count <= 32; count += 8)
    for (int i = 0; i < count; ++i)
      for (int j = 0; j < count; ++j) {
        float x[32];
        for (int k = 0; k < 32; ++k)
          x[k] = k < count ? (float)k / 32.0f : 100.0f;
        x[i] = -3.0f;
        if (j != i)
          x[j] = j % 2 ? NAN : -NAN;
        assert_true(gq_dev_f32_amax(x, count) == 3.0f);
      }
  float x[16];
  for (int i = 0; i < 16; ++i)
    x[i] = NAN;
  assertSameBits(gq_dev_f32_amax(x, 16), 0.0f);
}

/// Without an outer scale every code * scale product must come back exactly,
/// for every scale whose block holds the code 6.
static void testNvfp4RoundTrip(void **state) {
  (void)state;
  for (uint32_t byte = 1; byte <= 0x7e; ++byte) {
    float x[16];
    for (uint32_t i = 0; i < 16; ++i)
      x[i] = gq_dev_f32_from_e2m1(i) * gq_dev_f32_from_e4m3((uint8_t)byte);
    gq_dev_block_scale scale = gq_dev_block_scale_from_amax(
        GQ_FORMAT_NVFP4, GQ_RECIPE_NVFUSER, gq_dev_f32_amax(x, 16), 1.0f);
    assert_int_equal(scale.bits, byte);
    for (int i = 0; i < 16; ++i) {
      assert_true((double)x[i] == (double)gq_dev_f32_from_e2m1((uint32_t)i) *
                                      magnitudeOf(&e4m3, byte));
      assert_int_equal(
          gq_dev_code_from_f32(GQ_FORMAT_NVFP4, x[i] * scale.factor), i);
    }
  }
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// Against the order of the bytes: tiles of 128 rows, then of 4 columns, then
/// row modulo 32, then row / 32, then column.
static void testTileOffset(void **state) {
  (void)state;
  int64_t byte = 0;
  for (int64_t rowTile = 0; rowTile < 3; ++rowTile)
    for (int64_t columnTile = 0; columnTile < 5; ++columnTile)
      for (int64_t r = 0; r < 32; ++r)
        for (int64_t quarter = 0; quarter < 4; ++quarter)
          for (int64_t c = 0; c < 4; ++c)
            assert_int_equal(
                gq_dev_tile128x4_offset(rowTile * 128 + quarter * 32 + r,
                                        columnTile * 4 + c, 20),
                byte++);
  // Beyond 2^32.
  assert_int_equal(gq_dev_tile128x4_offset((int64_t)1 << 33, 0, 320),
                   ((int64_t)1 << 33) * 320);
}

static void testUp(void **state) {
  (void)state;
  assert_int_equal(gq_dev_up(0, 128), 0);
  assert_int_equal(gq_dev_up(1, 128), 128);
  assert_int_equal(gq_dev_up(128, 128), 128);
  assert_int_equal(gq_dev_up(129, 128), 256);
}

/// With both widths and both lengths.
static void testGroupBegin(void **state) {
  (void)state;
  enum { NUM_GROUPS = 7, NUM_ROWS = 20 };
  const int32_t narrow[NUM_GROUPS + 1] = {2, 2, 5, 5, 5, 6, 15, 18};
  int64_t wide[NUM_GROUPS + 1];
  for (int i = 0; i <= NUM_GROUPS; ++i)
    wide[i] = narrow[i];

  for (int numGroups = 0; numGroups <= NUM_GROUPS; ++numGroups)
    for (int bounded = 0; bounded < 2; ++bounded)
      for (int isWide = 0; isWide < 2; ++isWide) {
        gq_dev_groups groups = {.offsets = isWide ? (const void *)wide
                                                  : (const void *)narrow,
                                .wide = isWide,
                                .numOffsets = numGroups + bounded,
                                .numGroups = numGroups,
                                .numRows = NUM_ROWS};
        for (int64_t e = 0; e < numGroups; ++e) {
          int64_t end = bounded || e + 1 < numGroups ? narrow[e + 1] : NUM_ROWS;
          assert_int_equal(gq_dev_group_begin(groups, e), narrow[e]);
          assert_int_equal(gq_dev_group_begin(groups, e + 1), end);
        }
      }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(testE4M3Decode),
      cmocka_unit_test(testE5M2Decode),
      cmocka_unit_test(testFp8RoundTrip),
      cmocka_unit_test(testFp8Rounding),
      cmocka_unit_test(testFp8Saturation),
      cmocka_unit_test(testBF16Decode),
      cmocka_unit_test(testF16Decode),
      cmocka_unit_test(testHalfRounding),
      cmocka_unit_test(testHalfRoundingFromF64),
      cmocka_unit_test(testHalfNaN),
      cmocka_unit_test(testE2M1Thresholds),
      cmocka_unit_test(testE2M1Sample),
      cmocka_unit_test(testE2M1Decode),
      cmocka_unit_test(testNvfp4Scale),
      cmocka_unit_test(testNvfp4GlobalScale),
      cmocka_unit_test(testNvfp4TeOuter),
      cmocka_unit_test(testNvfp4TeScale),
      cmocka_unit_test(testMxScale),
      cmocka_unit_test(testFp8BlockScale),
      cmocka_unit_test(testBlockScales),
      cmocka_unit_test(testAmax),
      cmocka_unit_test(testNvfp4RoundTrip),
      cmocka_unit_test(testTileOffset),
      cmocka_unit_test(testUp),
      cmocka_unit_test(testGroupBegin),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
