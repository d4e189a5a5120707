# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gq.torch.quantize_ on models of transformers, of small random configurations.

torch_models.py [cpu | cuda [TEST...]]: needs torch, NumPy, transformers 5 and gq.
Without transformers the tests of models are left out, which a line says.
"""

import copy
import io
import sys

import gq
import gq.torch
import torch
from torch_tests import CUDA, WHERE, main, raises, test

try:
    import transformers
except ImportError:
    transformers = None
    print("no transformers: models are left out")

HIDDEN, INTERMEDIATE, EXPERTS, LAYERS = 256, 128, 8, 2
COMMON = {
    "vocab_size": 128, "hidden_size": HIDDEN, "num_hidden_layers": LAYERS,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64,
    "max_position_embeddings": 128,
}  # fmt: skip
# What rounding four operands to 4 or 8 bits makes of the logits of two layers, where
# each token goes to the experts that it went to. Rows in another order: near 1.
BOUNDS = {"nvfp4": 0.3, "mxfp8_e4m3": 0.1, "fp8_e4m3_1x128": 0.1}


def configurations():
    t = transformers
    small = {n: v for n, v in COMMON.items() if n != "head_dim"}
    llama4 = {
        **COMMON, "intermediate_size": INTERMEDIATE, "intermediate_size_mlp": 256,
        "num_local_experts": EXPERTS, "interleave_moe_layer_step": 1, "pad_token_id": 0,
    }  # fmt: skip
    return {
        "llama4": lambda: t.Llama4ForCausalLM(
            t.Llama4TextConfig(**llama4, num_experts_per_tok=1)),
        "llama4 top-2": lambda: t.Llama4ForCausalLM(
            t.Llama4TextConfig(**llama4, num_experts_per_tok=2)),
        "qwen3_moe": lambda: t.Qwen3MoeForCausalLM(t.Qwen3MoeConfig(
            **COMMON, intermediate_size=256, moe_intermediate_size=INTERMEDIATE,
            num_experts=EXPERTS, num_experts_per_tok=4, norm_topk_prob=True)),
        "mixtral": lambda: t.MixtralForCausalLM(t.MixtralConfig(
            **COMMON, intermediate_size=INTERMEDIATE, num_local_experts=EXPERTS,
            num_experts_per_tok=2)),
        "deepseek_v3": lambda: t.DeepseekV3ForCausalLM(t.DeepseekV3Config(
            **small | {"num_key_value_heads": 4}, intermediate_size=256,
            moe_intermediate_size=INTERMEDIATE, n_routed_experts=2 * EXPERTS,
            num_experts_per_tok=8, n_shared_experts=1, n_group=4, topk_group=2,
            first_k_dense_replace=1, q_lora_rank=64, kv_lora_rank=64,
            qk_rope_head_dim=16, qk_nope_head_dim=32, v_head_dim=32)),
    }  # fmt: skip


def model(name, dtype=torch.bfloat16):
    """A model with weights that let experts and routers matter."""
    torch.manual_seed(0)
    made = configurations()[name]().eval()
    with torch.no_grad():
        for path, p in made.named_parameters():
            if p.dim() >= 2:
                scale = 2.0 if "gate.weight" in path or "router" in path else 1.0
                p.normal_(0, scale * HIDDEN**-0.5)
    return made.to(WHERE, dtype)


def relative(found, expected):
    found, expected = found.double(), expected.double()
    return ((found - expected).norm() / expected.norm()).item()


def weights(experts, n, k):
    return torch.randn(experts, n, k, device=WHERE).bfloat16() * k**-0.5


def dequantized(x, offsets, format, recipe=None):
    """What is left of rows, float64."""
    options = {}
    if recipe == "te":
        amax = gq.grouped_amax(x, offsets, amax=False, row_amax=True)
        options = {"outer_amax": amax}
        q = gq.grouped_block_quantize(
            x, offsets, format, rowwise=gq.Direction(outer="row"), **options
        )
        return gq.grouped_dequantize(
            q, outer="row", out_dtype="float32", **options
        ).double()
    q = gq.grouped_block_quantize(x, offsets, format)
    return gq.grouped_dequantize(q, out_dtype="float32").double()


def dequantized_weights(w, format, recipe):
    format = "fp8_e4m3_128x128" if format == "fp8_e4m3_1x128" else format
    e, n, k = w.shape
    flat, offsets = (
        w.reshape(-1, k),
        torch.arange(e + 1, dtype=torch.int32, device=WHERE) * n,
    )
    options = {}
    if recipe == "te":
        options = {"outer_amax": gq.grouped_amax(flat, offsets)}
    q = gq.grouped_block_quantize(flat, offsets, format, **options)
    return (
        gq.grouped_dequantize(q, out_dtype="float32", **options)
        .double()
        .reshape(w.shape)
    )


@test
def experts_against_float64():
    """Token by token in float64, of the dequantized operands: formats, recipes, biases,
    an activation without a gate, weights of inputs, experts that there are not."""
    torch.manual_seed(0)
    chosen, experts, k, i = 3, 6, 256, 128
    cases = [(f, None, {}) for f in BOUNDS]
    cases += [
        ("nvfp4", "te", {}), ("mxfp8_e4m3", None, {"weighs_inputs": True}),
        ("nvfp4", "te", {"weighs_inputs": True}), ("mxfp8_e4m3", None, {"bias": True}),
        ("mxfp8_e4m3", None, {"activation": "relu2"}), ("nvfp4", None, {"chosen": 1}),
        ("nvfp4", None, {"tokens": 1}), ("nvfp4", None, {"tokens": 1, "chosen": 1}),
    ]  # fmt: skip
    for format, recipe, options in cases:
        options = dict(options)
        tokens, j = options.pop("tokens", 50), options.pop("chosen", chosen)
        activation = options.get("activation", "silu_and_mul")
        n = i if activation == "relu2" else 2 * i
        up, down = weights(experts, n, k), weights(experts, k, i)
        biases = None
        if options.pop("bias", False):
            biases = [
                torch.randn(experts, w.shape[1], device=WHERE) for w in (up, down)
            ]
            options |= {"up_bias": biases[0], "down_bias": biases[1]}
        layer = gq.torch.QuantizedExperts(
            up, down, format=format, recipe=recipe, **options
        )
        x = torch.randn(tokens, k, device=WHERE).bfloat16()
        index = torch.rand(tokens, experts, device=WHERE).topk(j).indices
        if tokens > 1:
            index[7, 0] = experts  # Of another rank.
        weight = torch.rand(tokens, j, device=WHERE)
        found = layer(x, index, weight)
        whole = torch.tensor([0, tokens], dtype=torch.int32, device=WHERE)
        xq = dequantized(x, whole, format, recipe)
        wu, wd = (dequantized_weights(w, format, recipe) for w in (up, down))
        # A row for each token and choice, in their order; none of expert E.
        there = (index < experts).flatten().nonzero().flatten()
        e, t = index.flatten()[there], there // j
        factor = weight.flatten()[there, None].double()
        h = torch.einsum("mnk,mk->mn", wu[e], xq[t])
        if layer.weighs_inputs:
            h = h * factor
        h = h + (0 if biases is None else biases[0][e].double())
        h = h.bfloat16().float()
        if activation == "relu2":
            h = h.relu() ** 2
        else:
            gate, value = h.chunk(2, 1)
            h = torch.nn.functional.silu(gate) * value
        one = torch.tensor([0, len(e)], dtype=torch.int32, device=WHERE)
        h = dequantized(h.bfloat16(), one, format, recipe)
        y = torch.einsum("mkn,mn->mk", wd[e], h)
        if not layer.weighs_inputs:
            y = y * factor
        y = y + (0 if biases is None else biases[1][e].double())
        expected = torch.zeros(tokens, k, dtype=torch.float64, device=WHERE)
        expected.index_add_(0, t, y.bfloat16().double())
        # A sum in another order is rounded to another code now and then.
        error = relative(found, expected)
        assert error < 1e-2, (format, recipe, options, error)


@test
def layer_is_an_operator():
    """opcheck of gq::expert_ffn; torch.compile in one graph, other numbers of tokens;
    a copy, state_dict and another type leave codes and scales alone."""
    torch.manual_seed(0)
    layer = gq.torch.QuantizedExperts(
        weights(4, 128, 64), weights(4, 64, 64), format="mxfp8_e4m3"
    )
    x = torch.randn(40, 64, device=WHERE).bfloat16()
    index = torch.rand(40, 4, device=WHERE).topk(2).indices
    weight = torch.rand(40, 2, device=WHERE)
    expected = layer(x, index, weight)
    compiled = torch.compile(layer, fullgraph=True, dynamic=True)
    for rows in 40, 17:
        out = compiled(x[:rows], index[:rows], weight[:rows])
        assert relative(out, expected[:rows]) < 1e-2, rows
    exported = torch.export.export(layer, (x, index, weight)).module()
    assert torch.equal(exported(x, index, weight), expected)
    other = copy.deepcopy(layer).to(torch.float16)
    assert torch.equal(other(x, index, weight), expected)
    blank = gq.torch.QuantizedExperts(
        torch.zeros_like(weights(4, 128, 64)), torch.zeros_like(weights(4, 64, 64)),
        format="mxfp8_e4m3",
    )  # fmt: skip
    assert not blank(x, index, weight).any()
    blank.load_state_dict(layer.state_dict())
    assert torch.equal(blank(x, index, weight), expected)
    # Filled after it was without memory.
    empty = copy.deepcopy(layer).to("meta")
    empty.load_state_dict(layer.state_dict(), assign=True)
    assert torch.equal(empty(x, index, weight), expected)
    empty = copy.deepcopy(layer).to("meta").to_empty(device=WHERE)
    empty.load_state_dict(layer.state_dict())
    assert torch.equal(empty(x, index, weight), expected)
    across = x.t().contiguous().t()
    assert torch.equal(layer(across, index, weight), expected)
    none = layer(x[:0], index[:0], weight[:0])
    assert none.shape == (0, 64)


@test
def errors_of_layers():
    """Weights and inputs that do not fit are named, when a layer is made or called."""
    up, down = weights(4, 128, 64), weights(4, 64, 64)
    make = gq.torch.QuantizedExperts
    raises(gq.Error, "activation: expected one of silu, .*'nope'", make, up, down, "nope")
    raises(gq.Error, r"up: expected \[E, N, K\], found \[128, 64\]", make, up[0], down[0])
    for wrong in down[:2], down[:, :, :32], down[:, :32], up:
        raises(gq.Error, r"down: expected \[4, 64, 64\] where up", make, up, wrong)
    raises(gq.Error, r"down: expected \[4, 64, 128\] where up", make, up, down, "relu2")
    raises(gq.Error, "up_bias: expected .4, 128.", make, up, down, up_bias=down[:, 0])
    raises(gq.Error, "down_bias: expected .4, 64.", make, up, down, down_bias=up[:, :, 0])
    layer = make(up, down, format="mxfp8_e4m3")
    x, index, weight = weights(1, 9, 64)[0], torch.zeros(9, 2).long(), torch.zeros(9, 2)
    index, weight = index.to(WHERE), weight.to(WHERE)
    for wrong in x[:5], x[:, :32], x[0], x[None]:
        raises(gq.Error, r"hidden_states: expected .9, 64.", layer, wrong, index, weight)
    raises(gq.Error, r"top_k_index: expected .5, 2., found .9, 2.", layer, x, index, weight[:5])
    raises(gq.Error, "x: expected float32 .*, found float64", layer, x.double(), index, weight)
    for other in dict(format="mxfp8_e5m2"), dict(format="mxfp8_e4m3", weighs_inputs=True):
        raises(
            gq.Error, "state_dict: expected that of a layer of mxfp8_e.*, found mxfp8_e4m3 None",
            make(up, down, **other).load_state_dict, layer.state_dict(),
        )  # fmt: skip


if CUDA:

    @test
    def captured():
        """A layer as a CUDA graph, replayed with another routing: no call waits."""
        torch.manual_seed(0)
        layer = gq.torch.QuantizedExperts(weights(8, 256, 256), weights(8, 256, 128))
        x = torch.randn(64, 256, device="cuda").bfloat16()
        routings = [
            (
                torch.rand(64, 8, device="cuda").topk(2).indices,
                torch.rand(64, 2, device="cuda"),
            )
            for _ in range(2)
        ]
        expected = [layer(x, *r).clone() for r in routings]
        assert not torch.equal(*expected)
        index, weight = (t.clone() for t in routings[0])
        torch.cuda.set_sync_debug_mode("error")
        try:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                out = layer(x, index, weight)
        finally:
            torch.cuda.set_sync_debug_mode("default")
        for r, e in zip(reversed(routings), reversed(expected)):
            index.copy_(r[0])
            weight.copy_(r[1])
            graph.replay()
            torch.cuda.synchronize()
            assert torch.equal(out, e)


if transformers:

    def routers(made):
        return [m for p, m in made.named_modules() if p.endswith((".gate", ".router"))]

    @test
    def models():
        """Logits beside those of the model that is not quantized; with the choices of
        its routers, and with what routers choose for other hidden states."""
        torch.manual_seed(0)
        tokens = torch.randint(0, 128, (2, 37), device=WHERE)
        for name in configurations():
            original = model(name)
            chosen = []
            hooks = [r.register_forward_hook(lambda m, a, out: chosen.append(out))
                     for r in routers(original)]  # fmt: skip
            with torch.no_grad():
                expected = original(tokens).logits
                for hook in hooks:
                    hook.remove()
                # What the experts add at all.
                silent = copy.deepcopy(original)
                for path, p in silent.named_parameters():
                    if "experts.down_proj" in path:
                        p.zero_()
                matters = relative(silent(tokens).logits, expected)
            for format, bound in BOUNDS.items():
                quantized = copy.deepcopy(original)
                names = gq.torch.quantize_(quantized, format)
                assert set(names) == wanted_names(name), names
                with torch.no_grad():
                    free = relative(quantized(tokens).logits, expected)
                    replay = iter(chosen)
                    for r in routers(quantized):
                        r.register_forward_hook(
                            lambda m, a, out, replay=replay: next(replay)
                        )
                    error = relative(quantized(tokens).logits, expected)
                print(f"  {name} {format}: {error:.4f}, own routing {free:.4f},"
                      f" without experts {matters:.2f}")  # fmt: skip
                assert error < bound and free < 2 * bound and 2 * error < matters, name
            raises(gq.Error, "expected a model with experts, found none",
                   gq.torch.quantize_, quantized, format)  # fmt: skip

    def wanted_names(name):
        llama = name.startswith("llama4")
        block = "feed_forward" if llama else "mlp"
        shared = {"deepseek_v3": ["shared_experts"]}.get(
            name, ["shared_expert"] * llama
        )
        # The first layer of deepseek_v3 has no experts.
        layers = range(name == "deepseek_v3", LAYERS)
        return {
            f"model.layers.{i}.{block}.{e}"
            for i in layers
            for e in ("experts", *shared)
        }

    @test
    def copies():
        """Of a quantized model, in memory, in a file and by state_dict; experts that two
        layers share stay one module."""
        tokens = torch.randint(0, 128, (2, 9), device=WHERE)
        for name in configurations():
            with torch.no_grad():
                quantized = model(name)
                blocks = [b for b in quantized.modules() if hasattr(b, "experts")]
                if name == "mixtral":
                    blocks[0].experts = blocks[1].experts
                gq.torch.quantize_(quantized, "mxfp8_e4m3")
                if name == "mixtral":
                    assert blocks[0].experts is blocks[1].experts
                    assert type(blocks[0].experts) is gq.torch.QuantizedExperts
                wanted = quantized(tokens).logits
                file = io.BytesIO()
                torch.save(quantized, file)
                file.seek(0)
                loaded = torch.load(file, weights_only=False)
                other = copy.deepcopy(quantized)
                for p in [*quantized.parameters(), *quantized.buffers()]:
                    p.zero_()
                assert torch.equal(loaded(tokens).logits, wanted), name
                assert torch.equal(other(tokens).logits, wanted), name
                blank = model(name)
                for p in blank.parameters():
                    p.zero_()
                if name == "mixtral":
                    blocks = [b for b in blank.modules() if hasattr(b, "experts")]
                    blocks[0].experts = blocks[1].experts
                gq.torch.quantize_(blank, "mxfp8_e4m3")
                blank.load_state_dict(loaded.state_dict())
                assert torch.equal(blank(tokens).logits, wanted), name

    @test
    def generation():
        """Tokens one after the other, with a cache: batches of one."""
        quantized = model("qwen3_moe")
        gq.torch.quantize_(quantized, "mxfp8_e4m3")
        start = torch.randint(1, 128, (1, 5), device=WHERE)
        out = quantized.generate(
            start, max_new_tokens=4, do_sample=False, use_cache=True
        )
        plain = quantized.generate(
            start, max_new_tokens=4, do_sample=False, use_cache=False
        )
        assert out.shape == (1, 9) and torch.equal(out, plain)

    @test
    def unsupported_modules_are_named():
        """All of them, and nothing was replaced."""
        broken = model("mixtral")
        broken.model.layers[0].mlp.experts.act_fn = torch.nn.Tanh()
        broken.model.layers[1].mlp.experts._apply_gate = None
        broken.model.layers[1].mlp.experts = torch.nn.ModuleList(
            [torch.nn.Linear(4, 4)]
        )
        before = broken.model.layers[0].mlp.experts
        raises(
            gq.Error,
            r"layers.0.mlp.experts \(MixtralExperts\): no producer .* Tanh;"
            r" model.layers.1.mlp.experts \(ModuleList\): it does not follow",
            gq.torch.quantize_, broken,
        )  # fmt: skip
        assert broken.model.layers[0].mlp.experts is before
        names = gq.torch.quantize_(
            model("mixtral"), filter_fn=lambda module, path: "layers.1" in path
        )
        assert names == ["model.layers.1.mlp.experts"]
        t = transformers
        oss = t.GptOssForCausalLM(
            t.GptOssConfig(
                **COMMON, intermediate_size=INTERMEDIATE, num_local_experts=4
            )
        )
        own = r"experts \(GptOssExperts\): it computes its gate in its own way"
        raises(gq.Error, own, gq.torch.quantize_, oss)
        odd = t.MixtralForCausalLM(
            t.MixtralConfig(
                **{**COMMON, "hidden_size": 192}, intermediate_size=INTERMEDIATE
            )
        )
        block = "up: .* 128 columns, the block of fp8_e4m3_1x128, found 192"
        raises(gq.Error, block, gq.torch.quantize_, odd, "fp8_e4m3_1x128")
        raises(
            gq.Error,
            "expected a model with experts",
            gq.torch.quantize_,
            torch.nn.Linear(4, 4),
        )
        raises(gq.Error, "format: expected one of", gq.torch.quantize_, broken, "nvfp5")
        raises(
            gq.Error, "recipe: expected None", gq.torch.quantize_, broken, "mxfp4", "te"
        )


if __name__ == "__main__":
    sys.exit(main())
