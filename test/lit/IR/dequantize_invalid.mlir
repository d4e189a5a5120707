// RUN: gq-opt %s -split-input-file -verify-diagnostics

// One chunk per constraint, named after the op and the constraint's number.

func.func @block_dequantize_c1(%q: memref<?x64xf4E2M1FN>, %s: memref<?x4xf8E4M3FN>,
    %x: memref<?x64xi32>) {
  // expected-error @+1 {{requires 'out' to be a 2D tensor or memref of f32, bf16 or f16, but got memref<?x64xi32>}}
  gq.block_dequantize format(nvfp4)
      ins(%q, %s : memref<?x64xf4E2M1FN>, memref<?x4xf8E4M3FN>)
      outs(%x : memref<?x64xi32>)
  return
}

// -----

func.func @block_dequantize_c2(%q: tensor<?x64xf4E2M1FN>,
    %s: tensor<?x4xf8E4M3FN>, %x: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires a result for each tensor that it writes, 1 in all, but has 0}}
  gq.block_dequantize format(nvfp4)
      ins(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      outs(%x : tensor<?x64xbf16>)
  return
}

// -----

func.func @block_dequantize_c3(%q: memref<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires all operands to be tensors or all memrefs}}
  gq.block_dequantize format(nvfp4)
      ins(%q, %s : memref<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @block_dequantize_c4(%q: memref<?x24xi8>, %s: memref<?x1xf8E8M0FNU>,
    %x: memref<?x48xbf16>) {
  // expected-error @+1 {{requires K to be a positive multiple of 32, the block size of the format, but got 48}}
  gq.block_dequantize format(mxfp4)
      ins(%q, %s : memref<?x24xi8>, memref<?x1xf8E8M0FNU>)
      outs(%x : memref<?x48xbf16>)
  return
}

// -----

func.func @block_dequantize_c5(%q: memref<?x16xi8>, %s: memref<?x4xf8E4M3FN>,
    %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires 'data' to be ?x32 of i8, two codes each, but got ?x16}}
  gq.block_dequantize format(nvfp4)
      ins(%q, %s : memref<?x16xi8>, memref<?x4xf8E4M3FN>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @block_dequantize_c5_type(%q: memref<?x64xf8E5M2>, %s: memref<?x2xf8E8M0FNU>,
    %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires 'data' to be of f8E4M3FN for format(mxfp8_e4m3)}}
  gq.block_dequantize format(mxfp8_e4m3)
      ins(%q, %s : memref<?x64xf8E5M2>, memref<?x2xf8E8M0FNU>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @block_dequantize_c6(%q: memref<200x32xi8>, %s: memref<199x4xf8E4M3FN>,
    %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires 'scales' to be 200x4, but got 199x4}}
  gq.block_dequantize format(nvfp4)
      ins(%q, %s : memref<200x32xi8>, memref<199x4xf8E4M3FN>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @block_dequantize_c6_square(%q: memref<129x256xf8E4M3FN>, %s: memref<1x2xf32>,
    %x: memref<?x256xbf16>) {
  // expected-error @+1 {{requires 'scales' to be 2x2, but got 1x2}}
  gq.block_dequantize format(fp8_e4m3_128x128)
      ins(%q, %s : memref<129x256xf8E4M3FN>, memref<1x2xf32>)
      outs(%x : memref<?x256xbf16>)
  return
}

// -----

func.func @block_dequantize_c7(%q: memref<?x64xf4E2M1FN>, %s: memref<?x4xf8E4M3FN>,
    %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires scale_layout(linear)}}
  gq.block_dequantize format(nvfp4) scale_layout(tile128x4)
      ins(%q, %s : memref<?x64xf4E2M1FN>, memref<?x4xf8E4M3FN>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @block_dequantize_c8(%q: memref<?x64xf4E2M1FN>, %s: memref<?x4xf8E4M3FN>,
    %x: memref<?x64xbf16, strided<[128, 2]>>) {
  // expected-error @+1 {{requires 'out' to have an innermost stride of 1}}
  gq.block_dequantize format(nvfp4)
      ins(%q, %s : memref<?x64xf4E2M1FN>, memref<?x4xf8E4M3FN>)
      outs(%x : memref<?x64xbf16, strided<[128, 2]>>)
  return
}

// -----

func.func @block_dequantize_c9(%q: memref<?x32xi8>, %s: memref<?x2xf8E8M0FNU>, %g: memref<f32>,
    %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires format(nvfp4) for 'global_scale'}}
  gq.block_dequantize format(mxfp4)
      ins(%q, %s : memref<?x32xi8>, memref<?x2xf8E8M0FNU>) global_scale(%g : memref<f32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c1(%q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>, %o: memref<4xi32>, %x: memref<?x64xf64>) {
  // expected-error @+1 {{requires 'out' to be a 1D or 2D tensor or memref of f32, bf16 or f16, but got memref<?x64xf64>}}
  gq.grouped_dequantize format(nvfp4)
      ins(%q : memref<?x32xi8>) scales(%s : memref<?x4xf8E4M3FN>) 
      groups(%o : memref<4xi32>)
      outs(%x : memref<?x64xf64>)
  return
}

// -----

func.func @grouped_dequantize_c2(%q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>, %x: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires a result for each tensor that it writes, 1 in all, but has 0}}
  gq.grouped_dequantize format(nvfp4)
      ins(%q : tensor<?x64xf4E2M1FN>) scales(%s : tensor<?x4xf8E4M3FN, #gq.tile128x4>) 
      groups(%o : tensor<4xi32>)
      outs(%x : tensor<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c3(%q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>, %o: tensor<4xi32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires all operands to be tensors or all memrefs}}
  gq.grouped_dequantize format(nvfp4)
      ins(%q : memref<?x32xi8>) scales(%s : memref<?x4xf8E4M3FN>) 
      groups(%o : tensor<4xi32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c4(%q: memref<?x64xf8E4M3FN>, %s: memref<?x1xf32>, %o: memref<4xi32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires K to be a positive multiple of 128, the block size of the format, but got 64}}
  gq.grouped_dequantize format(fp8_e4m3_1x128) scale_layout(linear)
      ins(%q : memref<?x64xf8E4M3FN>) scales(%s : memref<?x1xf32>) 
      groups(%o : memref<4xi32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c5(%q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>, %o: memref<5xi32>, %so: memref<3xi32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires 'offsets' to hold 3 or 4 entries for 3 groups, but got 5}}
  gq.grouped_dequantize format(nvfp4)
      ins(%q : memref<?x32xi8>) scales(%s : memref<?x4xf8E4M3FN>) 
      groups(%o, %so : memref<5xi32>, memref<3xi32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c5_packed(%q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>, %o: memref<0xi32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires 'offsets' to hold G + 1 entries where there are no 'scale_offsets', but got 0}}
  gq.grouped_dequantize format(nvfp4)
      ins(%q : memref<?x32xi8>) scales(%s : memref<?x4xf8E4M3FN>) 
      groups(%o : memref<0xi32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c6(%q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>, %o: memref<4xi32>, %g: memref<4xf32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires 'global_scale' to be 3, but got 4}}
  gq.grouped_dequantize format(nvfp4)
      ins(%q : memref<?x32xi8>) scales(%s : memref<?x4xf8E4M3FN>) 
      groups(%o : memref<4xi32>) global_scale(%g : memref<4xf32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c6_inv(%q: memref<?x64xf8E5M2>, %o: memref<4xi32>, %i: memref<4xf32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires 'scale_inv' to be 3, but got 4}}
  gq.grouped_dequantize
      ins(%q : memref<?x64xf8E5M2>) 
      groups(%o : memref<4xi32>) scale_inv(%i : memref<4xf32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c7(%q: memref<8x32xi8>, %s: memref<?x4xf8E4M3FN>, %o: memref<4xi32>, %x: memref<9x64xbf16>) {
  // expected-error @+1 {{requires 'data' to be 9x32 of i8, two codes each, but got 8x32}}
  gq.grouped_dequantize format(nvfp4)
      ins(%q : memref<8x32xi8>) scales(%s : memref<?x4xf8E4M3FN>) 
      groups(%o : memref<4xi32>)
      outs(%x : memref<9x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c7_flat(%q: memref<?x32xi8>, %s: memref<?xf8E4M3FN>, %o: memref<4xi32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires 'data' to be of rank 1, but got 2}}
  gq.grouped_dequantize format(nvfp4) axis(columnwise)
      ins(%q : memref<?x32xi8>) scales(%s : memref<?xf8E4M3FN>) 
      groups(%o : memref<4xi32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c7_rows(%q: memref<?xi8>, %s: memref<?xf8E8M0FNU>, %o: memref<4xi32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires 'data' to be of rank 2, but got 1}}
  gq.grouped_dequantize format(mxfp4) axis(columnwise)
      ins(%q : memref<?xi8>) scales(%s : memref<?xf8E8M0FNU>) 
      groups(%o : memref<4xi32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c8(%q: memref<?x32xi8>, %s: memref<130x4xf8E4M3FN>, %o: memref<4xi32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires the rows of 'scales' to be a multiple of 128, but got 130}}
  gq.grouped_dequantize format(nvfp4)
      ins(%q : memref<?x32xi8>) scales(%s : memref<130x4xf8E4M3FN>) 
      groups(%o : memref<4xi32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c8_linear(%q: memref<?x32xi8>, %s: memref<?x5xf8E4M3FN>, %o: memref<4xi32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires 'scales' to be ?x4, but got ?x5}}
  gq.grouped_dequantize format(nvfp4) scale_layout(linear)
      ins(%q : memref<?x32xi8>) scales(%s : memref<?x5xf8E4M3FN>) 
      groups(%o : memref<4xi32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c8_columnwise(%q: memref<?xi8>, %s: memref<?x4xf8E4M3FN>, %o: memref<4xi32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires 'scales' to be of rank 1, but got 2}}
  gq.grouped_dequantize format(nvfp4) axis(columnwise)
      ins(%q : memref<?xi8>) scales(%s : memref<?x4xf8E4M3FN>) 
      groups(%o : memref<4xi32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c9(%q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>, %o: tensor<4xi32>, %x: tensor<?x64xbf16>) {
  // expected-error @+1 {{requires 'scales' to have the encoding #gq.tile128x4; gq.preprocess_grouped_matmul_sf converts linear scales}}
  %r = gq.grouped_dequantize format(nvfp4)
      ins(%q : tensor<?x64xf4E2M1FN>) scales(%s : tensor<?x4xf8E4M3FN>) 
      groups(%o : tensor<4xi32>)
      outs(%x : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return
}

// -----

func.func @grouped_dequantize_c10(%q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>, %o: memref<4xi32>, %x: memref<?x64xbf16, strided<[128, 2]>>) {
  // expected-error @+1 {{requires 'out' to have an innermost stride of 1}}
  gq.grouped_dequantize format(nvfp4)
      ins(%q : memref<?x32xi8>) scales(%s : memref<?x4xf8E4M3FN>) 
      groups(%o : memref<4xi32>)
      outs(%x : memref<?x64xbf16, strided<[128, 2]>>)
  return
}

// -----

func.func @grouped_dequantize_c10_contiguous(%q: memref<?x32xi8>, %s: memref<128x4xf8E4M3FN, strided<[8, 1]>>, %o: memref<4xi32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires 'scales' to be contiguous}}
  gq.grouped_dequantize format(nvfp4)
      ins(%q : memref<?x32xi8>) scales(%s : memref<128x4xf8E4M3FN, strided<[8, 1]>>) 
      groups(%o : memref<4xi32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c11(%q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>, %o: memref<4xi32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires 'scales' to be of f8E8M0FNU for format(mxfp4)}}
  gq.grouped_dequantize format(mxfp4)
      ins(%q : memref<?x32xi8>) scales(%s : memref<?x4xf8E4M3FN>) 
      groups(%o : memref<4xi32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c11_none(%q: memref<?x64xi8>, %o: memref<4xi32>, %i: memref<f32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires 'data' to be of f8E4M3FN or f8E5M2 where it has no 'format'}}
  gq.grouped_dequantize
      ins(%q : memref<?x64xi8>) 
      groups(%o : memref<4xi32>) scale_inv(%i : memref<f32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c12(%q: memref<?x32xi8>, %o: memref<4xi32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires 'scales' where it has 'format'}}
  gq.grouped_dequantize format(nvfp4)
      ins(%q : memref<?x32xi8>) 
      groups(%o : memref<4xi32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c12_none(%q: memref<?x64xf8E5M2>, %o: memref<4xi32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires 'scale_inv' without 'format'}}
  gq.grouped_dequantize
      ins(%q : memref<?x64xf8E5M2>) 
      groups(%o : memref<4xi32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c12_both(%q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>, %o: memref<4xi32>, %i: memref<f32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires no 'scale_inv' where it has 'format'}}
  gq.grouped_dequantize format(nvfp4)
      ins(%q : memref<?x32xi8>) scales(%s : memref<?x4xf8E4M3FN>) 
      groups(%o : memref<4xi32>) scale_inv(%i : memref<f32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c12_scales(%q: memref<?x64xf8E5M2>, %s: memref<?x4xf8E4M3FN>, %o: memref<4xi32>, %i: memref<f32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires no 'scales' without 'format'}}
  gq.grouped_dequantize
      ins(%q : memref<?x64xf8E5M2>) scales(%s : memref<?x4xf8E4M3FN>) 
      groups(%o : memref<4xi32>) scale_inv(%i : memref<f32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c13(%q: memref<?x32xi8>, %s: memref<?x4xf8E8M0FNU>, %o: memref<4xi32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires format(nvfp4) for recipe(te)}}
  gq.grouped_dequantize format(mxfp4) recipe(te)
      ins(%q : memref<?x32xi8>) scales(%s : memref<?x4xf8E8M0FNU>) 
      groups(%o : memref<4xi32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c13_amax(%q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>, %o: memref<4xi32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires 'outer_amax' for recipe(te)}}
  gq.grouped_dequantize format(nvfp4) recipe(te)
      ins(%q : memref<?x32xi8>) scales(%s : memref<?x4xf8E4M3FN>) 
      groups(%o : memref<4xi32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c13_te(%q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>, %o: memref<4xi32>, %a: memref<f32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires recipe(te) for 'outer_amax'}}
  gq.grouped_dequantize format(nvfp4)
      ins(%q : memref<?x32xi8>) scales(%s : memref<?x4xf8E4M3FN>) 
      groups(%o : memref<4xi32>) outer_amax(%a : memref<f32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c14(%q: memref<?x32xi8>, %s: memref<?x4xf8E8M0FNU>, %o: memref<4xi32>, %g: memref<f32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires format(nvfp4) and recipe(nvfuser) for 'global_scale'}}
  gq.grouped_dequantize format(mxfp4)
      ins(%q : memref<?x32xi8>) scales(%s : memref<?x4xf8E8M0FNU>) 
      groups(%o : memref<4xi32>) global_scale(%g : memref<f32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c15(%q: memref<?x256xf8E4M3FN>, %s: memref<?x2xf32>, %o: memref<4xi32>, %x: memref<?x256xbf16>) {
  // expected-error @+1 {{requires scale_layout(linear) for the f32 scales of fp8_e4m3_1x128}}
  gq.grouped_dequantize format(fp8_e4m3_1x128)
      ins(%q : memref<?x256xf8E4M3FN>) scales(%s : memref<?x2xf32>) 
      groups(%o : memref<4xi32>)
      outs(%x : memref<?x256xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c16(%q: memref<?xi8>, %s: memref<?xf8E4M3FN>, %o: memref<4xi32>, %so: memref<3xi32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires no 'scale_offsets' for axis(columnwise)}}
  gq.grouped_dequantize format(nvfp4) axis(columnwise)
      ins(%q : memref<?xi8>) scales(%s : memref<?xf8E4M3FN>) 
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c17(%q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>, %o: memref<4xi32>, %x: memref<?xbf16>) {
  // expected-error @+1 {{requires 'out' to be of rank 2, but got 1}}
  gq.grouped_dequantize format(nvfp4)
      ins(%q : memref<?x32xi8>) scales(%s : memref<?x4xf8E4M3FN>) 
      groups(%o : memref<4xi32>)
      outs(%x : memref<?xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c17_shapes(%q: memref<?xi8>, %s: memref<?xf8E4M3FN>, %o: memref<4xi32>, %m: memref<3xi64>, %x: memref<?xbf16>) {
  // expected-error @+1 {{requires 'offsets' and 'first_dims' to have the same element type}}
  gq.grouped_dequantize format(nvfp4)
      ins(%q : memref<?xi8>) scales(%s : memref<?xf8E4M3FN>) 
      groups(%o : memref<4xi32>) shapes(%m, %m : memref<3xi64>, memref<3xi64>)
      outs(%x : memref<?xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c17_groups(%q: memref<?xi8>, %s: memref<?xf8E4M3FN>, %o: memref<4xi32>, %m: memref<3xi32>, %k: memref<2xi32>, %x: memref<?xbf16>) {
  // expected-error @+1 {{requires 'last_dims' to be 3, but got 2}}
  gq.grouped_dequantize format(nvfp4)
      ins(%q : memref<?xi8>) scales(%s : memref<?xf8E4M3FN>) 
      groups(%o : memref<4xi32>) shapes(%m, %k : memref<3xi32>, memref<2xi32>)
      outs(%x : memref<?xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c18(%q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>, %o: memref<4xi32>, %a: memref<?xf32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires axis(columnwise) for outer(column)}}
  gq.grouped_dequantize format(nvfp4) recipe(te) outer(column)
      ins(%q : memref<?x32xi8>) scales(%s : memref<?x4xf8E4M3FN>)
      groups(%o : memref<4xi32>) outer_amax(%a : memref<?xf32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c18_row(%q: memref<?xi8>, %s: memref<?xf8E4M3FN>, %o: memref<4xi32>, %a: memref<?xf32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires axis(rowwise) for outer(row)}}
  gq.grouped_dequantize format(nvfp4) recipe(te) axis(columnwise) outer(row)
      ins(%q : memref<?xi8>) scales(%s : memref<?xf8E4M3FN>)
      groups(%o : memref<4xi32>) outer_amax(%a : memref<?xf32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c18_recipe(%q: memref<?x64xf8E5M2>, %o: memref<4xi32>, %i: memref<f32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires recipe(te) and no 'shapes' for outer(row)}}
  gq.grouped_dequantize outer(row)
      ins(%q : memref<?x64xf8E5M2>)
      groups(%o : memref<4xi32>) scale_inv(%i : memref<f32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c6_row(%q: memref<9x32xi8>, %s: memref<?x4xf8E4M3FN>, %o: memref<4xi32>, %a: memref<3xf32>, %x: memref<9x64xbf16>) {
  // expected-error @+1 {{requires 'outer_amax' to be 9, but got 3}}
  gq.grouped_dequantize format(nvfp4) recipe(te) outer(row)
      ins(%q : memref<9x32xi8>) scales(%s : memref<?x4xf8E4M3FN>)
      groups(%o : memref<4xi32>) outer_amax(%a : memref<3xf32>)
      outs(%x : memref<9x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c6_column(%q: memref<?xi8>, %s: memref<?xf8E4M3FN>, %o: memref<4xi32>, %a: memref<3x48xf32>, %x: memref<9x64xbf16>) {
  // expected-error @+1 {{requires 'outer_amax' to be 3x64, but got 3x48}}
  gq.grouped_dequantize format(nvfp4) recipe(te) axis(columnwise) outer(column)
      ins(%q : memref<?xi8>) scales(%s : memref<?xf8E4M3FN>)
      groups(%o : memref<4xi32>) outer_amax(%a : memref<3x48xf32>)
      outs(%x : memref<9x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c6_rank(%q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>, %o: memref<4xi32>, %a: memref<3x64xf32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires 'outer_amax' to be of rank 1, but got 2}}
  gq.grouped_dequantize format(nvfp4) recipe(te)
      ins(%q : memref<?x32xi8>) scales(%s : memref<?x4xf8E4M3FN>)
      groups(%o : memref<4xi32>) outer_amax(%a : memref<3x64xf32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c7_per_tensor(%q: memref<?x64xf8E5M2>, %o: memref<4xi32>, %i: memref<f32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires 'data' to be of rank 1, but got 2}}
  gq.grouped_dequantize axis(columnwise)
      ins(%q : memref<?x64xf8E5M2>)
      groups(%o : memref<4xi32>) scale_inv(%i : memref<f32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c20_value(%q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>, %o: memref<4xi32>, %a: memref<f32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires 'scale_max' to be 256 or 448 and of recipe(te)}}
  gq.grouped_dequantize format(nvfp4) recipe(te) scale_max(255)
      ins(%q : memref<?x32xi8>) scales(%s : memref<?x4xf8E4M3FN>)
      groups(%o : memref<4xi32>) outer_amax(%a : memref<f32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

func.func @grouped_dequantize_c20_recipe(%q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>, %o: memref<4xi32>, %x: memref<?x64xbf16>) {
  // expected-error @+1 {{requires 'scale_max' to be 256 or 448 and of recipe(te)}}
  gq.grouped_dequantize format(nvfp4) scale_max(448)
      ins(%q : memref<?x32xi8>) scales(%s : memref<?x4xf8E4M3FN>)
      groups(%o : memref<4xi32>) outs(%x : memref<?x64xbf16>)
  return
}
