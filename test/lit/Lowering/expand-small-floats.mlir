// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-expand-small-floats)' | FileCheck %s
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-cpu)' | FileCheck %s --check-prefix=CPU

// What is computed: test/python/test_small_floats.py.

// CPU-NOT: arith.

// CHECK-LABEL: func @extend
func.func @extend(%x: f8E5M2) -> bf16 {
  // CHECK: %[[I:.*]] = arith.bitcast %{{.*}} : f8E5M2 to i8
  // CHECK: arith.extui %[[I]] : i8 to i32
  // CHECK: arith.ori
  // CHECK-NEXT: %[[F:.*]] = arith.bitcast %{{.*}} : i32 to f32
  // CHECK: %[[R:.*]] = arith.truncf %[[F]] : f32 to bf16
  // CHECK: return %[[R]]
  %r = arith.extf %x : f8E5M2 to bf16
  return %r : bf16
}

// CHECK-LABEL: func @to_e4m3
func.func @to_e4m3(%x: bf16) -> f8E4M3FN {
  // CHECK: arith.extf %{{.*}} : bf16 to f32
  // CHECK: arith.trunci %{{.*}} : i32 to i8
  // CHECK: %[[R:.*]] = arith.bitcast %{{.*}} : i8 to f8E4M3FN
  // CHECK: return %[[R]]
  %r = arith.truncf %x : bf16 to f8E4M3FN
  return %r : f8E4M3FN
}

// CHECK-LABEL: func @moves
func.func @moves(%c: i1, %x: f8E4M3FN) -> f8E4M3FN {
  // CHECK: arith.select
  %one = arith.constant 1.0 : f8E4M3FN
  %r = arith.select %c, %x, %one : f8E4M3FN
  return %r : f8E4M3FN
}
