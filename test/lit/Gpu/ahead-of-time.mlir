// Code compiled ahead of time needs libgq_runtime and nothing else. The driver
// is a fake without kernels, whose device memory is the host's.
//
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' | mlir-translate --mlir-to-llvmir | llc -filetype=obj -relocation-model=pic -o %t.o
// RUN: clang %S/Inputs/ahead-of-time.c %t.o -I%gq_source_dir/include -L%gq_binary_dir/lib -Wl,-rpath,%gq_binary_dir/lib -lgq_runtime -Wl,-z,defs -o %t
// RUN: env %preload GQ_CUDA_DRIVER=%gq_binary_dir/lib/libtest_cuda_fake.so %t | FileCheck %s

// CHECK: 0.5 -2 OK
// CHECK: grid 4, workspace 0
func.func @table(%n: index) -> (tensor<2xf32>, tensor<?xf32>) {
  %table = arith.constant dense<[0.5, -2.0]> : tensor<2xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %table, %zeros : tensor<2xf32>, tensor<?xf32>
}

// Its two results come back as the C runtime returns its struct.
func.func private @gqPlanLaunch(i64, i64, i64, i64, i64, i64, i64, i64, i64)
    -> (i64, i64)
func.func @plan(%family: i64, %rows: i64, %columns: i64) -> (i64, i64) {
  %zero = arith.constant 0 : i64
  %grid, %workspace = func.call @gqPlanLaunch(%family, %rows, %columns, %zero,
      %zero, %zero, %zero, %zero, %zero)
      : (i64, i64, i64, i64, i64, i64, i64, i64, i64) -> (i64, i64)
  return %grid, %workspace : i64, i64
}
