// The kernels of other formats than NVFP4, and weights with N innermost: no
// spills, no stack, and as many registers as decode's 640 threads can have.
//
// REQUIRES: ptxas
// MODES: gq-opt
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' > %t.mlir
// RUN: for i in 0 1 2 3 4; do %python %S/Inputs/ptx.py $i < %t.mlir > %t.$i.ptx; %ptxas -v -arch=sm_90a %t.$i.ptx -o %t.cubin 2>&1; done | FileCheck %s

// The kernel of the last op is the first one.
// CHECK: 'grouped_mm_any'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used {{[4-9][0-9]}} registers
// CHECK: 'grouped_mm_decode16'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used {{[6-9][0-9]}} registers
// CHECK: 'grouped_mm_decode16'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used {{[6-9][0-9]}} registers
// CHECK: 'grouped_mm_decode16'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used {{[6-9][0-9]}} registers
// CHECK: 'grouped_mm_decode8'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used {{[6-9][0-9]}} registers

func.func @mxfp8(%a: memref<112x5120xf8E4M3FN>,
    %b: memref<16x8192x5120xf8E4M3FN>, %sa: memref<?x160xf8E8M0FNU>,
    %sb: memref<16x8192x160xf8E8M0FNU>, %o: memref<17xi32>,
    %so: memref<16xi32>, %c: memref<112x8192xbf16>) {
  gq.grouped_mm format(mxfp8_e4m3)
      ins(%a, %b : memref<112x5120xf8E4M3FN>, memref<16x8192x5120xf8E4M3FN>)
      scales(%sa, %sb : memref<?x160xf8E8M0FNU>, memref<16x8192x160xf8E8M0FNU>)
      groups(%o, %so : memref<17xi32>, memref<16xi32>)
      outs(%c : memref<112x8192xbf16>)
  return
}

func.func @mxfp4(%a: memref<256x2560xi8>, %b: memref<16x8192x2560xi8>,
    %sa: memref<?x160xf8E8M0FNU>, %sb: memref<16x8192x160xf8E8M0FNU>,
    %o: memref<17xi32>, %so: memref<16xi32>, %bias: memref<16x8192xbf16>,
    %c: memref<256x8192xbf16>) {
  gq.grouped_mm format(mxfp4)
      ins(%a, %b : memref<256x2560xi8>, memref<16x8192x2560xi8>)
      scales(%sa, %sb : memref<?x160xf8E8M0FNU>, memref<16x8192x160xf8E8M0FNU>)
      groups(%o, %so : memref<17xi32>, memref<16xi32>)
      bias(%bias : memref<16x8192xbf16>) outs(%c : memref<256x8192xbf16>)
  return
}

func.func @fp8(%a: memref<256x5120xf8E4M3FN>,
    %b: memref<16x8192x5120xf8E4M3FN>, %sa: memref<256x40xf32>,
    %sb: memref<16x64x40xf32>, %o: memref<17xi32>, %c: memref<256x8192xbf16>) {
  gq.grouped_mm format(fp8_e4m3_1x128) b_format(fp8_e4m3_128x128)
      scale_layout(linear)
      ins(%a, %b : memref<256x5120xf8E4M3FN>, memref<16x8192x5120xf8E4M3FN>)
      scales(%sa, %sb : memref<256x40xf32>, memref<16x64x40xf32>)
      groups(%o : memref<17xi32>) outs(%c : memref<256x8192xbf16>)
  return
}

func.func @plain(%a: memref<256x5120xf8E4M3FN>,
    %b: memref<16x8192x5120xf8E4M3FN>, %o: memref<17xi32>,
    %r: memref<256xf32>, %n: memref<16x8192xf32>, %c: memref<256x8192xbf16>) {
  gq.grouped_mm
      ins(%a, %b : memref<256x5120xf8E4M3FN>, memref<16x8192x5120xf8E4M3FN>)
      groups(%o : memref<17xi32>) row_scales(%r : memref<256xf32>)
      column_scales(%n : memref<16x8192xf32>) outs(%c : memref<256x8192xbf16>)
  return
}

func.func @n_innermost(%a: memref<24x64xf8E4M3FN>, %b: memref<3x64x32xf8E4M3FN>,
    %sa: memref<?x4xf8E8M0FNU>, %sb: memref<3x128x4xf8E8M0FNU>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<24x32xbf16>) {
  gq.grouped_mm format(mxfp8_e4m3) b_major(n)
      ins(%a, %b : memref<24x64xf8E4M3FN>, memref<3x64x32xf8E4M3FN>)
      scales(%sa, %sb : memref<?x4xf8E8M0FNU>, memref<3x128x4xf8E8M0FNU>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<24x32xbf16>)
  return
}
