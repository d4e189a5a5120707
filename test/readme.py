# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every command of the README, the tutorial and the how-to guides, and every
other code block in them.

readme.py BUILD_DIR. The shell blocks run in the project's folder. The two
commands that set up gq and run the tests are left to the demo and to CI; that
the Dockerfile and the workflow run them is checked.
"""

import ctypes
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[1]
build = pathlib.Path(sys.argv[1]).resolve()
environment = {
    **os.environ,
    "PYTHONPATH": str(root / "python"),
    "GQ_LIBRARY": str(build / "lib" / "libgq.so"),
}
RUN_ELSEWHERE = {"tools/demo.sh", "tools/test.sh"}
COMMANDS = {
    "sh": ["bash", "-euo", "pipefail", "-s"],
    "mlir": [str(build / "bin" / "gq-opt"), "-"],
    "python": [sys.executable, "-"],
}

def has_gpu():
    """Whether a CUDA driver finds a device."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int()
    return (
        driver.cuInit(0) == 0
        and driver.cuDeviceGetCount(ctypes.byref(count)) == 0
        and count.value > 0
    )


FILES = ["README.md", "docs/tutorial.md", "docs/howto.md"]
# What is shown, not run: a part of a program, settings of an editor, a formula.
SHOWN = {"cmake", "json", "lua", "text"}


def blocks(text):
    """(language, code) of each block; `python continued` goes on with the last."""
    before = ""
    for language, code in re.findall(r"^```([\w ]+)\n(.*?)^```", text, re.S | re.M):
        if language == "python continued":
            code = before + code
            language = "python"
        if language.startswith("python"):
            before = code
        yield language, code


failures = 0
seen = set()
done_before = set()
everything = [b for file in FILES for b in blocks((root / file).read_text())]
for language, block in everything:
    if language in SHOWN:
        continue
    if language == "sh gpu":
        if not has_gpu():
            print(f"not run, there is no GPU:\n{block}")
            continue
        language = "sh"
    if language == "python torch":
        if importlib.util.find_spec("torch") is None:
            print(f"not run, there is no torch:\n{block}")
            continue
        language = "python"
    seen.add(language)
    # What two files show is run once.
    if block in done_before or language == "sh" and block.strip() in RUN_ELSEWHERE:
        continue
    done_before.add(block)
    code = block.replace("build/", f"{build}/")
    done = subprocess.run(
        COMMANDS[language], input=code, text=True, cwd=root, env=environment,
        capture_output=True,
    )  # fmt: skip
    if done.returncode != 0:
        failures += 1
        print(f"{block}\nexited with {done.returncode}\n{done.stderr}")
for path in ("Dockerfile", ".github/workflows/ci.yml"):
    found = re.findall(r"(?:RUN|run:) (tools/\S+)", (root / path).read_text())
    if not RUN_ELSEWHERE <= set(found):
        failures += 1
        print(f"{path} runs {found}")
assert seen == set(COMMANDS), f"blocks in {seen} only"
sys.exit(failures != 0)
