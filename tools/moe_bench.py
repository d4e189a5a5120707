#!/usr/bin/env python3
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A whole layer of experts in NVFP4, fused and of separate ops, beside bf16 of PyTorch.

moe_bench.py [--layer NAME]... [--tokens N]... [--json FILE] [--svg FILE] [--table FILE]
moe_bench.py --from FILE.json [--svg FILE] [--table FILE]

Needs torch, gq and a CUDA device. Without one it runs tiny layers, checks the results
and times nothing. The weights of llama4 are 32 GB in bf16 and 9 GB in NVFP4.

Each variant gets tokens in bf16 with experts and weights from a router, and returns the
layer's result; sorting, gathering, the activation, unsorting and weighing are part of it:

  fused     gq.torch.QuantizedExperts: the quantization gathers, the next one computes
            silu(gate) * up
  two ops   the same matmuls; a gather, gq.block_quantize and
            gq.preprocess_grouped_matmul_sf, silu and mul, and these two again
  imported  the program of `eager` through gq.torch.from_exported_program
  eager     torch.nn.functional.grouped_mm in bf16
  compiled  torch.compile of it

A time is that of a CUDA graph of several calls, with tokens and routings of their own so
that weights do not stay in the cache, divided by their number: `wall` by the host's
clock, over replays in a row; `device` by events around the second of two replays, the
median, for which the variants take turns. The stages are measured by events too, each as
a graph of its own.
"""

import argparse
import dataclasses
import json
import pathlib
import statistics
import sys
import time

import torch

CUDA = torch.cuda.is_available()
WHERE = "cuda" if CUDA else "cpu"


@dataclasses.dataclass(frozen=True)
class Layer:
    """hidden, intermediate: K of the two matmuls; each token has `chosen` experts."""

    hidden: int
    intermediate: int
    experts: int
    chosen: int
    tokens: tuple


LAYERS = {
    "llama4": Layer(5120, 8192, 128, 1, (1, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192)),
    "deepseek": Layer(7168, 2048, 256, 8, (1, 16, 128, 512, 2048, 4096)),
    "qwen3": Layer(4096, 1536, 128, 8, (1, 16, 128, 512, 2048, 4096)),
    "mixtral": Layer(4096, 14336, 8, 2, (1, 16, 128, 512, 2048, 4096)),
}  # fmt: skip
#: Variants whose stages are measured.
STAGED = ("fused", "two ops", "eager")
TINY = {
    "llama4": Layer(256, 128, 8, 1, (1, 16)),
    "deepseek": Layer(256, 128, 8, 3, (16,)),
    "qwen3": Layer(256, 128, 8, 2, (16,)),
    "mixtral": Layer(256, 128, 4, 2, (16,)),
}
STAGES = (
    "sort",
    "quantization",
    "matmuls",
    "unsort and weigh",
    "activation and gather",
)


# ---------------------------------------------------------------------------
# Variants
# ---------------------------------------------------------------------------


class Bf16(torch.nn.Module):
    """Weights [E, 2I, H] and [E, H, I], and the layer as PyTorch has it."""

    def __init__(self, layer):
        super().__init__()
        e, h, i = layer.experts, layer.hidden, layer.intermediate
        for name, n, k in ("up", 2 * i, h), ("down", h, i):
            w = torch.empty(e, n, k, dtype=torch.bfloat16, device=WHERE)
            w.normal_(0, k**-0.5)
            self.register_buffer(name, w)
        self.chosen = layer.chosen

    def route(self, index):
        experts, order = index.flatten().sort(stable=True)
        bounds = torch.arange(1, self.up.shape[0] + 1, device=index.device)
        return order, torch.searchsorted(experts, bounds, out_int32=True)

    def gather(self, x, order):
        return x[order // self.chosen]

    def activate(self, both):
        gate, up = both.chunk(2, -1)
        return torch.nn.functional.silu(gate) * up

    def multiply(self, x, w, ends):
        return torch.nn.functional.grouped_mm(x, w.transpose(1, 2), offs=ends)

    def unsort(self, y, order, weight):
        y = y * weight.flatten()[order].unsqueeze(1)
        places = torch.arange(order.shape[0], device=order.device)
        inverse = torch.empty_like(order).index_copy(0, order, places)
        return y[inverse].view(-1, self.chosen, y.shape[1]).sum(1)

    def forward(self, x, index, weight):
        order, ends = self.route(index)
        both = self.multiply(self.gather(x, order), self.up, ends)
        y = self.multiply(self.activate(both), self.down, ends)
        return self.unsort(y, order, weight)


class Stages:
    """What a variant does, step by step: (stage, function of what was computed).

    The functions read and write a dictionary, in which x, index and weight are.
    """

    def __init__(self, bf16, quantized):
        self.bf16, self.quantized = bf16, quantized

    def sort(self, d):
        d["order"], d["ends"] = self.bf16.route(d["index"])

    def sort_all(self, d):
        self.sort(d)
        d["offsets"] = torch.nn.functional.pad(d["ends"], (1, 0))
        d["rows"] = d["order"] // self.bf16.chosen

    def multiply(self, source, name, result):
        import gq

        q = self.quantized

        def run(d):
            d[result] = gq.grouped_mm(
                d[source], getattr(q, name), b_format="nvfp4",
                b_scales=getattr(q, name + "_scales"),
            )  # fmt: skip

        return run

    def separate(self, source, result):
        """Two ops; the scales of groups begin where `starts` says."""
        import gq

        def run(d):
            rows = gq.block_quantize(d[source])
            tiles = gq.preprocess_grouped_matmul_sf(
                rows.scales, d["offsets"], d["starts"]
            )
            d[result] = gq.torch.Quantized(
                rows.data, tiles, scale_offsets=d["starts"], offsets=d["offsets"],
                format="nvfp4",
            )  # fmt: skip

        return run

    def multiply_separate(self, source, name, result):
        import gq

        q = self.quantized

        def run(d):
            a = d[source]
            d[result] = gq.grouped_mm(
                a.data, getattr(q, name), a.offsets, a_scales=a.scales, format="nvfp4",
                b_scales=getattr(q, name + "_scales"), scale_offsets=a.scale_offsets,
            )  # fmt: skip

        return run

    def starts(self, d):
        import gq

        self.sort_all(d)
        d["starts"] = gq.group_offsets(d["offsets"].diff())[1]

    def put(self, result, function, *sources):
        def run(d):
            d[result] = function(*(d[s] for s in sources))

        return run

    def unsort(self, d):
        d["result"] = self.bf16.unsort(d["y"], d["order"], d["weight"])

    def steps(self, variant):
        import gq

        put, bf16 = self.put, self.bf16
        if variant == "fused":

            def first(x, offsets, rows):
                return gq.grouped_block_quantize(x, offsets, row_indices=rows)

            def second(both, offsets):
                return gq.grouped_block_quantize(both, offsets, producer="silu_and_mul")

            return [
                ("sort", self.sort_all),
                ("quantization", put("q", first, "x", "offsets", "rows")),
                ("matmuls", self.multiply("q", "up", "both")),
                ("quantization", put("h", second, "both", "offsets")),
                ("matmuls", self.multiply("h", "down", "y")),
                ("unsort and weigh", self.unsort),
            ]  # fmt: skip
        gather = ("activation and gather", put("g", bf16.gather, "x", "order"))
        activate = ("activation and gather", put("a", bf16.activate, "both"))
        if variant == "two ops":
            return [
                ("sort", self.starts), gather,
                ("quantization", self.separate("g", "q")),
                ("matmuls", self.multiply_separate("q", "up", "both")), activate,
                ("quantization", self.separate("a", "h")),
                ("matmuls", self.multiply_separate("h", "down", "y")),
                ("unsort and weigh", self.unsort),
            ]  # fmt: skip
        return [
            ("sort", self.sort), gather,
            ("matmuls", put("both", lambda g, e: bf16.multiply(g, bf16.up, e), "g", "ends")),
            activate,
            ("matmuls", put("y", lambda a, e: bf16.multiply(a, bf16.down, e), "a", "ends")),
            ("unsort and weigh", self.unsort),
        ]  # fmt: skip


# ---------------------------------------------------------------------------
# Measurements
# ---------------------------------------------------------------------------


def graph_of(call):
    """A CUDA graph of a call that has run before."""
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph


def second_time(graph):
    """Microseconds of the second of two replays."""
    graph.replay()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    graph.replay()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e3


def device_times(graphs, count, repeats=11):
    """Medians of the microseconds of one of the `count` calls of each graph, which
    take turns: a GPU that becomes warm becomes slower. Each follows a replay of its
    own, or what is before it would decide the clock."""
    times = [[second_time(g) for g in graphs] for _ in range(repeats)]
    return [statistics.median(t) / count for t in zip(*times)]


def wall_time(graph, count, repeats=10):
    """Microseconds of one of its `count` calls, by the host's clock."""
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(repeats):
        graph.replay()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) * 1e6 / repeats / count


def problems(layer, tokens, count):
    """Tokens, experts and weights, `count` times."""
    generator = torch.Generator(WHERE).manual_seed(tokens)
    made = []
    for _ in range(count):
        x = torch.empty(tokens, layer.hidden, dtype=torch.bfloat16, device=WHERE)
        x.normal_(generator=generator)
        logits = torch.rand(tokens, layer.experts, device=WHERE, generator=generator)
        weight, index = logits.softmax(-1).topk(layer.chosen)
        made.append({"x": x, "index": index, "weight": weight.bfloat16()})
    return made


def whole(function, sets):
    """A call of the layer on all sets; the results."""
    return [function(d["x"], d["index"], d["weight"]) for d in sets]


def run_steps(steps, sets):
    for d in sets:
        for _, step in steps:
            step(d)
    return [d["result"] for d in sets]


def measure_stages(steps, sets):
    """Microseconds of each stage, whose steps are graphs of their own."""
    found = dict.fromkeys(STAGES, 0.0)
    run_steps(steps, sets)
    for stage, step in steps:
        graph = graph_of(lambda step=step: [step(d) for d in sets])
        found[stage] += device_times([graph], len(sets))[0]
        del graph
    return {k: v for k, v in found.items() if v}


def relative(found, expected):
    found, expected = (torch.cat(list(t)).double() for t in (found, expected))
    return ((found - expected).norm() / expected.norm()).item()


def measure(name, layer, token_counts, chosen_variants):
    """Yields a row for each number of tokens."""
    import gq
    import gq.torch

    torch.manual_seed(0)
    bf16 = Bf16(layer)
    quantized = gq.torch.QuantizedExperts(bf16.up, bf16.down)
    stages = Stages(bf16, quantized)
    functions = {
        "fused": quantized,
        "two ops": None,
        "eager": bf16,
        "compiled": torch.compile(bf16, dynamic=True),
    }
    if "imported" in chosen_variants:
        functions["imported"] = imported(bf16, layer)
    for tokens in token_counts:
        count = 4 if CUDA else 1
        sets, row = problems(layer, tokens, count), {"layer": name, "tokens": tokens}
        row["shape"] = dataclasses.asdict(layer)
        expected = whole(bf16, sets)
        results, graphs = {}, {}
        for variant in chosen_variants:
            function = functions[variant]
            steps = stages.steps(variant) if variant in STAGED else None
            call = lambda: (  # noqa: E731
                run_steps(steps, sets)
                if variant == "two ops"
                else whole(function, sets)
            )
            try:
                results[variant] = [r.clone() for r in call()]
                entry = {"error": relative(results[variant], expected)}
                if CUDA:
                    call()
                    graphs[variant] = graph_of(call)
                if steps:
                    run_steps(steps, sets)
                    if CUDA:
                        entry["stages_us"] = measure_stages(steps, sets)
            except Exception as error:  # noqa: BLE001
                message = (str(error).strip().splitlines() or [""])[0][:160]
                entry = {"failed": f"{type(error).__name__}: {message}"}
                if CUDA:
                    torch.cuda.synchronize()
            row[variant] = entry
        for variant, us in zip(graphs, device_times(list(graphs.values()), count)):
            row[variant]["device_us"] = us
            row[variant]["wall_us"] = wall_time(graphs[variant], count)
        del graphs
        for variant in chosen_variants:
            print(f"{name} {tokens} {variant}: {shown(row[variant])}", flush=True)
        if "fused" in results and "two ops" in results:
            row["difference"] = relative(results["two ops"], results["fused"])
        yield row


def imported(bf16, layer):
    import gq.torch

    sets = problems(layer, 16, 1)[0]
    rows = torch.export.Dim("rows", min=1)
    shapes = ({0: rows},) * 3
    arguments = sets["x"], sets["index"], sets["weight"]
    with torch.no_grad():
        program = torch.export.export(bf16, arguments, dynamic_shapes=shapes)
    return gq.torch.from_exported_program(program)


def shown(entry):
    parts = [f"error {entry['error']:.3f}"] if "error" in entry else [entry["failed"]]
    parts += [f"{n} {entry[n]:.1f}" for n in ("device_us", "wall_us") if n in entry]
    return ", ".join(parts)


def wrong(row):
    """What is wrong with the results of a row: those in NVFP4 are near those of bf16,
    and those of one op and two differ by codes at the middle between two."""
    found = []
    for variant in ("fused", "two ops", "imported"):
        error = row.get(variant, {}).get("error", 0)
        if not error < 0.35:
            found.append(f"{variant} differs from bf16 by {error}")
    if not row.get("difference", 0) < 5e-2:
        found.append(f"two ops differ from fused by {row['difference']}")
    return [f"{row['layer']}, {row['tokens']} tokens: {what}" for what in found]


# ---------------------------------------------------------------------------
# Reports
# ---------------------------------------------------------------------------


def ratio(row, a, b, which="device_us"):
    times = [row.get(v, {}).get(which) for v in (a, b)]
    return f"{times[0] / times[1]:.2f}" if all(times) else "-"


def quantization(row, variant):
    """What the quantization of a variant takes with its gather and activation."""
    stages = row.get(variant, {}).get("stages_us", {})
    return stages.get("quantization", 0) + stages.get("activation and gather", 0)


def table(report):
    variants = ("fused", "two ops", "imported", "eager", "compiled")
    lines = [
        f"{report['device']}, torch {report['torch']}, gq {report['gq']}; microseconds"
    ]
    for name in dict.fromkeys(r["layer"] for r in report["rows"]):
        rows = [r for r in report["rows"] if r["layer"] == name]
        s = rows[0]["shape"]
        lines += [
            "",
            f"{name}: hidden {s['hidden']}, intermediate {s['intermediate']},"
            f" {s['experts']} experts, top-{s['chosen']}; device time, wall clock of fused"
            " and compiled",
            "",
            "| tokens | " + " | ".join(variants) + " | wall: fused | compiled"
            " | two ops / fused | compiled / fused | quantization: two ops / fused |",
            "|--:" * (len(variants) + 6) + "|",
        ]
        for r in rows:
            cells = [
                "-" if "device_us" not in r.get(v, {}) else f"{r[v]['device_us']:.1f}"
                for v in variants
            ]
            walls = [
                "-" if "wall_us" not in r.get(v, {}) else f"{r[v]['wall_us']:.1f}"
                for v in ("fused", "compiled")
            ]
            one, two = (quantization(r, v) for v in ("fused", "two ops"))
            share = f"{two / one:.2f}" if one and two else "-"
            cells += [
                *walls,
                ratio(r, "two ops", "fused"),
                ratio(r, "compiled", "fused"),
                share,
            ]
            lines.append(f"| {r['tokens']} | " + " | ".join(cells) + " |")
        failed = {
            f"{v}: {r[v]['failed']}"
            for r in rows
            for v in variants
            if "failed" in r.get(v, {})
        }
        lines += [f"\n{text}" for text in sorted(failed)]
    return "\n".join(lines) + "\n"


COLORS = dict(zip(STAGES, ("#6d597a", "#d1495b", "#2a6fbb", "#66a182", "#edae49")))


def svg(report):
    """Stacked bars of the stages, over the time of eager at as many tokens."""
    variants, bar, high, left, top = ("fused", "two ops", "eager"), 16, 150, 60, 40
    layers = list(dict.fromkeys(r["layer"] for r in report["rows"]))
    parts, y = [], top
    font = 'font-family="sans-serif" font-size="11"'

    def text(x, y, value, anchor="middle", more=""):
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {font} {more}>{value}</text>'

    width = left
    for name in layers:
        rows = [
            r
            for r in report["rows"]
            if r["layer"] == name and r.get("eager", {}).get("stages_us")
        ]
        totals = [
            sum(r[v]["stages_us"].values()) / sum(r["eager"]["stages_us"].values())
            for r in rows for v in variants if "stages_us" in r.get(v, {})
        ]  # fmt: skip
        scale = high / max(totals, default=1)
        base = y + high
        parts.append(text(left, y - 8, name, "start", 'font-weight="bold"'))
        for value in (0, 0.5, 1):
            at = base - value * scale
            parts.append(text(left - 6, at + 4, value, "end"))
            parts.append(
                f'<path d="M{left} {at:.1f}h{len(rows) * 4 * bar}" stroke="#ccc"/>'
            )
        for i, r in enumerate(rows):
            whole_time = sum(r["eager"]["stages_us"].values())
            x = left + i * 4 * bar + bar / 2
            parts.append(text(x + 1.5 * bar, base + 14, r["tokens"]))
            for j, v in enumerate(variants):
                at = base
                for stage, us in r.get(v, {}).get("stages_us", {}).items():
                    size = us / whole_time * scale
                    at -= size
                    parts.append(
                        f'<rect x="{x + j * bar:.1f}" y="{at:.1f}" width="{bar - 2}"'
                        f' height="{size:.1f}" fill="{COLORS[stage]}"><title>{v},'
                        f" {r['tokens']} tokens, {stage}: {us:.1f} us</title></rect>"
                    )
        width = max(width, left + len(rows) * 4 * bar)
        y = base + 50
    for i, stage in enumerate(STAGES):
        x = left + i % 3 * 190
        at = y - 14 + i // 3 * 18
        parts.append(
            f'<rect x="{x}" y="{at - 9}" width="10" height="10" fill="{COLORS[stage]}"/>'
        )
        parts.append(text(x + 14, at, stage, "start"))
    caption = "time of the stages over that of bf16 eager; bars: fused, two ops, eager"
    parts.append(text(left, 14, caption, "start"))
    width, height = max(width, left + 580) + 20, y + 24
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}">\n<rect width="{width}" height="{height}"'
        ' fill="#fff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def main():
    names = ("fused", "two ops", "imported", "eager", "compiled")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layer", action="append", choices=list(LAYERS))
    parser.add_argument("--variant", action="append", choices=names)
    parser.add_argument("--tokens", action="append", type=int)
    parser.add_argument("--from", dest="source", type=pathlib.Path)
    for option in "--json", "--svg", "--table":
        parser.add_argument(option, type=pathlib.Path)
    options = parser.parse_args()
    if options.source:
        report = json.loads(options.source.read_text())
    else:
        import gq

        layers = LAYERS if CUDA else TINY
        where = torch.cuda.get_device_name() if CUDA else "the CPU, tiny layers"
        report = {
            "device": where,
            "torch": torch.__version__,
            "gq": gq.__version__,
            "rows": [],
        }
        for name in options.layer or layers:
            layer = layers[name]
            counts, variants = options.tokens or layer.tokens, options.variant or names
            with torch.no_grad():
                for row in measure(name, layer, counts, variants):
                    report["rows"].append(row)
                    if options.json:
                        text = json.dumps(report, indent=1)
                        options.json.write_text(text + "\n")
    print(table(report))
    if options.table:
        options.table.write_text(table(report))
    if options.svg:
        options.svg.write_text(svg(report))
    problems_found = [text for row in report["rows"] for text in wrong(row)]
    print("\n".join(problems_found), end="")
    return bool(problems_found)


if __name__ == "__main__":
    sys.exit(main())
