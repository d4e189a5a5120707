// Tiles of 8-bit codes: no spills, as many registers as their threads can have,
// and no wgmma after which ptxas has to wait.
//
// REQUIRES: ptxas
// MODES: gq-opt
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' > %t.mlir
// RUN: for i in 0 1 2; do %python %S/Inputs/ptx.py $i < %t.mlir > %t.$i.ptx; %ptxas -v -arch=sm_90a %t.$i.ptx -o %t.cubin 2>&1; done | FileCheck %s
// RUN: cat %t.*.ptx | FileCheck %s --check-prefix=PTX

// The kernel of the last op is the first one.
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_tiles32'
// CHECK: 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used 168 registers
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_tiles64'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used 168 registers
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_tiles128'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used 168 registers
// CHECK-NOT: {{C75|serializ}}

// PTX-DAG: wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e5m2
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n32k32.f32.e5m2.e4m3
// Tokens are the A of wgmma where weights are in blocks, and not transposed.
// PTX-DAG: stmatrix.sync.aligned.m8n8.x4.shared.b16
// PTX-DAG: setmaxnreg.inc.sync.aligned.u32 232
// PTX-NOT: call

func.func @blocks(%a: memref<65536x5120xf8E4M3FN>,
    %b: memref<16x8192x5120xf8E4M3FN>, %sa: memref<65536x40xf32>,
    %sb: memref<16x64x40xf32>, %o: memref<17xi32>,
    %c: memref<65536x8192xbf16>) {
  gq.grouped_mm format(fp8_e4m3_1x128) b_format(fp8_e4m3_128x128)
      scale_layout(linear)
      ins(%a, %b : memref<65536x5120xf8E4M3FN>, memref<16x8192x5120xf8E4M3FN>)
      scales(%sa, %sb : memref<65536x40xf32>, memref<16x64x40xf32>)
      groups(%o : memref<17xi32>) outs(%c : memref<65536x8192xbf16>)
  return
}

func.func @rows(%a: memref<896x5120xf8E5M2>, %b: memref<16x8192x5120xf8E4M3FN>,
    %sa: memref<896x40xf32>, %sb: memref<16x8192x40xf32>, %o: memref<17xi32>,
    %c: memref<896x8192xf32>) {
  gq.grouped_mm format(fp8_e5m2_1x128) b_format(fp8_e4m3_1x128)
      scale_layout(linear)
      ins(%a, %b : memref<896x5120xf8E5M2>, memref<16x8192x5120xf8E4M3FN>)
      scales(%sa, %sb : memref<896x40xf32>, memref<16x8192x40xf32>)
      groups(%o : memref<17xi32>) outs(%c : memref<896x8192xf32>)
  return
}

func.func @plain(%a: memref<384x5120xf8E4M3FN>, %b: memref<16x8192x5120xf8E5M2>,
    %o: memref<17xi32>, %r: memref<384xf32>, %n: memref<16x8192xf32>,
    %c: memref<384x8192xbf16>) {
  gq.grouped_mm
      ins(%a, %b : memref<384x5120xf8E4M3FN>, memref<16x8192x5120xf8E5M2>)
      groups(%o : memref<17xi32>) row_scales(%r : memref<384xf32>)
      column_scales(%n : memref<16x8192xf32>) outs(%c : memref<384x8192xbf16>)
  return
}
