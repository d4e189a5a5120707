// What a producer makes is in shared memory beside sums and transposed codes: three
// CTAs of tiles and of small groups.
//
// MODES: gq-opt
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' | %python %S/Inputs/ptx.py | %python %S/Inputs/shared.py | FileCheck %s --implicit-check-not='not fit'

// CHECK-DAG: grouped_block_quantize_small_groups: 3 CTAs of {{[0-9]+}} bytes fit
// CHECK-DAG: grouped_block_quantize: 3 CTAs of {{[0-9]+}} bytes fit
#id = affine_map<(m, k) -> (m, k)>
func.func @both(%x: memref<?x5120xbf16>, %y: memref<?x5120xbf16>, %o: memref<129xi32>,
    %q: memref<?x2560xi8>, %s: memref<?x320xf8E4M3FN>, %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>,
    %d: memref<128x5120xf32>) {
  gq.grouped_block_quantize format(nvfp4)
      ins(%x, %y : memref<?x5120xbf16>, memref<?x5120xbf16>) maps [#id, #id]
      groups(%o : memref<129xi32>) outs(%q, %s : memref<?x2560xi8>, memref<?x320xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
      dbias_out(%d : memref<128x5120xf32>) producer {
  ^bb0(%e: bf16, %f: bf16):
    %a = arith.extf %e : bf16 to f32
    %b = arith.extf %f : bf16 to f32
    %t = math.tanh %a : f32
    %c = arith.mulf %t, %b : f32
    %r = arith.truncf %c : f32 to bf16
    gq.yield %r : bf16
  }
  return
}
