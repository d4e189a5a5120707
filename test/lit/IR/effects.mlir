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

// Nor with dynamic rows that are as many by what makes the outputs.
// CHECK-LABEL: func @hoisted_of_dynamic_rows
func.func @hoisted_of_dynamic_rows(%x: tensor<?x64xbf16>, %n: index,
    %p: memref<?x4xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %q0 = tensor.empty(%m) : tensor<?x64xf4E2M1FN>
  %s0 = tensor.empty(%m) : tensor<?x4xf8E4M3FN>
  // CHECK: gq.block_quantize
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 {
    %q, %s = gq.block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
        outs(%q0, %s0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
        -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
    bufferization.materialize_in_destination %s in restrict writable %p
        : (tensor<?x4xf8E4M3FN>, memref<?x4xf8E4M3FN>) -> ()
  }
  return
}

// Outputs of another number of rows, of another extent, and of another tensor's; and
// blocks of 128 rows, of which there are fewer scales.
// CHECK-LABEL: func @not_hoisted_of_other_rows
func.func @not_hoisted_of_other_rows(%x: tensor<?x64xbf16>, %y: tensor<?x128xbf16>,
    %m: index, %n: index, %p: memref<?x4xf8E4M3FN>, %r: memref<?x1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %other = tensor.dim %y, %c0 : tensor<?x128xbf16>
  %q0 = tensor.empty(%other) : tensor<?x64xf4E2M1FN>
  %s0 = tensor.empty(%m) : tensor<?x4xf8E4M3FN>
  %t0 = tensor.empty(%other) : tensor<?x1xf32>
  %u0 = tensor.empty(%other) : tensor<?x128xf8E4M3FN>
  // CHECK-NOT: gq.
  // CHECK: scf.for
  // CHECK: gq.block_quantize format(nvfp4)
  // CHECK: gq.block_quantize format(fp8_e4m3_128x128)
  scf.for %i = %c0 to %n step %c1 {
    %q, %s = gq.block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
        outs(%q0, %s0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
        -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
    bufferization.materialize_in_destination %s in restrict writable %p
        : (tensor<?x4xf8E4M3FN>, memref<?x4xf8E4M3FN>) -> ()
    %u, %t = gq.block_quantize format(fp8_e4m3_128x128)
        ins(%y : tensor<?x128xbf16>)
        outs(%u0, %t0 : tensor<?x128xf8E4M3FN>, tensor<?x1xf32>)
        -> tensor<?x128xf8E4M3FN>, tensor<?x1xf32>
    bufferization.materialize_in_destination %t in restrict writable %r
        : (tensor<?x1xf32>, memref<?x1xf32>) -> ()
  }
  return
}

// The next scales need no offsets.
// CHECK-LABEL: func @hoisted_scales
func.func @hoisted_scales(%a: tensor<3xf32>, %h0: tensor<4x3xf32>,
    %s0: tensor<3xf32>, %n: index, %p: memref<3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: gq.update_scales
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 {
    %h, %s = gq.update_scales format(fp8_e4m3) ins(%a : tensor<3xf32>)
        outs(%h0, %s0 : tensor<4x3xf32>, tensor<3xf32>)
        -> tensor<4x3xf32>, tensor<3xf32>
    bufferization.materialize_in_destination %s in restrict writable %p
        : (tensor<3xf32>, memref<3xf32>) -> ()
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
