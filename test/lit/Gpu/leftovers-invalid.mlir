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

// As a frontend may sum up counts.
func.func @loop_over_offsets(%counts: tensor<8xi32>, %o0: tensor<9xi32>) -> tensor<9xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %o = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %o0) -> tensor<9xi32> {
    // expected-error @+1 {{'memref.load' op would run on the host, on device memory; it has no GPU lowering; gq.group_offsets makes offsets of counts, and a linalg.generic computes with other elements}}
    %n = tensor.extract %counts[%i] : tensor<8xi32>
    // expected-error @+1 {{'memref.load' op would run on the host}}
    %s = tensor.extract %a[%i] : tensor<9xi32>
    %next = arith.addi %s, %n : i32
    %j = arith.addi %i, %c1 : index
    %b = tensor.insert %next into %a[%j] : tensor<9xi32>
    scf.yield %b : tensor<9xi32>
  }
  return %o : tensor<9xi32>
}

// -----

func.func @scalar_of_a_tensor(%x: tensor<4xi32>, %i: index) -> i32 {
  // expected-error @+1 {{'memref.load' op would run on the host, on device memory; it has no GPU lowering}}
  %r = tensor.extract %x[%i] : tensor<4xi32>
  return %r : i32
}
