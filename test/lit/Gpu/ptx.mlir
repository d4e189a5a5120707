// A whole chain: activation, quantization and scale layout in one
// kernel, by the instructions that it should have.
//
// RUN: gq-opt %gq_source_dir/test/gpu/silu.mlir --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' | %python %S/Inputs/ptx.py 0 > %t.sm_90a
// RUN: gq-opt %gq_source_dir/test/gpu/silu.mlir --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_100a format=isa})' | %python %S/Inputs/ptx.py 0 > %t.sm_100a
// RUN: gq-opt %gq_source_dir/test/gpu/silu.mlir --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_120a format=isa})' | %python %S/Inputs/ptx.py 0 > %t.sm_120a
// RUN: FileCheck %s --implicit-check-not=call --implicit-check-not=.local < %t.sm_90a
// RUN: FileCheck %s --check-prefix=E2M1 < %t.sm_100a
// RUN: FileCheck %s --check-prefix=E2M1 < %t.sm_120a
// RUN: not grep e2m1 %t.sm_90a
// RUN: gq-opt %gq_source_dir/test/gpu/silu.mlir --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' | %python %S/Inputs/ptx.py 1 | FileCheck %s --check-prefix=TABLE --implicit-check-not=call --implicit-check-not=.local

// CHECK: .target sm_90a
// CHECK: .visible .global .align 1 .u8 gq_programmatic_launch = 1;
// CHECK: .visible .entry grouped_block_quantize(
// Nothing is read before the kernel before is complete.
// CHECK-NOT: {{[[:space:]](ld|st)\.(global|shared)}}
// CHECK: griddepcontrol.wait;
// Both inputs of at least two blocks are on their way before the first is used.
// CHECK-COUNT-4: ld.global.nc.v4.b32
// CHECK: ex2.approx
// Eight bytes of data at a time.
// CHECK: st.global.{{(v2.b32|b64)}}
// CHECK-NOT: .entry

// Of a large matrix the activation is looked up. The table is filled, and known
// to all threads, while the kernel before ends.
// TABLE: .visible .entry grouped_block_quantize_table(
// TABLE: .maxntid 640
// TABLE-NOT: {{[[:space:]](ld|st)\.global}}
// TABLE: st.shared.v4.b32
// TABLE-NOT: {{[[:space:]](ld|st)\.global}}
// TABLE: bar.sync
// TABLE-NOT: {{[[:space:]](ld|st)\.global}}
// TABLE: griddepcontrol.wait;
// TABLE: min.u16x2
// TABLE-COUNT-16: ld.shared.b32
// TABLE: ld.global.nc.v4.b32

// E2M1: .visible .entry grouped_block_quantize(
// E2M1: cvt.rn.satfinite.e2m1x2.f32
