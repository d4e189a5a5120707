// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-finalize-boundary)' | FileCheck %s

// An argument that is returned is not; what else is, stays.
// CHECK-LABEL: func @drop
// CHECK-SAME: (%{{.*}}: memref<4xf32>, %{{.*}}: memref<?xi8>) -> memref<2xf32>
// CHECK-SAME: gq.boundary = {inputs = [memref<4xf32>, memref<?xi8>], results = [memref<?xi8>, memref<2xf32>], sources = array<i32: 1, -1>}
// CHECK-SAME: llvm.emit_c_interface
func.func @drop(%a: memref<4xf32>, %b: memref<?xi8>)
    -> (memref<?xi8>, memref<2xf32>) {
  // CHECK: %[[ALLOC:.*]] = memref.alloc
  %c = memref.alloc() : memref<2xf32>
  // CHECK-NEXT: return %[[ALLOC]] : memref<2xf32>
  return %b, %c : memref<?xi8>, memref<2xf32>
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
// CHECK-SAME: gq.boundary = {inputs = [i32], results = [i32], sources = array<i32: -1>}
func.func @scalars(%a: i32) -> i32 {
  // CHECK: return %{{.*}} : i32
  return %a : i32
}
// CHECK-LABEL: func @nothing
// CHECK-SAME: gq.boundary = {inputs = [], results = [], sources = array<i32>}
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
