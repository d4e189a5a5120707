// RUN: gq-opt %s --split-input-file --pass-pipeline='builtin.module(gq-fuse-producers)' | FileCheck %s
// RUN: gq-opt %s --split-input-file --pass-pipeline='builtin.module(gq-fuse-producers)' -verify-diagnostics --remarks-filter-missed=gq-fuse-producers --remark-format=emitRemark
// RUN: gq-opt %s --split-input-file --pass-pipeline='builtin.module(gq-fuse-producers,gq-expand-producers)' | FileCheck %s --check-prefix=EXPAND
// RUN: gq-opt %s --split-input-file --pass-pipeline='builtin.module(gq-fuse-producers)' --remarks-filter-passed=gq-fuse-producers --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=PASSED

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
  // PASSED: :[[#@LINE+1]]:{{.*}}fused into the op that reads its result
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
  // expected-remark @+1 {{the producer's result has another user and would be computed twice}}
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
  // expected-remark @+1 {{an element is computed with a value from outside that is not constant}}
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

// CHECK-LABEL: func @index(
// CHECK: linalg.generic
// CHECK-NOT: producer
func.func @index(%a: !x, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %e0: !x, %q0: !q, %t0: !t) -> (!q, !t) {
  // expected-remark @+1 {{the producer computes with indices}}
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
  // expected-remark @+1 {{the producer has a map that is neither identity nor broadcast}}
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
  // expected-remark @+1 {{the producer has an input that is not a tensor of f32, bf16 or f16}}
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
  %zero = arith.constant 0.0 : f32
  // expected-remark @+1 {{an op that is not one of arith or math computes an element}}
  %y = linalg.generic {indexing_maps = [#id, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : !x) outs(%e0 : !x) {
  ^bb0(%e: f32, %out: f32):
    %c = arith.cmpf olt, %e, %zero : f32
    %f = scf.if %c -> f32 {
      scf.yield %zero : f32
    } else {
      scf.yield %e : f32
    }
    linalg.yield %f : f32
  } -> !x
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%y : !x)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q0, %t0 : !q, !t) -> !q, !t
  return %q, %t : !q, !t
}

// -----

!x = tensor<8x64xbf16>
!y = tensor<8x64xf32>
!q = tensor<8x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
#id = affine_map<(m, k) -> (m, k)>

// Widening an element costs nothing, so another user does not matter.
// CHECK-LABEL: func @free
// CHECK-SAME: %[[A:[^ ]*]]: tensor<8x64xbf16>
// CHECK: %[[Y:.*]] = linalg.generic
// CHECK: gq.grouped_block_quantize format(nvfp4) ins(%[[A]] : tensor<8x64xbf16>) maps
// CHECK: arith.extf
// CHECK: return %[[Y]]
func.func @free(%a: !x, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %e0: !y, %q0: !q, %t0: !t) -> (!y, !q, !t) {
  %y = linalg.generic {indexing_maps = [#id, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : !x) outs(%e0 : !y) {
  ^bb0(%e: bf16, %out: f32):
    %f = arith.extf %e : bf16 to f32
    linalg.yield %f : f32
  } -> !y
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%y : !y)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q0, %t0 : !q, !t) -> !q, !t
  return %y, %q, %t : !y, !q, !t
}

// -----

!x = tensor<8x64xf32>
!y = tensor<8x64xbf16>
!q = tensor<8x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
#id = affine_map<(m, k) -> (m, k)>

// Narrowing is not free: more would be read.
// CHECK-LABEL: func @narrowed
// CHECK-NOT: producer
func.func @narrowed(%a: !x, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %e0: !y, %q0: !q, %t0: !t) -> (!y, !q, !t) {
  // expected-remark @+1 {{the producer's result has another user and would be computed twice}}
  %y = linalg.generic {indexing_maps = [#id, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : !x) outs(%e0 : !y) {
  ^bb0(%e: f32, %out: bf16):
    %f = arith.truncf %e : f32 to bf16
    linalg.yield %f : bf16
  } -> !y
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%y : !y)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q0, %t0 : !q, !t) -> !q, !t
  return %y, %q, %t : !y, !q, !t
}

// -----

!x = tensor<?x64xbf16>
!y = tensor<?x64xf32>
!q = tensor<?x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
#id = affine_map<(m, k) -> (m, k)>
#column = affine_map<(m, k) -> (m)>

// A producer that computes with gathered elements, behind it one that computes
// with what a tensor.gather gives; the constant comes along, the indices do not.
// CHECK-DAG: #[[$ROWS:.*]] = affine_map<(d0, d1)[s0] -> (s0, d1)>
// CHECK-DAG: #[[$ELEMENTS:.*]] = affine_map<(d0, d1)[s0] -> (s0)>
// CHECK-DAG: #[[$COLUMN:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func @gather
// CHECK-SAME: %[[X:[^ ]*]]: tensor<?x64xbf16>, %[[S:[^ ]*]]: tensor<?xf32>, %[[W:[^ ]*]]: tensor<?xf32>, %[[I:[^ ]*]]: tensor<?xi64>
// CHECK-NOT: linalg.generic
// CHECK: gq.grouped_block_quantize format(nvfp4) ins(%[[W]], %[[X]], %[[S]] :
// CHECK-SAME: row_indices(%[[I]] : tensor<?xi64>) maps [#[[$COLUMN]], #[[$ROWS]], #[[$ELEMENTS]]]
// CHECK-NEXT: ^bb0(%[[EW:.*]]: f32, %[[EX:.*]]: bf16, %[[ES:.*]]: f32):
// CHECK-NEXT: arith.constant 3.0
// CHECK-NEXT: %[[F:.*]] = arith.extf %[[EX]]
// CHECK-NEXT: arith.mulf %[[F]], %[[ES]]
// CHECK-NEXT: arith.mulf %{{.*}}, %[[EW]]
// CHECK-NEXT: arith.addf
// CHECK-NEXT: arith.subf %{{.*}}, %[[ES]]
// CHECK-NEXT: gq.yield
// EXPAND-LABEL: func @gather
// EXPAND-SAME: %[[X:[^ ]*]]: tensor<?x64xbf16>, %[[S:[^ ]*]]: tensor<?xf32>, %[[W:[^ ]*]]: tensor<?xf32>, %[[I:[^ ]*]]: tensor<?xi64>
// EXPAND: %[[N:.*]] = arith.minui
// EXPAND: %[[P:.*]] = linalg.generic
// EXPAND-SAME: ins(%[[I]] : tensor<?xi64>)
// EXPAND: arith.constant -1
// EXPAND: %[[Y:.*]] = linalg.generic
// EXPAND-SAME: ins(%[[W]], %[[I]] : tensor<?xf32>, tensor<?xi64>)
// EXPAND: %[[R:.*]] = arith.index_cast
// EXPAND: %[[OK:.*]] = arith.cmpi ult, %[[R]], %[[N]]
// EXPAND: scf.if %[[OK]]
// EXPAND: tensor.extract %[[S]][%[[R]]]
// EXPAND: scf.if %[[OK]]
// EXPAND: tensor.extract %[[X]][%[[R]], %{{.*}}]
// EXPAND: gq.grouped_block_quantize format(nvfp4) ins(%[[Y]] : tensor<?x64xf32>) row_indices(%[[P]] : tensor<?xi64>)
func.func @gather(%x: !x, %s: tensor<?xf32>, %w: tensor<?xf32>,
    %i: tensor<?xi64>, %m: index, %e: !y, %o: tensor<4xi32>,
    %so: tensor<3xi32>, %q0: !q, %t0: !t) -> (!q, !t) {
  %cst = arith.constant 3.0 : f32
  %g = linalg.generic {indexing_maps = [#column, #column, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%i, %w : tensor<?xi64>, tensor<?xf32>) outs(%e : !y) {
  ^bb0(%in: i64, %ew: f32, %out: f32):
    %row = arith.index_cast %in : i64 to index
    %k = linalg.index 1 : index
    %v = tensor.extract %x[%row, %k] : !x
    %es = tensor.extract %s[%row] : tensor<?xf32>
    %f = arith.extf %v : bf16 to f32
    %1 = arith.mulf %f, %es : f32
    %2 = arith.mulf %1, %ew : f32
    %3 = arith.addf %2, %cst : f32
    linalg.yield %3 : f32
  } -> !y
  %ii = tensor.expand_shape %i [[0, 1]] output_shape [%m, 1]
      : tensor<?xi64> into tensor<?x1xi64>
  %c = tensor.gather %s[%ii] gather_dims([0])
      : (tensor<?xf32>, tensor<?x1xi64>) -> tensor<?xf32>
  %h = linalg.generic {indexing_maps = [#id, #column, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%g, %c : !y, tensor<?xf32>) outs(%e : !y) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %d = arith.subf %a, %b : f32
    linalg.yield %d : f32
  } -> !y
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%h : !y)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q0, %t0 : !q, !t) -> !q, !t
  return %q, %t : !q, !t
}

// -----

!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
#id = affine_map<(m, k) -> (m, k)>
#column = affine_map<(m, k) -> (m)>

// What computes before the rows are gathered is left there: it computes each
// row once.
// CHECK-LABEL: func @before_gather
// CHECK: %[[Y:.*]] = linalg.generic
// CHECK: gq.grouped_block_quantize format(nvfp4) ins(%[[Y]] : tensor<?x64xbf16>) row_indices(
// CHECK-NOT: producer
func.func @before_gather(%x: !x, %i: tensor<?x1xi64>, %e: !x,
    %o: tensor<4xi32>, %so: tensor<3xi32>, %q0: !q, %t0: !t) -> (!q, !t) {
  // expected-remark @+1 {{the producer's result is broadcast or gathered}}
  %y = linalg.generic {indexing_maps = [#id, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : !x) outs(%e : !x) {
  ^bb0(%a: bf16, %out: bf16):
    %f = arith.addf %a, %a : bf16
    linalg.yield %f : bf16
  } -> !x
  %g = tensor.gather %y[%i] gather_dims([0]) : (!x, tensor<?x1xi64>) -> !x
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%g : !x)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q0, %t0 : !q, !t) -> !q, !t
  return %q, %t : !q, !t
}

// -----

!x = tensor<?x64xbf16>
!y = tensor<?x64xf32>
!q = tensor<?x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
#id = affine_map<(m, k) -> (m, k)>
#column = affine_map<(m, k) -> (m)>

// CHECK-LABEL: func @two_index_tensors
// CHECK-NOT: row_indices
func.func @two_index_tensors(%x: !x, %i: tensor<?xi64>, %j: tensor<?xi64>,
    %e: !y, %o: tensor<4xi32>, %so: tensor<3xi32>, %q0: !q, %t0: !t)
    -> (!q, !t) {
  // expected-remark @+1 {{the op already gathers by another index tensor}}
  %y = linalg.generic {indexing_maps = [#column, #column, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%i, %j : tensor<?xi64>, tensor<?xi64>) outs(%e : !y) {
  ^bb0(%ei: i64, %ej: i64, %out: f32):
    %ri = arith.index_cast %ei : i64 to index
    %rj = arith.index_cast %ej : i64 to index
    %k = linalg.index 1 : index
    %a = tensor.extract %x[%ri, %k] : !x
    %b = tensor.extract %x[%rj, %k] : !x
    %fa = arith.extf %a : bf16 to f32
    %fb = arith.extf %b : bf16 to f32
    %f = arith.addf %fa, %fb : f32
    linalg.yield %f : f32
  } -> !y
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%y : !y)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q0, %t0 : !q, !t) -> !q, !t
  return %q, %t : !q, !t
}

// -----

!x = tensor<?x64xbf16>
!qt = tensor<?xf4E2M1FN>
!tt = tensor<?xf8E4M3FN, #gq.tile128x4>
#id = affine_map<(m, k) -> (m, k)>

// The other outputs stay; expanded, the op takes M from the inputs and K from
// dbias, since transposed data has neither.
// CHECK-LABEL: func @columnwise
// CHECK-SAME: %[[A:[^ ]*]]: tensor<?x64xbf16>, %[[B:[^ ]*]]: tensor<?x64xbf16>
// CHECK-NOT: linalg
// CHECK: %[[R:.*]]:3 = gq.grouped_block_quantize format(nvfp4) ins(%[[A]], %[[B]] :
// CHECK-SAME: columnwise_outs(
// CHECK-SAME: dbias_out(
// CHECK-SAME: producer {
// CHECK: return %[[R]]#0, %[[R]]#2
// EXPAND-LABEL: func @columnwise
// EXPAND-SAME: %[[A:[^ ]*]]: tensor<?x64xbf16>
// EXPAND: %[[M:.*]] = tensor.dim %[[A]], %c0
// EXPAND: tensor.empty(%[[M]]) : tensor<?x64xf32>
// EXPAND: linalg.generic
// EXPAND: gq.grouped_block_quantize format(nvfp4) ins(%{{[^ ]*}} : tensor<?x64xf32>)
// EXPAND-SAME: columnwise_outs(
// EXPAND-SAME: dbias_out(
func.func @columnwise(%a: !x, %b: !x, %o: tensor<4xi32>,
    %e0: tensor<?x64xf32>, %qt0: !qt, %tt0: !tt, %d0: tensor<3x64xbf16>)
    -> (!qt, tensor<3x64xbf16>) {
  %y = linalg.generic {indexing_maps = [#id, #id, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : !x, !x) outs(%e0 : tensor<?x64xf32>) {
  ^bb0(%ea: bf16, %eb: bf16, %out: f32):
    %fa = arith.extf %ea : bf16 to f32
    %fb = arith.extf %eb : bf16 to f32
    %g = arith.mulf %fa, %fb : f32
    linalg.yield %g : f32
  } -> tensor<?x64xf32>
  %qt, %tt, %d = gq.grouped_block_quantize format(nvfp4)
      ins(%y : tensor<?x64xf32>) groups(%o : tensor<4xi32>)
      columnwise_outs(%qt0, %tt0 : !qt, !tt) dbias_out(%d0 : tensor<3x64xbf16>)
      -> !qt, !tt, tensor<3x64xbf16>
  return %qt, %d : !qt, tensor<3x64xbf16>
}

// -----

!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
#id = affine_map<(m, k) -> (m, k)>

// An unknown attribute stays where it is.
// CHECK-LABEL: func @unknown_attribute
// CHECK: gq.grouped_block_quantize format(nvfp4) {my.note = 1 : i64} ins(
// CHECK-SAME: producer
// EXPAND-LABEL: func @unknown_attribute
// EXPAND: linalg.generic
// EXPAND: gq.grouped_block_quantize format(nvfp4) {my.note = 1 : i64} ins(
// EXPAND-NOT: producer
func.func @unknown_attribute(%x: !x, %e: !x, %o: tensor<4xi32>,
    %so: tensor<3xi32>, %q0: !q, %t0: !t) -> (!q, !t) {
  %y = linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel", "parallel"]} ins(%x : !x) outs(%e : !x) {
  ^bb0(%a: bf16, %b: bf16):
    %n = arith.negf %a : bf16
    linalg.yield %n : bf16
  } -> !x
  %q, %t = gq.grouped_block_quantize format(nvfp4) {my.note = 1} ins(%y : !x)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>) outs(%q0, %t0 : !q, !t)
      -> !q, !t
  return %q, %t : !q, !t
}

// -----

!x = tensor<?x64xf32>
!q = tensor<?xf4E2M1FN>
!t = tensor<?xf8E4M3FN, #gq.tile128x4>

// Nothing but the matrix says how many rows there are.
// CHECK-LABEL: func @no_other_extent
// CHECK: linalg.generic
// CHECK-NOT: producer
func.func @no_other_extent(%b: tensor<64xf32>, %m: index, %o: tensor<4xi32>,
    %q0: !q, %t0: !t) -> (!q, !t) {
  %e = tensor.empty(%m) : !x
  // expected-remark @+1 {{nothing else says how many rows, or columns, there are}}
  %y = linalg.generic {indexing_maps = [affine_map<(m, k) -> (k)>,
      affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<64xf32>) outs(%e : !x) {
  ^bb0(%a: f32, %c: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> !x
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%y : !x)
      groups(%o : tensor<4xi32>) columnwise_outs(%q0, %t0 : !q, !t) -> !q, !t
  return %q, %t : !q, !t
}

// -----

!x = tensor<?x64xf32>
!q = tensor<?x64xf8E4M3FN>
!t = tensor<?x4xf8E8M0FNU, #gq.tile128x4>
#id = affine_map<(m, k) -> (m, k)>

// What the op's own producer reads within a region is the new producer's.
// CHECK-LABEL: func @nested_region
// CHECK: gq.grouped_block_quantize
// CHECK: ^bb0(%[[A:.*]]: f32):
// CHECK: %[[N:.*]] = arith.mulf %[[A]], %[[A]]
// CHECK: scf.if
// CHECK-NEXT: scf.yield %[[N]]
// CHECK: arith.negf %[[N]]
func.func @nested_region(%x: !x, %e: !x, %o: tensor<4xi32>, %q0: !q, %t0: !t)
    -> (!q, !t) {
  %y = linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel", "parallel"]} ins(%x : !x) outs(%e : !x) {
  ^bb0(%a: f32, %b: f32):
    %n = arith.mulf %a, %a : f32
    linalg.yield %n : f32
  } -> !x
  %q, %t = gq.grouped_block_quantize format(mxfp8_e4m3) ins(%y : !x) maps [#id]
      groups(%o : tensor<4xi32>) outs(%q0, %t0 : !q, !t) -> !q, !t
    producer {
    ^bb0(%a: f32):
      %zero = arith.constant 0.0 : f32
      %p = arith.cmpf ogt, %a, %zero : f32
      %c = scf.if %p -> f32 {
        scf.yield %a : f32
      } else {
        %n = arith.negf %a : f32
        scf.yield %n : f32
      }
      gq.yield %c : f32
    }
  return %q, %t : !q, !t
}
