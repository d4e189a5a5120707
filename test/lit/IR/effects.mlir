// RUN: gq-opt %s --pass-pipeline='builtin.module(func.func(loop-invariant-code-motion,canonicalize,cse))' | FileCheck %s

!q = tensor<8x64xf4E2M1FN>
!s = tensor<8x4xf8E4M3FN>

// Nothing can be wrong with static extents: it may run before the loop.
// CHECK-LABEL: func @hoisted
func.func @hoisted(%x: tensor<8x64xbf16>, %q0: !q, %s0: !s, %n: index,
    %p: memref<8x4xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: gq.block_quantize
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 {
    %q, %s = gq.block_quantize format(nvfp4) ins(%x : tensor<8x64xbf16>)
        outs(%q0, %s0 : !q, !s) -> !q, !s
    bufferization.materialize_in_destination %s in restrict writable %p
        : (!s, memref<8x4xf8E4M3FN>) -> ()
  }
  return
}

// With dynamic ones the outputs may not fit, and offsets may be invalid.
// CHECK-LABEL: func @not_hoisted
func.func @not_hoisted(%x: tensor<?x64xbf16>, %o: tensor<4xi32>,
    %q0: tensor<?x64xf4E2M1FN>, %s0: tensor<?x4xf8E4M3FN>,
    %y: tensor<8x64xbf16>, %p0: !q, %t0: !s, %n: index,
    %p: memref<?x4xf8E4M3FN>, %r: memref<8x4xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK-NOT: gq.
  // CHECK: scf.for
  // CHECK: gq.block_quantize
  // CHECK: gq.grouped_block_quantize
  scf.for %i = %c0 to %n step %c1 {
    %q, %s = gq.block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
        outs(%q0, %s0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
        -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
    bufferization.materialize_in_destination %s in restrict writable %p
        : (tensor<?x4xf8E4M3FN>, memref<?x4xf8E4M3FN>) -> ()
    %u, %t = gq.grouped_block_quantize format(nvfp4) scale_layout(linear)
        ins(%y : tensor<8x64xbf16>) groups(%o : tensor<4xi32>)
        outs(%p0, %t0 : !q, !s) -> !q, !s
    bufferization.materialize_in_destination %t in restrict writable %r
        : (!s, memref<8x4xf8E4M3FN>) -> ()
  }
  return
}

// An op whose results are unused need not fail, and equal ops fail once.
// CHECK-LABEL: func @erased_and_merged
func.func @erased_and_merged(%x: tensor<?x64xbf16>, %o: tensor<4xi32>,
    %q0: tensor<?x64xf4E2M1FN>, %s0: tensor<?x4xf8E4M3FN>)
    -> (tensor<?x4xf8E4M3FN>, tensor<?x4xf8E4M3FN>) {
  // CHECK-NEXT: %[[R:.*]]:2 = gq.grouped_block_quantize format(nvfp4) scale_layout(linear) ins
  // CHECK-NEXT: return %[[R]]#1, %[[R]]#1
  %0:2 = gq.grouped_block_quantize format(nvfp4) scale_layout(linear)
      rows(grouped) ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outs(%q0, %s0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  %1:2 = gq.grouped_block_quantize format(nvfp4) scale_layout(linear)
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outs(%q0, %s0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  %2:2 = gq.grouped_block_quantize format(nvfp4) scale_layout(linear)
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outs(%q0, %s0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return %1#1, %2#1 : tensor<?x4xf8E4M3FN>, tensor<?x4xf8E4M3FN>
}
