// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-gpu)' | FileCheck %s

// Static extents are constants of the kernel, not parameters.
// CHECK: gpu.module @gq_kernels_2
// CHECK: llvm.func @gq_dev_swizzle_scales(
// CHECK: llvm.func @preprocess_grouped_matmul_sf(
// CHECK-SAME: %{{.*}}: !llvm.ptr<1>
// CHECK: llvm.mlir.constant(4 : i64) : i64
// CHECK: llvm.call @gq_dev_swizzle_scales(

// CHECK: gpu.module @gq_kernels_1
// CHECK: llvm.func @gq_dev_quantize_rows(
// What is only loaded by rows asks where it is loaded whether it is aligned:
// there is no other copy.
// CHECK-NOT: @with_{{.*}}_unaligned
// CHECK: llvm.func @block_quantize(
// CHECK: %[[ALIGNED:.*]] = llvm.icmp "eq"
// CHECK: %[[WORD:.*]] = llvm.zext %[[ALIGNED]] : i1 to i32
// CHECK: llvm.store %[[WORD]],
// CHECK: llvm.call @with_gq_dev_load16_f16_any(
// CHECK-NOT: llvm.c
// CHECK: llvm.return

// CHECK: gpu.module @gq_kernels_0
// Kernels may start early, and say so; they wait before all else.
// CHECK-NEXT: llvm.mlir.global external constant @gq_programmatic_launch(
// CHECK-DAG: llvm.func @gq_dev_load16_bf16(!llvm.ptr, i64, i64, !llvm.ptr)
// CHECK-DAG: llvm.func @gq_dev_load16_f32(!llvm.ptr, i64, i64, !llvm.ptr)
// The producer, four times in a function that each hook calls four times.
// CHECK: llvm.func internal @elements(%[[E:[^ ]*]]: f32, %[[B:[^ ]*]]: f32,
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[E]], %[[B]]
// CHECK-COUNT-3: arith.addf
// CHECK: llvm.store %[[S]]
// CHECK-COUNT-3: llvm.store
// CHECK-NEXT: llvm.return
// CHECK: llvm.func internal @load16(
// CHECK: llvm.call @gq_dev_load16_bf16(
// CHECK: llvm.call @gq_dev_load16_f32(
// CHECK-COUNT-4: llvm.call @elements(
// CHECK-NOT: llvm.call @elements(
// CHECK: llvm.func internal @load16_unaligned(
// CHECK: llvm.call @gq_dev_load16_bf16_unaligned(
// CHECK: llvm.func @grouped_block_quantize(
// CHECK-SAME: attributes {gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 128>}
// CHECK-NEXT: llvm.inline_asm has_side_effects "griddepcontrol.wait;", "~{memory}"
// A producer has two hooks, each in a copy.
// CHECK: llvm.cond_br
// CHECK: llvm.call @with_load16(
// CHECK: llvm.call @with_load16_unaligned(

// CHECK-LABEL: func.func @grouped_block_quantize
func.func @grouped_block_quantize(%x: memref<?x64xbf16>, %b: memref<64xf32>,
    %o: memref<?xi64>, %so: memref<?xi64>, %q: memref<?x32xi8>,
    %s: memref<?x4xf8E4M3FN>) {
  // CHECK: %[[STREAM:.*]] = call @gqGetStream() : () -> !llvm.ptr
  // Two inputs, offsets, scale offsets, data and scales.
  // CHECK-COUNT-6: call @gqLaunchOperand(
  // CHECK: call @gqLaunchCheck(
  // CHECK: call @gqStreamStatusWord(%[[STREAM]])
  // CHECK: %[[PLAN:.*]]:2 = call @gqPlanLaunch(%c0_i64{{.*}}) : (i64, i64, i64, i64, i64, i64, i64, i64, i64) -> (i64, i64)
  // CHECK: gpu.launch_func <%[[STREAM]] : !llvm.ptr> @gq_kernels_0::@grouped_block_quantize blocks in (%[[PLAN]]#0,
  gq.grouped_block_quantize format(nvfp4)
      ins(%x, %b : memref<?x64xbf16>, memref<64xf32>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>]
      groups(%o, %so : memref<?xi64>, memref<?xi64>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>) producer {
  ^bb0(%e: bf16, %c: f32):
    %f = arith.extf %e : bf16 to f32
    %r = arith.addf %f, %c : f32
    gq.yield %r : f32
  }
  return
}

// CHECK-LABEL: func.func @two_ops
func.func @two_ops(%x: memref<?x64xf16>, %g: memref<f32>, %o: memref<4xi32>,
    %so: memref<3xi32>, %q: memref<?x32xi8>, %l: memref<?x4xf8E4M3FN>,
    %s: memref<?x4xf8E4M3FN>) {
  // Where its operands are: rows, bytes of a row, bytes from row to row.
  // CHECK-COUNT-4: call @gqLaunchOperand({{.*}}) : (i64, i64, i64, i64, i64) -> ()
  // CHECK: %[[BLOCK_QUANTIZE:.*]] = arith.constant 0 : i64
  // CHECK-NEXT: call @gqLaunchCheck(%[[BLOCK_QUANTIZE]])
  // CHECK: gpu.launch_func {{.*}} @gq_kernels_1::@block_quantize
  gq.block_quantize format(nvfp4) ins(%x : memref<?x64xf16>)
      global_scale(%g : memref<f32>)
      outs(%q, %l : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  // CHECK: gpu.launch_func {{.*}} @gq_kernels_2::@preprocess_grouped_matmul_sf
  gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%l : memref<?x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%s : memref<?x4xf8E4M3FN>)
  return
}
