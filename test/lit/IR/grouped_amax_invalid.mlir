// RUN: gq-opt %s -split-input-file -verify-diagnostics

// One chunk per constraint, named after the op and the constraint's number.

func.func @grouped_amax_c1_input(%x: tensor<?x64xf64>, %o: tensor<4xi32>, %a: tensor<3xf32>) {
  // expected-error @+1 {{requires 'inputs' to be a 0D, 1D or 2D tensor or memref of f32, bf16 or f16, but got tensor<?x64xf64>}}
  %0 = gq.grouped_amax ins(%x : tensor<?x64xf64>) groups(%o : tensor<4xi32>)
      amax_out(%a : tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @grouped_amax_c1_amax(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %a: tensor<3xbf16>) {
  // expected-error @+1 {{requires 'amax' to be a 1D tensor or memref of f32, but got tensor<3xbf16>}}
  %0 = gq.grouped_amax ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      amax_out(%a : tensor<3xbf16>) -> tensor<3xbf16>
  return
}

// -----

func.func @grouped_amax_c2(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %a: tensor<3xf32>) {
  // expected-error @+1 {{requires the result of 'amax' to be of its type tensor<3xf32>, but got tensor<?xf32>}}
  %0 = gq.grouped_amax ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      amax_out(%a : tensor<3xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @grouped_amax_c3(%x: memref<?x64xbf16>, %o: tensor<4xi32>, %a: tensor<3xf32>) {
  // expected-error @+1 {{requires all operands to be tensors or all memrefs}}
  %0 = gq.grouped_amax ins(%x : memref<?x64xbf16>) groups(%o : tensor<4xi32>)
      amax_out(%a : tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @grouped_amax_c4(%x: tensor<?x72xbf16>, %o: tensor<4xi32>, %a: tensor<3xf32>) {
  // expected-error @+1 {{requires K to be a positive multiple of 16, but got 72}}
  %0 = gq.grouped_amax ins(%x : tensor<?x72xbf16>) groups(%o : tensor<4xi32>)
      amax_out(%a : tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @grouped_amax_c4_column_amax(%x: tensor<?x?xbf16>, %o: tensor<4xi32>, %c: tensor<3x0xf32>) {
  // expected-error @+1 {{requires K to be a positive multiple of 16, but got 0}}
  %0 = gq.grouped_amax ins(%x : tensor<?x?xbf16>) groups(%o : tensor<4xi32>)
      column_amax_out(%c : tensor<3x0xf32>) -> tensor<3x0xf32>
  return
}

// -----

func.func @grouped_amax_c5(%x: tensor<?x64xbf16>, %o: tensor<4xi32>) {
  // expected-error @+1 {{requires 'amax', 'columnwise_amax', 'row_amax' or 'column_amax'}}
  gq.grouped_amax ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
  return
}

// -----

func.func @grouped_amax_c6(%x: tensor<?x64xbf16>, %o: tensor<0xi32>, %a: tensor<3xf32>) {
  // expected-error @+1 {{requires 'offsets' to hold G + 1 entries where there are no 'scale_offsets', but got 0}}
  %0 = gq.grouped_amax ins(%x : tensor<?x64xbf16>) groups(%o : tensor<0xi32>)
      amax_out(%a : tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @grouped_amax_c6_type(%x: tensor<?x64xbf16>, %o: tensor<4xi16>, %a: tensor<3xf32>) {
  // expected-error @+1 {{requires 'offsets' to be a 1D tensor or memref of i32 or i64, but got tensor<4xi16>}}
  %0 = gq.grouped_amax ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi16>)
      amax_out(%a : tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @grouped_amax_c7(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %a: tensor<3xf32>) {
  // expected-error @+1 {{requires a single input of rank 2 and no 'maps' where it has no 'producer'}}
  %0 = gq.grouped_amax ins(%x, %x : tensor<?x64xbf16>, tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      amax_out(%a : tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @grouped_amax_c8(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %a: tensor<3xf32>) {
  // expected-error @+1 {{requires 'maps' to hold a map for each input of 'producer'}}
  %0 = gq.grouped_amax ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      amax_out(%a : tensor<3xf32>) -> tensor<3xf32> producer {
  ^bb0(%e: bf16):
    gq.yield %e : bf16
  }
  return
}

// -----

func.func @grouped_amax_c9(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %a: tensor<3xf32>) {
  // expected-error @+1 {{requires 'producer' to take an element of each input}}
  %0 = gq.grouped_amax ins(%x : tensor<?x64xbf16>) maps [affine_map<(m, k) -> (m, k)>]
      groups(%o : tensor<4xi32>) amax_out(%a : tensor<3xf32>) -> tensor<3xf32> producer {
  ^bb0(%e: f32):
    gq.yield %e : f32
  }
  return
}

// -----

func.func @grouped_amax_c9_no_yield(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %a: tensor<3xf32>) {
  // expected-error @+1 {{requires 'producer' to yield an element with gq.yield}}
  %0 = gq.grouped_amax ins(%x : tensor<?x64xbf16>) maps [affine_map<(m, k) -> (m, k)>]
      groups(%o : tensor<4xi32>) amax_out(%a : tensor<3xf32>) -> tensor<3xf32> producer {
  ^bb0(%e: bf16):
    "llvm.unreachable"() : () -> ()
  }
  return
}

// -----

func.func @grouped_amax_c10(%x: tensor<?x64xbf16>, %i: tensor<9xi32>, %o: tensor<4xi32>, %r: tensor<8xf32>) {
  // expected-error @+1 {{requires 'row_indices' to be 8, but got 9}}
  %0 = gq.grouped_amax ins(%x : tensor<?x64xbf16>) row_indices(%i : tensor<9xi32>)
      groups(%o : tensor<4xi32>) row_amax_out(%r : tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @grouped_amax_c11(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %r: tensor<?xf32>) {
  // expected-error @+1 {{requires 'row_indices' for maps with the symbol r}}
  %0 = gq.grouped_amax ins(%x : tensor<?x64xbf16>) maps [affine_map<(m, k)[r] -> (r, k)>]
      groups(%o : tensor<4xi32>) row_amax_out(%r : tensor<?xf32>) -> tensor<?xf32> producer {
  ^bb0(%e: bf16):
    gq.yield %e : bf16
  }
  return
}

// -----

func.func @grouped_amax_c12(%x: tensor<8x64xbf16>, %y: tensor<9x64xbf16>, %i: tensor<4xi32>, %o: tensor<4xi32>, %a: tensor<3xf32>) {
  // expected-error @+1 {{requires 'inputs' to be 8x64, but got 9x64}}
  %0 = gq.grouped_amax ins(%x, %y : tensor<8x64xbf16>, tensor<9x64xbf16>) row_indices(%i : tensor<4xi32>)
      maps [affine_map<(m, k)[r] -> (r, k)>, affine_map<(m, k)[r] -> (r, k)>]
      groups(%o : tensor<4xi32>) amax_out(%a : tensor<3xf32>) -> tensor<3xf32> producer {
  ^bb0(%e: bf16, %f: bf16):
    gq.yield %e : bf16
  }
  return
}

// -----

func.func @grouped_amax_c13(%x: tensor<?xbf16>, %o: tensor<4xi32>, %m: tensor<3xi32>, %r: tensor<?xf32>) {
  // expected-error @+1 {{requires no 'producer', 'row_indices', 'row_amax' or 'column_amax' where it has 'shapes'}}
  %0 = gq.grouped_amax ins(%x : tensor<?xbf16>) groups(%o : tensor<4xi32>)
      shapes(%m, %m : tensor<3xi32>, tensor<3xi32>) row_amax_out(%r : tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @grouped_amax_c13_entries(%x: tensor<?xbf16>, %o: tensor<4xi32>, %m: tensor<3xi32>, %k: tensor<2xi32>, %a: tensor<3xf32>) {
  // expected-error @+1 {{requires 'last_dims' to be 3, but got 2}}
  %0 = gq.grouped_amax ins(%x : tensor<?xbf16>) groups(%o : tensor<4xi32>)
      shapes(%m, %k : tensor<3xi32>, tensor<2xi32>) amax_out(%a : tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @grouped_amax_c13_type(%x: tensor<?xbf16>, %o: tensor<4xi32>, %m: tensor<3xi64>, %k: tensor<3xi32>, %a: tensor<3xf32>) {
  // expected-error @+1 {{requires 'offsets' and 'first_dims' to have the same element type}}
  %0 = gq.grouped_amax ins(%x : tensor<?xbf16>) groups(%o : tensor<4xi32>)
      shapes(%m, %k : tensor<3xi64>, tensor<3xi32>) amax_out(%a : tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @grouped_amax_c14_amax(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %a: tensor<4xf32>) {
  // expected-error @+1 {{requires 'amax' to be 3, but got 4}}
  %0 = gq.grouped_amax ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      amax_out(%a : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @grouped_amax_c14_row_amax(%x: tensor<8x64xbf16>, %o: tensor<4xi32>, %r: tensor<9xf32>) {
  // expected-error @+1 {{requires 'inputs' to be 9x64, but got 8x64}}
  %0 = gq.grouped_amax ins(%x : tensor<8x64xbf16>) groups(%o : tensor<4xi32>)
      row_amax_out(%r : tensor<9xf32>) -> tensor<9xf32>
  return
}

// -----

func.func @grouped_amax_c14_column_amax(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %a: tensor<3xf32>, %c: tensor<2x64xf32>) {
  // expected-error @+1 {{requires 'column_amax' to be 3x64, but got 2x64}}
  %0:2 = gq.grouped_amax ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      amax_out(%a : tensor<3xf32>) column_amax_out(%c : tensor<2x64xf32>) -> tensor<3xf32>, tensor<2x64xf32>
  return
}

// -----

func.func @grouped_amax_c15(%x: tensor<64xbf16>, %o: tensor<4xi32>, %a: tensor<3xf32>) {
  // expected-error @+1 {{requires an operand that has the extent M, and one that has K}}
  %0 = gq.grouped_amax ins(%x : tensor<64xbf16>) maps [affine_map<(m, k) -> (k)>]
      groups(%o : tensor<4xi32>) amax_out(%a : tensor<3xf32>) -> tensor<3xf32> producer {
  ^bb0(%e: bf16):
    gq.yield %e : bf16
  }
  return
}

// -----

func.func @grouped_amax_c16(%x: memref<8x64xbf16>, %o: memref<4xi32>, %r: memref<8xf32, strided<[2]>>) {
  // expected-error @+1 {{requires 'row_amax' to be contiguous}}
  gq.grouped_amax ins(%x : memref<8x64xbf16>) groups(%o : memref<4xi32>)
      row_amax_out(%r : memref<8xf32, strided<[2]>>)
  return
}

// -----

func.func @grouped_amax_c16_input(%x: memref<8x64xbf16, strided<[128, 2]>>, %o: memref<4xi32>, %r: memref<8xf32>) {
  // expected-error @+1 {{requires 'inputs' to have an innermost stride of 1}}
  gq.grouped_amax ins(%x : memref<8x64xbf16, strided<[128, 2]>>) groups(%o : memref<4xi32>)
      row_amax_out(%r : memref<8xf32>)
  return
}

// -----

func.func @grouped_amax_c17(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %c: tensor<3x64xf32, #gq.tile128x4>) {
  // expected-error @+1 {{requires 'column_amax' to have no encoding}}
  %0 = gq.grouped_amax ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      column_amax_out(%c : tensor<3x64xf32, #gq.tile128x4>) -> tensor<3x64xf32, #gq.tile128x4>
  return
}

// -----

func.func @grouped_amax_c18(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %a: tensor<3xf32>) {
  // expected-error @+1 {{requires 'columnwise_amax' or 'column_amax' for 'columnwise'}}
  %0 = gq.grouped_amax columnwise<transform = hadamard16> ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      amax_out(%a : tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @grouped_amax_c18_transform(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %a: tensor<3xf32>) {
  // expected-error @+1 {{requires a transform of 'columnwise' for 'columnwise_amax'; without one it is 'amax'}}
  %0 = gq.grouped_amax ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      columnwise_amax_out(%a : tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @grouped_amax_c18_other(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %a: tensor<3xf32>) {
  // expected-error @+1 {{requires 'columnwise' to have only a transform and its signs}}
  %0 = gq.grouped_amax columnwise<rounding = stochastic, transform = hadamard16> ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      columnwise_amax_out(%a : tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @grouped_amax_c18_entries(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %a: tensor<4xf32>) {
  // expected-error @+1 {{requires 'columnwise_amax' to be 3, but got 4}}
  %0 = gq.grouped_amax columnwise<transform = hadamard16> ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      columnwise_amax_out(%a : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @grouped_amax_c1_noop_flag(%x: tensor<?x64xbf16>, %o: tensor<4xi32>, %f: tensor<f32>, %a: tensor<3xf32>) {
  // expected-error @+1 {{requires 'noop_flag' to be a 0D tensor or memref of i32, but got tensor<f32>}}
  %0 = gq.grouped_amax ins(%x : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      noop_flag(%f : tensor<f32>) amax_out(%a : tensor<3xf32>) -> tensor<3xf32>
  return
}
