// Kernels of tiles whose hooks load ahead, and which do not.
//
// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-gpu)' --split-input-file | FileCheck %s

// Of two matrices of bf16 with a division: a call loads for the next one first,
// then computes what the one before it loaded, and only then keeps its own. Four
// CTAs, whose parts say so: in both directions (3), made (4096), ahead (8192).
// CHECK-LABEL: llvm.func internal @load16(
// CHECK-COUNT-2: llvm.call @gq_dev_load16_bf16(
// CHECK: llvm.cond_br %{{.*}}, ^[[HOLD:.*]], ^[[COMPUTE:.*]]
// CHECK: ^[[COMPUTE]]:
// CHECK-COUNT-2: llvm.call @gq_dev_unpack16(
// CHECK-COUNT-4: llvm.call @elements(
// CHECK: llvm.cond_br %{{.*}}, ^[[AGAIN:[^(]*]](%{{.*}} : i32), ^[[DONE:.*]]
// CHECK: ^[[AGAIN]](
// CHECK: llvm.call @one_element(
// CHECK: ^[[DONE]]:
// CHECK: llvm.br ^[[HOLD]]
// CHECK: ^[[HOLD]]:
// CHECK-COUNT-2: llvm.call @gq_dev_pack16(
// CHECK-NEXT: llvm.return
// CHECK: llvm.mlir.constant(12291 : i32)
// CHECK: llvm.func @grouped_block_quantize(
// CHECK-SAME: nvvm.minctasm = 4 : i32
func.func @both(%x: memref<?x128xbf16>, %y: memref<?x128xbf16>, %o: memref<3xi32>,
    %q: memref<?x64xi8>, %s: memref<?x8xf8E4M3FN>, %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4)
      ins(%x, %y : memref<?x128xbf16>, memref<?x128xbf16>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o : memref<3xi32>) outs(%q, %s : memref<?x64xi8>, memref<?x8xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>) producer {
  ^bb0(%e: bf16, %f: bf16):
    %a = arith.extf %e : bf16 to f32
    %b = arith.extf %f : bf16 to f32
    %d = arith.divf %a, %b : f32
    %r = arith.truncf %d : f32 to bf16
    gq.yield %r : bf16
  }
  return
}

// -----

// Beside sums there are registers for it in three CTAs.
// CHECK-LABEL: llvm.func internal @load16(
// CHECK: llvm.call @gq_dev_pack16(
// CHECK: llvm.mlir.constant(12297 : i32)
// CHECK: llvm.func @grouped_block_quantize(
// CHECK-SAME: nvvm.minctasm = 3 : i32
func.func @rows_and_sums(%x: memref<?x128xbf16>, %y: memref<?x128xbf16>, %o: memref<3xi32>,
    %q: memref<?x64xi8>, %s: memref<?x8xf8E4M3FN>, %d: memref<2x128xf32>) {
  gq.grouped_block_quantize format(nvfp4)
      ins(%x, %y : memref<?x128xbf16>, memref<?x128xbf16>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o : memref<3xi32>) outs(%q, %s : memref<?x64xi8>, memref<?x8xf8E4M3FN>)
      dbias_out(%d : memref<2x128xf32>) producer {
  ^bb0(%e: bf16, %f: bf16):
    %a = arith.extf %e : bf16 to f32
    %b = arith.extf %f : bf16 to f32
    %c = arith.divf %a, %b : f32
    %r = arith.truncf %c : f32 to bf16
    gq.yield %r : bf16
  }
  return
}

// -----

// One that calls a function is made, but not ahead: four CTAs of rows and sums.
// CHECK-LABEL: llvm.func internal @load16(
// CHECK-NOT: gq_dev_pack16
// CHECK: llvm.mlir.constant(4105 : i32)
// CHECK: llvm.func @grouped_block_quantize(
// CHECK-SAME: nvvm.minctasm = 4 : i32
func.func @function(%x: memref<?x128xbf16>, %y: memref<?x128xbf16>, %o: memref<3xi32>,
    %q: memref<?x64xi8>, %s: memref<?x8xf8E4M3FN>, %d: memref<2x128xf32>) {
  gq.grouped_block_quantize format(nvfp4)
      ins(%x, %y : memref<?x128xbf16>, memref<?x128xbf16>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o : memref<3xi32>) outs(%q, %s : memref<?x64xi8>, memref<?x8xf8E4M3FN>)
      dbias_out(%d : memref<2x128xf32>) producer {
  ^bb0(%e: bf16, %f: bf16):
    %a = arith.extf %e : bf16 to f32
    %b = arith.extf %f : bf16 to f32
    %t = math.tanh %a : f32
    %c = arith.mulf %t, %b : f32
    %r = arith.truncf %c : f32 to bf16
    gq.yield %r : bf16
  }
  return
}

// -----

// Nor are elements of f16, or those of gathered rows.
// CHECK-LABEL: llvm.func internal @load16(
// CHECK-NOT: gq_dev_pack16
// CHECK: llvm.func @grouped_block_quantize(
func.func @halves(%x: memref<?x128xf16>, %y: memref<?x128xbf16>, %o: memref<3xi32>,
    %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4)
      ins(%x, %y : memref<?x128xf16>, memref<?x128xbf16>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o : memref<3xi32>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>) producer {
  ^bb0(%e: f16, %f: bf16):
    %a = arith.extf %e : f16 to f32
    %b = arith.extf %f : bf16 to f32
    %c = arith.divf %a, %b : f32
    %r = arith.truncf %c : f32 to bf16
    gq.yield %r : bf16
  }
  return
}

// -----

// CHECK-LABEL: llvm.func internal @load16(
// CHECK-NOT: gq_dev_pack16
// CHECK: llvm.func @grouped_block_quantize(
func.func @gathered(%x: memref<?x128xbf16>, %y: memref<?x128xbf16>, %i: memref<?xi32>,
    %o: memref<3xi32>, %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4)
      ins(%x, %y : memref<?x128xbf16>, memref<?x128xbf16>)
      row_indices(%i : memref<?xi32>)
      maps [affine_map<(m, k)[r] -> (r, k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o : memref<3xi32>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>) producer {
  ^bb0(%e: bf16, %f: bf16):
    %a = arith.extf %e : bf16 to f32
    %b = arith.extf %f : bf16 to f32
    %c = arith.divf %a, %b : f32
    %r = arith.truncf %c : f32 to bf16
    gq.yield %r : bf16
  }
  return
}
