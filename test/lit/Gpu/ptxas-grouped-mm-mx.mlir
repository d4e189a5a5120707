// Tiles of MX formats, as bf16: no spills, as many registers as their threads can
// have, and no wgmma after which ptxas has to wait.
//
// REQUIRES: ptxas
// MODES: gq-opt
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' > %t.mlir
// RUN: for i in 0 1 2 3; do %python %S/Inputs/ptx.py $i < %t.mlir > %t.$i.ptx; %ptxas -v -arch=sm_90a %t.$i.ptx -o %t.cubin 2>&1; done | FileCheck %s
// RUN: cat %t.*.ptx | FileCheck %s --check-prefix=PTX

// The kernel of the last op is the first one.
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_tiles32'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
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
// CHECK: 'grouped_mm_tiles128'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used 168 registers
// CHECK-NOT: {{C75|serializ}}

// PTX-DAG: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16
// PTX-DAG: setmaxnreg.inc.sync.aligned.u32 216
// PTX-DAG: setmaxnreg.inc.sync.aligned.u32 224
// PTX-NOT: call

func.func @mxfp8(%a: memref<65536x5120xf8E4M3FN>,
    %b: memref<16x8192x5120xf8E4M3FN>, %sa: memref<?x160xf8E8M0FNU>,
    %sb: memref<16x8192x160xf8E8M0FNU>, %o: memref<17xi32>,
    %so: memref<16xi32>, %c: memref<65536x8192xbf16>) {
  gq.grouped_mm format(mxfp8_e4m3)
      ins(%a, %b : memref<65536x5120xf8E4M3FN>, memref<16x8192x5120xf8E4M3FN>)
      scales(%sa, %sb : memref<?x160xf8E8M0FNU>, memref<16x8192x160xf8E8M0FNU>)
      groups(%o, %so : memref<17xi32>, memref<16xi32>)
      outs(%c : memref<65536x8192xbf16>)
  return
}

func.func @mxfp4(%a: memref<65536x2560xi8>, %b: memref<16x8192x2560xi8>,
    %sa: memref<?x160xf8E8M0FNU>, %sb: memref<16x8192x160xf8E8M0FNU>,
    %o: memref<17xi32>, %so: memref<16xi32>, %c: memref<65536x8192xbf16>) {
  gq.grouped_mm format(mxfp4)
      ins(%a, %b : memref<65536x2560xi8>, memref<16x8192x2560xi8>)
      scales(%sa, %sb : memref<?x160xf8E8M0FNU>, memref<16x8192x160xf8E8M0FNU>)
      groups(%o, %so : memref<17xi32>, memref<16xi32>)
      outs(%c : memref<65536x8192xbf16>)
  return
}

func.func @mixed(%a: memref<896x5120xf8E5M2>, %b: memref<16x8192x2560xi8>,
    %sa: memref<?x160xf8E8M0FNU>, %sb: memref<16x8192x160xf8E8M0FNU>,
    %o: memref<17xi32>, %so: memref<16xi32>, %c: memref<896x8192xf32>) {
  gq.grouped_mm format(mxfp8_e5m2) b_format(mxfp4)
      ins(%a, %b : memref<896x5120xf8E5M2>, memref<16x8192x2560xi8>)
      scales(%sa, %sb : memref<?x160xf8E8M0FNU>, memref<16x8192x160xf8E8M0FNU>)
      groups(%o, %so : memref<17xi32>, memref<16xi32>)
      outs(%c : memref<896x8192xf32>)
  return
}

func.func @rest(%a: memref<384x5120xf8E4M3FN>,
    %b: memref<16x8192x5120xf8E4M3FN>, %sa: memref<?x160xf8E8M0FNU>,
    %sb: memref<16x8192x160xf8E8M0FNU>, %o: memref<17xi32>,
    %so: memref<16xi32>, %r: memref<384xf32>, %c: memref<384x8192xbf16>) {
  gq.grouped_mm format(mxfp8_e4m3)
      ins(%a, %b : memref<384x5120xf8E4M3FN>, memref<16x8192x5120xf8E4M3FN>)
      scales(%sa, %sb : memref<?x160xf8E8M0FNU>, memref<16x8192x160xf8E8M0FNU>)
      groups(%o, %so : memref<17xi32>, memref<16xi32>)
      row_scales(%r : memref<384xf32>) outs(%c : memref<384x8192xbf16>)
  return
}
