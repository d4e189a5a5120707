// Which arrays a function takes: of its arguments' shapes, or flat.

// RUN: rm -rf %t
// RUN: %python %S/Inputs/save.py %t/6.npy int32 6
// RUN: %python %S/Inputs/save.py %t/0.npy int32 0
// RUN: %python %S/Inputs/save.py %t/1.npy int32 1
// RUN: %python %S/Inputs/save.py %t/2x3.npy int32 2,3
// RUN: %python %S/Inputs/save.py %t/3x2.npy int32 3,2

// RUN: gq-run %s --entry=static --in %t/2x3.npy | FileCheck %s
// RUN: gq-run %s --entry=static --in %t/6.npy | FileCheck %s
// RUN: gq-run %s --entry=rows --in %t/2x3.npy | FileCheck %s
// RUN: gq-run %s --entry=rows --in %t/6.npy | FileCheck %s
// RUN: gq-run %s --entry=columns --in %t/6.npy | FileCheck %s
// RUN: gq-run %s --entry=any --in %t/2x3.npy | FileCheck %s
// CHECK: result 0: int32 [2, 3]

// RUN: gq-run %s --entry=rows --in %t/0.npy | FileCheck %s --check-prefix=EMPTY
// EMPTY: result 0: int32 [0, 3]

// RUN: gq-run %s --entry=scalar --in %t/1.npy \
// RUN:   | FileCheck %s --check-prefix=SCALAR
// SCALAR: result 0: int32 []

// RUN: not gq-run %s --entry=static --in %t/3x2.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STATIC
// STATIC: gq-run: argument 0 ({{.*}}3x2.npy): expected int32 [2, 3], found int32 [3, 2]
// RUN: not gq-run %s --entry=static --in %t/1.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FEW
// FEW: expected int32 [2, 3], found int32 [1]
// RUN: not gq-run %s --entry=rows --in %t/1.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ROWS
// ROWS: expected int32 [?, 3], found int32 [1]
// RUN: not gq-run %s --entry=any --in %t/6.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ANY
// ANY: expected int32 [?, ?], found int32 [6]
// RUN: not gq-run %s --entry=nowhere --in %t/0.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: expected int32 [?, 0], found int32 [0]
// RUN: not gq-run %s --entry=vector --in %t/2x3.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=VECTOR
// VECTOR: expected int32 [6], found int32 [2, 3]
// RUN: not gq-run %s --entry=scalar --in %t/6.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SIX
// SIX: expected int32 [], found int32 [6]

// Extents whose product wraps around to 0, or to the number of elements.
// RUN: not gq-run %s --entry=wraps --in %t/0.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WRAPS
// WRAPS: expected int32 [4294967296, 4294967296], found int32 [0]
// RUN: %python %S/Inputs/save.py %t/4.npy int32 4
// RUN: not gq-run %s --entry=wraps_to_4 --in %t/4.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WRAPS-TO-4
// WRAPS-TO-4: expected int32 [4611686018427387905, 4], found int32 [4]

func.func @wraps(%a: tensor<4294967296x4294967296xi32>) { return }
func.func @wraps_to_4(%a: tensor<4611686018427387905x4xi32>) { return }
func.func @static(%a: tensor<2x3xi32>) -> tensor<2x3xi32> {
  return %a : tensor<2x3xi32>
}
func.func @rows(%a: tensor<?x3xi32>) -> tensor<?x3xi32> {
  return %a : tensor<?x3xi32>
}
func.func @columns(%a: tensor<2x?xi32>) -> tensor<2x?xi32> {
  return %a : tensor<2x?xi32>
}
func.func @any(%a: tensor<?x?xi32>) -> tensor<?x?xi32> {
  return %a : tensor<?x?xi32>
}
func.func @nowhere(%a: tensor<?x0xi32>) -> tensor<?x0xi32> {
  return %a : tensor<?x0xi32>
}
func.func @vector(%a: tensor<6xi32>) -> tensor<6xi32> {
  return %a : tensor<6xi32>
}
func.func @scalar(%a: i32) -> i32 {
  return %a : i32
}
