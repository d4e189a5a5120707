#!/usr/bin/env bash
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds with AddressSanitizer and UndefinedBehaviorSanitizer into
# build-sanitize/ and runs the tests. Arguments go to ctest. Takes the Debian
# package libclang-rt-22-dev. Left out is what builds or packs programs of its
# own, or measures nothing of gq's code at run time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${GQ_SANITIZE_BUILD_DIR:-build-sanitize}
python=${GQ_PYTHON:-$PWD/${GQ_BUILD_DIR:-build}/venv/bin/python}
cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release \
  -DGQ_SANITIZE=address,undefined -DGQ_PYTHON="$python"
ninja -C "$build"
# Containers are annotated in headers, not in libMLIR. Some tests allocate more
# than there is.
export ASAN_OPTIONS=detect_container_overflow=0:allocator_may_return_null=1
export LSAN_OPTIONS=suppressions=$PWD/test/sanitize.supp:print_suppressions=0
export UBSAN_OPTIONS=print_stacktrace=1
exec ctest --test-dir "$build" --output-on-failure -j "$(nproc)" \
  -E '^(package|demo|bundle|readme|clang-format|count-lines|docs/.*)$' "$@"
