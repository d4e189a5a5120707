// RUN: gq-opt %s --split-input-file --pass-pipeline='builtin.module(gq-fuse-directions)' | FileCheck %s
// RUN: gq-opt %s --split-input-file --pass-pipeline='builtin.module(gq-fuse-directions)' -verify-diagnostics --remarks-filter-missed=gq-fuse-directions --remark-format=emitRemark
// RUN: gq-opt %s --split-input-file --pass-pipeline='builtin.module(gq-fuse-directions)' --remarks-filter-passed=gq-fuse-directions --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=PASSED

!x = tensor<?x128xbf16>
!q = tensor<?x128xf4E2M1FN>
!t = tensor<?x8xf8E4M3FN, #gq.tile128x4>
!qt = tensor<?xf4E2M1FN>
!tt = tensor<?xf8E4M3FN, #gq.tile128x4>

// Everything that the two can have: what each writes stays where it was.
// CHECK-LABEL: func @te
// CHECK-SAME: %[[X:.*]]: tensor<?x128xbf16>, %[[O:.*]]: tensor<4xi32>, %[[A:.*]]: tensor<3xf32>, %[[B:.*]]: tensor<3xf32>, %[[Q:.*]]: tensor<?x128xf4E2M1FN>, %[[T:.*]]: tensor<?x8xf8E4M3FN, #gq.tile128x4>, %[[QT:.*]]: tensor<?xf4E2M1FN>, %[[TT:.*]]: tensor<?xf8E4M3FN, #gq.tile128x4>, %[[AM:.*]]: tensor<3xf32>, %[[D:.*]]: tensor<3x128xf32>, %[[SO:.*]]: tensor<3xi32>
func.func @te(%x: !x, %o: tensor<4xi32>, %a: tensor<3xf32>, %b: tensor<3xf32>,
    %q0: !q, %t0: !t, %qt0: !qt, %tt0: !tt, %am0: tensor<3xf32>,
    %d0: tensor<3x128xf32>, %so0: tensor<3xi32>)
    -> (!q, !t, !qt, !tt, tensor<3xf32>, tensor<3x128xf32>, tensor<3xi32>) {
  // CHECK-NEXT: %[[R:.*]]:7 = gq.grouped_block_quantize format(nvfp4) recipe(te) rows(grouped) rowwise<block = 1x16> columnwise<rounding = nearest> ins(%[[X]] : {{[^ ]*}}) groups(%[[O]] :
  // CHECK-SAME: outer_amax(%[[A]] : tensor<3xf32>) columnwise_outer_amax(%[[B]] : tensor<3xf32>)
  // CHECK-SAME: outs(%[[Q]], %[[T]] :
  // CHECK-SAME: columnwise_outs(%[[QT]], %[[TT]] :
  // CHECK-SAME: amax_out(%[[AM]] :
  // CHECK-SAME: dbias_out(%[[D]] :
  // CHECK-SAME: scale_offsets_out(%[[SO]] :
  // CHECK-NEXT: return %[[R]]#0, %[[R]]#1, %[[R]]#2, %[[R]]#3, %[[R]]#4, %[[R]]#5, %[[R]]#6
  // PASSED: :[[#@LINE+1]]:{{.*}}fused with the rowwise direction
  %qt, %tt, %am = gq.grouped_block_quantize format(nvfp4) recipe(te)
      columnwise<rounding = nearest> ins(%x : !x) groups(%o : tensor<4xi32>) outer_amax(%b : tensor<3xf32>)
      columnwise_outs(%qt0, %tt0 : !qt, !tt) amax_out(%am0 : tensor<3xf32>)
      -> !qt, !tt, tensor<3xf32>
  %q, %t, %d, %so = gq.grouped_block_quantize format(nvfp4) recipe(te)
      rows(grouped) rowwise<block = 1x16>
      ins(%x : !x) groups(%o : tensor<4xi32>) outer_amax(%a : tensor<3xf32>) outs(%q0, %t0 : !q, !t)
      dbias_out(%d0 : tensor<3x128xf32>) scale_offsets_out(%so0 : tensor<3xi32>)
      -> !q, !t, tensor<3x128xf32>, tensor<3xi32>
  return %q, %t, %qt, %tt, %am, %d, %so : !q, !t, !qt, !tt, tensor<3xf32>,
      tensor<3x128xf32>, tensor<3xi32>
}

// -----

!x = tensor<?x128xbf16>
!q = tensor<?x128xf4E2M1FN>
!t = tensor<?x8xf8E4M3FN, #gq.tile128x4>
!qt = tensor<?xf4E2M1FN>
!tt = tensor<?xf8E4M3FN, #gq.tile128x4>

// One outer amax for both, and the columns' own one.
// CHECK-LABEL: func @outer_amax
// CHECK-SAME: %[[A:[^ ]*]]: tensor<f32>, %[[B:[^ ]*]]: tensor<f32>
func.func @outer_amax(%x: !x, %o: tensor<4xi32>, %a: tensor<f32>,
    %b: tensor<f32>, %q0: !q, %t0: !t, %qt0: !qt, %tt0: !tt)
    -> (!t, !tt, !t, !tt) {
  // CHECK: gq.grouped_block_quantize
  // CHECK-SAME: outer_amax(%[[A]] : tensor<f32>) outs(
  // CHECK: gq.grouped_block_quantize
  // CHECK-SAME: outer_amax(%[[A]] : tensor<f32>) columnwise_outer_amax(%[[B]] :
  // CHECK-NOT: gq.grouped_block_quantize
  %q, %t = gq.grouped_block_quantize format(nvfp4) recipe(te) ins(%x : !x)
      groups(%o : tensor<4xi32>) outer_amax(%a : tensor<f32>)
      outs(%q0, %t0 : !q, !t) -> !q, !t
  %qt, %tt = gq.grouped_block_quantize format(nvfp4) recipe(te) ins(%x : !x)
      groups(%o : tensor<4xi32>) outer_amax(%a : tensor<f32>)
      columnwise_outs(%qt0, %tt0 : !qt, !tt) -> !qt, !tt
  %r, %u = gq.grouped_block_quantize format(nvfp4) recipe(te) ins(%x : !x)
      groups(%o : tensor<4xi32>) outer_amax(%a : tensor<f32>)
      outs(%q0, %t0 : !q, !t) -> !q, !t
  %rt, %ut = gq.grouped_block_quantize format(nvfp4) recipe(te) ins(%x : !x)
      groups(%o : tensor<4xi32>) outer_amax(%a : tensor<f32>)
      columnwise_outer_amax(%b : tensor<f32>)
      columnwise_outs(%qt0, %tt0 : !qt, !tt) -> !qt, !tt
  return %t, %tt, %u, %ut : !t, !tt, !t, !tt
}

// -----

!x = tensor<?xbf16>
!q = tensor<?xf8E4M3FN>
!t = tensor<?xf8E8M0FNU, #gq.tile128x4>

// CHECK-LABEL: func @ragged
func.func @ragged(%x: !x, %o: tensor<4xi32>, %m: tensor<3xi32>,
    %k: tensor<3xi32>, %q0: !q, %t0: !t, %p0: !q, %s0: !t) -> (!q, !q) {
  // CHECK-NEXT: %[[R:.*]]:4 = gq.grouped_block_quantize format(mxfp8_e4m3)
  // CHECK-NEXT: return %[[R]]#0, %[[R]]#2
  %q, %t = gq.grouped_block_quantize format(mxfp8_e4m3) ins(%x : !x)
      groups(%o : tensor<4xi32>) shapes(%m, %k : tensor<3xi32>, tensor<3xi32>)
      outs(%q0, %t0 : !q, !t) -> !q, !t
  %p, %s = gq.grouped_block_quantize format(mxfp8_e4m3) ins(%x : !x)
      groups(%o : tensor<4xi32>) shapes(%m, %k : tensor<3xi32>, tensor<3xi32>)
      columnwise_outs(%p0, %s0 : !q, !t) -> !q, !t
  return %q, %p : !q, !q
}

// -----

!x = tensor<?x128xbf16>
!q = tensor<?x128xf4E2M1FN>
!t = tensor<?x8xf8E4M3FN, #gq.tile128x4>
!qt = tensor<?xf4E2M1FN>
!tt = tensor<?xf8E4M3FN, #gq.tile128x4>

func.func private @use(!t)

// The rows are used in between, but all operands are known before.
// CHECK-LABEL: func @earlier_use
func.func @earlier_use(%x: !x, %i: tensor<?xi64>, %o: tensor<4xi32>,
    %so: tensor<3xi32>, %q0: !q, %t0: !t, %qt0: !qt, %tt0: !tt) -> !tt {
  // CHECK-NEXT: %[[R:.*]]:4 = gq.grouped_block_quantize
  // CHECK-SAME: row_indices(
  // CHECK-NEXT: call @use(%[[R]]#1)
  // CHECK-NEXT: return %[[R]]#3
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%x : !x)
      row_indices(%i : tensor<?xi64>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q0, %t0 : !q, !t) -> !q, !t
  func.call @use(%t) : (!t) -> ()
  %qt, %tt = gq.grouped_block_quantize format(nvfp4) ins(%x : !x)
      row_indices(%i : tensor<?xi64>) groups(%o : tensor<4xi32>)
      columnwise_outs(%qt0, %tt0 : !qt, !tt) -> !qt, !tt
  return %tt : !tt
}

// -----

!x = tensor<?x128xbf16>
!q = tensor<?x128xf4E2M1FN>
!t = tensor<?x8xf8E4M3FN, #gq.tile128x4>
!qt = tensor<?xf4E2M1FN>
!tt = tensor<?xf8E4M3FN, #gq.tile128x4>

func.func private @scales(!t) -> !tt

// CHECK-LABEL: func @used_before_operands
func.func @used_before_operands(%x: !x, %o: tensor<4xi32>, %q0: !q, %t0: !t,
    %qt0: !qt) -> !tt {
  // CHECK-COUNT-2: gq.grouped_block_quantize
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%x : !x)
      groups(%o : tensor<4xi32>) outs(%q0, %t0 : !q, !t) -> !q, !t
  %tt0 = func.call @scales(%t) : (!t) -> !tt
  // expected-remark @+1 {{a result of one direction is used before the operands of the other are known}}
  %qt, %tt = gq.grouped_block_quantize format(nvfp4) ins(%x : !x)
      groups(%o : tensor<4xi32>) columnwise_outs(%qt0, %tt0 : !qt, !tt)
      -> !qt, !tt
  return %tt : !tt
}

// -----

!x = tensor<?x128xbf16>
!q = tensor<?x128xf4E2M1FN>
!t = tensor<?x8xf8E4M3FN, #gq.tile128x4>
!qt = tensor<?xf4E2M1FN>
!tt = tensor<?xf8E4M3FN, #gq.tile128x4>
!te = tensor<?xf8E8M0FNU, #gq.tile128x4>

// CHECK-LABEL: func @differences
func.func @differences(%x: !x, %y: !x, %o: tensor<4xi32>, %p: tensor<4xi32>,
    %g: tensor<f32>, %am0: tensor<3xf32>, %q0: !q, %t0: !t, %qt0: !qt, %tt0: !tt, %te0: !te) {
  // CHECK-COUNT-8: gq.grouped_block_quantize
  %q, %t, %am = gq.grouped_block_quantize format(nvfp4) ins(%x : !x)
      groups(%o : tensor<4xi32>) outs(%q0, %t0 : !q, !t)
      amax_out(%am0 : tensor<3xf32>) -> !q, !t, tensor<3xf32>
  // Of another input.
  %0:2 = gq.grouped_block_quantize format(nvfp4) ins(%y : !x)
      groups(%o : tensor<4xi32>) columnwise_outs(%qt0, %tt0 : !qt, !tt)
      -> !qt, !tt
  // expected-remark @+1 {{the two directions differ in 'format'}}
  %1:2 = gq.grouped_block_quantize format(mxfp4) ins(%x : !x)
      groups(%o : tensor<4xi32>) columnwise_outs(%q0, %te0 : !q, !te)
      -> !q, !te
  // expected-remark @+1 {{the two directions differ in 'offsets'}}
  %2:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : !x)
      groups(%p : tensor<4xi32>) columnwise_outs(%qt0, %tt0 : !qt, !tt)
      -> !qt, !tt
  // expected-remark @+1 {{the two directions differ in 'global_scale'}}
  %3:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : !x)
      groups(%o : tensor<4xi32>) global_scale(%g : tensor<f32>)
      columnwise_outs(%qt0, %tt0 : !qt, !tt) -> !qt, !tt
  // expected-remark @+1 {{both directions return 'amax'}}
  %4:3 = gq.grouped_block_quantize format(nvfp4) ins(%x : !x)
      groups(%o : tensor<4xi32>) columnwise_outs(%qt0, %tt0 : !qt, !tt)
      amax_out(%am0 : tensor<3xf32>) -> !qt, !tt, tensor<3xf32>
  // expected-remark @+1 {{one of the two directions has a producer; fuse directions before producers}}
  %5:2 = gq.grouped_block_quantize format(nvfp4) ins(%y : !x)
      maps [affine_map<(m, k) -> (m, k)>] groups(%o : tensor<4xi32>)
      columnwise_outs(%qt0, %tt0 : !qt, !tt) -> !qt, !tt producer {
      ^bb0(%e: bf16):
        %f = arith.negf %e : bf16
        gq.yield %f : bf16
      }
  %6:2 = gq.grouped_block_quantize format(nvfp4) ins(%y : !x)
      maps [affine_map<(m, k) -> (m, k)>] groups(%o : tensor<4xi32>)
      outs(%q0, %t0 : !q, !t) -> !q, !t producer {
      ^bb0(%e: bf16):
        %f = arith.negf %e : bf16
        gq.yield %f : bf16
      }
  return
}

// -----

!x = tensor<?x128xbf16>
!q = tensor<?x128xf4E2M1FN>
!t = tensor<?x8xf8E4M3FN, #gq.tile128x4>
!qt = tensor<?xf4E2M1FN>
!tt = tensor<?xf8E4M3FN, #gq.tile128x4>

// With as many offsets as groups, the columns would have one group fewer.
// CHECK-LABEL: func @unknown_groups
func.func @unknown_groups(%x: !x, %o: tensor<?xi32>, %so: tensor<?xi32>,
    %q0: !q, %t0: !t, %qt0: !qt, %tt0: !tt) -> (!t, !tt) {
  // CHECK-COUNT-2: gq.grouped_block_quantize
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%x : !x)
      groups(%o, %so : tensor<?xi32>, tensor<?xi32>)
      outs(%q0, %t0 : !q, !t) -> !q, !t
  // expected-remark @+1 {{rows with scale offsets have an unknown number of groups}}
  %qt, %tt = gq.grouped_block_quantize format(nvfp4) ins(%x : !x)
      groups(%o : tensor<?xi32>) columnwise_outs(%qt0, %tt0 : !qt, !tt)
      -> !qt, !tt
  return %t, %tt : !t, !tt
}

// -----

!x = tensor<?x128xbf16>
!q = tensor<?x128xf4E2M1FN>
!t = tensor<?x8xf8E4M3FN, #gq.tile128x4>
!qt = tensor<?xf4E2M1FN>
!tt = tensor<?xf8E4M3FN, #gq.tile128x4>

// CHECK-LABEL: func @blocks
func.func @blocks(%x: !x, %o: tensor<4xi32>, %c: i1, %q0: !q, %t0: !t,
    %qt0: !qt, %tt0: !tt) -> (!t, !tt) {
  // CHECK-COUNT-2: gq.grouped_block_quantize
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%x : !x)
      groups(%o : tensor<4xi32>) outs(%q0, %t0 : !q, !t) -> !q, !t
  %r = scf.if %c -> !tt {
    // expected-remark @+1 {{the two directions are in different blocks}}
    %qt, %tt = gq.grouped_block_quantize format(nvfp4) ins(%x : !x)
        groups(%o : tensor<4xi32>) columnwise_outs(%qt0, %tt0 : !qt, !tt)
        -> !qt, !tt
    scf.yield %tt : !tt
  } else {
    scf.yield %tt0 : !tt
  }
  return %t, %r : !t, !tt
}

// -----

!x = tensor<?x128xbf16>
!q = tensor<?x128xf4E2M1FN>
!t = tensor<?x8xf8E4M3FN, #gq.tile128x4>
!qt = tensor<?xf4E2M1FN>
!tt = tensor<?xf8E4M3FN, #gq.tile128x4>

// An attribute that nobody knows stays if both have it, and keeps apart what
// differs in it.
// CHECK-LABEL: func @unknown_attributes
func.func @unknown_attributes(%x: !x, %y: !x, %z: !x, %o: tensor<4xi32>,
    %q0: !q, %t0: !t, %qt0: !qt, %tt0: !tt) -> (!t, !tt, !t, !tt, !t, !tt) {
  // CHECK-NEXT: gq.grouped_block_quantize format(nvfp4) {my.note = 1 : i64} ins(
  // CHECK-SAME: columnwise_outs(
  %q, %t = gq.grouped_block_quantize format(nvfp4) {my.note = 1} ins(%x : !x)
      groups(%o : tensor<4xi32>) outs(%q0, %t0 : !q, !t) -> !q, !t
  %qt, %tt = gq.grouped_block_quantize format(nvfp4) {my.note = 1} ins(%x : !x)
      groups(%o : tensor<4xi32>) columnwise_outs(%qt0, %tt0 : !qt, !tt)
      -> !qt, !tt
  // CHECK-COUNT-4: gq.grouped_block_quantize
  %r, %u = gq.grouped_block_quantize format(nvfp4) {my.note = 1} ins(%y : !x)
      groups(%o : tensor<4xi32>) outs(%q0, %t0 : !q, !t) -> !q, !t
  // expected-remark @+1 {{the two directions differ in 'my.note'}}
  %rt, %ut = gq.grouped_block_quantize format(nvfp4) {my.note = 2} ins(%y : !x)
      groups(%o : tensor<4xi32>) columnwise_outs(%qt0, %tt0 : !qt, !tt)
      -> !qt, !tt
  %v, %w = gq.grouped_block_quantize format(nvfp4) ins(%z : !x)
      groups(%o : tensor<4xi32>) outs(%q0, %t0 : !q, !t) -> !q, !t
  // expected-remark @+1 {{the two directions differ in 'my.note'}}
  %vt, %wt = gq.grouped_block_quantize format(nvfp4) {my.note = 2} ins(%z : !x)
      groups(%o : tensor<4xi32>) columnwise_outs(%qt0, %tt0 : !qt, !tt)
      -> !qt, !tt
  return %t, %tt, %u, %ut, %w, %wt : !t, !tt, !t, !tt, !t, !tt
}

// -----

!x = tensor<?x128xbf16>
!q = tensor<?x128xf4E2M1FN>
!t = tensor<?x8xf8E4M3FN, #gq.tile128x4>
!qt = tensor<?xf4E2M1FN>
!tt = tensor<?xf8E4M3FN, #gq.tile128x4>

// An outer amax per row is not that of the columns; the random bits are those of
// the direction that has them.
// CHECK-LABEL: func @own_ways
// CHECK: gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<outer = row> columnwise<rounding = stochastic, outer = column>
// CHECK-SAME: outer_amax(%{{.*}} : tensor<?xf32>) columnwise_outer_amax(%{{.*}} : tensor<3x128xf32>) rng_state(
// CHECK-NOT: gq.grouped_block_quantize
func.func @own_ways(%x: !x, %o: tensor<4xi32>, %a: tensor<?xf32>,
    %b: tensor<3x128xf32>, %rng: tensor<2xi64>, %q0: !q, %t0: !t, %qt0: !qt,
    %tt0: !tt) -> (!q, !t, !qt, !tt) {
  %q, %t = gq.grouped_block_quantize format(nvfp4) recipe(te)
      rowwise<outer = row> ins(%x : !x) groups(%o : tensor<4xi32>)
      outer_amax(%a : tensor<?xf32>) outs(%q0, %t0 : !q, !t) -> !q, !t
  %qt, %tt = gq.grouped_block_quantize format(nvfp4) recipe(te)
      columnwise<rounding = stochastic, outer = column>
      ins(%x : !x) groups(%o : tensor<4xi32>)
      columnwise_outer_amax(%b : tensor<3x128xf32>)
      rng_state(%rng : tensor<2xi64>)
      columnwise_outs(%qt0, %tt0 : !qt, !tt) -> !qt, !tt
  return %q, %t, %qt, %tt : !q, !t, !qt, !tt
}

// -----

!x = tensor<?x128xbf16>
!q = tensor<?x128xf4E2M1FN>
!t = tensor<?x8xf8E4M3FN, #gq.tile128x4>
!qt = tensor<?xf4E2M1FN>
!tt = tensor<?xf8E4M3FN, #gq.tile128x4>

// Each has bits of its own.
// CHECK-LABEL: func @two_states
// CHECK-COUNT-2: gq.grouped_block_quantize
func.func @two_states(%x: !x, %o: tensor<4xi32>, %r: tensor<2xi64>,
    %s: tensor<2xi64>, %q0: !q, %t0: !t, %qt0: !qt, %tt0: !tt)
    -> (!q, !t, !qt, !tt) {
  %q, %t = gq.grouped_block_quantize format(nvfp4)
      rowwise<rounding = stochastic> ins(%x : !x) groups(%o : tensor<4xi32>)
      rng_state(%r : tensor<2xi64>) outs(%q0, %t0 : !q, !t) -> !q, !t
  // expected-remark @+1 {{the two directions differ in 'rng_state'}}
  %qt, %tt = gq.grouped_block_quantize format(nvfp4)
      columnwise<rounding = stochastic>
      ins(%x : !x) groups(%o : tensor<4xi32>) rng_state(%s : tensor<2xi64>)
      columnwise_outs(%qt0, %tt0 : !qt, !tt) -> !qt, !tt
  return %q, %t, %qt, %tt : !q, !t, !qt, !tt
}

// -----

!x = tensor<?x128xbf16>
!qt = tensor<?xf4E2M1FN>
!tt = tensor<?xf8E4M3FN, #gq.tile128x4>

// A GPU has a kernel for either, but none for both.
// CHECK-LABEL: func @numbers
// CHECK-COUNT-2: gq.grouped_block_quantize
func.func @numbers(%x: !x, %o: tensor<4xi32>, %y0: !x, %qt0: !qt, %tt0: !tt) -> (!x, !qt, !tt) {
  %y = gq.grouped_block_quantize format(nvfp4) ins(%x : !x) groups(%o : tensor<4xi32>)
      outs(%y0 : !x) -> !x
  // expected-remark @+1 {{the rowwise direction makes numbers in place of codes, which GPU kernels make alone}}
  %qt, %tt = gq.grouped_block_quantize format(nvfp4) ins(%x : !x) groups(%o : tensor<4xi32>)
      columnwise_outs(%qt0, %tt0 : !qt, !tt) -> !qt, !tt
  return %y, %qt, %tt : !x, !qt, !tt
}
