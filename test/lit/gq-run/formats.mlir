// Bytes of another implementation: both directions, in one op or two; MX
// formats; linear scales that are laid out afterwards.

// DEFINE: %{golden} = %gq_source_dir/golden
// DEFINE: %{te} = %{golden}/nvfp4_te_row_and_column
// DEFINE: %{te_ins} = --in %{te}/input.npy --in %{te}/offsets.npy --in %{te}/amax.npy --in %{te}/amax_columnwise.npy

// RUN: rm -rf %t && mkdir %t
// RUN: gq-run %s --entry=te %{te_ins} --out %t/te
// RUN: %python %S/Inputs/compare.py %t/te/0.npy %{te}/data.npy
// RUN: %python %S/Inputs/compare.py %t/te/1.npy %{te}/scales.npy
// RUN: %python %S/Inputs/compare.py %t/te/2.npy %{te}/data_columnwise.npy
// RUN: %python %S/Inputs/compare.py %t/te/3.npy %{te}/scales_columnwise.npy
// RUN: %python %S/Inputs/compare.py %t/te/4.npy %{te}/amax.npy
// RUN: gq-run %s --entry=te %{te_ins} --out %t/te_separate --no-fusion
// RUN: diff -r %t/te %t/te_separate

// DEFINE: %{e4m3} = %{golden}/mxfp8_e4m3
// DEFINE: %{e4m3_ins} = --in %{e4m3}/input.npy --in %{e4m3}/offsets.npy
// RUN: gq-run %s --entry=e4m3 %{e4m3_ins} --out %t/e4m3
// RUN: %python %S/Inputs/compare.py %t/e4m3/0.npy %{e4m3}/data.npy
// RUN: %python %S/Inputs/compare.py %t/e4m3/1.npy %{e4m3}/scales.npy
// RUN: %python %S/Inputs/compare.py %t/e4m3/2.npy %{e4m3}/scale_offsets.npy
// RUN: gq-run %s --entry=e4m3_linear %{e4m3_ins} --in %{e4m3}/scale_offsets.npy --out %t/linear
// RUN: %python %S/Inputs/compare.py %t/linear/0.npy %{e4m3}/data.npy
// RUN: %python %S/Inputs/compare.py %t/linear/1.npy %{e4m3}/scales.npy

// DEFINE: %{e5m2} = %{golden}/mxfp8_e5m2
// DEFINE: %{e5m2_ins} = --in %{e5m2}/input.npy --in %{e5m2}/offsets.npy --in %{e5m2}/scale_offsets.npy
// RUN: gq-run %s --entry=e5m2 %{e5m2_ins} --out %t/e5m2
// RUN: %python %S/Inputs/compare.py %t/e5m2/0.npy %{e5m2}/data.npy
// RUN: %python %S/Inputs/compare.py %t/e5m2/1.npy %{e5m2}/scales.npy
// RUN: gq-run %s --entry=e5m2 %{e5m2_ins} --out %t/e5m2_separate --no-fusion
// RUN: diff -r %t/e5m2 %t/e5m2_separate

func.func @te(%x: tensor<1536x160xbf16>, %o: tensor<5xi64>, %a: tensor<4xf32>,
    %b: tensor<4xf32>)
    -> (tensor<1536x160xf4E2M1FN>, tensor<1536x12xf8E4M3FN, #gq.tile128x4>,
        tensor<245760xf4E2M1FN>, tensor<24576xf8E4M3FN, #gq.tile128x4>,
        tensor<4xf32>) {
  %q0 = tensor.empty() : tensor<1536x160xf4E2M1FN>
  %s0 = tensor.empty() : tensor<1536x12xf8E4M3FN, #gq.tile128x4>
  %qt0 = tensor.empty() : tensor<245760xf4E2M1FN>
  %st0 = tensor.empty() : tensor<24576xf8E4M3FN, #gq.tile128x4>
  %amax0 = tensor.empty() : tensor<4xf32>
  %q, %s, %amax = gq.grouped_block_quantize format(nvfp4) recipe(te)
      ins(%x : tensor<1536x160xbf16>) groups(%o : tensor<5xi64>)
      outer_amax(%a : tensor<4xf32>)
      outs(%q0, %s0 : tensor<1536x160xf4E2M1FN>,
                      tensor<1536x12xf8E4M3FN, #gq.tile128x4>)
      amax_out(%amax0 : tensor<4xf32>)
      -> tensor<1536x160xf4E2M1FN>,
         tensor<1536x12xf8E4M3FN, #gq.tile128x4>, tensor<4xf32>
  %qt, %st = gq.grouped_block_quantize format(nvfp4) recipe(te)
      ins(%x : tensor<1536x160xbf16>) groups(%o : tensor<5xi64>)
      outer_amax(%b : tensor<4xf32>)
      columnwise_outs(%qt0, %st0 : tensor<245760xf4E2M1FN>,
                                   tensor<24576xf8E4M3FN, #gq.tile128x4>)
      -> tensor<245760xf4E2M1FN>, tensor<24576xf8E4M3FN, #gq.tile128x4>
  return %q, %s, %qt, %st, %amax
      : tensor<1536x160xf4E2M1FN>, tensor<1536x12xf8E4M3FN, #gq.tile128x4>,
        tensor<245760xf4E2M1FN>, tensor<24576xf8E4M3FN, #gq.tile128x4>,
        tensor<4xf32>
}

!x = tensor<?x160xbf16>
!q = tensor<?x160xf8E4M3FN>
!t = tensor<640x8xf8E8M0FNU, #gq.tile128x4>

func.func @e4m3(%x: !x, %o: tensor<5xi64>) -> (!q, !t, tensor<4xi64>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : !x
  %q0 = tensor.empty(%m) : !q
  %t0 = tensor.empty() : !t
  %so0 = tensor.empty() : tensor<4xi64>
  %q, %t, %so = gq.grouped_block_quantize format(mxfp8_e4m3) ins(%x : !x)
      groups(%o : tensor<5xi64>) outs(%q0, %t0 : !q, !t)
      scale_offsets_out(%so0 : tensor<4xi64>) -> !q, !t, tensor<4xi64>
  return %q, %t, %so : !q, !t, tensor<4xi64>
}

func.func @e4m3_linear(%x: !x, %o: tensor<5xi64>, %so: tensor<4xi64>)
    -> (!q, !t) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : !x
  %q0 = tensor.empty(%m) : !q
  %s0 = tensor.empty(%m) : tensor<?x5xf8E8M0FNU>
  %t0 = tensor.empty() : !t
  %q, %s = gq.grouped_block_quantize format(mxfp8_e4m3) scale_layout(linear)
      ins(%x : !x) groups(%o : tensor<5xi64>)
      outs(%q0, %s0 : !q, tensor<?x5xf8E8M0FNU>)
      -> !q, tensor<?x5xf8E8M0FNU>
  %t = gq.preprocess_grouped_matmul_sf format(mxfp8_e4m3)
      ins(%s : tensor<?x5xf8E8M0FNU>)
      groups(%o, %so : tensor<5xi64>, tensor<4xi64>) outs(%t0 : !t) -> !t
  return %q, %t : !q, !t
}

func.func @e5m2(%x: tensor<?x64xbf16>, %o: tensor<?xi64>, %so: tensor<?xi64>)
    -> (tensor<?x64xf8E5M2>, tensor<256x4xf8E8M0FNU, #gq.tile128x4>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %q0 = tensor.empty(%m) : tensor<?x64xf8E5M2>
  %s0 = tensor.empty(%m) : tensor<?x2xf8E8M0FNU>
  %t0 = tensor.empty() : tensor<256x4xf8E8M0FNU, #gq.tile128x4>
  %q, %s = gq.block_quantize format(mxfp8_e5m2) ins(%x : tensor<?x64xbf16>)
      outs(%q0, %s0 : tensor<?x64xf8E5M2>, tensor<?x2xf8E8M0FNU>)
      -> tensor<?x64xf8E5M2>, tensor<?x2xf8E8M0FNU>
  %t = gq.preprocess_grouped_matmul_sf format(mxfp8_e5m2)
      ins(%s : tensor<?x2xf8E8M0FNU>)
      groups(%o, %so : tensor<?xi64>, tensor<?xi64>)
      outs(%t0 : tensor<256x4xf8E8M0FNU, #gq.tile128x4>)
      -> tensor<256x4xf8E8M0FNU, #gq.tile128x4>
  return %q, %t : tensor<?x64xf8E5M2>,
                  tensor<256x4xf8E8M0FNU, #gq.tile128x4>
}
