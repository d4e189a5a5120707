// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' | %python %S/Inputs/ptx.py > %t.sm_90a
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_120a format=isa})' | %python %S/Inputs/ptx.py > %t.sm_120a
// RUN: FileCheck %s --implicit-check-not='call' --implicit-check-not=.local --implicit-check-not='.entry' < %t.sm_90a
// RUN: FileCheck %s --implicit-check-not='call' --implicit-check-not=.local --implicit-check-not='.entry' < %t.sm_120a

// What is read of a row that does not exist.
// CHECK: .global .align 16 .b8 zeros[64]
// CHECK: .visible .entry grouped_block_quantize(
// An index for each of a lane's four blocks, then their loads, before anything
// is stored.
// CHECK-COUNT-4: ld.global.s32
// CHECK-COUNT-8: ld.global.nc.v4.b32
// CHECK: st.global.{{(v2.b32|b64)}}
// The bit for indices.
// CHECK: atom.global.or.b32 {{.*}}, 4;

func.func @main(%x: tensor<?x5120xbf16>, %i: tensor<?x1xi32>, %o: tensor<?xi64>,
    %so: tensor<?xi64>, %q0: tensor<?x5120xf4E2M1FN>,
    %t0: tensor<?x320xf8E4M3FN, #gq.tile128x4>)
    -> (tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN, #gq.tile128x4>) {
  %g = tensor.gather %x[%i] gather_dims([0])
      : (tensor<?x5120xbf16>, tensor<?x1xi32>) -> tensor<?x5120xbf16>
  %q, %t = gq.grouped_block_quantize format(nvfp4)
      ins(%g : tensor<?x5120xbf16>) groups(%o, %so : tensor<?xi64>, tensor<?xi64>)
      outs(%q0, %t0 : tensor<?x5120xf4E2M1FN>,
                      tensor<?x320xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN, #gq.tile128x4>
  return %q, %t : tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN, #gq.tile128x4>
}
