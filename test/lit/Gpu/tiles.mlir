// What the kernel of rows cannot compute goes to the kernel of tiles.
//
// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-gpu,cse,canonicalize)' | FileCheck %s
// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-gpu)' | FileCheck %s --check-prefix=CTAS

// Both directions, largest magnitudes and column sums: what a second kernel
// reduces is in a workspace.
// CHECK-DAG: llvm.func @gq_dev_reduce_tiles(!llvm.ptr<1>, i64, i64, i64, !llvm.ptr<1>, !llvm.ptr<1>, !llvm.ptr<1>, i32, i32)
// CHECK-DAG: llvm.func @grouped_block_quantize_reduce({{.*}}nvvm.maxntid = array<i32: {{[0-9]+}}>}
// CHECK-DAG: llvm.func @gq_dev_quantize_tiles_NVFP4(!llvm.ptr, !llvm.ptr, i64, i64,
// CHECK-DAG: llvm.func @grouped_block_quantize({{.*}}nvvm.minctasm = {{[0-9]+}} : i32}

// CHECK-LABEL: func.func @everything
func.func @everything(%x: memref<?x64xf32>, %o: memref<4xi64>, %a: memref<f32>,
    %b: memref<3xf32>, %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>,
    %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>, %amax: memref<3xf32>,
    %dbias: memref<3x64xbf16>, %so: memref<3xi64>) {
  // CHECK: %[[STREAM:.*]] = call @gqGetStream()
  // Family 1, the parts, nvfp4 and f32.
  // CHECK: %[[PLAN:.*]]:2 = call @gqPlanLaunch(%c1_i64, %[[M:[^,]*]], %c64_i64, %c3_i64, %c31_i64, %c0_i64, %c7_i64, %c0_i64, %c0_i64)
  // CHECK: %[[SIZE:.*]] = arith.index_cast %[[PLAN]]#1 : i64 to index
  // CHECK: %[[WORKSPACE:.*]] = memref.alloc(%[[SIZE]]) : memref<?xi8>
  // CHECK: gpu.launch_func <%[[STREAM]] : !llvm.ptr> @gq_kernels_0::@grouped_block_quantize blocks in (%[[PLAN]]#0,
  // CHECK: %[[REDUCE:.*]]:2 = call @gqPlanLaunch(%c2_i64, %[[M]], %c64_i64, %c3_i64, %c31_i64, %c0_i64, %c0_i64, %c0_i64, %c0_i64)
  // CHECK: gpu.launch_func <%[[STREAM]] : !llvm.ptr> @gq_kernels_1::@grouped_block_quantize_reduce blocks in (%[[REDUCE]]#0,
  // CHECK: memref.dealloc %[[WORKSPACE]]
  gq.grouped_block_quantize format(nvfp4) recipe(te) ins(%x : memref<?x64xf32>)
      groups(%o : memref<4xi64>) outer_amax(%a : memref<f32>)
      columnwise_outer_amax(%b : memref<3xf32>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
      amax_out(%amax : memref<3xf32>) dbias_out(%dbias : memref<3x64xbf16>)
      scale_offsets_out(%so : memref<3xi64>)
  return
}

// One kernel where there is nothing to reduce; ragged groups are elements.
// CHECK-LABEL: func.func @ragged
func.func @ragged(%x: memref<?xbf16>, %o: memref<4xi32>, %m: memref<3xi32>,
    %q: memref<?xf8E4M3FN>, %s: memref<?xf8E8M0FNU>) {
  // CHECK: call @gqPlanLaunch(%c1_i64, %{{.*}}, %c1_i64, %c3_i64, %c65_i64,
  // CHECK: gpu.launch_func {{.*}} @gq_kernels_2::@grouped_block_quantize
  // CHECK-NOT: gpu.launch_func
  gq.grouped_block_quantize format(mxfp8_e4m3) ins(%x : memref<?xbf16>)
      groups(%o : memref<4xi32>) shapes(%m, %m : memref<3xi32>, memref<3xi32>)
      outs(%q, %s : memref<?xf8E4M3FN>, memref<?xf8E8M0FNU>)
  return
}

// The hook of a producer is the same as for a kernel of rows.
// CHECK-LABEL: func.func @producer
func.func @producer(%x: memref<?x64xbf16>, %b: memref<64xf32>, %i: memref<?xi32>,
    %o: memref<4xi32>, %q: memref<?x64xf8E5M2>, %s: memref<?xf8E8M0FNU>) {
  // CHECK: gpu.launch_func {{.*}} @gq_kernels_3::@grouped_block_quantize
  gq.grouped_block_quantize format(mxfp8_e5m2)
      ins(%x, %b : memref<?x64xbf16>, memref<64xf32>) row_indices(%i : memref<?xi32>)
      maps [affine_map<(m, k)[r] -> (r, k)>, affine_map<(m, k) -> (k)>]
      groups(%o : memref<4xi32>)
      columnwise_outs(%q, %s : memref<?x64xf8E5M2>, memref<?xf8E8M0FNU>) producer {
  ^bb0(%e: bf16, %c: f32):
    %f = arith.extf %e : bf16 to f32
    %r = arith.addf %f, %c : f32
    gq.yield %r : f32
  }
  return
}

// What the kernel of rows computes stays there.
// CHECK-LABEL: func.func @rows
func.func @rows(%x: memref<?x64xf16>, %o: memref<4xi32>, %so: memref<3xi32>,
    %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>) {
  // CHECK: call @gqPlanLaunch(%c0_i64
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<?x64xf16>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  return
}

// Blocks of 128 by 128 are for the kernel of tiles, without groups as one group
// of all rows; so are columns of any format.
// CHECK-LABEL: func.func @squares
func.func @squares(%x: memref<?x256xf32>, %q: memref<?x256xf8E4M3FN>, %s: memref<?x2xf32>) {
  // CHECK: call @gqPlanLaunch(%c1_i64, %{{.*}}, %c256_i64, %c1_i64,
  // CHECK: gpu.launch_func {{.*}} @gq_kernels_5::@grouped_block_quantize
  gq.block_quantize format(fp8_e4m3_128x128) ins(%x : memref<?x256xf32>)
      outs(%q, %s : memref<?x256xf8E4M3FN>, memref<?x2xf32>)
  return
}

// CHECK-LABEL: func.func @long_columns
func.func @long_columns(%x: memref<?x128xf32>, %o: memref<4xi32>, %q: memref<?xf8E5M2>, %s: memref<?xf32>) {
  // CHECK: call @gqPlanLaunch(%c1_i64,
  gq.grouped_block_quantize format(fp8_e5m2_1x128) scale_layout(linear)
      ins(%x : memref<?x128xf32>) groups(%o : memref<4xi32>)
      columnwise_outs(%q, %s : memref<?xf8E5M2>, memref<?xf32>)
  return
}

// CHECK-LABEL: func.func @long_rows
func.func @long_rows(%x: memref<?x128xf32>, %o: memref<4xi32>, %q: memref<?x128xf8E5M2>, %s: memref<?x1xf32>) {
  // CHECK: call @gqPlanLaunch(%c0_i64
  gq.grouped_block_quantize format(fp8_e5m2_1x128) scale_layout(linear)
      ins(%x : memref<?x128xf32>) groups(%o : memref<4xi32>)
      outs(%q, %s : memref<?x128xf8E5M2>, memref<?x1xf32>)
  return
}

// Rows alone are for the kernel of rows, which derives scale offsets as well.
// CHECK-LABEL: func.func @packed_rows
func.func @packed_rows(%x: memref<?x64xbf16>, %o: memref<4xi32>, %so: memref<3xi32>,
    %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>) {
  // CHECK: call @gqPlanLaunch(%c0_i64
  // CHECK-NOT: @gqPlanLaunch(%c1_i64,
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<?x64xbf16>)
      groups(%o : memref<4xi32>) outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
      scale_offsets_out(%so : memref<3xi32>)
  return
}

// A multiprocessor holds four CTAs of it, not three, if two lanes share rows.
// So it does if it computes rows of 4-bit codes only; three of 8-bit codes.
// The last kernel's module is the first.
// CTAS-LABEL: gpu.module @gq_kernels_12
// CTAS: nvvm.minctasm = 3
// CTAS-LABEL: gpu.module @gq_kernels_10
// CTAS: nvvm.minctasm = 4
// CTAS-LABEL: gpu.module @gq_kernels_9
// CTAS: nvvm.minctasm = 4
// CHECK-LABEL: func.func @shared_rows
func.func @shared_rows(%x: memref<?x64xbf16>, %o: memref<4xi32>, %q: memref<?xi8>, %s: memref<?xf8E4M3FN>) {
  // CHECK: call @gqPlanLaunch(%c1_i64, %{{.*}}, %c64_i64, %c3_i64,
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<?x64xbf16>)
      groups(%o : memref<4xi32>) columnwise_outs(%q, %s : memref<?xi8>, memref<?xf8E4M3FN>)
  return
}

// CHECK-LABEL: func.func @short_rows
func.func @short_rows(%x: memref<?x64xf32>, %o: memref<4xi32>, %q: memref<?x32xi8>,
    %s: memref<?x4xf8E4M3FN>, %r: memref<?x64xf8E4M3FN>, %t: memref<?x4xf8E8M0FNU>, %d: memref<3x64xf32>) {
  // CHECK: call @gqPlanLaunch(%c1_i64, %{{.*}}, %c64_i64, %c3_i64,
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<?x64xf32>)
      groups(%o : memref<4xi32>) outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
      dbias_out(%d : memref<3x64xf32>)
  // CHECK: call @gqPlanLaunch(%c1_i64, %{{.*}}, %c64_i64, %c3_i64,
  gq.grouped_block_quantize format(mxfp8_e4m3) ins(%x : memref<?x64xf32>)
      groups(%o : memref<4xi32>) outs(%r, %t : memref<?x64xf8E4M3FN>, memref<?x4xf8E8M0FNU>)
      dbias_out(%d : memref<3x64xf32>)
  return
}
