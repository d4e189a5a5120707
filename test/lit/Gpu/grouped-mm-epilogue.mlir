// The epilogue of a matmul as a function that its kernels are given.
//
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-choose-kernels,convert-gq-to-gpu)' | FileCheck %s
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{format=isa})' | FileCheck %s --check-prefix=PTX

// It is inlined.
// PTX-NOT: {{[ \t]}}call

// CHECK: llvm.func @grouped_mm_decode8(
// CHECK-DAG: %[[EPILOGUE:.*]] = llvm.mlir.addressof @epilogue
// CHECK: llvm.call @gq_dev_grouped_mm_decode(
// CHECK-SAME: %[[EPILOGUE]]
// CHECK: llvm.func internal @element(%[[X:.*]]: bf16, %[[Y:.*]]: bf16) -> f32
// CHECK: %[[GATE:.*]] = arith.extf %[[X]]
// CHECK: %[[UP:.*]] = arith.extf %[[Y]]
// CHECK: %[[Z:.*]] = arith.subf %[[GATE]], %[[UP]]
// CHECK: llvm.return %[[Z]] : f32
// CHECK: llvm.func internal @epilogue(%[[BITS:.*]]: i32, %[[SECOND:.*]]: i32) -> i32
// CHECK: %[[LOW:.*]] = llvm.trunc %[[BITS]]
// CHECK: %[[A:.*]] = llvm.bitcast %[[LOW]] : i16 to bf16
// CHECK: %[[HIGH:.*]] = llvm.trunc %[[SECOND]]
// CHECK: %[[B:.*]] = llvm.bitcast %[[HIGH]] : i16 to bf16
// CHECK: llvm.call @element(%[[A]], %[[B]])

// N is twice the columns of the output.
// CHECK-LABEL: func.func @pairs
// CHECK: %[[TWICE:.*]] = arith.muli %{{.*}}, %c2_i64{{.*}} : i64
// CHECK: call @gqLaunchExtent(%c7_i64{{.*}}, %c1_i64{{.*}}, %c1_i64{{.*}}, %{{.*}}, %[[TWICE]], %c1_i64{{.*}}, %c1_i64{{.*}})
// CHECK: gpu.launch_func {{.*}}@grouped_mm_decode8
// CHECK-NOT: gpu.launch_func
func.func @pairs(%a: memref<21x64xi8>, %b: memref<3x?x64xi8>,
    %sa: memref<?x8xf8E4M3FN>, %sb: memref<3x?x8xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<21x?xf32>) {
  gq.grouped_mm format(nvfp4) pairs(interleaved)
      ins(%a, %b : memref<21x64xi8>, memref<3x?x64xi8>)
      scales(%sa, %sb : memref<?x8xf8E4M3FN>, memref<3x?x8xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      epilogue {
      ^bb0(%x: bf16, %y: bf16):
        %gate = arith.extf %x : bf16 to f32
        %up = arith.extf %y : bf16 to f32
        %z = arith.subf %gate, %up : f32
        gq.yield %z : f32
      }
      outs(%c : memref<21x?xf32>)
  return
}

// With a bias there is no tiles128.
// CHECK-LABEL: func.func @bias
// CHECK: gpu.launch_func {{.*}}@grouped_mm_decode8
// CHECK: gpu.launch_func {{.*}}@grouped_mm_decode16
// CHECK: call @gqPlanLaunch(%c4_i64{{.*}}, %c64_i64{{.*}}, %c16_i64{{.*}}, %c2147483647_i64{{.*}}, %c0_i64{{.*}})
// CHECK: gpu.launch_func {{.*}}@grouped_mm_tiles64
// CHECK-NOT: gpu.launch_func
func.func @bias(%a: memref<?x64xi8>, %b: memref<3x256x64xi8>,
    %sa: memref<?x4xf8E8M0FNU>, %sb: memref<3x256x4xf8E8M0FNU>,
    %o: memref<4xi32>, %so: memref<3xi32>, %bias: memref<3x256xbf16>,
    %c: memref<?x256xbf16>) {
  gq.grouped_mm format(mxfp4)
      ins(%a, %b : memref<?x64xi8>, memref<3x256x64xi8>)
      scales(%sa, %sb : memref<?x4xf8E8M0FNU>, memref<3x256x4xf8E8M0FNU>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>) bias(%bias : memref<3x256xbf16>)
      epilogue {
      ^bb0(%x: f16):
        %y = arith.extf %x : f16 to f32
        %z = arith.truncf %y : f32 to bf16
        gq.yield %z : bf16
      }
      outs(%c : memref<?x256xbf16>)
  return
}

// Of halves, products of f32: the kernels read rows of weights in the order of
// pairs. Tiles of 128 tokens have less shared memory for tokens.
// CHECK-LABEL: func.func @halves
// CHECK: gpu.launch_func {{.*}}@grouped_mm_tiles128{{.*}} dynamic_shared_memory_size %c227008_i32
func.func @halves(%a: memref<4096x64xi8>, %b: memref<3x256x64xi8>,
    %sa: memref<?x8xf8E4M3FN>, %sb: memref<3x256x8xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<4096x128xbf16>) {
  gq.grouped_mm format(nvfp4) pairs(halves)
      ins(%a, %b : memref<4096x64xi8>, memref<3x256x64xi8>)
      scales(%sa, %sb : memref<?x8xf8E4M3FN>, memref<3x256x8xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      epilogue {
      ^bb0(%x: f32, %y: f32):
        %z = arith.subf %x, %y : f32
        %r = arith.truncf %z : f32 to bf16
        gq.yield %r : bf16
      }
      outs(%c : memref<4096x128xbf16>)
  return
}
