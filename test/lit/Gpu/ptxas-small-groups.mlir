// Where warps do jobs alone, neither mxfp4 nor blocks of 1 by 128, in both
// directions, spill on sm_90a.
//
// REQUIRES: ptxas
// MODES: gq-opt
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' > %t.mlir
// RUN: for i in 0 1; do %python %S/Inputs/ptx.py $i < %t.mlir > %t.ptx; %ptxas -v -arch=sm_90a %t.ptx -o %t.cubin 2>&1; done | FileCheck %s

// CHECK: {{^ *}}0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: {{^ *}}0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NOT: stack frame

func.func @fp8(%x: memref<4096x8192xbf16>, %o: memref<129xi32>,
    %q: memref<4096x8192xf8E4M3FN>, %s: memref<4096x64xf32>,
    %qt: memref<?xf8E4M3FN>, %st: memref<?xf32>) {
  gq.grouped_block_quantize format(fp8_e4m3_1x128) scale_layout(linear)
      ins(%x : memref<4096x8192xbf16>) groups(%o : memref<129xi32>)
      outs(%q, %s : memref<4096x8192xf8E4M3FN>, memref<4096x64xf32>)
      columnwise_outs(%qt, %st : memref<?xf8E4M3FN>, memref<?xf32>)
  return
}

func.func @mxfp4(%x: memref<4096x8192xbf16>, %o: memref<129xi32>,
    %q: memref<4096x4096xi8>, %s: memref<?x256xf8E8M0FNU>,
    %qt: memref<4096x4096xi8>, %st: memref<?xf8E8M0FNU>) {
  gq.grouped_block_quantize format(mxfp4)
      ins(%x : memref<4096x8192xbf16>) groups(%o : memref<129xi32>)
      outs(%q, %s : memref<4096x4096xi8>, memref<?x256xf8E8M0FNU>)
      columnwise_outs(%qt, %st : memref<4096x4096xi8>, memref<?xf8E8M0FNU>)
  return
}
