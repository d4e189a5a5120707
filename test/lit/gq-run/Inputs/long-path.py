# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""long-path.py FOLDER LENGTH COMMAND...: runs a command with --out PATH, where
PATH has LENGTH characters, and prints its exit code and what it has written, or
what it says last."""

import os
import shutil
import subprocess
import sys

folder, length, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
path = os.path.join(folder, "long")
shutil.rmtree(path, ignore_errors=True)
os.mkdir(path)
home = os.open(".", os.O_RDONLY)
os.chdir(path)
while len(path) + 101 < length:
    name = "a" * min(200, length - len(path) - 101)
    path += "/" + name
    os.mkdir(name)
    os.chdir(name)
path += "/" + "b" * (length - len(path) - 1)
name = os.path.basename(path)
os.fchdir(home)
run = subprocess.run(command + ["--out", path], capture_output=True, text=True)
if run.returncode:
    print(run.returncode, run.stderr.strip().rpartition(": ")[2])
else:
    print(run.returncode, sorted(os.listdir(path)))
