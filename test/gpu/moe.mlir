// What stands before the experts' first matmul, as a frontend writes it: tokens
// are normalized, activated, put in the order of their experts, quantized, and
// their scales laid out. The rows in that order have another reader. All but
// the quantization runs in kernels of upstream's loops.

#id = affine_map<(m, k) -> (m, k)>
#m = affine_map<(m, k) -> (m)>
#k = affine_map<(m, k) -> (k)>

func.func @main(%x: tensor<?x64xbf16>, %tokens: tensor<?xi32>,
                %offsets: tensor<?xi32>, %scale_offsets: tensor<?xi32>,
                %data0: tensor<?x64xf4E2M1FN>,
                %scales0: tensor<?x4xf8E4M3FN, #gq.tile128x4>)
    -> (tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>,
        tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %global_scale = arith.constant dense<1.75> : tensor<f32>
  %weight = arith.constant dense<[
      0.75, 0.96875, 1.1875, 0.90625, 1.125, 0.84375, 1.0625, 0.78125, 1.0,
      1.21875, 0.9375, 1.15625, 0.875, 1.09375, 0.8125, 1.03125, 0.75,
      0.96875, 1.1875, 0.90625, 1.125, 0.84375, 1.0625, 0.78125, 1.0, 1.21875,
      0.9375, 1.15625, 0.875, 1.09375, 0.8125, 1.03125, 0.75, 0.96875,
      1.1875, 0.90625, 1.125, 0.84375, 1.0625, 0.78125, 1.0, 1.21875, 0.9375,
      1.15625, 0.875, 1.09375, 0.8125, 1.03125, 0.75, 0.96875, 1.1875,
      0.90625, 1.125, 0.84375, 1.0625, 0.78125, 1.0, 1.21875, 0.9375, 1.15625,
      0.875, 1.09375, 0.8125, 1.03125]> : tensor<64xf32>
  %bias = arith.constant dense<[
      -0.3125, 0.0, 0.3125, -0.0625, 0.25, -0.125, 0.1875, -0.1875, 0.125,
      -0.25, 0.0625, -0.3125, 0.0, 0.3125, -0.0625, 0.25, -0.125, 0.1875,
      -0.1875, 0.125, -0.25, 0.0625, -0.3125, 0.0, 0.3125, -0.0625, 0.25,
      -0.125, 0.1875, -0.1875, 0.125, -0.25, 0.0625, -0.3125, 0.0, 0.3125,
      -0.0625, 0.25, -0.125, 0.1875, -0.1875, 0.125, -0.25, 0.0625, -0.3125,
      0.0, 0.3125, -0.0625, 0.25, -0.125, 0.1875, -0.1875, 0.125, -0.25,
      0.0625, -0.3125, 0.0, 0.3125, -0.0625, 0.25, -0.125, 0.1875, -0.1875,
      0.125]> : tensor<64xf32>
  %m = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %n = tensor.dim %tokens, %c0 : tensor<?xi32>

  %sum0 = tensor.empty(%m) : tensor<?xf32>
  %sum1 = linalg.fill ins(%zero : f32) outs(%sum0 : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#id, #m], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x64xbf16>) outs(%sum1 : tensor<?xf32>) {
  ^bb0(%a: bf16, %s: f32):
    %f = arith.extf %a : bf16 to f32
    %square = arith.mulf %f, %f : f32
    %r = arith.addf %s, %square : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>

  // x / sqrt(mean of squares + epsilon) * weight + bias, and gelu of it.
  %act0 = tensor.empty(%m) : tensor<?x64xbf16>
  %act = linalg.generic {indexing_maps = [#id, #m, #k, #k, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum, %weight, %bias : tensor<?x64xbf16>, tensor<?xf32>, tensor<64xf32>, tensor<64xf32>)
      outs(%act0 : tensor<?x64xbf16>) {
  ^bb0(%a: bf16, %s: f32, %w: f32, %b: f32, %out: bf16):
    %columns = arith.constant 64.0 : f32
    %epsilon = arith.constant 1.0e-5 : f32
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %c = arith.constant 0.79788456 : f32
    %d = arith.constant 0.044715 : f32
    %f = arith.extf %a : bf16 to f32
    %mean = arith.divf %s, %columns : f32
    %shifted = arith.addf %mean, %epsilon : f32
    %norm = math.sqrt %shifted : f32
    %x0 = arith.divf %f, %norm : f32
    %x1 = arith.mulf %x0, %w : f32
    %x2 = arith.addf %x1, %b : f32
    %y0 = arith.mulf %x2, %x2 : f32
    %y1 = arith.mulf %y0, %x2 : f32
    %y2 = arith.mulf %y1, %d : f32
    %y3 = arith.addf %x2, %y2 : f32
    %y4 = arith.mulf %y3, %c : f32
    %t = math.tanh %y4 : f32
    %t1 = arith.addf %t, %one : f32
    %g = arith.mulf %x2, %half : f32
    %r = arith.mulf %g, %t1 : f32
    %rounded = arith.truncf %r : f32 to bf16
    linalg.yield %rounded : bf16
  } -> tensor<?x64xbf16>

  %sorted0 = tensor.empty(%n) : tensor<?x64xbf16>
  %sorted = linalg.generic {indexing_maps = [#m, #id], iterator_types = ["parallel", "parallel"]}
      ins(%tokens : tensor<?xi32>) outs(%sorted0 : tensor<?x64xbf16>) {
  ^bb0(%token: i32, %out: bf16):
    %i = arith.index_cast %token : i32 to index
    %j = linalg.index 1 : index
    %r = tensor.extract %act[%i, %j] : tensor<?x64xbf16>
    linalg.yield %r : bf16
  } -> tensor<?x64xbf16>

  %linear0 = tensor.empty(%n) : tensor<?x4xf8E4M3FN>
  %data, %linear = gq.block_quantize format(nvfp4)
      ins(%sorted : tensor<?x64xbf16>) global_scale(%global_scale : tensor<f32>)
      outs(%data0, %linear0 : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>)
      -> tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN>
  %scales = gq.preprocess_grouped_matmul_sf format(nvfp4)
      ins(%linear : tensor<?x4xf8E4M3FN>)
      groups(%offsets, %scale_offsets : tensor<?xi32>, tensor<?xi32>)
      outs(%scales0 : tensor<?x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<?x4xf8E4M3FN, #gq.tile128x4>

  %halves0 = tensor.empty(%n) : tensor<?x64xf32>
  %halves = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sorted : tensor<?x64xbf16>) outs(%halves0 : tensor<?x64xf32>) {
  ^bb0(%a: bf16, %out: f32):
    %half = arith.constant 0.5 : f32
    %f = arith.extf %a : bf16 to f32
    %r = arith.mulf %f, %half : f32
    linalg.yield %r : f32
  } -> tensor<?x64xf32>
  return %data, %scales, %halves
      : tensor<?x64xf4E2M1FN>, tensor<?x4xf8E4M3FN, #gq.tile128x4>, tensor<?x64xf32>
}

// Groups that are known when the graph is compiled.
func.func @fixed_groups(%x: tensor<300x64xbf16>, %data0: tensor<300x64xf4E2M1FN>,
                        %scales0: tensor<640x4xf8E4M3FN, #gq.tile128x4>)
    -> (tensor<300x64xf4E2M1FN>, tensor<640x4xf8E4M3FN, #gq.tile128x4>) {
  %offsets = arith.constant dense<[0, 100, 100, 290]> : tensor<4xi32>
  %scale_offsets = arith.constant dense<[0, 128, 256]> : tensor<3xi32>
  %global_scales = arith.constant dense<[0.5, 2.0, 3.0]> : tensor<3xf32>
  %data, %scales = gq.grouped_block_quantize format(nvfp4)
      ins(%x : tensor<300x64xbf16>)
      groups(%offsets, %scale_offsets : tensor<4xi32>, tensor<3xi32>)
      global_scale(%global_scales : tensor<3xf32>)
      outs(%data0, %scales0 : tensor<300x64xf4E2M1FN>, tensor<640x4xf8E4M3FN, #gq.tile128x4>)
      -> tensor<300x64xf4E2M1FN>, tensor<640x4xf8E4M3FN, #gq.tile128x4>
  return %data, %scales : tensor<300x64xf4E2M1FN>, tensor<640x4xf8E4M3FN, #gq.tile128x4>
}
