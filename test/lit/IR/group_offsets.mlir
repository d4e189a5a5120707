// RUN: gq-opt %s | gq-opt | FileCheck %s
// RUN: gq-opt %s --mlir-print-op-generic | gq-opt | FileCheck %s
// RUN: gq-opt %s --pass-pipeline='builtin.module(canonicalize)' | FileCheck %s --check-prefix=CANONICAL

// CHECK-LABEL: func @both
func.func @both(%c: tensor<?xi64>, %o0: tensor<?xi32>, %s0: tensor<?xi32>)
    -> (tensor<?xi32>, tensor<?xi32>) {
  // CHECK: gq.group_offsets ins(%{{[^ ]*}} : tensor<?xi64>) outs(%{{[^ ]*}}, %{{[^ ]*}} : tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>, tensor<?xi32>
  %o, %s = gq.group_offsets ins(%c : tensor<?xi64>)
      outs(%o0, %s0 : tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>, tensor<?xi32>
  return %o, %s : tensor<?xi32>, tensor<?xi32>
}

// CHECK-LABEL: func @offsets_alone
func.func @offsets_alone(%c: memref<3xi32>, %o: memref<4xi64>) {
  // CHECK: gq.group_offsets {my.note} ins(%{{[^ ]*}} : memref<3xi32>) outs(%{{[^ ]*}} : memref<4xi64>)
  gq.group_offsets {my.note} ins(%c : memref<3xi32>) outs(%o : memref<4xi64>)
  return
}

// No groups still have one offset.
// CANONICAL-LABEL: func @no_groups
func.func @no_groups(%c: tensor<0xi32>, %o0: tensor<1xi32>) -> tensor<1xi32> {
  // CANONICAL: gq.group_offsets
  %o = gq.group_offsets ins(%c : tensor<0xi32>) outs(%o0 : tensor<1xi32>) -> tensor<1xi32>
  return %o : tensor<1xi32>
}
