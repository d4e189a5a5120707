// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-finalize-boundary)' | FileCheck %s

// An argument is no longer returned; everything else still is.
// CHECK-LABEL: func @drop
// CHECK-SAME: (%{{.*}}: memref<4xf32>, %{{.*}}: memref<?xi8>) -> memref<2xf32>
// CHECK-SAME: gq.boundary = {inputs = [memref<4xf32>, memref<?xi8>], results = [memref<?xi8>, memref<2xf32>], sources = array<i32: 1, -1>, written = array<i1: false, false>}
// CHECK-SAME: llvm.emit_c_interface
func.func @drop(%a: memref<4xf32>, %b: memref<?xi8>)
    -> (memref<?xi8>, memref<2xf32>) {
  // CHECK: %[[ALLOC:.*]] = memref.alloc
  %c = memref.alloc() : memref<2xf32>
  // CHECK-NEXT: return {my.note = 1 : i64} %[[ALLOC]] : memref<2xf32>
  return {my.note = 1} %b, %c : memref<?xi8>, memref<2xf32>
}

// Through a cast too.
// CHECK-LABEL: func @cast
// CHECK-SAME: (%{{.*}}: memref<4xf32>) attributes
// CHECK-SAME: results = [memref<?xf32>], sources = array<i32: 0>
func.func @cast(%a: memref<4xf32>) -> memref<?xf32> {
  %c = memref.cast %a : memref<4xf32> to memref<?xf32>
  // CHECK: return{{$}}
  return %c : memref<?xf32>
}

// Each result can be freed.
// CHECK-LABEL: func @twice
func.func @twice() -> (memref<2xf32>, memref<2xf32>) {
  // CHECK: %[[ALLOC:.*]] = memref.alloc
  %c = memref.alloc() : memref<2xf32>
  // CHECK: %[[CLONE:.*]] = bufferization.clone %[[ALLOC]]
  // CHECK: return %[[ALLOC]], %[[CLONE]]
  return %c, %c : memref<2xf32>, memref<2xf32>
}

// Scalars, and no results.
// CHECK-LABEL: func @scalars
// CHECK-SAME: gq.boundary = {inputs = [i32], results = [i32], sources = array<i32: -1>, written = array<i1: false>}
func.func @scalars(%a: i32) -> i32 {
  // CHECK: return %{{.*}} : i32
  return %a : i32
}
// CHECK-LABEL: func @nothing
// CHECK-SAME: gq.boundary = {inputs = [], results = [], sources = array<i32>, written = array<i1>}
func.func @nothing() {
  return
}

// Two ways out.
// CHECK-LABEL: func @two_returns
// CHECK-SAME: -> memref<4xf32>
// CHECK-SAME: sources = array<i32: -1>
func.func @two_returns(%a: memref<4xf32>, %b: memref<4xf32>, %c: i1)
    -> memref<4xf32> {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  return %a : memref<4xf32>
^bb2:
  return %b : memref<4xf32>
}

// Called from the module: its callers expect the result.
// CHECK-LABEL: func @called
// CHECK-SAME: -> memref<4xf32>
// CHECK-SAME: sources = array<i32: -1>
func.func @called(%a: memref<4xf32>) -> memref<4xf32> {
  return %a : memref<4xf32>
}
// CHECK-LABEL: func private @caller
// CHECK-NOT: gq.boundary
func.func private @caller(%a: memref<4xf32>) -> memref<4xf32> {
  // CHECK: call @called
  %b = call @called(%a) : (memref<4xf32>) -> memref<4xf32>
  return %b : memref<4xf32>
}

// Other views of one buffer, each of which would be freed.
// CHECK-LABEL: func @views
func.func @views() -> (memref<4xf32>, memref<?xf32>, memref<2x2xf32>,
    memref<2xf32, strided<[1], offset: 2>>, memref<1x4xf32>) {
  // CHECK: %[[ALLOC:.*]] = memref.alloc
  %a = memref.alloc() : memref<4xf32>
  // CHECK: %[[V0:.*]] = memref.cast %[[ALLOC]]
  %0 = memref.cast %a : memref<4xf32> to memref<?xf32>
  // CHECK: %[[V1:.*]] = memref.expand_shape %[[ALLOC]]
  %1 = memref.expand_shape %a [[0, 1]] output_shape [2, 2]
      : memref<4xf32> into memref<2x2xf32>
  // CHECK: %[[V2:.*]] = memref.subview %[[ALLOC]]
  %2 = memref.subview %a[2] [2] [1]
      : memref<4xf32> to memref<2xf32, strided<[1], offset: 2>>
  // CHECK: %[[V3:.*]] = memref.reinterpret_cast %[[ALLOC]]
  %3 = memref.reinterpret_cast %a to offset: [0], sizes: [1, 4], strides: [4, 1]
      : memref<4xf32> to memref<1x4xf32>
  // CHECK: %[[C0:.*]] = bufferization.clone %[[V0]]
  // CHECK: %[[C1:.*]] = bufferization.clone %[[V1]]
  // CHECK: %[[C2:.*]] = bufferization.clone %[[V2]]
  // CHECK: %[[C3:.*]] = bufferization.clone %[[V3]]
  // CHECK: return %[[ALLOC]], %[[C0]], %[[C1]], %[[C2]], %[[C3]]
  return %a, %0, %1, %2, %3 : memref<4xf32>, memref<?xf32>, memref<2x2xf32>,
      memref<2xf32, strided<[1], offset: 2>>, memref<1x4xf32>
}

// Another view of an argument is not an argument; the argument itself is.
// CHECK-LABEL: func @view_of_argument
// CHECK-SAME: (%[[A:.*]]: memref<4xf32>) -> memref<2x2xf32>
// CHECK-SAME: sources = array<i32: -1, 0>
func.func @view_of_argument(%a: memref<4xf32>)
    -> (memref<2x2xf32>, memref<4xf32>) {
  // CHECK: %[[V:.*]] = memref.expand_shape %[[A]]
  // CHECK: %[[CLONE:.*]] = bufferization.clone %[[V]]
  // CHECK: return %[[CLONE]] : memref<2x2xf32>
  %0 = memref.expand_shape %a [[0, 1]] output_shape [2, 2]
      : memref<4xf32> into memref<2x2xf32>
  return %0, %a : memref<2x2xf32>, memref<4xf32>
}

// A loop may yield the same buffer twice; two calls do not.
// CHECK-LABEL: func @loop
func.func @loop(%n: index) -> (memref<4xf32>, memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  // CHECK: %[[R:.*]]:2 = scf.for
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b)
      -> (memref<4xf32>, memref<4xf32>) {
    scf.yield %y, %y : memref<4xf32>, memref<4xf32>
  }
  // CHECK: %[[CLONE:.*]] = bufferization.clone %[[R]]#1
  // CHECK: return %[[R]]#0, %[[CLONE]]
  return %r#0, %r#1 : memref<4xf32>, memref<4xf32>
}
// CHECK-LABEL: func @calls
// CHECK-NOT: bufferization.clone
// CHECK: return
func.func @calls() -> (memref<4xf32>, memref<4xf32>, memref<4xf32>) {
  %0:2 = call @private_twice() : () -> (memref<4xf32>, memref<4xf32>)
  %1:2 = call @private_twice() : () -> (memref<4xf32>, memref<4xf32>)
  return %0#0, %0#1, %1#0 : memref<4xf32>, memref<4xf32>, memref<4xf32>
}
// CHECK-LABEL: func private @private_twice
// CHECK-NOT: gq.boundary
func.func private @private_twice() -> (memref<4xf32>, memref<4xf32>) {
  // CHECK: %[[ALLOC:.*]] = memref.alloc
  // CHECK: %[[CLONE:.*]] = bufferization.clone %[[ALLOC]]
  // CHECK: return %[[ALLOC]], %[[CLONE]]
  %a = memref.alloc() : memref<4xf32>
  return %a, %a : memref<4xf32>, memref<4xf32>
}

// CHECK-LABEL: func @no_return
// CHECK-SAME: gq.boundary = {inputs = [memref<4xf32>], results = [i32], sources = array<i32: -1>, written = array<i1: false>}
func.func @no_return(%a: memref<4xf32>) -> i32 {
  cf.br ^bb1
^bb1:
  cf.br ^bb1
}

// No function of this module; and a call in there does not call one.
// CHECK: gpu.module
// CHECK-LABEL: func @drop
// CHECK-SAME: -> memref<4xf32> {
// CHECK: return %{{.*}} : memref<4xf32>
gpu.module @kernels {
  func.func @drop(%a: memref<4xf32>) -> memref<4xf32> {
    return %a : memref<4xf32>
  }
  func.func @calls_drop(%a: memref<4xf32>) -> memref<4xf32> {
    %0 = call @drop(%a) : (memref<4xf32>) -> memref<4xf32>
    return %0 : memref<4xf32>
  }
}

// Arguments that are read: directly, as a view, by a function or by a structured op.
// CHECK-LABEL: func @reads
// CHECK-SAME: written = array<i1: false, false, false, true, true>
func.func @reads(%load: memref<4xf32>, %copied: memref<4xf32>,
    %in: memref<4xf32>, %target: memref<4xf32>, %out: memref<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %view = memref.cast %load : memref<4xf32> to memref<?xf32>
  %0 = memref.load %view[%c0] : memref<?xf32>
  memref.copy %copied, %target : memref<4xf32> to memref<4xf32>
  linalg.exp ins(%in : memref<4xf32>) outs(%out : memref<4xf32>)
  %1 = call @read(%load) : (memref<4xf32>) -> f32
  %2 = arith.addf %0, %1 : f32
  return %2 : f32
}
func.func private @read(%a: memref<4xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %0 = memref.load %a[%c0] : memref<4xf32>
  return %0 : f32
}

// What is written, or may be: through a view, a call, an address, a loop, a
// branch, by a function that nobody knows.
// CHECK-LABEL: func @writes
// CHECK-SAME: written = array<i1: true, true, true, true, true, true>
func.func @writes(%store: memref<4xf32>, %called: memref<4xf32>,
    %address: memref<4xf32>, %carried: memref<4xf32>, %branch: memref<4xf32>,
    %unknown: memref<4xf32>) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 0.0 : f32
  %view = memref.subview %store[0] [2] [1] : memref<4xf32> to memref<2xf32>
  memref.store %f, %view[%c0] : memref<2xf32>
  call @write(%called) : (memref<4xf32>) -> ()
  call @unknown(%unknown) : (memref<4xf32>) -> ()
  %p = memref.extract_aligned_pointer_as_index %address : memref<4xf32> -> index
  %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%x = %carried)
      -> memref<4xf32> {
    memref.store %f, %x[%c0] : memref<4xf32>
    scf.yield %x : memref<4xf32>
  }
  cf.br ^bb1(%branch : memref<4xf32>)
^bb1(%b: memref<4xf32>):
  memref.store %f, %b[%c0] : memref<4xf32>
  return %p : index
}
func.func private @write(%a: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %f = arith.constant 0.0 : f32
  memref.store %f, %a[%c0] : memref<4xf32>
  return
}
func.func private @unknown(%a: memref<4xf32>)

// A function that calls itself.
// CHECK-LABEL: func @recursive
// CHECK-SAME: written = array<i1: true>
func.func @recursive(%a: memref<4xf32>) {
  call @recursive(%a) : (memref<4xf32>) -> ()
  return
}

// What gq ops do with memrefs.
// CHECK-LABEL: func @quantize
// CHECK-SAME: written = array<i1: false, true, true>
func.func @quantize(%x: memref<4x64xbf16>, %q: memref<4x32xi8>,
    %s: memref<4x4xf8E4M3FN>) {
  gq.block_quantize format(nvfp4) ins(%x : memref<4x64xbf16>)
      outs(%q, %s : memref<4x32xi8>, memref<4x4xf8E4M3FN>)
  return
}
