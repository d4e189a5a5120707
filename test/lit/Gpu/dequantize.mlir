// CTAs that a multiprocessor should hold, by the chip.
//
// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-gpu)' | FileCheck %s --check-prefixes=CHECK,SIX
// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-gpu{chip=sm_120a})' | FileCheck %s --check-prefixes=CHECK,FIVE
// RUN: for chip in sm_90a sm_100a; do gq-opt %s --pass-pipeline="builtin.module(gq-to-nvvm{chip=$chip format=isa})" | %python %S/Inputs/ptx.py 1; done | FileCheck %s --check-prefix=PTX6
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_120a format=isa})' | %python %S/Inputs/ptx.py 1 | FileCheck %s --check-prefix=PTX5

// PTX6-COUNT-2: .minnctapersm 6
// PTX5: .minnctapersm 5

// The second op, whose module is first, divides, which takes more registers.
// CHECK: llvm.func @grouped_dequantize({{.*}}nvvm.minctasm = 4 : i32}
// SIX: llvm.func @grouped_dequantize({{.*}}nvvm.minctasm = 6 : i32}
// FIVE: llvm.func @grouped_dequantize({{.*}}nvvm.minctasm = 5 : i32}

func.func @columns(%q: memref<?x64xi8>, %s: memref<?xf8E8M0FNU>, %o: memref<5xi32>,
    %t: memref<?xi8>, %r: memref<?xf8E4M3FN>, %g: memref<4xf32>,
    %x: memref<?x128xbf16>, %y: memref<?x128xbf16>) {
  gq.grouped_dequantize format(mxfp4) axis(columnwise) ins(%q : memref<?x64xi8>)
      scales(%s : memref<?xf8E8M0FNU>) groups(%o : memref<5xi32>)
      outs(%x : memref<?x128xbf16>)
  gq.grouped_dequantize format(nvfp4) axis(columnwise) ins(%t : memref<?xi8>)
      scales(%r : memref<?xf8E4M3FN>) groups(%o : memref<5xi32>)
      global_scale(%g : memref<4xf32>) outs(%y : memref<?x128xbf16>)
  return
}
