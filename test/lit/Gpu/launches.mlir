// Launches of upstream's kernels wait for nothing but what is in the stream.
//
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-device-memory)' | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @kernel(%a: memref<?xf32>) kernel {
      %c0 = arith.constant 0 : index
      // CHECK: memref.load
      %v = memref.load %a[%c0] : memref<?xf32>
      gpu.return
    }
    llvm.func @lowered(%p: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
  // CHECK-LABEL: func.func @launches
  func.func @launches(%a: memref<?xf32>, %n: index, %m: i64, %s: !llvm.ptr, %p: !llvm.ptr) {
    // CHECK: %[[STREAM:.*]] = call @gqGetStream() : () -> !llvm.ptr
    // CHECK: %[[TOKEN:.*]] = builtin.unrealized_conversion_cast %[[STREAM]] : !llvm.ptr to !gpu.async.token
    // CHECK: gpu.launch_func async [%[[TOKEN]]] @kernels::@kernel blocks in (%arg1, %arg1, %arg1) threads in (%arg1, %arg1, %arg1) args(%arg0 : memref<?xf32>)
    gpu.launch_func @kernels::@kernel blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%a : memref<?xf32>)
    // This one has its stream.
    // CHECK: gpu.launch_func <%arg3 : !llvm.ptr>
    gpu.launch_func <%s : !llvm.ptr> @kernels::@lowered blocks in (%m, %m, %m) threads in (%m, %m, %m) : i64 args(%p : !llvm.ptr)
    return
  }
}
