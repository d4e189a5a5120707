// RUN: gq-opt %s --pass-pipeline='builtin.module(canonicalize)' | FileCheck %s

// Zero rows: nothing to quantize, no group owns padding.

// CHECK-LABEL: func @block_quantize_zero_rows
// CHECK-SAME: %{{.*}}: tensor<0x64xbf16>, %[[Q:.*]]: tensor<0x64xf4E2M1FN>, %[[S:.*]]: tensor<0x4xf8E4M3FN>
func.func @block_quantize_zero_rows(%x: tensor<0x64xbf16>,
    %q0: tensor<0x64xf4E2M1FN>, %s0: tensor<0x4xf8E4M3FN>)
    -> (tensor<0x64xf4E2M1FN>, tensor<0x4xf8E4M3FN>) {
  // CHECK-NOT: gq.
  // CHECK: return %[[Q]], %[[S]]
  %q, %s = gq.block_quantize format(nvfp4) ins(%x : tensor<0x64xbf16>)
      outs(%q0, %s0 : tensor<0x64xf4E2M1FN>, tensor<0x4xf8E4M3FN>)
      -> tensor<0x64xf4E2M1FN>, tensor<0x4xf8E4M3FN>
  return %q, %s : tensor<0x64xf4E2M1FN>, tensor<0x4xf8E4M3FN>
}

// CHECK-LABEL: func @grouped_block_quantize_zero_rows
func.func @grouped_block_quantize_zero_rows(%x: memref<0x64xbf16>,
    %o: memref<3xi32>, %so: memref<2xi32>, %q: memref<0x32xi8>,
    %s: memref<256x4xf8E4M3FN>) {
  // CHECK-NOT: gq.
  // CHECK: return
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<0x64xbf16>)
      groups(%o, %so : memref<3xi32>, memref<2xi32>)
      outs(%q, %s : memref<0x32xi8>, memref<256x4xf8E4M3FN>)
  return
}

// CHECK-LABEL: func @preprocess_zero_rows
// CHECK-SAME: %[[T:[^ ]*]]: tensor<256x4xf8E4M3FN, #gq.tile128x4>
func.func @preprocess_zero_rows(%t0: tensor<256x4xf8E4M3FN, #gq.tile128x4>,
    %s: tensor<0x4xf8E4M3FN>, %o: tensor<3xi32>, %so: tensor<2xi32>)
    -> tensor<256x4xf8E4M3FN, #gq.tile128x4> {
  // CHECK: return %[[T]]
  %t = gq.preprocess_grouped_matmul_sf format(nvfp4)
      ins(%s : tensor<0x4xf8E4M3FN>)
      groups(%o, %so : tensor<3xi32>, tensor<2xi32>)
      outs(%t0 : tensor<256x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<256x4xf8E4M3FN, #gq.tile128x4>
  return %t : tensor<256x4xf8E4M3FN, #gq.tile128x4>
}

// CHECK-LABEL: func @grouped_mm_zero_rows
// CHECK-SAME: %[[C:[^ ]*]]: tensor<0x32xf32>
func.func @grouped_mm_zero_rows(%c0: tensor<0x32xf32>,
    %a: tensor<0x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>,
    %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>,
    %so: tensor<3xi32>) -> tensor<0x32xf32> {
  // CHECK: return %[[C]]
  %c = gq.grouped_mm format(nvfp4)
      ins(%a, %b : tensor<0x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>,
                        tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c0 : tensor<0x32xf32>) -> tensor<0x32xf32>
  return %c : tensor<0x32xf32>
}

// A tensor.cast folds into the op; static and dynamic extents meet in it.
// CHECK-LABEL: func @cast
// CHECK: gq.block_quantize format(nvfp4) ins(%{{.*}} : tensor<8x64xbf16>)
// CHECK-SAME: outs(%{{.*}}, %{{.*}} : tensor<?x64xf4E2M1FN>
func.func @cast(%x: tensor<8x64xbf16>, %q0: tensor<?x64xf4E2M1FN>,
    %s0: tensor<?x4xf8E4M3FN>) -> (tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>) {
  %c = tensor.cast %x : tensor<8x64xbf16> to tensor<?x64xbf16>
  %q, %s = gq.block_quantize format(nvfp4) ins(%c : tensor<?x64xbf16>)
      outs(%q0, %s0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return %q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
}

// Unused results: the op is pure on tensors, but not on memrefs.
// CHECK-LABEL: func @dead
// CHECK-NOT: ins(%{{.*}} : tensor
// CHECK: gq.block_quantize format(nvfp4) ins(%{{.*}} : memref<
func.func @dead(%x: tensor<8x64xbf16>, %q0: tensor<8x64xf4E2M1FN>,
    %s0: tensor<8x4xf8E4M3FN>, %mx: memref<8x64xbf16>, %mq: memref<8x32xi8>,
    %ms: memref<8x4xf8E4M3FN>) {
  %q, %s = gq.block_quantize format(nvfp4) ins(%x : tensor<8x64xbf16>)
      outs(%q0, %s0 : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>)
      -> tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>
  gq.block_quantize format(nvfp4) ins(%mx : memref<8x64xbf16>)
      outs(%mq, %ms : memref<8x32xi8>, memref<8x4xf8E4M3FN>)
  return
}

// No row, no data and no scale in either direction; but outputs that describe groups
// describe empty ones.
// CHECK-LABEL: func @grouped_block_quantize_zero_rows_columnwise
// CHECK-SAME: %[[Q:[^ ]*]]: tensor<?xi8>, %[[S:[^ ]*]]: tensor<?xf8E4M3FN, #gq.tile128x4>
func.func @grouped_block_quantize_zero_rows_columnwise(%q0: tensor<?xi8>,
    %s0: tensor<?xf8E4M3FN, #gq.tile128x4>, %x: tensor<0x64xbf16>,
    %o: tensor<4xi32>, %a0: tensor<3xf32>)
    -> (tensor<?xi8>, tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<3xf32>) {
  // CHECK-NEXT: %[[R:.*]]:3 = gq.grouped_block_quantize
  // CHECK-NEXT: return %[[Q]], %[[S]], %[[R]]#2
  %q, %s = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<0x64xbf16>)
      groups(%o : tensor<4xi32>)
      columnwise_outs(%q0, %s0 : tensor<?xi8>,
                                 tensor<?xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?xi8>, tensor<?xf8E4M3FN, #gq.tile128x4>
  %r:3 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<0x64xbf16>)
      groups(%o : tensor<4xi32>)
      columnwise_outs(%q0, %s0 : tensor<?xi8>,
                                 tensor<?xf8E4M3FN, #gq.tile128x4>)
      amax_out(%a0 : tensor<3xf32>)
      -> tensor<?xi8>, tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<3xf32>
  return %q, %s, %r#2 : tensor<?xi8>, tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<3xf32>
}

// The gradient of weights that no row has seen is zero.
// CHECK-LABEL: func @grouped_wgrad_zero_rows
func.func @grouped_wgrad_zero_rows(%a: tensor<0x32xf8E4M3FN>,
    %b: tensor<0x64xf8E4M3FN>, %o: tensor<4xi32>, %c0: tensor<3x32x64xf32>)
    -> tensor<3x32x64xf32> {
  // CHECK-NEXT: %[[C:.*]] = gq.grouped_wgrad
  // CHECK-NEXT: return %[[C]]
  %c = gq.grouped_wgrad
      ins(%a, %b : tensor<0x32xf8E4M3FN>, tensor<0x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>)
      outs(%c0 : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return %c : tensor<3x32x64xf32>
}
