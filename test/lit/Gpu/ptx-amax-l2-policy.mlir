// Of a matrix that L2 cannot hold, sm_90 gives up first what amaxes were measured
// of; if the extent is dynamic, the kernel chooses. Other kernels and chips load as
// ever.
//
// RUN: gq-opt %s --split-input-file --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' | FileCheck %s
// RUN: gq-opt %s --split-input-file --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_100a format=isa})' | FileCheck %s --check-prefix=OTHERS

// OTHERS-NOT: createpolicy
// OTHERS-NOT: cache_hint
// OTHERS: ld.global.nc.v4.b32

// CHECK-LABEL: grouped_amax(
// CHECK-NOT: evict_normal
// CHECK: createpolicy.fractional.L2::evict_first.b64
// CHECK-NOT: evict_normal
// CHECK-NOT: ld.global.nc.v
// CHECK: ld.global.nc.L2::cache_hint.v4.b32
// CHECK-NOT: ld.global.nc.v
func.func @large(%x: memref<4096x8192xbf16>, %o: memref<9xi32>, %a: memref<8xf32>) {
  gq.grouped_amax ins(%x : memref<4096x8192xbf16>) groups(%o : memref<9xi32>)
      amax_out(%a : memref<8xf32>)
  return
}

// -----

// CHECK-LABEL: grouped_amax(
// CHECK-NOT: evict_first
// CHECK: createpolicy.fractional.L2::evict_normal.b64
// CHECK-NOT: evict_first
// CHECK: ld.global.nc.L2::cache_hint.v4.b32
func.func @small(%x: memref<2048x8192xbf16>, %o: memref<9xi32>, %a: memref<8xf32>) {
  gq.grouped_amax ins(%x : memref<2048x8192xbf16>) groups(%o : memref<9xi32>)
      amax_out(%a : memref<8xf32>)
  return
}

// -----

// CHECK-LABEL: grouped_amax(
// CHECK: createpolicy.fractional.L2::evict_first.b64
// CHECK-NOT: ld.global.nc.v
// CHECK: ld.global.nc.L2::cache_hint.v2.b32
// CHECK-NOT: ld.global.nc.v
func.func @transformed(%x: memref<4096x8192xbf16>, %o: memref<9xi32>, %a: memref<8xf32>) {
  gq.grouped_amax columnwise<transform = hadamard16> ins(%x : memref<4096x8192xbf16>)
      groups(%o : memref<9xi32>) columnwise_amax_out(%a : memref<8xf32>)
  return
}

// -----

// Rows may be read several times.
// CHECK-LABEL: grouped_amax(
// CHECK-NOT: evict_first
// CHECK: createpolicy.fractional.L2::evict_normal.b64
// CHECK-NOT: evict_first
func.func @gathered(%x: memref<4096x8192xbf16>, %i: memref<4096xi32>, %o: memref<9xi32>,
    %a: memref<8xf32>) {
  gq.grouped_amax ins(%x : memref<4096x8192xbf16>) row_indices(%i : memref<4096xi32>)
      groups(%o : memref<9xi32>) amax_out(%a : memref<8xf32>)
  return
}

// -----

// CHECK-LABEL: grouped_amax(
// CHECK-DAG: createpolicy.fractional.L2::evict_first.b64
// CHECK-DAG: createpolicy.fractional.L2::evict_normal.b64
// CHECK: ld.global.nc.L2::cache_hint.v4.b32
func.func @dynamic(%x: memref<?x8192xbf16>, %o: memref<9xi32>, %a: memref<8xf32>) {
  gq.grouped_amax ins(%x : memref<?x8192xbf16>) groups(%o : memref<9xi32>)
      amax_out(%a : memref<8xf32>)
  return
}

// -----

// CHECK-LABEL: grouped_block_quantize
// CHECK-NOT: createpolicy
// CHECK-NOT: cache_hint
func.func @quantize(%x: memref<4096x8192xbf16>, %o: memref<9xi32>, %so: memref<8xi32>,
    %q: memref<4096x4096xi8>, %s: memref<5120x512xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<4096x8192xbf16>)
      groups(%o, %so : memref<9xi32>, memref<8xi32>)
      outs(%q, %s : memref<4096x4096xi8>, memref<5120x512xf8E4M3FN>)
  return
}
