// What an outer amax is multiplied by: 1/1536 with scale_max(256), else 1/2688.
//
// RUN: gq-opt %s --split-input-file --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' | FileCheck %s

// CHECK-LABEL: .entry grouped_dequantize(
// CHECK-NOT: 0f39C30C31
// CHECK: mul{{.*}}0f3A2AAAAB
// CHECK-NOT: 0f39C30C31
func.func @small_scales(%q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>, %o: memref<4xi32>,
    %a: memref<3xf32>, %x: memref<?x64xbf16>) {
  gq.grouped_dequantize format(nvfp4) recipe(te) scale_max(256)
      ins(%q : memref<?x32xi8>) scales(%s : memref<?x4xf8E4M3FN>)
      groups(%o : memref<4xi32>) outer_amax(%a : memref<3xf32>)
      outs(%x : memref<?x64xbf16>)
  return
}

// -----

// CHECK-LABEL: .entry grouped_dequantize(
// CHECK-NOT: 0f3A2AAAAB
// CHECK: mul{{.*}}0f39C30C31
// CHECK-NOT: 0f3A2AAAAB
func.func @default(%q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>, %o: memref<4xi32>,
    %a: memref<3xf32>, %x: memref<?x64xbf16>) {
  gq.grouped_dequantize format(nvfp4) recipe(te)
      ins(%q : memref<?x32xi8>) scales(%s : memref<?x4xf8E4M3FN>)
      groups(%o : memref<4xi32>) outer_amax(%a : memref<3xf32>)
      outs(%x : memref<?x64xbf16>)
  return
}
