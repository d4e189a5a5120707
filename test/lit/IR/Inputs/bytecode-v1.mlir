// What version 1 has beside bytecode-v0.mlir. It stays as it is, for bytecode.test.
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
