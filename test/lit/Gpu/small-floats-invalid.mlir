// RUN: gq-opt %s -verify-diagnostics --split-input-file --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})'

// What has no lowering is an error in kernels too.

func.func @main(%x: tensor<?xf64>, %y0: tensor<?xf8E5M2>) -> tensor<?xf8E5M2> {
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<?xf64>) outs(%y0 : tensor<?xf8E5M2>) {
  ^bb0(%e: f64, %unused: f8E5M2):
    // expected-error @+1 {{rounds to a small float other than f32, bf16 or f16 to f8E4M3FN or f8E5M2, which has no lowering here}}
    %r = arith.truncf %e : f64 to f8E5M2
    linalg.yield %r : f8E5M2
  } -> tensor<?xf8E5M2>
  return %y : tensor<?xf8E5M2>
}
