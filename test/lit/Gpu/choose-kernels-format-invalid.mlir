// RUN: gq-opt %s --split-input-file -verify-diagnostics --pass-pipeline='builtin.module(gq-choose-kernels)'

func.func @not_nvfp4(%a: memref<24x64xf8E4M3FN>, %b: memref<3x32x64xf8E4M3FN>,
    %o: memref<4xi32>, %c: memref<24x32xbf16>) {
  // expected-error @+1 {{kernel 'tiles64' is a kernel of nvfp4}}
  gq.grouped_mm kernel(tiles64)
      ins(%a, %b : memref<24x64xf8E4M3FN>, memref<3x32x64xf8E4M3FN>)
      groups(%o : memref<4xi32>) outs(%c : memref<24x32xbf16>)
  return
}
