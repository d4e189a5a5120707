// The activations of a feed-forward layer, and their derivatives times the
// gradient: element-wise in f32, stored as bf16, quantized along rows and columns.
// Fused, each function is one op.
//
//   gelu(x) = x (1 + tanh(u)) / 2, u = x (a + b x^2), a = sqrt(2 / pi), b = 0.044715 a
//   silu(x) = x s(x), s(x) = 1 / (1 + exp(-x))
//   qgelu(x) = x s(1.702 x)
//   srelu(x) = relu(x)^2
//   swiglu(x, g) = silu(x) g
//   clamped_swiglu(x, g) = c s(1.702 c) (d + 1), c = min(x, 7), d = g in [-7, 7]

#id = affine_map<(m, k) -> (m, k)>
!x = tensor<?x160xbf16>
!o = tensor<?xi32>
!dbias = tensor<?x160xf32>

// Of nvfp4, whose columns are transposed.
!q = tensor<?x160xf4E2M1FN>
!s = tensor<?x12xf8E4M3FN, #gq.tile128x4>
!qt = tensor<?xf4E2M1FN>
!st = tensor<?xf8E4M3FN, #gq.tile128x4>
!amax = tensor<?xf32>

// Of mxfp8_e4m3.
!mq = tensor<?x160xf8E4M3FN>
!ms = tensor<?x8xf8E8M0FNU, #gq.tile128x4>
!mst = tensor<?xf8E8M0FNU, #gq.tile128x4>

func.func @gelu(%x: !x, %o: !o, %q0: !q, %s0: !s,
    %qt0: !qt, %st0: !st, %amax0: !amax) -> (!q, !s, !qt, !st, !amax) {
  %c0 = arith.constant 0 : index
  %half = arith.constant 0.5 : f32
  %a = arith.constant 0.797884583 : f32
  %b = arith.constant 0.0356774069 : f32
  %m = tensor.dim %x, %c0 : !x
  %h0 = tensor.empty(%m) : !x
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : !x) outs(%h0 : !x) {
  ^bb0(%f_bf16: bf16, %unused: bf16):
    %f = arith.extf %f_bf16 : bf16 to f32
    %x2 = arith.mulf %f, %f : f32
    %p0 = arith.mulf %x2, %b : f32
    %p = arith.addf %p0, %a : f32
    %v = arith.mulf %f, %p : f32
    %t = math.tanh %v : f32
    %0 = arith.mulf %t, %half : f32
    %1 = arith.addf %0, %half : f32
    %y = arith.mulf %f, %1 : f32
    %y_bf16 = arith.truncf %y : f32 to bf16
    linalg.yield %y_bf16 : bf16
  } -> !x
  %r:5 = gq.grouped_block_quantize format(nvfp4) ins(%h : !x) groups(%o : !o)
      outs(%q0, %s0 : !q, !s) columnwise_outs(%qt0, %st0 : !qt, !st)
      amax_out(%amax0 : !amax) -> !q, !s, !qt, !st, !amax
  return %r#0, %r#1, %r#2, %r#3, %r#4 : !q, !s, !qt, !st, !amax
}

func.func @silu(%x: !x, %o: !o, %q0: !q, %s0: !s,
    %qt0: !qt, %st0: !st, %amax0: !amax) -> (!q, !s, !qt, !st, !amax) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %m = tensor.dim %x, %c0 : !x
  %h0 = tensor.empty(%m) : !x
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : !x) outs(%h0 : !x) {
  ^bb0(%f_bf16: bf16, %unused: bf16):
    %f = arith.extf %f_bf16 : bf16 to f32
    %negative = arith.negf %f : f32
    %exp = math.exp %negative : f32
    %denominator = arith.addf %exp, %one : f32
    %s = arith.divf %one, %denominator : f32
    %y = arith.mulf %f, %s : f32
    %y_bf16 = arith.truncf %y : f32 to bf16
    linalg.yield %y_bf16 : bf16
  } -> !x
  %r:5 = gq.grouped_block_quantize format(nvfp4) ins(%h : !x) groups(%o : !o)
      outs(%q0, %s0 : !q, !s) columnwise_outs(%qt0, %st0 : !qt, !st)
      amax_out(%amax0 : !amax) -> !q, !s, !qt, !st, !amax
  return %r#0, %r#1, %r#2, %r#3, %r#4 : !q, !s, !qt, !st, !amax
}

func.func @relu(%x: !x, %o: !o, %q0: !q, %s0: !s,
    %qt0: !qt, %st0: !st, %amax0: !amax) -> (!q, !s, !qt, !st, !amax) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : !x
  %h0 = tensor.empty(%m) : !x
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : !x) outs(%h0 : !x) {
  ^bb0(%f_bf16: bf16, %unused: bf16):
    %f = arith.extf %f_bf16 : bf16 to f32
    %y = arith.maximumf %f, %zero : f32
    %y_bf16 = arith.truncf %y : f32 to bf16
    linalg.yield %y_bf16 : bf16
  } -> !x
  %r:5 = gq.grouped_block_quantize format(nvfp4) ins(%h : !x) groups(%o : !o)
      outs(%q0, %s0 : !q, !s) columnwise_outs(%qt0, %st0 : !qt, !st)
      amax_out(%amax0 : !amax) -> !q, !s, !qt, !st, !amax
  return %r#0, %r#1, %r#2, %r#3, %r#4 : !q, !s, !qt, !st, !amax
}

func.func @qgelu(%x: !x, %o: !o, %q0: !q, %s0: !s,
    %qt0: !qt, %st0: !st, %amax0: !amax) -> (!q, !s, !qt, !st, !amax) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %alpha = arith.constant 1.702 : f32
  %m = tensor.dim %x, %c0 : !x
  %h0 = tensor.empty(%m) : !x
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : !x) outs(%h0 : !x) {
  ^bb0(%f_bf16: bf16, %unused: bf16):
    %f = arith.extf %f_bf16 : bf16 to f32
    %z = arith.mulf %f, %alpha : f32
    %negative = arith.negf %z : f32
    %exp = math.exp %negative : f32
    %denominator = arith.addf %exp, %one : f32
    %s = arith.divf %one, %denominator : f32
    %y = arith.mulf %f, %s : f32
    %y_bf16 = arith.truncf %y : f32 to bf16
    linalg.yield %y_bf16 : bf16
  } -> !x
  %r:5 = gq.grouped_block_quantize format(nvfp4) ins(%h : !x) groups(%o : !o)
      outs(%q0, %s0 : !q, !s) columnwise_outs(%qt0, %st0 : !qt, !st)
      amax_out(%amax0 : !amax) -> !q, !s, !qt, !st, !amax
  return %r#0, %r#1, %r#2, %r#3, %r#4 : !q, !s, !qt, !st, !amax
}

func.func @srelu(%x: !x, %o: !o, %q0: !q, %s0: !s,
    %qt0: !qt, %st0: !st, %amax0: !amax) -> (!q, !s, !qt, !st, !amax) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : !x
  %h0 = tensor.empty(%m) : !x
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : !x) outs(%h0 : !x) {
  ^bb0(%f_bf16: bf16, %unused: bf16):
    %f = arith.extf %f_bf16 : bf16 to f32
    %0 = arith.maximumf %f, %zero : f32
    %y = arith.mulf %0, %0 : f32
    %y_bf16 = arith.truncf %y : f32 to bf16
    linalg.yield %y_bf16 : bf16
  } -> !x
  %r:5 = gq.grouped_block_quantize format(nvfp4) ins(%h : !x) groups(%o : !o)
      outs(%q0, %s0 : !q, !s) columnwise_outs(%qt0, %st0 : !qt, !st)
      amax_out(%amax0 : !amax) -> !q, !s, !qt, !st, !amax
  return %r#0, %r#1, %r#2, %r#3, %r#4 : !q, !s, !qt, !st, !amax
}

func.func @swiglu(%x: !x, %gate: !x, %o: !o, %q0: !q, %s0: !s,
    %qt0: !qt, %st0: !st, %amax0: !amax) -> (!q, !s, !qt, !st, !amax) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %m = tensor.dim %x, %c0 : !x
  %h0 = tensor.empty(%m) : !x
  %h = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %gate : !x, !x) outs(%h0 : !x) {
  ^bb0(%f_bf16: bf16, %g_bf16: bf16, %unused: bf16):
    %f = arith.extf %f_bf16 : bf16 to f32
    %g = arith.extf %g_bf16 : bf16 to f32
    %negative = arith.negf %f : f32
    %exp = math.exp %negative : f32
    %denominator = arith.addf %exp, %one : f32
    %s = arith.divf %one, %denominator : f32
    %0 = arith.mulf %f, %s : f32
    %y = arith.mulf %0, %g : f32
    %y_bf16 = arith.truncf %y : f32 to bf16
    linalg.yield %y_bf16 : bf16
  } -> !x
  %r:5 = gq.grouped_block_quantize format(nvfp4) ins(%h : !x) groups(%o : !o)
      outs(%q0, %s0 : !q, !s) columnwise_outs(%qt0, %st0 : !qt, !st)
      amax_out(%amax0 : !amax) -> !q, !s, !qt, !st, !amax
  return %r#0, %r#1, %r#2, %r#3, %r#4 : !q, !s, !qt, !st, !amax
}

func.func @clamped_swiglu(%x: !x, %gate: !x, %o: !o, %q0: !q, %s0: !s,
    %qt0: !qt, %st0: !st, %amax0: !amax) -> (!q, !s, !qt, !st, !amax) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %alpha = arith.constant 1.702 : f32
  %limit = arith.constant 7.0 : f32
  %least = arith.constant -7.0 : f32
  %m = tensor.dim %x, %c0 : !x
  %h0 = tensor.empty(%m) : !x
  %h = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %gate : !x, !x) outs(%h0 : !x) {
  ^bb0(%f_bf16: bf16, %g_bf16: bf16, %unused: bf16):
    %f = arith.extf %f_bf16 : bf16 to f32
    %g = arith.extf %g_bf16 : bf16 to f32
    %c = arith.minimumf %f, %limit : f32
    %z = arith.mulf %c, %alpha : f32
    %negative = arith.negf %z : f32
    %exp = math.exp %negative : f32
    %denominator = arith.addf %exp, %one : f32
    %s = arith.divf %one, %denominator : f32
    %0 = arith.mulf %c, %s : f32
    %1 = arith.minimumf %g, %limit : f32
    %2 = arith.maximumf %1, %least : f32
    %3 = arith.addf %2, %one : f32
    %y = arith.mulf %0, %3 : f32
    %y_bf16 = arith.truncf %y : f32 to bf16
    linalg.yield %y_bf16 : bf16
  } -> !x
  %r:5 = gq.grouped_block_quantize format(nvfp4) ins(%h : !x) groups(%o : !o)
      outs(%q0, %s0 : !q, !s) columnwise_outs(%qt0, %st0 : !qt, !st)
      amax_out(%amax0 : !amax) -> !q, !s, !qt, !st, !amax
  return %r#0, %r#1, %r#2, %r#3, %r#4 : !q, !s, !qt, !st, !amax
}

func.func @dgelu(%x: !x, %dy: !x, %o: !o, %q0: !mq, %s0: !ms,
    %qt0: !mq, %st0: !mst, %dbias0: !dbias) -> (!mq, !ms, !mq, !mst, !dbias) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %a = arith.constant 0.797884583 : f32
  %b = arith.constant 0.0356774069 : f32
  %b3 = arith.constant 0.107032225 : f32
  %m = tensor.dim %x, %c0 : !x
  %h0 = tensor.empty(%m) : !x
  %h = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %dy : !x, !x) outs(%h0 : !x) {
  ^bb0(%f_bf16: bf16, %g_bf16: bf16, %unused: bf16):
    %f = arith.extf %f_bf16 : bf16 to f32
    %g = arith.extf %g_bf16 : bf16 to f32
    %x2 = arith.mulf %f, %f : f32
    %p0 = arith.mulf %x2, %b : f32
    %p = arith.addf %p0, %a : f32
    %v = arith.mulf %f, %p : f32
    %t = math.tanh %v : f32
    %0 = arith.addf %t, %one : f32
    %1 = arith.mulf %0, %half : f32
    %2 = arith.mulf %t, %t : f32
    %3 = arith.subf %one, %2 : f32
    %4 = arith.mulf %x2, %b3 : f32
    %5 = arith.addf %4, %a : f32
    %6 = arith.mulf %3, %5 : f32
    %7 = arith.mulf %f, %half : f32
    %8 = arith.mulf %7, %6 : f32
    %9 = arith.addf %1, %8 : f32
    %y = arith.mulf %9, %g : f32
    %y_bf16 = arith.truncf %y : f32 to bf16
    linalg.yield %y_bf16 : bf16
  } -> !x
  %r:5 = gq.grouped_block_quantize format(mxfp8_e4m3) ins(%h : !x) groups(%o : !o)
      outs(%q0, %s0 : !mq, !ms) columnwise_outs(%qt0, %st0 : !mq, !mst)
      dbias_out(%dbias0 : !dbias) -> !mq, !ms, !mq, !mst, !dbias
  return %r#0, %r#1, %r#2, %r#3, %r#4 : !mq, !ms, !mq, !mst, !dbias
}

func.func @dsilu(%x: !x, %dy: !x, %o: !o, %q0: !mq, %s0: !ms,
    %qt0: !mq, %st0: !mst, %dbias0: !dbias) -> (!mq, !ms, !mq, !mst, !dbias) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %m = tensor.dim %x, %c0 : !x
  %h0 = tensor.empty(%m) : !x
  %h = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %dy : !x, !x) outs(%h0 : !x) {
  ^bb0(%f_bf16: bf16, %g_bf16: bf16, %unused: bf16):
    %f = arith.extf %f_bf16 : bf16 to f32
    %g = arith.extf %g_bf16 : bf16 to f32
    %negative = arith.negf %f : f32
    %exp = math.exp %negative : f32
    %denominator = arith.addf %exp, %one : f32
    %s = arith.divf %one, %denominator : f32
    %0 = arith.subf %one, %s : f32
    %1 = arith.mulf %f, %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.mulf %s, %2 : f32
    %y = arith.mulf %3, %g : f32
    %y_bf16 = arith.truncf %y : f32 to bf16
    linalg.yield %y_bf16 : bf16
  } -> !x
  %r:5 = gq.grouped_block_quantize format(mxfp8_e4m3) ins(%h : !x) groups(%o : !o)
      outs(%q0, %s0 : !mq, !ms) columnwise_outs(%qt0, %st0 : !mq, !mst)
      dbias_out(%dbias0 : !dbias) -> !mq, !ms, !mq, !mst, !dbias
  return %r#0, %r#1, %r#2, %r#3, %r#4 : !mq, !ms, !mq, !mst, !dbias
}

func.func @drelu(%x: !x, %dy: !x, %o: !o, %q0: !mq, %s0: !ms,
    %qt0: !mq, %st0: !mst, %dbias0: !dbias) -> (!mq, !ms, !mq, !mst, !dbias) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : !x
  %h0 = tensor.empty(%m) : !x
  %h = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %dy : !x, !x) outs(%h0 : !x) {
  ^bb0(%f_bf16: bf16, %g_bf16: bf16, %unused: bf16):
    %f = arith.extf %f_bf16 : bf16 to f32
    %g = arith.extf %g_bf16 : bf16 to f32
    %0 = arith.cmpf ogt, %f, %zero : f32
    %y = arith.select %0, %g, %zero : f32
    %y_bf16 = arith.truncf %y : f32 to bf16
    linalg.yield %y_bf16 : bf16
  } -> !x
  %r:5 = gq.grouped_block_quantize format(mxfp8_e4m3) ins(%h : !x) groups(%o : !o)
      outs(%q0, %s0 : !mq, !ms) columnwise_outs(%qt0, %st0 : !mq, !mst)
      dbias_out(%dbias0 : !dbias) -> !mq, !ms, !mq, !mst, !dbias
  return %r#0, %r#1, %r#2, %r#3, %r#4 : !mq, !ms, !mq, !mst, !dbias
}

func.func @dqgelu(%x: !x, %dy: !x, %o: !o, %q0: !mq, %s0: !ms,
    %qt0: !mq, %st0: !mst, %dbias0: !dbias) -> (!mq, !ms, !mq, !mst, !dbias) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %alpha = arith.constant 1.702 : f32
  %m = tensor.dim %x, %c0 : !x
  %h0 = tensor.empty(%m) : !x
  %h = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %dy : !x, !x) outs(%h0 : !x) {
  ^bb0(%f_bf16: bf16, %g_bf16: bf16, %unused: bf16):
    %f = arith.extf %f_bf16 : bf16 to f32
    %g = arith.extf %g_bf16 : bf16 to f32
    %z = arith.mulf %f, %alpha : f32
    %negative = arith.negf %z : f32
    %exp = math.exp %negative : f32
    %denominator = arith.addf %exp, %one : f32
    %s = arith.divf %one, %denominator : f32
    %0 = arith.subf %one, %s : f32
    %1 = arith.mulf %z, %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.mulf %s, %2 : f32
    %y = arith.mulf %3, %g : f32
    %y_bf16 = arith.truncf %y : f32 to bf16
    linalg.yield %y_bf16 : bf16
  } -> !x
  %r:5 = gq.grouped_block_quantize format(mxfp8_e4m3) ins(%h : !x) groups(%o : !o)
      outs(%q0, %s0 : !mq, !ms) columnwise_outs(%qt0, %st0 : !mq, !mst)
      dbias_out(%dbias0 : !dbias) -> !mq, !ms, !mq, !mst, !dbias
  return %r#0, %r#1, %r#2, %r#3, %r#4 : !mq, !ms, !mq, !mst, !dbias
}

func.func @dsrelu(%x: !x, %dy: !x, %o: !o, %q0: !mq, %s0: !ms,
    %qt0: !mq, %st0: !mst, %dbias0: !dbias) -> (!mq, !ms, !mq, !mst, !dbias) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %m = tensor.dim %x, %c0 : !x
  %h0 = tensor.empty(%m) : !x
  %h = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %dy : !x, !x) outs(%h0 : !x) {
  ^bb0(%f_bf16: bf16, %g_bf16: bf16, %unused: bf16):
    %f = arith.extf %f_bf16 : bf16 to f32
    %g = arith.extf %g_bf16 : bf16 to f32
    %0 = arith.maximumf %f, %zero : f32
    %1 = arith.mulf %0, %two : f32
    %y = arith.mulf %1, %g : f32
    %y_bf16 = arith.truncf %y : f32 to bf16
    linalg.yield %y_bf16 : bf16
  } -> !x
  %r:5 = gq.grouped_block_quantize format(mxfp8_e4m3) ins(%h : !x) groups(%o : !o)
      outs(%q0, %s0 : !mq, !ms) columnwise_outs(%qt0, %st0 : !mq, !mst)
      dbias_out(%dbias0 : !dbias) -> !mq, !ms, !mq, !mst, !dbias
  return %r#0, %r#1, %r#2, %r#3, %r#4 : !mq, !ms, !mq, !mst, !dbias
}
