//===- Blocks.h - blocks of any format on the GPU ----------------*- C -*-===//
//
// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formulas of codecs/ and scalers/ in the instructions of the chip; the
// bytes are the same. Formats, recipes and element types are constants, which
// select.
//
// The unit is 16 elements, a block of nvfp4, half of one of the MX formats, an
// eighth of a row of blockwise fp8: from the largest magnitude of the block
// comes a scale and a factor, from the factor and the elements come the codes.
//
//===----------------------------------------------------------------------===//

#ifndef GQ_KERNELS_KERNELS_BLOCKS_H
#define GQ_KERNELS_KERNELS_BLOCKS_H

#include "gq/Runtime/Types.h"
#include "runtime_kernels/arch/Nvptx.h"
#include "runtime_kernels/codecs/E8M0.h"

enum {
  GQ_DEV_UNIT = 16,
};

//===----------------------------------------------------------------------===//
// Elements as they are held: two of 16 bits or one of 32 in a word
//===----------------------------------------------------------------------===//

/// `type` is GQ_BF16, GQ_F16 or GQ_F32.
GQ_DEV uint32_t gq_dev_elements_per_word(gqElementType type) {
  return type == GQ_F32 ? 1 : 2;
}

/// Packs floats whose values are of `type`.
GQ_DEV uint32_t gq_dev_pack(gqElementType type, const float *x) {
  return type == GQ_BF16  ? gq_dev_pack_bf16(x[0], x[1])
         : type == GQ_F16 ? gq_dev_pack_f16(x[0], x[1])
                          : gq_dev_f32_bits(x[0]);
}

GQ_DEV void gq_dev_unpack(gqElementType type, uint32_t word, float *x) {
  if (type == GQ_F32) {
    x[0] = gq_dev_f32_from_bits(word);
  } else if (type == GQ_BF16) {
    x[0] = gq_dev_f32_from_bits(word << 16);
    x[1] = gq_dev_f32_from_bits(word & 0xffff0000);
  } else {
    x[0] = gq_dev_f32_from_f16_native((uint16_t)word);
    x[1] = gq_dev_f32_from_f16_native((uint16_t)(word >> 16));
  }
}

/// The larger magnitudes of two words, place by place; signs are arbitrary, NaN
/// is dropped.
GQ_DEV uint32_t gq_dev_max_word(gqElementType type, uint32_t a, uint32_t b) {
  return type == GQ_BF16 ? gq_dev_max_magnitude_bf16x2(a, b)
         : type == GQ_F16
             ? gq_dev_max_magnitude_f16x2(a, b)
             : gq_dev_f32_bits(gq_dev_max_magnitude(gq_dev_f32_from_bits(a),
                                                    gq_dev_f32_from_bits(b)));
}

/// The same of the first `count` of 16 words, a power of two.
///
/// Here and elsewhere a loop goes as far as it ever does and skips what there
/// is not, so that it is unrolled before its bound is known to be constant.
GQ_DEV uint32_t gq_dev_max_words(gqElementType type,
                                 const uint32_t words[GQ_DEV_UNIT],
                                 uint32_t count) {
  uint32_t m[GQ_DEV_UNIT];
  for (uint32_t i = 0; i < GQ_DEV_UNIT; ++i)
    m[i] = words[i];
  for (uint32_t n = GQ_DEV_UNIT / 2; n; n /= 2)
    for (uint32_t i = 0; i < n; ++i)
      if (n < count)
        m[i] = gq_dev_max_word(type, m[i], m[i + n]);
  return m[0];
}

/// Magnitudes of a word that may be NaN: NaN is 0. So is what is not there.
GQ_DEV void gq_dev_unpack_amax(gqElementType type, uint32_t word,
                               float amax[2]) {
  amax[1] = 0.0f;
  gq_dev_unpack(type, word, amax);
  for (int i = 0; i < 2; ++i)
    amax[i] = gq_dev_max_number(__builtin_fabsf(amax[i]), 0.0f);
}

/// The largest of a word.
GQ_DEV float gq_dev_amax_of_word(gqElementType type, uint32_t word) {
  float x[2] = {0.0f, 0.0f};
  gq_dev_unpack(type, word, x);
  return gq_dev_max_number(
      gq_dev_max_number(__builtin_fabsf(x[0]), __builtin_fabsf(x[1])), 0.0f);
}

//===----------------------------------------------------------------------===//
// Division
//===----------------------------------------------------------------------===//

/// a / b rounded. The division of the compiler is a call where operands are
/// unusual, and its registers cost more than they are worth here.
///
/// The quotient of two floats is the middle between two others or 2^-49 of it
/// away, which an error of the last place of a float64 cannot bridge.
GQ_DEV float gq_dev_divide(float a, float b) {
  double approx = gq_dev_reciprocal_approx64(b);
  double inverse = approx;
  for (int i = 0; i < 2; ++i)
    inverse = gq_dev_fma64(gq_dev_fma64(-b, inverse, 1.0), inverse, inverse);
  double quotient = a * inverse;
  quotient = gq_dev_fma64(gq_dev_fma64(-b, quotient, a), inverse, quotient);
  // NaN where one of them is 0 or inf.
  return (float)(quotient == quotient ? quotient : a * approx);
}

/// 1 / x if that and x are normal: the rounded quotient, as one Newton step
/// from an approximation that is off by one unit of the last place gives it.
GQ_DEV float gq_dev_reciprocal(float x) {
  float approx = gq_dev_reciprocal_approx(x);
  return gq_dev_fma(gq_dev_fma(-x, approx, 1.0f), approx, approx);
}

/// amax / 6 rounded, of an amax in [2^-100, the largest float]: the remainder
/// of a first quotient corrects it.
GQ_DEV float gq_dev_sixth_of(float amax) {
  const float sixth = 1.0f / 6.0f;
  float quotient = amax * sixth;
  return gq_dev_fma(gq_dev_fma(-6.0f, quotient, amax), sixth, quotient);
}

//===----------------------------------------------------------------------===//
// The outer scale of nvfp4
//===----------------------------------------------------------------------===//

/// Of nvfuser the global scale, of te what the outer amax makes of it.
typedef struct gq_dev_outer {
  /// What the largest magnitude of a block is multiplied by: the scale with
  /// nvfuser, which divides by 6 first, a sixth of it with te.
  float factor;
  /// 1 / the scale.
  float inverse;
} gq_dev_outer;

/// `x` is the global scale or the outer amax. With a recipe of no such scale
/// use gq_dev_no_outer.
GQ_DEV gq_dev_outer gq_dev_outer_from(gqRecipe recipe, float x) {
  float scale = x;
  if (recipe == GQ_RECIPE_TE) {
    scale = gq_dev_min(gq_dev_divide(2688.0f, x), GQ_DEV_F32_MAX);
    scale = x == 0.0f || scale == 0.0f ? 1.0f : scale;
  }
  return (gq_dev_outer){
      .factor = recipe == GQ_RECIPE_TE ? scale * (1.0f / 6.0f) : scale,
      .inverse = gq_dev_divide(1.0f, scale),
  };
}

GQ_DEV gq_dev_outer gq_dev_no_outer(gqRecipe recipe) {
  return (gq_dev_outer){
      .factor = recipe == GQ_RECIPE_TE ? 1.0f / 6.0f : 1.0f,
      .inverse = 1.0f,
  };
}

//===----------------------------------------------------------------------===//
// e2m1
//===----------------------------------------------------------------------===//

/// How elements come to gq_dev_e2m1x8.
typedef enum gq_dev_e2m1_way {
  /// As they are; any.
  GQ_DEV_E2M1_NATIVE,
  /// Times 2^-6. Magnitudes up to 6.9 are rounded, inf and NaN saturate, what
  /// lies between must not occur.
  GQ_DEV_E2M1_ROUNDED,
  /// Times 2^-14. They lie on the middle between two codes or 2^-9 away from
  /// it, so that rounding to f16 first changes nothing.
  GQ_DEV_E2M1_SPACED,
} gq_dev_e2m1_way;

/// The way for elements of `type`: a constant. Quotients of bf16 by an e4m3
/// scale or a power of two are spaced.
GQ_DEV gq_dev_e2m1_way gq_dev_e2m1_way_of(gqElementType type, bool hasOuter) {
#if __CUDA_ARCH__ >= 1000
  (void)type, (void)hasOuter;
  return GQ_DEV_E2M1_NATIVE;
#else
  return type == GQ_BF16 && !hasOuter ? GQ_DEV_E2M1_SPACED
                                      : GQ_DEV_E2M1_ROUNDED;
#endif
}

/// What 1 comes as.
GQ_DEV float gq_dev_e2m1_one(gq_dev_e2m1_way way) {
  return way == GQ_DEV_E2M1_SPACED    ? 0x1p-14f
         : way == GQ_DEV_E2M1_ROUNDED ? 0x1p-6f
                                      : 1.0f;
}

/// 2^6 y rounded to the grid of e2m1, and its sign lost if that is 0; NaN for
/// inf and what overflows. Likewise times 2^-6.
///
/// Let b be y, but at least 1. The unit of the last place of b * 2^22 is half
/// the power of two at or below b, which is the step of the grid there. So b *
/// 2^22 - y is rounded to the grid, ties to even, and what b * 2^22 exceeds it
/// by is y rounded. The difference may lie below the power of two where the
/// unit is finer: then y is next to that power and rounds to it all the same.
/// At 1, where everything below is rounded, 2^-22 keeps it above. (With a sum
/// for the difference the largest numbers below 2 and 4 would go wrong.)
GQ_DEV float gq_dev_e2m1_round(float y) {
  float b = gq_dev_max_magnitude(y, 0x1.000004p-6f);
  float difference = gq_dev_fma(b, 0x1p22f, -y);
  return gq_dev_fma(b, 0x1p22f, -difference);
}

/// 2^-6 is the smallest normal e4m3: up to 6 times that, denormals included,
/// its codes are those of e2m1 shifted by two. The conversion packs them, of y
/// itself it packs the signs.
GQ_DEV uint32_t gq_dev_e2m1x8_rounded(const float y[8]) {
  float r[8];
  for (int i = 0; i < 8; ++i)
    r[i] = gq_dev_e2m1_round(y[i]);
  uint32_t even = gq_dev_e4m3x4_from_f32(r[0], r[2], r[4], r[6]);
  uint32_t odd = gq_dev_e4m3x4_from_f32(r[1], r[3], r[5], r[7]);
  uint32_t evenSigns = gq_dev_e4m3x4_from_f32(y[0], y[2], y[4], y[6]);
  uint32_t oddSigns = gq_dev_e4m3x4_from_f32(y[1], y[3], y[5], y[7]);
  return (even >> 2 & 0x07070707) | (odd << 2 & 0x70707070) |
         (evenSigns >> 4 & 0x08080808) | (oddSigns & 0x80808080);
}

/// Of a pair: bits 9 to 11 and 25 to 27 of the result are the magnitudes of the
/// codes, bits 15 and 31 their signs.
///
/// 2^-14 is the smallest normal f16, so that from bit 9 on an f16 times 2^14 is
/// an e2m1, denormals and all. What is left is to round there, ties to even.
GQ_DEV uint32_t gq_dev_e2m1_of_f16_pair(float low, float high) {
  uint32_t halves = gq_dev_min_magnitude_f16x2(gq_dev_f16x2_from_f32(low, high),
                                               0x0e000e00); // 6
  return halves + (halves >> 9 & 0x00010001) + 0x00ff00ff;
}

GQ_DEV uint32_t gq_dev_e2m1x8_spaced(const float y[8]) {
  uint32_t pairs[4];
  for (int i = 0; i < 4; ++i)
    pairs[i] = gq_dev_e2m1_of_f16_pair(y[i], y[i + 4]);
  // A byte an element: the sign, three zeros, the magnitude, and a rest.
  uint32_t even = gq_dev_permute(pairs[0], pairs[2], 0x7351);
  uint32_t odd = gq_dev_permute(pairs[1], pairs[3], 0x7351);
  even = gq_dev_select_bits(0x08080808, even >> 4, even >> 1);
  odd = gq_dev_select_bits(0x80808080, odd, odd << 3);
  return gq_dev_select_bits(0xf0f0f0f0, odd, even);
}

/// The codes of y[0] to y[7], y[0] in the lowest nibble.
GQ_DEV uint32_t gq_dev_e2m1x8(gq_dev_e2m1_way way, const float y[8]) {
#if __CUDA_ARCH__ >= 1000
  (void)way;
  return gq_dev_e2m1x8_native(y);
#else
  return way == GQ_DEV_E2M1_SPACED ? gq_dev_e2m1x8_spaced(y)
                                   : gq_dev_e2m1x8_rounded(y);
#endif
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

/// Whether the codes of a format are e5m2.
GQ_DEV bool gq_dev_is_e5m2(gqFormat format) {
  return gqFormatGetTraits(format).dataType == GQ_F8E5M2;
}

/// The bytes of the codes of a unit, in the order of y: 2 words of 4 bits or 4
/// of 8. For 4 bits y comes as `way` says.
GQ_DEV void gq_dev_codes(gqFormat format, gq_dev_e2m1_way way,
                         const float y[GQ_DEV_UNIT], uint32_t codes[4]) {
  if (gqFormatGetTraits(format).dataBits == 4) {
    codes[0] = gq_dev_e2m1x8(way, y);
    codes[1] = gq_dev_e2m1x8(way, y + 8);
    return;
  }
  for (int i = 0; i < GQ_DEV_UNIT; i += 4)
    codes[i / 4] =
        gq_dev_is_e5m2(format)
            ? gq_dev_e5m2x4_from_f32(y[i], y[i + 1], y[i + 2], y[i + 3])
            : gq_dev_e4m3x4_from_f32(y[i], y[i + 1], y[i + 2], y[i + 3]);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// gq_dev_nvfp4_block of bf16 without an outer scale, for spaced conversion. A
/// scale below 2^-10 is 0 and one above 448 is 448, so that neither the last
/// bit of a tiny sixth nor the saturation of inf is needed.
///
/// An element has 8 significant bits and a scale 4, so that their quotient is
/// the middle between two codes or well away from it. Two middles need care,
/// because the product with the rounded reciprocal, which counts, is beside
/// them: 5/4, 5/2 and 5 are exceeded when the scale is 15 times a power of two,
/// and the largest float, which stands for 1 / 0, stays below all of them. The
/// factors here are off by as much as it takes to show in an f16.
GQ_DEV uint32_t gq_dev_nvfp4_block_spaced(const float x[GQ_DEV_UNIT],
                                          float amax, float y[GQ_DEV_UNIT]) {
  float bounded = gq_dev_min(amax, GQ_DEV_F32_MAX);
  uint32_t code = gq_dev_e4m3x2_from_f32(gq_dev_sixth_of(bounded), 0.0f);
  float decoded = gq_dev_f32_from_e4m3_code(code);
  bool fifteen = (~gq_dev_f32_bits(decoded) & 0x700000) == 0;
  float inverse = gq_dev_min(gq_dev_reciprocal_approx(decoded), 0x1.ff8p127f) *
                  (fifteen ? 0x1.004p-14f : 0x1p-14f);
  for (int i = 0; i < GQ_DEV_UNIT; ++i)
    y[i] = x[i] * inverse;
  return code;
}

/// Scales a block of nvfp4: `y` becomes what gq_dev_codes takes. Returns the
/// scale byte. `hasOuter` is a constant; without, `outer` is not looked at.
///
/// A block whose scale is a normal e4m3 needs no clamping, since it cannot
/// exceed 6 by more than the scale was rounded down, and with an outer scale
/// that is not too far from 1 no corner of a division. All other blocks take
/// branches.
GQ_DEV uint32_t gq_dev_nvfp4_block(gqRecipe recipe, bool hasOuter,
                                   gq_dev_outer outer, gq_dev_e2m1_way way,
                                   const float x[GQ_DEV_UNIT], float amax,
                                   float y[GQ_DEV_UNIT]) {
  if (!hasOuter)
    outer = gq_dev_no_outer(recipe);
  float scale;
  if (recipe == GQ_RECIPE_TE) {
    scale = amax * outer.factor;
  } else {
    scale = gq_dev_sixth_of(hasOuter ? amax : gq_dev_min(amax, GQ_DEV_F32_MAX));
    if (hasOuter)
      scale *= outer.factor;
  }
  uint32_t code = gq_dev_e4m3x2_from_f32(scale, 0.0f);
  float decoded = gq_dev_f32_from_e4m3_code(code);
  if (hasOuter)
    decoded *= outer.inverse;
  float one = gq_dev_e2m1_one(way);
  float inverse = gq_dev_reciprocal(decoded);
  if (!hasOuter) // that of 0 is NaN
    inverse = gq_dev_min(inverse, GQ_DEV_F32_MAX);
  inverse *= one;
  bool regular = scale >= 0x1p-6f && scale <= 448.0f;
  if (hasOuter)
    regular &= outer.factor >= 0x1p-60f && outer.factor <= 0x1p60f;
  if (hasOuter && __builtin_expect(!regular, 0)) {
    scale = recipe == GQ_RECIPE_TE ? amax * outer.factor
                                   : gq_dev_divide(amax, 6.0f) * outer.factor;
    code = gq_dev_e4m3x2_from_f32(gq_dev_min(scale, GQ_DEV_F32_MAX), 0.0f);
    decoded = gq_dev_f32_from_e4m3_code(code) * outer.inverse;
    inverse = gq_dev_min(gq_dev_divide(1.0f, decoded), GQ_DEV_F32_MAX);
  }
  for (int i = 0; i < GQ_DEV_UNIT; ++i)
    y[i] = x[i] * inverse;
  if (__builtin_expect(!regular, 0)) {
    // Here the inverse does not have the factor if it comes from the branch
    // above: it may be too small for that.
    for (int i = 0; i < GQ_DEV_UNIT; ++i)
      y[i] = hasOuter ? gq_dev_min_magnitude(y[i], 6.0f) * one
                      : gq_dev_min_magnitude(y[i], 6.0f * one);
  }
  return code;
}

/// The same of a unit of an MX block of largest magnitude `amax`.
GQ_DEV uint32_t gq_dev_mx_block(gqFormat format, gq_dev_e2m1_way way,
                                const float x[GQ_DEV_UNIT], float amax,
                                float y[GQ_DEV_UNIT]) {
  float max = format == GQ_FORMAT_MXFP8_E4M3   ? 448.0f
              : format == GQ_FORMAT_MXFP8_E5M2 ? 57344.0f
                                               : 6.0f;
  uint32_t code = gq_dev_e8m0_from_f32(amax * (1.0f / max));
  float inverse = gq_dev_f32_from_e8m0_inverse((uint8_t)code);
  if (format == GQ_FORMAT_MXFP4)
    inverse *= gq_dev_e2m1_one(way);
  for (int i = 0; i < GQ_DEV_UNIT; ++i)
    y[i] = x[i] * inverse;
  return code;
}

/// What a block's largest magnitude makes of it.
typedef struct gq_dev_block {
  /// As it is stored: a byte, or the bits of a float.
  uint32_t scale;
  /// What elements are multiplied by.
  float factor;
} gq_dev_block;

/// A block of fp8 with a scale that is a float.
GQ_DEV gq_dev_block gq_dev_fp8_scale(gqFormat format, float amax) {
  float max = gq_dev_is_e5m2(format) ? 57344.0f : 448.0f;
  float inverse = gq_dev_reciprocal(amax);
  float scale = max * inverse;
  scale = gq_dev_fma(gq_dev_fma(-amax, scale, max), inverse, scale);
  float stored = gq_dev_reciprocal(scale);
  if (__builtin_expect(!(amax >= 0x1p-100f && amax <= 0x1p100f), 0)) {
    scale = gq_dev_min(gq_dev_divide(max, amax), GQ_DEV_F32_MAX);
    scale = amax > 0.0f && amax <= GQ_DEV_F32_MAX ? scale : 1.0f;
    stored = gq_dev_divide(1.0f, scale);
  }
  return (gq_dev_block){gq_dev_f32_bits(stored), scale};
}

/// gq_dev_nvfp4_block of a unit of such a block.
GQ_DEV uint32_t gq_dev_fp8_block(gqFormat format, const float x[GQ_DEV_UNIT],
                                 float amax, float y[GQ_DEV_UNIT]) {
  gq_dev_block block = gq_dev_fp8_scale(format, amax);
  for (int i = 0; i < GQ_DEV_UNIT; ++i)
    y[i] = x[i] * block.factor;
  return block.scale;
}

/// A unit of any format.
GQ_DEV uint32_t gq_dev_scale_block(gqFormat format, gqRecipe recipe,
                                   bool hasOuter, gq_dev_outer outer,
                                   gq_dev_e2m1_way way,
                                   const float x[GQ_DEV_UNIT], float amax,
                                   float y[GQ_DEV_UNIT]) {
  if (gqFormatGetTraits(format).scaleType == GQ_F32)
    return gq_dev_fp8_block(format, x, amax, y);
  if (format != GQ_FORMAT_NVFP4)
    return gq_dev_mx_block(format, way, x, amax, y);
  if (way == GQ_DEV_E2M1_SPACED)
    return gq_dev_nvfp4_block_spaced(x, amax, y);
  return gq_dev_nvfp4_block(recipe, hasOuter, outer, way, x, amax, y);
}

#endif // GQ_KERNELS_KERNELS_BLOCKS_H
