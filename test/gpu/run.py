# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs compiled MLIR on a GPU and compares it with golden data and the CPU.

run.py GQ_RUN GOLDEN_DIR: needs NumPy, a GPU and its driver; and, not in a bundle,
test/python in $PYTHONPATH. The last line counts the tests. Random cases are those
of a fixed seed; all outputs are poisoned, so that equal bytes mean that just the
owned ones were written.
"""

import argparse
import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile

import activations
import amaxes
import dequantize
import elements
import epilogues
import formats
import hostile
import numpy as np
import oracle
import training

parser = argparse.ArgumentParser()
parser.add_argument("gq_run", type=pathlib.Path)
parser.add_argument("golden", type=pathlib.Path)
parser.add_argument("--only", default="", help="just the tests and batches with this in their name")
parser.add_argument("--target", default="cuda", help="where batches run")
arguments = parser.parse_args()
gq_run, golden = arguments.gq_run.absolute(), arguments.golden
BATCHES = formats.batches(golden)
POISON = 0xA5
ELEMENTS = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16}
# (name, problem) of the tests that this process has run.
reports = []


def mlir(name):
    """The text of a module beside this file."""
    return (pathlib.Path(__file__).parent / f"{name}.mlir").read_text()


def report(name, problem):
    """Ends a test; `problem` is None or says what is wrong."""
    reports.append((name, problem))
    if problem is not None:
        print(f"FAIL {name}: {problem}", flush=True)


def run(text, arrays, target, *options):
    """Returns (exit code, stderr, results)."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "module.mlir").write_text(text)
        command = [gq_run, folder / "module.mlir", f"--target={target}", *options]
        for i, array in enumerate(arrays):
            np.save(folder / f"in{i}.npy", array)
            command += ["--in", folder / f"in{i}.npy"]
        command += ["--out", folder / "out"]
        done = subprocess.run(command, capture_output=True, text=True)
        files = sorted((folder / "out").glob("*.npy"), key=lambda f: int(f.stem))
        return done.returncode, done.stderr.strip(), [np.load(f) for f in files]


def differences(results, expected):
    """None if all bytes are equal, else what differs."""
    if len(results) != len(expected):
        return f"{len(results)} results, expected {len(expected)}"
    for i, (a, b) in enumerate(zip(results, expected)):
        a, b = (x.reshape(-1).view(np.uint8) for x in (a, b))
        if a.size != b.size or not np.array_equal(a, b):
            count = np.count_nonzero(a != b) if a.size == b.size else a.size
            return f"result {i}: {count} of {b.size} bytes differ"
    return None


def compare(name, text, arrays):
    """Reports whether the GPU writes what the CPU writes."""
    code, error, expected = run(text, arrays, "cpu")
    assert code == 0, error
    code, error, results = run(text, arrays, "cuda")
    report(name, error if code else differences(results, expected))


def module(k, element, index, scale=None, rows="all", fused=True):
    """(x, offsets, scale offsets, [global scale], data, scales) -> both."""
    x, o = f"tensor<?x{k}x{element}>", f"tensor<?x{index}>"
    columns = (k // 16 + 3) // 4 * 4
    q, l = f"tensor<?x{k}xf4E2M1FN>", f"tensor<?x{k // 16}xf8E4M3FN>"
    t = f"tensor<?x{columns}xf8E4M3FN, #gq.tile128x4>"
    g = {None: "", "one": "tensor<f32>", "group": "tensor<?xf32>"}[scale]
    argument = f"%g: {g}," if g else ""
    clause = f"global_scale(%g : {g})" if g else ""
    groups = f"groups(%o, %so : {o}, {o})"
    if fused:
        body = f"""
      %q, %t = gq.grouped_block_quantize format(nvfp4) rows({rows})
          ins(%x : {x}) {groups} {clause} outs(%q0, %t0 : {q}, {t}) -> {q}, {t}"""
    else:
        body = f"""
      %c0 = arith.constant 0 : index
      %m = tensor.dim %x, %c0 : {x}
      %l0 = tensor.empty(%m) : {l}
      %q, %l = gq.block_quantize format(nvfp4) ins(%x : {x}) {clause}
          outs(%q0, %l0 : {q}, {l}) -> {q}, {l}
      %t = gq.preprocess_grouped_matmul_sf format(nvfp4) ins(%l : {l}) {groups}
          outs(%t0 : {t}) -> {t}"""
    return f"""
    func.func @main(%x: {x}, %o: {o}, %so: {o}, {argument} %q0: {q}, %t0: {t})
        -> ({q}, {t}) {{{body}
      return %q, %t : {q}, {t}
    }}"""


def poisoned(*shape):
    return np.full(shape, POISON, np.uint8)


def test_golden():
    import json

    manifest = json.loads((golden / "manifest.json").read_text())
    for name, case in manifest.items():
        if case["op"] != "grouped_block_quantize" or case.get("recipe") != "nvfuser":
            continue
        a = {n: np.load(golden / name / f"{n}.npy") for n in case["arrays"]}
        m, k = a["input"].shape
        scale = "one" if "global_scale" in a else None
        columns = (k // 16 + 3) // 4 * 4
        arrays = [a["input"], a["offsets"], a["scale_offsets"]]
        arrays += [a["global_scale"]] if scale else []
        arrays += [poisoned(m, k // 2), poisoned(a["scales"].size // columns, columns)]
        for fused, options in ((True, ()), (False, ()), (False, ("--no-fusion",))):
            text = module(k, case["input"], "i32", scale, fused=fused)
            code, error, results = run(text, arrays, "cuda", *options)
            problem = differences(results, [a["data"], a["scales"]])
            report(f"golden {name} fused={fused} {options}", error if code else problem)


def check_dequantized(name, problem):
    arrays = [operand.array for operand in problem.operands.values()]
    code, error, results = run(dequantize.function(problem), arrays, arguments.target)
    wrong = differences(results, [problem.expected])
    report(f"dequantized {name}", error if code else wrong)


def test_dequantize(keys):
    """Of formats, recipes, layouts and axes with their numbers, some of what the
    device functions are tested with by themselves, and the last one: of te, that with
    scales of up to 256."""
    for i, key in keys:
        out = list(ELEMENTS)[i % 3]
        problems = list(dequantize.problems(*key, out))
        for problem in [*problems[i % 10 :: 10], problems[-1]]:
            check_dequantized(" ".join((*key, out)), problem)


def test_dequantize_golden():
    check_dequantized("golden fp8_e4m3_per_tensor", dequantize.Golden(golden))


def values(rng, m, k, element):
    x = rng.standard_normal((m, k), np.float32)
    x *= np.exp2(rng.integers(-20, 12, (m, 1))).astype(np.float32)
    x[rng.random((m, k)) < 0.01] = 0
    if element == "bf16":
        return (x.view(np.uint32) >> 16).astype(np.uint16)
    return x.astype(ELEMENTS[element])


def group_sizes(rng, m, groups):
    """Sizes that sum to at most m, many of them 0."""
    weights = rng.random(groups) * (rng.random(groups) < 0.6)
    if weights.sum() == 0 or m == 0:
        return np.zeros(groups, np.int64)
    return np.floor(weights / weights.sum() * m).astype(np.int64)


def problem_of(rng, m, k, groups, element, index, scale, before=0):
    sizes = group_sizes(rng, m - before, groups)
    offsets = before + np.concatenate([[0], np.cumsum(sizes)])
    padded = (sizes + 127) // 128 * 128 + 128 * rng.integers(0, 2, groups)
    starts = np.concatenate([[0], np.cumsum(padded)])
    dtype = np.int32 if index == "i32" else np.int64
    arrays = [values(rng, m, k, element), offsets.astype(dtype), starts[:-1].astype(dtype)]
    if scale == "one":
        arrays.append(np.float32(1.75))
    if scale == "group":
        arrays.append(rng.uniform(0.5, 40, groups).astype(np.float32))
    columns = (k // 16 + 3) // 4 * 4
    return arrays + [poisoned(m, k // 2), poisoned(int(starts[-1]) + 128, columns)]


def test_random():
    rng = np.random.default_rng(7)
    shapes = [
        (0, 64, 3), (1, 16, 1), (127, 48, 5), (128, 144, 4), (129, 80, 7),
        (1000, 272, 64), (3000, 5120, 128), (8192, 1024, 4096), (333, 16384, 9),
        (100000, 64, 17), (1000000, 16, 3),
    ]  # fmt: skip
    kinds = [("bf16", "i32", None, "all"), ("f32", "i64", "one", "grouped"),
             ("f16", "i32", "group", "all"), ("bf16", "i64", "group", "grouped")]  # fmt: skip
    for number, (m, k, groups) in enumerate(shapes):
        for element, index, scale, rows in kinds[: 4 if m * k < 1 << 22 else 2]:
            before = min(m // 3, 5) if number % 2 else 0
            arrays = problem_of(rng, m, k, groups, element, index, scale, before)
            text = module(k, element, index, scale, rows)
            compare(f"random {m}x{k} G={groups} {element} {index} {scale} {rows}", text, arrays)


def test_blocks():
    """gq.block_quantize to each format."""
    rng = np.random.default_rng(8)
    for name, fmt in oracle.FORMATS.items():
        for m, k, element in ((300, 384, "bf16"), (1, 128, "f32"), (1000, 128, "f16")):
            scales = oracle.up(m, fmt.block[0]) // fmt.block[0], k // fmt.block[1]
            x, q = f"tensor<?x{k}x{element}>", f"tensor<?x{k * fmt.bits // 8}x{fmt.data}>"
            s = f"tensor<?x{scales[1]}x{fmt.scale}>"
            text = f"""
            func.func @main(%x: {x}, %q0: {q}, %s0: {s}) -> ({q}, {s}) {{
              %q, %s = gq.block_quantize format({name}) ins(%x : {x})
                  outs(%q0, %s0 : {q}, {s}) -> {q}, {s}
              return %q, %s : {q}, {s}
            }}"""
            stored = np.full(scales, POISON, np.float32 if fmt.scale == "f32" else np.uint8)
            arrays = [values(rng, m, k, element), poisoned(m, k * fmt.bits // 8), stored]
            compare(f"blocks {name} {m}x{k} {element}", text, arrays)


PRODUCER = """
    #id = affine_map<(m, k) -> (m, k)>
    #row = affine_map<(m, k) -> (k)>
    #column = affine_map<(m, k) -> (m)>
    #scalar = affine_map<(m, k) -> ()>
    func.func @main(%a: tensor<?x{k}x{e}>, %b: tensor<{k}xf32>,
        %c: tensor<?xf32>, %d: tensor<f32>, %o: tensor<?xi32>, %so: tensor<?xi32>,
        %q0: tensor<?x{k}xf4E2M1FN>,
        %t0: tensor<?x{s}xf8E4M3FN, #gq.tile128x4>)
        -> (tensor<?x{k}xf4E2M1FN>, tensor<?x{s}xf8E4M3FN, #gq.tile128x4>) {{
      %q, %t = gq.grouped_block_quantize format(nvfp4)
          ins(%a, %b, %c, %d : tensor<?x{k}x{e}>, tensor<{k}xf32>,
                               tensor<?xf32>, tensor<f32>)
          maps [#id, #row, #column, #scalar]
          groups(%o, %so : tensor<?xi32>, tensor<?xi32>)
          outs(%q0, %t0 : tensor<?x{k}xf4E2M1FN>,
                          tensor<?x{s}xf8E4M3FN, #gq.tile128x4>)
          -> tensor<?x{k}xf4E2M1FN>, tensor<?x{s}xf8E4M3FN, #gq.tile128x4>
          producer {{
          ^bb0(%x: {e}, %y: f32, %z: f32, %w: f32):
            {extend}
            {body}
            gq.yield %r : {yield_type}
          }}
      return %q, %t : tensor<?x{k}xf4E2M1FN>,
                      tensor<?x{s}xf8E4M3FN, #gq.tile128x4>
    }}"""
# Arithmetic that is exact to the bit everywhere.
EXACT = """%p = arith.addf %f, %y : f32
            %u = arith.mulf %p, %z : f32
            %v = arith.maximumf %u, %w : f32
            %r = arith.divf %v, %z : f32"""
ROUNDED = """%p = arith.mulf %f, %y : f32
            %r = arith.truncf %p : f32 to bf16"""


def test_producers():
    rng = np.random.default_rng(11)
    for element in ("bf16", "f16", "f32"):
        for k, m, groups in ((64, 300, 5), (5120, 700, 32)):
            for body, yield_type in ((EXACT, "f32"), (ROUNDED, "bf16")):
                extend = f"%f = arith.extf %x : {element} to f32"
                if element == "f32":
                    extend = "%zero = arith.constant -0.0 : f32\n            %f = arith.addf %x, %zero : f32"
                text = PRODUCER.format(
                    k=k, e=element, s=(k // 16 + 3) // 4 * 4, extend=extend,
                    body=body, yield_type=yield_type,
                )  # fmt: skip
                x, offsets, starts, data, scales = problem_of(
                    rng, m, k, groups, element, "i32", None
                )
                arrays = [x, rng.standard_normal(k, np.float32),
                          rng.standard_normal(m, np.float32), np.float32(-0.5),
                          offsets, starts, data, scales]  # fmt: skip
                compare(f"producer {element} {m}x{k} {yield_type}", text, arrays)


# a / b, rounded, of a matrix and another one or a row, in both directions.
QUOTIENT = """
    func.func @main(%a: tensor<?x{k}xbf16>, %b: {second}, %o: tensor<?xi32>,
        %q0: {q}, %s0: {s}, %qt0: {qt}, %st0: {st}) -> ({q}, {s}, {qt}, {st}) {{
      %q, %s, %qt, %st = gq.grouped_block_quantize format({format}) {attributes}
          ins(%a, %b : tensor<?x{k}xbf16>, {second})
          maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> ({map})>]
          groups(%o : tensor<?xi32>) outs(%q0, %s0 : {q}, {s})
          columnwise_outs(%qt0, %st0 : {qt}, {st}) -> {q}, {s}, {qt}, {st}
          producer {{
          ^bb0(%x: bf16, %y: bf16):
            %f = arith.extf %x : bf16 to f32
            %g = arith.extf %y : bf16 to f32
            %d = arith.divf %f, %g : f32
            %r = arith.truncf %d : f32 to bf16
            gq.yield %r : bf16
          }}
      return %q, %s, %qt, %st : {q}, {s}, {qt}, {st}
    }}"""


def divisors(rng, *shape):
    """bf16, a few of which make quotients that are computed one by one."""
    b = rng.uniform(0.5, 2, shape).astype(np.float32)
    b[rng.random(shape) < 0.002] = 2.0**-80
    return (b.view(np.uint32) >> 16).astype(np.uint16)


def test_producers_both():
    """Hooks that load ahead, in kernels of tiles and of small groups."""
    rng = np.random.default_rng(12)
    transformed = "columnwise<transform = hadamard16, signs = 0xD7E8>"
    kinds = [("nvfp4", ""), ("nvfp4", transformed), ("mxfp8_e4m3", "")]
    for name, attributes in kinds:
        fmt = oracle.FORMATS[name]
        block, transposes = fmt.block[1], fmt.bits == 4
        for m, k, groups in ((700, 5120, 40), (900, 288, 5)):
            for has_row in (False, True):
                sizes = group_sizes(rng, m, groups)
                sizes[-1] += m - sizes.sum()
                up = sum(oracle.up(int(n), 32) for n in sizes)
                q = f"tensor<?x{k * fmt.bits // 8}x{fmt.data}>"
                text = QUOTIENT.format(
                    k=k, format=name, attributes=attributes, q=q,
                    second=f"tensor<{k}xbf16>" if has_row else f"tensor<?x{k}xbf16>",
                    map="k" if has_row else "m, k",
                    s=f"tensor<?x{oracle.up(k // block, 4)}x{fmt.scale}, #gq.tile128x4>",
                    qt=f"tensor<?x{fmt.data}>" if transposes else q,
                    st=f"tensor<?x{fmt.scale}, #gq.tile128x4>",
                )  # fmt: skip
                scales = sum(oracle.up(k, 128) * oracle.up(oracle.up(int(n), 32) // block, 4)
                             for n in sizes)  # fmt: skip
                arrays = [
                    values(rng, m, k, "bf16"),
                    divisors(rng, k) if has_row else divisors(rng, m, k),
                    np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
                    poisoned(m, k * fmt.bits // 8),
                    poisoned(sum(oracle.up(int(n), 128) for n in sizes), oracle.up(k // block, 4)),
                    poisoned(up * k // 2) if transposes else poisoned(m, k),
                    poisoned(scales),
                ]
                row = " and a row" if has_row else ""
                compare(f"producer of both {name} {attributes} {m}x{k}{row}", text, arrays)


GATHER = """
    func.func @main(%x: tensor<?x{k}x{e}>, %i: tensor<?x1x{index}>,
        %o: tensor<?xi32>, %so: tensor<?xi32>, %q0: tensor<?x{k}xf4E2M1FN>,
        %t0: tensor<?x{s}xf8E4M3FN, #gq.tile128x4>)
        -> (tensor<?x{k}xf4E2M1FN>, tensor<?x{s}xf8E4M3FN, #gq.tile128x4>) {{
      %g = tensor.gather %x[%i] gather_dims([0])
          : (tensor<?x{k}x{e}>, tensor<?x1x{index}>) -> tensor<?x{k}x{e}>
      %q, %t = gq.grouped_block_quantize format(nvfp4)
          ins(%g : tensor<?x{k}x{e}>)
          groups(%o, %so : tensor<?xi32>, tensor<?xi32>)
          outs(%q0, %t0 : tensor<?x{k}xf4E2M1FN>,
                          tensor<?x{s}xf8E4M3FN, #gq.tile128x4>)
          -> tensor<?x{k}xf4E2M1FN>, tensor<?x{s}xf8E4M3FN, #gq.tile128x4>
      return %q, %t : tensor<?x{k}xf4E2M1FN>,
                      tensor<?x{s}xf8E4M3FN, #gq.tile128x4>
    }}"""
# x[r] * s[r] * w + y, with the row r of an index and the row of the result.
GATHER_PRODUCER = """
    #id = affine_map<(m, k) -> (m, k)>
    #column = affine_map<(m, k) -> (m)>
    #rows = affine_map<(m, k)[r] -> (r, k)>
    #elements = affine_map<(m, k)[r] -> (r)>
    func.func @main(%x: tensor<?x{k}x{e}>, %s: tensor<?xf32>, %w: tensor<?xf32>,
        %y: tensor<?x{k}xf32>, %i: tensor<?x{index}>, %o: tensor<?xi32>,
        %so: tensor<?xi32>, %q0: tensor<?x{k}xf4E2M1FN>,
        %t0: tensor<?x{s}xf8E4M3FN, #gq.tile128x4>)
        -> (tensor<?x{k}xf4E2M1FN>, tensor<?x{s}xf8E4M3FN, #gq.tile128x4>) {{
      %q, %t = gq.grouped_block_quantize format(nvfp4)
          ins(%x, %s, %w, %y : tensor<?x{k}x{e}>, tensor<?xf32>, tensor<?xf32>,
                               tensor<?x{k}xf32>)
          row_indices(%i : tensor<?x{index}>)
          maps [#rows, #elements, #column, #id]
          groups(%o, %so : tensor<?xi32>, tensor<?xi32>)
          outs(%q0, %t0 : tensor<?x{k}xf4E2M1FN>,
                          tensor<?x{s}xf8E4M3FN, #gq.tile128x4>)
          -> tensor<?x{k}xf4E2M1FN>, tensor<?x{s}xf8E4M3FN, #gq.tile128x4>
          producer {{
          ^bb0(%ex: {e}, %es: f32, %ew: f32, %ey: f32):
            {extend}
            %a = arith.mulf %f, %es : f32
            %b = arith.mulf %a, %ew : f32
            %r = arith.addf %b, %ey : f32
            gq.yield %r : f32
          }}
      return %q, %t : tensor<?x{k}xf4E2M1FN>,
                      tensor<?x{s}xf8E4M3FN, #gq.tile128x4>
    }}"""


def gather_text(k, element, index, producer):
    extend = f"%f = arith.extf %ex : {element} to f32"
    if element == "f32":
        extend = "%zero = arith.constant -0.0 : f32\n            %f = arith.addf %ex, %zero : f32"
    return (GATHER_PRODUCER if producer else GATHER).format(
        k=k, e=element, s=(k // 16 + 3) // 4 * 4, index=index, extend=extend
    )


def gather_arrays(rng, x, rows, k, index, producer):
    """Arrays for the functions above: `rows` rows of x, in groups."""
    n = len(x)
    i = rng.integers(0, max(n, 1), rows).astype(np.int32 if index == "i32" else np.int64)
    _, *groups = problem_of(rng, rows, k, 7, "f32", "i32", None)
    if not producer:
        return [x, i[:, None], *groups]
    s, w = rng.standard_normal(n, np.float32), rng.standard_normal(rows, np.float32)
    return [x, s, w, values(rng, rows, k, "f32"), i, *groups]


def test_gather():
    rng = np.random.default_rng(19)
    for producer in (False, True):
        for element, index in (("bf16", "i32"), ("f16", "i64"), ("f32", "i32"), ("bf16", "i64")):
            for m, n, k in ((700, 100, 5120), (130, 3000, 64), (1, 1, 16), (0, 5, 64)):
                text = gather_text(k, element, index, producer)
                x = values(rng, n, k, element)
                arrays = gather_arrays(rng, x, m, k, index, producer)
                name = f"gather {element} {index} {m} of {n}x{k} producer={producer}"
                compare(name, text, arrays)


def test_hostile_row_indices():
    """Both say which operand is wrong, and the CPU writes nothing."""
    rng = np.random.default_rng(23)
    for producer in (False, True):
        for name, n, index, wrong in (
            ("-1", 50, "i32", -1), ("N", 50, "i32", 50), ("2^31 - 1", 50, "i32", 2**31 - 1),
            ("2^62", 50, "i64", 1 << 62), ("-2^62", 50, "i64", -(1 << 62)), ("N = 0", 0, "i32", 0),
        ):  # fmt: skip
            text = gather_text(64, "bf16", index, producer)
            arrays = gather_arrays(rng, values(rng, n, 64, "bf16"), 300, 64, index, producer)
            indices = arrays[4 if producer else 1]
            indices[17] = wrong
            for target in ("cpu", "cuda"):
                code, error, _ = run(text, arrays, target)
                said = code != 0 and "row_indices" in error
                report(f"hostile row index {name} producer={producer} {target}",
                       None if said else f"exit {code}: {error}")  # fmt: skip


def test_fused_silu():
    """silu(gate) * up in the same kernel: exp differs in its last bits."""
    rng = np.random.default_rng(13)
    text = mlir("silu")
    m, k = 777, 5120
    gate, offsets, starts, data, scales = problem_of(rng, m, k, 32, "bf16", "i32", None)
    up = values(rng, m, k, "bf16")
    gate = (rng.standard_normal((m, k), np.float32).view(np.uint32) >> 16).astype(np.uint16)
    arrays = [gate, up, offsets, starts, data, scales]
    code, error, expected = run(text, arrays, "cpu")
    assert code == 0, error
    code, error, results = run(text, arrays, "cuda")
    if code == 0:
        wrong = [np.count_nonzero(a.reshape(-1).view(np.uint8) != b.reshape(-1).view(np.uint8)) / a.size
                 for a, b in zip(results, expected)]  # fmt: skip
        error = None if max(wrong) < 2e-3 else f"fractions of bytes {wrong} differ"
    report("fused silu(gate) * up", error)


def test_tabulated():
    """Of a large matrix a function of one input is looked up, of small ones it is
    computed: the same bytes, of every bf16, NaN included."""
    rng = np.random.default_rng(17)
    m, k = 768, 5120
    assert m * k < 5 << 20 <= 2 * m * k, "one is computed, two are looked up"
    gate = (rng.standard_normal((2 * m, k), np.float32).view(np.uint32) >> 16).astype(np.uint16)
    gate.reshape(-1)[: 120 << 16 : 120] = np.arange(1 << 16)
    up = values(rng, 2 * m, k, "bf16")

    def of(first, count):
        offsets = np.arange(0, count + 1, m, np.int32)
        rows = slice(first, first + count)
        return [gate[rows], up[rows], offsets, offsets[:-1], poisoned(count, k // 2),
                poisoned(count, k // 16)]  # fmt: skip

    silu = mlir("silu")
    quotient = "%silu = arith.divf %gf, %den : f32"
    assert quotient in silu
    texts = {"silu": silu, "tanh, rounded": silu.replace(quotient, """
    %tanh = math.tanh %gf : f32
    %low = arith.truncf %tanh : f32 to bf16
    %silu = arith.extf %low : bf16 to f32""")}  # fmt: skip
    for name, text in texts.items():
        code, error, results = run(text, of(0, 2 * m), "cuda")
        halves = [run(text, of(first, m), "cuda") for first in (0, m)]
        if code == 0 and not any(half[0] for half in halves):
            expected = [np.concatenate(both) for both in zip(*(half[2] for half in halves))]
            error = differences(results, expected)
        report(f"tabulated {name}", error)


def close(results, expected, tolerance):
    """None if all floats are near, else what is not."""
    for i, (a, b) in enumerate(zip(results, expected)):
        if not np.allclose(a, b, rtol=tolerance, atol=tolerance):
            return f"result {i}: off by {np.max(np.abs(a - b))}"
    return None


def test_leftovers():
    """Kernels of upstream's loops: the bytes of the CPU, but for exp."""
    rng = np.random.default_rng(19)
    text = mlir("leftovers")

    def f32(*shape):
        return rng.standard_normal(shape, np.float32)

    def bf16(*shape):
        return (f32(*shape).view(np.uint32) >> 16).astype(np.uint16)

    def rows(m, count):
        return rng.integers(0, m, count).astype(np.int32)

    for entry, arrays in (
        ("sums", [bf16(777, 300)]), ("sums", [bf16(1, 5)]), ("sums", [bf16(0, 5)]),
        ("bf16", [bf16(333, 257), np.uint16(0x3FC1)]), ("bf16", [bf16(3000, 5120), np.uint16(0xBF81)]),
        ("bf16", [bf16(0, 7), np.uint16(0x3FC1)]),
        ("softmax", [f32(129, 77)]), ("softmax", [f32(1000, 1)]),
        ("matmul", [f32(130, 17), f32(17, 129)]), ("matmul", [f32(3, 0), f32(0, 5)]),
        ("batches", [f32(3, 1, 7, 9), f32(9, 130)]), ("batches", [f32(0, 1, 7, 9), f32(9, 3)]),
        ("gather", [f32(50, 150), rows(50, 400)]), ("gather", [f32(1, 128), rows(1, 0)]),
        ("parts", [f32(700, 8), f32(700, 8)]), ("parts", [f32(1, 8), f32(1, 8)]),
        ("constants", [np.int64(1000), np.float32(1.5)]), ("constants", [np.int64(0), np.float32(-3)]),
        ("layers", [f32(300), f32(300), np.int64(7)]), ("layers", [f32(5), f32(5), np.int64(0)]),
    ):  # fmt: skip
        for options in ((), ("--no-fusion",), ("--repeat=20",)):
            code, error, expected = run(text, arrays, "cpu", f"--entry={entry}")
            assert code == 0, error
            code, error, results = run(text, arrays, "cuda", f"--entry={entry}", *options)
            problem = (close(results, expected, 1e-5) if entry == "softmax"
                       else differences(results, expected))  # fmt: skip
            shapes = [a.shape for a in arrays]
            report(f"leftovers {entry} {shapes} {options}", error if code else problem)


def test_control_flow():
    """Slices and control flow: the same bytes five times, those of the CPU."""
    x = np.random.default_rng(8).standard_normal((256, 64), np.float32)
    compare("control flow", mlir("control_flow"), [x, np.int64(1)])


def test_group_offsets():
    """What the CPU computes; of hostile counts, what is not more than i32 holds."""
    text = """
    func.func @main(%c: tensor<?xi64>, %o0: tensor<?xi32>, %s0: tensor<?xi32>)
        -> (tensor<?xi32>, tensor<?xi32>) {
      %o, %s = gq.group_offsets ins(%c : tensor<?xi64>)
          outs(%o0, %s0 : tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>, tensor<?xi32>
      return %o, %s : tensor<?xi32>, tensor<?xi32>
    }"""
    rng = np.random.default_rng(5)
    for groups in (0, 1, 31, 32, 33, 128, 4096):
        for closed in (0, 1):
            out = np.full(groups + closed, 77, np.int32), np.full(groups, 77, np.int32)
            counts = rng.integers(0, 500, groups)
            compare(f"group offsets {groups} {closed}", text, [counts, *out])
    counts = np.array([3, -1, 130, 2**40, 5, -(2**63)])
    outs = np.zeros(7, np.int32), np.zeros(6, np.int32)
    code, error, _ = run(text, [counts, *outs], "cuda")
    found = code != 0 and "offsets" in error
    report("group offsets hostile", None if found else f"{code}: {error}")


def test_moe():
    """Normalization, gelu, gather and quantization: tanh differs."""
    rng = np.random.default_rng(23)
    text = mlir("moe")
    for tokens, routed, groups in ((100, 777, 5), (1, 1, 1), (0, 0, 3)):
        x = (rng.standard_normal((tokens, 64), np.float32).view(np.uint32) >> 16).astype(np.uint16)
        order = rng.integers(0, max(tokens, 1), routed).astype(np.int32)
        _, offsets, starts, data, scales = problem_of(rng, routed, 64, groups, "bf16", "i32", None)
        arrays = [x, order, offsets, starts, data, scales]
        for options in ((), ("--no-fusion",)):
            code, error, expected = run(text, arrays, "cpu", "--entry=main")
            assert code == 0, error
            code, error, results = run(text, arrays, "cuda", "--entry=main", *options)
            if code == 0:
                wrong = [np.count_nonzero(a.reshape(-1).view(np.uint8) != b.reshape(-1).view(np.uint8)) / max(a.size, 1)
                         for a, b in zip(results[:2], expected[:2])]  # fmt: skip
                error = None if max(wrong) < 5e-3 else f"fractions of bytes {wrong} differ"
                # A bf16 has 8 bits, and the last one may differ.
                error = error or close(results[2:], expected[2:], 2**-7)
            report(f"moe {tokens} tokens, {routed} rows, G={groups} {options}", error)
    arrays = [values(rng, 300, 64, "bf16"), poisoned(300, 32), poisoned(640, 4)]
    code, error, expected = run(text, arrays, "cpu", "--entry=fixed_groups")
    assert code == 0, error
    code, error, results = run(text, arrays, "cuda", "--entry=fixed_groups")
    report("moe fixed groups", error if code else differences(results, expected))


def mm_text(n, k, out, index, kernel, m="?", groups="?"):
    """gq.grouped_mm: a, b, their scales, offsets, scale offsets, alpha, out."""
    columns = (k // 16 + 3) // 4 * 4
    padded = (n + 127) // 128 * 128
    a, b = f"tensor<{m}x{k}xf4E2M1FN>", f"tensor<{groups}x{n}x{k}xf4E2M1FN>"
    sa = f"tensor<?x{columns}xf8E4M3FN, #gq.tile128x4>"
    sb = f"tensor<{groups}x{padded}x{columns}xf8E4M3FN, #gq.tile128x4>"
    o, so, c = f"tensor<?x{index}>", f"tensor<{groups}x{index}>", f"tensor<{m}x{n}x{out}>"
    return f"""
    func.func @main(%a: {a}, %b: {b}, %sa: {sa}, %sb: {sb}, %o: {o}, %so: {so},
                    %alpha: tensor<{groups}xf32>, %c0: {c}) -> {c} {{
      %c = gq.grouped_mm format(nvfp4) kernel({kernel}) ins(%a, %b : {a}, {b})
          scales(%sa, %sb : {sa}, {sb}) groups(%o, %so : {o}, {so})
          alpha(%alpha : tensor<{groups}xf32>) outs(%c0 : {c}) -> {c}
      return %c : {c}
    }}"""


MM_KERNELS = ("auto", "any", "decode8", "decode16", "tiles32", "tiles64", "tiles128", "tiles256")


def floats_of(x):
    """An array of one of the element types, bf16 as uint16, as float64."""
    bf16 = x.dtype == np.uint16
    return ((x.astype(np.uint32) << 16).view(np.float32) if bf16 else x).astype(np.float64)


def test_grouped_mm():
    """Every kernel on the golden case and on others, against the oracle; rows in
    no group keep what they were."""
    c = {f.stem: np.load(f) for f in (golden / "nvfp4_grouped_mm").glob("*.npy")}
    n, k = c["b_data"].shape[1], c["a_source"].shape[1]
    columns = (k // 16 + 3) // 4 * 4
    arrays = [c["data"], c["b_data"], c["scales"].reshape(-1, columns),
              c["b_scales"].reshape(len(c["b_data"]), -1, columns),
              c["offsets"], c["scale_offsets"], c["alpha"]]  # fmt: skip
    for kernel in MM_KERNELS:
        out = np.full(c["out"].shape, np.nan, np.float32)
        code, error, results = run(mm_text(n, k, "f32", "i32", kernel), [*arrays, out], "cuda")
        inside = ~np.isnan(c["out"])
        wrong = code == 0 and not np.allclose(results[0][inside], c["out"][inside], 1e-5, 1e-4)
        kept = code != 0 or np.isnan(results[0][~inside]).all()
        report(f"golden nvfp4_grouped_mm {kernel}",
               error if code else "wrong" if wrong else None if kept else "not left alone")  # fmt: skip
    rng = np.random.default_rng(29)
    cases = ((264, 160, [0, 1, 9, 40, 0, 130], 2), (33, 48, [5, 0, 20], 0), (256, 512, [300], 0))
    for n, k, sizes, around in cases:
        groups, columns = len(sizes), (k // 16 + 3) // 4 * 4
        rows = sum(sizes) + 2 * around
        offsets = np.cumsum([around, *sizes])
        starts = np.cumsum([0, *((m + 127) // 128 * 128 for m in sizes)])
        scales = [rng.integers(0x28, 0x40, (r, columns), np.uint8)
                  for r in (starts[-1], groups * ((n + 127) // 128) * 128)]  # fmt: skip
        a = rng.integers(0, 256, (rows, k // 2), np.uint8)
        b = rng.integers(0, 256, (groups, n, k // 2), np.uint8)
        alpha = rng.standard_normal(groups).astype(np.float32)
        for kernel, out, index in zip(MM_KERNELS, 3 * ("bf16", "f16", "f32"), 4 * ("i32", "i64")):
            whole = [a, b, scales[0], scales[1].reshape(groups, -1, columns),
                     offsets.astype(index.replace("i", "int")),
                     starts[:-1].astype(index.replace("i", "int")), alpha,
                     np.full((rows, n), 7, ELEMENTS[out])]  # fmt: skip
            # Rows and groups known when it is compiled, and not.
            for extents in ((), (rows, groups)):
                text = mm_text(n, k, out, index, kernel, *extents)
                code, error, expected = run(text, whole, "cpu")
                assert code == 0, error
                code, error, results = run(text, whole, "cuda")
                # The CPU's sums are exact, and rounded once; the magnitudes of a
                # sum add up to some thousands.
                unit = {"bf16": 2**-7, "f16": 2**-9, "f32": 2**-20}[out]
                near = code == 0 and np.allclose(
                    floats_of(results[0]), floats_of(expected[0]), rtol=unit, atol=2**-8)  # fmt: skip
                report(f"grouped_mm {kernel} {out} {index} N={n} K={k} {sizes} {extents}",
                       error if code else None if near else "wrong")  # fmt: skip


def test_example():
    """A whole network as one CUDA graph; it compares its result with the CPU's."""
    command = [sys.executable, golden.absolute().parent / "examples" / "moe_ffn.py", gq_run]
    done = subprocess.run(command, capture_output=True, text=True)
    said = done.stdout.strip().replace("\n", "; ")
    report("examples/moe_ffn.py", None if done.returncode == 0 else f"{said} {done.stderr}")


# Of a and b: format, type, block, scales and their type, those of f32 with the
# rows of a block of b.
MM_FORMATS = (
    ("mxfp4", "f4E2M1FN", "mxfp4", "f4E2M1FN", "e8m0", 32, 1),
    ("mxfp8_e4m3", "f8E4M3FN", "mxfp8_e4m3", "f8E4M3FN", "e8m0", 32, 1),
    ("mxfp8_e5m2", "f8E5M2", "mxfp4", "f4E2M1FN", "e8m0", 32, 1),
    ("fp8_e4m3_1x128", "f8E4M3FN", "fp8_e4m3_128x128", "f8E4M3FN", "f32", 128, 128),
    ("fp8_e4m3_1x128", "f8E4M3FN", "fp8_e5m2_1x128", "f8E5M2", "f32", 128, 1),
    (None, "f8E4M3FN", None, "f8E5M2", None, 0, 0),
)


def test_grouped_mm_formats():
    """The other formats, with all that an output can be multiplied by and added to,
    against the CPU."""
    rng = np.random.default_rng(31)
    n, k, sizes = 264, 384, [0, 7, 40, 0, 130]
    groups, rows = len(sizes), sum(sizes)
    offsets = np.cumsum([0, *sizes]).astype(np.int32)
    starts = np.cumsum([0, *((m + 127) // 128 * 128 for m in sizes)]).astype(np.int32)

    def codes(kind, *extents):
        x = rng.integers(0, 256, (*extents[:-1], extents[-1] // (2 if kind[1] == "4" else 1)), np.uint8)
        # No NaN and no infinities.
        return x if kind[1] == "4" else x & (0xF7 if kind == "f8E4M3FN" else 0xBB)

    for a_format, a_kind, b_format, b_kind, scale, block, height in MM_FORMATS:
        a, b = f"tensor<?x{k}x{a_kind}>", f"tensor<{groups}x{n}x{k}x{b_kind}>"
        inputs, arrays = [("a", a), ("b", b)], [codes(a_kind, rows, k), codes(b_kind, groups, n, k)]
        head, scales, also = "", "", ""
        if a_format:
            head = f"format({a_format}) b_format({b_format})"
        if scale == "e8m0":
            columns = (k // block + 3) // 4 * 4
            types = (f"tensor<?x{columns}xf8E8M0FNU, #gq.tile128x4>",
                     f"tensor<{groups}x{(n + 127) // 128 * 128}x{columns}xf8E8M0FNU, #gq.tile128x4>")  # fmt: skip
            arrays += [rng.integers(118, 128, (starts[-1], columns), np.uint8),
                       rng.integers(118, 128, (groups, (n + 127) // 128 * 128, columns), np.uint8)]  # fmt: skip
            also = ", %so"
        elif scale:
            head += " scale_layout(linear)"
            high = (n + height - 1) // height
            types = (f"tensor<?x{k // block}xf32>", f"tensor<{groups}x{high}x{k // block}xf32>")
            arrays += [rng.random((rows, k // block), np.float32),
                       rng.random((groups, high, k // block), np.float32)]  # fmt: skip
        if scale:
            inputs += [("sa", types[0]), ("sb", types[1])]
            scales = f"scales(%sa, %sb : {types[0]}, {types[1]})"
        o, so = f"tensor<{groups + 1}xi32>", f"tensor<{groups}xi32>"
        inputs += [("o", o)] + ([("so", so)] if also else [])
        arrays += [offsets] + ([starts[:-1]] if also else [])
        rest = (("alpha", f"tensor<{groups}xf32>", np.full(groups, 0.125, np.float32)),
                ("row_scales", "tensor<?xf32>", rng.random(rows, np.float32)),
                ("column_scales", f"tensor<{groups}x{n}xf32>", rng.random((groups, n), np.float32)),
                ("bias", f"tensor<{groups}x{n}xf32>", rng.random((groups, n), np.float32)))  # fmt: skip
        c = f"tensor<?x{n}xf32>"
        text = f"""
        func.func @main({", ".join(f"%{name}: {t}" for name, t in inputs)},
            {", ".join(f"%{name}: {t}" for name, t, _ in rest)}, %c0: {c}) -> {c} {{
          %c = gq.grouped_mm {head} KERNEL ins(%a, %b : {a}, {b}) {scales}
              groups(%o{also} : {o}{", " + so if also else ""})
              {" ".join(f"{name}(%{name} : {t})" for name, t, _ in rest)}
              outs(%c0 : {c}) -> {c}
          return %c : {c}
        }}"""
        whole = [*arrays, *(x for _, _, x in rest), np.zeros((rows, n), np.float32)]
        code, error, expected = run(text.replace("KERNEL", ""), whole, "cpu")
        assert code == 0, error
        bytes = scale == "f32" or not a_format
        tiles = ("tiles32", "tiles64", "tiles128", "tiles256")
        for kernel in ("any", "decode8", "decode16", "auto", *tiles):
            # What 8-bit tensor cores lose of products.
            lost = 2**-9 if bytes and kernel in ("auto", *tiles) else 0
            code, error, results = run(text.replace("KERNEL", f"kernel({kernel})"), whole, "cuda")
            # A unit of float32 is far from what is added up: e5m2 has codes of
            # 2^-16 to 57344.
            near = code == 0 and np.allclose(results[0], expected[0], 2**-12 + lost,
                                             (2**-18 + lost) * np.abs(expected[0]).max())  # fmt: skip
            report(f"grouped_mm {kernel} {a_format} by {b_format}",
                   error if code else None if near else "wrong")  # fmt: skip


def test_grouped_mm_golden():
    """Golden matmuls of other formats than NVFP4."""
    import json

    for name, case in json.loads((golden / "manifest.json").read_text()).items():
        if case["op"] != "grouped_mm" or "b_format" not in case:
            continue
        c = {n: np.load(golden / name / f"{n}.npy") for n in case["arrays"]}
        a, b = (oracle.FORMATS[case[f]] for f in ("format", "b_format"))
        n, k, groups = (case["shape"][x] for x in "NKG")
        encoding = "" if a.scale == "f32" else ", #gq.tile128x4"

        def tensor(array, element, encoding="", columns=None):
            extents = [*array.shape[:-1], columns or array.shape[-1]]
            return f"tensor<{''.join(f'{x}x' for x in extents)}{element}{encoding}>"

        kinds = ["f4E2M1FN" if f.bits == 4 else f.data for f in (a, b)]
        types = [tensor(c["data"], kinds[0], "", k), tensor(c["b_data"], kinds[1], "", k),
                 tensor(c["scales"], a.scale, encoding), tensor(c["b_scales"], b.scale, encoding)]  # fmt: skip
        o, so, out = f"tensor<{groups + 1}xi32>", f"tensor<{groups}xi32>", f"tensor<{sum(case['sizes'])}x{n}xf32>"
        tiled = "scale_offsets" in c
        text = f"""
        func.func @main(%a: {types[0]}, %b: {types[1]}, %sa: {types[2]}, %sb: {types[3]}, %o: {o},
            {f"%so: {so}," if tiled else ""} %alpha: tensor<{groups}xf32>, %c0: {out}) -> {out} {{
          %c = gq.grouped_mm format({case["format"]}) b_format({case["b_format"]})
              {"" if tiled else "scale_layout(linear)"} KERNEL
              ins(%a, %b : {types[0]}, {types[1]}) scales(%sa, %sb : {types[2]}, {types[3]})
              groups(%o {", %so" if tiled else ""} : {o} {f", {so}" if tiled else ""})
              alpha(%alpha : tensor<{groups}xf32>) outs(%c0 : {out}) -> {out}
          return %c : {out}
        }}"""
        arrays = [c["data"], c["b_data"], c["scales"], c["b_scales"], c["offsets"],
                  *([c["scale_offsets"]] if tiled else []), c["alpha"],
                  np.full(c["out"].shape, np.nan, np.float32)]  # fmt: skip
        for kernel in ("auto", "any", "decode8", "decode16"):
            code, error, results = run(text.replace("KERNEL", f"kernel({kernel})"), arrays, "cuda")
            # Of terms of both signs, float32 loses more than of their sum; 8-bit
            # tensor cores lose of products.
            lost = 0 if tiled or kernel != "auto" else 2**-9
            near = code == 0 and np.allclose(results[0], c["out"], 2**-16 + lost,
                                             (2**-20 + lost) * np.abs(c["out"]).max())  # fmt: skip
            report(f"golden {name} {kernel}", error if code else None if near else "wrong")


# Of a and b: format, type, scales.
WGRAD_FORMATS = (
    ("nvfp4", "f4E2M1FN", "nvfp4", "f4E2M1FN", "f8E4M3FN"),
    ("mxfp4", "f4E2M1FN", "mxfp4", "f4E2M1FN", "f8E8M0FNU"),
    ("mxfp8_e5m2", "f8E5M2", "mxfp8_e4m3", "f8E4M3FN", "f8E8M0FNU"),
    ("mxfp8_e4m3", "f8E4M3FN", "mxfp4", "f4E2M1FN", "f8E8M0FNU"),
    ("fp8_e4m3_1x128", "f8E4M3FN", "fp8_e5m2_128x128", "f8E5M2", "f32"),
    (None, "f8E4M3FN", None, "f8E5M2", None),
)


def test_grouped_wgrad():
    """gq.grouped_wgrad of any codes and scales, against the CPU: extents known when it
    is compiled, and not."""
    rng = np.random.default_rng(37)
    sizes = [0, 7, 40, 0, 130, 33]
    groups, rows = len(sizes), sum(sizes) + 5
    offsets = np.cumsum([2, *sizes])
    for turn, (a_format, a_kind, b_format, b_kind, scale) in enumerate(WGRAD_FORMATS):
        n, k = (128, 384) if scale == "f32" else (160, 288)
        out = ("f16", "bf16", "f32", "bf16", "f32", "bf16")[turn]
        index = ("i32", "i64")[turn % 2]
        arrays, types, flat = [], [], a_format and oracle.FORMATS[a_format].transposes
        for fmt, kind, lines in ((a_format, a_kind, n), (b_format, b_kind, k)):
            size = sum((m + 31) // 32 * 32 for m in sizes) * lines if flat else rows * lines
            codes = rng.integers(0, 256, size // (2 if kind[1] == "4" else 1), np.uint8)
            # No NaN and no infinities.
            codes &= {"f4E2M1FN": 0xFF, "f8E4M3FN": 0xF7, "f8E5M2": 0xBB}[kind]
            arrays.append(codes if flat else codes.reshape(rows, -1))
            types.append(f"tensor<?x{kind}>" if flat else f"tensor<?x{lines}x{kind}>")
        for fmt, lines in ((a_format, n), (b_format, k)):
            if scale == "f32":
                columns = sum((m + 127) // 128 for m in sizes)
                arrays.append(rng.random(columns * (lines // oracle.FORMATS[fmt].block[0]), np.float32))
            elif scale:
                block = oracle.FORMATS[fmt].block[1]
                columns = sum(((m + 31) // 32 * 32 // block + 3) // 4 * 4 for m in sizes)
                low, high = (0x28, 0x40) if scale == "f8E4M3FN" else (118, 128)
                arrays.append(rng.integers(low, high, columns * ((lines + 127) // 128) * 128, np.uint8))
        if scale:
            types += 2 * [f"tensor<?x{scale}{'' if scale == 'f32' else ', #gq.tile128x4'}>"]
        arrays += [offsets.astype(index.replace("i", "int")), rng.standard_normal(groups).astype("f4"),
                   np.full((groups, n, k), 7, ELEMENTS[out])]  # fmt: skip
        for c in (f"tensor<{groups}x{n}x{k}x{out}>", f"tensor<?x?x?x{out}>"):
            o, alpha = f"tensor<?x{index}>", "tensor<?xf32>"
            names = ["%a", "%b"] + (["%sa", "%sb"] if scale else [])
            head = f"format({a_format}) b_format({b_format})" if a_format else ""
            head += " scale_layout(linear)" if scale == "f32" else ""
            parameters = ", ".join(f"{name}: {t}" for name, t in zip(names, types))
            text = f"""
            func.func @main({parameters}, %o: {o}, %alpha: {alpha}, %c0: {c}) -> {c} {{
              %c = gq.grouped_wgrad {head} KERNEL ins(%a, %b : {types[0]}, {types[1]})
                  {f"scales(%sa, %sb : {types[2]}, {types[3]})" if scale else ""}
                  groups(%o : {o}) alpha(%alpha : {alpha}) outs(%c0 : {c}) -> {c}
              return %c : {c}
            }}"""
            code, error, expected = run(text.replace("KERNEL", ""), arrays, "cpu")
            assert code == 0, error
            # Of 8 bits, codes differ by more than a float32 has.
            unit = {"bf16": 2**-7, "f16": 2**-9, "f32": 2**-12}[out]
            most = np.abs(floats_of(expected[0])[np.isfinite(floats_of(expected[0]))]).max()
            for kernel in ("any", "tiles128", "auto"):
                code, error, results = run(text.replace("KERNEL", f"kernel({kernel})"), arrays, "cuda")
                near = code == 0 and np.allclose(
                    floats_of(results[0]), floats_of(expected[0]), unit, 2**-18 * most)  # fmt: skip
                report(f"grouped_wgrad {kernel} {a_format} by {b_format} {c}",
                       error if code else None if near else "wrong")  # fmt: skip


def test_epilogues():
    """What an epilogue stores, against NumPy on what the same kernel stores without
    one: the same bytes. Rows of no group stay."""
    rng = np.random.default_rng(41)
    m, n, k, groups = 45, 96, 128, 3
    offsets = np.int32([2, 7, 7, 40])
    shapes = (m, k), (groups, n, k)
    codes = [rng.integers(0, 256, shape, np.uint8) & 0xA7 for shape in shapes]

    def module(kernel, clause, region, columns, element):
        a, b = f"tensor<?x{k}xf8E4M3FN>", f"tensor<{groups}x{n}x{k}xf8E4M3FN>"
        c, o = f"tensor<?x{columns}x{element}>", f"tensor<{groups + 1}xi32>"
        return f"""
        func.func @main(%a: {a}, %b: {b}, %o: {o}, %c0: {c}) -> {c} {{
          %c = gq.grouped_mm kernel({kernel}) {clause} ins(%a, %b : {a}, {b})
              groups(%o : {o}) {region} outs(%c0 : {c}) -> {c}
          return %c : {c}
        }}"""

    for kernel in "any", "decode8", "tiles128":
        for product, out in (("f32", "f32"), ("bf16", "f16"), ("f32", "bf16")):
            arrays = [*codes, offsets, np.zeros((m, n), ELEMENTS[product])]
            code, error, results = run(
                module(kernel, "", "", n, product), arrays, arguments.target
            )
            if code:
                report(f"epilogue {kernel} {product}", error)
                continue
            c = floats_of(results[0]).astype(np.float32)
            for pairs in None, "interleaved", "halves":
                columns = n // 2 if pairs else n
                epilogue = epilogues.Epilogue(pairs, product)
                of_pairs = epilogue.columns(c) if pairs else (c,)
                with np.errstate(over="ignore"):
                    expected = elements.encode(epilogue.apply(*of_pairs), out)
                before = np.full((m, columns), 7, ELEMENTS[out])
                expected[:2], expected[40:] = before[:2], before[40:]
                clause = f"pairs({pairs})" if pairs else ""
                code, error, results = run(
                    module(kernel, clause, epilogue.region(out), columns, out),
                    [*codes, offsets, before], arguments.target,
                )  # fmt: skip
                report(f"epilogue {kernel} {pairs} {product} to {out}",
                       error if code else differences(results, [expected]))  # fmt: skip


def test_requantized(kernel):
    """Matmuls whose kernels quantize what they store, against two kernels: the same
    bytes. Rows of no group and scales between groups stay."""
    rng = np.random.default_rng(43)
    sizes, around, n, k = [0, 1, 9, 40, 0, 130], 2, 192, 160
    groups, rows = len(sizes), sum(sizes) + 2 * around
    offsets = np.int32(np.cumsum([around, *sizes]))
    starts = np.int32(np.cumsum([0, *((m + 127) // 128 * 128 + 128 for m in sizes)]))
    scales = [rng.integers(0x28, 0x40, shape, np.uint8)
              for shape in ((starts[-1], 12), (groups, 256, 12))]  # fmt: skip
    a, b = (rng.integers(0, 256, s, np.uint8) for s in ((rows, k // 2), (groups, n, k // 2)))
    alpha = rng.standard_normal(groups).astype(np.float32)

    def module(pairs, product, to, columns):
        code, scale, block = {
            "nvfp4": ("f4E2M1FN", "f8E4M3FN", 16),
            "mxfp8_e4m3": ("f8E4M3FN", "f8E8M0FNU", 32),
        }[to]
        ta, tb = f"tensor<?x{k}xf4E2M1FN>", f"tensor<{groups}x{n}x{k}xf4E2M1FN>"
        sa = "tensor<?x12xf8E4M3FN, #gq.tile128x4>"
        sb = f"tensor<{groups}x256x12xf8E4M3FN, #gq.tile128x4>"
        o, so = f"tensor<{groups + 1}xi32>", f"tensor<{groups}xi32>"
        c, d = f"tensor<?x{columns}x{product}>", f"tensor<?x{columns}x{code}>"
        padded = (columns // block + 3) // 4 * 4
        t = f"tensor<?x{padded}x{scale}, #gq.tile128x4>"
        clause = f"pairs({pairs})" if pairs else ""
        region = epilogues.Epilogue(pairs, product).region(product) if pairs else ""
        text = f"""
        func.func @main(%a: {ta}, %b: {tb}, %sa: {sa}, %sb: {sb}, %o: {o}, %so: {so},
                        %alpha: tensor<{groups}xf32>, %d0: {d}, %t0: {t}) -> ({d}, {t}) {{
          %rows = arith.constant 0 : index
          %m = tensor.dim %a, %rows : {ta}
          %c0 = tensor.empty(%m) : {c}
          %c = gq.grouped_mm format(nvfp4) kernel({kernel}) {clause} ins(%a, %b : {ta}, {tb})
              scales(%sa, %sb : {sa}, {sb}) groups(%o, %so : {o}, {so})
              alpha(%alpha : tensor<{groups}xf32>) {region} outs(%c0 : {c}) -> {c}
          %d, %t = gq.grouped_block_quantize format({to}) rows(grouped) ins(%c : {c})
              groups(%o, %so : {o}, {so}) outs(%d0, %t0 : {d}, {t}) -> {d}, {t}
          return %d, %t : {d}, {t}
        }}"""
        width = columns if block == 32 else columns // 2
        before = [np.full(s, 7, np.uint8) for s in ((rows, width), (starts[-1], padded))]
        return text, [a, b, *scales, offsets, starts[:-1], alpha, *before]

    for pairs, product, to in ((None, "bf16", "nvfp4"), ("interleaved", "bf16", "nvfp4"),
                               ("halves", "bf16", "mxfp8_e4m3"), (None, "f32", "mxfp8_e4m3")):  # fmt: skip
        text, arrays = module(pairs, product, to, n // 2 if pairs else n)
        code, error, expected = run(text, arrays, arguments.target)
        if not code:
            code, error, results = run(text, arrays, arguments.target, "--fuse-quantization")
        report(f"requantized {kernel} {pairs} {product} to {to}",
               error if code else differences(results, expected))  # fmt: skip


def test_training():
    """A layer of experts and its gradients, quantized and multiplied on the GPU."""
    for case in training.CASES:
        code, error, results = run(training.layer(*case[:2]), training.arguments(), arguments.target)
        report(f"training {case[:2]}", error if code else training.problem(case, results, arguments.target))


def test_hostile_offsets():
    """Both say which operand is wrong; where nothing is, bytes are compared."""
    rng = np.random.default_rng(17)
    k = 160
    for case in hostile.OF_ROWS:
        for index, dtype in (("i32", np.int32), ("i64", np.int64)):
            text = module(k, "bf16", index)
            arrays = [values(rng, hostile.ROWS, k, "bf16"), *hostile.offsets(case, dtype),
                      poisoned(hostile.ROWS, k // 2), poisoned(hostile.SCALE_ROWS, 12)]  # fmt: skip
            name = f"hostile offsets: {case} {index}"
            if not hostile.CASES[case]:
                compare(name, text, arrays)
                continue
            for target in ("cpu", "cuda"):
                code, error, _ = run(text, arrays, target)
                said = code != 0 and "offsets" in error
                report(f"{name} {target}", None if said else f"exit {code}: {error}")


def checked(work, text, *options):
    """Runs `text` on the arrays of `work`: None or what its check() says."""
    code, error, results = run(text, work.arrays, arguments.target, *options)
    if code:
        return error
    try:
        work.check(results)
    except AssertionError as e:
        return str(e)


def test_activations():
    for name in activations.FUNCTIONS:
        for option in ((), ("--no-fusion",)):
            activation = activations.Activation(name)
            problem = checked(activation, activations.TEXT, f"--entry={name}", *option)
            report(f"activation {name} {option}", problem)


def test_amax():
    rng = np.random.default_rng(19)
    fixed = [(sizes, element) for sizes in amaxes.SIZES for element in ("f32", "bf16", "f16")]
    problems = [amaxes.Problem(rng, sizes, 272, element, amaxes.OUTPUTS, outside=(5, 130),
                               signs=0xD7E8 if i % 2 else None)
                for i, (sizes, element) in enumerate(fixed)]  # fmt: skip
    problems += [amaxes.some(rng) for _ in range(40)]
    for i, problem in enumerate(problems):
        report(f"amax {i} {problem.element} {problem.outs}", checked(problem, problem.text))


def test_batch(name):
    """A format, direction and shape against the oracle."""
    batch = BATCHES[name]()
    report(name, checked(batch, batch.text))


def reports_of(test, *arguments):
    """What a test reports; runs in a process of a pool."""
    reports.clear()
    test(*arguments)
    return list(reports)


# The long ones first.
TESTS = {
    test.__name__: (test,) for test in (
        test_leftovers, test_control_flow, test_group_offsets, test_random, test_blocks, test_gather,
        test_producers, test_producers_both, test_moe,
        test_hostile_row_indices, test_grouped_mm, test_grouped_mm_formats,
        test_grouped_mm_golden, test_grouped_wgrad, test_epilogues, test_training, test_activations, test_amax,
        test_golden, test_dequantize_golden, test_fused_silu, test_tabulated,
        test_hostile_offsets, test_example,
    )
}  # fmt: skip
TESTS |= {f"test_requantized {kernel}": (test_requantized, kernel) for kernel in MM_KERNELS}
listed = list(enumerate(dequantize.listed()))
TESTS |= {f"test_dequantize {i}": (test_dequantize, listed[i::7]) for i in range(7)}
TESTS = {name: call for name, call in TESTS.items() if arguments.only in name}
batches = [n for n in BATCHES if arguments.only in n and formats.has_kernel(n)]
with concurrent.futures.ProcessPoolExecutor() as pool:
    # Names of what runs, so that a run that is stopped says what it had done.
    done = {pool.submit(reports_of, *call): name for name, call in TESTS.items()}
    done |= {pool.submit(reports_of, test_batch, name): None for name in batches}
    passed = failed = 0
    for future in concurrent.futures.as_completed(done):
        problems = [problem for _, problem in future.result()]
        wrong = sum(problem is not None for problem in problems)
        passed, failed = passed + len(problems) - wrong, failed + wrong
        if done[future]:
            print(f"{done[future]}: {len(problems) - wrong} of {len(problems)}", flush=True)
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
