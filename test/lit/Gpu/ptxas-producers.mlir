// A producer whose hook loads ahead: exact silu times up in both directions, where
// ptxas spills at most some 200 bytes, all outside of the loops of the elements.
//
// REQUIRES: ptxas
// MODES: gq-opt
// RUN: for chip in %chips; do gq-opt %s --pass-pipeline="builtin.module(gq-to-nvvm{chip=$chip format=isa})" > %t.$chip; for kernel in 0 1; do %python %S/Inputs/ptx.py $kernel < %t.$chip > %t.ptx; %ptxas -v -arch=$chip %t.ptx -o %t.cubin 2>&1; done | FileCheck %s || exit 1; done

// CHECK-COUNT-2: {{[0-9]?[0-9]}} bytes stack frame, {{[12]?[0-9]?[0-9]}} bytes spill stores, {{[12]?[0-9]?[0-9]}} bytes spill loads
#id = affine_map<(m, k) -> (m, k)>
func.func @both(%x: memref<?x5120xbf16>, %y: memref<?x5120xbf16>, %o: memref<129xi32>, %a: memref<128xf32>,
    %q: memref<?x2560xi8>, %s: memref<?x320xf8E4M3FN>, %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4) recipe(te)
      ins(%x, %y : memref<?x5120xbf16>, memref<?x5120xbf16>) maps [#id, #id]
      groups(%o : memref<129xi32>) outer_amax(%a : memref<128xf32>)
      outs(%q, %s : memref<?x2560xi8>, memref<?x320xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>) producer {
  ^bb0(%g: bf16, %u: bf16):
    %one = arith.constant 1.0 : f32
    %gate = arith.extf %g : bf16 to f32
    %up = arith.extf %u : bf16 to f32
    %n = arith.negf %gate : f32
    %e = math.exp %n : f32
    %sum = arith.addf %e, %one : f32
    %silu = arith.divf %gate, %sum : f32
    %t = arith.mulf %silu, %up : f32
    %r = arith.truncf %t : f32 to bf16
    gq.yield %r : bf16
  }
  return
}
