// Functions with gq ops are inlined, so that ops which meet then are fused.
//
// RUN: gq-opt %s --pass-pipeline='builtin.module(inline,gq-fuse-scale-layout)' | FileCheck %s

!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!s = tensor<?x4xf8E4M3FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>

// CHECK-NOT: func private
// CHECK-LABEL: func.func @main
// CHECK-NOT: call
// CHECK: gq.grouped_block_quantize
// CHECK-NOT: gq.preprocess_grouped_matmul_sf
func.func @main(%x: !x, %o: tensor<4xi32>, %so: tensor<3xi32>, %q0: !q, %s0: !s,
                %t0: !t) -> (!q, !t) {
  %q, %s = call @quantize(%x, %q0, %s0) : (!x, !q, !s) -> (!q, !s)
  %t = call @lay_out(%s, %o, %so, %t0)
      : (!s, tensor<4xi32>, tensor<3xi32>, !t) -> !t
  return %q, %t : !q, !t
}
func.func private @quantize(%x: !x, %q0: !q, %s0: !s) -> (!q, !s) {
  %q, %s = gq.block_quantize format(nvfp4) ins(%x : !x) outs(%q0, %s0 : !q, !s)
      -> !q, !s
  return %q, %s : !q, !s
}
func.func private @lay_out(%s: !s, %o: tensor<4xi32>, %so: tensor<3xi32>,
                           %t0: !t) -> !t {
  %t = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%s : !s)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>) outs(%t0 : !t) -> !t
  return %t : !t
}
