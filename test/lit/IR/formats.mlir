// RUN: gq-opt %s | gq-opt | FileCheck %s
// RUN: gq-opt %s --mlir-print-op-generic | gq-opt | FileCheck %s

!tiles = tensor<?xf8E4M3FN, #gq.tile128x4>

// Everything that groups of rows can have.
// CHECK-LABEL: func @te
func.func @te(%x: tensor<?x128xbf16>, %i: tensor<?xi32>, %o: tensor<4xi32>,
    %a: tensor<3xf32>, %ac: tensor<f32>, %q0: tensor<?x128xf4E2M1FN>,
    %s0: tensor<?x8xf8E4M3FN, #gq.tile128x4>, %qt0: tensor<?xf4E2M1FN>,
    %st0: !tiles, %am0: tensor<3xf32>, %d0: tensor<3x128xbf16>,
    %so0: tensor<3xi32>) -> (tensor<?xf4E2M1FN>, tensor<3x128xbf16>) {
  // CHECK: %{{.*}}:7 = gq.grouped_block_quantize format(nvfp4) recipe(te) rows(grouped)
  // CHECK-SAME: ins(%{{[^ ]*}} : tensor<?x128xbf16>) row_indices(%{{[^ ]*}} : tensor<?xi32>)
  // CHECK-SAME: groups(%{{[^ ]*}} : tensor<4xi32>)
  // CHECK-SAME: outer_amax(%{{[^ ]*}} : tensor<3xf32>)
  // CHECK-SAME: columnwise_outer_amax(%{{[^ ]*}} : tensor<f32>)
  // CHECK-SAME: outs(%{{[^ ]*}}, %{{[^ ]*}} : tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>)
  // CHECK-SAME: columnwise_outs(%{{[^ ]*}}, %{{[^ ]*}} : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>)
  // CHECK-SAME: amax_out(%{{[^ ]*}} : tensor<3xf32>)
  // CHECK-SAME: dbias_out(%{{[^ ]*}} : tensor<3x128xbf16>)
  // CHECK-SAME: scale_offsets_out(%{{[^ ]*}} : tensor<3xi32>)
  // CHECK-SAME: -> tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>, tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<3xf32>, tensor<3x128xbf16>, tensor<3xi32>
  %q, %s, %qt, %st, %am, %d, %so = gq.grouped_block_quantize format(nvfp4)
      recipe(te) rows(grouped) ins(%x : tensor<?x128xbf16>)
      row_indices(%i : tensor<?xi32>) groups(%o : tensor<4xi32>)
      outer_amax(%a : tensor<3xf32>) columnwise_outer_amax(%ac : tensor<f32>)
      outs(%q0, %s0 : tensor<?x128xf4E2M1FN>,
                      tensor<?x8xf8E4M3FN, #gq.tile128x4>)
      columnwise_outs(%qt0, %st0 : tensor<?xf4E2M1FN>, !tiles)
      amax_out(%am0 : tensor<3xf32>) dbias_out(%d0 : tensor<3x128xbf16>)
      scale_offsets_out(%so0 : tensor<3xi32>)
      -> tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>,
         tensor<?xf4E2M1FN>, !tiles, tensor<3xf32>, tensor<3x128xbf16>,
         tensor<3xi32>
  return %qt, %d : tensor<?xf4E2M1FN>, tensor<3x128xbf16>
}

// One direction, on memrefs; the data of MX formats is not transposed.
// CHECK-LABEL: func @columnwise
func.func @columnwise(%x: memref<?x64xf32>, %o: memref<?xi64>,
    %q: memref<?x32xi8>, %s: memref<?xf8E8M0FNU>) {
  // CHECK: gq.grouped_block_quantize format(mxfp4) ins(%{{.*}} : memref<?x64xf32>) groups(%{{.*}} : memref<?xi64>) columnwise_outs(%{{.*}}, %{{.*}} : memref<?x32xi8>, memref<?xf8E8M0FNU>)
  gq.grouped_block_quantize format(mxfp4) recipe(nvfuser)
      ins(%x : memref<?x64xf32>) groups(%o : memref<?xi64>)
      columnwise_outs(%q, %s : memref<?x32xi8>, memref<?xf8E8M0FNU>)
  return
}

// Linear scales; they need no contiguous rows.
// CHECK-LABEL: func @linear
func.func @linear(%x: memref<?x256xf16>, %o: memref<?xi64>,
    %q: memref<?x256xf8E5M2>, %s: memref<?x8xf8E8M0FNU, strided<[16, 1]>>) {
  // CHECK: gq.grouped_block_quantize format(mxfp8_e5m2) scale_layout(linear) ins(
  gq.grouped_block_quantize format(mxfp8_e5m2) scale_layout(linear)
      ins(%x : memref<?x256xf16>) groups(%o : memref<?xi64>)
      outs(%q, %s : memref<?x256xf8E5M2>,
                    memref<?x8xf8E8M0FNU, strided<[16, 1]>>)
  return
}

// Blocks of 128 by 128 follow each other group after group.
// CHECK-LABEL: func @squares
func.func @squares(%x: tensor<?x256xf16>, %o: tensor<?xi64>,
    %q0: tensor<?x256xf8E4M3FN>, %s0: tensor<?xf32>,
    %c0: tensor<?xf8E4M3FN>, %t0: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: gq.grouped_block_quantize format(fp8_e4m3_128x128) scale_layout(linear) ins(
  %r:4 = gq.grouped_block_quantize format(fp8_e4m3_128x128)
      scale_layout(linear) ins(%x : tensor<?x256xf16>)
      groups(%o : tensor<?xi64>)
      outs(%q0, %s0 : tensor<?x256xf8E4M3FN>, tensor<?xf32>)
      columnwise_outs(%c0, %t0 : tensor<?xf8E4M3FN>, tensor<?xf32>)
      -> tensor<?x256xf8E4M3FN>, tensor<?xf32>, tensor<?xf8E4M3FN>,
         tensor<?xf32>
  return %r#3 : tensor<?xf32>
}

// CHECK-LABEL: func @ragged
func.func @ragged(%x: tensor<?xbf16>, %o: tensor<?xi64>, %m: tensor<8xi64>,
    %k: tensor<?xi64>, %q0: tensor<?xf8E4M3FN>,
    %s0: tensor<?xf8E8M0FNU, #gq.tile128x4>, %c0: tensor<?xf8E4M3FN>,
    %t0: tensor<?xf8E8M0FNU, #gq.tile128x4>, %a0: tensor<8xf32>)
    -> tensor<8xf32> {
  // CHECK: gq.grouped_block_quantize format(mxfp8_e4m3) ins(%{{.*}} : tensor<?xbf16>) groups(%{{.*}} : tensor<?xi64>) shapes(%{{.*}}, %{{.*}} : tensor<8xi64>, tensor<?xi64>) outs(
  %r:5 = gq.grouped_block_quantize format(mxfp8_e4m3) ins(%x : tensor<?xbf16>)
      groups(%o : tensor<?xi64>)
      shapes(%m, %k : tensor<8xi64>, tensor<?xi64>)
      outs(%q0, %s0 : tensor<?xf8E4M3FN>,
                      tensor<?xf8E8M0FNU, #gq.tile128x4>)
      columnwise_outs(%c0, %t0 : tensor<?xf8E4M3FN>,
                                 tensor<?xf8E8M0FNU, #gq.tile128x4>)
      amax_out(%a0 : tensor<8xf32>)
      -> tensor<?xf8E4M3FN>, tensor<?xf8E8M0FNU, #gq.tile128x4>,
         tensor<?xf8E4M3FN>, tensor<?xf8E8M0FNU, #gq.tile128x4>, tensor<8xf32>
  return %r#4 : tensor<8xf32>
}

// With columns alone the input says what M and K are.
// CHECK-LABEL: func @producer
func.func @producer(%x: tensor<?x128xbf16>, %b: tensor<128xbf16>,
    %o: tensor<4xi32>, %q0: tensor<?xi8>, %s0: !tiles,
    %d0: tensor<3x128xf32>) -> tensor<3x128xf32> {
  // CHECK: gq.grouped_block_quantize format(nvfp4) ins({{.*}}) maps [
  // CHECK-SAME: groups(%{{[^ ]*}} : tensor<4xi32>) columnwise_outs(
  // CHECK-SAME: dbias_out(
  // CHECK-SAME: producer {
  %r:3 = gq.grouped_block_quantize format(nvfp4)
      ins(%x, %b : tensor<?x128xbf16>, tensor<128xbf16>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>]
      groups(%o : tensor<4xi32>)
      columnwise_outs(%q0, %s0 : tensor<?xi8>, !tiles)
      dbias_out(%d0 : tensor<3x128xf32>)
      -> tensor<?xi8>, !tiles, tensor<3x128xf32> producer {
      ^bb0(%e: bf16, %f: bf16):
        %p = arith.mulf %e, %f : bf16
        gq.yield %p : bf16
      }
  return %r#2 : tensor<3x128xf32>
}

// CHECK-LABEL: func @block_quantize
func.func @block_quantize(%x: tensor<200x256xf32>,
    %q0: tensor<200x256xf8E5M2>, %s0: tensor<2x2xf32>,
    %q1: tensor<200x256xf4E2M1FN>, %s1: tensor<200x8xf8E8M0FNU>,
    %t0: tensor<?x8xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>,
    %so: tensor<3xi32>)
    -> (tensor<2x2xf32>, tensor<?x8xf8E8M0FNU, #gq.tile128x4>) {
  // CHECK: gq.block_quantize format(fp8_e5m2_128x128) ins(
  %q:2 = gq.block_quantize format(fp8_e5m2_128x128)
      ins(%x : tensor<200x256xf32>)
      outs(%q0, %s0 : tensor<200x256xf8E5M2>, tensor<2x2xf32>)
      -> tensor<200x256xf8E5M2>, tensor<2x2xf32>
  // CHECK: gq.block_quantize format(mxfp4) ins(
  %r:2 = gq.block_quantize format(mxfp4) ins(%x : tensor<200x256xf32>)
      outs(%q1, %s1 : tensor<200x256xf4E2M1FN>, tensor<200x8xf8E8M0FNU>)
      -> tensor<200x256xf4E2M1FN>, tensor<200x8xf8E8M0FNU>
  // CHECK: gq.preprocess_grouped_matmul_sf format(mxfp4) ins(
  %t = gq.preprocess_grouped_matmul_sf format(mxfp4)
      ins(%r#1 : tensor<200x8xf8E8M0FNU>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%t0 : tensor<?x8xf8E8M0FNU, #gq.tile128x4>)
      -> tensor<?x8xf8E8M0FNU, #gq.tile128x4>
  return %q#1, %t : tensor<2x2xf32>, tensor<?x8xf8E8M0FNU, #gq.tile128x4>
}

// CHECK-LABEL: func @grouped_mm_mx
func.func @grouped_mm_mx(%a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E8M0FNU, #gq.tile128x4>,
    %sb: tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>,
    %so: tensor<3xi32>, %c0: tensor<?x32xbf16>) -> tensor<?x32xbf16> {
  // CHECK: gq.grouped_mm format(mxfp8_e4m3) b_format(mxfp4) ins(
  %c = gq.grouped_mm format(mxfp8_e4m3) b_format(mxfp4)
      ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E8M0FNU, #gq.tile128x4>,
                        tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c0 : tensor<?x32xbf16>) -> tensor<?x32xbf16>
  return %c : tensor<?x32xbf16>
}

// Weights in larger blocks, of which the last of N = 160 is not whole.
// CHECK-LABEL: func @grouped_mm_fp8
func.func @grouped_mm_fp8(%a: tensor<?x256xf8E4M3FN>,
    %b: tensor<3x160x256xf8E4M3FN>, %sa: tensor<?x2xf32>,
    %sb: tensor<3x2x2xf32>, %o: tensor<4xi64>, %c0: tensor<?x160xf32>)
    -> tensor<?x160xf32> {
  // CHECK: gq.grouped_mm format(fp8_e4m3_1x128) b_format(fp8_e4m3_128x128) scale_layout(linear) ins(
  // CHECK-SAME: scales(%{{.*}}, %{{.*}} : tensor<?x2xf32>, tensor<3x2x2xf32>) groups(%{{.*}} : tensor<4xi64>) outs(
  %c = gq.grouped_mm format(fp8_e4m3_1x128) b_format(fp8_e4m3_128x128)
      scale_layout(linear)
      ins(%a, %b : tensor<?x256xf8E4M3FN>, tensor<3x160x256xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x2xf32>, tensor<3x2x2xf32>)
      groups(%o : tensor<4xi64>)
      outs(%c0 : tensor<?x160xf32>) -> tensor<?x160xf32>
  return %c : tensor<?x160xf32>
}

// Rows of scales may be apart.
// CHECK-LABEL: func @grouped_mm_strided_scales
func.func @grouped_mm_strided_scales(%a: memref<?x256xf8E4M3FN>,
    %b: memref<3x32x256xf8E5M2>, %sa: memref<?x2xf32, strided<[7, 1]>>,
    %sb: memref<3x32x2xf32>, %o: memref<4xi32>, %c: memref<?x32xf32>) {
  // CHECK: gq.grouped_mm format(fp8_e4m3_1x128) b_format(fp8_e5m2_1x128) scale_layout(linear) ins(
  gq.grouped_mm format(fp8_e4m3_1x128) b_format(fp8_e5m2_1x128)
      scale_layout(linear)
      ins(%a, %b : memref<?x256xf8E4M3FN>, memref<3x32x256xf8E5M2>)
      scales(%sa, %sb : memref<?x2xf32, strided<[7, 1]>>, memref<3x32x2xf32>)
      groups(%o : memref<4xi32>) outs(%c : memref<?x32xf32>)
  return
}

// No block scales; all factors that a row of the result can have.
// CHECK-LABEL: func @grouped_mm_plain
func.func @grouped_mm_plain(%a: tensor<?x17xf8E4M3FN>, %b: tensor<3x32x17xf8E5M2>,
    %o: tensor<4xi32>, %alpha: tensor<3xf32>, %r: tensor<?xf32>,
    %n: tensor<3x32xf32>, %bias: tensor<3x32xf16>, %c0: tensor<?x32xbf16>)
    -> tensor<?x32xbf16> {
  // CHECK: gq.grouped_mm ins(
  // CHECK-SAME: groups(%{{.*}} : tensor<4xi32>) alpha(%{{.*}} : tensor<3xf32>)
  // CHECK-SAME: row_scales(%{{.*}} : tensor<?xf32>) column_scales(%{{.*}} : tensor<3x32xf32>)
  // CHECK-SAME: bias(%{{.*}} : tensor<3x32xf16>) outs(
  %c = gq.grouped_mm ins(%a, %b : tensor<?x17xf8E4M3FN>, tensor<3x32x17xf8E5M2>)
      groups(%o : tensor<4xi32>) alpha(%alpha : tensor<3xf32>)
      row_scales(%r : tensor<?xf32>) column_scales(%n : tensor<3x32xf32>)
      bias(%bias : tensor<3x32xf16>)
      outs(%c0 : tensor<?x32xbf16>) -> tensor<?x32xbf16>
  return %c : tensor<?x32xbf16>
}

// CHECK-LABEL: func @grouped_wgrad
func.func @grouped_wgrad(%a: tensor<?xf4E2M1FN>, %b: tensor<?xi8>,
    %sa: tensor<?xf8E4M3FN, #gq.tile128x4>,
    %sb: tensor<?xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>,
    %alpha: tensor<3xf32>, %c0: tensor<3x32x64xf32>) -> tensor<3x32x64xf32> {
  // CHECK: gq.grouped_wgrad format(nvfp4) ins(
  // CHECK-SAME: groups(%{{.*}} : tensor<4xi32>) alpha(%{{.*}} : tensor<3xf32>) outs(
  %c = gq.grouped_wgrad format(nvfp4)
      ins(%a, %b : tensor<?xf4E2M1FN>, tensor<?xi8>)
      scales(%sa, %sb : tensor<?xf8E4M3FN, #gq.tile128x4>,
                        tensor<?xf8E4M3FN, #gq.tile128x4>)
      groups(%o : tensor<4xi32>) alpha(%alpha : tensor<3xf32>)
      outs(%c0 : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return %c : tensor<3x32x64xf32>
}

// Data that is not transposed, in memory with rows apart.
// CHECK-LABEL: func @grouped_wgrad_mx
func.func @grouped_wgrad_mx(%a: memref<?x32xf8E5M2, strided<[40, 1]>>,
    %b: memref<?x64xf8E4M3FN>, %sa: memref<?xf8E8M0FNU>,
    %sb: memref<?xf8E8M0FNU>, %o: memref<4xi64>, %c: memref<?x?x?xbf16>) {
  // CHECK: gq.grouped_wgrad format(mxfp8_e5m2) b_format(mxfp8_e4m3) ins(
  gq.grouped_wgrad format(mxfp8_e5m2) b_format(mxfp8_e4m3)
      ins(%a, %b : memref<?x32xf8E5M2, strided<[40, 1]>>, memref<?x64xf8E4M3FN>)
      scales(%sa, %sb : memref<?xf8E8M0FNU>, memref<?xf8E8M0FNU>)
      groups(%o : memref<4xi64>) outs(%c : memref<?x?x?xbf16>)
  // CHECK: gq.grouped_wgrad ins(
  gq.grouped_wgrad
      ins(%a, %b : memref<?x32xf8E5M2, strided<[40, 1]>>, memref<?x64xf8E4M3FN>)
      groups(%o : memref<4xi64>) outs(%c : memref<?x?x?xbf16>)
  return
}

// CHECK-LABEL: func @grouped_wgrad_fp8
func.func @grouped_wgrad_fp8(%a: tensor<?xf8E4M3FN>, %b: tensor<?xf8E4M3FN>,
    %sa: tensor<?xf32>, %sb: tensor<?xf32>, %o: tensor<4xi32>,
    %c0: tensor<3x128x256xf32>) -> tensor<3x128x256xf32> {
  // CHECK: gq.grouped_wgrad format(fp8_e4m3_1x128) b_format(fp8_e4m3_128x128) scale_layout(linear) ins(
  %c = gq.grouped_wgrad format(fp8_e4m3_1x128) b_format(fp8_e4m3_128x128)
      scale_layout(linear)
      ins(%a, %b : tensor<?xf8E4M3FN>, tensor<?xf8E4M3FN>)
      scales(%sa, %sb : tensor<?xf32>, tensor<?xf32>)
      groups(%o : tensor<4xi32>)
      outs(%c0 : tensor<3x128x256xf32>) -> tensor<3x128x256xf32>
  return %c : tensor<3x128x256xf32>
}

// Weights whose innermost extent is not summed over.
// CHECK-LABEL: func @grouped_mm_major
func.func @grouped_mm_major(%a: tensor<?x64xf8E5M2>, %b: tensor<3x64x160xf4E2M1FN>,
    %sa: tensor<?x4xf8E8M0FNU, #gq.tile128x4>,
    %sb: tensor<3x256x4xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>,
    %so: tensor<3xi32>, %p: tensor<3x64x160xf8E4M3FN>, %c0: tensor<?x160xbf16>)
    -> (tensor<?x160xbf16>, tensor<?x160xbf16>) {
  // CHECK: gq.grouped_mm format(mxfp8_e5m2) b_format(mxfp4) b_major(n) ins(
  %c = gq.grouped_mm format(mxfp8_e5m2) b_format(mxfp4) b_major(n)
      ins(%a, %b : tensor<?x64xf8E5M2>, tensor<3x64x160xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E8M0FNU, #gq.tile128x4>,
                        tensor<3x256x4xf8E8M0FNU, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c0 : tensor<?x160xbf16>) -> tensor<?x160xbf16>
  // CHECK: gq.grouped_mm b_major(n) ins(
  %d = gq.grouped_mm b_major(n)
      ins(%a, %p : tensor<?x64xf8E5M2>, tensor<3x64x160xf8E4M3FN>)
      groups(%o : tensor<4xi32>)
      outs(%c0 : tensor<?x160xbf16>) -> tensor<?x160xbf16>
  return %c, %d : tensor<?x160xbf16>, tensor<?x160xbf16>
}

// What is computed of a product before it is stored.
// CHECK-LABEL: func @grouped_mm_epilogue
func.func @grouped_mm_epilogue(%a: tensor<?x64xf8E5M2>, %b: tensor<3x160x64xf8E4M3FN>,
    %o: tensor<4xi32>, %c0: tensor<?x160xbf16>, %h0: tensor<?x80xf16>)
    -> (tensor<?x160xbf16>, tensor<?x80xf16>) {
  // CHECK: gq.grouped_mm ins(
  // CHECK-SAME: epilogue {
  // CHECK: ^bb0(%{{.*}}: bf16):
  // CHECK: gq.yield %{{.*}} : bf16
  // CHECK: } outs(
  %c = gq.grouped_mm
      ins(%a, %b : tensor<?x64xf8E5M2>, tensor<3x160x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>)
      epilogue {
      ^bb0(%x: bf16):
        %y = arith.negf %x : bf16
        gq.yield %y : bf16
      }
      outs(%c0 : tensor<?x160xbf16>) -> tensor<?x160xbf16>
  // CHECK: gq.grouped_mm pairs(halves) ins(
  %h = gq.grouped_mm pairs(halves)
      ins(%a, %b : tensor<?x64xf8E5M2>, tensor<3x160x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>)
      epilogue {
      ^bb0(%x: f32, %y: f32):
        %z = arith.mulf %x, %y : f32
        %r = arith.truncf %z : f32 to f16
        gq.yield %r : f16
      }
      outs(%h0 : tensor<?x80xf16>) -> tensor<?x80xf16>
  return %c, %h : tensor<?x160xbf16>, tensor<?x80xf16>
}

// Numbers instead of codes, in either direction or both; columns as they are.
// CHECK-LABEL: func @numbers
func.func @numbers(%x: tensor<?x64xbf16>, %flat: tensor<?xbf16>, %o: tensor<4xi64>,
    %d: tensor<3xi64>, %s: tensor<f32>, %y: tensor<?x64xf32>, %z: tensor<?x64xf16>,
    %f: tensor<?xbf16>, %t: tensor<?xf8E4M3FN>, %a: tensor<3xf32>) {
  // CHECK: gq.grouped_block_quantize format(nvfp4) rows(grouped) ins(
  // CHECK-SAME: outs(%{{.*}} : tensor<?x64xf32>) columnwise_outs(%{{.*}} : tensor<?x64xf16>) amax_out(
  %0:3 = gq.grouped_block_quantize format(nvfp4) rows(grouped) ins(%x : tensor<?x64xbf16>)
      groups(%o : tensor<4xi64>) outs(%y : tensor<?x64xf32>) columnwise_outs(%z : tensor<?x64xf16>)
      amax_out(%a : tensor<3xf32>) -> tensor<?x64xf32>, tensor<?x64xf16>, tensor<3xf32>
  // CHECK: gq.grouped_quantize format(fp8_e4m3)
  // CHECK-SAME: outs(%{{.*}} : tensor<?xbf16>) columnwise_outs(%{{.*}} : tensor<?xf8E4M3FN>)
  %1:2 = gq.grouped_quantize format(fp8_e4m3) ins(%flat : tensor<?xbf16>) groups(%o : tensor<4xi64>)
      shapes(%d, %d : tensor<3xi64>, tensor<3xi64>) scale(%s : tensor<f32>)
      outs(%f : tensor<?xbf16>) columnwise_outs(%t : tensor<?xf8E4M3FN>)
      -> tensor<?xbf16>, tensor<?xf8E4M3FN>
  return
}
