# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The README's examples, and a table beside the calls of others for the same work.

peers.py README.md [TABLE.json]: for the environment that wheel.sh makes; needs torch,
and CUDA for device times. What FlashInfer or torchao lacks on this GPU, or is not
installed, is a row that says so.

The work: bf16 tokens of 128 experts, quantized in blocks with the scales where the
tensor cores look for them. Others do it for one matrix: a row of theirs is one call of
the same size, which is less than gq's (no groups), or, where it says so, a call for each
expert. A row counts the lines of code after the imports that a user writes, and has the
time of the host a call (the best of 20 times 20 calls) and of the device (a replay of a
CUDA graph of it, the median of 50; of calls in a row where it cannot be captured).
"""

import json
import pathlib
import re
import statistics
import sys
import timeit

import gq
import torch

CUDA = torch.cuda.is_available()
WHERE = "cuda" if CUDA else "cpu"
M, K, G = (8192, 5120, 128) if CUDA else (256, 128, 4)

IMPORTS = {
    "gq": "import gq",
    "FlashInfer": "import flashinfer",
    "torchao": (
        "from torchao.prototype.mx_formats.mx_tensor import MXTensor\n"
        "from torchao.prototype.mx_formats.nvfp4_tensor import NVFP4Tensor"
    ),
}
#: (what, whose, the code)
ROWS = [
    ("nvfp4, groups", "gq", "q = gq.grouped_block_quantize(x, offsets)"),
    ("nvfp4, one matrix", "FlashInfer", """
scale = torch.ones(1, device=x.device)
q, sf = flashinfer.fp4_quantize(x, scale, 16, is_sf_swizzled_layout=True)"""),
    ("nvfp4, a call for each group", "FlashInfer", """
scale = torch.ones(1, device=x.device)
parts = [flashinfer.fp4_quantize(p, scale, 16, is_sf_swizzled_layout=True)
         for p in x.split(sizes)]"""),
    ("nvfp4, one matrix", "torchao", """
q = NVFP4Tensor.to_nvfp4(x, is_swizzled_scales=True)"""),
    ("mxfp8, groups", "gq", 'q = gq.grouped_block_quantize(x, offsets, "mxfp8_e4m3")'),
    ("mxfp8, one matrix", "FlashInfer", "q, sf = flashinfer.mxfp8_quantize(x, True)"),
    ("mxfp8, one matrix", "torchao", """
q = MXTensor.to_mx(x, torch.float8_e4m3fn, 32, is_swizzled_scales=True)"""),
    ("silu·mul and nvfp4, groups", "gq", """
q = gq.grouped_block_quantize(gate_up, offsets, producer="silu_and_mul")"""),
    ("silu·mul and nvfp4, one matrix", "FlashInfer", """
h = flashinfer.silu_and_mul(gate_up)
scale = torch.ones(1, device=x.device)
q, sf = flashinfer.fp4_quantize(h, scale, 16, is_sf_swizzled_layout=True)"""),
    ("silu·mul and nvfp4, one matrix", "torchao", """
gate, up = gate_up.chunk(2, -1)
h = torch.nn.functional.silu(gate) * up
q = NVFP4Tensor.to_nvfp4(h, is_swizzled_scales=True)"""),
]  # fmt: skip


def examples(readme):
    """The README's program with NumPy, and the one with torch, which uses the GPU."""
    text = pathlib.Path(readme).read_text()
    for language in "python", "python torch":
        code = re.search(rf"^```{language}\n(import gq.*?)^```", text, re.S | re.M)
        exec(code[1], {})
        print(f"PASS the README's example: {language}", flush=True)
    x = torch.randn(300, 256, device=WHERE).bfloat16()
    offsets = torch.tensor([0, 100, 100, 300], dtype=torch.int32, device=WHERE)
    w = gq.quantize_weights(torch.randn(3, 128, 256, device=WHERE).bfloat16())
    y = gq.grouped_mm(gq.grouped_block_quantize(x, offsets), w)
    assert y.shape == (300, 128) and y.device == x.device and y.isfinite().all()
    print("PASS the same on torch tensors", flush=True)


def data():
    """The names that the code of a row uses."""
    torch.manual_seed(0)
    sizes = [M // G] * G
    return {
        "torch": torch,
        "x": torch.randn(M, K, device=WHERE).bfloat16(),
        "gate_up": torch.randn(M, 2 * K, device=WHERE).bfloat16(),
        "sizes": sizes,
        "offsets": torch.arange(G + 1, dtype=torch.int32, device=WHERE) * (M // G),
    }


def host_time(call):
    """Microseconds a call, which only puts work into the queue."""
    wait = torch.cuda.synchronize if CUDA else lambda: None
    best = 1e9
    for _ in range(20):
        wait()
        best = min(best, timeit.timeit(call, number=20) / 20)
    wait()
    return best * 1e6


def device_time(call):
    """(microseconds, how they were measured)"""
    if not CUDA:
        return None, "no GPU"
    how, run = "graph", None
    try:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            call()
        run = graph.replay
    except Exception as error:  # noqa: BLE001
        torch.cuda.synchronize()
        how, run = f"calls ({type(error).__name__} in a capture)", call
    times = []
    for _ in range(50):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    return statistics.median(times), how


def measure(what, whose, code):
    names = data()
    row = {"what": what, "whose": whose, "lines": len(code.strip().splitlines())}
    try:
        exec(IMPORTS[whose], names)
        program = compile(code.strip(), whose, "exec")
        call = lambda: exec(program, names)  # noqa: E731
        for _ in range(3):
            call()
    except Exception as error:  # noqa: BLE001
        message = str(error).strip().splitlines() or [""]
        return {**row, "skipped": f"{type(error).__name__}: {message[0][:100]}"}
    device, how = device_time(call)
    return {**row, "host_us": host_time(call), "device_us": device, "how": how}


def main():
    examples(sys.argv[1])
    rows = [measure(*row) for row in ROWS]
    where = torch.cuda.get_device_name() if CUDA else "the CPU"
    print(f"\n{M} x {K} bf16, {G} groups, torch {torch.__version__}, {where}\n")
    print("| work | library | lines | host, us | device, us |\n|---|---|---|---|---|")
    for r in rows:
        if "skipped" in r:
            times = f"skipped: {r['skipped']} |"
        else:
            device = "-" if r["device_us"] is None else f"{r['device_us']:.1f}"
            note = "" if r["how"] == "graph" else f" ({r['how']})"
            times = f"{r['host_us']:.1f} | {device}{note}"
        print(f"| {r['what']} | {r['whose']} | {r['lines']} | {times} |")
    if len(sys.argv) > 2:
        shape = {"m": M, "k": K, "groups": G, "device": where}
        table = json.dumps({**shape, "rows": rows}, indent=1)
        pathlib.Path(sys.argv[2]).write_text(table + "\n")
    ours = [r for r in rows if r["whose"] == "gq"]
    return any("skipped" in r for r in ours)


if __name__ == "__main__":
    sys.exit(main())
