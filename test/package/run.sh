#!/usr/bin/env bash
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# run.sh BUILD_DIR WORK_DIR FILECHECK: installs gq, moves the install tree, and
# builds and runs a separate C project against it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(realpath "$1") work=$(realpath -m "$2") filecheck=$3
rm -rf "$work"
cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix"
cmake -G Ninja -S "$here" -B "$work/build" -DCAPI_TEST_DIR="$here/../capi" \
  -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_C_COMPILER=clang-22 >/dev/null
cmake --build "$work/build" >/dev/null
"$work/build/build_and_run" | "$filecheck" "$here/../capi/build_and_run.c"
# 6, -3 and 0.5 are the codes 7, 13 and 1; the scale 1 is the e4m3 code 0x38.
[ "$("$work/build/runtime_only")" = "OK 38 d7 01" ]
# The runtime alone needs no LLVM.
XX# The installed tools run where they are.
"$work/prefix/bin/gq-opt" "$here/../../examples/moe_layer.mlir" >/dev/null
"$work/prefix/bin/gq-run" --version
