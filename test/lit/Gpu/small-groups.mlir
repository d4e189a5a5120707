// What the kernel of tiles would compute has another kernel, whose warps do
// jobs alone, where groups have few rows on average. Where M, K and G do not
// say so, there are both kernels, of which each launch runs one.
//
// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-gpu,cse,canonicalize)' | FileCheck %s

// 32 rows a group: family 16.
// CHECK-LABEL: func.func @small
func.func @small(%x: memref<4096x8192xbf16>, %o: memref<129xi32>,
    %q: memref<4096x8192xf8E4M3FN>, %s: memref<?xf8E8M0FNU>) {
  // CHECK: call @gqPlanLaunch(%c16_i64, %c4096_i64, %c8192_i64, %c128_i64, %c2_i64,
  // CHECK: gpu.launch_func {{.*}} @gq_kernels_0::@grouped_block_quantize_small_groups blocks
  // CHECK-NOT: gpu.launch_func
  gq.grouped_block_quantize format(mxfp8_e4m3) ins(%x : memref<4096x8192xbf16>)
      groups(%o : memref<129xi32>)
      columnwise_outs(%q, %s : memref<4096x8192xf8E4M3FN>, memref<?xf8E8M0FNU>)
  return
}

// More, or too few jobs for so many warps.
// CHECK-LABEL: func.func @large
func.func @large(%x: memref<32768x8192xbf16>, %y: memref<32x1024xbf16>, %o: memref<129xi32>, %p: memref<2xi32>,
    %q: memref<32768x8192xf8E4M3FN>, %r: memref<32x1024xf8E4M3FN>, %s: memref<?xf8E8M0FNU>) {
  // CHECK: call @gqPlanLaunch(%c1_i64, %c32768_i64, %c8192_i64, %c128_i64, %c2_i64,
  // CHECK: gpu.launch_func {{.*}} @gq_kernels_1::@grouped_block_quantize blocks
  gq.grouped_block_quantize format(mxfp8_e4m3) ins(%x : memref<32768x8192xbf16>)
      groups(%o : memref<129xi32>)
      columnwise_outs(%q, %s : memref<32768x8192xf8E4M3FN>, memref<?xf8E8M0FNU>)
  // CHECK: call @gqPlanLaunch(%c1_i64, %c32_i64, %c1024_i64, %c1_i64, %c2_i64,
  // CHECK: gpu.launch_func {{.*}} @gq_kernels_2::@grouped_block_quantize blocks
  // CHECK-NOT: gpu.launch_func
  gq.grouped_block_quantize format(mxfp8_e4m3) ins(%y : memref<32x1024xbf16>)
      groups(%p : memref<2xi32>)
      columnwise_outs(%r, %s : memref<32x1024xf8E4M3FN>, memref<?xf8E8M0FNU>)
  return
}

// M is known to a launch: the kernel of tiles, to which the part of 512 says
// that there is another one, and that. They share what is reduced.
// CHECK-LABEL: func.func @either
func.func @either(%x: memref<?x8192xbf16>, %o: memref<129xi32>,
    %q: memref<?x8192xf8E4M3FN>, %s: memref<?xf8E8M0FNU>, %d: memref<128x8192xf32>) {
  // CHECK: %[[LARGE:.*]]:2 = call @gqPlanLaunch(%c1_i64, %[[M:[^,]*]], %c8192_i64, %c128_i64, %c522_i64,
  // CHECK: %[[SIZE:.*]] = arith.index_cast %[[LARGE]]#1 : i64 to index
  // CHECK: memref.alloc(%[[SIZE]]) : memref<?xi8>
  // CHECK: gpu.launch_func {{.*}} @gq_kernels_3::@grouped_block_quantize blocks in (%[[LARGE]]#0,
  // CHECK: %[[SMALL:.*]]:2 = call @gqPlanLaunch(%c16_i64, %[[M]], %c8192_i64, %c128_i64, %c10_i64,
  // CHECK: gpu.launch_func {{.*}} @gq_kernels_4::@grouped_block_quantize_small_groups blocks in (%[[SMALL]]#0,
  // CHECK: gpu.launch_func {{.*}} @gq_kernels_5::@grouped_block_quantize_reduce
  // CHECK-NOT: gpu.launch_func
  gq.grouped_block_quantize format(mxfp8_e4m3) ins(%x : memref<?x8192xbf16>)
      groups(%o : memref<129xi32>)
      columnwise_outs(%q, %s : memref<?x8192xf8E4M3FN>, memref<?xf8E8M0FNU>)
      dbias_out(%d : memref<128x8192xf32>)
  return
}

// With what is reduced beside codes of 4 bits in both directions.
// CHECK-LABEL: func.func @reduced
func.func @reduced(%x: memref<4096x8192xbf16>, %o: memref<129xi32>,
    %q: memref<4096x4096xi8>, %s: memref<?x512xf8E4M3FN>,
    %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>, %d: memref<128x8192xf32>) {
  // CHECK: gpu.launch_func {{.*}} @gq_kernels_6::@grouped_block_quantize_small_groups blocks
  // CHECK: gpu.launch_func {{.*}} @gq_kernels_7::@grouped_block_quantize_reduce
  // CHECK-NOT: gpu.launch_func
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<4096x8192xbf16>)
      groups(%o : memref<129xi32>)
      outs(%q, %s : memref<4096x4096xi8>, memref<?x512xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
      dbias_out(%d : memref<128x8192xf32>)
  return
}

// Not what is unusual, linear scales, or what was not measured: column sums
// beside 4-bit codes of float32.
// CHECK-LABEL: func.func @unusual
func.func @unusual(%x: memref<4096x8192xbf16>, %y: memref<4096x8192xf32>,
    %o: memref<129xi32>, %q: memref<4096x8192xf8E4M3FN>,
    %s: memref<?xf8E8M0FNU>, %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>,
    %d: memref<128x8192xf32>) {
  // CHECK: gpu.launch_func {{.*}} @gq_kernels_8::@grouped_block_quantize blocks
  gq.grouped_block_quantize format(mxfp8_e4m3) scale_layout(linear)
      ins(%x : memref<4096x8192xbf16>) groups(%o : memref<129xi32>)
      columnwise_outs(%q, %s : memref<4096x8192xf8E4M3FN>, memref<?xf8E8M0FNU>)
  // CHECK: gpu.launch_func {{.*}} @gq_kernels_9::@grouped_block_quantize blocks
  // CHECK: gpu.launch_func {{.*}} @gq_kernels_10::@grouped_block_quantize_reduce
  // CHECK-NOT: gpu.launch_func
  gq.grouped_block_quantize format(nvfp4) ins(%y : memref<4096x8192xf32>)
      groups(%o : memref<129xi32>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
      dbias_out(%d : memref<128x8192xf32>)
  return
}

// Column sums beside rows of 4-bit codes, of at most 48 rows on average: of more
// the kernel of tiles is faster. An amax beside them is the same. Columns have
// up to 64 rows on average.
// CHECK-LABEL: func.func @reduced_direction
func.func @reduced_direction(%x: memref<4096x8192xbf16>,
    %y: memref<8192x8192xbf16>, %o: memref<129xi32>, %q: memref<4096x4096xi8>,
    %r: memref<8192x4096xi8>, %s: memref<?x512xf8E4M3FN>, %qt: memref<?xi8>,
    %st: memref<?xf8E4M3FN>, %d: memref<128x8192xf32>, %a: memref<128xf32>) {
  // CHECK: call @gqPlanLaunch(%c16_i64, %c4096_i64,
  // CHECK-NOT: call @gqPlanLaunch(%c1_i64
  // CHECK: call @gqPlanLaunch(%c1_i64, %c8192_i64,
  // CHECK-NOT: call @gqPlanLaunch(%c16_i64, %c8192_i64
  // CHECK: call @gqPlanLaunch(%c16_i64, %c4096_i64,
  // CHECK-NOT: call @gqPlanLaunch(%c1_i64
  // CHECK: call @gqPlanLaunch(%c16_i64, %c8192_i64,
  // CHECK-NOT: call @gqPlanLaunch(%c1_i64
  // CHECK: return
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<4096x8192xbf16>)
      groups(%o : memref<129xi32>)
      outs(%q, %s : memref<4096x4096xi8>, memref<?x512xf8E4M3FN>)
      dbias_out(%d : memref<128x8192xf32>)
  gq.grouped_block_quantize format(nvfp4) ins(%y : memref<8192x8192xbf16>)
      groups(%o : memref<129xi32>)
      outs(%r, %s : memref<8192x4096xi8>, memref<?x512xf8E4M3FN>)
      dbias_out(%d : memref<128x8192xf32>)
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<4096x8192xbf16>)
      groups(%o : memref<129xi32>)
      outs(%q, %s : memref<4096x4096xi8>, memref<?x512xf8E4M3FN>)
      amax_out(%a : memref<128xf32>)
  gq.grouped_block_quantize format(nvfp4) ins(%y : memref<8192x8192xbf16>)
      groups(%o : memref<129xi32>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
      dbias_out(%d : memref<128x8192xf32>)
  return
}

// A scale that is given, in one direction and both, but not of float32.
// CHECK-LABEL: func.func @given
func.func @given(%x: memref<4096x8192xbf16>, %y: memref<4096x8192xf32>,
    %o: memref<129xi32>, %g: memref<128xf32>,
    %q: memref<4096x8192xf8E4M3FN>, %qt: memref<?xf8E4M3FN>, %a: memref<128xf32>) {
  // CHECK: call @gqPlanLaunch(%c16_i64, %c4096_i64, %c8192_i64, %c128_i64,
  // CHECK: gpu.launch_func {{.*}} @[[MODULE:.*]]::@grouped_block_quantize_small_groups blocks
  // CHECK: gpu.launch_func {{.*}}::@grouped_block_quantize_reduce
  // CHECK: call @gqPlanLaunch(%c16_i64, %c4096_i64,
  // CHECK: call @gqPlanLaunch(%c1_i64, %c4096_i64,
  // CHECK-NOT: call @gqPlanLaunch(%c16_i64
  // CHECK: return
  gq.grouped_quantize format(fp8_e4m3) ins(%x : memref<4096x8192xbf16>)
      groups(%o : memref<129xi32>) scale(%g : memref<128xf32>)
      outs(%q : memref<4096x8192xf8E4M3FN>) amax_out(%a : memref<128xf32>)
  gq.grouped_quantize format(fp8_e4m3) ins(%x : memref<4096x8192xbf16>)
      groups(%o : memref<129xi32>) scale(%g : memref<128xf32>)
      outs(%q : memref<4096x8192xf8E4M3FN>)
      columnwise_outs(%qt : memref<?xf8E4M3FN>)
  gq.grouped_quantize format(fp8_e4m3) ins(%y : memref<4096x8192xf32>)
      groups(%o : memref<129xi32>) scale(%g : memref<128xf32>)
      outs(%q : memref<4096x8192xf8E4M3FN>)
      columnwise_outs(%qt : memref<?xf8E4M3FN>)
  return
}

// Square blocks, of at most 48 rows on average. Where M is dynamic, the part of
// 1024 tells both plans of them.
// CHECK-LABEL: func.func @squares
func.func @squares(%x: memref<4096x8192xbf16>, %y: memref<8192x8192xbf16>,
    %o: memref<129xi32>, %g: memref<128xf32>, %q: memref<4096x4096xi8>,
    %r: memref<8192x4096xi8>, %z: memref<?x8192xbf16>, %t: memref<?x4096xi8>,
    %s: memref<?x512xf8E4M3FN>, %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>) {
  // CHECK: call @gqPlanLaunch(%c16_i64, %c4096_i64,
  // CHECK-NOT: call @gqPlanLaunch(%c1_i64
  // CHECK: call @gqPlanLaunch(%c1_i64, %c8192_i64,
  // CHECK: call @gqPlanLaunch(%c1_i64, %{{[^c].*}}, %c8192_i64, %c128_i64, %c1539_i64,
  // CHECK: call @gqPlanLaunch(%c16_i64, %{{[^c].*}}, %c8192_i64, %c128_i64, %c1027_i64,
  // CHECK: return
  gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<block = 16x16>
      columnwise<block = 16x16> ins(%x : memref<4096x8192xbf16>)
      groups(%o : memref<129xi32>) outer_amax(%g : memref<128xf32>)
      outs(%q, %s : memref<4096x4096xi8>, memref<?x512xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<block = 16x16>
      columnwise<block = 16x16> ins(%y : memref<8192x8192xbf16>)
      groups(%o : memref<129xi32>) outer_amax(%g : memref<128xf32>)
      outs(%r, %s : memref<8192x4096xi8>, memref<?x512xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<block = 16x16>
      columnwise<block = 16x16> ins(%z : memref<?x8192xbf16>)
      groups(%o : memref<129xi32>) outer_amax(%g : memref<128xf32>)
      outs(%t, %s : memref<?x4096xi8>, memref<?x512xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  return
}

// Columns that are transformed, or have outer amaxes of their own, alone and
// beside rows.
// CHECK-LABEL: func.func @transformed
func.func @transformed(%x: memref<4096x8192xbf16>, %y: memref<8192x8192xbf16>,
    %o: memref<129xi32>, %g: memref<128xf32>, %c: memref<128x8192xf32>,
    %q: memref<4096x4096xi8>, %s: memref<?x512xf8E4M3FN>,
    %qt: memref<?xi8>, %st: memref<?xf8E4M3FN>) {
  // CHECK: call @gqPlanLaunch(%c16_i64, %c4096_i64,
  // CHECK: call @gqPlanLaunch(%c16_i64, %c8192_i64,
  // CHECK: call @gqPlanLaunch(%c16_i64, %c4096_i64,
  // CHECK: call @gqPlanLaunch(%c16_i64, %c4096_i64,
  // CHECK-NOT: call @gqPlanLaunch
  // CHECK: return
  gq.grouped_block_quantize format(nvfp4) recipe(te) columnwise<transform = hadamard16>
      ins(%x : memref<4096x8192xbf16>) groups(%o : memref<129xi32>)
      outer_amax(%g : memref<128xf32>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  gq.grouped_block_quantize format(nvfp4) recipe(te) columnwise<transform = hadamard16>
      ins(%y : memref<8192x8192xbf16>) groups(%o : memref<129xi32>)
      outer_amax(%g : memref<128xf32>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  gq.grouped_block_quantize format(nvfp4) recipe(te)
      columnwise<transform = hadamard16, outer = column>
      ins(%x : memref<4096x8192xbf16>) groups(%o : memref<129xi32>)
      columnwise_outer_amax(%c : memref<128x8192xf32>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  gq.grouped_block_quantize format(nvfp4) recipe(te) columnwise<transform = hadamard16>
      ins(%x : memref<4096x8192xbf16>) groups(%o : memref<129xi32>)
      outer_amax(%g : memref<128xf32>)
      outs(%q, %s : memref<4096x4096xi8>, memref<?x512xf8E4M3FN>)
      columnwise_outs(%qt, %st : memref<?xi8>, memref<?xf8E4M3FN>)
  return
}

// Blocks of 1 by 128, whose scales are linear, in both directions and of columns
// alone, but not of 128 by 128; mxfp4 in both directions, up to 128 rows on
// average.
// CHECK-LABEL: func.func @long_and_short
func.func @long_and_short(%x: memref<4096x8192xbf16>, %y: memref<16384x8192xbf16>,
    %o: memref<129xi32>, %q: memref<4096x8192xf8E4M3FN>, %s: memref<4096x64xf32>,
    %b: memref<?x64xf32>, %qt: memref<?xf8E4M3FN>, %st: memref<?xf32>,
    %r: memref<16384x4096xi8>, %sr: memref<?x256xf8E8M0FNU>, %sc: memref<?xf8E8M0FNU>) {
  // CHECK: call @gqPlanLaunch(%c16_i64, %c4096_i64,
  // CHECK: call @gqPlanLaunch(%c16_i64, %c4096_i64,
  // CHECK: call @gqPlanLaunch(%c1_i64, %c4096_i64,
  // CHECK: call @gqPlanLaunch(%c16_i64, %c16384_i64,
  // CHECK-NOT: call @gqPlanLaunch
  // CHECK: return
  gq.grouped_block_quantize format(fp8_e4m3_1x128) scale_layout(linear)
      ins(%x : memref<4096x8192xbf16>) groups(%o : memref<129xi32>)
      outs(%q, %s : memref<4096x8192xf8E4M3FN>, memref<4096x64xf32>)
      columnwise_outs(%qt, %st : memref<?xf8E4M3FN>, memref<?xf32>)
  gq.grouped_block_quantize format(fp8_e4m3_1x128) scale_layout(linear)
      ins(%x : memref<4096x8192xbf16>) groups(%o : memref<129xi32>)
      columnwise_outs(%qt, %st : memref<?xf8E4M3FN>, memref<?xf32>)
  gq.grouped_block_quantize format(fp8_e4m3_128x128) scale_layout(linear)
      ins(%x : memref<4096x8192xbf16>) groups(%o : memref<129xi32>)
      columnwise_outs(%qt, %st : memref<?xf8E4M3FN>, memref<?xf32>)
  gq.grouped_block_quantize format(mxfp4) ins(%y : memref<16384x8192xbf16>)
      groups(%o : memref<129xi32>)
      outs(%r, %sr : memref<16384x4096xi8>, memref<?x256xf8E8M0FNU>)
      columnwise_outs(%r, %sc : memref<16384x4096xi8>, memref<?xf8E8M0FNU>)
  return
}
