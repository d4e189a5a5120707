# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The list of Hostile.def, beside this file, for compiled modules."""

import pathlib
import re

import numpy as np

TEXT = (pathlib.Path(__file__).parent / "Hostile.def").read_text()
GROUPS = [
    tuple(map(int, row))
    for row in re.findall(r"^HOSTILE_GROUP\((\d+), (\d+), (\d+)\)", TEXT, re.M)
]
# As in device/Hostile.h.
ROWS, SCALE_ROWS = sum(rows for rows, _, _ in GROUPS) + 5, 640
# name -> [(array, entry, value)]
CASES = {
    name: [
        (array, int(entry), value)
        for array, entry, value in re.findall(r"CHANGE\((\w+), (\d+), (-?\w+)\)", changes)
        if array != "NOTHING"
    ]
    for name, changes in re.findall(
        r'^HOSTILE_CASE\("([^"]+)",((?:\s*CHANGE\([^)]*\),?)+)\)', TEXT, re.M
    )
}
assert len(GROUPS) == TEXT.count("\nHOSTILE_GROUP(")
assert len(CASES) == TEXT.count("\nHOSTILE_CASE(")


def value_of(value, index):
    """A value of the list as an integer of the type `index`."""
    huge = 1 << (8 * np.dtype(index).itemsize - 2)
    return {"HUGE": huge, "-HUGE": -huge}.get(value) or int(value)


def offsets(name, index):
    """Offsets and scale offsets of a case; None if it changes anything else."""
    arrays = {
        "OFFSETS": np.array([o for _, o, _ in GROUPS] + [ROWS - 5], index),
        "SCALE_OFFSETS": np.array([s for _, _, s in GROUPS], index),
    }
    for array, entry, value in CASES[name]:
        if array not in arrays:
            return None
        arrays[array][entry] = value_of(value, index)
    return tuple(arrays.values())


# The cases of groups of rows with scale offsets.
OF_ROWS = [name for name in CASES if offsets(name, np.int64)]
