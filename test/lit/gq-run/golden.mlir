// Bytes of another implementation, from a fused op, two ops, and two ops that
// stay two. Scales and offsets are flat in those files.

// DEFINE: %{golden} = %gq_source_dir/golden/nvfp4_bf16_four_groups
// DEFINE: %{ins} = --in %{golden}/input.npy --in %{golden}/offsets.npy --in %{golden}/scale_offsets.npy

// RUN: rm -rf %t && mkdir %t
// RUN: gq-run %s --entry=fused %{ins} --out %t/fused
// RUN: %python %S/Inputs/compare.py %t/fused/0.npy %{golden}/data.npy
// RUN: %python %S/Inputs/compare.py %t/fused/1.npy %{golden}/scales.npy
// RUN: gq-run %s --entry=separate %{ins} --out %t/separate
// RUN: diff -r %t/fused %t/separate
// RUN: gq-run %s --entry=separate %{ins} --out %t/unfused --no-fusion
// RUN: diff -r %t/fused %t/unfused

// What an op finds wrong with its data is the run's error: scale offsets are
// multiples of 128.
// RUN: %python %S/Inputs/save.py %t/odd.npy int32 4
// RUN: not gq-run %s --entry=fused --in %{golden}/input.npy \
// RUN:   --in %{golden}/offsets.npy --in %t/odd.npy --out %t/out 2>&1 \
// RUN:   | FileCheck %s
// CHECK: gq-run: fused: {{.*}}128
// RUN: not ls %t/out

!scales = tensor<1280x16xf8E4M3FN, #gq.tile128x4>

func.func @fused(%x: tensor<?x256xbf16>, %offsets: tensor<?xi32>,
                 %sf_offsets: tensor<?xi32>)
    -> (tensor<?x256xf4E2M1FN>, !scales) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %q0 = tensor.empty(%m) : tensor<?x256xf4E2M1FN>
  %sf0 = tensor.empty() : !scales
  %q, %sf = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<?x256xbf16>)
      groups(%offsets, %sf_offsets : tensor<?xi32>, tensor<?xi32>)
      outs(%q0, %sf0 : tensor<?x256xf4E2M1FN>, !scales)
      -> tensor<?x256xf4E2M1FN>, !scales
  return %q, %sf : tensor<?x256xf4E2M1FN>, !scales
}

func.func @separate(%x: tensor<?x256xbf16>, %offsets: tensor<?xi32>,
                    %sf_offsets: tensor<?xi32>)
    -> (tensor<?x256xf4E2M1FN>, !scales) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %q0 = tensor.empty(%m) : tensor<?x256xf4E2M1FN>
  %linear0 = tensor.empty(%m) : tensor<?x16xf8E4M3FN>
  %sf0 = tensor.empty() : !scales
  %q, %linear = gq.block_quantize format(nvfp4)
      ins(%x : tensor<?x256xbf16>)
      outs(%q0, %linear0 : tensor<?x256xf4E2M1FN>, tensor<?x16xf8E4M3FN>)
      -> tensor<?x256xf4E2M1FN>, tensor<?x16xf8E4M3FN>
  %sf = gq.preprocess_grouped_matmul_sf format(nvfp4)
      ins(%linear : tensor<?x16xf8E4M3FN>)
      groups(%offsets, %sf_offsets : tensor<?xi32>, tensor<?xi32>)
      outs(%sf0 : !scales) -> !scales
  return %q, %sf : tensor<?x256xf4E2M1FN>, !scales
}
