// RUN: gq-opt %s --split-input-file --pass-pipeline='builtin.module(gq-fuse-directions,gq-fuse-producers,gq-fuse-row-gather)' | FileCheck %s
// RUN: gq-opt %s --split-input-file --pass-pipeline='builtin.module(gq-fuse-directions)' -verify-diagnostics --remarks-filter-missed=gq-fuse-directions --remark-format=emitRemark

// Fusions treat this op like the others that quantize groups.

!x = tensor<?x128xbf16>
!q = tensor<?x128xf8E4M3FN>
!qt = tensor<?xf8E4M3FN>
!g = tensor<3xf32>

// Both directions of the derivative of an activation, gathered.
// CHECK-LABEL: func @all
// CHECK-SAME: %[[X:.*]]: tensor<?x128xbf16>, %[[I:.*]]: tensor<?x1xi32>, %[[O:.*]]: tensor<4xi32>, %[[S:.*]]: tensor<3xf32>, %[[E:.*]]: tensor<?x128xbf16>, %[[Q:.*]]: tensor<?x128xf8E4M3FN>, %[[QT:.*]]: tensor<?xf8E4M3FN>, %[[A:.*]]: tensor<3xf32>
func.func @all(%x: !x, %i: tensor<?x1xi32>, %o: tensor<4xi32>, %s: !g, %e: !x,
    %q0: !q, %qt0: !qt, %a0: !g) -> (!q, !qt, !g) {
  // CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[I]]
  // CHECK: %[[R:.*]]:3 = gq.grouped_quantize format(fp8_e4m3) ins(%[[X]] : {{[^ ]*}}) row_indices(%[[ROWS]] :
  // CHECK-SAME: groups(%[[O]] : tensor<4xi32>) scale(%[[S]] : tensor<3xf32>)
  // CHECK-SAME: outs(%[[Q]] : {{[^ ]*}}) columnwise_outs(%[[QT]] : {{[^ ]*}}) amax_out(%[[A]] :
  // CHECK-SAME: producer {
  // CHECK: arith.mulf
  // CHECK: gq.yield
  // CHECK: return %[[R]]#0, %[[R]]#1, %[[R]]#2
  %y = tensor.gather %x[%i] gather_dims([0]) : (!x, tensor<?x1xi32>) -> !x
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%y : !x) outs(%e : !x) {
    ^bb0(%a: bf16, %b: bf16):
      %f = arith.extf %a : bf16 to f32
      %m = arith.mulf %f, %f : f32
      %t = arith.truncf %m : f32 to bf16
      linalg.yield %t : bf16
    } -> !x
  %qt = gq.grouped_quantize format(fp8_e4m3) ins(%z : !x)
      groups(%o : tensor<4xi32>) scale(%s : !g) columnwise_outs(%qt0 : !qt) -> !qt
  %q, %a = gq.grouped_quantize format(fp8_e4m3) ins(%z : !x)
      groups(%o : tensor<4xi32>) scale(%s : !g) outs(%q0 : !q) amax_out(%a0 : !g)
      -> !q, !g
  return %q, %qt, %a : !q, !qt, !g
}

// -----

!x = tensor<?x128xbf16>
!q = tensor<?x128xf8E4M3FN>
!qt = tensor<?xf8E4M3FN>
!g = tensor<3xf32>

// Both directions share a scale.
// CHECK-LABEL: func @two_amaxes
func.func @two_amaxes(%x: !x, %o: tensor<4xi32>, %a: !g, %b: !g, %q0: !q,
    %qt0: !qt) -> (!q, !qt) {
  // CHECK: gq.grouped_quantize
  // CHECK: gq.grouped_quantize
  %q = gq.grouped_quantize format(fp8_e4m3) ins(%x : !x)
      groups(%o : tensor<4xi32>) outer_amax(%a : !g) outs(%q0 : !q) -> !q
  // expected-remark @+1 {{the two directions differ in 'outer_amax'}}
  %qt = gq.grouped_quantize format(fp8_e4m3) ins(%x : !x)
      groups(%o : tensor<4xi32>) outer_amax(%b : !g) columnwise_outs(%qt0 : !qt)
      -> !qt
  return %q, %qt : !q, !qt
}

// -----

!x = tensor<?x128xbf16>
!q = tensor<?x128xf8E4M3FN>
!qt = tensor<?xf8E4M3FN>

// Ops of two kinds stay two, without a remark.
// CHECK-LABEL: func @two_kinds
func.func @two_kinds(%x: !x, %o: tensor<4xi32>, %s: tensor<3xf32>, %q0: !q,
    %qt0: !qt, %t0: tensor<?xf32>) -> (!q, !qt) {
  // CHECK: gq.grouped_quantize
  // CHECK: gq.grouped_block_quantize
  %q = gq.grouped_quantize format(fp8_e4m3) ins(%x : !x)
      groups(%o : tensor<4xi32>) scale(%s : tensor<3xf32>) outs(%q0 : !q) -> !q
  %qt, %t = gq.grouped_block_quantize format(fp8_e4m3_1x128) scale_layout(linear)
      ins(%x : !x) groups(%o : tensor<4xi32>)
      columnwise_outs(%qt0, %t0 : !qt, tensor<?xf32>) -> !qt, tensor<?xf32>
  return %q, %qt : !q, !qt
}
