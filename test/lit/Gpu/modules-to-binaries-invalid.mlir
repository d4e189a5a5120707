// Of the gpu.modules that cannot be compiled each says why, in their order.
//
// RUN: not gq-opt %s --pass-pipeline='builtin.module(gq-modules-to-binaries{format=isa})' 2>&1 | FileCheck %s

// CHECK: [[@LINE+3]]:1: error: {{.*}}no-file.bc
// CHECK-NOT: second
// CHECK: [[@LINE+5]]:1: error: {{.*}}nor-this.bc
gpu.module @first [#nvvm.target<chip = "sm_90a", link = ["no-file.bc"]>] {
}
gpu.module @second [#nvvm.target<chip = "sm_90a">] {
}
gpu.module @third [#nvvm.target<chip = "sm_90a", link = ["nor-this.bc"]>] {
}
