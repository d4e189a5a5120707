# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gq.torch.from_exported_program and gq.torch.backend: layers of experts as graphs.

torch_importer.py [cpu | cuda [TEST...]]: needs torch, NumPy and gq, and what
torch_models.py needs. Without transformers the layers of its models are left out.
"""

import copy
import json
import pathlib
import sys
import tempfile
from unittest import mock

import gq
import gq.torch
import torch
import torch_models
import torch.nn.functional as F
from torch_models import BOUNDS, relative
from torch_tests import CUDA, TESTS, WHERE, main, raises, test

# Those of torch_models are not run again.
TESTS[:] = []
TOKENS, EXPERTS, K, I = 40, 6, 256, 128  # noqa: E741


def random(*shape):
    return torch.randn(*shape, device=WHERE).bfloat16()


class Experts(torch.nn.Module):
    """A layer as one may write it: gate and up apart, weights [E, N, K] and, of down,
    [E, N, K] too; each token has `chosen` experts."""

    def __init__(self, chosen=2, activation=F.silu):
        super().__init__()
        torch.manual_seed(0)
        self.router = torch.nn.Linear(K, EXPERTS, bias=False)
        for name, n, k in ("gate", I, K), ("up", I, K), ("down", K, I):
            w = torch.randn(EXPERTS, n, k) * k**-0.5
            self.register_parameter(name, torch.nn.Parameter(w))
        self.chosen, self.activation = chosen, activation
        self.to(WHERE, torch.bfloat16)

    def route(self, x):
        weights, experts = self.router(x).float().softmax(-1).topk(self.chosen)
        order = experts.flatten().argsort()
        counts = F.one_hot(experts.flatten(), EXPERTS).sum(0)
        return weights, order, counts.cumsum(0, dtype=torch.int32)

    def between(self, gate, up):
        return self.activation(gate) * up

    def forward(self, x):
        weights, order, ends = self.route(x)
        rows = x[order // self.chosen]
        gate = F.grouped_mm(rows, self.gate.transpose(1, 2), offs=ends)
        up = F.grouped_mm(rows, self.up.mT, offs=ends)
        y = F.grouped_mm(self.between(gate, up), self.down.transpose(-1, -2), offs=ends)
        y = y * weights.flatten()[order].unsqueeze(1).to(y.dtype)
        return y[order.argsort()].view(-1, self.chosen, K).sum(1)


def export(module, *inputs, rows=None):
    rows = rows or torch.export.Dim("rows", min=2)
    shapes = tuple({x.dim() - 2: rows} for x in inputs)
    with torch.no_grad():
        return torch.export.export(module, inputs, dynamic_shapes=shapes)


def ops(module):
    """The ops of the only graph of a module, by name."""
    [name] = [n for n, _ in module.named_children() if n.startswith("gq_")]
    lines = str(getattr(module, name).graph).splitlines()
    names = (
        "gq.grouped_block_quantize",
        "gq.grouped_mm",
        "linalg.generic",
        "linalg.fill",
    )
    return [sum(n in line for line in lines) for n in names]


@test
def natural_layer():
    """One graph, in which gate and up share a quantization that gathers; as the
    quantized layer computes, and as torch does within the format's error."""
    x = random(TOKENS, K)
    for chosen, activation in (2, F.silu), (1, F.gelu), (3, F.relu):
        layer = Experts(chosen, activation)
        program = export(layer, x)
        with torch.no_grad():
            expected, other = layer(x), layer(x[:7])
        for format, bound in BOUNDS.items():
            imported = gq.torch.from_exported_program(program, format)
            # act, times up, sum.
            assert ops(imported) == [2, 3, 3, 0], ops(imported)
            assert "array<i32: 1, 1, 1" in str(imported.gq_0.graph), "row_indices"
            assert [n for n, _ in imported.named_parameters()] == ["router.weight"]
            # Of sorted rows it is known that they are there.
            assert "_from_the_end" not in imported.code
            with torch.no_grad():
                error = relative(imported(x), expected)
                assert error < bound, (chosen, format, error)
                assert relative(imported(x[:7]), other) < bound
        name = {F.silu: "silu", F.gelu: "gelu"}.get(activation)
        if name is None:
            continue
        weights, _, _ = layer.route(x)
        _, index = layer.router(x).float().softmax(-1).topk(chosen)
        quantized = gq.torch.QuantizedExperts(
            torch.cat([layer.gate, layer.up], 1), layer.down, name + "_and_mul",
            format=format,
        )  # fmt: skip
        # Rounded once more, between the activation and the product.
        with torch.no_grad():
            error = relative(imported(x), quantized(x, index, weights))
        assert error < 2e-2, error


@test
def torch_compile():
    """As a backend: other numbers of tokens, weights that were written."""
    layer, x = Experts(), random(TOKENS, K)
    with torch.no_grad():
        expected = layer(x)
        compiled = torch.compile(layer, backend=gq.torch.backend("mxfp8_e4m3"))
        for rows in TOKENS, 9, 11:
            error = relative(compiled(x[:rows]), expected[:rows])
            assert error < BOUNDS["mxfp8_e4m3"], error
        before = compiled(x)
        layer.down.mul_(2)
        assert relative(compiled(x), 2 * before.float()) < 1e-2
        # A graph without experts runs as it is.
        plain = torch.compile(torch.sin, backend=gq.torch.backend())
        assert torch.equal(plain(x), x.sin())
        # Other memory, which may be where that before was.
        before, weights = compiled(x), layer.down.detach().clone()
        for scale in 2, 4, 8:
            layer.down.data = torch.empty(0, dtype=weights.dtype, device=WHERE)
            layer.down.data = weights * scale
            assert relative(compiled(x), scale * before.float()) < 1e-2, scale
        # Layers that share a program are quantized once each.
        torch._dynamo.reset()
        layers, backend = [Experts(), Experts()], gq.torch.backend("mxfp8_e4m3")
        for p in layers[1].parameters():
            p.mul_(2)
        expected = [layer(x) for layer in layers]
        for each in layers:
            each.compile(backend=backend)
        count, quantized = 0, gq._importer._quantized

        def counted(*arguments):
            nonlocal count
            count += 1
            return quantized(*arguments)

        gq._importer._quantized = counted
        try:
            for _ in range(3):
                for each, wanted in zip(layers, expected):
                    assert relative(each(x), wanted) < BOUNDS["mxfp8_e4m3"]
        finally:
            gq._importer._quantized = quantized
        assert count == 6, count
    raises(Exception, "expected no gradients", compiled, x)


@test
def other_groups():
    """A product of even groups; columns that are sliced; factors of columns; a result
    that is used twice."""

    class Even(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.up = torch.nn.Parameter(random(EXPERTS, K, 2 * I) * K**-0.5)
            self.down = torch.nn.Parameter(random(EXPERTS, I, K) * I**-0.5)
            self.register_buffer("scale", random(I).abs())

        def forward(self, x):
            h = torch.bmm(x.expand(EXPERTS, *x.shape).contiguous(), self.up)
            h = F.silu(h[..., :I]) * h[..., I:] * self.scale * 0.5
            y = torch.bmm(h, self.down)
            return y.sum(0) + y[0]

    class Matmul(Even):
        def forward(self, x):
            h = torch.matmul(x.expand(EXPERTS, *x.shape).contiguous(), self.up)
            # Columns that begin before the first one begin there.
            h = F.silu(h[..., -I:]) * h[..., -3 * I : I]
            return (h @ self.down).sum(0)

    x = random(TOKENS, K)
    for layer in Even(), Matmul():
        imported = gq.torch.from_exported_program(export(layer, x), "mxfp8_e4m3")
        assert ops(imported)[:2] == [2, 2]
        with torch.no_grad():
            assert relative(imported(x), layer(x)) < BOUNDS["mxfp8_e4m3"]


@test
def element_wise():
    """What is between two matmuls, in one graph."""

    class Between(Experts):
        def __init__(self, function):
            super().__init__()
            self.between = function

    x = random(TOKENS, K)
    for name, function in {
        "clamp": lambda g, u: F.silu(g.clamp(max=0.5)) * u.clamp(-0.4, 0.7).clamp(min=-0.2),
        "float32": lambda g, u: (F.silu(g.float()) * u.float()).bfloat16(),
        "sub": lambda g, u: (1 - g) * torch.rsub(u, g, alpha=2),
        "reciprocal": lambda g, u: u / (1 + g.abs()) + (1 / (2 + u.abs())),
        "powers": lambda g, u: F.relu(g).square() + u**2 + g.pow(3),
        "erf": lambda g, u: g.erf() * u,
    }.items():
        layer = Between(function)
        with torch.no_grad():
            for format in "nvfp4", "mxfp8_e4m3":
                imported = gq.torch.from_exported_program(export(layer, x), format)
                assert ops(imported)[:2] == [2, 3], name
                error = relative(imported(x), layer(x))
                assert error < BOUNDS[format], (name, format, error)


@test
def around_a_layer():
    """What is before and after stays torch's where no graph has it, with torch's
    meaning: results that a factor or indices are made of, masks, negative indices, an
    operand that is gathered too; a copy, state_dict, another type."""

    class Layer(Experts):
        def rows(self, x, order):
            return x[order // self.chosen]

        def after(self, y, gate, order):
            return y[order.argsort()].view(-1, self.chosen, K).sum(1)

        def forward(self, x):
            _, order, ends = self.route(x)
            rows = self.rows(x, order)
            gate = F.grouped_mm(rows, self.gate.mT, offs=ends)
            h = self.between(gate, F.grouped_mm(rows, self.up.mT, offs=ends))
            return self.after(F.grouped_mm(h, self.down.mT, offs=ends), gate, order)

    def made(**methods):
        return type("Layer", (Layer,), methods)()

    x, format = random(TOKENS, K), "mxfp8_e4m3"
    layers = {
        "factor": made(after=lambda s, y, g, o: y * g.float().norm(dim=1, keepdim=True).bfloat16()),
        "factor and order": made(after=lambda s, y, g, o: (y * g[:, :1])[o.argsort()]),
        "order": made(after=lambda s, y, g, o: y[g[:, 0].argsort()]),
        "from the end": made(
            after=lambda s, y, g, o: y[o.argsort() - y.shape[0]].view(-1, s.chosen, K).sum(1)),
        "rows from the end": made(rows=lambda s, x, o: x[o // s.chosen - x.shape[0]]),
        "mask": made(rows=lambda s, x, o: x.repeat(2, 1)[o >= 0]),
    }  # fmt: skip
    with torch.no_grad():
        for name, layer in layers.items():
            imported = gq.torch.from_exported_program(export(layer, x), format)
            assert ops(imported)[:2] == [2, 3], name
            for rows in TOKENS, 7:
                expected = layer(x[:rows])
                if name != "order":
                    # Rows are in another order where the gate's are nearly equal.
                    error = relative(imported(x[:rows]), expected)
                    # A factor that is made of results has an error of its own.
                    bound = BOUNDS[format] * (2 if name.startswith("factor") else 1)
                    assert error < bound, (name, error)
                assert imported(x[:rows]).shape == expected.shape

    class Square(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.router = torch.nn.Linear(K, EXPERTS, bias=False)
            self.up, self.down = (
                torch.nn.Parameter(torch.randn(EXPERTS, K, K) * K**-0.5) for _ in "ab"
            )
            self.to(WHERE, torch.bfloat16)

        def forward(self, x):
            experts = self.router(x).argmax(-1)
            ends = F.one_hot(experts, EXPERTS).sum(0).cumsum(0, dtype=torch.int32)
            h = F.grouped_mm(x[experts.argsort()], self.up.mT, offs=ends)
            return F.grouped_mm(h * x, self.down.mT, offs=ends)

    layer = Square()
    imported = gq.torch.from_exported_program(export(layer, x), format)
    with torch.no_grad():
        found = imported(x)
        assert relative(found, layer(x)) < BOUNDS[format]
        assert {"gq_0.w0", "gq_0.s0", "gq_0.w1", "gq_0.s1"} < set(imported.state_dict())
        other = copy.deepcopy(imported)
        for b in imported.buffers():
            b.zero_()
        assert torch.equal(other(x), found) and not imported(x).any()
        imported.load_state_dict(other.state_dict())
        assert torch.equal(imported(x), found)
        assert torch.equal(imported(x.clone().requires_grad_()), found)
        assert all(b.is_meta for b in imported.gq_0.to("meta").buffers())
        blocks = gq.torch.from_exported_program(export(layer, x), "fp8_e4m3_1x128")
        found = blocks.gq_0(*inputs_of(blocks, x))
        blocks.gq_0.half()
        assert torch.equal(blocks.gq_0(*inputs_of(blocks, x))[0], found[0])
    raises(gq.Error, "module: expected no gradients, see torch.no_grad", other,
           x.clone().requires_grad_())  # fmt: skip


def inputs_of(module, x):
    """What the graph of a module is given."""
    given = []
    hook = module.gq_0.register_forward_pre_hook(lambda m, inputs: given.append(inputs))
    module(x)
    hook.remove()
    return given[0]


@test
def unsupported_patterns_are_named():
    """With the node and the line."""
    x = random(TOKENS, K)

    class Sine(Experts):
        def forward(self, x):
            _, order, ends = self.route(x)
            h = F.grouped_mm(x[order // 2], self.gate.mT, offs=ends)
            h = h.sin()  # what is refused
            return F.grouped_mm(h, self.down.mT, offs=ends)

    class Masked(Experts):
        def between(self, gate, up):
            return gate.masked_fill(up.sum(1, keepdim=True) > 0, 0.0)

    class Mixed(Experts):
        def between(self, gate, up):
            return gate.cumsum(0).cos() * up

    class Computed(Experts):
        def forward(self, x):
            _, order, ends = self.route(x)
            return F.grouped_mm(x[order // 2], (self.gate * 2).mT, offs=ends)

    class Narrow(Experts):
        def forward(self, x):
            _, order, ends = self.route(x)
            return F.grouped_mm(x[order // 2, :96], self.gate[:, :, :96].mT, offs=ends)

    def run(layer, format="nvfp4"):
        return gq.torch.from_exported_program(export(layer, x), format)

    line = r"torch_importer.py:\d+: h = h.sin\(\)  # what is refused"
    raises(
        gq.Error, r"between two grouped matmuls: %sin = aten.sin.*" + line, run, Sine()
    )
    raises(gq.Error, r"between two .* %masked_fill = aten.masked_fill", run, Masked())
    raises(gq.Error, r"%cos = aten.cos|%cumsum.* = aten.cumsum", run, Mixed())
    second = "the second operand is no weight.*_grouped_mm.*, "
    raises(gq.Error, second + r".*torch_importer.py:\d+: return F.group", run, Computed())
    typed = {"Experts": Experts, "F": F}
    exec(
        "class Typed(Experts):\n  def forward(self, x):\n    _, order, ends = self.route(x)\n"
        "    return F.grouped_mm(x[order // 2], self.gate.mT * 2, offs=ends)", typed,
    )  # fmt: skip
    raises(gq.Error, second + "an unknown line of .*Typed", run, typed["Typed"]())
    for name, function in {
        "dropout": lambda g, u: F.dropout(g * u, training=True),
        "softmax": lambda g, u: g.softmax(-1) * u, "sum": lambda g, u: g * u.sum(),
        "where": lambda g, u: torch.where(g > 0, g, u), "slice": lambda g, u: torch.cat([g, u], 1)[:, 1 : I + 1],
        "roll": lambda g, u: (g * u).roll(1, 1), "layer_norm": lambda g, u: F.layer_norm(g * u, [I]),
        "view": lambda g, u: (g.view(-1, 2, I // 2) * u.view(-1, 2, I // 2)).view(-1, I),
        "pow": lambda g, u: g.abs() ** 0.5 * u, "expand": lambda g, u: g * u[:, :1].expand(-1, I),
    }.items():  # fmt: skip
        layer = Experts()
        layer.between = function
        raises(gq.Error, rf"between two .* = .*{name}.*, .*torch_importer.py:\d+: ", run, layer)
    raises(gq.Error, "the second operand is no weight", run, Narrow())
    raises(gq.Error, "expected a grouped matmul, found none", run, torch.nn.ReLU())

    class Loop(Experts):
        def forward(self, x):
            return sum(x @ w for w in self.gate.mT)

    raises(
        gq.Error,
        r"expected a grouped matmul .*, found others: %m\w+ = aten.m.*"
        r", .*torch_importer.py:\d+: return sum\(x @ w",
        run, Loop(),
    )  # fmt: skip

    class Batches(Experts):
        def forward(self, x):
            return F.grouped_mm(x.view(EXPERTS, -1, K), self.gate.mT)

    class Itself(Experts):
        """Weighs rows by what comes of them."""

        def forward(self, x):
            _, order, ends = self.route(x)
            h = F.grouped_mm(x[order // 2], self.gate.mT, offs=ends)
            y = F.grouped_mm(F.silu(h), self.down.mT, offs=ends)
            return y * h.sum(1, keepdim=True)

    class Later(Experts):
        """The second matmul reads what the first one's rows say."""

        def forward(self, x):
            _, order, ends = self.route(x)
            h = F.grouped_mm(x[order // 2], self.gate.mT, offs=ends)
            scale = h.float().mean(0).to(h.dtype)
            return F.grouped_mm(F.silu(h) * scale, self.down.mT, offs=ends)

    even = random(6 * EXPERTS, K)
    program = torch.export.export(Batches(), (even,))
    raises(gq.Error, "the first operand is no matrix of floats: .*torch_importer.py",
           gq.torch.from_exported_program, program)  # fmt: skip
    with torch.no_grad():
        layer = Itself()
        assert relative(run(layer)(x), layer(x)) < BOUNDS["nvfp4"]
    raises(gq.Error, r"%mean = aten.mean.*torch_importer.py:\d+: scale = h", run, Later())

    raises(gq.Error, "format: expected one of", run, Experts(), "nvfp5")

    class Odd(Experts):
        def __init__(self):
            super().__init__()
            self.down = torch.nn.Parameter(random(EXPERTS, K, 96))
            self.gate, self.up = (
                torch.nn.Parameter(random(EXPERTS, 96, K)) for _ in "ab"
            )

    raises(gq.Error, "K is 96, no multiple of 128", run, Odd(), "fp8_e4m3_1x128")


if not CUDA:

    @test
    def benchmark():
        """tools/moe_bench.py on a tiny layer, with times that nobody measured."""
        sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools"))
        import moe_bench

        moe_bench.CUDA, moe_bench.LAYERS = True, moe_bench.TINY
        moe_bench.graph_of = lambda call: call
        moe_bench.device_times = lambda graphs, count: [2.0 for _ in graphs]
        moe_bench.wall_time = lambda graph, count: 3.0
        names = "fused", "two ops", "imported", "eager"
        with tempfile.TemporaryDirectory() as folder, mock.patch.multiple(
            torch.cuda, synchronize=lambda: None, get_device_name=lambda: "none"
        ):
            files = [f"{folder}/{name}" for name in ("json", "svg", "table")]
            outs = [f"--{n}={f}" for n, f in zip(("json", "svg", "table"), files)]
            chosen = [f"--variant={name}" for name in names]
            with mock.patch("sys.argv", ["", "--layer=qwen3", "--tokens=16", *chosen, *outs]):
                assert moe_bench.main() == 0
            made = [pathlib.Path(f).read_text() for f in files]
            with mock.patch("sys.argv", ["", f"--from={files[0]}", *outs[1:]]):
                assert moe_bench.main() == 0
            assert made == [pathlib.Path(f).read_text() for f in files]
            # A plot needs the times of eager.
            with mock.patch("sys.argv", ["", "--layer=llama4", "--tokens=1",
                                         chosen[0], outs[1]]):  # fmt: skip
                assert moe_bench.main() == 0
        [row] = json.loads(made[0])["rows"]
        assert all(row[n]["device_us"] == 2 and row[n]["wall_us"] == 3 for n in names)
        assert made[1].count("us</title>") == 4 + 5 + 4, made[1]
        cells = " 2.0 | 2.0 | 2.0 | 2.0 | - | 3.0 | - | 1.00 | - | 2.00 |"
        assert f"| 16 |{cells}" in made[2], made[2]


if CUDA:

    @test
    def captured():
        """The whole layer as one CUDA graph, without a wait; replayed with other
        tokens."""
        layer = Experts()
        inputs = [random(TOKENS, K) for _ in range(2)]
        imported = gq.torch.from_exported_program(export(layer, inputs[0]))
        with torch.no_grad():
            expected = [imported(x).clone() for x in inputs]
            x = inputs[0].clone()
            torch.cuda.set_sync_debug_mode("error")
            try:
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    out = imported(x)
            finally:
                torch.cuda.set_sync_debug_mode("default")
        for given, wanted in zip(reversed(inputs), reversed(expected)):
            x.copy_(given)
            graph.replay()
            torch.cuda.synchronize()
            assert torch.equal(out, wanted)


if torch_models.transformers:

    @test
    def layers_of_models():
        """Imported and compiled, within the format's error."""
        for name in torch_models.configurations():
            model = torch_models.model(name)
            llama = name.startswith("llama4")
            if not llama:
                model.set_experts_implementation("grouped_mm")
            block = model.model.layers[1]
            block = block.feed_forward if llama else block.mlp
            x = random(2, 37, K)
            # torch 2.11 finds a bound of its own for the rows of Llama 4.
            program = export(block, x, rows=torch.export.Dim.AUTO)
            first = (lambda y: y[0]) if llama else (lambda y: y)
            with torch.no_grad():
                expected = first(block(x))
                for format, bound in BOUNDS.items():
                    imported = gq.torch.from_exported_program(program, format)
                    error = relative(first(imported(x)), expected)
                    compiled = torch.compile(block, backend=gq.torch.backend(format))
                    other = relative(first(compiled(x)), expected)
                    print(f"  {name} {format}: {error:.4f} {other:.4f}")
                    assert error < bound and other < bound, (name, format)
                    assert ops(imported)[:2] == [2, 2]
            torch._dynamo.reset()

    @test
    def whole_models():
        """Logits of imported and of compiled models, whose routers choose for hidden
        states that differ by then; a graph for each layer with experts."""
        format = "mxfp8_e4m3"
        torch.manual_seed(0)
        tokens = torch.randint(0, 128, (2, 37), device=WHERE)
        for name in torch_models.configurations():
            model = torch_models.model(name)
            if not name.startswith("llama4"):
                model.set_experts_implementation("grouped_mm")
            options = {"use_cache": False}
            with torch.no_grad():
                expected = model(tokens, **options).logits
                program = torch.export.export(model, (), {"input_ids": tokens, **options})
                imported = gq.torch.from_exported_program(program, format)
                error = relative(imported(input_ids=tokens, **options).logits, expected)
                compiled = torch.compile(model, backend=gq.torch.backend(format))
                other = relative(compiled(tokens, **options).logits, expected)
            print(f"  {name} {format}: {error:.4f} {other:.4f}")
            assert error < 2 * BOUNDS[format] and other < 2 * BOUNDS[format], name
            found = {n for n, _ in imported.named_children() if n.startswith("gq_")}
            # The first layer of deepseek_v3 has no experts.
            assert found == {"gq_0", "gq_1"} - ({"gq_1"} if name == "deepseek_v3" else set())
            torch._dynamo.reset()

    @test
    def masked_rows():
        """Experts that there are not add nothing, as transformers' layer has it."""
        experts = torch_models.model("mixtral")
        experts.set_experts_implementation("grouped_mm")
        experts = experts.model.layers[0].mlp.experts
        x, weight = random(20, K), torch.rand(20, 2, device=WHERE)
        index = torch.rand(20, 8, device=WHERE).topk(2).indices
        index[3], index[5, 1] = 8, 8
        with torch.no_grad():
            # transformers from 5.2x on mask only what they know to be elsewhere.
            experts._is_expert_parallel = True
            program = torch.export.export(experts, (x, index, weight))
            imported = gq.torch.from_exported_program(program, "mxfp8_e4m3")
            assert ops(imported)[3] == 1
            found, expected = imported(x, index, weight), experts(x, index, weight)
        assert relative(found, expected) < BOUNDS["mxfp8_e4m3"] and not found[3].any()


if __name__ == "__main__":
    sys.exit(main())
