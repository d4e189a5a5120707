// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: gq-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(sharding-propagation,shard-partition))' | FileCheck %s

// Columns of blocks: codes and scales of each part, which the op after it gathers.

shard.grid @grid(shape = 4)

// CHECK-LABEL: func.func @columns(
// CHECK-SAME:  %{{.*}}: tensor<64x64xbf16>
// CHECK:       %[[Q:.*]]:2 = gq.block_quantize format(nvfp4) ins(%{{.*}} : tensor<64x64xbf16>)
// CHECK-SAME:    outs(%{{.*}} : tensor<64x64xf4E2M1FN>, tensor<64x4xf8E4M3FN>)
// CHECK-DAG:   shard.all_gather %[[Q]]#0 on @grid grid_axes = [0] gather_axis = 1 : tensor<64x64xf4E2M1FN> -> tensor<64x256xf4E2M1FN>
// CHECK-DAG:   shard.all_gather %[[Q]]#1 on @grid grid_axes = [0] gather_axis = 1 : tensor<64x4xf8E4M3FN> -> tensor<64x16xf8E4M3FN>
// CHECK:       gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%{{.*}} : tensor<64x16xf8E4M3FN>)
// CHECK:       gq.grouped_mm {{.*}} ins(%{{.*}} : tensor<64x256xf4E2M1FN>, tensor<2x32x256xf4E2M1FN>)
// CHECK-SAME:    -> tensor<64x32xbf16>
func.func @columns(%x: tensor<64x256xbf16>, %q0: tensor<64x256xf4E2M1FN>,
    %s0: tensor<64x16xf8E4M3FN>, %offsets: tensor<3xi32>, %starts: tensor<2xi32>,
    %t0: tensor<256x16xf8E4M3FN, #gq.tile128x4>, %w: tensor<2x32x256xf4E2M1FN>,
    %ws: tensor<2x128x16xf8E4M3FN, #gq.tile128x4>, %y0: tensor<64x32xbf16>)
    -> tensor<64x32xbf16> {
  %columns = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %part = shard.shard %x to %columns : tensor<64x256xbf16>
  %q, %s = gq.block_quantize format(nvfp4) ins(%part : tensor<64x256xbf16>)
      outs(%q0, %s0 : tensor<64x256xf4E2M1FN>, tensor<64x16xf8E4M3FN>)
      -> tensor<64x256xf4E2M1FN>, tensor<64x16xf8E4M3FN>
  %t = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%s : tensor<64x16xf8E4M3FN>)
      groups(%offsets, %starts : tensor<3xi32>, tensor<2xi32>)
      outs(%t0 : tensor<256x16xf8E4M3FN, #gq.tile128x4>)
      -> tensor<256x16xf8E4M3FN, #gq.tile128x4>
  %y = gq.grouped_mm format(nvfp4)
      ins(%q, %w : tensor<64x256xf4E2M1FN>, tensor<2x32x256xf4E2M1FN>)
      scales(%t, %ws : tensor<256x16xf8E4M3FN, #gq.tile128x4>, tensor<2x128x16xf8E4M3FN, #gq.tile128x4>)
      groups(%offsets, %starts : tensor<3xi32>, tensor<2xi32>)
      outs(%y0 : tensor<64x32xbf16>) -> tensor<64x32xbf16>
  return %y : tensor<64x32xbf16>
}

// -----

// Rows of blocks of one row, of any number.

shard.grid @grid(shape = 2)

// CHECK-LABEL: func.func @rows(
// CHECK-NOT:   all_gather
// CHECK:       gq.block_dequantize format(mxfp8_e4m3) ins({{.*}} : tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>)
// CHECK-SAME:    outs(%{{.*}} : tensor<?x64xbf16>)
// CHECK-NOT:   all_gather
// CHECK:       return
func.func @rows(%q: tensor<?x64xf8E4M3FN>, %s: tensor<?x2xf8E8M0FNU>,
                %x0: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %rows = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %part = shard.shard %q to %rows : tensor<?x64xf8E4M3FN>
  %x = gq.block_dequantize format(mxfp8_e4m3)
      ins(%part, %s : tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>) outs(%x0 : tensor<?x64xbf16>)
      -> tensor<?x64xbf16>
  return %x : tensor<?x64xbf16>
}

// -----

// A part of the rows may end within a block of 128.

shard.grid @grid(shape = 2)

// CHECK-LABEL: func.func @rows_of_squares(
// CHECK-SAME:  %[[X:.*]]: tensor<128x256xbf16>
// CHECK:       shard.all_gather %[[X]] on @grid grid_axes = [0] gather_axis = 0 : tensor<128x256xbf16> -> tensor<256x256xbf16>
// CHECK:       gq.block_quantize {{.*}} -> tensor<256x256xf8E4M3FN>, tensor<2x2xf32>
func.func @rows_of_squares(%x: tensor<256x256xbf16>, %q0: tensor<256x256xf8E4M3FN>,
    %s0: tensor<2x2xf32>) -> (tensor<256x256xf8E4M3FN>, tensor<2x2xf32>) {
  %rows = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %part = shard.shard %x to %rows : tensor<256x256xbf16>
  %q, %s = gq.block_quantize format(fp8_e4m3_128x128) ins(%part : tensor<256x256xbf16>)
      outs(%q0, %s0 : tensor<256x256xf8E4M3FN>, tensor<2x2xf32>)
      -> tensor<256x256xf8E4M3FN>, tensor<2x2xf32>
  return %q, %s : tensor<256x256xf8E4M3FN>, tensor<2x2xf32>
}

// -----

// Columns of a group, with linear scales. What is per row stays whole.

shard.grid @grid(shape = 2)

// CHECK-LABEL: func.func @groups(
// CHECK-NOT:   all_gather
// CHECK:       gq.grouped_block_quantize {{.*}} ins(%{{.*}} : tensor<?x128xf32>, tensor<?xf32>, tensor<128xf32>)
// CHECK-SAME:    -> tensor<?x128xf8E4M3FN>, tensor<?x1xf32>, tensor<2x128xf32>
// CHECK-NOT:   all_gather
// CHECK:       return
func.func @groups(%x: tensor<?x256xf32>, %w: tensor<?xf32>, %b: tensor<256xf32>,
    %offsets: tensor<3xi32>, %q0: tensor<?x256xf8E4M3FN>, %s0: tensor<?x2xf32>,
    %d0: tensor<2x256xf32>)
    -> (tensor<?x256xf8E4M3FN>, tensor<?x2xf32>, tensor<2x256xf32>) {
  %columns = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %part = shard.shard %x to %columns : tensor<?x256xf32>
  %q, %s, %d = gq.grouped_block_quantize format(fp8_e4m3_1x128) scale_layout(linear)
      ins(%part, %w, %b : tensor<?x256xf32>, tensor<?xf32>, tensor<256xf32>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>,
            affine_map<(m, k) -> (k)>]
      groups(%offsets : tensor<3xi32>)
      outs(%q0, %s0 : tensor<?x256xf8E4M3FN>, tensor<?x2xf32>)
      dbias_out(%d0 : tensor<2x256xf32>)
      -> tensor<?x256xf8E4M3FN>, tensor<?x2xf32>, tensor<2x256xf32>
      producer {
      ^bb0(%e: f32, %f: f32, %g: f32):
        %0 = arith.mulf %e, %f : f32
        %1 = arith.addf %0, %g : f32
        gq.yield %1 : f32
      }
  return %q, %s, %d : tensor<?x256xf8E4M3FN>, tensor<?x2xf32>, tensor<2x256xf32>
}

// -----

// Not where a whole row matters: its amax, that of a group, random bits, which are
// those of an element's number, and columnwise data, which is flat.

shard.grid @grid(shape = 2)
!q = tensor<?x256xf4E2M1FN>
!s = tensor<?x16xf8E4M3FN>

// CHECK-LABEL: func.func @amax(
// CHECK:       shard.all_gather
// CHECK:       gq.grouped_block_quantize {{.*}} ins(%{{.*}} : tensor<?x256xbf16>)
func.func @amax(%x: tensor<?x256xbf16>, %o: tensor<3xi32>, %q0: !q, %s0: !s,
    %a0: tensor<2xf32>) -> (!q, !s, tensor<2xf32>) {
  %columns = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %part = shard.shard %x to %columns : tensor<?x256xbf16>
  %q, %s, %a = gq.grouped_block_quantize format(nvfp4) scale_layout(linear)
      ins(%part : tensor<?x256xbf16>) groups(%o : tensor<3xi32>)
      outs(%q0, %s0 : !q, !s) amax_out(%a0 : tensor<2xf32>)
      -> !q, !s, tensor<2xf32>
  return %q, %s, %a : !q, !s, tensor<2xf32>
}

// CHECK-LABEL: func.func @row_amax(
// CHECK:       shard.all_gather
// CHECK:       gq.grouped_block_quantize {{.*}} ins(%{{.*}} : tensor<?x256xbf16>)
func.func @row_amax(%x: tensor<?x256xbf16>, %o: tensor<3xi32>, %q0: !q, %s0: !s,
    %a0: tensor<?xf32>) -> (!q, !s, tensor<?xf32>) {
  %columns = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %part = shard.shard %x to %columns : tensor<?x256xbf16>
  %q, %s, %a = gq.grouped_block_quantize format(nvfp4) recipe(te)
      scale_layout(linear) rowwise<outer = row>
      ins(%part : tensor<?x256xbf16>) groups(%o : tensor<3xi32>)
      outs(%q0, %s0 : !q, !s) row_amax_out(%a0 : tensor<?xf32>)
      -> !q, !s, tensor<?xf32>
  return %q, %s, %a : !q, !s, tensor<?xf32>
}

// CHECK-LABEL: func.func @random(
// CHECK:       shard.all_gather
// CHECK:       gq.grouped_block_quantize {{.*}} ins(%{{.*}} : tensor<?x256xbf16>)
func.func @random(%x: tensor<?x256xbf16>, %o: tensor<3xi32>, %r: tensor<2xi64>,
    %q0: !q, %s0: !s) -> (!q, !s) {
  %columns = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %part = shard.shard %x to %columns : tensor<?x256xbf16>
  %q, %s = gq.grouped_block_quantize format(nvfp4) scale_layout(linear)
      rowwise<rounding = stochastic>
      ins(%part : tensor<?x256xbf16>) groups(%o : tensor<3xi32>)
      rng_state(%r : tensor<2xi64>) outs(%q0, %s0 : !q, !s) -> !q, !s
  return %q, %s : !q, !s
}

// CHECK-LABEL: func.func @both_directions(
// CHECK:       shard.all_gather
// CHECK:       gq.grouped_block_quantize {{.*}} ins(%{{.*}} : tensor<?x256xbf16>)
func.func @both_directions(%x: tensor<?x256xbf16>, %o: tensor<3xi32>, %q0: !q,
    %s0: !s, %qc0: tensor<?xf4E2M1FN>, %sc0: tensor<?xf8E4M3FN>) -> (!q, !s) {
  %columns = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %part = shard.shard %x to %columns : tensor<?x256xbf16>
  %r:4 = gq.grouped_block_quantize format(nvfp4) scale_layout(linear)
      ins(%part : tensor<?x256xbf16>) groups(%o : tensor<3xi32>)
      outs(%q0, %s0 : !q, !s)
      columnwise_outs(%qc0, %sc0 : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>)
      -> !q, !s, tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>
  return %r#0, %r#1 : !q, !s
}

// -----

// Columns of tiles are not columns in memory.

shard.grid @grid(shape = 2)

// CHECK-LABEL: func.func @tiles(
// CHECK-SAME:  %[[X:.*]]: tensor<?x64xbf16>
// CHECK:       shard.all_gather %[[X]] on @grid grid_axes = [0] gather_axis = 1 : tensor<?x64xbf16> -> tensor<?x128xbf16>
// CHECK:       gq.grouped_block_quantize {{.*}} -> tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>
func.func @tiles(%x: tensor<?x128xbf16>, %offsets: tensor<3xi32>,
    %q0: tensor<?x128xf4E2M1FN>, %s0: tensor<?x8xf8E4M3FN, #gq.tile128x4>)
    -> (tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>) {
  %columns = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %part = shard.shard %x to %columns : tensor<?x128xbf16>
  %q, %s = gq.grouped_block_quantize format(nvfp4) ins(%part : tensor<?x128xbf16>)
      groups(%offsets : tensor<3xi32>)
      outs(%q0, %s0 : tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>
  return %q, %s : tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>
}

// -----

// Weights, their scales, the bias and the result of a matmul have N in common.

shard.grid @grid(shape = 4)

// CHECK-LABEL: func.func @matmul(
// CHECK-NOT:   all_gather
// CHECK:       gq.grouped_mm {{.*}} ins(%{{.*}} : tensor<?x128xf4E2M1FN>, tensor<2x256x128xf4E2M1FN>)
// CHECK-SAME:    scales(%{{.*}} : tensor<?x8xf8E4M3FN, #gq.tile128x4>, tensor<2x256x8xf8E4M3FN, #gq.tile128x4>)
// CHECK-SAME:    row_scales(%{{.*}} : tensor<?xf32>)
// CHECK-SAME:    column_scales(%{{.*}} : tensor<2x256xf32>)
// CHECK-SAME:    bias(%{{.*}} : tensor<2x256xbf16>)
// CHECK-SAME:    outs(%{{.*}} : tensor<?x256xbf16>)
// CHECK-NOT:   all_gather
// CHECK:       return
func.func @matmul(%q: tensor<?x128xf4E2M1FN>, %s: tensor<?x8xf8E4M3FN, #gq.tile128x4>,
    %w: tensor<2x1024x128xf4E2M1FN>, %ws: tensor<2x1024x8xf8E4M3FN, #gq.tile128x4>,
    %offsets: tensor<3xi32>, %starts: tensor<2xi32>, %rs: tensor<?xf32>,
    %cs: tensor<2x1024xf32>, %b: tensor<2x1024xbf16>, %y0: tensor<?x1024xbf16>)
    -> tensor<?x1024xbf16> {
  %y = gq.grouped_mm format(nvfp4)
      ins(%q, %w : tensor<?x128xf4E2M1FN>, tensor<2x1024x128xf4E2M1FN>)
      scales(%s, %ws : tensor<?x8xf8E4M3FN, #gq.tile128x4>, tensor<2x1024x8xf8E4M3FN, #gq.tile128x4>)
      groups(%offsets, %starts : tensor<3xi32>, tensor<2xi32>)
      row_scales(%rs : tensor<?xf32>) column_scales(%cs : tensor<2x1024xf32>)
      bias(%b : tensor<2x1024xbf16>)
      outs(%y0 : tensor<?x1024xbf16>) -> tensor<?x1024xbf16>
  %columns = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %part = shard.shard %y to %columns : tensor<?x1024xbf16>
  return %part : tensor<?x1024xbf16>
}

// -----

// So have weights whose N is innermost, without scales, and neighbours of pairs.

shard.grid @grid(shape = 2)

// CHECK-LABEL: func.func @pairs(
// CHECK-NOT:   all_gather
// CHECK:       gq.grouped_mm b_major(n) {{.*}} tensor<2x64x16xf8E4M3FN>
// CHECK:       outs(%{{.*}} : tensor<?x8xf32>)
// CHECK-NOT:   all_gather
// CHECK:       return
func.func @pairs(%a: tensor<?x64xf8E4M3FN>, %b: tensor<2x64x32xf8E4M3FN>,
    %offsets: tensor<3xi32>, %y0: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %columns = shard.sharding @grid split_axes = [[], [], [0]] : !shard.sharding
  %part = shard.shard %b to %columns : tensor<2x64x32xf8E4M3FN>
  %y = gq.grouped_mm b_major(n) pairs(interleaved)
      ins(%a, %part : tensor<?x64xf8E4M3FN>, tensor<2x64x32xf8E4M3FN>)
      groups(%offsets : tensor<3xi32>) epilogue {
      ^bb0(%g: f32, %u: f32):
        %0 = arith.mulf %g, %u : f32
        gq.yield %0 : f32
      } outs(%y0 : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// -----

// Halves of N are no part of it, and neither is a tile that N ends in.

shard.grid @grid(shape = 2)

// CHECK-LABEL: func.func @halves(
// CHECK:       shard.all_gather
// CHECK:       gq.grouped_mm {{.*}} tensor<2x32x64xf8E4M3FN>
func.func @halves(%a: tensor<?x64xf8E4M3FN>, %b: tensor<2x32x64xf8E4M3FN>,
    %offsets: tensor<3xi32>, %y0: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %columns = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %part = shard.shard %b to %columns : tensor<2x32x64xf8E4M3FN>
  %y = gq.grouped_mm pairs(halves)
      ins(%a, %part : tensor<?x64xf8E4M3FN>, tensor<2x32x64xf8E4M3FN>)
      groups(%offsets : tensor<3xi32>) epilogue {
      ^bb0(%g: f32, %u: f32):
        %0 = arith.mulf %g, %u : f32
        gq.yield %0 : f32
      } outs(%y0 : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %y : tensor<?x16xf32>
}

// CHECK-LABEL: func.func @padding(
// CHECK:       shard.all_gather
// CHECK:       gq.grouped_mm {{.*}} tensor<2x192x128xf4E2M1FN>
func.func @padding(%q: tensor<?x128xf4E2M1FN>, %s: tensor<?x8xf8E4M3FN, #gq.tile128x4>,
    %w: tensor<2x192x128xf4E2M1FN>, %ws: tensor<2x256x8xf8E4M3FN, #gq.tile128x4>,
    %offsets: tensor<3xi32>, %starts: tensor<2xi32>, %y0: tensor<?x192xbf16>)
    -> tensor<?x192xbf16> {
  %columns = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %part = shard.shard %w to %columns : tensor<2x192x128xf4E2M1FN>
  %y = gq.grouped_mm format(nvfp4)
      ins(%q, %part : tensor<?x128xf4E2M1FN>, tensor<2x192x128xf4E2M1FN>)
      scales(%s, %ws : tensor<?x8xf8E4M3FN, #gq.tile128x4>, tensor<2x256x8xf8E4M3FN, #gq.tile128x4>)
      groups(%offsets, %starts : tensor<3xi32>, tensor<2xi32>)
      outs(%y0 : tensor<?x192xbf16>) -> tensor<?x192xbf16>
  return %y : tensor<?x192xbf16>
}

// -----

// Rows belong to groups, which are data, and sums along K are rounded once.

shard.grid @grid(shape = 2)

// CHECK-LABEL: func.func @rows_and_k(
// CHECK-SAME:  %[[A:.*]]: tensor<?x64xf8E4M3FN>, %[[B:.*]]: tensor<2x32x32xf8E4M3FN>
// CHECK-DAG:   shard.all_gather %[[A]] on @grid grid_axes = [0] gather_axis = 0 : tensor<?x64xf8E4M3FN>
// CHECK-DAG:   shard.all_gather %[[B]] on @grid grid_axes = [0] gather_axis = 2
// CHECK:       gq.grouped_mm {{.*}} tensor<2x32x64xf8E4M3FN>
func.func @rows_and_k(%a: tensor<?x64xf8E4M3FN>, %b: tensor<2x32x64xf8E4M3FN>,
    %offsets: tensor<3xi32>, %y0: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %rows = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %part = shard.shard %a to %rows : tensor<?x64xf8E4M3FN>
  %k = shard.sharding @grid split_axes = [[], [], [0]] : !shard.sharding
  %of_b = shard.shard %b to %k : tensor<2x32x64xf8E4M3FN>
  %y = gq.grouped_mm ins(%part, %of_b : tensor<?x64xf8E4M3FN>, tensor<2x32x64xf8E4M3FN>)
      groups(%offsets : tensor<3xi32>) outs(%y0 : tensor<?x32xf32>)
      -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}
