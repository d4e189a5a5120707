// The gradient of weights: what launches pass, and that kernels of all formats
// link and are specialized.
//
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-choose-kernels,convert-gq-to-gpu)' | FileCheck %s
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-choose-kernels{chip=sm_120a},convert-gq-to-gpu)' | FileCheck %s --check-prefix=OTHER
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-choose-kernels)' --remarks-filter-passed=gq-choose-kernels --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// REMARK: kernel 'tiles128': sm_90a has wgmma

// CHECK: llvm.func @grouped_wgrad_any({{.*}} attributes {gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 256>, nvvm.minctasm = 1 : i32}
// CHECK: llvm.call @gq_dev_grouped_wgrad_any(
// Flat codes hold 4096 rows of a, and 8192 of b; of scales there are 512
// columns of both. Both are constants, as strides and extents are.
// CHECK: llvm.func @grouped_wgrad_tiles128({{.*}} attributes {gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 256>, nvvm.minctasm = 1 : i32}
// CHECK: llvm.mlir.constant(4096 : i64)
// CHECK: llvm.mlir.constant(512 : i64)
// CHECK: llvm.call @gq_dev_grouped_wgrad_tiles(

// CHECK-LABEL: func.func @flat
// CHECK: call @gqPlanLaunch(%c9_i64{{.*}}, %c3_i64{{.*}}, %c256_i64{{.*}}, %c512_i64{{.*}}, %c0_i64
// CHECK: gpu.launch_func {{.*}}@grouped_wgrad_tiles128
// OTHER-LABEL: func.func @flat
// OTHER: call @gqPlanLaunch(%c10_i64
// OTHER: gpu.launch_func {{.*}}@grouped_wgrad_any
func.func @flat(%a: memref<524288xi8>, %b: memref<2097152xi8>,
    %sa: memref<131072xf8E4M3FN>, %sb: memref<262144xf8E4M3FN>,
    %o: memref<4xi32>, %alpha: memref<3xf32>, %c: memref<3x256x512xf32>) {
  gq.grouped_wgrad format(nvfp4)
      ins(%a, %b : memref<524288xi8>, memref<2097152xi8>)
      scales(%sa, %sb : memref<131072xf8E4M3FN>, memref<262144xf8E4M3FN>)
      groups(%o : memref<4xi32>) alpha(%alpha : memref<3xf32>)
      outs(%c : memref<3x256x512xf32>)
  return
}

// Extents that are only known at the launch are checked there.
// CHECK-LABEL: func.func @rows
// CHECK: call @gqLaunchExtent(
// CHECK: arith.minsi
// CHECK: gpu.launch_func {{.*}}@grouped_wgrad_any
func.func @rows(%a: memref<?x?xf8E4M3FN, strided<[?, 1]>>, %b: memref<?x?xi8>,
    %sa: memref<?xf8E8M0FNU>, %sb: memref<?xf8E8M0FNU>,
    %o: memref<?xi64>, %c: memref<?x?x?xbf16>) {
  gq.grouped_wgrad format(mxfp8_e4m3) b_format(mxfp4) kernel(any)
      ins(%a, %b : memref<?x?xf8E4M3FN, strided<[?, 1]>>, memref<?x?xi8>)
      scales(%sa, %sb : memref<?xf8E8M0FNU>, memref<?xf8E8M0FNU>)
      groups(%o : memref<?xi64>) outs(%c : memref<?x?x?xbf16>)
  return
}
