// The command line and what is wrong with one.

// RUN: gq-run --help | FileCheck %s --check-prefix=HELP
// HELP: usage: gq-run FILE.mlir [options]
// RUN: gq-run --version | FileCheck %s --check-prefix=VERSION
// VERSION: gq-run {{[0-9]+\.[0-9]+\.[0-9]+$}}

// RUN: not gq-run --frobnicate %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: gq-run: unrecognized option '--frobnicate'
// RUN: not gq-run %s --in 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: gq-run: option '--in' requires an argument
// RUN: not gq-run 2>&1 | FileCheck %s --check-prefix=NOFILE
// NOFILE: gq-run: expected one MLIR file, found 0; see --help
// RUN: not gq-run %s %s 2>&1 | FileCheck %s --check-prefix=TWOFILES
// TWOFILES: gq-run: expected one MLIR file, found 2; see --help
// RUN: not gq-run %s --repeat=0 2>&1 | FileCheck %s --check-prefix=REPEAT
// RUN: not gq-run %s --repeat=3x 2>&1 | FileCheck %s --check-prefix=REPEAT
// RUN: not gq-run %s --repeat= 2>&1 | FileCheck %s --check-prefix=REPEAT
// REPEAT: gq-run: --repeat={{.*}}: expected a positive number

// RUN: not gq-run %t.missing 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: gq-run: {{.*}}.missing: No such file or directory
// RUN: not env GQ_CUDA_DRIVER=%t.missing gq-run %s --target=cuda 2>&1 | FileCheck %s --check-prefix=CUDA
// CUDA: gq-run: no CUDA driver:
// RUN: not gq-run %s --graph 2>&1 | FileCheck %s --check-prefix=GRAPH
// GRAPH: gq-run: --graph needs --target=cuda
// RUN: not gq-run %s --target=abacus 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: gq-run: unknown target 'abacus': the targets of this build are: cpu
// RUN: not gq-run %s --entry=other 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: gq-run: no function 'other'; the module has 'main'

// RUN: rm -rf %t && %python %S/Inputs/save.py %t/a.npy int32 2
// RUN: not gq-run %s --in %t/a.npy --out %t/out 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FEW
// FEW: gq-run: function 'main' takes 2 arguments, found 1 --in
// RUN: not gq-run %s --in %t/a.npy --in %t/a.npy --in %t/a.npy --out %t/out \
// RUN:   2>&1 | FileCheck %s --check-prefix=MANY
// MANY: gq-run: function 'main' takes 2 arguments, found 3 --in
// RUN: not ls %t/out

// The folder cannot be made, or is a file.
// RUN: not gq-run %s --in %t/a.npy --in %t/a.npy --out %t/no/out 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FOLDER
// FOLDER: gq-run: {{.*}}no/out: No such file or directory
// RUN: not gq-run %s --in %t/a.npy --in %t/a.npy --out %t/a.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NOTFOLDER
// NOTFOLDER: gq-run: {{.*}}a.npy{{.*}}: Not a directory

// One of the results has no place: the other is not written either.
// RUN: mkdir -p %t/out/1.npy
// RUN: not gq-run %s --in %t/a.npy --in %t/a.npy --out %t/out 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PLACE
// PLACE: gq-run: {{.*}}1.npy: Is a directory
// RUN: ls -A %t/out | count 1

func.func @main(%a: tensor<2xi32>, %b: tensor<2xi32>)
    -> (tensor<2xi32>, tensor<2xi32>) {
  return %a, %b : tensor<2xi32>, tensor<2xi32>
}
