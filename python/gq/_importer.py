# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers of experts in exported programs of torch, as graphs of gq.

A layer is two or more grouped matmuls with what is between them. One graph of gq
takes its place, from the rows that are gathered to the sum of a token's rows; the
other nodes stay torch's:

    gather, grouped matmul           row_indices of a quantization, gq.grouped_mm
    activation, gate times up        element-wise ops, which gq fuses into the next
    grouped matmul                   quantization, gq.grouped_mm
    times the weights of tokens      row_scales of it
    unsort, sum of a token's rows    gq.graph.sum_rows
"""

from __future__ import annotations

import operator
import re

import torch
from torch.fx.passes.tools_common import legalize_graph
from torch.utils.weak import WeakTensorKeyDictionary

from . import _formats, _functions, graph, producers
from ._experts import _check, _hidden, weight_format
from ._library import Error, invalid_argument

_FLOATS = (torch.float32, torch.bfloat16, torch.float16)

# ---------------------------------------------------------------------------
# Nodes
# ---------------------------------------------------------------------------


def _name(node):
    """The operator of a node, such as "silu"; "" of none of ATen."""
    if node.target is operator.getitem:
        return "getitem"
    schema = getattr(node.target, "_schema", None)
    if node.op != "call_function" or schema is None:
        return ""
    namespace, _, name = schema.name.partition("::")
    return name if namespace == "aten" else ""


def _argument(node, name, default=None):
    """The argument of an operator by its name in the schema."""
    for i, a in enumerate(node.target._schema.arguments):
        if a.name == name:
            if i < len(node.args):
                return node.args[i]
            return node.kwargs.get(
                name, a.default_value if default is None else default
            )
    return default


def _value(node):
    return node.meta.get("val") if isinstance(node, torch.fx.Node) else None


def _shape(node):
    return tuple(getattr(_value(node), "shape", ()))


def _is_float(node):
    return getattr(_value(node), "dtype", None) in _FLOATS


def _where(node):
    """The line of the program that a node is from."""
    frames = re.findall(
        r'File "(.*)", line (\d+), in .*\n\s*(.*)', node.meta.get("stack_trace") or ""
    )
    if frames:
        path, line, code = frames[-1]
        return f"{path}:{line}: {code.strip()}"
    # torch knows lines of files alone.
    modules = [name for _, name in (node.meta.get("nn_module_stack") or {}).values()]
    return f"an unknown line of {modules[-1]}" if modules else "an unknown line"


def _refuse(node, reason):
    listed = ", ".join(map(str, node.args))
    raise invalid_argument(
        f"program: {reason}: %{node.name} = {node.target}({listed}), {_where(node)}"
    )


# ---------------------------------------------------------------------------
# What a graph of gq can compute
# ---------------------------------------------------------------------------


def _gelu(node):
    tanh = _argument(node, "approximate", "none") == "tanh"
    return producers.gelu_tanh if tanh else producers.gelu


def _scaled(function):
    """add and sub: the other operand is multiplied by alpha."""

    def make(node):
        alpha = _argument(node, "alpha", 1)
        return function if alpha == 1 else lambda a, b: function(a, b * alpha)

    return make


def _reversed_sub(node):
    alpha = _argument(node, "alpha", 1)
    return lambda a, b: b - a * alpha


def _clamp(node):
    least, most = _argument(node, "min"), _argument(node, "max")

    def clamp(a):
        a = a if least is None else producers.maximum(a, least)
        return a if most is None else producers.minimum(a, most)

    return clamp


#: Element-wise operators: a function of the node, which gives one of values.
_ELEMENTWISE = {
    "silu": lambda n: producers.silu,
    "gelu": _gelu,
    "relu": lambda n: producers.relu,
    "sigmoid": lambda n: producers.sigmoid,
    "tanh": lambda n: producers.tanh,
    "exp": lambda n: producers.exp,
    "erf": lambda n: producers.erf,
    "sqrt": lambda n: producers.sqrt,
    "neg": lambda n: operator.neg,
    "abs": lambda n: operator.abs,
    "mul": lambda n: operator.mul,
    "div": lambda n: operator.truediv,
    "add": _scaled(operator.add),
    "sub": _scaled(operator.sub),
    "rsub": _reversed_sub,
    "reciprocal": lambda n: lambda a: 1 / a,
    "square": lambda n: lambda a: a * a,
    "pow": lambda n: lambda a, b: a ** int(b),
    "clamp": _clamp,
    "maximum": lambda n: producers.maximum,
    "minimum": lambda n: producers.minimum,
}
_ALIASES = (
    "view", "reshape", "_unsafe_view", "clone", "contiguous", "alias", "detach",
    "_to_copy", "to",
)  # fmt: skip
_SPLITS = ("split", "split_with_sizes", "chunk")


def _is_alias(node):
    """Whether it holds the rows of its argument, in order and of the same type."""
    return (
        _name(node) in _ALIASES
        and _is_float(node)
        and _value(node).dtype == _value(node.args[0]).dtype
        and _shape(node)[-1:] == _shape(node.args[0])[-1:]
    )


def _is_elementwise(node):
    """Whether it is a function of elements of tensors of its shape, rows and scalars."""
    if _name(node) not in _ELEMENTWISE or not _is_float(node):
        return False
    if _name(node) == "div" and _argument(node, "rounding_mode") is not None:
        return False
    if _name(node) == "pow" and _argument(node, "exponent") not in range(1, 9):
        return False
    first = node.args[0]
    if not isinstance(first, torch.fx.Node) or _shape(first) != _shape(node):
        return False
    if _value(first).dtype != _value(node).dtype:
        return False
    shape = _shape(node)
    numbers = (int, float, type(None)) if _name(node) == "clamp" else (int, float)
    return all(
        isinstance(a, numbers)
        or (_is_float(a) and _shape(a) in (shape, shape[-1:], ()))
        for a in node.args[1:2]
    )


def _is_cast(node):
    """Whether it converts floats to wider or narrower ones."""
    if _name(node) not in ("_to_copy", "to") or not _is_float(node):
        return False
    source = node.args[0]
    return _is_float(source) and _value(source).itemsize != _value(node).itemsize


def _part(node):
    """(parts, which one) of columns that are split evenly, and of what; else None."""
    if _name(node) == "getitem" and _name(node.args[0]) in _SPLITS:
        source, base = node.args[0], node.args[0].args[0]
        dim = _argument(source, "dim", 0)
        widths = [t.shape[-1] for t in _value(source)]
        if dim in (-1, len(_shape(base)) - 1) and len(set(widths)) == 1:
            return len(widths), node.args[1], base
    if _name(node) == "slice" and _is_float(node):
        base, whole, width = node.args[0], _shape(node.args[0])[-1], _shape(node)[-1]
        dim, start = _argument(node, "dim", 0), _argument(node, "start", 0)
        if dim not in (-1, len(_shape(base)) - 1) or not isinstance(start, int):
            return None
        start = slice(start, None).indices(whole)[0]
        is_even = width and whole % width == 0 and start % width == 0
        if is_even and _argument(node, "step", 1) == 1:
            return whole // width, start // width, base
    return None


def _is_batched(node):
    """Whether it is a product of groups of equal size."""
    return (
        _name(node) in ("bmm", "matmul")
        and len(_shape(node.args[0])) == 3
        and _is_weight(_weights(node)[0])
    )


def _is_matmul(node):
    return _name(node) == "_grouped_mm" or _is_batched(node)


def _weights(node):
    """The weights of a matmul, [G, N, K] or, if not transposed, [G, K, N]."""
    base, transposed = node.args[1], False
    while _name(base) in ("transpose", "permute", "mT", *_ALIASES):
        if _name(base) in ("transpose", "permute", "mT"):
            dims = list(_argument(base, "dims", [0, 2, 1]))
            if _name(base) == "transpose":
                dims = sorted(d % 3 for d in base.args[1:3])
                dims = [0, 2, 1] if dims == [1, 2] else dims
            if [d % 3 for d in dims] != [0, 2, 1]:
                break
            transposed = not transposed
        elif _shape(base) != _shape(base.args[0]) or not _is_alias(base):
            break
        base = base.args[0]
    return base, transposed


def _is_weight(node):
    """Whether it is a stack of matrices that the program does not compute.

    That is a parameter or an input, of which nothing says which is which. An input that
    holds activations gives right results, too: see _Weights.
    """
    return node.op in ("get_attr", "placeholder") and len(_shape(node)) == 3


def _gather(node):
    """(source, indices) of rows that are gathered; else None."""
    if _name(node) not in ("index", "index_select") or len(_shape(node)) != 2:
        return None
    if _name(node) == "index_select":
        source, dim, indices = node.args[:3]
        listed = [indices] if dim == 0 else []
    else:
        source, listed = node.args[:2]
    if len(listed) != 1 or listed[0] is None or len(_shape(source)) != 2:
        return None
    if len(_shape(listed[0])) != 1 or not _is_float(source):
        return None
    # Others are masks.
    if _value(listed[0]).dtype not in (torch.int32, torch.int64):
        return None
    return source, listed[0]


def _is_not_negative(value):
    """Whether a number, or all of a node, is not less than 0, as far as can be seen.

    Of such that torch does not write, nothing is said: nobody reads them.
    """
    if not isinstance(value, torch.fx.Node):
        return isinstance(value, int) and value >= 0
    name, first = _name(value), value.args[0] if value.args else None
    if name == "getitem":
        # sort() and topk() return values and indices.
        if _name(first) not in ("sort", "topk"):
            return False
        return value.args[1] == 1 or _is_not_negative(first.args[0])
    if name in ("argsort", "one_hot", "empty", "empty_like", "new_empty", "zeros"):
        return True
    if name in (*_ALIASES, "index", "unsqueeze", "squeeze", "expand", "flatten", "slice"):
        return _is_not_negative(first)
    if name in ("floor_divide", "div", "mul", "add"):
        return all(map(_is_not_negative, value.args[:2]))
    if name == "index_put":
        return _is_not_negative(first) and _is_not_negative(value.args[2])
    if name == "arange":
        return _is_not_negative(_argument(value, "start", 0))
    return False


def _offsets(node):
    """What groups of a matmul have in common: the node of its offsets, or how many
    groups of equal size."""
    return node.args[2] if _name(node) == "_grouped_mm" else _shape(node)[0]


def _through(node, *names):
    while isinstance(node, torch.fx.Node) and _name(node) in names:
        node = node.args[0]
    return node


def _is_padding_mask(node, offsets):
    """Whether a masked_fill() writes zeros into rows of no group and nothing else.

    Transformers' experts do, for tokens of experts that are elsewhere: the sorted
    experts that are no less than E, where the groups are counted by histc(sorted, E,
    0, E - 1).
    """
    if _name(node) != "masked_fill" or node.args[2] != 0:
        return False
    mask = _through(node.args[1], "unsqueeze", "view", "reshape")
    counts = _through(offsets, "cumsum", "_to_copy", "to")
    if not isinstance(counts, torch.fx.Node):
        return False
    if _name(mask) != "ge" or _name(counts) != "histc":
        return False
    experts = _through(counts.args[0], "_to_copy", "to", "view", "reshape")
    groups = mask.args[1]
    is_sorted = _name(experts) == "getitem" and _name(experts.args[0]) == "sort"
    return (
        is_sorted
        and experts.args[1] == 0
        and not _argument(experts.args[0], "descending", False)
        and mask.args[0] is experts
        and tuple(counts.args[1:4]) == (groups, 0, groups - 1)
    )


# ---------------------------------------------------------------------------
# Layers
# ---------------------------------------------------------------------------


class _Layer:
    """The nodes of a layer: what becomes one graph of gq.

    Attributes:
      matmuls: in order.
      inside: all of its nodes.
      scales: for a matmul, the node [M, 1] or the like that multiplies its rows.
      zeroed: matmuls whose rows of no group are zero.
      sums: for the node that puts rows back or adds them up, what it reads and the
        indices.
    """

    def __init__(self, matmuls):
        self.matmuls, self.inside = matmuls, set(matmuls)
        self.scales, self.zeroed, self.sums = {}, set(), {}

    def converts(self, node):
        """Whether a node between the matmuls is one of the graph."""
        return (
            _is_alias(node)
            or _is_elementwise(node)
            or _is_cast(node)
            or _part(node) is not None
            or _name(node) in _SPLITS
            or _is_padding_mask(node, _offsets(self.matmuls[0]))
        )

    def operands(self, node):
        """The floats that a node of the graph reads."""
        if _name(node) in _SPLITS:
            return node.all_input_nodes[:1]
        return [a for a in node.args[:2] if _is_float(a)] or node.all_input_nodes[:1]

    def rows(self, matmul):
        """What a matmul reads: (source, indices or None)."""
        node = matmul.args[0]
        while _is_alias(node) or _is_padding_mask(node, _offsets(matmul)):
            node = node.args[0]
        return _gather(node) or (matmul.args[0], None)

    def walk(self, matmul):
        """(the nodes that convert, those that do not, matmuls) before a matmul."""
        found, others, before = set(), set(), set()
        stack = [matmul.args[0]]
        while stack:
            node = stack.pop()
            if node in found or node in others or node in before:
                continue
            if _is_matmul(node):
                before.add(node)
            elif self.converts(node):
                found.add(node)
                stack += self.operands(node)
            else:
                others.add(node)
        return found, others, before


def _after(nodes):
    """All nodes that depend on some."""
    found, stack = set(), list(nodes)
    while stack:
        for user in stack.pop().users:
            if user not in found:
                found.add(user)
                stack.append(user)
    return found


def _check_between(matmul, matmuls, walked):
    """Refuses what is between two matmuls of the same groups and no graph has."""
    found, others, _ = walked
    layer = _Layer([matmul])
    for other in matmuls:
        if other is matmul or _offsets(other) != _offsets(matmul):
            continue
        later = _after([other])
        if _is_batched(matmul):
            # Other layers have as many groups: only what reads a product directly.
            direct, stack = set(), [other]
            while stack:
                for user in stack.pop().users:
                    if user in direct or _is_matmul(user):
                        continue
                    direct.add(user)
                    if layer.converts(user):
                        stack.append(user)
            later = direct
        for node in matmul.graph.nodes:
            if node in others and node in later:
                _refuse(
                    node, "no graph of gq computes this between two grouped matmuls"
                )


def _layers(module):
    """The layers of a program, in order."""
    matmuls = [n for n in module.graph.nodes if _is_matmul(n)]
    group = {n: {n} for n in matmuls}

    def join(a, b):
        if group[a] is not group[b]:
            group[a] |= group[b]
            for n in group[b]:
                group[n] = group[a]

    walks, readers = {}, {}
    for n in matmuls:
        _check_matmul(n)
        walks[n] = _Layer([n]).walk(n)
        _check_between(n, matmuls, walks[n])
        for before in walks[n][2]:
            join(n, before)
        key = (*_Layer([n]).rows(n), _offsets(n))
        join(n, readers.setdefault(key, n))
    layers, done = [], set()
    for n in matmuls:
        if n in done:
            continue
        layer = _Layer([m for m in matmuls if m in group[n]])
        done |= group[n]
        later = _after(layer.matmuls)
        ends = set(layer.matmuls)
        for m in layer.matmuls:
            ends -= walks[m][2]
            layer.inside |= walks[m][0] & later
        for m in ends:
            _tail(layer, m, later)
        layers.append(layer)
    return layers


def _check_matmul(node):
    base, _ = _weights(node)
    if not _is_weight(base):
        _refuse(node, "the second operand is no weight [G, N, K] or [G, K, N]")
    if not _is_float(node) or len(_shape(node.args[0])) != (
        3 if _is_batched(node) else 2
    ):
        _refuse(node, "the first operand is no matrix of floats")
    if _name(node) != "_grouped_mm":
        return
    if len(node.args) < 3 or node.args[2] is None:
        _refuse(node, "it has no offsets")
    if _argument(node, "bias") is not None:
        _refuse(node, "it has a bias")


def _column(node, rows):
    """What a node [M, 1] is made of, if it is such; M are `rows`."""
    shape = _shape(node)
    return len(shape) == 2 and shape[1] == 1 and shape[0] == rows and _is_float(node)


def _tail(layer, matmul, later):
    """Adds to a layer what follows its last matmul and needs nothing else that comes
    `later`, such as a factor computed of another product."""
    node = matmul
    while len(node.users) == 1:
        user = next(iter(node.users))
        if _is_padding_mask(user, _offsets(matmul)):
            layer.zeroed.add(matmul)
        elif _is_alias(user) and len(_shape(user)) == 2:
            pass
        elif (
            _name(user) == "mul"
            and matmul not in layer.scales
            and len(_shape(node)) == 2
        ):
            a, b = user.args[:2]
            scale = b if a is node else a
            if scale in later or not _column(scale, _shape(node)[0]):
                break
            layer.scales[matmul] = scale
        elif (
            (gathered := _gather(user))
            and gathered[0] is node
            and gathered[1] not in later
        ):
            end, indices = _sum(user, gathered[1])
            layer.inside |= {user, *end[1:]}
            layer.sums[end[-1]] = node, indices
            break
        else:
            break
        layer.inside.add(user)
        node = user


def _sum(node, indices):
    """A gather, the view [T, J, K] of it and the sum over J, as far as they are there:
    (these nodes, (indices, J))."""
    found = [node]
    if len(node.users) == 1:
        view = next(iter(node.users))
        shape = _shape(view)
        if _is_alias(view) and len(shape) == 3 and isinstance(shape[1], int):
            total = next(iter(view.users))
            if len(view.users) == 1 and _name(total) == "sum":
                dims = _argument(total, "dim")
                kept = _argument(total, "keepdim", False)
                if list(dims or ()) in ([1], [-2]) and not kept:
                    return [node, view, total], (indices, shape[1])
    return found, (indices, 1)


# ---------------------------------------------------------------------------
# Layers as modules
# ---------------------------------------------------------------------------


def _rows(t):
    """[..., K] as [M, K]."""
    return t.reshape(-1, t.shape[-1]).contiguous()


def _factors(t):
    return t.reshape(-1).float()


def _closed(ends):
    """[G+1] offsets of where groups end, [G]."""
    return torch.nn.functional.pad(ends.to(torch.int32), (1, 0))


def _even(t):
    """Offsets of the groups of [G, M, K]."""
    return torch.arange(t.shape[0] + 1, dtype=torch.int32, device=t.device) * t.shape[1]


def _by_token(indices, count):
    return indices.reshape(-1, count).contiguous()


def _from_the_end(indices, rows):
    """Indices of as many rows as `rows` has, of which torch counts negative ones from
    the end."""
    count = rows.shape[:-1].numel() if rows.dim() > 1 else rows.shape[0]
    return torch.where(indices < 0, indices + count, indices)


class _Weights:
    """Weights that are an argument of the program, quantized when they change.

    A tensor has changed if its address or its version has. Those of inference mode have
    no versions: that one was written to is not seen, nor is what was written to
    Tensor.data.
    """

    def __init__(self, transposed, format):
        self._transposed, self._format = transposed, format
        # Layers of one class share a program of torch.compile.
        self._known = WeakTensorKeyDictionary()

    def __call__(self, w):
        version = None if w.is_inference() else w._version
        key = w.data_ptr(), version, w.shape, w.dtype, w.device
        known = self._known.get(w)
        if known is None or known[0] != key:
            # Its memory is kept so that no other weights get its address, also if `w`
            # is a parameter that is given another.
            known = key, _quantized(w, self._transposed, self._format), w.detach()
            self._known[w] = known
        return known[1]


def _quantized(w, transposed, format):
    w = w.detach()
    w = (w if transposed else w.transpose(1, 2)).contiguous()
    q = _functions.quantize_weights(w, format)
    scales = q.scales if q.scales.dtype.itemsize > 1 else _hidden(q.scales)
    return _hidden(q.data), scales


class GraphModule(torch.nn.Module):
    """A layer that a graph of gq computes; print(module.graph) shows it.

    Attributes:
      graph: the gq.Graph. Its inputs are those of the module, of which weights are
        codes and scales: the buffers w0, s0, w1, ... unless they are arguments.
    """

    def __init__(self, recorded, weights, count):
        super().__init__()
        self.graph, self._count, self._weights = recorded, count, []
        for i, w in enumerate(weights):
            if not isinstance(w, _Weights):
                data, scales = w
                self.register_buffer(f"w{i}", data)
                self.register_buffer(f"s{i}", _hidden(scales))
                w = scales.dtype
            self._weights.append(w)

    def extra_repr(self):
        return repr(self.graph)

    def forward(self, *tensors):
        """The tensors of the graph's inputs, then weights that are arguments."""
        arguments, rest = list(tensors[: self._count]), iter(tensors[self._count :])
        if torch.is_grad_enabled() and any(t.requires_grad for t in arguments):
            raise invalid_argument("module: expected no gradients, see torch.no_grad()")
        for i, w in enumerate(self._weights):
            if isinstance(w, _Weights):
                arguments += w(next(rest))
            else:
                scales = getattr(self, f"s{i}").view(w)
                arguments += getattr(self, f"w{i}"), scales
        results = self.graph(*arguments)
        return results if isinstance(results, tuple) else (results,)


class _Builder:
    """Records the graph of a layer and puts it in the place of the nodes."""

    def __init__(self, module, layer, format, recipe):
        self.module, self.layer = module, layer
        self.format, self.recipe = format, recipe
        self.inputs, self.values, self.parts = {}, {}, {}
        self.quantized, self.starts, self.weights = {}, {}, []

    def build(self, name):
        layer, inside = self.layer, self.layer.inside
        nodes = [n for n in self.module.graph.nodes if n in inside]
        outputs = [n for n in nodes if any(u not in inside for u in n.users)]
        for n in outputs:
            if not _is_float(n):
                _refuse(n, "its parts are used outside of the layer")
        recorded = graph.Graph()
        with recorded:
            self.graph = recorded
            # All inputs but weights come first.
            self.declare()
            for m in layer.matmuls:
                self.weight(m)
            recorded.output(*(self.value(n) for n in outputs))
        later = _after(layer.matmuls)
        for _, _, arguments in self.inputs.values():
            if arguments[0] in later:
                _refuse(arguments[0], "the layer that computes this reads it")
        self.replace(name, nodes, outputs)

    # Inputs ----------------------------------------------------------------

    def input(self, key, function, arguments, shape, dtype):
        """An input of the graph, which torch computes by `function` of nodes."""
        if key not in self.inputs:
            name = f"a{len(self.inputs)}"
            tensor = self.graph.input(name, shape, str(dtype).removeprefix("torch."))
            self.inputs[key] = tensor, function, arguments
        return self.inputs[key][0]

    def declare(self):
        for m in self.layer.matmuls:
            source, indices = self.layer.rows(m)
            if not self.is_inside(source):
                self.rows(source, "M" if indices is None else "N")
            if indices is not None:
                self.indices(indices, source)
            self.offsets(m)
            if m in self.layer.scales:
                scale = self.layer.scales[m]
                self.input(("factors", scale), _factors, (scale,), ["M"], torch.float32)
        for n in self.layer.sums:
            self.by_token(n)
        for n in self.module.graph.nodes:
            if n in self.layer.inside and _is_elementwise(n):
                for a in n.args[:2]:
                    if isinstance(a, torch.fx.Node) and not self.is_inside(a):
                        self.operand(a, n)

    def is_inside(self, node):
        return node in self.layer.inside

    def rows(self, node, extent):
        k = _shape(node)[-1]
        return self.input(
            ("rows", node, extent), _rows, (node,), [extent, k], _value(node).dtype
        )

    def indices(self, node, source):
        key = "indices", node
        if key not in self.inputs:
            found = self.not_negative(node, source)
            self.input(key, torch.Tensor.contiguous, (found,), ["M"], _value(node).dtype)
        return self.inputs[key][0]

    def by_token(self, node):
        """The indices of the sums that a node is."""
        product, (indices, count) = self.layer.sums[node]
        key = "by token", indices, count
        if key not in self.inputs:
            arguments = self.not_negative(indices, product), count
            self.input(key, _by_token, arguments, ["T", count], _value(indices).dtype)
        return self.inputs[key][0]

    def not_negative(self, indices, source):
        """Indices of rows of a node; those that may be negative are counted from its
        end."""
        if _is_not_negative(indices):
            return indices
        if self.is_inside(source):
            # As many rows as there are indices, if rows are gathered.
            rows, gathered = self.layer.rows(self.layer.matmuls[0])
            source = rows if gathered is None else gathered
        with self.module.graph.inserting_after(indices):
            return self.module.graph.call_function(_from_the_end, (indices, source))

    def operand(self, a, node):
        """What an element-wise node reads from outside: of its shape, a row or a scalar."""
        if _shape(a) == _shape(node):
            return self.rows(a, "M")
        return self.input(
            ("operand", a),
            torch.Tensor.contiguous,
            (a,),
            list(_shape(a)),
            _value(a).dtype,
        )

    def offsets(self, m):
        ends = _offsets(m)
        groups = _shape(_weights(m)[0])[0]
        function, arguments = (
            (_even, (m.args[0],)) if _is_batched(m) else (_closed, (ends,))
        )
        return self.input(
            ("offsets", ends), function, arguments, [groups + 1], torch.int32
        )

    def weight(self, m):
        """Codes and scales of the weights of a matmul; and what gives them in a call."""
        if ("weight", m) in self.values:
            return self.values["weight", m]
        base, transposed = _weights(m)
        groups, n, k = _shape(base)
        if not transposed:
            n, k = k, n
        f = _formats.find(weight_format(self.format))
        if k % f.block_columns:
            _refuse(
                m, f"K is {k}, no multiple of {f.block_columns}, the block of {f.name}"
            )
        columns = k // f.block_columns
        up = _functions.up
        if f.layout == "tile128x4":
            scales = [groups, up(n, 128), up(columns, 4)]
        else:
            scales = [groups, up(n, f.block_rows) // f.block_rows, columns]
        index = len(self.weights)
        kinds = _formats.BY_MLIR[f.data].torch, _formats.BY_MLIR[f.scale].torch
        data = "i8" if f.data == "i8" else kinds[0]
        codes = self.graph.input(f"w{index}", [groups, n, f.stored(k)], data)
        tiles = self.graph.input(f"s{index}", scales, kinds[1])
        self.weights.append((base, transposed))
        self.values["weight", m] = codes, tiles
        return codes, tiles

    # Values ----------------------------------------------------------------

    def value(self, node):
        if node not in self.values:
            try:
                self.values[node] = self.make(node)
            except Error as error:
                if error.message.startswith("program: "):
                    raise
                _refuse(node, error.message)
        return self.values[node]

    def make(self, node):
        layer = self.layer
        if node in layer.sums:
            return graph.sum_rows(self.value(layer.sums[node][0]), self.by_token(node))
        if _is_matmul(node):
            return self.matmul(node)
        if _is_alias(node) or _is_padding_mask(node, _offsets(layer.matmuls[0])):
            return self.value(node.args[0])
        part = _part(node)
        if part is not None:
            parts, which, base = part
            if (base, parts) not in self.parts:
                self.parts[base, parts] = graph.split(self.value(base), parts)
            return self.parts[base, parts][which]
        if node in self.scaled():
            return self.value(self.scaled()[node])
        if _is_elementwise(node):
            return self.elementwise(node)
        if _is_cast(node):
            dtype = _value(node).dtype
            cast = producers.typed(lambda a: producers.cast(a, dtype))
            return graph.map(cast, self.value(node.args[0]))
        _refuse(node, "no graph of gq computes this")

    def scaled(self):
        """For nodes that multiply rows by the weights of tokens, what they multiply."""
        found = {}
        for scale in self.layer.scales.values():
            for user in scale.users:
                if user in self.layer.inside and _name(user) == "mul":
                    a, b = user.args[:2]
                    found[user] = a if b is scale else b
        return found

    def elementwise(self, node):
        function = _ELEMENTWISE[_name(node)](node)
        operands, constants = [], {}
        # The function of clamp() knows its bounds.
        for i, a in enumerate(node.args[: 1 if _name(node) == "clamp" else 2]):
            if not isinstance(a, torch.fx.Node):
                constants[i] = a
            elif self.is_inside(a):
                operands.append(self.value(a))
            else:
                operands.append(self.operand(a, node))
        if not constants:
            # Values of two inputs, or of one.
            wrapped = (lambda a, b: function(a, b)) if len(operands) == 2 else (
                lambda a: function(a))  # fmt: skip
        else:
            [(_, c)] = constants.items()
            wrapped = lambda a: function(a, c)  # noqa: E731
        return graph.map(wrapped, *operands)

    def matmul(self, m):
        layer = self.layer
        source, indices = layer.rows(m)
        offsets = self.offsets(m)
        key = source, indices, offsets
        if key not in self.quantized:
            if self.is_inside(source):
                x = self.value(source)
            else:
                x = self.rows(source, "M" if indices is None else "N")
            idx = None if indices is None else self.indices(indices, source)
            # Scales of all rows of the same groups begin at the same tiles.
            starts = self.starts.get(offsets)
            q = _functions.grouped_block_quantize(
                x, offsets, self.format, recipe=self.recipe, row_indices=idx,
                scale_offsets=starts,
            )  # fmt: skip
            self.quantized[key] = q
            self.starts[offsets] = q.scale_offsets
        codes, scales = self.weight(m)
        factors = None
        if m in layer.scales:
            factors = self.inputs["factors", layer.scales[m]][0]
        self.graph._zeroes = m in layer.zeroed
        y = _functions.grouped_mm(
            self.quantized[key], codes, b_scales=scales,
            b_format=weight_format(self.format), row_scales=factors,
            out_dtype=_value(m).dtype,
        )  # fmt: skip
        self.graph._zeroes = False
        return y

    # The program -----------------------------------------------------------

    def replace(self, name, nodes, outputs):
        program = self.module.graph
        after = nodes[-1]
        arguments, weights, extra = [], [], []
        with program.inserting_before(after.next):
            for _, function, inputs in self.inputs.values():
                arguments.append(program.call_function(function, inputs))
            for base, transposed in self.weights:
                format = weight_format(self.format)
                if base.op == "get_attr":
                    w = operator.attrgetter(base.target)(self.module)
                    weights.append(_quantized(w, transposed, format))
                else:
                    weights.append(_Weights(transposed, format))
                    extra.append(base)
            self.module.add_submodule(
                name, GraphModule(self.graph, weights, len(self.inputs))
            )
            call = program.call_module(name, (*arguments, *extra))
            results = {}
            for i, n in enumerate(outputs):
                result = program.call_function(operator.getitem, (call, i))
                if len(_shape(n)) == 3:
                    shape = (_shape(n)[0], -1, _shape(n)[2])
                    result = program.call_function(torch.reshape, (result, shape))
                if _value(n).dtype != _type(self.values[n]):
                    result = program.call_method("to", (result, _value(n).dtype))
                results[n] = result
        for n, result in results.items():
            n.replace_all_uses_with(
                result, delete_user_cb=lambda user: user not in self.layer.inside
            )
        for n in reversed(nodes):
            program.erase_node(n)


def _type(tensor):
    return getattr(torch, _formats.BY_MLIR[tensor.dtype].torch)


def _convert(module, format, recipe):
    """Puts graphs of gq into a program, in place; returns how many."""
    # Asserts of export read tensors that are no more.
    for n in list(module.graph.nodes):
        if _name(n) == "_assert_tensor_metadata":
            module.graph.erase_node(n)
    layers = _layers(module)
    for i, layer in enumerate(layers):
        _Builder(module, layer, format, recipe).build(f"gq_{i}")
    module.graph.eliminate_dead_code()
    legalize_graph(module)
    module.graph.lint()
    module.recompile()
    return len(layers)


def _check_recipe(format, recipe):
    _check(format, recipe)
    if recipe == "te":
        raise invalid_argument("recipe: expected None or 'nvfuser', found 'te'")


def from_exported_program(
    program: torch.export.ExportedProgram,
    format: str = "nvfp4",
    recipe: str | None = None,
) -> torch.fx.GraphModule:
    """The module of an exported program, whose layers of experts are graphs of gq.

    A layer is what a program makes of torch's grouped matmul, or of bmm, with weights
    [G, N, K] or [G, K, N]: gathered rows, the matmul, element-wise ops, halves of
    columns, the next one, the weights of tokens, rows put back and added up. Each
    becomes one gq.Graph, `module.gq_0.graph` and so on, with weights that are quantized
    now; all other nodes stay.

        program = torch.export.export(layer, (x,))
        layer = gq.torch.from_exported_program(program, "nvfp4")
        print(layer.gq_0.graph)

    Args:
      program: of torch.export.export(), for inference.
      format: of weights and activations, one of gq.FORMATS.
      recipe: of nvfp4: None or "nvfuser".

    Raises:
      gq.Error: INVALID_ARGUMENT: there is no grouped matmul, or something about one
        that no graph of gq has; the message names the node and the line of the program
        that it is from.
    """
    _check_recipe(format, recipe)
    module = program.run_decompositions({}).module()
    if not _convert(module, format, recipe):
        for node in module.graph.nodes:
            if _name(node) in ("mm", "addmm", "bmm", "baddbmm", "matmul", "linear"):
                _refuse(node, "expected a grouped matmul or bmm of weights, found others")
        raise invalid_argument("program: expected a grouped matmul, found none")
    _drop_parameters(module)
    return module


def _drop_parameters(module):
    """Deletes those that the program does not read any more."""
    used = {n.target for n in module.graph.nodes if n.op == "get_attr"}
    for path, _ in [*module.named_parameters(), *module.named_buffers()]:
        parent, _, name = path.rpartition(".")
        owner = module.get_submodule(parent)
        if path not in used and not isinstance(owner, GraphModule):
            delattr(owner, name)


def backend(format: str = "nvfp4", recipe: str | None = None):
    """A backend of torch.compile that does what from_exported_program() does.

        layer = torch.compile(layer, backend=gq.torch.backend("nvfp4"))

    For inference, where no gradients are recorded. What is no layer of experts runs as
    it is. Weights are quantized at the first call, and again when they were written.

    Args, Raises: as from_exported_program(); a graph without a grouped matmul is none.
    """
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd

    _check_recipe(format, recipe)

    def compile(module, inputs):
        _convert(module, format, recipe)
        return make_boxed_func(module.forward)

    def refuse(module, inputs):
        raise invalid_argument("backend: expected no gradients, see torch.no_grad()")

    return aot_autograd(
        fw_compiler=refuse, bw_compiler=refuse, inference_compiler=compile
    )
