// Activations and their derivatives from plain linalg: each function is one op
// that quantizes along rows and columns and, of a gradient, sums the columns.
// The lines of GPU are for activations-kernels.test.
//
// RUN: gq-opt %gq_source_dir/test/gpu/activations.mlir --pass-pipeline='builtin.module(gq-fuse-producers)' | FileCheck %s --implicit-check-not=linalg.generic
// RUN: gq-opt %gq_source_dir/test/gpu/activations.mlir --pass-pipeline='builtin.module(gq-to-cpu)' | FileCheck %s --check-prefix=CPU

// CHECK-LABEL: func.func @gelu(
// CHECK: gq.grouped_block_quantize format(nvfp4) ins(%arg0 :
// CHECK-SAME: columnwise_outs(
// CHECK-SAME: amax_out(
// CHECK-SAME: producer {
// CHECK: math.tanh
// CHECK: arith.truncf
// CHECK-NEXT: gq.yield %{{.*}} : bf16
// CPU-LABEL: llvm.func @gelu(
// CPU: llvm.call @gqCpuGroupedBlockQuantize(
// GPU-LABEL: llvm.func @gelu(
// GPU: gpu.launch_func {{.*}} @gq_kernels_{{[0-9]+}}::@grouped_block_quantize blocks

// CHECK-LABEL: func.func @silu(
// CHECK: gq.grouped_block_quantize format(nvfp4) ins(%arg0 :
// CHECK-SAME: columnwise_outs(
// CHECK-SAME: amax_out(
// CHECK-SAME: producer {
// CHECK: math.exp
// CHECK: arith.truncf
// CHECK-NEXT: gq.yield %{{.*}} : bf16
// CPU-LABEL: llvm.func @silu(
// CPU: llvm.call @gqCpuGroupedBlockQuantize(
// GPU-LABEL: llvm.func @silu(
// GPU: gpu.launch_func {{.*}} @gq_kernels_{{[0-9]+}}::@grouped_block_quantize blocks

// CHECK-LABEL: func.func @relu(
// CHECK: gq.grouped_block_quantize format(nvfp4) ins(%arg0 :
// CHECK-SAME: columnwise_outs(
// CHECK-SAME: amax_out(
// CHECK-SAME: producer {
// CHECK: arith.maximumf
// CHECK: arith.truncf
// CHECK-NEXT: gq.yield %{{.*}} : bf16
// CPU-LABEL: llvm.func @relu(
// CPU: llvm.call @gqCpuGroupedBlockQuantize(
// GPU-LABEL: llvm.func @relu(
// GPU: gpu.launch_func {{.*}} @gq_kernels_{{[0-9]+}}::@grouped_block_quantize blocks

// CHECK-LABEL: func.func @qgelu(
// CHECK: gq.grouped_block_quantize format(nvfp4) ins(%arg0 :
// CHECK-SAME: columnwise_outs(
// CHECK-SAME: amax_out(
// CHECK-SAME: producer {
// CHECK: math.exp
// CHECK: arith.truncf
// CHECK-NEXT: gq.yield %{{.*}} : bf16
// CPU-LABEL: llvm.func @qgelu(
// CPU: llvm.call @gqCpuGroupedBlockQuantize(
// GPU-LABEL: llvm.func @qgelu(
// GPU: gpu.launch_func {{.*}} @gq_kernels_{{[0-9]+}}::@grouped_block_quantize blocks

// CHECK-LABEL: func.func @srelu(
// CHECK: gq.grouped_block_quantize format(nvfp4) ins(%arg0 :
// CHECK-SAME: columnwise_outs(
// CHECK-SAME: amax_out(
// CHECK-SAME: producer {
// CHECK: arith.maximumf
// CHECK: arith.truncf
// CHECK-NEXT: gq.yield %{{.*}} : bf16
// CPU-LABEL: llvm.func @srelu(
// CPU: llvm.call @gqCpuGroupedBlockQuantize(
// GPU-LABEL: llvm.func @srelu(
// GPU: gpu.launch_func {{.*}} @gq_kernels_{{[0-9]+}}::@grouped_block_quantize blocks

// CHECK-LABEL: func.func @swiglu(
// CHECK: gq.grouped_block_quantize format(nvfp4) ins(%arg0, %arg1 :
// CHECK-SAME: columnwise_outs(
// CHECK-SAME: amax_out(
// CHECK-SAME: producer {
// CHECK: math.exp
// CHECK: arith.truncf
// CHECK-NEXT: gq.yield %{{.*}} : bf16
// CPU-LABEL: llvm.func @swiglu(
// CPU: llvm.call @gqCpuGroupedBlockQuantize(
// GPU-LABEL: llvm.func @swiglu(
// GPU: gpu.launch_func {{.*}} @gq_kernels_{{[0-9]+}}::@grouped_block_quantize blocks

// CHECK-LABEL: func.func @clamped_swiglu(
// CHECK: gq.grouped_block_quantize format(nvfp4) ins(%arg0, %arg1 :
// CHECK-SAME: columnwise_outs(
// CHECK-SAME: amax_out(
// CHECK-SAME: producer {
// CHECK: arith.minimumf
// CHECK: math.exp
// CHECK: arith.truncf
// CHECK-NEXT: gq.yield %{{.*}} : bf16
// CPU-LABEL: llvm.func @clamped_swiglu(
// CPU: llvm.call @gqCpuGroupedBlockQuantize(
// GPU-LABEL: llvm.func @clamped_swiglu(
// GPU: gpu.launch_func {{.*}} @gq_kernels_{{[0-9]+}}::@grouped_block_quantize blocks

// CHECK-LABEL: func.func @dgelu(
// CHECK: gq.grouped_block_quantize format(mxfp8_e4m3) ins(%arg0, %arg1 :
// CHECK-SAME: columnwise_outs(
// CHECK-SAME: dbias_out(
// CHECK-SAME: producer {
// CHECK: math.tanh
// CHECK: arith.truncf
// CHECK-NEXT: gq.yield %{{.*}} : bf16
// CPU-LABEL: llvm.func @dgelu(
// CPU: llvm.call @gqCpuGroupedBlockQuantize(
// GPU-LABEL: llvm.func @dgelu(
// GPU: gpu.launch_func {{.*}} @gq_kernels_{{[0-9]+}}::@grouped_block_quantize blocks

// CHECK-LABEL: func.func @dsilu(
// CHECK: gq.grouped_block_quantize format(mxfp8_e4m3) ins(%arg0, %arg1 :
// CHECK-SAME: columnwise_outs(
// CHECK-SAME: dbias_out(
// CHECK-SAME: producer {
// CHECK: math.exp
// CHECK: arith.truncf
// CHECK-NEXT: gq.yield %{{.*}} : bf16
// CPU-LABEL: llvm.func @dsilu(
// CPU: llvm.call @gqCpuGroupedBlockQuantize(
// GPU-LABEL: llvm.func @dsilu(
// GPU: gpu.launch_func {{.*}} @gq_kernels_{{[0-9]+}}::@grouped_block_quantize blocks

// CHECK-LABEL: func.func @drelu(
// CHECK: gq.grouped_block_quantize format(mxfp8_e4m3) ins(%arg0, %arg1 :
// CHECK-SAME: columnwise_outs(
// CHECK-SAME: dbias_out(
// CHECK-SAME: producer {
// CHECK: arith.select
// CHECK: arith.truncf
// CHECK-NEXT: gq.yield %{{.*}} : bf16
// CPU-LABEL: llvm.func @drelu(
// CPU: llvm.call @gqCpuGroupedBlockQuantize(
// GPU-LABEL: llvm.func @drelu(
// GPU: gpu.launch_func {{.*}} @gq_kernels_{{[0-9]+}}::@grouped_block_quantize blocks

// CHECK-LABEL: func.func @dqgelu(
// CHECK: gq.grouped_block_quantize format(mxfp8_e4m3) ins(%arg0, %arg1 :
// CHECK-SAME: columnwise_outs(
// CHECK-SAME: dbias_out(
// CHECK-SAME: producer {
// CHECK: math.exp
// CHECK: arith.truncf
// CHECK-NEXT: gq.yield %{{.*}} : bf16
// CPU-LABEL: llvm.func @dqgelu(
// CPU: llvm.call @gqCpuGroupedBlockQuantize(
// GPU-LABEL: llvm.func @dqgelu(
// GPU: gpu.launch_func {{.*}} @gq_kernels_{{[0-9]+}}::@grouped_block_quantize blocks

// CHECK-LABEL: func.func @dsrelu(
// CHECK: gq.grouped_block_quantize format(mxfp8_e4m3) ins(%arg0, %arg1 :
// CHECK-SAME: columnwise_outs(
// CHECK-SAME: dbias_out(
// CHECK-SAME: producer {
// CHECK: arith.maximumf
// CHECK: arith.truncf
// CHECK-NEXT: gq.yield %{{.*}} : bf16
// CPU-LABEL: llvm.func @dsrelu(
// CPU: llvm.call @gqCpuGroupedBlockQuantize(
// GPU-LABEL: llvm.func @dsrelu(
// GPU: gpu.launch_func {{.*}} @gq_kernels_{{[0-9]+}}::@grouped_block_quantize blocks
