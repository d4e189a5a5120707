// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' | FileCheck %s

// Conversions of 8-bit floats in kernels of linalg ops.

// CHECK-NOT: arith.extf
// CHECK: gpu.binary
// CHECK-SAME: ld.global.{{[a-z]*}}8
// CHECK-NOT: arith.extf
func.func @main(%x: tensor<?xf8E4M3FN>, %y0: tensor<?xf32>) -> tensor<?xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<?xf8E4M3FN>) outs(%y0 : tensor<?xf32>) {
  ^bb0(%e: f8E4M3FN, %unused: f32):
    %r = arith.extf %e : f8E4M3FN to f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}
