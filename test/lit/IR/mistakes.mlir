// Mistakes of users, and the messages; docs/notes/messages.md has the former ones.

// RUN: gq-opt %s --split-input-file -verify-diagnostics

// 1. An unknown format.
func.func @format(%x: tensor<8x64xbf16>, %q: tensor<8x64xf4E2M1FN>, %s: tensor<8x4xf8E4M3FN>) {
  // expected-error @+1 {{custom op 'gq.block_quantize' expected one of nvfp4, mxfp4}}
  %0:2 = gq.block_quantize format(nvfp8) ins(%x : tensor<8x64xbf16>)
      outs(%q, %s : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>)
      -> tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>
  return
}

// -----
// 2. An unknown recipe.
func.func @recipe(%x: tensor<8x64xbf16>, %o: tensor<4xi32>, %q: tensor<8x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{custom op 'gq.grouped_block_quantize' expected one of nvfuser, te}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) recipe(transformer_engine)
      ins(%x : tensor<8x64xbf16>) groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<8x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<8x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----
// 3. An unknown scale layout.
func.func @layout(%x: tensor<8x64xbf16>, %o: tensor<4xi32>, %q: tensor<8x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{custom op 'gq.grouped_block_quantize' expected one of linear, tile128x4}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) scale_layout(tiled)
      ins(%x : tensor<8x64xbf16>) groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<8x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<8x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----
// 4. An unknown rounding.
func.func @rounding(%x: tensor<8x64xbf16>, %o: tensor<4xi32>, %q: tensor<8x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{custom op 'gq.grouped_block_quantize' expected one of nearest, stochastic}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) rowwise<rounding = random>
      ins(%x : tensor<8x64xbf16>) groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<8x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<8x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----
// 5. A misspelled property of a direction.
func.func @property(%x: tensor<8x64xbf16>, %o: tensor<4xi32>, %q: tensor<8x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{custom op 'gq.grouped_block_quantize' expected one of rounding, transform, signs, block, outer, four_over_six, scale_max}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) rowwise<blocks = 16x16>
      ins(%x : tensor<8x64xbf16>) groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<8x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<8x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----
// 6. An input of f64.
func.func @input_f64(%x: tensor<8x64xf64>, %o: tensor<4xi32>, %q: tensor<8x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{'gq.grouped_block_quantize' op requires 'inputs' to be a 0D, 1D or 2D tensor or memref of f32, bf16 or f16, but got tensor<8x64xf64>}}
  %0:2 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<8x64xf64>) groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<8x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<8x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----
// 7. Offsets of i16.
func.func @offsets_i16(%x: tensor<8x64xbf16>, %o: tensor<4xi16>, %q: tensor<8x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{'gq.grouped_block_quantize' op requires 'offsets' to be a 1D tensor or memref of i32 or i64, but got tensor<4xi16>}}
  %0:2 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<8x64xbf16>) groups(%o : tensor<4xi16>)
      outs(%q, %s : tensor<8x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<8x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----
// 8. Activations that were not quantized.
func.func @mm_bf16(%a: tensor<8x64xbf16>, %b: tensor<3x32x64xf4E2M1FN>, %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>,
    %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<8x32xbf16>) {
  // expected-error @+1 {{'gq.grouped_mm' op requires 'a' to be a 2D tensor or memref of f4E2M1FN, i8, f8E4M3FN or f8E5M2, but got tensor<8x64xbf16>}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<8x64xbf16>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<8x32xbf16>) -> tensor<8x32xbf16>
  return
}

// -----
// 9. Activations of rank 3, as with a batch.
func.func @rank(%x: tensor<2x8x64xbf16>, %q: tensor<8x64xf4E2M1FN>, %s: tensor<8x4xf8E4M3FN>) {
  // expected-error @+1 {{'gq.block_quantize' op requires 'input' to be a 2D tensor or memref of f32, bf16 or f16, but got tensor<2x8x64xbf16>}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<2x8x64xbf16>)
      outs(%q, %s : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>)
      -> tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>
  return
}

// -----
// 10. Scales of the wrong f8.
func.func @scales_e5m2(%x: tensor<8x64xbf16>, %q: tensor<8x64xf4E2M1FN>, %s: tensor<8x4xf8E5M2>) {
  // expected-error @+1 {{'gq.block_quantize' op requires 'scales' to be a 2D tensor or memref of f8E4M3FN, f8E8M0FNU or f32, but got tensor<8x4xf8E5M2>}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<8x64xbf16>)
      outs(%q, %s : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E5M2>)
      -> tensor<8x64xf4E2M1FN>, tensor<8x4xf8E5M2>
  return
}

// -----
// 11. Scales of another format.
func.func @scales_of_mx(%x: tensor<8x64xbf16>, %q: tensor<8x64xf4E2M1FN>, %s: tensor<8x4xf8E8M0FNU>) {
  // expected-error @+1 {{'gq.block_quantize' op requires 'scales' to be of f8E4M3FN for format(nvfp4), not f8E8M0FNU}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<8x64xbf16>)
      outs(%q, %s : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E8M0FNU>)
      -> tensor<8x64xf4E2M1FN>, tensor<8x4xf8E8M0FNU>
  return
}

// -----
// 12. A result of another type than its destination.
func.func @result(%x: tensor<8x64xbf16>, %q: tensor<?x64xf4E2M1FN>, %s: tensor<8x4xf8E4M3FN>) {
  // expected-error @+1 {{'gq.block_quantize' op requires the result of 'data' to be of its type tensor<?x64xf4E2M1FN>, but got tensor<8x64xf4E2M1FN>}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<8x64xbf16>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>)
      -> tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>
  return
}

// -----
// 13. A result is missing.
func.func @results(%x: tensor<8x64xbf16>, %q: tensor<8x64xf4E2M1FN>, %s: tensor<8x4xf8E4M3FN>) {
  // expected-error @+1 {{'gq.block_quantize' op requires a result for each tensor that it writes, 2 in all, but has 1}}
  %0 = gq.block_quantize format(nvfp4) ins(%x : tensor<8x64xbf16>)
      outs(%q, %s : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>)
      -> tensor<8x64xf4E2M1FN>
  return
}

// -----
// 14. i8 data with one column per element.
func.func @unpacked(%x: tensor<8x64xbf16>, %o: tensor<4xi32>, %q: tensor<8x64xi8>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{'gq.grouped_block_quantize' op requires 32 columns of 'data' for K = 64, since i8 holds two codes, but got 64}}
  %0:2 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<8x64xbf16>) groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<8x64xi8>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<8x64xi8>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----
// 15. The same with a producer.
func.func @unpacked_producer(%x: tensor<8x64xbf16>, %o: tensor<4xi32>, %q: tensor<8x64xi8>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{'gq.grouped_block_quantize' op requires 32 columns of 'data' for K = 64, since i8 holds two codes, but got 64}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<8x64xbf16>)
      maps [affine_map<(m, k) -> (m, k)>] groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<8x64xi8>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<8x64xi8>, tensor<?x4xf8E4M3FN, #gq.tile128x4> producer {
    ^bb0(%e: bf16):
      %n = arith.negf %e : bf16
      gq.yield %n : bf16
    }
  return
}

// -----
// 16. The same where it is dequantized.
func.func @unpacked_back(%q: tensor<8x64xi8>, %s: tensor<8x4xf8E4M3FN>, %x: tensor<8x64xbf16>) {
  // expected-error @+1 {{'gq.block_dequantize' op requires 'data' to be 8x32 of i8, two codes each, but got 8x64}}
  %0 = gq.block_dequantize format(nvfp4) ins(%q, %s : tensor<8x64xi8>, tensor<8x4xf8E4M3FN>)
      outs(%x : tensor<8x64xbf16>) -> tensor<8x64xbf16>
  return
}

// -----
// 17. Linear scales with the offsets of tiles.
func.func @linear_offsets(%x: tensor<8x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>, %q: tensor<8x64xf4E2M1FN>, %s: tensor<8x4xf8E4M3FN>) {
  // expected-error @+1 {{'gq.grouped_block_quantize' op requires no 'scale_offsets' for scale_layout(linear): they say where the tiles of a group begin}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) scale_layout(linear)
      ins(%x : tensor<8x64xbf16>) groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>)
      -> tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>
  return
}

// -----
// 18. Weights whose scales are still linear.
func.func @linear_b_scales(%a: tensor<8x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>, %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>,
    %sb: tensor<3x32x4xf8E4M3FN>, %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<8x32xbf16>) {
  // expected-error @+1 {{'gq.grouped_mm' op requires 'b_scales' to have the encoding #gq.tile128x4; gq.preprocess_grouped_matmul_sf converts linear scales}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<8x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x32x4xf8E4M3FN>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<8x32xbf16>) -> tensor<8x32xbf16>
  return
}

// -----
// 19. Activations whose scales are still linear.
func.func @linear_a_scales(%a: tensor<8x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>, %sa: tensor<8x4xf8E4M3FN>,
    %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<8x32xbf16>) {
  // expected-error @+1 {{'gq.grouped_mm' op requires 'a_scales' to have the encoding #gq.tile128x4; gq.preprocess_grouped_matmul_sf converts linear scales}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<8x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<8x4xf8E4M3FN>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<8x32xbf16>) -> tensor<8x32xbf16>
  return
}

// -----
// 20. A destination for linear scales where tiles are written.
func.func @linear_out(%x: tensor<8x64xbf16>, %o: tensor<4xi32>, %q: tensor<8x64xf4E2M1FN>, %s: tensor<8x4xf8E4M3FN>) {
  // expected-error @+1 {{'gq.grouped_block_quantize' op requires 'scales' to have the encoding #gq.tile128x4 for scale_layout(tile128x4)}}
  %0:2 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<8x64xbf16>) groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>)
      -> tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>
  return
}

// -----
// 21. The columnwise direction with the offsets of rowwise tiles.
func.func @columnwise_offsets(%x: tensor<8x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>, %q: tensor<?xf4E2M1FN>, %s: tensor<?xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{'gq.grouped_block_quantize' op requires no 'scale_offsets' without 'outs'}}
  %0:2 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<8x64xbf16>) groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      columnwise_outs(%q, %s : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>
  return
}

// -----
// 22. More elements than there can be.
func.func @extents(%x: memref<16777216x33554432xbf16>, %q: memref<16777216x16777216xi8>, %s: memref<16777216x2097152xf8E4M3FN>) {
  // expected-error @+1 {{'gq.block_quantize' op requires static extents of at most 2^48 elements; 'input' has more}}
  gq.block_quantize format(nvfp4) ins(%x : memref<16777216x33554432xbf16>)
      outs(%q, %s : memref<16777216x16777216xi8>, memref<16777216x2097152xf8E4M3FN>)
  return
}

// -----
// 23. Tensors and memrefs in one op.
func.func @mixed(%x: tensor<8x64xbf16>, %q: memref<8x64xf4E2M1FN>, %s: memref<8x4xf8E4M3FN>) {
  // expected-error @+1 {{'gq.block_quantize' op requires all operands to be tensors or all memrefs}}
  gq.block_quantize format(nvfp4) ins(%x : tensor<8x64xbf16>)
      outs(%q, %s : memref<8x64xf4E2M1FN>, memref<8x4xf8E4M3FN>)
  return
}

// -----
// 24. A global scale of shape [1] instead of [].
func.func @amax_rank(%x: tensor<8x64xbf16>, %g: tensor<1xf32>, %q: tensor<8x64xf4E2M1FN>, %s: tensor<8x4xf8E4M3FN>) {
  // expected-error @+1 {{'gq.block_quantize' op requires 'global_scale' to be a 0D tensor or memref of f32, but got tensor<1xf32>}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<8x64xbf16>) global_scale(%g : tensor<1xf32>)
      outs(%q, %s : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>)
      -> tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>
  return
}
