// What a producer computes of one input alone, where that takes long, is
// tabulated by kernels of large matrices: each CTA fills a table before it waits
// for the kernel before it, and hooks look elements up. Where M or K is known to
// a launch only there are two kernels, of which it runs one.
//
// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-gpu,cse)' --split-input-file | FileCheck %s
// RUN: gq-opt %s --pass-pipeline='builtin.module(convert-gq-to-gpu,gpu.module(convert-gpu-to-nvvm))' --split-input-file > /dev/null

// What is tabulated is exact; the rest, which takes its value as one more
// element, has no division. What is not in the table is computed as before.
// CHECK-LABEL: gpu.module @gq_kernels_0
// CHECK: llvm.func internal @elements(
// CHECK-SAME: %[[G0:[^ ]*]]: f32, %[[U0:[^ ]*]]: f32, %[[T0:[^ ]*]]: f32, %[[G1:[^ ]*]]: f32,
// CHECK-SAME: -> i32
// CHECK-NOT: gq_dev_divide4
// CHECK: arith.mulf %[[T0]], %[[U0]] : f32
// CHECK-NOT: gq_dev_divide4
// CHECK: llvm.func internal @tabulated(
// CHECK-SAME: %[[X0:[^ ]*]]: f32, %[[X1:[^ ]*]]: f32, %[[X2:[^ ]*]]: f32, %[[X3:[^ ]*]]: f32, %[[OUT:[^ ]*]]: !llvm.ptr)
// CHECK-COUNT-4: llvm.call @gq_dev_exp_plus(
// CHECK: llvm.call @gq_dev_divide4_by_more(
// CHECK: llvm.store %{{.*}}, %{{.*}} : f32, !llvm.ptr
// CHECK: llvm.func internal @fill_table()
// CHECK: llvm.call @gq_dev_fill_table(
// CHECK: llvm.func internal @one_element(%[[X:[^ ]*]]: f32, %[[Y:[^ ]*]]: f32) -> f32
// CHECK: arith.divf
// CHECK: llvm.func internal @load16(
// CHECK: %[[FOUND:.*]] = llvm.call @gq_dev_look_up16(%[[HELD:.*]], %[[VALUES:.*]])
// CHECK: llvm.and %{{.*}}, %[[FOUND]]
// CHECK: llvm.func @grouped_block_quantize_table(
// CHECK-SAME: nvvm.maxntid = array<i32: 640>, nvvm.minctasm = 1
// CHECK: llvm.alloca
// CHECK: llvm.call @fill_table()
// CHECK-NEXT: griddepcontrol.wait
// CHECK-LABEL: func.func @large
// CHECK: call @gqPlanLaunch(%c0_i64, %c8192_i64, %c5120_i64, %c128_i64, %c4_i64, %c2_i64,
// CHECK: gpu.launch_func {{.*}}@grouped_block_quantize_table blocks in (%{{.*}}) threads in (%c640_i64,
// CHECK-NOT: gpu.launch_func
func.func @large(%u: memref<8192x5120xbf16>, %v: memref<8192x5120xbf16>,
    %o: memref<129xi32>, %so: memref<128xi32>, %q: memref<8192x2560xi8>,
    %s: memref<?x320xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4)
      ins(%u, %v : memref<8192x5120xbf16>, memref<8192x5120xbf16>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : memref<129xi32>, memref<128xi32>)
      outs(%q, %s : memref<8192x2560xi8>, memref<?x320xf8E4M3FN>) producer {
  ^bb0(%a: bf16, %b: bf16):
    %one = arith.constant 1.0 : f32
    %gate = arith.extf %a : bf16 to f32
    %up = arith.extf %b : bf16 to f32
    %neg = arith.negf %gate : f32
    %exp = math.exp %neg : f32
    %den = arith.addf %exp, %one : f32
    %silu = arith.divf %gate, %den : f32
    %product = arith.mulf %silu, %up : f32
    %r = arith.truncf %product : f32 to bf16
    gq.yield %r : bf16
  }
  return
}

// -----

// Few elements: filling a table would take longer.
// CHECK-LABEL: func.func @small
// CHECK: call @gqPlanLaunch(%c0_i64, %c128_i64, %c5120_i64, %c128_i64, %c4_i64, %c0_i64,
// CHECK: gpu.launch_func {{.*}}@grouped_block_quantize blocks
// CHECK-NOT: gpu.launch_func
func.func @small(%u: memref<128x5120xbf16>, %v: memref<128x5120xbf16>,
    %o: memref<129xi32>, %so: memref<128xi32>, %q: memref<128x2560xi8>,
    %s: memref<?x320xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4)
      ins(%u, %v : memref<128x5120xbf16>, memref<128x5120xbf16>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : memref<129xi32>, memref<128xi32>)
      outs(%q, %s : memref<128x2560xi8>, memref<?x320xf8E4M3FN>) producer {
  ^bb0(%a: bf16, %b: bf16):
    %gate = arith.extf %a : bf16 to f32
    %up = arith.extf %b : bf16 to f32
    %t = math.tanh %gate : f32
    %product = arith.mulf %t, %up : f32
    %r = arith.truncf %product : f32 to bf16
    gq.yield %r : bf16
  }
  return
}

// -----

// Of the second input, rounded to bf16 before it is multiplied: the table has
// what was rounded. Its hook loads ahead, that of the other kernel does not,
// which calls a function of some length.
// CHECK-LABEL: gpu.module @gq_kernels_1
// CHECK-NOT: gq_dev_look_up16
// CHECK: llvm.func @grouped_block_quantize(
// CHECK-LABEL: gpu.module @gq_kernels_0
// CHECK: llvm.func internal @tabulated(
// CHECK-COUNT-4: math.tanh
// CHECK: llvm.call @gq_dev_round4_to_bf16(
// CHECK: llvm.func internal @load16(
// CHECK: %[[HELD:.*]] = llvm.getelementptr %{{.*}}[4]
// CHECK: llvm.call @gq_dev_look_up16(%[[HELD]],
// CHECK-LABEL: func.func @either
// CHECK: %[[LARGE:.*]]:2 = call @gqPlanLaunch(%c0_i64, %[[M:[^,]*]], %c5120_i64, %{{[^,]*}}, %c4_i64, %c2_i64,
// CHECK: gpu.launch_func {{.*}}@gq_kernels_0::@grouped_block_quantize_table blocks in (%[[LARGE]]#0,
// CHECK: %[[SMALL:.*]]:2 = call @gqPlanLaunch(%c0_i64, %[[M]], %c5120_i64, %{{[^,]*}}, %c4_i64, %c1_i64,
// CHECK: gpu.launch_func {{.*}}@gq_kernels_1::@grouped_block_quantize blocks in (%[[SMALL]]#0,
func.func @either(%u: memref<?x5120xbf16>, %v: memref<?x5120xbf16>,
    %o: memref<?xi32>, %so: memref<?xi32>, %q: memref<?x2560xi8>,
    %s: memref<?x320xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4)
      ins(%u, %v : memref<?x5120xbf16>, memref<?x5120xbf16>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : memref<?xi32>, memref<?xi32>)
      outs(%q, %s : memref<?x2560xi8>, memref<?x320xf8E4M3FN>) producer {
  ^bb0(%a: bf16, %b: bf16):
    %half = arith.constant 0.5 : f32
    %gate = arith.extf %b : bf16 to f32
    %t = math.tanh %gate : f32
    %s0 = arith.mulf %t, %half : f32
    %low = arith.truncf %s0 : f32 to bf16
    %product = arith.mulf %low, %a : bf16
    gq.yield %product : bf16
  }
  return
}

// -----

// Approximations are tabulated, too.
// CHECK: llvm.func internal @tabulated(
// CHECK-COUNT-4: math.exp %{{.*}} fastmath<afn>
// CHECK: llvm.func internal @fill_table()
// CHECK-LABEL: func.func @approximate
func.func @approximate(%u: memref<8192x5120xbf16>, %o: memref<129xi32>,
    %so: memref<128xi32>, %q: memref<8192x2560xi8>, %s: memref<?x320xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4) ins(%u : memref<8192x5120xbf16>)
      maps [affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : memref<129xi32>, memref<128xi32>)
      outs(%q, %s : memref<8192x2560xi8>, memref<?x320xf8E4M3FN>) producer {
  ^bb0(%a: bf16):
    %x = arith.extf %a : bf16 to f32
    %e = math.exp %x fastmath<afn> : f32
    %r = arith.truncf %e : f32 to bf16
    gq.yield %r : bf16
  }
  return
}

// -----

// With an outer scale, too, for which other hooks that load ahead have no
// registers.
// CHECK: llvm.call @gq_dev_look_up16(
// CHECK-LABEL: func.func @outer
func.func @outer(%u: memref<8192x5120xbf16>, %amax: memref<128xf32>,
    %o: memref<129xi32>, %so: memref<128xi32>, %q: memref<8192x2560xi8>,
    %s: memref<?x320xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4) recipe(te)
      ins(%u : memref<8192x5120xbf16>) maps [affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : memref<129xi32>, memref<128xi32>)
      outer_amax(%amax : memref<128xf32>)
      outs(%q, %s : memref<8192x2560xi8>, memref<?x320xf8E4M3FN>) producer {
  ^bb0(%a: bf16):
    %x = arith.extf %a : bf16 to f32
    %t = math.tanh %x : f32
    %r = arith.truncf %t : f32 to bf16
    gq.yield %r : bf16
  }
  return
}

// -----

// Nothing is tabulated: two functions of one input (@two), a division of both
// (@both), an input of f16 (@half), no function at all (@none), memory (@memory),
// what may be rounded together with a product (@contracted), packed scales
// (@packed).
// CHECK-NOT: gq_dev_look_up16
// CHECK-LABEL: func.func @two
func.func @two(%u: memref<8192x5120xbf16>, %v: memref<8192x5120xbf16>,
    %o: memref<129xi32>, %so: memref<128xi32>, %q: memref<8192x2560xi8>,
    %s: memref<?x320xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4)
      ins(%u, %v : memref<8192x5120xbf16>, memref<8192x5120xbf16>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : memref<129xi32>, memref<128xi32>)
      outs(%q, %s : memref<8192x2560xi8>, memref<?x320xf8E4M3FN>) producer {
  ^bb0(%a: bf16, %b: bf16):
    %x = arith.extf %a : bf16 to f32
    %y = arith.extf %b : bf16 to f32
    %t = math.tanh %x : f32
    %e = math.exp %x : f32
    %p = arith.mulf %t, %y : f32
    %d = arith.addf %p, %e : f32
    %r = arith.truncf %d : f32 to bf16
    gq.yield %r : bf16
  }
  return
}

func.func @both(%u: memref<8192x5120xbf16>, %v: memref<8192x5120xbf16>,
    %o: memref<129xi32>, %so: memref<128xi32>, %q: memref<8192x2560xi8>,
    %s: memref<?x320xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4)
      ins(%u, %v : memref<8192x5120xbf16>, memref<8192x5120xbf16>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : memref<129xi32>, memref<128xi32>)
      outs(%q, %s : memref<8192x2560xi8>, memref<?x320xf8E4M3FN>) producer {
  ^bb0(%a: bf16, %b: bf16):
    %x = arith.extf %a : bf16 to f32
    %y = arith.extf %b : bf16 to f32
    %t = math.tanh %x : f32
    %d = arith.divf %t, %y : f32
    %r = arith.truncf %d : f32 to bf16
    gq.yield %r : bf16
  }
  return
}

func.func @half(%u: memref<8192x5120xbf16>, %v: memref<8192x5120xf16>,
    %o: memref<129xi32>, %so: memref<128xi32>, %q: memref<8192x2560xi8>,
    %s: memref<?x320xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4)
      ins(%u, %v : memref<8192x5120xbf16>, memref<8192x5120xf16>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : memref<129xi32>, memref<128xi32>)
      outs(%q, %s : memref<8192x2560xi8>, memref<?x320xf8E4M3FN>) producer {
  ^bb0(%a: bf16, %b: f16):
    %x = arith.extf %a : bf16 to f32
    %y = arith.extf %b : f16 to f32
    %t = math.tanh %y : f32
    %d = arith.mulf %t, %x : f32
    %r = arith.truncf %d : f32 to bf16
    gq.yield %r : bf16
  }
  return
}

func.func @none(%u: memref<8192x5120xbf16>, %v: memref<8192x5120xbf16>,
    %o: memref<129xi32>, %so: memref<128xi32>, %q: memref<8192x2560xi8>,
    %s: memref<?x320xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4)
      ins(%u, %v : memref<8192x5120xbf16>, memref<8192x5120xbf16>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : memref<129xi32>, memref<128xi32>)
      outs(%q, %s : memref<8192x2560xi8>, memref<?x320xf8E4M3FN>) producer {
  ^bb0(%a: bf16, %b: bf16):
    %x = arith.extf %a : bf16 to f32
    %y = arith.extf %b : bf16 to f32
    %e = math.absf %x : f32
    %d = arith.mulf %e, %y : f32
    %r = arith.truncf %d : f32 to bf16
    gq.yield %r : bf16
  }
  return
}

func.func @memory(%u: memref<8192x5120xbf16>, %v: memref<8192x5120xbf16>,
    %o: memref<129xi32>, %so: memref<128xi32>, %q: memref<8192x2560xi8>,
    %s: memref<?x320xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4)
      ins(%u, %v : memref<8192x5120xbf16>, memref<8192x5120xbf16>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : memref<129xi32>, memref<128xi32>)
      outs(%q, %s : memref<8192x2560xi8>, memref<?x320xf8E4M3FN>) producer {
  ^bb0(%a: bf16, %b: bf16):
    %x = arith.extf %a : bf16 to f32
    %y = arith.extf %b : bf16 to f32
    %p = memref.alloca() : memref<f32>
    memref.store %y, %p[] : memref<f32>
    %z = memref.load %p[] : memref<f32>
    %t = math.tanh %x : f32
    %d = arith.mulf %t, %z : f32
    %r = arith.truncf %d : f32 to bf16
    gq.yield %r : bf16
  }
  return
}

func.func @contracted(%u: memref<8192x5120xbf16>, %v: memref<8192x5120xbf16>,
    %o: memref<129xi32>, %so: memref<128xi32>, %q: memref<8192x2560xi8>,
    %s: memref<?x320xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4)
      ins(%u, %v : memref<8192x5120xbf16>, memref<8192x5120xbf16>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : memref<129xi32>, memref<128xi32>)
      outs(%q, %s : memref<8192x2560xi8>, memref<?x320xf8E4M3FN>) producer {
  ^bb0(%a: bf16, %b: bf16):
    %x = arith.extf %a : bf16 to f32
    %y = arith.extf %b : bf16 to f32
    %t = math.tanh %x : f32
    %p = arith.mulf %t, %x fastmath<contract> : f32
    %d = arith.addf %p, %y fastmath<contract> : f32
    %r = arith.truncf %d : f32 to bf16
    gq.yield %r : bf16
  }
  return
}

func.func @packed(%u: memref<8192x5120xbf16>, %v: memref<8192x5120xbf16>,
    %o: memref<129xi32>, %q: memref<8192x2560xi8>,
    %s: memref<?x320xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4)
      ins(%u, %v : memref<8192x5120xbf16>, memref<8192x5120xbf16>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (m, k)>]
      groups(%o : memref<129xi32>)
      outs(%q, %s : memref<8192x2560xi8>, memref<?x320xf8E4M3FN>) producer {
  ^bb0(%a: bf16, %b: bf16):
    %x = arith.extf %a : bf16 to f32
    %y = arith.extf %b : bf16 to f32
    %t = math.tanh %x : f32
    %d = arith.mulf %t, %y : f32
    %r = arith.truncf %d : f32 to bf16
    gq.yield %r : bf16
  }
  return
}
