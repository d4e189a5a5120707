# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Expert parallelism: experts on the ranks of a process group, rows sent to them.

    torch.distributed.init_process_group("nccl", timeout=datetime.timedelta(minutes=2))
    mine = gq.distributed.local_experts(128)               # a slice
    experts = gq.torch.QuantizedExperts(up[mine], down[mine])
    layer = gq.distributed.ExpertParallel(experts)
    y = layer(x, index, weights)                           # as QuantizedExperts, of all

Rank r has the experts r * E/R up to (r + 1) * E/R. A row is quantized by the rank that
has the token, and travels as codes and linear scales; where it arrives, the scales
are laid out for the grouped matmul. The bytes are those of one process that has all
tokens, in the order of ranks, and all experts.

The parts, for layers of your own::

    routing = route(index, num_experts)          # sizes are exchanged
    received = dispatch(x, routing, "nvfp4")     # for gq.torch.grouped_mm
    x = dispatch_rows(x, routing, "nvfp4")       # or as floats, with a gradient
    y = combine(rows, routing, weights)          # back at the tokens, with a gradient

All are collective: every rank of the group calls them in the same order, with the same
number of experts, of choices, of columns, format and capacity (agree() checks such
facts), each with any number of tokens. `group` None is the default group, and one rank
if torch.distributed was not initialized.

Two forms. Ragged, the usual one: as many rows are exchanged as there are, and the host
waits for their number once. With a `capacity`, a rank sends up to so many rows to each
rank: no shape depends on data and nothing waits, so that a call may be captured in a
CUDA graph (torch.cuda.graph(capture_error_mode="thread_local"), since NCCL has a thread
of its own); rows for which there is no place are dropped and counted.

Failures. Sizes that a peer sends are checked before anything is done with them: gq.Error
INVALID_OFFSETS names the rank. If a rank fails, the others raise ExchangeError when they
next exchange something with it: at once if its connections closed (gloo), after the
timeout of the process group at the latest (init_process_group(timeout=), 10 minutes with
NCCL and 30 with gloo if not given). With NCCL only if TORCH_NCCL_BLOCKING_WAIT=1 is in
the environment, which costs overlap; otherwise torch ends the process after that time.
torchrun ends all processes when one has failed.
"""

from __future__ import annotations

import dataclasses
import zlib
from typing import Any, NamedTuple

import torch
import torch.distributed as dist

from . import _arrays, _formats, _functions
from ._experts import QuantizedExperts, quantize_rows, sum_rows
from ._library import Error, invalid_argument
from .layout import up

__all__ = [
    "ExchangeError",
    "ExpertParallel",
    "Received",
    "Routing",
    "agree",
    "combine",
    "dispatch",
    "dispatch_rows",
    "local_experts",
    "route",
]

#: What offsets of 32 bits hold.
_MAX_ROWS = 2**31 - 1


class ExchangeError(RuntimeError):
    """A collective of the process group failed, or did not end in time."""


# ---------------------------------------------------------------------------
# The process group
# ---------------------------------------------------------------------------


def _size(group):
    if not (dist.is_available() and dist.is_initialized()):
        return 1
    size = dist.get_world_size(group)
    if size < 1:
        raise invalid_argument("group: expected one that this process is in")
    return size


def _rank(group):
    return dist.get_rank(group) if _size(group) > 1 else 0


def _name(peer, group):
    """What messages call a rank of the group: by its number among all processes."""
    if group is not None and _size(group) > 1:
        peer = dist.get_global_rank(group, peer)
    return f"rank {peer}"


class _Pending:
    """A collective that was begun; keeps alive what it reads."""

    def __init__(self, result, sent, group, what, begin):
        self._result, self._sent, self._group, self._what = result, sent, group, what
        self._work = self._guarded(begin)

    def _guarded(self, function):
        try:
            return function()
        except RuntimeError as error:
            where = f"{_name(_rank(self._group), self._group)} of {_size(self._group)}"
            raise ExchangeError(
                f"{where}: the exchange of {self._what} failed; another rank ended or"
                f" did not come to it in time. {str(error).splitlines()[0]}"
            ) from error

    def wait(self):
        """What was received; on a GPU the current stream waits, not the host."""
        if self._work is not None:
            self._guarded(self._work.wait)
            self._work = self._sent = None
        return self._result


def _all_to_all(result, sent, group, what, result_rows=None, sent_rows=None):
    """Begins to send rows to each rank; None is as many to each."""

    def begin():
        if _size(group) > 1:
            return dist.all_to_all_single(
                result, sent, result_rows, sent_rows, group=group, async_op=True
            )
        result.copy_(sent)
        return None

    return _Pending(result, sent, group, what, begin)


def agree(group: Any = None, device: Any = None, **facts: int | str | None) -> None:
    """Compares facts, such as extents and formats, between the ranks. Collective.

    Args:
      group: a process group; None is the default one.
      device: where the group's tensors are; None is the CPU, with NCCL the current
        CUDA device.
      facts: up to 15 numbers, words or None by name.

    Raises:
      gq.Error: INVALID_ARGUMENT, on every rank: names the first fact and the first
        rank that differ from this one's.
      ExchangeError: another rank did not come.
    """
    names = sorted(facts)
    if len(names) > 15:
        raise invalid_argument(f"facts: expected up to 15, found {len(names)}")
    if _size(group) == 1:
        return
    codes = [zlib.crc32(",".join(names).encode())]
    for name in names:
        value = facts[name]
        text = repr(value).encode()
        codes.append(value if isinstance(value, int) else zlib.crc32(text))
    if device is None:
        device = "cuda" if dist.get_backend(group) == "nccl" else "cpu"
    mine = torch.tensor(codes + [0] * (16 - len(codes)), device=device)
    every = [torch.empty_like(mine) for _ in range(_size(group))]
    begin = lambda: dist.all_gather(every, mine, group=group, async_op=True)  # noqa: E731
    _Pending(every, mine, group, "facts", begin).wait()
    for peer, theirs in enumerate(t.tolist() for t in every):
        for name, ours, other in zip(["facts", *names], codes, theirs):
            if ours != other:
                raise invalid_argument(
                    f"{name}: expected the same on all ranks, found"
                    f" {facts.get(name, names)!r} here and another on"
                    f" {_name(peer, group)}"
                )


def local_experts(num_experts: int, group: Any = None) -> slice:
    """The experts of this rank, among all.

    Args:
      num_experts: of all ranks, a multiple of their number.
      group: a process group; None is the default one.

    Returns:
      A slice of num_experts / R.

    Raises:
      gq.Error: INVALID_ARGUMENT.
    """
    size, rank = _size(group), _rank(group)
    if num_experts < 1 or num_experts % size:
        raise invalid_argument(
            f"num_experts: expected a multiple of the {size} ranks, found {num_experts}"
        )
    each = num_experts // size
    return slice(rank * each, (rank + 1) * each)


# ---------------------------------------------------------------------------
# Routing
# ---------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Routing:
    """Which rows go where, for T tokens with J choices each; made by route().

    S places are sent, N are received: those of the ragged form are all rows, with a
    capacity C both are R * C, and those without a row are zero and in no group.

    Attributes:
      group, num_experts, capacity: as they were given to route().
      offsets: [E/R + 1] int32: the received rows of each expert of this rank, sorted
        by rank and then by place in `index`.
      scale_offsets: [E/R] int32.
      counts: [R, E/R] int64: how many come from each rank for each expert.
      dropped: [] int64: how many choices of this rank's tokens found no place.
      refused: [R] bool: the ranks whose sizes were wrong (check()).
    """

    group: Any
    num_experts: int
    capacity: int | None
    offsets: torch.Tensor
    scale_offsets: torch.Tensor
    counts: torch.Tensor
    dropped: torch.Tensor
    refused: torch.Tensor
    # [S]: the choice of each place, T * J for none, and its token, T for none; and
    # [T, J]: the place of each choice, S for none.
    _choices: torch.Tensor
    _tokens: torch.Tensor
    _places: torch.Tensor
    # [2] int32: the offsets of all tokens as one group.
    _token_offsets: torch.Tensor
    # [N]: the place received of each row; and its inverse.
    _order: torch.Tensor
    _inverse: torch.Tensor
    # How many go to and come from each rank; None with a capacity.
    _sent: list[int] | None
    _received: list[int] | None

    def check(self) -> None:
        """Raises what was wrong with the sizes of peers. Waits for the device.

        Only a capacity on a GPU needs it: elsewhere route() has raised it.

        Raises:
          gq.Error: INVALID_OFFSETS, names the ranks. Of what they sent, at most
            `capacity` rows were used.
        """
        _check_refused(self.refused, self.capacity, self.group)


def _check_refused(refused, capacity, group):
    found = [_name(i, group) for i, bad in enumerate(refused.tolist()) if bad]
    if found:
        raise Error(
            "INVALID_OFFSETS",
            f"{', '.join(found)}: expected sizes of 0 to {capacity} rows in all",
        )


def _check_sizes(counts, max_rows, group):
    """Refuses sizes [[rows of an expert] of a rank] that a buffer cannot have."""
    left = max_rows
    for peer, rows in enumerate(counts):
        for expert, n in enumerate(rows):
            if not 0 <= n <= left:
                raise Error(
                    "INVALID_OFFSETS",
                    f"{_name(peer, group)}: expected 0 to {left} rows (max_rows, less"
                    f" those before) for expert {expert} of this rank, found {n}",
                )
            left -= n


def _arange(n, like):
    return torch.arange(n, device=like.device)


def _sorted_choices(index, num_experts, ranks, capacity):
    """Experts and numbers of the choices sorted by expert, those with no place last;
    [E+1] where experts begin; how many were dropped."""
    experts = index.reshape(-1).long()
    known = (experts >= 0) & (experts < num_experts)
    experts = torch.where(known, experts, num_experts)
    dropped = known.new_zeros((), dtype=torch.int64)
    if capacity is not None:
        # The last tokens find no place, whatever their experts.
        to, order = torch.sort(experts // (num_experts // ranks), stable=True)
        first = torch.searchsorted(to, _arange(ranks + 1, to))
        late = torch.empty_like(known)
        late[order] = _arange(to.shape[0], to) - first[to] >= capacity
        late &= known
        dropped = late.sum()
        experts = torch.where(late, num_experts, experts)
    experts, choices = torch.sort(experts, stable=True)
    bounds = torch.searchsorted(experts, _arange(num_experts + 1, experts))
    return experts, choices, bounds, dropped


def _inverted(order):
    inverse = torch.empty_like(order)
    inverse[order] = _arange(order.shape[0], order)
    return inverse


def _limited(received, capacity):
    """Sizes [R, E/R] that fit into the capacity, and which ranks' did not."""
    limited = received.clamp(0, capacity)
    refused = (limited != received).any(1) | (limited.sum(1) > capacity)
    ends = limited.cumsum(1).clamp(max=capacity)
    return ends.diff(dim=1, prepend=ends.new_zeros(ends.shape[0], 1)), refused


def _arrival(received, capacity, rows):
    """[N] the place of each row that comes, sorted by expert, from sizes [R, E/R]."""
    if capacity is None:
        ends, at = received.reshape(1, -1).cumsum(1), _arange(rows, received)[None]
    else:
        ends, at = received.cumsum(1), _arange(capacity, received)
        at = at.expand(received.shape[0], -1).contiguous()
    part = torch.searchsorted(ends, at, right=True).reshape(-1)
    if capacity is None:
        part = part % received.shape[1]
    return torch.sort(part, stable=True)[1]


def _routing(found, index, num_experts, group, capacity, received, sizes):
    """The Routing of sorted choices, of the sizes received and of both on the host."""
    experts, choices, bounds, dropped = found
    ranks, each = received.shape
    refused = torch.zeros(ranks, dtype=torch.bool, device=index.device)
    n = _arange(choices.shape[0], choices)
    if capacity is None:
        sent, arriving = ([sum(rows) for rows in of] for of in sizes)
        places, rows = sum(sent), sum(arriving)
        slots = n.clamp(max=places)
        of_places = choices[:places]
    else:
        sent = arriving = None
        places = rows = ranks * capacity
        received, refused = _limited(received, capacity)
        to = experts // each
        slots = to * capacity + n - bounds[to * each]
        slots = torch.where(experts < num_experts, slots, places)
        of_places = choices.new_full((places + 1,), choices.shape[0])
        of_places[slots] = choices
        of_places = of_places[:places]
    place_of = torch.empty_like(choices)
    place_of[choices] = slots
    chosen = index.shape[1]
    of_tokens = of_places if chosen == 1 else of_places // chosen
    order = _arrival(received, capacity, rows)
    offsets, scale_offsets = _functions.group_offsets(received.sum(0))
    result = Routing(
        group, num_experts, capacity, offsets, scale_offsets, received, dropped, refused,
        of_places, of_tokens, place_of.reshape(index.shape),
        _functions._uniform(index, 1, index.shape[0]), order, _inverted(order), sent,
        arriving,
    )  # fmt: skip
    if refused.device.type == "cpu":
        result.check()
    return result


def _routes(indices, num_experts, group, capacity, max_rows):
    """The Routing of each part of the tokens, whose sizes are exchanged at once."""
    local_experts(num_experts, group)
    ranks = _size(group)
    for name, value, most in (
        ("capacity", capacity, _MAX_ROWS // ranks),
        ("max_rows", max_rows, _MAX_ROWS),
    ):
        if value is not None and not 0 < value <= most:
            raise invalid_argument(f"{name}: expected 1 to {most}, found {value}")
    max_rows = _MAX_ROWS if max_rows is None else max_rows
    found = [_sorted_choices(i, num_experts, ranks, capacity) for i in indices]
    sent = torch.stack(
        [bounds.diff().reshape(ranks, -1) for _, _, bounds, _ in found], 1
    )
    received = _all_to_all(torch.empty_like(sent), sent, group, "sizes").wait()
    parts = range(len(indices))
    sizes = [None for _ in parts]
    if capacity is None:
        host = torch.stack([sent, received]).cpu()
        sizes = [host[:, :, i].tolist() for i in parts]
        for _, of_peers in sizes:
            _check_sizes(of_peers, max_rows, group)
    return [
        _routing(
            found[i], indices[i], num_experts, group, capacity, received[:, i], sizes[i]
        )
        for i in parts
    ]  # fmt: skip


def route(
    index: torch.Tensor,
    num_experts: int,
    group: Any = None,
    *,
    capacity: int | None = None,
    max_rows: int | None = None,
) -> Routing:
    """Exchanges how many rows go where. Collective.

    Args:
      index: [T, J] int64 or int32: the experts of each token, J at least 1. One that
        there is not gets nothing.
      num_experts: E, of all ranks, a multiple of their number.
      group: a process group; None is the default one.
      capacity: None, or the most rows that a rank sends to each rank; those of the last
        tokens are dropped.
      max_rows: without a capacity, the most rows that this rank takes; None is what
        offsets of 32 bits hold. A peer that says it sends more is an error.

    Returns:
      A Routing.

    Raises:
      gq.Error: INVALID_ARGUMENT; INVALID_OFFSETS for sizes of a peer, which it names.
      ExchangeError: a peer did not come.
    """
    if index.dim() != 2 or index.shape[1] < 1:
        raise invalid_argument(
            f"index: expected [T, J] with J at least 1, found {list(index.shape)}"
        )
    return _routes([index], num_experts, group, capacity, max_rows)[0]


# ---------------------------------------------------------------------------
# What travels
# ---------------------------------------------------------------------------


def _words(t, begin, end):
    """Columns of bytes [M, W] in the widest integers that they are made of."""
    for dtype in torch.int64, torch.int32, torch.int16:
        size = dtype.itemsize
        if begin % size == end % size == t.shape[1] % size == 0:
            return t.view(dtype)[:, begin // size : end // size]
    return t[:, begin:end]


def _bytes(t):
    """[M, K] as bytes, in the same memory if that is contiguous."""
    return t.contiguous().view(torch.uint8)


class _Wire:
    """A row as bytes: parts one after the other, each aligned to its elements.

    Args:
      parts: the (dtype, columns) of each.
      align: of its width. With 16, gathers copy words of 8 bytes, and what goes to a
        rank begins where NCCL copies fast.
    """

    def __init__(self, parts, align=1):
        self._parts, self._spans, end = parts, [], 0
        for dtype, columns in parts:
            begin = up(end, dtype.itemsize)
            end = begin + columns * dtype.itemsize
            self._spans.append((begin, end))
        self.width = up(end, max(align, *(dtype.itemsize for dtype, _ in parts)))

    def new(self, part, rows, like):
        """[rows, columns] for a part, where `like` is."""
        dtype, columns = self._parts[part]
        return torch.empty(rows, columns, dtype=dtype, device=like.device)

    def put(self, rows, part, values, order):
        """Writes a part, of all rows of bytes: the rows of this order of values."""
        span = self._spans[part]
        words = _words(rows, *span)
        source = _words(_bytes(values), 0, span[1] - span[0])
        if source.dtype != words.dtype:
            words, source = rows[:, slice(*span)], _bytes(values)
        torch.index_select(source, 0, order, out=words)

    def get(self, rows, part, order):
        """A part of the rows of this order, [M, columns]."""
        dtype, columns = self._parts[part]
        found = _words(rows, *self._spans[part]).index_select(0, order)
        return found.view(torch.uint8).view(dtype).reshape(order.shape[0], columns)


def _plain_wire(x):
    return _Wire([(x.dtype, x.shape[1])])


def _quantized_wire(f, k, recipe, valued):
    """That of codes, scales, with "te" the amax of the row, and a value."""
    parts = [
        (_arrays.Torch(torch).dtype(f.data), f.stored(k)),
        (_arrays.Torch(torch).dtype(f.scale), k // f.block_columns),
    ]
    return _Wire(parts + [(torch.float32, 1)] * ((recipe == "te") + valued), 16)


def _padded(rows, routing):
    """Rows, and with a capacity one of zeros, of the places without a choice."""
    if routing.capacity is None:
        return rows
    return torch.cat([rows, rows.new_zeros(1, rows.shape[1])])


def _begin_dispatch(x, routing, format, recipe=None, values=None):
    """Begins to send the tokens x; what is returned waits for [N, W] bytes."""
    tokens = routing._places.shape[0]
    if x.dim() != 2 or x.shape[0] != tokens:
        raise invalid_argument(f"x: expected [{tokens}, K], found {list(x.shape)}")
    if format is None:
        wire, parts = _plain_wire(x), [_padded(x, routing)]
    else:
        f = _formats.find(format)
        wire = _quantized_wire(f, x.shape[1], recipe, values is not None)
        # With the row of places without a choice.
        rows = tokens + (routing.capacity is not None)
        parts = [wire.new(i, rows, x) for i in range(2)]
        _, amax = quantize_rows(
            x.contiguous(), routing._token_offsets, format, recipe, "linear",
            out=[part[:tokens] for part in parts],
        )  # fmt: skip
        for part in parts:
            part.view(torch.uint8)[tokens:].zero_()
        parts += [] if amax is None else [_padded(amax[:, None], routing)]
    sent = torch.empty(
        routing._tokens.shape[0], wire.width, dtype=torch.uint8, device=x.device
    )
    for part, rows in enumerate(parts):
        wire.put(sent, part, rows, routing._tokens)
    if values is not None:
        rows = _padded(values.float().reshape(-1, 1), routing)
        wire.put(sent, len(parts), rows, routing._choices)
    return wire, _begin(sent, routing)


def _begin(sent, routing):
    rows = routing._order.shape[0]
    result = sent.new_empty(rows, sent.shape[1])
    return _all_to_all(
        result, sent, routing.group, "rows", routing._received, routing._sent
    )


def _begin_return(rows, routing):
    """Begins to send rows back to where they are from; what is returned waits for
    [S + 1, K], of which the last row, of no place, is zero."""
    if rows.dim() != 2 or rows.shape[0] != routing._order.shape[0]:
        raise invalid_argument(
            f"rows: expected [{routing._order.shape[0]}, K], found {list(rows.shape)}"
        )
    wire, places = _plain_wire(rows), routing._choices.shape[0]
    sent = wire.get(_bytes(rows), 0, routing._inverse)
    result = rows.new_empty(places + 1, rows.shape[1])
    result[places:].zero_()
    pending = _all_to_all(
        _bytes(result)[:places], _bytes(sent), routing.group, "results",
        routing._sent, routing._received,
    )  # fmt: skip

    def end():
        pending.wait()
        return result

    return end


def _summed(rows, routing, weights=None):
    """The sum of the rows of each token, of which the last one is zero: in float32, in
    one kernel, without weights that of QuantizedExperts. With padding_idx torch rounds
    ties in another way on the CPU."""
    if weights is None:
        return sum_rows(rows, routing._places)
    return torch.nn.functional.embedding_bag(
        routing._places, rows, mode="sum", per_sample_weights=weights
    )


# ---------------------------------------------------------------------------
# Exchanges
# ---------------------------------------------------------------------------


class Received(NamedTuple):
    """Rows that came to their experts, sorted by these.

    Attributes:
      rows: gq.Quantized with data [N, K], scales as grouped_mm() takes them, offsets
        and scale_offsets; rows after the last group belong to none.
      row_amax: [N] float32 of the recipe "te", or None.
      values: [N] float32, those that travelled with the rows, or None.
    """

    rows: _functions.Quantized
    row_amax: torch.Tensor | None
    values: torch.Tensor | None


def _received(rows, wire, routing, format, k, recipe, valued):
    f = _formats.find(format)
    data, scales = (wire.get(rows, part, routing._order) for part in range(2))
    if f.layout == "tile128x4":
        scales = _functions.preprocess_grouped_matmul_sf(
            scales, routing.offsets, routing.scale_offsets, format
        )
    q = _functions._quantized(("data", "scales"), format, k)((data, scales))
    q.offsets = routing.offsets
    if f.layout == "tile128x4":
        q.scale_offsets = routing.scale_offsets
    parts = iter(range(2, 4))
    amax = wire.get(rows, next(parts), routing._order)[:, 0] if recipe == "te" else None
    values = wire.get(rows, next(parts), routing._order)[:, 0] if valued else None
    return Received(q, amax, values)


@torch.no_grad()
def dispatch(
    x: torch.Tensor,
    routing: Routing,
    format: str = "nvfp4",
    *,
    recipe: str | None = None,
    values: torch.Tensor | None = None,
) -> Received:
    """Quantizes tokens and sends them to their experts. Collective.

    Args:
      x: [T, K] float32, bfloat16 or float16, K a multiple of the format's block.
      routing: of route(), of these tokens.
      format: one of gq.FORMATS whose blocks have one row.
      recipe: of nvfp4: None, or "te" with an outer scale for each token.
      values: [T, J]: a number that travels with each row, such as its weight.

    Returns:
      A Received.

    Raises:
      gq.Error: INVALID_ARGUMENT, the message names the argument.
      ExchangeError: a peer did not come.
    """
    _check_format(format)
    if values is not None and values.shape != routing._places.shape:
        raise invalid_argument(
            f"values: expected {list(routing._places.shape)}, found {list(values.shape)}"
        )
    wire, pending = _begin_dispatch(x, routing, format, recipe, values)
    return _received(
        pending.wait(), wire, routing, format, x.shape[1], recipe, values is not None
    )


def _check_format(format):
    if _formats.find(format).block_rows > 1:
        raise invalid_argument(
            f"format: expected one whose blocks have one row, found {format!r}"
        )


class _DispatchRows(torch.autograd.Function):
    @staticmethod
    def forward(context, x, routing, format):
        context.routing = routing
        wire, pending = _begin_dispatch(x, routing, format)
        rows, order = pending.wait(), routing._order
        if format is None:
            return wire.get(rows, 0, order)
        data, scales = (wire.get(rows, part, order) for part in range(2))
        return _functions.block_dequantize(data, scales, format, out_dtype=x.dtype)

    @staticmethod
    def backward(context, gradient):
        routing = context.routing
        rows = _begin_return(gradient.contiguous(), routing)()
        return _summed(rows, routing), None, None


def dispatch_rows(
    x: torch.Tensor, routing: Routing, format: str | None = None
) -> torch.Tensor:
    """Sends tokens to their experts, with a gradient. Collective, as is its gradient.

    Quantized on the way if there is a format, which the gradient does not see
    (straight-through): it comes back in the type of x and is summed up at the token.

    Args:
      x: [T, K] float32, bfloat16 or float16.
      routing: of route(), of these tokens.
      format: None, or as of dispatch().

    Returns:
      [N, K] of the type of x, of which routing.offsets are the groups.

    Raises: as dispatch().
    """
    if format is not None:
        _check_format(format)
    return _DispatchRows.apply(x, routing, format)


class _Combine(torch.autograd.Function):
    @staticmethod
    def forward(context, rows, weights, routing):
        back = _begin_return(rows, routing)()
        context.routing = routing
        if weights is not None:
            context.dtype = weights.dtype
            weights = torch.where(
                routing._places < routing._choices.shape[0], weights.to(rows.dtype), 0
            )
        context.save_for_backward(
            back if context.needs_input_grad[1] else None, weights
        )
        return _summed(back, routing, weights)

    @staticmethod
    def backward(context, gradient):
        routing, (back, weights) = context.routing, context.saved_tensors
        tokens, chosen = routing._places.shape
        of_rows = of_weights = None
        if context.needs_input_grad[1]:
            dots = [
                (back[routing._places[:, j]].float() * gradient.float()).sum(1)
                for j in range(chosen)
            ]
            of_weights = torch.stack(dots, 1).to(context.dtype)
        if context.needs_input_grad[0]:
            # The row after the last token, and the weight after the last choice.
            pad = torch.nn.functional.pad
            rows = pad(gradient, (0, 0, 0, 1))[routing._tokens]
            if weights is not None:
                rows = (
                    rows * pad(weights.reshape(-1), (0, 1))[routing._choices][:, None]
                )
            wire = _plain_wire(rows)
            received = _begin(_bytes(rows), routing).wait()
            of_rows = wire.get(received, 0, routing._order)
        return of_rows, of_weights, None


def combine(
    rows: torch.Tensor, routing: Routing, weights: torch.Tensor | None = None
) -> torch.Tensor:
    """Sends rows back to their tokens and adds them up. Collective, as is its gradient.

    y[t] = sum_j weights[t, j] * row of choice j, in float32, rounded once. Choices that
    were dropped or have no expert add nothing.

    Args:
      rows: [N, K] float32, bfloat16 or float16, as dispatch_rows() returns them.
      routing: of route().
      weights: [T, J] of floats, rounded to the type of rows; None is 1.

    Returns:
      [T, K] of the type of rows.

    Raises: as dispatch().
    """
    if weights is not None and weights.shape != routing._places.shape:
        raise invalid_argument(
            f"weights: expected {list(routing._places.shape)}, found"
            f" {list(weights.shape)}"
        )
    return _Combine.apply(rows, weights, routing)


# ---------------------------------------------------------------------------
# The layer
# ---------------------------------------------------------------------------


class ExpertParallel(torch.nn.Module):
    """QuantizedExperts whose experts are on several ranks. Collective, for inference.

    forward() takes the tokens of this rank and returns the bytes that QuantizedExperts
    of all experts would for them. Without a capacity the host waits once in it.

    Args:
      experts: those of this rank, as many on each; see local_experts().
      group: a process group; None is the default one.
      capacity: None, or the most rows that a rank sends to each rank in a call.
      max_rows: without a capacity, the most rows that this rank takes in a call.
      chunks: so many parts of the tokens follow each other, so that rows of one travel
        (on the stream of NCCL) while another is multiplied. The bytes are the same;
        each part has its share of the capacity, rounded up.

    Attributes:
      dropped: [] int64: how many choices found no place in the last call.
      refused: [R] bool: the ranks whose sizes were wrong in the last call.

    Raises:
      gq.Error: INVALID_ARGUMENT, also if the ranks' layers differ.
      ExchangeError: a peer did not come.
    """

    def __init__(
        self,
        experts: QuantizedExperts,
        group: Any = None,
        *,
        capacity: int | None = None,
        max_rows: int | None = None,
        chunks: int = 1,
    ):
        super().__init__()
        if chunks < 1:
            raise invalid_argument(f"chunks: expected at least 1, found {chunks}")
        self.experts, self.group = experts, group
        self.num_experts = experts.num_experts * _size(group)
        self.capacity, self.max_rows, self.chunks = capacity, max_rows, chunks
        self.dropped = self.refused = None
        agree(
            group, None, format=experts.format, recipe=experts.recipe, chunks=chunks,
            capacity=capacity, num_experts=self.num_experts, columns=experts.down.shape[1],
            weighs_inputs=experts.weighs_inputs,
        )  # fmt: skip

    def check(self) -> None:
        """Raises what was wrong with sizes in the last call; see Routing.check()."""
        if self.refused is not None:
            _check_refused(self.refused, self._share(), self.group)

    def _share(self):
        return self.capacity and -(-self.capacity // self.chunks)

    @torch.no_grad()
    def forward(
        self,
        hidden_states: torch.Tensor,
        top_k_index: torch.Tensor,
        top_k_weights: torch.Tensor,
    ) -> torch.Tensor:
        """Runs the experts that a router chose; see QuantizedExperts.forward()."""
        experts = self.experts
        parts = [
            list(t.tensor_split(self.chunks))
            for t in (hidden_states, top_k_index, top_k_weights)
        ]
        routings = _routes(
            parts[1], self.num_experts, self.group, self._share(), self.max_rows
        )
        self.dropped = torch.stack([r.dropped for r in routings]).sum()
        self.refused = torch.stack([r.refused for r in routings]).any(0)

        def begin(i):
            return _begin_dispatch(
                parts[0][i], routings[i], experts.format, experts.recipe, parts[2][i]
            )

        k, coming, going = hidden_states.shape[1], begin(0), []
        for i, routing in enumerate(routings):
            wire, pending = coming
            if i + 1 < self.chunks:
                coming = begin(i + 1)
            received = _received(
                pending.wait(), wire, routing, experts.format, k, experts.recipe, True
            )
            scales = "up_row_scales" if experts.weighs_inputs else "down_row_scales"
            rows = experts.of_rows(
                received.rows, hidden_states.dtype, row_amax=received.row_amax,
                **{scales: received.values},
            )  # fmt: skip
            going.append(_begin_return(rows, routing))
        return torch.cat([_summed(end(), r) for end, r in zip(going, routings)])
