// f4 and scales in tiles through slices, reshapes and structured control flow:
// loops over experts are the host's, and each launches a kernel.
//
// RUN: gq-opt %gq_source_dir/test/gpu/control_flow.mlir --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' | FileCheck %s --implicit-check-not=scf. --implicit-check-not=f4E2M1FN

// All experts at once, and one: the extents differ, so there are two kernels of gq.
// CHECK-LABEL: llvm.func @all(
// CHECK: gpu.launch_func <{{.*}}> @[[ALL:gq_kernels_[0-9]+]]::@grouped_block_quantize
// CHECK-LABEL: llvm.func @one(
// CHECK-NOT: @[[ALL]]::
// CHECK: gpu.launch_func <{{.*}}> @gq_kernels_{{[0-9]+}}::@grouped_block_quantize
// CHECK-LABEL: llvm.func @main(
// CHECK: llvm.call @all(
// CHECK: llvm.cond_br
// CHECK: llvm.call @one(
// CHECK: llvm.cond_br
// CHECK: llvm.call @one(
// CHECK: llvm.switch
