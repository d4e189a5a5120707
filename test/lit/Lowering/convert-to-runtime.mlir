// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-runtime)' | FileCheck %s
// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-runtime,canonicalize)' | FileCheck %s --check-prefix=STATIC

// CHECK-DAG: func.func private @gqCpuGroupedMm(index, i32, i32, i32, i32)
// CHECK-DAG: func.func private @gqCpuGroupedBlockQuantize(index, i32, i32, i32, i32, i32, i32)
// CHECK-DAG: func.func private @gqCpuPreprocessGroupedMatmulSf(index, i32, i32)
// CHECK-DAG: func.func private @gqCpuBlockQuantize(index, i32, i32)

// What types tell of the operands: addresses, and what is dynamic, is -1. Type
// f16 (5), rank 2, 64 columns, a stride of 128; a missing operand is zeros.
// STATIC: memref.global "private" constant @gq_operands_4 : memref<11x9xi64> = dense<{{\[}}[-1, 1, 2, -1, 32, 0, 32, 1, 0], [-1, 1, 3, 3, 32, 32, 1024, 32, 1], [-1, 9, 2, -1, 4, 0, 4, 1, 0], [-1, 9, 3, 3, 128, 4, 512, 4, 1], [-1, 3, 1, 4, 0, 0, 1, 0, 0], [-1, 3, 1, 3, 0, 0, 1, 0, 0], [-1, 7, 1, 3, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0], [-1, 6, 2, -1, 32, 0, 32, 1, 0]]>
// STATIC: memref.global "private" constant @gq_operands_0 : memref<4x9xi64> = dense<{{\[}}[-1, 5, 2, -1, 64, 0, 128, 1, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0], [-1, 1, 2, -1, 32, 0, 32, 1, 0], [-1, 9, 2, -1, 4, 0, 4, 1, 0]]>

// CHECK-LABEL: func @block_quantize
// CHECK-SAME: %[[X:.*]]: memref<?x64xf16, strided<[128, 1], offset: ?>>
func.func @block_quantize(%x: memref<?x64xf16, strided<[128, 1], offset: ?>>,
    %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>) {
  // CHECK-NEXT: %[[CONSTANT:.*]] = memref.get_global @gq_operands_0 : memref<4x9xi64>
  // CHECK-NEXT: %[[TABLE:.*]] = memref.alloca() : memref<4x9xi64>
  // CHECK-NEXT: memref.copy %[[CONSTANT]], %[[TABLE]]
  // The address counts the offset, in bytes.
  // CHECK: %{{.*}}, %[[OFFSET:.*]], %[[SIZES:.*]]:2, %{{.*}}:2 = memref.extract_strided_metadata %[[X]]
  // CHECK: %[[SIZE:.*]] = arith.index_cast %[[SIZES]]#0
  // CHECK: %[[POINTER:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
  // CHECK: %[[C2:.*]] = arith.constant 2 : index
  // CHECK: %[[BYTES:.*]] = arith.muli %[[OFFSET]], %[[C2]]
  // CHECK: %[[ADDRESS:.*]] = arith.addi %[[POINTER]], %[[BYTES]]
  // CHECK: %[[I:.*]] = arith.index_cast %[[ADDRESS]] : index to i64
  // CHECK: memref.store %[[I]], %[[TABLE]][%{{.*}}, %{{.*}}]
  // CHECK: memref.store %[[SIZE]], %[[TABLE]]
  // CHECK: %[[POINTER:.*]] = memref.extract_aligned_pointer_as_index %[[TABLE]]
  // CHECK: %[[FORMAT:.*]] = arith.constant 0 : i32
  // CHECK: %[[LAYOUT:.*]] = arith.constant 0 : i32
  // CHECK: call @gqCpuBlockQuantize(%[[POINTER]], %[[FORMAT]], %[[LAYOUT]])
  // CHECK-NOT: gq.block_quantize

  // Two stores per operand: its address and its rows.
  // STATIC-LABEL: func @block_quantize
  // STATIC-COUNT-6: memref.store
  // STATIC-NOT: memref.store
  // STATIC: call @gqCpuBlockQuantize
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

// In a loop: the table is on the stack once, and what is constant is copied once.
// CHECK-LABEL: func @grouped_block_quantize
func.func @grouped_block_quantize(%x: memref<?x64xf32>, %o: memref<4xi32>,
    %so: memref<3xi32>, %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>,
    %n: index) {
  // CHECK-NEXT: memref.get_global
  // CHECK-NEXT: memref.alloca() : memref<21x9xi64>
  // CHECK-NEXT: memref.copy
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 {
    // CHECK: memref.extract_aligned_pointer_as_index %{{.*}} : memref<21x9xi64>
    // CHECK: %[[FORMAT:.*]] = arith.constant 0 : i32
    // CHECK: %[[RECIPE:.*]] = arith.constant 0 : i32
    // CHECK: %[[LAYOUT:.*]] = arith.constant 1 : i32
    // CHECK: %[[ROWS:.*]] = arith.constant 1 : i32
    // CHECK: call @gqCpuGroupedBlockQuantize(%{{.*}}, %[[FORMAT]], %[[RECIPE]], %[[LAYOUT]], %[[ROWS]], %{{.*}}, %{{.*}})
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
  // CHECK: memref.alloca() : memref<11x9xi64>
  // CHECK: call @gqCpuGroupedMm(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (index, i32, i32, i32, i32)
  gq.grouped_mm format(nvfp4) ins(%a, %b : memref<?x32xi8>, memref<3x32x32xi8>)
      scales(%sa, %sb : memref<?x4xf8E4M3FN>, memref<3x128x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      alpha(%alpha : memref<3xf32>) outs(%c : memref<?x32xbf16>)
  return
}

// Each operand has its row of the table; those that are absent are zero.
// STATIC-LABEL: func @rows_and_columns
// STATIC-SAME: %[[X:[^ ]*]]: memref<?x128xbf16>, %[[I:[^ ]*]]: memref<?xi32>, %[[O:[^ ]*]]: memref<4xi32>, %[[A:[^ ]*]]: memref<3xf32>, %[[B:[^ ]*]]: memref<f32>, %[[Q:[^ ]*]]: memref<?x64xi8>, %[[S:[^ ]*]]: memref<?x8xf8E4M3FN>, %[[QT:[^ ]*]]: memref<?xi8>, %[[ST:[^ ]*]]: memref<?xf8E4M3FN>, %[[AM:[^ ]*]]: memref<3xf32>, %[[D:[^ ]*]]: memref<3x128xbf16>, %[[SO:[^ ]*]]: memref<3xi32>
func.func @rows_and_columns(%x: memref<?x128xbf16>, %i: memref<?xi32>,
    %o: memref<4xi32>, %a: memref<3xf32>, %b: memref<f32>, %q: memref<?x64xi8>,
    %s: memref<?x8xf8E4M3FN>, %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>,
    %am: memref<3xf32>, %d: memref<3x128xbf16>, %so: memref<3xi32>) {
  // STATIC: memref.extract_aligned_pointer_as_index %[[X]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c0, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[I]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c1, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[O]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c2, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[A]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c7, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[B]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c8, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[Q]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c12, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[S]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c13, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[QT]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c14, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[ST]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c15, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[AM]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c16, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[D]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c18, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[SO]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c19, %c0]
  // Format, recipe, layout and rows.
  // STATIC: call @gqCpuGroupedBlockQuantize(%{{.*}}, %c0_i32, %c1_i32, %c1_i32, %c1_i32, %c0_i32, %c0_i32)
  gq.grouped_block_quantize format(nvfp4) recipe(te) rows(grouped)
      ins(%x : memref<?x128xbf16>) row_indices(%i : memref<?xi32>)
      groups(%o : memref<4xi32>) outer_amax(%a : memref<3xf32>)
      columnwise_outer_amax(%b : memref<f32>)
      outs(%q, %s : memref<?x64xi8>, memref<?x8xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
      amax_out(%am : memref<3xf32>) dbias_out(%d : memref<3x128xbf16>)
      scale_offsets_out(%so : memref<3xi32>)
  return
}

// STATIC-LABEL: func @ragged
// STATIC-SAME: %[[X:[^ ]*]]: memref<?xf16>, %[[O:[^ ]*]]: memref<?xi64>, %[[M:[^ ]*]]: memref<?xi64>, %[[K:[^ ]*]]: memref<?xi64>, %[[Q:[^ ]*]]: memref<?xf8E5M2>, %[[S:[^ ]*]]: memref<?xf8E8M0FNU>, %[[A:[^ ]*]]: memref<?xf32>
func.func @ragged(%x: memref<?xf16>, %o: memref<?xi64>, %m: memref<?xi64>,
    %k: memref<?xi64>, %q: memref<?xf8E5M2>, %s: memref<?xf8E8M0FNU>,
    %a: memref<?xf32>) {
  // STATIC: memref.extract_aligned_pointer_as_index %[[X]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c0, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[O]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c2, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[M]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c4, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[K]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c5, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[Q]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c14, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[S]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c15, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[A]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c16, %c0]
  // STATIC: call @gqCpuGroupedBlockQuantize(%{{.*}}, %c3_i32, %c0_i32, %c0_i32, %c0_i32, %c0_i32, %c0_i32)
  gq.grouped_block_quantize format(mxfp8_e5m2) scale_layout(linear)
      ins(%x : memref<?xf16>) groups(%o : memref<?xi64>)
      shapes(%m, %k : memref<?xi64>, memref<?xi64>)
      columnwise_outs(%q, %s : memref<?xf8E5M2>, memref<?xf8E8M0FNU>)
      amax_out(%a : memref<?xf32>)
  return
}

// Every operand at its row; the format of b is that of a where it is left out.
// STATIC-LABEL: func @grouped_mm_formats
// STATIC-SAME: %[[A:[^ ]*]]: memref<?x256xf8E4M3FN>, %[[B:[^ ]*]]: memref<3x32x256xf8E4M3FN>, %[[SA:[^ ]*]]: memref<?x2xf32>, %[[SB:[^ ]*]]: memref<3x1x2xf32>, %[[SC:[^ ]*]]: memref<3x32x2xf32>, %[[O:[^ ]*]]: memref<4xi32>, %[[R:[^ ]*]]: memref<?xf32>, %[[N:[^ ]*]]: memref<3x32xf32>, %[[BIAS:[^ ]*]]: memref<3x32xf16>, %[[C:[^ ]*]]: memref<?x32xbf16>
func.func @grouped_mm_formats(%a: memref<?x256xf8E4M3FN>,
    %b: memref<3x32x256xf8E4M3FN>, %sa: memref<?x2xf32>, %sb: memref<3x1x2xf32>,
    %sc: memref<3x32x2xf32>, %o: memref<4xi32>, %r: memref<?xf32>,
    %n: memref<3x32xf32>, %bias: memref<3x32xf16>, %c: memref<?x32xbf16>,
    %w: memref<3x256x32xf8E4M3FN>) {
  // STATIC: memref.extract_aligned_pointer_as_index %[[SA]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c2, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[SB]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c3, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[O]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c4, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[R]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c7, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[N]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c8, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[BIAS]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c9, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[C]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c10, %c0]
  // STATIC: call @gqCpuGroupedMm(%{{.*}}, %c4_i32, %c5_i32, %c0_i32, %c0_i32)
  gq.grouped_mm format(fp8_e4m3_1x128) b_format(fp8_e4m3_128x128)
      scale_layout(linear)
      ins(%a, %b : memref<?x256xf8E4M3FN>, memref<3x32x256xf8E4M3FN>)
      scales(%sa, %sb : memref<?x2xf32>, memref<3x1x2xf32>)
      groups(%o : memref<4xi32>) row_scales(%r : memref<?xf32>)
      column_scales(%n : memref<3x32xf32>) bias(%bias : memref<3x32xf16>)
      outs(%c : memref<?x32xbf16>)
  // STATIC: call @gqCpuGroupedMm(%{{.*}}, %c4_i32, %c4_i32, %c0_i32, %c0_i32)
  gq.grouped_mm format(fp8_e4m3_1x128) scale_layout(linear)
      ins(%a, %b : memref<?x256xf8E4M3FN>, memref<3x32x256xf8E4M3FN>)
      scales(%sa, %sc : memref<?x2xf32>, memref<3x32x2xf32>)
      groups(%o : memref<4xi32>) outs(%c : memref<?x32xbf16>)
  // STATIC: call @gqCpuGroupedMm(%{{.*}}, %c-1_i32, %c-1_i32, %c1_i32, %c0_i32)
  gq.grouped_mm
      ins(%a, %b : memref<?x256xf8E4M3FN>, memref<3x32x256xf8E4M3FN>)
      groups(%o : memref<4xi32>) outs(%c : memref<?x32xbf16>)
  // STATIC: call @gqCpuGroupedMm(%{{.*}}, %c-1_i32, %c-1_i32, %c1_i32, %c1_i32)
  gq.grouped_mm b_major(n)
      ins(%a, %w : memref<?x256xf8E4M3FN>, memref<3x256x32xf8E4M3FN>)
      groups(%o : memref<4xi32>) outs(%c : memref<?x32xbf16>)
  return
}

// STATIC-LABEL: func @grouped_wgrad
// STATIC-SAME: %[[A:[^ ]*]]: memref<?xi8>, %[[B:[^ ]*]]: memref<?xi8>, %[[SA:[^ ]*]]: memref<?xf8E4M3FN>, %[[SB:[^ ]*]]: memref<?xf8E4M3FN>, %[[O:[^ ]*]]: memref<4xi32>, %[[AL:[^ ]*]]: memref<3xf32>, %[[C:[^ ]*]]: memref<3x32x64xbf16>
func.func @grouped_wgrad(%a: memref<?xi8>, %b: memref<?xi8>,
    %sa: memref<?xf8E4M3FN>, %sb: memref<?xf8E4M3FN>, %o: memref<4xi32>,
    %alpha: memref<3xf32>, %c: memref<3x32x64xbf16>) {
  // STATIC: memref.extract_aligned_pointer_as_index %[[SB]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c3, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[O]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c4, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[AL]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c5, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[C]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c6, %c0]
  // STATIC: call @gqCpuGroupedWgrad(%{{.*}}, %c0_i32, %c0_i32, %c1_i32)
  gq.grouped_wgrad format(nvfp4) ins(%a, %b : memref<?xi8>, memref<?xi8>)
      scales(%sa, %sb : memref<?xf8E4M3FN>, memref<?xf8E4M3FN>)
      groups(%o : memref<4xi32>) alpha(%alpha : memref<3xf32>)
      outs(%c : memref<3x32x64xbf16>)
  return
}

// STATIC-LABEL: func @grouped_dequantize
// STATIC-SAME: %[[Q:[^ ]*]]: memref<8x32xi8>, %[[S:[^ ]*]]: memref<128x4xf8E4M3FN>, %[[O:[^ ]*]]: memref<2xi32>, %[[A:[^ ]*]]: memref<f32>, %[[X:[^ ]*]]: memref<8x64xbf16>
func.func @grouped_dequantize(%q: memref<8x32xi8>, %s: memref<128x4xf8E4M3FN>,
    %o: memref<2xi32>, %a: memref<f32>, %x: memref<8x64xbf16>) {
  // STATIC: memref.extract_aligned_pointer_as_index %[[O]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c2, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[A]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c7, %c0]
  // STATIC: memref.extract_aligned_pointer_as_index %[[X]]
  // STATIC-NEXT: arith.index_cast
  // STATIC-NEXT: memref.store %{{[0-9]+}}, %{{.*}}[%c9, %c0]
  // STATIC: call @gqCpuGroupedDequantize(%{{.*}}, %c0_i32, %c1_i32, %c1_i32, %c0_i32, %c0_i32, %c256_i32)
  gq.grouped_dequantize format(nvfp4) recipe(te) scale_max(256) ins(%q : memref<8x32xi8>)
      scales(%s : memref<128x4xf8E4M3FN>) groups(%o : memref<2xi32>)
      outer_amax(%a : memref<f32>) outs(%x : memref<8x64xbf16>)
  return
}

// STATIC-LABEL: func @per_tensor
func.func @per_tensor(%q: memref<8x64xf8E5M2>, %o: memref<2xi64>,
    %i: memref<1xf32>, %x: memref<8x64xf32>) {
  // STATIC: call @gqCpuGroupedDequantize(%{{.*}}, %c-1_i32, %c0_i32, %c1_i32, %c0_i32, %c0_i32, %c0_i32)
  gq.grouped_dequantize ins(%q : memref<8x64xf8E5M2>)
      groups(%o : memref<2xi64>) scale_inv(%i : memref<1xf32>)
      outs(%x : memref<8x64xf32>)
  return
}

// STATIC-LABEL: func @block_dequantize
func.func @block_dequantize(%q: memref<8x64xf8E4M3FN>,
    %s: memref<8x2xf8E8M0FNU>, %x: memref<8x64xf16>) {
  // STATIC: call @gqCpuBlockDequantize(%{{.*}}, %c2_i32, %c0_i32)
  gq.block_dequantize format(mxfp8_e4m3)
      ins(%q, %s : memref<8x64xf8E4M3FN>, memref<8x2xf8E8M0FNU>)
      outs(%x : memref<8x64xf16>)
  return
}

// Equal operands have one table, in another function as well; a stride that only
// the program knows is stored, and is no part of it.
// CHECK-LABEL: func @same
func.func @same(%x: memref<?x64xf16, strided<[128, 1], offset: ?>>,
    %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>,
    %y: memref<?x64xf16, strided<[?, 1], offset: ?>>) {
  // The last table of the function comes first.
  // CHECK-NEXT: memref.get_global @gq_operands_15
  // CHECK: %[[SAME:.*]] = memref.get_global @gq_operands_0
  // CHECK-NEXT: %[[TABLE:.*]] = memref.alloca() : memref<4x9xi64>
  // CHECK-NEXT: memref.copy %[[SAME]], %[[TABLE]]
  // CHECK-NOT: memref.alloca
  // CHECK: memref.extract_aligned_pointer_as_index %[[TABLE]]
  // CHECK: call @gqCpuBlockQuantize
  gq.block_quantize format(nvfp4)
      ins(%x : memref<?x64xf16, strided<[128, 1], offset: ?>>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  // CHECK: memref.extract_aligned_pointer_as_index %[[TABLE]]
  // CHECK: call @gqCpuBlockQuantize
  gq.block_quantize format(nvfp4) {again}
      ins(%x : memref<?x64xf16, strided<[128, 1], offset: ?>>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  // Seven stores: the stride too.
  // CHECK-COUNT-7: memref.store
  // CHECK-NOT: memref.store
  // CHECK: call @gqCpuBlockQuantize
  gq.block_quantize format(nvfp4)
      ins(%y : memref<?x64xf16, strided<[?, 1], offset: ?>>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  return
}

// An op without attributes; what is absent is zeros.
// CHECK-LABEL: func @group_offsets
func.func @group_offsets(%c: memref<3xi64>, %o: memref<?xi32>) {
  // CHECK: memref.alloca() : memref<3x9xi64>
  // CHECK: call @gqCpuGroupOffsets(%{{.*}}) : (index) -> ()
  gq.group_offsets ins(%c : memref<3xi64>) outs(%o : memref<?xi32>)
  return
}
