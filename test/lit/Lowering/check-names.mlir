// Names that generated code calls keep their meaning, in any tool that runs the
// pipelines.

// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-check-names)' --split-input-file --verify-diagnostics
// RUN: not gq-opt %s --pass-pipeline='builtin.module(gq-to-cpu)' --split-input-file 2>&1 | FileCheck %s
// RUN: not gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm)' --split-input-file 2>&1 | FileCheck %s
// CHECK: the name 'erff' is reserved

// expected-error @+1 {{the name 'erff' is reserved for what generated code calls; choose another}}
func.func @erff(%x: f32) -> f32 {
  return %x : f32
}

// -----

// expected-error @+1 {{the name 'malloc' is reserved}}
memref.global @malloc : memref<f64> = dense<1.0>

// -----

// expected-error @+1 {{the name 'llvm.nothing' is reserved for LLVM's intrinsics}}
func.func private @llvm.nothing(f32) -> f32

// -----

// Calling one is allowed, and other symbol tables have names of their own.
func.func private @cbrtf(f32) -> f32
gpu.module @kernels {
  llvm.func @erff(f32) -> f32
}
func.func @main(%x: f32) -> f32 {
  %y = call @cbrtf(%x) : (f32) -> f32
  return %y : f32
}
