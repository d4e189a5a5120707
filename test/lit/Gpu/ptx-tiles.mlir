// One kernel for both directions and, with results that need it, one that
// reduces: no calls, no local memory.
//
// MODES: gq-opt
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' | %python %S/Inputs/ptx.py > %t.sm_90a
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_100a format=isa})' | %python %S/Inputs/ptx.py > %t.sm_100a
// RUN: FileCheck %s --check-prefixes=CHECK,SM90 --implicit-check-not='call' --implicit-check-not=.local --implicit-check-not='.entry' < %t.sm_90a
// RUN: FileCheck %s --check-prefixes=CHECK,SM100 --implicit-check-not='call' --implicit-check-not=.local --implicit-check-not='.entry' < %t.sm_100a

// CHECK: .visible .entry grouped_block_quantize_reduce(
// CHECK: st.global
// CHECK: .visible .entry grouped_block_quantize(
// CHECK: ld.global{{.*}}.v4.b32
// SM90-NOT: e2m1x2
// SM100: cvt.rn.satfinite.e2m1x2.f32
func.func @main(%x: tensor<32768x5120xbf16>, %o: tensor<129xi32>, %a: tensor<128xf32>,
    %q0: tensor<32768x5120xf4E2M1FN>, %s0: tensor<?x320xf8E4M3FN, #gq.tile128x4>,
    %qt0: tensor<?xf4E2M1FN>, %st0: tensor<?xf8E4M3FN, #gq.tile128x4>,
    %d0: tensor<128x5120xf32>)
    -> (tensor<32768x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN, #gq.tile128x4>,
        tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<128x5120xf32>) {
  %q, %s, %qt, %st, %d = gq.grouped_block_quantize format(nvfp4) recipe(te)
      ins(%x : tensor<32768x5120xbf16>) groups(%o : tensor<129xi32>)
      outer_amax(%a : tensor<128xf32>)
      outs(%q0, %s0 : tensor<32768x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN, #gq.tile128x4>)
      columnwise_outs(%qt0, %st0 : tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>)
      dbias_out(%d0 : tensor<128x5120xf32>)
      -> tensor<32768x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN, #gq.tile128x4>,
         tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<128x5120xf32>
  return %q, %s, %qt, %st, %d : tensor<32768x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN, #gq.tile128x4>,
      tensor<?xf4E2M1FN>, tensor<?xf8E4M3FN, #gq.tile128x4>, tensor<128x5120xf32>
}
