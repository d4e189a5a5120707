// RUN: gq-opt %s --split-input-file -verify-diagnostics --pass-pipeline='builtin.module(gq-choose-kernels{chip=sm_90a},convert-gq-to-gpu)'

// What a CPU computes and no GPU kernel does yet.

func.func @major(%a: memref<24x64xf8E4M3FN>, %b: memref<3x64x32xf8E4M3FN>,
    %sa: memref<?x4xf8E8M0FNU>, %sb: memref<3x128x4xf8E8M0FNU>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<24x32xbf16>) {
  // expected-error @+1 {{'gq.grouped_mm' op has no GPU kernel for b_major(n) yet; a CPU computes it}}
  gq.grouped_mm format(mxfp8_e4m3) b_major(n)
      ins(%a, %b : memref<24x64xf8E4M3FN>, memref<3x64x32xf8E4M3FN>)
      scales(%sa, %sb : memref<?x4xf8E8M0FNU>, memref<3x128x4xf8E8M0FNU>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<24x32xbf16>)
  return
}

// -----

func.func @wgrad(%a: memref<24x64xf8E4M3FN>, %b: memref<24x32xf8E4M3FN>,
    %o: memref<4xi32>, %c: memref<3x64x32xf32>) {
  // expected-error @+1 {{'gq.grouped_wgrad' op has no GPU kernel yet; a CPU computes it}}
  gq.grouped_wgrad ins(%a, %b : memref<24x64xf8E4M3FN>, memref<24x32xf8E4M3FN>)
      groups(%o : memref<4xi32>) outs(%c : memref<3x64x32xf32>)
  return
}
