// RUN: gq-opt %s | gq-opt | FileCheck %s
// RUN: gq-opt %s --mlir-print-op-generic | gq-opt | FileCheck %s

// Everything that groups of rows can have.
// CHECK-LABEL: func @delayed
func.func @delayed(%x: tensor<?x48xbf16>, %i: tensor<?xi32>, %o: tensor<4xi32>,
    %s: tensor<3xf32>, %q0: tensor<?x48xf8E4M3FN>, %qt0: tensor<?xf8E4M3FN>,
    %a0: tensor<3xf32>, %d0: tensor<3x48xbf16>, %i0: tensor<3xf32>, %f: tensor<i32>)
    -> (tensor<?xf8E4M3FN>, tensor<3xf32>) {
  // CHECK: %{{.*}}:5 = gq.grouped_quantize format(fp8_e4m3) rows(grouped)
  // CHECK-SAME: ins(%{{[^ ]*}} : tensor<?x48xbf16>) row_indices(%{{[^ ]*}} : tensor<?xi32>)
  // CHECK-SAME: groups(%{{[^ ]*}} : tensor<4xi32>)
  // CHECK-SAME: scale(%{{[^ ]*}} : tensor<3xf32>)
  // CHECK-SAME: noop_flag(%{{[^ ]*}} : tensor<i32>)
  // CHECK-SAME: outs(%{{[^ ]*}} : tensor<?x48xf8E4M3FN>)
  // CHECK-SAME: columnwise_outs(%{{[^ ]*}} : tensor<?xf8E4M3FN>)
  // CHECK-SAME: amax_out(%{{[^ ]*}} : tensor<3xf32>)
  // CHECK-SAME: dbias_out(%{{[^ ]*}} : tensor<3x48xbf16>)
  // CHECK-SAME: scale_inv_out(%{{[^ ]*}} : tensor<3xf32>)
  // CHECK-SAME: -> tensor<?x48xf8E4M3FN>, tensor<?xf8E4M3FN>, tensor<3xf32>, tensor<3x48xbf16>, tensor<3xf32>
  %q, %qt, %a, %d, %inv = gq.grouped_quantize format(fp8_e4m3) rows(grouped)
      ins(%x : tensor<?x48xbf16>) row_indices(%i : tensor<?xi32>)
      groups(%o : tensor<4xi32>) scale(%s : tensor<3xf32>) noop_flag(%f : tensor<i32>)
      outs(%q0 : tensor<?x48xf8E4M3FN>) columnwise_outs(%qt0 : tensor<?xf8E4M3FN>)
      amax_out(%a0 : tensor<3xf32>) dbias_out(%d0 : tensor<3x48xbf16>)
      scale_inv_out(%i0 : tensor<3xf32>)
      -> tensor<?x48xf8E4M3FN>, tensor<?xf8E4M3FN>, tensor<3xf32>,
         tensor<3x48xbf16>, tensor<3xf32>
  return %qt, %inv : tensor<?xf8E4M3FN>, tensor<3xf32>
}

// One amax for all, ragged groups, on memrefs.
// CHECK-LABEL: func @current
func.func @current(%x: memref<?xf32>, %o: memref<4xi64>, %m: memref<3xi64>,
    %k: memref<3xi64>, %a: memref<f32>, %q: memref<?xf8E5M2>, %f: memref<i32>) {
  // CHECK: gq.grouped_quantize format(fp8_e5m2) ins(
  // CHECK-SAME: shapes(%{{[^ ]*}}, %{{[^ ]*}} : memref<3xi64>, memref<3xi64>)
  // CHECK-SAME: outer_amax(%{{[^ ]*}} : memref<f32>)
  // CHECK-SAME: noop_flag(%{{[^ ]*}} : memref<i32>) outs(%{{[^ ]*}} : memref<?xf8E5M2>){{$}}
  gq.grouped_quantize format(fp8_e5m2) ins(%x : memref<?xf32>)
      groups(%o : memref<4xi64>) shapes(%m, %k : memref<3xi64>, memref<3xi64>)
      outer_amax(%a : memref<f32>) noop_flag(%f : memref<i32>) outs(%q : memref<?xf8E5M2>)
  return
}

// The derivative of an activation is what is quantized.
// CHECK-LABEL: func @producer
func.func @producer(%dy: tensor<?x32xbf16>, %h: tensor<?x32xbf16>,
    %o: tensor<?xi32>, %s: tensor<?xf32>, %qt0: tensor<?xf8E5M2>,
    %d0: tensor<?x32xf32>) -> (tensor<?xf8E5M2>, tensor<?x32xf32>) {
  // CHECK: gq.grouped_quantize
  // CHECK-SAME: producer {
  // CHECK: gq.yield %{{.*}} : f32
  %qt, %d = gq.grouped_quantize format(fp8_e5m2)
      ins(%dy, %h : tensor<?x32xbf16>, tensor<?x32xbf16>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o : tensor<?xi32>) scale(%s : tensor<?xf32>)
      columnwise_outs(%qt0 : tensor<?xf8E5M2>) dbias_out(%d0 : tensor<?x32xf32>)
      -> tensor<?xf8E5M2>, tensor<?x32xf32> producer {
      ^bb0(%a: bf16, %b: bf16):
        %c = arith.extf %a : bf16 to f32
        %e = arith.extf %b : bf16 to f32
        %zero = arith.constant 0.0 : f32
        %positive = arith.cmpf ogt, %e, %zero : f32
        %r = arith.select %positive, %c, %zero : f32
        gq.yield %r : f32
      }
  return %qt, %d : tensor<?xf8E5M2>, tensor<?x32xf32>
}

// CHECK-LABEL: func @update_scales
func.func @update_scales(%a: tensor<?xf32>, %h0: tensor<16x?xf32>,
    %s0: tensor<?xf32>) -> (tensor<16x?xf32>, tensor<?xf32>) {
  // CHECK: gq.update_scales format(fp8_e4m3) ins(%{{[^ ]*}} : tensor<?xf32>)
  // CHECK-SAME: outs(%{{[^ ]*}}, %{{[^ ]*}} : tensor<16x?xf32>, tensor<?xf32>)
  // CHECK-SAME: -> tensor<16x?xf32>, tensor<?xf32>
  %h, %s = gq.update_scales format(fp8_e4m3) amax_algo(max) margin(0)
      ins(%a : tensor<?xf32>) outs(%h0, %s0 : tensor<16x?xf32>, tensor<?xf32>)
      -> tensor<16x?xf32>, tensor<?xf32>
  // CHECK: gq.update_scales format(fp8_e5m2) amax_algo(most_recent) margin(3) ins(
  %h1, %s1 = gq.update_scales format(fp8_e5m2) amax_algo(most_recent) margin(3)
      ins(%a : tensor<?xf32>) outs(%h, %s : tensor<16x?xf32>, tensor<?xf32>)
      -> tensor<16x?xf32>, tensor<?xf32>
  return %h1, %s1 : tensor<16x?xf32>, tensor<?xf32>
}
