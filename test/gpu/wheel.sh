#!/usr/bin/env bash
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# wheel.sh WHEEL [TABLE.json [PEER.whl...]]: on a machine with a GPU and torch, installs
# the wheel, and those of peers, into an environment of its own, in which nothing but
# torch and what it needs is lent, and runs the README's examples and the table of
# peers.py there. $PYTHON is the Python that has torch.
set -euo pipefail
wheel=$(realpath "$1")
table=${2:+$(realpath -m "$2")}
peers=()
[ $# -lt 3 ] || mapfile -t peers < <(realpath "${@:3}")
root=$(realpath "$(dirname "$0")/../..")
python=${PYTHON:-python3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" -m venv --without-pip --system-site-packages "$work/env"
packages=$("$work/env/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
# Where $PYTHON is of an environment itself, that is not its system.
"$python" -c 'import pathlib, torch
print(pathlib.Path(torch.__file__).parents[1])' >"$packages/lent.pth"
# pip refuses a wheel for a newer C library than there is; its files may work all the same.
"$work/env/bin/python" -m pip install -q --no-index --no-deps "$wheel" ||
  { echo "pip does not take the wheel: unpacked"
    "$work/env/bin/python" -m zipfile -e "$wheel" "$packages"; }
for peer in ${peers+"${peers[@]}"}; do
  "$work/env/bin/python" -m pip install -q --no-index --no-deps "$peer"
done
unset PYTHONPATH GQ_LIBRARY
export GQ_CACHE_DIR=$work/cache
cd "$work"
"$work/env/bin/python" - "$packages" <<'PYTHON'
import sys

import gq

assert gq.__file__.startswith(sys.argv[1]), gq.__file__
PYTHON
"$work/env/bin/python" "$root/test/gpu/peers.py" "$root/README.md" $table
