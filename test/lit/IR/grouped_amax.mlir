// RUN: gq-opt %s | gq-opt | FileCheck %s
// RUN: gq-opt %s --mlir-print-op-generic | gq-opt | FileCheck %s
// RUN: gq-opt %s --pass-pipeline='builtin.module(func.func(canonicalize,cse))' | FileCheck %s

// CHECK-LABEL: @rows
// CHECK: gq.grouped_amax rows(grouped) ins(%{{.*}} : tensor<?x64xbf16>)
// CHECK-SAME: groups(%{{.*}} : tensor<4xi32>) amax_out(%{{.*}} : tensor<3xf32>)
// CHECK-SAME: row_amax_out(%{{.*}} : tensor<?xf32>) column_amax_out(%{{.*}} : tensor<3x64xf32>)
// CHECK-SAME: -> tensor<3xf32>, tensor<?xf32>, tensor<3x64xf32>
func.func @rows(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %a0: tensor<3xf32>, %r0: tensor<?xf32>,
    %c0: tensor<3x64xf32>) -> (tensor<3xf32>, tensor<?xf32>, tensor<3x64xf32>) {
  %a, %r, %c = gq.grouped_amax rows(grouped) ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      amax_out(%a0 : tensor<3xf32>) row_amax_out(%r0 : tensor<?xf32>)
      column_amax_out(%c0 : tensor<3x64xf32>)
      -> tensor<3xf32>, tensor<?xf32>, tensor<3x64xf32>
  return %a, %r, %c : tensor<3xf32>, tensor<?xf32>, tensor<3x64xf32>
}

// An empty group has a largest magnitude, too.
// CHECK-LABEL: @no_rows
// CHECK: gq.grouped_amax
func.func @no_rows(%x: tensor<0x64xbf16>, %o: tensor<4xi32>, %a0: tensor<3xf32>) -> tensor<3xf32> {
  %a = gq.grouped_amax ins(%x : tensor<0x64xbf16>) groups(%o : tensor<4xi32>)
      amax_out(%a0 : tensor<3xf32>) -> tensor<3xf32>
  return %a : tensor<3xf32>
}

// CHECK-LABEL: @ragged
// CHECK: gq.grouped_amax ins(%{{.*}} : tensor<?xf16>) groups(%{{.*}} : tensor<4xi64>) shapes(
func.func @ragged(%x: tensor<?xf16>, %o: tensor<4xi64>, %m: tensor<3xi64>, %a0: tensor<3xf32>) -> tensor<3xf32> {
  %a = gq.grouped_amax ins(%x : tensor<?xf16>) groups(%o : tensor<4xi64>)
      shapes(%m, %m : tensor<3xi64>, tensor<3xi64>) amax_out(%a0 : tensor<3xf32>) -> tensor<3xf32>
  return %a : tensor<3xf32>
}

// CHECK-LABEL: @producer
// CHECK: row_indices(%{{.*}} : tensor<?xi32>) maps [
// CHECK: producer {
func.func @producer(%x: tensor<?x64xbf16>, %w: tensor<?xf32>, %i: tensor<?xi32>, %o: tensor<4xi32>,
    %r0: tensor<?xf32>) -> tensor<?xf32> {
  %r = gq.grouped_amax ins(%x, %w : tensor<?x64xbf16>, tensor<?xf32>) row_indices(%i : tensor<?xi32>)
      maps [affine_map<(m, k)[r] -> (r, k)>, affine_map<(m, k) -> (m)>]
      groups(%o : tensor<4xi32>) row_amax_out(%r0 : tensor<?xf32>) -> tensor<?xf32> producer {
  ^bb0(%e: bf16, %f: f32):
    %g = arith.extf %e : bf16 to f32
    %p = arith.mulf %g, %f : f32
    gq.yield %p : f32
  }
  return %r : tensor<?xf32>
}

// CHECK-LABEL: @memrefs
// CHECK: gq.grouped_amax ins(%{{.*}} : memref<8x64xf32, strided<[80, 1]>>)
func.func @memrefs(%x: memref<8x64xf32, strided<[80, 1]>>, %o: memref<4xi32>, %c: memref<3x64xf32>) {
  gq.grouped_amax ins(%x : memref<8x64xf32, strided<[80, 1]>>) groups(%o : memref<4xi32>)
      column_amax_out(%c : memref<3x64xf32>)
  return
}
