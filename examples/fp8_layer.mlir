// A linear layer of experts in FP8, as DeepSeek's models compute it: tokens
// quantized in blocks of 1 by 128, weights in blocks of 128 by 128, each with a
// scale of f32.
//
// Four experts; expert e owns the rows offsets[e] .. offsets[e+1]. Its weights
// are 128 rows of `w`.

func.func @main(%x: tensor<?x256xbf16>, %offsets: tensor<5xi32>,
                %w: tensor<512x256xbf16>, %bias: tensor<4x128xf32>)
    -> tensor<?x128xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>

  // The weights, which a model stores so.
  %b0 = tensor.empty() : tensor<512x256xf8E4M3FN>
  %sb0 = tensor.empty() : tensor<4x2xf32>
  %b, %sb = gq.block_quantize format(fp8_e4m3_128x128)
      ins(%w : tensor<512x256xbf16>)
      outs(%b0, %sb0 : tensor<512x256xf8E4M3FN>, tensor<4x2xf32>)
      -> tensor<512x256xf8E4M3FN>, tensor<4x2xf32>
  %weights = tensor.expand_shape %b [[0, 1], [2]] output_shape [4, 128, 256]
      : tensor<512x256xf8E4M3FN> into tensor<4x128x256xf8E4M3FN>
  %weight_scales = tensor.expand_shape %sb [[0, 1], [2]] output_shape [4, 1, 2]
      : tensor<4x2xf32> into tensor<4x1x2xf32>

  %a0 = tensor.empty(%m) : tensor<?x256xf8E4M3FN>
  %sa0 = tensor.empty(%m) : tensor<?x2xf32>
  %a, %sa = gq.block_quantize format(fp8_e4m3_1x128)
      ins(%x : tensor<?x256xbf16>)
      outs(%a0, %sa0 : tensor<?x256xf8E4M3FN>, tensor<?x2xf32>)
      -> tensor<?x256xf8E4M3FN>, tensor<?x2xf32>

  %out0 = tensor.empty(%m) : tensor<?x128xbf16>
  %out = gq.grouped_mm format(fp8_e4m3_1x128) b_format(fp8_e4m3_128x128)
      scale_layout(linear)
      ins(%a, %weights : tensor<?x256xf8E4M3FN>, tensor<4x128x256xf8E4M3FN>)
      scales(%sa, %weight_scales : tensor<?x2xf32>, tensor<4x1x2xf32>)
      groups(%offsets : tensor<5xi32>)
      bias(%bias : tensor<4x128xf32>)
      outs(%out0 : tensor<?x128xbf16>) -> tensor<?x128xbf16>
  return %out : tensor<?x128xbf16>
}
