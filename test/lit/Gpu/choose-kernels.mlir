// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-choose-kernels)' | FileCheck %s
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-choose-kernels{chip=sm_100a})' | FileCheck %s --check-prefix=OTHER
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-choose-kernels)' --remarks-filter-passed=gq-choose-kernels --remarks-filter-missed=gq-choose-kernels --remark-format=emitRemark 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// CHECK-LABEL: func @few_rows
// CHECK: gq.grouped_mm format(nvfp4) kernel(decode8) ins(
// OTHER-LABEL: func @few_rows
// OTHER: kernel(any)
// REMARK: [Passed]{{.*}}kernel 'decode8': 21 rows in 3 groups
func.func @few_rows(%a: memref<21x64xi8>, %b: memref<3x256x64xi8>,
    %sa: memref<?x8xf8E4M3FN>, %sb: memref<3x256x8xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<21x256xbf16>) {
  gq.grouped_mm format(nvfp4)
      ins(%a, %b : memref<21x64xi8>, memref<3x256x64xi8>)
      scales(%sa, %sb : memref<?x8xf8E4M3FN>, memref<3x256x8xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<21x256xbf16>)
  return
}

// CHECK-LABEL: func @twice_as_many
// CHECK: gq.grouped_mm format(nvfp4) kernel(decode16) ins(
// OTHER-LABEL: func @twice_as_many
// OTHER: kernel(any)
// REMARK: [Passed]{{.*}}kernel 'decode16': 22 rows in 3 groups
func.func @twice_as_many(%a: memref<22x16384xi8>, %b: memref<3x256x16384xi8>,
    %sa: memref<?x2048xf8E4M3FN>, %sb: memref<3x256x2048xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<22x256xbf16>) {
  gq.grouped_mm format(nvfp4)
      ins(%a, %b : memref<22x16384xi8>, memref<3x256x16384xi8>)
      scales(%sa, %sb : memref<?x2048xf8E4M3FN>, memref<3x256x2048xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<22x256xbf16>)
  return
}

// CHECK-LABEL: func @some_rows
// CHECK: gq.grouped_mm format(nvfp4) kernel(tiles32) ins(
// OTHER-LABEL: func @some_rows
// OTHER: kernel(any)
// REMARK: [Passed]{{.*}}kernel 'tiles32': 72 rows in 3 groups
func.func @some_rows(%a: memref<72x64xi8>, %b: memref<3x256x64xi8>,
    %sa: memref<?x8xf8E4M3FN>, %sb: memref<3x256x8xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<72x256xbf16>) {
  gq.grouped_mm format(nvfp4)
      ins(%a, %b : memref<72x64xi8>, memref<3x256x64xi8>)
      scales(%sa, %sb : memref<?x8xf8E4M3FN>, memref<3x256x8xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<72x256xbf16>)
  return
}

// CHECK-LABEL: func @more_rows
// CHECK: gq.grouped_mm format(nvfp4) kernel(tiles64) ins(
// OTHER-LABEL: func @more_rows
// OTHER: kernel(any)
// REMARK: [Passed]{{.*}}kernel 'tiles64': 73 rows in 3 groups
func.func @more_rows(%a: memref<73x64xi8>, %b: memref<3x256x64xi8>,
    %sa: memref<?x8xf8E4M3FN>, %sb: memref<3x256x8xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<73x256xbf16>) {
  gq.grouped_mm format(nvfp4)
      ins(%a, %b : memref<73x64xi8>, memref<3x256x64xi8>)
      scales(%sa, %sb : memref<?x8xf8E4M3FN>, memref<3x256x8xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<73x256xbf16>)
  return
}

// CHECK-LABEL: func @many_rows
// CHECK: gq.grouped_mm format(nvfp4) kernel(tiles128) ins(
// OTHER-LABEL: func @many_rows
// OTHER: kernel(any)
// REMARK: [Passed]{{.*}}kernel 'tiles128': 4096 rows in 3 groups
func.func @many_rows(%a: memref<4096x64xi8>, %b: memref<3x256x64xi8>,
    %sa: memref<?x8xf8E4M3FN>, %sb: memref<3x256x8xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<4096x256xbf16>) {
  gq.grouped_mm format(nvfp4)
      ins(%a, %b : memref<4096x64xi8>, memref<3x256x64xi8>)
      scales(%sa, %sb : memref<?x8xf8E4M3FN>, memref<3x256x8xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<4096x256xbf16>)
  return
}

// CHECK-LABEL: func @weighted_rows
// CHECK: gq.grouped_mm format(nvfp4) kernel(tiles128) ins(
// OTHER-LABEL: func @weighted_rows
// OTHER: kernel(any)
// REMARK: [Passed]{{.*}}kernel 'tiles128': 4096 rows in 3 groups
func.func @weighted_rows(%a: memref<4096x64xi8>, %b: memref<3x256x64xi8>,
    %sa: memref<?x8xf8E4M3FN>, %sb: memref<3x256x8xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %r: memref<4096xf32>,
    %c: memref<4096x256xbf16>) {
  gq.grouped_mm format(nvfp4)
      ins(%a, %b : memref<4096x64xi8>, memref<3x256x64xi8>)
      scales(%sa, %sb : memref<?x8xf8E4M3FN>, memref<3x256x8xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      row_scales(%r : memref<4096xf32>)
      epilogue {
      ^bb0(%x: bf16):
        gq.yield %x : bf16
      }
      outs(%c : memref<4096x256xbf16>)
  return
}

// For these tiles128 has no registers beside an epilogue.
// CHECK-LABEL: func @scaled_columns
// CHECK: gq.grouped_mm format(nvfp4) kernel(tiles64) ins(
// OTHER-LABEL: func @scaled_columns
// OTHER: kernel(any)
// REMARK: [Passed]{{.*}}kernel 'tiles64': 4096 rows in 3 groups
func.func @scaled_columns(%a: memref<4096x64xi8>, %b: memref<3x256x64xi8>,
    %sa: memref<?x8xf8E4M3FN>, %sb: memref<3x256x8xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %n: memref<3x256xf32>,
    %c: memref<4096x256xbf16>) {
  gq.grouped_mm format(nvfp4)
      ins(%a, %b : memref<4096x64xi8>, memref<3x256x64xi8>)
      scales(%sa, %sb : memref<?x8xf8E4M3FN>, memref<3x256x8xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      column_scales(%n : memref<3x256xf32>)
      epilogue {
      ^bb0(%x: bf16):
        gq.yield %x : bf16
      }
      outs(%c : memref<4096x256xbf16>)
  return
}

// CHECK-LABEL: func @unknown_rows
// CHECK: gq.grouped_mm format(nvfp4) ins(
// OTHER-LABEL: func @unknown_rows
// OTHER: kernel(any)
// REMARK: [Passed]{{.*}}kernel 'auto': M and G are known at the launch, which picks one of several
func.func @unknown_rows(%a: memref<?x64xi8>, %b: memref<3x256x64xi8>,
    %sa: memref<?x8xf8E4M3FN>, %sb: memref<3x256x8xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<?x256xbf16>) {
  gq.grouped_mm format(nvfp4)
      ins(%a, %b : memref<?x64xi8>, memref<3x256x64xi8>)
      scales(%sa, %sb : memref<?x8xf8E4M3FN>, memref<3x256x8xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<?x256xbf16>)
  return
}

// CHECK-LABEL: func @odd_blocks
// CHECK: gq.grouped_mm format(nvfp4) kernel(any) ins(
// OTHER-LABEL: func @odd_blocks
// OTHER: kernel(any)
// REMARK: [Missed]{{.*}}kernel 'any': K = 48 is not a multiple of 32
func.func @odd_blocks(%a: memref<24x24xi8>, %b: memref<3x256x24xi8>,
    %sa: memref<?x4xf8E4M3FN>, %sb: memref<3x256x4xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<24x256xbf16>) {
  gq.grouped_mm format(nvfp4)
      ins(%a, %b : memref<24x24xi8>, memref<3x256x24xi8>)
      scales(%sa, %sb : memref<?x4xf8E4M3FN>, memref<3x256x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<24x256xbf16>)
  return
}

// CHECK-LABEL: func @other_format
// CHECK: gq.grouped_mm format(mxfp8_e4m3) kernel(tiles32) ins(
// OTHER-LABEL: func @other_format
// OTHER: kernel(any)
// REMARK: [Passed]{{.*}}kernel 'tiles32': 64 rows in 3 groups
func.func @other_format(%a: memref<64x64xf8E4M3FN>, %b: memref<3x32x64xf8E4M3FN>,
    %sa: memref<?x4xf8E8M0FNU>, %sb: memref<3x128x4xf8E8M0FNU>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<64x32xbf16>) {
  gq.grouped_mm format(mxfp8_e4m3)
      ins(%a, %b : memref<64x64xf8E4M3FN>, memref<3x32x64xf8E4M3FN>)
      scales(%sa, %sb : memref<?x4xf8E8M0FNU>, memref<3x128x4xf8E8M0FNU>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<64x32xbf16>)
  return
}

// CHECK-LABEL: func @fp8
// CHECK: gq.grouped_mm format(fp8_e4m3_1x128) b_format(fp8_e4m3_128x128) scale_layout(linear) kernel(tiles64) ins(
// OTHER-LABEL: func @fp8
// OTHER: kernel(any)
// REMARK: [Passed]{{.*}}kernel 'tiles64': 160 rows in 3 groups
func.func @fp8(%a: memref<160x256xf8E4M3FN>, %b: memref<3x256x256xf8E4M3FN>,
    %sa: memref<160x2xf32>, %sb: memref<3x2x2xf32>, %o: memref<4xi32>,
    %c: memref<160x256xbf16>) {
  gq.grouped_mm format(fp8_e4m3_1x128) b_format(fp8_e4m3_128x128)
      scale_layout(linear)
      ins(%a, %b : memref<160x256xf8E4M3FN>, memref<3x256x256xf8E4M3FN>)
      scales(%sa, %sb : memref<160x2xf32>, memref<3x2x2xf32>)
      groups(%o : memref<4xi32>) outs(%c : memref<160x256xbf16>)
  return
}

// CHECK-LABEL: func @plain
// CHECK: gq.grouped_mm kernel(tiles128) ins(
// OTHER-LABEL: func @plain
// OTHER: kernel(any)
// REMARK: [Passed]{{.*}}kernel 'tiles128': 2048 rows in 3 groups
func.func @plain(%a: memref<2048x64xf8E4M3FN>, %b: memref<3x32x64xf8E5M2>,
    %o: memref<4xi32>, %c: memref<2048x32xbf16>) {
  gq.grouped_mm
      ins(%a, %b : memref<2048x64xf8E4M3FN>, memref<3x32x64xf8E5M2>)
      groups(%o : memref<4xi32>) outs(%c : memref<2048x32xbf16>)
  return
}

// CHECK-LABEL: func @n_innermost
// CHECK: kernel(any)
// OTHER-LABEL: func @n_innermost
// OTHER: kernel(any)
// REMARK: [Missed]{{.*}}kernel 'any': the other kernels need K innermost in the weights
func.func @n_innermost(%a: memref<24x64xf8E4M3FN>, %b: memref<3x64x32xf8E4M3FN>,
    %sa: memref<?x4xf8E8M0FNU>, %sb: memref<3x128x4xf8E8M0FNU>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<24x32xbf16>) {
  gq.grouped_mm format(mxfp8_e4m3) b_major(n)
      ins(%a, %b : memref<24x64xf8E4M3FN>, memref<3x64x32xf8E4M3FN>)
      scales(%sa, %sb : memref<?x4xf8E8M0FNU>, memref<3x128x4xf8E8M0FNU>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<24x32xbf16>)
  return
}

// An explicit kernel stays, and needs no remark.
// CHECK-LABEL: func @written
// CHECK: gq.grouped_mm format(nvfp4) kernel(any) ins(
// OTHER-LABEL: func @written
// OTHER: kernel(any)
// REMARK-NOT: kernel '
func.func @written(%a: memref<4096x64xi8>, %b: memref<3x256x64xi8>,
    %sa: memref<?x8xf8E4M3FN>, %sb: memref<3x256x8xf8E4M3FN>,
    %o: memref<4xi32>, %so: memref<3xi32>, %c: memref<4096x256xbf16>) {
  gq.grouped_mm format(nvfp4) kernel(any)
      ins(%a, %b : memref<4096x64xi8>, memref<3x256x64xi8>)
      scales(%sa, %sb : memref<?x8xf8E4M3FN>, memref<3x256x8xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%c : memref<4096x256xbf16>)
  return
}
