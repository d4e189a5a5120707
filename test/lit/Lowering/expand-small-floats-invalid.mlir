// RUN: gq-opt %s --split-input-file -verify-diagnostics --pass-pipeline='builtin.module(gq-expand-small-floats)'

func.func @computes(%x: f8E4M3FN) -> f8E4M3FN {
  // expected-error @+1 {{'arith.addf' op computes with a float of less than 16 bits, which has no lowering here; extend it first}}
  %r = arith.addf %x, %x : f8E4M3FN
  return %r : f8E4M3FN
}

// -----

func.func @f4(%x: f4E2M1FN) -> f32 {
  // expected-error @+1 {{'arith.extf' op converts a small float that is neither f8E4M3FN, f8E5M2 nor f8E8M0FNU, or a vector of such, which has no lowering here}}
  %r = arith.extf %x : f4E2M1FN to f32
  return %r : f32
}

// -----

func.func @to_f4(%x: bf16) -> f4E2M1FN {
  // expected-error @+1 {{'arith.truncf' op rounds to a small float other than f32, bf16 or f16 to f8E4M3FN or f8E5M2, which has no lowering here}}
  %r = arith.truncf %x : bf16 to f4E2M1FN
  return %r : f4E2M1FN
}

// -----

func.func @rounding(%x: f32) -> f8E5M2 {
  // expected-error @+1 {{'arith.truncf' op rounds to a small float with a 'roundingmode', which has no lowering here}}
  %r = arith.truncf %x toward_zero : f32 to f8E5M2
  return %r : f8E5M2
}

// -----

func.func @vector(%x: vector<4xf8E5M2>) -> vector<4xf32> {
  // expected-error @+1 {{'arith.extf' op converts a small float that is neither}}
  %r = arith.extf %x : vector<4xf8E5M2> to vector<4xf32>
  return %r : vector<4xf32>
}
