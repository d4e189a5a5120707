// Four rows of K elements wait in shared memory, as they are: three CTAs of bf16
// or f16 fit with K = 8192, one of f32.
//
// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-gpu,cse,canonicalize)' | FileCheck %s

// The last op's module is first.
// CHECK: llvm.func @grouped_block_quantize_whole_rows({{.*}}nvvm.maxntid = array<i32: 256>, nvvm.minctasm = 1 : i32}
// CHECK: llvm.func @grouped_block_quantize_whole_rows({{.*}}nvvm.maxntid = array<i32: 256>, nvvm.minctasm = 3 : i32}

// CHECK-LABEL: func.func @bf16
// CHECK: %[[SHARED:.*]] = arith.constant 65536 : i32
// CHECK: dynamic_shared_memory_size %[[SHARED]]
func.func @bf16(%x: memref<?x8192xbf16>, %o: memref<9xi32>, %q: memref<?x4096xi8>,
    %s: memref<?x512xf8E4M3FN>, %r: memref<?xf32>) {
  gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<outer = row>
      ins(%x : memref<?x8192xbf16>) groups(%o : memref<9xi32>)
      outs(%q, %s : memref<?x4096xi8>, memref<?x512xf8E4M3FN>)
      row_amax_out(%r : memref<?xf32>)
  return
}

// CHECK-LABEL: func.func @f32
// CHECK: %[[SHARED:.*]] = arith.constant 131072 : i32
// CHECK: dynamic_shared_memory_size %[[SHARED]]
func.func @f32(%x: memref<?x8192xf32>, %o: memref<9xi32>, %q: memref<?x4096xi8>,
    %s: memref<?x512xf8E4M3FN>, %r: memref<?xf32>) {
  gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<outer = row>
      ins(%x : memref<?x8192xf32>) groups(%o : memref<9xi32>)
      outs(%q, %s : memref<?x4096xi8>, memref<?x512xf8E4M3FN>)
      row_amax_out(%r : memref<?xf32>)
  return
}
