# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gq-bench on the CPU, with small shapes: what it writes, and that it notices work
that was not done."""

import itertools
import json
import os
import pathlib
import subprocess
import xml.etree.ElementTree

import pytest

BUILD = pathlib.Path(os.environ["GQ_LIBRARY"]).resolve().parents[1]
SVG = "{http://www.w3.org/2000/svg}"
NVFP4, MXFP4, MXFP8 = 0.5 + 1 / 16, 0.5 + 1 / 32, 1 + 1 / 32
FP8_BLOCKS = 1 + 4 / 128
# Bytes an element that must be read and written once.
OPERATORS = {
    "quantize-bf16": 2 + NVFP4,
    "quantize-f16": 2 + NVFP4,
    "quantize-f32": 4 + NVFP4,
    "quantize-bf16-global-scale": 2 + NVFP4,
    "quantize-bf16-packed": 2 + NVFP4,
    "quantize-bf16-dbias": 2 + NVFP4,
    "quantize-bf16-both": 2 + 2 * NVFP4,
    "te-bf16": 2 + NVFP4,
    "te-bf16-both": 2 + 2 * NVFP4,
    "te-bf16-both-dbias": 2 + 2 * NVFP4,
    "te-bf16-both-16x16": 2 + 2 * NVFP4,
    "te-bf16-both-four-over-six": 2 + 2 * NVFP4,
    # An amax a row, and for both directions one a column of a group: counted below.
    "te-bf16-tokens": 2 + NVFP4,
    "te-bf16-both-tokens": 2 * 2 + 2 * NVFP4,
    "te-bf16-columns": 2 + NVFP4,
    "te-bf16-columns-hadamard": 2 + NVFP4,
    "te-bf16-columns-gradient": 2 + NVFP4,
    "te-bf16-both-hadamard": 2 + 2 * NVFP4,
    "te-bf16-both-gradient": 2 + 2 * NVFP4,
    "silu-quantize-bf16": 4 + NVFP4,
    "silu-fastmath-quantize-bf16": 4 + NVFP4,
    "silu-te-bf16-both": 4 + 2 * NVFP4,
    "silu-mxfp8-bf16-both": 4 + 2 * MXFP8,
    "gather-quantize-bf16": 2 + NVFP4,
    "mxfp8-bf16": 2 + MXFP8,
    "mxfp8-bf16-dbias": 2 + MXFP8,
    "mxfp8-bf16-both": 2 + 2 * MXFP8,
    "mxfp8-bf16-both-dbias": 2 + 2 * MXFP8,
    "dgelu-mxfp8-bf16-both-dbias": 4 + 2 * MXFP8,
    "mxfp4-bf16": 2 + MXFP4,
    "mxfp4-bf16-both": 2 + 2 * MXFP4,
    "fp8-1x128-bf16": 2 + FP8_BLOCKS,
    "fp8-1x128-bf16-both": 2 + 2 * FP8_BLOCKS,
    "delayed-e4m3-bf16": 2 + 1,
    "delayed-e4m3-bf16-both": 2 + 2,
    # The input twice: its scale is known when all of it has been read.
    "current-e4m3-bf16": 4 + 1,
    "current-e4m3-bf16-both": 4 + 2,
    # Of counts, offsets and scale offsets, whatever the rows.
    "group-offsets": None,
    "amax-bf16": 2,
    "amax-bf16-rows": 2,
    "amax-bf16-both": 2,
    "amax-bf16-hadamard": 2,
    "dequantize-nvfp4": 2 + NVFP4,
    "dequantize-nvfp4-columns": 2 + NVFP4,
    "dequantize-mxfp4": 2 + MXFP4,
    "dequantize-mxfp8": 2 + MXFP8,
    "dequantize-mxfp8-columns": 2 + MXFP8,
    "dequantize-fp8": 2 + FP8_BLOCKS,
    "dequantize-e4m3": 2 + 1,
    "dequantize-nvfp4-silu": 2 + NVFP4,
    "fake-nvfp4": 2 + 2,
    "fake-mxfp8": 2 + 2,
    # Of tokens and weights; those with more columns of weights are for GPUs.
    "mm-nvfp4-n1536": NVFP4,
    "mm-nvfp4-n1536-tiles256": NVFP4,
    "mm-nvfp4-n1536-silu": NVFP4,
    "mm-nvfp4-n1536-silu-halves": NVFP4,
    "mm-nvfp4-n1536-silu-quantized": NVFP4,
    "mm-fp8-n1536": 1 + 4 / 128,
    "mm-e4m3-n1536": 1,
    "wgrad-nvfp4-n1536": NVFP4,
}
# More groups than rows, scale columns that are padded, a single group.
SHAPES = [(5, 128, 9), (130, 256, 3), (1, 128, 1)]


# Parts of a report.
MACHINE = """{"date": "", "groupMultiple": 1, "groupSizes": "equal",
              "capacity": 1, "machine": {"target": "", "name": "",
              "chip": null, "driver": null, "cuda": null},"""
COPIES = '"copies": [{"bytes": 1, "microseconds": 1}],'
ROW = """{"operator": "", "rows": 1, "columns": 16, "groups": 1, "bytes": 1,
          "microseconds": %d, "copyMicroseconds": 1, "separateMicroseconds": 1}"""


def bench(*options, **environment):
    return subprocess.run(
        [BUILD / "bin" / "gq-bench", *options], text=True, capture_output=True,
        env={**os.environ, **environment},
    )  # fmt: skip


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    shapes = [f"--shape={m}x{k}x{g}" for m, k, g in SHAPES]
    done = bench("--target=cpu", "--quick", *shapes, "--json", folder / "bench.json",
                 "--svg", folder / "bench.svg")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout, folder


def test_json(measured):
    report = json.loads((measured[1] / "bench.json").read_text())
    assert report["gq"] and report["date"].endswith("Z")
    assert report["machine"]["target"] == "cpu" and report["machine"]["name"]
    assert report["groupMultiple"] == report["capacity"] == 1
    assert report["groupSizes"] == "uneven"
    assert report["machine"]["isa"] in ("baseline", "avx2", "avx512")
    assert report["machine"]["threads"] > 0 and report["machine"]["load"] >= 0
    for copy in report["copies"]:
        # The faster of two ways.
        ways = [copy["memcpyMicroseconds"], copy["kernelMicroseconds"]]
        assert copy["microseconds"] == min(time for time in ways if time) > 0
        assert (ways[1] is None) == (report["machine"]["threads"] == 1)
    peak = max(copy["terabytesPerSecond"] for copy in report["copies"])
    assert report["peakTerabytesPerSecond"] == peak > 0
    flops, launch = report["peakTeraflopsPerSecond"], report["launchMicroseconds"]
    assert min(flops, launch) > 0
    keys = [(r["operator"], r["rows"], r["columns"], r["groups"]) for r in report["rows"]]
    assert keys == [(name, *shape) for name in OPERATORS for shape in SHAPES]
    for row in report["rows"]:
        elements = row["rows"] * row["columns"]
        dbias = 2 * row["groups"] * row["columns"] if "dbias" in row["operator"] else 0
        amaxes = 0
        if "tokens" in row["operator"] or row["operator"] in ("amax-bf16-rows", "amax-bf16-both"):
            amaxes = 4 * row["rows"]
            if "both" in row["operator"]:
                amaxes += 4 * row["groups"] * row["columns"]
        if row["operator"] == "group-offsets":
            assert row["bytes"] == 4 * (3 * row["groups"] + 1)
        elif row["operator"].startswith("mm-"):
            # The weights of groups that have rows, and bf16 results.
            of_token = OPERATORS[row["operator"]]
            of_weight = 1 + 4 / 128**2 if "fp8" in row["operator"] else of_token
            columns = 768 if "silu" in row["operator"] else 1536
            of_result = NVFP4 if "quantized" in row["operator"] else 2
            weights = row["bytes"] - elements * of_token - row["rows"] * columns * of_result
            used = weights / (1536 * row["columns"] * of_weight)
            assert used in range(1, min(row["rows"], row["groups"]) + 1)
        elif row["operator"].startswith("wgrad-"):
            codes = (row["columns"] + 1536) * row["rows"] * NVFP4
            assert row["bytes"] == int(codes + row["groups"] * 1536 * row["columns"] * 2)
        else:
            assert row["bytes"] == int(
                elements * OPERATORS[row["operator"]] + dbias + amaxes
            )
        assert min(row["microseconds"], row["copyMicroseconds"]) > 0
        products = row["operator"].startswith(("mm-", "wgrad-"))
        assert row["flops"] == (2 * elements * 1536 if products else 0)
        assert row["copyMicroseconds"] <= row["memcpyMicroseconds"]
        shares = row["shares"]
        assert row["limit"] == max(shares, key=shares.get)
        assert shares["memory"] == row["fractionOfPeak"]
        assert shares["flops"] == pytest.approx(row["teraflopsPerSecond"] / flops, rel=1e-4)
        assert shares["latency"] == pytest.approx(launch / row["microseconds"], rel=1e-4)
        rest = 1 - shares["latency"] - max(shares["memory"], shares["flops"])
        assert shares["instructions"] == pytest.approx(max(rest, 0), abs=1e-5)
        times = ("hostMicroseconds", "coldMilliseconds", "cachedMilliseconds")
        assert all(row[name] is None for name in times)
        rate = row["bytes"] / row["microseconds"] * 1e-6
        for name, expected in (
            ("terabytesPerSecond", rate),
            ("teraflopsPerSecond", row["flops"] / row["microseconds"] * 1e-6),
            ("fractionOfPeak", rate / peak),
            ("timeOverCopy", row["microseconds"] / row["copyMicroseconds"]),
            ("speedUp", row["separateMicroseconds"] / row["microseconds"]),
        ):
            assert row[name] == pytest.approx(expected, rel=1e-4)


def test_table(measured):
    lines = measured[0].splitlines()
    rows = [line.split() for line in lines if line.split()[:1] and line.split()[0] in OPERATORS]
    assert [(row[0], row[1], row[2]) for row in rows] == [
        (name, f"{m}x{k}", str(g)) for name in OPERATORS for m, k, g in SHAPES
    ]
    # Products have TFLOP/s, too.
    assert all(len(row) == 13 + row[0].startswith(("mm-", "wgrad-")) for row in rows)
    limits = {"memory", "flops", "latency", "instructions"}
    assert {row[-2] for row in rows} <= limits


def test_limits(measured, tmp_path):
    """Each of them, of times that are made up."""
    report = json.loads((measured[1] / "bench.json").read_text())
    report["copies"] = [{"bytes": 500_000, "microseconds": 1}]  # 1 TB/s
    report["peakTeraflopsPerSecond"] = 2
    report["launchMicroseconds"] = 2
    expected = {"memory": 0.8, "flops": 0.7, "latency": 0.5, "instructions": 0.6}
    del report["rows"][len(expected) :]
    for row in report["rows"]:
        row |= {"microseconds": 10, "bytes": 1_000_000, "flops": 1_000_000}
    memory, flops, latency, instructions = report["rows"]
    memory["bytes"] = 8_000_000
    flops["flops"] = 14_000_000
    latency["microseconds"] = 4
    instructions["bytes"] = 2_000_000
    (tmp_path / "made-up.json").write_text(json.dumps(report))
    done = bench("--from", tmp_path / "made-up.json", "--json", tmp_path / "again.json")
    assert (done.returncode, done.stderr) == (0, "")
    again = json.loads((tmp_path / "again.json").read_text())
    limits = {row["limit"]: row["shares"][row["limit"]] for row in again["rows"]}
    assert limits == pytest.approx(expected)


def test_times(tmp_path):
    """What a graph takes to compile, with a cache and without."""
    done = bench("--target=cpu", "--quick", "--operator=quantize-bf16", "--shape=5x64x2",
                 "--times", "--json", tmp_path / "bench.json",
                 GQ_CACHE_DIR=str(tmp_path / "cache"))  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "compile ms" in done.stdout
    (row,) = json.loads((tmp_path / "bench.json").read_text())["rows"]
    # A call on the CPU is its work. Half, in case the machine is busy.
    assert row["hostMicroseconds"] is None
    assert 0 < row["cachedMilliseconds"] < row["coldMilliseconds"] / 2


def test_svg(measured):
    root = xml.etree.ElementTree.parse(measured[1] / "bench.svg").getroot()
    texts = [text.text for text in root.iter(SVG + "text")]
    assert all(name in texts for name in OPERATORS)
    assert texts.count("5 × 128, G = 9") == len(OPERATORS)
    width, height = int(root.get("width")), int(root.get("height"))
    bars = list(root.iter(SVG + "rect"))[1:]  # the first is the background
    # Three a row and two in the legend, inside of the picture.
    assert len(bars) == 3 * len(OPERATORS) * len(SHAPES) + 2
    for bar in bars:
        assert float(bar.get("x")) + float(bar.get("width")) <= width
        assert float(bar.get("y")) + float(bar.get("height")) <= height


def label_boxes(root):
    """Boxes of the labels. A character is 0.65 em wide, which few of a sans-serif
    are, and an em high."""
    for text in root.iter(SVG + "text"):
        size = float(text.get("font-size", root.get("font-size")))
        width = 0.65 * size * len(text.text)
        anchor = {None: 0, "middle": 0.5, "end": 1}[text.get("text-anchor")]
        left = float(text.get("x")) - anchor * width
        top = float(text.get("y")) - 0.8 * size
        yield left, top, left + width, top + size, text.text


def overlap(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


@pytest.fixture
def drawn(measured, tmp_path):
    """A picture of times that are six digits long, and of factors from 1/50 to 50."""
    report = json.loads((measured[1] / "bench.json").read_text())
    factors = [50, 1.5, 1.02, 1.001, 0.97, 0.6, 0.02]
    for i, row in enumerate(report["rows"]):
        row["microseconds"] = 123456.789 if i % 2 else 0.987654321
        row["separateMicroseconds"] = row["microseconds"] * factors[i % len(factors)]
        row["copyMicroseconds"] = row["microseconds"] / (39876.54 if i % 3 else 1.0)
    (tmp_path / "report.json").write_text(json.dumps(report))
    done = bench("--from", tmp_path / "report.json", "--svg", tmp_path / "report.svg")
    assert done.returncode == 0, done.stderr
    root = xml.etree.ElementTree.parse(tmp_path / "report.svg").getroot()
    return root, [factors[i % len(factors)] for i in range(len(report["rows"]))]


def test_labels_do_not_touch(drawn):
    root, _ = drawn
    boxes = list(label_boxes(root))
    touching = [(a[4], b[4]) for a, b in itertools.combinations(boxes, 2) if overlap(a, b)]
    assert touching == []
    width = float(root.get("width"))
    assert [b[4] for b in boxes if b[0] < 0 or b[2] > width] == []
    bars = [b for b in root.iter(SVG + "rect") if b.get("width") != "100%"]
    extents = [[float(b.get(k)) for k in ("x", "y", "width", "height")] for b in bars]
    corners = [(x, y, x + w, y + h) for x, y, w, h in extents if w]
    assert [b[4] for b in boxes for bar in corners if overlap(b, bar)] == []


def test_speedups_and_slowdowns_are_apart(drawn):
    root, factors = drawn
    colors = {"#1b7837": 1, "#b2182b": -1}
    bars = [b for b in root.iter(SVG + "rect") if b.get("fill") in colors]
    sides = [1 if f > 1 else -1 for f in factors if f != 1.001]
    assert [colors[b.get("fill")] for b in bars] == sides
    faster = [b for b in bars if colors[b.get("fill")] == 1]
    slower = [b for b in bars if colors[b.get("fill")] == -1]
    (middle,) = {float(b.get("x")) for b in faster}
    ends = [float(b.get("x")) + float(b.get("width")) for b in slower]
    assert ends == pytest.approx([middle] * len(slower), abs=0.11)
    # A factor and its inverse have bars of one length.
    inverse = slower[[f for f in factors if f < 1].index(0.02)]
    assert float(faster[0].get("width")) == float(inverse.get("width"))


def test_drawn_from_json(measured):
    folder = measured[1]
    done = bench("--from", folder / "bench.json", "--svg", folder / "again.svg",
                 GQ_CUDA_DRIVER="no-such-file")  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (folder / "again.svg").read_text() == (folder / "bench.svg").read_text()


def test_group_multiple(tmp_path):
    done = bench("--target=cpu", "--quick", "--operator=te-bf16-both", "--shape=600x64x3",
                 "--group-multiple=128", "--json", tmp_path / "bench.json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "groups of a multiple of 128 rows\n" in done.stdout
    assert json.loads((tmp_path / "bench.json").read_text())["groupMultiple"] == 128


@pytest.mark.parametrize("sizes", ["uneven", "equal", "zipf"])
def test_groups_of_other_sizes(sizes, tmp_path):
    """With rows in no group, which count as nothing."""
    done = bench("--target=cpu", "--quick", "--operator=delayed-e4m3-bf16-both",
                 "--shape=600x64x3", f"--group-sizes={sizes}", "--capacity=2",
                 "--json", tmp_path / "bench.json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (f"{sizes} groups\n" in done.stdout) == (sizes != "uneven")
    assert "2 times the rows that are in groups\n" in done.stdout
    report = json.loads((tmp_path / "bench.json").read_text())
    assert report["groupSizes"] == sizes and report["capacity"] == 2
    assert report["rows"][0]["rows"] == 600
    assert report["rows"][0]["bytes"] == 600 * 64 * 4
    again = bench("--from", tmp_path / "bench.json", "--svg", tmp_path / "bench.svg")
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize("target, status", [("cuda", 1), ("cpu", 0)])
def test_slower_than_separate_ops(target, status, tmp_path):
    """Fails, but draws it all the same."""
    rows = ",".join(
        (ROW % microseconds).replace('"operator": ""', f'"operator": "{name}"')
        for name, microseconds in (("even", 1), ("slower", 2))
    )
    machine = MACHINE.replace('"target": ""', f'"target": "{target}"')
    (tmp_path / "bench.json").write_text(f'{machine}{COPIES}"rows": [{rows}]}}')
    done = bench("--from", tmp_path / "bench.json", "--svg", tmp_path / "bench.svg")
    assert done.returncode == status, done.stderr
    slower = "slower, 1x16 in 1 groups: fused it takes 2.00 times as long as separate ops"
    assert done.stderr == (f"gq-bench: {slower}\n" if status else "")
    assert (tmp_path / "bench.svg").exists()


def test_unwritten_outputs(tmp_path):
    """The kernels of the fake driver do nothing: there is no result, and what
    was measured so far is written."""
    done = bench(
        "--target=cuda", "--quick", "--operator=quantize-bf16", "--shape=256x64x2",
        "--json", tmp_path / "bench.json",
        GQ_CUDA_DRIVER=str(BUILD / "lib" / "libtest_cuda_fake.so"),
    )  # fmt: skip
    assert done.returncode == 1
    assert "memcpy copies: the kernel that copies does not" in done.stderr
    assert "quantize-bf16, 256x64 in 2 groups: " in done.stderr
    assert "bytes are not what the separate ops write" in done.stderr
    report = json.loads((tmp_path / "bench.json").read_text())
    assert report["rows"] == []
    assert all(copy["kernelMicroseconds"] is None for copy in report["copies"])
    assert report["launchMicroseconds"] is None
    assert report["machine"]["chip"] == "sm_90a" and report["machine"]["cuda"] == "13.0"


@pytest.mark.parametrize(
    "options, message",
    [
        (["--target=abacus"], "--target=abacus: expected cpu or cuda"),
        (["--operator=sing"], "--operator=sing: there is none of this name"),
        (["--shape=8x16x1"], "--shape=8x16x1: expected MxKxG"),
        (["--shapes=all"],
         "--shapes=all: expected models, training, groups, cpu or small"),
        (["--shape=0x32x1"], "--shape=0x32x1: expected MxKxG"),
        (["--shape=8x32x1x"], "--shape=8x32x1x: expected MxKxG"),
        (["--shape=8x32"], "--shape=8x32: expected MxKxG"),
        (["--group-multiple=0"], "--group-multiple=0: expected a number of rows"),
        (["--group-multiple=8x"], "--group-multiple=8x: expected a number of rows"),
        (["--group-sizes=big"], "--group-sizes=big: expected uneven, equal or zipf"),
        (["--capacity=0"], "--capacity=0: expected a number from 1 to 64"),
        (["now"], "'now' is no option"),
        (["--from", "no-such-file"], "no-such-file: No such file or directory"),
        (["--target=cuda"], "no CUDA driver"),
    ],
)
def test_refused(options, message):
    done = bench(*options, GQ_CUDA_DRIVER="no-such-file")
    assert done.returncode == 1
    assert f"gq-bench: {message}" in done.stderr


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "(line"),
        ("[]", "not a report of gq-bench"),
        ('{"date": "", "groupMultiple": 1, "groupSizes": "equal", "capacity": 1,'
         ' "machine": {}, "copies": [], "rows": []}',
         "not a report of gq-bench"),
        (MACHINE + '"copies": [], "rows": []}', "no copies"),
        (MACHINE.replace("equal", "big") + '"copies": [], "rows": []}', "groupSizes"),
        (MACHINE + COPIES + '"rows": [{"operator": 1}]}', "not a report of gq-bench"),
        (MACHINE + COPIES + '"rows": [' + ROW % 1 + "," + ROW % 0 + "]}", "not positive"),
    ],
)  # fmt: skip
def test_refused_json(tmp_path, text, message):
    (tmp_path / "bench.json").write_text(text)
    done = bench("--from", tmp_path / "bench.json", "--svg", tmp_path / "bench.svg")
    assert done.returncode == 1
    assert "bench.json: " in done.stderr and message in done.stderr
    assert not (tmp_path / "bench.svg").exists()
