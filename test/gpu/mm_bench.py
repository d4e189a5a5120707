#!/usr/bin/env python3
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""mm_bench.py KERNELS.cubin [SHAPE...] [FORMAT...]: the device functions of the
grouped matmul beside torch._grouped_mm on bf16 copies of the same operands, in
one process; of plain FP8, with row and column scales, torch._scaled_grouped_mm
too. The cubin is that of test/gpu/device/mm_bench_kernels.c (target
gqMmBenchKernels): kernels of llama, deepseek and qwen in nvfp4, mxfp8 (e4m3),
mxfp4, mixed (tokens of mxfp8 by weights of mxfp4), fp8 (e4m3, blocks of 1 by 128 and 128 by 128) and plain (e4m3). Each is a CUDA
graph, measured in turns after 150 ms of rest; medians. Needs PyTorch, nothing of
gq.
"""

import ctypes
import statistics
import sys
import time

import torch

SHAPES = {"llama": (8192, 5120), "deepseek": (2048, 7168), "qwen": (1536, 4096)}
FORMATS = ("nvfp4", "mxfp8", "mxfp4", "mixed", "fp8", "plain")
CODES = [0, 0.5, 1, 1.5, 2, 3, 4, 6]


def bounds(form, kernel):
    """Threads and bytes of shared memory of a CTA: what Launch.h says."""
    if kernel.startswith("decode"):
        tokens = int(kernel[6:])
        return 640, 3 * (128 * 256 + 4096 + tokens * 1088 + 48) + 16384 + (640 + 32) * 4
    if kernel == "prepare":
        return 256, 0
    tokens, table = int(kernel[5:]), (384 + 32) * 4
    if tokens == 256:
        return 384, 5 * (256 * 128 + 16) + 128 * 256 + 3 * 11008 + 1024 + table
    if form in ("fp8", "plain"):
        stages = 4 if tokens == 128 else 5
        return 384, stages * ((256 + tokens) * 132 + 48) + 256 * 32 * 2 + table
    stages = 6 if tokens == 128 else 8
    return 384, stages * (tokens * 128 + 16) + 512 * tokens + 12 * 2304 + 1024 + table


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

    def kernel(self, shape, form, name, operands):
        """A function that launches it; tiles256 after what prepares its tokens."""
        if name == "tiles256":
            both = [self.launch(shape, form, x, operands) for x in ("prepare", name)]
            return lambda: [launch() for launch in both]
        return self.launch(shape, form, name, operands)

    def launch(self, shape, form, name, operands):
        threads, shared = bounds(form, name)
        function = ctypes.c_void_p()
        self.check(
            self.cuda.cuModuleGetFunction(
                ctypes.byref(function), self.module, f"{shape}_{form}_{name}".encode()
            )
        )
        self.check(self.cuda.cuFuncSetAttribute(function, 8, shared))
        packed = (ctypes.c_int64 * len(operands))(*operands)
        parameters = (ctypes.c_void_p * 1)(ctypes.addressof(packed))
        grid = torch.cuda.get_device_properties(0).multi_processor_count
        grid *= 2 if name == "prepare" else 1

        def launch():
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            self.check(
                self.cuda.cuLaunchKernel(
                    function, grid, 1, 1, threads, 1, 1, shared, stream, parameters, None
                )
            )

        launch.keep = packed
        return launch


def untile(tiled, rows, columns):
    """[rows, columns] bytes of tile128x4 scales of whole tiles."""
    x = tiled.view(rows // 128, columns // 4, 32, 4, 4).permute(0, 3, 2, 1, 4)
    return x.reshape(rows, columns)


class Matrix:
    """Random codes [rows, k] of a format with scales of `scale_rows` rows; the
    scales of fp8 are those of blocks of `height` rows."""

    def __init__(self, form, rows, k, scale_rows, height, random):
        self.form, self.rows, self.k, self.height = form, rows, k, height
        self.narrow = form in ("nvfp4", "mxfp4")
        self.codes = random(0, 256, rows, k // 2 if self.narrow else k)
        if form == "nvfp4":
            self.scales = random(0x20, 0x48, scale_rows * k // 16)
        if not self.narrow:
            self.codes &= 0xF7  # no NaN
        if form in ("mxfp8", "mxfp4"):
            self.scales = random(118, 126, scale_rows * k // 32)
        if form == "fp8":
            self.scales = random(1, 256, (rows + height - 1) // height, k // 128).float() / 4096
        if form == "plain":
            self.scales = random(1, 256, rows).float() / 4096
        self.table = torch.tensor(CODES + [-x for x in CODES], device="cuda")

    def bf16(self, rows, scale_rows):
        """Dequantized rows, whose scales are in those rows."""
        if self.narrow:
            pairs = torch.stack([self.codes[rows] & 15, self.codes[rows] >> 4], -1).flatten(-2)
            values = self.table[pairs.int()]
        else:
            values = self.codes[rows].view(torch.float8_e4m3fn).float()
        block = {"nvfp4": 16, "fp8": 128, "plain": self.k}.get(self.form, 32)
        if self.form == "plain":
            scales = self.scales[rows, None]
        elif self.form == "fp8":
            scales = self.scales[scale_rows // self.height]
        else:
            columns = self.k // block
            bytes = untile(self.scales, self.scales.numel() // columns, columns)[scale_rows]
            scales = (bytes.view(torch.float8_e4m3fn).float() if block == 16
                      else torch.exp2(bytes.float() - 127))  # fmt: skip
        values = values.view(*scales.shape, block) * scales[..., None]
        return values.flatten(-2).bfloat16()


class Weights:
    def __init__(self, shape, groups, form="nvfp4"):
        n, k = SHAPES[shape]
        self.shape, self.groups, self.n, self.k, self.form = shape, groups, n, k, form
        self.generator = torch.Generator(device="cuda").manual_seed(1)
        own = "mxfp4" if form == "mixed" else form
        self.matrix = Matrix(own, groups * n, k, groups * n, 128, self.random)
        self.bf16 = torch.empty(groups, n, k, dtype=torch.bfloat16, device="cuda")
        flat = self.bf16.view(groups * n, k)
        for row in range(0, groups * n, 4096):
            part = torch.arange(row, min(row + 4096, groups * n), device="cuda")
            flat[row : row + 4096] = self.matrix.bf16(part, part)
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
        own = "mxfp8" if weights.form == "mixed" else weights.form
        self.matrix = Matrix(own, self.rows, k, scale_rows, 1, weights.random)
        if weights.form in ("fp8", "plain"):
            rows = torch.arange(self.rows, device="cuda")
        else:
            rows = torch.cat([torch.arange(m) + s for m, s in zip(sizes, starts)]).cuda()
        self.bf16 = torch.empty(self.rows, k, dtype=torch.bfloat16, device="cuda")
        for row in range(0, self.rows, 4096):
            part = torch.arange(row, min(row + 4096, self.rows), device="cuda")
            self.bf16[row : row + 4096] = self.matrix.bf16(part, rows[part])
        self.out = torch.full(
            (self.rows, weights.n), float("nan"), dtype=torch.bfloat16, device="cuda"
        )
        self.status = torch.zeros(1, dtype=torch.int32, device="cuda")
        workspace = (self.rows + 256) * ((k + 127) // 128 * 128)
        progress = 1 + (self.rows // 256 + len(sizes)) * ((k + 1023) // 1024)
        workspace += 2 * progress
        self.workspace = torch.full((workspace,), float("nan"), dtype=torch.bfloat16, device="cuda")
        plain = weights.form == "plain"
        # As GroupedMm.def lists them.
        self.operands = [
            self.matrix.codes.data_ptr(),
            self.matrix.codes.shape[1],
            self.matrix.scales.data_ptr(),
            k // 32,  # four bytes each
            scale_rows,
            weights.matrix.codes.data_ptr(),
            weights.matrix.scales.data_ptr(),
            self.offsets.data_ptr(),
            len(sizes) + 1,
            0 if weights.form in ("fp8", "plain") else self.scale_offsets.data_ptr(),
            len(sizes),
            weights.alpha.data_ptr(),
            self.matrix.scales.data_ptr() if plain else 0,
            weights.matrix.scales.data_ptr() if plain else 0,
            0,  # bias
            self.out.data_ptr(),
            2 * weights.n,
            self.rows,
            weights.n,
            k,
            self.status.data_ptr(),
            self.workspace.data_ptr(),
            0,  # scales of outputs
            0,
        ]
        self.used = sum(m > 0 for m in sizes)

    def torch(self):
        return torch._grouped_mm(
            self.bf16, self.w.bf16.transpose(1, 2), offs=self.ends, out_dtype=torch.bfloat16
        )


    def torch_scaled(self):
        """With scales of rows and columns."""
        form, w = torch.float8_e4m3fn, self.w
        return torch._scaled_grouped_mm(
            self.matrix.codes.view(form),
            w.matrix.codes.view(form).view(w.groups, w.n, w.k).transpose(1, 2),
            self.matrix.scales,
            w.matrix.scales.view(w.groups, w.n),
            offs=self.ends,
            out_dtype=torch.bfloat16,
            use_fast_accum=True,
        )


def measure(functions, rounds=3, rest=0.15, watch=None):
    """Median microseconds of each; `watch`, if any, is called while it runs, with
    its name."""
    graphs, times = {}, {name: [] for name in functions}
    for name, function in functions.items():
        graphs[name] = capture(function)
    for turn in range(rounds + 1):
        for name, (graph, repeat) in graphs.items():
            time.sleep(rest)
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            graph.replay()
            end.record()
            if watch and turn:
                watch(name)
            end.synchronize()
            if turn:
                times[name].append(begin.elapsed_time(end) * 1000 / repeat)
    return {name: statistics.median(x) for name, x in times.items()}


def capture(function):
    """A graph of several launches, of about 8 ms, and their number."""
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
    return graph, repeat


def check(name, tokens, expected):
    """What a kernel has just stored, beside what torch computes."""
    bad = 0
    for out, right in zip(tokens.out.split(16384), expected.split(16384)):
        right = right.float()
        slack = right.abs() / 64 + right.abs().mean() / 16
        bad += int((~((out.float() - right).abs() <= slack)).sum())
    if bad or int(tokens.status):
        print(f"  {name}: {bad} of {expected.numel()} differ, status {int(tokens.status)}")


def bytes_of(form):
    """Of an element of weights, with its part of a scale."""
    return {"nvfp4": 0.5625, "mxfp8": 1.03125, "mxfp4": 0.53125, "mixed": 0.53125}.get(form, 1)


def compare(driver, weights, sizes, kernels, name):
    tokens = Tokens(weights, sizes)
    expected = tokens.torch()
    functions = {"torch": tokens.torch}
    if weights.form == "plain":
        functions["torch fp8"] = tokens.torch_scaled
    for kernel in kernels:
        launch = driver.kernel(weights.shape, weights.form, kernel, tokens.operands)
        tokens.out.fill_(float("nan"))
        launch()
        check(kernel, tokens, expected)
        functions[kernel] = launch
    del expected
    times = measure(functions)
    n, k = weights.n, weights.k
    flops, packed = 2 * tokens.rows * n * k, tokens.used * n * k * bytes_of(weights.form)
    line = f"{weights.form:6s}{weights.shape:9s}{name:22s} torch {times['torch']:8.1f} us"
    for kernel in list(functions)[1:]:
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


#: Rows a group and kernels, of 16 groups of llama, 128 of qwen, 256 of deepseek.
MIDDLE = [(32, ["tiles32", "tiles64"]), (64, ["tiles32", "tiles64"]), (128, ["tiles64", "tiles128"])]
UNEVEN = [100, 0, 257, 1, 300, 0, 512, 129, 1000] + [0] * 7


def many(form):
    """Kernels for many rows a group."""
    return ["tiles128"] if form in ("fp8", "plain") else ["tiles128", "tiles256"]


def main():
    driver = Driver(sys.argv[1])
    shapes = [x for x in sys.argv[2:] if x in SHAPES] or list(SHAPES)
    forms = [x for x in sys.argv[2:] if x in FORMATS] or list(FORMATS)
    print(torch.cuda.get_device_name(), f"copy {peak():.2f} TB/s", flush=True)
    for form in forms if "llama" in shapes else ():
        w = Weights("llama", 16, form)
        for m in (1, 4, 8) if form == "nvfp4" else (1, 8):
            compare(driver, w, [m] * 16, ["decode8", "decode16"], f"16 x {m}")
        compare(driver, w, [16] * 16, ["decode16", "tiles32"], "16 x 16")
        for m, kernels in MIDDLE:
            compare(driver, w, [m] * 16, kernels, f"16 x {m}")
        for m in 256, 512, 2048:
            compare(driver, w, [m] * 16, many(form), f"16 x {m}")
        compare(driver, w, UNEVEN, ["tiles64", *many(form)], "ragged, 2299 rows")
        del w
    for form in forms if "qwen" in shapes else ():
        w = Weights("qwen", 128, form)
        for m in (1, 4, 8):
            compare(driver, w, [m] * 128, ["decode8"], f"128 x {m}")
        compare(driver, w, [32] * 128, ["tiles32", "tiles64"], "128 x 32")
        compare(driver, w, ragged(65536, 128), many(form), "ragged, 65536 rows")
        del w
    for form in forms if "deepseek" in shapes else ():
        w = Weights("deepseek", 256, form)
        some = [1 if e % 4 == 0 else 0 for e in range(256)]
        compare(driver, w, some, ["decode8"], "64 x 1")
        compare(driver, w, [4] * 256, ["decode8"], "256 x 4")
        compare(driver, w, [64] * 256, ["tiles64", "tiles128"], "256 x 64")
        compare(driver, w, [512] * 256, many(form), "256 x 512")
        del w


if __name__ == "__main__":
    main()
