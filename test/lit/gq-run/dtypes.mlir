// The dtypes of arrays and the element types that they are.

// RUN: rm -rf %t
// RUN: %python %S/Inputs/save.py %t/bool.npy bool 1
// RUN: %python %S/Inputs/save.py %t/u1.npy uint8 2
// RUN: %python %S/Inputs/save.py %t/i1.npy int8 2
// RUN: %python %S/Inputs/save.py %t/V1.npy V1 2
// RUN: %python %S/Inputs/save.py %t/i2.npy int16 2
// RUN: %python %S/Inputs/save.py %t/u2.npy uint16 2
// RUN: %python %S/Inputs/save.py %t/V2.npy V2 2
// RUN: %python %S/Inputs/save.py %t/i4.npy int32 2
// RUN: %python %S/Inputs/save.py %t/i8.npy int64 2
// RUN: %python %S/Inputs/save.py %t/f2.npy float16 2
// RUN: %python %S/Inputs/save.py %t/f4.npy float32 2
// RUN: %python %S/Inputs/save.py %t/f8.npy float64 2
// RUN: %python %S/Inputs/save.py %t/u4.npy uint32 2

// RUN: gq-run %s --in %t/bool.npy --in %t/u1.npy --in %t/V1.npy --in %t/i2.npy \
// RUN:   --in %t/i4.npy --in %t/i8.npy --in %t/f2.npy --in %t/u2.npy \
// RUN:   --in %t/f4.npy --in %t/f8.npy --out %t/a
// RUN: %python %S/Inputs/show.py %t/a/0.npy %t/a/1.npy %t/a/2.npy %t/a/3.npy \
// RUN:   %t/a/4.npy %t/a/5.npy %t/a/6.npy %t/a/7.npy %t/a/8.npy %t/a/9.npy \
// RUN:   | FileCheck %s --match-full-lines
// CHECK:      bool (1,) [True]
// CHECK-NEXT: uint8 (2,) [1, 2]
// CHECK-NEXT: uint8 (2,) [1, 2]
// CHECK-NEXT: int16 (2,) [1, 2]
// CHECK-NEXT: int32 (2,) [1, 2]
// CHECK-NEXT: int64 (2,) [1, 2]
// CHECK-NEXT: float16 (2,) [1.0, 2.0]
// CHECK-NEXT: uint16 (2,) [1, 2]
// CHECK-NEXT: float32 (2,) [1.0, 2.0]
// CHECK-NEXT: float64 (2,) [1.0, 2.0]

// The same bytes under other names.
// RUN: gq-run %s --in %t/bool.npy --in %t/i1.npy --in %t/u1.npy --in %t/i2.npy \
// RUN:   --in %t/i4.npy --in %t/i8.npy --in %t/f2.npy --in %t/V2.npy \
// RUN:   --in %t/f4.npy --in %t/f8.npy --out %t/b
// RUN: diff -r %t/a %t/b

// RUN: not gq-run %s --entry=i8 --in %t/f4.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=I8
// I8: argument 0 ({{.*}}f4.npy): expected int8 [?], found float32 [2]
// RUN: not gq-run %s --entry=bf16 --in %t/f2.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BF16
// BF16: expected bfloat16 [?], found float16 [2]
// RUN: not gq-run %s --entry=i8 --in %t/u4.npy 2>&1 \
// RUN:   | FileCheck %s --check-prefix=U4
// U4: argument 0 ({{.*}}u4.npy): unsupported dtype '<u4'

func.func @main(%0: tensor<?xi1>, %1: tensor<?xi8>, %2: tensor<?xf8E4M3FN>,
                %3: tensor<?xi16>, %4: tensor<?xi32>, %5: tensor<?xi64>,
                %6: tensor<?xf16>, %7: tensor<?xbf16>, %8: tensor<?xf32>,
                %9: tensor<?xf64>)
    -> (tensor<?xi1>, tensor<?xi8>, tensor<?xf8E4M3FN>, tensor<?xi16>,
        tensor<?xi32>, tensor<?xi64>, tensor<?xf16>, tensor<?xbf16>,
        tensor<?xf32>, tensor<?xf64>) {
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9
      : tensor<?xi1>, tensor<?xi8>, tensor<?xf8E4M3FN>, tensor<?xi16>,
        tensor<?xi32>, tensor<?xi64>, tensor<?xf16>, tensor<?xbf16>,
        tensor<?xf32>, tensor<?xf64>
}
func.func @i8(%a: tensor<?xi8>) {
  return
}
func.func @bf16(%a: tensor<?xbf16>) {
  return
}
