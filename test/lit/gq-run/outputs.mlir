// Results get their names when they are complete. Nobody can know the names
// before, so that no link is followed.

// RUN: rm -rf %t && mkdir -p %t/out && echo kept > %t/kept

// A file of that name is replaced, not written through.
// RUN: ln -s ../kept %t/out/0.npy
// RUN: gq-run %s --out %t/out
// RUN: FileCheck %s --check-prefix=KEPT < %t/kept
// KEPT: kept
// RUN: ls -A %t/out | FileCheck %s --match-full-lines
// CHECK: 0.npy
// CHECK-NEXT: 1.npy
// CHECK-NOT: {{.}}

// All or none: there is a folder where the second result belongs.
// RUN: rm -rf %t/out && mkdir -p %t/out/1.npy
// RUN: not gq-run %s --out %t/out 2>&1 | FileCheck %s --check-prefix=BLOCKED
// BLOCKED: gq-run: {{.*}}/out: 1.npy: {{.+}}
// RUN: ls -A %t/out | FileCheck %s --check-prefix=NONE --match-full-lines
// NONE: 1.npy
// NONE-NOT: {{.}}

// A killed run's file goes after an hour, one that is being written stays.
// RUN: rm -rf %t/out && mkdir %t/out
// RUN: touch -d '2 hours ago' %t/out/.gq-writing-00000000000000000000000000000001
// RUN: touch %t/out/.gq-writing-00000000000000000000000000000002
// RUN: touch -d '2 hours ago' %t/out/.gq-writing-notes
// RUN: gq-run %s --out %t/out
// RUN: ls -A %t/out | FileCheck %s --check-prefix=LEFT --match-full-lines
// LEFT: .gq-writing-00000000000000000000000000000002
// LEFT-NEXT: .gq-writing-notes
// LEFT-NEXT: 0.npy
// LEFT-NEXT: 1.npy

// A path of any length works, or is refused. One of 4,080 characters is the
// system's longest with some to spare, but not for "/.0.npy...".
// RUN: %python %S/Inputs/long-path.py %t 4080 gq-run %s | FileCheck %s --check-prefix=LONG
// LONG: 0 ['0.npy', '1.npy']
// RUN: %python %S/Inputs/long-path.py %t 5000 gq-run %s | FileCheck %s --check-prefix=TOO-LONG
// TOO-LONG: 1 File name too long

func.func @main() -> (i32, i32) {
  %0 = arith.constant 1 : i32
  return %0, %0 : i32, i32
}
