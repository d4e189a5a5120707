// Tiles of 256 tokens, dequantized before: no spills, as many registers as their
// threads can have, and no wgmma after which ptxas has to wait.
//
// REQUIRES: ptxas
// MODES: gq-opt
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' > %t.mlir
// RUN: for i in 0 1 2 3 4 5 6 7 8 9; do %python %S/Inputs/ptx.py $i < %t.mlir > %t.$i.ptx; %ptxas -v -arch=sm_90a %t.$i.ptx -o %t.cubin 2>&1; done | FileCheck %s
// RUN: cat %t.*.ptx | FileCheck %s --check-prefix=PTX

// The kernels of the last op are the first ones.
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_tiles256'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used 168 registers
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_prepare'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_tiles256'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used 168 registers
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_prepare'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_tiles256'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used 168 registers
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_prepare'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_tiles256'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used 168 registers
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_prepare'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_tiles256'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used 168 registers
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_prepare'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NOT: {{C75|serializ}}

// PTX-DAG: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// PTX-DAG: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
// PTX-DAG: cp.async.bulk.shared::cluster.global.mbarrier
// PTX-NOT: call

func.func @nvfp4(%a: memref<?x2560xi8>, %b: memref<16x8192x2560xi8>,
    %sa: memref<?x320xf8E4M3FN>, %sb: memref<16x8192x320xf8E4M3FN>,
    %o: memref<17xi32>, %so: memref<16xi32>, %c: memref<?x8192xbf16>) {
  gq.grouped_mm format(nvfp4) kernel(tiles256)
      ins(%a, %b : memref<?x2560xi8>, memref<16x8192x2560xi8>)
      scales(%sa, %sb : memref<?x320xf8E4M3FN>, memref<16x8192x320xf8E4M3FN>)
      groups(%o, %so : memref<17xi32>, memref<16xi32>)
      outs(%c : memref<?x8192xbf16>)
  return
}

func.func @mxfp8(%a: memref<65536x5120xf8E4M3FN>,
    %b: memref<16x8192x5120xf8E4M3FN>, %sa: memref<?x160xf8E8M0FNU>,
    %sb: memref<16x8192x160xf8E8M0FNU>, %o: memref<17xi32>,
    %so: memref<16xi32>, %c: memref<65536x8192xf32>) {
  gq.grouped_mm format(mxfp8_e4m3) kernel(tiles256)
      ins(%a, %b : memref<65536x5120xf8E4M3FN>, memref<16x8192x5120xf8E4M3FN>)
      scales(%sa, %sb : memref<?x160xf8E8M0FNU>, memref<16x8192x160xf8E8M0FNU>)
      groups(%o, %so : memref<17xi32>, memref<16xi32>)
      outs(%c : memref<65536x8192xf32>)
  return
}

func.func @mxfp4(%a: memref<65536x?xi8>, %b: memref<16x?x?xi8>,
    %sa: memref<?x?xf8E8M0FNU>, %sb: memref<16x?x?xf8E8M0FNU>,
    %o: memref<17xi32>, %so: memref<16xi32>, %c: memref<65536x?xbf16>) {
  gq.grouped_mm format(mxfp4) kernel(tiles256)
      ins(%a, %b : memref<65536x?xi8>, memref<16x?x?xi8>)
      scales(%sa, %sb : memref<?x?xf8E8M0FNU>, memref<16x?x?xf8E8M0FNU>)
      groups(%o, %so : memref<17xi32>, memref<16xi32>)
      outs(%c : memref<65536x?xbf16>)
  return
}

// An epilogue.
func.func @epilogue(%a: tensor<?x5120xf4E2M1FN>, %b: tensor<16x8192x5120xf4E2M1FN>,
    %sa: tensor<?x320xf8E4M3FN, #gq.tile128x4>,
    %sb: tensor<16x8192x320xf8E4M3FN, #gq.tile128x4>, %o: tensor<17xi32>,
    %so: tensor<16xi32>, %c0: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  %c = gq.grouped_mm format(nvfp4) kernel(tiles256) pairs(interleaved)
      ins(%a, %b : tensor<?x5120xf4E2M1FN>, tensor<16x8192x5120xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x320xf8E4M3FN, #gq.tile128x4>,
                        tensor<16x8192x320xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<17xi32>, tensor<16xi32>)
      epilogue {
      ^bb0(%x: bf16, %y: bf16):
        %gate = arith.extf %x : bf16 to f32
        %up = arith.extf %y : bf16 to f32
        %product = arith.mulf %gate, %up : f32
        %p = arith.truncf %product : f32 to bf16
        gq.yield %p : bf16
      } outs(%c0 : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
  return %c : tensor<?x4096xbf16>
}

func.func @rest(%a: memref<?x5120xf8E4M3FN>, %b: memref<16x8192x5120xf8E4M3FN>,
    %sa: memref<?x160xf8E8M0FNU>, %sb: memref<16x8192x160xf8E8M0FNU>,
    %o: memref<17xi32>, %so: memref<16xi32>, %r: memref<?xf32>,
    %bias: memref<16x8192xbf16>, %c: memref<?x8192xbf16>) {
  gq.grouped_mm format(mxfp8_e4m3) kernel(tiles256)
      ins(%a, %b : memref<?x5120xf8E4M3FN>, memref<16x8192x5120xf8E4M3FN>)
      scales(%sa, %sb : memref<?x160xf8E8M0FNU>, memref<16x8192x160xf8E8M0FNU>)
      groups(%o, %so : memref<17xi32>, memref<16xi32>)
      row_scales(%r : memref<?xf32>) bias(%bias : memref<16x8192xbf16>)
      outs(%c : memref<?x8192xbf16>)
  return
}
