// No spills and no stack for plain inputs on each chip; with a producer, computed
// or looked up, less than 64 bytes, of what is used once for a piece or less.
//
// REQUIRES: ptxas
// MODES: gq-opt
// RUN: for chip in sm_90a sm_100a sm_120a; do gq-opt %gq_source_dir/examples/quantize.mlir --pass-pipeline="builtin.module(gq-to-nvvm{chip=$chip format=isa})" | %python %S/Inputs/ptx.py > %t.ptx; %ptxas -v -arch=$chip %t.ptx -o %t.cubin 2>&1; done | FileCheck %s
// RUN: for chip in sm_90a sm_100a sm_120a; do for kernel in 0 1; do gq-opt %gq_source_dir/test/gpu/silu.mlir --pass-pipeline="builtin.module(gq-to-nvvm{chip=$chip format=isa})" | %python %S/Inputs/ptx.py $kernel > %t.ptx; %ptxas -v -arch=$chip %t.ptx -o %t.cubin 2>&1; done; done | FileCheck %s --check-prefix=PRODUCER

// CHECK-COUNT-3: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

// PRODUCER-COUNT-6: {{ ([0-9]|[1-5][0-9]|6[0-3])}} bytes stack frame, {{([0-9]|[1-5][0-9]|6[0-3])}} bytes spill stores
