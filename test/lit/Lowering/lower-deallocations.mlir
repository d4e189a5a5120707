// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-lower-deallocations,canonicalize,cse)' | FileCheck %s

// CHECK-LABEL: func.func @two
// CHECK-SAME: (%[[A:.*]]: memref<?xf32>, %[[B:.*]]: memref<4xi8>, %[[KEPT:.*]]: memref<?xf32>, %[[OWN_A:.*]]: i1, %[[OWN_B:.*]]: i1)
func.func @two(%a: memref<?xf32>, %b: memref<4xi8>, %kept: memref<?xf32>, %own_a: i1, %own_b: i1) -> i1 {
  // CHECK-DAG: %[[PA:.*]] = memref.extract_aligned_pointer_as_index %[[A]]
  // CHECK-DAG: %[[PB:.*]] = memref.extract_aligned_pointer_as_index %[[B]]
  // CHECK-DAG: %[[PK:.*]] = memref.extract_aligned_pointer_as_index %[[KEPT]]
  // Whether the kept one is owned by then.
  // CHECK: %[[KA:.*]] = arith.cmpi eq, %[[PK]], %[[PA]]
  // CHECK: %[[KEPT_A:.*]] = arith.andi %[[OWN_A]], %[[KA]]
  // CHECK: %[[KB:.*]] = arith.cmpi eq, %[[PK]], %[[PB]]
  // CHECK: %[[KEPT_B:.*]] = arith.andi %[[OWN_B]], %[[KB]]
  // CHECK: %[[OWN_KEPT:.*]] = arith.ori %[[KEPT_A]], %[[KEPT_B]]
  // CHECK: %[[AK:.*]] = arith.cmpi {{eq|ne}}, %[[PA]], %[[PK]]
  // CHECK: scf.if %{{.*}} {
  // CHECK-NEXT: memref.dealloc %[[A]]
  // CHECK-NEXT: }
  // Not twice the same.
  // CHECK: %[[BA:.*]] = arith.cmpi eq, %[[PB]], %[[PA]]
  // CHECK: %[[FREED:.*]] = arith.andi %[[OWN_A]], %[[BA]]
  // CHECK: arith.cmpi eq, %[[PB]], %[[PK]]
  // CHECK: %[[STAYS:.*]] = arith.ori %[[FREED]],
  // CHECK: scf.if %{{.*}} {
  // CHECK-NEXT: memref.dealloc %[[B]]
  // CHECK-NEXT: }
  %own_kept = bufferization.dealloc (%a, %b : memref<?xf32>, memref<4xi8>) if (%own_a, %own_b) retain (%kept : memref<?xf32>)
  // CHECK: return %[[OWN_KEPT]]
  return %own_kept : i1
}

// CHECK-LABEL: func.func @one
// CHECK: bufferization.dealloc
func.func @one(%a: memref<?xf32>, %own: i1) {
  bufferization.dealloc (%a : memref<?xf32>) if (%own)
  return
}
