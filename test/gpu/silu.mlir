// silu(gate) * up, quantized, its scales laid out: one kernel after fusion.

#id = affine_map<(m, k) -> (m, k)>
func.func @main(%gate: tensor<?x5120xbf16>, %up: tensor<?x5120xbf16>, %o: tensor<?xi32>, %so: tensor<?xi32>,
  %q0: tensor<?x5120xf4E2M1FN>, %t0: tensor<?x320xf8E4M3FN, #gq.tile128x4>) -> (tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN, #gq.tile128x4>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %m = tensor.dim %gate, %c0 : tensor<?x5120xbf16>
  %act0 = tensor.empty(%m) : tensor<?x5120xbf16>
  %act = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%gate, %up : tensor<?x5120xbf16>, tensor<?x5120xbf16>) outs(%act0 : tensor<?x5120xbf16>) {
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
  } -> tensor<?x5120xbf16>
  %l0 = tensor.empty(%m) : tensor<?x320xf8E4M3FN>
  %q, %l = gq.block_quantize format(nvfp4) ins(%act : tensor<?x5120xbf16>)
      outs(%q0, %l0 : tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN>) -> tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN>
  %t = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%l : tensor<?x320xf8E4M3FN>) groups(%o, %so : tensor<?xi32>, tensor<?xi32>)
      outs(%t0 : tensor<?x320xf8E4M3FN, #gq.tile128x4>) -> tensor<?x320xf8E4M3FN, #gq.tile128x4>
  return %q, %t : tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN, #gq.tile128x4>
}
