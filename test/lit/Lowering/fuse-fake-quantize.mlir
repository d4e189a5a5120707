// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-fuse-fake-quantize)' | FileCheck %s
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-fuse-fake-quantize)' \
// RUN:   --remark-format=emitRemark --remarks-filter-missed='gq.*' \
// RUN:   --remarks-filter-passed='gq.*' 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-fuse-fake-quantize{kernels})' \
// RUN:   | FileCheck %s --check-prefix=KERNELS
// No pipeline runs it unasked.
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-cpu)' | FileCheck %s --check-prefix=CPU

// Scale offsets are not needed any more, and rows of no group keep what %y0 has.
// CHECK-LABEL: func.func @rows
// CHECK-NEXT: %[[Y:.*]] = gq.grouped_block_quantize format(nvfp4) rows(grouped)
// CHECK-SAME: ins(%arg0 : tensor<?x64xbf16>) row_indices(%arg1 : tensor<?xi32>)
// CHECK-SAME: groups(%arg2 : tensor<4xi32>) global_scale(%arg4 : tensor<3xf32>)
// CHECK-SAME: outs(%arg7 : tensor<?x64xf16>) -> tensor<?x64xf16>
// CHECK-NEXT: return %[[Y]]
// REMARK: [Passed]{{.*}}fused with the quantization
// KERNELS-LABEL: func.func @rows
// KERNELS-NOT: gq.grouped_dequantize
// CPU-LABEL: llvm.func @rows
// CPU: gqCpuGroupedDequantize
func.func @rows(%x: tensor<?x64xbf16>, %i: tensor<?xi32>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %g: tensor<3xf32>, %q0: tensor<?x64xf4E2M1FN>, %s0: tensor<?x4xf8E4M3FN, #gq.tile128x4>,
    %y0: tensor<?x64xf16>) -> tensor<?x64xf16> {
  %q, %s = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      row_indices(%i : tensor<?xi32>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>) global_scale(%g : tensor<3xf32>)
      outs(%q0, %s0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  %y = gq.grouped_dequantize format(nvfp4) ins(%q : tensor<?x64xf4E2M1FN>)
      scales(%s : tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>) global_scale(%g : tensor<3xf32>)
      outs(%y0 : tensor<?x64xf16>) -> tensor<?x64xf16>
  return %y : tensor<?x64xf16>
}

// Both directions, one after the other; the derived scale offsets were for the
// dequantization alone.
// CHECK-LABEL: func.func @both
// CHECK: %[[Y:.*]]:3 = gq.grouped_block_quantize format(nvfp4) recipe(te) rows(grouped)
// CHECK-SAME: columnwise_outer_amax(%arg3 : tensor<3xf32>)
// CHECK-SAME: outs(%{{.*}} : tensor<?x64xf32>) columnwise_outs(%{{.*}} : tensor<?x64xbf16>)
// CHECK-SAME: amax_out
// CHECK-NEXT: return %[[Y]]#0, %[[Y]]#1, %[[Y]]#2
// REMARK: [Passed]
// REMARK: [Passed]
// KERNELS-LABEL: func.func @both
// KERNELS: gq.grouped_dequantize
// KERNELS: gq.grouped_dequantize
func.func @both(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %a: tensor<f32>, %b: tensor<3xf32>,
    %q0: tensor<?x64xf4E2M1FN>, %s0: tensor<?x4xf8E4M3FN, #gq.tile128x4>,
    %t0: tensor<?xf4E2M1FN>, %u0: tensor<?xf8E4M3FN, #gq.tile128x4>, %m0: tensor<3xf32>,
    %so0: tensor<3xi32>, %d: index) -> (tensor<?x64xf32>, tensor<?x64xbf16>, tensor<3xf32>) {
  %q, %s, %t, %u, %m, %so = gq.grouped_block_quantize format(nvfp4) recipe(te) ins(%x : tensor<?x64xbf16>)
      groups(%o : tensor<4xi32>) outer_amax(%a : tensor<f32>) columnwise_outer_amax(%b : tensor<3xf32>)
      outs(%q0, %s0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      columnwise_outs(%t0, %u0 : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      amax_out(%m0 : tensor<3xf32>) scale_offsets_out(%so0 : tensor<3xi32>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<?xf4E2M1FN>,
         tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<3xf32>, tensor<3xi32>
  %y0 = tensor.empty(%d) : tensor<?x64xf32>
  %y = gq.grouped_dequantize format(nvfp4) recipe(te) ins(%q : tensor<?x64xf4E2M1FN>)
      scales(%s : tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>) outer_amax(%a : tensor<f32>)
      outs(%y0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %z0 = tensor.empty(%d) : tensor<?x64xbf16>
  %z = gq.grouped_dequantize format(nvfp4) recipe(te) axis(columnwise) ins(%t : tensor<?xf4E2M1FN>)
      scales(%u : tensor<?xf8E4M3FN, #gq.tile128x4>) groups(%o : tensor<4xi32>)
      outer_amax(%b : tensor<3xf32>) outs(%z0 : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %y, %z, %m : tensor<?x64xf32>, tensor<?x64xbf16>, tensor<3xf32>
}

// Columns become numbers, rows stay codes; the rows of no group, too. The amax
// is used before %y0 is known to be, so that the op stays where it was.
// CHECK-LABEL: func.func @columns
// CHECK: gq.grouped_block_quantize format(mxfp8_e4m3) ins
// CHECK-SAME: outs(%{{.*}}, %{{.*}} : tensor<?x64xf8E4M3FN>, tensor<?x4xf8E8M0FNU, #gq.tile128x4>)
// CHECK-SAME: columnwise_outs(%{{.*}} : tensor<?x64xbf16>) amax_out
// CHECK-NEXT: tensor.extract
// REMARK: [Passed]
func.func @columns(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %a0: tensor<3xf32>,
    %q0: tensor<?x64xf8E4M3FN>, %s0: tensor<?x4xf8E8M0FNU, #gq.tile128x4>, %y0: tensor<?x64xbf16>,
    %t0: tensor<?x64xf8E4M3FN>, %u0: tensor<?xf8E8M0FNU, #gq.tile128x4>, %n: index)
    -> (tensor<?x64xf8E4M3FN>, tensor<?x4xf8E8M0FNU, #gq.tile128x4>, tensor<?x64xbf16>, f32) {
  %q, %s, %t, %u, %a = gq.grouped_block_quantize format(mxfp8_e4m3) ins(%x : tensor<?x64xbf16>)
      groups(%o : tensor<4xi32>)
      outs(%q0, %s0 : tensor<?x64xf8E4M3FN>, tensor<?x4xf8E8M0FNU, #gq.tile128x4>)
      columnwise_outs(%t0, %u0 : tensor<?x64xf8E4M3FN>, tensor<?xf8E8M0FNU, #gq.tile128x4>)
      amax_out(%a0 : tensor<3xf32>)
      -> tensor<?x64xf8E4M3FN>, tensor<?x4xf8E8M0FNU, #gq.tile128x4>, tensor<?x64xf8E4M3FN>,
         tensor<?xf8E8M0FNU, #gq.tile128x4>, tensor<3xf32>
  %e = tensor.extract %a[%n] : tensor<3xf32>
  %y = gq.grouped_dequantize format(mxfp8_e4m3) axis(columnwise) ins(%t : tensor<?x64xf8E4M3FN>)
      scales(%u : tensor<?xf8E8M0FNU, #gq.tile128x4>) groups(%o : tensor<4xi32>)
      outs(%y0 : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %q, %s, %y, %e : tensor<?x64xf8E4M3FN>, tensor<?x4xf8E8M0FNU, #gq.tile128x4>, tensor<?x64xbf16>, f32
}

// With a scale for each group, which is a result that stays.
// CHECK-LABEL: func.func @per_tensor
// CHECK-NEXT: %[[Y:.*]]:3 = gq.grouped_quantize format(fp8_e5m2) rows(grouped)
// CHECK-SAME: outs(%{{.*}} : tensor<?x64xbf16>) amax_out({{.*}}) scale_inv_out(
// CHECK-NEXT: return %[[Y]]#0, %[[Y]]#1, %[[Y]]#2
// REMARK: [Passed]
func.func @per_tensor(%x: tensor<?x64xf32>, %o: tensor<4xi32>, %s: tensor<3xf32>, %a0: tensor<3xf32>,
    %i0: tensor<3xf32>, %q0: tensor<?x64xf8E5M2>, %y0: tensor<?x64xbf16>)
    -> (tensor<?x64xbf16>, tensor<3xf32>, tensor<3xf32>) {
  %q, %a, %i = gq.grouped_quantize format(fp8_e5m2) ins(%x : tensor<?x64xf32>)
      groups(%o : tensor<4xi32>) scale(%s : tensor<3xf32>) outs(%q0 : tensor<?x64xf8E5M2>)
      amax_out(%a0 : tensor<3xf32>) scale_inv_out(%i0 : tensor<3xf32>)
      -> tensor<?x64xf8E5M2>, tensor<3xf32>, tensor<3xf32>
  %y = gq.grouped_dequantize ins(%q : tensor<?x64xf8E5M2>) groups(%o : tensor<4xi32>)
      scale_inv(%i : tensor<3xf32>) outs(%y0 : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %y, %a, %i : tensor<?x64xbf16>, tensor<3xf32>, tensor<3xf32>
}

// All rows are rows in no group.
// CHECK-LABEL: func.func @ungrouped
// CHECK-NEXT: %[[O:.*]] = arith.constant dense<0> : tensor<1xi32>
// CHECK-NEXT: %[[Y:.*]] = gq.grouped_block_quantize format(fp8_e4m3_128x128) scale_layout(linear) ins
// CHECK-SAME: groups(%[[O]] : tensor<1xi32>) outs(
// CHECK-NEXT: return %[[Y]]
// REMARK: [Passed]
// KERNELS-LABEL: func.func @ungrouped
// KERNELS: gq.block_dequantize
func.func @ungrouped(%x: tensor<?x256xbf16>, %q0: tensor<?x256xf8E4M3FN>, %s0: tensor<?x2xf32>,
    %y0: tensor<?x256xf32>) -> tensor<?x256xf32> {
  %q, %s = gq.block_quantize format(fp8_e4m3_128x128) ins(%x : tensor<?x256xbf16>)
      outs(%q0, %s0 : tensor<?x256xf8E4M3FN>, tensor<?x2xf32>) -> tensor<?x256xf8E4M3FN>, tensor<?x2xf32>
  %y = gq.block_dequantize format(fp8_e4m3_128x128)
      ins(%q, %s : tensor<?x256xf8E4M3FN>, tensor<?x2xf32>) outs(%y0 : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}

// The amaxes that the op computes itself, of rows that are grouped.
// CHECK-LABEL: func.func @own_amaxes
// CHECK: gq.grouped_block_quantize {{.*}}rows(grouped) rowwise<outer = row> {{.*}}outs(%{{.*}} : tensor<?x64xf32>) row_amax_out
// CHECK-NOT: dequantize
// REMARK: [Passed]
// KERNELS-LABEL: func.func @own_amaxes
// KERNELS-NEXT: gq.grouped_block_quantize {{.*}}outs(%{{.*}} : tensor<?x64xf32>) row_amax_out
func.func @own_amaxes(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %r0: tensor<?xf32>, %y0: tensor<?x64xf32>,
    %q0: tensor<?x64xf4E2M1FN>, %s0: tensor<?x4xf8E4M3FN, #gq.tile128x4>) -> tensor<?x64xf32> {
  %q, %s, %r = gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<outer = row>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outs(%q0, %s0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      row_amax_out(%r0 : tensor<?xf32>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<?xf32>
  %y = gq.grouped_dequantize format(nvfp4) recipe(te) outer(row) ins(%q : tensor<?x64xf4E2M1FN>)
      scales(%s : tensor<?x4xf8E4M3FN, #gq.tile128x4>) groups(%o : tensor<4xi32>)
      outer_amax(%r : tensor<?xf32>) outs(%y0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

//===----------------------------------------------------------------------===//
// What is left alone
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @amaxes_of_other_rows
// CHECK: gq.grouped_dequantize
// REMARK: [Missed]{{.*}}something else uses the amaxes of rows in no group
func.func @amaxes_of_other_rows(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %r0: tensor<?xf32>, %y0: tensor<?x64xf32>,
    %q0: tensor<?x64xf4E2M1FN>, %s0: tensor<?x4xf8E4M3FN, #gq.tile128x4>) -> (tensor<?x64xf32>, tensor<?xf32>) {
  %q, %s, %r = gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<outer = row>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outs(%q0, %s0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      row_amax_out(%r0 : tensor<?xf32>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<?xf32>
  %y = gq.grouped_dequantize format(nvfp4) recipe(te) outer(row) ins(%q : tensor<?x64xf4E2M1FN>)
      scales(%s : tensor<?x4xf8E4M3FN, #gq.tile128x4>) groups(%o : tensor<4xi32>)
      outer_amax(%r : tensor<?xf32>) outs(%y0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y, %r : tensor<?x64xf32>, tensor<?xf32>
}

// CHECK-LABEL: func.func @codes_wanted
// CHECK: gq.grouped_dequantize
// REMARK: [Missed]{{.*}}something else uses the codes or the scales
func.func @codes_wanted(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %y0: tensor<?x64xf32>,
    %q0: tensor<?x64xf8E4M3FN>, %s0: tensor<?x2xf8E8M0FNU>) -> (tensor<?x64xf32>, tensor<?x64xf8E4M3FN>) {
  %q, %s = gq.grouped_block_quantize format(mxfp8_e4m3) scale_layout(linear) ins(%x : tensor<?x64xbf16>)
      groups(%o : tensor<4xi32>) outs(%q0, %s0 : tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>)
      -> tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>
  %y = gq.grouped_dequantize format(mxfp8_e4m3) scale_layout(linear) ins(%q : tensor<?x64xf8E4M3FN>)
      scales(%s : tensor<?x2xf8E8M0FNU>) groups(%o : tensor<4xi32>)
      outs(%y0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y, %q : tensor<?x64xf32>, tensor<?x64xf8E4M3FN>
}

// CHECK-LABEL: func.func @scales_wanted
// CHECK: gq.grouped_dequantize
// REMARK: [Missed]{{.*}}something else uses the codes or the scales
func.func @scales_wanted(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %y0: tensor<?x64xf32>,
    %q0: tensor<?x64xf8E4M3FN>, %s0: tensor<?x2xf8E8M0FNU>) -> (tensor<?x64xf32>, tensor<?x2xf8E8M0FNU>) {
  %q, %s = gq.grouped_block_quantize format(mxfp8_e4m3) scale_layout(linear) ins(%x : tensor<?x64xbf16>)
      groups(%o : tensor<4xi32>) outs(%q0, %s0 : tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>)
      -> tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>
  %y = gq.grouped_dequantize format(mxfp8_e4m3) scale_layout(linear) ins(%q : tensor<?x64xf8E4M3FN>)
      scales(%s : tensor<?x2xf8E8M0FNU>) groups(%o : tensor<4xi32>)
      outs(%y0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y, %s : tensor<?x64xf32>, tensor<?x2xf8E8M0FNU>
}

// CHECK-LABEL: func.func @other_groups
// CHECK: gq.grouped_dequantize
// REMARK: [Missed]{{.*}}the two differ in groups, or offsets have no end
func.func @other_groups(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %p: tensor<4xi32>, %y0: tensor<?x64xf32>,
    %q0: tensor<?x64xf8E4M3FN>, %s0: tensor<?x2xf8E8M0FNU>) -> tensor<?x64xf32> {
  %q, %s = gq.grouped_block_quantize format(mxfp8_e4m3) scale_layout(linear) ins(%x : tensor<?x64xbf16>)
      groups(%o : tensor<4xi32>) outs(%q0, %s0 : tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>)
      -> tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>
  %y = gq.grouped_dequantize format(mxfp8_e4m3) scale_layout(linear) ins(%q : tensor<?x64xf8E4M3FN>)
      scales(%s : tensor<?x2xf8E8M0FNU>) groups(%p : tensor<4xi32>)
      outs(%y0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// Scales are read from elsewhere than they were written to.
// CHECK-LABEL: func.func @other_scale_offsets
// CHECK: gq.grouped_dequantize
// REMARK: [Missed]{{.*}}the two differ in groups, or offsets have no end
func.func @other_scale_offsets(%x: tensor<?x64xbf16>, %o: tensor<3xi32>, %so: tensor<2xi32>, %y0: tensor<?x64xf32>,
    %q0: tensor<?x64xf8E4M3FN>, %s0: tensor<?x4xf8E8M0FNU, #gq.tile128x4>) -> tensor<?x64xf32> {
  %q, %s = gq.grouped_block_quantize format(mxfp8_e4m3) ins(%x : tensor<?x64xbf16>)
      groups(%o, %so : tensor<3xi32>, tensor<2xi32>)
      outs(%q0, %s0 : tensor<?x64xf8E4M3FN>, tensor<?x4xf8E8M0FNU, #gq.tile128x4>)
      -> tensor<?x64xf8E4M3FN>, tensor<?x4xf8E8M0FNU, #gq.tile128x4>
  %y = gq.grouped_dequantize format(mxfp8_e4m3) ins(%q : tensor<?x64xf8E4M3FN>)
      scales(%s : tensor<?x4xf8E8M0FNU, #gq.tile128x4>) groups(%o : tensor<3xi32>)
      outs(%y0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// Rows of %y0 beyond the groups stay, of which %x has fewer.
// CHECK-LABEL: func.func @more_rows
// CHECK: gq.grouped_dequantize
// REMARK: [Missed]{{.*}}the two differ in extents
func.func @more_rows(%x: tensor<100x64xbf16>, %o: tensor<3xi32>, %y0: tensor<128x64xf32>,
    %q0: tensor<?xf4E2M1FN>, %s0: tensor<?xf8E4M3FN, #gq.tile128x4>) -> tensor<128x64xf32> {
  %q, %s = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<100x64xbf16>) groups(%o : tensor<3xi32>)
      columnwise_outs(%q0, %s0 : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>
  %y = gq.grouped_dequantize format(nvfp4) axis(columnwise) ins(%q : tensor<?xf4E2M1FN>)
      scales(%s : tensor<?xf8E4M3FN, #gq.tile128x4>) groups(%o : tensor<3xi32>)
      outs(%y0 : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %y : tensor<128x64xf32>
}

// Without scale offsets nothing would say how many groups there are.
// CHECK-LABEL: func.func @open_end
// CHECK: gq.grouped_dequantize
// REMARK: [Missed]{{.*}}the two differ in groups, or offsets have no end
func.func @open_end(%x: tensor<?x64xbf16>, %o: tensor<3xi32>, %so: tensor<3xi32>, %y0: tensor<?x64xf32>,
    %q0: tensor<?x64xf8E4M3FN>, %s0: tensor<?x4xf8E8M0FNU, #gq.tile128x4>) -> tensor<?x64xf32> {
  %q, %s = gq.grouped_block_quantize format(mxfp8_e4m3) ins(%x : tensor<?x64xbf16>)
      groups(%o, %so : tensor<3xi32>, tensor<3xi32>)
      outs(%q0, %s0 : tensor<?x64xf8E4M3FN>, tensor<?x4xf8E8M0FNU, #gq.tile128x4>)
      -> tensor<?x64xf8E4M3FN>, tensor<?x4xf8E8M0FNU, #gq.tile128x4>
  %y = gq.grouped_dequantize format(mxfp8_e4m3) ins(%q : tensor<?x64xf8E4M3FN>)
      scales(%s : tensor<?x4xf8E8M0FNU, #gq.tile128x4>) groups(%o, %so : tensor<3xi32>, tensor<3xi32>)
      outs(%y0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @other_scales_of_groups
// CHECK: gq.grouped_dequantize
// REMARK: [Missed]{{.*}}the two differ in scales of groups, rows or columns
func.func @other_scales_of_groups(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %g: tensor<f32>, %y0: tensor<?x64xf32>,
    %q0: tensor<?x64xf4E2M1FN>, %s0: tensor<?x4xf8E4M3FN, #gq.tile128x4>) -> tensor<?x64xf32> {
  %q, %s = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outs(%q0, %s0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  %y = gq.grouped_dequantize format(nvfp4) ins(%q : tensor<?x64xf4E2M1FN>)
      scales(%s : tensor<?x4xf8E4M3FN, #gq.tile128x4>) groups(%o : tensor<4xi32>) global_scale(%g : tensor<f32>)
      outs(%y0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @noop
// CHECK: gq.grouped_dequantize
// REMARK: [Missed]{{.*}}with a noop_flag the codes may be those of another time
func.func @noop(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %n: tensor<i32>, %y0: tensor<?x64xf32>,
    %q0: tensor<?x64xf8E4M3FN>, %s0: tensor<?x2xf8E8M0FNU>) -> tensor<?x64xf32> {
  %q, %s = gq.grouped_block_quantize format(mxfp8_e4m3) scale_layout(linear) ins(%x : tensor<?x64xbf16>)
      groups(%o : tensor<4xi32>) noop_flag(%n : tensor<i32>)
      outs(%q0, %s0 : tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>) -> tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>
  %y = gq.grouped_dequantize format(mxfp8_e4m3) scale_layout(linear) ins(%q : tensor<?x64xf8E4M3FN>)
      scales(%s : tensor<?x2xf8E8M0FNU>) groups(%o : tensor<4xi32>)
      outs(%y0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @epilogue
// CHECK: gq.block_dequantize
// REMARK: [Missed]{{.*}}it has an epilogue
func.func @epilogue(%x: tensor<?x64xbf16>, %q0: tensor<?x64xf8E4M3FN>, %s0: tensor<?x2xf8E8M0FNU>,
    %y0: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %q, %s = gq.block_quantize format(mxfp8_e4m3) ins(%x : tensor<?x64xbf16>)
      outs(%q0, %s0 : tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>) -> tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>
  %y = gq.block_dequantize format(mxfp8_e4m3) ins(%q, %s : tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>)
      epilogue {
      ^bb0(%e: f32):
        %n = arith.negf %e : f32
        gq.yield %n : f32
      }
      outs(%y0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @other_ungrouped_scales
// CHECK: gq.block_dequantize
// REMARK: [Missed]{{.*}}the scales are of another op
func.func @other_ungrouped_scales(%x: tensor<?x64xbf16>, %q0: tensor<?x64xf8E4M3FN>, %s0: tensor<?x2xf8E8M0FNU>,
    %y0: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %q, %s = gq.block_quantize format(mxfp8_e4m3) ins(%x : tensor<?x64xbf16>)
      outs(%q0, %s0 : tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>) -> tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>
  %y = gq.block_dequantize format(mxfp8_e4m3) ins(%q, %s0 : tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>)
      outs(%y0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @other_global_scale
// CHECK: gq.block_dequantize
// REMARK: [Missed]{{.*}}the two differ in format or global scale
func.func @other_global_scale(%x: tensor<?x64xbf16>, %q0: tensor<?x64xf4E2M1FN>, %s0: tensor<?x4xf8E4M3FN>,
    %g: tensor<f32>, %y0: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %q, %s = gq.block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      outs(%q0, %s0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>) -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  %y = gq.block_dequantize format(nvfp4) ins(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      global_scale(%g : tensor<f32>) outs(%y0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @other_block
// CHECK: gq.block_dequantize
// REMARK: [Missed]{{.*}}the two are in different blocks
func.func @other_block(%x: tensor<?x64xbf16>, %q0: tensor<?x64xf8E4M3FN>, %s0: tensor<?x2xf8E8M0FNU>,
    %y0: tensor<?x64xf32>, %c: i1) -> tensor<?x64xf32> {
  %q, %s = gq.block_quantize format(mxfp8_e4m3) ins(%x : tensor<?x64xbf16>)
      outs(%q0, %s0 : tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>) -> tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %y = gq.block_dequantize format(mxfp8_e4m3) ins(%q, %s : tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>)
      outs(%y0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
^bb2:
  return %y0 : tensor<?x64xf32>
}

// CHECK-LABEL: func.func @amax_needed_before
// CHECK: gq.grouped_dequantize
// REMARK: [Missed]{{.*}}a result is used before the outs of the dequantization are known
func.func @amax_needed_before(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %a0: tensor<3xf32>,
    %q0: tensor<?x64xf8E4M3FN>, %s0: tensor<?x2xf8E8M0FNU>) -> tensor<?x64xf32> {
  %q, %s, %a = gq.grouped_block_quantize format(mxfp8_e4m3) scale_layout(linear) ins(%x : tensor<?x64xbf16>)
      groups(%o : tensor<4xi32>) outs(%q0, %s0 : tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>)
      amax_out(%a0 : tensor<3xf32>) -> tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>, tensor<3xf32>
  %z = arith.constant 0 : index
  %e = tensor.extract %a[%z] : tensor<3xf32>
  %n = arith.fptoui %e : f32 to i32
  %d = arith.index_cast %n : i32 to index
  %y0 = tensor.empty(%d) : tensor<?x64xf32>
  %y = gq.grouped_dequantize format(mxfp8_e4m3) scale_layout(linear) ins(%q : tensor<?x64xf8E4M3FN>)
      scales(%s : tensor<?x2xf8E8M0FNU>) groups(%o : tensor<4xi32>)
      outs(%y0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// The dequantization takes outer scales for those of 6 * 448.
// CHECK-LABEL: func @scale_max
// CHECK: gq.grouped_dequantize
// REMARK: [Missed]{{.*}}the two differ in scales of groups, rows or columns
func.func @scale_max(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %a: tensor<3xf32>, %q0: tensor<?x64xf4E2M1FN>,
    %t0: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %y0: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %q, %t = gq.grouped_block_quantize format(nvfp4) recipe(te) rows(grouped)
      rowwise<four_over_six = mse, scale_max = 256> ins(%x : tensor<?x64xbf16>)
      groups(%o : tensor<4xi32>) outer_amax(%a : tensor<3xf32>)
      outs(%q0, %t0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>) -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  %y = gq.grouped_dequantize format(nvfp4) recipe(te) ins(%q : tensor<?x64xf4E2M1FN>)
      scales(%t : tensor<?x4xf8E4M3FN, #gq.tile128x4>) groups(%o : tensor<4xi32>) outer_amax(%a : tensor<3xf32>)
      outs(%y0 : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// CHECK-LABEL: func @same_scale_max
// CHECK: gq.grouped_block_quantize{{.*}}rowwise<four_over_six = mse, scale_max = 256>
// CHECK-NOT: gq.grouped_dequantize
func.func @same_scale_max(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %a: tensor<3xf32>, %q0: tensor<?x64xf4E2M1FN>,
    %t0: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %y0: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %q, %t = gq.grouped_block_quantize format(nvfp4) recipe(te) rows(grouped)
      rowwise<four_over_six = mse, scale_max = 256> ins(%x : tensor<?x64xbf16>)
      groups(%o : tensor<4xi32>) outer_amax(%a : tensor<3xf32>)
      outs(%q0, %t0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>) -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  %y = gq.grouped_dequantize format(nvfp4) recipe(te) scale_max(256) ins(%q : tensor<?x64xf4E2M1FN>)
      scales(%t : tensor<?x4xf8E4M3FN, #gq.tile128x4>) groups(%o : tensor<4xi32>) outer_amax(%a : tensor<3xf32>)
      outs(%y0 : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// CHECK-LABEL: func @other_scale_max
// CHECK: gq.grouped_dequantize
// REMARK: [Missed]{{.*}}the two differ in scales of groups, rows or columns
func.func @other_scale_max(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %a: tensor<3xf32>, %q0: tensor<?x64xf4E2M1FN>,
    %t0: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %y0: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %q, %t = gq.grouped_block_quantize format(nvfp4) recipe(te) rows(grouped)
      rowwise<four_over_six = mse> ins(%x : tensor<?x64xbf16>)
      groups(%o : tensor<4xi32>) outer_amax(%a : tensor<3xf32>)
      outs(%q0, %t0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>) -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  %y = gq.grouped_dequantize format(nvfp4) recipe(te) scale_max(256) ins(%q : tensor<?x64xf4E2M1FN>)
      scales(%t : tensor<?x4xf8E4M3FN, #gq.tile128x4>) groups(%o : tensor<4xi32>) outer_amax(%a : tensor<3xf32>)
      outs(%y0 : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}

// CHECK-LABEL: func @default_scale_max
// CHECK-NOT: gq.grouped_dequantize
func.func @default_scale_max(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %a: tensor<3xf32>, %q0: tensor<?x64xf4E2M1FN>,
    %t0: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %y0: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %q, %t = gq.grouped_block_quantize format(nvfp4) recipe(te) rows(grouped)
      rowwise<four_over_six = mse> ins(%x : tensor<?x64xbf16>)
      groups(%o : tensor<4xi32>) outer_amax(%a : tensor<3xf32>)
      outs(%q0, %t0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>) -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  %y = gq.grouped_dequantize format(nvfp4) recipe(te) scale_max(448) ins(%q : tensor<?x64xf4E2M1FN>)
      scales(%t : tensor<?x4xf8E4M3FN, #gq.tile128x4>) groups(%o : tensor<4xi32>) outer_amax(%a : tensor<3xf32>)
      outs(%y0 : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %y : tensor<?x64xbf16>
}
