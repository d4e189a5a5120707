// RUN: gq-opt %s --split-input-file -verify-diagnostics --pass-pipeline='builtin.module(gq-to-nvvm{format=isa})'

#id = affine_map<(d0) -> (d0)>

func.func @tf32(%x: tensor<?xf32>, %y0: tensor<?xf32>) -> tensor<?xf32> {
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%y0 : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    // expected-error @+1 {{'arith.truncf' op on these types has no GPU lowering}}
    %t = arith.truncf %a : f32 to tf32
    // expected-error @+1 {{'arith.extf' op on these types has no GPU lowering}}
    %r = arith.extf %t : tf32 to f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

func.func @no_loops(%x: tensor<?x8xf32>, %y0: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @+1 {{'linalg.softmax' op would run on the host, on device memory; it has no GPU lowering}}
  %y = linalg.softmax dimension(1) ins(%x : tensor<?x8xf32>) outs(%y0 : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

func.func @scalar_of_a_tensor(%x: tensor<4xi32>, %i: index) -> i32 {
  // expected-error @+1 {{'memref.load' op would run on the host, on device memory; it has no GPU lowering}}
  %r = tensor.extract %x[%i] : tensor<4xi32>
  return %r : i32
}
