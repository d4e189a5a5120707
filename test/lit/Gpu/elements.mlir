// What four elements of a producer are computed by.
//
// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-gpu)' --split-input-file | FileCheck %s

// A division becomes one call, but those that need not be rounded; what is
// yielded is rounded in pairs.
// CHECK-LABEL: llvm.func internal @elements(
// CHECK-SAME: %[[X0:[^ ]*]]: f32, %[[Y0:[^ ]*]]: f32, %[[X1:[^ ]*]]: f32, %[[Y1:[^ ]*]]: f32,
// CHECK-SAME: %[[OUT:[^ ]*]]: !llvm.ptr)
// CHECK: %[[A:.*]] = llvm.alloca
// CHECK: %[[B:.*]] = llvm.alloca
// CHECK: %[[Q:.*]] = llvm.alloca
// CHECK: %[[A0:.*]] = llvm.getelementptr %[[A]][0]
// CHECK-NEXT: llvm.store %[[X0]], %[[A0]]
// CHECK-NEXT: %[[B0:.*]] = llvm.getelementptr %[[B]][0]
// CHECK-NEXT: llvm.store %[[Y0]], %[[B0]]
// CHECK-NEXT: %[[A1:.*]] = llvm.getelementptr %[[A]][1]
// CHECK-NEXT: llvm.store %[[X1]], %[[A1]]
// CHECK: llvm.call @gq_dev_divide4(%[[A]], %[[B]], %[[Q]])
// CHECK-NEXT: %[[Q0:.*]] = llvm.getelementptr %[[Q]][0]
// CHECK-NEXT: %[[D0:.*]] = llvm.load %[[Q0]]
// CHECK-NOT: gq_dev_divide4
// CHECK: %[[F0:.*]] = arith.divf %[[D0]], %[[Y0]] fastmath<arcp,afn>
// CHECK: %[[R:.*]] = llvm.alloca
// CHECK-NEXT: %[[R0:.*]] = llvm.getelementptr %[[R]][0]
// CHECK-NEXT: llvm.store %[[F0]], %[[R0]]
// CHECK: llvm.call @gq_dev_round4_to_bf16(%[[R]], %[[OUT]])
// CHECK-NEXT: llvm.return
func.func @division(%x: memref<?x64xf16>, %y: memref<?x64xf16>,
    %o: memref<?xi64>, %so: memref<?xi64>, %q: memref<?x32xi8>,
    %s: memref<?x4xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4)
      ins(%x, %y : memref<?x64xf16>, memref<?x64xf16>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : memref<?xi64>, memref<?xi64>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>) producer {
  ^bb0(%e: f16, %f: f16):
    %a = arith.extf %e : f16 to f32
    %b = arith.extf %f : f16 to f32
    %d = arith.divf %a, %b : f32
    %g = arith.divf %d, %b fastmath<arcp,afn> : f32
    %r = arith.truncf %g : f32 to bf16
    gq.yield %r : bf16
  }
  return
}

// -----

// The same of two matrices of bf16: the hook computes what was loaded before,
// loads ahead, and computes again, one by one, where a quotient may be wrong.
// CHECK-LABEL: llvm.func internal @elements(
// CHECK-SAME: -> i32
// CHECK: %[[USUAL:.*]] = llvm.call @gq_dev_divide4_usual(%{{.*}}) : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
// CHECK: %[[ALL:.*]] = arith.andi %{{.*}}, %[[USUAL]] : i32
// CHECK: llvm.return %[[ALL]] : i32
// CHECK: llvm.func internal @one_element(%[[X:[^ ]*]]: f32, %[[Y:[^ ]*]]: f32) -> f32
// CHECK: arith.divf %[[X]], %[[Y]] : f32
// CHECK: llvm.func internal @load16(
// CHECK-COUNT-2: llvm.call @gq_dev_unpack16(
// CHECK-COUNT-4: llvm.call @elements(
// CHECK: llvm.call @gq_dev_pack16(
// CHECK-COUNT-2: llvm.call @gq_dev_load16_bf16(
// CHECK-COUNT-2: llvm.call @gq_dev_shift16(
// CHECK: llvm.call @one_element(
// CHECK: llvm.call @gq_dev_shift16(
// CHECK: llvm.func internal @load16_unaligned(
// CHECK: llvm.func @grouped_block_quantize(
// CHECK-SAME: nvvm.minctasm = 5 : i32
func.func @ahead(%x: memref<?x64xbf16>, %y: memref<?x64xbf16>,
    %o: memref<?xi64>, %so: memref<?xi64>, %q: memref<?x32xi8>,
    %s: memref<?x4xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4)
      ins(%x, %y : memref<?x64xbf16>, memref<?x64xbf16>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : memref<?xi64>, memref<?xi64>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>) producer {
  ^bb0(%e: bf16, %f: bf16):
    %a = arith.extf %e : bf16 to f32
    %b = arith.extf %f : bf16 to f32
    %d = arith.divf %a, %b : f32
    %g = arith.divf %d, %b fastmath<arcp,afn> : f32
    %r = arith.truncf %g : f32 to bf16
    gq.yield %r : bf16
  }
  return
}

// -----

// Approximations need fewer registers: six CTAs, and nothing is computed again.
// CHECK-LABEL: llvm.func internal @elements(
// CHECK-NOT: gq_dev_divide4
// CHECK: llvm.func internal @load16(
// CHECK: llvm.call @gq_dev_unpack16(
// CHECK: llvm.func @grouped_block_quantize(
// CHECK-SAME: nvvm.minctasm = 6 : i32
func.func @approximate(%x: memref<128x64xbf16>, %y: memref<128x64xbf16>,
    %o: memref<?xi64>, %so: memref<?xi64>, %q: memref<128x32xi8>,
    %s: memref<?x4xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4)
      ins(%x, %y : memref<128x64xbf16>, memref<128x64xbf16>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : memref<?xi64>, memref<?xi64>)
      outs(%q, %s : memref<128x32xi8>, memref<?x4xf8E4M3FN>) producer {
  ^bb0(%e: bf16, %f: bf16):
    %a = arith.extf %e : bf16 to f32
    %b = arith.extf %f : bf16 to f32
    %c = math.exp %a fastmath<contract,afn> : f32
    %d = arith.divf %c, %b fastmath<arcp,afn> : f32
    %r = arith.truncf %d : f32 to bf16
    gq.yield %r : bf16
  }
  return
}

// -----

// A function takes registers: nothing is loaded ahead (where nothing is tabulated
// either, table.mlir).
// CHECK-LABEL: llvm.func internal @elements(
// CHECK-NOT: gq_dev_unpack16
// CHECK: llvm.func @grouped_block_quantize(
// CHECK-NOT: nvvm.minctasm
// CHECK: llvm.return
func.func @function(%x: memref<128x64xbf16>, %y: memref<128x64xbf16>,
    %o: memref<?xi64>, %so: memref<?xi64>, %q: memref<128x32xi8>,
    %s: memref<?x4xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4)
      ins(%x, %y : memref<128x64xbf16>, memref<128x64xbf16>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : memref<?xi64>, memref<?xi64>)
      outs(%q, %s : memref<128x32xi8>, memref<?x4xf8E4M3FN>) producer {
  ^bb0(%e: bf16, %f: bf16):
    %a = arith.extf %e : bf16 to f32
    %b = arith.extf %f : bf16 to f32
    %c = math.erf %a fastmath<afn> : f32
    %d = arith.mulf %c, %b : f32
    %r = arith.truncf %d : f32 to bf16
    gq.yield %r : bf16
  }
  return
}

// -----

// Rounded to bf16 in between; an input in its own type; a division of f16 is
// the compiler's.
// CHECK-LABEL: llvm.func internal @elements(
// CHECK-SAME: %[[X0:[^ ]*]]: f32, %[[Y0:[^ ]*]]: f32,
// CHECK: %[[S0:.*]] = arith.mulf %[[X0]], %[[X0]] : f32
// CHECK: %[[R0:.*]] = llvm.call @gq_dev_rounded_to_bf16(%[[S0]])
// CHECK-COUNT-3: llvm.call @gq_dev_rounded_to_bf16(
// CHECK: arith.addf %[[R0]], %[[X0]]
// CHECK: %[[I0:.*]] = arith.bitcast %[[X0]] : f32 to i32
// CHECK: %[[H0:.*]] = arith.shrui %[[I0]], %{{.*}} : i32
// CHECK: %[[T0:.*]] = arith.trunci %[[H0]] : i32 to i16
// CHECK: %[[B0:.*]] = arith.bitcast %[[T0]] : i16 to bf16
// CHECK: arith.cmpf ogt, %[[B0]], %{{.*}} : bf16
// CHECK: %[[N0:.*]] = arith.truncf %[[Y0]] : f32 to f16
// CHECK: %[[M0:.*]] = arith.truncf %[[Y0]] : f32 to f16
// CHECK-NEXT: arith.divf %[[N0]], %[[M0]] : f16
// CHECK-NOT: gq_dev_divide4
// CHECK: llvm.return
func.func @types(%x: memref<?x64xbf16>, %y: memref<64xf16>,
    %o: memref<?xi64>, %so: memref<?xi64>, %q: memref<?x32xi8>,
    %s: memref<?x4xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4)
      ins(%x, %y : memref<?x64xbf16>, memref<64xf16>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>]
      groups(%o, %so : memref<?xi64>, memref<?xi64>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>) producer {
  ^bb0(%e: bf16, %f: f16):
    %a = arith.extf %e : bf16 to f32
    %square = arith.mulf %a, %a : f32
    %rounded = arith.truncf %square : f32 to bf16
    %b = arith.extf %rounded : bf16 to f32
    %sum = arith.addf %b, %a : f32
    %c = arith.cmpf ogt, %e, %e : bf16
    %h = arith.divf %f, %f : f16
    %w = arith.extf %h : f16 to f32
    %r = arith.select %c, %sum, %w : f32
    gq.yield %r : f32
  }
  return
}

// -----

// A sigmoid: the sum of exp and 1 is one call, and what is divided by it is
// divided by more than 1. What may be less exact is the compiler's.
// CHECK-LABEL: llvm.func internal @elements(
// CHECK: %[[E0:.*]] = llvm.call @gq_dev_exp_plus(%{{.*}}, %{{.*}}) : (f32, f32) -> f32
// CHECK-COUNT-3: llvm.call @gq_dev_exp_plus(
// CHECK: llvm.store %[[E0]],
// CHECK: llvm.call @gq_dev_divide4_by_more(
// CHECK-COUNT-4: llvm.call @gq_dev_exp_plus(
// CHECK: llvm.call @gq_dev_divide4(
// CHECK-NOT: gq_dev_exp_plus
// CHECK: math.exp %{{.*}} fastmath<afn>
// CHECK: arith.addf
// CHECK: llvm.call @gq_dev_divide4(
// CHECK-NOT: gq_dev_exp_plus
// CHECK: llvm.return
func.func @sigmoid(%x: memref<?x64xf32>, %o: memref<?xi64>,
    %so: memref<?xi64>, %q: memref<?x32xi8>, %s: memref<?x4xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<?x64xf32>)
      maps [affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : memref<?xi64>, memref<?xi64>)
      outs(%q, %s : memref<?x32xi8>, memref<?x4xf8E4M3FN>) producer {
  ^bb0(%e: f32):
    %one = arith.constant 1.0 : f32
    %half = arith.constant 0.5 : f32
    %tiny = arith.constant 1.0e-30 : f32
    %n = arith.negf %e : f32
    %p = math.exp %n : f32
    %a = arith.addf %p, %one : f32
    %b = arith.divf %e, %a : f32
    %c = arith.addf %half, %p : f32
    %d = arith.divf %b, %c : f32
    %f = math.exp %n fastmath<afn> : f32
    %g = arith.addf %f, %one : f32
    %h = arith.divf %d, %g : f32
    %i = arith.addf %p, %tiny : f32
    %r = arith.addf %h, %i : f32
    gq.yield %r : f32
  }
  return
}

// -----

// What regions read are the element's values, in the types that they have there.
// CHECK-LABEL: llvm.func internal @elements(
// CHECK-SAME: %[[A:[^ ]*]]: f32, %[[B:[^ ]*]]: f32,
// CHECK: %[[P:.*]] = arith.cmpf ogt, %[[B]]
// CHECK: %[[BITS:.*]] = arith.bitcast %[[A]] : f32 to i32
// CHECK: %[[UPPER:.*]] = arith.shrui %[[BITS]]
// CHECK: %[[HALF:.*]] = arith.trunci %[[UPPER]]
// CHECK: %[[BF16:.*]] = arith.bitcast %[[HALF]] : i16 to bf16
// CHECK: scf.if %[[P]]
// CHECK-NEXT: arith.extf %[[BF16]] : bf16 to f32
// CHECK: arith.negf %[[B]]
func.func @regions(%x: memref<?x64xbf16>, %y: memref<?x64xf32>,
    %o: memref<4xi32>, %q: memref<?x64xf8E4M3FN>, %t: memref<?x4xf8E8M0FNU>) {
  gq.grouped_block_quantize format(mxfp8_e4m3)
      ins(%x, %y : memref<?x64xbf16>, memref<?x64xf32>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o : memref<4xi32>)
      outs(%q, %t : memref<?x64xf8E4M3FN>, memref<?x4xf8E8M0FNU>)
    producer {
    ^bb0(%a: bf16, %b: f32):
      %zero = arith.constant 0.0 : f32
      %p = arith.cmpf ogt, %b, %zero : f32
      %c = scf.if %p -> f32 {
        %wide = arith.extf %a : bf16 to f32
        scf.yield %wide : f32
      } else {
        %n = arith.negf %b : f32
        scf.yield %n : f32
      }
      gq.yield %c : f32
    }
  return
}
