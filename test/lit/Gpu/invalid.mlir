// RUN: gq-opt %s --split-input-file -verify-diagnostics --pass-pipeline='builtin.module(convert-gq-to-gpu,gq-device-memory)'

func.func @tensors(%x: tensor<8x64xbf16>, %q0: tensor<8x64xf4E2M1FN>,
    %s0: tensor<8x4xf8E4M3FN>) -> tensor<8x64xf4E2M1FN> {
  // expected-error @+1 {{needs memrefs to be lowered; run one-shot-bufferize before}}
  %q, %s = gq.block_quantize format(nvfp4) ins(%x : tensor<8x64xbf16>)
      outs(%q0, %s0 : tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>)
      -> tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>
  return %q : tensor<8x64xf4E2M1FN>
}

// -----

func.func @unpacked(%x: memref<8x64xbf16>, %q: memref<8x64xf4E2M1FN>,
    %s: memref<8x4xf8E4M3FN>) {
  // expected-error @+1 {{needs packed data to be lowered; run gq-pack-subbyte before bufferization}}
  gq.block_quantize format(nvfp4) ins(%x : memref<8x64xbf16>)
      outs(%q, %s : memref<8x64xf4E2M1FN>, memref<8x4xf8E4M3FN>)
  return
}

// -----

func.func @host_access(%a: memref<4xf32>, %i: index) -> f32 {
  // expected-error @+1 {{'memref.load' op would run on the host, on device memory; it has no GPU lowering}}
  %r = memref.load %a[%i] : memref<4xf32>
  return %r : f32
}

// -----

func.func @host_reshape(%a: memref<4xf32>, %shape: memref<2xindex>) -> memref<?x?xf32> {
  // expected-error @+1 {{'memref.reshape' op would run on the host}}
  %r = memref.reshape %a(%shape) : (memref<4xf32>, memref<2xindex>) -> memref<?x?xf32>
  return %r : memref<?x?xf32>
}

// -----

func.func @host_memory() {
  // expected-error @+1 {{'memref.alloca' op would run on the host}}
  %r = memref.alloca() : memref<4xf32>
  return
}

// -----

memref.global "private" @variable : memref<4xf32> = dense<0.0>
func.func @variable_of_the_host() -> memref<4xf32> {
  // expected-error @+1 {{is host memory; only constant globals are copied to the device}}
  %r = memref.get_global @variable : memref<4xf32>
  return %r : memref<4xf32>
}

// -----

memref.global "private" constant @nibbles : memref<2xi4> = dense<0>
func.func @constant_of_nibbles() -> memref<2xi4> {
  // expected-error @+1 {{has elements of a type that is not stored in bytes}}
  %r = memref.get_global @nibbles : memref<2xi4>
  return %r : memref<2xi4>
}

// -----

// expected-error @+1 {{'gqDeviceConstant' is a function of the gq runtime that is called here; no other symbol may have its name}}
func.func private @gqDeviceConstant()
memref.global "private" constant @constant : memref<2xf32> = dense<0.0>
func.func @name_taken() -> memref<2xf32> {
  %r = memref.get_global @constant : memref<2xf32>
  return %r : memref<2xf32>
}

// -----

// expected-error @+1 {{'gqPlanLaunch' is a function of the gq runtime that is called here; no other symbol may have its name}}
func.func private @gqPlanLaunch()
func.func @plan_taken(%x: memref<?x64xf32>, %o: memref<4xi32>, %q: memref<?xi8>, %s: memref<?xf8E4M3FN>) {
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<?x64xf32>)
      groups(%o : memref<4xi32>)
      columnwise_outs(%q, %s : memref<?xi8>, memref<?xf8E4M3FN>)
  return
}

// -----

// Another module has another symbol table, without gq's functions.
module {
  func.func @nested_module(%a: memref<8x64xbf16>, %b: memref<8x32xi8>, %c: memref<8x4xf8E4M3FN>) {
    // expected-error @+1 {{needs to be in a func.func of the module itself to be lowered to kernels}}
    gq.block_quantize format(nvfp4) ins(%a : memref<8x64xbf16>) outs(%b, %c : memref<8x32xi8>, memref<8x4xf8E4M3FN>)
    return
  }
}
func.func @beside() { return }

// -----

gpu.module @nested_gpu_module {
  func.func @f(%a: memref<17x64xbf16>, %b: memref<17x32xi8>, %c: memref<17x4xf8E4M3FN>) {
    // expected-error @+1 {{needs to be in a func.func of the module itself to be lowered to kernels}}
    gq.block_quantize format(nvfp4) ins(%a : memref<17x64xbf16>) outs(%b, %c : memref<17x32xi8>, memref<17x4xf8E4M3FN>)
    return
  }
}

// -----

memref.global "private" constant @huge : memref<4611686018427387904x4xf32> = dense<0.0>
func.func @huge_constant() -> memref<4611686018427387904x4xf32> {
  // expected-error @+1 {{'memref.get_global' op is larger than any memory}}
  %0 = memref.get_global @huge : memref<4611686018427387904x4xf32>
  return %0 : memref<4611686018427387904x4xf32>
}

// -----

// gq handles copies between device memory in the module itself only.
module {
  func.func @copy_in_nested_module(%a: memref<2xf32>, %b: memref<2xf32>) {
    // expected-error @+1 {{would run on the host, on device memory; it has no GPU lowering}}
    memref.copy %a, %b : memref<2xf32> to memref<2xf32>
    return
  }
}
func.func @beside_the_copy() { return }

// -----

func.func @epilogue_of_f32(%a: memref<?x32xi8>, %b: memref<3x32x32xi8>,
    %sa: memref<?x4xf8E4M3FN>, %sb: memref<3x128x4xf8E4M3FN>, %o: memref<4xi32>,
    %so: memref<3xi32>, %c: memref<?x32xf32>) {
  // expected-error @+1 {{needs its epilogue of f32 in tiles256 as an op of its own to be lowered to kernels}}
  gq.grouped_mm format(nvfp4) kernel(tiles256) ins(%a, %b : memref<?x32xi8>, memref<3x32x32xi8>)
      scales(%sa, %sb : memref<?x4xf8E4M3FN>, memref<3x128x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      epilogue {
      ^bb0(%x: f32):
        gq.yield %x : f32
      }
      outs(%c : memref<?x32xf32>)
  return
}

// -----

func.func @crowded_epilogue_of_prepared(%a: memref<?x32xi8>,
    %b: memref<3x32x32xi8>, %sa: memref<?x4xf8E4M3FN>,
    %sb: memref<3x128x4xf8E4M3FN>, %o: memref<4xi32>, %so: memref<3xi32>,
    %n: memref<3x32xf32>, %c: memref<?x32xbf16>) {
  // expected-error @+1 {{needs its epilogue of column scales or a bias in tiles256 as an op of its own}}
  gq.grouped_mm format(nvfp4) kernel(tiles256) ins(%a, %b : memref<?x32xi8>, memref<3x32x32xi8>)
      scales(%sa, %sb : memref<?x4xf8E4M3FN>, memref<3x128x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>) column_scales(%n : memref<3x32xf32>)
      epilogue {
      ^bb0(%x: bf16):
        gq.yield %x : bf16
      }
      outs(%c : memref<?x32xbf16>)
  return
}

// -----

func.func @crowded_epilogue(%a: memref<?x32xi8>, %b: memref<3x32x32xi8>,
    %sa: memref<?x4xf8E4M3FN>, %sb: memref<3x128x4xf8E4M3FN>, %o: memref<4xi32>,
    %so: memref<3xi32>, %bias: memref<3x32xbf16>, %c: memref<?x32xbf16>) {
  // expected-error @+1 {{needs its epilogue of column scales or a bias in tiles128 as an op of its own}}
  gq.grouped_mm format(nvfp4) kernel(tiles128) ins(%a, %b : memref<?x32xi8>, memref<3x32x32xi8>)
      scales(%sa, %sb : memref<?x4xf8E4M3FN>, memref<3x128x4xf8E4M3FN>)
      groups(%o, %so : memref<4xi32>, memref<3xi32>) bias(%bias : memref<3x32xbf16>)
      epilogue {
      ^bb0(%x: bf16):
        gq.yield %x : bf16
      }
      outs(%c : memref<?x32xbf16>)
  return
}

// -----

func.func @numbers_with_an_amax_a_row(%x: memref<?x64xbf16>, %o: memref<4xi32>, %a: memref<?xf32>,
    %y: memref<?x64xf32>) {
  // expected-error @+1 {{has no GPU kernel that makes numbers instead of codes}}
  gq.grouped_block_quantize format(nvfp4) recipe(te) rowwise<outer = row> ins(%x : memref<?x64xbf16>)
      groups(%o : memref<4xi32>) outer_amax(%a : memref<?xf32>) outs(%y : memref<?x64xf32>)
  return
}

// -----

func.func @numbers_of_one_scale(%x: memref<?x64xbf16>, %o: memref<4xi32>, %s: memref<f32>,
    %y: memref<?x64xf32>) {
  // expected-error @+1 {{has no GPU kernel that makes numbers instead of codes}}
  gq.grouped_quantize format(fp8_e4m3) ins(%x : memref<?x64xbf16>)
      groups(%o : memref<4xi32>) scale(%s : memref<f32>) outs(%y : memref<?x64xf32>)
  return
}

// -----

func.func @numbers_of_columns(%x: memref<?x64xbf16>, %o: memref<4xi32>, %y: memref<?x64xf32>) {
  // expected-error @+1 {{has no GPU kernel that makes numbers instead of codes}}
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<?x64xbf16>)
      groups(%o : memref<4xi32>) columnwise_outs(%y : memref<?x64xf32>)
  return
}
