#!/usr/bin/env python3
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gq's ops on the CPU beside the same work in PyTorch.

cpu_peers.py [--shape MxKxN] [--rounds N] [--compile] [--json FILE]

Needs gq and torch. PyTorch has no op for blocks of codes, so most peers are what a
program without gq would write; --compile adds torch.compile of it. Codes and scales of
the peers are compared with gq's first. In each round the two take turns; a time is the
least of the rounds, and both have as many threads as torch has. Set
OMP_WAIT_POLICY=passive where other programs run.
"""

import argparse
import datetime
import json
import os
import pathlib
import time

import torch

import gq
import gq.torch  # noqa: F401 - tensors of torch

# ---------------------------------------------------------------------------
# What PyTorch does
# ---------------------------------------------------------------------------


def amax(x):
    return x.abs().amax().float()


def fp8(x, scale):
    """Of a scale that is given."""
    return (x.float() * scale).clamp(-448, 448).to(torch.float8_e4m3fn)


def from_fp8(codes, scale_inv):
    return (codes.float() * scale_inv).bfloat16()


E2M1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6])
# The middles between magnitudes.
MIDDLES = torch.tensor([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5])


def nvfp4(x):
    """Blocks of 16: the scale is amax / 6 in e4m3. Ties go up, not to even: a
    comparison less."""
    blocks = x.float().unflatten(1, (-1, 16))
    scales = (blocks.abs().amax(-1) / 6).clamp(2**-9, 448).to(torch.float8_e4m3fn)
    scaled = blocks / scales.float()[..., None]
    codes = torch.bucketize(scaled.abs(), MIDDLES, out_int32=True).to(torch.uint8)
    codes = (codes | (scaled < 0).to(torch.uint8) << 3).flatten(1)
    return codes[:, 0::2] | codes[:, 1::2] << 4, scales


def from_nvfp4(codes, scales):
    both = torch.stack((codes & 15, codes >> 4), -1).flatten(1)
    values = E2M1[both.int()].unflatten(1, (-1, 16)) * scales.float()[..., None]
    return values.flatten(1).bfloat16()


# ---------------------------------------------------------------------------
# Measurement
# ---------------------------------------------------------------------------


def least(functions, rounds):
    """The least time of each, in milliseconds; they take turns."""
    times = [float("inf")] * len(functions)
    for _ in range(rounds):
        for i, function in enumerate(functions):
            start = time.perf_counter()
            function()
            times[i] = min(times[i], (time.perf_counter() - start) * 1e3)
    return times


def agree(what, ours, theirs, share=0.01):
    """That at most a `share` of the elements differ, at ties and where a division is
    rounded in another way."""
    different = (ours != theirs).float().mean().item()
    if different > share:
        raise SystemExit(f"{what}: {different:.3f} of the elements differ")


def rows(m, k, n):
    """Of each row its name, gq's call, and PyTorch's function with its arguments."""
    torch.manual_seed(0)
    x = torch.randn(m, k).bfloat16()
    offsets = torch.tensor([0, m], dtype=torch.int32)
    scale = torch.tensor([64.0])
    q8, q4 = gq.grouped_quantize(x, offsets, scale=scale), gq.block_quantize(x)
    e8 = q8.data.view(torch.float8_e4m3fn)
    codes, scales = q4.data.view(torch.uint8), q4.scales.view(torch.float8_e4m3fn)
    values, theirs = gq.block_dequantize(q4), nvfp4(x)
    agree("fp8", e8.view(torch.uint8), fp8(x, scale).view(torch.uint8))
    agree("scales", scales.view(torch.uint8), theirs[1].view(torch.uint8))
    agree("nvfp4", values, from_nvfp4(*theirs), 0.02)
    agree("dequantization", values, from_nvfp4(codes, scales))
    a = gq.grouped_block_quantize(x, offsets, scale_layout="tile128x4")
    w = torch.randn(n, k).bfloat16()
    b = gq.quantize_weights(w[None])
    a16, b16 = values, gq.block_dequantize(gq.block_quantize(w))
    a32, b32 = a16.float(), b16.float()

    def product():
        return gq.grouped_mm(a, b, offsets, out_dtype=torch.float32)

    agree("product", (product() - a32 @ b32.T).abs() > 1e-3 * k**0.5, False)
    return [
        ("amax", lambda: gq.grouped_amax(x, offsets), amax, (x,)),
        ("fp8 e4m3, scale given",
         lambda: gq.grouped_quantize(x, offsets, scale=scale), fp8, (x, scale)),
        ("from fp8 e4m3", lambda: gq.grouped_dequantize(q8), from_fp8, (e8, 1 / scale)),
        ("nvfp4", lambda: gq.block_quantize(x), nvfp4, (x,)),
        ("from nvfp4", lambda: gq.block_dequantize(q4), from_nvfp4, (codes, scales)),
        ("product of nvfp4 beside float32", product, torch.mm, (a32, b32.T)),
        ("product of nvfp4 beside bf16", product, torch.mm, (a16, b16.T)),
    ]  # fmt: skip


def measure(row, rounds, compiles):
    name, ours, function, arguments = row
    calls = {"gq": ours, "eager": lambda: function(*arguments)}
    if compiles and function is not torch.mm:
        compiled = torch.compile(function)
        calls["compiled"] = lambda: compiled(*arguments)
    for call in calls.values():
        call()
    return {"name": name, **dict(zip(calls, least(list(calls.values()), rounds), strict=True))}


def cpu():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(": ")[1] for line in lines if line.startswith("model name")]
    return names[0] if names else "a CPU"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", default="8192x5120x1536")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    report = {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "cpu": cpu(),
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "load": os.getloadavg()[0],
        "shape": options.shape,
        "milliseconds": [],
    }
    print({key: value for key, value in report.items() if key != "milliseconds"})
    for row in rows(*map(int, options.shape.split("x"))):
        times = measure(row, options.rounds, options.compile)
        report["milliseconds"].append(times)
        peers = [key for key in times if key not in ("name", "gq")]
        beside = "  ".join(
            f"{peer} {times[peer]:9.2f} ms, {times[peer] / times['gq']:6.2f} x" for peer in peers
        )
        print(f"{times['name']:34} gq {times['gq']:9.2f} ms  {beside}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
