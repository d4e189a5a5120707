# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A layer of experts and its gradients in one graph, from float32 to float32.

For run.py and for pytest, so it needs nothing but NumPy and what is in test/python.
"""

import re

import numpy as np
import oracle

# Formats of tokens and of weights, and how far results may be from those of float32.
CASES = (
    ("nvfp4", "nvfp4", 0.2),
    ("mxfp8_e4m3", "mxfp8_e4m3", 0.06),
    ("mxfp8_e4m3", "mxfp4", 0.2),
    ("fp8_e4m3_1x128", "fp8_e4m3_128x128", 0.06),
)

G, N, K, M = 2, 128, 256, 200
OFFSETS = np.int32([3, 130, 197])


def tensor(shape, element):
    return f"tensor<{''.join(f'{s}x' for s in shape)}{element}>"


def extents(shape, fmt):
    """Of rowwise scales, columnwise data and columnwise scales of a matrix in G
    groups: tokens, whose number of rows is "?", or the weights of each expert."""
    f, (m, k) = oracle.FORMATS[fmt], shape
    tokens = m == "?"
    rows = M if tokens else m
    # Of a group; those of tokens are as long as G groups of M rows may need.
    lines, blocks = k // f.block[0], -(-oracle.up(rows if tokens else N, 32) // f.block[1])
    if f.scale != "f32":
        lines, blocks = oracle.up(lines, 128), oracle.up(blocks, 4)
        scale_rows = oracle.up(rows, 128) + 128 * (G - 1) * tokens
        scales = scale_rows, oracle.up(k // f.block[1], 4)
    else:
        scales = (m, k // 128) if f.block[0] == 1 else (m // 128 * k // 128,)
    data = ((rows + 32 * G * tokens) * k,) if f.transposes else shape
    return scales, data, (G * lines * blocks,)


def quantized(x, shape, fmt, groups, types):
    """Quantizes %x, both directions; names its results %x_q, %x_s, %x_qt, %x_st
    and %x_so, and adds their types to `types`."""
    f = oracle.FORMATS[fmt]
    tiled = f.scale != "f32"
    element = "f4E2M1FN" if f.bits == 4 else f.data
    scale = f"{f.scale}, #gq.tile128x4" if tiled else f.scale
    scales, across, scales_across = extents(shape, fmt)
    shapes = {
        f"{x}_q": (shape, element),
        f"{x}_s": (scales, scale),
        f"{x}_qt": (across, element),
        f"{x}_st": (scales_across, scale),
    }
    offsets_out = ""
    if tiled:
        shapes[f"{x}_so"] = (G,), "i32"
        offsets_out = f"scale_offsets_out(%{x}_so0 : tensor<{G}xi32>)"
    t = {name: tensor(*both) for name, both in shapes.items()}
    types.update(t)
    empties = [
        f"%{name}0 = tensor.empty({'%m' if '?' in shapes[name][0] else ''}) : {t[name]}"
        for name in t
    ]

    def outs(word, q, s):
        return f"{word}(%{x}_{q}0, %{x}_{s}0 : {t[f'{x}_{q}']}, {t[f'{x}_{s}']})"

    return f"""
        {chr(10).join(empties)}
        {", ".join(f"%{name}" for name in t)} = gq.grouped_block_quantize
            format({fmt}) {"" if tiled else "scale_layout(linear)"}
            ins(%{x} : {tensor(shape, "f32")}) groups(%{groups} : tensor<{G + 1}xi32>)
            {outs("outs", "q", "s")} {outs("columnwise_outs", "qt", "st")}
            {offsets_out} -> {", ".join(t.values())}"""


def expanded(name, shape, types):
    """Reshapes %name, of rank 1 or 2, to rank 3 as %name_3."""
    flat = re.fullmatch(r"tensor<(\d+x)+(.*)>", types[name])
    rank = types[name][: flat.start(2)].count("x")
    target = types[f"{name}_3"] = tensor(shape, flat[2])
    return f"""
        %{name}_3 = tensor.expand_shape %{name}
            {"[[0, 1, 2]]" if rank == 1 else "[[0, 1], [2]]"} output_shape {list(shape)}
            : {types[name]} into {target}"""


def layer(fmt, w_fmt):
    """(x, w, dy, offsets, offsets of w) -> y, dx, dw."""
    f, t = oracle.FORMATS[w_fmt], {}
    tiled = f.scale != "f32"
    block = f.block[1]
    columns = N // block, K // block
    if tiled:
        scales = (G, N, oracle.up(columns[1], 4)), (G, K, oracle.up(columns[0], 4))
    else:
        scales = (G, N // f.block[0], K // 128), (G, K // f.block[0], N // 128)
    transposed = (G, K, N) if f.transposes else (G, N, K)
    attributes = f"format({fmt}) b_format({w_fmt}) {'' if tiled else 'scale_layout(linear)'}"

    def mm(result, a, b, sb, major, columns):
        so, so_type = (f", %{a}_so", f", {t[a + '_so']}") if tiled else ("", "")
        out = f"tensor<?x{columns}xf32>"
        return f"""
        %{result}0 = tensor.empty(%m) : {out}
        %{result}1 = linalg.fill ins(%zero : f32) outs(%{result}0 : {out}) -> {out}
        %{result} = gq.grouped_mm {attributes} {major}
            ins(%{a}_q, %{b} : {t[a + '_q']}, {t[b]})
            scales(%{a}_s, %{sb} : {t[a + '_s']}, {t[sb]})
            groups(%o{so} : tensor<{G + 1}xi32>{so_type})
            outs(%{result}1 : {out}) -> {out}"""

    body = [
        quantized("x", ("?", K), fmt, "o", t),
        quantized("dy", ("?", N), fmt, "o", t),
        quantized("w", (G * N, K), w_fmt, "wo", t),
        expanded("w_q", (G, N, K), t), expanded("w_s", scales[0], t),
        expanded("w_qt", transposed, t), expanded("w_st", scales[1], t),
        mm("y", "x", "w_q_3", "w_s_3", "", N),
        mm("dx", "dy", "w_qt_3", "w_st_3", "" if f.transposes else "b_major(n)", K),
    ]  # fmt: skip
    y, dx, dw = f"tensor<?x{N}xf32>", f"tensor<?x{K}xf32>", f"tensor<{G}x{N}x{K}xf32>"
    linear = "" if tiled else "scale_layout(linear)"
    return f"""
      func.func @main(%x : tensor<?x{K}xf32>, %w : tensor<{G * N}x{K}xf32>,
          %dy : tensor<?x{N}xf32>, %o : tensor<{G + 1}xi32>, %wo : tensor<{G + 1}xi32>)
          -> ({y}, {dx}, {dw}) {{
        %c0 = arith.constant 0 : index
        %zero = arith.constant 0.0 : f32
        %m = tensor.dim %x, %c0 : tensor<?x{K}xf32>
        {"".join(body)}
        %dw0 = tensor.empty() : {dw}
        %dw = gq.grouped_wgrad format({fmt}) {linear}
            ins(%dy_qt, %x_qt : {t['dy_qt']}, {t['x_qt']})
            scales(%dy_st, %x_st : {t['dy_st']}, {t['x_st']})
            groups(%o : tensor<{G + 1}xi32>) outs(%dw0 : {dw}) -> {dw}
        return %y, %dx, %dw : {y}, {dx}, {dw}
      }}"""


def arguments():
    """x, w, dy, offsets, offsets of w."""
    rng = np.random.default_rng(0)
    x, dy, w = (rng.standard_normal(s).astype("f4") for s in ((M, K), (M, N), (G * N, K)))
    return x, w, dy, OFFSETS, np.int32([0, N, 2 * N])


# How far a result may be from the product of the dequantized operands, of the sum of
# magnitudes: where sums are float32, and of y on a GPU where 8-bit tensor cores keep
# about 14 bits of a sum (docs/notes/gpu-grouped-mm.md).
FLOAT32 = 2**-20
TENSOR_CORES_8BIT = 2**-9


def of_products(case, target):
    """How far y and dx of a case, which are gq.grouped_mm's, may be off."""
    eight_bit = target == "cuda" and oracle.FORMATS[case[0]].scale == "f32"
    return TENSOR_CORES_8BIT if eight_bit else FLOAT32


def problem(case, results, target):
    """What is wrong with y, dx and dw of a case, None if nothing is."""
    (fmt, w_fmt, error), (y, dx, dw) = case, results
    x, w, dy, _, _ = arguments()

    def rows(v, f):
        return oracle.dequantize_codes(*oracle.quantize_rows(v, f), f)

    def columns(v, f):
        """[columns, m] of one group."""
        codes, scales = oracle.quantize_columns(v, f)
        codes = codes if oracle.FORMATS[f].transposes else codes.T
        return oracle.dequantize_codes(codes, scales, f)

    for e, (begin, end) in enumerate(zip(OFFSETS, OFFSETS[1:])):
        own, of_rows = w[e * N : (e + 1) * N], slice(begin, end)
        for name, result, a, b, exact in (
            ("y", y[of_rows], rows(x[of_rows], fmt), rows(own, w_fmt), x[of_rows] @ own.T),
            ("dx", dx[of_rows], rows(dy[of_rows], fmt), columns(own, w_fmt), dy[of_rows] @ own),
            ("dw", dw[e], columns(dy[of_rows], fmt), columns(x[of_rows], fmt),
             dy[of_rows].T @ x[of_rows]),
        ):  # fmt: skip
            most = FLOAT32 if name == "dw" else of_products(case, target)
            if (abs(result - a @ b.T) > most * (abs(a) @ abs(b).T)).any():
                return f"{name} of group {e}: {abs(result - a @ b.T).max()} off"
            if np.linalg.norm(result - exact) > error * np.linalg.norm(exact):
                return f"{name} of group {e} is far from float32"
    return "rows of no group" if y[:3].any() or dx[197:].any() else None
