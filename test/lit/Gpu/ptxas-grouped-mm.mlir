// The kernels that the lowering makes: no spills, no stack, as many registers as
// their threads can have, and no wgmma after which ptxas has to wait.
//
// REQUIRES: ptxas
// MODES: gq-opt
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' > %t.mlir
// RUN: for i in 0 1 2 3 4; do %python %S/Inputs/ptx.py $i < %t.mlir > %t.$i.ptx; %ptxas -v -arch=sm_90a %t.$i.ptx -o %t.cubin 2>&1; done | FileCheck %s
// RUN: cat %t.*.ptx | FileCheck %s --check-prefix=PTX

// The kernel of the last op is the first one.
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_tiles128'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used 168 registers
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_tiles128'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used 168 registers
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_tiles64'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used 168 registers
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_decode16'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used {{[789][0-9]}} registers
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_decode8'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used {{[78][0-9]}} registers

// PTX-DAG: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// PTX-DAG: setmaxnreg.inc.sync.aligned.u32 224
// PTX-DAG: cp.async.cg.shared.global
// PTX-DAG: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// PTX-NOT: call
func.func @mm(%a: memref<?x2560xi8>, %b: memref<16x8192x2560xi8>,
    %sa: memref<?x320xf8E4M3FN>, %sb: memref<16x8192x320xf8E4M3FN>,
    %o: memref<17xi32>, %so: memref<16xi32>, %c: memref<?x8192xbf16>) {
  gq.grouped_mm format(nvfp4)
      ins(%a, %b : memref<?x2560xi8>, memref<16x8192x2560xi8>)
      scales(%sa, %sb : memref<?x320xf8E4M3FN>, memref<16x8192x320xf8E4M3FN>)
      groups(%o, %so : memref<17xi32>, memref<16xi32>)
      outs(%c : memref<?x8192xbf16>)
  return
}

// Weights of tokens: their outputs are staged, too.
func.func @row_scales(%a: memref<65536x2560xi8>, %b: memref<16x8192x2560xi8>,
    %sa: memref<?x320xf8E4M3FN>, %sb: memref<16x8192x320xf8E4M3FN>,
    %o: memref<17xi32>, %so: memref<16xi32>, %alpha: memref<16xf32>,
    %r: memref<65536xf32>, %c: memref<65536x8192xbf16>) {
  gq.grouped_mm format(nvfp4)
      ins(%a, %b : memref<65536x2560xi8>, memref<16x8192x2560xi8>)
      scales(%sa, %sb : memref<?x320xf8E4M3FN>, memref<16x8192x320xf8E4M3FN>)
      groups(%o, %so : memref<17xi32>, memref<16xi32>)
      alpha(%alpha : memref<16xf32>) row_scales(%r : memref<65536xf32>)
      outs(%c : memref<65536x8192xbf16>)
  return
}
