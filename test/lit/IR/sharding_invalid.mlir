// Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: gq-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(shard-partition))'

// Annotations that no propagation has seen.

shard.grid @grid(shape = 2)

func.func @rows_are_of_groups(%a: tensor<8x64xf8E4M3FN>,
    %b: tensor<2x32x64xf8E4M3FN>, %offsets: tensor<3xi32>, %y0: tensor<8x32xf32>)
    -> tensor<8x32xf32> {
  %rows = shard.sharding @grid split_axes = [[0], []] : !shard.sharding
  %three = shard.sharding @grid split_axes = [[], [], []] : !shard.sharding
  %one = shard.sharding @grid split_axes = [[]] : !shard.sharding
  %a0 = shard.shard %a to %rows : tensor<8x64xf8E4M3FN>
  %a1 = shard.shard %a0 to %rows annotate_for_users : tensor<8x64xf8E4M3FN>
  %b0 = shard.shard %b to %three : tensor<2x32x64xf8E4M3FN>
  %b1 = shard.shard %b0 to %three annotate_for_users : tensor<2x32x64xf8E4M3FN>
  %o0 = shard.shard %offsets to %one : tensor<3xi32>
  %o1 = shard.shard %o0 to %one annotate_for_users : tensor<3xi32>
  %i0 = shard.shard %y0 to %rows : tensor<8x32xf32>
  %i1 = shard.shard %i0 to %rows annotate_for_users : tensor<8x32xf32>
  // expected-error @below {{requires dimension 0 of operand 0 to be whole on each device}}
  %y = gq.grouped_mm ins(%a1, %b1 : tensor<8x64xf8E4M3FN>, tensor<2x32x64xf8E4M3FN>)
      groups(%o1 : tensor<3xi32>) outs(%i1 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %r0 = shard.shard %y to %rows : tensor<8x32xf32>
  %r1 = shard.shard %r0 to %rows annotate_for_users : tensor<8x32xf32>
  return %r1 : tensor<8x32xf32>
}

// -----

// Half a tile: what is left of the op does not verify.

shard.grid @grid(shape = 2)

func.func @part_of_a_tile(%q: tensor<8x128xf4E2M1FN>,
    %s: tensor<256x8xf8E4M3FN, #gq.tile128x4>, %w: tensor<2x384x128xf4E2M1FN>,
    %ws: tensor<2x384x8xf8E4M3FN, #gq.tile128x4>, %offsets: tensor<3xi32>,
    %starts: tensor<2xi32>, %y0: tensor<8x384xbf16>) -> tensor<8x384xbf16> {
  %one = shard.sharding @grid split_axes = [[]] : !shard.sharding
  %two = shard.sharding @grid split_axes = [[], []] : !shard.sharding
  %n = shard.sharding @grid split_axes = [[], [0], []] : !shard.sharding
  %columns = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %q_a = shard.shard %q to %two : tensor<8x128xf4E2M1FN>
  %q_b = shard.shard %q_a to %two annotate_for_users : tensor<8x128xf4E2M1FN>
  %s_a = shard.shard %s to %two : tensor<256x8xf8E4M3FN, #gq.tile128x4>
  %s_b = shard.shard %s_a to %two annotate_for_users : tensor<256x8xf8E4M3FN, #gq.tile128x4>
  %w_a = shard.shard %w to %n : tensor<2x384x128xf4E2M1FN>
  %w_b = shard.shard %w_a to %n annotate_for_users : tensor<2x384x128xf4E2M1FN>
  %ws_a = shard.shard %ws to %n : tensor<2x384x8xf8E4M3FN, #gq.tile128x4>
  %ws_b = shard.shard %ws_a to %n annotate_for_users : tensor<2x384x8xf8E4M3FN, #gq.tile128x4>
  %offsets_a = shard.shard %offsets to %one : tensor<3xi32>
  %offsets_b = shard.shard %offsets_a to %one annotate_for_users : tensor<3xi32>
  %starts_a = shard.shard %starts to %one : tensor<2xi32>
  %starts_b = shard.shard %starts_a to %one annotate_for_users : tensor<2xi32>
  %y0_a = shard.shard %y0 to %columns : tensor<8x384xbf16>
  %y0_b = shard.shard %y0_a to %columns annotate_for_users : tensor<8x384xbf16>
  // expected-error @below {{b_scales}}
  %y = gq.grouped_mm format(nvfp4)
      ins(%q_b, %w_b : tensor<8x128xf4E2M1FN>, tensor<2x384x128xf4E2M1FN>)
      scales(%s_b, %ws_b : tensor<256x8xf8E4M3FN, #gq.tile128x4>, tensor<2x384x8xf8E4M3FN, #gq.tile128x4>)
      groups(%offsets_b, %starts_b : tensor<3xi32>, tensor<2xi32>)
      outs(%y0_b : tensor<8x384xbf16>) -> tensor<8x384xbf16>
  %y_a = shard.shard %y to %columns : tensor<8x384xbf16>
  %y_b = shard.shard %y_a to %columns annotate_for_users : tensor<8x384xbf16>
  return %y_b : tensor<8x384xbf16>
}
