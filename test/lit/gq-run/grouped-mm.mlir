// Data of another implementation; then the example, with random data, against
// the oracle.

// DEFINE: %{golden} = %gq_source_dir/golden/nvfp4_grouped_mm
// RUN: rm -rf %t && mkdir %t
// RUN: %python -c "import numpy as n; n.save('%t/sb.npy', n.load('%{golden}/b_scales.npy').ravel())"
// RUN: gq-run %s --in %{golden}/data.npy --in %{golden}/b_data.npy \
// RUN:   --in %{golden}/scales.npy --in %t/sb.npy \
// RUN:   --in %{golden}/offsets.npy --in %{golden}/scale_offsets.npy \
// RUN:   --in %{golden}/alpha.npy --out %t/nvfp4
// RUN: %python %S/Inputs/close.py %t/nvfp4/0.npy %{golden}/out.npy

// RUN: %python %S/Inputs/fp8_layer.py make %t
// RUN: gq-run %gq_source_dir/examples/fp8_layer.mlir --in %t/x.npy \
// RUN:   --in %t/offsets.npy --in %t/w.npy --in %t/bias.npy --out %t/fp8
// RUN: %python %S/Inputs/fp8_layer.py check %t

func.func @main(%a: tensor<130x128xf4E2M1FN>, %b: tensor<3x64x128xf4E2M1FN>,
    %sa: tensor<256x8xf8E4M3FN, #gq.tile128x4>,
    %sb: tensor<3x128x8xf8E4M3FN, #gq.tile128x4>, %o: tensor<4xi32>,
    %so: tensor<3xi32>, %alpha: tensor<3xf32>) -> tensor<130x64xf32> {
  %c0 = tensor.empty() : tensor<130x64xf32>
  %c = gq.grouped_mm format(nvfp4)
      ins(%a, %b : tensor<130x128xf4E2M1FN>, tensor<3x64x128xf4E2M1FN>)
      scales(%sa, %sb : tensor<256x8xf8E4M3FN, #gq.tile128x4>,
                        tensor<3x128x8xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<4xi32>, tensor<3xi32>)
      alpha(%alpha : tensor<3xf32>)
      outs(%c0 : tensor<130x64xf32>) -> tensor<130x64xf32>
  return %c : tensor<130x64xf32>
}
