// What is fused into no gq kernel becomes kernels of upstream's loops.
//
// RUN: gq-opt %gq_source_dir/test/gpu/leftovers.mlir --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' > %t.mlir
// RUN: FileCheck %s < %t.mlir --implicit-check-not=gq_programmatic_launch --implicit-check-not=mgpuStream --implicit-check-not=memrefCopy --implicit-check-not=builtin.unrealized_conversion_cast --implicit-check-not=@malloc --implicit-check-not='func @dealloc_helper'
// RUN: gq-opt %gq_source_dir/test/gpu/leftovers.mlir --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_120a format=isa fuse=false})' | FileCheck %s --implicit-check-not=mgpuStream

// The columns' sum: one kernel, in whose threads the reduction is.
// CHECK-LABEL: llvm.func @sums(
// CHECK: %[[STREAM:.*]] = llvm.call @gqGetStream() : () -> !llvm.ptr
// CHECK: gpu.launch_func <%[[STREAM]] : !llvm.ptr> @sums_kernel::@sums_kernel
// CHECK-COUNT-5: gpu.launch_func <{{.*}} : !llvm.ptr> @sums_kernel
// CHECK-NOT: gpu.launch_func
// CHECK: llvm.return

// An op without a loop is a launch of one block.
// CHECK-LABEL: llvm.func @constants(
// CHECK-DAG: %[[ONE:.*]] = llvm.mlir.constant(1 : index) : i64
// CHECK-DAG: %[[BLOCK:.*]] = llvm.mlir.constant(128 : index) : i64
// CHECK-COUNT-3: llvm.call @gqDeviceConstant(
// CHECK-COUNT-3: gpu.launch_func <{{.*}} : !llvm.ptr> @{{.*}} blocks in (%[[ONE]], %[[ONE]], %[[ONE]]) threads in (%[[BLOCK]], %[[ONE]], %[[ONE]])
// CHECK: llvm.call @mgpuMemcpy(
// CHECK: llvm.return
