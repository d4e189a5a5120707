// RUN: gq-opt %s --split-input-file --pass-pipeline='builtin.module(gq-fuse-row-gather)' | FileCheck %s
// RUN: gq-opt %s --split-input-file --pass-pipeline='builtin.module(gq-fuse-row-gather)' -verify-diagnostics --remarks-filter-missed=gq-fuse-row-gather --remark-format=emitRemark
// RUN: gq-opt %s --split-input-file --pass-pipeline='builtin.module(gq-fuse-producers)' | FileCheck %s
// RUN: gq-opt %s --split-input-file --pass-pipeline='builtin.module(gq-fuse-row-gather)' --remarks-filter-passed=gq-fuse-row-gather --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=PASSED

!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
!o = tensor<?xi32>

// CHECK-LABEL: func @tensor_gather
// CHECK-SAME: %[[X:[^ ]*]]: tensor<?x64xbf16>, %[[I:[^ ]*]]: tensor<?x1xi32>
// CHECK-NOT: tensor.gather
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[I]] {{\[\[}}0, 1]] : tensor<?x1xi32> into tensor<?xi32>
// CHECK: gq.grouped_block_quantize format(nvfp4) ins(%[[X]] : tensor<?x64xbf16>) row_indices(%[[C]] : tensor<?xi32>) groups(
func.func @tensor_gather(%x: !x, %i: tensor<?x1xi32>, %o: !o, %so: !o,
    %q0: !q, %t0: !t) -> (!q, !t) {
  // PASSED: :[[#@LINE+1]]:{{.*}}fused into the op that reads its result, by row index
  %g = tensor.gather %x[%i] gather_dims([0]) : (!x, tensor<?x1xi32>) -> !x
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%g : !x)
      groups(%o, %so : !o, !o) outs(%q0, %t0 : !q, !t) -> !q, !t
  return %q, %t : !q, !t
}

// -----

!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
!o = tensor<?xi32>

// The indices as they were before [M, 1]; the extents do not keep the gather.
// CHECK-LABEL: func @expanded_indices
// CHECK-SAME: %[[X:[^ ]*]]: tensor<?x64xbf16>, %[[I:[^ ]*]]: tensor<?xi64>
// CHECK: %[[E:.*]] = tensor.expand_shape %[[I]]
// CHECK-NOT: tensor.gather
// CHECK: tensor.dim %[[E]]
// CHECK: tensor.dim %[[X]]
// CHECK: gq.grouped_block_quantize format(nvfp4) ins(%[[X]] : tensor<?x64xbf16>) row_indices(%[[I]] : tensor<?xi64>) groups(
func.func @expanded_indices(%x: !x, %i: tensor<?xi64>, %o: !o, %so: !o,
    %q0: !q, %t0: !t) -> (index, index, !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %i, %c0 : tensor<?xi64>
  %e = tensor.expand_shape %i [[0, 1]] output_shape [%n, 1]
      : tensor<?xi64> into tensor<?x1xi64>
  %g = tensor.gather %x[%e] gather_dims([0]) : (!x, tensor<?x1xi64>) -> !x
  %m = tensor.dim %g, %c0 : !x
  %k = tensor.dim %g, %c1 : !x
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%g : !x)
      groups(%o, %so : !o, !o) outs(%q0, %t0 : !q, !t) -> !q, !t
  return %m, %k, %t : index, index, !t
}

// -----

!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
!o = tensor<?xi32>
#id = affine_map<(m, k) -> (m, k)>
#column = affine_map<(m, k) -> (m)>

// Another user of the gathered rows does not matter.
// CHECK-LABEL: func @generic
// CHECK-SAME: %[[X:[^ ]*]]: tensor<?x64xbf16>, %[[I:[^ ]*]]: tensor<?xi32>
// CHECK: %[[G:.*]] = linalg.generic
// CHECK: gq.grouped_block_quantize format(nvfp4) ins(%[[X]] : tensor<?x64xbf16>) row_indices(%[[I]] : tensor<?xi32>) groups(
// CHECK: return %[[G]]
func.func @generic(%x: !x, %i: tensor<?xi32>, %e: !x, %o: !o, %so: !o,
    %q0: !q, %t0: !t) -> (!x, !q, !t) {
  %g = linalg.generic {indexing_maps = [#column, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<?xi32>) outs(%e : !x) {
  ^bb0(%in: i32, %out: bf16):
    %row = arith.index_cast %in : i32 to index
    %k = linalg.index 1 : index
    %v = tensor.extract %x[%row, %k] : !x
    linalg.yield %v : bf16
  } -> !x
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%g : !x)
      groups(%o, %so : !o, !o) outs(%q0, %t0 : !q, !t) -> !q, !t
  return %g, %q, %t : !x, !q, !t
}

// -----

!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
!o = tensor<?xi32>
#id = affine_map<(m, k) -> (m, k)>
#column = affine_map<(m, k) -> (m)>
#one = affine_map<(m) -> (m)>

// The inputs of a producer: a matrix and a column by one index tensor, a column
// by another one.
// CHECK-DAG: #[[$ROWS:.*]] = affine_map<(d0, d1)[s0] -> (s0, d1)>
// CHECK-DAG: #[[$ELEMENTS:.*]] = affine_map<(d0, d1)[s0] -> (s0)>
// CHECK-DAG: #[[$COLUMN:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func @producer
// CHECK-SAME: %[[X:[^ ]*]]: tensor<?x64xbf16>, %[[S:[^ ]*]]: tensor<?xf32>, %[[I:[^ ]*]]: tensor<?x1xi32>, %[[J:[^ ]*]]: tensor<?x1xi32>
// CHECK: %[[W:[^ ]*]] = tensor.gather %[[S]][%[[J]]]
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[I]]
// CHECK-NOT: collapse_shape
// CHECK: gq.grouped_block_quantize format(nvfp4) ins(%[[X]], %[[S]], %[[W]] :
// CHECK-SAME: row_indices(%[[C]] : tensor<?xi32>) maps [#[[$ROWS]], #[[$ELEMENTS]], #[[$COLUMN]]]
func.func @producer(%x: !x, %s: tensor<?xf32>, %i: tensor<?x1xi32>,
    %j: tensor<?x1xi32>, %o: !o, %so: !o, %q0: !q, %t0: !t) -> (!q, !t) {
  %g = tensor.gather %x[%i] gather_dims([0]) : (!x, tensor<?x1xi32>) -> !x
  %v = tensor.gather %s[%i] gather_dims([0])
      : (tensor<?xf32>, tensor<?x1xi32>) -> tensor<?xf32>
  // expected-remark @+1 {{the op already gathers by another index tensor}}
  %w = tensor.gather %s[%j] gather_dims([0])
      : (tensor<?xf32>, tensor<?x1xi32>) -> tensor<?xf32>
  %q, %t = gq.grouped_block_quantize format(nvfp4)
      ins(%g, %v, %w : !x, tensor<?xf32>, tensor<?xf32>)
      maps [#id, #column, #column]
      groups(%o, %so : !o, !o) outs(%q0, %t0 : !q, !t) -> !q, !t producer {
  ^bb0(%e: bf16, %f: f32, %h: f32):
    %a = arith.extf %e : bf16 to f32
    %b = arith.mulf %a, %f : f32
    %c = arith.addf %b, %h : f32
    gq.yield %c : f32
  }
  return %q, %t : !q, !t
}

// -----

!x = tensor<8x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
!o = tensor<?xi32>
#id = affine_map<(m, k) -> (m, k)>
#column = affine_map<(m, k) -> (m)>

// CHECK-LABEL: func @numbers_of_rows
// CHECK: tensor.gather
// CHECK-NOT: tensor.gather
func.func @numbers_of_rows(%x: !x, %s: tensor<9xf32>, %i: tensor<?x1xi32>,
    %o: !o, %so: !o, %q0: !q, %t0: !t) -> (!q, !t) {
  %g = tensor.gather %x[%i] gather_dims([0])
      : (!x, tensor<?x1xi32>) -> tensor<?x64xbf16>
  // expected-remark @+1 {{the op already gathers from another number of rows}}
  %v = tensor.gather %s[%i] gather_dims([0])
      : (tensor<9xf32>, tensor<?x1xi32>) -> tensor<?xf32>
  %q, %t = gq.grouped_block_quantize format(nvfp4)
      ins(%g, %v : tensor<?x64xbf16>, tensor<?xf32>) maps [#id, #column]
      groups(%o, %so : !o, !o) outs(%q0, %t0 : !q, !t) -> !q, !t producer {
  ^bb0(%e: bf16, %f: f32):
    %a = arith.extf %e : bf16 to f32
    %b = arith.mulf %a, %f : f32
    gq.yield %b : f32
  }
  return %q, %t : !q, !t
}

// -----

!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
!o = tensor<?xi32>

// CHECK-LABEL: func @index_type
// CHECK: tensor.gather
// CHECK-NOT: row_indices
func.func @index_type(%x: !x, %i: tensor<?x1xindex>, %o: !o, %so: !o,
    %q0: !q, %t0: !t) -> (!q, !t) {
  // expected-remark @+1 {{the rows are not given by a tensor of i32 or i64}}
  %g = tensor.gather %x[%i] gather_dims([0]) : (!x, tensor<?x1xindex>) -> !x
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%g : !x)
      groups(%o, %so : !o, !o) outs(%q0, %t0 : !q, !t) -> !q, !t
  return %q, %t : !q, !t
}

// -----

!x = tensor<64x64xbf16>
!q = tensor<64x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
!o = tensor<?xi32>

// CHECK-LABEL: func @columns
// CHECK: tensor.gather
// CHECK-NOT: row_indices
func.func @columns(%x: !x, %i: tensor<64x1xi32>, %o: !o, %so: !o,
    %q0: !q, %t0: !t) -> (!q, !t) {
  // expected-remark @+1 {{only parts of rows are gathered}}
  %g = tensor.gather %x[%i] gather_dims([1]) : (!x, tensor<64x1xi32>) -> !x
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%g : !x)
      groups(%o, %so : !o, !o) outs(%q0, %t0 : !q, !t) -> !q, !t
  return %q, %t : !q, !t
}

// -----

!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
!o = tensor<?xi32>
#id = affine_map<(m, k) -> (m, k)>
#column = affine_map<(m, k) -> (m)>

// CHECK-LABEL: func @part_of_rows
// CHECK: tensor.extract
// CHECK-NOT: row_indices
func.func @part_of_rows(%x: tensor<?x128xbf16>, %i: tensor<?xi32>, %e: !x,
    %o: !o, %so: !o, %q0: !q, %t0: !t) -> (!q, !t) {
  // expected-remark @+1 {{the gathered rows may not be read in full}}
  %g = linalg.generic {indexing_maps = [#column, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<?xi32>) outs(%e : !x) {
  ^bb0(%in: i32, %out: bf16):
    %row = arith.index_cast %in : i32 to index
    %k = linalg.index 1 : index
    %v = tensor.extract %x[%row, %k] : tensor<?x128xbf16>
    linalg.yield %v : bf16
  } -> !x
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%g : !x)
      groups(%o, %so : !o, !o) outs(%q0, %t0 : !q, !t) -> !q, !t
  return %q, %t : !q, !t
}

// -----

!x = tensor<64x64xbf16>
!q = tensor<64x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
!o = tensor<?xi32>
#id = affine_map<(m, k) -> (m, k)>
#column = affine_map<(m, k) -> (m)>

// CHECK-LABEL: func @transposed
// CHECK: tensor.extract
// CHECK-NOT: row_indices
func.func @transposed(%x: !x, %i: tensor<64xi32>, %e: !x, %o: !o, %so: !o,
    %q0: !q, %t0: !t) -> (!q, !t) {
  // expected-remark @+1 {{only parts of rows are gathered}}
  %g = linalg.generic {indexing_maps = [#column, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<64xi32>) outs(%e : !x) {
  ^bb0(%in: i32, %out: bf16):
    %row = arith.index_cast %in : i32 to index
    %m = linalg.index 0 : index
    %v = tensor.extract %x[%row, %m] : !x
    linalg.yield %v : bf16
  } -> !x
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%g : !x)
      groups(%o, %so : !o, !o) outs(%q0, %t0 : !q, !t) -> !q, !t
  return %q, %t : !q, !t
}

// -----

!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
!o = tensor<?xi32>

// CHECK-LABEL: func @gathered_again
// CHECK: tensor.gather
// CHECK: row_indices(
func.func @gathered_again(%x: !x, %i: tensor<?x1xi32>, %j: tensor<?xi32>,
    %o: !o, %so: !o, %q0: !q, %t0: !t) -> (!q, !t) {
  // expected-remark @+1 {{the gathered rows are broadcast or gathered again}}
  %g = tensor.gather %x[%i] gather_dims([0]) : (!x, tensor<?x1xi32>) -> !x
  %q, %t = gq.grouped_block_quantize format(nvfp4) ins(%g : !x)
      row_indices(%j : tensor<?xi32>)
      groups(%o, %so : !o, !o) outs(%q0, %t0 : !q, !t) -> !q, !t
  return %q, %t : !q, !t
}

// -----

!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
!o = tensor<?xi32>
#id = affine_map<(m, k) -> (m, k)>
#column = affine_map<(m, k) -> (m)>
#one = affine_map<(m) -> (m)>

// A column from a loop over rows; gathered twice, it is read once.
// CHECK-LABEL: func @elements
// CHECK-SAME: %[[X:[^ ]*]]: tensor<?x64xbf16>, %[[S:[^ ]*]]: tensor<?xf32>, %[[I:[^ ]*]]: tensor<?xi32>
// CHECK-NOT: linalg.generic
// CHECK: gq.grouped_block_quantize format(nvfp4) ins(%[[X]], %[[S]] : tensor<?x64xbf16>, tensor<?xf32>) row_indices(%[[I]] : tensor<?xi32>)
// CHECK-NEXT: ^bb0(%[[E:.*]]: bf16, %[[F:.*]]: f32):
// CHECK: arith.mulf %{{.*}}, %[[F]]
// CHECK: arith.addf %{{.*}}, %[[F]]
func.func @elements(%x: !x, %s: tensor<?xf32>, %i: tensor<?xi32>,
    %e0: tensor<?xf32>, %e1: tensor<?xf32>, %o: !o, %so: !o, %q0: !q, %t0: !t)
    -> (!q, !t) {
  %v = linalg.generic {indexing_maps = [#one, #one],
                       iterator_types = ["parallel"]}
      ins(%i : tensor<?xi32>) outs(%e0 : tensor<?xf32>) {
  ^bb0(%in: i32, %out: f32):
    %row = arith.index_cast %in : i32 to index
    %e = tensor.extract %s[%row] : tensor<?xf32>
    linalg.yield %e : f32
  } -> tensor<?xf32>
  %w = linalg.generic {indexing_maps = [#one, #one],
                       iterator_types = ["parallel"]}
      ins(%i : tensor<?xi32>) outs(%e1 : tensor<?xf32>) {
  ^bb0(%in: i32, %out: f32):
    %row = arith.index_cast %in : i32 to index
    %e = tensor.extract %s[%row] : tensor<?xf32>
    linalg.yield %e : f32
  } -> tensor<?xf32>
  %q, %t = gq.grouped_block_quantize format(nvfp4)
      ins(%x, %v, %w : !x, tensor<?xf32>, tensor<?xf32>)
      maps [#id, #column, #column]
      groups(%o, %so : !o, !o) outs(%q0, %t0 : !q, !t) -> !q, !t producer {
  ^bb0(%e: bf16, %f: f32, %h: f32):
    %a = arith.extf %e : bf16 to f32
    %b = arith.mulf %a, %f : f32
    %c = arith.addf %b, %h : f32
    gq.yield %c : f32
  }
  return %q, %t : !q, !t
}

// -----

!x = tensor<?x64xbf16>
!q = tensor<?x64xf8E4M3FN>
!s = tensor<?x2xf8E8M0FNU>
!t = tensor<?xf8E8M0FNU>

// Both directions of gathered rows, with linear scales.
// CHECK-LABEL: func @columnwise
// CHECK-SAME: %[[X:[^ ]*]]: tensor<?x64xbf16>
// CHECK-NOT: tensor.gather
// CHECK: gq.grouped_block_quantize format(mxfp8_e4m3) scale_layout(linear) ins(%[[X]] : tensor<?x64xbf16>) row_indices(
// CHECK-SAME: outs(
// CHECK-SAME: columnwise_outs(
func.func @columnwise(%x: !x, %i: tensor<?x1xi64>, %o: tensor<4xi32>, %q0: !q,
    %s0: !s, %p0: !q, %t0: !t) -> (!q, !q) {
  %y = tensor.gather %x[%i] gather_dims([0]) : (!x, tensor<?x1xi64>) -> !x
  %q, %s, %p, %t = gq.grouped_block_quantize format(mxfp8_e4m3)
      scale_layout(linear) ins(%y : !x) groups(%o : tensor<4xi32>)
      outs(%q0, %s0 : !q, !s) columnwise_outs(%p0, %t0 : !q, !t)
      -> !q, !s, !q, !t
  return %q, %p : !q, !q
}

// -----

!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!t = tensor<?x4xf8E4M3FN, #gq.tile128x4>
!o = tensor<?xi32>

// CHECK-LABEL: func @unknown_attribute
// CHECK: gq.grouped_block_quantize format(nvfp4) {my.note = 1 : i64} ins(%{{.*}}) row_indices(
func.func @unknown_attribute(%x: !x, %i: tensor<?x1xi32>, %o: !o, %so: !o,
    %q0: !q, %t0: !t) -> (!q, !t) {
  %g = tensor.gather %x[%i] gather_dims([0]) : (!x, tensor<?x1xi32>) -> !x
  %q, %t = gq.grouped_block_quantize format(nvfp4) {my.note = 1} ins(%g : !x)
      groups(%o, %so : !o, !o) outs(%q0, %t0 : !q, !t) -> !q, !t
  return %q, %t : !q, !t
}
