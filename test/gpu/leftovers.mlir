// What no gq kernel takes in: each function is kernels of upstream's loops.
// Values are such that a CPU and a GPU compute them to the same bit, but for
// @softmax, whose exp differs.

#id2 = affine_map<(m, k) -> (m, k)>
#m = affine_map<(m, k) -> (m)>
#k = affine_map<(m, k) -> (k)>
#none = affine_map<(m, k) -> ()>

// A reduction around the parallel loop, and one within.
func.func @sums(%x: tensor<?x?xbf16>) -> (tensor<?xf32>, tensor<?xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xbf16>
  %k = tensor.dim %x, %c1 : tensor<?x?xbf16>
  %columns0 = tensor.empty(%k) : tensor<?xf32>
  %columns1 = linalg.fill ins(%zero : f32) outs(%columns0 : tensor<?xf32>) -> tensor<?xf32>
  %columns = linalg.generic {indexing_maps = [#id2, #k], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x?xbf16>) outs(%columns1 : tensor<?xf32>) {
  ^bb0(%a: bf16, %sum: f32):
    %e = arith.extf %a : bf16 to f32
    %r = arith.addf %sum, %e : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %rows0 = tensor.empty(%m) : tensor<?xf32>
  %rows1 = linalg.fill ins(%zero : f32) outs(%rows0 : tensor<?xf32>) -> tensor<?xf32>
  %rows = linalg.generic {indexing_maps = [#id2, #m], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xbf16>) outs(%rows1 : tensor<?xf32>) {
  ^bb0(%a: bf16, %sum: f32):
    %e = arith.extf %a : bf16 to f32
    %r = arith.addf %sum, %e : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %all0 = tensor.empty() : tensor<f32>
  %all1 = linalg.fill ins(%zero : f32) outs(%all0 : tensor<f32>) -> tensor<f32>
  %all = linalg.reduce ins(%rows : tensor<?xf32>) outs(%all1 : tensor<f32>) dimensions = [0]
      (%a: f32, %sum: f32) {
        %r = arith.addf %sum, %a : f32
        linalg.yield %r : f32
      }
  return %columns, %rows, %all : tensor<?xf32>, tensor<?xf32>, tensor<f32>
}

// Each operation rounds to the type that it is in.
func.func @bf16(%x: tensor<?x?xbf16>, %s: tensor<bf16>) -> tensor<?x?xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xbf16>
  %k = tensor.dim %x, %c1 : tensor<?x?xbf16>
  %y0 = tensor.empty(%m, %k) : tensor<?x?xbf16>
  %y = linalg.generic {indexing_maps = [#id2, #none, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<?x?xbf16>, tensor<bf16>) outs(%y0 : tensor<?x?xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %out: bf16):
    %p = arith.mulf %a, %b : bf16
    %q = arith.addf %p, %a : bf16
    %r = arith.divf %q, %b : bf16
    %t = arith.maximumf %r, %p : bf16
    linalg.yield %t : bf16
  } -> tensor<?x?xbf16>
  return %y : tensor<?x?xbf16>
}

func.func @softmax(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %k = tensor.dim %x, %c1 : tensor<?x?xf32>
  %row = tensor.empty(%m) : tensor<?xf32>
  %max0 = linalg.fill ins(%low : f32) outs(%row : tensor<?xf32>) -> tensor<?xf32>
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<?x?xf32>) outs(%max0 : tensor<?xf32>) dimensions = [1]
  %y0 = tensor.empty(%m, %k) : tensor<?x?xf32>
  %exp = linalg.generic {indexing_maps = [#id2, #m, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<?x?xf32>, tensor<?xf32>) outs(%y0 : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %d = arith.subf %a, %b : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  } -> tensor<?x?xf32>
  %sum0 = linalg.fill ins(%zero : f32) outs(%row : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<?x?xf32>) outs(%sum0 : tensor<?xf32>) dimensions = [1]
  %y = linalg.generic {indexing_maps = [#id2, #m, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<?x?xf32>, tensor<?xf32>) outs(%y0 : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %d = arith.divf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

func.func @matmul(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %c2 = tensor.empty(%m, %n) : tensor<?x?xf32>
  %c3 = linalg.fill ins(%zero : f32) outs(%c2 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %c = linalg.matmul ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c3 : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %c : tensor<?x?xf32>
}

// Four dimensions, one of them of one element, and a transposition.
func.func @batches(%a: tensor<?x1x?x?xf32>, %b: tensor<?x?xf32>) -> (tensor<?x?x1x?xf32>, tensor<?x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %g = tensor.dim %a, %c0 : tensor<?x1x?x?xf32>
  %m = tensor.dim %a, %c2 : tensor<?x1x?x?xf32>
  %k = tensor.dim %a, %c3 : tensor<?x1x?x?xf32>
  %n = tensor.dim %b, %c1 : tensor<?x?xf32>
  %t0 = tensor.empty(%k, %m, %g) : tensor<?x?x1x?xf32>
  %t = linalg.transpose ins(%a : tensor<?x1x?x?xf32>) outs(%t0 : tensor<?x?x1x?xf32>) permutation = [3, 2, 1, 0]
  %flat = tensor.collapse_shape %a [[0, 1], [2], [3]] : tensor<?x1x?x?xf32> into tensor<?x?x?xf32>
  %w0 = tensor.empty(%g, %k, %n) : tensor<?x?x?xf32>
  %w = linalg.broadcast ins(%b : tensor<?x?xf32>) outs(%w0 : tensor<?x?x?xf32>) dimensions = [0]
  %y0 = tensor.empty(%g, %m, %n) : tensor<?x?x?xf32>
  %y1 = linalg.fill ins(%zero : f32) outs(%y0 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %y = linalg.batch_matmul ins(%flat, %w : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%y1 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %t, %y : tensor<?x?x1x?xf32>, tensor<?x?x?xf32>
}

// Rows by number, a table by number, and the numbers of the loops themselves,
// also where a reduction is first.
func.func @gather(%x: tensor<?x?xf32>, %rows: tensor<?xi32>) -> (tensor<?x?xf32>, tensor<?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant 0 : i64
  %table = arith.constant dense<[[1.0, -2.0], [0.5, 3.0], [-0.25, 7.0]]> : tensor<3x2xf32>
  %n = tensor.dim %rows, %c0 : tensor<?xi32>
  %k = tensor.dim %x, %c1 : tensor<?x?xf32>
  %y0 = tensor.empty(%n, %k) : tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [#m, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%rows : tensor<?xi32>) outs(%y0 : tensor<?x?xf32>) {
  ^bb0(%row: i32, %out: f32):
    %i = arith.index_cast %row : i32 to index
    %j = linalg.index 1 : index
    %three = arith.constant 3 : index
    %two = arith.constant 2 : index
    %s = arith.remui %i, %three : index
    %t = arith.remui %j, %two : index
    %a = tensor.extract %x[%i, %j] : tensor<?x?xf32>
    %b = tensor.extract %table[%s, %t] : tensor<3x2xf32>
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %i0 = tensor.empty(%k) : tensor<?xi64>
  %i1 = linalg.fill ins(%none : i64) outs(%i0 : tensor<?xi64>) -> tensor<?xi64>
  %indices = linalg.generic {indexing_maps = [#id2, #k], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%i1 : tensor<?xi64>) {
  ^bb0(%a: f32, %sum: i64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %thousand = arith.constant 1000 : index
    %scaled = arith.muli %j, %thousand : index
    %both = arith.addi %scaled, %i : index
    %number = arith.index_cast %both : index to i64
    %r = arith.addi %sum, %number : i64
    linalg.yield %r : i64
  } -> tensor<?xi64>
  return %y, %indices : tensor<?x?xf32>, tensor<?xi64>
}

// Parts of tensors: copies from and to memory with gaps.
func.func @parts(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> (tensor<?x16xf32>, tensor<?x4xf32>, tensor<?x10xf32>) {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 4.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x8xf32>
  %both0 = tensor.empty(%m) : tensor<?x16xf32>
  %both1 = tensor.insert_slice %x into %both0[0, 0] [%m, 8] [1, 1] : tensor<?x8xf32> into tensor<?x16xf32>
  %both = tensor.insert_slice %y into %both1[0, 8] [%m, 8] [1, 1] : tensor<?x8xf32> into tensor<?x16xf32>
  %part = tensor.extract_slice %both[0, 3] [%m, 4] [1, 3] : tensor<?x16xf32> to tensor<?x4xf32>
  %padded = tensor.pad %y low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %pad : f32
  } : tensor<?x8xf32> to tensor<?x10xf32>
  return %both, %part, %padded : tensor<?x16xf32>, tensor<?x4xf32>, tensor<?x10xf32>
}

// Constants as results, and scalars that are stored one by one.
func.func @constants(%n: index, %s: f32) -> (tensor<2x3xf32>, tensor<4xi64>, tensor<3xf32>, tensor<?xf32>, tensor<5xi1>) {
  %a = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %b = arith.constant dense<[1, -2, 3, 9223372036854775807]> : tensor<4xi64>
  %bits = arith.constant dense<[true, false, true, true, false]> : tensor<5xi1>
  %two = arith.constant 2.0 : f32
  %t = arith.mulf %s, %two : f32
  %c = tensor.from_elements %s, %t, %two : tensor<3xf32>
  %d = tensor.generate %n {
  ^bb0(%i: index):
    %j = arith.index_cast %i : index to i64
    %f = arith.sitofp %j : i64 to f32
    %r = arith.mulf %f, %t : f32
    tensor.yield %r : f32
  } : tensor<?xf32>
  return %a, %b, %c, %d, %bits : tensor<2x3xf32>, tensor<4xi64>, tensor<3xf32>, tensor<?xf32>, tensor<5xi1>
}

// Layers: what they carry on may change places.
func.func @layers(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %weights = arith.constant dense<[0.5, -0.75, 1.25]> : tensor<3xf32>
  %length = tensor.dim %x, %c0 : tensor<?xf32>
  %three = arith.constant 3 : index
  %r:2 = scf.for %layer = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (tensor<?xf32>, tensor<?xf32>) {
    %e = tensor.empty(%length) : tensor<?xf32>
    %sum = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {
    ^bb0(%u: f32, %v: f32, %out: f32):
      %i = arith.remui %layer, %three : index
      %w = tensor.extract %weights[%i] : tensor<3xf32>
      %p = arith.mulf %u, %w : f32
      %s = arith.addf %p, %v : f32
      linalg.yield %s : f32
    } -> tensor<?xf32>
    scf.yield %sum, %a : tensor<?xf32>, tensor<?xf32>
  }
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
}
