// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-protect-arguments)' | FileCheck %s

!x = tensor<?x64xf32>
!q = tensor<?x32xi8>
!s = tensor<?x4xf8E4M3FN>
#id = affine_map<(i, j) -> (i, j)>

// What is returned may be written, the rest not, even if it is read elsewhere.
// CHECK-LABEL: func @returned
// CHECK-SAME: (%{{.*}}: tensor<?x64xf32> {bufferization.writable = false}, %{{.*}}: tensor<?x32xi8>, %{{.*}}: tensor<?x4xf8E4M3FN> {bufferization.writable = false}, %{{.*}}: i32)
func.func @returned(%x: !x, %q0: !q, %s0: !s, %i: i32) -> (!q, index) {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %q0, %c0 : !q
  %q, %s = gq.block_quantize format(nvfp4) ins(%x : !x) outs(%q0, %s0 : !q, !s)
      -> !q, !s
  return %q, %d : !q, index
}

// An operation's first operand is not a destination.
// CHECK-LABEL: func @elementwise
// CHECK-SAME: (%{{.*}}: tensor<?x64xf32> {bufferization.writable = false}, %{{.*}}: tensor<?x64xf32> {bufferization.writable = false})
func.func @elementwise(%a: !x, %b: !x) -> !x {
  %0 = arith.addf %a, %b : !x
  return %0 : !x
}

// The author knows better; other attributes stay.
// CHECK-LABEL: func @author
// CHECK-SAME: {bufferization.writable = true}, %{{.*}}: tensor<?x64xf32> {bufferization.writable = false, my.note = "b"})
func.func @author(%a: !x {bufferization.writable = true},
    %b: !x {my.note = "b"}) -> !x {
  %0 = arith.addf %a, %b : !x
  return %0 : !x
}

// CHECK-LABEL: func @chain
// CHECK-SAME: (%{{.*}}: tensor<?x64xf32>, %{{.*}}: tensor<?x64xf32> {bufferization.writable = false})
func.func @chain(%a: !x, %b: !x) -> tensor<8x64xf32> {
  %0 = tensor.cast %a : !x to tensor<8x64xf32>
  %1 = tensor.cast %b : !x to tensor<8x64xf32>
  %2 = linalg.exp ins(%1 : tensor<8x64xf32>) outs(%0 : tensor<8x64xf32>)
      -> tensor<8x64xf32>
  return %2 : tensor<8x64xf32>
}

// Two writers: one of them gets a copy, and it is not known which.
// CHECK-LABEL: func @two_writers
// CHECK-SAME: (%{{.*}}: tensor<?x64xf32> {bufferization.writable = false})
func.func @two_writers(%a: !x) -> (!x, f32) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %0 = linalg.fill ins(%zero : f32) outs(%a : !x) -> !x
  %1 = linalg.exp ins(%a : !x) outs(%a : !x) -> !x
  %2 = tensor.extract %1[%c0, %c0] : !x
  return %0, %2 : !x, f32
}

// A read in between: what precedes it could be in place, what follows could not.
// CHECK-LABEL: func @read_between
// CHECK-SAME: (%{{.*}}: tensor<?x64xf32> {bufferization.writable = false})
func.func @read_between(%a: !x) -> (!x, f32) {
  %c0 = arith.constant 0 : index
  %0 = linalg.exp ins(%a : !x) outs(%a : !x) -> !x
  %1 = linalg.exp ins(%0 : !x) outs(%0 : !x) -> !x
  %2 = tensor.extract %0[%c0, %c0] : !x
  return %1, %2 : !x, f32
}

// CHECK-LABEL: func @loop
// CHECK-SAME: (%{{.*}}: tensor<?x64xf32>, %{{.*}}: tensor<?x64xf32> {bufferization.writable = false}, %{{.*}}: index)
func.func @loop(%a: !x, %b: !x, %n: index) -> (!x, !x) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b)
      -> (!x, !x) {
    %u = linalg.exp ins(%x : !x) outs(%x : !x) -> !x
    %v = arith.addf %y, %y : !x
    scf.yield %u, %v : !x, !x
  }
  return %r#0, %r#1 : !x, !x
}

// CHECK-LABEL: func @swap
// CHECK-SAME: (%{{.*}}: tensor<?x64xf32> {bufferization.writable = false}, %{{.*}}: tensor<?x64xf32> {bufferization.writable = false}, %{{.*}}: index)
func.func @swap(%a: !x, %b: !x, %n: index) -> (!x, !x) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b)
      -> (!x, !x) {
    %u = linalg.exp ins(%x : !x) outs(%x : !x) -> !x
    scf.yield %y, %u : !x, !x
  }
  return %r#0, %r#1 : !x, !x
}

// CHECK-LABEL: func @slices
// CHECK-SAME: (%{{.*}}: tensor<?x64xf32>, %{{.*}}: tensor<2x64xf32> {bufferization.writable = false})
func.func @slices(%a: !x, %b: tensor<2x64xf32>) -> !x {
  %0 = tensor.insert_slice %b into %a[4, 0] [2, 64] [1, 1]
      : tensor<2x64xf32> into !x
  return %0 : !x
}

// Fusion would give it a new init.
// CHECK-LABEL: func @generic
// CHECK-SAME: (%[[A:.*]]: tensor<?x64xf32> {bufferization.writable = false}, %[[OUT:.*]]: tensor<?x64xf32>)
func.func @generic(%a: !x, %out: !x) -> !x {
  // CHECK: %[[EMPTY:.*]] = tensor.empty
  // CHECK: %[[R:.*]] = linalg.generic {{.*}} outs(%[[EMPTY]] :
  %0 = linalg.generic {indexing_maps = [#id, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : !x) outs(%out : !x) {
  ^bb0(%v: f32, %unused: f32):
    linalg.yield %v : f32
  } -> !x
  // CHECK: %[[M:.*]] = bufferization.materialize_in_destination %[[R]] in %[[OUT]]
  // CHECK: return %[[M]]
  return %0 : !x
}

// Results of these are never arguments.
// CHECK-LABEL: func @two_returns
// CHECK-SAME: (%{{.*}}: tensor<?x64xf32> {bufferization.writable = false}, %{{.*}}: i1)
func.func @two_returns(%a: !x, %c: i1) -> !x {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%a : !x) -> !x
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  return %0 : !x
^bb2:
  return %0 : !x
}
// CHECK-LABEL: func @called
// CHECK-SAME: (%{{.*}}: tensor<?x64xf32> {bufferization.writable = false})
func.func @called(%a: !x) -> !x {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%a : !x) -> !x
  return %0 : !x
}
// CHECK-LABEL: func @caller
// CHECK-SAME: (%{{.*}}: tensor<?x64xf32> {bufferization.writable = false})
func.func @caller(%a: !x) -> !x {
  %0 = call @called(%a) : (!x) -> !x
  return %0 : !x
}

// CHECK-LABEL: func @no_return
func.func @no_return(%a: !x) {
  cf.br ^bb1
^bb1:
  cf.br ^bb1
}

// Bufferization follows the calls of these.
// CHECK-LABEL: func private @private
// CHECK-NOT: bufferization.writable
func.func private @private(%a: !x) {
  return
}
func.func private @declared(!x)
