# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""malform.py FOLDER: writes the .npy files of npy.mlir."""

import os
import sys

import numpy as np

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
array = np.arange(6, dtype=np.int32).reshape(2, 3)


def path(name):
    return os.path.join(folder, name + ".npy")


def write(name, content):
    with open(path(name), "wb") as file:
        file.write(content)


def write_header(name, text, data=array.tobytes()):
    text = text.encode()
    length = len(text).to_bytes(2, "little")
    write(name, b"\x93NUMPY\x01\x00" + length + text + data)


for version in (1, 2, 3):
    with open(path(f"version{version}"), "wb") as file:
        np.lib.format.write_array(file, array, version=(version, 0))
with open(path("version1"), "rb") as file:
    good = file.read()

# Valid, though numpy writes it otherwise.
write_header(
    "unusual", '{"shape":(2,3),\n "fortran_order" : False, "descr":"<i4"}')

# How ml_dtypes saves bfloat16: 1.0, 2.0.
write_header("ml_dtypes",
             "{'descr': '<V2', 'fortran_order': False, 'shape': (2,), }",
             b"\x80\x3f\x00\x40")

np.save(path("fortran"), np.asfortranarray(array))
np.save(path("big-endian"), array.astype(">i4"))
np.save(path("structured"), np.zeros(3, dtype=[("a", "i4"), ("b", "f4")]))
np.save(path("complex"), array.astype(np.complex64))
write("empty", b"")
write("text", b"1 2 3\n")
write("magic", good[:6])
write("header", good[:40])
write("data", good[:-1])
write("version9", good[:6] + b"\x09" + good[7:])
write_header("no-shape", "{'descr': '<i4', 'fortran_order': False, }")
write_header(
    "huge",
    "{'descr': '<i4', 'fortran_order': False, "
    "'shape': (4611686018427387904, 4), }")
write_header(
    "negative", "{'descr': '<i4', 'fortran_order': False, 'shape': (-2, -3), }")
write_header(
    "overflow",
    "{'descr': '<i4', 'fortran_order': False, 'shape': (99999999999999999999,)}"
)
write_header("open", "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3")
write_header("string", "{'descr': '<i4")
write_header("not-bool", "{'descr': '<i4', 'fortran_order': 0, 'shape': (2,)}")
