// A result has the extents of its init, so that nothing waits for the op to know
// them.
// RUN: gq-opt %s --pass-pipeline='builtin.module(func.func(resolve-ranked-shaped-type-result-dims,cse))' | FileCheck %s

// CHECK-LABEL: func @every_result
// CHECK-SAME: %{{.*}}: tensor<?x64xbf16>, %{{.*}}: tensor<?xi32>, %[[Q:[^ ]*]]: tensor<?x64xf4E2M1FN>, %[[S:[^ ]*]]: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %[[A:[^ ]*]]: tensor<?xf32>
func.func @every_result(%x: tensor<?x64xbf16>, %o: tensor<?xi32>,
    %q0: tensor<?x64xf4E2M1FN>, %s0: tensor<?x4xf8E4M3FN, #gq.tile128x4>,
    %a0: tensor<?xf32>) -> (index, index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y, %t, %a = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<?xi32>)
      outs(%q0, %s0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      amax_out(%a0 : tensor<?xf32>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<?xf32>
  // CHECK-DAG: %[[ROWS:.*]] = tensor.dim %[[Q]], %c0
  // CHECK-DAG: %[[TILES:.*]] = tensor.dim %[[S]], %c0
  // CHECK-DAG: %[[GROUPS:.*]] = tensor.dim %[[A]], %c0
  // CHECK-DAG: %[[COLUMNS:.*]] = arith.constant 64 : index
  %0 = tensor.dim %y, %c0 : tensor<?x64xf4E2M1FN>
  %1 = tensor.dim %t, %c0 : tensor<?x4xf8E4M3FN, #gq.tile128x4>
  %2 = tensor.dim %a, %c0 : tensor<?xf32>
  %3 = tensor.dim %y, %c1 : tensor<?x64xf4E2M1FN>
  // CHECK: return %[[ROWS]], %[[TILES]], %[[GROUPS]], %[[COLUMNS]]
  return %0, %1, %2, %3 : index, index, index, index
}
