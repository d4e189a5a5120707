// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-attach-target{chip=sm_100a opt=1})' | FileCheck %s
// RUN: not gq-opt %s --pass-pipeline='builtin.module(gq-attach-target{chip=sm_80})' 2>&1 | FileCheck %s --check-prefix=CHIP

// CHECK: gpu.module @kernels [#nvvm.target<O = 1, chip = "sm_100a", features = "+ptx86", link = ["{{.*}}gq/device/gq-sm_100a.bc"]>]
// CHIP: there are no device functions for the chip 'sm_80', only for sm_90a, sm_100a and sm_120a
gpu.module @kernels {
}
