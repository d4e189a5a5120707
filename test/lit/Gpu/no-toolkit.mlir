// Without a CUDA toolkit a kernel becomes PTX, unless it calls libdevice.
//
// RUN: env GQ_CUDA_TOOLKIT= gq-opt %gq_source_dir/examples/quantize.mlir --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' | %python %S/Inputs/ptx.py | FileCheck %s
// RUN: not env GQ_CUDA_TOOLKIT= gq-opt %gq_source_dir/test/gpu/activations.mlir --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' 2>&1 | FileCheck %s --check-prefix=LIBDEVICE

// CHECK: .visible .entry grouped_block_quantize(
// LIBDEVICE: the kernel needs '__nv_tanhf' of libdevice, and there is no CUDA toolkit; set GQ_CUDA_TOOLKIT to its folder
