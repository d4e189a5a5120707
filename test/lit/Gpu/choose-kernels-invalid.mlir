// RUN: gq-opt %s --split-input-file -verify-diagnostics --pass-pipeline='builtin.module(gq-choose-kernels{chip=sm_100a})'

func.func @other_chip(%a: memref<24x64xi8>, %b: memref<3x256x64xi8>,
    %sa: memref<?x8xf8E4M3FN>, %sb: memref<3x256x8xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<24x256xbf16>) {
  // expected-error @+1 {{kernel 'tiles128' is a kernel of sm_90a}}
  gq.grouped_mm format(nvfp4) kernel(tiles128)
      ins(%a, %b : memref<24x64xi8>, memref<3x256x64xi8>)
      scales(%sa, %sb : memref<?x8xf8E4M3FN>, memref<3x256x8xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<24x256xbf16>)
  return
}

// -----

func.func @decode_on_other_chip(%a: memref<24x64xi8>, %b: memref<3x256x64xi8>,
    %sa: memref<?x8xf8E4M3FN>, %sb: memref<3x256x8xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<24x256xbf16>) {
  // expected-error @+1 {{kernel 'decode8' is a kernel of sm_90a}}
  gq.grouped_mm format(nvfp4) kernel(decode8)
      ins(%a, %b : memref<24x64xi8>, memref<3x256x64xi8>)
      scales(%sa, %sb : memref<?x8xf8E4M3FN>, memref<3x256x8xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<24x256xbf16>)
  return
}

// -----

func.func @wgrad_on_other_chip(%a: memref<24x64xf8E4M3FN>,
    %b: memref<24x32xf8E4M3FN>, %o: memref<4xi32>, %c: memref<3x64x32xf32>) {
  // expected-error @+1 {{kernel 'tiles128' is a kernel of sm_90a}}
  gq.grouped_wgrad kernel(tiles128)
      ins(%a, %b : memref<24x64xf8E4M3FN>, memref<24x32xf8E4M3FN>)
      groups(%o : memref<4xi32>) outs(%c : memref<3x64x32xf32>)
  return
}

// -----

func.func @wgrad_by_decode(%a: memref<24x64xf8E4M3FN>,
    %b: memref<24x32xf8E4M3FN>, %o: memref<4xi32>, %c: memref<3x64x32xf32>) {
  // expected-error @+1 {{kernel 'decode8' is a kernel of gq.grouped_mm}}
  gq.grouped_wgrad kernel(decode8)
      ins(%a, %b : memref<24x64xf8E4M3FN>, memref<24x32xf8E4M3FN>)
      groups(%o : memref<4xi32>) outs(%c : memref<3x64x32xf32>)
  return
}
