// Quantization and dequantization become one kernel, which stores no codes.
//
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-fuse-fake-quantize{kernels},gq-to-nvvm{format=isa})' | %python %S/Inputs/ptx.py > %t
// RUN: FileCheck %s --implicit-check-not=call --implicit-check-not=.local < %t
// What there is no kernel for is left alone, and is two.
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-fuse-fake-quantize{kernels},gq-to-nvvm{format=isa})' | FileCheck %s --check-prefix=BINARIES

// BINARIES-COUNT-4: gpu.binary
// BINARIES-NOT: gpu.binary

// CHECK: .visible .entry grouped_dequantize(
// CHECK: .visible .entry grouped_block_quantize(
// CHECK: .visible .entry grouped_block_quantize(
// A unit of 16 numbers of bf16 is 32 bytes; four units, aligned.
// CHECK-COUNT-8: st.global.v4.b32
// CHECK-NOT: st.global.v2.b32
func.func @rows(%x: tensor<?x256xbf16>, %o: tensor<9xi32>, %q0: tensor<?x256xf4E2M1FN>,
    %s0: tensor<?x16xf8E4M3FN, #gq.tile128x4>, %y0: tensor<?x256xbf16>) -> tensor<?x256xbf16> {
  %q, %s = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x256xbf16>)
      groups(%o : tensor<9xi32>)
      outs(%q0, %s0 : tensor<?x256xf4E2M1FN>, tensor<?x16xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x256xf4E2M1FN>, tensor<?x16xf8E4M3FN, #gq.tile128x4>
  %y = gq.grouped_dequantize format(nvfp4) ins(%q : tensor<?x256xf4E2M1FN>)
      scales(%s : tensor<?x16xf8E4M3FN, #gq.tile128x4>) groups(%o : tensor<9xi32>)
      outs(%y0 : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  return %y : tensor<?x256xbf16>
}

func.func @tokens(%x: tensor<?x256xbf16>, %o: tensor<9xi32>, %r0: tensor<?xf32>,
    %y0: tensor<?x256xbf16>) -> (tensor<?x256xbf16>, tensor<?xf32>) {
  %y, %r = gq.grouped_block_quantize format(nvfp4) recipe(te) rows(grouped) rowwise<outer = row>
      ins(%x : tensor<?x256xbf16>) groups(%o : tensor<9xi32>) outs(%y0 : tensor<?x256xbf16>)
      row_amax_out(%r0 : tensor<?xf32>) -> tensor<?x256xbf16>, tensor<?xf32>
  return %y, %r : tensor<?x256xbf16>, tensor<?xf32>
}

func.func @columns(%x: tensor<?x256xbf16>, %o: tensor<9xi32>, %q0: tensor<?x256xf8E4M3FN>,
    %s0: tensor<?xf8E8M0FNU, #gq.tile128x4>, %y0: tensor<?x256xbf16>) -> tensor<?x256xbf16> {
  %q, %s = gq.grouped_block_quantize format(mxfp8_e4m3) ins(%x : tensor<?x256xbf16>)
      groups(%o : tensor<9xi32>)
      columnwise_outs(%q0, %s0 : tensor<?x256xf8E4M3FN>, tensor<?xf8E8M0FNU, #gq.tile128x4>)
      -> tensor<?x256xf8E4M3FN>, tensor<?xf8E8M0FNU, #gq.tile128x4>
  %y = gq.grouped_dequantize format(mxfp8_e4m3) axis(columnwise) ins(%q : tensor<?x256xf8E4M3FN>)
      scales(%s : tensor<?xf8E8M0FNU, #gq.tile128x4>) groups(%o : tensor<9xi32>)
      outs(%y0 : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  return %y : tensor<?x256xbf16>
}
