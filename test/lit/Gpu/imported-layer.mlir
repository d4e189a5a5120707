// A layer of experts as gq.torch.from_exported_program() records it: gate and up of one
// matmul, an activation in two ops, the weights of tokens as factors of rows, rows put
// back and added up. Two kernels quantize, of which the first gathers and the second
// computes the activation; besides the matmuls there is only the sum.
//
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa opt=0})' | FileCheck %s --implicit-check-not=@main_kernel::

// CHECK-LABEL: llvm.func @main(
// CHECK: gpu.launch_func <{{.*}}> @gq_kernels_0::@grouped_block_quantize
// CHECK-COUNT-4: gpu.launch_func <{{.*}}::@grouped_mm_
// CHECK: gpu.launch_func <{{.*}}::@grouped_block_quantize
// CHECK-COUNT-4: gpu.launch_func <{{.*}}::@grouped_mm_
// CHECK-NOT: gpu.launch_func <{{.*}}::@g
// CHECK: gpu.launch_func <{{.*}}> @main_kernel::@main_kernel

func.func @main(%in.x : tensor<?x256xbf16>, %in.rows : tensor<?xi64>, %in.offsets : tensor<9xi32>, %in.factors : tensor<?xf32>, %in.inverse : tensor<?x4xi64>, %in.up : tensor<8x256x128xi8>, %in.up_scales : tensor<8x256x16xf8E4M3FN, #gq.tile128x4>, %in.down : tensor<8x256x64xi8>, %in.down_scales : tensor<8x256x8xf8E4M3FN, #gq.tile128x4>) -> (tensor<?x256xbf16>) {
  %n.1 = arith.constant 0 : index
  %dim.2 = tensor.dim %in.x, %n.1 : tensor<?x256xbf16>
  %dim.3 = tensor.dim %in.rows, %n.1 : tensor<?xi64>
  %dim.4 = tensor.dim %in.inverse, %n.1 : tensor<?x4xi64>
  %t.5 = tensor.empty(%dim.3) : tensor<?x128xi8>
  %n.12 = arith.constant -1 : index
  %n.11 = arith.muli %dim.3, %n.12 : index
  %n.13 = arith.constant 128 : index
  %n.10 = arith.floordivsi %n.11, %n.13 : index
  %n.9 = arith.muli %n.10, %n.12 : index
  %n.8 = arith.muli %n.9, %n.13 : index
  %n.14 = arith.constant 896 : index
  %n.7 = arith.addi %n.8, %n.14 : index
  %t.6 = tensor.empty(%n.7) : tensor<?x16xf8E4M3FN, #gq.tile128x4>
  %t.15 = tensor.empty() : tensor<8xi32>
  %r.16_0, %r.16_1, %r.16_2 = "gq.grouped_block_quantize"(%in.x, %in.rows, %in.offsets, %t.5, %t.6, %t.15) <{format = #gq<format(nvfp4)>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0>, rows = #gq<rows(all)>, scale_layout = #gq<scale_layout(tile128x4)>}>  : (tensor<?x256xbf16>, tensor<?xi64>, tensor<9xi32>, tensor<?x128xi8>, tensor<?x16xf8E4M3FN, #gq.tile128x4>, tensor<8xi32>) -> (tensor<?x128xi8>, tensor<?x16xf8E4M3FN, #gq.tile128x4>, tensor<8xi32>)
  %t.17 = tensor.empty(%dim.3) : tensor<?x256xbf16>
  %r.18_0 = "gq.grouped_mm"(%r.16_0, %in.up, %r.16_1, %in.up_scales, %in.offsets, %r.16_2, %t.17) <{b_major = #gq<major(k)>, format = #gq<format(nvfp4)>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1>, scale_layout = #gq<scale_layout(tile128x4)>}>  : (tensor<?x128xi8>, tensor<8x256x128xi8>, tensor<?x16xf8E4M3FN, #gq.tile128x4>, tensor<8x256x16xf8E4M3FN, #gq.tile128x4>, tensor<9xi32>, tensor<8xi32>, tensor<?x256xbf16>) -> (tensor<?x256xbf16>)
  %t.19 = tensor.extract_slice %r.18_0[0, 0] [%dim.3, 128] [1, 1] : tensor<?x256xbf16> to tensor<?x128xbf16>
  %t.20 = tensor.extract_slice %r.18_0[0, 128] [%dim.3, 128] [1, 1] : tensor<?x256xbf16> to tensor<?x128xbf16>
  %t.21 = tensor.empty(%dim.3) : tensor<?x128xbf16>
  %t.22 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%t.19 : tensor<?x128xbf16>) outs(%t.21 : tensor<?x128xbf16>) {
  ^bb0(%e0 : bf16, %o : bf16):
    %v0 = arith.extf %e0 : bf16 to f32
    %v1 = arith.negf %v0 : f32
    %v2 = math.exp %v1 : f32
    %v3 = arith.constant 1.0 : f32
    %v4 = arith.addf %v2, %v3 : f32
    %v5 = arith.divf %v0, %v4 : f32
    %r = arith.truncf %v5 : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<?x128xbf16>
  %t.23 = tensor.empty(%dim.3) : tensor<?x128xbf16>
  %t.24 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%t.22, %t.20 : tensor<?x128xbf16>, tensor<?x128xbf16>) outs(%t.23 : tensor<?x128xbf16>) {
  ^bb0(%e0 : bf16, %e1 : bf16, %o : bf16):
    %v0 = arith.extf %e0 : bf16 to f32
    %v1 = arith.extf %e1 : bf16 to f32
    %v2 = arith.mulf %v0, %v1 : f32
    %r = arith.truncf %v2 : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<?x128xbf16>
  %t.25 = tensor.empty(%dim.3) : tensor<?x64xi8>
  %t.26 = tensor.empty(%n.7) : tensor<?x8xf8E4M3FN, #gq.tile128x4>
  %r.27_0, %r.27_1 = "gq.grouped_block_quantize"(%t.24, %in.offsets, %r.16_2, %t.25, %t.26) <{format = #gq<format(nvfp4)>, operandSegmentSizes = array<i32: 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0>, rows = #gq<rows(all)>, scale_layout = #gq<scale_layout(tile128x4)>}>  : (tensor<?x128xbf16>, tensor<9xi32>, tensor<8xi32>, tensor<?x64xi8>, tensor<?x8xf8E4M3FN, #gq.tile128x4>) -> (tensor<?x64xi8>, tensor<?x8xf8E4M3FN, #gq.tile128x4>)
  %t.28 = tensor.empty(%dim.3) : tensor<?x256xbf16>
  %r.29_0 = "gq.grouped_mm"(%r.27_0, %in.down, %r.27_1, %in.down_scales, %in.offsets, %r.16_2, %in.factors, %t.28) <{b_major = #gq<major(k)>, format = #gq<format(nvfp4)>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 1>, scale_layout = #gq<scale_layout(tile128x4)>}>  : (tensor<?x64xi8>, tensor<8x256x64xi8>, tensor<?x8xf8E4M3FN, #gq.tile128x4>, tensor<8x256x8xf8E4M3FN, #gq.tile128x4>, tensor<9xi32>, tensor<8xi32>, tensor<?xf32>, tensor<?x256xbf16>) -> (tensor<?x256xbf16>)
  %t.30 = tensor.empty(%dim.4) : tensor<?x256xbf16>
  %t.31 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      outs(%t.30 : tensor<?x256xbf16>) {
  ^bb0(%o : bf16):
    %t = linalg.index 0 : index
    %k = linalg.index 1 : index
    %none = arith.constant 0 : index
    %sum = arith.constant 0.0 : f32
    %zero = arith.constant 0.0 : bf16
    %j0 = arith.constant 0 : index
    %i0 = tensor.extract %in.inverse[%t, %j0] : tensor<?x4xi64>
    %n0 = arith.index_cast %i0 : i64 to index
    %is0 = arith.cmpi ult, %n0, %dim.3 : index
    %r0 = arith.select %is0, %n0, %none : index
    %e0 = tensor.extract %r.29_0[%r0, %k] : tensor<?x256xbf16>
    %v0 = arith.select %is0, %e0, %zero : bf16
    %f0 = arith.extf %v0 : bf16 to f32
    %s0 = arith.addf %sum, %f0 : f32
    %j1 = arith.constant 1 : index
    %i1 = tensor.extract %in.inverse[%t, %j1] : tensor<?x4xi64>
    %n1 = arith.index_cast %i1 : i64 to index
    %is1 = arith.cmpi ult, %n1, %dim.3 : index
    %r1 = arith.select %is1, %n1, %none : index
    %e1 = tensor.extract %r.29_0[%r1, %k] : tensor<?x256xbf16>
    %v1 = arith.select %is1, %e1, %zero : bf16
    %f1 = arith.extf %v1 : bf16 to f32
    %s1 = arith.addf %s0, %f1 : f32
    %j2 = arith.constant 2 : index
    %i2 = tensor.extract %in.inverse[%t, %j2] : tensor<?x4xi64>
    %n2 = arith.index_cast %i2 : i64 to index
    %is2 = arith.cmpi ult, %n2, %dim.3 : index
    %r2 = arith.select %is2, %n2, %none : index
    %e2 = tensor.extract %r.29_0[%r2, %k] : tensor<?x256xbf16>
    %v2 = arith.select %is2, %e2, %zero : bf16
    %f2 = arith.extf %v2 : bf16 to f32
    %s2 = arith.addf %s1, %f2 : f32
    %j3 = arith.constant 3 : index
    %i3 = tensor.extract %in.inverse[%t, %j3] : tensor<?x4xi64>
    %n3 = arith.index_cast %i3 : i64 to index
    %is3 = arith.cmpi ult, %n3, %dim.3 : index
    %r3 = arith.select %is3, %n3, %none : index
    %e3 = tensor.extract %r.29_0[%r3, %k] : tensor<?x256xbf16>
    %v3 = arith.select %is3, %e3, %zero : bf16
    %f3 = arith.extf %v3 : bf16 to f32
    %s3 = arith.addf %s2, %f3 : f32
    %rounded = arith.truncf %s3 : f32 to bf16
    linalg.yield %rounded : bf16
  } -> tensor<?x256xbf16>
  return %t.31 : tensor<?x256xbf16>
}

