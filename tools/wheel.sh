#!/usr/bin/env bash
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# wheel.sh [FOLDER]: makes the wheel gq_mlir-*.whl in FOLDER (default: dist), which
# holds the compiler and needs no LLVM. What the build folder ($GQ_BUILD_DIR) has is
# not built again, as it is by `pip wheel ./python`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$(realpath -m "${1:-dist}")
build=$(realpath -m "${GQ_BUILD_DIR:-build}")
tools/setup.sh gq_wheel gqDeviceBitcode

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
export PATH=$build/venv/bin:$PATH
cp -r python CMakeLists.txt "$stage"
cmake --install "$build" --component wheel --prefix "$stage/python" >/dev/null
settings=(wheel.cmake=false wheel.platlib=true
          "wheel.tags=py3-none-linux_$(uname -m)")
pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation \
  "${settings[@]/#/--config-settings=}" --wheel-dir "$stage" "$stage/python"
mkdir -p "$out"
auditwheel repair --wheel-dir "$out" "$stage"/gq_mlir-*.whl >/dev/null 2>&1
wheel=$(ls -t "$out"/gq_mlir-*manylinux*.whl | head -n 1)
size=$(stat -c %s "$wheel")
echo "$wheel: $((size / 1048576)) MiB"
[ "$size" -lt $((60 * 1048576)) ]
