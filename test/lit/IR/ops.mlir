// RUN: gq-opt %s | gq-opt | FileCheck %s
// RUN: gq-opt %s --mlir-print-op-generic | gq-opt | FileCheck %s

// CHECK-LABEL: func @block_quantize
func.func @block_quantize(%x: tensor<?x64xbf16>, %g: tensor<f32>,
    %q0: tensor<?x64xf4E2M1FN>, %s0: tensor<?x4xf8E4M3FN>)
    -> (tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>) {
  // CHECK: gq.block_quantize format(nvfp4) ins(%{{.*}} : tensor<?x64xbf16>)
  // CHECK-SAME: outs(%{{.*}}, %{{.*}} : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
  // CHECK-SAME: -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  %a, %b = gq.block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      outs(%q0, %s0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  // CHECK: gq.block_quantize format(nvfp4) {tag}
  // CHECK-SAME: global_scale(%{{.*}} : tensor<f32>)
  %q, %s = gq.block_quantize format(nvfp4) scale_layout(linear) {tag}
      ins(%x : tensor<?x64xbf16>) global_scale(%g : tensor<f32>)
      outs(%a, %b : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return %q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
}

// CHECK-LABEL: func @block_quantize_memref
func.func @block_quantize_memref(%x: memref<?x64xf16>, %g: memref<f32>,
    %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>) {
  // CHECK: gq.block_quantize format(nvfp4) ins(%{{.*}} : memref<?x64xf16>)
  // CHECK-SAME: outs(%{{.*}}, %{{.*}} : memref<?x32xi8>, memref<?x4xf8E4M3FN>){{$}}
  gq.block_quantize format(nvfp4) ins(%x : memref<?x64xf16>)
      global_scale(%g : memref<f32>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  return
}

// A row stride and an offset are fine.
// CHECK-LABEL: func @block_quantize_strided
func.func @block_quantize_strided(
    %x: memref<?x64xf32, strided<[256, 1], offset: ?>>,
    %q: memref<?x32xi8, strided<[?, ?], offset: ?>>,
    %s: memref<?x4xf8E4M3FN, strided<[16, 1]>>) {
  // CHECK: gq.block_quantize
  gq.block_quantize format(nvfp4)
      ins(%x : memref<?x64xf32, strided<[256, 1], offset: ?>>)
      outs(%q, %s : memref<?x32xi8, strided<[?, ?], offset: ?>>,
                    memref<?x4xf8E4M3FN, strided<[16, 1]>>)
  return
}

// CHECK-LABEL: func @preprocess
func.func @preprocess(%s: tensor<?x5xf8E4M3FN>, %o: tensor<4xi64>,
    %so: tensor<3xi64>, %t0: tensor<384x8xf8E4M3FN, #gq.tile128x4>)
    -> tensor<384x8xf8E4M3FN, #gq.tile128x4> {
  // CHECK: gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%{{.*}} : tensor<?x5xf8E4M3FN>)
  // CHECK-SAME: groups(%{{.*}}, %{{.*}} : tensor<4xi64>, tensor<3xi64>)
  // CHECK-SAME: outs(%{{.*}} : tensor<384x8xf8E4M3FN, #gq.tile128x4>)
  %t = gq.preprocess_grouped_matmul_sf format(nvfp4) scale_layout(tile128x4)
      ins(%s : tensor<?x5xf8E4M3FN>)
      groups(%o, %so : tensor<4xi64>, tensor<3xi64>)
      outs(%t0 : tensor<384x8xf8E4M3FN, #gq.tile128x4>)
      -> tensor<384x8xf8E4M3FN, #gq.tile128x4>
  return %t : tensor<384x8xf8E4M3FN, #gq.tile128x4>
}

// G starts instead of G+1.
// CHECK-LABEL: func @preprocess_memref
func.func @preprocess_memref(%s: memref<10x4xf8E4M3FN>, %o: memref<3xi32>,
    %so: memref<3xi32>, %t: memref<?x4xf8E4M3FN>) {
  // CHECK: gq.preprocess_grouped_matmul_sf
  gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%s : memref<10x4xf8E4M3FN>)
      groups(%o, %so : memref<3xi32>, memref<3xi32>)
      outs(%t : memref<?x4xf8E4M3FN>)
  return
}

// CHECK-LABEL: func @grouped_block_quantize
func.func @grouped_block_quantize(%x: tensor<?x5120xbf16>, %o: tensor<129xi32>,
    %so: tensor<128xi32>, %g: tensor<128xf32>, %q0: tensor<?x2560xi8>,
    %s0: tensor<?x320xf8E4M3FN, #gq.tile128x4>)
    -> (tensor<?x2560xi8>, tensor<?x320xf8E4M3FN, #gq.tile128x4>) {
  // CHECK: gq.grouped_block_quantize format(nvfp4) rows(grouped) ins(
  // CHECK-SAME: groups(%{{.*}}, %{{.*}} : tensor<129xi32>, tensor<128xi32>)
  // CHECK-SAME: global_scale(%{{.*}} : tensor<128xf32>)
  %q, %s = gq.grouped_block_quantize format(nvfp4) rows(grouped)
      ins(%x : tensor<?x5120xbf16>)
      groups(%o, %so : tensor<129xi32>, tensor<128xi32>)
      global_scale(%g : tensor<128xf32>)
      outs(%q0, %s0 : tensor<?x2560xi8>,
                      tensor<?x320xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x2560xi8>, tensor<?x320xf8E4M3FN, #gq.tile128x4>
  return %q, %s : tensor<?x2560xi8>, tensor<?x320xf8E4M3FN, #gq.tile128x4>
}

// CHECK-LABEL: func @grouped_block_quantize_memref
func.func @grouped_block_quantize_memref(%x: memref<?x?xf32>,
    %o: memref<?xi64>, %so: memref<?xi64>, %g: memref<f32>,
    %q: memref<?x?xi8>, %s: memref<?x?xf8E4M3FN>) {
  // CHECK: gq.grouped_block_quantize format(nvfp4) ins(
  gq.grouped_block_quantize format(nvfp4) rows(all) ins(%x : memref<?x?xf32>)
      groups(%o, %so : memref<?xi64>, memref<?xi64>)
      global_scale(%g : memref<f32>)
      outs(%q, %s : memref<?x?xi8>, memref<?x?xf8E4M3FN>)
  return
}

// CHECK-LABEL: func @grouped_mm
func.func @grouped_mm(%a: tensor<?x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>,
    %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>,
    %so: tensor<3xi32>, %alpha: tensor<3xf32>, %c0: tensor<?x32xbf16>)
    -> tensor<?x32xbf16> {
  // CHECK: gq.grouped_mm format(nvfp4) ins(
  // CHECK-SAME: scales(%{{.*}}, %{{.*}} : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
  // CHECK-SAME: alpha(%{{.*}} : tensor<3xf32>)
  %c = gq.grouped_mm format(nvfp4)
      ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>,
                        tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      alpha(%alpha : tensor<3xf32>)
      outs(%c0 : tensor<?x32xbf16>) -> tensor<?x32xbf16>
  return %c : tensor<?x32xbf16>
}

// Packed and logical data meet.
// CHECK-LABEL: func @grouped_mm_kernel
func.func @grouped_mm_kernel(%a: memref<?x32xi8>, %b: memref<3x32x32xi8>,
    %sa: memref<?x4xf8E4M3FN>, %sb: memref<3x128x4xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<?x32xbf16>) {
  // CHECK: gq.grouped_mm format(nvfp4) kernel(tiles64) ins(
  gq.grouped_mm format(nvfp4) kernel(tiles64)
      ins(%a, %b : memref<?x32xi8>, memref<3x32x32xi8>)
      scales(%sa, %sb : memref<?x4xf8E4M3FN>, memref<3x128x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<?x32xbf16>)
  // CHECK: gq.grouped_mm format(nvfp4) kernel(auto) ins(
  gq.grouped_mm format(nvfp4) kernel(auto)
      ins(%a, %b : memref<?x32xi8>, memref<3x32x32xi8>)
      scales(%sa, %sb : memref<?x4xf8E4M3FN>, memref<3x128x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<?x32xbf16>)
  return
}

// CHECK-LABEL: func @grouped_mm_packed
func.func @grouped_mm_packed(%a: tensor<?x32xi8>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>,
    %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>,
    %so: tensor<3xi32>, %c0: tensor<?x32xf32>) -> tensor<?x32xf32> {
  // CHECK: gq.grouped_mm format(nvfp4) ins(
  %c = gq.grouped_mm format(nvfp4)
      ins(%a, %b : tensor<?x32xi8>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>,
                        tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c0 : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %c : tensor<?x32xf32>
}

// CHECK-LABEL: func @producer
func.func @producer(%x: tensor<?x64xbf16>, %r: tensor<?xf32>, %c: tensor<64xf16>,
    %v: tensor<f32>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q0: tensor<?x64xf4E2M1FN>, %s0: tensor<?x4xf8E4M3FN, #gq.tile128x4>)
    -> tensor<?x64xf4E2M1FN> {
  // CHECK: gq.grouped_block_quantize format(nvfp4) ins(
  // CHECK-SAME: maps [#{{.*}}, #{{.*}}, #{{.*}}, #{{.*}}] groups(
  // CHECK-SAME: producer {
  // CHECK-NEXT: ^bb0(%{{.*}}: bf16, %{{.*}}: f32, %{{.*}}: f16, %{{.*}}: f32):
  // CHECK: gq.yield %{{.*}} : f32
  %q, %s = gq.grouped_block_quantize format(nvfp4)
      ins(%x, %r, %c, %v : tensor<?x64xbf16>, tensor<?xf32>, tensor<64xf16>,
                           tensor<f32>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m)>,
            affine_map<(m, k) -> (k)>, affine_map<(m, k) -> ()>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q0, %s0 : tensor<?x64xf4E2M1FN>,
                      tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
      producer {
      ^bb0(%e: bf16, %er: f32, %ec: f16, %ev: f32):
        %f = arith.extf %e : bf16 to f32
        %g = arith.addf %f, %er : f32
        %h = arith.mulf %g, %ev : f32
        gq.yield %h : f32
      }
  return %q : tensor<?x64xf4E2M1FN>
}

// CHECK-LABEL: func @row_indices
func.func @row_indices(%x: memref<9x64xbf16>, %i: memref<?xi64>,
    %o: memref<4xi32>, %so: memref<3xi32>, %q: memref<?x32xi8>,
    %s: memref<?x4xf8E4M3FN>) {
  // CHECK: gq.grouped_block_quantize format(nvfp4) ins(%{{.*}} : memref<9x64xbf16>) row_indices(%{{.*}} : memref<?xi64>) groups(
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<9x64xbf16>)
      row_indices(%i : memref<?xi64>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  return
}

// CHECK-LABEL: func @row_indices_producer
func.func @row_indices_producer(%x: tensor<9x64xbf16>, %r: tensor<9xf32>,
    %c: tensor<8xf16>, %i: tensor<?xi32>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q0: tensor<?x64xf4E2M1FN>, %s0: tensor<?x4xf8E4M3FN, #gq.tile128x4>)
    -> tensor<?x64xf4E2M1FN> {
  // CHECK: gq.grouped_block_quantize format(nvfp4) ins(
  // CHECK-SAME: row_indices(%{{.*}} : tensor<?xi32>) maps [#{{.*}}, #{{.*}}, #{{.*}}] groups(
  %q, %s = gq.grouped_block_quantize format(nvfp4)
      ins(%x, %r, %c : tensor<9x64xbf16>, tensor<9xf32>, tensor<8xf16>)
      row_indices(%i : tensor<?xi32>)
      maps [affine_map<(m, k)[r] -> (r, k)>, affine_map<(m, k)[r] -> (r)>,
            affine_map<(m, k) -> (m)>]
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q0, %s0 : tensor<?x64xf4E2M1FN>,
                      tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
      producer {
      ^bb0(%e: bf16, %er: f32, %ec: f16):
        %f = arith.extf %e : bf16 to f32
        %g = arith.addf %f, %er : f32
        gq.yield %g : f32
      }
  return %q : tensor<?x64xf4E2M1FN>
}

// Extents that one operand leaves open, others may give, each in its own units.
// CHECK-LABEL: func @grouped_mm_extents
func.func @grouped_mm_extents(%a: tensor<?x?xf4E2M1FN>,
    %b: tensor<?x?x24xi8>, %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>,
    %sb: tensor<3x384x?xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>,
    %so: tensor<?xi32>, %c0: tensor<?x300xf32>) -> tensor<?x300xf32> {
  // CHECK: gq.grouped_mm format(nvfp4) ins(
  %c = gq.grouped_mm format(nvfp4)
      ins(%a, %b : tensor<?x?xf4E2M1FN>, tensor<?x?x24xi8>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>,
                        tensor<3x384x?xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<?xi32>)
      outs(%c0 : tensor<?x300xf32>) -> tensor<?x300xf32>
  return %c : tensor<?x300xf32>
}

// The settings of a direction; the attribute by itself too.
// CHECK-LABEL: func @grouped_block_quantize_directions
// CHECK-SAME: my.all = #gq.direction<rounding = nearest, transform = none, block = 1x16>
// CHECK-SAME: my.none = #gq.direction<>
func.func @grouped_block_quantize_directions(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %q0: tensor<?x64xf4E2M1FN>,
    %t0: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %qt0: tensor<?xf4E2M1FN>,
    %tt0: tensor<?xf8E4M3FN, #gq.tile128x4>, %y: tensor<?x128xbf16>,
    %e0: tensor<?xf8E4M3FN>, %f0: tensor<?xf32>) attributes {
      my.all = #gq.direction<rounding = nearest, transform = none, block = 1x16>,
      my.none = #gq.direction<>} {
  // CHECK: gq.grouped_block_quantize format(nvfp4) rowwise<block = 1x16> columnwise<rounding = nearest, transform = none> {tag} ins(
  %r:4 = gq.grouped_block_quantize format(nvfp4) rowwise<block = 1x16>
      columnwise<transform = none, rounding = nearest> {tag}
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outs(%q0, %t0 : tensor<?x64xf4E2M1FN>,
                      tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      columnwise_outs(%qt0, %tt0 : tensor<?xf4E2M1FN>,
                                   tensor<?xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>,
         tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>
  // CHECK: gq.grouped_block_quantize format(fp8_e4m3_128x128) scale_layout(linear) columnwise<block = 128x128> ins(
  %s:2 = gq.grouped_block_quantize format(fp8_e4m3_128x128)
      scale_layout(linear) columnwise<block = 128x128>
      ins(%y : tensor<?x128xbf16>) groups(%o : tensor<4xi32>)
      columnwise_outs(%e0, %f0 : tensor<?xf8E4M3FN>, tensor<?xf32>)
      -> tensor<?xf8E4M3FN>, tensor<?xf32>
  return
}
