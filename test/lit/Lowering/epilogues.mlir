// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-fuse-epilogues)' | FileCheck %s
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-fuse-epilogues)' \
// RUN:   --remark-format=emitRemark --remarks-filter-passed='gq.*' --remarks-filter-missed='gq.*' 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-fuse-epilogues,gq-expand-epilogues,canonicalize,cse)' | FileCheck %s --check-prefix=EXPAND

// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-fuse-epilogues{dequantize})' | FileCheck %s --check-prefix=KERNELS
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-fuse-epilogues,gq-expand-epilogues{kernels})' | FileCheck %s --check-prefix=KEPT

// What kernels compute is kept, and only that.
// KEPT-LABEL: func.func @one
// KEPT: epilogue
// KEPT-LABEL: func.func @interleaved
// KEPT: epilogue
// KEPT-LABEL: func.func @halves
// KEPT: epilogue
// KEPT-LABEL: func.func @dequantize(
// KEPT: epilogue
// KEPT-LABEL: func.func @prepared
// KEPT-NOT: epilogue

#map = affine_map<(m, n) -> (m, n)>
#flat = affine_map<(n) -> (n)>

// CHECK-LABEL: func.func @one
// REMARK: Passed{{.*}}fused into the op that makes its input
// CHECK-NOT: linalg.generic
// CHECK: %[[C:.*]] = gq.grouped_mm kernel(any) ins(
// CHECK-SAME: epilogue {
// CHECK: ^bb0(%[[X:.*]]: bf16):
// CHECK: %[[TWO:.*]] = arith.constant 2.0
// CHECK: arith.mulf %[[X]], %[[TWO]] : bf16
// CHECK: gq.yield
// CHECK: return %[[C]]
// EXPAND-LABEL: func.func @one
// EXPAND: %[[P:.*]] = gq.grouped_mm kernel(any) ins(
// EXPAND-NOT: epilogue
// EXPAND: %[[R:.*]] = linalg.map ins(%[[P]] : tensor<?x32xbf16>)
// EXPAND: (%[[X:.*]]: bf16, %[[BEFORE:.*]]: bf16) {
// EXPAND: %[[Y:.*]] = arith.mulf %[[X]]
// EXPAND: %[[ROW:.*]] = linalg.index 0
// EXPAND: arith.cmpi sle, %{{.*}}, %[[ROW]]
// EXPAND: arith.cmpi slt, %[[ROW]], %{{.*}}
// EXPAND: arith.bitcast %[[Y]] : bf16 to i16
// EXPAND: arith.bitcast %[[BEFORE]] : bf16 to i16
// EXPAND: arith.select
// EXPAND: return %[[R]]
func.func @one(%a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>,
    %o: tensor<4xi32>, %m: index, %r0: tensor<?x32xbf16>) -> tensor<?x32xbf16> {
  %two = arith.constant 2.0 : bf16
  %c0 = tensor.empty(%m) : tensor<?x32xbf16>
  %c = gq.grouped_mm kernel(any) ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>) outs(%c0 : tensor<?x32xbf16>) -> tensor<?x32xbf16>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<?x32xbf16>) outs(%r0 : tensor<?x32xbf16>) {
  ^bb0(%x: bf16, %out: bf16):
    %y = arith.mulf %x, %two : bf16
    linalg.yield %y : bf16
  } -> tensor<?x32xbf16>
  return %r : tensor<?x32xbf16>
}

// Columns 2j and 2j + 1; the second one comes first in the linalg.generic.
// CHECK-LABEL: func.func @interleaved
// CHECK-NOT: tensor.extract_slice
// CHECK: gq.grouped_mm pairs(interleaved) ins(
// CHECK: ^bb0(%[[GATE:.*]]: f32, %[[UP:.*]]: f32):
// CHECK: arith.divf %[[UP]], %[[GATE]] : f32
// CHECK: gq.yield %{{.*}} : f16
// CHECK: outs(%{{.*}} : tensor<?x16xf16>) -> tensor<?x16xf16>
// EXPAND-LABEL: func.func @interleaved
// EXPAND: %[[P:.*]] = gq.grouped_mm ins(
// EXPAND: %[[GATE:.*]] = tensor.extract_slice %[[P]][0, 0] [%{{.*}}, 16] [1, 2]
// EXPAND: %[[UP:.*]] = tensor.extract_slice %[[P]][0, 1] [%{{.*}}, 16] [1, 2]
// EXPAND: linalg.map ins(%[[GATE]], %[[UP]] :
func.func @interleaved(%a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>,
    %o: tensor<4xi32>, %m: index, %r0: tensor<?x16xf16>) -> tensor<?x16xf16> {
  %c0 = tensor.empty(%m) : tensor<?x32xf32>
  %c = gq.grouped_mm ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>) outs(%c0 : tensor<?x32xf32>) -> tensor<?x32xf32>
  %gate = tensor.extract_slice %c[0, 0] [%m, 16] [1, 2] : tensor<?x32xf32> to tensor<?x16xf32>
  %up = tensor.extract_slice %c[0, 1] [%m, 16] [1, 2] : tensor<?x32xf32> to tensor<?x16xf32>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%up, %gate : tensor<?x16xf32>, tensor<?x16xf32>) outs(%r0 : tensor<?x16xf16>) {
  ^bb0(%u: f32, %g: f32, %out: f16):
    %y = arith.divf %u, %g : f32
    %z = arith.truncf %y : f32 to f16
    linalg.yield %z : f16
  } -> tensor<?x16xf16>
  return %r : tensor<?x16xf16>
}

// CHECK-LABEL: func.func @halves
// CHECK: gq.grouped_mm pairs(halves) ins(
// EXPAND-LABEL: func.func @halves
// EXPAND: tensor.extract_slice %{{.*}}[0, 0] [8, 16] [1, 1]
// EXPAND: tensor.extract_slice %{{.*}}[0, 16] [8, 16] [1, 1]
func.func @halves(%a: tensor<8x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>,
    %o: tensor<4xi32>, %r0: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %c0 = tensor.empty() : tensor<8x32xf32>
  %c = gq.grouped_mm ins(%a, %b : tensor<8x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>) outs(%c0 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %gate = tensor.extract_slice %c[0, 0] [8, 16] [1, 1] : tensor<8x32xf32> to tensor<8x16xf32>
  %up = tensor.extract_slice %c[0, 16] [8, 16] [1, 1] : tensor<8x32xf32> to tensor<8x16xf32>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%gate, %up : tensor<8x16xf32>, tensor<8x16xf32>) outs(%r0 : tensor<8x16xf32>) {
  ^bb0(%g: f32, %u: f32, %out: f32):
    %y = arith.mulf %u, %g : f32
    linalg.yield %y : f32
  } -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @init
// CHECK-NOT: epilogue
// REMARK: rows of no group come from the 'outs' of the op in front
func.func @init(%a: tensor<8x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>,
    %o: tensor<4xi32>, %c0: tensor<8x32xf32>, %r0: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %c = gq.grouped_mm ins(%a, %b : tensor<8x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>) outs(%c0 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<8x32xf32>) outs(%r0 : tensor<8x32xf32>) {
  ^bb0(%x: f32, %out: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<8x32xf32>
  return %r : tensor<8x32xf32>
}

// CHECK-LABEL: func.func @other_input
// CHECK-NOT: epilogue
// REMARK: the op behind has another input
func.func @other_input(%a: tensor<8x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>,
    %o: tensor<4xi32>, %r0: tensor<8x32xf32>, %w: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %c0 = tensor.empty() : tensor<8x32xf32>
  %c = gq.grouped_mm ins(%a, %b : tensor<8x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>) outs(%c0 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%c, %w : tensor<8x32xf32>, tensor<8x32xf32>) outs(%r0 : tensor<8x32xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %z = arith.mulf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<8x32xf32>
  return %r : tensor<8x32xf32>
}

// CHECK-LABEL: func.func @reads_outs
// CHECK-NOT: epilogue
// REMARK: the op behind reads its 'outs'
func.func @reads_outs(%a: tensor<8x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>,
    %o: tensor<4xi32>, %r0: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %c0 = tensor.empty() : tensor<8x32xf32>
  %c = gq.grouped_mm ins(%a, %b : tensor<8x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>) outs(%c0 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<8x32xf32>) outs(%r0 : tensor<8x32xf32>) {
  ^bb0(%x: f32, %out: f32):
    %z = arith.addf %x, %out : f32
    linalg.yield %z : f32
  } -> tensor<8x32xf32>
  return %r : tensor<8x32xf32>
}

// CHECK-LABEL: func.func @used_twice
// CHECK-NOT: epilogue
// REMARK: the result has another user
func.func @used_twice(%a: tensor<8x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>,
    %o: tensor<4xi32>, %r0: tensor<8x32xf32>) -> (tensor<8x32xf32>, tensor<8x32xf32>) {
  %c0 = tensor.empty() : tensor<8x32xf32>
  %c = gq.grouped_mm ins(%a, %b : tensor<8x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>) outs(%c0 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<8x32xf32>) outs(%r0 : tensor<8x32xf32>) {
  ^bb0(%x: f32, %out: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<8x32xf32>
  return %r, %c : tensor<8x32xf32>, tensor<8x32xf32>
}

// CHECK-LABEL: func.func @some_columns
// CHECK-NOT: epilogue
// REMARK: the result has another user
func.func @some_columns(%a: tensor<8x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>,
    %o: tensor<4xi32>, %r0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %c0 = tensor.empty() : tensor<8x32xf32>
  %c = gq.grouped_mm ins(%a, %b : tensor<8x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>) outs(%c0 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %x = tensor.extract_slice %c[0, 0] [8, 8] [1, 2] : tensor<8x32xf32> to tensor<8x8xf32>
  %y = tensor.extract_slice %c[0, 1] [8, 8] [1, 2] : tensor<8x32xf32> to tensor<8x8xf32>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%r0 : tensor<8x8xf32>) {
  ^bb0(%g: f32, %u: f32, %out: f32):
    %z = arith.mulf %g, %u : f32
    linalg.yield %z : f32
  } -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @one_half
// CHECK-NOT: epilogue
// REMARK: just one column of each pair is used
func.func @one_half(%a: tensor<8x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>,
    %o: tensor<4xi32>) -> tensor<8x16xf32> {
  %c0 = tensor.empty() : tensor<8x32xf32>
  %c = gq.grouped_mm ins(%a, %b : tensor<8x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>) outs(%c0 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %x = tensor.extract_slice %c[0, 0] [8, 16] [1, 1] : tensor<8x32xf32> to tensor<8x16xf32>
  return %x : tensor<8x16xf32>
}

// Slices that drop the dimension of the only row: the op has no result of rank 1.
// CHECK-LABEL: func.func @one_row
// CHECK-NOT: epilogue
// REMARK: the result has another user
func.func @one_row(%a: tensor<1x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>,
    %o: tensor<4xi32>, %r0: tensor<16xf32>) -> tensor<16xf32> {
  %c0 = tensor.empty() : tensor<1x32xf32>
  %c = gq.grouped_mm ins(%a, %b : tensor<1x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>) outs(%c0 : tensor<1x32xf32>) -> tensor<1x32xf32>
  %gate = tensor.extract_slice %c[0, 0] [1, 16] [1, 1] : tensor<1x32xf32> to tensor<16xf32>
  %up = tensor.extract_slice %c[0, 16] [1, 16] [1, 1] : tensor<1x32xf32> to tensor<16xf32>
  %r = linalg.generic {indexing_maps = [#flat, #flat, #flat], iterator_types = ["parallel"]}
      ins(%gate, %up : tensor<16xf32>, tensor<16xf32>) outs(%r0 : tensor<16xf32>) {
  ^bb0(%g: f32, %u: f32, %out: f32):
    %y = arith.mulf %g, %u : f32
    linalg.yield %y : f32
  } -> tensor<16xf32>
  return %r : tensor<16xf32>
}

// As convert-elementwise-to-linalg makes it: the 'outs', which are not read, are
// an input.
// CHECK-LABEL: func.func @over_product
// CHECK: %[[INIT:.*]] = tensor.empty() : tensor<8x32xf32>
// CHECK-NOT: gq.grouped_mm
// CHECK: gq.grouped_mm ins(
// CHECK-SAME: epilogue {
// CHECK: outs(%[[INIT]] :
// CHECK-NOT: gq.grouped_mm
// CHECK: return
func.func @over_product(%a: tensor<8x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>,
    %o: tensor<4xi32>) -> tensor<8x32xf32> {
  %c0 = tensor.empty() : tensor<8x32xf32>
  %c = gq.grouped_mm ins(%a, %b : tensor<8x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>) outs(%c0 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<8x32xf32>) outs(%c : tensor<8x32xf32>) {
  ^bb0(%x: f32, %out: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<8x32xf32>
  return %r : tensor<8x32xf32>
}

// CHECK-LABEL: func.func @over_slice
// CHECK-SAME: %[[M:[a-z0-9]*]]: index
// CHECK-NOT: tensor.extract_slice
// CHECK: %[[INIT:.*]] = tensor.empty(%[[M]]) : tensor<?x16xf32>
// CHECK: gq.grouped_mm pairs(halves) ins(
// CHECK: outs(%[[INIT]] :
// CHECK-NOT: gq.grouped_mm
// CHECK: return
func.func @over_slice(%a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>,
    %o: tensor<4xi32>, %m: index) -> tensor<?x16xf32> {
  %c0 = tensor.empty(%m) : tensor<?x32xf32>
  %c = gq.grouped_mm ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>) outs(%c0 : tensor<?x32xf32>) -> tensor<?x32xf32>
  %gate = tensor.extract_slice %c[0, 0] [%m, 16] [1, 1] : tensor<?x32xf32> to tensor<?x16xf32>
  %up = tensor.extract_slice %c[0, 16] [%m, 16] [1, 1] : tensor<?x32xf32> to tensor<?x16xf32>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%gate, %up : tensor<?x16xf32>, tensor<?x16xf32>) outs(%gate : tensor<?x16xf32>) {
  ^bb0(%g: f32, %u: f32, %out: f32):
    %y = arith.mulf %g, %u : f32
    linalg.yield %y : f32
  } -> tensor<?x16xf32>
  return %r : tensor<?x16xf32>
}

//===----------------------------------------------------------------------===//
// Dequantization
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @dequantize(
// KERNELS-LABEL: func.func @dequantize(
// CHECK-NOT: linalg.generic
// KERNELS-NOT: linalg.generic
// CHECK: gq.grouped_dequantize format(mxfp8_e4m3) axis(columnwise) {some = 1 : i32} ins(
// CHECK-SAME: epilogue {
// CHECK: ^bb0(%[[X:.*]]: bf16):
// CHECK: arith.extf %[[X]]
// CHECK: gq.yield %{{.*}} : f16
// CHECK: outs(%{{.*}} : tensor<?x64xf16>) -> tensor<?x64xf16>
// EXPAND-LABEL: func.func @dequantize(
// EXPAND: %[[C:.*]] = gq.grouped_dequantize format(mxfp8_e4m3) axis(columnwise) {some = 1 : i32} ins(
// EXPAND-SAME: -> tensor<?x64xbf16>
// EXPAND: linalg.map ins(%[[C]] : tensor<?x64xbf16>) outs(%{{.*}} : tensor<?x64xf16>)
// EXPAND: linalg.index 0
// EXPAND: arith.select
func.func @dequantize(%q: tensor<?x64xf8E4M3FN>, %s: tensor<?xf8E8M0FNU, #gq.tile128x4>,
    %o: tensor<4xi32>, %m: index, %r0: tensor<?x64xf16>) -> tensor<?x64xf16> {
  %c0 = tensor.empty(%m) : tensor<?x64xbf16>
  %c = gq.grouped_dequantize format(mxfp8_e4m3) axis(columnwise) {some = 1 : i32}
      ins(%q : tensor<?x64xf8E4M3FN>) scales(%s : tensor<?xf8E8M0FNU, #gq.tile128x4>)
      groups(%o : tensor<4xi32>) outs(%c0 : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<?x64xbf16>) outs(%r0 : tensor<?x64xf16>) {
  ^bb0(%x: bf16, %out: f16):
    %y = arith.extf %x : bf16 to f32
    %z = arith.truncf %y : f32 to f16
    linalg.yield %z : f16
  } -> tensor<?x64xf16>
  return %r : tensor<?x64xf16>
}

// All rows are written, so that the 'outs' may be anything.
// CHECK-LABEL: func.func @dequantize_blocks
// KERNELS-LABEL: func.func @dequantize_blocks
// CHECK: gq.block_dequantize format(nvfp4) ins(
// CHECK-SAME: epilogue {
// EXPAND-LABEL: func.func @dequantize_blocks
// EXPAND: %[[C:.*]] = gq.block_dequantize format(nvfp4) ins(
// EXPAND: linalg.map { arith.negf } ins(%[[C]] : tensor<8x64xf32>) outs(%{{.*}} : tensor<8x64xf32>)
// EXPAND-NOT: arith.select
// EXPAND: return
func.func @dequantize_blocks(%q: tensor<8x64xf4E2M1FN>, %s: tensor<8x4xf8E4M3FN>,
    %c0: tensor<8x64xf32>, %r0: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %c = gq.block_dequantize format(nvfp4)
      ins(%q, %s : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>)
      outs(%c0 : tensor<8x64xf32>) -> tensor<8x64xf32>
  %r = linalg.map ins(%c : tensor<8x64xf32>) outs(%r0 : tensor<8x64xf32>)
  (%x: f32, %out: f32) {
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  }
  return %r : tensor<8x64xf32>
}

// CHECK-LABEL: func.func @dequantize_ragged
// CHECK-NOT: epilogue
// REMARK: groups have numbers of columns of their own
func.func @dequantize_ragged(%q: tensor<?xf8E4M3FN>, %o: tensor<4xi64>, %d: tensor<3xi64>,
    %i: tensor<f32>, %n: index) -> tensor<?xf32> {
  %c0 = tensor.empty(%n) : tensor<?xf32>
  %c = gq.grouped_dequantize ins(%q : tensor<?xf8E4M3FN>) groups(%o : tensor<4xi64>)
      shapes(%d, %d : tensor<3xi64>, tensor<3xi64>) scale_inv(%i : tensor<f32>)
      outs(%c0 : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#flat, #flat], iterator_types = ["parallel"]}
      ins(%c : tensor<?xf32>) outs(%c0 : tensor<?xf32>) {
  ^bb0(%x: f32, %out: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @product
// KERNELS-LABEL: func.func @product
// KERNELS: gq.grouped_mm
// KERNELS-NOT: epilogue
// KERNELS: linalg.generic
// KERNELS: return
func.func @product(%a: tensor<8x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>,
    %o: tensor<4xi32>, %r0: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %c0 = tensor.empty() : tensor<8x32xf32>
  %c = gq.grouped_mm ins(%a, %b : tensor<8x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>) outs(%c0 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<8x32xf32>) outs(%r0 : tensor<8x32xf32>) {
  ^bb0(%x: f32, %out: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  } -> tensor<8x32xf32>
  return %r : tensor<8x32xf32>
}

func.func @prepared(%a: tensor<8x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<384x4xf8E4M3FN, #gq.tile128x4>,
    %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>,
    %so: tensor<3xi32>, %r0: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %r = gq.grouped_mm format(nvfp4) kernel(tiles256)
      ins(%a, %b : tensor<8x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<384x4xf8E4M3FN, #gq.tile128x4>,
                        tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      epilogue {
      ^bb0(%x: f32):
        gq.yield %x : f32
      }
      outs(%r0 : tensor<8x32xf32>) -> tensor<8x32xf32>
  return %r : tensor<8x32xf32>
}
