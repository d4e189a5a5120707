// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-pack-subbyte)' | FileCheck %s

// CHECK-NOT: f4E2M1FN

// CHECK: func private @callee(tensor<?x32xi8>) -> tensor<4x32xi8>
func.func private @callee(tensor<?x64xf4E2M1FN>) -> tensor<4x64xf4E2M1FN>

// CHECK-LABEL: func @calls
// CHECK-SAME: (%[[A:.*]]: tensor<?x32xi8>) -> tensor<?x32xi8>
func.func @calls(%a: tensor<?x64xf4E2M1FN>) -> tensor<?x64xf4E2M1FN> {
  // CHECK: %[[B:.*]] = call @callee(%[[A]]) : (tensor<?x32xi8>) -> tensor<4x32xi8>
  %b = call @callee(%a) : (tensor<?x64xf4E2M1FN>) -> tensor<4x64xf4E2M1FN>
  // CHECK: tensor.cast %[[B]] : tensor<4x32xi8> to tensor<?x32xi8>
  %c = tensor.cast %b : tensor<4x64xf4E2M1FN> to tensor<?x64xf4E2M1FN>
  return %c : tensor<?x64xf4E2M1FN>
}

// CHECK-LABEL: func @control_flow
func.func @control_flow(%a: tensor<8x64xf4E2M1FN>, %b: tensor<8x64xf4E2M1FN>,
    %c: i1, %n: index) -> tensor<8x64xf4E2M1FN> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: scf.if %{{.*}} -> (tensor<8x32xi8>)
  %i = scf.if %c -> tensor<8x64xf4E2M1FN> {
    scf.yield %a : tensor<8x64xf4E2M1FN>
  } else {
    scf.yield %b : tensor<8x64xf4E2M1FN>
  }
  // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (tensor<8x32xi8>)
  %f = scf.for %k = %c0 to %n step %c1 iter_args(%v = %i)
      -> tensor<8x64xf4E2M1FN> {
    scf.yield %v : tensor<8x64xf4E2M1FN>
  }
  // CHECK: scf.while (%{{.*}} = %{{.*}}) : (tensor<8x32xi8>) -> tensor<8x32xi8>
  %w = scf.while (%v = %f) : (tensor<8x64xf4E2M1FN>) -> tensor<8x64xf4E2M1FN> {
    scf.condition(%c) %v : tensor<8x64xf4E2M1FN>
  } do {
  ^bb0(%v: tensor<8x64xf4E2M1FN>):
    scf.yield %v : tensor<8x64xf4E2M1FN>
  }
  // CHECK: cf.br ^[[BB:.*]](%{{.*}} : tensor<8x32xi8>)
  cf.br ^bb1(%w : tensor<8x64xf4E2M1FN>)
  // CHECK: ^[[BB]](%{{.*}}: tensor<8x32xi8>):
^bb1(%r: tensor<8x64xf4E2M1FN>):
  return %r : tensor<8x64xf4E2M1FN>
}

// CHECK-LABEL: func @empty
// CHECK-SAME: (%[[M:.*]]: index, %[[K:.*]]: index)
func.func @empty(%m: index, %k: index)
    -> (tensor<?x64xf4E2M1FN>, tensor<?x?xf4E2M1FN>) {
  // CHECK: tensor.empty(%[[M]]) : tensor<?x32xi8>
  %a = tensor.empty(%m) : tensor<?x64xf4E2M1FN>
  // CHECK: %[[C2:.*]] = arith.constant 2 : index
  // CHECK: %[[HALF:.*]] = arith.ceildivui %[[K]], %[[C2]]
  // CHECK: tensor.empty(%[[M]], %[[HALF]]) : tensor<?x?xi8>
  %b = tensor.empty(%m, %k) : tensor<?x?xf4E2M1FN>
  return %a, %b : tensor<?x64xf4E2M1FN>, tensor<?x?xf4E2M1FN>
}

// CHECK-LABEL: func @dim
// CHECK-SAME: (%[[A:.*]]: tensor<?x?xi8>)
func.func @dim(%a: tensor<?x?xf4E2M1FN>) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[ROWS:.*]] = tensor.dim %[[A]], %c0
  %rows = tensor.dim %a, %c0 : tensor<?x?xf4E2M1FN>
  // CHECK: %[[BYTES:.*]] = tensor.dim %[[A]], %c1
  // CHECK: %[[C2:.*]] = arith.constant 2 : index
  // CHECK: %[[COLUMNS:.*]] = arith.muli %[[BYTES]], %[[C2]]
  %columns = tensor.dim %a, %c1 : tensor<?x?xf4E2M1FN>
  // CHECK: return %[[ROWS]], %[[COLUMNS]]
  return %rows, %columns : index, index
}

// CHECK-LABEL: func @gq_ops
func.func @gq_ops(%x: tensor<?x64xbf16>, %q0: tensor<?x64xf4E2M1FN>,
    %s0: tensor<?x4xf8E4M3FN>) -> tensor<?x64xf4E2M1FN> {
  // CHECK: gq.block_quantize format(nvfp4) {my.note = 1 : i64} {{.*}} -> tensor<?x32xi8>, tensor<?x4xf8E4M3FN>
  %q, %s = gq.block_quantize format(nvfp4) {my.note = 1} ins(%x : tensor<?x64xbf16>)
      outs(%q0, %s0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return %q : tensor<?x64xf4E2M1FN>
}

// A slice that keeps the encoding stays.
// CHECK-LABEL: func @tiled_slice
func.func @tiled_slice(%s: tensor<256x4xf8E4M3FN, #gq.tile128x4>)
    -> tensor<128x4xf8E4M3FN, #gq.tile128x4> {
  // CHECK: tensor.extract_slice
  %r = tensor.extract_slice %s[128, 0] [128, 4] [1, 1]
      : tensor<256x4xf8E4M3FN, #gq.tile128x4>
      to tensor<128x4xf8E4M3FN, #gq.tile128x4>
  return %r : tensor<128x4xf8E4M3FN, #gq.tile128x4>
}

// Whole matrices of tiles, and whole tiles of one; they keep the encoding.
// CHECK-LABEL: func @tiled
func.func @tiled(%s: tensor<3x256x8xf8E4M3FN, #gq.tile128x4>, %i: index, %c: i1)
    -> tensor<3x256x8xf8E4M3FN, #gq.tile128x4> {
  %zero = arith.constant 0.0 : f8E4M3FN
  // CHECK: tensor.extract_slice
  %0 = tensor.extract_slice %s[%i, 0, 0] [1, 256, 8] [1, 1, 1]
      : tensor<3x256x8xf8E4M3FN, #gq.tile128x4>
      to tensor<256x8xf8E4M3FN, #gq.tile128x4>
  // CHECK: linalg.fill
  %1 = linalg.fill ins(%zero : f8E4M3FN)
      outs(%0 : tensor<256x8xf8E4M3FN, #gq.tile128x4>)
      -> tensor<256x8xf8E4M3FN, #gq.tile128x4>
  // CHECK: arith.select
  %2 = arith.select %c, %0, %1 : tensor<256x8xf8E4M3FN, #gq.tile128x4>
  // CHECK: tensor.extract_slice
  %3 = tensor.extract_slice %2[128, 0] [128, 8] [1, 1]
      : tensor<256x8xf8E4M3FN, #gq.tile128x4>
      to tensor<128x8xf8E4M3FN, #gq.tile128x4>
  // CHECK: tensor.insert_slice
  %4 = tensor.insert_slice %3 into %s[%i, 128, 0] [1, 128, 8] [1, 1, 1]
      : tensor<128x8xf8E4M3FN, #gq.tile128x4>
      into tensor<3x256x8xf8E4M3FN, #gq.tile128x4>
  return %4 : tensor<3x256x8xf8E4M3FN, #gq.tile128x4>
}

// As canonicalize makes of an scf.if.
// CHECK-LABEL: func @select
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x32xi8>
func.func @select(%a: tensor<8x64xf4E2M1FN>, %b: tensor<8x64xf4E2M1FN>,
    %c: i1) -> tensor<8x64xf4E2M1FN> {
  %0 = arith.select %c, %a, %b : tensor<8x64xf4E2M1FN>
  return %0 : tensor<8x64xf4E2M1FN>
}

// Weights that are quantized in one matrix, as the matmul reads them. The extent
// that is packed is static, others need not be.
// CHECK-LABEL: func @reshapes
func.func @reshapes(%w: tensor<?x64xf4E2M1FN>, %f: tensor<6144xf4E2M1FN>,
    %g: index) -> (tensor<?x32x64xf4E2M1FN>, tensor<3x64x32xf4E2M1FN>,
                   tensor<96x64xf4E2M1FN>) {
  // CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] output_shape [%{{.*}}, 32, 32] : tensor<?x32xi8> into tensor<?x32x32xi8>
  %0 = tensor.expand_shape %w [[0, 1], [2]] output_shape [%g, 32, 64]
      : tensor<?x64xf4E2M1FN> into tensor<?x32x64xf4E2M1FN>
  // CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1, 2]] output_shape [3, 64, 16] : tensor<3072xi8> into tensor<3x64x16xi8>
  %1 = tensor.expand_shape %f [[0, 1, 2]] output_shape [3, 64, 32]
      : tensor<6144xf4E2M1FN> into tensor<3x64x32xf4E2M1FN>
  %2 = tensor.expand_shape %f [[0, 1, 2]] output_shape [3, 32, 64]
      : tensor<6144xf4E2M1FN> into tensor<3x32x64xf4E2M1FN>
  // CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<3x32x32xi8> into tensor<96x32xi8>
  %3 = tensor.collapse_shape %2 [[0, 1], [2]]
      : tensor<3x32x64xf4E2M1FN> into tensor<96x64xf4E2M1FN>
  return %0, %1, %3 : tensor<?x32x64xf4E2M1FN>, tensor<3x64x32xf4E2M1FN>,
                      tensor<96x64xf4E2M1FN>
}

// Scales of whole tiles stay in their order.
// CHECK-LABEL: func @tiled_reshapes
func.func @tiled_reshapes(%s: tensor<?x8xf8E4M3FN, #gq.tile128x4>,
    %f: tensor<6144xf8E4M3FN, #gq.tile128x4>, %g: index)
    -> (tensor<?x256x8xf8E4M3FN, #gq.tile128x4>,
        tensor<768x8xf8E4M3FN, #gq.tile128x4>) {
  // CHECK: tensor.expand_shape
  %0 = tensor.expand_shape %s [[0, 1], [2]] output_shape [%g, 256, 8]
      : tensor<?x8xf8E4M3FN, #gq.tile128x4>
      into tensor<?x256x8xf8E4M3FN, #gq.tile128x4>
  // CHECK: tensor.expand_shape
  %1 = tensor.expand_shape %f [[0, 1, 2]] output_shape [3, 256, 8]
      : tensor<6144xf8E4M3FN, #gq.tile128x4>
      into tensor<3x256x8xf8E4M3FN, #gq.tile128x4>
  // CHECK: tensor.collapse_shape
  %2 = tensor.collapse_shape %1 [[0, 1], [2]]
      : tensor<3x256x8xf8E4M3FN, #gq.tile128x4>
      into tensor<768x8xf8E4M3FN, #gq.tile128x4>
  return %0, %2 : tensor<?x256x8xf8E4M3FN, #gq.tile128x4>,
                  tensor<768x8xf8E4M3FN, #gq.tile128x4>
}

// The last offset and size count elements too; leading ones are any.
// CHECK-LABEL: func @slices
func.func @slices(%a: tensor<?x64xf4E2M1FN>, %b: tensor<4x?x64xf4E2M1FN>,
    %i: index, %n: index)
    -> (tensor<?x64xf4E2M1FN>, tensor<4x?x64xf4E2M1FN>, tensor<?x16xf4E2M1FN>) {
  // CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, 0] [%{{.*}}, 32] [2, 1] : tensor<?x32xi8> to tensor<?x32xi8>
  %0 = tensor.extract_slice %a[%i, 0] [%n, 64] [2, 1]
      : tensor<?x64xf4E2M1FN> to tensor<?x64xf4E2M1FN>
  // CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%{{.*}}, 0, 0] [1, %{{.*}}, 32] [1, 1, 1] : tensor<?x32xi8> into tensor<4x?x32xi8>
  %1 = tensor.insert_slice %0 into %b[%i, 0, 0] [1, %n, 64] [1, 1, 1]
      : tensor<?x64xf4E2M1FN> into tensor<4x?x64xf4E2M1FN>
  // CHECK: tensor.extract_slice %{{.*}}[0, 16] [%{{.*}}, 8] [1, 1] : tensor<?x32xi8> to tensor<?x8xi8>
  %2 = tensor.extract_slice %a[0, 32] [%n, 16] [1, 1]
      : tensor<?x64xf4E2M1FN> to tensor<?x16xf4E2M1FN>
  return %0, %1, %2 : tensor<?x64xf4E2M1FN>, tensor<4x?x64xf4E2M1FN>,
                      tensor<?x16xf4E2M1FN>
}

// CHECK-LABEL: func @regions
func.func @regions(%a: tensor<8x64xf4E2M1FN>, %b: tensor<4x8x64xf4E2M1FN>,
    %s: tensor<4x128x4xf8E4M3FN, #gq.tile128x4>, %i: index)
    -> (tensor<4x8x64xf4E2M1FN>, tensor<8x64xf4E2M1FN>, tensor<8x64xf4E2M1FN>,
        tensor<4x128x4xf8E4M3FN, #gq.tile128x4>) {
  // CHECK: scf.forall (%{{.*}}) in (4) shared_outs(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (tensor<4x8x32xi8>, tensor<4x128x4xf8E4M3FN, #gq.tile128x4>)
  %0, %t = scf.forall (%e) in (4) shared_outs(%out = %b, %tiles = %s)
      -> (tensor<4x8x64xf4E2M1FN>, tensor<4x128x4xf8E4M3FN, #gq.tile128x4>) {
    %tile = tensor.extract_slice %s[%i, 0, 0] [1, 128, 4] [1, 1, 1]
        : tensor<4x128x4xf8E4M3FN, #gq.tile128x4>
        to tensor<128x4xf8E4M3FN, #gq.tile128x4>
    scf.forall.in_parallel {
      // CHECK: tensor.parallel_insert_slice %{{.*}} into %{{.*}}[%{{.*}}, 0, 0] [1, 8, 32] [1, 1, 1] : tensor<8x32xi8> into tensor<4x8x32xi8>
      tensor.parallel_insert_slice %a into %out[%e, 0, 0] [1, 8, 64] [1, 1, 1]
          : tensor<8x64xf4E2M1FN> into tensor<4x8x64xf4E2M1FN>
      tensor.parallel_insert_slice %tile into %tiles[%e, 0, 0] [1, 128, 4] [1, 1, 1]
          : tensor<128x4xf8E4M3FN, #gq.tile128x4>
          into tensor<4x128x4xf8E4M3FN, #gq.tile128x4>
    }
  }
  // CHECK: scf.index_switch %{{.*}} -> tensor<8x32xi8>, tensor<4x128x4xf8E4M3FN, #gq.tile128x4>
  %1, %u = scf.index_switch %i
      -> tensor<8x64xf4E2M1FN>, tensor<4x128x4xf8E4M3FN, #gq.tile128x4>
  case 0 {
    scf.yield %a, %s
        : tensor<8x64xf4E2M1FN>, tensor<4x128x4xf8E4M3FN, #gq.tile128x4>
  }
  default {
    %2 = tensor.empty() : tensor<8x64xf4E2M1FN>
    scf.yield %2, %t
        : tensor<8x64xf4E2M1FN>, tensor<4x128x4xf8E4M3FN, #gq.tile128x4>
  }
  // CHECK: scf.execute_region -> (tensor<8x32xi8>, tensor<4x128x4xf8E4M3FN, #gq.tile128x4>)
  %3, %v = scf.execute_region
      -> (tensor<8x64xf4E2M1FN>, tensor<4x128x4xf8E4M3FN, #gq.tile128x4>) {
    scf.yield %1, %u
        : tensor<8x64xf4E2M1FN>, tensor<4x128x4xf8E4M3FN, #gq.tile128x4>
  }
  return %0, %1, %3, %v : tensor<4x8x64xf4E2M1FN>, tensor<8x64xf4E2M1FN>,
      tensor<8x64xf4E2M1FN>, tensor<4x128x4xf8E4M3FN, #gq.tile128x4>
}
