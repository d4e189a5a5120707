# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The golden matmuls of other formats than NVFP4: what the oracle makes of them.

make_golden.py FOLDER adds them to FOLDER, which has a manifest.json.
"""

import json
import math
import pathlib
import sys

import numpy as np
import oracle

SIZES = [40, 0, 90]
# Case -> formats of a and of b, N and K: blocks of 128 by 128 that N does not fill,
# tiles of scales that K does not.
CASES = {
    "fp8_grouped_mm": ("fp8_e4m3_1x128", "fp8_e4m3_128x128", 136, 256),
    "mxfp8_grouped_mm": ("mxfp8_e4m3", "mxfp8_e4m3", 72, 160),
    "mxfp4_grouped_mm": ("mxfp4", "mxfp4", 72, 160),
}


def arrays(case):
    """The arrays of a case by name. Sums are rounded once, to float64."""
    fmt, b_format, n, k = CASES[case]
    f, m, groups = oracle.FORMATS[fmt], sum(SIZES), len(SIZES)
    rng = np.random.default_rng(list(case.encode()))
    # Blocks of other magnitudes, some of zeros.
    a = rng.standard_normal((m, k)) * np.exp2(rng.integers(-6, 6, (m, 1)))
    a[::17] = 0
    b = rng.standard_normal((groups, n, k)) * np.exp2(rng.integers(-6, 6, (groups, 1, k)))
    alpha = rng.standard_normal(groups).astype(np.float32)
    offsets = np.cumsum([0, *SIZES]).astype(np.int32)
    a_codes, a_scales = oracle.quantize_rows(a.astype(np.float32), fmt)
    x = oracle.dequantize_codes(a_codes, a_scales, fmt)
    result = {"data": oracle.stored(a_codes, fmt), "offsets": offsets, "alpha": alpha}
    b_codes, b_scales, out = [], [], np.zeros((m, n))
    for e, (begin, end) in enumerate(zip(offsets, offsets[1:])):
        codes, scales = oracle.quantize_rows(b[e].astype(np.float32), b_format)
        y = oracle.dequantize_codes(codes, scales, b_format)
        b_codes.append(oracle.stored(codes, b_format))
        b_scales.append(scales)
        for row in range(begin, end):
            for column in range(n):
                total = math.fsum(x[row] * y[column])
                out[row, column] = float(alpha[e]) * total
    result |= {"b_data": np.stack(b_codes), "out": out}
    if f.scale == "f32":
        return result | {"scales": a_scales, "b_scales": np.stack(b_scales)}
    columns = oracle.up(k // f.block[1], 4)
    padded = [oracle.up(s, 128) for s in SIZES]
    tiles = [oracle.tile(a_scales[i:j]) for i, j in zip(offsets, offsets[1:])]
    return result | {
        "scales": np.concatenate(tiles).reshape(-1, columns),
        "b_scales": np.stack([oracle.tile(s).reshape(-1, columns) for s in b_scales]),
        "scale_offsets": np.cumsum([0, *padded[:-1]]).astype(np.int32),
    }


def main(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    for case, (fmt, b_format, n, k) in CASES.items():
        made = arrays(case)
        (folder / case).mkdir(exist_ok=True)
        for name, array in made.items():
            np.save(folder / case / f"{name}.npy", array)
        manifest[case] = {
            "op": "grouped_mm",
            "format": fmt,
            "b_format": b_format,
            "sizes": SIZES,
            "shape": {"G": len(SIZES), "N": n, "K": k},
            "note": "out[e] = alpha[e] * deq(A[e]) @ deq(B[e])^T, sums rounded once to float64",
            "arrays": {name: [x.dtype.name, list(x.shape)] for name, x in made.items()},
        }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
