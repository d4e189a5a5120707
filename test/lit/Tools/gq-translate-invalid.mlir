// What gq.Graph cannot express is named, where it is, and no program is written; the
// others are.

// RUN: not gq-translate --mlir-to-python --split-input-file - < %s > %t 2> %t.err
// RUN: FileCheck %s --check-prefix=ERROR --implicit-check-not=error < %t.err
// RUN: FileCheck %s --check-prefix=PROGRAM < %t
// PROGRAM-COUNT-1: import gq
// PROGRAM-NOT: import gq

// ERROR: <stdin>:[[@LINE+2]]:8: error: 'tensor.expand_shape' op has no equivalent in gq.Graph
func.func @op(%x: tensor<4xf32>) -> tensor<1x4xf32> {
  %0 = tensor.expand_shape %x [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

// ERROR: <stdin>:[[@LINE+1]]:1: error: 'func.func' op has no equivalent in gq.Graph: a value of type memref<4xf32>, which is no tensor with a rank
func.func @memref(%x: memref<4xf32>) {
  return
}

// -----

func.func @identity(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// ERROR: <stdin>:[[@LINE+4]]:10: error: 'gq.block_quantize' op has no equivalent in gq.Graph: extent 1 of 'input' is not known
func.func @columns(%x: tensor<?x?xf32>, %q0: tensor<?x?xf8E4M3FN>, %s0: tensor<?x?xf8E8M0FNU>)
    -> tensor<?x?xf8E4M3FN> {
  // The number of columns.
  %q:2 = gq.block_quantize format(mxfp8_e4m3) ins(%x : tensor<?x?xf32>) outs(%q0, %s0 : tensor<?x?xf8E4M3FN>, tensor<?x?xf8E8M0FNU>) -> tensor<?x?xf8E4M3FN>, tensor<?x?xf8E8M0FNU>
  return %q#0 : tensor<?x?xf8E4M3FN>
}

// -----

func.func @element(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    // ERROR: <stdin>:[[@LINE+1]]:10: error: 'arith.mulf' op has no equivalent in gq.Graph: it has attributes
    %1 = arith.mulf %a, %a fastmath<reassoc> : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @values_decide(%x: tensor<?x64xf32>, %y: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %y, %c0 : tensor<?x64xf32>
  // ERROR: <stdin>:[[@LINE+1]]:8: error: 'tensor.extract_slice' op has no equivalent in gq.Graph: a slice of an extent that is not known, or one that values decide
  %0 = tensor.extract_slice %x[0, 0] [%m, 64] [1, 1] : tensor<?x64xf32> to tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

func.func @rank(%x: tensor<4x64xf32>) -> tensor<64xf32> {
  // ERROR: <stdin>:[[@LINE+1]]:8: error: 'tensor.extract_slice' op has no equivalent in gq.Graph: a slice of another rank
  %0 = tensor.extract_slice %x[0, 0] [1, 64] [1, 1] : tensor<4x64xf32> to tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

func.func @encoding(%x: tensor<256x4xf8E4M3FN, #gq.tile128x4>) -> tensor<128x4xf8E4M3FN> {
  // ERROR: <stdin>:[[@LINE+1]]:8: error: 'tensor.extract_slice' op has no equivalent in gq.Graph: a slice with another encoding
  %0 = tensor.extract_slice %x[0, 0] [128, 4] [1, 1] : tensor<256x4xf8E4M3FN, #gq.tile128x4> to tensor<128x4xf8E4M3FN>
  return %0 : tensor<128x4xf8E4M3FN>
}

// -----

func.func @columns_that_are_gathered(%x: tensor<4x64xf32>, %i: tensor<4x1xi32>) -> tensor<4x4xf32> {
  // ERROR: <stdin>:[[@LINE+1]]:8: error: 'tensor.gather' op has no equivalent in gq.Graph: other than rows at indices [M, 1] of i32 or i64
  %0 = tensor.gather %x[%i] gather_dims([1]) : (tensor<4x64xf32>, tensor<4x1xi32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// ERROR: <stdin>:[[@LINE+1]]:1: error: 'func.func' op has no equivalent in gq.Graph: its name is none of a function in Python, or is taken
func.func @None(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// Programs call Python's.
// ERROR: <stdin>:[[@LINE+1]]:1: error: 'func.func' op has no equivalent in gq.Graph: its name is none of a function in Python, or is taken
func.func @abs(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @numbers(%x: tensor<?x64xf32>, %o: tensor<3xi32>, %y0: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // ERROR: <stdin>:[[@LINE+1]]:8: error: 'gq.grouped_block_quantize' op has no equivalent in gq.Graph: numbers in place of codes
  %y = gq.grouped_block_quantize format(nvfp4) ins(%x : tensor<?x64xf32>)
      groups(%o : tensor<3xi32>) outs(%y0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
