// The kernels of a matmul do what a quantization behind it does, on request.
//
// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-gpu{fuse-quantization},canonicalize)' --remarks-filter=convert-gq-to-gpu --remark-format=emitRemark 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-gpu)' | FileCheck %s --check-prefix=TWO

!a = memref<?x64xi8>
!b = memref<3x256x64xi8>
!sa = memref<?x8xf8E4M3FN>
!sb = memref<3x256x8xf8E4M3FN>
!o = memref<4xi32>
!so = memref<3xi32>

// The first kernel that is launched is the last one made.
// CHECK: llvm.func @grouped_mm_tiles64(
// CHECK: llvm.call @gq_dev_grouped_mm_tiles_{{[0-9]+}}(

// M is checked against the codes, the product has no memory, and nothing that
// is written may be what the matmul reads. Scales have room in both buffers.
// CHECK-LABEL: func.func @pairs(
// CHECK-SAME: %[[A:[^:]*]]: memref<?x64xi8>,
// CHECK-SAME: %[[DATA:[^:]*]]: memref<?x64xi8>, %[[SCALES:[^:]*]]: memref<?x8xf8E4M3FN>)
// CHECK-NOT: memref.alloc
// CHECK: %{{.*}}, %{{.*}}, %[[OUTROWS:.*]]:2, %{{.*}}:2 = memref.extract_strided_metadata %[[DATA]]
// CHECK: call @gqLaunchExtent(
// CHECK: call @gqLaunchOperand(
// CHECK: arith.minsi
// CHECK: gpu.launch_func {{.*}}@grouped_mm_tiles64
// CHECK-NOT: gpu.launch_func
// CHECK: return
// TWO-LABEL: func.func @pairs(
// TWO: memref.alloc
// TWO: gpu.launch_func {{.*}}@grouped_mm_tiles64
// TWO: gpu.launch_func {{.*}}@grouped_block_quantize
// TWO: memref.dealloc
// REMARK: [[#@LINE+15]]:3: remark: [Passed] convert-gq-to-gpu
// REMARK-SAME: Remark="the kernels of the matmul in front quantize"
func.func @pairs(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %o: !o, %so: !so,
    %m: index, %data: !a, %scales: !sa) {
  %c = memref.alloc(%m) : memref<?x128xbf16>
  gq.grouped_mm format(nvfp4) kernel(tiles64) pairs(interleaved)
      ins(%a, %b : !a, !b) scales(%sa, %sb : !sa, !sb)
      groups(%o, %so : !o, !so)
      epilogue {
      ^bb0(%x: f32, %y: f32):
        %z = arith.mulf %x, %y : f32
        %w = arith.truncf %z : f32 to bf16
        gq.yield %w : bf16
      }
      outs(%c : memref<?x128xbf16>)
  gq.grouped_block_quantize format(nvfp4) rows(grouped)
      ins(%c : memref<?x128xbf16>) groups(%o, %so : !o, !so)
      outs(%data, %scales : !a, !sa)
  memref.dealloc %c : memref<?x128xbf16>
  return
}

// To another format, with an op between that does not matter, by a launch that
// chooses; the kernels of many tokens have products of f32 beside less else.
// CHECK-LABEL: func.func @one(
// CHECK: memref.alloc() : memref<1024x8xf8E8M0FNU>
// CHECK: gpu.launch_func {{.*}}@grouped_mm_decode8
// CHECK: gpu.launch_func {{.*}}@grouped_mm_decode16
// CHECK: gpu.launch_func {{.*}}@grouped_mm_tiles64
// CHECK: gpu.launch_func {{.*}}@grouped_mm_tiles128{{.*}} dynamic_shared_memory_size %c227008_i32
// CHECK-NOT: gpu.launch_func
// CHECK: return
func.func @one(%a: !a, %sa: !sa, %b: !b, %sb: !sb, %o: !o, %so: !so,
    %m: index, %data: memref<?x256xf8E4M3FN>) -> memref<1024x8xf8E8M0FNU> {
  %c = memref.alloc(%m) : memref<?x256xf32>
  gq.grouped_mm format(nvfp4) ins(%a, %b : !a, !b) scales(%sa, %sb : !sa, !sb)
      groups(%o, %so : !o, !so) outs(%c : memref<?x256xf32>)
  %scales = memref.alloc() : memref<1024x8xf8E8M0FNU>
  gq.grouped_block_quantize format(mxfp8_e4m3)
      ins(%c : memref<?x256xf32>) groups(%o, %so : !o, !so)
      outs(%data, %scales : memref<?x256xf8E4M3FN>, memref<1024x8xf8E8M0FNU>)
  memref.dealloc %c : memref<?x256xf32>
  return %scales : memref<1024x8xf8E8M0FNU>
}

!c = memref<8x256xbf16>
!d = memref<8x128xi8>
!s = memref<512x16xf8E4M3FN>
!t = memref<8x64xi8>

// What stays two launches, and why: six pairs, and the workspace of tiles256.
// CHECK-LABEL: func.func @two(
// CHECK-COUNT-13: gpu.launch_func
// CHECK-NOT: gpu.launch_func
func.func @two(%a: !t, %sa: !sa, %b: !b, %sb: !sb, %o: !o, %so: !so, %so2: !so,
    %d: !d, %s: !s, %flag: memref<i32>,
    %bias: memref<3x256xbf16>, %given: !c) {
  // REMARK: [Missed] {{.*}}the two have not the same offsets and scale offsets
  %c0 = memref.alloc() : !c
  gq.grouped_mm format(nvfp4) kernel(any) ins(%a, %b : !t, !b)
      scales(%sa, %sb : !sa, !sb) groups(%o, %so : !o, !so) outs(%c0 : !c)
  gq.grouped_block_quantize format(nvfp4) ins(%c0 : !c)
      groups(%o, %so2 : !o, !so) outs(%d, %s : !d, !s)
  // REMARK: [Missed] {{.*}}the product is not just for the quantization
  gq.grouped_mm format(nvfp4) kernel(any) ins(%a, %b : !t, !b)
      scales(%sa, %sb : !sa, !sb) groups(%o, %so : !o, !so) outs(%given : !c)
  gq.grouped_block_quantize format(nvfp4) ins(%given : !c)
      groups(%o, %so : !o, !so) outs(%d, %s : !d, !s)
  // REMARK: [Missed] {{.*}}what the matmul reads may have changed before the quantization
  %c1 = memref.alloc() : !c
  gq.grouped_mm format(nvfp4) kernel(any) ins(%a, %b : !t, !b)
      scales(%sa, %sb : !sa, !sb) groups(%o, %so : !o, !so) outs(%c1 : !c)
  memref.copy %so2, %so : !so to !so
  gq.grouped_block_quantize format(nvfp4) ins(%c1 : !c)
      groups(%o, %so : !o, !so) outs(%d, %s : !d, !s)
  // REMARK: [Missed] {{.*}}tiles256 does not quantize
  %c2 = memref.alloc() : memref<8x256xf32>
  gq.grouped_mm format(nvfp4) kernel(tiles256) ins(%a, %b : !t, !b)
      scales(%sa, %sb : !sa, !sb) groups(%o, %so : !o, !so)
      outs(%c2 : memref<8x256xf32>)
  gq.grouped_block_quantize format(nvfp4) ins(%c2 : memref<8x256xf32>)
      groups(%o, %so : !o, !so) outs(%d, %s : !d, !s)
  // REMARK: [Missed] {{.*}}tiles128 quantizes nothing with column scales or a bias
  %c3 = memref.alloc() : !c
  gq.grouped_mm format(nvfp4) kernel(tiles128) ins(%a, %b : !t, !b)
      scales(%sa, %sb : !sa, !sb) groups(%o, %so : !o, !so)
      bias(%bias : memref<3x256xbf16>) outs(%c3 : !c)
  gq.grouped_block_quantize format(nvfp4) ins(%c3 : !c)
      groups(%o, %so : !o, !so) outs(%d, %s : !d, !s)
  // REMARK: [Missed] {{.*}}the quantization is of more than rows of groups
  %c4 = memref.alloc() : !c
  gq.grouped_mm format(nvfp4) kernel(any) ins(%a, %b : !t, !b)
      scales(%sa, %sb : !sa, !sb) groups(%o, %so : !o, !so) outs(%c4 : !c)
  gq.grouped_block_quantize format(nvfp4) ins(%c4 : !c)
      groups(%o, %so : !o, !so) noop_flag(%flag : memref<i32>)
      outs(%d, %s : !d, !s)
  return
}
