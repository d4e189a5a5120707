// RUN: gq-opt %s --split-input-file -verify-diagnostics --pass-pipeline='builtin.module(gq-choose-kernels{chip=sm_90a},convert-gq-to-gpu)'

// What a CPU computes and no GPU kernel does yet.

func.func @wgrad(%a: memref<24x64xf8E4M3FN>, %b: memref<24x32xf8E4M3FN>,
    %o: memref<4xi32>, %c: memref<3x64x32xf32>) {
  // expected-error @+1 {{'gq.grouped_wgrad' op has no GPU kernel yet; a CPU computes it}}
  gq.grouped_wgrad ins(%a, %b : memref<24x64xf8E4M3FN>, memref<24x32xf8E4M3FN>)
      groups(%o : memref<4xi32>) outs(%c : memref<3x64x32xf32>)
  return
}
