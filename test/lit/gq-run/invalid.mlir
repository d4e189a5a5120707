// Diagnostics have the place in the file.

// RUN: split-file %s %t
// RUN: not gq-run %t/parse.mlir --out %t/out 2>&1 | FileCheck %t/parse.mlir
// RUN: not gq-run - < %t/parse.mlir 2>&1 \
// RUN:   | FileCheck %t/parse.mlir --check-prefix=STDIN
// RUN: not gq-run %t/verify.mlir --out %t/out 2>&1 | FileCheck %t/verify.mlir
// RUN: not gq-run %t/symbol.mlir --out %t/out 2>&1 | FileCheck %t/symbol.mlir
// RUN: not gq-run /dev/null --out %t/out 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: gq-run: the module has no public function
// RUN: not ls %t/out

//--- parse.mlir
func.func @main() {
  // CHECK: gq-run: {{.*}}parse.mlir:[[#@LINE+2]]:3: error: custom op 'oops' is unknown
  // STDIN: gq-run: <stdin>:[[#@LINE+1]]:3: error: custom op 'oops' is unknown
  oops
}

//--- verify.mlir
// CHECK: gq-run: {{.*}}verify.mlir:[[#@LINE+3]]:3: error: type of return operand 0
// CHECK-NOT: error
func.func @main(%a: i32) -> i64 {
  "func.return"(%a) : (i32) -> ()
}

//--- symbol.mlir
// CHECK: gq-run: {{.*}}gq_test_nowhere
func.func private @gq_test_nowhere()
func.func @main() {
  call @gq_test_nowhere() : () -> ()
  return
}
