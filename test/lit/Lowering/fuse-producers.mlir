// RUN: gq-opt %s --split-input-file --pass-pipeline='builtin.module(gq-fuse-producers)' | FileCheck %s
// RUN: gq-opt %s --split-input-file --pass-pipeline='builtin.module(gq-fuse-producers)' -verify-diagnostics --remarks-filter-missed=gq-fuse-producers --remark-format=emitRemark
// RUN: gq-opt %s --split-input-file --pass-pipeline='builtin.module(gq-fuse-producers,gq-expand-producers)' | FileCheck %s --check-prefix=EXPAND

!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
#id = affine_map<(m, k) -> (m, k)>
#row = affine_map<(m, k) -> (k)>
#column = affine_map<(m, k) -> (m)>
#scalar = affine_map<(m, k) -> ()>

// Two producers one after the other, every kind of map, constants from outside
// and an input that is read twice.
// CHECK-LABEL: func @chain
// CHECK-SAME: %[[A:.*]]: tensor<?x64xbf16>, %[[B:.*]]: tensor<64xf32>, %[[C:.*]]: tensor<?xf32>, %[[D:.*]]: tensor<f32>, %[[O:.*]]: tensor<4xi32>
// CHECK-NOT: linalg
// CHECK: gq.grouped_block_quantize format(nvfp4)
// CHECK-SAME: ins(%[[A]], %[[B]], %[[C]], %[[D]] :
// CHECK-SAME: maps [#[[ID:.*]], #[[ROW:.*]], #[[COLUMN:.*]], #[[SCALAR:.*]]] groups(%[[O]],
// CHECK-SAME: producer {
// CHECK-NEXT: ^bb0(%[[EA:.*]]: bf16, %[[EB:.*]]: f32, %[[EC:.*]]: f32, %[[ED:.*]]: f32):
// CHECK: %[[CST:.*]] = arith.constant 2.0
// CHECK: %[[F:.*]] = arith.extf %[[EA]]
// CHECK: %[[G:.*]] = arith.addf %[[F]], %[[EB]]
// CHECK: %[[H:.*]] = arith.mulf %[[G]], %[[CST]]
// CHECK: gq.yield
// EXPAND-LABEL: func @chain
// EXPAND: %[[X:.*]] = linalg.generic
// EXPAND: } -> tensor<?x64xbf16>
// EXPAND: gq.grouped_block_quantize format(nvfp4) ins(%[[X]] : tensor<?x64xbf16>)
// EXPAND-NOT: producer
func.func @chain(%a: !x, %b: tensor<64xf32>, %c: tensor<?xf32>, %d: tensor<f32>,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %e0: tensor<?x64xf32>, %e1: !x,
    %q0: !q, %t0: !t) -> (!q, !t) {
  %cst = arith.constant 2.0 : f32
  %y = linalg.generic {indexing_maps = [#id, #row, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : !x, tensor<64xf32>) outs(%e0 : tensor<?x64xf32>) {
  ^bb0(%ea: bf16, %eb: f32, %out: f32):
    %f = arith.extf %ea : bf16 to f32
    %g = arith.addf %f, %eb : f32
    %h = arith.mulf %g, %cst : f32
    linalg.yield %h : f32
  } -> tensor<?x64xf32>
  %z = linalg.generic {indexing_maps = [#id, #column, #scalar, #id, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%y, %c, %d, %a : tensor<?x64xf32>, tensor<?xf32>, tensor<f32>, !x)
      outs(%e1 : !x) {
  ^bb0(%ey: f32, %ec: f32, %ed: f32, %ea: bf16, %out: bf16):
    %p = arith.mulf %ey, %ec : f32
    %r = arith.divf %p, %ed : f32
    %u = arith.truncf %r : f32 to bf16
    %w = arith.maximumf %u, %ea : bf16
    linalg.yield %w : bf16
  } -> !x
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%z : !x)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q0, %t0 : !q, !t) -> !q, !t
  return %q, %t : !q, !t
}

// -----

!x = tensor<8x64xf32>
!q = tensor<8x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
#id = affine_map<(m, k) -> (m, k)>

// CHECK-LABEL: func @another_user
// CHECK: linalg.generic
// CHECK-NOT: producer
func.func @another_user(%a: !x, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %e0: !x, %q0: !q, %t0: !t) -> (!x, !q, !t) {
  // expected-remark @+1 {{the producer's result has another user, it would be computed twice}}
  %y = linalg.generic {indexing_maps = [#id, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : !x) outs(%e0 : !x) {
  ^bb0(%e: f32, %out: f32):
    %f = math.absf %e : f32
    linalg.yield %f : f32
  } -> !x
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%y : !x)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q0, %t0 : !q, !t) -> !q, !t
  return %y, %q, %t : !x, !q, !t
}

// -----

!x = tensor<8x64xf32>
!q = tensor<8x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
#id = affine_map<(m, k) -> (m, k)>

// CHECK-LABEL: func @reads_outs
// CHECK: linalg.generic
// CHECK-NOT: producer
func.func @reads_outs(%a: !x, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %e0: !x, %q0: !q, %t0: !t) -> (!q, !t) {
  // expected-remark @+1 {{the producer reads its 'outs'}}
  %y = linalg.generic {indexing_maps = [#id, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : !x) outs(%e0 : !x) {
  ^bb0(%e: f32, %out: f32):
    %f = arith.addf %e, %out : f32
    linalg.yield %f : f32
  } -> !x
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%y : !x)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q0, %t0 : !q, !t) -> !q, !t
  return %q, %t : !q, !t
}

// -----

!x = tensor<8x64xf32>
!q = tensor<8x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
#id = affine_map<(m, k) -> (m, k)>

// CHECK-LABEL: func @captures
// CHECK: linalg.generic
// CHECK-NOT: producer
func.func @captures(%a: !x, %v: f32, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %e0: !x, %q0: !q, %t0: !t) -> (!q, !t) {
  // expected-remark @+1 {{the producer uses a value from outside that is no constant}}
  %y = linalg.generic {indexing_maps = [#id, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : !x) outs(%e0 : !x) {
  ^bb0(%e: f32, %out: f32):
    %f = arith.addf %e, %v : f32
    linalg.yield %f : f32
  } -> !x
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%y : !x)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q0, %t0 : !q, !t) -> !q, !t
  return %q, %t : !q, !t
}

// -----

!x = tensor<8x64xf32>
!q = tensor<8x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
#id = affine_map<(m, k) -> (m, k)>

// CHECK-LABEL: func @other_op
// CHECK: linalg.generic
// CHECK-NOT: producer
func.func @other_op(%a: !x, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %e0: !x, %q0: !q, %t0: !t) -> (!q, !t) {
  // expected-remark @+1 {{the producer has an op that is not one of arith or math}}
  %y = linalg.generic {indexing_maps = [#id, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : !x) outs(%e0 : !x) {
  ^bb0(%e: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.sitofp %j : i32 to f32
    %f = arith.addf %e, %k : f32
    linalg.yield %f : f32
  } -> !x
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%y : !x)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q0, %t0 : !q, !t) -> !q, !t
  return %q, %t : !q, !t
}

// -----

!x = tensor<64x64xf32>
!q = tensor<64x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
#id = affine_map<(m, k) -> (m, k)>
#transposed = affine_map<(m, k) -> (k, m)>

// CHECK-LABEL: func @transposed
// CHECK: linalg.generic
// CHECK-NOT: producer
func.func @transposed(%a: !x, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %e0: !x, %q0: !q, %t0: !t) -> (!q, !t) {
  // expected-remark @+1 {{the producer has a map that is no identity or broadcast}}
  %y = linalg.generic {indexing_maps = [#transposed, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : !x) outs(%e0 : !x) {
  ^bb0(%e: f32, %out: f32):
    linalg.yield %e : f32
  } -> !x
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%y : !x)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q0, %t0 : !q, !t) -> !q, !t
  return %q, %t : !q, !t
}

// -----

!x = tensor<8x64xf32>
!q = tensor<8x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
#id = affine_map<(m, k) -> (m, k)>

// CHECK-LABEL: func @integers
// CHECK: linalg.generic
// CHECK-NOT: producer
func.func @integers(%a: tensor<8x64xi8>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %e0: !x, %q0: !q, %t0: !t) -> (!q, !t) {
  // expected-remark @+1 {{the producer has an input that is no tensor of f32, bf16 or f16}}
  %y = linalg.generic {indexing_maps = [#id, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<8x64xi8>) outs(%e0 : !x) {
  ^bb0(%e: i8, %out: f32):
    %f = arith.sitofp %e : i8 to f32
    linalg.yield %f : f32
  } -> !x
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%y : !x)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q0, %t0 : !q, !t) -> !q, !t
  return %q, %t : !q, !t
}

// -----

!x = tensor<8x64xf32>
!q = tensor<8x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
#id = affine_map<(m, k) -> (m, k)>

// CHECK-LABEL: func @too_many
// CHECK: linalg.generic
// CHECK-NOT: producer
func.func @too_many(%a: !x, %b: !x, %c: !x, %d: !x, %e: !x, %f: !x, %g: !x,
    %h: !x, %i: !x, %o: tensor<4xi32>, %so: tensor<3xi32>, %e0: !x, %q0: !q,
    %t0: !t) -> (!q, !t) {
  // expected-remark @+1 {{the op would have more than 8 inputs}}
  %y = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id, #id, #id, #id, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a, %b, %c, %d, %e, %f, %g, %h, %i
          : !x, !x, !x, !x, !x, !x, !x, !x, !x) outs(%e0 : !x) {
  ^bb0(%ea: f32, %eb: f32, %ec: f32, %ed: f32, %ee: f32, %ef: f32, %eg: f32,
       %eh: f32, %ei: f32, %out: f32):
    %s = arith.addf %ea, %ei : f32
    linalg.yield %s : f32
  } -> !x
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%y : !x)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q0, %t0 : !q, !t) -> !q, !t
  return %q, %t : !q, !t
}
