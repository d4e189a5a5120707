// No spills and no stack for rows of mxfp4, whose blocks with the largest scale
// have a branch of their own.
//
// REQUIRES: ptxas
// MODES: gq-opt
// RUN: for chip in %chips; do gq-opt %s --pass-pipeline="builtin.module(gq-to-nvvm{chip=$chip format=isa})" | %python %S/Inputs/ptx.py > %t.ptx; %ptxas -v -arch=$chip %t.ptx -o %t.cubin 2>&1 | FileCheck %s || exit 1; done

// CHECK: {{^ *}}0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

func.func @main(%x: tensor<?x256xbf16>, %offsets: tensor<?xi32>,
                %sf_offsets: tensor<?xi32>,
                %q0: tensor<?x256xf4E2M1FN>,
                %sf0: tensor<?x8xf8E8M0FNU, #gq.tile128x4>)
    -> (tensor<?x256xf4E2M1FN>, tensor<?x8xf8E8M0FNU, #gq.tile128x4>) {
  %q, %sf = gq.grouped_block_quantize format(mxfp4)
      ins(%x : tensor<?x256xbf16>)
      groups(%offsets, %sf_offsets : tensor<?xi32>, tensor<?xi32>)
      outs(%q0, %sf0 : tensor<?x256xf4E2M1FN>,
                       tensor<?x8xf8E8M0FNU, #gq.tile128x4>)
      -> tensor<?x256xf4E2M1FN>, tensor<?x8xf8E8M0FNU, #gq.tile128x4>
  return %q, %sf : tensor<?x256xf4E2M1FN>,
                   tensor<?x8xf8E8M0FNU, #gq.tile128x4>
}
