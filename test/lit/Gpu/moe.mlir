// A whole graph: gq's kernels and upstream's in one stream, constants as their
// operands.
//
// RUN: gq-opt %gq_source_dir/test/gpu/moe.mlir --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' > %t.mlir
// RUN: FileCheck %s < %t.mlir --implicit-check-not=mgpuStream
// RUN: FileCheck %s < %t.mlir --check-prefix=PTX --implicit-check-not=__nv_

// CHECK-LABEL: llvm.func @main(
// The global scale, the weights and the bias.
// CHECK-COUNT-3: llvm.call @gqDeviceConstant(
// CHECK-COUNT-4: gpu.launch_func <{{.*}} : !llvm.ptr> @main_kernel
// CHECK: gpu.launch_func <{{.*}} : !llvm.ptr> @gq_kernels_0::@grouped_block_quantize
// CHECK: gpu.launch_func <{{.*}} : !llvm.ptr> @main_kernel
// CHECK-COUNT-3: llvm.call @_mlir_memref_to_llvm_free(
// CHECK-NOT: llvm.call @_mlir_memref_to_llvm_free(
// CHECK-LABEL: llvm.func @fixed_groups(
// CHECK-COUNT-3: llvm.call @gqDeviceConstant(
// CHECK: gpu.launch_func <{{.*}} : !llvm.ptr> @gq_kernels_1::@grouped_block_quantize

// PTX: sqrt.rn.f32
// PTX: ex2.approx
