// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-prepare-kernels)' | FileCheck %s

#in = affine_map<(r, p, s, q) -> (r, p + 1, q, s)>
#out = affine_map<(r, p, s, q) -> (q, p)>

// CHECK-DAG: #[[IN:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d0 + 1, d1, d3)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d0)>

// The order among parallel loops and among reductions stays.
// CHECK-LABEL: func.func @order
// CHECK-NOT: scf.parallel
// CHECK: linalg.generic {indexing_maps = [#[[IN]], #[[OUT]]], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
// CHECK: linalg.index 2
// CHECK-NEXT: linalg.index 0
// CHECK-NEXT: linalg.index 3
// CHECK-NEXT: linalg.index 1
func.func @order(%a: memref<?x?x?x?xindex>, %b: memref<?x?xindex>) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction", "parallel", "reduction", "parallel"]}
      ins(%a : memref<?x?x?x?xindex>) outs(%b : memref<?x?xindex>) {
  ^bb0(%x: index, %y: index):
    %0 = linalg.index 0 : index
    %1 = linalg.index 1 : index
    %2 = linalg.index 2 : index
    %3 = linalg.index 3 : index
    %4 = arith.addi %0, %1 : index
    %5 = arith.addi %2, %3 : index
    %6 = arith.muli %4, %5 : index
    %7 = arith.addi %6, %y : index
    linalg.yield %7 : index
  }
  return
}

// CHECK-LABEL: func.func @one_iteration
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: scf.parallel (%{{.*}}) = (%{{.*}}) to (%[[ONE]]) step (%{{.*}}) {
// CHECK-NEXT: linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], iterator_types = ["reduction"]}
// CHECK: scf.parallel
// CHECK-NEXT: memref.store %arg2, %arg1[] : memref<f32>
// CHECK-NEXT: scf.reduce
func.func @one_iteration(%a: memref<?xf32>, %b: memref<f32>, %s: f32) {
  linalg.generic {indexing_maps = [affine_map<(r) -> (r)>, affine_map<(r) -> ()>], iterator_types = ["reduction"]}
      ins(%a : memref<?xf32>) outs(%b : memref<f32>) {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  }
  memref.store %s, %b[] : memref<f32>
  return
}

// A copy of consecutive bytes needs no kernel.
// CHECK-LABEL: func.func @copies
// CHECK: linalg.generic {indexing_maps = [#[[ID:.*]], #[[ID]]], iterator_types = ["parallel", "parallel"]} ins(%arg0 : memref<?x4xf64, strided<[8, 1]>>) outs(%arg1 : memref<?x4xf64>)
// CHECK-NEXT: ^bb0(%[[READ:.*]]: f64, %{{.*}}: f64):
// CHECK-NEXT: linalg.yield %[[READ]] : f64
// CHECK: scf.parallel
// CHECK-NEXT: linalg.generic {indexing_maps = [#[[NONE:.*]], #[[NONE]]], iterator_types = []} ins(%arg2
// CHECK: memref.copy %arg3, %arg1
func.func @copies(%a: memref<?x4xf64, strided<[8, 1]>>, %b: memref<?x4xf64>,
    %c: memref<i8, strided<[], offset: ?>>, %d: memref<?x4xf64>, %e: memref<i8>) {
  memref.copy %a, %b : memref<?x4xf64, strided<[8, 1]>> to memref<?x4xf64>
  memref.copy %c, %e : memref<i8, strided<[], offset: ?>> to memref<i8>
  memref.copy %d, %b : memref<?x4xf64> to memref<?x4xf64>
  return
}
