// Kernels of the gradient of weights: no spills, no stack, wgmma without waits
// between, and as many registers as 256 threads can have.
//
// REQUIRES: ptxas
// MODES: gq-opt
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' > %t.mlir
// RUN: for i in 0 1 2 3; do %python %S/Inputs/ptx.py $i < %t.mlir > %t.$i.ptx; %ptxas -v -arch=sm_90a %t.$i.ptx -o %t.cubin 2>&1; done | FileCheck %s

// The kernel of the last op is the first one.
// CHECK-NOT: {{C75[0-9][0-9]}}
// CHECK: 'grouped_wgrad_any'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: 'grouped_wgrad_tiles128'
// CHECK-NOT: {{C75[0-9][0-9]}}
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: 'grouped_wgrad_tiles128'
// CHECK-NOT: {{C75[0-9][0-9]}}
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: 'grouped_wgrad_tiles128'
// CHECK-NOT: {{C75[0-9][0-9]}}
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

func.func @nvfp4(%a: memref<?xi8>, %b: memref<?xi8>, %sa: memref<?xf8E4M3FN>,
    %sb: memref<?xf8E4M3FN>, %o: memref<17xi32>,
    %c: memref<16x8192x5120xbf16>) {
  gq.grouped_wgrad format(nvfp4) ins(%a, %b : memref<?xi8>, memref<?xi8>)
      scales(%sa, %sb : memref<?xf8E4M3FN>, memref<?xf8E4M3FN>)
      groups(%o : memref<17xi32>) outs(%c : memref<16x8192x5120xbf16>)
  return
}

func.func @mxfp8(%a: memref<?x8192xf8E4M3FN>, %b: memref<?x5120xf8E4M3FN>,
    %sa: memref<?xf8E8M0FNU>, %sb: memref<?xf8E8M0FNU>, %o: memref<17xi32>,
    %c: memref<16x8192x5120xf32>) {
  gq.grouped_wgrad format(mxfp8_e4m3)
      ins(%a, %b : memref<?x8192xf8E4M3FN>, memref<?x5120xf8E4M3FN>)
      scales(%sa, %sb : memref<?xf8E8M0FNU>, memref<?xf8E8M0FNU>)
      groups(%o : memref<17xi32>) outs(%c : memref<16x8192x5120xf32>)
  return
}

func.func @fp8(%a: memref<?xf8E4M3FN>, %b: memref<?xf8E4M3FN>,
    %sa: memref<?xf32>, %sb: memref<?xf32>, %o: memref<17xi64>,
    %c: memref<16x2048x7168xf32>) {
  gq.grouped_wgrad format(fp8_e4m3_1x128) scale_layout(linear)
      ins(%a, %b : memref<?xf8E4M3FN>, memref<?xf8E4M3FN>)
      scales(%sa, %sb : memref<?xf32>, memref<?xf32>)
      groups(%o : memref<17xi64>) outs(%c : memref<16x2048x7168xf32>)
  return
}

func.func @plain(%a: memref<?x8192xf8E5M2>, %b: memref<?x5120xf8E4M3FN>,
    %o: memref<17xi32>, %c: memref<16x8192x5120xf32>) {
  gq.grouped_wgrad kernel(any)
      ins(%a, %b : memref<?x8192xf8E5M2>, memref<?x5120xf8E4M3FN>)
      groups(%o : memref<17xi32>) outs(%c : memref<16x8192x5120xf32>)
  return
}
