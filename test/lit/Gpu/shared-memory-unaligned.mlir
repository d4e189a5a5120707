// Lanes that copy nothing ahead have no array for it, not even for unaligned
// inputs, whose rows they exchange where rows are collected: shared memory is
// taken from L1.
//
// MODES: gq-opt
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' | %python %S/Inputs/ptx.py | FileCheck %s --implicit-check-not=ownStaged

// The kernels of the last op are the first ones.
// CHECK: .entry grouped_amax(
// CHECK: tallRows
// CHECK: .minnctapersm 4
// CHECK-DAG: .shared .align 16 .b8 drawnRows{{[0-9]*}}[8192]
// CHECK-DAG: .shared .align 16 .b8 columnCodes
func.func @gradient(%x: memref<?x8192xbf16>, %o: memref<9xi32>, %a: memref<8xf32>,
    %r: memref<2xi64>, %q: memref<?x4096xi8>, %s: memref<?x512xf8E4M3FN>,
    %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4) recipe(te)
      rowwise<rounding = stochastic> columnwise<rounding = stochastic, transform = hadamard16>
      ins(%x : memref<?x8192xbf16>)
      groups(%o : memref<9xi32>) outer_amax(%a : memref<8xf32>) rng_state(%r : memref<2xi64>)
      outs(%q, %s : memref<?x4096xi8>, memref<?x512xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  return
}

func.func @amaxes(%x: memref<?x8192xbf16>, %o: memref<9xi32>, %a: memref<8xf32>, %b: memref<8xf32>) {
  gq.grouped_amax columnwise<transform = hadamard16> ins(%x : memref<?x8192xbf16>)
      groups(%o : memref<9xi32>) amax_out(%a : memref<8xf32>)
      columnwise_amax_out(%b : memref<8xf32>)
  return
}
