// RUN: gq-opt %s -split-input-file -verify-diagnostics

// One chunk per constraint, named after the op and the constraint's number.

func.func @grouped_quantize_c1(%x: memref<?x64xbf16>, %o: memref<4xi32>, %s: memref<3xf16>, %q: memref<?x64xf8E4M3FN>) {
  // expected-error @+1 {{requires 'scale' to be a 0D or 1D tensor or memref of f32, but got memref<3xf16>}}
  gq.grouped_quantize format(fp8_e4m3) ins(%x : memref<?x64xbf16>) groups(%o : memref<4xi32>)
      scale(%s : memref<3xf16>) outs(%q : memref<?x64xf8E4M3FN>)
  return
}

// -----

func.func @grouped_quantize_c2(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %s: tensor<3xf32>, %q: tensor<?x64xf8E4M3FN>) {
  // expected-error @+1 {{requires a result for each tensor that it writes, 1 in all, but has 0}}
  gq.grouped_quantize format(fp8_e4m3) ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      scale(%s : tensor<3xf32>) outs(%q : tensor<?x64xf8E4M3FN>)
  return
}

// -----

func.func @grouped_quantize_c3(%x: memref<?x64xbf16>, %o: memref<4xi32>, %s: tensor<3xf32>, %q: memref<?x64xf8E4M3FN>) {
  // expected-error @+1 {{requires all operands to be tensors or all memrefs}}
  gq.grouped_quantize format(fp8_e4m3) ins(%x : memref<?x64xbf16>) groups(%o : memref<4xi32>)
      scale(%s : tensor<3xf32>) outs(%q : memref<?x64xf8E4M3FN>)
  return
}

// -----

func.func @grouped_quantize_c4(%x: memref<?x24xbf16>, %o: memref<4xi32>, %s: memref<3xf32>, %q: memref<?x24xf8E4M3FN>) {
  // expected-error @+1 {{requires K to be a positive multiple of 16, the block size of the format, but got 24}}
  gq.grouped_quantize format(fp8_e4m3) ins(%x : memref<?x24xbf16>) groups(%o : memref<4xi32>)
      scale(%s : memref<3xf32>) outs(%q : memref<?x24xf8E4M3FN>)
  return
}

// -----

func.func @grouped_quantize_c5(%x: memref<?x64xbf16>, %o: memref<3xi32>, %s: memref<3xf32>, %q: memref<?x64xf8E4M3FN>) {
  // expected-error @+1 {{requires 'scale' to be 2, but got 3}}
  gq.grouped_quantize format(fp8_e4m3) ins(%x : memref<?x64xbf16>) groups(%o : memref<3xi32>)
      scale(%s : memref<3xf32>) outs(%q : memref<?x64xf8E4M3FN>)
  return
}

// -----

func.func @grouped_quantize_c16(%x: memref<?x64xbf16>, %o: memref<4xi32>, %s: memref<3xf32>, %q: memref<?x64xf8E4M3FN>) {
  // expected-error @+1 {{requires data of 'outs', of 'columnwise_outs' or of both}}
  gq.grouped_quantize format(fp8_e4m3) ins(%x : memref<?x64xbf16>) groups(%o : memref<4xi32>)
      scale(%s : memref<3xf32>)
  return
}

// -----

func.func @grouped_quantize_c17(%x: memref<?x64xbf16>, %o: memref<4xi32>, %s: memref<3xf32>, %q: memref<?x64xf8E5M2>) {
  // expected-error @+1 {{requires 'data' to be of f8E4M3FN for format(fp8_e4m3)}}
  gq.grouped_quantize format(fp8_e4m3) ins(%x : memref<?x64xbf16>) groups(%o : memref<4xi32>)
      scale(%s : memref<3xf32>) outs(%q : memref<?x64xf8E5M2>)
  return
}

// -----

func.func @grouped_quantize_c22(%x: memref<?x64xbf16>, %o: memref<4xi32>, %s: memref<3xf32>, %q: memref<?x64xf8E4M3FN>) {
  // expected-error @+1 {{requires 'columnwise_data' to be of rank 1, but got 2}}
  gq.grouped_quantize format(fp8_e4m3) ins(%x : memref<?x64xbf16>) groups(%o : memref<4xi32>)
      scale(%s : memref<3xf32>) columnwise_outs(%q : memref<?x64xf8E4M3FN>)
  return
}

// -----

func.func @grouped_quantize_c24(%x: memref<?x64xbf16>, %o: memref<4xi32>, %s: memref<3xf32>, %q: memref<?x64xf8E4M3FN>, %a: memref<4xf32>) {
  // expected-error @+1 {{requires 'amax' to be 3, but got 4}}
  gq.grouped_quantize format(fp8_e4m3) ins(%x : memref<?x64xbf16>) groups(%o : memref<4xi32>)
      scale(%s : memref<3xf32>) outs(%q : memref<?x64xf8E4M3FN>) amax_out(%a : memref<4xf32>)
  return
}

// -----

func.func @grouped_quantize_c34(%x: memref<?x64xbf16>, %o: memref<4xi32>, %s: memref<3xf32>, %q: memref<?x64xf8E4M3FN>, %t: memref<?x4xf32>) {
  // expected-error @+1 {{requires no 'scales'}}
  gq.grouped_quantize format(fp8_e4m3) ins(%x : memref<?x64xbf16>) groups(%o : memref<4xi32>)
      scale(%s : memref<3xf32>) outs(%q, %t : memref<?x64xf8E4M3FN>, memref<?x4xf32>)
  return
}

// -----

func.func @grouped_quantize_c34_global_scale(%x: memref<?x64xbf16>, %o: memref<4xi32>, %s: memref<3xf32>, %q: memref<?x64xf8E4M3FN>) {
  // expected-error @+1 {{requires no 'global_scale'}}
  gq.grouped_quantize format(fp8_e4m3) ins(%x : memref<?x64xbf16>) groups(%o : memref<4xi32>)
      global_scale(%s : memref<3xf32>) outs(%q : memref<?x64xf8E4M3FN>)
  return
}

// -----

func.func @grouped_quantize_c34_scale_offsets(%x: memref<?x64xbf16>, %o: memref<4xi32>, %s: memref<3xf32>, %q: memref<?x64xf8E4M3FN>, %so: memref<3xi32>) {
  // expected-error @+1 {{requires no 'scale_offsets'}}
  gq.grouped_quantize format(fp8_e4m3) ins(%x : memref<?x64xbf16>) groups(%o, %so : memref<4xi32>, memref<3xi32>)
      scale(%s : memref<3xf32>) outs(%q : memref<?x64xf8E4M3FN>)
  return
}

// -----

func.func @grouped_quantize_c35(%x: memref<?x64xbf16>, %o: memref<4xi32>, %s: memref<3xf32>, %q: memref<?x64xf8E4M3FN>) {
  // expected-error @+1 {{requires format(fp8_e4m3) or format(fp8_e5m2), not mxfp8_e4m3}}
  gq.grouped_quantize format(mxfp8_e4m3) ins(%x : memref<?x64xbf16>) groups(%o : memref<4xi32>)
      scale(%s : memref<3xf32>) outs(%q : memref<?x64xf8E4M3FN>)
  return
}

// -----

func.func @grouped_quantize_c36_none(%x: memref<?x64xbf16>, %o: memref<4xi32>, %s: memref<3xf32>, %q: memref<?x64xf8E4M3FN>) {
  // expected-error @+1 {{requires one of 'scale' and 'outer_amax'}}
  gq.grouped_quantize format(fp8_e4m3) ins(%x : memref<?x64xbf16>) groups(%o : memref<4xi32>)
       outs(%q : memref<?x64xf8E4M3FN>)
  return
}

// -----

func.func @grouped_quantize_c36_both(%x: memref<?x64xbf16>, %o: memref<4xi32>, %s: memref<3xf32>, %q: memref<?x64xf8E4M3FN>) {
  // expected-error @+1 {{requires one of 'scale' and 'outer_amax'}}
  gq.grouped_quantize format(fp8_e4m3) ins(%x : memref<?x64xbf16>) groups(%o : memref<4xi32>)
      outer_amax(%s : memref<3xf32>) scale(%s : memref<3xf32>) outs(%q : memref<?x64xf8E4M3FN>)
  return
}

// -----

func.func @grouped_quantize_c36_groups(%x: memref<?x64xbf16>, %o: memref<4xi32>, %s: memref<4xf32>, %q: memref<?x64xf8E4M3FN>) {
  // expected-error @+1 {{requires 'scale' to be 3, but got 4}}
  gq.grouped_quantize format(fp8_e4m3) ins(%x : memref<?x64xbf16>) groups(%o : memref<4xi32>)
      scale(%s : memref<4xf32>) outs(%q : memref<?x64xf8E4M3FN>)
  return
}

// -----

func.func @grouped_quantize_c37(%x: memref<?x64xbf16>, %o: memref<4xi32>, %s: memref<3xf32>, %q: memref<?x64xf8E4M3FN>, %i: memref<2xf32>) {
  // expected-error @+1 {{requires 'scale_inv' to be 3, but got 2}}
  gq.grouped_quantize format(fp8_e4m3) ins(%x : memref<?x64xbf16>) groups(%o : memref<4xi32>)
      scale(%s : memref<3xf32>) outs(%q : memref<?x64xf8E4M3FN>) scale_inv_out(%i : memref<2xf32>)
  return
}

// -----

func.func @grouped_block_quantize_c4_format(%x: memref<?x64xbf16>, %o: memref<4xi32>, %s: memref<3xf32>, %q: memref<?x64xf8E4M3FN>, %t: memref<?x4xf32>) {
  // expected-error @+1 {{requires a format with blocks, not fp8_e4m3}}
  gq.grouped_block_quantize format(fp8_e4m3) ins(%x : memref<?x64xbf16>) groups(%o : memref<4xi32>)
       outs(%q, %t : memref<?x64xf8E4M3FN>, memref<?x4xf32>)
  return
}

// -----

func.func @grouped_block_quantize_c34(%x: memref<?x64xbf16>, %o: memref<4xi32>, %s: memref<3xf32>, %q: memref<?x64xf8E4M3FN>, %t: memref<?x2xf8E8M0FNU>) {
  // expected-error @+1 {{requires no 'scale'}}
  gq.grouped_block_quantize format(mxfp8_e4m3) ins(%x : memref<?x64xbf16>) groups(%o : memref<4xi32>)
      scale(%s : memref<3xf32>) outs(%q, %t : memref<?x64xf8E4M3FN>, memref<?x2xf8E8M0FNU>)
  return
}

// -----

func.func @block_quantize_c4_format(%x: memref<?x64xbf16>, %q: memref<?x64xf8E4M3FN>, %t: memref<?x4xf32>) {
  // expected-error @+1 {{requires a format with blocks, not fp8_e4m3}}
  gq.block_quantize format(fp8_e4m3) ins(%x : memref<?x64xbf16>)
      outs(%q, %t : memref<?x64xf8E4M3FN>, memref<?x4xf32>)
  return
}

// -----

func.func @update_scales_c1(%a: memref<3xf32>, %h: memref<12xf32>, %s: memref<3xf32>) {
  // expected-error @+1 {{requires 'history' to be a 2D tensor or memref of f32, but got memref<12xf32>}}
  gq.update_scales format(fp8_e4m3) ins(%a : memref<3xf32>)
      outs(%h, %s : memref<12xf32>, memref<3xf32>)
  return
}

// -----

func.func @update_scales_c3(%a: memref<3xf32>, %h: tensor<4x3xf32>, %s: memref<3xf32>) {
  // expected-error @+1 {{requires all operands to be tensors or all memrefs}}
  gq.update_scales format(fp8_e4m3) ins(%a : memref<3xf32>)
      outs(%h, %s : tensor<4x3xf32>, memref<3xf32>)
  return
}

// -----

func.func @update_scales_c4(%a: memref<3xf32>, %h: memref<4x3xf32>, %s: memref<3xf32>) {
  // expected-error @+1 {{requires format(fp8_e4m3) or format(fp8_e5m2), not nvfp4}}
  gq.update_scales format(nvfp4) ins(%a : memref<3xf32>)
      outs(%h, %s : memref<4x3xf32>, memref<3xf32>)
  return
}

// -----

func.func @update_scales_c5_steps(%a: memref<3xf32>, %h: memref<0x3xf32>, %s: memref<3xf32>) {
  // expected-error @+1 {{requires 'history' to have a row}}
  gq.update_scales format(fp8_e4m3) ins(%a : memref<3xf32>)
      outs(%h, %s : memref<0x3xf32>, memref<3xf32>)
  return
}

// -----

func.func @update_scales_c5_groups(%a: memref<3xf32>, %h: memref<4x2xf32>, %s: memref<3xf32>) {
  // expected-error @+1 {{requires 'history' to be 4x3, but got 4x2}}
  gq.update_scales format(fp8_e4m3) ins(%a : memref<3xf32>)
      outs(%h, %s : memref<4x2xf32>, memref<3xf32>)
  return
}

// -----

func.func @update_scales_c6(%a: memref<3xf32>, %h: memref<4x3xf32>, %s: memref<3xf32>) {
  // expected-error @+1 {{requires 'margin' to lie in [0, 126], but got 127}}
  gq.update_scales format(fp8_e4m3) margin(127) ins(%a : memref<3xf32>)
      outs(%h, %s : memref<4x3xf32>, memref<3xf32>)
  return
}

// -----

func.func @update_scales_c6_negative(%a: memref<3xf32>, %h: memref<4x3xf32>, %s: memref<3xf32>) {
  // expected-error @+1 {{requires 'margin' to lie in [0, 126], but got -1}}
  gq.update_scales format(fp8_e4m3) margin(-1) ins(%a : memref<3xf32>)
      outs(%h, %s : memref<4x3xf32>, memref<3xf32>)
  return
}

// -----

func.func @update_scales_c7(%a: memref<3xf32>, %h: memref<4x3xf32, strided<[8, 1]>>, %s: memref<3xf32>) {
  // expected-error @+1 {{requires 'history' to be contiguous}}
  gq.update_scales format(fp8_e4m3) ins(%a : memref<3xf32>)
      outs(%h, %s : memref<4x3xf32, strided<[8, 1]>>, memref<3xf32>)
  return
}

// -----

func.func @grouped_quantize_c34_direction(%x: memref<?x64xbf16>, %o: memref<4xi32>,
    %a: memref<?xf32>, %q: memref<?x64xf8E4M3FN>) {
  // expected-error @+1 {{requires recipe(te) for an outer amax per row or column}}
  gq.grouped_quantize format(fp8_e4m3) rowwise<outer = row> ins(%x : memref<?x64xbf16>)
      groups(%o : memref<4xi32>) outer_amax(%a : memref<?xf32>)
      outs(%q : memref<?x64xf8E4M3FN>)
  return
}

// -----

func.func @grouped_quantize_c34_rng_state(%x: memref<?x64xbf16>, %o: memref<4xi32>,
    %s: memref<f32>, %r: memref<2xi64>, %q: memref<?x64xf8E4M3FN>) {
  // expected-error @+1 {{requires no 'rng_state'}}
  gq.grouped_quantize format(fp8_e4m3) ins(%x : memref<?x64xbf16>)
      groups(%o : memref<4xi32>) rng_state(%r : memref<2xi64>) scale(%s : memref<f32>)
      outs(%q : memref<?x64xf8E4M3FN>)
  return
}
