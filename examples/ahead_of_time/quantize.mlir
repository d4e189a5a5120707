// Quantizes rows sorted by expert to NVFP4 into the caller's buffers: K/2 bytes of codes
// a row, and scales in tiles. Results that are arguments are no results of the C function.

func.func @quantize(%x: tensor<?x256xbf16>, %offsets: tensor<?xi32>,
                    %q0: tensor<?x256xf4E2M1FN>,
                    %sf0: tensor<?x16xf8E4M3FN, #gq.tile128x4>)
    -> (tensor<?x256xf4E2M1FN>, tensor<?x16xf8E4M3FN, #gq.tile128x4>) {
  %q, %sf = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?x256xbf16>) groups(%offsets : tensor<?xi32>)
      outs(%q0, %sf0 : tensor<?x256xf4E2M1FN>,
                       tensor<?x16xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x256xf4E2M1FN>, tensor<?x16xf8E4M3FN, #gq.tile128x4>
  return %q, %sf : tensor<?x256xf4E2M1FN>, tensor<?x16xf8E4M3FN, #gq.tile128x4>
}
