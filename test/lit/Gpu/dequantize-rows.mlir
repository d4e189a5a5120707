// Where scales are not in tiles, rows are dequantized by CTAs of four rows each,
// of which a multiprocessor holds eight.
//
// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-gpu)' | FileCheck %s --check-prefixes=CHECK,EIGHT
// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-gpu{chip=sm_120a})' | FileCheck %s --check-prefixes=CHECK,SIX
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{format=isa})' | %python %S/Inputs/ptx.py | FileCheck %s --check-prefix=PTX

// PTX-COUNT-2: .minnctapersm 8

// EIGHT-COUNT-2: llvm.func @grouped_dequantize({{.*}}nvvm.minctasm = 8 : i32}
// SIX-COUNT-2: llvm.func @grouped_dequantize({{.*}}nvvm.minctasm = 6 : i32}

// CHECK-LABEL: func.func @rows
func.func @rows(%q: memref<?x256xf8E4M3FN>, %s: memref<?x2xf32>, %o: memref<5xi32>,
    %p: memref<4xf32>, %x: memref<?x256xbf16>, %y: memref<?x256xbf16>) {
  gq.grouped_dequantize format(fp8_e4m3_1x128) scale_layout(linear) ins(%q : memref<?x256xf8E4M3FN>)
      scales(%s : memref<?x2xf32>) groups(%o : memref<5xi32>)
      outs(%x : memref<?x256xbf16>)
  gq.grouped_dequantize format(fp8_e4m3_128x128) scale_layout(linear) ins(%q : memref<?x256xf8E4M3FN>)
      scales(%p : memref<4xf32>) groups(%o : memref<5xi32>)
      outs(%y : memref<?x256xbf16>)
  return
}
