// The feed-forward network of a Mixture-of-Experts layer in NVFP4, whole: gate
// and up projection of one quantization, silu(gate) * up quantized as it is
// made, down projection into %y0. Three experts; expert e owns the rows
// offsets[e] .. offsets[e+1] of %x, the others keep what %y0 holds. On a GPU
// these are five kernels, and the host waits for none, so that a CUDA graph
// holds all of it.

#map = affine_map<(m, k) -> (m, k)>

!tokens = tensor<?x256xbf16>
!tokens_nvfp4 = tensor<?x256xf4E2M1FN>
!tokens_scales = tensor<?x16xf8E4M3FN, #gq.tile128x4>
!hidden = tensor<?x128xbf16>
!hidden_nvfp4 = tensor<?x128xf4E2M1FN>
!hidden_scales = tensor<?x8xf8E4M3FN, #gq.tile128x4>
!wide = tensor<3x128x256xf4E2M1FN>
!wide_scales = tensor<3x128x16xf8E4M3FN, #gq.tile128x4>
!narrow = tensor<3x256x128xf4E2M1FN>
!narrow_scales = tensor<3x256x8xf8E4M3FN, #gq.tile128x4>

func.func @main(%x: !tokens, %offsets: tensor<4xi32>,
                %gate_weights: !wide, %gate_scales: !wide_scales,
                %up_weights: !wide, %up_scales: !wide_scales,
                %down_weights: !narrow, %down_scales: !narrow_scales,
                %y0: !tokens) -> !tokens {
  %c0 = arith.constant 0 : index
  %c127 = arith.constant 127 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %one = arith.constant 1.0 : f32
  %m = tensor.dim %x, %c0 : !tokens
  // Room for the scales of any three groups of %m rows: up(%m, 128) + 2 * 128.
  %more = arith.addi %m, %c127 : index
  %tiles = arith.divui %more, %c128 : index
  %padded = arith.muli %tiles, %c128 : index
  %scale_rows = arith.addi %padded, %c256 : index

  %xq0 = tensor.empty(%m) : !tokens_nvfp4
  %xs0 = tensor.empty(%scale_rows) : !tokens_scales
  %so0 = tensor.empty() : tensor<3xi32>
  %xq, %xs, %scale_offsets = gq.grouped_block_quantize format(nvfp4)
      ins(%x : !tokens) groups(%offsets : tensor<4xi32>)
      outs(%xq0, %xs0 : !tokens_nvfp4, !tokens_scales)
      scale_offsets_out(%so0 : tensor<3xi32>)
      -> !tokens_nvfp4, !tokens_scales, tensor<3xi32>

  %gate0 = tensor.empty(%m) : !hidden
  %gate = gq.grouped_mm format(nvfp4)
      ins(%xq, %gate_weights : !tokens_nvfp4, !wide)
      scales(%xs, %gate_scales : !tokens_scales, !wide_scales)
      groups(%offsets, %scale_offsets : tensor<4xi32>, tensor<3xi32>)
      outs(%gate0 : !hidden) -> !hidden
  %up0 = tensor.empty(%m) : !hidden
  %up = gq.grouped_mm format(nvfp4)
      ins(%xq, %up_weights : !tokens_nvfp4, !wide)
      scales(%xs, %up_scales : !tokens_scales, !wide_scales)
      groups(%offsets, %scale_offsets : tensor<4xi32>, tensor<3xi32>)
      outs(%up0 : !hidden) -> !hidden

  %act0 = tensor.empty(%m) : !hidden
  %act = linalg.generic {indexing_maps = [#map, #map, #map],
                         iterator_types = ["parallel", "parallel"]}
      ins(%gate, %up : !hidden, !hidden) outs(%act0 : !hidden) {
  ^bb0(%g: bf16, %u: bf16, %out: bf16):
    %gf = arith.extf %g : bf16 to f32
    %uf = arith.extf %u : bf16 to f32
    %neg = arith.negf %gf : f32
    %exp = math.exp %neg : f32
    %den = arith.addf %exp, %one : f32
    %silu = arith.divf %gf, %den : f32
    %prod = arith.mulf %silu, %uf : f32
    %res = arith.truncf %prod : f32 to bf16
    linalg.yield %res : bf16
  } -> !hidden
  %hq0 = tensor.empty(%m) : !hidden_nvfp4
  %hs0 = tensor.empty(%scale_rows) : !hidden_scales
  %hq, %hs = gq.grouped_block_quantize format(nvfp4)
      ins(%act : !hidden)
      groups(%offsets, %scale_offsets : tensor<4xi32>, tensor<3xi32>)
      outs(%hq0, %hs0 : !hidden_nvfp4, !hidden_scales)
      -> !hidden_nvfp4, !hidden_scales

  %y = gq.grouped_mm format(nvfp4)
      ins(%hq, %down_weights : !hidden_nvfp4, !narrow)
      scales(%hs, %down_scales : !hidden_scales, !narrow_scales)
      groups(%offsets, %scale_offsets : tensor<4xi32>, tensor<3xi32>)
      outs(%y0 : !tokens) -> !tokens
  return %y : !tokens
}
