#!/usr/bin/env bash
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# sanitize.sh [asan|tsan] [CTEST OPTION...]: builds with AddressSanitizer and
# UndefinedBehaviorSanitizer, or with ThreadSanitizer (CMakePresets.json), into
# build-asan/ or build-tsan/, and runs the tests. Takes the Debian package
# libclang-rt-22-dev, and an hour of CPU time.
#
# Left out are the demo, which installs things, and the bundle, whose programs must
# need no library; what both run is tested otherwise. With ThreadSanitizer there are
# no emulated kernels, which have a single thread. Of each Python test with many
# cases every eighth is run ($GQ_TEST_STEP): the C code that they call is the same.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=asan
if [ "${1:-}" = asan ] || [ "${1:-}" = tsan ]; then
  preset=$1
  shift
fi
build=${GQ_SANITIZE_BUILD_DIR:-build-$preset}
python=${GQ_PYTHON:-$PWD/${GQ_BUILD_DIR:-build}/venv/bin/python}
# Device code is not what is sanitized; the emulator has its own.
cmake --preset "$preset" -B "$build" -DGQ_PYTHON="$python" -DGQ_TEST_CHIPS=
ninja -C "$build"
# What the documentation shows runs the Python of its build.
[ -e "$build/venv" ] || ln -s "$(dirname "$(dirname "$python")")" "$build/venv"
# Containers are annotated in headers, but not in libMLIR. Some tests allocate more
# than there is.
export ASAN_OPTIONS=detect_container_overflow=0:allocator_may_return_null=1
export LSAN_OPTIONS=suppressions=$PWD/test/sanitize.supp:print_suppressions=0
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=suppressions=$PWD/test/sanitize-threads.supp:print_suppressions=0:allocator_may_return_null=1
# As many tests at a time as there are cores: threads that wait must not spin.
# Those of NumPy's BLAS are not instrumented.
export OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1
export GQ_TEST_STEP=${GQ_TEST_STEP:-8}
exec ctest --test-dir "$build" --output-on-failure --timeout 14400 \
  -j "$(nproc)" -E '^(demo|bundle|wheel)$' "$@"
