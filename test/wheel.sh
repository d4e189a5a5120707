#!/usr/bin/env bash
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# wheel.sh BUILD_DIR WORK_DIR: makes the wheel, installs it in an environment that
# has nothing else but NumPy, and runs the example there.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1") work=$(realpath -m "$2") root=$PWD
rm -rf "$work"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
GQ_BUILD_DIR=$build tools/wheel.sh "$work"
wheel=$(ls "$work"/gq_mlir-*-py3-none-manylinux*.whl)

# One shared library, which needs the C library and exports gq's names alone.
"$build/venv/bin/python" -m zipfile -e "$wheel" "$work/wheel"
library=$work/wheel/gq/lib/libgq.so
if ldd "$library" | grep -vE 'linux-vdso|ld-linux|lib(c|m|dl|rt|pthread)\.so'; then
  echo "libgq.so needs other libraries"
  exit 1
fi
if nm -D --defined-only "$library" | awk '{ print $3 }' | grep -vE '^(gq|mgpuStream)'; then
  echo "libgq.so exports other names"
  exit 1
fi
ls "$work"/wheel/gq/lib/gq/device/gq-sm_90a.bc "$work/wheel/gq/py.typed" >/dev/null

# The environment of the tests lends its NumPy: there is no network here.
/usr/bin/python3 -m venv "$work/env"
packages=$("$work/env/bin/python" -c 'import site; print(site.getsitepackages()[0])')
lent=$("$build/venv/bin/python" -c 'import pathlib, numpy
print(pathlib.Path(numpy.__file__).parents[1])')
for part in numpy numpy.libs; do
  ln -s "$lent/$part" "$packages/$part"
done
"$work/env/bin/pip" install -q --disable-pip-version-check --no-index --no-deps "$wheel"
cd "$work"
unset PYTHONPATH GQ_LIBRARY
export GQ_CACHE_DIR=$work/cache
"$work/env/bin/python" - "$root/README.md" "$root/examples/moe_layer.ipynb" <<'PYTHON'
import importlib.metadata
import json
import pathlib
import re
import sys

readme, notebook = map(pathlib.Path, sys.argv[1:])
names = {}
example = re.search(r"^```python\n(import gq.*?)^```", readme.read_text(), re.S | re.M)
exec(example[1], names)
assert names["y"].shape == (300, 128) and names["h"].scales.any()
names = {}
for cell in json.loads(notebook.read_text())["cells"]:
    if cell["cell_type"] == "code":
        exec("".join(cell["source"]), names)
gq = names["gq"]
assert gq.__file__.startswith(sys.prefix) and "ml_dtypes" not in sys.modules
assert gq.__version__ == importlib.metadata.version("gq-mlir")
extras = importlib.metadata.metadata("gq-mlir").get_all("Provides-Extra")
assert set(extras) == {"cuda", "ml-dtypes"}, extras
PYTHON

# The library of the wheel beside others, in every order.
PYTHONPATH=$work/wheel "$build/venv/bin/python" "$root/test/import_order.py"
