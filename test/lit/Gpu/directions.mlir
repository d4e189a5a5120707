// Rows in square blocks or with a choice of scales are for the kernel of tiles
// (family 1), also alone: that of rows (family 0) knows other blocks of one row.
//
// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-gpu,cse,canonicalize)' | FileCheck %s

// CHECK-LABEL: func.func @squares
func.func @squares(%x: memref<?x64xbf16>, %o: memref<4xi32>, %a: memref<3xf32>,
    %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>) {
  // CHECK-NOT: @gqPlanLaunch(%c0_i64
  // CHECK: call @gqPlanLaunch(%c1_i64
  // CHECK: return
  gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<block = 16x16>
      ins(%x : memref<?x64xbf16>) groups(%o : memref<4xi32>)
      outer_amax(%a : memref<3xf32>) outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  return
}

// CHECK-LABEL: func.func @stochastic
func.func @stochastic(%x: memref<?x64xbf16>, %o: memref<4xi32>, %r: memref<2xi64>,
    %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>) {
  // CHECK-NOT: @gqPlanLaunch(%c1_i64
  // CHECK: call @gqPlanLaunch(%c0_i64
  // CHECK-NOT: @gqPlanLaunch
  // CHECK: return
  gq.grouped_block_quantize format(nvfp4) rowwise<rounding = stochastic>
      ins(%x : memref<?x64xbf16>) groups(%o : memref<4xi32>)
      rng_state(%r : memref<2xi64>) outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  return
}

// CHECK-LABEL: func.func @four_over_six
func.func @four_over_six(%x: memref<?x64xbf16>, %o: memref<4xi32>, %a: memref<3xf32>,
    %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>) {
  // CHECK-NOT: @gqPlanLaunch(%c0_i64
  // CHECK: call @gqPlanLaunch(%c1_i64
  // CHECK: return
  gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<four_over_six = mse>
      ins(%x : memref<?x64xbf16>) groups(%o : memref<4xi32>)
      outer_amax(%a : memref<3xf32>) outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  return
}

// CHECK-LABEL: func.func @of_rows
func.func @of_rows(%x: memref<?x64xbf16>, %o: memref<4xi32>, %a: memref<?xf32>,
    %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>) {
  // CHECK-NOT: @gqPlanLaunch(%c1_i64
  // CHECK: call @gqPlanLaunch(%c0_i64
  // CHECK-NOT: @gqPlanLaunch
  // CHECK: return
  gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<outer = row>
      ins(%x : memref<?x64xbf16>) groups(%o : memref<4xi32>)
      outer_amax(%a : memref<?xf32>) outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  return
}

// CHECK-LABEL: func.func @usual
func.func @usual(%x: memref<?x64xbf16>, %o: memref<4xi32>, %a: memref<3xf32>,
    %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>) {
  // CHECK: call @gqPlanLaunch(%c0_i64
  gq.grouped_block_quantize format(nvfp4) recipe(te)
      ins(%x : memref<?x64xbf16>) groups(%o : memref<4xi32>)
      outer_amax(%a : memref<3xf32>) outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  return
}

// Both directions are one launch, whatever is unusual about them, of the kernel
// of small groups (family 16) where these are.
// CHECK-LABEL: func.func @both
func.func @both(%x: memref<?x128xbf16>, %o: memref<4xi32>, %a: memref<3xf32>,
    %r: memref<2xi64>, %q: memref<?x64xi8>, %s: memref<?x8xf8E4M3FN>,
    %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>, %so: memref<3xi32>) {
  // CHECK-NOT: call @gqPlanLaunch(%c0_i64
  // CHECK: call @gqPlanLaunch(%c1_i64
  // CHECK-NOT: call @gqPlanLaunch
  // CHECK: return
  gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<rounding = stochastic>
      columnwise<rounding = stochastic, transform = hadamard16>
      ins(%x : memref<?x128xbf16>) groups(%o : memref<4xi32>)
      outer_amax(%a : memref<3xf32>) rng_state(%r : memref<2xi64>)
      outs(%q, %s : memref<?x64xi8>, memref<?x8xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
      scale_offsets_out(%so : memref<3xi32>)
  return
}

// CHECK-LABEL: func.func @both_of_small_groups
func.func @both_of_small_groups(%x: memref<4096x8192xbf16>, %o: memref<129xi32>, %so: memref<128xi32>,
    %a: memref<4096xf32>, %c: memref<128x8192xf32>, %q: memref<4096x4096xi8>,
    %s: memref<20480x512xf8E4M3FN>, %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>) {
  // CHECK-NOT: call @gqPlanLaunch(%c0_i64
  // CHECK-NOT: call @gqPlanLaunch(%c1_i64
  // CHECK: call @gqPlanLaunch(%c16_i64
  // CHECK: return
  gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<outer = row>
      columnwise<outer = column>
      ins(%x : memref<4096x8192xbf16>) groups(%o, %so : memref<129xi32>, memref<128xi32>)
      outer_amax(%a : memref<4096xf32>) columnwise_outer_amax(%c : memref<128x8192xf32>)
      outs(%q, %s : memref<4096x4096xi8>, memref<20480x512xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  return
}

// CHECK-LABEL: func.func @gathered_together
func.func @gathered_together(%x: memref<?x128xbf16>, %o: memref<4xi32>, %a: memref<3xf32>,
    %i: memref<?xi32>, %q: memref<?x64xi8>, %s: memref<?x8xf8E4M3FN>,
    %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>) {
  // CHECK-NOT: call @gqPlanLaunch(%c0_i64
  // CHECK: call @gqPlanLaunch(%c1_i64
  // CHECK-NOT: call @gqPlanLaunch
  // CHECK: return
  gq.grouped_block_quantize format(nvfp4) recipe(te)
      columnwise<transform = hadamard16>
      ins(%x : memref<?x128xbf16>) row_indices(%i : memref<?xi32>)
      groups(%o : memref<4xi32>) outer_amax(%a : memref<3xf32>)
      outs(%q, %s : memref<?x64xi8>, memref<?x8xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  return
}
