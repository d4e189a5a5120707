// RUN: gq-opt %s | gq-opt | FileCheck %s
// RUN: gq-opt %s --mlir-print-op-generic | gq-opt | FileCheck %s
// RUN: gq-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD

!tiles = tensor<?xf8E4M3FN, #gq.tile128x4>

// CHECK-LABEL: func @block
func.func @block(%q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %g: tensor<f32>, %x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  // CHECK: gq.block_dequantize format(nvfp4)
  // CHECK-SAME: ins(%{{[^ ]*}}, %{{[^ ]*}} : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
  // CHECK-SAME: global_scale(%{{[^ ]*}} : tensor<f32>)
  // CHECK-SAME: outs(%{{[^ ]*}} : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %r = gq.block_dequantize format(nvfp4)
      ins(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      global_scale(%g : tensor<f32>) outs(%x : tensor<?x64xbf16>)
      -> tensor<?x64xbf16>
  return %r : tensor<?x64xbf16>
}

// CHECK-LABEL: func @square
func.func @square(%q: memref<200x256xf8E5M2>, %s: memref<2x2xf32>,
    %x: memref<200x256xf32, strided<[300, 1]>>) {
  // CHECK: gq.block_dequantize format(fp8_e5m2_128x128) ins
  gq.block_dequantize format(fp8_e5m2_128x128)
      ins(%q, %s : memref<200x256xf8E5M2>, memref<2x2xf32>)
      outs(%x : memref<200x256xf32, strided<[300, 1]>>)
  return
}

// CHECK-LABEL: func @rows
func.func @rows(%q: tensor<?x64xf4E2M1FN>,
    %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %o: tensor<3xi32>,
    %so: tensor<3xi32>, %g: tensor<3xf32>, %x: tensor<?x64xf16>)
    -> tensor<?x64xf16> {
  // CHECK: gq.grouped_dequantize format(nvfp4)
  // CHECK-SAME: ins(%{{[^ ]*}} : tensor<?x64xf4E2M1FN>)
  // CHECK-SAME: scales(%{{[^ ]*}} : tensor<?x4xf8E4M3FN, #gq.tile128x4>)
  // CHECK-SAME: groups(%{{[^ ]*}}, %{{[^ ]*}} : tensor<3xi32>, tensor<3xi32>)
  // CHECK-SAME: global_scale(%{{[^ ]*}} : tensor<3xf32>)
  %r = gq.grouped_dequantize format(nvfp4) ins(%q : tensor<?x64xf4E2M1FN>)
      scales(%s : tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<3xi32>, tensor<3xi32>)
      global_scale(%g : tensor<3xf32>) outs(%x : tensor<?x64xf16>)
      -> tensor<?x64xf16>
  return %r : tensor<?x64xf16>
}

// CHECK-LABEL: func @columns
func.func @columns(%q: tensor<?xf4E2M1FN>, %s: !tiles, %o: tensor<4xi64>,
    %a: tensor<f32>, %x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // CHECK: gq.grouped_dequantize format(nvfp4) recipe(te) axis(columnwise) scale_max(256) ins
  // CHECK-SAME: outer_amax(%{{[^ ]*}} : tensor<f32>)
  %r = gq.grouped_dequantize format(nvfp4) recipe(te) axis(columnwise) scale_max(256)
      ins(%q : tensor<?xf4E2M1FN>) scales(%s : !tiles)
      groups(%o : tensor<4xi64>) outer_amax(%a : tensor<f32>)
      outs(%x : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// CHECK-LABEL: func @ragged
func.func @ragged(%q: tensor<?xi8>, %s: tensor<?xf8E8M0FNU>,
    %o: tensor<4xi64>, %m: tensor<3xi64>, %k: tensor<3xi64>,
    %x: tensor<?xbf16>) -> tensor<?xbf16> {
  // CHECK: gq.grouped_dequantize format(mxfp4) scale_layout(linear) ins
  // CHECK-SAME: shapes(%{{[^ ]*}}, %{{[^ ]*}} : tensor<3xi64>, tensor<3xi64>)
  %r = gq.grouped_dequantize format(mxfp4) scale_layout(linear)
      ins(%q : tensor<?xi8>) scales(%s : tensor<?xf8E8M0FNU>)
      groups(%o : tensor<4xi64>) shapes(%m, %k : tensor<3xi64>, tensor<3xi64>)
      outs(%x : tensor<?xbf16>) -> tensor<?xbf16>
  return %r : tensor<?xbf16>
}

// CHECK-LABEL: func @per_tensor
func.func @per_tensor(%q: tensor<?x48xf8E5M2>, %o: tensor<4xi32>,
    %i: tensor<3xf32>, %x: tensor<?x48xbf16>) -> tensor<?x48xbf16> {
  // CHECK: gq.grouped_dequantize ins(%{{[^ ]*}} : tensor<?x48xf8E5M2>)
  // CHECK-SAME: scale_inv(%{{[^ ]*}} : tensor<3xf32>)
  %r = gq.grouped_dequantize ins(%q : tensor<?x48xf8E5M2>)
      groups(%o : tensor<4xi32>) scale_inv(%i : tensor<3xf32>)
      outs(%x : tensor<?x48xbf16>) -> tensor<?x48xbf16>
  return %r : tensor<?x48xbf16>
}

// CHECK-LABEL: func @outer_of_rows
func.func @outer_of_rows(%q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi64>, %a: tensor<?xf32>, %x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // CHECK: gq.grouped_dequantize format(nvfp4) recipe(te) outer(row) ins
  %r = gq.grouped_dequantize format(nvfp4) recipe(te) outer(row)
      ins(%q : tensor<?x64xf4E2M1FN>) scales(%s : tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o : tensor<4xi64>) outer_amax(%a : tensor<?xf32>)
      outs(%x : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// CHECK-LABEL: func @outer_of_columns
func.func @outer_of_columns(%q: tensor<?xf4E2M1FN>, %s: !tiles,
    %o: tensor<4xi64>, %a: tensor<3x64xf32>, %x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // CHECK: gq.grouped_dequantize format(nvfp4) recipe(te) axis(columnwise) outer(column) ins
  // CHECK-SAME: outer_amax(%{{[^ ]*}} : tensor<3x64xf32>)
  %r = gq.grouped_dequantize format(nvfp4) recipe(te) axis(columnwise) outer(column)
      ins(%q : tensor<?xf4E2M1FN>) scales(%s : !tiles)
      groups(%o : tensor<4xi64>) outer_amax(%a : tensor<3x64xf32>)
      outs(%x : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// CHECK-LABEL: func @per_tensor_columns
func.func @per_tensor_columns(%q: tensor<?xf8E5M2>, %o: tensor<4xi32>,
    %i: tensor<3xf32>, %x: tensor<?x37xbf16>) -> tensor<?x37xbf16> {
  // CHECK: gq.grouped_dequantize axis(columnwise) ins(%{{[^ ]*}} : tensor<?xf8E5M2>)
  %r = gq.grouped_dequantize axis(columnwise) ins(%q : tensor<?xf8E5M2>)
      groups(%o : tensor<4xi32>) scale_inv(%i : tensor<3xf32>)
      outs(%x : tensor<?x37xbf16>) -> tensor<?x37xbf16>
  return %r : tensor<?x37xbf16>
}

// FOLD-LABEL: func @no_rows
// FOLD-SAME: %[[X:[^ ]*]]: tensor<0x64xf32>
func.func @no_rows(%q: tensor<?xf4E2M1FN>, %s: !tiles, %o: tensor<4xi64>,
    %x: tensor<0x64xf32>) -> tensor<0x64xf32> {
  // FOLD-NEXT: return %[[X]]
  %r = gq.grouped_dequantize format(nvfp4) axis(columnwise)
      ins(%q : tensor<?xf4E2M1FN>) scales(%s : !tiles)
      groups(%o : tensor<4xi64>) outs(%x : tensor<0x64xf32>)
      -> tensor<0x64xf32>
  return %r : tensor<0x64xf32>
}
