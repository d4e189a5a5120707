// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' | FileCheck %s

// Delayed scaling: the pass that quantizes, what adds up its amaxes, and the
// next scales.

// CHECK-DAG: .entry grouped_block_quantize(
// CHECK-DAG: .entry grouped_block_quantize_reduce(
// CHECK-DAG: .entry update_scales(
// CHECK: llvm.func @step
func.func @step(%x: tensor<?x2880xbf16>, %o: tensor<?xi32>, %s: tensor<?xf32>,
    %q0: tensor<?x2880xf8E4M3FN>, %qt0: tensor<?xf8E4M3FN>, %a0: tensor<?xf32>,
    %i0: tensor<?xf32>, %h0: tensor<16x?xf32>, %s0: tensor<?xf32>)
    -> (tensor<?x2880xf8E4M3FN>, tensor<?xf8E4M3FN>, tensor<?xf32>,
        tensor<16x?xf32>, tensor<?xf32>) {
  %q, %qt, %a, %i = gq.grouped_quantize format(fp8_e4m3) rows(grouped)
      ins(%x : tensor<?x2880xbf16>) groups(%o : tensor<?xi32>)
      scale(%s : tensor<?xf32>) outs(%q0 : tensor<?x2880xf8E4M3FN>)
      columnwise_outs(%qt0 : tensor<?xf8E4M3FN>) amax_out(%a0 : tensor<?xf32>)
      scale_inv_out(%i0 : tensor<?xf32>)
      -> tensor<?x2880xf8E4M3FN>, tensor<?xf8E4M3FN>, tensor<?xf32>,
         tensor<?xf32>
  %h, %next = gq.update_scales format(fp8_e4m3) ins(%a : tensor<?xf32>)
      outs(%h0, %s0 : tensor<16x?xf32>, tensor<?xf32>)
      -> tensor<16x?xf32>, tensor<?xf32>
  return %q, %qt, %i, %h, %next : tensor<?x2880xf8E4M3FN>, tensor<?xf8E4M3FN>,
      tensor<?xf32>, tensor<16x?xf32>, tensor<?xf32>
}
