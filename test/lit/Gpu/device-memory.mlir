// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-device-memory)' | FileCheck %s

memref.global "private" constant @table : memref<4x2xf16> = dense<1.0>
// The names that the pass would take are taken.
memref.global "private" constant @gq_release_constants : memref<i64> = dense<7>
memref.global "private" constant @unused : memref<i64> = dense<8>

// One word per constant, however often it is read.
// CHECK-LABEL: func.func @constants
func.func @constants() -> (memref<4x2xf16>, memref<4x2xf16>, memref<i64>) {
  // CHECK: %[[HOST:.*]] = memref.get_global @table
  // CHECK: %[[INDEX:.*]] = memref.extract_aligned_pointer_as_index %[[HOST]]
  // CHECK: %[[INT:.*]] = arith.index_cast %[[INDEX]]
  // CHECK: %[[WORD:.*]] = llvm.mlir.addressof @gq_constant : !llvm.ptr
  // CHECK: %[[DATA:.*]] = llvm.inttoptr %[[INT]]
  // CHECK: %[[SIZE:.*]] = arith.constant 16 : i64
  // CHECK: %[[DEVICE:.*]] = call @gqDeviceConstant(%[[WORD]], %[[DATA]], %[[SIZE]])
  // CHECK: llvm.insertvalue %[[DEVICE]], %{{.*}}[0]
  // CHECK: llvm.insertvalue %[[DEVICE]], %{{.*}}[1]
  // CHECK: %[[FIRST:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<f16>
  // CHECK: memref.reinterpret_cast %[[FIRST]] to offset: [0], sizes: [4, 2], strides: [2, 1]
  %a = memref.get_global @table : memref<4x2xf16>
  // CHECK: llvm.mlir.addressof @gq_constant : !llvm.ptr
  %b = memref.get_global @table : memref<4x2xf16>
  // CHECK: llvm.mlir.addressof @gq_constant_0 : !llvm.ptr
  // CHECK: arith.constant 8 : i64
  %c = memref.get_global @gq_release_constants : memref<i64>
  return %a, %b, %c : memref<4x2xf16>, memref<4x2xf16>, memref<i64>
}

// A constant of another module is a different constant, which does not concern this one.
// CHECK: module @inner
// CHECK: memref.get_global @c : memref<2xf32>
// CHECK-NOT: gqDeviceConstant
module @inner {
  memref.global "private" constant @c : memref<2xf32> = dense<0.0>
  func.func @f() -> memref<2xf32> {
    %0 = memref.get_global @c : memref<2xf32>
    return %0 : memref<2xf32>
  }
}
memref.global "private" constant @c : memref<2xf32> = dense<1.0>

// CHECK-LABEL: func.func @copy
// CHECK: %[[STREAM:.*]] = call @gqGetStream() : () -> !llvm.ptr
// CHECK: %[[TOKEN:.*]] = builtin.unrealized_conversion_cast %[[STREAM]] : !llvm.ptr to !gpu.async.token
// CHECK: gpu.memcpy async [%[[TOKEN]]] %arg1, %arg0 : memref<?x4x4x4xf64>, memref<?x4x4x4xf64>
func.func @copy(%a: memref<?x4x4x4xf64>, %b: memref<?x4x4x4xf64>) {
  memref.copy %a, %b : memref<?x4x4x4xf64> to memref<?x4x4x4xf64>
  return
}

// CHECK: llvm.mlir.global internal @gq_constant() {addr_space = 0 : i32} : !llvm.ptr {
// CHECK-NEXT: llvm.mlir.zero
// CHECK: llvm.mlir.global internal @gq_constant_0()
// CHECK-NOT: @gq_constant_1
// CHECK: llvm.mlir.global_dtors dtors = [@[[RELEASE:gq_release_constants_.*]]], priorities = [0 : i32], data = [#llvm.zero]
// CHECK: llvm.func internal @[[RELEASE]]() {
// CHECK: %[[FIRST:.*]] = llvm.mlir.addressof @gq_constant : !llvm.ptr
// CHECK-NEXT: func.call @gqDeviceConstantRelease(%[[FIRST]])
// CHECK: %[[SECOND:.*]] = llvm.mlir.addressof @gq_constant_0 : !llvm.ptr
// CHECK-NEXT: func.call @gqDeviceConstantRelease(%[[SECOND]])
// CHECK-NEXT: llvm.return
