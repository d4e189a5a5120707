// The results of a run: one line each, or one file each.

// RUN: rm -rf %t
// RUN: %python %S/Inputs/save.py %t/in/a.npy float32 2,3
// RUN: %python %S/Inputs/save.py %t/in/s.npy float32 ""

// RUN: gq-run %s --in %t/in/a.npy --in %t/in/s.npy \
// RUN:   | FileCheck %s --check-prefix=SUMMARY --match-full-lines
// SUMMARY:      result 0: float32 [2, 3]
// SUMMARY-NEXT: result 1: bfloat16 [2, 3]
// SUMMARY-NEXT: result 2: int8 [2]
// SUMMARY-NEXT: result 3: bool []
// SUMMARY-NOT:  {{.}}

// RUN: gq-run --in=%t/in/a.npy --in=%t/in/s.npy --out=%t/out %s | count 0
// RUN: ls -A %t/out | FileCheck %s --check-prefix=FILES --match-full-lines
// FILES:      0.npy
// FILES-NEXT: 1.npy
// FILES-NEXT: 2.npy
// FILES-NEXT: 3.npy
// FILES-NOT:  {{.}}

// RUN: %python %S/Inputs/show.py %t/out/0.npy %t/out/1.npy %t/out/2.npy \
// RUN:   %t/out/3.npy | FileCheck %s --check-prefix=SHOW --match-full-lines
// SHOW:      float32 (2, 3) {{\[\[}}2.0, 3.0, 4.0], [5.0, 6.0, 7.0]]
// SHOW-NEXT: uint16 (2, 3) {{\[\[}}16256, 16384, 16448], [16512, 16544, 16576]]
// SHOW-NEXT: uint8 (2,) [254, 3]
// SHOW-NEXT: bool () True

// Each invocation of --repeat starts from the same data, although the function
// writes into its argument. Results from an earlier run are replaced.
// RUN: gq-run %s --in %t/in/a.npy --in %t/in/s.npy --out %t/out --repeat=5 \
// RUN:   | FileCheck %s --check-prefix=TIME --match-full-lines
// TIME:     median of 5: {{[0-9]+\.[0-9]+}} us
// TIME-NOT: {{.}}
// RUN: %python %S/Inputs/show.py %t/out/0.npy \
// RUN:   | FileCheck %s --check-prefix=AGAIN --match-full-lines
// AGAIN: float32 (2, 3) {{\[\[}}2.0, 3.0, 4.0], [5.0, 6.0, 7.0]]

// The standard input, and another function.
// RUN: gq-run - --entry=nothing --repeat=1 < %s \
// RUN:   | FileCheck %s --check-prefix=NOTHING --match-full-lines
// NOTHING: median of 1: {{.*}} us
// RUN: gq-run %s --entry=nothing | count 0

// --repeat runs as often as it says.
// RUN: gq-run %s --entry=tick --repeat=7 | FileCheck %s --check-prefix=TICK
// TICK: {{^#######median of 7: }}

// --host-time calls 1 + 30 * 50 times before the run whose results are written.
// RUN: gq-run %s --entry=tick --host-time | FileCheck %s --check-prefix=HOST
// HOST: {{^#+host: [0-9]+\.[0-9]+ us$}}
// RUN: gq-run %s --entry=tick --host-time | tr -cd '#' | wc -c \
// RUN:   | FileCheck %s --check-prefix=CALLS --match-full-lines
// CALLS: 1502
// RUN: gq-run %s --in %t/in/a.npy --in %t/in/s.npy --out %t/out --host-time
// RUN: %python %S/Inputs/show.py %t/out/0.npy \
// RUN:   | FileCheck %s --check-prefix=AGAIN --match-full-lines

// --no-fusion makes another module.
// RUN: env GQ_CACHE_DIR=%t/cache gq-run %s --entry=nothing
// RUN: env GQ_CACHE_DIR=%t/cache gq-run %s --entry=nothing --no-fusion
// RUN: ls %t/cache | count 2

#elements = affine_map<(i, j) -> (i, j)>

func.func @main(%a: tensor<?x3xf32>, %s: f32)
    -> (tensor<?x3xf32>, tensor<?x3xbf16>, tensor<2xi8>, i1) {
  %bf16 = arith.truncf %a : tensor<?x3xf32> to tensor<?x3xbf16>
  %sum = linalg.generic {
      indexing_maps = [#elements], iterator_types = ["parallel", "parallel"]}
      outs(%a : tensor<?x3xf32>) {
  ^bb0(%x: f32):
    %y = arith.addf %x, %s : f32
    linalg.yield %y : f32
  } -> tensor<?x3xf32>
  %i8 = arith.constant dense<[-2, 3]> : tensor<2xi8>
  %less = arith.cmpf oeq, %s, %s : f32
  return %sum, %bf16, %i8, %less
      : tensor<?x3xf32>, tensor<?x3xbf16>, tensor<2xi8>, i1
}

func.func private @putchar(i32) -> i32
func.func @tick() {
  %c = arith.constant 35 : i32
  %r = call @putchar(%c) : (i32) -> i32
  return
}

func.func @nothing() {
  return
}
