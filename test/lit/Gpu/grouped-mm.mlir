// Each launch runs one of several kernels if rows are known only then: family,
// groups, rows, n, k, tokens of a tile, and how many rows per group it is for.
//
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-choose-kernels,convert-gq-to-gpu)' | FileCheck %s

// Strides and extents that are static are constants, alpha is null.
// CHECK: llvm.func @grouped_mm_tiles128({{.*}} attributes {gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 384>, nvvm.minctasm = 1 : i32}
// CHECK-DAG: llvm.mlir.zero : !llvm.ptr<1>
// CHECK-DAG: llvm.mlir.constant(64 : i64)
// CHECK: llvm.call @gq_dev_grouped_mm_tiles_{{[0-9]+}}(
// CHECK: llvm.func @grouped_mm_decode16({{.*}} attributes {gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 640>, nvvm.minctasm = 1 : i32}
// CHECK: llvm.func @grouped_mm_decode8(

// CHECK-LABEL: func.func @unknown_rows
// CHECK: %[[DECODE:.*]]:2 = call @gqPlanLaunch(%c5_i64{{.*}}, %c3_i64{{.*}}, %{{.*}}, %c256_i64{{.*}}, %c128_i64{{.*}}, %c8_i64{{.*}}, %c-1_i64{{.*}}, %c7_i64{{.*}}, %c0_i64{{.*}})
// CHECK: gpu.launch_func {{.*}}@grouped_mm_decode8 blocks in (%[[DECODE]]#0, {{.*}} dynamic_shared_memory_size
// CHECK: call @gqPlanLaunch(%c5_i64{{.*}}, %c3_i64{{.*}}, %{{.*}}, %c256_i64{{.*}}, %c128_i64{{.*}}, %c16_i64{{.*}}, %c7_i64{{.*}}, %c16_i64{{.*}}, %c0_i64{{.*}})
// CHECK: gpu.launch_func {{.*}}@grouped_mm_decode16
// CHECK: call @gqPlanLaunch(%c4_i64{{.*}}, %c3_i64{{.*}}, %{{.*}}, %c256_i64{{.*}}, %c128_i64{{.*}}, %c64_i64{{.*}}, %c16_i64{{.*}}, %c56_i64{{.*}}, %c0_i64{{.*}})
// CHECK: gpu.launch_func {{.*}}@grouped_mm_tiles64
// CHECK: call @gqPlanLaunch(%c4_i64{{.*}}, %c3_i64{{.*}}, %{{.*}}, %c256_i64{{.*}}, %c128_i64{{.*}}, %c128_i64{{.*}}, %c56_i64{{.*}}, %c2147483647_i64{{.*}}, %c0_i64{{.*}})
// CHECK: gpu.launch_func {{.*}}@grouped_mm_tiles128
// CHECK-NOT: gpu.launch_func
func.func @unknown_rows(%a: memref<?x64xi8>, %b: memref<3x256x64xi8>,
    %sa: memref<?x8xf8E4M3FN>, %sb: memref<3x256x8xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<?x256xbf16>) {
  gq.grouped_mm format(nvfp4)
      ins(%a, %b : memref<?x64xi8>, memref<3x256x64xi8>)
      scales(%sa, %sb : memref<?x8xf8E4M3FN>, memref<3x256x8xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<?x256xbf16>)
  return
}

// CHECK-LABEL: func.func @known_rows
// CHECK: call @gqPlanLaunch(%c4_i64
// CHECK: gpu.launch_func {{.*}}@grouped_mm_tiles64
// CHECK-NOT: gpu.launch_func
func.func @known_rows(%a: memref<168x64xi8>, %b: memref<3x256x64xi8>,
    %sa: memref<?x8xf8E4M3FN>, %sb: memref<3x256x8xf8E4M3FN>,
    %o: memref<4xi64>, %so: memref<3xi64>, %c: memref<168x256xf32>) {
  gq.grouped_mm format(nvfp4)
      ins(%a, %b : memref<168x64xi8>, memref<3x256x64xi8>)
      scales(%sa, %sb : memref<?x8xf8E4M3FN>, memref<3x256x8xf8E4M3FN>)
      groups(%o, %so : memref<4xi64>, memref<3xi64>)
      outs(%c : memref<168x256xf32>)
  return
}

// Other formats, without scale offsets: what is absent is null.
// CHECK-LABEL: func.func @fp8
// CHECK: gpu.launch_func {{.*}}@grouped_mm_decode8
// CHECK-NOT: gpu.launch_func
func.func @fp8(%a: memref<21x256xf8E4M3FN, strided<[512, 1]>>,
    %b: memref<3x130x256xf8E4M3FN>, %sa: memref<21x2xf32, strided<[4, 1]>>,
    %sb: memref<3x2x2xf32>, %o: memref<4xi32>, %r: memref<21xf32>,
    %n: memref<3x130xf32>, %bias: memref<3x130xbf16>, %c: memref<21x130xf16>) {
  gq.grouped_mm format(fp8_e4m3_1x128) b_format(fp8_e4m3_128x128)
      scale_layout(linear)
      ins(%a, %b : memref<21x256xf8E4M3FN, strided<[512, 1]>>, memref<3x130x256xf8E4M3FN>)
      scales(%sa, %sb : memref<21x2xf32, strided<[4, 1]>>, memref<3x2x2xf32>)
      groups(%o : memref<4xi32>)
      row_scales(%r : memref<21xf32>) column_scales(%n : memref<3x130xf32>)
      bias(%bias : memref<3x130xbf16>) outs(%c : memref<21x130xf16>)
  return
}

// Tokens are dequantized to a workspace, 2 bytes an element of [192 + 256, 128],
// and 4 for each of 3 groups and once more.
// CHECK-LABEL: func.func @prepared
// CHECK: %[[PLAN:.*]]:2 = call @gqPlanLaunch(%c15_i64
// CHECK: %[[WORKSPACE:.*]] = memref.alloc() : memref<114704xi8>
// CHECK: gpu.launch_func {{.*}}@grouped_mm_prepare blocks in (%[[PLAN]]#0
// CHECK: call @gqPlanLaunch(%c4_i64{{.*}}, %c3_i64{{.*}}, %c192_i64{{.*}}, %c256_i64{{.*}}, %c128_i64{{.*}}, %c256_i64
// CHECK: gpu.launch_func {{.*}}@grouped_mm_tiles256
// CHECK: memref.dealloc %[[WORKSPACE]]
// CHECK-NOT: gpu.launch_func
func.func @prepared(%a: memref<192x64xi8>, %b: memref<3x256x64xi8>,
    %sa: memref<?x8xf8E4M3FN>, %sb: memref<3x256x8xf8E4M3FN>,
    %o: memref<4xi64>, %so: memref<3xi64>, %c: memref<192x256xbf16>) {
  gq.grouped_mm format(nvfp4) kernel(tiles256)
      ins(%a, %b : memref<192x64xi8>, memref<3x256x64xi8>)
      scales(%sa, %sb : memref<?x8xf8E4M3FN>, memref<3x256x8xf8E4M3FN>)
      groups(%o, %so : memref<4xi64>, memref<3xi64>)
      outs(%c : memref<192x256xbf16>)
  return
}

// Of rows that are not known, its size is the plan's.
// CHECK-LABEL: func.func @prepared_unknown_rows
// CHECK: %[[PLAN:.*]]:2 = call @gqPlanLaunch(%c15_i64
// CHECK: %[[SIZE:.*]] = arith.index_cast %[[PLAN]]#1 : i64 to index
// CHECK: memref.alloc(%[[SIZE]]) : memref<?xi8>
func.func @prepared_unknown_rows(%a: memref<?x128xf8E4M3FN>,
    %b: memref<3x256x128xf8E4M3FN>, %sa: memref<?x4xf8E8M0FNU>,
    %sb: memref<3x256x4xf8E8M0FNU>, %o: memref<4xi64>, %so: memref<3xi64>,
    %c: memref<?x256xbf16>) {
  gq.grouped_mm format(mxfp8_e4m3) kernel(tiles256)
      ins(%a, %b : memref<?x128xf8E4M3FN>, memref<3x256x128xf8E4M3FN>)
      scales(%sa, %sb : memref<?x4xf8E8M0FNU>, memref<3x256x4xf8E8M0FNU>)
      groups(%o, %so : memref<4xi64>, memref<3xi64>)
      outs(%c : memref<?x256xbf16>)
  return
}

// There is nothing to dequantize.
// CHECK-LABEL: func.func @prepared_fp8
// CHECK: gpu.launch_func {{.*}}@grouped_mm_tiles128
// CHECK-NOT: gpu.launch_func
func.func @prepared_fp8(%a: memref<21x256xf8E4M3FN>,
    %b: memref<3x130x256xf8E4M3FN>, %o: memref<4xi32>, %c: memref<21x130xf16>) {
  gq.grouped_mm kernel(tiles256)
      ins(%a, %b : memref<21x256xf8E4M3FN>, memref<3x130x256xf8E4M3FN>)
      groups(%o : memref<4xi32>) outs(%c : memref<21x130xf16>)
  return
}
