// What has no program is named, where it is; the others are written.

// RUN: not gq-translate --mlir-to-python --split-input-file - < %s > %t 2> %t.err
// RUN: FileCheck %s --check-prefix=ERROR --implicit-check-not=error < %t.err
// RUN: FileCheck %s --check-prefix=PROGRAM < %t
// PROGRAM-COUNT-1: import gq
// PROGRAM-NOT: import gq

// ERROR: <stdin>:[[@LINE-8]]:1: error: 'builtin.module' op has no equivalent in gq.Graph: it has no function
func.func private @declared(tensor<4xf32>)

// -----

// ERROR: <stdin>:[[@LINE+1]]:1: error: 'builtin.module' op has no equivalent in gq.Graph: it has attributes
module attributes {gpu.container_module} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

func.func @identity(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// ERROR: <stdin>:[[@LINE+1]]:1: error: 'func.func' op has no equivalent in gq.Graph: it has several blocks
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^end
^end:
  return %x : tensor<4xf32>
}

// -----

func.func @region() -> i32 {
  // ERROR: <stdin>:[[@LINE+1]]:8: error: 'scf.execute_region' op has no equivalent in gq.Graph: a region of several blocks
  %0 = scf.execute_region -> i32 {
    cf.br ^end
  ^end:
    %1 = arith.constant 1 : i32
    scf.yield %1 : i32
  }
  return %0 : i32
}

// -----

// ERROR: <stdin>:[[@LINE+1]]:1: error: 'func.func' op has no equivalent in gq.Graph: its name has other characters than letters, digits, '_', '$' and '.'
func.func @"a name"(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// ERROR: <stdin>:[[@LINE+1]]:1: error: 'func.func' op has no equivalent in gq.Graph: it calls itself, or what does
func.func @caller(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @recursive(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @recursive(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @recursive(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
