#!/usr/bin/env python3
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mm_sweep.py KERNELS.cubin [--json FILE] [--rows N,N] [SHAPE...] [FORMAT...]:
the grouped matmul of mm_bench.py, whose cubin it is, at 1 to 2048 rows in each of
all experts of a model: the kernel that fits so many, which a program with equal
groups asks for, and tiles256 with what fills its workspace, beside
torch._grouped_mm on bf16 copies, and of plain FP8 torch._scaled_grouped_mm.
Markdown, of each shape a table. The JSON has more:

  us, torch_us       medians of replays after 50 ms of rest
  tflops, tbps       operations, and bytes of all operands and outputs, once each
  weights_tbps       bytes of packed weights alone
  mhz                the clock of the multiprocessors while it ran
  memory, flops      parts of the time that the bytes would take at the rate of
                     the peak copy, and the operations at the rate of the tensor
                     cores at that clock
  limit              the larger one if it is more than 0.6; else what is in
                     neither: arithmetic, latency, waiting

With --sustain SHAPE/FORMAT/ROWS/KERNEL: that row for a second without rest, with
watts, and torch.
"""

import argparse
import ctypes
import json
import statistics
import time

import mm_bench
import torch

GROUPS = {"llama": 128, "deepseek": 256, "qwen": 128}
ROWS = (1, 4, 8, 16, 32, 64, 128, 256, 512, 2048)
#: The most rows of a group that a kernel is for.
KERNELS = (
    (8, "decode8"),
    (16, "decode16"),
    (32, "tiles32"),
    (64, "tiles64"),
    (1 << 31, "tiles128"),
)
#: Operations of a multiprocessor's tensor cores in a cycle.
PER_CYCLE = {"fp8": 8192, "plain": 8192}
#: Bytes of an element of tokens.
TOKENS = {
    "nvfp4": 0.5625,
    "mxfp4": 0.53125,
    "mxfp8": 1.03125,
    "mixed": 1.03125,
    "fp8": 1.03125,
}


class Monitor:
    """Clock and power."""

    def __init__(self):
        self.nvml, self.device = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_void_p()
        self.nvml.nvmlInit_v2()
        self.nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device))

    def mhz(self):
        value = ctypes.c_uint()
        self.nvml.nvmlDeviceGetClockInfo(self.device, 1, ctypes.byref(value))
        return value.value

    def watts(self):
        value = ctypes.c_uint()
        self.nvml.nvmlDeviceGetPowerUsage(self.device, ctypes.byref(value))
        return value.value / 1000


def kernels_for(form, rows):
    chosen = next(kernel for most, kernel in KERNELS if rows <= most)
    prepared = rows >= 256 and form not in ("fp8", "plain")
    return [chosen, "tiles256"] if prepared else [chosen]


def functions_of(driver, tokens, kernels):
    """Of torch and of the kernels, whose results are compared."""
    w, functions = tokens.w, {"torch": tokens.torch}
    if w.form == "plain":
        functions["torch fp8"] = tokens.torch_scaled
    expected = tokens.torch()
    for kernel in kernels:
        launch = driver.kernel(w.shape, w.form, kernel, tokens.operands)
        tokens.out.fill_(float("nan"))
        launch()
        mm_bench.check(f"{w.shape} {w.form} {kernel}", tokens, expected)
        functions[kernel] = launch
    return functions


def costs(tokens):
    """Operations, bytes of all, and of the weights."""
    w = tokens.w
    weights = tokens.used * w.n * w.k * mm_bench.bytes_of(w.form)
    others = tokens.rows * (w.k * TOKENS.get(w.form, 1) + 2 * w.n)
    return 2 * tokens.rows * w.n * w.k, weights + others, weights


def entries(driver, monitor, weights, rows, copy):
    """A row of the JSON for each kernel."""
    tokens = mm_bench.Tokens(weights, [rows] * weights.groups)
    functions = functions_of(driver, tokens, kernels_for(weights.form, rows))
    clocks = {name: [] for name in functions}
    times = mm_bench.measure(
        functions, rest=0.05, watch=lambda name: clocks[name].append(monitor.mhz())
    )
    flops, all, packed = costs(tokens)
    multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count
    for kernel in functions:
        if kernel == "torch":
            continue
        us, mhz = times[kernel], int(statistics.median(clocks[kernel]))
        peak = PER_CYCLE.get(weights.form, 4096) * multiprocessors * mhz
        shares = {"memory": all / us / 1e6 / copy, "flops": flops / us / peak}
        limit = max(shares, key=shares.get)
        yield {
            "shape": weights.shape,
            "format": weights.form,
            "groups": weights.groups,
            "rows": rows,
            "kernel": kernel,
            "us": round(us, 2),
            "torch_us": round(times["torch"], 2),
            "tflops": round(flops / us / 1e6, 1),
            "tbps": round(all / us / 1e6, 3),
            "weights_tbps": round(packed / us / 1e6, 3),
            "mhz": mhz,
            **{name: round(share, 3) for name, share in shares.items()},
            "limit": limit if shares[limit] > 0.6 else "instructions",
        }


def cell(entry):
    rate = (
        f"{entry['weights_tbps']:.2f} TB/s"
        if entry["rows"] < 128
        else f"{entry['tflops']:.0f} TF"
    )
    return f"{entry['torch_us'] / entry['us']:.2f}, {rate}"


def table(entries, shape):
    """Lines of a format, tiles256 and torch's FP8 on their own."""
    lines = {}
    for entry in entries:
        own = entry["kernel"] in ("tiles256", "torch fp8")
        name = f"{entry['format']}, {entry['kernel']}" if own else entry["format"]
        lines.setdefault(name, {})[entry["rows"]] = cell(entry)
    rows = sorted({row for line in lines.values() for row in line})
    n, k = mm_bench.SHAPES[shape]
    print(f"\nK {k}, N {n}, {GROUPS[shape]} groups:\n")
    print("|", " | ".join(["rows per group", *map(str, rows)]), "|")
    print("|" + "---|" * (len(rows) + 1))
    for name, line in lines.items():
        cells = [name, *(line.get(row, "") for row in rows)]
        print("|", " | ".join(cells), "|", flush=True)


def sustain(driver, monitor, what):
    """Of SHAPE/FORMAT/ROWS/KERNEL and torch, each for a second."""
    shape, form, rows, kernel = what.split("/")
    weights = mm_bench.Weights(shape, GROUPS[shape], form)
    tokens = mm_bench.Tokens(weights, [int(rows)] * weights.groups)
    flops = costs(tokens)[0]
    for name, function in functions_of(driver, tokens, [kernel]).items():
        graph, repeat = mm_bench.capture(function)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        # The first half second brings it to its power limit.
        clocks, watts, start, replays = [], [], time.monotonic(), 0
        while time.monotonic() < start + 1:
            if replays == 0 and time.monotonic() > start + 0.5:
                begin.record()
            replays += time.monotonic() > start + 0.5
            graph.replay()
            end.record()
            if replays:
                clocks.append(monitor.mhz())
                watts.append(monitor.watts())
            end.synchronize()
        us = begin.elapsed_time(end) * 1000 / replays / repeat
        yield {
            "sustained": what,
            "kernel": name,
            "us": round(us, 2),
            "tflops": round(flops / us / 1e6, 1),
            "mhz": sum(clocks) // len(clocks),
            "watts": round(sum(watts) / len(watts)),
        }


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("kernels")
    parser.add_argument("which", nargs="*")
    parser.add_argument("--json")
    parser.add_argument(
        "--rows", type=lambda x: [int(n) for n in x.split(",")], default=ROWS
    )
    parser.add_argument("--sustain", action="append", default=[])
    arguments = parser.parse_intermixed_args()
    driver, monitor = mm_bench.Driver(arguments.kernels), Monitor()
    copy = mm_bench.peak()
    device = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "copy_tbps": round(copy, 3),
    }
    lines = [device]
    shapes = [x for x in GROUPS if x in arguments.which]
    forms = [x for x in mm_bench.FORMATS if x in arguments.which]
    print(device, flush=True)
    for shape in shapes or GROUPS:
        first = len(lines)
        for form in forms or mm_bench.FORMATS:
            weights = mm_bench.Weights(shape, GROUPS[shape], form)
            for rows in arguments.rows:
                lines += entries(driver, monitor, weights, rows, copy)
            del weights
        table(lines[first:], shape)
    for what in arguments.sustain:
        for line in sustain(driver, monitor, what):
            print(line, flush=True)
            lines.append(line)
    if arguments.json:
        with open(arguments.json, "w") as file:
            file.write("[\n" + ",\n".join(map(json.dumps, lines)) + "\n]\n")


if __name__ == "__main__":
    main()
