// A module as a program in Python, and what is wrong with one. That programs rebuild
// their modules: test/python/test_translate.py.

// RUN: gq-translate --mlir-to-python %s | FileCheck %s --match-full-lines --strict-whitespace
//      CHECK:import gq
//      CHECK:BESIDE = """\
// CHECK-NEXT:memref.global constant @table : memref<2xf32> = dense<[1.000000e+00, 2.000000e+00]>
// CHECK-NEXT:"""
//      CHECK:def quantize():
// CHECK-NEXT:    with gq.Graph("quantize", beside=BESIDE) as g:
// CHECK-NEXT:        a0 = g.input("a0", [None, 64], "bf16")
// CHECK-NEXT:        a1 = g.input("a1", [4], "i32")
// CHECK-NEXT:        a2 = g.input("a2", [None, 4], "f8E4M3FN", tiled=True)
// CHECK-NEXT:        v0 = g.empty([a0.shape[0], 64], "f4E2M1FN")
//      CHECK:        @gq.producers.typed
// CHECK-NEXT:        def f2(e0):
// CHECK-NEXT:            v3 = gq.producers.cast(e0, "f32")
// CHECK-NEXT:            v4 = v3 * 0.5
// CHECK-NEXT:            v5 = gq.producers.cast(v4, "bf16")
// CHECK-NEXT:            return v5
//      CHECK:        v6 = gq.graph.map(f2, a0, out=v1)
// CHECK-NEXT:        v7 = gq.grouped_block_quantize(v6, a1, rowwise=gq.Direction(block=(16, 16)), format="nvfp4", scale_layout="tile128x4", out=[v0, a2])
// CHECK-NEXT:        g.output(v7.data, v7.scales)
// CHECK-NEXT:    return g

func.func @quantize(%x: tensor<?x64xbf16>, %o: tensor<4xi32>,
    %s0: tensor<?x4xf8E4M3FN, #gq.tile128x4>)
    -> (tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>) {
  %c0 = arith.constant 0 : index
  %half = arith.constant 0.5 : f32
  %m = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %q0 = tensor.empty(%m) : tensor<?x64xf4E2M1FN>
  %e = tensor.empty(%m) : tensor<?x64xbf16>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x64xbf16>) outs(%e : tensor<?x64xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %f = arith.extf %a : bf16 to f32
    %h = arith.mulf %f, %half : f32
    %r = arith.truncf %h : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<?x64xbf16>
  %q, %s = gq.grouped_block_quantize format(nvfp4)
      rowwise <block = 16x16>
      ins(%y : tensor<?x64xbf16>) groups(%o : tensor<4xi32>)
      outs(%q0, %s0 : tensor<?x64xf4E2M1FN>,
                      tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
  return %q, %s : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>
}

//      CHECK:def parts():
//      CHECK:        v1 = a0[:, 8:24]
// CHECK-NEXT:        v2 = v1[:, 1:14:3]
// CHECK-NEXT:        v3 = a1[1:2, :]
// CHECK-NEXT:        v4 = gq.graph.fill((-0.5), v0)
// CHECK-NEXT:        v5 = gq.graph.gather(a0, a2)
//      CHECK:        v{{[0-9]+}} = gq.graph.map(f{{[0-9]+}}, a0, a3[:, None], out=v0)
// CHECK-NEXT:        g.output(v1, v2, v3, v4, v5, v{{[0-9]+}})

func.func @parts(%x: tensor<?x64xf32>, %y: tensor<4x64xi8>, %i: tensor<?x1xi32>, %w: tensor<?xf32>)
    -> (tensor<?x16xf32>, tensor<?x5xf32>, tensor<1x64xi8>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %half = arith.constant -0.5 : f32
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %0 = tensor.extract_slice %x[0, 8] [%m, 16] [1, 1] : tensor<?x64xf32> to tensor<?x16xf32>
  // The rows of %0 are %m, which no op says.
  %1 = tensor.extract_slice %0[0, 1] [%m, 5] [1, 3] : tensor<?x16xf32> to tensor<?x5xf32>
  %2 = tensor.extract_slice %y[1, 0] [1, 64] [1, 1] : tensor<4x64xi8> to tensor<1x64xi8>
  %3 = linalg.fill ins(%half : f32) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %4 = tensor.gather %x[%i] gather_dims([0]) : (tensor<?x64xf32>, tensor<?x1xi32>) -> tensor<?x64xf32>
  %5 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %w : tensor<?x64xf32>, tensor<?xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<?x64xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<?x16xf32>, tensor<?x5xf32>, tensor<1x64xi8>, tensor<?x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>
}

//      CHECK:def slices():
// CHECK-NEXT:    with gq.Graph("slices", beside=BESIDE) as g:
//      CHECK:        v0 = g.op("tensor.extract_slice", [a0, a1, a2],{{.*}}
// CHECK-NEXT:        v1 = g.op("tensor.extract_slice", [v0, a1],{{.*}}
// CHECK-NEXT:        v2 = v0[:, 0:32]
// CHECK-NEXT:        v3 = a3[3, :, 8:16]
// CHECK-NEXT:        v4 = v3[1:2, :]
// CHECK-NEXT:        g.output(v1, v2, v3, v4)

func.func @slices(%x: tensor<?x64xf32>, %i: index, %n: index, %y: tensor<4x2x64xf32>)
    -> (tensor<?x32xf32>, tensor<?x32xf32>, tensor<2x8xf32>, tensor<1x8xf32>) {
  %0 = tensor.extract_slice %x[%i, 0] [%n, 64] [1, 1] : tensor<?x64xf32> to tensor<?x64xf32>
  // %i is where rows of %0 begin, and not how many there are.
  %1 = tensor.extract_slice %0[0, 0] [%i, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
  %2 = tensor.extract_slice %0[0, 0] [%n, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
  %3 = tensor.extract_slice %y[3, 0, 8] [1, 2, 8] [1, 1, 1] : tensor<4x2x64xf32> to tensor<2x8xf32>
  %4 = tensor.extract_slice %3[1, 0] [1, 8] [1, 1] : tensor<2x8xf32> to tensor<1x8xf32>
  return %1, %2, %3, %4 : tensor<?x32xf32>, tensor<?x32xf32>, tensor<2x8xf32>, tensor<1x8xf32>
}

//      CHECK:def _3():
// CHECK-NEXT:    with gq.Graph("None", attributes={"sym_visibility": '"private"'}, beside=BESIDE) as g:
// CHECK-NEXT:        a0 = g.input("a0", [None, 64], "f32")
// CHECK-NEXT:        a1 = g.input("a1", type="index")
// CHECK-NEXT:        v0 = g.empty([a1, 4], "f32")
// CHECK-NEXT{LITERAL}:        v1 = g.op("tensor.expand_shape", [a0, a0.shape[0]], attributes={"reassociation": "[[0], [1, 2]]", "static_output_shape": "array<i64: -9223372036854775808, 2, 32>"}, results=["tensor<?x2x32xf32>"])
// CHECK-NEXT:        g.output(v1, v0)

func.func private @None(%x: tensor<?x64xf32>, %n: index)
    -> (tensor<?x2x32xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %0 = tensor.expand_shape %x [[0], [1, 2]] output_shape [%m, 2, 32] : tensor<?x64xf32> into tensor<?x2x32xf32>
  return %0, %e : tensor<?x2x32xf32>, tensor<?x4xf32>
}

//      CHECK:def regions():
// CHECK-NEXT:    with gq.Graph("regions", beside=BESIDE) as g:
//      CHECK:        v0, v1 = g.call(_3(), a0, 4)
//      CHECK:        @gq.graph.region("index", "tensor<?x2x32xf32>")
// CHECK-NEXT:        def r2(b3, b4):
//      CHECK:            @gq.graph.region("f32", "f32")
// CHECK-NEXT:            def r5(b6, b7):
// CHECK-NEXT:                v8 = g.op("math.cbrt", [b6], results=["f32"])
// CHECK-NEXT:                g.op("linalg.yield", [v8])
//      CHECK:            g.op("scf.yield", [v9])
//      CHECK:        v10 = g.op("scf.for", [0, 4, 1, v0], results=["tensor<?x2x32xf32>"], regions=[r2])
// CHECK-NEXT:        g.op("memref.store", [g.constant(0.5, "f32"), a1, 1])
// CHECK-NEXT:        v11 = g.op("memref.get_global", attributes={"name": "@table"}, results=["memref<2xf32>"])
// CHECK-NEXT:        g.output(v10, v11)

func.func @regions(%x: tensor<?x64xf32>, %b: memref<4xf32>)
    -> (tensor<?x2x32xf32>, memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %half = arith.constant 0.5 : f32
  %0:2 = call @None(%x, %c4) : (tensor<?x64xf32>, index) -> (tensor<?x2x32xf32>, tensor<?x4xf32>)
  %1 = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %0#0) -> (tensor<?x2x32xf32>) {
    %2 = linalg.generic {
        indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
        iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%t : tensor<?x2x32xf32>) outs(%t : tensor<?x2x32xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.cbrt %a : f32
      linalg.yield %r : f32
    } -> tensor<?x2x32xf32>
    scf.yield %2 : tensor<?x2x32xf32>
  }
  memref.store %half, %b[%c1] : memref<4xf32>
  %table = memref.get_global @table : memref<2xf32>
  return %1, %table : tensor<?x2x32xf32>, memref<2xf32>
}

memref.global constant @table : memref<2xf32> = dense<[1.0, 2.0]>

// Integers that are 0 are left out.
//      CHECK:def back():
//      CHECK:        v0 = gq.grouped_dequantize(a0, scales=a1, offsets=a2, outer_amax=a3, format="nvfp4", recipe="te", scale_layout="tile128x4", scale_max=256, columns=64, out=[a4])
// CHECK-NEXT:        v1 = gq.grouped_dequantize(a0, scales=a1, offsets=a2, outer_amax=a3, format="nvfp4", recipe="te", scale_layout="tile128x4", columns=64, out=[a4])
// CHECK-NEXT:        v2, v3 = gq.update_scales(a3, a5, a3, format="fp8_e4m3")
// CHECK-NEXT:        v4, v5 = gq.update_scales(a3, a5, a3, format="fp8_e4m3", margin=3)
//      CHECK:if __name__ == "__main__":
// CHECK-NEXT:    gq.graph.main(quantize, parts, slices, _3, regions, back)

func.func @back(%q: tensor<?x64xf4E2M1FN>, %s: tensor<?x4xf8E4M3FN, #gq.tile128x4>,
    %o: tensor<4xi32>, %a: tensor<3xf32>, %y0: tensor<?x64xf32>, %h0: tensor<5x3xf32>)
    -> (tensor<?x64xf32>, tensor<?x64xf32>, tensor<5x3xf32>, tensor<5x3xf32>) {
  %y = gq.grouped_dequantize format(nvfp4) recipe(te) scale_max(256)
      ins(%q : tensor<?x64xf4E2M1FN>) scales(%s : tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o : tensor<4xi32>) outer_amax(%a : tensor<3xf32>)
      outs(%y0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %z = gq.grouped_dequantize format(nvfp4) recipe(te)
      ins(%q : tensor<?x64xf4E2M1FN>) scales(%s : tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      groups(%o : tensor<4xi32>) outer_amax(%a : tensor<3xf32>)
      outs(%y0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %h, %n = gq.update_scales format(fp8_e4m3) amax_algo(max) ins(%a : tensor<3xf32>)
      outs(%h0, %a : tensor<5x3xf32>, tensor<3xf32>) -> tensor<5x3xf32>, tensor<3xf32>
  %i, %m = gq.update_scales format(fp8_e4m3) amax_algo(max) margin(3) ins(%a : tensor<3xf32>)
      outs(%h0, %a : tensor<5x3xf32>, tensor<3xf32>) -> tensor<5x3xf32>, tensor<3xf32>
  return %y, %z, %h, %i : tensor<?x64xf32>, tensor<?x64xf32>, tensor<5x3xf32>, tensor<5x3xf32>
}

// RUN: gq-translate --help | FileCheck %s --check-prefix=HELP
// HELP: usage: gq-translate --mlir-to-python [--split-input-file] [FILE.mlir]
// RUN: gq-translate --version | FileCheck %s --check-prefix=VERSION
// VERSION: gq-translate {{[0-9]+\.[0-9]+\.[0-9]+$}}
// RUN: not gq-translate %s 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not gq-translate --mlir-to-python %s %s 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: gq-translate: expected --mlir-to-python and at most one MLIR file; see --help
// RUN: not gq-translate --mlir-to-python %t.missing 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: gq-translate: {{.*}}.missing: No such file or directory
