// The loops that a GPU's kernels are made of, run by the CPU one after the
// other: the same bytes as from the ops.
//
// RUN: rm -rf %t && mkdir %t
// RUN: gq-opt %gq_source_dir/test/gpu/leftovers.mlir -o %t/loops.mlir --pass-pipeline='builtin.module(gq-protect-arguments,func.func(convert-elementwise-to-linalg,linalg-fuse-elementwise-ops),one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map allow-return-allocs-from-loops},func.func(linalg-generalize-named-ops),gq-prepare-kernels,func.func(convert-linalg-to-parallel-loops),gq-collapse-loops,func.func(scf-parallel-loop-tiling{parallel-loop-tile-sizes=128 no-min-max-bounds}))'
// One nest for each op, none in another loop.
// RUN: FileCheck %s < %t/loops.mlir --strict-whitespace --implicit-check-not=linalg.
// RUN: gq-opt %t/loops.mlir --pass-pipeline='builtin.module(scf-parallel-for-to-nested-fors)' -o %t/fors.mlir

// CHECK-LABEL:func.func @sums
// CHECK:{{^    }}scf.parallel (%{{.*}}) = (%{{.*}}) to (%dim{{.*}}) step (%{{.*}}) {
// CHECK-NEXT:{{^      }}scf.parallel (%{{.*}}) = (%{{.*}}) to (%{{.*}}) step (%{{.*}}) {
// CHECK-COUNT-5:{{^    }}scf.parallel
// CHECK-NOT:{{^    }}scf.parallel
// CHECK-LABEL:func.func @bf16

// DEFINE: %{entry} =
// DEFINE: %{ins} =
// DEFINE: %{run} = gq-run %gq_source_dir/test/gpu/leftovers.mlir --entry=%{entry} %{ins} --out %t/%{entry} && gq-run %t/fors.mlir --entry=%{entry} %{ins} --out %t/%{entry}-loops && diff -r %t/%{entry} %t/%{entry}-loops
// DEFINE: %{save} = %python %S/Inputs/save.py

// RUN: %{save} %t/half.npy uint16 37,200
// RUN: %{save} %t/one.npy uint16 ""
// RUN: %{save} %t/a.npy float32 33,17
// RUN: %{save} %t/b.npy float32 17,65
// RUN: %{save} %t/batches.npy float32 3,1,7,17
// RUN: %{save} %t/rows.npy int32 11
// RUN: %{save} %t/wide.npy float32 70,8
// RUN: %{save} %t/vector.npy float32 300
// RUN: %{save} %t/n.npy int64 ""
// RUN: %{save} %t/s.npy float32 ""

// REDEFINE: %{entry} = sums
// REDEFINE: %{ins} = --in %t/half.npy
// RUN: %{run}
// REDEFINE: %{entry} = bf16
// REDEFINE: %{ins} = --in %t/half.npy --in %t/one.npy
// RUN: %{run}
// REDEFINE: %{entry} = softmax
// REDEFINE: %{ins} = --in %t/a.npy
// RUN: %{run}
// REDEFINE: %{entry} = matmul
// REDEFINE: %{ins} = --in %t/a.npy --in %t/b.npy
// RUN: %{run}
// REDEFINE: %{entry} = batches
// REDEFINE: %{ins} = --in %t/batches.npy --in %t/b.npy
// RUN: %{run}
// REDEFINE: %{entry} = gather
// REDEFINE: %{ins} = --in %t/a.npy --in %t/rows.npy
// RUN: %{run}
// REDEFINE: %{entry} = parts
// REDEFINE: %{ins} = --in %t/wide.npy --in %t/wide.npy
// RUN: %{run}
// REDEFINE: %{entry} = constants
// REDEFINE: %{ins} = --in %t/n.npy --in %t/s.npy
// RUN: %{run}
// REDEFINE: %{entry} = layers
// REDEFINE: %{ins} = --in %t/vector.npy --in %t/vector.npy --in %t/n.npy
// RUN: %{run}
