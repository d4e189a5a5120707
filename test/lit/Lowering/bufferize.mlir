// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-pack-subbyte,eliminate-empty-tensors,one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map},canonicalize)' | FileCheck %s

// Written in place: no alloc and no copy.
// CHECK-LABEL: func @in_place
// CHECK-SAME: %[[X:.*]]: memref<?x64xbf16>, %[[O:.*]]: memref<4xi32>, %[[SO:.*]]: memref<3xi32>, %[[Q:.*]]: memref<?x32xi8>, %[[S:.*]]: memref<?x4xf8E4M3FN>
func.func @in_place(%x: tensor<?x64xbf16>, %o: tensor<4xi32>,
    %so: tensor<3xi32>, %q0: tensor<?x64xf4E2M1FN>,
    %s0: tensor<?x4xf8E4M3FN, #gq.tile128x4>)
    -> (tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // CHECK-NEXT: gq.grouped_block_quantize format(nvfp4) rows(grouped) {tag} ins(%[[X]] : memref<?x64xbf16>)
  // CHECK-SAME: groups(%[[O]], %[[SO]] : memref<4xi32>, memref<3xi32>)
  // CHECK-SAME: outs(%[[Q]], %[[S]] : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  // CHECK-NEXT: return %[[Q]], %[[S]]
  %q, %s = gq.grouped_block_quantize format(nvfp4) rows(grouped) {tag}
      ins(%x : tensor<?x64xbf16>) groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q0, %s0 : tensor<?x64xf4E2M1FN>,
                      tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return %q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
}

// Rows left alone come through from the init, so a conflict copies it.
// CHECK-LABEL: func @conflict
// CHECK-SAME: %{{.*}}: memref<?x64xbf16>, %{{.*}}: memref<4xi32>, %{{.*}}: memref<3xi32>, %[[Q:.*]]: memref<?x32xi8>
func.func @conflict(%x: tensor<?x64xbf16>, %o: tensor<4xi32>,
    %so: tensor<3xi32>, %q0: tensor<?x64xf4E2M1FN>,
    %s0: tensor<?x4xf8E4M3FN, #gq.tile128x4>)
    -> (tensor<?x64xf4E2M1FN>, tensor<?x64xf4E2M1FN>) {
  // CHECK: %[[COPY:.*]] = memref.alloc
  // CHECK: memref.copy %[[Q]], %[[COPY]]
  // CHECK: gq.grouped_block_quantize {{.*}} outs(%[[COPY]],
  %q, %s = gq.grouped_block_quantize format(nvfp4) rows(grouped)
      ins(%x : tensor<?x64xbf16>) groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q0, %s0 : tensor<?x64xf4E2M1FN>,
                      tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return %q, %q0 : tensor<?x64xf4E2M1FN>, tensor<?x64xf4E2M1FN>
}

// A slice of the rows is a strided input.
// CHECK-LABEL: func @slice
func.func @slice(%x: tensor<64x128xbf16>, %r: index, %q0: tensor<8x64xf4E2M1FN>,
    %s0: tensor<8x4xf8E4M3FN>) -> (tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>) {
  // CHECK: gq.block_quantize format(nvfp4) ins(%{{.*}} : memref<8x64xbf16, strided<[128, 1], offset: ?>>)
  %p = tensor.extract_slice %x[%r, 64] [8, 64] [1, 1]
      : tensor<64x128xbf16> to tensor<8x64xbf16>
  %q, %s = gq.block_quantize format(nvfp4) ins(%p : tensor<8x64xbf16>)
      outs(%q0, %s0 : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>)
      -> tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>
  return %q, %s : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>
}
