#!/usr/bin/env bash
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# coverage.sh [CTEST OPTION...]: runs the tests in build-coverage/ and prints
# which part of the lines of lib/ and of the numerics of runtime_kernels/ they
# run, file by file. Less than 90 % in all is a failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${GQ_COVERAGE_BUILD_DIR:-build-coverage}
llvm=/usr/lib/llvm-22/bin
# What is measured runs on the host; device kernels would only take time.
cmake --preset coverage -B "$build" -DGQ_TEST_CHIPS= >/dev/null
ninja -C "$build"
profiles=$(realpath "$build")/profiles
rm -rf "$profiles"
LLVM_PROFILE_FILE=$profiles/%p-%m.profraw ctest --test-dir "$build" \
  --output-on-failure -j "$(nproc)" -E '^(demo|bundle|package|gpu.device)' "$@"
find "$profiles" -name '*.profraw' >"$profiles/list"
"$llvm/llvm-profdata" merge --sparse -f "$profiles/list" -o "$profiles/all"
"$llvm/llvm-cov" report -instr-profile "$profiles/all" "$build/lib/libgq.so" \
  -object "$build/lib/libgq_runtime.so" \
  lib runtime_kernels/codecs runtime_kernels/scalers runtime_kernels/layout |
  tee "$profiles/report"
# The columns of lines: their number, those that are missed, the part that is
# run.
awk '/^TOTAL/ { part = 100 * (1 - $9 / $8); printf "lines: %.1f %%\n", part; exit part < 90 }' \
  "$profiles/report"
