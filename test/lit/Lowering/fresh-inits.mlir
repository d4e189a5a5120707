// RUN: gq-opt %s --pass-pipeline='builtin.module(func.func(convert-elementwise-to-linalg,gq-fresh-inits))' | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>

// Upstream takes the first operand as the init.
// CHECK-LABEL: func @elementwise
// CHECK-SAME: %[[A:.*]]: tensor<?x4xf32>, %[[B:.*]]: tensor<?x4xf32>
func.func @elementwise(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>)
    -> tensor<?x4xf32> {
  // CHECK: %[[C0:.*]] = arith.constant 0 : index
  // CHECK: %[[M:.*]] = tensor.dim %[[A]], %[[C0]]
  // CHECK: %[[EMPTY:.*]] = tensor.empty(%[[M]]) : tensor<?x4xf32>
  // CHECK: linalg.generic {{.*}} ins(%[[A]], %[[B]] : {{.*}}) outs(%[[EMPTY]] :
  %0 = arith.addf %a, %b : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// An init that is read stays.
// CHECK-LABEL: func @accumulate
// CHECK-SAME: %[[A:.*]]: tensor<?x4xf32>, %[[B:.*]]: tensor<?x4xf32>
func.func @accumulate(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>)
    -> tensor<?x4xf32> {
  // CHECK-NOT: tensor.empty
  // CHECK: linalg.generic {{.*}} outs(%[[B]] :
  %0 = linalg.generic {indexing_maps = [#id, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x4xf32>) outs(%b : tensor<?x4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// A new one too; memrefs have none.
// CHECK-LABEL: func @fresh
// CHECK: tensor.empty
// CHECK-NOT: tensor.empty
func.func @fresh(%a: tensor<2x4xf32>, %m: memref<2x4xf32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<2x4xf32>
  linalg.generic {indexing_maps = [#id, #id],
                  iterator_types = ["parallel", "parallel"]}
      ins(%m : memref<2x4xf32>) outs(%m : memref<2x4xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  return %0 : tensor<2x4xf32>
}
