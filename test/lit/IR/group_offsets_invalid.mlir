// RUN: gq-opt %s -split-input-file -verify-diagnostics

// One chunk per constraint, named after the op and the constraint's number.

func.func @group_offsets_c1(%c: memref<3xi16>, %o: memref<4xi32>) {
  // expected-error @+1 {{requires 'counts' to be a 1D tensor or memref of i32 or i64, but got memref<3xi16>}}
  gq.group_offsets ins(%c : memref<3xi16>) outs(%o : memref<4xi32>)
  return
}

// -----

func.func @group_offsets_c2(%c: tensor<3xi32>, %o: tensor<4xi32>) {
  // expected-error @+1 {{requires a result for each tensor that it writes, 1 in all, but has 0}}
  gq.group_offsets ins(%c : tensor<3xi32>) outs(%o : tensor<4xi32>)
  return
}

// -----

func.func @group_offsets_c3(%c: tensor<3xi32>, %o: memref<4xi32>) {
  // expected-error @+1 {{requires all operands to be tensors or all memrefs}}
  gq.group_offsets ins(%c : tensor<3xi32>) outs(%o : memref<4xi32>)
  return
}

// -----

func.func @group_offsets_c4(%c: memref<3xi32>, %o: memref<5xi32>) {
  // expected-error @+1 {{requires 'offsets' to hold 3 or 4 entries for 3 counts, but got 5}}
  gq.group_offsets ins(%c : memref<3xi32>) outs(%o : memref<5xi32>)
  return
}

// -----

func.func @group_offsets_c4_scales(%c: memref<3xi32>, %o: memref<?xi32>, %s: memref<4xi32>) {
  // expected-error @+1 {{requires 'scale_offsets' to be 3, but got 4}}
  gq.group_offsets ins(%c : memref<3xi32>) outs(%o, %s : memref<?xi32>, memref<4xi32>)
  return
}

// -----

func.func @group_offsets_c5(%c: memref<3xi32>, %o: memref<4xi32>, %s: memref<3xi64>) {
  // expected-error @+1 {{requires 'offsets' and 'scale_offsets' to have the same element type}}
  gq.group_offsets ins(%c : memref<3xi32>) outs(%o, %s : memref<4xi32>, memref<3xi64>)
  return
}

// -----

func.func @group_offsets_c6(%c: memref<3xi32, strided<[2]>>, %o: memref<4xi32>) {
  // expected-error @+1 {{requires 'counts' to be contiguous}}
  gq.group_offsets ins(%c : memref<3xi32, strided<[2]>>) outs(%o : memref<4xi32>)
  return
}

// -----

func.func @group_offsets_c6_encoding(%c: tensor<3xi32>, %o: tensor<4xi32, #gq.tile128x4>) -> tensor<4xi32, #gq.tile128x4> {
  // expected-error @+1 {{requires 'offsets' to have no encoding}}
  %r = gq.group_offsets ins(%c : tensor<3xi32>) outs(%o : tensor<4xi32, #gq.tile128x4>) -> tensor<4xi32, #gq.tile128x4>
  return %r : tensor<4xi32, #gq.tile128x4>
}

// -----

// The last two, which have no name, have too many elements, too.
func.func @group_offsets_operands(%c: tensor<4xi32>,
    %h: tensor<1048576x1048576x1048576xi32>) {
  // expected-error @+1 {{requires at most 3 operands, but got 5}}
  %0:2 = "gq.group_offsets"(%c, %c, %c, %h, %h)
      : (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>,
         tensor<1048576x1048576x1048576xi32>, tensor<1048576x1048576x1048576xi32>)
      -> (tensor<4xi32>, tensor<4xi32>)
  return
}
