// One NVFP4 layer of a Mixture-of-Experts model, as a frontend writes it: the
// activation silu(gate) * up of every token, quantized, its scales laid out
// expert by expert, and multiplied by the weights of each token's expert.
//
// Three experts; expert e owns the rows offsets[e] .. offsets[e+1].

#map = affine_map<(m, k) -> (m, k)>

func.func @main(%gate: tensor<?x128xbf16>, %up: tensor<?x128xbf16>,
                %offsets: tensor<4xi32>, %scale_offsets: tensor<3xi32>,
                %weights: tensor<3x64x128xf4E2M1FN>,
                %weight_scales: tensor<3x128x8xf8E4M3FN, #gq.tile128x4>,
                %alpha: tensor<3xf32>,
                %scales0: tensor<?x8xf8E4M3FN, #gq.tile128x4>)
    -> (tensor<?x64xf32>, tensor<?x128xf4E2M1FN>,
        tensor<?x8xf8E4M3FN, #gq.tile128x4>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %m = tensor.dim %gate, %c0 : tensor<?x128xbf16>

  // silu(gate) * up, in float32, rounded to bf16.
  %act0 = tensor.empty(%m) : tensor<?x128xbf16>
  %act = linalg.generic {indexing_maps = [#map, #map, #map],
                         iterator_types = ["parallel", "parallel"]}
      ins(%gate, %up : tensor<?x128xbf16>, tensor<?x128xbf16>)
      outs(%act0 : tensor<?x128xbf16>) {
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
  } -> tensor<?x128xbf16>

  %data0 = tensor.empty(%m) : tensor<?x128xf4E2M1FN>
  %linear0 = tensor.empty(%m) : tensor<?x8xf8E4M3FN>
  %data, %linear = gq.block_quantize format(nvfp4)
      ins(%act : tensor<?x128xbf16>)
      outs(%data0, %linear0 : tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN>)
      -> tensor<?x128xf4E2M1FN>, tensor<?x8xf8E4M3FN>

  %scales = gq.preprocess_grouped_matmul_sf format(nvfp4)
      ins(%linear : tensor<?x8xf8E4M3FN>)
      groups(%offsets, %scale_offsets : tensor<4xi32>, tensor<3xi32>)
      outs(%scales0 : tensor<?x8xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x8xf8E4M3FN, #gq.tile128x4>

  %out0 = tensor.empty(%m) : tensor<?x64xf32>
  %out = gq.grouped_mm format(nvfp4)
      ins(%data, %weights : tensor<?x128xf4E2M1FN>, tensor<3x64x128xf4E2M1FN>)
      scales(%scales, %weight_scales : tensor<?x8xf8E4M3FN, #gq.tile128x4>,
                                       tensor<3x128x8xf8E4M3FN, #gq.tile128x4>)
      groups(%offsets, %scale_offsets : tensor<4xi32>, tensor<3xi32>)
      alpha(%alpha : tensor<3xf32>)
      outs(%out0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %out, %data, %scales
      : tensor<?x64xf32>, tensor<?x128xf4E2M1FN>,
        tensor<?x8xf8E4M3FN, #gq.tile128x4>
}
