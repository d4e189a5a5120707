// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-protect-arguments,gq-fuse-producers,gq-pack-subbyte,one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map},convert-gq-to-gpu)' | FileCheck %s --check-prefix=GPU
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' | %python %S/Inputs/ptx.py > %t.sm_90a
// RUN: gq-opt %s --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_100a format=isa})' | %python %S/Inputs/ptx.py > %t.sm_100a
// RUN: FileCheck %s --implicit-check-not='call' --implicit-check-not=.local --implicit-check-not='.entry' < %t.sm_90a
// RUN: FileCheck %s --implicit-check-not='call' --implicit-check-not=.local --implicit-check-not='.entry' < %t.sm_100a

// The index once, then what is gathered by it; the column of the row itself.
// GPU: llvm.func internal @load16(
// GPU: %[[SOURCE:.*]] = llvm.call @gq_dev_source_row(
// GPU-NOT: @gq_dev_source_row
// GPU: llvm.call @gq_dev_gathered_element(%{{.*}}, %[[SOURCE]], %{{.*}}) : (!llvm.ptr, i64, i64) -> !llvm.ptr<1>
// GPU: %[[HOOK:.*]] = llvm.mlir.addressof @gq_dev_load16_bf16 : !llvm.ptr
// GPU: llvm.call @gq_dev_load16_gathered(%[[HOOK]], %{{.*}}, %[[SOURCE]], %{{.*}}, %{{.*}})
// GPU: llvm.func internal @load16_unaligned(
// GPU: llvm.mlir.addressof @gq_dev_load16_bf16_unaligned : !llvm.ptr
// The fewest rows that are gathered from.
// GPU-LABEL: func.func @main
// GPU: arith.minsi

// CHECK: .global .align 16 .b8 zeros[64]
// CHECK: .visible .entry grouped_block_quantize(
// CHECK: ld.global.b64
// CHECK-COUNT-2: ld.global.nc.v4.b32
// CHECK: st.global.{{(v2.b32|b64)}}
// CHECK: atom.global.or.b32 {{.*}}, 4;

#id = affine_map<(m, k) -> (m, k)>
#column = affine_map<(m, k) -> (m)>
func.func @main(%x: tensor<?x5120xbf16>, %s: tensor<?xf32>, %w: tensor<?xf32>,
    %i: tensor<?xi64>, %o: tensor<?xi32>, %so: tensor<?xi32>,
    %q0: tensor<?x5120xf4E2M1FN>, %t0: tensor<?x320xf8E4M3FN, #gq.tile128x4>)
    -> (tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN, #gq.tile128x4>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %i, %c0 : tensor<?xi64>
  %e = tensor.empty(%m) : tensor<?x5120xf32>
  %g = linalg.generic {indexing_maps = [#column, #column, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%i, %w : tensor<?xi64>, tensor<?xf32>)
      outs(%e : tensor<?x5120xf32>) {
  ^bb0(%in: i64, %ew: f32, %out: f32):
    %row = arith.index_cast %in : i64 to index
    %k = linalg.index 1 : index
    %es = tensor.extract %s[%row] : tensor<?xf32>
    %v = tensor.extract %x[%row, %k] : tensor<?x5120xbf16>
    %f = arith.extf %v : bf16 to f32
    %1 = arith.mulf %f, %es : f32
    %2 = arith.mulf %1, %ew : f32
    linalg.yield %2 : f32
  } -> tensor<?x5120xf32>
  %q, %t = gq.grouped_block_quantize format(nvfp4)
      ins(%g : tensor<?x5120xf32>) groups(%o, %so : tensor<?xi32>, tensor<?xi32>)
      outs(%q0, %t0 : tensor<?x5120xf4E2M1FN>,
                      tensor<?x320xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN, #gq.tile128x4>
  return %q, %t : tensor<?x5120xf4E2M1FN>, tensor<?x320xf8E4M3FN, #gq.tile128x4>
}
