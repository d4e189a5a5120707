// The epilogue of a dequantization as a function that its kernel is given.
//
// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-gpu)' | FileCheck %s
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{format=isa})' | FileCheck %s --check-prefix=PTX

// It is inlined: the sign of an element is in its instruction, or one of its own.
// PTX-NOT: {{[ \t]}}call
// PTX: {{xor|neg}}
// PTX-NOT: {{[ \t]}}call

// CHECK: gpu.module
// CHECK: %[[EPILOGUE:.*]] = llvm.mlir.addressof @epilogue
// CHECK: llvm.call @gq_dev_dequantize_tiles(
// CHECK-SAME: %[[EPILOGUE]]
// CHECK: llvm.func internal @element(%[[E:.*]]: bf16, %{{.*}}: bf16) -> f32
// CHECK: %[[X:.*]] = arith.extf %[[E]]
// CHECK: %[[Y:.*]] = arith.negf %[[X]]
// CHECK: llvm.return %[[Y]] : f32
// CHECK: llvm.func internal @epilogue(%[[BITS:.*]]: i32, %{{.*}}: i32) -> i32
// CHECK: %[[HALF:.*]] = llvm.trunc %[[BITS]]
// CHECK: %[[IN:.*]] = llvm.bitcast %[[HALF]] : i16 to bf16
// CHECK: %[[OUT:.*]] = llvm.call @element(%[[IN]], %{{.*}})
// CHECK: %[[WORD:.*]] = llvm.bitcast %[[OUT]] : f32 to i32
// CHECK: llvm.return %[[WORD]]
func.func @epilogue(%q: memref<8x32xi8>, %s: memref<8x4xf8E4M3FN>, %x: memref<8x64xf32>) {
  gq.block_dequantize format(nvfp4) ins(%q, %s : memref<8x32xi8>, memref<8x4xf8E4M3FN>)
      epilogue {
      ^bb0(%e: bf16):
        %f = arith.extf %e : bf16 to f32
        %n = arith.negf %f : f32
        gq.yield %n : f32
      }
      outs(%x : memref<8x64xf32>)
  return
}
