// RUN: gq-opt %s --split-input-file -verify-diagnostics --pass-pipeline='builtin.module(gq-choose-kernels)'

func.func @mx(%a: memref<24x64xf8E4M3FN>, %b: memref<3x32x64xf8E4M3FN>,
    %sa: memref<?x4xf8E8M0FNU>, %sb: memref<3x128x4xf8E8M0FNU>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<24x32xbf16>) {
  // expected-error @+1 {{kernel 'tiles64' is not a kernel for mx formats}}
  gq.grouped_mm format(mxfp8_e4m3) kernel(tiles64)
      ins(%a, %b : memref<24x64xf8E4M3FN>, memref<3x32x64xf8E4M3FN>)
      scales(%sa, %sb : memref<?x4xf8E8M0FNU>, memref<3x128x4xf8E8M0FNU>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<24x32xbf16>)
  return
}
