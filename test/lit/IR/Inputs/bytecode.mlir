// What bytecode-v0.mlirbc and bytecode-v1.mlirbc hold: every op, with every kind of
// operand and attribute of that time. It stays as it is.

func.func @ops_block_quantize(%x: tensor<?x64xbf16>, %g: tensor<f32>,
    %q0: tensor<?x64xf4E2M1FN>, %s0: tensor<?x4xf8E4M3FN>)
    -> (tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>) {
  %a, %b = gq.block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      outs(%q0, %s0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  %q, %s = gq.block_quantize format(nvfp4) scale_layout(linear) {tag}
      ins(%x : tensor<?x64xbf16>) global_scale(%g : tensor<f32>)
      outs(%a, %b : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return %q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
}

func.func @ops_block_quantize_memref(%x: memref<?x64xf16>, %g: memref<f32>,
    %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>) {
  gq.block_quantize format(nvfp4) ins(%x : memref<?x64xf16>)
      global_scale(%g : memref<f32>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  return
}

func.func @ops_block_quantize_strided(
    %x: memref<?x64xf32, strided<[256, 1], offset: ?>>,
    %q: memref<?x32xi8, strided<[?, ?], offset: ?>>,
    %s: memref<?x4xf8E4M3FN, strided<[16, 1]>>) {
  gq.block_quantize format(nvfp4)
      ins(%x : memref<?x64xf32, strided<[256, 1], offset: ?>>)
      outs(%q, %s : memref<?x32xi8, strided<[?, ?], offset: ?>>,
                    memref<?x4xf8E4M3FN, strided<[16, 1]>>)
  return
}

func.func @ops_preprocess(%s: tensor<?x5xf8E4M3FN>, %o: tensor<4xi64>,
    %so: tensor<3xi64>, %t0: tensor<384x8xf8E4M3FN, #gq.tile128x4>)
    -> tensor<384x8xf8E4M3FN, #gq.tile128x4> {
  %t = gq.preprocess_grouped_matmul_sf format(nvfp4) scale_layout(tile128x4)
      ins(%s : tensor<?x5xf8E4M3FN>)
      groups(%o, %so : tensor<4xi64>, tensor<3xi64>)
      outs(%t0 : tensor<384x8xf8E4M3FN, #gq.tile128x4>)
      -> tensor<384x8xf8E4M3FN, #gq.tile128x4>
  return %t : tensor<384x8xf8E4M3FN, #gq.tile128x4>
}

func.func @ops_preprocess_memref(%s: memref<10x4xf8E4M3FN>, %o: memref<3xi32>,
    %so: memref<3xi32>, %t: memref<?x4xf8E4M3FN>) {
  gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%s : memref<10x4xf8E4M3FN>)
      groups(%o, %so : memref<3xi32>, memref<3xi32>)
      outs(%t : memref<?x4xf8E4M3FN>)
  return
}

func.func @ops_grouped_block_quantize(%x: tensor<?x5120xbf16>, %o: tensor<129xi32>,
    %so: tensor<128xi32>, %g: tensor<128xf32>, %q0: tensor<?x2560xi8>,
    %s0: tensor<?x320xf8E4M3FN, #gq.tile128x4>)
    -> (tensor<?x2560xi8>, tensor<?x320xf8E4M3FN, #gq.tile128x4>) {
  %q, %s = gq.grouped_block_quantize format(nvfp4) rows(grouped)
      ins(%x : tensor<?x5120xbf16>)
      groups(%o, %so : tensor<129xi32>, tensor<128xi32>)
      global_scale(%g : tensor<128xf32>)
      outs(%q0, %s0 : tensor<?x2560xi8>,
                      tensor<?x320xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x2560xi8>, tensor<?x320xf8E4M3FN, #gq.tile128x4>
  return %q, %s : tensor<?x2560xi8>, tensor<?x320xf8E4M3FN, #gq.tile128x4>
}

func.func @ops_grouped_block_quantize_memref(%x: memref<?x?xf32>,
    %o: memref<?xi64>, %so: memref<?xi64>, %g: memref<f32>,
    %q: memref<?x?xi8>, %s: memref<?x?xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4) rows(all) ins(%x : memref<?x?xf32>)
      groups(%o, %so : memref<?xi64>, memref<?xi64>)
      global_scale(%g : memref<f32>)
      outs(%q, %s : memref<?x?xi8>, memref<?x?xf8E4M3FN>)
  return
}

func.func @ops_grouped_mm(%a: tensor<?x64xf4E2M1FN>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>,
    %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>,
    %so: tensor<3xi32>, %alpha: tensor<3xf32>, %c0: tensor<?x32xbf16>)
    -> tensor<?x32xbf16> {
  %c = gq.grouped_mm format(nvfp4)
      ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>,
                        tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      alpha(%alpha : tensor<3xf32>)
      outs(%c0 : tensor<?x32xbf16>) -> tensor<?x32xbf16>
  return %c : tensor<?x32xbf16>
}

func.func @ops_grouped_mm_kernel(%a: memref<?x32xi8>, %b: memref<3x32x32xi8>,
    %sa: memref<?x4xf8E4M3FN>, %sb: memref<3x128x4xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<?x32xbf16>) {
  gq.grouped_mm format(nvfp4) kernel(tiles64)
      ins(%a, %b : memref<?x32xi8>, memref<3x32x32xi8>)
      scales(%sa, %sb : memref<?x4xf8E4M3FN>, memref<3x128x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<?x32xbf16>)
  gq.grouped_mm format(nvfp4) kernel(auto)
      ins(%a, %b : memref<?x32xi8>, memref<3x32x32xi8>)
      scales(%sa, %sb : memref<?x4xf8E4M3FN>, memref<3x128x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<?x32xbf16>)
  return
}

func.func @ops_grouped_mm_packed(%a: tensor<?x32xi8>, %b: tensor<3x32x64xf4E2M1FN>,
    %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>,
    %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>,
    %so: tensor<3xi32>, %c0: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %c = gq.grouped_mm format(nvfp4)
      ins(%a, %b : tensor<?x32xi8>, tensor<3x32x64xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>,
                        tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c0 : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %c : tensor<?x32xf32>
}

func.func @ops_producer(%x: tensor<?x64xbf16>, %r: tensor<?xf32>, %c: tensor<64xf16>,
    %v: tensor<f32>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q0: tensor<?x64xf4E2M1FN>, %s0: tensor<?x4xf8E4M3FN, #gq.tile128x4>)
    -> tensor<?x64xf4E2M1FN> {
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

func.func @ops_row_indices(%x: memref<9x64xbf16>, %i: memref<?xi64>,
    %o: memref<4xi32>, %so: memref<3xi32>, %q: memref<?x32xi8>,
    %s: memref<?x4xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<9x64xbf16>)
      row_indices(%i : memref<?xi64>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>)
  return
}

func.func @ops_row_indices_producer(%x: tensor<9x64xbf16>, %r: tensor<9xf32>,
    %c: tensor<8xf16>, %i: tensor<?xi32>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q0: tensor<?x64xf4E2M1FN>, %s0: tensor<?x4xf8E4M3FN, #gq.tile128x4>)
    -> tensor<?x64xf4E2M1FN> {
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

func.func @ops_grouped_mm_extents(%a: tensor<?x?xf4E2M1FN>,
    %b: tensor<?x?x24xi8>, %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>,
    %sb: tensor<3x384x?xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>,
    %so: tensor<?xi32>, %c0: tensor<?x300xf32>) -> tensor<?x300xf32> {
  %c = gq.grouped_mm format(nvfp4)
      ins(%a, %b : tensor<?x?xf4E2M1FN>, tensor<?x?x24xi8>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>,
                        tensor<3x384x?xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<?xi32>)
      outs(%c0 : tensor<?x300xf32>) -> tensor<?x300xf32>
  return %c : tensor<?x300xf32>
}

func.func @ops_grouped_block_quantize_directions(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %q0: tensor<?x64xf4E2M1FN>,
    %t0: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %qt0: tensor<?xf4E2M1FN>,
    %tt0: tensor<?xf8E4M3FN, #gq.tile128x4>, %y: tensor<?x128xbf16>,
    %e0: tensor<?xf8E4M3FN>, %f0: tensor<?xf32>) attributes {
      my.all = #gq.direction<rounding = nearest, transform = none, block = 1x16>,
      my.none = #gq.direction<>} {
  %r:4 = gq.grouped_block_quantize format(nvfp4) rowwise<block = 1x16>
      columnwise<transform = none, rounding = nearest> {tag}
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outs(%q0, %t0 : tensor<?x64xf4E2M1FN>,
                      tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      columnwise_outs(%qt0, %tt0 : tensor<?xf4E2M1FN>,
                                   tensor<?xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>,
         tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>
  %s:2 = gq.grouped_block_quantize format(fp8_e4m3_128x128)
      scale_layout(linear) columnwise<block = 128x128>
      ins(%y : tensor<?x128xbf16>) groups(%o : tensor<4xi32>)
      columnwise_outs(%e0, %f0 : tensor<?xf8E4M3FN>, tensor<?xf32>)
      -> tensor<?xf8E4M3FN>, tensor<?xf32>
  return
}

!x = tensor<?x64xbf16>
!q = tensor<?x64xf4E2M1FN>
!s = tensor<?x4xf8E4M3FN, #gq.tile128x4>
!qt = tensor<?xf4E2M1FN>
!st = tensor<?xf8E4M3FN, #gq.tile128x4>

func.func private @attributes() attributes {
    my.a = #gq.direction<rounding = stochastic, transform = hadamard16,
                         signs = 0xD7E8, block = 16x1, outer = column>,
    my.b = #gq.direction<block = 16x16, four_over_six = mae, scale_max = 256>,
    my.c = #gq.direction<signs = 8, outer = group, four_over_six = none>}

func.func @directions_per_token(%x: !x, %o: tensor<4xi32>, %a: tensor<?xf32>,
    %b: tensor<3x64xf32>, %q0: !q, %s0: !s, %qt0: !qt, %st0: !st) {
  %r:4 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      rowwise<outer = row> columnwise<outer = column>
      ins(%x : !x) groups(%o : tensor<4xi32>) outer_amax(%a : tensor<?xf32>)
      columnwise_outer_amax(%b : tensor<3x64xf32>)
      outs(%q0, %s0 : !q, !s) columnwise_outs(%qt0, %st0 : !qt, !st)
      -> !q, !s, !qt, !st
  return
}

func.func @directions_gradient(%x: !x, %o: tensor<4xi32>, %b: tensor<3xf32>,
    %rng: tensor<2xi64>, %qt0: !qt, %st0: !st) {
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      columnwise<rounding = stochastic, transform = hadamard16, signs = 0xD7E8>
      ins(%x : !x) groups(%o : tensor<4xi32>)
      columnwise_outer_amax(%b : tensor<3xf32>) rng_state(%rng : tensor<2xi64>)
      columnwise_outs(%qt0, %st0 : !qt, !st) -> !qt, !st
  return
}

func.func @directions_weights(%x: !x, %o: tensor<4xi32>, %a: tensor<f32>, %q0: !q,
    %s0: !s, %qt0: !qt, %st0: !st) {
  %r:4 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      rowwise<block = 16x16, four_over_six = mse>
      columnwise<block = 16x16, four_over_six = mse>
      ins(%x : !x) groups(%o : tensor<4xi32>) outer_amax(%a : tensor<f32>)
      outs(%q0, %s0 : !q, !s) columnwise_outs(%qt0, %st0 : !qt, !st)
      -> !q, !s, !qt, !st
  return
}

!tiles = tensor<?xf8E4M3FN, #gq.tile128x4>

func.func @dequantize_block(%q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %g: tensor<f32>, %x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %r = gq.block_dequantize format(nvfp4)
      ins(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      global_scale(%g : tensor<f32>) outs(%x : tensor<?x64xbf16>)
      -> tensor<?x64xbf16>
  return %r : tensor<?x64xbf16>
}

func.func @dequantize_square(%q: memref<200x256xf8E5M2>, %s: memref<2x2xf32>,
    %x: memref<200x256xf32, strided<[300, 1]>>) {
  gq.block_dequantize format(fp8_e5m2_128x128)
      ins(%q, %s : memref<200x256xf8E5M2>, memref<2x2xf32>)
      outs(%x : memref<200x256xf32, strided<[300, 1]>>)
  return
}

func.func @dequantize_rows(%q: tensor<?x64xf4E2M1FN>,
    %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %o: tensor<3xi32>,
    %so: tensor<3xi32>, %g: tensor<3xf32>, %x: tensor<?x64xf16>)
    -> tensor<?x64xf16> {
  %r = gq.grouped_dequantize format(nvfp4) ins(%q : tensor<?x64xf4E2M1FN>)
      scales(%s : tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<3xi32>, tensor<3xi32>)
      global_scale(%g : tensor<3xf32>) outs(%x : tensor<?x64xf16>)
      -> tensor<?x64xf16>
  return %r : tensor<?x64xf16>
}

func.func @dequantize_columns(%q: tensor<?xf4E2M1FN>, %s: !tiles, %o: tensor<4xi64>,
    %a: tensor<f32>, %x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %r = gq.grouped_dequantize format(nvfp4) recipe(te) axis(columnwise)
      ins(%q : tensor<?xf4E2M1FN>) scales(%s : !tiles)
      groups(%o : tensor<4xi64>) outer_amax(%a : tensor<f32>)
      outs(%x : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

func.func @dequantize_ragged(%q: tensor<?xi8>, %s: tensor<?xf8E8M0FNU>,
    %o: tensor<4xi64>, %m: tensor<3xi64>, %k: tensor<3xi64>,
    %x: tensor<?xbf16>) -> tensor<?xbf16> {
  %r = gq.grouped_dequantize format(mxfp4) scale_layout(linear)
      ins(%q : tensor<?xi8>) scales(%s : tensor<?xf8E8M0FNU>)
      groups(%o : tensor<4xi64>) shapes(%m, %k : tensor<3xi64>, tensor<3xi64>)
      outs(%x : tensor<?xbf16>) -> tensor<?xbf16>
  return %r : tensor<?xbf16>
}

func.func @dequantize_per_tensor(%q: tensor<?x48xf8E5M2>, %o: tensor<4xi32>,
    %i: tensor<3xf32>, %x: tensor<?x48xbf16>) -> tensor<?x48xbf16> {
  %r = gq.grouped_dequantize ins(%q : tensor<?x48xf8E5M2>)
      groups(%o : tensor<4xi32>) scale_inv(%i : tensor<3xf32>)
      outs(%x : tensor<?x48xbf16>) -> tensor<?x48xbf16>
  return %r : tensor<?x48xbf16>
}

func.func @dequantize_no_rows(%q: tensor<?xf4E2M1FN>, %s: !tiles, %o: tensor<4xi64>,
    %x: tensor<0x64xf32>) -> tensor<0x64xf32> {
  %r = gq.grouped_dequantize format(nvfp4) axis(columnwise)
      ins(%q : tensor<?xf4E2M1FN>) scales(%s : !tiles)
      groups(%o : tensor<4xi64>) outs(%x : tensor<0x64xf32>)
      -> tensor<0x64xf32>
  return %r : tensor<0x64xf32>
}

func.func @grouped_amax_rows(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %a0: tensor<3xf32>, %r0: tensor<?xf32>,
    %c0: tensor<3x64xf32>) -> (tensor<3xf32>, tensor<?xf32>, tensor<3x64xf32>) {
  %a, %r, %c = gq.grouped_amax rows(grouped) ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      amax_out(%a0 : tensor<3xf32>) row_amax_out(%r0 : tensor<?xf32>)
      column_amax_out(%c0 : tensor<3x64xf32>)
      -> tensor<3xf32>, tensor<?xf32>, tensor<3x64xf32>
  return %a, %r, %c : tensor<3xf32>, tensor<?xf32>, tensor<3x64xf32>
}

func.func @grouped_amax_no_rows(%x: tensor<0x64xbf16>, %o: tensor<4xi32>, %a0: tensor<3xf32>) -> tensor<3xf32> {
  %a = gq.grouped_amax ins(%x : tensor<0x64xbf16>) groups(%o : tensor<4xi32>)
      amax_out(%a0 : tensor<3xf32>) -> tensor<3xf32>
  return %a : tensor<3xf32>
}

func.func @grouped_amax_ragged(%x: tensor<?xf16>, %o: tensor<4xi64>, %m: tensor<3xi64>, %a0: tensor<3xf32>) -> tensor<3xf32> {
  %a = gq.grouped_amax ins(%x : tensor<?xf16>) groups(%o : tensor<4xi64>)
      shapes(%m, %m : tensor<3xi64>, tensor<3xi64>) amax_out(%a0 : tensor<3xf32>) -> tensor<3xf32>
  return %a : tensor<3xf32>
}

func.func @grouped_amax_producer(%x: tensor<?x64xbf16>, %w: tensor<?xf32>, %i: tensor<?xi32>, %o: tensor<4xi32>,
    %r0: tensor<?xf32>) -> tensor<?xf32> {
  %r = gq.grouped_amax ins(%x, %w : tensor<?x64xbf16>, tensor<?xf32>) row_indices(%i : tensor<?xi32>)
      maps [affine_map<(m, k)[r] -> (r, k)>, affine_map<(m, k) -> (m)>]
      groups(%o : tensor<4xi32>) row_amax_out(%r0 : tensor<?xf32>) -> tensor<?xf32> producer {
  ^bb0(%e: bf16, %f: f32):
    %g = arith.extf %e : bf16 to f32
    %p = arith.mulf %g, %f : f32
    gq.yield %p : f32
  }
  return %r : tensor<?xf32>
}

func.func @grouped_amax_memrefs(%x: memref<8x64xf32, strided<[80, 1]>>, %o: memref<4xi32>, %c: memref<3x64xf32>) {
  gq.grouped_amax ins(%x : memref<8x64xf32, strided<[80, 1]>>) groups(%o : memref<4xi32>)
      column_amax_out(%c : memref<3x64xf32>)
  return
}

func.func @grouped_quantize_delayed(%x: tensor<?x48xbf16>, %i: tensor<?xi32>, %o: tensor<4xi32>,
    %s: tensor<3xf32>, %q0: tensor<?x48xf8E4M3FN>, %qt0: tensor<?xf8E4M3FN>,
    %a0: tensor<3xf32>, %d0: tensor<3x48xbf16>, %i0: tensor<3xf32>)
    -> (tensor<?xf8E4M3FN>, tensor<3xf32>) {
  %q, %qt, %a, %d, %inv = gq.grouped_quantize format(fp8_e4m3) rows(grouped)
      ins(%x : tensor<?x48xbf16>) row_indices(%i : tensor<?xi32>)
      groups(%o : tensor<4xi32>) scale(%s : tensor<3xf32>)
      outs(%q0 : tensor<?x48xf8E4M3FN>) columnwise_outs(%qt0 : tensor<?xf8E4M3FN>)
      amax_out(%a0 : tensor<3xf32>) dbias_out(%d0 : tensor<3x48xbf16>)
      scale_inv_out(%i0 : tensor<3xf32>)
      -> tensor<?x48xf8E4M3FN>, tensor<?xf8E4M3FN>, tensor<3xf32>,
         tensor<3x48xbf16>, tensor<3xf32>
  return %qt, %inv : tensor<?xf8E4M3FN>, tensor<3xf32>
}

func.func @grouped_quantize_current(%x: memref<?xf32>, %o: memref<4xi64>, %m: memref<3xi64>,
    %k: memref<3xi64>, %a: memref<f32>, %q: memref<?xf8E5M2>) {
  gq.grouped_quantize format(fp8_e5m2) ins(%x : memref<?xf32>)
      groups(%o : memref<4xi64>) shapes(%m, %k : memref<3xi64>, memref<3xi64>)
      outer_amax(%a : memref<f32>) outs(%q : memref<?xf8E5M2>)
  return
}

func.func @grouped_quantize_producer(%dy: tensor<?x32xbf16>, %h: tensor<?x32xbf16>,
    %o: tensor<?xi32>, %s: tensor<?xf32>, %qt0: tensor<?xf8E5M2>,
    %d0: tensor<?x32xf32>) -> (tensor<?xf8E5M2>, tensor<?x32xf32>) {
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

func.func @grouped_quantize_update_scales(%a: tensor<?xf32>, %h0: tensor<16x?xf32>,
    %s0: tensor<?xf32>) -> (tensor<16x?xf32>, tensor<?xf32>) {
  %h, %s = gq.update_scales format(fp8_e4m3) amax_algo(max) margin(0)
      ins(%a : tensor<?xf32>) outs(%h0, %s0 : tensor<16x?xf32>, tensor<?xf32>)
      -> tensor<16x?xf32>, tensor<?xf32>
  %h1, %s1 = gq.update_scales format(fp8_e5m2) amax_algo(most_recent) margin(3)
      ins(%a : tensor<?xf32>) outs(%h, %s : tensor<16x?xf32>, tensor<?xf32>)
      -> tensor<16x?xf32>, tensor<?xf32>
  return %h1, %s1 : tensor<16x?xf32>, tensor<?xf32>
}
func.func @grouped_wgrad(%a: tensor<?xf4E2M1FN>, %b: tensor<?xf4E2M1FN>,
    %sa: tensor<?xf8E4M3FN, #gq.tile128x4>, %sb: tensor<?xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %alpha: tensor<3xf32>, %c: tensor<3x32x64xbf16>)
    -> tensor<3x32x64xbf16> {
  %r = gq.grouped_wgrad format(nvfp4)
      ins(%a, %b : tensor<?xf4E2M1FN>, tensor<?xf4E2M1FN>)
      scales(%sa, %sb : tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      groups(%o : tensor<4xi32>) alpha(%alpha : tensor<3xf32>)
      outs(%c : tensor<3x32x64xbf16>) -> tensor<3x32x64xbf16>
  return %r : tensor<3x32x64xbf16>
}

func.func @group_offsets(%c: tensor<?xi64>, %o0: tensor<?xi32>, %s0: tensor<?xi32>)
    -> (tensor<?xi32>, tensor<?xi32>) {
  %o, %s = gq.group_offsets ins(%c : tensor<?xi64>)
      outs(%o0, %s0 : tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>, tensor<?xi32>
  return %o, %s : tensor<?xi32>, tensor<?xi32>
}

func.func @directions(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %a: tensor<3xf32>,
    %r: tensor<2xi64>, %q0: tensor<?xf4E2M1FN>, %s0: tensor<?xf8E4M3FN, #gq.tile128x4>)
    -> (tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>) {
  %q, %s = gq.grouped_block_quantize format(nvfp4) recipe(te)
      columnwise<rounding = stochastic, transform = hadamard16, signs = 0xD7E8>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      columnwise_outer_amax(%a : tensor<3xf32>) rng_state(%r : tensor<2xi64>)
      columnwise_outs(%q0, %s0 : tensor<?xf4E2M1FN>,
                                 tensor<?xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>
  return %q, %s : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>
}
