// Options of gq-to-nvvm, and a toolkit whose path needs quoting wherever it is
// text: nothing ends the process, and mistakes are reported.
//
// REQUIRES: ptxas
// DEFINE: %{options} =
// DEFINE: %{lower} = gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{%{options}})'

// REDEFINE: %{options} = format=elf
// RUN: not %{lower} 2>&1 | FileCheck %s --check-prefix=FORMAT
// FORMAT: requires format to be fatbin, bin or isa

// REDEFINE: %{options} = opt=4
// RUN: not %{lower} 2>&1 | FileCheck %s --check-prefix=OPT
// OPT: requires opt to be 0 to 3

// REDEFINE: %{options} = chip="sm_90a , x=}"
// RUN: not %{lower} 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: {{there are no device functions for the chip 'sm_90a , x=}'|expected}}

// REDEFINE: %{options} = unknown=1
// RUN: not %{lower} 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: no such option unknown

// RUN: rm -rf %t && mkdir -p "%t/my 'cuda' }{,=[(/bin" "%t/my 'cuda' }{,=[(/nvvm/libdevice"
// RUN: ln -s %ptxas "%t/my 'cuda' }{,=[(/bin/ptxas"
// RUN: ln -s $(dirname %ptxas)/fatbinary "%t/my 'cuda' }{,=[(/bin/fatbinary"
// RUN: ln -s $(dirname %ptxas)/../nvvm/libdevice/libdevice.10.bc "%t/my 'cuda' }{,=[(/nvvm/libdevice/libdevice.10.bc"
// REDEFINE: %{options} = chip=sm_90a format=fatbin
// RUN: env GQ_CUDA_TOOLKIT="%t/my 'cuda' }{,=[(" %{lower} | FileCheck %s
// CHECK: gpu.binary

func.func @main(%x: tensor<8x64xbf16>, %q0: tensor<8x64xf4E2M1FN>,
    %s0: tensor<8x4xf8E4M3FN>) -> (tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>) {
  %q, %s = gq.block_quantize format(nvfp4) ins(%x : tensor<8x64xbf16>)
      outs(%q0, %s0 : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>)
      -> tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>
  return %q, %s : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>
}
