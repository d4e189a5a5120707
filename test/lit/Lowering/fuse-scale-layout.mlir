// RUN: gq-opt %s --split-input-file --pass-pipeline='builtin.module(gq-fuse-scale-layout)' | FileCheck %s
// RUN: gq-opt %s --split-input-file --pass-pipeline='builtin.module(gq-fuse-scale-layout)' -verify-diagnostics --remarks-filter-missed=gq-fuse-scale-layout --remark-format=emitRemark
// RUN: gq-opt %s --split-input-file --pass-pipeline='builtin.module(gq-fuse-scale-layout)' --remarks-filter-passed=gq-fuse-scale-layout --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=PASSED

!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!s = tensor<?x4xf8E4M3FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>

// CHECK-LABEL: func @fuse
// CHECK-SAME: %[[X:.*]]: tensor<?x64xbf16>, %[[G:.*]]: tensor<f32>, %[[O:.*]]: tensor<4xi32>, %[[SO:.*]]: tensor<3xi32>, %[[Q0:.*]]: tensor<?x64xf4E2M1FN>, %{{.*}}: tensor<?x4xf8E4M3FN>, %[[T0:.*]]: tensor<?x4xf8E4M3FN, #gq.tile128x4>
func.func @fuse(%x: !x, %g: tensor<f32>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q0: !q, %s0: !s, %t0: !t) -> (!q, !t) {
  // CHECK-NEXT: %[[R:.*]]:2 = gq.grouped_block_quantize format(nvfp4) ins(%[[X]] :
  // CHECK-SAME: groups(%[[O]], %[[SO]] :
  // CHECK-SAME: global_scale(%[[G]] :
  // CHECK-SAME: outs(%[[Q0]], %[[T0]] :
  // CHECK-NEXT: return %[[R]]#0, %[[R]]#1
  %q, %s = gq.block_quantize format(nvfp4) ins(%x : !x)
      global_scale(%g : tensor<f32>) outs(%q0, %s0 : !q, !s) -> !q, !s
  // PASSED: :[[#@LINE+1]]:{{.*}}fused with gq.block_quantize
  %t = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%s : !s)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>) outs(%t0 : !t) -> !t
  return %q, %t : !q, !t
}

// -----

!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!s = tensor<?x4xf8E4M3FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>

// The only reader of the data reads the groups' rows: others may stay as they
// are.
// CHECK-LABEL: func @rows_grouped
func.func @rows_grouped(%x: !x, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %b: tensor<3x32x64xf4E2M1FN>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %q0: !q, %s0: !s, %t0: !t, %c0: tensor<?x32xf32>) -> tensor<?x32xf32> {
  // CHECK: gq.grouped_block_quantize format(nvfp4) rows(grouped)
  // PASSED: :[[#@LINE+1]]:{{.*}}rows in no group are left out
  %q, %s = gq.block_quantize format(nvfp4) ins(%x : !x)
      outs(%q0, %s0 : !q, !s) -> !q, !s
  %t = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%s : !s)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>) outs(%t0 : !t) -> !t
  %c = gq.grouped_mm format(nvfp4) ins(%q, %b : !q, tensor<3x32x64xf4E2M1FN>)
      scales(%t, %sb : !t, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c0 : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %c : tensor<?x32xf32>
}

// -----

!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>

// Another reader, or other groups: all rows.
// CHECK-LABEL: func @rows_all
func.func @rows_all(%x: !x, %o: tensor<4xi32>, %o2: tensor<4xi32>,
    %so: tensor<3xi32>, %b: tensor<3x32x64xf4E2M1FN>,
    %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>, %q0: !q, %t0: !t,
    %c0: tensor<?x32xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>, !q) {
  // CHECK: %[[A:.*]]:2 = gq.grouped_block_quantize format(nvfp4) ins(
  %qa, %ta = gq.grouped_block_quantize format(nvfp4) ins(%x : !x)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q0, %t0 : !q, !t) -> !q, !t
  // CHECK: gq.grouped_mm format(nvfp4) ins(%[[A]]#0
  %ca = gq.grouped_mm format(nvfp4) ins(%qa, %b : !q, tensor<3x32x64xf4E2M1FN>)
      scales(%ta, %sb : !t, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o2, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c0 : tensor<?x32xf32>) -> tensor<?x32xf32>
  // CHECK: %[[B:.*]]:2 = gq.grouped_block_quantize format(nvfp4) ins(
  // expected-remark @+1 {{rows in no group are quantized too}}
  %qb, %tb = gq.grouped_block_quantize format(nvfp4) ins(%x : !x)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%qa, %t0 : !q, !t) -> !q, !t
  // CHECK: gq.grouped_mm format(nvfp4) ins(%[[B]]#0
  %cb = gq.grouped_mm format(nvfp4) ins(%qb, %b : !q, tensor<3x32x64xf4E2M1FN>)
      scales(%tb, %sb : !t, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c0 : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %ca, %cb, %qb : tensor<?x32xf32>, tensor<?x32xf32>, !q
}

// -----

!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!s = tensor<?x4xf8E4M3FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>

func.func private @use(!q)

// The data is used in between, but the groups are known before.
// CHECK-LABEL: func @earlier_use
func.func @earlier_use(%x: !x, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q0: !q, %s0: !s, %t0: !t) -> !t {
  // CHECK-NEXT: %[[R:.*]]:2 = gq.grouped_block_quantize
  // CHECK-NEXT: call @use(%[[R]]#0)
  // CHECK-NEXT: return %[[R]]#1
  %q, %s = gq.block_quantize format(nvfp4) ins(%x : !x)
      outs(%q0, %s0 : !q, !s) -> !q, !s
  func.call @use(%q) : (!q) -> ()
  %t = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%s : !s)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>) outs(%t0 : !t) -> !t
  return %t : !t
}

// -----

!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!s = tensor<?x4xf8E4M3FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>

func.func private @groups(!q) -> tensor<4xi32>

// CHECK-LABEL: func @used_before_groups
func.func @used_before_groups(%x: !x, %so: tensor<3xi32>, %q0: !q, %s0: !s,
    %t0: !t) -> !t {
  // CHECK: gq.block_quantize
  // CHECK: gq.preprocess_grouped_matmul_sf
  %q, %s = gq.block_quantize format(nvfp4) ins(%x : !x)
      outs(%q0, %s0 : !q, !s) -> !q, !s
  %o = func.call @groups(%q) : (!q) -> tensor<4xi32>
  // expected-remark @+1 {{the data is used before the groups}}
  %t = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%s : !s)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>) outs(%t0 : !t) -> !t
  return %t : !t
}

// -----

!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!s = tensor<?x4xf8E4M3FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>

// CHECK-LABEL: func @another_user
func.func @another_user(%x: !x, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q0: !q, %s0: !s, %t0: !t) -> (!q, !s, !t) {
  // CHECK: gq.block_quantize
  // CHECK: gq.preprocess_grouped_matmul_sf
  %q, %s = gq.block_quantize format(nvfp4) ins(%x : !x)
      outs(%q0, %s0 : !q, !s) -> !q, !s
  // expected-remark @+1 {{the linear scales have another user}}
  %t = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%s : !s)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>) outs(%t0 : !t) -> !t
  return %q, %s, %t : !q, !s, !t
}

// -----

!s = tensor<?x4xf8E4M3FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>

// CHECK-LABEL: func @scales_from_elsewhere
func.func @scales_from_elsewhere(%s: !s, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %t0: !t) -> !t {
  // CHECK: gq.preprocess_grouped_matmul_sf
  // expected-remark @+1 {{the scales do not come from gq.block_quantize}}
  %t = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%s : !s)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>) outs(%t0 : !t) -> !t
  return %t : !t
}

// -----

!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!s = tensor<?x4xf8E4M3FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>

// CHECK-LABEL: func @another_block
func.func @another_block(%x: !x, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q0: !q, %s0: !s, %t0: !t, %c: i1) -> (!q, !t) {
  // CHECK: gq.block_quantize
  %q, %s = gq.block_quantize format(nvfp4) ins(%x : !x)
      outs(%q0, %s0 : !q, !s) -> !q, !s
  // CHECK: scf.if
  %r = scf.if %c -> !t {
    // CHECK: gq.preprocess_grouped_matmul_sf
    // expected-remark @+1 {{gq.block_quantize is in another block}}
    %t = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%s : !s)
        groups(%o, %so : tensor<4xi32>, tensor<3xi32>) outs(%t0 : !t) -> !t
    scf.yield %t : !t
  } else {
    scf.yield %t0 : !t
  }
  return %q, %r : !q, !t
}

// -----

// On memrefs another op may write in between.
// CHECK-LABEL: func @memrefs
func.func @memrefs(%x: memref<?x64xbf16>, %o: memref<4xi32>, %so: memref<3xi32>,
    %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>, %t: memref<?x4xf8E4M3FN>) {
  // CHECK: gq.block_quantize
  // CHECK: gq.preprocess_grouped_matmul_sf
  gq.block_quantize format(nvfp4) ins(%x : memref<?x64xbf16>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%s : memref<?x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%t : memref<?x4xf8E4M3FN>)
  return
}

// -----

!x = tensor<?x64xbf16>
!q = tensor<?x64xf8E5M2>
!s = tensor<?x2xf8E8M0FNU>
!t = tensor<?x4xf8E8M0FNU, #gq.tile128x4>

// CHECK-LABEL: func @mxfp8
func.func @mxfp8(%x: !x, %o: tensor<4xi32>, %so: tensor<3xi32>, %q0: !q,
    %s0: !s, %t0: !t) -> (!q, !t) {
  // CHECK-NEXT: gq.grouped_block_quantize format(mxfp8_e5m2) ins(
  %q, %s = gq.block_quantize format(mxfp8_e5m2) ins(%x : !x)
      outs(%q0, %s0 : !q, !s) -> !q, !s
  %t = gq.preprocess_grouped_matmul_sf format(mxfp8_e5m2) ins(%s : !s)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>) outs(%t0 : !t) -> !t
  return %q, %t : !q, !t
}

// -----

!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>

// Scale offsets that the op itself returns.
// CHECK-LABEL: func @returned_scale_offsets
func.func @returned_scale_offsets(%x: !x, %o: tensor<4xi32>,
    %b: tensor<3x32x64xf4E2M1FN>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %q0: !q, %t0: !t, %so0: tensor<3xi32>, %c0: tensor<?x32xf32>)
    -> tensor<?x32xf32> {
  // CHECK: gq.grouped_block_quantize format(nvfp4) rows(grouped)
  %q, %t, %so = gq.grouped_block_quantize format(nvfp4) ins(%x : !x)
      groups(%o : tensor<4xi32>) outs(%q0, %t0 : !q, !t)
      scale_offsets_out(%so0 : tensor<3xi32>) -> !q, !t, tensor<3xi32>
  %c = gq.grouped_mm format(nvfp4) ins(%q, %b : !q, tensor<3x32x64xf4E2M1FN>)
      scales(%t, %sb : !t, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c0 : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %c : tensor<?x32xf32>
}

// -----

!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!s = tensor<?x4xf8E4M3FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>

// Unknown attributes stay, unless the two ops disagree.
// CHECK-LABEL: func @unknown_attributes
func.func @unknown_attributes(%x: !x, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q0: !q, %s0: !s, %t0: !t) -> (!t, !t) {
  // CHECK-NEXT: gq.grouped_block_quantize format(nvfp4) rows(grouped) {my.layer = 3 : i64, my.note = 1 : i64, my.part = "scales"} ins(
  %q, %s = gq.block_quantize format(nvfp4) {my.layer = 3, my.note = 1}
      ins(%x : !x) outs(%q0, %s0 : !q, !s) -> !q, !s
  %t = gq.preprocess_grouped_matmul_sf format(nvfp4)
      {my.layer = 3, my.part = "scales"} ins(%s : !s)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>) outs(%t0 : !t) -> !t
  // CHECK-NEXT: gq.block_quantize
  // CHECK-NEXT: gq.preprocess_grouped_matmul_sf
  %r, %u = gq.block_quantize format(nvfp4) {my.layer = 3} ins(%x : !x)
      outs(%q0, %s0 : !q, !s) -> !q, !s
  // expected-remark @+1 {{the two ops differ in an attribute}}
  %v = gq.preprocess_grouped_matmul_sf format(nvfp4) {my.layer = 4}
      ins(%u : !s) groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%t0 : !t) -> !t
  return %t, %v : !t, !t
}

// -----

!x = tensor<?x256xbf16>
!q = tensor<?x256xf8E4M3FN>
!s = tensor<?x2xf32>

// Linear scales, which need no scale offsets.
// CHECK-LABEL: func @linear_scales
func.func @linear_scales(%x: !x, %o: tensor<4xi32>, %p: tensor<4xi32>,
    %b: tensor<3x32x256xf8E4M3FN>, %sb: tensor<3x1x2xf32>, %q0: !q, %s0: !s,
    %c0: tensor<?x32xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>) {
  // CHECK: gq.grouped_block_quantize format(fp8_e4m3_1x128) scale_layout(linear) rows(grouped)
  %q, %s = gq.grouped_block_quantize format(fp8_e4m3_1x128)
      scale_layout(linear) ins(%x : !x) groups(%o : tensor<4xi32>)
      outs(%q0, %s0 : !q, !s) -> !q, !s
  %c = gq.grouped_mm format(fp8_e4m3_1x128) b_format(fp8_e4m3_128x128)
      scale_layout(linear) ins(%q, %b : !q, tensor<3x32x256xf8E4M3FN>)
      scales(%s, %sb : !s, tensor<3x1x2xf32>) groups(%o : tensor<4xi32>)
      outs(%c0 : tensor<?x32xf32>) -> tensor<?x32xf32>
  // Over other groups than those that are multiplied.
  // CHECK: gq.grouped_block_quantize format(fp8_e4m3_1x128) scale_layout(linear) ins(
  %r, %t = gq.grouped_block_quantize format(fp8_e4m3_1x128)
      scale_layout(linear) ins(%x : !x) groups(%p : tensor<4xi32>)
      outs(%q0, %s0 : !q, !s) -> !q, !s
  %d = gq.grouped_mm format(fp8_e4m3_1x128) b_format(fp8_e4m3_128x128)
      scale_layout(linear) ins(%r, %b : !q, tensor<3x32x256xf8E4M3FN>)
      scales(%t, %sb : !s, tensor<3x1x2xf32>) groups(%o : tensor<4xi32>)
      outs(%c0 : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %c, %d : tensor<?x32xf32>, tensor<?x32xf32>
}

// -----

!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>

// Rows in no group have amaxes, too, which are returned.
// CHECK-LABEL: func @reads_row_amaxes
func.func @reads_row_amaxes(%x: !x, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %b: tensor<3x32x64xf4E2M1FN>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>,
    %q0: !q, %t0: !t, %r0: tensor<?xf32>, %c0: tensor<?x32xf32>)
    -> (tensor<?x32xf32>, tensor<?xf32>, tensor<?x32xf32>) {
  // CHECK: gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<outer = row> ins(
  // expected-remark @+1 {{something reads the amaxes of rows}}
  %q, %t, %r = gq.grouped_block_quantize format(nvfp4) recipe(te)
      rowwise<outer = row> ins(%x : !x)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q0, %t0 : !q, !t) row_amax_out(%r0 : tensor<?xf32>)
      -> !q, !t, tensor<?xf32>
  %c = gq.grouped_mm format(nvfp4)
      ins(%q, %b : !q, tensor<3x32x64xf4E2M1FN>)
      scales(%t, %sb : !t, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c0 : tensor<?x32xf32>) -> tensor<?x32xf32>
  // If they are not, they are left out.
  // CHECK: gq.grouped_block_quantize format(nvfp4) recipe(te) rows(grouped) rowwise<outer = row> ins(
  %p, %u, %s = gq.grouped_block_quantize format(nvfp4) recipe(te)
      rowwise<outer = row> ins(%x : !x)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q0, %t0 : !q, !t) row_amax_out(%r0 : tensor<?xf32>)
      -> !q, !t, tensor<?xf32>
  %d = gq.grouped_mm format(nvfp4)
      ins(%p, %b : !q, tensor<3x32x64xf4E2M1FN>)
      scales(%u, %sb : !t, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c0 : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %c, %r, %d : tensor<?x32xf32>, tensor<?xf32>, tensor<?x32xf32>
}
