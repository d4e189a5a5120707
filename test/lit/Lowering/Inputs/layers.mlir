// Eight layers: an addition of 1 or, in every second one, of 2, which becomes the
// producer of the quantization; and scales that are zero where no group is.
#rows = affine_map<(m, k) -> (m, k)>
func.func @layer0(%x: tensor<256x128xbf16>, %o: tensor<3xi32>) -> (tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>) {
  %c = arith.constant 1.0 : bf16
  %zero = arith.constant 0.0 : f8E4M3FN
  %y0 = tensor.empty() : tensor<256x128xbf16>
  %q0 = tensor.empty() : tensor<256x128xf4E2M1FN>
  %s0 = tensor.empty() : tensor<384x8xf8E4M3FN, #gq.tile128x4>
  %s1 = linalg.fill ins(%zero : f8E4M3FN) outs(%s0 : tensor<384x8xf8E4M3FN, #gq.tile128x4>) -> tensor<384x8xf8E4M3FN, #gq.tile128x4>
  %y = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<256x128xbf16>) outs(%y0 : tensor<256x128xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.addf %a, %c : bf16
    linalg.yield %s : bf16
  } -> tensor<256x128xbf16>
  %q, %s = gq.grouped_block_quantize format(nvfp4) ins(%y : tensor<256x128xbf16>)
      groups(%o : tensor<3xi32>) outs(%q0, %s1 : tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>) -> tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>
  return %q, %s : tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>
}
func.func @layer1(%x: tensor<256x128xbf16>, %o: tensor<3xi32>) -> (tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>) {
  %c = arith.constant 2.0 : bf16
  %zero = arith.constant 0.0 : f8E4M3FN
  %y0 = tensor.empty() : tensor<256x128xbf16>
  %q0 = tensor.empty() : tensor<256x128xf4E2M1FN>
  %s0 = tensor.empty() : tensor<384x8xf8E4M3FN, #gq.tile128x4>
  %s1 = linalg.fill ins(%zero : f8E4M3FN) outs(%s0 : tensor<384x8xf8E4M3FN, #gq.tile128x4>) -> tensor<384x8xf8E4M3FN, #gq.tile128x4>
  %y = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<256x128xbf16>) outs(%y0 : tensor<256x128xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.addf %a, %c : bf16
    linalg.yield %s : bf16
  } -> tensor<256x128xbf16>
  %q, %s = gq.grouped_block_quantize format(nvfp4) ins(%y : tensor<256x128xbf16>)
      groups(%o : tensor<3xi32>) outs(%q0, %s1 : tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>) -> tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>
  return %q, %s : tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>
}
func.func @layer2(%x: tensor<256x128xbf16>, %o: tensor<3xi32>) -> (tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>) {
  %c = arith.constant 1.0 : bf16
  %zero = arith.constant 0.0 : f8E4M3FN
  %y0 = tensor.empty() : tensor<256x128xbf16>
  %q0 = tensor.empty() : tensor<256x128xf4E2M1FN>
  %s0 = tensor.empty() : tensor<384x8xf8E4M3FN, #gq.tile128x4>
  %s1 = linalg.fill ins(%zero : f8E4M3FN) outs(%s0 : tensor<384x8xf8E4M3FN, #gq.tile128x4>) -> tensor<384x8xf8E4M3FN, #gq.tile128x4>
  %y = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<256x128xbf16>) outs(%y0 : tensor<256x128xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.addf %a, %c : bf16
    linalg.yield %s : bf16
  } -> tensor<256x128xbf16>
  %q, %s = gq.grouped_block_quantize format(nvfp4) ins(%y : tensor<256x128xbf16>)
      groups(%o : tensor<3xi32>) outs(%q0, %s1 : tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>) -> tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>
  return %q, %s : tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>
}
func.func @layer3(%x: tensor<256x128xbf16>, %o: tensor<3xi32>) -> (tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>) {
  %c = arith.constant 2.0 : bf16
  %zero = arith.constant 0.0 : f8E4M3FN
  %y0 = tensor.empty() : tensor<256x128xbf16>
  %q0 = tensor.empty() : tensor<256x128xf4E2M1FN>
  %s0 = tensor.empty() : tensor<384x8xf8E4M3FN, #gq.tile128x4>
  %s1 = linalg.fill ins(%zero : f8E4M3FN) outs(%s0 : tensor<384x8xf8E4M3FN, #gq.tile128x4>) -> tensor<384x8xf8E4M3FN, #gq.tile128x4>
  %y = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<256x128xbf16>) outs(%y0 : tensor<256x128xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.addf %a, %c : bf16
    linalg.yield %s : bf16
  } -> tensor<256x128xbf16>
  %q, %s = gq.grouped_block_quantize format(nvfp4) ins(%y : tensor<256x128xbf16>)
      groups(%o : tensor<3xi32>) outs(%q0, %s1 : tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>) -> tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>
  return %q, %s : tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>
}
func.func @layer4(%x: tensor<256x128xbf16>, %o: tensor<3xi32>) -> (tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>) {
  %c = arith.constant 1.0 : bf16
  %zero = arith.constant 0.0 : f8E4M3FN
  %y0 = tensor.empty() : tensor<256x128xbf16>
  %q0 = tensor.empty() : tensor<256x128xf4E2M1FN>
  %s0 = tensor.empty() : tensor<384x8xf8E4M3FN, #gq.tile128x4>
  %s1 = linalg.fill ins(%zero : f8E4M3FN) outs(%s0 : tensor<384x8xf8E4M3FN, #gq.tile128x4>) -> tensor<384x8xf8E4M3FN, #gq.tile128x4>
  %y = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<256x128xbf16>) outs(%y0 : tensor<256x128xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.addf %a, %c : bf16
    linalg.yield %s : bf16
  } -> tensor<256x128xbf16>
  %q, %s = gq.grouped_block_quantize format(nvfp4) ins(%y : tensor<256x128xbf16>)
      groups(%o : tensor<3xi32>) outs(%q0, %s1 : tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>) -> tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>
  return %q, %s : tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>
}
func.func @layer5(%x: tensor<256x128xbf16>, %o: tensor<3xi32>) -> (tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>) {
  %c = arith.constant 2.0 : bf16
  %zero = arith.constant 0.0 : f8E4M3FN
  %y0 = tensor.empty() : tensor<256x128xbf16>
  %q0 = tensor.empty() : tensor<256x128xf4E2M1FN>
  %s0 = tensor.empty() : tensor<384x8xf8E4M3FN, #gq.tile128x4>
  %s1 = linalg.fill ins(%zero : f8E4M3FN) outs(%s0 : tensor<384x8xf8E4M3FN, #gq.tile128x4>) -> tensor<384x8xf8E4M3FN, #gq.tile128x4>
  %y = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<256x128xbf16>) outs(%y0 : tensor<256x128xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.addf %a, %c : bf16
    linalg.yield %s : bf16
  } -> tensor<256x128xbf16>
  %q, %s = gq.grouped_block_quantize format(nvfp4) ins(%y : tensor<256x128xbf16>)
      groups(%o : tensor<3xi32>) outs(%q0, %s1 : tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>) -> tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>
  return %q, %s : tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>
}
func.func @layer6(%x: tensor<256x128xbf16>, %o: tensor<3xi32>) -> (tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>) {
  %c = arith.constant 1.0 : bf16
  %zero = arith.constant 0.0 : f8E4M3FN
  %y0 = tensor.empty() : tensor<256x128xbf16>
  %q0 = tensor.empty() : tensor<256x128xf4E2M1FN>
  %s0 = tensor.empty() : tensor<384x8xf8E4M3FN, #gq.tile128x4>
  %s1 = linalg.fill ins(%zero : f8E4M3FN) outs(%s0 : tensor<384x8xf8E4M3FN, #gq.tile128x4>) -> tensor<384x8xf8E4M3FN, #gq.tile128x4>
  %y = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<256x128xbf16>) outs(%y0 : tensor<256x128xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.addf %a, %c : bf16
    linalg.yield %s : bf16
  } -> tensor<256x128xbf16>
  %q, %s = gq.grouped_block_quantize format(nvfp4) ins(%y : tensor<256x128xbf16>)
      groups(%o : tensor<3xi32>) outs(%q0, %s1 : tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>) -> tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>
  return %q, %s : tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>
}
func.func @layer7(%x: tensor<256x128xbf16>, %o: tensor<3xi32>) -> (tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>) {
  %c = arith.constant 2.0 : bf16
  %zero = arith.constant 0.0 : f8E4M3FN
  %y0 = tensor.empty() : tensor<256x128xbf16>
  %q0 = tensor.empty() : tensor<256x128xf4E2M1FN>
  %s0 = tensor.empty() : tensor<384x8xf8E4M3FN, #gq.tile128x4>
  %s1 = linalg.fill ins(%zero : f8E4M3FN) outs(%s0 : tensor<384x8xf8E4M3FN, #gq.tile128x4>) -> tensor<384x8xf8E4M3FN, #gq.tile128x4>
  %y = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<256x128xbf16>) outs(%y0 : tensor<256x128xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.addf %a, %c : bf16
    linalg.yield %s : bf16
  } -> tensor<256x128xbf16>
  %q, %s = gq.grouped_block_quantize format(nvfp4) ins(%y : tensor<256x128xbf16>)
      groups(%o : tensor<3xi32>) outs(%q0, %s1 : tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>) -> tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>
  return %q, %s : tensor<256x128xf4E2M1FN>, tensor<384x8xf8E4M3FN, #gq.tile128x4>
}
