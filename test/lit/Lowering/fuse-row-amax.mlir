// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-fuse-row-amax)' | FileCheck %s
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-fuse-row-amax)' \
// RUN:   --remark-format=emitRemark --remarks-filter-missed='gq.*' \
// RUN:   --remarks-filter-passed='gq.*' 2>&1 | FileCheck %s --check-prefix=REMARK

// CHECK-LABEL: func.func @fused
// CHECK-NOT: gq.grouped_amax
// CHECK: %[[Q:.*]]:3 = gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<outer = row>
// CHECK-NOT: outer_amax
// CHECK-SAME: row_amax_out(%{{.*}} : tensor<?xf32>)
// CHECK: return %[[Q]]#0, %[[Q]]#2
// REMARK: [Passed]{{.*}}fused with gq.grouped_amax
func.func @fused(%x: tensor<?x512xbf16>, %o: tensor<4xi32>, %r0: tensor<?xf32>,
    %q0: tensor<?x512xf4E2M1FN>, %s0: tensor<?x32xf8E4M3FN, #gq.tile128x4>)
    -> (tensor<?x512xf4E2M1FN>, tensor<?xf32>) {
  %r = gq.grouped_amax ins(%x : tensor<?x512xbf16>) groups(%o : tensor<4xi32>)
      row_amax_out(%r0 : tensor<?xf32>) -> tensor<?xf32>
  %q, %s = gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<outer = row>
      ins(%x : tensor<?x512xbf16>) groups(%o : tensor<4xi32>) outer_amax(%r : tensor<?xf32>)
      outs(%q0, %s0 : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN, #gq.tile128x4>
  return %q, %r : tensor<?x512xf4E2M1FN>, tensor<?xf32>
}

// CHECK-LABEL: func.func @long_rows
// CHECK: gq.grouped_amax
// REMARK: [Missed]{{.*}}a row does not fit on the chip, or K is not static
func.func @long_rows(%x: tensor<?x65536xbf16>, %o: tensor<4xi32>, %r0: tensor<?xf32>,
    %q0: tensor<?x65536xf4E2M1FN>, %s0: tensor<?x4096xf8E4M3FN, #gq.tile128x4>) -> tensor<?x65536xf4E2M1FN> {
  %r = gq.grouped_amax ins(%x : tensor<?x65536xbf16>) groups(%o : tensor<4xi32>)
      row_amax_out(%r0 : tensor<?xf32>) -> tensor<?xf32>
  %q, %s = gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<outer = row>
      ins(%x : tensor<?x65536xbf16>) groups(%o : tensor<4xi32>) outer_amax(%r : tensor<?xf32>)
      outs(%q0, %s0 : tensor<?x65536xf4E2M1FN>, tensor<?x4096xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x65536xf4E2M1FN>, tensor<?x4096xf8E4M3FN, #gq.tile128x4>
  return %q : tensor<?x65536xf4E2M1FN>
}

// CHECK-LABEL: func.func @other_rows
// CHECK: gq.grouped_amax
// REMARK: [Missed]{{.*}}the amaxes are of other rows
func.func @other_rows(%x: tensor<?x512xbf16>, %y: tensor<?x512xbf16>, %o: tensor<4xi32>, %r0: tensor<?xf32>,
    %q0: tensor<?x512xf4E2M1FN>, %s0: tensor<?x32xf8E4M3FN, #gq.tile128x4>) -> tensor<?x512xf4E2M1FN> {
  %r = gq.grouped_amax ins(%y : tensor<?x512xbf16>) groups(%o : tensor<4xi32>)
      row_amax_out(%r0 : tensor<?xf32>) -> tensor<?xf32>
  %q, %s = gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<outer = row>
      ins(%x : tensor<?x512xbf16>) groups(%o : tensor<4xi32>) outer_amax(%r : tensor<?xf32>)
      outs(%q0, %s0 : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN, #gq.tile128x4>
  return %q : tensor<?x512xf4E2M1FN>
}

// CHECK-LABEL: func.func @both_wanted
// CHECK: gq.grouped_amax
// REMARK: [Missed]{{.*}}gq.grouped_amax has other results, for which it reads the input
func.func @both_wanted(%x: tensor<?x512xbf16>, %o: tensor<4xi32>, %a0: tensor<3xf32>, %r0: tensor<?xf32>,
    %q0: tensor<?x512xf4E2M1FN>, %s0: tensor<?x32xf8E4M3FN, #gq.tile128x4>)
    -> (tensor<?x512xf4E2M1FN>, tensor<3xf32>) {
  %a, %r = gq.grouped_amax ins(%x : tensor<?x512xbf16>) groups(%o : tensor<4xi32>)
      amax_out(%a0 : tensor<3xf32>) row_amax_out(%r0 : tensor<?xf32>) -> tensor<3xf32>, tensor<?xf32>
  %q, %s = gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<outer = row>
      ins(%x : tensor<?x512xbf16>) groups(%o : tensor<4xi32>) outer_amax(%r : tensor<?xf32>)
      outs(%q0, %s0 : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN, #gq.tile128x4>
  return %q, %a : tensor<?x512xf4E2M1FN>, tensor<3xf32>
}

// The amaxes are used in another block, too, which comes after.
// CHECK-LABEL: func.func @used_in_another_block
// CHECK-NOT: gq.grouped_amax
// CHECK: row_amax_out
// REMARK: [Passed]{{.*}}fused with gq.grouped_amax
func.func @used_in_another_block(%x: tensor<?x512xbf16>, %o: tensor<4xi32>, %r0: tensor<?xf32>, %c: i1,
    %q0: tensor<?x512xf4E2M1FN>, %s0: tensor<?x32xf8E4M3FN, #gq.tile128x4>) -> tensor<?xf32> {
  %r = gq.grouped_amax ins(%x : tensor<?x512xbf16>) groups(%o : tensor<4xi32>)
      row_amax_out(%r0 : tensor<?xf32>) -> tensor<?xf32>
  %q, %s = gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<outer = row>
      ins(%x : tensor<?x512xbf16>) groups(%o : tensor<4xi32>) outer_amax(%r : tensor<?xf32>)
      outs(%q0, %s0 : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN, #gq.tile128x4>
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  return %r : tensor<?xf32>
^bb2:
  return %r0 : tensor<?xf32>
}

// With a scale offset for each of its offsets the quantization has a group more,
// which lasts up to the end.
// CHECK-LABEL: func.func @one_group_more
// CHECK: gq.grouped_amax
// REMARK: [Missed]{{.*}}the amaxes are of other rows
func.func @one_group_more(%x: tensor<?x512xbf16>, %o: tensor<4xi32>, %so: tensor<4xi32>, %r0: tensor<?xf32>,
    %q0: tensor<?x512xf4E2M1FN>, %s0: tensor<?x32xf8E4M3FN, #gq.tile128x4>)
    -> tensor<?x512xf4E2M1FN> {
  %r = gq.grouped_amax rows(grouped) ins(%x : tensor<?x512xbf16>) groups(%o : tensor<4xi32>)
      row_amax_out(%r0 : tensor<?xf32>) -> tensor<?xf32>
  %q, %s = gq.grouped_block_quantize format(nvfp4) recipe(te) rows(grouped) rowwise<outer = row>
      ins(%x : tensor<?x512xbf16>) groups(%o, %so : tensor<4xi32>, tensor<4xi32>) outer_amax(%r : tensor<?xf32>)
      outs(%q0, %s0 : tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x512xf4E2M1FN>, tensor<?x32xf8E4M3FN, #gq.tile128x4>
  return %q : tensor<?x512xf4E2M1FN>
}
