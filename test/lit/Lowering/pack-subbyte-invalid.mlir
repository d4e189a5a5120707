// RUN: gq-opt %s --split-input-file -verify-diagnostics --pass-pipeline='builtin.module(gq-pack-subbyte)'

func.func @other_op(%a: tensor<4x64xf4E2M1FN>) -> tensor<2x128xf4E2M1FN> {
  // expected-error @+2 {{'tensor.reshape' op uses an f4E2M1FN tensor, which gq-pack-subbyte cannot pack here}}
  %s = arith.constant dense<[2, 128]> : tensor<2xi32>
  %r = tensor.reshape %a(%s) : (tensor<4x64xf4E2M1FN>, tensor<2xi32>) -> tensor<2x128xf4E2M1FN>
  return %r : tensor<2x128xf4E2M1FN>
}

// -----

func.func @arith_op(%a: tensor<4x64xf4E2M1FN>) -> tensor<4x64xf32> {
  // expected-error @+1 {{'arith.extf' op uses an f4E2M1FN tensor}}
  %r = arith.extf %a : tensor<4x64xf4E2M1FN> to tensor<4x64xf32>
  return %r : tensor<4x64xf32>
}

// -----

func.func @constant() -> tensor<1x2xf4E2M1FN> {
  // expected-error @+1 {{'arith.constant' op uses an f4E2M1FN tensor}}
  %r = arith.constant dense<1.0> : tensor<1x2xf4E2M1FN>
  return %r : tensor<1x2xf4E2M1FN>
}

// -----

// expected-error @+1 {{'func.func' op has an f4E2M1FN tensor with an odd last extent}}
func.func @odd(%a: tensor<4x63xf4E2M1FN>) {
  return
}

// -----

// expected-error @+1 {{'func.func' op has f4E2M1FN outside of a ranked tensor}}
func.func @memref(%a: memref<4x64xf4E2M1FN>) {
  return
}

// -----

// expected-error @+1 {{'func.func' op has f4E2M1FN outside of a ranked tensor}}
func.func @scalar(%a: f4E2M1FN) {
  return
}

// -----

// expected-error @+1 {{'func.func' op has f4E2M1FN outside of a ranked tensor}}
func.func @rank_zero(%a: tensor<f4E2M1FN>) {
  return
}

// -----

func.func @dynamic_dim(%a: tensor<?x64xf4E2M1FN>, %i: index) -> index {
  // expected-error @+1 {{'tensor.dim' op needs a constant index to be packed}}
  %d = tensor.dim %a, %i : tensor<?x64xf4E2M1FN>
  return %d : index
}

// -----

func.func @cast_loses_encoding(%s: tensor<128x4xf8E4M3FN, #gq.tile128x4>)
    -> tensor<?x4xf8E4M3FN> {
  // expected-error @+1 {{'tensor.cast' op changes the encoding #gq.tile128x4}}
  %r = tensor.cast %s : tensor<128x4xf8E4M3FN, #gq.tile128x4> to tensor<?x4xf8E4M3FN>
  return %r : tensor<?x4xf8E4M3FN>
}

// -----

func.func @cast_adds_encoding(%s: tensor<128x4xf8E4M3FN>)
    -> tensor<128x4xf8E4M3FN, #gq.tile128x4> {
  // expected-error @+1 {{'tensor.cast' op changes the encoding #gq.tile128x4}}
  %r = tensor.cast %s : tensor<128x4xf8E4M3FN> to tensor<128x4xf8E4M3FN, #gq.tile128x4>
  return %r : tensor<128x4xf8E4M3FN, #gq.tile128x4>
}

// -----

func.func @slice_loses_encoding(%s: tensor<256x4xf8E4M3FN, #gq.tile128x4>)
    -> tensor<128x4xf8E4M3FN> {
  // expected-error @+1 {{'tensor.extract_slice' op changes the encoding #gq.tile128x4}}
  %r = tensor.extract_slice %s[128, 0] [128, 4] [1, 1]
      : tensor<256x4xf8E4M3FN, #gq.tile128x4> to tensor<128x4xf8E4M3FN>
  return %r : tensor<128x4xf8E4M3FN>
}

// -----

func.func @slice_begins_in_a_tile(%s: tensor<256x8xf8E4M3FN, #gq.tile128x4>)
    -> tensor<128x8xf8E4M3FN, #gq.tile128x4> {
  // expected-error @+1 {{'tensor.extract_slice' op cuts tiles of #gq.tile128x4}}
  %r = tensor.extract_slice %s[64, 0] [128, 8] [1, 1]
      : tensor<256x8xf8E4M3FN, #gq.tile128x4>
      to tensor<128x8xf8E4M3FN, #gq.tile128x4>
  return %r : tensor<128x8xf8E4M3FN, #gq.tile128x4>
}

// -----

func.func @slice_of_some_columns(%s: tensor<256x8xf8E4M3FN, #gq.tile128x4>)
    -> tensor<128x4xf8E4M3FN, #gq.tile128x4> {
  // expected-error @+1 {{'tensor.extract_slice' op cuts tiles of #gq.tile128x4}}
  %r = tensor.extract_slice %s[0, 4] [128, 4] [1, 1]
      : tensor<256x8xf8E4M3FN, #gq.tile128x4>
      to tensor<128x4xf8E4M3FN, #gq.tile128x4>
  return %r : tensor<128x4xf8E4M3FN, #gq.tile128x4>
}

// -----

func.func @slice_ends_in_a_tile(%s: tensor<256x8xf8E4M3FN, #gq.tile128x4>)
    -> tensor<64x8xf8E4M3FN, #gq.tile128x4> {
  // expected-error @+1 {{'tensor.extract_slice' op cuts tiles of #gq.tile128x4}}
  %r = tensor.extract_slice %s[0, 0] [64, 8] [1, 1]
      : tensor<256x8xf8E4M3FN, #gq.tile128x4>
      to tensor<64x8xf8E4M3FN, #gq.tile128x4>
  return %r : tensor<64x8xf8E4M3FN, #gq.tile128x4>
}

// -----

func.func @slice_with_strides(%s: tensor<256x8xf8E4M3FN, #gq.tile128x4>)
    -> tensor<128x8xf8E4M3FN, #gq.tile128x4> {
  // expected-error @+1 {{'tensor.extract_slice' op cuts tiles of #gq.tile128x4}}
  %r = tensor.extract_slice %s[0, 0] [128, 8] [2, 1]
      : tensor<256x8xf8E4M3FN, #gq.tile128x4>
      to tensor<128x8xf8E4M3FN, #gq.tile128x4>
  return %r : tensor<128x8xf8E4M3FN, #gq.tile128x4>
}

// -----

func.func @slice_at_a_dynamic_row(%s: tensor<256x8xf8E4M3FN, #gq.tile128x4>, %i: index)
    -> tensor<128x8xf8E4M3FN, #gq.tile128x4> {
  // expected-error @+1 {{'tensor.extract_slice' op cuts tiles of #gq.tile128x4}}
  %r = tensor.extract_slice %s[%i, 0] [128, 8] [1, 1]
      : tensor<256x8xf8E4M3FN, #gq.tile128x4>
      to tensor<128x8xf8E4M3FN, #gq.tile128x4>
  return %r : tensor<128x8xf8E4M3FN, #gq.tile128x4>
}

// -----

func.func @slice_of_dynamic_rows(%s: tensor<256x8xf8E4M3FN, #gq.tile128x4>, %i: index)
    -> tensor<?x8xf8E4M3FN, #gq.tile128x4> {
  // expected-error @+1 {{'tensor.extract_slice' op cuts tiles of #gq.tile128x4}}
  %r = tensor.extract_slice %s[0, 0] [%i, 8] [1, 1]
      : tensor<256x8xf8E4M3FN, #gq.tile128x4>
      to tensor<?x8xf8E4M3FN, #gq.tile128x4>
  return %r : tensor<?x8xf8E4M3FN, #gq.tile128x4>
}

// -----

func.func @slice_of_dynamic_columns(%s: tensor<256x?xf8E4M3FN, #gq.tile128x4>)
    -> tensor<128x8xf8E4M3FN, #gq.tile128x4> {
  // expected-error @+1 {{'tensor.extract_slice' op cuts tiles of #gq.tile128x4}}
  %r = tensor.extract_slice %s[0, 0] [128, 8] [1, 1]
      : tensor<256x?xf8E4M3FN, #gq.tile128x4>
      to tensor<128x8xf8E4M3FN, #gq.tile128x4>
  return %r : tensor<128x8xf8E4M3FN, #gq.tile128x4>
}

// -----

func.func @slice_of_flat_scales(%s: tensor<2048xf8E4M3FN, #gq.tile128x4>)
    -> tensor<1024xf8E4M3FN, #gq.tile128x4> {
  // expected-error @+1 {{'tensor.extract_slice' op cuts tiles of #gq.tile128x4}}
  %r = tensor.extract_slice %s[1024] [1024] [1]
      : tensor<2048xf8E4M3FN, #gq.tile128x4>
      to tensor<1024xf8E4M3FN, #gq.tile128x4>
  return %r : tensor<1024xf8E4M3FN, #gq.tile128x4>
}

// -----

func.func @insert_begins_in_a_tile(%s: tensor<128x8xf8E4M3FN, #gq.tile128x4>,
    %t: tensor<256x8xf8E4M3FN, #gq.tile128x4>) -> tensor<256x8xf8E4M3FN, #gq.tile128x4> {
  // expected-error @+1 {{'tensor.insert_slice' op cuts tiles of #gq.tile128x4}}
  %r = tensor.insert_slice %s into %t[64, 0] [128, 8] [1, 1]
      : tensor<128x8xf8E4M3FN, #gq.tile128x4>
      into tensor<256x8xf8E4M3FN, #gq.tile128x4>
  return %r : tensor<256x8xf8E4M3FN, #gq.tile128x4>
}

// -----

func.func @insert_of_linear_scales(%s: tensor<128x8xf8E4M3FN>,
    %t: tensor<256x8xf8E4M3FN, #gq.tile128x4>) -> tensor<256x8xf8E4M3FN, #gq.tile128x4> {
  // expected-error @+1 {{'tensor.insert_slice' op changes the encoding #gq.tile128x4}}
  %r = tensor.insert_slice %s into %t[128, 0] [128, 8] [1, 1]
      : tensor<128x8xf8E4M3FN>
      into tensor<256x8xf8E4M3FN, #gq.tile128x4>
  return %r : tensor<256x8xf8E4M3FN, #gq.tile128x4>
}

// -----

func.func @copy(%s: tensor<256x8xf8E4M3FN, #gq.tile128x4>,
    %t: tensor<256x8xf8E4M3FN>) -> tensor<256x8xf8E4M3FN> {
  // expected-error @+1 {{'linalg.copy' op uses a tensor with the encoding #gq.tile128x4 but may not keep it}}
  %r = linalg.copy ins(%s : tensor<256x8xf8E4M3FN, #gq.tile128x4>)
      outs(%t : tensor<256x8xf8E4M3FN>) -> tensor<256x8xf8E4M3FN>
  return %r : tensor<256x8xf8E4M3FN>
}

// -----

func.func @buffer(%s: tensor<256x8xf8E4M3FN, #gq.tile128x4>) -> tensor<256x8xf8E4M3FN> {
  // expected-error @+1 {{'bufferization.to_buffer' op uses a tensor with the encoding #gq.tile128x4}}
  %b = bufferization.to_buffer %s : tensor<256x8xf8E4M3FN, #gq.tile128x4> to memref<256x8xf8E4M3FN>
  %r = bufferization.to_tensor %b restrict : memref<256x8xf8E4M3FN> to tensor<256x8xf8E4M3FN>
  return %r : tensor<256x8xf8E4M3FN>
}

// -----

func.func @unrealized_cast(%s: tensor<256x8xf8E4M3FN, #gq.tile128x4>) -> tensor<256x8xf8E4M3FN> {
  // expected-error @+1 {{'builtin.unrealized_conversion_cast' op uses a tensor with the encoding #gq.tile128x4}}
  %r = builtin.unrealized_conversion_cast %s : tensor<256x8xf8E4M3FN, #gq.tile128x4> to tensor<256x8xf8E4M3FN>
  return %r : tensor<256x8xf8E4M3FN>
}

// -----

func.func @extract(%s: tensor<256x8xf8E4M3FN, #gq.tile128x4>, %i: index) -> f8E4M3FN {
  // expected-error @+1 {{'tensor.extract' op uses a tensor with the encoding #gq.tile128x4}}
  %r = tensor.extract %s[%i, %i] : tensor<256x8xf8E4M3FN, #gq.tile128x4>
  return %r : f8E4M3FN
}

// -----

func.func @concat(%a: tensor<8x64xf4E2M1FN>) -> tensor<16x64xf4E2M1FN> {
  // expected-error @+1 {{'tensor.concat' op uses an f4E2M1FN tensor, which gq-pack-subbyte cannot pack here; it packs those of gq, func, cf and scf ops, arith.select, tensor.empty, tensor.cast, tensor.dim, tensor.expand_shape and collapse_shape, tensor.extract_slice, insert_slice and parallel_insert_slice}}
  %r = tensor.concat dim(0) %a, %a : (tensor<8x64xf4E2M1FN>, tensor<8x64xf4E2M1FN>) -> tensor<16x64xf4E2M1FN>
  return %r : tensor<16x64xf4E2M1FN>
}
