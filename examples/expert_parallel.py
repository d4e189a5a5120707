# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers of Llama 4 Maverick and DeepSeek-V3 whose experts are on several ranks.

    torchrun --nproc-per-node=4 examples/expert_parallel.py

NCCL with a GPU for each process, gloo on a CPU, where layers are --small and times say
nothing of a GPU's. Needs torch and gq. Each rank makes its own tokens and experts;
what it receives and its part of the result are compared with those of one process that
has all of both. The table has, for each layer: bytes that rank 0 sends to others, in
nvfp4 and in bf16, and milliseconds of the slowest rank, the median of some calls. Exits
with 1 if a byte that was received is wrong, or a result.
"""

import argparse
import contextlib
import dataclasses
import datetime
import os
import statistics
import sys
import time

import gq.distributed as gd
import gq.torch
import torch
import torch.distributed as dist

CUDA = torch.cuda.is_available()
RANK, SIZE = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
DEVICE = torch.device(f"cuda:{os.environ.get('LOCAL_RANK', 0)}" if CUDA else "cpu")


@dataclasses.dataclass(frozen=True)
class Layer:
    """hidden, intermediate: K of the two matmuls; each token has `chosen` experts, whose
    weights multiply what they read (Llama 4) or what they return."""

    hidden: int
    intermediate: int
    experts: int
    chosen: int
    weighs_inputs: bool = False

    def small(self):
        return dataclasses.replace(
            self, hidden=self.hidden // 16, intermediate=self.intermediate // 16,
            experts=self.experts // 8,
        )  # fmt: skip


LAYERS = {
    "Llama 4 Maverick": Layer(5120, 8192, 128, 1, True),
    "DeepSeek-V3": Layer(7168, 2048, 256, 8),
}


def say(*words):
    if RANK == 0:
        print(*words, flush=True)


def generator(*seeds):
    made = torch.Generator(DEVICE)
    made.manual_seed(sum(s * 1000003**i for i, s in enumerate(seeds)) % 2**63)
    return made


def weights(layer, which):
    """[E, 2 I, K] and [E, K, I] in bf16 of these experts, each with its own seed."""
    shapes = (2 * layer.intermediate, layer.hidden), (layer.hidden, layer.intermediate)
    made = [
        torch.empty(len(which), *s, dtype=torch.bfloat16, device=DEVICE) for s in shapes
    ]
    for i, expert in enumerate(which):
        for j, w in enumerate(made):
            w[i].normal_(0, w.shape[2] ** -0.5, generator=generator(1, expert, j))
    return made


def quantized(layer, which):
    return gq.torch.QuantizedExperts(
        *weights(layer, which), weighs_inputs=layer.weighs_inputs
    )


def tokens(layer, count, rank):
    """The tokens of a rank, the experts that a router chooses for them, and its weights.
    Some experts are preferred, as they are in models."""
    g = generator(2, rank)
    random = {"device": DEVICE, "generator": g}
    x = torch.randn(count, layer.hidden, **random).bfloat16()
    preference = torch.linspace(0, 1, layer.experts, device=DEVICE)
    scores = torch.rand(count, layer.experts, **random) + preference / 4
    scores, index = scores.topk(layer.chosen, 1)
    return x, index, scores.sigmoid()


def milliseconds(function, repeat):
    """Of the slowest rank, the median of the calls after the first."""
    times = []
    for _ in range(repeat + 1):
        if SIZE > 1:
            dist.barrier()
        if CUDA:
            torch.cuda.synchronize()
        start = time.perf_counter()
        function()
        if CUDA:
            torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - start))
    median = torch.tensor(statistics.median(times[1:]), device=DEVICE)
    if SIZE > 1:
        dist.all_reduce(median, dist.ReduceOp.MAX)
    return median.item()


def wrong_bytes(layer, routing, received, everyone):
    """How many bytes of codes and scales differ from those that one process makes of the
    rows of this rank's experts."""
    x, index, _ = everyone
    own = gd.local_experts(layer.experts)
    experts, order = index.reshape(-1).sort(stable=True)
    mine = order[(experts >= own.start) & (experts < own.stop)] // layer.chosen
    expected = gq.grouped_block_quantize(x, routing.offsets, row_indices=mine)
    wrong = 0
    for found, exact in zip(received.rows, expected):
        columns = layer.hidden // 16
        if found is received.rows.scales:
            found, exact = (
                gq.layout.untile_groups(s, routing.offsets, columns)
                for s in (found, exact)
            )
        wrong += (found.view(torch.uint8) != exact.view(torch.uint8)).sum().item()
    return wrong


def compare(layer, y, everyone):
    """Whether the result has the bytes of one process, and its relative error."""
    expected = torch.empty(SIZE, *y.shape, dtype=y.dtype, device=DEVICE)
    if RANK == 0:
        whole = quantized(layer, range(layer.experts))
        expected = whole(*everyone).reshape(expected.shape)
        del whole
    if SIZE > 1:
        dist.broadcast(expected, 0)
    exact = expected[RANK].double()
    error = ((y.double() - exact).norm() / exact.norm()).item()
    return torch.equal(y, expected[RANK]), error


def all_ranks(*values):
    """The largest of each value."""
    largest = torch.tensor(values, dtype=torch.float64, device=DEVICE)
    if SIZE > 1:
        dist.all_reduce(largest, dist.ReduceOp.MAX)
    return largest.tolist()


def run(name, layer, options):
    """A row of the table, and whether all is right."""
    say(f"{name}: experts of {SIZE} ranks")
    own = gd.local_experts(layer.experts)
    experts = quantized(layer, range(own.start, own.stop))
    parts = [tokens(layer, options.tokens, r) for r in range(SIZE)]
    x, index, w = parts[RANK]
    everyone = [torch.cat(of_ranks) for of_ranks in zip(*parts)]
    del parts

    routing = gd.route(index, layer.experts)
    received = gd.dispatch(x, routing, values=w)
    wrong = wrong_bytes(layer, routing, received, everyone)
    parallel = {n: gd.ExpertParallel(experts, chunks=n) for n in (1, options.chunks)}
    y = parallel[1](x, index, w)
    chunked = torch.equal(y, parallel[options.chunks](x, index, w))
    same, error = compare(layer, y, everyone)
    wrong, differs, error, unlike = all_ranks(wrong, not same, error, not chunked)
    say(
        f"  received: {wrong:.0f} wrong bytes; result: "
        + ("other bytes than" if differs else "the bytes of")
        + f" one process, relative error {error:.1e}; in {options.chunks} chunks: "
        + ("other bytes" if unlike else "the same bytes")
    )
    # On a GPU the kernel, and with it the order of sums, depends on how many rows.
    good = not wrong and (error < 1e-2 if CUDA else not (differs or unlike))

    rows = (index // (own.stop - own.start) != RANK).sum().item()
    k = layer.hidden
    row = [name, SIZE, options.tokens]
    row += [f"{rows * n / 1e6:.2f}" for n in (k * 9 // 16 + 4, 2 * k)]
    h = gd.dispatch_rows(x, routing)
    steps = {
        "sizes": lambda: gd.route(index, layer.experts),
        "dispatch": lambda: gd.dispatch(x, routing, values=w),
        "dispatch in bf16": lambda: gd.dispatch_rows(x, routing),
        "combine": lambda: gd.combine(h, routing),
        "layer": lambda: parallel[1](x, index, w),
        "layer in chunks": lambda: parallel[options.chunks](x, index, w),
    }
    for step, function in steps.items():
        with torch.no_grad():
            row.append(f"{milliseconds(function, options.repeat):.2f}")
        say(f"  {step}: {row[-1]} ms")
    return row, good


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layer", action="append", choices=LAYERS, help="of these two")
    parser.add_argument("--tokens", type=int, default=4096 if CUDA else 64, help="a rank")
    parser.add_argument("--chunks", type=int, default=4)
    parser.add_argument("--repeat", type=int, default=20 if CUDA else 3)
    parser.add_argument(
        "--small", action=argparse.BooleanOptionalAction, default=not CUDA,
        help="extents a sixteenth, experts an eighth; the default without a GPU",
    )  # fmt: skip
    return parser.parse_args()


@contextlib.contextmanager
def process_group():
    if SIZE > 1:
        if CUDA:
            torch.cuda.set_device(DEVICE)
        # A rank that fails ends the others after this time.
        limit = datetime.timedelta(minutes=2)
        dist.init_process_group("nccl" if CUDA else "gloo", timeout=limit)
    yield
    if SIZE > 1:
        dist.destroy_process_group()


def main():
    options, rows, good = parse(), [], True
    with process_group():
        for name in options.layer or LAYERS:
            layer = LAYERS[name].small() if options.small else LAYERS[name]
            row, is_good = run(name, layer, options)
            rows.append(row)
            good = good and is_good
    head = [
        "layer", "ranks", "tokens a rank", "MB nvfp4", "MB bf16", "sizes, ms", "dispatch",
        "in bf16", "combine", "layer", f"in {options.chunks} chunks",
    ]  # fmt: skip
    say("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        say("| " + " | ".join(map(str, row)) + " |")
    return not good


if __name__ == "__main__":
    sys.exit(main())
