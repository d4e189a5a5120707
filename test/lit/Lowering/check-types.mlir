// Types that LLVM would end the process over are errors, in any tool that runs
// the pipelines.

// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-check-types)' --split-input-file --verify-diagnostics
// RUN: not gq-opt %s --pass-pipeline='builtin.module(gq-to-cpu)' --split-input-file 2>&1 | FileCheck %s
// RUN: not gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{format=isa})' --split-input-file 2>&1 | FileCheck %s --check-prefixes=CHECK,GPU
// CHECK: 'vector.broadcast' op has a vector of scalable length
// GPU: 'arith.fptosi' op has numbers of more than 64 bits

func.func @scalable(%x: f32) -> f32 {
  // expected-error @+1 {{'vector.broadcast' op has a vector of scalable length, which is not lowered}}
  %v = vector.broadcast %x : f32 to vector<[4]xf32>
  %y = vector.reduction <add>, %v : vector<[4]xf32> into f32
  return %y : f32
}

// -----

// expected-error @+1 {{'func.func' op has a vector of scalable length}}
func.func @argument(%x: vector<2x[4]xf32>) {
  return
}

// -----

// expected-error @+1 {{'func.func' op has a vector of scalable length}}
func.func @memory(%x: memref<4xvector<[4]xf32>>) {
  return
}

// -----

gpu.module @wide {
  func.func @float(%x: f32, %y: memref<4xf64>) {
    // expected-error @+1 {{'arith.extf' op has numbers of more than 64 bits}}
    %f = arith.extf %x : f32 to f80
    // expected-error @+1 {{'memref.alloca' op has numbers of more than 64 bits}}
    %a = memref.alloca() : memref<4xf128>
    return
  }
  func.func @mul(%x: i64, %y: vector<2xi64>) {
    // expected-error @+1 {{'arith.extsi' op has numbers of more than 64 bits, which no kernel has}}
    %i = arith.extsi %x : i64 to i65
    // expected-error @+1 {{'arith.extsi' op has numbers of more than 64 bits}}
    %j = arith.extsi %y : vector<2xi64> to vector<2xi128>
    return
  }
}

// -----

// A producer's are its kernel's. The host may have such integers.
func.func @producer(%x: memref<8x64xf32>, %o: memref<4xi32>, %so: memref<3xi32>,
    %q: memref<8x32xi8>, %s: memref<?x4xf8E4M3FN>, %n: i64) -> i128 {
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<8x64xf32>)
      maps [affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%q, %s : memref<8x32xi8>, memref<?x4xf8E4M3FN>) producer {
  ^bb0(%e: f32):
    %i = arith.fptosi %e : f32 to i65
    %j = arith.remsi %i, %i : i65
    %f = arith.sitofp %i : i65 to f32
    gq.yield %f : f32
  }
  %wide = arith.extsi %n : i64 to i128
  return %wide : i128
}
