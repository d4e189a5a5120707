// Libdevice is enough for PTX that calls it: ptxas may be missing.
//
// REQUIRES: ptxas
// RUN: rm -rf %t && mkdir -p %t/nvvm && ln -s %cuda_toolkit/nvvm/libdevice %t/nvvm
// RUN: env GQ_CUDA_TOOLKIT=%t gq-opt %gq_source_dir/test/gpu/silu.mlir --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' | %python %S/Inputs/ptx.py | FileCheck %s

// CHECK: .visible .entry {{.*}}grouped_block_quantize
// CHECK-NOT: __nv_expf
