// mlir-reduce with gq: what is left of the module is what gq-pack-subbyte refuses.

// RUN: gq-reduce %s --pass-pipeline='builtin.module(reduction-tree{traversal-mode=0 test=%S/Inputs/interesting.sh},opt-reduction-pass{opt-pass=canonicalize test=%S/Inputs/interesting.sh})' | FileCheck %s

//      CHECK: module {
// CHECK-NEXT:   func.func @transposed
//  CHECK-NOT:     arith
//      CHECK:     gq.block_quantize format(nvfp4)
//      CHECK:     linalg.transpose
//  CHECK-NOT:   func.func

func.func @rows(%x: tensor<128x1024xbf16>, %q0: tensor<128x1024xf8E4M3FN>,
    %s0: tensor<128x32xf8E8M0FNU>) -> tensor<128x1024xf8E4M3FN> {
  %q, %s = gq.block_quantize format(mxfp8_e4m3) ins(%x : tensor<128x1024xbf16>)
      outs(%q0, %s0 : tensor<128x1024xf8E4M3FN>, tensor<128x32xf8E8M0FNU>)
      -> tensor<128x1024xf8E4M3FN>, tensor<128x32xf8E8M0FNU>
  return %q : tensor<128x1024xf8E4M3FN>
}

func.func @transposed(%x: tensor<128x1024xbf16>, %y: tensor<128x1024xbf16>)
    -> tensor<1024x128xf4E2M1FN> {
  %sum = arith.addf %x, %y : tensor<128x1024xbf16>
  %product = arith.mulf %sum, %y : tensor<128x1024xbf16>
  %w0 = tensor.empty() : tensor<128x1024xf4E2M1FN>
  %s0 = tensor.empty() : tensor<128x64xf8E4M3FN>
  %w, %s = gq.block_quantize format(nvfp4) ins(%x : tensor<128x1024xbf16>)
      outs(%w0, %s0 : tensor<128x1024xf4E2M1FN>, tensor<128x64xf8E4M3FN>)
      -> tensor<128x1024xf4E2M1FN>, tensor<128x64xf8E4M3FN>
  %t0 = tensor.empty() : tensor<1024x128xf4E2M1FN>
  %t = linalg.transpose ins(%w : tensor<128x1024xf4E2M1FN>)
      outs(%t0 : tensor<1024x128xf4E2M1FN>) permutation = [1, 0]
  return %t : tensor<1024x128xf4E2M1FN>
}
