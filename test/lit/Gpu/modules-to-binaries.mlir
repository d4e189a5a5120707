// Every gpu.module becomes a binary, in their order, whatever number of threads
// compiles them.
//
// RUN: gq-opt %s -split-input-file --pass-pipeline='builtin.module(gq-modules-to-binaries{format=isa})' -o %t
// RUN: FileCheck %s < %t
// RUN: gq-opt %s -split-input-file --pass-pipeline='builtin.module(gq-modules-to-binaries{format=isa})' -mlir-disable-threading -o %t.one
// RUN: sed 's/LLVMIRToISATimeInMs = [0-9]*//' %t > %t.many
// RUN: sed 's/LLVMIRToISATimeInMs = [0-9]*//' %t.one | cmp - %t.many

// CHECK: module attributes {gpu.container_module} {
// CHECK-NEXT: gpu.binary @first [{{.*}}.entry a(
// CHECK-NEXT: gpu.binary @second [{{.*}}.entry b(
// CHECK-NEXT: gpu.binary @third [{{.*}}.entry a(
// CHECK-NEXT: llvm.func @launch
// CHECK: gpu.launch_func {{.*}}@first::@a
// CHECK: gpu.launch_func {{.*}}@third::@a
module attributes {gpu.container_module} {
  gpu.module @first [#nvvm.target<chip = "sm_90a">] {
    llvm.func @a() attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
  llvm.func @launch() {
    %c1 = llvm.mlir.constant(1 : i64) : i64
    gpu.launch_func @first::@a blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) : i64
    gpu.launch_func @third::@a blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) : i64
    llvm.return
  }
  gpu.module @second [#nvvm.target<chip = "sm_90a">] {
    llvm.func @b() attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
  gpu.module @third [#nvvm.target<chip = "sm_90a">] {
    llvm.func @a() attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
}

// -----

// CHECK: module {
// CHECK-NEXT: }
module {
}
