// No spills and no stack in the kernel of tiles, plain and with a producer, of
// short and of long blocks, in both directions and in one, on the chips of tests.
//
// REQUIRES: ptxas
// MODES: gq-opt
// RUN: for chip in %chips; do for file in ptx-tiles ptxas-tiles; do gq-opt %S/$file.mlir --pass-pipeline="builtin.module(gq-to-nvvm{chip=$chip format=isa})" > %t.$file.$chip; done; done
// RUN: for chip in %chips; do for kernel in 'ptx-tiles 1' 'ptxas-tiles 0' 'ptxas-tiles 1' 'ptxas-tiles 2' 'ptxas-tiles 3' 'ptxas-tiles 4'; do set -- $kernel; %python %S/Inputs/ptx.py $2 < %t.$1.$chip > %t.ptx; %ptxas -v -arch=$chip %t.ptx -o %t.cubin 2>&1; done | FileCheck %s || exit 1; done

// CHECK-COUNT-6: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

#id = affine_map<(m, k) -> (m, k)>
func.func @main(%x: tensor<?x5120xbf16>, %y: tensor<?x5120xbf16>, %o: tensor<129xi64>,
    %q0: tensor<?x5120xf8E4M3FN>, %s0: tensor<?x160xf8E8M0FNU, #gq.tile128x4>,
    %qt0: tensor<?x5120xf8E4M3FN>, %st0: tensor<?xf8E8M0FNU, #gq.tile128x4>)
    -> (tensor<?x5120xf8E4M3FN>, tensor<?x160xf8E8M0FNU, #gq.tile128x4>,
        tensor<?x5120xf8E4M3FN>, tensor<?xf8E8M0FNU, #gq.tile128x4>) {
  %q, %s, %qt, %st = gq.grouped_block_quantize format(mxfp8_e4m3)
      ins(%x, %y : tensor<?x5120xbf16>, tensor<?x5120xbf16>) maps [#id, #id]
      groups(%o : tensor<129xi64>)
      outs(%q0, %s0 : tensor<?x5120xf8E4M3FN>, tensor<?x160xf8E8M0FNU, #gq.tile128x4>)
      columnwise_outs(%qt0, %st0 : tensor<?x5120xf8E4M3FN>, tensor<?xf8E8M0FNU, #gq.tile128x4>)
      -> tensor<?x5120xf8E4M3FN>, tensor<?x160xf8E8M0FNU, #gq.tile128x4>,
         tensor<?x5120xf8E4M3FN>, tensor<?xf8E8M0FNU, #gq.tile128x4>
      producer {
      ^bb0(%a: bf16, %b: bf16):
        %af = arith.extf %a : bf16 to f32
        %bf = arith.extf %b : bf16 to f32
        %r = arith.mulf %af, %bf : f32
        gq.yield %r : f32
      }
  return %q, %s, %qt, %st : tensor<?x5120xf8E4M3FN>, tensor<?x160xf8E8M0FNU, #gq.tile128x4>,
      tensor<?x5120xf8E4M3FN>, tensor<?xf8E8M0FNU, #gq.tile128x4>
}

func.func @long_blocks(%x: tensor<?x5120xbf16>, %y: tensor<?x5120xf32>, %o: tensor<129xi32>,
    %q0: tensor<?x5120xf8E4M3FN>, %s0: tensor<?x40xf32>, %qt0: tensor<?xf8E4M3FN>, %st0: tensor<?xf32>)
    -> (tensor<?x5120xf8E4M3FN>, tensor<?x40xf32>, tensor<?xf8E4M3FN>, tensor<?xf32>) {
  %q, %s, %qt, %st = gq.grouped_block_quantize format(fp8_e4m3_1x128) scale_layout(linear)
      ins(%x, %y : tensor<?x5120xbf16>, tensor<?x5120xf32>) maps [#id, #id]
      groups(%o : tensor<129xi32>)
      outs(%q0, %s0 : tensor<?x5120xf8E4M3FN>, tensor<?x40xf32>)
      columnwise_outs(%qt0, %st0 : tensor<?xf8E4M3FN>, tensor<?xf32>)
      -> tensor<?x5120xf8E4M3FN>, tensor<?x40xf32>, tensor<?xf8E4M3FN>, tensor<?xf32>
      producer {
      ^bb0(%a: bf16, %b: f32):
        %af = arith.extf %a : bf16 to f32
        %r = arith.mulf %af, %b : f32
        gq.yield %r : f32
      }
  return %q, %s, %qt, %st : tensor<?x5120xf8E4M3FN>, tensor<?x40xf32>, tensor<?xf8E4M3FN>, tensor<?xf32>
}

func.func @rows(%x: tensor<?x5120xbf16>, %y: tensor<?x5120xbf16>, %o: tensor<129xi64>, %a: tensor<128xf32>,
    %q0: tensor<?x5120xf4E2M1FN>, %s0: tensor<?x320xf8E4M3FN, #gq.tile128x4>, %d0: tensor<128x5120xf32>)
    -> (tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN, #gq.tile128x4>, tensor<128x5120xf32>) {
  %q, %s, %d = gq.grouped_block_quantize format(nvfp4) recipe(te)
      ins(%x, %y : tensor<?x5120xbf16>, tensor<?x5120xbf16>) maps [#id, #id]
      groups(%o : tensor<129xi64>) outer_amax(%a : tensor<128xf32>)
      outs(%q0, %s0 : tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN, #gq.tile128x4>)
      dbias_out(%d0 : tensor<128x5120xf32>)
      -> tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN, #gq.tile128x4>, tensor<128x5120xf32>
      producer {
      ^bb0(%p: bf16, %r: bf16):
        %pf = arith.extf %p : bf16 to f32
        %rf = arith.extf %r : bf16 to f32
        %one = arith.constant 1.0 : f32
        %n = arith.negf %pf : f32
        %e = math.exp %n : f32
        %sum = arith.addf %e, %one : f32
        %silu = arith.divf %pf, %sum : f32
        %t = arith.mulf %silu, %rf : f32
        %z = arith.truncf %t : f32 to bf16
        gq.yield %z : bf16
      }
  return %q, %s, %d : tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN, #gq.tile128x4>, tensor<128x5120xf32>
}
