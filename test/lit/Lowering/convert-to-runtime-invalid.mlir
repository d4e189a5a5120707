// RUN: gq-opt %s --split-input-file -verify-diagnostics --pass-pipeline='builtin.module(convert-gq-to-runtime)'

func.func @tensors(%x: tensor<8x64xbf16>, %q0: tensor<8x64xf4E2M1FN>,
    %s0: tensor<8x4xf8E4M3FN>) -> tensor<8x64xf4E2M1FN> {
  // expected-error @+1 {{convert-gq-to-runtime needs memrefs; run one-shot-bufferize before it}}
  %q, %s = gq.block_quantize format(nvfp4) ins(%x : tensor<8x64xbf16>)
      outs(%q0, %s0 : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>)
      -> tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>
  return %q : tensor<8x64xf4E2M1FN>
}

// -----

func.func @unpacked(%x: memref<8x64xbf16>, %q: memref<8x64xf4E2M1FN>,
    %s: memref<8x4xf8E4M3FN>) {
  // expected-error @+1 {{convert-gq-to-runtime needs packed data; run gq-pack-subbyte before bufferization}}
  gq.block_quantize format(nvfp4) ins(%x : memref<8x64xbf16>)
      outs(%q, %s : memref<8x64xf4E2M1FN>, memref<8x4xf8E4M3FN>)
  return
}
