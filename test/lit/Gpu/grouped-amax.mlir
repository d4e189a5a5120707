// Two kernels: one clears what the other raises, by six CTAs a multiprocessor
// where columns are not measured.
//
// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-gpu,cse,canonicalize)' | FileCheck %s

// CHECK-DAG: llvm.func @gq_dev_clear_amax(
// CHECK-DAG: llvm.func @gq_dev_grouped_amax(
// CHECK-DAG: llvm.func @grouped_amax({{.*}}nvvm.minctasm = 4 : i32}
// CHECK-DAG: llvm.func @grouped_amax({{.*}}nvvm.minctasm = 6 : i32}

// CHECK-LABEL: func.func @rows_and_columns
func.func @rows_and_columns(%x: memref<?x64xbf16>, %o: memref<4xi32>, %r: memref<?xf32>,
    %c: memref<3x64xf32>) {
  // M of row_amax, K, G, CTAs.
  // CHECK: %[[CLEAR:.*]]:2 = call @gqPlanLaunch(%c7_i64, %[[M:[^,]*]], %c64_i64, %c3_i64, %c0_i64,
  // CHECK: gpu.launch_func {{.*}} @gq_kernels_0::@grouped_amax_clear blocks in (%[[CLEAR]]#0,
  // CHECK: %[[PLAN:.*]]:2 = call @gqPlanLaunch(%c8_i64, %[[M]], %c64_i64, %c3_i64, %c4_i64, %c0_i64,
  // CHECK: gpu.launch_func {{.*}} @gq_kernels_1::@grouped_amax blocks in (%[[PLAN]]#0,
  gq.grouped_amax ins(%x : memref<?x64xbf16>) groups(%o : memref<4xi32>)
      row_amax_out(%r : memref<?xf32>) column_amax_out(%c : memref<3x64xf32>)
  return
}

// CHECK-LABEL: func.func @groups_and_rows
func.func @groups_and_rows(%x: memref<?x64xbf16>, %o: memref<4xi32>, %a: memref<3xf32>,
    %r: memref<?xf32>) {
  // CHECK: call @gqPlanLaunch(%c8_i64, {{.*}}, %c64_i64, %c3_i64, %c6_i64,
  gq.grouped_amax ins(%x : memref<?x64xbf16>) groups(%o : memref<4xi32>)
      amax_out(%a : memref<3xf32>) row_amax_out(%r : memref<?xf32>)
  return
}

// CHECK-LABEL: func.func @f32
func.func @f32(%x: memref<?x64xf32>, %o: memref<4xi32>, %a: memref<3xf32>) {
  // CHECK: call @gqPlanLaunch(%c8_i64, {{.*}}, %c64_i64, %c3_i64, %c4_i64,
  gq.grouped_amax ins(%x : memref<?x64xf32>) groups(%o : memref<4xi32>)
      amax_out(%a : memref<3xf32>)
  return
}

// CHECK-LABEL: func.func @gathered
func.func @gathered(%x: memref<?x64xbf16>, %i: memref<?xi32>, %o: memref<4xi32>,
    %a: memref<3xf32>) {
  // CHECK: call @gqPlanLaunch(%c8_i64, {{.*}}, %c64_i64, %c3_i64, %c4_i64,
  gq.grouped_amax ins(%x : memref<?x64xbf16>) row_indices(%i : memref<?xi32>)
      groups(%o : memref<4xi32>) amax_out(%a : memref<3xf32>)
  return
}

// CHECK-LABEL: func.func @produced
func.func @produced(%x: memref<?x64xbf16>, %o: memref<4xi32>, %a: memref<3xf32>) {
  // CHECK: call @gqPlanLaunch(%c8_i64, {{.*}}, %c64_i64, %c3_i64, %c4_i64,
  gq.grouped_amax ins(%x : memref<?x64xbf16>) maps [affine_map<(m, k) -> (m, k)>]
      groups(%o : memref<4xi32>) amax_out(%a : memref<3xf32>) producer {
    ^bb0(%e: bf16):
      %d = arith.addf %e, %e : bf16
      gq.yield %d : bf16
    }
  return
}

// CHECK-LABEL: func.func @ragged
func.func @ragged(%x: memref<?xbf16>, %o: memref<4xi32>, %m: memref<3xi32>, %k: memref<3xi32>,
    %a: memref<3xf32>) {
  // CHECK: call @gqPlanLaunch(%c8_i64, {{.*}}, %c1_i64, %c3_i64, %c6_i64,
  gq.grouped_amax ins(%x : memref<?xbf16>) groups(%o : memref<4xi32>)
      shapes(%m, %k : memref<3xi32>, memref<3xi32>) amax_out(%a : memref<3xf32>)
  return
}

// Three where columns of f32 are transformed.
// CHECK-LABEL: func.func @transformed
func.func @transformed(%x: memref<?x64xf32>, %y: memref<?x64xbf16>, %o: memref<4xi32>,
    %a: memref<3xf32>, %b: memref<3xf32>) {
  // CHECK: call @gqPlanLaunch(%c8_i64, {{.*}}, %c64_i64, %c3_i64, %c3_i64,
  gq.grouped_amax columnwise<transform = hadamard16> ins(%x : memref<?x64xf32>)
      groups(%o : memref<4xi32>) columnwise_amax_out(%a : memref<3xf32>)
  // CHECK: call @gqPlanLaunch(%c8_i64, {{.*}}, %c64_i64, %c3_i64, %c4_i64,
  gq.grouped_amax columnwise<transform = hadamard16> ins(%y : memref<?x64xbf16>)
      groups(%o : memref<4xi32>) columnwise_amax_out(%b : memref<3xf32>)
  return
}
