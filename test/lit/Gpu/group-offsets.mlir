// One kernel of one warp, which says what it found on the stream.
//
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' > %t
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=PTX < %t

// PTX: .entry group_offsets(
// PTX: .maxntid 32
// PTX-NOT: call
// PTX: atom.{{.*}}or.b32
// CHECK: llvm.func @offsets
// G scale offsets, and G or G + 1 offsets: the nearer one.
// CHECK: llvm.call @gqLaunchExtent(
// CHECK: %[[MORE:.*]] = llvm.icmp "sgt"
// CHECK-NEXT: %[[MOST:.*]] = llvm.select %[[MORE]]
// CHECK: %[[LESS:.*]] = llvm.icmp "slt" %[[MOST]]
// CHECK-NEXT: %[[NEAR:.*]] = llvm.select %[[LESS]]
// CHECK: llvm.call @gqLaunchExtent(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[NEAR]],
// CHECK: gpu.launch_func <{{.*}}> @gq_kernels_0::@group_offsets
// CHECK-NOT: gpu.launch_func
func.func @offsets(%c: tensor<?xi64>, %o0: tensor<?xi32>, %s0: tensor<?xi32>)
    -> (tensor<?xi32>, tensor<?xi32>) {
  %o, %s = gq.group_offsets ins(%c : tensor<?xi64>)
      outs(%o0, %s0 : tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>, tensor<?xi32>
  return %o, %s : tensor<?xi32>, tensor<?xi32>
}
