# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package with torch: functions, streams, CUDA graphs, custom operators.

torch_ops.py [cpu | cuda [TEST...]]: runs all tests, or those, and measures the
host's time of calls. Needs torch and NumPy, the gq package, and the modules beside
this one and in test/python. The last line counts the tests.
"""

import contextlib
import sys
import threading
import timeit

import formats
import functions
import golden
import gq
import gq.torch
import numpy as np
import torch
from torch_tests import CUDA, WHERE, main, raises, test

DTYPES = {
    "bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32,
    "i8": torch.float4_e2m1fn_x2, "f8E4M3FN": torch.float8_e4m3fn,
    "f8E5M2": torch.float8_e5m2, "f8E8M0FNU": torch.float8_e8m0fnu,
}  # fmt: skip


def tensor(array, element=None):
    """A NumPy array, as stored, where the tests run."""
    array = np.array(array, order="C")
    if array.dtype == np.uint16:
        array = array.view(np.int16)
    t = torch.from_numpy(array).to(WHERE)
    dtype = DTYPES.get(element)
    return t if dtype is None or t.dtype == dtype else t.view(dtype)


def stored(t):
    """A tensor as integers of NumPy."""
    kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return t.detach().view(kinds[t.element_size()]).cpu().numpy()


def configuration(name):
    x, element, offsets, starts = functions.arguments(name)
    wanted = functions.expected(x, offsets, starts, element)
    return tensor(x, element), tensor(offsets), tensor(starts), wanted


def check(q, wanted):
    functions.check(stored(q[0]), stored(q[1]), wanted)


@test
def configurations():
    """Byte for byte, in the types that torch has."""
    for name in functions.CONFIGURATIONS:
        x, offsets, starts, wanted = configuration(name)
        for q in (
            gq.grouped_block_quantize(x, offsets),
            gq.nv_grouped_block_quantize(x, offsets, starts),
            gq.torch.grouped_block_quantize(x, offsets),
        ):
            assert q[0].dtype == torch.float4_e2m1fn_x2 and q[0].device == x.device
            assert q[1].dtype == torch.float8_e4m3fn
            check(q, wanted)


@test
def batches():
    """Formats, directions and shapes; the golden data."""
    made = formats.batches(golden.DIR)
    # run.py has all of them; these show that arguments arrive.
    kinds = "nvfp4 te tile128x4", "mxfp8_e4m3 nvfuser tile128x4", "fp8_e4m3_1x128 nvfuser"
    names = [f"{n} {k} bf16 both" for n in ("varied", "ragged") for k in kinds]
    for name in made:
        if not (name.startswith("golden") or name in names):
            continue
        for case, operands in made[name]().calls:
            try:
                results = functions.grouped_block_quantize(operands, case.attributes, tensor)
            except gq.Error as error:
                # Ops without a GPU kernel are refused.
                if error.status == "COMPILE_ERROR" and "no GPU kernel" in error.message:
                    print(f"  not on GPUs: {name}")
                    break
                raise
            unpacked = {
                n: stored(t).view(functions.decode(operands[n].array).dtype)
                for n, t in results.items()
            }
            case.check(unpacked)


@test
def amaxes_of_many_runs():
    """An amax and what is made with it are the same in 1,000 runs (50 on a CPU)."""
    generator = torch.Generator(WHERE).manual_seed(3)
    sizes = torch.randint(0, 9, (4096,), generator=generator, device=WHERE)
    offsets = torch.nn.functional.pad(sizes.cumsum(0), (1, 0)).int()
    x = torch.randn(int(offsets[-1]), 64, generator=generator, device=WHERE).bfloat16()
    scale = torch.rand(4096, generator=generator, device=WHERE) + 0.5

    def run():
        q = gq.grouped_quantize(x, offsets, scale=scale, amax=True)
        measured = gq.grouped_amax(x, offsets)
        return [q.data.view(torch.uint8), q.amax, q.scale_inv, measured]

    first = run()
    maxima = [
        x[a:b].abs().amax() if b > a else x.new_zeros(())
        for a, b in offsets.cpu().unfold(0, 2, 1).tolist()
    ]
    assert torch.equal(first[1], torch.stack(maxima).float())
    assert torch.equal(first[3], first[1])
    differ = torch.zeros((), dtype=torch.int64, device=WHERE)
    for _ in range(1000 if CUDA else 50):
        for a, b in zip(run(), first):
            differ += (a != b).sum()
    assert differ == 0, f"{int(differ)} elements differ"


@test
def layer():
    """Quantize, multiply; the sum is that of torch within what 4 bits allow."""
    torch.manual_seed(0)
    x = torch.randn(300, 256, device=WHERE).bfloat16()
    w = torch.randn(3, 64, 256, device=WHERE).bfloat16()
    offsets = torch.tensor([0, 100, 100, 300], dtype=torch.int32, device=WHERE)
    for fmt, bound in ("nvfp4", 0.15), ("mxfp8_e4m3", 0.05):
        q, qw = gq.grouped_block_quantize(x, offsets, fmt), gq.quantize_weights(w, fmt)
        y = gq.grouped_mm(q, qw)
        expected = torch.cat(
            [x[a:b].float() @ e.float().t() for a, b, e in zip([0, 100, 100], [100, 100, 300], w)]
        )
        error = (y.float() - expected).norm() / expected.norm()
        assert error < bound, error


@test
def silu_and_mul():
    x, offsets, _, _ = configuration("nvfuser")
    x = torch.randn_like(x)
    q = gq.grouped_block_quantize(x, offsets, producer="silu_and_mul")
    gate, up = x.float().chunk(2, 1)
    h = (torch.nn.functional.silu(gate) * up).bfloat16()
    expected = gq.grouped_block_quantize(h, offsets)
    different = (stored(q.data) != stored(expected.data)).mean()
    assert different < 1e-3, different
    traced = gq.grouped_block_quantize(
        x, offsets, producer=lambda g, u: g / (gq.producers.exp(-g) + 1) * u
    )
    assert (stored(traced.data) == stored(q.data)).all()


@test
def recorded_graph():
    """A graph of two ops and element-wise work: the bytes of the functions."""
    with gq.Graph() as g:
        x, offsets = g.input("x", ["M", 256], "float32"), g.input("offsets", [4], "int32")
        q = gq.grouped_block_quantize(gq.graph.map("relu", x * 2), offsets, "mxfp8_e4m3")
        g.output(q.data, gq.grouped_dequantize(q, out_dtype="float32"))
    x = torch.randn(300, 256, device=WHERE)
    offsets = torch.tensor([0, 100, 100, 300], dtype=torch.int32, device=WHERE)
    q = gq.grouped_block_quantize((x * 2).relu(), offsets, "mxfp8_e4m3")
    wanted = [stored(q.data), stored(gq.grouped_dequantize(q, out_dtype="float32"))]
    found = g(x, offsets)
    assert all(isinstance(t, torch.Tensor) and t.device == x.device for t in found)
    for a, b in zip(found, wanted, strict=True):
        assert (stored(a) == b).all()
    raises(gq.Error, "offsets: expected int32 .4., found int64", g, x, offsets.long())


@test
def executables():
    """Modules and graphs take tensors and return tensors, of each type; what was written
    into an argument is that argument."""
    kinds = {**DTYPES, "i8": torch.uint8, "i1": torch.bool, "i32": torch.int32}
    for element, dtype in kinds.items():
        types = f"tensor<?x2x{element}>"
        module = gq.compile(
            f"""func.func @main(%x: {types}, %out: {types}, %n: index) -> ({types}, {types}) {{
              %c0 = arith.constant 0 : index
              %d = tensor.dim %x, %c0 : {types}
              %empty = tensor.empty(%d) : {types}
              %fresh = linalg.copy ins(%x : {types}) outs(%empty : {types}) -> {types}
              %written = linalg.copy ins(%x : {types}) outs(%out : {types}) -> {types}
              return %fresh, %written : {types}, {types} }}""",
            target=WHERE,
        )  # fmt: skip
        for rows in 3, 0:
            x = torch.randint(0, 2, (rows, 2), device=WHERE).to(torch.uint8)
            x = x.repeat(1, dtype.itemsize).view(dtype)
            out = torch.zeros(rows, 2 * dtype.itemsize, dtype=torch.uint8, device=WHERE)
            out = out.view(dtype)
            fresh, written = module(x, out, np.int64(0))
            assert written is out and fresh.device == x.device
            for t in fresh, written:
                assert t.dtype == dtype and (stored(t) == stored(x)).all()
    # Of what has a gradient, the numbers.
    x = torch.randn(4, 64, device=WHERE, requires_grad=True)
    with gq.Graph() as g:
        g.output(g.input("x", ["M", 64], torch.float32) * 2)
    assert torch.equal(g(x), x.detach() * 2)
    raises(gq.Error, "x: expected row-major", g, torch.zeros(64, 4, device=WHERE).t())
    raises(gq.Error, "x: .*device meta", g, x.to("meta"))


@test
def bad_arguments():
    x, offsets, _, _ = configuration("nvfuser")
    quantize = gq.grouped_block_quantize
    raises(gq.Error, "x: expected float32", quantize, x.to(torch.int32), offsets)
    raises(gq.Error, "x: expected row-major contiguous", quantize, x.t(), offsets)
    raises(gq.Error, "x: .* found device meta", quantize, x.to("meta"), offsets)
    raises(TypeError, "offsets: expected an array like x", quantize, x, np.int32([0]))
    freed = torch.empty_like(x)
    freed.untyped_storage().resize_(0)
    raises(gq.Error, "x: expected data, found null", quantize, freed, offsets)
    sparse = "expected an array in memory, found none: it is sparse"
    raises(gq.Error, "x: " + sparse, quantize, x.float().to_sparse(), offsets)
    raises(gq.Error, "offsets: " + sparse, quantize, x, offsets.to_sparse())
    several = torch.stack([x, x])
    raises(gq.Error, "x: .* torch.vmap", torch.vmap(lambda t: quantize(t, offsets).data), several)
    if CUDA:
        raises(gq.Error, "offsets: expected CUDA device 0, where x is, found the CPU",
               quantize, x, offsets.cpu())  # fmt: skip
        if torch.cuda.device_count() > 1:
            raises(gq.Error, "offsets: .* found CUDA device 1", quantize, x, offsets.to("cuda:1"))


@test
def gradient():
    """Straight through."""
    x = torch.randn(128, 64, device=WHERE, requires_grad=True)
    offsets = torch.tensor([0, 128], dtype=torch.int32, device=WHERE)
    y = gq.torch.fake_quantize(x, offsets)
    assert 0 < (y - x).norm() / x.norm() < 0.2
    g = torch.randn_like(y)
    y.backward(g)
    assert torch.equal(x.grad, g)
    # Rows before, between and after the groups.
    x.grad = None
    offsets = torch.tensor([3, 50, 50, 100], dtype=torch.int32, device=WHERE)
    y = gq.torch.fake_quantize(x, offsets)
    (y * g).sum().backward()
    inside = slice(3, 100)
    assert torch.equal(x.grad[inside], g[inside]) and y[inside].any()
    for rows in slice(0, 3), slice(100, None):
        assert not y[rows].any() and not x.grad[rows].any()


@test
def deterministic_algorithms():
    """Torch then fills what it makes, which it cannot for all types."""
    x, offsets, _, wanted = configuration("nvfuser")
    torch.use_deterministic_algorithms(True)
    try:
        check(gq.grouped_block_quantize(x, offsets), wanted)
        for format in gq.FORMATS:
            gq._functions._quantize_planner._plans.clear()
            gq.grouped_block_quantize(x, offsets, format, columnwise=True)
            gq.torch.grouped_block_quantize(x, offsets, format)
    finally:
        torch.use_deterministic_algorithms(False)


@test
def either_quantized():
    """Functions and operators take what the others return."""
    x, w = (torch.randn(*s, device=WHERE).bfloat16() for s in ((96, 128), (2, 64, 128)))
    offsets = torch.tensor([0, 32, 96], dtype=torch.int32, device=WHERE)
    fmt = "mxfp8_e4m3"
    mine, its = (m.grouped_block_quantize(x, offsets, fmt, columnwise=True) for m in (gq, gq.torch))
    weights = gq.quantize_weights(w, fmt), gq.torch.quantize_weights(w, fmt)
    wanted = gq.grouped_mm(mine, weights[0])
    for m in gq, gq.torch:
        for a in mine, its:
            for b in weights:
                assert torch.equal(m.grouped_mm(a, b), wanted)
            assert torch.equal(m.grouped_wgrad(a, its), gq.grouped_wgrad(mine, mine))
            assert torch.equal(m.grouped_dequantize(a), gq.grouped_dequantize(mine))
        rows = [n.block_quantize(x, fmt) for n in (gq, gq.torch)]
        assert torch.equal(*(m.block_dequantize(r) for r in rows))
    better = gq.Direction(four_over_six="mse", scale_max=256)
    q = gq.torch.grouped_block_quantize(x, offsets, outer_amax=x.abs().max().float(), rowwise=better)
    known = dict(outer_amax=x.abs().max().float(), scale_max=256, out_dtype="float32")
    y = gq.torch.grouped_dequantize(q, **known)
    assert torch.equal(y, gq.grouped_dequantize(q, **known))
    assert 0.98 < ((y * x).sum() / (x * x).sum()).item() < 1.02


@test
def fake_quantize():
    """What two operators make, in every format; rows in no group are zero."""
    x = torch.randn(300, 256, device=WHERE).bfloat16()
    offsets = torch.tensor([3, 100, 290], dtype=torch.int32, device=WHERE)
    amax = torch.tensor([3.0, 5.0], device=WHERE)
    for fmt in gq.FORMATS:
        for scales in ({}, {"outer_amax": amax}, {"global_scale": amax})[: 3 if fmt == "nvfp4" else 1]:
            q = gq.torch.grouped_block_quantize(x, offsets, fmt, **scales)
            y = gq.torch.grouped_dequantize(q, **scales)
            assert torch.equal(gq.torch.fake_quantize(x, offsets, fmt, **scales), y), fmt
            assert not y[:3].any() and not y[290:].any() and y.any()
        if fmt != "nvfp4":
            fake = gq.torch.fake_quantize
            raises(gq.Error, r"recipe\(te\)", fake, x, offsets, fmt, outer_amax=amax)
            raises(gq.Error, "global_scale", fake, x, offsets, fmt, global_scale=amax)


@contextlib.contextmanager
def zeroed():
    """The functions make results that are zero where the op writes nothing, as the
    operators do; otherwise these parts hold anything."""
    planners = [
        p for p in vars(gq._functions).values() if isinstance(p, gq._call.Planner)
    ]

    def zero(value):
        for p in planners:
            p._plans.clear()
            p._zeroes = value

    zero(True)
    try:
        yield
    finally:
        zero(False)


@test
def operators_are_the_functions():
    """Each operator of gq.torch returns the bytes of the function of its name."""
    torch.manual_seed(0)
    x = torch.randn(200, 128, device=WHERE).bfloat16()
    dy = torch.randn(200, 256, device=WHERE).bfloat16()
    w = torch.randn(2, 256, 128, device=WHERE).bfloat16()
    offsets = torch.tensor([0, 64, 200], dtype=torch.int32, device=WHERE)
    starts = torch.tensor([0, 128], dtype=torch.int32, device=WHERE)
    scale = torch.tensor([3.0, 5.0], device=WHERE)
    amax = gq.grouped_amax(x, offsets)

    def calls(m, fmt="mxfp8_e4m3"):
        """What a module gives, by name: gq or gq.torch."""
        both = m.grouped_block_quantize(x, offsets, fmt, columnwise=True, amax=True)
        gradient = m.grouped_block_quantize(dy, offsets, fmt, columnwise=True)
        fp8 = m.grouped_quantize(x, offsets, scale=scale, columnwise=True, amax=True)
        rows = m.block_quantize(x)
        history, next_scale = torch.zeros(4, 2, device=WHERE), scale.clone()
        return {
            "grouped_block_quantize": [both.data, both.scales, both.columnwise_data,
                                       both.columnwise_scales, both.amax],
            "a direction": [m.grouped_block_quantize(
                x, offsets, rowwise=False,
                columnwise=gq.Direction(transform="hadamard16", signs=5), recipe="te",
                columnwise_outer_amax=scale).columnwise_data],
            "amaxes of rows": [m.grouped_block_quantize(
                x, offsets, rowwise=gq.Direction(outer="row"), row_amax=True).row_amax],
            "nv": m.nv_grouped_block_quantize(x, offsets, starts),
            "grouped_quantize": [fp8.data, fp8.columnwise_data, fp8.amax, fp8.scale_inv],
            "current scaling": [m.grouped_quantize(x, offsets, outer_amax=amax).data],
            "grouped_amax": m.grouped_amax(x, offsets, row_amax=True, column_amax=True),
            "update_scales": m.update_scales(amax, history, next_scale),
            "group_offsets": m.group_offsets(offsets.diff().long()),
            "group_offsets alone": [m.group_offsets(
                offsets.diff(), dtype="int64", closed=False, scale_offsets=False)],
            "grouped_mm": [m.grouped_mm(both, m.quantize_weights(w, fmt))],
            "grouped_mm fp8": [m.grouped_mm(
                fp8, w.to(torch.float8_e4m3fn), alpha=fp8.scale_inv)],
            "grouped_wgrad": [m.grouped_wgrad(gradient, both)],
            "grouped_dequantize": [m.grouped_dequantize(both)],
            "grouped_dequantize fp8": [m.grouped_dequantize(fp8)],
            "block_quantize": [rows.data, rows.scales],
            "block_dequantize": [m.block_dequantize(rows)],
            "preprocess": [m.preprocess_grouped_matmul_sf(rows.scales, offsets, starts)],
        }  # fmt: skip

    with zeroed():
        functions_ = calls(gq)
    operators_ = calls(gq.torch)
    for name, wanted in functions_.items():
        for i, (a, b) in enumerate(zip(wanted, operators_[name], strict=True)):
            assert a.shape == b.shape and a.dtype == b.dtype, (name, i)
            a, b = stored(a), stored(b)
            assert (a == b).all() and b.any(), (name, i)
    exposed = {n for n in gq.torch.__all__ if hasattr(gq, n)} - {"Quantized"}
    missing = {n for n in vars(gq) if "quantize" in n or n.startswith("grouped_")} - exposed
    assert missing == set(), missing


@test
def per_tensor_golden():
    """FP8 per tensor there and back by functions and operators; amax a thousand
    times, whose parts are put together in any order."""
    g = golden.load("fp8_e4m3_per_tensor")
    x = tensor(g["input"].view(np.uint16), "bf16")
    offsets, scale = tensor(g["offsets"]), tensor(g["scale"])
    for m in gq, gq.torch:
        q = m.grouped_quantize(x, offsets, "fp8_e4m3", scale=scale, amax=True)
        for name in "data", "amax", "scale_inv":
            assert (stored(getattr(q, name)) == g[name].view(stored(getattr(q, name)).dtype)).all(), name
        y = m.grouped_dequantize(q, out_dtype="float32")
        assert (stored(y) == g["dequantized"].view(np.int32)).all()
    runs = 1000 if CUDA else 10
    amaxes = [
        gq.grouped_quantize(x, offsets, "fp8_e4m3", scale=scale, amax=True).amax
        for _ in range(runs)
    ]
    assert (stored(torch.stack(amaxes)) == g["amax"].view(np.int32)).all()


@test
def errors_of_operators():
    """Those of the functions, word for word; also where torch.compile asks for shapes."""
    x = torch.randn(64, 64, device=WHERE)
    offsets = torch.tensor([0, 32, 64], dtype=torch.int32, device=WHERE)
    scale = torch.ones(2, device=WHERE)

    def calls(m):
        q = m.grouped_quantize(x, offsets, scale=scale, columnwise=True)
        return [
            lambda: m.grouped_block_quantize(x, offsets, rowwise=False),
            lambda: m.grouped_block_quantize(x, offsets, "nvfp5"),
            lambda: m.grouped_block_quantize(x[:, :40], offsets),
            lambda: m.grouped_quantize(x, offsets),
            lambda: m.grouped_quantize(x, offsets, scale=scale, rowwise=False),
            lambda: m.grouped_amax(x, offsets, amax=False),
            lambda: m.grouped_wgrad(q, m.grouped_block_quantize(x, offsets)),
            lambda: m.grouped_wgrad(q.data, q.data, offsets, n=64),
            lambda: m.grouped_mm(q, x),
        ]

    def error(call):
        try:
            call()
        except gq.Error as e:
            return str(e)

    for i, (function, operator) in enumerate(zip(calls(gq), calls(gq.torch))):
        message = error(function)
        assert message and message.startswith("INVALID_ARGUMENT: "), (i, message)
        assert error(operator) == message, (i, error(operator), message)
        with torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True):
            assert error(operator) == message, (i, "fake")


@test
def linear_gradients():
    """The gradients of grouped_linear are those of the layer, within what the format
    allows; the same compiled."""
    torch.manual_seed(0)
    offsets = torch.tensor([0, 100, 100, 256], dtype=torch.int32, device=WHERE)
    rows = [slice(0, 100), slice(100, 100), slice(100, 256)]
    compiled = torch.compile(gq.torch.grouped_linear, fullgraph=True)
    for fmt, w_fmt, bound in (
        ("mxfp8_e4m3", None, 0.06), ("mxfp8_e4m3", "mxfp4", 0.2),
        ("fp8_e4m3_1x128", None, 0.06), ("nvfp4", None, 0.2),
    ):  # fmt: skip
        x = torch.randn(256, 256, device=WHERE, requires_grad=True)
        w = torch.randn(3, 128, 256, device=WHERE, requires_grad=True)
        dy = torch.randn(256, 128, device=WHERE)
        y = torch.cat([x[r] @ e.t() for r, e in zip(rows, w)])
        wanted = [y, *torch.autograd.grad(y, (x, w), dy)]
        y = gq.torch.grouped_linear(x, w, offsets, fmt, w_fmt)
        found = [y, *torch.autograd.grad(y, (x, w), dy)]
        for a, b in zip(found, wanted):
            error = ((a - b).norm() / b.norm()).item()
            assert a.dtype == b.dtype and error < bound, (fmt, error)
        assert not found[2][1].any()
        y = compiled(x, w, offsets, fmt, w_fmt)
        for a, b in zip(found, [y, *torch.autograd.grad(y, (x, w), dy)]):
            assert torch.equal(a, b)
    raises(gq.Error, "w: expected N and K that are multiples of 32", gq.torch.grouped_linear,
           x, w[:, :100], offsets)  # fmt: skip
    raises(gq.Error, "w: expected .G, N, K.", gq.torch.grouped_linear, x, w[0], offsets)
    raises(gq.Error, r"w: expected .G, N, 128., K as of x, found .3, 128, 256.",
           gq.torch.grouped_linear, x[:, :128], w, offsets)  # fmt: skip
    for fmt in "fp8_e4m3_128x128", "fp8_e5m2_128x128":
        raises(gq.Error, "format: expected one whose blocks have one row",
               gq.torch.grouped_linear, x, w, offsets, fmt)  # fmt: skip
    across = x.detach().t().contiguous().t()
    with torch.no_grad():
        assert torch.equal(*(gq.torch.grouped_linear(t, w, offsets) for t in (x, across)))


@test
def operators():
    """opcheck: schema, fake, autograd, ahead-of-time dispatch, also of dynamic
    shapes; on what the functions of gq.torch pass to their operators."""
    x = torch.randn(128, 64, device=WHERE).bfloat16()
    offsets = torch.tensor([0, 64, 128], dtype=torch.int32, device=WHERE)
    # The check of the schema computes with results, as torch does not with f8,
    # and copies them, as it does not f4.
    few = (
        "test_autograd_registration", "test_faketensor", "test_aot_dispatch_static",
        "test_aot_dispatch_dynamic",
    )  # fmt: skip
    everything = ("test_schema", *few)
    m, fmt = gq.torch, "mxfp8_e4m3"
    largest = torch.tensor([4.0, 4.0], device=WHERE)
    history, scale = torch.zeros(4, 2, device=WHERE), torch.ones(2, device=WHERE)
    experts = m.QuantizedExperts(
        x.reshape(2, 64, 64), x.reshape(2, 128, 32)[:, :64], format=fmt
    )
    q = m.grouped_block_quantize(x, offsets, fmt, columnwise=True)
    w = m.quantize_weights(x.reshape(2, 64, 64), fmt)
    rows = m.block_quantize(x, fmt)
    checks = {
        "grouped_block_quantize": (few, lambda: m.grouped_block_quantize(
            x, offsets, fmt, columnwise=True, amax=True, dbias="float32")),
        "grouped_mm": (few, lambda: m.grouped_mm(q, w)),
        "grouped_wgrad": (few, lambda: m.grouped_wgrad(q, q)),
        "grouped_dequantize": (few, lambda: m.grouped_dequantize(q)),
        "block_quantize": (few, lambda: m.block_quantize(x, fmt)),
        "block_dequantize": (few, lambda: m.block_dequantize(rows)),
        "preprocess_grouped_matmul_sf": (few, lambda: m.preprocess_grouped_matmul_sf(
            rows.scales, offsets, q.scale_offsets, fmt)),
        "grouped_quantize": (few, lambda: m.grouped_quantize(
            x, offsets, outer_amax=largest, columnwise=True, amax=True)),
        "group_offsets": (everything, lambda: m.group_offsets(offsets.diff())),
        "grouped_amax": (everything, lambda: m.grouped_amax(
            x, offsets, row_amax=True, column_amax=True)),
        "update_scales": (everything, lambda: m.update_scales(largest, history, scale)),
        "expert_ffn": (few, lambda: experts.grouped(x, offsets, up_row_scales=x[:, 0].float())),
        "fake_quantize": (everything, lambda: m.fake_quantize(
            x.float().requires_grad_(), offsets)),
        "sum_rows": (everything, lambda: torch.ops.gq.sum_rows(x, offsets[None])),
    }  # fmt: skip
    calls = []

    class Record(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, op, types, arguments=(), options=None):
            if op.namespace == "gq":
                calls.append((op, arguments))
            return op(*arguments, **(options or {}))

    for name, (utilities, call) in checks.items():
        calls.clear()
        with Record():
            call()
        [(op, arguments)] = calls
        assert op._schema.name == f"gq::{name}", op
        torch.library.opcheck(op, arguments, test_utils=utilities)
    made = {n.removeprefix("gq::") for n in torch._C._dispatch_get_all_op_names()
            if n.startswith("gq::")}  # fmt: skip
    assert made == set(checks), made ^ set(checks)


@test
def types_of_operators():
    """A type is a name, torch's own, or for dbias True, that of the input."""
    m, x = gq.torch, torch.randn(96, 64, device=WHERE).bfloat16()
    offsets = torch.tensor([0, 32, 96], dtype=torch.int32, device=WHERE)
    wanted = gq.grouped_block_quantize(x, offsets, dbias=True).dbias
    for dbias in True, "bfloat16", torch.bfloat16:
        q = m.grouped_block_quantize(x, offsets, dbias=dbias)
        assert torch.equal(q.dbias, wanted) and q.dbias.dtype == torch.bfloat16
    scale = torch.ones(2, device=WHERE)
    q = m.grouped_quantize(x, offsets, scale=scale, dbias=torch.float32)
    assert q.dbias.dtype == torch.float32
    assert m.grouped_block_quantize(x, offsets, dbias=False).dbias is None
    q = m.grouped_block_quantize(x, offsets)
    for dtype in "float16", torch.float16:
        assert m.grouped_dequantize(q, out_dtype=dtype).dtype == torch.float16
    for arguments, words in (
        (dict(recipe="foo"), "recipe: expected one of nvfuser, te, found 'foo'"),
        (dict(format="foo"), "format: expected one of nvfp4, "),
        (dict(dbias="foo"), "dbias: expected bfloat16, float16 or float32"),
        (dict(producer="foo"), "producer: expected a function or one of silu, "),
    ):
        raises(ValueError, words, m.grouped_block_quantize, x, offsets, **arguments)


class Experts(torch.nn.Module):
    """A feed-forward network of experts in nvfp4."""

    def __init__(self, groups, k, n):
        super().__init__()
        torch.manual_seed(1)
        up = torch.randn(groups, 2 * n, k, device=WHERE).bfloat16()
        down = torch.randn(groups, k, n, device=WHERE).bfloat16()
        for name, w in ("up", up), ("down", down):
            q = gq.quantize_weights(w)
            self.register_buffer(name, q.data)
            self.register_buffer(name + "_scales", q.scales)

    def forward(self, x, offsets):
        q = gq.torch.grouped_block_quantize(x, offsets)
        h = gq.torch.grouped_mm(q, self.up, b_scales=self.up_scales)
        q = gq.torch.grouped_block_quantize(h, offsets, producer="silu_and_mul")
        return gq.torch.grouped_mm(q, self.down, b_scales=self.down_scales)


@test
def compiled_module():
    """torch.compile without a graph break, torch.export: the same bytes."""
    module = Experts(4, 256, 128)
    x = torch.randn(300, 256, device=WHERE).bfloat16()
    offsets = torch.tensor([0, 100, 100, 250, 300], dtype=torch.int32, device=WHERE)
    expected = module(x, offsets)
    compiled = torch.compile(module, fullgraph=True, dynamic=True)
    for rows in 300, 300, 290:
        part = torch.clamp(offsets, max=rows)
        out = compiled(x[:rows].contiguous(), part)
        assert torch.equal(out[:250], expected[:250]) and out.shape == (rows, 256)
    exported = torch.export.export(module, (x, offsets))
    assert torch.equal(exported.module()(x, offsets), expected)


@test
def dlpack():
    """Arrays, without a copy."""

    class Foreign:
        def __init__(self, t):
            self.t = t

        def __dlpack_device__(self):
            return self.t.__dlpack_device__()

        def __dlpack__(self, stream=None, **_):
            return self.t.__dlpack__(stream=stream)

    x, offsets, starts, wanted = configuration("nvfuser")
    q = gq.grouped_block_quantize(Foreign(x), Foreign(offsets))
    assert isinstance(q.data, gq.Array)
    found = torch.from_dlpack(q.scale_offsets)
    assert torch.equal(found, starts) and found.device == x.device
    if CUDA:
        torch.cuda.synchronize()
        interface = q.scales.__cuda_array_interface__
        assert interface["shape"] == q.scales.shape and interface["typestr"] == "|u1" or "<u1"
        scales = torch.as_tensor(q.scales, device="cuda")
        functions.check(stored(torch.as_tensor(q.data, device="cuda")), stored(scales), wanted)


if CUDA:

    @test
    def executable():
        """A module of MLIR on tensors: results are tensors, written ones the
        arguments themselves."""
        module = gq.compile(
            """
            func.func @main(%x : tensor<?x64xf32>, %o : tensor<?xi32>,
                            %q0 : tensor<?x32xi8>)
                -> (tensor<?x32xi8>, tensor<?x4xf8E4M3FN>) {
              %c0 = arith.constant 0 : index
              %m = tensor.dim %x, %c0 : tensor<?x64xf32>
              %s0 = tensor.empty(%m) : tensor<?x4xf8E4M3FN>
              %q, %s = gq.block_quantize format(nvfp4) ins(%x : tensor<?x64xf32>)
                  outs(%q0, %s0 : tensor<?x32xi8>, tensor<?x4xf8E4M3FN>)
                  -> tensor<?x32xi8>, tensor<?x4xf8E4M3FN>
              return %q, %s : tensor<?x32xi8>, tensor<?x4xf8E4M3FN>
            }""",
            target="cuda",
        )
        x = torch.randn(70, 64, device="cuda")
        offsets = torch.zeros(2, dtype=torch.int32, device="cuda")
        data = torch.empty(70, 32, dtype=torch.uint8, device="cuda")
        q, s = module(x, offsets, data)
        wanted = gq.block_quantize(x)
        assert q is data and (stored(q) == stored(wanted.data)).all()
        assert s.device == x.device and (stored(s) == stored(wanted.scales)).all()
        raises(gq.Error, "argument 0: expected .*CUDA device 0.*CPU|argument 0: expected",
               module, x.cpu(), offsets, data)  # fmt: skip
        raises(gq.Error, "argument 0: expected row-major", module, x.t(), offsets, data)

    @test
    def streams():
        """Work is on the current stream, or the one that is named, of each thread."""
        x, offsets, _, wanted = configuration("nvfuser")
        torch.cuda.synchronize()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        slow = torch.randn(4096, 4096, device="cuda")
        for named in False, True:
            y = torch.empty_like(x)
            with torch.cuda.stream(side):
                for _ in range(20):
                    slow = (slow @ slow).clamp(-1, 1)
                y.copy_(x)  # After all of that.
                if not named:
                    q = gq.grouped_block_quantize(y, offsets)
            if named:
                q = gq.grouped_block_quantize(y, offsets, stream=side)
            side.synchronize()
            check(q, wanted)
        failures = []

        def work():
            try:
                with torch.cuda.stream(torch.cuda.Stream()):
                    for _ in range(50):
                        check(gq.grouped_block_quantize(x, offsets), wanted)
            except BaseException as error:  # noqa: BLE001
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not failures, failures

    @test
    def no_synchronization():
        """torch refuses to wait for the device, and so would gq be found out: the
        calls return long before the work before them is done."""
        x, offsets, _, _ = configuration("nvfuser")
        gq.grouped_block_quantize(x, offsets)
        slow = torch.randn(8192, 8192, device="cuda")
        torch.cuda.synchronize()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        for _ in range(60):
            slow = slow @ slow
        done = torch.cuda.Event()
        done.record()
        gq.grouped_block_quantize(x, offsets)
        assert not done.query(), "the call waited"
        del begin, end

    @test
    def graph():
        """A captured call, replayed with other offsets; a stream of its own."""
        module = Experts(4, 256, 128)
        x = torch.randn(300, 256, device="cuda").bfloat16()
        first = torch.tensor([0, 100, 100, 250, 300], dtype=torch.int32, device="cuda")
        second = torch.tensor([0, 0, 290, 290, 300], dtype=torch.int32, device="cuda")
        expected = [module(x, o).clone() for o in (first, second)]
        assert not torch.equal(*expected)
        offsets = first.clone()
        for function in module, lambda x, o: gq.grouped_block_quantize(x, o).data:
            wanted = [function(x, o).clone() for o in (first, second)]
            offsets.copy_(first)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                out = function(x, offsets)
            for o, w in zip((second, first), reversed(wanted)):
                offsets.copy_(o)
                graph.replay()
                torch.cuda.synchronize()
                assert (stored(out) == stored(w)).all()

    @test
    def results_dropped_in_capture():
        """The result of a warm-up, in memory of gq's own, is dropped while the call is
        captured, on the stream of the warm-up or another one."""
        rows = torch.randn(40, 64, device="cuda").bfloat16()
        indices = torch.randint(40, (30, 3), device="cuda", dtype=torch.int32)
        wanted = stored(torch.ops.gq.sum_rows(rows, indices)).copy()
        stream = torch.cuda.Stream()
        for warm_up in torch.cuda.current_stream(), stream:
            torch.cuda.synchronize()
            with torch.cuda.stream(warm_up):
                result = torch.ops.gq.sum_rows(rows, indices)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                result = torch.ops.gq.sum_rows(rows, indices)
            for _ in range(3):
                graph.replay()
            torch.cuda.synchronize()
            assert (stored(result) == wanted).all()
            del result, graph

    @test
    def noop_flag():
        """A captured quantization that is skipped while a flag on the device is set:
        of rows, of columns with amax, with amaxes of rows, and gq.grouped_amax."""
        offsets = torch.tensor([0, 100, 100, 300], dtype=torch.int32, device="cuda")
        x, y = (torch.randn(300, 256, device="cuda").bfloat16() for _ in range(2))
        outer = torch.tensor([5.0, 1.0, 6.0], device="cuda")
        calls = {
            "rows": lambda **o: gq.grouped_block_quantize(x, offsets, **o),
            "columns": lambda **o: gq.grouped_block_quantize(
                x, offsets, rowwise=False, columnwise=True, amax=True, dbias=True,
                columnwise_outer_amax=outer, **o),
            "tokens": lambda **o: gq.grouped_block_quantize(
                x, offsets, rowwise=gq.Direction(outer="row"), row_amax=True, **o),
            "amaxes": lambda **o: gq.grouped_amax(
                x, offsets, row_amax=True, column_amax=True, **o),
        }  # fmt: skip
        first = x.clone()
        for name, call in calls.items():
            x.copy_(y)
            wanted = [stored(t).copy() for t in call()]
            x.copy_(first)
            flag = torch.zeros((), dtype=torch.int32, device="cuda")
            out = [torch.empty_like(t) for t in call()]
            call(out=out, noop_flag=flag)
            before = [stored(t).copy() for t in out]
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                call(out=out, noop_flag=flag)
            x.copy_(y)
            for value in 1, 2, 0:
                flag.fill_(value)
                graph.replay()
                torch.cuda.synchronize()
                for t, old, new in zip(out, before, wanted):
                    # Buffers are longer than what is written.
                    same = stored(t) == (old if value else new)
                    assert (same | (stored(t) == old)).all(), (name, value)
                    changed = stored(t) != old
                    assert changed.any() == (value == 0), (name, value)

    @test
    def compiled_with_graphs():
        module = Experts(4, 256, 128)
        x = torch.randn(300, 256, device="cuda").bfloat16()
        offsets = torch.tensor([0, 100, 100, 250, 300], dtype=torch.int32, device="cuda")
        expected = module(x, offsets).clone()
        compiled = torch.compile(module, fullgraph=True, mode="reduce-overhead")
        for _ in range(4):
            assert torch.equal(compiled(x, offsets), expected)

    @test
    def wrong_contents():
        x, offsets, _, _ = configuration("nvfuser")
        gq.check_stream()
        offsets = offsets.clone()
        offsets[1] = 9999
        gq.grouped_block_quantize(x, offsets)
        raises(gq.Error, "INVALID_OFFSETS", gq.check_stream)
        gq.check_stream()


def host_times():
    """Host time a call after the first, in microseconds: the best of 30 times 50
    calls, which the queue of a stream holds. On the CPU there are no rows."""
    rows = 128 if CUDA else 0
    x = torch.randn(rows, 5120, device=WHERE).bfloat16()
    offsets = torch.tensor([0, rows // 2, rows], dtype=torch.int32, device=WHERE)
    w = gq.quantize_weights(torch.randn(2, 256, 5120, device=WHERE).bfloat16())
    q = gq.grouped_block_quantize(x, offsets)
    out = [torch.empty_like(q.data), torch.empty_like(q.scales), torch.empty_like(q.scale_offsets)]
    calls = {
        "grouped_block_quantize": lambda: gq.grouped_block_quantize(x, offsets),
        "the same with out": lambda: gq.grouped_block_quantize(x, offsets, out=out),
        "nv_grouped_block_quantize": lambda: gq.nv_grouped_block_quantize(x, offsets, q.scale_offsets),
        "grouped_mm": lambda: gq.grouped_mm(q, w),
        "operator gq::grouped_block_quantize": lambda: gq.torch.grouped_block_quantize(x, offsets),
        "torch.empty": lambda: torch.empty((128, 2560), dtype=torch.uint8, device=WHERE),
        "torch.add": lambda: torch.add(x, x),
    }
    sync = torch.cuda.synchronize if CUDA else lambda: None

    def report(name, call):
        call()
        best = 1e9
        for _ in range(30):
            sync()
            best = min(best, timeit.timeit(call, number=50) / 50)
        sync()
        print(f"  {name}: {best * 1e6:.1f} us")

    for name, call in calls.items():
        report(name, call)
    # Through C alone: the call of the plan of the second row.
    plans = gq._functions._quantize_planner._plans
    plans.clear()
    calls["the same with out"]()
    [plan] = plans.values()
    frame = gq._arrays.Frame()
    assert gq.torch._KIND.read(frame, (x, offsets, *out))
    invoke, stream = gq._call._invoke_at, gq.torch._KIND.stream(plan._device)

    def run():
        status = invoke(plan._handle, plan._like, frame.address, plan._count, stream)
        assert status == 0

    run()
    report("gqInvokeAt by ctypes", run)


if __name__ == "__main__":
    sys.exit(main(host_times))
