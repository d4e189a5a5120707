// RUN: gq-opt %s -split-input-file -verify-diagnostics

// One chunk per constraint, named after the op and the constraint's number.

func.func @grouped_block_quantize_c4_mx(
    %x: tensor<?x48xbf16>, %o: tensor<4xi32>, %cq: tensor<?x48xf8E5M2>,
    %cs: tensor<?xf8E8M0FNU, #gq.tile128x4>) {
  // expected-error @+1 {{requires K to be a positive multiple of 32, the block size of the format, but got 48}}
  %r:2 = gq.grouped_block_quantize format(mxfp8_e5m2)
      ins(%x : tensor<?x48xbf16>)
      groups(%o : tensor<4xi32>)
      columnwise_outs(%cq, %cs :
        tensor<?x48xf8E5M2>, tensor<?xf8E8M0FNU, #gq.tile128x4>)
      -> tensor<?x48xf8E5M2>, tensor<?xf8E8M0FNU, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c5_derived(
    %x: tensor<?x128xbf16>, %o: tensor<0xi32>, %q: tensor<?x128xf4E2M1FN>,
    %s: tensor<?x8xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'offsets' to hold G + 1 entries where there are no 'scale_offsets', but got 0}}
  %r:2 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<0xi32>)
      outs(%q, %s : tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c7_ragged(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %m: tensor<3xi32>,
    %k: tensor<3xi32>, %q: tensor<?xf4E2M1FN>,
    %s: tensor<?xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires a single input of rank 1 and no 'maps' where it has no 'producer'}}
  %r:2 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      shapes(%m, %k : tensor<3xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c8_rank(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %q: tensor<?x128xf4E2M1FN>,
    %s: tensor<?xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'scales' to be of rank 2, but got 1}}
  %r:2 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<?x128xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x128xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c8_linear(
    %x: tensor<64x128xbf16>, %o: tensor<4xi32>, %q: tensor<64x128xf4E2M1FN>,
    %s: tensor<64x12xf8E4M3FN>) {
  // expected-error @+1 {{requires 'scales' to be 64x8, but got 64x12}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) scale_layout(linear)
      ins(%x : tensor<64x128xbf16>)
      groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<64x128xf4E2M1FN>, tensor<64x12xf8E4M3FN>)
      -> tensor<64x128xf4E2M1FN>, tensor<64x12xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c8_squares(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %q: tensor<?x128xf8E4M3FN>,
    %s: tensor<?x1xf32>) {
  // expected-error @+1 {{requires 'scales' to be of rank 1, but got 2}}
  %r:2 = gq.grouped_block_quantize format(fp8_e4m3_128x128) scale_layout(linear)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<?x128xf8E4M3FN>, tensor<?x1xf32>)
      -> tensor<?x128xf8E4M3FN>, tensor<?x1xf32>
  return
}

// -----

func.func @grouped_block_quantize_c9_linear(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %q: tensor<?x128xf4E2M1FN>,
    %s: tensor<?x8xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'scales' to have no encoding; only tiled scales have one}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) scale_layout(linear)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c9_columnwise_scales(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %cq: tensor<?xf4E2M1FN>,
    %cs: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires 'columnwise_scales' to have the encoding #gq.tile128x4}}
  %r:2 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      columnwise_outs(%cq, %cs : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c9_columnwise_data(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>,
    %cq: tensor<?xf4E2M1FN, #gq.tile128x4>,
    %cs: tensor<?xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'columnwise_data' to have no encoding}}
  %r:2 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      columnwise_outs(%cq, %cs :
        tensor<?xf4E2M1FN, #gq.tile128x4>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?xf4E2M1FN, #gq.tile128x4>, tensor<?xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c10_columnwise_scales(
    %x: memref<?x128xbf16>, %o: memref<4xi32>, %cq: memref<?xi8>,
    %cs: memref<?xf8E4M3FN, strided<[2]>>) {
  // expected-error @+1 {{requires 'columnwise_scales' to be contiguous}}
  gq.grouped_block_quantize format(nvfp4)
      ins(%x : memref<?x128xbf16>)
      groups(%o : memref<4xi32>)
      columnwise_outs(%cq, %cs : memref<?xi8>, memref<?xf8E4M3FN, strided<[2]>>)
  return
}

// -----

func.func @grouped_block_quantize_c10_columnwise_data(
    %x: memref<?x128xbf16>, %o: memref<4xi32>, %cq: memref<?xi8, strided<[2]>>,
    %cs: memref<?xf8E4M3FN>) {
  // expected-error @+1 {{requires 'columnwise_data' to be contiguous}}
  gq.grouped_block_quantize format(nvfp4)
      ins(%x : memref<?x128xbf16>)
      groups(%o : memref<4xi32>)
      columnwise_outs(%cq, %cs : memref<?xi8, strided<[2]>>, memref<?xf8E4M3FN>)
  return
}

// -----

func.func @grouped_block_quantize_c10_dbias(
    %x: memref<?x128xbf16>, %o: memref<4xi32>, %cq: memref<?xi8>,
    %cs: memref<?xf8E4M3FN>, %d: memref<3x128xf32, strided<[256, 1]>>) {
  // expected-error @+1 {{requires 'dbias' to be contiguous}}
  gq.grouped_block_quantize format(nvfp4)
      ins(%x : memref<?x128xbf16>)
      groups(%o : memref<4xi32>)
      columnwise_outs(%cq, %cs : memref<?xi8>, memref<?xf8E4M3FN>)
      dbias_out(%d : memref<3x128xf32, strided<[256, 1]>>)
  return
}

// -----

func.func @grouped_block_quantize_c10_amax(
    %x: memref<?x128xbf16>, %o: memref<4xi32>, %cq: memref<?xi8>,
    %cs: memref<?xf8E4M3FN>, %a: memref<3xf32, strided<[2]>>) {
  // expected-error @+1 {{requires 'amax' to be contiguous}}
  gq.grouped_block_quantize format(nvfp4)
      ins(%x : memref<?x128xbf16>)
      groups(%o : memref<4xi32>)
      columnwise_outs(%cq, %cs : memref<?xi8>, memref<?xf8E4M3FN>)
      amax_out(%a : memref<3xf32, strided<[2]>>)
  return
}

// -----

func.func @grouped_block_quantize_c10_linear_scales(
    %x: memref<?x128xbf16>, %o: memref<4xi32>, %q: memref<?x64xi8>,
    %s: memref<?x8xf8E4M3FN, strided<[16, 2]>>) {
  // expected-error @+1 {{requires 'scales' to have an innermost stride of 1}}
  gq.grouped_block_quantize format(nvfp4) scale_layout(linear)
      ins(%x : memref<?x128xbf16>)
      groups(%o : memref<4xi32>)
      outs(%q, %s : memref<?x64xi8>, memref<?x8xf8E4M3FN, strided<[16, 2]>>)
  return
}

// -----

func.func @grouped_block_quantize_c10_outer_amax(
    %x: memref<?x128xbf16>, %o: memref<4xi32>, %a: memref<3xf32, strided<[2]>>,
    %q: memref<?x64xi8>, %s: memref<?x8xf8E4M3FN>) {
  // expected-error @+1 {{requires 'outer_amax' to be contiguous}}
  gq.grouped_block_quantize format(nvfp4) recipe(te)
      ins(%x : memref<?x128xbf16>)
      groups(%o : memref<4xi32>)
      outer_amax(%a : memref<3xf32, strided<[2]>>)
      outs(%q, %s : memref<?x64xi8>, memref<?x8xf8E4M3FN>)
  return
}

// -----

func.func @grouped_block_quantize_c16_nothing(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %a: tensor<3xf32>) {
  // expected-error @+1 {{requires data and scales of 'outs', of 'columnwise_outs' or of both}}
  %r = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      amax_out(%a : tensor<3xf32>)
      -> tensor<3xf32>
  return
}

// -----

func.func @grouped_block_quantize_c17_data(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %q: tensor<?x128xf8E4M3FN>,
    %s: tensor<?x4xf8E8M0FNU, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'data' to be of f8E5M2 for format(mxfp8_e5m2)}}
  %r:2 = gq.grouped_block_quantize format(mxfp8_e5m2)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      outs(%q, %s :
        tensor<?x128xf8E4M3FN>, tensor<?x4xf8E8M0FNU, #gq.tile128x4>)
      -> tensor<?x128xf8E4M3FN>, tensor<?x4xf8E8M0FNU, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c17_scales(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %q: tensor<?x128xf4E2M1FN>,
    %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'scales' to be of f8E8M0FNU for format(mxfp4)}}
  %r:2 = gq.grouped_block_quantize format(mxfp4)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<?x128xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x128xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c17_columnwise_data(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %cq: tensor<?xf8E5M2>,
    %cs: tensor<?xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'columnwise_data' to be of f4E2M1FN or i8 for format(nvfp4)}}
  %r:2 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      columnwise_outs(%cq, %cs :
        tensor<?xf8E5M2>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?xf8E5M2>, tensor<?xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c17_columnwise_scales(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %cq: tensor<?xf8E5M2>,
    %cs: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires 'columnwise_scales' to be of f32 for format(fp8_e5m2_1x128)}}
  %r:2 = gq.grouped_block_quantize format(fp8_e5m2_1x128) scale_layout(linear)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      columnwise_outs(%cq, %cs : tensor<?xf8E5M2>, tensor<?xf8E4M3FN>)
      -> tensor<?xf8E5M2>, tensor<?xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c18_format(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %a: tensor<3xf32>,
    %q: tensor<?x128xf8E5M2>, %s: tensor<?x4xf8E8M0FNU, #gq.tile128x4>) {
  // expected-error @+1 {{requires format(nvfp4) for recipe(te)}}
  %r:2 = gq.grouped_block_quantize format(mxfp8_e5m2) recipe(te)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      outer_amax(%a : tensor<3xf32>)
      outs(%q, %s : tensor<?x128xf8E5M2>, tensor<?x4xf8E8M0FNU, #gq.tile128x4>)
      -> tensor<?x128xf8E5M2>, tensor<?x4xf8E8M0FNU, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c18_missing(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %q: tensor<?x128xf4E2M1FN>,
    %s: tensor<?x8xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'outer_amax' for recipe(te)}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c18_nvfuser(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %a: tensor<3xf32>,
    %q: tensor<?x128xf4E2M1FN>, %s: tensor<?x8xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires recipe(te) for 'outer_amax'}}
  %r:2 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      outer_amax(%a : tensor<3xf32>)
      outs(%q, %s : tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c18_columnwise(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %a: tensor<3xf32>,
    %q: tensor<?x128xf4E2M1FN>, %s: tensor<?x8xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires recipe(te) and 'columnwise_outs' for 'columnwise_outer_amax'}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      outer_amax(%a : tensor<3xf32>)
      columnwise_outer_amax(%a : tensor<3xf32>)
      outs(%q, %s : tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c18_groups(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %a: tensor<4xf32>,
    %q: tensor<?x128xf4E2M1FN>, %s: tensor<?x8xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'outer_amax' to be 3, but got 4}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      outer_amax(%a : tensor<4xf32>)
      outs(%q, %s : tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c18_columnwise_groups(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %a: tensor<3xf32>,
    %b: tensor<4xf32>, %cq: tensor<?xf4E2M1FN>,
    %cs: tensor<?xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'columnwise_outer_amax' to be 3, but got 4}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      outer_amax(%a : tensor<3xf32>)
      columnwise_outer_amax(%b : tensor<4xf32>)
      columnwise_outs(%cq, %cs :
        tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c19_format(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %a: tensor<3xf32>,
    %q: tensor<?x128xf8E5M2>, %s: tensor<?x4xf8E8M0FNU, #gq.tile128x4>) {
  // expected-error @+1 {{requires format(nvfp4) and recipe(nvfuser) for 'global_scale'}}
  %r:2 = gq.grouped_block_quantize format(mxfp8_e5m2)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      global_scale(%a : tensor<3xf32>)
      outs(%q, %s : tensor<?x128xf8E5M2>, tensor<?x4xf8E8M0FNU, #gq.tile128x4>)
      -> tensor<?x128xf8E5M2>, tensor<?x4xf8E8M0FNU, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c19_recipe(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %a: tensor<3xf32>,
    %q: tensor<?x128xf4E2M1FN>, %s: tensor<?x8xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires format(nvfp4) and recipe(nvfuser) for 'global_scale'}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      global_scale(%a : tensor<3xf32>)
      outer_amax(%a : tensor<3xf32>)
      outs(%q, %s : tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c20(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %q: tensor<?x128xf8E4M3FN>,
    %s: tensor<?x4xf32, #gq.tile128x4>) {
  // expected-error @+1 {{requires scale_layout(linear) for the f32 scales of fp8_e4m3_1x128}}
  %r:2 = gq.grouped_block_quantize format(fp8_e4m3_1x128)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<?x128xf8E4M3FN>, tensor<?x4xf32, #gq.tile128x4>)
      -> tensor<?x128xf8E4M3FN>, tensor<?x4xf32, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c21_linear(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x128xf4E2M1FN>, %s: tensor<?x8xf8E4M3FN>) {
  // expected-error @+1 {{requires no 'scale_offsets' for scale_layout(linear): they say where the tiles of a group begin}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) scale_layout(linear)
      ins(%x : tensor<?x128xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN>)
      -> tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c21_columnwise(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %cq: tensor<?xf4E2M1FN>,
    %cs: tensor<?xf8E4M3FN, #gq.tile128x4>, %p: tensor<3xi32>) {
  // expected-error @+1 {{requires no 'scale_offsets_out' without 'outs'}}
  %r:3 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      columnwise_outs(%cq, %cs :
        tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      scale_offsets_out(%p : tensor<3xi32>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<3xi32>
  return
}

// -----

func.func @grouped_block_quantize_c21_ragged(
    %x: tensor<?xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %m: tensor<3xi32>, %k: tensor<3xi32>, %q: tensor<?xf4E2M1FN>,
    %s: tensor<?xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires no 'scale_offsets' where it has 'shapes'}}
  %r:2 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      shapes(%m, %k : tensor<3xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c21_both(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %q: tensor<?x128xf4E2M1FN>, %s: tensor<?x8xf8E4M3FN, #gq.tile128x4>,
    %p: tensor<3xi32>) {
  // expected-error @+1 {{requires no 'scale_offsets' where it has 'scale_offsets_out'}}
  %r:3 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?x128xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>)
      scale_offsets_out(%p : tensor<3xi32>)
      -> tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>, tensor<3xi32>
  return
}

// -----

func.func @grouped_block_quantize_c21_type(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %q: tensor<?x128xf4E2M1FN>,
    %s: tensor<?x8xf8E4M3FN, #gq.tile128x4>, %p: tensor<3xi64>) {
  // expected-error @+1 {{requires 'offsets' and 'scale_offsets_out' to have the same element type}}
  %r:3 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>)
      scale_offsets_out(%p : tensor<3xi64>)
      -> tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>, tensor<3xi64>
  return
}

// -----

func.func @grouped_block_quantize_c21_groups(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %q: tensor<?x128xf4E2M1FN>,
    %s: tensor<?x8xf8E4M3FN, #gq.tile128x4>, %p: tensor<4xi32>) {
  // expected-error @+1 {{requires 'scale_offsets_out' to be 3, but got 4}}
  %r:3 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>)
      scale_offsets_out(%p : tensor<4xi32>)
      -> tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>, tensor<4xi32>
  return
}

// -----

func.func @grouped_block_quantize_c22_data(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %q: tensor<?xf4E2M1FN>,
    %s: tensor<?x8xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'data' to be of rank 2, but got 1}}
  %r:2 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<?xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c22_transposed(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %cq: tensor<128x?xf4E2M1FN>,
    %cs: tensor<?xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'columnwise_data' to be of rank 1, but got 2}}
  %r:2 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      columnwise_outs(%cq, %cs :
        tensor<128x?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      -> tensor<128x?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c22_not_transposed(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %cq: tensor<?xf8E5M2>,
    %cs: tensor<?xf8E8M0FNU, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'columnwise_data' to be of rank 2, but got 1}}
  %r:2 = gq.grouped_block_quantize format(mxfp8_e5m2)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      columnwise_outs(%cq, %cs :
        tensor<?xf8E5M2>, tensor<?xf8E8M0FNU, #gq.tile128x4>)
      -> tensor<?xf8E5M2>, tensor<?xf8E8M0FNU, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c22_extents(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %q: tensor<?x128xf8E5M2>,
    %s: tensor<?x4xf8E8M0FNU, #gq.tile128x4>, %cq: tensor<?x256xf8E5M2>,
    %cs: tensor<?xf8E8M0FNU, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'columnwise_data' to be ?x128, but got ?x256}}
  %r:4 = gq.grouped_block_quantize format(mxfp8_e5m2)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<?x128xf8E5M2>, tensor<?x4xf8E8M0FNU, #gq.tile128x4>)
      columnwise_outs(%cq, %cs :
        tensor<?x256xf8E5M2>, tensor<?xf8E8M0FNU, #gq.tile128x4>)
      -> tensor<?x128xf8E5M2>, tensor<?x4xf8E8M0FNU, #gq.tile128x4>, tensor<?x256xf8E5M2>, tensor<?xf8E8M0FNU, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c23_type(
    %x: tensor<?xbf16>, %o: tensor<4xi32>, %m: tensor<3xi32>, %k: tensor<3xi64>,
    %q: tensor<?xf4E2M1FN>, %s: tensor<?xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'offsets' and 'last_dims' to have the same element type}}
  %r:2 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?xbf16>)
      groups(%o : tensor<4xi32>)
      shapes(%m, %k : tensor<3xi32>, tensor<3xi64>)
      outs(%q, %s : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c23_groups(
    %x: tensor<?xbf16>, %o: tensor<4xi32>, %m: tensor<4xi32>, %k: tensor<3xi32>,
    %q: tensor<?xf4E2M1FN>, %s: tensor<?xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'first_dims' to be 3, but got 4}}
  %r:2 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?xbf16>)
      groups(%o : tensor<4xi32>)
      shapes(%m, %k : tensor<4xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c23_dbias(
    %x: tensor<?xbf16>, %o: tensor<4xi32>, %m: tensor<3xi32>, %k: tensor<3xi32>,
    %q: tensor<?xf4E2M1FN>, %s: tensor<?xf8E4M3FN, #gq.tile128x4>,
    %d: tensor<3x128xf32>) {
  // expected-error @+1 {{requires no 'producer', 'row_indices' or 'dbias' where it has 'shapes'}}
  %r:3 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?xbf16>)
      groups(%o : tensor<4xi32>)
      shapes(%m, %k : tensor<3xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      dbias_out(%d : tensor<3x128xf32>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<3x128xf32>
  return
}

// -----

func.func @grouped_block_quantize_c23_data(
    %x: tensor<?xbf16>, %o: tensor<4xi32>, %m: tensor<3xi32>, %k: tensor<3xi32>,
    %q: tensor<?x128xf4E2M1FN>, %s: tensor<?xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'data' to be of rank 1, but got 2}}
  %r:2 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?xbf16>)
      groups(%o : tensor<4xi32>)
      shapes(%m, %k : tensor<3xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?x128xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x128xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c23_scales(
    %x: tensor<?xbf16>, %o: tensor<4xi32>, %m: tensor<3xi32>, %k: tensor<3xi32>,
    %q: tensor<?xf4E2M1FN>, %s: tensor<?x8xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'scales' to be of rank 1, but got 2}}
  %r:2 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?xbf16>)
      groups(%o : tensor<4xi32>)
      shapes(%m, %k : tensor<3xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c24_amax(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %q: tensor<?x128xf4E2M1FN>,
    %s: tensor<?x8xf8E4M3FN, #gq.tile128x4>, %a: tensor<4xf32>) {
  // expected-error @+1 {{requires 'amax' to be 3, but got 4}}
  %r:3 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>)
      amax_out(%a : tensor<4xf32>)
      -> tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>, tensor<4xf32>
  return
}

// -----

func.func @grouped_block_quantize_c24_dbias(
    %x: tensor<?x128xbf16>, %o: tensor<4xi32>, %q: tensor<?x128xf4E2M1FN>,
    %s: tensor<?x8xf8E4M3FN, #gq.tile128x4>, %d: tensor<3x64xf32>) {
  // expected-error @+1 {{requires 'dbias' to be 3x128, but got 3x64}}
  %r:3 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?x128xbf16>)
      groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>)
      dbias_out(%d : tensor<3x64xf32>)
      -> tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN, #gq.tile128x4>, tensor<3x64xf32>
  return
}

// -----

func.func @grouped_block_quantize_c16_pair(%x: tensor<?x128xbf16>,
    %o: tensor<4xi32>, %q: tensor<?x128xf4E2M1FN>) {
  // expected-error @+1 {{requires data and scales of 'outs', of 'columnwise_outs' or of both}}
  %r = "gq.grouped_block_quantize"(%x, %o, %q) <{
      format = #gq<format(nvfp4)>, operandSegmentSizes =
          array<i32: 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0>}>
      : (tensor<?x128xbf16>, tensor<4xi32>, tensor<?x128xf4E2M1FN>)
      -> tensor<?x128xf4E2M1FN>
  return
}

// -----

func.func @grouped_block_quantize_c23_pair(%x: tensor<?xbf16>,
    %o: tensor<4xi32>, %m: tensor<3xi32>, %q: tensor<?xf4E2M1FN>,
    %s: tensor<?xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires both 'first_dims' and 'last_dims'}}
  %r:2 = "gq.grouped_block_quantize"(%x, %o, %m, %q, %s) <{
      format = #gq<format(nvfp4)>, operandSegmentSizes =
          array<i32: 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0>}>
      : (tensor<?xbf16>, tensor<4xi32>, tensor<3xi32>, tensor<?xf4E2M1FN>,
         tensor<?xf8E4M3FN, #gq.tile128x4>)
      -> (tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>)
  return
}

// -----

func.func @block_quantize_c5_type(%x: tensor<?x64xbf16>,
    %q: tensor<?x64xf8E5M2>, %s: tensor<?x2xf8E8M0FNU>) {
  // expected-error @+1 {{requires 'data' to be of f8E4M3FN for format(mxfp8_e4m3)}}
  %0:2 = gq.block_quantize format(mxfp8_e4m3) ins(%x : tensor<?x64xbf16>)
      outs(%q, %s : tensor<?x64xf8E5M2>, tensor<?x2xf8E8M0FNU>)
      -> tensor<?x64xf8E5M2>, tensor<?x2xf8E8M0FNU>
  return
}

// -----

func.func @block_quantize_c6_type(%x: tensor<?x64xbf16>,
    %q: tensor<?x64xf8E4M3FN>, %s: tensor<?x2xf8E4M3FN>) {
  // expected-error @+1 {{requires 'scales' to be of f8E8M0FNU for format(mxfp8_e4m3)}}
  %0:2 = gq.block_quantize format(mxfp8_e4m3) ins(%x : tensor<?x64xbf16>)
      outs(%q, %s : tensor<?x64xf8E4M3FN>, tensor<?x2xf8E4M3FN>)
      -> tensor<?x64xf8E4M3FN>, tensor<?x2xf8E4M3FN>
  return
}

// -----

func.func @block_quantize_c6_squares(%x: tensor<200x256xbf16>,
    %q: tensor<200x256xf8E4M3FN>, %s: tensor<200x2xf32>) {
  // expected-error @+1 {{requires 'scales' to be 2x2, but got 200x2}}
  %0:2 = gq.block_quantize format(fp8_e4m3_128x128)
      ins(%x : tensor<200x256xbf16>)
      outs(%q, %s : tensor<200x256xf8E4M3FN>, tensor<200x2xf32>)
      -> tensor<200x256xf8E4M3FN>, tensor<200x2xf32>
  return
}

// -----

func.func @block_quantize_c9(%x: tensor<?x64xbf16>, %g: tensor<f32>,
    %q: tensor<?x64xf8E4M3FN>, %s: tensor<?x2xf8E8M0FNU>) {
  // expected-error @+1 {{requires format(nvfp4) for 'global_scale'}}
  %0:2 = gq.block_quantize format(mxfp8_e4m3) ins(%x : tensor<?x64xbf16>)
      global_scale(%g : tensor<f32>)
      outs(%q, %s : tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>)
      -> tensor<?x64xf8E4M3FN>, tensor<?x2xf8E8M0FNU>
  return
}

// -----

func.func @preprocess_grouped_matmul_sf_c9(%s: tensor<?x4xf8E4M3FN>,
    %o: tensor<4xi32>, %so: tensor<3xi32>,
    %t: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'input' to be of f8E8M0FNU for format(mxfp4)}}
  %0 = gq.preprocess_grouped_matmul_sf format(mxfp4)
      ins(%s : tensor<?x4xf8E4M3FN>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%t : tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @preprocess_grouped_matmul_sf_c9_scales(
    %s: tensor<?x4xf8E8M0FNU>, %o: tensor<4xi32>, %so: tensor<3xi32>,
    %t: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'scales' to be of f8E8M0FNU for format(mxfp4)}}
  %0 = gq.preprocess_grouped_matmul_sf format(mxfp4)
      ins(%s : tensor<?x4xf8E8M0FNU>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%t : tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @preprocess_grouped_matmul_sf_c9_f32(%s: tensor<?x4xf32>,
    %o: tensor<4xi32>, %so: tensor<3xi32>,
    %t: tensor<?x4xf32, #gq.tile128x4>) {
  // expected-error @+1 {{requires scale_layout(linear) for the f32 scales of fp8_e5m2_1x128}}
  %0 = gq.preprocess_grouped_matmul_sf format(fp8_e5m2_1x128)
      ins(%s : tensor<?x4xf32>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%t : tensor<?x4xf32, #gq.tile128x4>)
      -> tensor<?x4xf32, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c23_row_indices(%x: tensor<?xbf16>,
    %i: tensor<?xi32>, %o: tensor<4xi32>, %m: tensor<3xi32>,
    %q: tensor<?xf4E2M1FN>, %s: tensor<?xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires no 'producer', 'row_indices' or 'dbias' where it has 'shapes'}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?xbf16>)
      row_indices(%i : tensor<?xi32>) groups(%o : tensor<4xi32>)
      shapes(%m, %m : tensor<3xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c23_producer(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %m: tensor<3xi32>, %q: tensor<?xf4E2M1FN>,
    %s: tensor<?xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires no 'producer', 'row_indices' or 'dbias' where it has 'shapes'}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      maps [affine_map<(m, k) -> (m, k)>] groups(%o : tensor<4xi32>)
      shapes(%m, %m : tensor<3xi32>, tensor<3xi32>)
      outs(%q, %s : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4> producer {
      ^bb0(%e: bf16):
        gq.yield %e : bf16
      }
  return
}

// -----

func.func @grouped_block_quantize_c25_m(%x: tensor<64xbf16>, %o: tensor<4xi32>,
    %q: tensor<?xf4E2M1FN>, %s: tensor<?xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires an operand that has the extent M, and one that has K}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<64xbf16>)
      maps [affine_map<(m, k) -> (k)>] groups(%o : tensor<4xi32>)
      columnwise_outs(%q, %s : tensor<?xf4E2M1FN>,
                               tensor<?xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4> producer {
      ^bb0(%e: bf16):
        gq.yield %e : bf16
      }
  return
}

// -----

func.func @grouped_block_quantize_c25_k(%x: tensor<?xbf16>, %o: tensor<4xi32>,
    %q: tensor<?xf4E2M1FN>, %s: tensor<?xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires an operand that has the extent M, and one that has K}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?xbf16>)
      maps [affine_map<(m, k) -> (m)>] groups(%o : tensor<4xi32>)
      columnwise_outs(%q, %s : tensor<?xf4E2M1FN>,
                               tensor<?xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4> producer {
      ^bb0(%e: bf16):
        gq.yield %e : bf16
      }
  return
}

// -----

func.func @grouped_block_quantize_c26_rowwise(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %q: tensor<?xf4E2M1FN>, %s: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires 'outs' for 'rowwise'}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) scale_layout(linear)
      rowwise<rounding = nearest>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      columnwise_outs(%q, %s : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c26_columnwise(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires 'columnwise_outs' for 'columnwise'}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) scale_layout(linear)
      columnwise<>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c27_rowwise(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>) {
  // expected-error @+1 {{requires the block of 'rowwise' to be 1x16, that of the format, or 16x16, but got 16x8}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) scale_layout(linear)
      rowwise<block = 16x8>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c27_columnwise(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %q: tensor<?xf4E2M1FN>, %s: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires the block of 'columnwise' to be 16x1, that of the format, or 16x16, but got 1x16}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) scale_layout(linear)
      columnwise<block = 1x16>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      columnwise_outs(%q, %s : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>
  return
}

// -----

// expected-error @+1 {{expected the rows and columns of a block}}
func.func private @direction_block() attributes {my.x = #gq.direction<block = 1x16x1>}

// -----

func.func @grouped_mm_c1_row_scales(
    %a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>, %sa: tensor<?x4xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>, %so: tensor<3xi32>, %r: tensor<?xbf16>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'row_scales' to be a 1D tensor or memref of f32, but got tensor<?xbf16>}}
  %0 = gq.grouped_mm format(mxfp8_e4m3)
      ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x4xf8E8M0FNU, #gq.tile128x4>, tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      row_scales(%r : tensor<?xbf16>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c1_column_scales(
    %a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>, %sa: tensor<?x4xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>, %so: tensor<3xi32>, %n: tensor<32xf32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'column_scales' to be a 2D tensor or memref of f32, but got tensor<32xf32>}}
  %0 = gq.grouped_mm format(mxfp8_e4m3)
      ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x4xf8E8M0FNU, #gq.tile128x4>, tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      column_scales(%n : tensor<32xf32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c1_bias(
    %a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>, %sa: tensor<?x4xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>, %so: tensor<3xi32>, %bias: tensor<32xbf16>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'bias' to be a 2D tensor or memref of f32, bf16 or f16, but got tensor<32xbf16>}}
  %0 = gq.grouped_mm format(mxfp8_e4m3)
      ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x4xf8E8M0FNU, #gq.tile128x4>, tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      bias(%bias : tensor<32xbf16>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c4_mx(
    %a: tensor<?x80xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>, %sa: tensor<?x4xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires K to be a positive multiple of 32, the block size of the format, but got 80}}
  %0 = gq.grouped_mm format(mxfp8_e4m3)
      ins(%a, %b : tensor<?x80xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x4xf8E8M0FNU, #gq.tile128x4>, tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c4_plain(
    %a: tensor<?x0xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>, %o: tensor<4xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires K to be a positive multiple of 1, the block size of the format, but got 0}}
  %0 = gq.grouped_mm
      ins(%a, %b : tensor<?x0xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c5_fp8(
    %a: tensor<?x256xf8E4M3FN>, %b: tensor<3x160x128xf8E4M3FN>, %sa: tensor<?x2xf32>, %sb: tensor<3x2x2xf32>, %o: tensor<4xi32>, %c: tensor<?x160xf32>) {
  // expected-error @+1 {{requires 'b' to be 3x160x256, but got 3x160x128}}
  %0 = gq.grouped_mm format(fp8_e4m3_1x128) b_format(fp8_e4m3_128x128) scale_layout(linear)
      ins(%a, %b : tensor<?x256xf8E4M3FN>, tensor<3x160x128xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x2xf32>, tensor<3x2x2xf32>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<?x160xf32>) -> tensor<?x160xf32>
  return
}

// -----

func.func @grouped_mm_c5_plain(
    %a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x65xf8E5M2>, %o: tensor<4xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'b' to be 3x32x64, but got 3x32x65}}
  %0 = gq.grouped_mm
      ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x65xf8E5M2>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c6_mx(
    %a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>, %sa: tensor<?x8xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'a_scales' to be ?x4 (whole tiles of 128x4), but got ?x8}}
  %0 = gq.grouped_mm format(mxfp8_e4m3)
      ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x8xf8E8M0FNU, #gq.tile128x4>, tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c6_fp8(
    %a: tensor<?x256xf8E4M3FN>, %b: tensor<3x160x256xf8E4M3FN>, %sa: tensor<?x4xf32>, %sb: tensor<3x2x2xf32>, %o: tensor<4xi32>, %c: tensor<?x160xf32>) {
  // expected-error @+1 {{requires 'a_scales' to be ?x2, but got ?x4}}
  %0 = gq.grouped_mm format(fp8_e4m3_1x128) b_format(fp8_e4m3_128x128) scale_layout(linear)
      ins(%a, %b : tensor<?x256xf8E4M3FN>, tensor<3x160x256xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x4xf32>, tensor<3x2x2xf32>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<?x160xf32>) -> tensor<?x160xf32>
  return
}

// -----

func.func @grouped_mm_c6_fp8_rows(
    %a: tensor<8x256xf8E4M3FN>, %b: tensor<3x160x256xf8E4M3FN>, %sa: tensor<7x2xf32>, %sb: tensor<3x2x2xf32>, %o: tensor<4xi32>, %c: tensor<?x160xf32>) {
  // expected-error @+1 {{requires 'a_scales' to be 8x2, but got 7x2}}
  %0 = gq.grouped_mm format(fp8_e4m3_1x128) b_format(fp8_e4m3_128x128) scale_layout(linear)
      ins(%a, %b : tensor<8x256xf8E4M3FN>, tensor<3x160x256xf8E4M3FN>)
      scales(%sa, %sb : tensor<7x2xf32>, tensor<3x2x2xf32>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<?x160xf32>) -> tensor<?x160xf32>
  return
}

// -----

func.func @grouped_mm_c7_fp8(
    %a: tensor<?x256xf8E4M3FN>, %b: tensor<3x160x256xf8E4M3FN>, %sa: tensor<?x2xf32>, %sb: tensor<3x160x2xf32>, %o: tensor<4xi32>, %c: tensor<?x160xf32>) {
  // expected-error @+1 {{requires 'b_scales' to be 3x2x2, but got 3x160x2}}
  %0 = gq.grouped_mm format(fp8_e4m3_1x128) b_format(fp8_e4m3_128x128) scale_layout(linear)
      ins(%a, %b : tensor<?x256xf8E4M3FN>, tensor<3x160x256xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x2xf32>, tensor<3x160x2xf32>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<?x160xf32>) -> tensor<?x160xf32>
  return
}

// -----

func.func @grouped_mm_c7_fp8_rows(
    %a: tensor<?x256xf8E4M3FN>, %b: tensor<3x160x256xf8E4M3FN>, %sa: tensor<?x2xf32>, %sb: tensor<3x2x2xf32>, %o: tensor<4xi32>, %c: tensor<?x160xf32>) {
  // expected-error @+1 {{requires 'b_scales' to be 3x160x2, but got 3x2x2}}
  %0 = gq.grouped_mm format(fp8_e4m3_1x128) scale_layout(linear)
      ins(%a, %b : tensor<?x256xf8E4M3FN>, tensor<3x160x256xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x2xf32>, tensor<3x2x2xf32>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<?x160xf32>) -> tensor<?x160xf32>
  return
}

// -----

func.func @grouped_mm_c8_fp8(
    %a: tensor<?x256xf8E4M3FN>, %b: tensor<3x160x256xf8E4M3FN>, %sa: tensor<?x2xf32>, %sb: tensor<3x2x2xf32>, %o: tensor<4xi32>, %c: tensor<?x160xf32>) {
  // expected-error @+1 {{requires scale_layout(linear)}}
  %0 = gq.grouped_mm format(fp8_e4m3_1x128) b_format(fp8_e4m3_128x128)
      ins(%a, %b : tensor<?x256xf8E4M3FN>, tensor<3x160x256xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x2xf32>, tensor<3x2x2xf32>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<?x160xf32>) -> tensor<?x160xf32>
  return
}

// -----

func.func @grouped_mm_c8_plain(
    %a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>, %o: tensor<4xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires scale_layout(tile128x4)}}
  %0 = gq.grouped_mm scale_layout(linear)
      ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c8_fp8_a_scales(
    %a: tensor<?x256xf8E4M3FN>, %b: tensor<3x160x256xf8E4M3FN>, %sa: tensor<?x2xf32, #gq.tile128x4>, %sb: tensor<3x2x2xf32>, %o: tensor<4xi32>, %c: tensor<?x160xf32>) {
  // expected-error @+1 {{requires 'a_scales' to have no encoding; only tiled scales have one}}
  %0 = gq.grouped_mm format(fp8_e4m3_1x128) b_format(fp8_e4m3_128x128) scale_layout(linear)
      ins(%a, %b : tensor<?x256xf8E4M3FN>, tensor<3x160x256xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x2xf32, #gq.tile128x4>, tensor<3x2x2xf32>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<?x160xf32>) -> tensor<?x160xf32>
  return
}

// -----

func.func @grouped_mm_c8_row_scales(
    %a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>, %sa: tensor<?x4xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>, %so: tensor<3xi32>, %r: tensor<?xf32, #gq.tile128x4>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'row_scales' to have no encoding; only tiled scales have one}}
  %0 = gq.grouped_mm format(mxfp8_e4m3)
      ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x4xf8E8M0FNU, #gq.tile128x4>, tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      row_scales(%r : tensor<?xf32, #gq.tile128x4>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c8_column_scales(
    %a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>, %sa: tensor<?x4xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>, %so: tensor<3xi32>, %n: tensor<3x32xf32, #gq.tile128x4>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'column_scales' to have no encoding; only tiled scales have one}}
  %0 = gq.grouped_mm format(mxfp8_e4m3)
      ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x4xf8E8M0FNU, #gq.tile128x4>, tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      column_scales(%n : tensor<3x32xf32, #gq.tile128x4>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c8_bias(
    %a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>, %sa: tensor<?x4xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>, %so: tensor<3xi32>, %bias: tensor<3x32xf32, #gq.tile128x4>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'bias' to have no encoding; only tiled scales have one}}
  %0 = gq.grouped_mm format(mxfp8_e4m3)
      ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x4xf8E8M0FNU, #gq.tile128x4>, tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      bias(%bias : tensor<3x32xf32, #gq.tile128x4>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c9_plain(
    %a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>, %o: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'offsets' to hold G + 1 entries where there are no 'scale_offsets', but got 3}}
  %0 = gq.grouped_mm
      ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c9_none(
    %a: tensor<?x64xf8E4M3FN>, %b: tensor<?x32x64xf8E4M3FN>, %o: tensor<0xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'offsets' to hold G + 1 entries where there are no 'scale_offsets', but got 0}}
  %0 = gq.grouped_mm
      ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<?x32x64xf8E4M3FN>)
      groups(%o : tensor<0xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c12_fp8_a_scales(
    %a: memref<?x256xf8E4M3FN>, %b: memref<3x160x256xf8E4M3FN>, %sa: memref<?x2xf32, strided<[4, 2]>>, %sb: memref<3x2x2xf32>, %o: memref<4xi32>, %c: memref<?x160xf32>) {
  // expected-error @+1 {{requires 'a_scales' to have an innermost stride of 1}}
  gq.grouped_mm format(fp8_e4m3_1x128) b_format(fp8_e4m3_128x128) scale_layout(linear)
      ins(%a, %b : memref<?x256xf8E4M3FN>, memref<3x160x256xf8E4M3FN>)
      scales(%sa, %sb : memref<?x2xf32, strided<[4, 2]>>, memref<3x2x2xf32>)
      groups(%o : memref<4xi32>)
      outs(%c : memref<?x160xf32>)
  return
}

// -----

func.func @grouped_mm_c12_fp8_b_scales(
    %a: memref<?x256xf8E4M3FN>, %b: memref<3x160x256xf8E4M3FN>, %sa: memref<?x2xf32>, %sb: memref<3x2x2xf32, strided<[8, 2, 1]>>, %o: memref<4xi32>, %c: memref<?x160xf32>) {
  // expected-error @+1 {{requires 'b_scales' to be contiguous}}
  gq.grouped_mm format(fp8_e4m3_1x128) b_format(fp8_e4m3_128x128) scale_layout(linear)
      ins(%a, %b : memref<?x256xf8E4M3FN>, memref<3x160x256xf8E4M3FN>)
      scales(%sa, %sb : memref<?x2xf32>, memref<3x2x2xf32, strided<[8, 2, 1]>>)
      groups(%o : memref<4xi32>)
      outs(%c : memref<?x160xf32>)
  return
}

// -----

func.func @grouped_mm_c12_row_scales(
    %a: memref<?x64xf8E4M3FN>, %b: memref<3x32x64xf8E4M3FN>, %o: memref<4xi32>, %r: memref<?xf32, strided<[2]>>, %c: memref<?x32xf32>) {
  // expected-error @+1 {{requires 'row_scales' to be contiguous}}
  gq.grouped_mm
      ins(%a, %b : memref<?x64xf8E4M3FN>, memref<3x32x64xf8E4M3FN>)
      groups(%o : memref<4xi32>)
      row_scales(%r : memref<?xf32, strided<[2]>>)
      outs(%c : memref<?x32xf32>)
  return
}

// -----

func.func @grouped_mm_c12_column_scales(
    %a: memref<?x64xf8E4M3FN>, %b: memref<3x32x64xf8E4M3FN>, %o: memref<4xi32>, %n: memref<3x32xf32, strided<[64, 1]>>, %c: memref<?x32xf32>) {
  // expected-error @+1 {{requires 'column_scales' to be contiguous}}
  gq.grouped_mm
      ins(%a, %b : memref<?x64xf8E4M3FN>, memref<3x32x64xf8E4M3FN>)
      groups(%o : memref<4xi32>)
      column_scales(%n : memref<3x32xf32, strided<[64, 1]>>)
      outs(%c : memref<?x32xf32>)
  return
}

// -----

func.func @grouped_mm_c12_bias(
    %a: memref<?x64xf8E4M3FN>, %b: memref<3x32x64xf8E4M3FN>, %o: memref<4xi32>, %bias: memref<3x32xf32, strided<[64, 1]>>, %c: memref<?x32xf32>) {
  // expected-error @+1 {{requires 'bias' to be contiguous}}
  gq.grouped_mm
      ins(%a, %b : memref<?x64xf8E4M3FN>, memref<3x32x64xf8E4M3FN>)
      groups(%o : memref<4xi32>)
      bias(%bias : memref<3x32xf32, strided<[64, 1]>>)
      outs(%c : memref<?x32xf32>)
  return
}

// -----

func.func @grouped_mm_c13(
    %a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>, %sa: tensor<?x4xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'format' and 'b_format' to have the same scale rule, not mxfp8_e4m3 and nvfp4}}
  %0 = gq.grouped_mm format(mxfp8_e4m3) b_format(nvfp4)
      ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x4xf8E8M0FNU, #gq.tile128x4>, tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c13_rows(
    %a: tensor<?x256xf8E4M3FN>, %b: tensor<3x160x256xf8E4M3FN>, %sa: tensor<?x2xf32>, %sb: tensor<3x2x2xf32>, %o: tensor<4xi32>, %c: tensor<?x160xf32>) {
  // expected-error @+1 {{requires a 'format' with blocks of one row, not fp8_e4m3_128x128; it can be 'b_format'}}
  %0 = gq.grouped_mm format(fp8_e4m3_128x128) b_format(fp8_e4m3_1x128) scale_layout(linear)
      ins(%a, %b : tensor<?x256xf8E4M3FN>, tensor<3x160x256xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x2xf32>, tensor<3x2x2xf32>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<?x160xf32>) -> tensor<?x160xf32>
  return
}

// -----

func.func @grouped_mm_c13_b(
    %a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>, %o: tensor<4xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'format' for 'b_format'}}
  %0 = gq.grouped_mm b_format(mxfp4)
      ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c14_a(
    %a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>, %sa: tensor<?x4xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'a' to be of f8E5M2 for format(mxfp8_e5m2)}}
  %0 = gq.grouped_mm format(mxfp8_e5m2) b_format(mxfp8_e4m3)
      ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x4xf8E8M0FNU, #gq.tile128x4>, tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c14_b(
    %a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>, %sa: tensor<?x4xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'b' to be of f4E2M1FN or i8 for format(mxfp4)}}
  %0 = gq.grouped_mm format(mxfp8_e4m3) b_format(mxfp4)
      ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x4xf8E8M0FNU, #gq.tile128x4>, tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c14_a_scales(
    %a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>, %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'a_scales' to be of f8E8M0FNU for format(mxfp8_e4m3)}}
  %0 = gq.grouped_mm format(mxfp8_e4m3)
      ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c14_b_scales(
    %a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>, %sa: tensor<?x4xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<3x128x4xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'b_scales' to be of f8E8M0FNU for format(mxfp8_e4m3)}}
  %0 = gq.grouped_mm format(mxfp8_e4m3)
      ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x4xf8E8M0FNU, #gq.tile128x4>, tensor<3x128x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c14_plain_a(
    %a: tensor<?x64xf4E2M1FN>, %b: tensor<3x32x64xf8E4M3FN>, %o: tensor<4xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'a' to be of f8E4M3FN or f8E5M2 where it has no 'format'}}
  %0 = gq.grouped_mm
      ins(%a, %b : tensor<?x64xf4E2M1FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c14_plain_b(
    %a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x32xi8>, %o: tensor<4xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'b' to be of f8E4M3FN or f8E5M2 where it has no 'format'}}
  %0 = gq.grouped_mm
      ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x32xi8>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c15_scales(
    %a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>, %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'a_scales' where it has 'format'}}
  %0 = gq.grouped_mm format(mxfp8_e4m3)
      ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c15_plain(
    %a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>, %sa: tensor<?x4xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires no 'a_scales' without 'format'}}
  %0 = gq.grouped_mm
      ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x4xf8E8M0FNU, #gq.tile128x4>, tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c15_scale_offsets(
    %a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>, %sa: tensor<?x4xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'scale_offsets' where 'a_scales' are in tile128x4}}
  %0 = gq.grouped_mm format(mxfp8_e4m3)
      ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x4xf8E8M0FNU, #gq.tile128x4>, tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c15_fp8_scale_offsets(
    %a: tensor<?x256xf8E4M3FN>, %b: tensor<3x160x256xf8E4M3FN>, %sa: tensor<?x2xf32>, %sb: tensor<3x2x2xf32>, %o: tensor<4xi32>, %so: tensor<3xi32>, %c: tensor<?x160xf32>) {
  // expected-error @+1 {{requires no 'scale_offsets' unless 'a_scales' are in tile128x4}}
  %0 = gq.grouped_mm format(fp8_e4m3_1x128) b_format(fp8_e4m3_128x128) scale_layout(linear)
      ins(%a, %b : tensor<?x256xf8E4M3FN>, tensor<3x160x256xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x2xf32>, tensor<3x2x2xf32>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      outs(%c : tensor<?x160xf32>) -> tensor<?x160xf32>
  return
}

// -----

func.func @grouped_mm_c16_row_scales(
    %a: tensor<8x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>, %sa: tensor<?x4xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>, %so: tensor<3xi32>, %r: tensor<9xf32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'row_scales' to be 8, but got 9}}
  %0 = gq.grouped_mm format(mxfp8_e4m3)
      ins(%a, %b : tensor<8x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x4xf8E8M0FNU, #gq.tile128x4>, tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      row_scales(%r : tensor<9xf32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c16_column_scales(
    %a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>, %sa: tensor<?x4xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>, %so: tensor<3xi32>, %n: tensor<4x32xf32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'column_scales' to be 3x32, but got 4x32}}
  %0 = gq.grouped_mm format(mxfp8_e4m3)
      ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x4xf8E8M0FNU, #gq.tile128x4>, tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      column_scales(%n : tensor<4x32xf32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c16_bias(
    %a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>, %sa: tensor<?x4xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>, %so: tensor<3xi32>, %bias: tensor<3x31xf32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'bias' to be 3x32, but got 3x31}}
  %0 = gq.grouped_mm format(mxfp8_e4m3)
      ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?x4xf8E8M0FNU, #gq.tile128x4>, tensor<3x128x4xf8E8M0FNU, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      bias(%bias : tensor<3x31xf32>)
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_wgrad_c1_a(
    %a: tensor<?xbf16>, %b: tensor<?xf4E2M1FN>, %sa: tensor<?xf8E4M3FN, #gq.tile128x4>, %sb: tensor<?xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires 'a' to be a 1D or 2D tensor or memref of f4E2M1FN, i8, f8E4M3FN or f8E5M2, but got tensor<?xbf16>}}
  %0 = gq.grouped_wgrad format(nvfp4)
      ins(%a, %b : tensor<?xbf16>, tensor<?xf4E2M1FN>)
      scales(%sa, %sb : tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c1_scales(
    %a: tensor<?xf4E2M1FN>, %b: tensor<?xf4E2M1FN>, %sa: tensor<?x4xf8E4M3FN, #gq.tile128x4>, %sb: tensor<?xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires 'a_scales' to be a 1D tensor or memref of f8E4M3FN, f8E8M0FNU or f32, but got tensor<?x4xf8E4M3FN, #gq.tile128x4>}}
  %0 = gq.grouped_wgrad format(nvfp4)
      ins(%a, %b : tensor<?xf4E2M1FN>, tensor<?xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c1_alpha(
    %a: tensor<?xf4E2M1FN>, %b: tensor<?xf4E2M1FN>, %sa: tensor<?xf8E4M3FN, #gq.tile128x4>, %sb: tensor<?xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>, %alpha: tensor<f32>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires 'alpha' to be a 1D tensor or memref of f32, but got tensor<f32>}}
  %0 = gq.grouped_wgrad format(nvfp4)
      ins(%a, %b : tensor<?xf4E2M1FN>, tensor<?xf4E2M1FN>)
      scales(%sa, %sb : tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      groups(%o : tensor<4xi32>) alpha(%alpha : tensor<f32>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c1_out(
    %a: tensor<?xf4E2M1FN>, %b: tensor<?xf4E2M1FN>, %sa: tensor<?xf8E4M3FN, #gq.tile128x4>, %sb: tensor<?xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>, %c: tensor<32x64xf32>) {
  // expected-error @+1 {{requires 'out' to be a 3D tensor or memref of f32, bf16 or f16, but got tensor<32x64xf32>}}
  %0 = gq.grouped_wgrad format(nvfp4)
      ins(%a, %b : tensor<?xf4E2M1FN>, tensor<?xf4E2M1FN>)
      scales(%sa, %sb : tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<32x64xf32>) -> tensor<32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c2(
    %a: tensor<?xf4E2M1FN>, %b: tensor<?xf4E2M1FN>, %sa: tensor<?xf8E4M3FN, #gq.tile128x4>, %sb: tensor<?xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires the result of 'out' to be of its type tensor<3x32x64xf32>, but got tensor<3x32x65xf32>}}
  %0 = gq.grouped_wgrad format(nvfp4)
      ins(%a, %b : tensor<?xf4E2M1FN>, tensor<?xf4E2M1FN>)
      scales(%sa, %sb : tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x65xf32>
  return
}

// -----

func.func @grouped_wgrad_c3(
    %a: tensor<?xf4E2M1FN>, %b: tensor<?xf4E2M1FN>, %sa: tensor<?xf8E4M3FN, #gq.tile128x4>, %sb: tensor<?xf8E4M3FN, #gq.tile128x4>, %o: memref<4xi32>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires all operands to be tensors or all memrefs}}
  %0 = gq.grouped_wgrad format(nvfp4)
      ins(%a, %b : tensor<?xf4E2M1FN>, tensor<?xf4E2M1FN>)
      scales(%sa, %sb : tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      groups(%o : memref<4xi32>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c4(
    %a: tensor<?xf4E2M1FN>, %b: tensor<?xf4E2M1FN>, %sa: tensor<?xf8E4M3FN, #gq.tile128x4>, %sb: tensor<?xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>, %c: tensor<3x32x24xf32>) {
  // expected-error @+1 {{requires K to be a positive multiple of 16, the block size of the format, but got 24}}
  %0 = gq.grouped_wgrad format(nvfp4)
      ins(%a, %b : tensor<?xf4E2M1FN>, tensor<?xf4E2M1FN>)
      scales(%sa, %sb : tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<3x32x24xf32>) -> tensor<3x32x24xf32>
  return
}

// -----

func.func @grouped_wgrad_c5(
    %a: tensor<?xf4E2M1FN>, %b: tensor<?xf4E2M1FN>, %sa: tensor<?xf8E4M3FN, #gq.tile128x4>, %sb: tensor<?xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>, %c: tensor<3x24x64xf32>) {
  // expected-error @+1 {{requires N to be a positive multiple of 16, the block size of the format, but got 24}}
  %0 = gq.grouped_wgrad format(nvfp4)
      ins(%a, %b : tensor<?xf4E2M1FN>, tensor<?xf4E2M1FN>)
      scales(%sa, %sb : tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<3x24x64xf32>) -> tensor<3x24x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c6_a(
    %a: tensor<?x32xf4E2M1FN>, %b: tensor<?xf4E2M1FN>, %sa: tensor<?xf8E4M3FN, #gq.tile128x4>, %sb: tensor<?xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires 'a' to be of rank 1, but got 2}}
  %0 = gq.grouped_wgrad format(nvfp4)
      ins(%a, %b : tensor<?x32xf4E2M1FN>, tensor<?xf4E2M1FN>)
      scales(%sa, %sb : tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c6_b(
    %a: tensor<?x32xf8E4M3FN>, %b: tensor<?xf8E4M3FN>, %sa: tensor<?xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<?xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires 'b' to be of rank 2, but got 1}}
  %0 = gq.grouped_wgrad format(mxfp8_e4m3)
      ins(%a, %b : tensor<?x32xf8E4M3FN>, tensor<?xf8E4M3FN>)
      scales(%sa, %sb : tensor<?xf8E8M0FNU, #gq.tile128x4>, tensor<?xf8E8M0FNU, #gq.tile128x4>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c6_rows(
    %a: tensor<8x32xf8E4M3FN>, %b: tensor<9x64xf8E4M3FN>, %sa: tensor<?xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<?xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires 'b' to be 8x64, but got 9x64}}
  %0 = gq.grouped_wgrad format(mxfp8_e4m3)
      ins(%a, %b : tensor<8x32xf8E4M3FN>, tensor<9x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?xf8E8M0FNU, #gq.tile128x4>, tensor<?xf8E8M0FNU, #gq.tile128x4>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c7(
    %a: tensor<?xf4E2M1FN>, %b: tensor<?xf4E2M1FN>, %sa: tensor<?xf8E4M3FN, #gq.tile128x4>, %sb: tensor<?xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>, %c: tensor<4x32x64xf32>) {
  // expected-error @+1 {{requires 'out' to be 3x32x64, but got 4x32x64}}
  %0 = gq.grouped_wgrad format(nvfp4)
      ins(%a, %b : tensor<?xf4E2M1FN>, tensor<?xf4E2M1FN>)
      scales(%sa, %sb : tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<4x32x64xf32>) -> tensor<4x32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c7_columns(
    %a: tensor<?x32xf8E4M3FN>, %b: tensor<?x64xf8E4M3FN>, %sa: tensor<?xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<?xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>, %c: tensor<3x64x64xf32>) {
  // expected-error @+1 {{requires 'out' to be 3x32x64, but got 3x64x64}}
  %0 = gq.grouped_wgrad format(mxfp8_e4m3)
      ins(%a, %b : tensor<?x32xf8E4M3FN>, tensor<?x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?xf8E8M0FNU, #gq.tile128x4>, tensor<?xf8E8M0FNU, #gq.tile128x4>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<3x64x64xf32>) -> tensor<3x64x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c8(
    %a: tensor<?xf8E4M3FN>, %b: tensor<?xf8E4M3FN>, %sa: tensor<?xf32>, %sb: tensor<?xf32>, %o: tensor<4xi32>, %c: tensor<3x128x256xf32>) {
  // expected-error @+1 {{requires scale_layout(linear)}}
  %0 = gq.grouped_wgrad format(fp8_e4m3_1x128)
      ins(%a, %b : tensor<?xf8E4M3FN>, tensor<?xf8E4M3FN>)
      scales(%sa, %sb : tensor<?xf32>, tensor<?xf32>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<3x128x256xf32>) -> tensor<3x128x256xf32>
  return
}

// -----

func.func @grouped_wgrad_c8_mx(
    %a: tensor<?x32xf8E4M3FN>, %b: tensor<?x64xf8E4M3FN>, %sa: tensor<?xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<?xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires scale_layout(tile128x4)}}
  %0 = gq.grouped_wgrad format(mxfp8_e4m3) scale_layout(linear)
      ins(%a, %b : tensor<?x32xf8E4M3FN>, tensor<?x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?xf8E8M0FNU, #gq.tile128x4>, tensor<?xf8E8M0FNU, #gq.tile128x4>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c8_a_scales(
    %a: tensor<?xf4E2M1FN>, %b: tensor<?xf4E2M1FN>, %sa: tensor<?xf8E4M3FN>, %sb: tensor<?xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires 'a_scales' to have the encoding #gq.tile128x4}}
  %0 = gq.grouped_wgrad format(nvfp4)
      ins(%a, %b : tensor<?xf4E2M1FN>, tensor<?xf4E2M1FN>)
      scales(%sa, %sb : tensor<?xf8E4M3FN>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c8_b_scales(
    %a: tensor<?xf4E2M1FN>, %b: tensor<?xf4E2M1FN>, %sa: tensor<?xf8E4M3FN, #gq.tile128x4>, %sb: tensor<?xf8E4M3FN>, %o: tensor<4xi32>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires 'b_scales' to have the encoding #gq.tile128x4}}
  %0 = gq.grouped_wgrad format(nvfp4)
      ins(%a, %b : tensor<?xf4E2M1FN>, tensor<?xf4E2M1FN>)
      scales(%sa, %sb : tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<?xf8E4M3FN>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c8_a(
    %a: tensor<?xf4E2M1FN, #gq.tile128x4>, %b: tensor<?xf4E2M1FN>, %sa: tensor<?xf8E4M3FN, #gq.tile128x4>, %sb: tensor<?xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires 'a' to have no encoding; only tiled scales have one}}
  %0 = gq.grouped_wgrad format(nvfp4)
      ins(%a, %b : tensor<?xf4E2M1FN, #gq.tile128x4>, tensor<?xf4E2M1FN>)
      scales(%sa, %sb : tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c8_b(
    %a: tensor<?xf4E2M1FN>, %b: tensor<?xf4E2M1FN, #gq.tile128x4>, %sa: tensor<?xf8E4M3FN, #gq.tile128x4>, %sb: tensor<?xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires 'b' to have no encoding; only tiled scales have one}}
  %0 = gq.grouped_wgrad format(nvfp4)
      ins(%a, %b : tensor<?xf4E2M1FN>, tensor<?xf4E2M1FN, #gq.tile128x4>)
      scales(%sa, %sb : tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c8_offsets(
    %a: tensor<?xf4E2M1FN>, %b: tensor<?xf4E2M1FN>, %sa: tensor<?xf8E4M3FN, #gq.tile128x4>, %sb: tensor<?xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32, #gq.tile128x4>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires 'offsets' to have no encoding; only tiled scales have one}}
  %0 = gq.grouped_wgrad format(nvfp4)
      ins(%a, %b : tensor<?xf4E2M1FN>, tensor<?xf4E2M1FN>)
      scales(%sa, %sb : tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      groups(%o : tensor<4xi32, #gq.tile128x4>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c8_alpha(
    %a: tensor<?xf4E2M1FN>, %b: tensor<?xf4E2M1FN>, %sa: tensor<?xf8E4M3FN, #gq.tile128x4>, %sb: tensor<?xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>, %alpha: tensor<3xf32, #gq.tile128x4>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires 'alpha' to have no encoding; only tiled scales have one}}
  %0 = gq.grouped_wgrad format(nvfp4)
      ins(%a, %b : tensor<?xf4E2M1FN>, tensor<?xf4E2M1FN>)
      scales(%sa, %sb : tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      groups(%o : tensor<4xi32>) alpha(%alpha : tensor<3xf32, #gq.tile128x4>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c8_out(
    %a: tensor<?xf4E2M1FN>, %b: tensor<?xf4E2M1FN>, %sa: tensor<?xf8E4M3FN, #gq.tile128x4>, %sb: tensor<?xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>, %c: tensor<3x32x64xf32, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'out' to have no encoding; only tiled scales have one}}
  %0 = gq.grouped_wgrad format(nvfp4)
      ins(%a, %b : tensor<?xf4E2M1FN>, tensor<?xf4E2M1FN>)
      scales(%sa, %sb : tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<3x32x64xf32, #gq.tile128x4>) -> tensor<3x32x64xf32, #gq.tile128x4>
  return
}

// -----

func.func @grouped_wgrad_c9(
    %a: tensor<?xf4E2M1FN>, %b: tensor<?xf4E2M1FN>, %sa: tensor<?xf8E4M3FN, #gq.tile128x4>, %sb: tensor<?xf8E4M3FN, #gq.tile128x4>, %o: tensor<0xi32>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires 'offsets' to hold G + 1 entries where there are no 'scale_offsets', but got 0}}
  %0 = gq.grouped_wgrad format(nvfp4)
      ins(%a, %b : tensor<?xf4E2M1FN>, tensor<?xf4E2M1FN>)
      scales(%sa, %sb : tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      groups(%o : tensor<0xi32>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c10(
    %a: tensor<?xf4E2M1FN>, %b: tensor<?xf4E2M1FN>, %sa: tensor<?xf8E4M3FN, #gq.tile128x4>, %sb: tensor<?xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>, %alpha: tensor<4xf32>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires 'alpha' to be 3, but got 4}}
  %0 = gq.grouped_wgrad format(nvfp4)
      ins(%a, %b : tensor<?xf4E2M1FN>, tensor<?xf4E2M1FN>)
      scales(%sa, %sb : tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      groups(%o : tensor<4xi32>) alpha(%alpha : tensor<4xf32>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c11_a(
    %a: memref<?x32xf8E4M3FN, strided<[64, 2]>>, %b: memref<?x64xf8E4M3FN>, %sa: memref<?xf8E8M0FNU>, %sb: memref<?xf8E8M0FNU>, %o: memref<4xi32>, %c: memref<3x32x64xf32>) {
  // expected-error @+1 {{requires 'a' to have an innermost stride of 1}}
  gq.grouped_wgrad format(mxfp8_e4m3)
      ins(%a, %b : memref<?x32xf8E4M3FN, strided<[64, 2]>>, memref<?x64xf8E4M3FN>)
      scales(%sa, %sb : memref<?xf8E8M0FNU>, memref<?xf8E8M0FNU>)
      groups(%o : memref<4xi32>)
      outs(%c : memref<3x32x64xf32>)
  return
}

// -----

func.func @grouped_wgrad_c11_b(
    %a: memref<?xf8E4M3FN>, %b: memref<?xf8E4M3FN, strided<[2]>>, %sa: memref<?xf32>, %sb: memref<?xf32>, %o: memref<4xi32>, %c: memref<3x128x256xf32>) {
  // expected-error @+1 {{requires 'b' to be contiguous}}
  gq.grouped_wgrad format(fp8_e4m3_1x128) scale_layout(linear)
      ins(%a, %b : memref<?xf8E4M3FN>, memref<?xf8E4M3FN, strided<[2]>>)
      scales(%sa, %sb : memref<?xf32>, memref<?xf32>)
      groups(%o : memref<4xi32>)
      outs(%c : memref<3x128x256xf32>)
  return
}

// -----

func.func @grouped_wgrad_c11_a_scales(
    %a: memref<?xf8E4M3FN>, %b: memref<?xf8E4M3FN>, %sa: memref<?xf32, strided<[2]>>, %sb: memref<?xf32>, %o: memref<4xi32>, %c: memref<3x128x256xf32>) {
  // expected-error @+1 {{requires 'a_scales' to be contiguous}}
  gq.grouped_wgrad format(fp8_e4m3_1x128) scale_layout(linear)
      ins(%a, %b : memref<?xf8E4M3FN>, memref<?xf8E4M3FN>)
      scales(%sa, %sb : memref<?xf32, strided<[2]>>, memref<?xf32>)
      groups(%o : memref<4xi32>)
      outs(%c : memref<3x128x256xf32>)
  return
}

// -----

func.func @grouped_wgrad_c11_b_scales(
    %a: memref<?xf8E4M3FN>, %b: memref<?xf8E4M3FN>, %sa: memref<?xf32>, %sb: memref<?xf32, strided<[2]>>, %o: memref<4xi32>, %c: memref<3x128x256xf32>) {
  // expected-error @+1 {{requires 'b_scales' to be contiguous}}
  gq.grouped_wgrad format(fp8_e4m3_1x128) scale_layout(linear)
      ins(%a, %b : memref<?xf8E4M3FN>, memref<?xf8E4M3FN>)
      scales(%sa, %sb : memref<?xf32>, memref<?xf32, strided<[2]>>)
      groups(%o : memref<4xi32>)
      outs(%c : memref<3x128x256xf32>)
  return
}

// -----

func.func @grouped_wgrad_c11_offsets(
    %a: memref<?xf8E4M3FN>, %b: memref<?xf8E4M3FN>, %sa: memref<?xf32>, %sb: memref<?xf32>, %o: memref<4xi32, strided<[2]>>, %c: memref<3x128x256xf32>) {
  // expected-error @+1 {{requires 'offsets' to be contiguous}}
  gq.grouped_wgrad format(fp8_e4m3_1x128) scale_layout(linear)
      ins(%a, %b : memref<?xf8E4M3FN>, memref<?xf8E4M3FN>)
      scales(%sa, %sb : memref<?xf32>, memref<?xf32>)
      groups(%o : memref<4xi32, strided<[2]>>)
      outs(%c : memref<3x128x256xf32>)
  return
}

// -----

func.func @grouped_wgrad_c11_alpha(
    %a: memref<?xf8E4M3FN>, %b: memref<?xf8E4M3FN>, %sa: memref<?xf32>, %sb: memref<?xf32>, %o: memref<4xi32>, %alpha: memref<3xf32, strided<[2]>>, %c: memref<3x128x256xf32>) {
  // expected-error @+1 {{requires 'alpha' to be contiguous}}
  gq.grouped_wgrad format(fp8_e4m3_1x128) scale_layout(linear)
      ins(%a, %b : memref<?xf8E4M3FN>, memref<?xf8E4M3FN>)
      scales(%sa, %sb : memref<?xf32>, memref<?xf32>)
      groups(%o : memref<4xi32>) alpha(%alpha : memref<3xf32, strided<[2]>>)
      outs(%c : memref<3x128x256xf32>)
  return
}

// -----

func.func @grouped_wgrad_c11_out(
    %a: memref<?xf8E4M3FN>, %b: memref<?xf8E4M3FN>, %sa: memref<?xf32>, %sb: memref<?xf32>, %o: memref<4xi32>, %c: memref<3x128x256xf32, strided<[65536, 512, 1]>>) {
  // expected-error @+1 {{requires 'out' to be contiguous}}
  gq.grouped_wgrad format(fp8_e4m3_1x128) scale_layout(linear)
      ins(%a, %b : memref<?xf8E4M3FN>, memref<?xf8E4M3FN>)
      scales(%sa, %sb : memref<?xf32>, memref<?xf32>)
      groups(%o : memref<4xi32>)
      outs(%c : memref<3x128x256xf32, strided<[65536, 512, 1]>>)
  return
}

// -----

func.func @grouped_wgrad_c12(
    %a: tensor<?xf4E2M1FN>, %b: tensor<?xf4E2M1FN>, %sa: tensor<?xf8E4M3FN, #gq.tile128x4>, %sb: tensor<?xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires 'format' and 'b_format' to have the same scale rule, not nvfp4 and mxfp4}}
  %0 = gq.grouped_wgrad format(nvfp4) b_format(mxfp4)
      ins(%a, %b : tensor<?xf4E2M1FN>, tensor<?xf4E2M1FN>)
      scales(%sa, %sb : tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c12_b(
    %a: tensor<?x32xf8E4M3FN>, %b: tensor<?x64xf8E4M3FN>, %o: tensor<4xi32>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires 'format' for 'b_format'}}
  %0 = gq.grouped_wgrad b_format(mxfp4)
      ins(%a, %b : tensor<?x32xf8E4M3FN>, tensor<?x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c13_a(
    %a: tensor<?x32xf8E4M3FN>, %b: tensor<?x64xf8E4M3FN>, %sa: tensor<?xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<?xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires 'a' to be of f8E5M2 for format(mxfp8_e5m2)}}
  %0 = gq.grouped_wgrad format(mxfp8_e5m2) b_format(mxfp8_e4m3)
      ins(%a, %b : tensor<?x32xf8E4M3FN>, tensor<?x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?xf8E8M0FNU, #gq.tile128x4>, tensor<?xf8E8M0FNU, #gq.tile128x4>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c13_b(
    %a: tensor<?x32xf8E4M3FN>, %b: tensor<?x64xf8E4M3FN>, %sa: tensor<?xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<?xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires 'b' to be of f8E5M2 for format(mxfp8_e5m2)}}
  %0 = gq.grouped_wgrad format(mxfp8_e4m3) b_format(mxfp8_e5m2)
      ins(%a, %b : tensor<?x32xf8E4M3FN>, tensor<?x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?xf8E8M0FNU, #gq.tile128x4>, tensor<?xf8E8M0FNU, #gq.tile128x4>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c13_scales(
    %a: tensor<?x32xf8E4M3FN>, %b: tensor<?x64xf8E4M3FN>, %sa: tensor<?xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<?xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires 'b_scales' to be of f8E8M0FNU for format(mxfp8_e4m3)}}
  %0 = gq.grouped_wgrad format(mxfp8_e4m3)
      ins(%a, %b : tensor<?x32xf8E4M3FN>, tensor<?x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?xf8E8M0FNU, #gq.tile128x4>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c13_plain(
    %a: tensor<?x32xf4E2M1FN>, %b: tensor<?x64xf8E4M3FN>, %o: tensor<4xi32>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires 'a' to be of f8E4M3FN or f8E5M2 where it has no 'format'}}
  %0 = gq.grouped_wgrad
      ins(%a, %b : tensor<?x32xf4E2M1FN>, tensor<?x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c14(
    %a: tensor<?xf4E2M1FN>, %b: tensor<?xf4E2M1FN>, %o: tensor<4xi32>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires 'a_scales' where it has 'format'}}
  %0 = gq.grouped_wgrad format(nvfp4)
      ins(%a, %b : tensor<?xf4E2M1FN>, tensor<?xf4E2M1FN>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return
}

// -----

func.func @grouped_wgrad_c14_plain(
    %a: tensor<?x32xf8E4M3FN>, %b: tensor<?x64xf8E4M3FN>, %sa: tensor<?xf8E8M0FNU, #gq.tile128x4>, %sb: tensor<?xf8E8M0FNU, #gq.tile128x4>, %o: tensor<4xi32>, %c: tensor<3x32x64xf32>) {
  // expected-error @+1 {{requires no 'a_scales' without 'format'}}
  %0 = gq.grouped_wgrad
      ins(%a, %b : tensor<?x32xf8E4M3FN>, tensor<?x64xf8E4M3FN>)
      scales(%sa, %sb : tensor<?xf8E8M0FNU, #gq.tile128x4>, tensor<?xf8E8M0FNU, #gq.tile128x4>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<3x32x64xf32>) -> tensor<3x32x64xf32>
  return
}

// -----

func.func @grouped_mm_c5_major(
    %a: tensor<?x64xf8E4M3FN>, %b: tensor<3x32x64xf8E4M3FN>, %o: tensor<4xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'b' to be 3x64x64, but got 3x32x64}}
  %0 = gq.grouped_mm b_major(n) ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>) outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c17(
    %a: memref<?x32xi8>, %b: memref<3x64x16xi8>, %sa: memref<?x4xf8E4M3FN>,
    %sb: memref<3x128x4xf8E4M3FN>, %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<?x32xf32>) {
  // expected-error @+1 {{requires no b_major(n) for nvfp4, whose columnwise data is transposed: it has K innermost}}
  gq.grouped_mm format(nvfp4) b_major(n) ins(%a, %b : memref<?x32xi8>, memref<3x64x16xi8>)
      scales(%sa, %sb : memref<?x4xf8E4M3FN>, memref<3x128x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>) outs(%c : memref<?x32xf32>)
  return
}

// -----

func.func @grouped_mm_c11_pairs(%a: tensor<?x64xf8E4M3FN>,
    %b: tensor<3x32x64xf8E4M3FN>, %o: tensor<4xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'out' to be ?x16, but got ?x32}}
  %0 = gq.grouped_mm pairs(interleaved) ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>)
      epilogue {
      ^bb0(%x: f32, %y: f32):
        gq.yield %x : f32
      }
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c11_odd(%a: tensor<?x64xf8E4M3FN>,
    %b: tensor<3x33x64xf8E4M3FN>, %o: tensor<4xi32>, %c: tensor<?x?xf32>) {
  // expected-error @+1 {{requires an even N for 'pairs'}}
  %0 = gq.grouped_mm pairs(halves) ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x33x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>)
      epilogue {
      ^bb0(%x: f32, %y: f32):
        gq.yield %x : f32
      }
      outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @grouped_mm_c18_one(%a: tensor<?x64xf8E4M3FN>,
    %b: tensor<3x32x64xf8E4M3FN>, %o: tensor<4xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'epilogue' to take one element of f32, bf16 or f16 without 'pairs'}}
  %0 = gq.grouped_mm ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>)
      epilogue {
      ^bb0(%x: f32, %y: f32):
        gq.yield %x : f32
      }
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c18_two(%a: tensor<?x64xf8E4M3FN>,
    %b: tensor<3x32x64xf8E4M3FN>, %o: tensor<4xi32>, %c: tensor<?x16xf32>) {
  // expected-error @+1 {{requires 'epilogue' to take two elements of one type of f32, bf16 or f16 with 'pairs'}}
  %0 = gq.grouped_mm pairs(halves) ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>)
      epilogue {
      ^bb0(%x: f32):
        gq.yield %x : f32
      }
      outs(%c : tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @grouped_mm_c18_types(%a: tensor<?x64xf8E4M3FN>,
    %b: tensor<3x32x64xf8E4M3FN>, %o: tensor<4xi32>, %c: tensor<?x16xf32>) {
  // expected-error @+1 {{requires 'epilogue' to take two elements of one type of f32, bf16 or f16 with 'pairs'}}
  %0 = gq.grouped_mm pairs(halves) ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>)
      epilogue {
      ^bb0(%x: f32, %y: bf16):
        gq.yield %x : f32
      }
      outs(%c : tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @grouped_mm_c18_element(%a: tensor<?x64xf8E4M3FN>,
    %b: tensor<3x32x64xf8E4M3FN>, %o: tensor<4xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'epilogue' to take one element of f32, bf16 or f16 without 'pairs'}}
  %0 = gq.grouped_mm ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>)
      epilogue {
      ^bb0(%x: f64):
        %y = arith.truncf %x : f64 to f32
        gq.yield %y : f32
      }
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c18_yield(%a: tensor<?x64xf8E4M3FN>,
    %b: tensor<3x32x64xf8E4M3FN>, %o: tensor<4xi32>, %c: tensor<?x32xbf16>) {
  // expected-error @+1 {{requires 'epilogue' to yield an element of 'out'}}
  %0 = gq.grouped_mm ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>)
      epilogue {
      ^bb0(%x: f32):
        gq.yield %x : f32
      }
      outs(%c : tensor<?x32xbf16>) -> tensor<?x32xbf16>
  return
}

// -----

func.func @grouped_mm_c18_no_yield(%a: tensor<?x64xf8E4M3FN>,
    %b: tensor<3x32x64xf8E4M3FN>, %o: tensor<4xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'epilogue' to yield an element of 'out'}}
  %0 = gq.grouped_mm ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>)
      epilogue {
      ^bb0(%x: f32):
        %y = arith.negf %x : f32
      }
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_c18_yield_nothing(%a: tensor<?x64xf8E4M3FN>,
    %b: tensor<3x32x64xf8E4M3FN>, %o: tensor<4xi32>, %c: tensor<?x32xf32>) {
  // expected-error @+1 {{requires 'epilogue' to yield an element of 'out'}}
  %0 = gq.grouped_mm ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>)
      epilogue {
      ^bb0(%x: f32):
        "gq.yield"() : () -> ()
      }
      outs(%c : tensor<?x32xf32>) -> tensor<?x32xf32>
  return
}

// -----

func.func @grouped_mm_many_outs(%a: tensor<8x64xf8E4M3FN>,
    %b: tensor<3x32x64xf8E4M3FN>, %o: tensor<4xi32>, %c: tensor<8x32xf32>) {
  // expected-error @+1 {{requires at most one 'out', but got 34}}
  %0 = "gq.grouped_mm"(%a, %b, %o,
      %c, %c, %c, %c, %c, %c, %c, %c, %c, %c, %c, %c, %c, %c, %c, %c, %c,
      %c, %c, %c, %c, %c, %c, %c, %c, %c, %c, %c, %c, %c, %c, %c, %c, %c)
      <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 34>}>
      : (tensor<8x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>, tensor<4xi32>,
         tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>,
         tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>,
         tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>,
         tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>,
         tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>,
         tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>,
         tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>,
         tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>,
         tensor<8x32xf32>, tensor<8x32xf32>)
      -> tensor<8x32xf32>
  return
}

// -----

func.func @grouped_mm_c19(%a: tensor<?x64xf8E4M3FN>,
    %b: tensor<3x32x64xf8E4M3FN>, %o: tensor<4xi32>, %c: tensor<?x16xf32>) {
  // expected-error @+1 {{requires an 'epilogue' for 'pairs'}}
  %0 = gq.grouped_mm pairs(halves) ins(%a, %b : tensor<?x64xf8E4M3FN>, tensor<3x32x64xf8E4M3FN>)
      groups(%o : tensor<4xi32>)
      outs(%c : tensor<?x16xf32>) -> tensor<?x16xf32>
  return
}

// -----

func.func @block_dequantize_c10_argument(%q: tensor<8x64xf4E2M1FN>,
    %s: tensor<8x4xf8E4M3FN>, %x: tensor<8x64xf32>) {
  // expected-error @+1 {{requires 'epilogue' to take one element of f32, bf16 or f16}}
  %0 = gq.block_dequantize format(nvfp4)
      ins(%q, %s : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>)
      epilogue {
      ^bb0(%e: f32, %f: f32):
        gq.yield %e : f32
      }
      outs(%x : tensor<8x64xf32>) -> tensor<8x64xf32>
  return
}

// -----

func.func @block_dequantize_c10_yield(%q: tensor<8x64xf4E2M1FN>,
    %s: tensor<8x4xf8E4M3FN>, %x: tensor<8x64xbf16>) {
  // expected-error @+1 {{requires 'epilogue' to yield an element of 'out'}}
  %0 = gq.block_dequantize format(nvfp4)
      ins(%q, %s : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>)
      epilogue {
      ^bb0(%e: f32):
        gq.yield %e : f32
      }
      outs(%x : tensor<8x64xbf16>) -> tensor<8x64xbf16>
  return
}

// -----

func.func @grouped_dequantize_c19_argument(%q: tensor<8x64xf8E4M3FN>, %o: tensor<4xi32>,
    %i: tensor<f32>, %x: tensor<8x64xf32>) {
  // expected-error @+1 {{requires 'epilogue' to take one element of f32, bf16 or f16}}
  %0 = gq.grouped_dequantize ins(%q : tensor<8x64xf8E4M3FN>) groups(%o : tensor<4xi32>)
      scale_inv(%i : tensor<f32>)
      epilogue {
      ^bb0(%e: f64):
        %y = arith.truncf %e : f64 to f32
        gq.yield %y : f32
      }
      outs(%x : tensor<8x64xf32>) -> tensor<8x64xf32>
  return
}

// -----

func.func @grouped_dequantize_c19_yield(%q: tensor<8x64xf8E4M3FN>, %o: tensor<4xi32>,
    %i: tensor<f32>, %x: tensor<8x64xf16>) {
  // expected-error @+1 {{requires 'epilogue' to yield an element of 'out'}}
  %0 = gq.grouped_dequantize ins(%q : tensor<8x64xf8E4M3FN>) groups(%o : tensor<4xi32>)
      scale_inv(%i : tensor<f32>)
      epilogue {
      ^bb0(%e: f32):
        gq.yield %e : f32
      }
      outs(%x : tensor<8x64xf16>) -> tensor<8x64xf16>
  return
}

// -----

func.func @grouped_dequantize_c19_shapes(%q: tensor<?xf8E4M3FN>, %o: tensor<4xi64>,
    %d: tensor<3xi64>, %i: tensor<f32>, %x: tensor<?xf32>) {
  // expected-error @+1 {{requires no 'shapes' for an 'epilogue'}}
  %0 = gq.grouped_dequantize ins(%q : tensor<?xf8E4M3FN>) groups(%o : tensor<4xi64>)
      shapes(%d, %d : tensor<3xi64>, tensor<3xi64>) scale_inv(%i : tensor<f32>)
      epilogue {
      ^bb0(%e: f32):
        gq.yield %e : f32
      }
      outs(%x : tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @grouped_block_quantize_c39_scales(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %y: tensor<?x64xf32>,
    %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires no 'scales' for 'data' of numbers, or codes of f4E2M1FN or i8}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      groups(%o : tensor<4xi32>)
      outs(%y, %s : tensor<?x64xf32>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf32>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c39_columnwise_scales(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %y: tensor<?x64xf32>,
    %s: tensor<?xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires no 'columnwise_scales' for 'columnwise_data' of numbers}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      groups(%o : tensor<4xi32>)
      columnwise_outs(%y, %s : tensor<?x64xf32>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf32>, tensor<?xf8E4M3FN, #gq.tile128x4>
  return
}

// -----

func.func @grouped_block_quantize_c39_shape(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %y: tensor<?x128xf32>) {
  // expected-error @+1 {{requires 'inputs' to be}}
  %r = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      groups(%o : tensor<4xi32>) outs(%y : tensor<?x128xf32>) -> tensor<?x128xf32>
  return
}

// -----

// A format that transposes does not transpose numbers.
func.func @grouped_block_quantize_c39_transposed(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %y: tensor<?xf32>) {
  // expected-error @+1 {{requires 'columnwise_data' to be of rank 2, but got 1}}
  %r = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      groups(%o : tensor<4xi32>) columnwise_outs(%y : tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @grouped_block_quantize_c39_columnwise_shape(
    %x: tensor<8x64xbf16>, %o: tensor<4xi32>, %y: tensor<9x64xf32>) {
  // expected-error @+1 {{requires 'inputs' to be}}
  %r = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<8x64xbf16>)
      groups(%o : tensor<4xi32>) columnwise_outs(%y : tensor<9x64xf32>) -> tensor<9x64xf32>
  return
}

// -----

func.func @grouped_block_quantize_c21_numbers(
    %x: tensor<?x64xbf16>, %o: tensor<4xi32>, %so: tensor<3xi32>, %y: tensor<?x64xf32>) {
  // expected-error @+1 {{requires no 'scale_offsets' without 'scales'}}
  %r = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xbf16>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>) outs(%y : tensor<?x64xf32>) -> tensor<?x64xf32>
  return
}

// -----

func.func @grouped_quantize_c39_shape(%x: tensor<?xbf16>, %o: tensor<4xi64>,
    %d: tensor<3xi64>, %s: tensor<f32>, %y: tensor<?x64xf32>) {
  // expected-error @+1 {{requires 'data' to be of rank 1, but got 2}}
  %r = gq.grouped_quantize format(fp8_e4m3) ins(%x : tensor<?xbf16>) groups(%o : tensor<4xi64>)
      shapes(%d, %d : tensor<3xi64>, tensor<3xi64>) scale(%s : tensor<f32>)
      outs(%y : tensor<?x64xf32>) -> tensor<?x64xf32>
  return
}
