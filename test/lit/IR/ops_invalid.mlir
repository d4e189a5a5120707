// RUN: gq-opt %s -split-input-file -verify-diagnostics

// One chunk per constraint, named after the op and the constraint's number.

func.func @block_quantize_c1_input(
    %x: tensor<?x64xf64>, %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires 'input' to be a 2D tensor or memref of f32, bf16 or f16, but got tensor<?x64xf64>}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<?x64xf64>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>) -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @block_quantize_c1_rank(
    %x: tensor<2x?x64xbf16>, %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires 'input' to be a 2D tensor or memref of f32, bf16 or f16, but got tensor<2x?x64xbf16>}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<2x?x64xbf16>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>) -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @block_quantize_c1_data(
    %x: tensor<?x64xbf16>, %q: tensor<?x64xf16>, %s: tensor<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires 'data' to be a 2D tensor or memref of f4E2M1FN, i8, f8E4M3FN or f8E5M2, but got tensor<?x64xf16>}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      outs(%q, %s : tensor<?x64xf16>, tensor<?x4xf8E4M3FN>) -> tensor<?x64xf16>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @block_quantize_c1_scales(
    %x: tensor<?x64xbf16>, %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E5M2>) {
  // expected-error @+1 {{requires 'scales' to be a 2D tensor or memref of f8E4M3FN, f8E8M0FNU or f32, but got tensor<?x4xf8E5M2>}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E5M2>) -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E5M2>
  return
}

// -----

func.func @block_quantize_c1_global_scale(
    %x: tensor<?x64xbf16>, %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>, %g: tensor<1xf32>) {
  // expected-error @+1 {{requires 'global_scale' to be a 0D tensor or memref of f32, but got tensor<1xf32>}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      global_scale(%g : tensor<1xf32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>) -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @block_quantize_c2(
    %x: tensor<?x64xbf16>, %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires the result of 'data' to be of its type tensor<?x64xf4E2M1FN>, but got tensor<8x64xf4E2M1FN>}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>) -> tensor<8x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @block_quantize_c3(
    %x: memref<?x64xbf16>, %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires all operands to be tensors or all memrefs}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : memref<?x64xbf16>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>) -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @block_quantize_c4(
    %x: tensor<?x72xbf16>, %q: tensor<?x72xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires K to be a positive multiple of 16, the block size of the format, but got 72}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<?x72xbf16>)
      outs(%q, %s : tensor<?x72xf4E2M1FN>, tensor<?x4xf8E4M3FN>) -> tensor<?x72xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @block_quantize_c4_zero(
    %x: tensor<?x0xbf16>, %q: tensor<?x0xf4E2M1FN>, %s: tensor<?x0xf8E4M3FN>) {
  // expected-error @+1 {{requires K to be a positive multiple of 16, the block size of the format, but got 0}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<?x0xbf16>)
      outs(%q, %s : tensor<?x0xf4E2M1FN>, tensor<?x0xf8E4M3FN>) -> tensor<?x0xf4E2M1FN>, tensor<?x0xf8E4M3FN>
  return
}

// -----

func.func @block_quantize_c4_data(
    %x: tensor<?x?xbf16>, %q: tensor<?x40xf4E2M1FN>, %s: tensor<?x?xf8E4M3FN>) {
  // expected-error @+1 {{requires K to be a positive multiple of 16, the block size of the format, but got 40}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<?x?xbf16>)
      outs(%q, %s : tensor<?x40xf4E2M1FN>, tensor<?x?xf8E4M3FN>) -> tensor<?x40xf4E2M1FN>, tensor<?x?xf8E4M3FN>
  return
}

// -----

func.func @block_quantize_c4_scales(
    %x: tensor<?x?xbf16>, %q: tensor<?x?xf4E2M1FN>, %s: tensor<?x0xf8E4M3FN>) {
  // expected-error @+1 {{requires K to be a positive multiple of 16, the block size of the format, but got 0}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<?x?xbf16>)
      outs(%q, %s : tensor<?x?xf4E2M1FN>, tensor<?x0xf8E4M3FN>) -> tensor<?x?xf4E2M1FN>, tensor<?x0xf8E4M3FN>
  return
}

// -----

func.func @block_quantize_c5(
    %x: tensor<?x64xbf16>, %q: tensor<?x128xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires 'data' to be ?x64, but got ?x128}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      outs(%q, %s : tensor<?x128xf4E2M1FN>, tensor<?x4xf8E4M3FN>) -> tensor<?x128xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @block_quantize_c5_packed(
    %x: tensor<?x64xbf16>, %q: tensor<?x64xi8>, %s: tensor<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires 'data' to be ?x32 of i8, two codes each, but got ?x64}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      outs(%q, %s : tensor<?x64xi8>, tensor<?x4xf8E4M3FN>) -> tensor<?x64xi8>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @block_quantize_c5_rows(
    %x: tensor<8x64xbf16>, %q: tensor<9x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires 'data' to be 8x64, but got 9x64}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<8x64xbf16>)
      outs(%q, %s : tensor<9x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>) -> tensor<9x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @block_quantize_c6(
    %x: tensor<?x64xbf16>, %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x8xf8E4M3FN>) {
  // expected-error @+1 {{requires 'scales' to be ?x4, but got ?x8}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x8xf8E4M3FN>) -> tensor<?x64xf4E2M1FN>, tensor<?x8xf8E4M3FN>
  return
}

// -----

func.func @block_quantize_c6_data(
    %x: tensor<?x?xbf16>, %q: tensor<4x32xf4E2M1FN>, %s: tensor<5x7xf8E4M3FN>) {
  // expected-error @+1 {{requires 'scales' to be 4x2, but got 5x7}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<?x?xbf16>)
      outs(%q, %s : tensor<4x32xf4E2M1FN>, tensor<5x7xf8E4M3FN>) -> tensor<4x32xf4E2M1FN>, tensor<5x7xf8E4M3FN>
  return
}

// -----

func.func @block_quantize_c6_rows(
    %x: tensor<?x?xbf16>, %q: tensor<4x?xf4E2M1FN>, %s: tensor<5x?xf8E4M3FN>) {
  // expected-error @+1 {{requires 'scales' to be 4x?, but got 5x?}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<?x?xbf16>)
      outs(%q, %s : tensor<4x?xf4E2M1FN>, tensor<5x?xf8E4M3FN>) -> tensor<4x?xf4E2M1FN>, tensor<5x?xf8E4M3FN>
  return
}

// -----

func.func @block_quantize_c7(
    %x: tensor<?x64xbf16>, %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires scale_layout(linear)}}
  %0:2 = gq.block_quantize format(nvfp4) scale_layout(tile128x4) ins(%x : tensor<?x64xbf16>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>) -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @block_quantize_c7_encoding(
    %x: tensor<?x64xbf16>, %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'scales' to have no encoding; only tiled scales have one}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>) -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @block_quantize_c7_input(
    %x: tensor<?x64xbf16, #gq.tile128x4>, %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires 'input' to have no encoding; only tiled scales have one}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16, #gq.tile128x4>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>) -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @block_quantize_c7_global_scale(
    %x: tensor<?x64xbf16>, %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>, %g: tensor<f32, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'global_scale' to have no encoding; only tiled scales have one}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      global_scale(%g : tensor<f32, #gq.tile128x4>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>) -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @block_quantize_c7_data(
    %x: tensor<?x64xbf16>, %q: tensor<?x64xf4E2M1FN, #gq.tile128x4>, %s: tensor<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires 'data' to have no encoding; only tiled scales have one}}
  %0:2 = gq.block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      outs(%q, %s : tensor<?x64xf4E2M1FN, #gq.tile128x4>, tensor<?x4xf8E4M3FN>) -> tensor<?x64xf4E2M1FN, #gq.tile128x4>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @block_quantize_c8(
    %x: memref<?x64xbf16, strided<[128, 2]>>, %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires 'input' to have an innermost stride of 1}}
  gq.block_quantize format(nvfp4) ins(%x : memref<?x64xbf16, strided<[128, 2]>>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  return
}

// -----

func.func @block_quantize_c8_data(
    %x: memref<?x64xbf16>, %q: memref<?x32xi8, strided<[1, 64]>>, %s: memref<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires 'data' to have an innermost stride of 1}}
  gq.block_quantize format(nvfp4) ins(%x : memref<?x64xbf16>)
      outs(%q, %s : memref<?x32xi8, strided<[1, 64]>>, memref<?x4xf8E4M3FN>)
  return
}

// -----

func.func @block_quantize_c8_scales(
    %x: memref<?x64xbf16>, %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN, affine_map<(d0, d1) -> (d1 * 8 + d0)>>) {
  // expected-error @+1 {{requires 'scales' to have an innermost stride of 1}}
  gq.block_quantize format(nvfp4) ins(%x : memref<?x64xbf16>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN, affine_map<(d0, d1) -> (d1 * 8 + d0)>>)
  return
}

// -----

func.func @block_quantize_format(
    %x: tensor<?x64xbf16>, %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>) {
  // expected-error @+1 {{custom op 'gq.block_quantize' expected one of nvfp4, mxfp4, mxfp8_e4m3}}
  %0:2 = gq.block_quantize format(nvfp8) ins(%x : tensor<?x64xbf16>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>) -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @preprocess_grouped_matmul_sf_c1_input(
    %x: tensor<?x4xi8>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %t: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'input' to be a 2D tensor or memref of f8E4M3FN, f8E8M0FNU or f32, but got tensor<?x4xi8>}}
  %0 = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%x : tensor<?x4xi8>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%t : tensor<?x4xf8E4M3FN, #gq.tile128x4>) -> tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @preprocess_grouped_matmul_sf_c1_offsets(
    %x: tensor<?x4xf8E4M3FN>, %o: tensor<4xi16>, %so: tensor<3xi32>,
    %t: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'offsets' to be a 1D tensor or memref of i32 or i64, but got tensor<4xi16>}}
  %0 = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%x : tensor<?x4xf8E4M3FN>)
      groups(%o, %so : tensor<4xi16>, tensor<3xi32>)
      outs(%t : tensor<?x4xf8E4M3FN, #gq.tile128x4>) -> tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @preprocess_grouped_matmul_sf_c1_offsets_rank(
    %x: tensor<?x4xf8E4M3FN>, %o: tensor<4x1xi32>, %so: tensor<3xi32>,
    %t: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'offsets' to be a 1D tensor or memref of i32 or i64, but got tensor<4x1xi32>}}
  %0 = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%x : tensor<?x4xf8E4M3FN>)
      groups(%o, %so : tensor<4x1xi32>, tensor<3xi32>)
      outs(%t : tensor<?x4xf8E4M3FN, #gq.tile128x4>) -> tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @preprocess_grouped_matmul_sf_c2(
    %x: tensor<?x4xf8E4M3FN>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %t: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires the result of 'scales' to be of its type tensor<?x4xf8E4M3FN, #gq.tile128x4>, but got tensor<128x4xf8E4M3FN, #gq.tile128x4>}}
  %0 = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%x : tensor<?x4xf8E4M3FN>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%t : tensor<?x4xf8E4M3FN, #gq.tile128x4>) -> tensor<128x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @preprocess_grouped_matmul_sf_c3(
    %x: tensor<?x4xf8E4M3FN>, %o: memref<4xi32>, %so: tensor<3xi32>,
    %t: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires all operands to be tensors or all memrefs}}
  %0 = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%x : tensor<?x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, tensor<3xi32>)
      outs(%t : tensor<?x4xf8E4M3FN, #gq.tile128x4>) -> tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @preprocess_grouped_matmul_sf_c4(
    %x: tensor<?x0xf8E4M3FN>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %t: tensor<?x0xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires K to be a positive multiple of 16, the block size of the format, but got 0}}
  %0 = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%x : tensor<?x0xf8E4M3FN>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%t : tensor<?x0xf8E4M3FN, #gq.tile128x4>) -> tensor<?x0xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @preprocess_grouped_matmul_sf_c5(
    %x: tensor<?x4xf8E4M3FN>, %o: tensor<5xi32>, %so: tensor<3xi32>,
    %t: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'offsets' to hold 3 or 4 entries for 3 groups, but got 5}}
  %0 = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%x : tensor<?x4xf8E4M3FN>)
      groups(%o, %so : tensor<5xi32>, tensor<3xi32>)
      outs(%t : tensor<?x4xf8E4M3FN, #gq.tile128x4>) -> tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @preprocess_grouped_matmul_sf_c5_type(
    %x: tensor<?x4xf8E4M3FN>, %o: tensor<4xi32>, %so: tensor<3xi64>,
    %t: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'offsets' and 'scale_offsets' to have the same element type}}
  %0 = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%x : tensor<?x4xf8E4M3FN>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi64>)
      outs(%t : tensor<?x4xf8E4M3FN, #gq.tile128x4>) -> tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @preprocess_grouped_matmul_sf_c6(
    %x: tensor<?x5xf8E4M3FN>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %t: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'scales' to be ?x8 (whole tiles of 128x4), but got ?x4}}
  %0 = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%x : tensor<?x5xf8E4M3FN>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%t : tensor<?x4xf8E4M3FN, #gq.tile128x4>) -> tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @preprocess_grouped_matmul_sf_c6_rows(
    %x: tensor<?x4xf8E4M3FN>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %t: tensor<100x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires the rows of 'scales' to be a multiple of 128, but got 100}}
  %0 = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%x : tensor<?x4xf8E4M3FN>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%t : tensor<100x4xf8E4M3FN, #gq.tile128x4>) -> tensor<100x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @preprocess_grouped_matmul_sf_c6_tiles(
    %x: tensor<?x?xf8E4M3FN>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %t: tensor<?x7xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'scales' to be ?x8 (whole tiles of 128x4), but got ?x7}}
  %0 = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%x : tensor<?x?xf8E4M3FN>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%t : tensor<?x7xf8E4M3FN, #gq.tile128x4>) -> tensor<?x7xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @preprocess_grouped_matmul_sf_c6_zero(
    %x: tensor<?x?xf8E4M3FN>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %t: tensor<?x0xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'scales' to be ?x4 (whole tiles of 128x4), but got ?x0}}
  %0 = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%x : tensor<?x?xf8E4M3FN>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%t : tensor<?x0xf8E4M3FN, #gq.tile128x4>) -> tensor<?x0xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @preprocess_grouped_matmul_sf_c7(
    %x: tensor<?x4xf8E4M3FN>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %t: tensor<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires scale_layout(tile128x4)}}
  %0 = gq.preprocess_grouped_matmul_sf format(nvfp4) scale_layout(linear) ins(%x : tensor<?x4xf8E4M3FN>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%t : tensor<?x4xf8E4M3FN>) -> tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @preprocess_grouped_matmul_sf_c7_encoding(
    %x: tensor<?x4xf8E4M3FN>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %t: tensor<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires 'scales' to have the encoding #gq.tile128x4}}
  %0 = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%x : tensor<?x4xf8E4M3FN>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%t : tensor<?x4xf8E4M3FN>) -> tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @preprocess_grouped_matmul_sf_c7_input(
    %x: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %t: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'input' to have no encoding; only tiled scales have one}}
  %0 = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%x : tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%t : tensor<?x4xf8E4M3FN, #gq.tile128x4>) -> tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @preprocess_grouped_matmul_sf_c7_offsets(
    %x: tensor<?x4xf8E4M3FN>, %o: tensor<4xi32, #gq.tile128x4>, %so: tensor<3xi32>,
    %t: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'offsets' to have no encoding; only tiled scales have one}}
  %0 = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%x : tensor<?x4xf8E4M3FN>)
      groups(%o, %so : tensor<4xi32, #gq.tile128x4>, tensor<3xi32>)
      outs(%t : tensor<?x4xf8E4M3FN, #gq.tile128x4>) -> tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @preprocess_grouped_matmul_sf_c7_scale_offsets(
    %x: tensor<?x4xf8E4M3FN>, %o: tensor<4xi32>, %so: tensor<3xi32, #gq.tile128x4>,
    %t: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'scale_offsets' to have no encoding; only tiled scales have one}}
  %0 = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%x : tensor<?x4xf8E4M3FN>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32, #gq.tile128x4>)
      outs(%t : tensor<?x4xf8E4M3FN, #gq.tile128x4>) -> tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @preprocess_grouped_matmul_sf_c8(
    %x: memref<?x4xf8E4M3FN, strided<[16, 2]>>, %o: memref<4xi32>, %so: memref<3xi32>,
    %t: memref<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires 'input' to have an innermost stride of 1}}
  gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%x : memref<?x4xf8E4M3FN, strided<[16, 2]>>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%t : memref<?x4xf8E4M3FN>)
  return
}

// -----

func.func @preprocess_grouped_matmul_sf_c8_offsets(
    %x: memref<?x4xf8E4M3FN>, %o: memref<4xi32, strided<[2]>>, %so: memref<3xi32>,
    %t: memref<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires 'offsets' to be contiguous}}
  gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%x : memref<?x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32, strided<[2]>>, memref<3xi32>)
      outs(%t : memref<?x4xf8E4M3FN>)
  return
}

// -----

func.func @preprocess_grouped_matmul_sf_c8_scale_offsets(
    %x: memref<?x4xf8E4M3FN>, %o: memref<4xi32>, %so: memref<3xi32, strided<[2]>>,
    %t: memref<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires 'scale_offsets' to be contiguous}}
  gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%x : memref<?x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32, strided<[2]>>)
      outs(%t : memref<?x4xf8E4M3FN>)
  return
}

// -----

func.func @preprocess_grouped_matmul_sf_c8_scales(
    %x: memref<?x4xf8E4M3FN>, %o: memref<4xi32>, %so: memref<3xi32>,
    %t: memref<?x4xf8E4M3FN, strided<[8, 1]>>) {
  // expected-error @+1 {{requires 'scales' to be contiguous}}
  gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%x : memref<?x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%t : memref<?x4xf8E4M3FN, strided<[8, 1]>>)
  return
}

// -----

func.func @grouped_block_quantize_c1_input(
    %x: tensor<?x64xi8>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'inputs' to be a 0D, 1D or 2D tensor or memref of f32, bf16 or f16, but got tensor<?x64xi8>}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xi8>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c1_row_indices(
    %x: tensor<?x64xbf16>, %i: tensor<?xi16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'row_indices' to be a 1D tensor or memref of i32 or i64, but got tensor<?xi16>}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      row_indices(%i : tensor<?xi16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c1_offsets(
    %x: tensor<?x64xbf16>, %o: tensor<4xf32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'offsets' to be a 1D tensor or memref of i32 or i64, but got tensor<4xf32>}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      groups(%o, %so : tensor<4xf32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c1_scale_offsets(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3x1xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'scale_offsets' to be a 1D tensor or memref of i32 or i64, but got tensor<3x1xi32>}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3x1xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c1_global_scale(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %g: tensor<3xf64>) {
  // expected-error @+1 {{requires 'global_scale' to be a 0D or 1D tensor or memref of f32, but got tensor<3xf64>}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      global_scale(%g : tensor<3xf64>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c1_scales(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xi8>) {
  // expected-error @+1 {{requires 'scales' to be a 1D or 2D tensor or memref of f8E4M3FN, f8E8M0FNU or f32, but got tensor<?x4xi8>}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xi8>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xi8>
  return
}

// -----

func.func @grouped_block_quantize_c2(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires the result of 'data' to be of its type tensor<?x64xf4E2M1FN>, but got tensor<8x64xf4E2M1FN>}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<8x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c3(
    %x: memref<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires all operands to be tensors or all memrefs}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : memref<?x64xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c4(
    %x: tensor<?x40xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x40xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires K to be a positive multiple of 16, the block size of the format, but got 40}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x40xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x40xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x40xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c4_inputs(
    %x: tensor<?x40xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x?xf4E2M1FN>, %s: tensor<?x?xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires K to be a positive multiple of 16, the block size of the format, but got 40}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x40xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x?xf4E2M1FN>, tensor<?x?xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x?xf4E2M1FN>, tensor<?x?xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c5(
    %x: tensor<?x64xbf16>, %o: tensor<2xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'offsets' to hold 3 or 4 entries for 3 groups, but got 2}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      groups(%o, %so : tensor<2xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c5_type(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi64>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'offsets' and 'scale_offsets' to have the same element type}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi64>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c5_global_scale(
    %x: tensor<?x64xbf16>, %o: tensor<5xi32>, %so: tensor<?xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %g: tensor<99xf32>) {
  // expected-error @+1 {{requires 'offsets' to hold 99 or 100 entries for 99 groups, but got 5}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      groups(%o, %so : tensor<5xi32>, tensor<?xi32>)
      global_scale(%g : tensor<99xf32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c6(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %g: tensor<4xf32>) {
  // expected-error @+1 {{requires 'global_scale' to be 3, but got 4}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      global_scale(%g : tensor<4xf32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c7(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x32xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'inputs' to be ?x32, but got ?x64}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x32xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x32xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c7_rank(
    %x: tensor<64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires a single input of rank 2 and no 'maps' where it has no 'producer'}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<64xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c7_maps(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires a single input of rank 2 and no 'maps' where it has no 'producer'}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      maps [affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c7_row_indices(
    %x: tensor<?x32xbf16>, %i: tensor<?xi32>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'inputs' to be ?x64, but got ?x32}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x32xbf16>)
      row_indices(%i : tensor<?xi32>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c7_row_indices_maps(
    %x: tensor<?x64xbf16>, %i: tensor<?xi32>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires a single input of rank 2 and no 'maps' where it has no 'producer'}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      row_indices(%i : tensor<?xi32>)
      maps [affine_map<(m, k)[r] -> (r, k)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c11_count(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires at most 8 inputs}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x, %x, %x, %x, %x, %x, %x, %x, %x : tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4> producer {
  ^bb0(%e0: bf16, %e1: bf16, %e2: bf16, %e3: bf16, %e4: bf16, %e5: bf16, %e6: bf16, %e7: bf16, %e8: bf16):
    gq.yield %e0 : bf16
  }
  return
}

// -----

func.func @grouped_block_quantize_c11_maps(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'maps' to hold a map for each input of 'producer'}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4> producer {
  ^bb0(%e: bf16):
    gq.yield %e : bf16
  }
  return
}

// -----

func.func @grouped_block_quantize_c11_no_maps(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'maps' to hold a map for each input of 'producer'}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4> producer {
  ^bb0(%e: bf16):
    gq.yield %e : bf16
  }
  return
}

// -----

func.func @grouped_block_quantize_c11_dims(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires each of 'maps' to go from (m, k) to the rank of its input}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      maps [affine_map<(m) -> (m, m)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4> producer {
  ^bb0(%e: bf16):
    gq.yield %e : bf16
  }
  return
}

// -----

func.func @grouped_block_quantize_c11_rank(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires each of 'maps' to go from (m, k) to the rank of its input}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      maps [affine_map<(m, k) -> (k)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4> producer {
  ^bb0(%e: bf16):
    gq.yield %e : bf16
  }
  return
}

// -----

func.func @grouped_block_quantize_c11_transposed(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires each of 'maps' to be (m, k) -> (m, k), (m), (k) or ()}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      maps [affine_map<(m, k) -> (k, m)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4> producer {
  ^bb0(%e: bf16):
    gq.yield %e : bf16
  }
  return
}

// -----

func.func @grouped_block_quantize_c11_expression(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires each of 'maps' to be (m, k) -> (m, k), (m), (k) or ()}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      maps [affine_map<(m, k) -> (m, k + 1)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4> producer {
  ^bb0(%e: bf16):
    gq.yield %e : bf16
  }
  return
}

// -----

func.func @grouped_block_quantize_c11_extents(
    %x: tensor<32xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'inputs' to be 64, but got 32}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<32xbf16>)
      maps [affine_map<(m, k) -> (k)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4> producer {
  ^bb0(%e: bf16):
    gq.yield %e : bf16
  }
  return
}

// -----

func.func @grouped_block_quantize_c11_rows(
    %x0: tensor<4x?xbf16>, %x1: tensor<5xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x?xf4E2M1FN>, %s: tensor<?x?xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'inputs' to be 4, but got 5}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x0, %x1 : tensor<4x?xbf16>, tensor<5xbf16>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x?xf4E2M1FN>, tensor<?x?xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x?xf4E2M1FN>, tensor<?x?xf8E4M3FN, #gq.tile128x4> producer {
  ^bb0(%e0: bf16, %e1: bf16):
    gq.yield %e0 : bf16
  }
  return
}

// -----

func.func @grouped_block_quantize_c11_columns(
    %x0: tensor<64xbf16>, %x1: tensor<?x32xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x?xf4E2M1FN>, %s: tensor<?x?xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'inputs' to be ?x64, but got ?x32}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x0, %x1 : tensor<64xbf16>, tensor<?x32xbf16>)
      maps [affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x?xf4E2M1FN>, tensor<?x?xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x?xf4E2M1FN>, tensor<?x?xf8E4M3FN, #gq.tile128x4> producer {
  ^bb0(%e0: bf16, %e1: bf16):
    gq.yield %e0 : bf16
  }
  return
}

// -----

func.func @grouped_block_quantize_c11_row_in_gather(
    %x: tensor<?x64xbf16>, %i: tensor<?xi32>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires each of 'maps' to be (m, k) -> (m, k), (m), (k) or (), or (m, k)[r] -> (r, k) or (r)}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      row_indices(%i : tensor<?xi32>)
      maps [affine_map<(m, k)[r] -> (m, k)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4> producer {
  ^bb0(%e: bf16):
    gq.yield %e : bf16
  }
  return
}

// -----

func.func @grouped_block_quantize_c11_gather_of_column(
    %x: tensor<64xbf16>, %i: tensor<?xi32>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires each of 'maps' to be (m, k) -> (m, k), (m), (k) or (), or (m, k)[r] -> (r, k) or (r)}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<64xbf16>)
      row_indices(%i : tensor<?xi32>)
      maps [affine_map<(m, k)[r] -> (k)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4> producer {
  ^bb0(%e: bf16):
    gq.yield %e : bf16
  }
  return
}

// -----

func.func @grouped_block_quantize_c11_gather_transposed(
    %x: tensor<?x64xbf16>, %i: tensor<?xi32>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires each of 'maps' to be (m, k) -> (m, k), (m), (k) or (), or (m, k)[r] -> (r, k) or (r)}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      row_indices(%i : tensor<?xi32>)
      maps [affine_map<(m, k)[r] -> (k, r)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4> producer {
  ^bb0(%e: bf16):
    gq.yield %e : bf16
  }
  return
}

// -----

func.func @grouped_block_quantize_c11_symbols(
    %x: tensor<?x64xbf16>, %i: tensor<?xi32>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires each of 'maps' to go from (m, k) to the rank of its input}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      row_indices(%i : tensor<?xi32>)
      maps [affine_map<(m, k)[r, s] -> (r, k)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4> producer {
  ^bb0(%e: bf16):
    gq.yield %e : bf16
  }
  return
}

// -----

func.func @grouped_block_quantize_c11_gathered_columns(
    %x: tensor<?x32xbf16>, %i: tensor<?xi32>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'inputs' to be ?x64, but got ?x32}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x32xbf16>)
      row_indices(%i : tensor<?xi32>)
      maps [affine_map<(m, k)[r] -> (r, k)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4> producer {
  ^bb0(%e: bf16):
    gq.yield %e : bf16
  }
  return
}

// -----

func.func @grouped_block_quantize_c12_count(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'producer' to take an element of each input}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      maps [affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4> producer {
  ^bb0(%e: bf16, %f: bf16):
    gq.yield %e : bf16
  }
  return
}

// -----

func.func @grouped_block_quantize_c12_type(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'producer' to take an element of each input}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      maps [affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4> producer {
  ^bb0(%e: f32):
    gq.yield %e : f32
  }
  return
}

// -----

func.func @grouped_block_quantize_c13(
    %x: tensor<9x64xbf16>, %i: tensor<8xi32>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<7x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'row_indices' to be 7, but got 8}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<9x64xbf16>)
      row_indices(%i : tensor<8xi32>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<7x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<7x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c13_inputs(
    %x: tensor<9x64xbf16>, %y: tensor<7x64xbf16>, %i: tensor<8xi32>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'inputs' to be 8x64, but got 7x64}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x, %y : tensor<9x64xbf16>, tensor<7x64xbf16>)
      row_indices(%i : tensor<8xi32>)
      maps [affine_map<(m, k)[r] -> (r, k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4> producer {
  ^bb0(%e: bf16, %f: bf16):
    gq.yield %e : bf16
  }
  return
}

// -----

func.func @grouped_block_quantize_c14(
    %x: tensor<?x64xbf16>, %i: tensor<?xi32>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires one of 'maps' to have the symbol r, the row of 'row_indices'}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      row_indices(%i : tensor<?xi32>)
      maps [affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4> producer {
  ^bb0(%e: bf16):
    gq.yield %e : bf16
  }
  return
}

// -----

func.func @grouped_block_quantize_c14_no_row_indices(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'row_indices' for maps with the symbol r}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      maps [affine_map<(m, k)[r] -> (r, k)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4> producer {
  ^bb0(%e: bf16):
    gq.yield %e : bf16
  }
  return
}

// -----

func.func @grouped_block_quantize_c15(
    %x: tensor<9x64xbf16>, %y: tensor<8xbf16>, %i: tensor<?xi32>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'inputs' to be 9, but got 8}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x, %y : tensor<9x64xbf16>, tensor<8xbf16>)
      row_indices(%i : tensor<?xi32>)
      maps [affine_map<(m, k)[r] -> (r, k)>, affine_map<(m, k)[r] -> (r)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4> producer {
  ^bb0(%e: bf16, %f: bf16):
    gq.yield %e : bf16
  }
  return
}

// -----

func.func @grouped_block_quantize_c8(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x8xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'scales' to be ?x4 (whole tiles of 128x4), but got ?x8}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c8_padded(
    %x: tensor<?x48xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x48xf4E2M1FN>, %s: tensor<?x3xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'scales' to be ?x4 (whole tiles of 128x4), but got ?x3}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x48xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x48xf4E2M1FN>, tensor<?x3xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x48xf4E2M1FN>, tensor<?x3xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c8_rows(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<64x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires the rows of 'scales' to be a multiple of 128, but got 64}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<64x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<64x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c8_inputs(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x?xf4E2M1FN>, %s: tensor<?x8xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'scales' to be ?x4 (whole tiles of 128x4), but got ?x8}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x?xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x?xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c8_tiles(
    %x: tensor<?x?xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x?xf4E2M1FN>, %s: tensor<128x7xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'scales' to be ?x8 (whole tiles of 128x4), but got 128x7}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x?xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x?xf4E2M1FN>, tensor<128x7xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x?xf4E2M1FN>, tensor<128x7xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c9_encoding(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires 'scales' to have the encoding #gq.tile128x4}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c9_inputs(
    %x: tensor<?x64xbf16, #gq.tile128x4>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'inputs' to have no encoding; only tiled scales have one}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c9_row_indices(
    %x: tensor<?x64xbf16>, %i: tensor<?xi32, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'row_indices' to have no encoding}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      row_indices(%i : tensor<?xi32, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c9_data(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN, #gq.tile128x4>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'data' to have no encoding; only tiled scales have one}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN, #gq.tile128x4>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN, #gq.tile128x4>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c9_offsets(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32, #gq.tile128x4>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'offsets' to have no encoding; only tiled scales have one}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      groups(%o, %so : tensor<4xi32, #gq.tile128x4>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c9_scale_offsets(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32, #gq.tile128x4>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'scale_offsets' to have no encoding; only tiled scales have one}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32, #gq.tile128x4>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c9_global_scale(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %g: tensor<3xf32, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'global_scale' to have no encoding; only tiled scales have one}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      global_scale(%g : tensor<3xf32, #gq.tile128x4>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c9_producer(
    %x: tensor<?x64xbf16, #gq.tile128x4>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'inputs' to have no encoding; only tiled scales have one}}
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16, #gq.tile128x4>)
      maps [affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4> producer {
  ^bb0(%e0: bf16):
    gq.yield %e0 : bf16
  }
  return
}

// -----

func.func @grouped_block_quantize_c10(
    %x: memref<?x64xbf16, strided<[1, 64]>>, %o: memref<4xi32>, %so: memref<3xi32>,
    %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires 'inputs' to have an innermost stride of 1}}
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<?x64xbf16, strided<[1, 64]>>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  return
}

// -----

func.func @grouped_block_quantize_c10_data(
    %x: memref<?x64xbf16>, %o: memref<4xi32>, %so: memref<3xi32>,
    %q: memref<?x32xi8, strided<[64, 2]>>, %s: memref<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires 'data' to have an innermost stride of 1}}
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<?x64xbf16>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%q, %s : memref<?x32xi8, strided<[64, 2]>>, memref<?x4xf8E4M3FN>)
  return
}

// -----

func.func @grouped_block_quantize_c10_row_indices(
    %x: memref<?x64xbf16>, %i: memref<?xi32, strided<[2]>>, %o: memref<4xi32>,
    %so: memref<3xi32>, %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires 'row_indices' to be contiguous}}
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<?x64xbf16>)
      row_indices(%i : memref<?xi32, strided<[2]>>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  return
}

// -----

func.func @grouped_block_quantize_c10_offsets(
    %x: memref<?x64xbf16>, %o: memref<4xi32, strided<[2]>>, %so: memref<3xi32>,
    %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires 'offsets' to be contiguous}}
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<?x64xbf16>)
      groups(%o, %so : memref<4xi32, strided<[2]>>, memref<3xi32>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  return
}

// -----

func.func @grouped_block_quantize_c10_scale_offsets(
    %x: memref<?x64xbf16>, %o: memref<4xi32>, %so: memref<3xi32, strided<[4]>>,
    %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires 'scale_offsets' to be contiguous}}
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<?x64xbf16>)
      groups(%o, %so : memref<4xi32>, memref<3xi32, strided<[4]>>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  return
}

// -----

func.func @grouped_block_quantize_c10_global_scale(
    %x: memref<?x64xbf16>, %o: memref<4xi32>, %so: memref<3xi32>,
    %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>, %g: memref<3xf32, strided<[2]>>) {
  // expected-error @+1 {{requires 'global_scale' to be contiguous}}
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<?x64xbf16>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      global_scale(%g : memref<3xf32, strided<[2]>>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  return
}

// -----

func.func @grouped_block_quantize_c10_scales(
    %x: memref<?x64xbf16>, %o: memref<4xi32>, %so: memref<3xi32>,
    %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN, strided<[16, 1]>>) {
  // expected-error @+1 {{requires 'scales' to be contiguous}}
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<?x64xbf16>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN, strided<[16, 1]>>)
  return
}

// -----

func.func @grouped_mm_c1_a(
    %a: tensor<?x64xbf16>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'a' to be a 2D tensor or memref of f4E2M1FN, i8, f8E4M3FN or f8E5M2, but got tensor<?x64xbf16>}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xbf16>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c1_b(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'b' to be a 3D tensor or memref of f4E2M1FN, i8, f8E4M3FN or f8E5M2, but got tensor<32x64xf4E2M1FN>}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c1_alpha(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>, %alpha: tensor<f32>) {
  // expected-error @+1 {{requires 'alpha' to be a 1D tensor or memref of f32, but got tensor<f32>}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      alpha(%alpha : tensor<f32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c1_out(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xi32>) {
  // expected-error @+1 {{requires 'out' to be a 2D tensor or memref of f32, bf16 or f16, but got tensor<?x32xi32>}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xi32>) -> tensor<?x32xi32>
  return
}

// -----

func.func @grouped_mm_c2(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires the result of 'out' to be of its type tensor<?x32xf32>, but got tensor<8x32xf32>}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<8x32xf32>
  return
}

// -----

func.func @grouped_mm_c3(
    %a: tensor<?x64xf4E2M1FN>, %b: memref<3x32x32xi8>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires all operands to be tensors or all memrefs}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, memref<3x32x32xi8>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c4(
    %a: tensor<?x60xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires K to be a positive multiple of 16, the block size of the format, but got 60}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x60xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c4_b(
    %a: tensor<?x?xf4E2M1FN>, %b: tensor<4x8x17xf4E2M1FN>,
    %sa: tensor<?x?xf8E4M3FN, #gq.tile128x4>, %sb: tensor<?x?x?xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<?xi32>, %so: tensor<?xi32>, %c: tensor<?x?xf32>) {
  // expected-error @+1 {{requires K to be a positive multiple of 16, the block size of the format, but got 17}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x?xf4E2M1FN>, tensor<4x8x17xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x?xf8E4M3FN, #gq.tile128x4>, tensor<?x?x?xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<?xi32>, tensor<?xi32>)
      outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @grouped_mm_c5(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<3x32x128xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'b' to be 3x32x64, but got 3x32x128}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x32x128xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c6(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x8xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'a_scales' to be ?x4 (whole tiles of 128x4), but got ?x8}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x8xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c6_rows(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<130x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires the rows of 'a_scales' to be a multiple of 128, but got 130}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<130x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c6_b(
    %a: tensor<?x?xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x8xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'a_scales' to be ?x4 (whole tiles of 128x4), but got ?x8}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x?xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x8xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c6_tiles(
    %a: tensor<?x?xf4E2M1FN>, %b: tensor<3x32x?xf4E2M1FN>,
    %sa: tensor<?x7xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x?xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'a_scales' to be ?x8 (whole tiles of 128x4), but got ?x7}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x?xf4E2M1FN>, tensor<3x32x?xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x7xf8E4M3FN, #gq.tile128x4>, tensor<3x128x?xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c7(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x32x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'b_scales' to be 3x128x4 (whole tiles of 128x4), but got 3x32x4}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x32x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c7_groups(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<?x8x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<4x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<9xi32>, %so: tensor<8xi32>, %c: tensor<?x8xf32>) {
  // expected-error @+1 {{requires 'b_scales' to be 8x128x4 (whole tiles of 128x4), but got 4x128x4}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<?x8x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<4x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<9xi32>, tensor<8xi32>)
      outs(%c : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @grouped_mm_c7_out(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<3x?x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x300xf32>) {
  // expected-error @+1 {{requires 'b_scales' to be 3x384x4 (whole tiles of 128x4), but got 3x128x4}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x?x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x300xf32>) -> tensor<?x300xf32>
  return
}

// -----

func.func @grouped_mm_c7_rows(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<3x?x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x130x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x?xf32>) {
  // expected-error @+1 {{requires the rows of 'b_scales' to be a multiple of 128, but got 130}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x?x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x130x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @grouped_mm_c7_a_scales(
    %a: tensor<?x?xf4E2M1FN>, %b: tensor<3x32x?xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x8xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'b_scales' to be 3x128x4 (whole tiles of 128x4), but got 3x128x8}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x?xf4E2M1FN>, tensor<3x32x?xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x8xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c7_tiles(
    %a: tensor<?x?xf4E2M1FN>, %b: tensor<3x32x?xf4E2M1FN>,
    %sa: tensor<?x?xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x7xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'b_scales' to be 3x128x8 (whole tiles of 128x4), but got 3x128x7}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x?xf4E2M1FN>, tensor<3x32x?xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x?xf8E4M3FN, #gq.tile128x4>, tensor<3x128x7xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c8(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires scale_layout(tile128x4)}}
  %0 = gq.grouped_mm format(nvfp4) scale_layout(linear) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c8_a_scales(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'a_scales' to have the encoding #gq.tile128x4; gq.preprocess_grouped_matmul_sf converts linear scales}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c8_b_scales(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'b_scales' to have the encoding #gq.tile128x4}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c8_a(
    %a: tensor<?x64xf4E2M1FN, #gq.tile128x4>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'a' to have no encoding; only tiled scales have one}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN, #gq.tile128x4>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c8_b(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN, #gq.tile128x4>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'b' to have no encoding; only tiled scales have one}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN, #gq.tile128x4>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c8_offsets(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32, #gq.tile128x4>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'offsets' to have no encoding; only tiled scales have one}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32, #gq.tile128x4>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c8_scale_offsets(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32, #gq.tile128x4>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'scale_offsets' to have no encoding; only tiled scales have one}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32, #gq.tile128x4>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c8_alpha(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>, %alpha: tensor<3xf32, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'alpha' to have no encoding; only tiled scales have one}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      alpha(%alpha : tensor<3xf32, #gq.tile128x4>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c8_out(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'out' to have no encoding; only tiled scales have one}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32, #gq.tile128x4>) -> tensor<?x32xf32, #gq.tile128x4>
  return
}

// -----

func.func @grouped_mm_c9(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<6xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'offsets' to hold 3 or 4 entries for 3 groups, but got 6}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<6xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c9_type(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi64>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'offsets' and 'scale_offsets' to have the same element type}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi64>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c9_groups(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<4xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'scale_offsets' to be 3, but got 4}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<4xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c9_b(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<4x8x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<?x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<9xi32>, %so: tensor<?xi32>, %c: tensor<?x8xf32>) {
  // expected-error @+1 {{requires 'offsets' to hold 4 or 5 entries for 4 groups, but got 9}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<4x8x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<?x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<9xi32>, tensor<?xi32>)
      outs(%c : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @grouped_mm_c9_b_scales(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<?x8x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<4x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<9xi32>, %so: tensor<?xi32>, %c: tensor<?x8xf32>) {
  // expected-error @+1 {{requires 'offsets' to hold 4 or 5 entries for 4 groups, but got 9}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<?x8x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<4x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<9xi32>, tensor<?xi32>)
      outs(%c : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @grouped_mm_c9_alpha(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<?x8x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<?x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<9xi32>, %so: tensor<?xi32>, %c: tensor<?x8xf32>, %alpha: tensor<4xf32>) {
  // expected-error @+1 {{requires 'offsets' to hold 4 or 5 entries for 4 groups, but got 9}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<?x8x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<?x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<9xi32>, tensor<?xi32>)
      alpha(%alpha : tensor<4xf32>)
      outs(%c : tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @grouped_mm_c10(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>, %alpha: tensor<2xf32>) {
  // expected-error @+1 {{requires 'alpha' to be 3, but got 2}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      alpha(%alpha : tensor<2xf32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c11(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x64xf32>) {
  // expected-error @+1 {{requires 'out' to be ?x32, but got ?x64}}
  %0 = gq.grouped_mm format(nvfp4) ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x64xf32>) -> tensor<?x64xf32>
  return
}

// -----

func.func @grouped_mm_c12(
    %a: memref<?x32xi8, strided<[64, 2]>>, %b: memref<3x32x32xi8>,
    %sa: memref<?x4xf8E4M3FN>, %sb: memref<3x128x4xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<?x32xf32>) {
  // expected-error @+1 {{requires 'a' to have an innermost stride of 1}}
  gq.grouped_mm format(nvfp4) ins(%a, %b : memref<?x32xi8, strided<[64, 2]>>, memref<3x32x32xi8>)
      scales(%sa, %sb : memref<?x4xf8E4M3FN>, memref<3x128x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<?x32xf32>)
  return
}

// -----

func.func @grouped_mm_c12_b(
    %a: memref<?x32xi8>, %b: memref<3x32x32xi8, strided<[2048, 64, 1]>>,
    %sa: memref<?x4xf8E4M3FN>, %sb: memref<3x128x4xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<?x32xf32>) {
  // expected-error @+1 {{requires 'b' to be contiguous}}
  gq.grouped_mm format(nvfp4) ins(%a, %b : memref<?x32xi8>, memref<3x32x32xi8, strided<[2048, 64, 1]>>)
      scales(%sa, %sb : memref<?x4xf8E4M3FN>, memref<3x128x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<?x32xf32>)
  return
}

// -----

func.func @grouped_mm_c12_a_scales(
    %a: memref<?x32xi8>, %b: memref<3x32x32xi8>,
    %sa: memref<?x4xf8E4M3FN, strided<[8, 1]>>, %sb: memref<3x128x4xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<?x32xf32>) {
  // expected-error @+1 {{requires 'a_scales' to be contiguous}}
  gq.grouped_mm format(nvfp4) ins(%a, %b : memref<?x32xi8>, memref<3x32x32xi8>)
      scales(%sa, %sb : memref<?x4xf8E4M3FN, strided<[8, 1]>>, memref<3x128x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<?x32xf32>)
  return
}

// -----

func.func @grouped_mm_c12_b_scales(
    %a: memref<?x32xi8>, %b: memref<3x32x32xi8>,
    %sa: memref<?x4xf8E4M3FN>, %sb: memref<3x128x4xf8E4M3FN, strided<[1024, 4, 1]>>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<?x32xf32>) {
  // expected-error @+1 {{requires 'b_scales' to be contiguous}}
  gq.grouped_mm format(nvfp4) ins(%a, %b : memref<?x32xi8>, memref<3x32x32xi8>)
      scales(%sa, %sb : memref<?x4xf8E4M3FN>, memref<3x128x4xf8E4M3FN, strided<[1024, 4, 1]>>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<?x32xf32>)
  return
}

// -----

func.func @grouped_mm_c12_offsets(
    %a: memref<?x32xi8>, %b: memref<3x32x32xi8>,
    %sa: memref<?x4xf8E4M3FN>, %sb: memref<3x128x4xf8E4M3FN>,
    %o: memref<4xi32, strided<[2]>>, %so: memref<3xi32>, %c: memref<?x32xf32>) {
  // expected-error @+1 {{requires 'offsets' to be contiguous}}
  gq.grouped_mm format(nvfp4) ins(%a, %b : memref<?x32xi8>, memref<3x32x32xi8>)
      scales(%sa, %sb : memref<?x4xf8E4M3FN>, memref<3x128x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32, strided<[2]>>, memref<3xi32>)
      outs(%c : memref<?x32xf32>)
  return
}

// -----

func.func @grouped_mm_c12_scale_offsets(
    %a: memref<?x32xi8>, %b: memref<3x32x32xi8>,
    %sa: memref<?x4xf8E4M3FN>, %sb: memref<3x128x4xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32, strided<[2]>>, %c: memref<?x32xf32>) {
  // expected-error @+1 {{requires 'scale_offsets' to be contiguous}}
  gq.grouped_mm format(nvfp4) ins(%a, %b : memref<?x32xi8>, memref<3x32x32xi8>)
      scales(%sa, %sb : memref<?x4xf8E4M3FN>, memref<3x128x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32, strided<[2]>>)
      outs(%c : memref<?x32xf32>)
  return
}

// -----

func.func @grouped_mm_c12_alpha(
    %a: memref<?x32xi8>, %b: memref<3x32x32xi8>,
    %sa: memref<?x4xf8E4M3FN>, %sb: memref<3x128x4xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<?x32xf32>, %alpha: memref<3xf32, strided<[2]>>) {
  // expected-error @+1 {{requires 'alpha' to be contiguous}}
  gq.grouped_mm format(nvfp4) ins(%a, %b : memref<?x32xi8>, memref<3x32x32xi8>)
      scales(%sa, %sb : memref<?x4xf8E4M3FN>, memref<3x128x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      alpha(%alpha : memref<3xf32, strided<[2]>>)
      outs(%c : memref<?x32xf32>)
  return
}

// -----

func.func @grouped_mm_c12_out(
    %a: memref<?x32xi8>, %b: memref<3x32x32xi8>,
    %sa: memref<?x4xf8E4M3FN>, %sb: memref<3x128x4xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<?x32xf32, strided<[1, 32]>>) {
  // expected-error @+1 {{requires 'out' to have an innermost stride of 1}}
  gq.grouped_mm format(nvfp4) ins(%a, %b : memref<?x32xi8>, memref<3x32x32xi8>)
      scales(%sa, %sb : memref<?x4xf8E4M3FN>, memref<3x128x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<?x32xf32, strided<[1, 32]>>)
  return
}

// -----

func.func @grouped_block_quantize_c12_yield(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      maps [affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4> producer {
  ^bb0(%e: bf16):
    %i = arith.bitcast %e : bf16 to i16
    // expected-error @+1 {{operand #0 must be}}
    gq.yield %i : i16
  }
  return
}

// -----

// Extents that would not fit in 64 bits, rounded up or times a block.
func.func @block_quantize_c3_size(%x: memref<9223372036854775807x128xbf16>,
    %q: memref<9223372036854775807x128xf8E4M3FN>, %s: memref<?x1xf32>) {
  // expected-error @+1 {{requires static extents of at most 2^48 elements; 'input' has more}}
  gq.block_quantize format(fp8_e4m3_128x128) ins(%x : memref<9223372036854775807x128xbf16>)
      outs(%q, %s : memref<9223372036854775807x128xf8E4M3FN>, memref<?x1xf32>)
  return
}

// -----

// Twice as many elements would be as many as a dynamic extent's.
func.func @block_quantize_c3_size_of_data(%x: memref<4x64xbf16>,
    %q: memref<4x4611686018427387904xi8>, %s: memref<4x4xf8E4M3FN>) {
  // expected-error @+1 {{requires static extents of at most 2^48 elements; 'data' has more}}
  gq.block_quantize format(nvfp4) ins(%x : memref<4x64xbf16>)
      outs(%q, %s : memref<4x4611686018427387904xi8>, memref<4x4xf8E4M3FN>)
  return
}

// -----

// Even if another extent is 0.
func.func @preprocess_c3_size(%x: memref<0x1152921504606846980xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %t: memref<?x1152921504606846980xf8E4M3FN>) {
  // expected-error @+1 {{requires static extents of at most 2^48 elements; 'input' has more}}
  gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%x : memref<0x1152921504606846980xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>) outs(%t : memref<?x1152921504606846980xf8E4M3FN>)
  return
}

// -----

func.func @grouped_block_quantize_c3_size(%x: memref<?x64xbf16>,
    %o: memref<9223372036854775807xi32>, %so: memref<9223372036854775807xi32>,
    %d: memref<?x32xi8>, %s: memref<128x4xf8E4M3FN>) {
  // expected-error @+1 {{requires static extents of at most 2^48 elements; 'offsets' has more}}
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<?x64xbf16>)
      groups(%o, %so : memref<9223372036854775807xi32>, memref<9223372036854775807xi32>)
      outs(%d, %s : memref<?x32xi8>, memref<128x4xf8E4M3FN>)
  return
}

// -----

func.func @grouped_mm_c3_size(%a: memref<?x4611686018427387904xi8>, %b: memref<3x32x4611686018427387904xi8>,
    %sa: memref<?x4xf8E4M3FN>, %sb: memref<3x128x4xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<?x32xbf16>) {
  // expected-error @+1 {{requires static extents of at most 2^48 elements; 'a' has more}}
  gq.grouped_mm format(nvfp4) ins(%a, %b : memref<?x4611686018427387904xi8>, memref<3x32x4611686018427387904xi8>)
      scales(%sa, %sb : memref<?x4xf8E4M3FN>, memref<3x128x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<?x32xbf16>)
  return
}
