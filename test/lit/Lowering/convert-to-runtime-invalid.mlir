// RUN: gq-opt %s --split-input-file -verify-diagnostics --pass-pipeline='builtin.module(convert-gq-to-runtime)'

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

func.func @producer(%x: memref<8x64xf32>, %o: memref<4xi32>, %so: memref<3xi32>,
    %q: memref<8x32xi8>, %s: memref<?x4xf8E4M3FN>) {
  // expected-error @+1 {{needs its producer as an op of its own to be lowered to the runtime; run gq-expand-producers before bufferization}}
  gq.grouped_block_quantize format(nvfp4) ins(%x : memref<8x64xf32>)
      maps [affine_map<(m, k) -> (m, k)>]
      groups(%o, %so : memref<4xi32>, memref<3xi32>)
      outs(%q, %s : memref<8x32xi8>, memref<?x4xf8E4M3FN>) producer {
  ^bb0(%e: f32):
    %f = math.absf %e : f32
    gq.yield %f : f32
  }
  return
}

// -----

func.func @other_memory(%x: memref<8x64xbf16, 1>, %q: memref<8x32xi8>,
    %s: memref<8x4xf8E4M3FN>) {
  // expected-error @+1 {{needs memrefs in the default memory space}}
  gq.block_quantize format(nvfp4) ins(%x : memref<8x64xbf16, 1>)
      outs(%q, %s : memref<8x32xi8>, memref<8x4xf8E4M3FN>)
  return
}

// -----

// expected-error @+1 {{'gqCpuBlockQuantize' is a function of the gq runtime that is called here; no other symbol may have its name}}
func.func @gqCpuBlockQuantize(%a: f32) {
  return
}
func.func @other_type(%x: memref<8x64xbf16>, %q: memref<8x32xi8>,
    %s: memref<8x4xf8E4M3FN>) {
  gq.block_quantize format(nvfp4) ins(%x : memref<8x64xbf16>)
      outs(%q, %s : memref<8x32xi8>, memref<8x4xf8E4M3FN>)
  return
}

// -----

// expected-error @+1 {{'gqCpuBlockQuantize' is a function of the gq runtime}}
func.func private @gqCpuBlockQuantize(%a: index, %b: i32, %c: i32) {
  return
}
func.func @a_body(%x: memref<8x64xbf16>, %q: memref<8x32xi8>,
    %s: memref<8x4xf8E4M3FN>) {
  gq.block_quantize format(nvfp4) ins(%x : memref<8x64xbf16>)
      outs(%q, %s : memref<8x32xi8>, memref<8x4xf8E4M3FN>)
  return
}

// -----

// expected-error @+1 {{'gqCpuBlockQuantize' is a function of the gq runtime}}
llvm.func @gqCpuBlockQuantize(i64, i32, i32)
func.func @of_llvm(%x: memref<8x64xbf16>, %q: memref<8x32xi8>,
    %s: memref<8x4xf8E4M3FN>) {
  gq.block_quantize format(nvfp4) ins(%x : memref<8x64xbf16>)
      outs(%q, %s : memref<8x32xi8>, memref<8x4xf8E4M3FN>)
  return
}

// -----

gpu.module @kernels {
  func.func @in_a_gpu_module(%x: memref<8x64xbf16>, %q: memref<8x32xi8>,
      %s: memref<8x4xf8E4M3FN>) {
    // expected-error @+1 {{needs to be in a func.func of the module itself}}
    gq.block_quantize format(nvfp4) ins(%x : memref<8x64xbf16>)
        outs(%q, %s : memref<8x32xi8>, memref<8x4xf8E4M3FN>)
    return
  }
}

// -----

func.func @epilogue(%a: memref<?x64xf8E4M3FN>, %b: memref<3x32x64xf8E4M3FN>,
    %o: memref<4xi32>, %c: memref<?x32xf32>) {
  // expected-error @+1 {{needs its epilogue as an op of its own}}
  gq.grouped_mm ins(%a, %b : memref<?x64xf8E4M3FN>, memref<3x32x64xf8E4M3FN>)
      groups(%o : memref<4xi32>)
      epilogue {
      ^bb0(%x: f32):
        gq.yield %x : f32
      }
      outs(%c : memref<?x32xf32>)
  return
}
