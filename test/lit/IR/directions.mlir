// RUN: gq-opt %s | gq-opt | FileCheck %s
// RUN: gq-opt %s --mlir-print-op-generic | gq-opt | FileCheck %s

// The settings of a direction of nvfp4.
!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!s = tensor<?x4xf8E4M3FN, #gq.tile128x4>
!qt = tensor<?xf4E2M1FN>
!st = tensor<?xf8E4M3FN, #gq.tile128x4>

// CHECK-LABEL: func private @attributes
// CHECK-SAME: my.a = #gq.direction<rounding = stochastic, transform = hadamard16, signs = 0xD7E8, block = 16x1, outer = column>
// CHECK-SAME: my.b = #gq.direction<block = 16x16, four_over_six = mae, scale_max = 256>
// CHECK-SAME: my.c = #gq.direction<signs = 0x0008, outer = group, four_over_six = none>
func.func private @attributes() attributes {
    my.a = #gq.direction<rounding = stochastic, transform = hadamard16,
                         signs = 0xD7E8, block = 16x1, outer = column>,
    my.b = #gq.direction<block = 16x16, four_over_six = mae, scale_max = 256>,
    my.c = #gq.direction<signs = 8, outer = group, four_over_six = none>}

// CHECK-LABEL: func @per_token
// CHECK: rowwise<outer = row> columnwise<outer = column>
// CHECK-SAME: outer_amax(%{{.*}} : tensor<?xf32>) columnwise_outer_amax(%{{.*}} : tensor<3x64xf32>) outs(
func.func @per_token(%x: !x, %o: tensor<4xi32>, %a: tensor<?xf32>,
    %b: tensor<3x64xf32>, %q0: !q, %s0: !s, %qt0: !qt, %st0: !st) {
  %r:4 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      rowwise<outer = row> columnwise<outer = column>
      ins(%x : !x) groups(%o : tensor<4xi32>) outer_amax(%a : tensor<?xf32>)
      columnwise_outer_amax(%b : tensor<3x64xf32>)
      outs(%q0, %s0 : !q, !s) columnwise_outs(%qt0, %st0 : !qt, !st)
      -> !q, !s, !qt, !st
  return
}

// Columns that have their own outer amax need no other.
// CHECK-LABEL: func @gradient
// CHECK: columnwise<rounding = stochastic, transform = hadamard16, signs = 0xD7E8>
// CHECK-SAME: columnwise_outer_amax(%{{.*}} : tensor<3xf32>) rng_state(%{{.*}} : tensor<2xi64>) columnwise_outs(
func.func @gradient(%x: !x, %o: tensor<4xi32>, %b: tensor<3xf32>,
    %rng: tensor<2xi64>, %qt0: !qt, %st0: !st) {
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      columnwise<rounding = stochastic, transform = hadamard16, signs = 0xD7E8>
      ins(%x : !x) groups(%o : tensor<4xi32>)
      columnwise_outer_amax(%b : tensor<3xf32>) rng_state(%rng : tensor<2xi64>)
      columnwise_outs(%qt0, %st0 : !qt, !st) -> !qt, !st
  return
}

// CHECK-LABEL: func @weights
// CHECK: rowwise<block = 16x16, four_over_six = mse> columnwise<block = 16x16, four_over_six = mse>
func.func @weights(%x: !x, %o: tensor<4xi32>, %a: tensor<f32>, %q0: !q,
    %s0: !s, %qt0: !qt, %st0: !st) {
  %r:4 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      rowwise<block = 16x16, four_over_six = mse>
      columnwise<block = 16x16, four_over_six = mse>
      ins(%x : !x) groups(%o : tensor<4xi32>) outer_amax(%a : tensor<f32>)
      outs(%q0, %s0 : !q, !s) columnwise_outs(%qt0, %st0 : !qt, !st)
      -> !q, !s, !qt, !st
  return
}
