// Quantizes rows sorted by expert to NVFP4. The scales are stored in tiles for
// the grouped matmul; up(M, 128) + 128 * (G - 1) rows of them always suffice.

func.func @main(%x: tensor<?x256xbf16>, %offsets: tensor<?xi32>,
                %sf_offsets: tensor<?xi32>)
    -> (tensor<?x256xf4E2M1FN>, tensor<?x16xf8E4M3FN, #gq.tile128x4>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %groups = tensor.dim %sf_offsets, %c0 : tensor<?xi32>
  %tiles = arith.ceildivui %m, %c128 : index
  %all_tiles = arith.addi %tiles, %groups : index
  %rows = arith.muli %all_tiles, %c128 : index

  %q0 = tensor.empty(%m) : tensor<?x256xf4E2M1FN>
  %sf0 = tensor.empty(%rows) : tensor<?x16xf8E4M3FN, #gq.tile128x4>
  %q, %sf = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?x256xbf16>)
      groups(%offsets, %sf_offsets : tensor<?xi32>, tensor<?xi32>)
      outs(%q0, %sf0 : tensor<?x256xf4E2M1FN>,
                       tensor<?x16xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x256xf4E2M1FN>, tensor<?x16xf8E4M3FN, #gq.tile128x4>
  return %q, %sf : tensor<?x256xf4E2M1FN>,
                   tensor<?x16xf8E4M3FN, #gq.tile128x4>
}
