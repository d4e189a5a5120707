// Kernels of the matmul that compute silu(gate) * up where they store it: no
// spills, no stack, and no wgmma after which ptxas has to wait.
//
// REQUIRES: ptxas
// MODES: gq-opt
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' > %t.mlir
// RUN: for i in 0 1 2 3 4 5 6 7; do %python %S/Inputs/ptx.py $i < %t.mlir > %t.$i.ptx; %ptxas -v -arch=sm_90a %t.$i.ptx -o %t.cubin 2>&1; done | FileCheck %s
// RUN: cat %t.*.ptx | FileCheck %s --check-prefix=PTX

// The kernels of the last op are the first ones.
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_tiles128'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used 168 registers
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_tiles64'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_decode16'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_decode8'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_tiles128'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used 168 registers
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_tiles64'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used 168 registers
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_decode16'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used {{[789][0-9]}} registers
// CHECK-NOT: {{C75|serializ}}
// CHECK: 'grouped_mm_decode8'
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: Used {{[789][0-9]}} registers

// PTX: div.rn.f32
func.func @mm(%a: tensor<?x5120xf4E2M1FN>, %b: tensor<16x8192x5120xf4E2M1FN>,
    %sa: tensor<?x320xf8E4M3FN, #gq.tile128x4>,
    %sb: tensor<16x8192x320xf8E4M3FN, #gq.tile128x4>, %o: tensor<17xi32>,
    %so: tensor<16xi32>, %c0: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  %c = gq.grouped_mm format(nvfp4) pairs(interleaved)
      ins(%a, %b : tensor<?x5120xf4E2M1FN>, tensor<16x8192x5120xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x320xf8E4M3FN, #gq.tile128x4>,
                        tensor<16x8192x320xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<17xi32>, tensor<16xi32>)
      epilogue {
      ^bb0(%x: bf16, %y: bf16):
        %one = arith.constant 1.0 : f32
        %gate = arith.extf %x : bf16 to f32
        %up = arith.extf %y : bf16 to f32
        %neg = arith.negf %gate : f32
        %exp = math.exp %neg : f32
        %den = arith.addf %exp, %one : f32
        %silu = arith.divf %gate, %den : f32
        %product = arith.mulf %silu, %up : f32
        %r = arith.truncf %product : f32 to bf16
        gq.yield %r : bf16
      }
      outs(%c0 : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
  return %c : tensor<?x4096xbf16>
}

// With a bias it is tiles64 that many rows have.
func.func @bias(%a: tensor<?x5120xf4E2M1FN>, %b: tensor<16x8192x5120xf4E2M1FN>,
    %sa: tensor<?x160xf8E8M0FNU, #gq.tile128x4>,
    %sb: tensor<16x8192x160xf8E8M0FNU, #gq.tile128x4>, %o: tensor<17xi32>,
    %so: tensor<16xi32>, %bias: tensor<16x8192xbf16>,
    %c0: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  %c = gq.grouped_mm format(mxfp4) pairs(interleaved)
      ins(%a, %b : tensor<?x5120xf4E2M1FN>, tensor<16x8192x5120xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x160xf8E8M0FNU, #gq.tile128x4>,
                        tensor<16x8192x160xf8E8M0FNU, #gq.tile128x4>)
      groups(%o, %so : tensor<17xi32>, tensor<16xi32>)
      bias(%bias : tensor<16x8192xbf16>)
      epilogue {
      ^bb0(%x: bf16, %y: bf16):
        %one = arith.constant 1.0 : f32
        %gate = arith.extf %x : bf16 to f32
        %up = arith.extf %y : bf16 to f32
        %neg = arith.negf %gate : f32
        %exp = math.exp %neg : f32
        %den = arith.addf %exp, %one : f32
        %silu = arith.divf %gate, %den : f32
        %product = arith.mulf %silu, %up : f32
        %r = arith.truncf %product : f32 to bf16
        gq.yield %r : bf16
      }
      outs(%c0 : tensor<?x4096xbf16>) -> tensor<?x4096xbf16>
  return %c : tensor<?x4096xbf16>
}

// With weights of tokens it is tiles128.
func.func @row_scales(%a: tensor<65536x5120xf4E2M1FN>, %b: tensor<16x8192x5120xf4E2M1FN>,
    %sa: tensor<?x320xf8E4M3FN, #gq.tile128x4>,
    %sb: tensor<16x8192x320xf8E4M3FN, #gq.tile128x4>, %o: tensor<17xi32>,
    %so: tensor<16xi32>, %weights: tensor<65536xf32>,
    %c0: tensor<65536x4096xbf16>) -> tensor<65536x4096xbf16> {
  %c = gq.grouped_mm format(nvfp4) pairs(interleaved)
      ins(%a, %b : tensor<65536x5120xf4E2M1FN>, tensor<16x8192x5120xf4E2M1FN>)
      scales(%sa, %sb : tensor<?x320xf8E4M3FN, #gq.tile128x4>,
                        tensor<16x8192x320xf8E4M3FN, #gq.tile128x4>)
      groups(%o, %so : tensor<17xi32>, tensor<16xi32>)
      row_scales(%weights : tensor<65536xf32>)
      epilogue {
      ^bb0(%x: bf16, %y: bf16):
        %one = arith.constant 1.0 : f32
        %gate = arith.extf %x : bf16 to f32
        %up = arith.extf %y : bf16 to f32
        %neg = arith.negf %gate : f32
        %exp = math.exp %neg : f32
        %den = arith.addf %exp, %one : f32
        %silu = arith.divf %gate, %den : f32
        %product = arith.mulf %silu, %up : f32
        %r = arith.truncf %product : f32 to bf16
        gq.yield %r : bf16
      }
      outs(%c0 : tensor<65536x4096xbf16>) -> tensor<65536x4096xbf16>
  return %c : tensor<65536x4096xbf16>
}
