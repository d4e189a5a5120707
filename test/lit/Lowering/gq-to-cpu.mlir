// RUN: gq-opt %gq_source_dir/examples/moe_layer.mlir --pass-pipeline='builtin.module(gq-to-cpu)' | FileCheck %s
// RUN: gq-opt %gq_source_dir/examples/moe_layer.mlir --pass-pipeline='builtin.module(gq-to-cpu{fuse=false})' | FileCheck %s --check-prefix=UNFUSED
// RUN: not gq-opt %gq_source_dir/examples/moe_layer.mlir --pass-pipeline='builtin.module(gq-to-cpu{fuze=false})' 2>&1 | FileCheck %s --check-prefix=OPTION

// CHECK-NOT: gq.grouped
// CHECK-LABEL: llvm.func @main(
// CHECK-SAME: gq.boundary
// CHECK: llvm.call @gqCpuGroupedBlockQuantize(
// CHECK: llvm.call @gqCpuGroupedMm(
// The activation is freed, the three results are the caller's.
// CHECK: llvm.call @free(
// CHECK-NOT: llvm.call @free(
// CHECK: llvm.return
// CHECK: llvm.func @_mlir_ciface_main(
// CHECK-NOT: builtin.unrealized_conversion_cast

// UNFUSED-LABEL: llvm.func @main(
// UNFUSED: llvm.call @gqCpuBlockQuantize(
// UNFUSED: llvm.call @gqCpuPreprocessGroupedMatmulSf(
// UNFUSED: llvm.call @gqCpuGroupedMm(

// OPTION: no such option fuze

// Eight layers of equal types have one table of operands.
// RUN: gq-opt %S/Inputs/layers.mlir --pass-pipeline='builtin.module(gq-to-cpu)' | FileCheck %s --check-prefix=LAYERS
// LAYERS: llvm.mlir.global private constant @gq_operands_0(
// LAYERS-NOT: llvm.mlir.global private constant @gq_operands_
