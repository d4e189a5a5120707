// RUN: gq-opt %s --split-input-file -verify-diagnostics

func.func @grouped_block_quantize_c18_row_rank(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %a: tensor<f32>, %rng: tensor<2xi64>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %qt: tensor<?xf4E2M1FN>, %st: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires 'outer_amax' of rank 1 for one per row}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      scale_layout(linear) rowwise<outer = row>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outer_amax(%a : tensor<f32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c18_column_missing(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %a: tensor<3xf32>, %rng: tensor<2xi64>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %qt: tensor<?xf4E2M1FN>, %st: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires 'columnwise_outer_amax', since the outer amax is per row or per column}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      scale_layout(linear) columnwise<outer = column>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outer_amax(%a : tensor<3xf32>)
      columnwise_outs(%qt, %st : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c18_column_rank(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %a: tensor<3xf32>, %rng: tensor<2xi64>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %qt: tensor<?xf4E2M1FN>, %st: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires 'columnwise_outer_amax' of rank 2 if and only if there is one per column}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      scale_layout(linear) columnwise<outer = column>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      columnwise_outer_amax(%a : tensor<3xf32>)
      columnwise_outs(%qt, %st : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c18_group_rank(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %a: tensor<3x64xf32>, %rng: tensor<2xi64>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %qt: tensor<?xf4E2M1FN>, %st: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires 'columnwise_outer_amax' of rank 2 if and only if there is one per column}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      scale_layout(linear) 
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      columnwise_outer_amax(%a : tensor<3x64xf32>)
      columnwise_outs(%qt, %st : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c18_column_extents(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %a: tensor<3x48xf32>, %rng: tensor<2xi64>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %qt: tensor<?xf4E2M1FN>, %st: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires 'columnwise_outer_amax' to be 3x64, but got 3x48}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      scale_layout(linear) columnwise<outer = column>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      columnwise_outer_amax(%a : tensor<3x48xf32>)
      columnwise_outs(%qt, %st : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c27_square(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %a: tensor<3xf32>, %rng: tensor<2xi64>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %qt: tensor<?xf4E2M1FN>, %st: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires the block of 'rowwise' to be 1x16, that of the format, or 16x16, but got 16x32}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      scale_layout(linear) rowwise<block = 16x32>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outer_amax(%a : tensor<3xf32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c28(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %a: tensor<3xf32>, %rng: tensor<2xi64>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %qt: tensor<?xf4E2M1FN>, %st: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires format(nvfp4) for stochastic rounding, a transform, blocks of 16x16 or four over six}}
  %r:2 = gq.grouped_block_quantize format(mxfp4) recipe(nvfuser)
      scale_layout(linear) rowwise<block = 16x16>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c29_recipe(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %a: tensor<3xf32>, %rng: tensor<2xi64>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %qt: tensor<?xf4E2M1FN>, %st: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires recipe(te) for an outer amax per row or column}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(nvfuser)
      scale_layout(linear) rowwise<outer = row>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c29_rowwise(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %a: tensor<3xf32>, %rng: tensor<2xi64>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %qt: tensor<?xf4E2M1FN>, %st: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires 'outer' of 'rowwise' to be group or row}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      scale_layout(linear) rowwise<outer = column>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outer_amax(%a : tensor<3xf32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c29_columnwise(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %a: tensor<3xf32>, %rng: tensor<2xi64>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %qt: tensor<?xf4E2M1FN>, %st: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires 'outer' of 'columnwise' to be group or column}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      scale_layout(linear) columnwise<outer = row>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outer_amax(%a : tensor<3xf32>)
      columnwise_outs(%qt, %st : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c30_rowwise(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %a: tensor<3xf32>, %rng: tensor<2xi64>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %qt: tensor<?xf4E2M1FN>, %st: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires a transform to be of 'columnwise'}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      scale_layout(linear) rowwise<transform = hadamard16>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outer_amax(%a : tensor<3xf32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c30_signs(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %a: tensor<3xf32>, %rng: tensor<2xi64>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %qt: tensor<?xf4E2M1FN>, %st: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires 'signs' to be 16 bits and of a transform}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      scale_layout(linear) columnwise<signs = 0x0001>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outer_amax(%a : tensor<3xf32>)
      columnwise_outs(%qt, %st : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c30_many_signs(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %a: tensor<3xf32>, %rng: tensor<2xi64>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %qt: tensor<?xf4E2M1FN>, %st: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires 'signs' to be 16 bits and of a transform}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      scale_layout(linear) columnwise<transform = hadamard16, signs = 0x10000>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outer_amax(%a : tensor<3xf32>)
      columnwise_outs(%qt, %st : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c31_stochastic(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %a: tensor<3xf32>, %rng: tensor<2xi64>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %qt: tensor<?xf4E2M1FN>, %st: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires blocks of 16x16, which both directions share, to be rounded to nearest}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      scale_layout(linear) rowwise<rounding = stochastic, block = 16x16>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outer_amax(%a : tensor<3xf32>)
      rng_state(%rng : tensor<2xi64>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c31_transform(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %a: tensor<3xf32>, %rng: tensor<2xi64>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %qt: tensor<?xf4E2M1FN>, %st: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires blocks of 16x16, which both directions share, to be rounded to nearest}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      scale_layout(linear) columnwise<transform = hadamard16, block = 16x16>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outer_amax(%a : tensor<3xf32>)
      columnwise_outs(%qt, %st : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c31_outer(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %a: tensor<3xf32>, %rng: tensor<2xi64>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %qt: tensor<?xf4E2M1FN>, %st: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires blocks of 16x16, which both directions share, to be rounded to nearest}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      scale_layout(linear) rowwise<block = 16x16, outer = row>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outer_amax(%a : tensor<3xf32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c32_recipe(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %a: tensor<3xf32>, %rng: tensor<2xi64>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %qt: tensor<?xf4E2M1FN>, %st: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires recipe(te) and rounding to nearest for four over six}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(nvfuser)
      scale_layout(linear) rowwise<four_over_six = mae>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c32_stochastic(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %a: tensor<3xf32>, %rng: tensor<2xi64>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %qt: tensor<?xf4E2M1FN>, %st: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires recipe(te) and rounding to nearest for four over six}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      scale_layout(linear) rowwise<rounding = stochastic, four_over_six = mae>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outer_amax(%a : tensor<3xf32>)
      rng_state(%rng : tensor<2xi64>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c32_scale_max(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %a: tensor<3xf32>, %rng: tensor<2xi64>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %qt: tensor<?xf4E2M1FN>, %st: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires 'scale_max' to be 256 or 448 and of four over six}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      scale_layout(linear) rowwise<four_over_six = mae, scale_max = 240>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outer_amax(%a : tensor<3xf32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c32_scale_max_alone(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %a: tensor<3xf32>, %rng: tensor<2xi64>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %qt: tensor<?xf4E2M1FN>, %st: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires 'scale_max' to be 256 or 448 and of four over six}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      scale_layout(linear) rowwise<scale_max = 256>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outer_amax(%a : tensor<3xf32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c33_missing(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %a: tensor<3xf32>, %rng: tensor<2xi64>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %qt: tensor<?xf4E2M1FN>, %st: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires 'rng_state' for stochastic rounding}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      scale_layout(linear) rowwise<rounding = stochastic>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outer_amax(%a : tensor<3xf32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c33_nearest(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %a: tensor<3xf32>, %rng: tensor<2xi64>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %qt: tensor<?xf4E2M1FN>, %st: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires stochastic rounding for 'rng_state'}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      scale_layout(linear) 
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outer_amax(%a : tensor<3xf32>)
      rng_state(%rng : tensor<2xi64>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c33_extent(%x: tensor<?x64xbf16>,
    %o: tensor<4xi32>, %a: tensor<3xf32>, %rng: tensor<3xi64>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN>,
    %qt: tensor<?xf4E2M1FN>, %st: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires 'rng_state' to be 2, but got 3}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      scale_layout(linear) rowwise<rounding = stochastic>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outer_amax(%a : tensor<3xf32>)
      rng_state(%rng : tensor<3xi64>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c29_ragged(%x: tensor<?xbf16>,
    %o: tensor<4xi32>, %m: tensor<3xi32>, %k: tensor<3xi32>, %a: tensor<?xf32>,
    %q: tensor<?xf4E2M1FN>, %s: tensor<?xf8E4M3FN>) {
  // expected-error @+1 {{requires no 'shapes' for an outer amax per row or column}}
  %r:2 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      scale_layout(linear) rowwise<outer = row>
      ins(%x : tensor<?xbf16>) groups(%o : tensor<4xi32>)
      shapes(%m, %k : tensor<3xi32>, tensor<3xi32>)
      outer_amax(%a : tensor<?xf32>)
      outs(%q, %s : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>)
      -> tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN>
  return
}

// -----

func.func @grouped_block_quantize_c38(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %r: tensor<?xf32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'outer = row' of 'rowwise', and no 'outer_amax' or 'columnwise_outs', for 'row_amax'}}
  %0:3 = gq.grouped_block_quantize format(nvfp4) recipe(te)
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      row_amax_out(%r : tensor<?xf32>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<?xf32>
  return
}

// -----

func.func @grouped_block_quantize_c38_outer_amax(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %r: tensor<?xf32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'outer = row' of 'rowwise', and no 'outer_amax' or 'columnwise_outs', for 'row_amax'}}
  %0:3 = gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<outer = row>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>) outer_amax(%r : tensor<?xf32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      row_amax_out(%r : tensor<?xf32>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<?xf32>
  return
}

// -----

func.func @grouped_block_quantize_c38_recipe(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %r: tensor<?xf32>,
    %q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires recipe(te) for 'row_amax'}}
  %0:3 = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      row_amax_out(%r : tensor<?xf32>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<?xf32>
  return
}

// -----

func.func @grouped_block_quantize_c38_entries(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %r: tensor<9xf32>,
    %q: tensor<8x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'row_amax' to be 8, but got 9}}
  %0:3 = gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<outer = row>
      ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outs(%q, %s : tensor<8x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      row_amax_out(%r : tensor<9xf32>)
      -> tensor<8x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<9xf32>
  return
}
