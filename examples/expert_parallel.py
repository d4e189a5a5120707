# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers of Llama 4 Maverick and DeepSeek-V3 whose experts are on several ranks.

    torchrun --nproc-per-node=4 examples/expert_parallel.py

NCCL with a GPU for each process, gloo on a CPU, where layers are --small and times say
nothing of a GPU's. Needs torch and gq. Each rank makes its own tokens and experts;
what it receives and its part of the result are compared with those of one process that
has all of both. Exits with 1 if a byte that was received is wrong, or a result.

The table has two rows for each layer and number of tokens. "ragged": the host begins each call, and the time
is its clock's. "capacity": no row is dropped, each call is a CUDA graph (on a CPU it is
not), and the time is that of its replays by CUDA events. Both are milliseconds of the
slowest rank, the median of some turns that begin together:

    MB                 that rank 0 sends to others, in nvfp4 and in bf16
    route              sorting and the exchange of sizes; in none of the next five
    dispatch           quantization, exchange, codes and tiles of scales as a grouped
                       matmul reads them
    in bf16            the same exchange of rows of bf16: these, sorted by expert
    then quantized     what a dispatch returns, quantized where it arrives
    exchange           the collective alone, with the bytes of either
    matmuls, combine   the rest of the layer
    layer              all, with route; in chunks, so many times
    one process        QuantizedExperts, for one rank
"""

import argparse
import contextlib
import dataclasses
import datetime
import json
import os
import pathlib
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
    of_all = {"device": DEVICE, "generator": generator(3)}
    preference = 0.3 * torch.randn(layer.experts, **of_all)
    noise = torch.rand(count, layer.experts, **random).log().neg().log()
    scores, index = (preference - noise).topk(layer.chosen, 1)
    return x, index, scores.sigmoid()


def synchronize():
    if SIZE > 1:
        dist.barrier()
    if CUDA:
        torch.cuda.synchronize()


def slowest(times):
    """Of the slowest rank, the median."""
    return all_ranks(statistics.median(times))[0]


def milliseconds(function, repeat):
    """Of calls after the first, by the host's clock."""
    times = []
    for _ in range(repeat + 1):
        synchronize()
        start = time.perf_counter()
        function()
        if CUDA:
            torch.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - start))
    return slowest(times[1:])


def captured(function):
    """A CUDA graph of the function, and what it returns; on a CPU the function."""
    result = function()
    if not CUDA:
        return function, result
    synchronize()
    graph = torch.cuda.CUDAGraph()
    # NCCL has a thread of its own, which asks for events.
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        result = function()
    graph.replay()
    torch.cuda.synchronize()
    return graph.replay, result


def replayed(function, repeat):
    """Of replays that follow each other, by CUDA events."""
    if not CUDA:
        return milliseconds(function, repeat)

    def turn(replays):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        synchronize()
        start.record()
        for _ in range(replays):
            function()
        end.record()
        torch.cuda.synchronize()
        return start.elapsed_time(end) / replays

    # Some 10 ms, of all ranks as many.
    replays = max(1, min(20, int(10 / slowest([turn(1)]))))
    return slowest([turn(replays) for _ in range(repeat)])


def kernels(function, calls=5):
    """The kernels of a call: [name, how many, microseconds in all] of this rank. That of
    NCCL waits for other ranks."""
    if not CUDA:
        return []
    cuda = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=cuda) as profile:
        for _ in range(calls):
            function()
        torch.cuda.synchronize()
    return [
        [e.key[:100], e.count / calls, round(e.self_device_time_total / calls, 2)]
        for e in profile.key_averages()
    ]


def wrong_bytes(layer, routing, received, everyone):
    """How many bytes of codes and scales differ from those that one process makes of the
    rows of this rank's experts. What comes after these belongs to none."""
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
        found, exact = (t.view(torch.uint8) for t in (found[: len(exact)], exact))
        wrong += (found != exact).sum().item()
    return wrong


def of_one_process(layer, experts, everyone):
    """What one process that has all experts returns for the tokens of this rank."""
    x = everyone[0]
    result = torch.empty_like(x)
    if RANK == 0:
        whole = experts if SIZE == 1 else quantized(layer, range(layer.experts))
        result = whole(*everyone)
        del whole
    if SIZE > 1:
        dist.broadcast(result, 0)
    return result.chunk(SIZE)[RANK]


def all_ranks(*values):
    """The largest of each value."""
    largest = torch.tensor(values, dtype=torch.float64, device=DEVICE)
    if SIZE > 1:
        dist.all_reduce(largest, dist.ReduceOp.MAX)
    return largest.tolist()


def capacity(layer, index, chunks):
    """The smallest one with which nothing is dropped."""
    to = index // (layer.experts // SIZE)
    parts = [p.reshape(-1).bincount(minlength=SIZE) for p in to.tensor_split(chunks)]
    return int(all_ranks(torch.stack(parts).max().item())[0]) * chunks


def exchange(layer, index, routing, width):
    """The collective of a dispatch alone, of rows of this many bytes."""
    if routing.capacity is None:
        to = index.reshape(-1) // (layer.experts // SIZE)
        sent, received = to.bincount(minlength=SIZE), routing.counts.sum(1)
        sent, received = sent.tolist(), received.tolist()
    else:
        sent = received = [routing.capacity] * SIZE
    source, result = (
        torch.zeros(sum(rows), width, dtype=torch.uint8, device=DEVICE)
        for rows in (sent, received)
    )
    if SIZE == 1:
        return lambda: result.copy_(source)
    return lambda: dist.all_to_all_single(result, source, received, sent)


def steps(layer, experts, mine, widths, limit, parallel):
    """What is timed, by name, with this capacity or None."""
    x, index, w = mine
    routing = gd.route(index, layer.experts, capacity=limit)
    received, h = gd.dispatch(x, routing, values=w), gd.dispatch_rows(x, routing)
    scales = "up_row_scales" if layer.weighs_inputs else "down_row_scales"

    def then_quantized():
        return gq.grouped_block_quantize(gd.dispatch_rows(x, routing), routing.offsets)

    result = {
        "route": lambda: gd.route(index, layer.experts, capacity=limit),
        "dispatch": lambda: gd.dispatch(x, routing, values=w),
        "in bf16": lambda: gd.dispatch_rows(x, routing),
        "then quantized": then_quantized,
        "exchange": exchange(layer, index, routing, widths[0]),
        "exchange, bf16": exchange(layer, index, routing, widths[1]),
        "matmuls": lambda: experts.of_rows(
            received.rows, x.dtype, **{scales: received.values}
        ),
        "combine": lambda: gd.combine(h, routing),
    }
    for chunks, module in parallel.items():
        result[layer_in(chunks)] = lambda module=module: module(x, index, w)
    if SIZE == 1 and limit is None:
        result["one process"] = lambda: experts(x, index, w)
    return result


def layer_in(chunks):
    return "layer" if chunks == 1 else f"in {chunks} chunks"


def measure(name, layer, experts, count, options):
    """What was found of a layer with so many tokens a rank, as the file has it."""
    say(f"{name}: experts of {SIZE} ranks, {count} tokens each")
    every = (1, *options.chunks)
    parts = [tokens(layer, count, r) for r in range(SIZE)]
    x, index, w = parts[RANK]
    everyone = [torch.cat(of_ranks) for of_ranks in zip(*parts)]
    del parts

    limits = {n: capacity(layer, index, n) for n in every}
    parallel = {
        form: {n: gd.ExpertParallel(experts, capacity=of[n], chunks=n) for n in every}
        for form, of in (("ragged", dict.fromkeys(every)), ("capacity", limits))
    }
    wrong = 0
    for limit in None, limits[1]:
        routing = gd.route(index, layer.experts, capacity=limit)
        received = gd.dispatch(x, routing, values=w)
        wrong += wrong_bytes(layer, routing, received, everyone)
    expected = of_one_process(layer, experts, everyone)
    del everyone
    exact, error, differ = expected.double(), 0, 0
    for module in (m for of in parallel.values() for m in of.values()):
        y = module(x, index, w)
        module.check()
        wrong += module.dropped.item()
        differ += not torch.equal(y, expected)
        error = max(error, ((y.double() - exact).norm() / exact.norm()).item())
    wrong, differ, error = all_ranks(wrong, differ, error)
    # On a GPU the kernel of a matmul, and with it the order of sums, depends on how many
    # rows there are: then a few of the codes of the next one differ.
    good = not wrong and (error < 0.05 if CUDA else not differ)
    say(
        f"  received: {wrong:.0f} bytes wrong or rows dropped; result: {differ:.0f} of"
        f" {2 * len(every)} with other bytes than one process, relative error"
        f" {error:.1e}"
    )

    # A weight of 4 bytes travels with a row, and rows are of a multiple of 16.
    widths = -(-(layer.hidden * 9 // 16 + 4) // 16) * 16, 2 * layer.hidden
    row = {
        "layer": name, "ranks": SIZE, "tokens": count, "wrong": int(wrong),
        "differ": int(differ), "error": error, "torch": torch.__version__,
        "device": torch.cuda.get_device_name() if CUDA else "CPU",
    }  # fmt: skip
    others = (index // (layer.experts // SIZE) != RANK).sum().item()
    for form, limit in ("ragged", None), ("capacity", limits[1]):
        rows = others if limit is None else limit * (SIZE - 1)
        row[form] = {"MB": rows * widths[0] / 1e6, "MB, bf16": rows * widths[1] / 1e6}
        timed = steps(layer, experts, (x, index, w), widths, limit, parallel[form])
        for step, function in timed.items():
            with torch.no_grad():
                if limit is None:
                    found = milliseconds(function, options.repeat)
                else:
                    function, result = captured(function)
                    found = replayed(function, options.repeat)
                    if step == "layer":
                        good &= torch.equal(result, parallel[form][1](x, index, w))
                    if options.kernels and step in ("dispatch", "in bf16", "layer"):
                        row[f"kernels of {step}"] = kernels(function)
                    # A graph ends before the process group does.
                    del function, result
            row[form][step] = found
            say(f"  {form}, {step}: {found:.3f} ms")
    row["good"] = not all_ranks(not good)[0]
    return row


def table(rows):
    """Markdown: two lines for each layer and number of tokens."""
    forms = "ragged", "capacity"
    columns = dict.fromkeys(c for row in rows for form in forms for c in row[form])
    lines = [["layer", "ranks", "tokens a rank", "form", *columns]]
    lines.append(["---"] * len(lines[0]))
    for row in rows:
        for form in forms:
            numbers = [row[form].get(c) for c in columns]
            numbers = ["" if n is None else f"{n:.3f}" for n in numbers]
            lines.append([row["layer"], row["ranks"], row["tokens"], form, *numbers])
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layer", action="append", choices=LAYERS, help="of these two")
    parser.add_argument(
        "--tokens", type=int, nargs="+", default=[4096 if CUDA else 64], help="a rank"
    )
    parser.add_argument("--chunks", type=int, nargs="+", default=[4])
    parser.add_argument("--repeat", type=int, default=20 if CUDA else 3)
    parser.add_argument(
        "--json", type=pathlib.Path, help="a file for all that is found"
    )
    parser.add_argument(
        "--kernels", action="store_true", help="also those of graphs, in the file"
    )
    parser.add_argument(
        "--show",
        type=pathlib.Path,
        nargs="+",
        help="the table of such files; runs nothing",
    )
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
    options, rows = parse(), []
    if options.show:
        for file in options.show:
            rows += json.loads(file.read_text())
        say(table(rows))
        return 0
    with process_group():
        for name in options.layer or LAYERS:
            layer = LAYERS[name].small() if options.small else LAYERS[name]
            own = gd.local_experts(layer.experts)
            experts = quantized(layer, range(own.start, own.stop))
            for count in options.tokens:
                rows.append(measure(name, layer, experts, count, options))
                # Each time, so that a run that is cut short keeps what it found.
                if options.json and RANK == 0:
                    options.json.write_text(json.dumps(rows, indent=1) + "\n")
            del experts
    say("\n" + table(rows))
    return not all(row["good"] for row in rows)


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    # A thread of gloo's lets go of the last collective when it likes, which ends the
    # process by SIGABRT while Python shuts down (torch 2.15).
    os._exit(status)
