// The CTAs for which a kernel has registers have shared memory, too. A kernel has
// a way for aligned inputs and one for others: both have the same arrays.
//
// MODES: gq-opt
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' | %python %S/Inputs/ptx.py | %python %S/Inputs/shared.py | grep small_groups | tac | FileCheck %s --implicit-check-not='not fit'

// Groups are small, 32 rows on average. The kernels of the last op are the first
// ones, hence tac.

// CHECK: 5 CTAs of {{[0-9]+}} bytes fit
func.func @rows_and_sums(%x: memref<4096x5120xbf16>, %o: memref<129xi32>,
    %q: memref<4096x2560xi8>, %s: memref<?x320xf8E4M3FN>, %d: memref<128x5120xf32>) {
  gq.grouped_block_quantize format(nvfp4)
      ins(%x : memref<4096x5120xbf16>) groups(%o : memref<129xi32>)
      outs(%q, %s : memref<4096x2560xi8>, memref<?x320xf8E4M3FN>)
      dbias_out(%d : memref<128x5120xf32>)
  return
}

// CHECK: 4 CTAs of {{[0-9]+}} bytes fit
func.func @columns(%x: memref<4096x5120xbf16>, %o: memref<129xi32>, %a: memref<128xf32>,
    %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4) recipe(te)
      ins(%x : memref<4096x5120xbf16>) groups(%o : memref<129xi32>)
      columnwise_outer_amax(%a : memref<128xf32>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  return
}

// CHECK: 4 CTAs of {{[0-9]+}} bytes fit
func.func @hadamard(%x: memref<4096x5120xbf16>, %o: memref<129xi32>, %a: memref<128xf32>,
    %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4) recipe(te)
      columnwise<transform = hadamard16, signs = 0xD7E8>
      ins(%x : memref<4096x5120xbf16>) groups(%o : memref<129xi32>)
      columnwise_outer_amax(%a : memref<128xf32>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  return
}

// Plain, of float32, in square blocks, with sums.
// CHECK: 4 CTAs of {{[0-9]+}} bytes fit
// CHECK: 3 CTAs of {{[0-9]+}} bytes fit
// CHECK: 4 CTAs of {{[0-9]+}} bytes fit
// CHECK: 3 CTAs of {{[0-9]+}} bytes fit
func.func @both(%x: memref<4096x5120xbf16>, %y: memref<4096x5120xf32>, %o: memref<129xi32>,
    %a: memref<128xf32>, %q: memref<4096x2560xi8>, %s: memref<?x320xf8E4M3FN>,
    %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>, %d: memref<128x5120xf32>) {
  gq.grouped_block_quantize format(nvfp4)
      ins(%x : memref<4096x5120xbf16>) groups(%o : memref<129xi32>)
      outs(%q, %s : memref<4096x2560xi8>, memref<?x320xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  gq.grouped_block_quantize format(nvfp4)
      ins(%y : memref<4096x5120xf32>) groups(%o : memref<129xi32>)
      outs(%q, %s : memref<4096x2560xi8>, memref<?x320xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  gq.grouped_block_quantize format(nvfp4) recipe(te)
      rowwise<block = 16x16> columnwise<block = 16x16>
      ins(%x : memref<4096x5120xbf16>) groups(%o : memref<129xi32>)
      outer_amax(%a : memref<128xf32>)
      outs(%q, %s : memref<4096x2560xi8>, memref<?x320xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  gq.grouped_block_quantize format(nvfp4)
      ins(%x : memref<4096x5120xbf16>) groups(%o : memref<129xi32>)
      outs(%q, %s : memref<4096x2560xi8>, memref<?x320xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
      dbias_out(%d : memref<128x5120xf32>)
  return
}

// CHECK: 3 CTAs of {{[0-9]+}} bytes fit
func.func @fp8(%x: memref<4096x5120xbf16>, %o: memref<129xi32>, %scale: memref<128xf32>,
    %q: memref<4096x5120xf8E4M3FN>, %qt: memref<?xf8E4M3FN>, %a: memref<128xf32>) {
  gq.grouped_quantize format(fp8_e4m3) rows(grouped)
      ins(%x : memref<4096x5120xbf16>) groups(%o : memref<129xi32>)
      scale(%scale : memref<128xf32>)
      outs(%q : memref<4096x5120xf8E4M3FN>)
      columnwise_outs(%qt : memref<?xf8E4M3FN>) amax_out(%a : memref<128xf32>)
  return
}

// CHECK: 3 CTAs of {{[0-9]+}} bytes fit
func.func @gradients(%x: memref<4096x5120xbf16>, %o: memref<129xi32>, %a: memref<128xf32>,
    %r: memref<2xi64>, %q: memref<4096x2560xi8>, %s: memref<?x320xf8E4M3FN>,
    %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<rounding = stochastic>
      columnwise<rounding = stochastic, transform = hadamard16>
      ins(%x : memref<4096x5120xbf16>) groups(%o : memref<129xi32>)
      outer_amax(%a : memref<128xf32>) rng_state(%r : memref<2xi64>)
      outs(%q, %s : memref<4096x2560xi8>, memref<?x320xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  return
}
