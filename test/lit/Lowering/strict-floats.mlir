// RUN: gq-opt %s --pass-pipeline='builtin.module(arith-emulate-unsupported-floats{source-types=bf16 target-type=f32},gq-strict-floats,func.func(math-extend-to-supported-types{extra-types=f32,f64 target-type=f32},gq-strict-floats),canonicalize)' | FileCheck %s
// RUN: gq-opt %s --pass-pipeline='builtin.module(gpu.module(math-extend-to-supported-types{extra-types=f32,f64 target-type=f32},gq-strict-floats,canonicalize))' | FileCheck %s --check-prefix=GPU

// Each operation is rounded: no truncf and extf meet and vanish.
// CHECK-LABEL: func @roundings
func.func @roundings(%a: bf16, %b: bf16) -> bf16 {
  // CHECK: %[[MUL:.*]] = arith.mulf %{{.*}}, %{{.*}} : f32
  // CHECK: %[[T0:.*]] = arith.truncf %[[MUL]] : f32 to bf16
  // CHECK: %[[E0:.*]] = arith.extf %[[T0]] : bf16 to f32
  // CHECK: %[[ADD:.*]] = arith.addf %[[E0]], %{{.*}} : f32
  // CHECK: %[[T1:.*]] = arith.truncf %[[ADD]] : f32 to bf16
  // CHECK: %[[E1:.*]] = arith.extf %[[T1]] : bf16 to f32
  // CHECK: %[[EXP:.*]] = math.exp %[[E1]] : f32
  // CHECK: %[[T2:.*]] = arith.truncf %[[EXP]] : f32 to bf16
  // CHECK: %[[E2:.*]] = arith.extf %[[T2]] : bf16 to f32
  // CHECK: math.sqrt %[[E2]] : f32
  %0 = arith.mulf %a, %b : bf16
  %1 = arith.addf %0, %b : bf16
  %2 = math.exp %1 : bf16
  %3 = math.sqrt %2 : bf16
  return %3 : bf16
}

// GPU-LABEL: llvm.func @producer
gpu.module @kernels {
  llvm.func @producer(%a: bf16) -> bf16 {
    // GPU: %[[EXP:.*]] = math.exp
    // GPU: %[[T:.*]] = arith.truncf %[[EXP]] : f32 to bf16
    // GPU: %[[E:.*]] = arith.extf %[[T]] : bf16 to f32
    // Not libdevice's, which is an approximation.
    // GPU: llvm.call_intrinsic "llvm.sqrt"(%[[E]]) : (f32) -> f32
    %0 = math.exp %a : bf16
    %1 = math.sqrt %0 : bf16
    llvm.return %1 : bf16
  }
}
