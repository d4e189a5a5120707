// Device functions of another build, which may have other operands, are not
// linked. The plugin finds those beside itself.
//
// RUN: rm -rf %t && mkdir -p %t/gq/device
// RUN: cp %gq_binary_dir/lib/libgq.so %gq_binary_dir/lib/libgq_runtime.so %t
// RUN: cp %gq_binary_dir/lib/gq/device/gq-sm_90a.bc %t/gq/device
// RUN: env %preload mlir-opt --load-dialect-plugin=%t/libgq.so --load-pass-plugin=%t/libgq.so %s --pass-pipeline='builtin.module(gq-attach-target{chip=sm_90a})' | FileCheck %s --check-prefix=SAME
// RUN: env LC_ALL=C sed 's/gq_dev_interface_[0-9a-f]*/gq_dev_interface_0123456789abcdef/' %gq_binary_dir/lib/gq/device/gq-sm_90a.bc > %t/gq/device/gq-sm_90a.bc
// RUN: not env %preload mlir-opt --load-dialect-plugin=%t/libgq.so --load-pass-plugin=%t/libgq.so %s --pass-pipeline='builtin.module(gq-attach-target{chip=sm_90a})' 2>&1 | FileCheck %s

// SAME: gpu.module @kernels [#nvvm.target
// CHECK: the device functions '{{.*}}gq/device/gq-sm_90a.bc' take other operands than this build of gq passes; rebuild them together
gpu.module @kernels {
}
