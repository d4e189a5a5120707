// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-runtime)' | FileCheck %s
// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-runtime,canonicalize)' | FileCheck %s --check-prefix=STATIC

// CHECK-DAG: func.func private @gqCpuGroupedMm(index, i32, i32)
// CHECK-DAG: func.func private @gqCpuGroupedBlockQuantize(index, i32, i32, i32, i32)
// CHECK-DAG: func.func private @gqCpuPreprocessGroupedMatmulSf(index, i32, i32)
// CHECK-DAG: func.func private @gqCpuBlockQuantize(index, i32, i32)

// CHECK-LABEL: func @block_quantize
// CHECK-SAME: %[[X:.*]]: memref<?x64xf16, strided<[128, 1], offset: ?>>
func.func @block_quantize(%x: memref<?x64xf16, strided<[128, 1], offset: ?>>,
    %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>) {
  // CHECK: %[[TABLE:.*]] = memref.alloca() : memref<4x9xi64>
  // The address counts the offset, in bytes.
  // CHECK: %{{.*}}, %[[OFFSET:.*]], %[[SIZES:.*]]:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata %[[X]]
  // CHECK: %[[SIZE:.*]] = arith.index_cast %[[SIZES]]#0
  // CHECK: %[[STRIDE:.*]] = arith.index_cast %[[STRIDES]]#0
  // CHECK: %[[C2:.*]] = arith.constant 2 : index
  // CHECK: %[[POINTER:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
  // CHECK: %[[BYTES:.*]] = arith.muli %[[OFFSET]], %[[C2]]
  // CHECK: %[[ADDRESS:.*]] = arith.addi %[[POINTER]], %[[BYTES]]
  // CHECK: %[[I:.*]] = arith.index_cast %[[ADDRESS]] : index to i64
  // CHECK: memref.store %[[I]], %[[TABLE]][%{{.*}}, %{{.*}}]
  // CHECK: memref.store %[[SIZE]], %[[TABLE]]
  // CHECK: memref.store %[[STRIDE]], %[[TABLE]]
  // CHECK: %[[POINTER:.*]] = memref.extract_aligned_pointer_as_index %[[TABLE]]
  // CHECK: %[[FORMAT:.*]] = arith.constant 0 : i32
  // CHECK: %[[LAYOUT:.*]] = arith.constant 0 : i32
  // CHECK: call @gqCpuBlockQuantize(%[[POINTER]], %[[FORMAT]], %[[LAYOUT]])
  // CHECK-NOT: gq.block_quantize

  // Type f16 and rank 2 of the first row; strides are known.
  // STATIC-LABEL: func @block_quantize
  // STATIC-DAG: %[[F16:.*]] = arith.constant 5 : i64
  // STATIC-DAG: %[[C1:.*]] = arith.constant 1 : index
  // STATIC-DAG: %[[C0:.*]] = arith.constant 0 : index
  // STATIC-DAG: %[[STRIDE:.*]] = arith.constant 128 : i64
  // STATIC-DAG: memref.store %[[F16]], %{{.*}}[%[[C0]], %[[C1]]]
  // STATIC-DAG: memref.store %[[STRIDE]], %{{.*}}[%[[C0]], %c6]
  gq.block_quantize format(nvfp4)
      ins(%x : memref<?x64xf16, strided<[128, 1], offset: ?>>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  return
}

// CHECK-LABEL: func @preprocess
func.func @preprocess(%s: memref<?x4xf8E4M3FN>, %o: memref<4xi64>,
    %so: memref<3xi64>, %t: memref<?x4xf8E4M3FN>) {
  // CHECK: call @gqCpuPreprocessGroupedMatmulSf(%{{.*}}, %{{.*}}, %{{.*}}) : (index, i32, i32)
  gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%s : memref<?x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi64>, memref<3xi64>)
      outs(%t : memref<?x4xf8E4M3FN>)
  return
}

// In a loop: the table is on the stack once.
// CHECK-LABEL: func @grouped_block_quantize
func.func @grouped_block_quantize(%x: memref<?x64xf32>, %o: memref<4xi32>,
    %so: memref<3xi32>, %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>,
    %n: index) {
  // CHECK-NEXT: memref.alloca() : memref<16x9xi64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 {
    // CHECK: memref.extract_aligned_pointer_as_index %{{.*}} : memref<16x9xi64>
    // CHECK: %[[FORMAT:.*]] = arith.constant 0 : i32
    // CHECK: %[[RECIPE:.*]] = arith.constant 0 : i32
    // CHECK: %[[LAYOUT:.*]] = arith.constant 1 : i32
    // CHECK: %[[ROWS:.*]] = arith.constant 1 : i32
    // CHECK: call @gqCpuGroupedBlockQuantize(%{{.*}}, %[[FORMAT]], %[[RECIPE]], %[[LAYOUT]], %[[ROWS]])
    gq.grouped_block_quantize format(nvfp4) rows(grouped)
        ins(%x : memref<?x64xf32>)
        groups(%o, %so : memref<4xi32>, memref<3xi32>)
        outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  }
  return
}

// CHECK-LABEL: func @row_indices
// CHECK-SAME: %{{.*}}: memref<?x64xf32>, %[[I:.*]]: memref<?xi64>,
func.func @row_indices(%x: memref<?x64xf32>, %i: memref<?xi64>,
    %o: memref<4xi32>, %so: memref<3xi32>, %q: memref<?x32xi8>,
    %s: memref<?x4xf8E4M3FN>) {
  // CHECK: memref.extract_strided_metadata %[[I]]
  // CHECK: call @gqCpuGroupedBlockQuantize
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<?x64xf32>)
      row_indices(%i : memref<?xi64>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  return
}

// CHECK-LABEL: func @grouped_mm
func.func @grouped_mm(%a: memref<?x32xi8>, %b: memref<3x32x32xi8>,
    %sa: memref<?x4xf8E4M3FN>, %sb: memref<3x128x4xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %alpha: memref<3xf32>,
    %c: memref<?x32xbf16>) {
  // CHECK: memref.alloca() : memref<8x9xi64>
  // CHECK: call @gqCpuGroupedMm(%{{.*}}, %{{.*}}, %{{.*}}) : (index, i32, i32)
  gq.grouped_mm format(nvfp4) ins(%a, %b : memref<?x32xi8>, memref<3x32x32xi8>)
      scales(%sa, %sb : memref<?x4xf8E4M3FN>, memref<3x128x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      alpha(%alpha : memref<3xf32>) outs(%c : memref<?x32xbf16>)
  return
}
