// Five warps a CTA, eight, and four: no spills with as many CTAs as there is
// room for. With one more of five warps 72 bytes were spilled.
//
// REQUIRES: ptxas
// MODES: gq-opt
// RUN: for k in 5120 8192 2048; do sed "s/x5120x/x${k}x/; s/x2560x/x$(expr $k / 2)x/; s/x320x/x$(expr $k / 16)x/" %s > %t.mlir; for chip in sm_90a sm_100a; do gq-opt %t.mlir --pass-pipeline="builtin.module(gq-to-nvvm{chip=$chip format=isa})" | %python %S/Inputs/ptx.py > %t.ptx; grep minnctapersm %t.ptx; %ptxas -v -arch=$chip %t.ptx -o %t.cubin 2>&1; done; done | FileCheck %s

// CHECK: .minnctapersm 4
// CHECK: {{^ *}}0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: .minnctapersm 4
// CHECK: {{^ *}}0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: .minnctapersm 3
// CHECK: {{^ *}}0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: .minnctapersm 3
// CHECK: {{^ *}}0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: .minnctapersm 6
// CHECK: {{^ *}}0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// CHECK: .minnctapersm 6
// CHECK: {{^ *}}0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
func.func @f(%x: memref<?x5120xbf16>, %o: memref<9xi32>, %q: memref<?x2560xi8>, %s: memref<?x320xf8E4M3FN>, %r: memref<?xf32>) {
  gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<outer = row>
      ins(%x : memref<?x5120xbf16>) groups(%o : memref<9xi32>)
      outs(%q, %s : memref<?x2560xi8>, memref<?x320xf8E4M3FN>)
      row_amax_out(%r : memref<?xf32>)
  return
}
