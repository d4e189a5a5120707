// RUN: gq-opt %s --split-input-file -verify-diagnostics --pass-pipeline='builtin.module(convert-gq-to-gpu,gq-device-memory)'

func.func @tensors(%x: tensor<8x64xbf16>, %q0: tensor<8x64xf4E2M1FN>,
    %s0: tensor<8x4xf8E4M3FN>) -> tensor<8x64xf4E2M1FN> {
  // expected-error @+1 {{needs memrefs to be lowered; run one-shot-bufferize before}}
  %q, %s = gq.block_quantize format(nvfp4) ins(%x : tensor<8x64xbf16>)
      outs(%q0, %s0 : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>)
      -> tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>
  return %q : tensor<8x64xf4E2M1FN>
}

// -----

func.func @unpacked(%x: memref<8x64xbf16>, %q: memref<8x64xf4E2M1FN>,
    %s: memref<8x4xf8E4M3FN>) {
  // expected-error @+1 {{needs packed data to be lowered; run gq-pack-subbyte before bufferization}}
  gq.block_quantize format(nvfp4) ins(%x : memref<8x64xbf16>)
      outs(%q, %s : memref<8x64xf4E2M1FN>, memref<8x4xf8E4M3FN>)
  return
}

// -----

func.func @grouped_mm(%a: memref<?x32xi8>, %b: memref<3x32x32xi8>,
    %sa: memref<?x4xf8E4M3FN>, %sb: memref<3x128x4xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<?x32xbf16>) {
  // expected-error @+1 {{has no GPU kernel yet}}
  gq.grouped_mm format(nvfp4) ins(%a, %b : memref<?x32xi8>, memref<3x32x32xi8>)
      scales(%sa, %sb : memref<?x4xf8E4M3FN>, memref<3x128x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<?x32xbf16>)
  return
}

// -----

func.func @host_access(%a: memref<4xf32>, %i: index) -> f32 {
  // expected-error @+1 {{'memref.load' op would run on the host, on device memory; it has no GPU lowering yet}}
  %r = memref.load %a[%i] : memref<4xf32>
  return %r : f32
}

// -----

func.func @strided_copy(%a: memref<4x4xf32, strided<[8, 1]>>, %b: memref<4x4xf32>) {
  // expected-error @+1 {{'memref.copy' op of a strided memref has no GPU lowering yet}}
  memref.copy %a, %b : memref<4x4xf32, strided<[8, 1]>> to memref<4x4xf32>
  return
}
