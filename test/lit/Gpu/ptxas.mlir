// No spills and no stack for plain inputs and for a producer, computed and looked
// up, on each chip.
//
// REQUIRES: ptxas
// MODES: gq-opt
// RUN: for chip in sm_90a sm_100a sm_120a; do for kernel in 0 1; do gq-opt %gq_source_dir/test/gpu/silu.mlir --pass-pipeline="builtin.module(gq-to-nvvm{chip=$chip format=isa})" | %python %S/Inputs/ptx.py $kernel > %t.ptx; %ptxas -v -arch=$chip %t.ptx -o %t.cubin 2>&1; done; gq-opt %gq_source_dir/examples/quantize.mlir --pass-pipeline="builtin.module(gq-to-nvvm{chip=$chip format=isa})" | %python %S/Inputs/ptx.py > %t.ptx; %ptxas -v -arch=$chip %t.ptx -o %t.cubin 2>&1; done | FileCheck %s

// CHECK-COUNT-9: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
