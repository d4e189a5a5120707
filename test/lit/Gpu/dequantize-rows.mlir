// Rows are dequantized by CTAs of four rows each, of which a multiprocessor
// holds eight, or six of 8-bit codes whose scales are in tiles.
//
// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-gpu)' | FileCheck %s --check-prefixes=CHECK,EIGHT
// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-gpu{chip=sm_120a})' | FileCheck %s --check-prefixes=CHECK,SIX
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{format=isa})' | %python %S/Inputs/ptx.py | FileCheck %s --check-prefix=PTX

// PTX: .minnctapersm 6
// PTX-COUNT-3: .minnctapersm 8

// The module of the last op is first.
// EIGHT: llvm.func @grouped_dequantize({{.*}}nvvm.minctasm = 6 : i32}
// EIGHT-COUNT-3: llvm.func @grouped_dequantize({{.*}}nvvm.minctasm = 8 : i32}
// SIX: llvm.func @grouped_dequantize({{.*}}nvvm.minctasm = 5 : i32}
// SIX-COUNT-3: llvm.func @grouped_dequantize({{.*}}nvvm.minctasm = 6 : i32}

// CHECK-LABEL: func.func @rows
func.func @rows(%q: memref<?x256xf8E4M3FN>, %s: memref<?x2xf32>, %o: memref<5xi32>,
    %p: memref<4xf32>, %x: memref<?x256xbf16>, %y: memref<?x256xbf16>,
    %r: memref<?x128xi8>, %t: memref<?x16xf8E4M3FN>, %u: memref<?x8xf8E8M0FNU>,
    %z: memref<?x256xbf16>, %w: memref<?x256xbf16>) {
  gq.grouped_dequantize format(fp8_e4m3_1x128) scale_layout(linear) ins(%q : memref<?x256xf8E4M3FN>)
      scales(%s : memref<?x2xf32>) groups(%o : memref<5xi32>)
      outs(%x : memref<?x256xbf16>)
  gq.grouped_dequantize format(fp8_e4m3_128x128) scale_layout(linear) ins(%q : memref<?x256xf8E4M3FN>)
      scales(%p : memref<4xf32>) groups(%o : memref<5xi32>)
      outs(%y : memref<?x256xbf16>)
  gq.grouped_dequantize format(nvfp4) ins(%r : memref<?x128xi8>)
      scales(%t : memref<?x16xf8E4M3FN>) groups(%o : memref<5xi32>)
      outs(%z : memref<?x256xbf16>)
  gq.grouped_dequantize format(mxfp8_e4m3) ins(%q : memref<?x256xf8E4M3FN>)
      scales(%u : memref<?x8xf8E8M0FNU>) groups(%o : memref<5xi32>)
      outs(%w : memref<?x256xbf16>)
  return
}
