// What the reader of .npy files accepts, and what it says about the rest.

// RUN: rm -rf %t && %python %S/Inputs/malform.py %t

// RUN: gq-run %s --in %t/version1.npy --out %t/1
// RUN: gq-run %s --in %t/version2.npy --out %t/2
// RUN: gq-run %s --in %t/version3.npy --out %t/3
// RUN: gq-run %s --in %t/unusual.npy --out %t/4
// RUN: %python %S/Inputs/show.py %t/1/0.npy %t/2/0.npy %t/3/0.npy %t/4/0.npy \
// RUN:   | FileCheck %s
// CHECK-COUNT-4: int32 (2, 3) {{\[\[}}0, 1, 2], [3, 4, 5]]

// RUN: gq-run %s --entry=bf16 --in %t/ml_dtypes.npy --out %t/5
// RUN: %python %S/Inputs/show.py %t/5/0.npy | FileCheck %s --check-prefix=BF16
// BF16: uint16 (2,) [16256, 16384]

// DEFINE: %{file} =
// DEFINE: %{refuse} = not gq-run %s --in %t/%{file}.npy --out %t/out 2>&1 | FileCheck %s --check-prefix=%{file}

// REDEFINE: %{file} = missing
// RUN: %{refuse}
// missing: gq-run: argument 0 ({{.*}}missing.npy): No such file or directory

// REDEFINE: %{file} = fortran
// RUN: %{refuse}
// fortran: gq-run: argument 0 ({{.*}}fortran.npy): the array is in Fortran order; save what numpy.ascontiguousarray makes of it

// REDEFINE: %{file} = big-endian
// RUN: %{refuse}
// big-endian: argument 0 ({{.*}}.npy): dtype '>i4' is big-endian

// REDEFINE: %{file} = structured
// RUN: %{refuse}
// structured: argument 0 ({{.*}}.npy): unsupported dtype 'structured'

// REDEFINE: %{file} = complex
// RUN: %{refuse}
// complex: argument 0 ({{.*}}.npy): unsupported dtype '<c8'

// REDEFINE: %{file} = empty
// RUN: %{refuse}
// empty: argument 0 ({{.*}}.npy): not a .npy file

// REDEFINE: %{file} = text
// RUN: %{refuse}
// text: argument 0 ({{.*}}.npy): not a .npy file

// REDEFINE: %{file} = magic
// RUN: %{refuse}
// magic: argument 0 ({{.*}}.npy): truncated: the file ends in its header

// REDEFINE: %{file} = header
// RUN: %{refuse}
// header: argument 0 ({{.*}}.npy): truncated: the file ends in its header

// REDEFINE: %{file} = data
// RUN: %{refuse}
// data: argument 0 ({{.*}}.npy): truncated: the file has 23 bytes of data, fewer than its header says

// REDEFINE: %{file} = huge
// RUN: %{refuse}
// huge: argument 0 ({{.*}}.npy): truncated: the file has 24 bytes of data, fewer than its header says

// REDEFINE: %{file} = version9
// RUN: %{refuse}
// version9: argument 0 ({{.*}}.npy): unknown .npy version 9

// REDEFINE: %{file} = no-shape
// RUN: %{refuse}
// no-shape: argument 0 ({{.*}}.npy): the header cannot be parsed

// REDEFINE: %{file} = negative
// RUN: %{refuse}
// negative: argument 0 ({{.*}}.npy): the header cannot be parsed

// REDEFINE: %{file} = overflow
// RUN: %{refuse}
// overflow: argument 0 ({{.*}}.npy): the header cannot be parsed

// REDEFINE: %{file} = open
// RUN: %{refuse}
// open: argument 0 ({{.*}}.npy): the header cannot be parsed

// REDEFINE: %{file} = string
// RUN: %{refuse}
// string: argument 0 ({{.*}}.npy): the header cannot be parsed

// REDEFINE: %{file} = not-bool
// RUN: %{refuse}
// not-bool: argument 0 ({{.*}}.npy): the header cannot be parsed

// Nothing was written.
// RUN: not ls %t/out

func.func @main(%a: tensor<?x3xi32>) -> tensor<?x3xi32> {
  return %a : tensor<?x3xi32>
}
func.func @bf16(%a: tensor<?xbf16>) -> tensor<?xbf16> {
  return %a : tensor<?xbf16>
}
