#!/usr/bin/env python3
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pictures of the documentation that are computed.

  figures.py FOLDER            writes tile128x4.svg, fractions.svg, roofline.svg and
                               scaling.svg
  figures.py --check FOLDER    fails if they are not what it would write

The measurements are those of docs/notes/gpu-bench.json, docs/notes/gpu-grouped-mm.md
and docs/notes/distributed.json.
"""

import json
import math
import pathlib
import sys

COLORS = ["#cfe2f3", "#fce5cd", "#d9ead3", "#ead1dc"]
DARK = ["#2a6fbb", "#c7741c", "#4b8b3b", "#9c3d6b"]


def text(x, y, words, kind="", anchor="middle"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{words}</text>'


def rect(x, y, width, height, fill, stroke="#888"):
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'fill="{fill}" stroke="{stroke}" stroke-width="0.7"/>'
    )


def path(points, color, dashes=""):
    d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return f'<path d="{d}" fill="none" stroke="{color}" stroke-width="1.6" stroke-dasharray="{dashes}"/>'


def svg(width, height, parts):
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">'
    )
    style = (
        "<style>text{fill:#222}.s{font-size:11px;fill:#555}.h{font-weight:bold}"
        ".m{font-family:monospace;font-size:10px}</style>"
    )
    return "\n".join([head, style, rect(0, 0, width, height, "#fff", "none"), *parts, "</svg>", ""])


def byte_of(row, column):
    """Where in its tile the scale of a row and a column is stored."""
    return row % 32 * 16 + row % 128 // 32 * 4 + column % 4


def tile128x4():
    parts = [text(20, 26, "A tile: 128 rows, 4 columns", "h", "start")]
    left, top, cell, band = 70, 60, 34, 84
    for c in range(4):
        parts.append(text(left + (c + 0.5) * cell, top - 8, f"c={c}", "s"))
    for b in range(4):
        y = top + b * band
        parts.append(rect(left, y, 4 * cell, band - 6, COLORS[b]))
        # The first two rows of 32, and the last.
        for i, (row, dy) in enumerate(((32 * b, 0), (32 * b + 1, 22), (32 * b + 31, 56))):
            parts.append(text(left - 8, y + dy + 15, row, "s", "end"))
            for c in range(4):
                parts.append(rect(left + c * cell, y + dy, cell, 22, COLORS[b]))
                parts.append(text(left + (c + 0.5) * cell, y + dy + 15, byte_of(row, c), "m"))
            if i == 1:
                parts.append(text(left + 2 * cell, y + 53, "…"))
    parts.append(text(20, top + 4 * band + 14, "In each cell: the byte of the tile that holds it.", "s", "start"))

    x0, y0, size, height = 330, 60, 33, 22
    parts.append(text(x0 - 20, 26, "The same tile in memory: 32 lines of 16 bytes", "h", "start"))
    where = {byte_of(r, c): (r, c) for r in range(128) for c in range(4)}
    assert sorted(where) == list(range(512))
    for i, line in enumerate((0, 1, 2, 31)):
        y = y0 + i * (height + 4) + (26 if line == 31 else 0)
        parts.append(text(x0 - 8, y + 15, 16 * line, "s", "end"))
        for b in range(16):
            row, column = where[16 * line + b]
            parts.append(rect(x0 + b * size, y, size, height, COLORS[row // 32]))
            parts.append(text(x0 + (b + 0.5) * size, y + 15, f"{row},{column}", "m"))
    parts.append(text(x0 + 8 * size, y0 + 3 * (height + 4) + 16, "…"))
    parts.append(text(x0, y0 + 150, "In each cell: row, column of the scale. Rows r, r+32, r+64, r+96 share a line.", "s", "start"))

    y = 262
    parts.append(text(x0 - 20, y, "A group: padded to 128 rows and 4 columns, tile after tile", "h", "start"))
    for i in range(2):
        for j in range(3):
            x, ty = x0 + 20 + j * 62, y + 20 + i * 62
            parts.append(rect(x, ty, 58, 58, "#f4f4f4"))
            parts.append(rect(x, ty, 48 if j == 2 else 58, 58 if i == 0 else 26, COLORS[0], "none"))
            parts.append(text(x + 29, ty + 34, 3 * i + j, "h"))
    parts.append(text(x0 + 8, y + 54, "rows 0–127", "s", "end"))
    parts.append(text(x0 + 8, y + 116, "128–…", "s", "end"))
    for j, line in enumerate((
        "Tiles are numbered in the order of memory:",
        "along K first, then the next 128 rows.",
        "Grey is padding, written as zeros.",
        "The next group begins with a new tile,",
        "at the row that scale_offsets gives it.",
    )):  # fmt: skip
        parts.append(text(x0 + 230, y + 40 + 20 * j, line, "s", "start"))
    return svg(880, 430, parts)


# 32768x8192 with 8 groups, 8192x5120 and 4096x8192 with 128.
SHAPES = ("32768×8192, 8 groups", "8192×5120, 128 groups", "4096×8192, 128 groups")
OPERATORS = {
    "MXFP8, rows": "mxfp8-bf16",
    "NVFP4, rows": "quantize-bf16",
    "NVFP4 of silu(gate)·up": "silu-quantize-bf16",
    "MXFP8, rows and columns": "mxfp8-bf16-both",
    "NVFP4 (te), rows and columns": "te-bf16-both",
}


def measured(name):
    """The JSON of docs/notes of this name."""
    file = pathlib.Path(__file__).parent / "notes" / name
    return json.loads(file.read_text())


def fractions():
    left, top, width, step = 230, 62, 560, 62
    bench = measured("gpu-bench.json")
    machine = bench["machine"]["name"].removeprefix("NVIDIA ")
    peak, date = bench["peakTerabytesPerSecond"], bench["date"][:10]
    title = f"Fraction of the copy's speed, {machine} (peak copy {peak:.2f} TB/s), {date}"
    parts = [text(20, 26, title, "h", "start")]
    bottom = top + step * len(OPERATORS)
    for i in range(6):
        x = left + width * i / 5
        parts.append(path([(x, top - 8), (x, bottom - 6)], "#aaa" if i == 5 else "#e4e4e4"))
        parts.append(text(x, bottom + 10, f"{i / 5:.1f}", "s"))
    for i, (name, operator) in enumerate(OPERATORS.items()):
        y = top + i * step
        rows = [row for row in bench["rows"] if row["operator"] == operator]
        values = [row["fractionOfPeak"] for row in rows if row["rows"] > 128]
        parts.append(text(left - 10, y + 28, name, anchor="end"))
        for j, value in enumerate(values):
            parts.append(rect(left, y + j * 16, value * width, 14, DARK[j], "none"))
            parts.append(text(left + value * width + 5, y + j * 16 + 11, f"{value:.2f}", "s", "start"))
    for j, shape in enumerate(SHAPES):
        parts.append(rect(left + 180 * j, bottom + 26, 11, 11, DARK[j], "none"))
        parts.append(text(left + 180 * j + 17, bottom + 36, shape, "s", "start"))
    return svg(880, bottom + 54, parts)


# Rows a group, and the time of bf16 (torch) over that of NVFP4: K 5120, N 8192,
# 16 groups, one H200 (docs/notes/gpu-grouped-mm.md). The first five by memory
# traffic in TB/s of packed weights, the others in TFLOP/s.
ROWS = (1, 4, 8, 16, 32, 64, 128, 256, 512, 2048)
TBS = {1: 3.60, 4: 3.50, 8: 3.45, 16: 2.83, 32: 1.89, 64: 1.75}
TFLOPS = {128: 657, 256: 699, 512: 712, 2048: 733}
TIMES = (4.78, 4.77, 4.47, 3.61, 2.22, 2.04, 1.48, 0.98, 0.94, 0.93)
COPY = 4.24  # TB/s, measured in the same run
F16_PEAK = 989  # TFLOP/s, dense, of NVIDIA's data sheet of the H200


def roofline():
    n, k = 8192, 5120
    weights = n * k * 4.5 / 8  # bytes per group: codes and scales
    left, top, width, height = 80, 56, 620, 330
    low, high = 1.5, 13.0  # log2 of FLOP a byte of weights
    floor, ceiling = 1.0, 10.6  # log2 of TFLOP/s

    def at(intensity, tflops):
        return (
            left + (math.log2(intensity) - low) / (high - low) * width,
            top + (ceiling - math.log2(tflops)) / (ceiling - floor) * height,
        )

    parts = [text(20, 26, "Grouped matmul of NVFP4, one H200: K 5120, N 8192, 16 experts, 2026-11-22", "h", "start")]
    for e in range(2, 13):
        x = at(2**e, 2)[0]
        parts.append(path([(x, top), (x, top + height)], "#eee"))
        parts.append(text(x, top + height + 16, 2**e, "s"))
    for e in range(1, 11):
        y = at(4, 2**e)[1]
        parts.append(path([(left, y), (left + width, y)], "#eee"))
        parts.append(text(left - 8, y + 4, 2**e, "s", "end"))
    parts.append(text(left + width / 2, top + height + 36, "FLOP for each byte of packed weights"))
    parts.append(text(left - 8, top - 12, "TFLOP/s", "s", "end"))
    # The roofs of NVFP4 weights that are multiplied as f16, and of bf16 weights.
    ridge = F16_PEAK / COPY
    parts.append(path([at(2**low, 2**low * COPY), at(ridge, F16_PEAK), at(2**high, F16_PEAK)], "#444"))
    shrink = 4.5 / 16
    parts.append(path([at(2**low, 2**low * shrink * COPY), at(ridge / shrink, F16_PEAK)], "#999", "5 4"))
    x, y = at(50, 50 * COPY)
    parts.append(text(x - 10, y - 6, "memory: 4.24 TB/s,", "s", "end"))
    parts.append(text(x - 18, y + 9, "the best copy", "s", "end"))
    x, y = at(2**10.7, F16_PEAK)
    parts.append(text(x, y - 7, "tensor cores in f16: 989 TFLOP/s", "s"))
    for rows, times in zip(ROWS, TIMES):
        intensity = 2 * rows * n * k / weights
        tflops = TFLOPS.get(rows) or TBS[rows] * intensity
        x, y = at(intensity, tflops)
        bx, by = at(intensity, tflops / times)
        parts.append(path([(x, y), (bx, by)], "#ccc"))
        parts.append(f'<circle cx="{bx:.1f}" cy="{by:.1f}" r="4" fill="#fff" stroke="{DARK[1]}" stroke-width="1.6"/>')
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{DARK[0]}"/>')
        parts.append(text(x, max(by, y) + 18, rows, "s"))
    for j, (fill, words) in enumerate((
        (DARK[0], "gq, NVFP4"),
        ("#fff", "torch._grouped_mm, bf16"),
    )):  # fmt: skip
        y = top + 250 + 22 * j
        stroke = DARK[0] if j == 0 else DARK[1]
        parts.append(f'<circle cx="{left + 400}" cy="{y}" r="4.5" fill="{fill}" stroke="{stroke}" stroke-width="1.6"/>')
        parts.append(text(left + 412, y + 4, words, "s", "start"))
    y = top + 294
    parts.append(path([(left + 388, y), (left + 408, y)], "#999", "5 4"))
    parts.append(text(left + 412, y + 4, "the memory's roof for bf16 weights", "s", "start"))
    parts.append(text(left + 388, top + 320, "Below each pair: rows an expert.", "s", "start"))
    return svg(740, 460, parts)


def scaling():
    """Bars of layers with as many tokens in all, of the parts that follow each other."""
    rows = measured("distributed.json")
    total = max(row["tokens"] for row in rows)
    rows = [row for row in rows if row["tokens"] * row["ranks"] == total]
    rows.sort(key=lambda row: (row["layer"], row["ranks"]))
    steps = ("route", "dispatch", "matmuls", "combine")
    left, top, width, step = 230, 60, 560, 40
    most = max(row["capacity"]["layer"] for row in rows)
    parts = [text(20, 26, f"A layer of {total} tokens, experts on one H100 and on two, 2026-11-25: ms", "h", "start")]
    for i, row in enumerate(rows):
        x, y, found = left, top + i * step, row["capacity"]
        parts.append(text(left - 10, y + 17, f"{row['layer']}, {row['ranks']}", anchor="end"))
        for color, name in zip(DARK, steps):
            wide = width * found[name] / most
            parts.append(rect(x, y, wide, 24, color, "none"))
            x += wide
        parts.append(text(x + 8, y + 17, f"{found['layer']:.2f}", "s", "start"))
    bottom = top + step * len(rows)
    for j, name in enumerate(steps):
        parts.append(rect(left + 110 * j, bottom + 8, 11, 11, DARK[j], "none"))
        parts.append(text(left + 110 * j + 17, bottom + 18, name, "s", "start"))
    parts.append(text(left, bottom + 42, "Numbers: the whole layer, as one CUDA graph.", "s", "start"))
    return svg(880, bottom + 60, parts)


def main(folder, check):
    stale = []
    for make in (tile128x4, fractions, roofline, scaling):
        file = pathlib.Path(folder) / f"{make.__name__}.svg"
        if not check:
            file.write_text(make())
        elif file.read_text() != make():
            stale.append(f"{file} is not what docs/figures.py makes")
    return "\n".join(stale) or None


if __name__ == "__main__":
    sys.exit(main(sys.argv[-1], "--check" in sys.argv))
