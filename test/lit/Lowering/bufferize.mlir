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

// All outputs are written in place; flat f4 is packed as the others are.
// CHECK-LABEL: func @all_outputs
// CHECK-SAME: %[[X:[^ ]*]]: memref<?x128xbf16>, %[[O:[^ ]*]]: memref<4xi32>, %[[Q:[^ ]*]]: memref<?x64xi8>, %[[S:[^ ]*]]: memref<?x8xf8E4M3FN>, %[[QT:[^ ]*]]: memref<16384xi8>, %[[ST:[^ ]*]]: memref<?xf8E4M3FN>, %[[AM:[^ ]*]]: memref<3xf32>, %[[D:[^ ]*]]: memref<3x128xbf16>, %[[SO:[^ ]*]]: memref<3xi32>
func.func @all_outputs(%x: tensor<?x128xbf16>, %o: tensor<4xi32>,
    %q0: tensor<?x128xf4E2M1FN>, %s0: tensor<?x8xf8E4M3FN, #gq.tile128x4>,
    %qt0: tensor<32768xf4E2M1FN>, %st0: tensor<?xf8E4M3FN, #gq.tile128x4>,
    %am0: tensor<3xf32>, %d0: tensor<3x128xbf16>, %so0: tensor<3xi32>)
    -> (tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>,
        tensor<32768xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>,
        tensor<3xf32>, tensor<3x128xbf16>, tensor<3xi32>) {
  // CHECK-NEXT: gq.grouped_block_quantize format(nvfp4) ins(%[[X]] :
  // CHECK-SAME: groups(%[[O]] :
  // CHECK-SAME: outs(%[[Q]], %[[S]] :
  // CHECK-SAME: columnwise_outs(%[[QT]], %[[ST]] :
  // CHECK-SAME: amax_out(%[[AM]] :
  // CHECK-SAME: dbias_out(%[[D]] :
  // CHECK-SAME: scale_offsets_out(%[[SO]] :
  // CHECK-NEXT: return %[[Q]], %[[S]], %[[QT]], %[[ST]], %[[AM]], %[[D]], %[[SO]]
  %r:7 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      outs(%q0, %s0 : tensor<?x128xf4E2M1FN>,
                      tensor<?x8xf8E4M3FN, #gq.tile128x4>)
      columnwise_outs(%qt0, %st0 : tensor<32768xf4E2M1FN>,
                                   tensor<?xf8E4M3FN, #gq.tile128x4>)
      amax_out(%am0 : tensor<3xf32>) dbias_out(%d0 : tensor<3x128xbf16>)
      scale_offsets_out(%so0 : tensor<3xi32>)
      -> tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>,
         tensor<32768xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>,
         tensor<3xf32>, tensor<3x128xbf16>, tensor<3xi32>
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6
      : tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>,
        tensor<32768xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>,
        tensor<3xf32>, tensor<3x128xbf16>, tensor<3xi32>
}
