// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-cpu)' | FileCheck %s

// The gathered rows are never stored.
// CHECK-LABEL: llvm.func @main(
// CHECK-NOT: @malloc
// CHECK: llvm.call @gqCpuGroupedBlockQuantize(
// CHECK-NOT: @malloc

func.func @main(%x: tensor<?x64xbf16>, %i: tensor<?x1xi32>, %o: tensor<?xi64>,
    %so: tensor<?xi64>, %q0: tensor<?x64xf4E2M1FN>,
    %t0: tensor<?x4xf8E4M3FN, #gq.tile128x4>)
    -> (tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  %c0 = arith.constant 0 : index
  %g = tensor.gather %x[%i] gather_dims([0])
      : (tensor<?x64xbf16>, tensor<?x1xi32>) -> tensor<?x64xbf16>
  %m = tensor.dim %g, %c0 : tensor<?x64xbf16>
  %s0 = tensor.empty(%m) : tensor<?x4xf8E4M3FN>
  %q, %s = gq.block_quantize format(nvfp4) ins(%g : tensor<?x64xbf16>)
      outs(%q0, %s0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  %t = gq.preprocess_grouped_matmul_sf format(nvfp4)
      ins(%s : tensor<?x4xf8E4M3FN>)
      groups(%o, %so : tensor<?xi64>, tensor<?xi64>)
      outs(%t0 : tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return %q, %t : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
}
