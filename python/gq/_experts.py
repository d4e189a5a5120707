# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized layers of experts in models of torch: gq.torch.quantize_."""

from __future__ import annotations

import functools
from collections.abc import Callable

import torch

from . import _formats, _functions, graph
from ._library import invalid_argument

# What an outer scale divides by: the largest code times the largest scale.
_LARGEST = 6 * 448


# ---------------------------------------------------------------------------
# The operator
# ---------------------------------------------------------------------------


def quantize_rows(x, offsets, format, recipe, scale_layout=None, out=None, **options):
    """The rows of x, and with "te" the amax of each."""
    if recipe != "te":
        options["recipe"] = recipe
        return _functions.grouped_block_quantize(
            x, offsets, format, scale_layout=scale_layout, out=out, **options
        ), None
    amax = _functions.grouped_amax(x, offsets, amax=False, row_amax=True, **options)
    return _functions.grouped_block_quantize(
        x, offsets, format, scale_layout=scale_layout, outer_amax=amax, out=out,
        rowwise=_functions.Direction(outer="row"), **options,
    ), amax  # fmt: skip


def _factors(row_amax, row_scales, weight_amax):
    """The factors of a product of rows with weights by name."""
    if row_amax is None:
        return {"row_scales": row_scales}
    factors = row_amax * (1 / _LARGEST)
    if row_scales is not None:
        factors = factors * row_scales
    return {"row_scales": factors, "alpha": weight_amax * (1 / _LARGEST)}


def _feed_forward(
    dtype, q, row_amax, offsets, up, up_scales, up_amax, up_bias, down, down_scales,
    down_amax, down_bias, up_row_scales, down_row_scales, format, b_format, recipe,
    activation,
):  # fmt: skip
    """The experts on quantized rows; the result is of `dtype`."""
    h = _functions.grouped_mm(
        q, up, b_scales=up_scales, b_format=b_format, bias=up_bias, out_dtype=dtype,
        **_factors(row_amax, up_row_scales, up_amax),
    )  # fmt: skip
    q, row_amax = quantize_rows(h, offsets, format, recipe, producer=activation)
    y = torch.zeros(h.shape[0], down.shape[1], dtype=dtype, device=h.device)
    return _functions.grouped_mm(
        q, down, b_scales=down_scales, b_format=b_format, bias=down_bias, out=y,
        **_factors(row_amax, down_row_scales, down_amax),
    )  # fmt: skip


def _run(x, row_indices, offsets, *rest):
    format, _, recipe, _ = rest[-4:]
    q, row_amax = quantize_rows(x, offsets, format, recipe, row_indices=row_indices)
    return _feed_forward(x.dtype, q, row_amax, offsets, *rest)


_op = torch.library.custom_op(
    "gq::expert_ffn",
    _run,
    mutates_args=(),
    schema=(
        "(Tensor x, Tensor? row_indices, Tensor offsets, Tensor up, Tensor up_scales,"
        " Tensor? up_amax, Tensor? up_bias, Tensor down, Tensor down_scales,"
        " Tensor? down_amax, Tensor? down_bias, Tensor? up_row_scales,"
        " Tensor? down_row_scales, str format, str b_format, str? recipe,"
        " str activation) -> Tensor"
    ),
)


@_op.register_fake
def _(x, row_indices, offsets, up, up_scales, up_amax, up_bias, down, *_):
    rows = x if row_indices is None else row_indices
    return x.new_empty(rows.shape[0], down.shape[1])


@functools.cache
def _sum_graph(dtype, index_dtype, columns, count):
    """The graph of the sums of `count` rows each."""
    with graph.Graph() as g:
        rows = g.input("rows", ["M", columns], dtype)
        g.output(graph.sum_rows(rows, g.input("indices", ["T", count], index_dtype)))
    return g


def _sums(rows, indices):
    columns, count = rows.shape[1], indices.shape[1]
    return _sum_graph(rows.dtype, indices.dtype, columns, count)(rows, indices)


sum_rows = torch.library.custom_op(
    "gq::sum_rows",
    _sums,
    mutates_args=(),
    schema="(Tensor rows, Tensor indices) -> Tensor",
)


@sum_rows.register_fake
def _(rows, indices):
    return rows.new_empty(indices.shape[0], rows.shape[1])


# ---------------------------------------------------------------------------
# The layer
# ---------------------------------------------------------------------------


def _hidden(tensor):
    """A tensor as bytes: what converts a model to another type, or moves it, leaves
    codes and scales of small types alone or does not know them."""
    return tensor.view(torch.uint8)


class QuantizedExperts(torch.nn.Module):
    """A feed-forward network of experts on quantized weights and activations.

    y = sum_j w[t, j] * down[e] act(up[e] x[t]) over the experts e = index[t, j] of
    token t. Tokens are sorted by expert on the device, read in this order by the
    quantization, whose second one also computes the activation; nothing waits for
    the device.

    Args:
      up: [E, N, K] float32, bfloat16 or float16: gate and up projection, one after
        the other along N, or what `activation` takes.
      down: [E, K, I].
      activation: one of gq.producers.NAMES: "silu_and_mul" of gate and up,
        I = N / 2; "relu2", I = N.
      format: one of gq.FORMATS; weights of "fp8_e4m3_1x128" are quantized in blocks
        of 128 by 128.
      recipe: of nvfp4: None, or "te": an outer scale for each token and each expert,
        of their largest magnitude.
      up_bias, down_bias: [E, N] and [E, K], or None.
      weighs_inputs: whether the weights of a token multiply what its experts read
        (Llama 4) instead of what they return.

    A state_dict is that of layers of the same format, recipe and activation, which it
    says.

    Raises:
      gq.Error: INVALID_ARGUMENT: shapes do not fit each other or the activation, K or I
        is no multiple of the format's block, or there is no such format, recipe or
        activation.
    """

    def __init__(
        self,
        up: torch.Tensor,
        down: torch.Tensor,
        activation: str = "silu_and_mul",
        *,
        format: str = "nvfp4",
        recipe: str | None = None,
        up_bias: torch.Tensor | None = None,
        down_bias: torch.Tensor | None = None,
        weighs_inputs: bool = False,
    ):
        super().__init__()
        _check(format, recipe)
        reason = _misfit(up.shape, down.shape, format, activation)
        if reason:
            raise invalid_argument(reason)
        for name, bias, w in ("up_bias", up_bias, up), ("down_bias", down_bias, down):
            if bias is not None and bias.shape != w.shape[:2]:
                raise invalid_argument(
                    f"{name}: expected {list(w.shape[:2])}, found {list(bias.shape)}"
                )
        self.format, self.recipe, self.activation = format, recipe, activation
        self.weighs_inputs = weighs_inputs
        self.num_experts, _, self.hidden_size = up.shape
        # Of the state_dict, for layers that are filled after they were on "meta".
        every = torch.arange(self.num_experts + 1, device=up.device)
        self.register_buffer("experts_and_end", every)
        self._b_format = weight_format(format)
        for name, w, bias in ("up", up, up_bias), ("down", down, down_bias):
            w, amax = w.detach().contiguous(), None
            if recipe == "te":
                flat = w.reshape(-1, w.shape[2])
                offsets = _functions._uniform(w, w.shape[0], w.shape[1])
                amax = _functions.grouped_amax(flat, offsets)
            q = _functions.quantize_weights(
                w, self._b_format, recipe=recipe, outer_amax=amax
            )
            self.register_buffer(name, _hidden(q.data))
            self.register_buffer(name + "_scales", _hidden(q.scales))
            self.register_buffer(
                name + "_amax", None if amax is None else _hidden(amax)
            )
            bias = None if bias is None else bias.detach().clone()
            self.register_buffer(name + "_bias", bias)
        self._scale_type = q.scales.dtype

    def extra_repr(self):
        experts, n, _ = self.up.shape
        outer = f", recipe={self.recipe}" if self.recipe else ""
        return (
            f"{experts} experts, {self.format}{outer}, up={n},"
            f" down={self.down.shape[1]}, {self.activation}"
        )

    def get_extra_state(self):
        words = f"{self.format} {self.recipe} {self.activation} {self.weighs_inputs}"
        return torch.tensor(list(words.encode()), dtype=torch.uint8, device="cpu")

    def set_extra_state(self, state):
        mine, found = (
            bytes(s.tolist()).decode() for s in (self.get_extra_state(), state)
        )
        if found != mine:
            raise invalid_argument(
                f"state_dict: expected that of a layer of {mine}, found {found}"
            )

    def grouped(
        self,
        x: torch.Tensor,
        offsets: torch.Tensor,
        row_indices: torch.Tensor | None = None,
        *,
        up_row_scales: torch.Tensor | None = None,
        down_row_scales: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """The experts on rows that are sorted, the operator gq::expert_ffn.

        Args:
          x: [M, K], or with row_indices [any, K].
          offsets: [E+1] int32 or int64: the rows of each expert.
          row_indices: [M] int32 or int64: row m is row row_indices[m] of x.
          up_row_scales, down_row_scales: [M] float32, factors of the rows of the
            products with up and with down.

        Returns:
          [M, K] of the type of x; rows of no expert are zero.
        """

        weights = self._operands(up_row_scales, down_row_scales)
        return _op(x, row_indices, offsets, *weights)

    def of_rows(
        self,
        q: _functions.Quantized,
        dtype: torch.dtype,
        *,
        row_amax: torch.Tensor | None = None,
        up_row_scales: torch.Tensor | None = None,
        down_row_scales: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """The experts on rows that are sorted and quantized already; not an operator.

        Args:
          q: [M, K] in the layer's format, with the rows of each expert as offsets.
          dtype: float32, bfloat16 or float16, of the result.
          row_amax: [M] float32, of the recipe "te".
          up_row_scales, down_row_scales: as of grouped().

        Returns:
          [M, K] of dtype; rows of no expert are zero.
        """
        weights = self._operands(up_row_scales, down_row_scales)
        return _feed_forward(dtype, q, row_amax, q.offsets, *weights)

    def _operands(self, up_row_scales, down_row_scales):
        """The operands of gq::expert_ffn after the rows."""

        def typed(name, dtype):
            t = getattr(self, name)
            return None if t is None else t.view(dtype)

        return (
            self.up, typed("up_scales", self._scale_type),
            typed("up_amax", torch.float32), self.up_bias, self.down,
            typed("down_scales", self._scale_type), typed("down_amax", torch.float32),
            self.down_bias, up_row_scales, down_row_scales, self.format, self._b_format,
            self.recipe, self.activation,
        )  # fmt: skip

    def forward(
        self,
        hidden_states: torch.Tensor,
        top_k_index: torch.Tensor,
        top_k_weights: torch.Tensor,
    ) -> torch.Tensor:
        """Runs the experts that a router chose.

        Args:
          hidden_states: [T, K] float32, bfloat16 or float16.
          top_k_index: [T, J] int64: the experts of each token. One that there is not
            (E or more) adds nothing.
          top_k_weights: [T, J] of floats.

        Returns:
          [T, K] of the type of hidden_states.

        Raises:
          gq.Error: INVALID_ARGUMENT: another shape or type; the message names it.
        """
        for name, t, shape in (
            ("top_k_index", top_k_index, top_k_weights.shape),
            ("hidden_states", hidden_states, (len(top_k_index), self.hidden_size)),
        ):
            if t.dim() != 2 or t.shape != shape:
                raise invalid_argument(
                    f"{name}: expected {list(shape)}, found {list(t.shape)}"
                )
        tokens, chosen = top_k_index.shape
        experts, weights = top_k_index.reshape(-1), top_k_weights.reshape(-1)
        # At few tokens a layer is as fast as it has few kernels.
        order = torch.zeros_like(experts)
        if tokens * chosen > 1:
            experts, order = torch.sort(experts, stable=True)
            weights = weights[order]
        offsets = torch.searchsorted(experts, self.experts_and_end, out_int32=True)
        rows = order if chosen == 1 else order // chosen
        factors = {
            "up_row_scales"
            if self.weighs_inputs
            else "down_row_scales": weights.float()
        }
        y = self.grouped(hidden_states.contiguous(), offsets, rows, **factors)
        if tokens == 1:
            return y.sum(0, keepdim=True) if chosen > 1 else y
        if chosen == 1:
            return torch.empty_like(y).index_copy_(0, order, y)
        inverse = torch.empty_like(order)
        inverse[order] = torch.arange(order.shape[0], device=order.device)
        # One kernel that reads the rows of a token where they are and adds them up.
        return sum_rows(y, inverse.reshape(tokens, chosen))


class QuantizedMLP(torch.nn.Module):
    """A gated feed-forward network, such as a shared expert, on quantized weights.

    Args:
      gate, up: [I, K].
      down: [K, I].
      activation, format, recipe: as of QuantizedExperts.
    """

    def __init__(
        self, gate, up, down, activation="silu_and_mul", *, format="nvfp4", recipe=None
    ):
        super().__init__()
        self.experts = QuantizedExperts(
            torch.cat([gate, up])[None],
            down[None],
            activation,
            format=format,
            recipe=recipe,
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[..., K] to [..., K]."""
        rows = x.reshape(-1, x.shape[-1])
        offsets = torch.arange(2, dtype=torch.int32, device=x.device) * rows.shape[0]
        return self.experts.grouped(rows.contiguous(), offsets).reshape(x.shape)


def weight_format(format: str) -> str:
    """The format of weights that rows of a format are multiplied with."""
    return "fp8_e4m3_128x128" if format == "fp8_e4m3_1x128" else format


def _check(format, recipe):
    """Refuses what activations cannot be quantized to."""
    if _formats.find(format).block_rows > 1:
        raise invalid_argument(
            f"format: expected one whose blocks have one row, found {format!r}"
        )
    if recipe not in (None, "nvfuser", "te") or (recipe and format != "nvfp4"):
        raise invalid_argument(
            f"recipe: expected None, or 'nvfuser' or 'te' of nvfp4, found {recipe!r}"
        )


def _misfit(up, down, format, activation):
    """Why weights of these shapes cannot be quantized, or None."""
    if activation not in _functions.producers.NAMES:
        listed = ", ".join(_functions.producers.NAMES)
        return f"activation: expected one of {listed}, found {activation!r}"
    if len(up) != 3:
        return f"up: expected [E, N, K], found {list(up)}"
    takes = _functions.producers.count_inputs(activation)
    wanted = up[0], up[2], up[1] // takes
    if up[1] % takes or tuple(down) != wanted:
        return (
            f"down: expected {list(wanted)} where up is {list(up)} and {activation} takes"
            f" {takes} of its columns, found {list(down)}"
        )
    f = _formats.find(format)
    for name, k in ("up", up[2]), ("down", down[2]):
        if k % f.block_columns:
            return (
                f"{name}: expected a multiple of {f.block_columns} columns, the block"
                f" of {format}, found {k}"
            )
    return None


# ---------------------------------------------------------------------------
# Models of other people
# ---------------------------------------------------------------------------

#: What transformers call activations, by the class of their module.
_ACTIVATIONS = {
    "SiLU": "silu", "SiLUActivation": "silu", "GELUActivation": "gelu", "GELU": "gelu",
    "GELUTanh": "gelu_tanh", "PytorchGELUTanh": "gelu_tanh",
    "NewGELUActivation": "gelu_tanh",
    "ReLU": "relu", "ReLUSquaredActivation": "relu2",
}  # fmt: skip


class _Unsupported(Exception):
    """Why a module cannot be replaced."""


def _activation(module, is_gated):
    function = getattr(module, "act_fn", getattr(module, "activation_fn", None))
    name = _ACTIVATIONS.get(type(function).__name__)
    if isinstance(function, torch.nn.GELU) and function.approximate == "tanh":
        name = "gelu_tanh"
    name = f"{name}_and_mul" if name and is_gated else name
    if name not in _functions.producers.NAMES:
        what = "gated activation" if is_gated else "activation"
        raise _Unsupported(
            f"no producer computes its {what}, {type(function).__name__}"
        )
    return name


def _layer(up, down, activation, format, recipe, **options):
    reason = _misfit(up.shape, down.shape, format, activation)
    if reason:
        raise _Unsupported(reason)
    return lambda: QuantizedExperts(
        up, down, activation, format=format, recipe=recipe, **options
    )


def _of_experts(module, format, recipe):
    """What replaces experts that follow the protocol of transformers 5 (see its
    integrations/moe.py): stacked weights, forward(hidden_states, top_k_index,
    top_k_weights)."""
    gate = getattr(type(module), "_apply_gate", None)
    if module.has_gate and getattr(gate, "__name__", "") != "_default_apply_gate":
        raise _Unsupported("it computes its gate in its own way, _apply_gate()")
    up = module.gate_up_proj if module.has_gate else module.up_proj
    down = module.down_proj
    biases = {}
    if module.has_bias:
        up_bias = module.gate_up_proj_bias if module.has_gate else module.up_proj_bias
        biases = {"up_bias": up_bias, "down_bias": module.down_proj_bias}
    if module.is_transposed:
        up, down = up.transpose(1, 2), down.transpose(1, 2)
    if module.has_gate and not module.is_concatenated:
        raise _Unsupported("columns of gate and up alternate")
    return _layer(
        up, down, _activation(module, module.has_gate), format, recipe, **biases
    )


def _of_llama4(module, format, recipe):
    """What replaces the experts of a Llama4TextMoe."""
    experts = module.experts
    return _layer(
        experts.gate_up_proj.transpose(1, 2), experts.down_proj.transpose(1, 2),
        _activation(experts, True), format, recipe, weighs_inputs=True,
    )  # fmt: skip


def _llama4_forward(self, hidden_states):
    """Llama4TextMoe.forward(), in which every expert would read every token: zeros,
    where the router has not chosen it."""
    x = hidden_states.reshape(-1, self.hidden_dim)
    scores, logits = self.router(x)
    weights, index = torch.topk(scores, self.top_k, dim=1)
    return self.shared_expert(x) + self.experts(x, index, weights), logits


def _of_mlp(module, format, recipe):
    """What replaces a shared expert: an MLP of three projections."""
    weights = []
    for name in ("gate_proj", "up_proj", "down_proj"):
        linear = getattr(module, name, None)
        if type(linear) is not torch.nn.Linear or linear.bias is not None:
            raise _Unsupported(f"{name} is no linear layer without a bias")
        weights.append(linear.weight)
    activation, (n, k) = _activation(module, True), weights[1].shape
    reason = _misfit((1, 2 * n, k), (1, *weights[2].shape), format, activation)
    if reason:
        raise _Unsupported(reason)
    return lambda: QuantizedMLP(*weights, activation, format=format, recipe=recipe)


def _replacement(module, parent, name, format, recipe):
    """A function that makes what replaces a module; None of what is no expert.

    Raises _Unsupported for an expert that nothing can replace.
    """
    if isinstance(module, (QuantizedExperts, QuantizedMLP)):
        return None
    if name in ("shared_expert", "shared_experts"):
        return _of_mlp(module, format, recipe)
    if type(parent).__name__ == "Llama4TextMoe" and name == "experts":
        return _of_llama4(parent, format, recipe)
    if all(hasattr(module, n) for n in ("has_gate", "has_bias", "is_transposed")):
        return _of_experts(module, format, recipe)
    if name == "experts" or type(module).__name__.endswith("Experts"):
        raise _Unsupported("it does not follow the experts' protocol of transformers")
    return None


def quantize_(
    model: torch.nn.Module,
    format: str = "nvfp4",
    recipe: str | None = None,
    *,
    filter_fn: Callable[[torch.nn.Module, str], bool] | None = None,
) -> list[str]:
    """Replaces the experts of a model by quantized ones, in place.

    For inference with the models of transformers whose experts follow its protocol
    (Qwen3-MoE, Mixtral, DeepSeek-V3, ...), and Llama 4. Weights are quantized once;
    shared experts (`shared_expert`, `shared_experts`) are replaced too. The rest of
    the model stays as it is, routers too.

        model = transformers.AutoModelForCausalLM.from_pretrained(...)
        gq.torch.quantize_(model, "nvfp4")

    Args:
      model: modules of float32, bfloat16 or float16.
      format: of weights and activations, one of gq.FORMATS.
      recipe: of nvfp4, as of QuantizedExperts.
      filter_fn: is called with a module and its dotted name; False leaves it alone.

    Returns:
      The names of the modules that were replaced.

    Raises:
      gq.Error: INVALID_ARGUMENT, and nothing was replaced: the message names each
        module that looks like experts (it is called `experts`, or its class ...Experts)
        and cannot be replaced, and why; or the model has no experts.
    """
    _check(format, recipe)
    found, refused = [], []
    modules = dict(model.named_modules(remove_duplicate=False))
    for path, module in modules.items():
        parent_path, _, name = path.rpartition(".")
        if not path or (filter_fn is not None and not filter_fn(module, path)):
            continue
        parent = modules[parent_path]
        try:
            make = _replacement(module, parent, name, format, recipe)
        except _Unsupported as reason:
            refused.append(f"{path} ({type(module).__name__}): {reason}")
            continue
        if make is not None:
            found.append((path, parent, name, id(module), make))
    if refused:
        raise invalid_argument("model: cannot quantize " + "; ".join(refused))
    if not found:
        raise invalid_argument("model: expected a model with experts, found none")
    names = [path for path, *_ in found]
    # Weights are freed layer by layer.
    del modules, module
    made = {}
    while found:
        _, parent, name, key, make = found.pop(0)
        # A module that several parents share stays one.
        if key not in made:
            made[key] = make()
        setattr(parent, name, made[key])
        del make
        if type(parent).__name__ == "Llama4TextMoe" and name == "experts":
            # No method, which would be pickled by a name that its class has not.
            parent.forward = functools.partial(_llama4_forward, parent)
    return names
