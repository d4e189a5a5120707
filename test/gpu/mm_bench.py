#!/usr/bin/env python3
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mm_bench.py KERNELS.cubin [SHAPE...]: the device functions of the grouped
matmul beside torch._grouped_mm on bf16 copies of the same operands, in one
process. The cubin has kernels SHAPE_128, SHAPE_64, SHAPE_32 and SHAPE_decode of
test/gpu/device/mm_kernels.c for llama, deepseek and qwen. Each is a CUDA graph,
measured in turns after 150 ms of rest; medians. Needs PyTorch, nothing of gq.
"""

import ctypes
import statistics
import sys
import time

import torch

SHAPES = {"llama": (8192, 5120), "deepseek": (2048, 7168), "qwen": (1536, 4096)}
KERNELS = {"128": (384, 128), "64": (384, 64), "32": (384, 32), "decode": (512, 8)}
CODES = [0, 0.5, 1, 1.5, 2, 3, 4, 6]


def shared_bytes(kernel, k):
    """What Launch.h says."""
    threads, tokens = KERNELS[kernel]
    table = (threads + 32) * 4
    if kernel == "decode":
        return 8 * ((k + 127) // 128 * 256 + 64) + 16384 + table
    stages = 6 if tokens == 128 else 8
    return stages * (tokens * 128 + 16) + 512 * tokens + 12 * 2304 + 1024 + table


class Driver:
    def __init__(self, path):
        torch.zeros(1, device="cuda")
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.module = ctypes.c_void_p()
        with open(path, "rb") as file:
            image = file.read()
        self.check(self.cuda.cuModuleLoadData(ctypes.byref(self.module), image))

    @staticmethod
    def check(result):
        if result:
            raise RuntimeError(f"CUDA error {result}")

    def kernel(self, shape, name, operands):
        """A function that launches it."""
        threads, _ = KERNELS[name]
        shared = shared_bytes(name, SHAPES[shape][1])
        function = ctypes.c_void_p()
        self.check(
            self.cuda.cuModuleGetFunction(
                ctypes.byref(function), self.module, f"{shape}_{name}".encode()
            )
        )
        self.check(self.cuda.cuFuncSetAttribute(function, 8, shared))
        packed = (ctypes.c_int64 * len(operands))(*operands)
        parameters = (ctypes.c_void_p * 1)(ctypes.addressof(packed))
        grid = torch.cuda.get_device_properties(0).multi_processor_count

        def launch():
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            self.check(
                self.cuda.cuLaunchKernel(
                    function, grid, 1, 1, threads, 1, 1, shared, stream, parameters, None
                )
            )

        launch.keep = packed
        return launch


def dequantize(codes, scales, table):
    """bf16 of packed codes [rows, k / 2] and scales [rows, k / 16], exact."""
    pairs = torch.stack([codes & 15, codes >> 4], -1).flatten(-2)
    values = table[pairs.int()].view(*scales.shape, 16)
    return (values * scales[..., None]).flatten(-2).bfloat16()


def untile(tiled, rows, columns):
    """[rows, columns] floats of tile128x4 scales of whole tiles."""
    x = tiled.view(rows // 128, columns // 4, 32, 4, 4).permute(0, 3, 2, 1, 4)
    return x.reshape(rows, columns).view(torch.float8_e4m3fn).float()


class Weights:
    def __init__(self, shape, groups):
        n, k = SHAPES[shape]
        self.shape, self.groups, self.n, self.k = shape, groups, n, k
        self.generator = torch.Generator(device="cuda").manual_seed(1)
        self.table = torch.tensor(CODES + [-x for x in CODES], device="cuda")
        self.codes = self.random(0, 256, groups, n, k // 2)
        self.scales = self.random(0x20, 0x48, groups, n * k // 16)
        self.bf16 = torch.empty(groups, n, k, dtype=torch.bfloat16, device="cuda")
        for e in range(groups):
            scales = untile(self.scales[e], n, k // 16)
            for row in range(0, n, 4096):
                self.bf16[e, row : row + 4096] = dequantize(
                    self.codes[e, row : row + 4096], scales[row : row + 4096], self.table
                )
        self.alpha = torch.ones(groups, device="cuda")

    def random(self, low, high, *size):
        return torch.randint(
            low, high, size, device="cuda", generator=self.generator, dtype=torch.uint8
        )


class Tokens:
    """Tokens for weights; sizes[e] of group e."""

    def __init__(self, weights, sizes):
        self.w, k = weights, weights.k
        padded = [(m + 127) // 128 * 128 for m in sizes]
        starts = [sum(padded[:e]) for e in range(len(sizes))]
        self.rows, scale_rows = sum(sizes), sum(padded) + 128
        ends = torch.tensor(sizes).cumsum(0)
        self.ends = ends.int().cuda()
        self.offsets = torch.cat([torch.zeros(1, dtype=torch.int64), ends]).int().cuda()
        self.scale_offsets = torch.tensor(starts, dtype=torch.int32, device="cuda")
        self.codes = weights.random(0, 256, self.rows, k // 2)
        self.scales = weights.random(0x20, 0x48, scale_rows * k // 16)
        scales = untile(self.scales, scale_rows, k // 16)
        rows = torch.cat([torch.arange(m) + s for m, s in zip(sizes, starts)]).cuda()
        self.bf16 = torch.empty(self.rows, k, dtype=torch.bfloat16, device="cuda")
        for row in range(0, self.rows, 4096):
            part = rows[row : row + 4096]
            self.bf16[row : row + 4096] = dequantize(
                self.codes[row : row + 4096], scales[part], weights.table
            )
        self.out = torch.full(
            (self.rows, weights.n), float("nan"), dtype=torch.bfloat16, device="cuda"
        )
        self.status = torch.zeros(1, dtype=torch.int32, device="cuda")
        # As GroupedMm.def lists them.
        self.operands = [
            self.codes.data_ptr(),
            k // 2,
            self.scales.data_ptr(),
            scale_rows,
            weights.codes.data_ptr(),
            weights.scales.data_ptr(),
            self.offsets.data_ptr(),
            len(sizes) + 1,
            self.scale_offsets.data_ptr(),
            len(sizes),
            weights.alpha.data_ptr(),
            self.out.data_ptr(),
            2 * weights.n,
            self.rows,
            weights.n,
            k,
            self.status.data_ptr(),
        ]
        self.used = sum(m > 0 for m in sizes)

    def torch(self):
        return torch._grouped_mm(
            self.bf16, self.w.bf16.transpose(1, 2), offs=self.ends, out_dtype=torch.bfloat16
        )


def measure(functions, rounds=3, rest=0.15):
    """Median microseconds of each."""
    graphs, times = {}, {name: [] for name in functions}
    for name, function in functions.items():
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            function()
            begin.record()
            function()
            end.record()
            end.synchronize()
            repeat = max(1, min(20, int(8 / max(begin.elapsed_time(end), 0.01))))
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                for _ in range(repeat):
                    function()
        graphs[name] = graph, repeat
    for turn in range(rounds + 1):
        for name, (graph, repeat) in graphs.items():
            time.sleep(rest)
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            graph.replay()
            end.record()
            end.synchronize()
            if turn:
                times[name].append(begin.elapsed_time(end) * 1000 / repeat)
    return {name: statistics.median(x) for name, x in times.items()}


def compare(driver, weights, sizes, kernels, name):
    tokens = Tokens(weights, sizes)
    expected = tokens.torch().float()
    functions = {"torch": tokens.torch}
    for kernel in kernels:
        launch = driver.kernel(weights.shape, kernel, tokens.operands)
        tokens.out.fill_(float("nan"))
        launch()
        difference = (tokens.out.float() - expected).abs()
        bad = int((~(difference <= expected.abs() / 64 + expected.abs().mean() / 64)).sum())
        if bad or int(tokens.status):
            print(f"  {kernel}: {bad} of {expected.numel()} differ, status {int(tokens.status)}")
        functions[kernel] = launch
    del expected
    times = measure(functions)
    n, k = weights.n, weights.k
    flops, packed = 2 * tokens.rows * n * k, tokens.used * n * k * 0.5625
    line = f"{weights.shape:9s}{name:22s} torch {times['torch']:8.1f} us"
    for kernel in kernels:
        us = times[kernel]
        line += (
            f" | {kernel} {us:8.1f} us {times['torch'] / us:.3f}x"
            f" {flops / us / 1e6:.0f} TF {packed / us / 1e6:.2f} TB/s"
        )
    print(line, flush=True)


def ragged(rows, groups, seed=1):
    generator = torch.Generator().manual_seed(seed)
    weights = torch.softmax(torch.randn(groups, generator=generator) * 0.5, 0)
    drawn = torch.multinomial(weights, rows, replacement=True, generator=generator)
    return torch.bincount(drawn, minlength=groups).tolist()


def peak():
    """The best copy, in TB/s."""
    best = 0
    for mib in (256, 512, 1024):
        x = torch.empty(mib << 18, dtype=torch.float32, device="cuda")
        y = torch.empty_like(x)
        us = measure({"copy": lambda: torch.add(x, 1, out=y)}, rounds=2)["copy"]
        best = max(best, 2 * x.numel() * 4 / us / 1e6)
    return best


def main():
    driver = Driver(sys.argv[1])
    only = sys.argv[2:] or list(SHAPES)
    print(torch.cuda.get_device_name(), f"copy {peak():.2f} TB/s", flush=True)
    if "llama" in only:
        w = Weights("llama", 16)
        for m in (1, 4, 8):
            compare(driver, w, [m] * 16, ["decode", "32"], f"16 x {m}")
        compare(driver, w, [16] * 16, ["decode", "32", "64"], "16 x 16")
        for m in (32, 64, 128):
            compare(driver, w, [m] * 16, ["32", "64", "128"], f"16 x {m}")
        for m in (256, 512, 2048):
            compare(driver, w, [m] * 16, ["128"], f"16 x {m}")
        compare(driver, w, [100, 0, 257, 1, 300, 0, 512, 129, 1000] + [0] * 7, ["64", "128"], "ragged, 2299 rows")
        del w
    if "qwen" in only:
        w = Weights("qwen", 128)
        for m in (1, 4, 8):
            compare(driver, w, [m] * 128, ["decode"], f"128 x {m}")
        compare(driver, w, [32] * 128, ["32", "64"], "128 x 32")
        compare(driver, w, ragged(65536, 128), ["128"], "ragged, 65536 rows")
        del w
    if "deepseek" in only:
        w = Weights("deepseek", 256)
        compare(driver, w, [1 if e % 4 == 0 else 0 for e in range(256)], ["decode"], "64 x 1")
        compare(driver, w, [4] * 256, ["decode"], "256 x 4")
        compare(driver, w, [64] * 256, ["64", "128"], "256 x 64")
        compare(driver, w, [512] * 256, ["128"], "256 x 512")


if __name__ == "__main__":
    main()
