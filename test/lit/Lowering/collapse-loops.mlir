// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-collapse-loops,canonicalize)' | FileCheck %s

// CHECK-LABEL: func.func @three
// CHECK-SAME: %[[A:.*]]: memref<?x?x?xf32>, %[[M:.*]]: index, %[[N:.*]]: index, %[[K:.*]]: index, %[[V:.*]]: f32
// CHECK: %[[MN:.*]] = arith.muli %[[M]], %[[N]] : index
// CHECK: %[[ALL:.*]] = arith.muli %[[MN]], %[[K]] : index
// CHECK: scf.parallel (%[[I:.*]]) = (%c0) to (%[[ALL]]) step (%c1) {
// CHECK-NEXT: %[[Z:.*]] = arith.remui %[[I]], %[[K]]
// CHECK-NEXT: %[[IN:.*]] = arith.divui %[[I]], %[[K]]
// CHECK-NEXT: %[[Y:.*]] = arith.remui %[[IN]], %[[N]]
// CHECK-NEXT: %[[X:.*]] = arith.divui %[[IN]], %[[N]]
// CHECK-NEXT: memref.store %[[V]], %[[A]][%[[X]], %[[Y]], %[[Z]]]
// CHECK-NEXT: scf.reduce
func.func @three(%a: memref<?x?x?xf32>, %m: index, %n: index, %k: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x, %y, %z) = (%c0, %c0, %c0) to (%m, %n, %k) step (%c1, %c1, %c1) {
    memref.store %v, %a[%x, %y, %z] : memref<?x?x?xf32>
    scf.reduce
  }
  return
}

// CHECK-LABEL: func.func @bounds
// CHECK: scf.parallel (%[[I:.*]]) = (%c0) to (%c12) step (%c1) {
// CHECK-NEXT: %[[REST:.*]] = arith.remui %[[I]], %c4
// CHECK-NEXT: %[[FIRST:.*]] = arith.divui %[[I]], %c4
// CHECK-NEXT: %[[SCALED:.*]] = arith.muli %[[REST]], %c3
// CHECK-NEXT: %[[Y:.*]] = arith.addi %[[SCALED]], %c2
// CHECK-NEXT: %[[X:.*]] = arith.addi %[[FIRST]], %c1
// CHECK-NEXT: memref.store %{{.*}}[%[[X]], %[[Y]]]
func.func @bounds(%a: memref<4x12xf32>, %v: f32) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c12 = arith.constant 12 : index
  scf.parallel (%x, %y) = (%c1, %c2) to (%c4, %c12) step (%c1, %c3) {
    memref.store %v, %a[%x, %y] : memref<4x12xf32>
    scf.reduce
  }
  return
}

// Loops inside of a kernel are left alone.
// CHECK-LABEL: func.func @left_alone
// CHECK: scf.parallel (%{{.*}}) =
// CHECK: scf.parallel (%{{.*}}, %{{.*}}) =
func.func @left_alone(%a: memref<?x?x?xf32>, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%x) = (%c0) to (%n) step (%c1) {
    memref.store %v, %a[%x, %c0, %c1] : memref<?x?x?xf32>
    scf.parallel (%y, %z) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
      memref.store %v, %a[%x, %y, %z] : memref<?x?x?xf32>
      scf.reduce
    }
    scf.reduce
  }
  return
}
