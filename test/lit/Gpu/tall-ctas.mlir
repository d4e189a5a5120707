// Both directions by tall lanes, whose columns are transformed and rounded
// stochastically, or have outer scales of their own, have a part of their own
// (2048; 512 says that small groups have another kernel) and four CTAs on a
// multiprocessor; others in both directions have three, and two of f32; columns
// alone have four. The kernel of small groups has three for both directions, and
// four for columns alone that are transformed, unless they have outer scales of
// their own.
//
// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-gpu,canonicalize)' | FileCheck %s

// The last kernel's module is the first, and of an op that of small groups.
// CHECK: gpu.module @gq_kernels_{{.*}}
// CHECK: nvvm.minctasm = 3
// CHECK: nvvm.minctasm = 4
// CHECK: nvvm.minctasm = 3
// CHECK: nvvm.minctasm = 4
// CHECK: nvvm.minctasm = 4
// CHECK: nvvm.minctasm = 4
// CHECK: nvvm.minctasm = 3
// CHECK: nvvm.minctasm = 4
// CHECK: nvvm.minctasm = 2
// CHECK: nvvm.minctasm = 3
// CHECK: nvvm.minctasm = 3
// CHECK: nvvm.minctasm = 3
// CHECK: nvvm.minctasm = 3
// CHECK: nvvm.minctasm = 4
// CHECK: nvvm.minctasm = 4
// CHECK-NOT: nvvm.minctasm

// CHECK-LABEL: func.func @gradient(
// CHECK: call @gqPlanLaunch(%c1_i64, {{.*}}, %c2179_i64,
func.func @gradient(%x: memref<?x128xbf16>, %o: memref<4xi32>, %a: memref<3xf32>,
    %r: memref<2xi64>, %i: memref<?xi32>, %q: memref<?x64xi8>, %s: memref<?x8xf8E4M3FN>,
    %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4) recipe(te)
      rowwise<rounding = stochastic> columnwise<rounding = stochastic, transform = hadamard16>
      ins(%x : memref<?x128xbf16>)
      groups(%o : memref<4xi32>) outer_amax(%a : memref<3xf32>) rng_state(%r : memref<2xi64>)
      outs(%q, %s : memref<?x64xi8>, memref<?x8xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  return
}

// CHECK-LABEL: func.func @gradient_f16(
// CHECK: call @gqPlanLaunch(%c1_i64, {{.*}}, %c2179_i64,
func.func @gradient_f16(%x: memref<?x128xf16>, %o: memref<4xi32>, %a: memref<3xf32>,
    %r: memref<2xi64>, %i: memref<?xi32>, %q: memref<?x64xi8>, %s: memref<?x8xf8E4M3FN>,
    %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4) recipe(te)
      columnwise<rounding = stochastic, transform = hadamard16>
      ins(%x : memref<?x128xf16>)
      groups(%o : memref<4xi32>) outer_amax(%a : memref<3xf32>) rng_state(%r : memref<2xi64>)
      outs(%q, %s : memref<?x64xi8>, memref<?x8xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  return
}

// CHECK-LABEL: func.func @hadamard(
// CHECK: call @gqPlanLaunch(%c1_i64, {{.*}}, %c131_i64,
func.func @hadamard(%x: memref<?x128xbf16>, %o: memref<4xi32>, %a: memref<3xf32>,
    %r: memref<2xi64>, %i: memref<?xi32>, %q: memref<?x64xi8>, %s: memref<?x8xf8E4M3FN>,
    %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4) recipe(te)
      columnwise<transform = hadamard16>
      ins(%x : memref<?x128xbf16>)
      groups(%o : memref<4xi32>) outer_amax(%a : memref<3xf32>)
      outs(%q, %s : memref<?x64xi8>, memref<?x8xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  return
}

// CHECK-LABEL: func.func @stochastic(
// CHECK: call @gqPlanLaunch(%c1_i64, {{.*}}, %c131_i64,
func.func @stochastic(%x: memref<?x128xbf16>, %o: memref<4xi32>, %a: memref<3xf32>,
    %r: memref<2xi64>, %i: memref<?xi32>, %q: memref<?x64xi8>, %s: memref<?x8xf8E4M3FN>,
    %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4) recipe(te)
      columnwise<rounding = stochastic>
      ins(%x : memref<?x128xbf16>)
      groups(%o : memref<4xi32>) outer_amax(%a : memref<3xf32>) rng_state(%r : memref<2xi64>)
      outs(%q, %s : memref<?x64xi8>, memref<?x8xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  return
}

// CHECK-LABEL: func.func @gathered(
// CHECK: call @gqPlanLaunch(%c1_i64, {{.*}}, %c131_i64,
func.func @gathered(%x: memref<?x128xbf16>, %o: memref<4xi32>, %a: memref<3xf32>,
    %r: memref<2xi64>, %i: memref<?xi32>, %q: memref<?x64xi8>, %s: memref<?x8xf8E4M3FN>,
    %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4) recipe(te)
      rowwise<rounding = stochastic> columnwise<rounding = stochastic, transform = hadamard16>
      ins(%x : memref<?x128xbf16>) row_indices(%i : memref<?xi32>)
      groups(%o : memref<4xi32>) outer_amax(%a : memref<3xf32>) rng_state(%r : memref<2xi64>)
      outs(%q, %s : memref<?x64xi8>, memref<?x8xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  return
}

// What a producer makes has 4096, and no 2048.
// CHECK-LABEL: func.func @produced(
// CHECK: call @gqPlanLaunch(%c1_i64, {{.*}}, %c4227_i64,
func.func @produced(%x: memref<?x128xbf16>, %o: memref<4xi32>, %a: memref<3xf32>,
    %r: memref<2xi64>, %i: memref<?xi32>, %q: memref<?x64xi8>, %s: memref<?x8xf8E4M3FN>,
    %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4) recipe(te)
      rowwise<rounding = stochastic> columnwise<rounding = stochastic, transform = hadamard16>
      ins(%x : memref<?x128xbf16>) maps [affine_map<(m, k) -> (m, k)>]
      groups(%o : memref<4xi32>) outer_amax(%a : memref<3xf32>) rng_state(%r : memref<2xi64>)
      outs(%q, %s : memref<?x64xi8>, memref<?x8xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>) producer {
  ^bb0(%e: bf16):
    %n = arith.negf %e : bf16
    gq.yield %n : bf16
  }
  return
}

// CHECK-LABEL: func.func @gradient_f32(
// CHECK: call @gqPlanLaunch(%c1_i64, {{.*}}, %c131_i64,
func.func @gradient_f32(%x: memref<?x128xf32>, %o: memref<4xi32>, %a: memref<3xf32>,
    %r: memref<2xi64>, %i: memref<?xi32>, %q: memref<?x64xi8>, %s: memref<?x8xf8E4M3FN>,
    %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4) recipe(te)
      rowwise<rounding = stochastic> columnwise<rounding = stochastic, transform = hadamard16>
      ins(%x : memref<?x128xf32>)
      groups(%o : memref<4xi32>) outer_amax(%a : memref<3xf32>) rng_state(%r : memref<2xi64>)
      outs(%q, %s : memref<?x64xi8>, memref<?x8xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  return
}

// CHECK-LABEL: func.func @tokens(
// CHECK: call @gqPlanLaunch(%c1_i64, {{.*}}, %c2691_i64,
// CHECK: call @gqPlanLaunch(%c16_i64, {{.*}}, %c2179_i64,
func.func @tokens(%x: memref<?x128xbf16>, %o: memref<?xi32>, %a: memref<?xf32>,
    %b: memref<?x128xf32>, %q: memref<?x64xi8>, %s: memref<?x8xf8E4M3FN>,
    %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4) recipe(te)
      rowwise<outer = row> columnwise<outer = column>
      ins(%x : memref<?x128xbf16>)
      groups(%o : memref<?xi32>) outer_amax(%a : memref<?xf32>)
      columnwise_outer_amax(%b : memref<?x128xf32>)
      outs(%q, %s : memref<?x64xi8>, memref<?x8xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  return
}

// CHECK-LABEL: func.func @columns(
// CHECK: call @gqPlanLaunch(%c1_i64, {{.*}}, %c2690_i64,
// CHECK: call @gqPlanLaunch(%c16_i64, {{.*}}, %c2178_i64,
func.func @columns(%x: memref<?x128xbf16>, %o: memref<?xi32>, %b: memref<?xf32>,
    %r: memref<2xi64>, %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4) recipe(te)
      columnwise<rounding = stochastic, transform = hadamard16>
      ins(%x : memref<?x128xbf16>)
      groups(%o : memref<?xi32>) columnwise_outer_amax(%b : memref<?xf32>)
      rng_state(%r : memref<2xi64>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  return
}

// CHECK-LABEL: func.func @stochastic_columns(
// CHECK: call @gqPlanLaunch(%c1_i64, {{.*}}, %c642_i64,
// CHECK: call @gqPlanLaunch(%c16_i64, {{.*}}, %c130_i64,
func.func @stochastic_columns(%x: memref<?x128xbf16>, %o: memref<?xi32>,
    %b: memref<?xf32>, %r: memref<2xi64>, %qt: memref<?xi8>,
    %st: memref<?xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4) recipe(te)
      columnwise<rounding = stochastic>
      ins(%x : memref<?x128xbf16>)
      groups(%o : memref<?xi32>) columnwise_outer_amax(%b : memref<?xf32>)
      rng_state(%r : memref<2xi64>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  return
}

// CHECK-LABEL: func.func @outers(
// CHECK: call @gqPlanLaunch(%c1_i64, {{.*}}, %c642_i64,
// CHECK: call @gqPlanLaunch(%c16_i64, {{.*}}, %c130_i64,
func.func @outers(%x: memref<?x128xbf16>, %o: memref<?xi32>,
    %b: memref<?x128xf32>, %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4) recipe(te)
      columnwise<transform = hadamard16, outer = column>
      ins(%x : memref<?x128xbf16>)
      groups(%o : memref<?xi32>) columnwise_outer_amax(%b : memref<?x128xf32>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  return
}
