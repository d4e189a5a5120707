#!/usr/bin/env bash
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Everything that takes too long for each change; hours. What fails is listed at
# the end, and what a fuzzer or the differential tester found lies in
# build-nightly/. $GQ_NIGHTLY names some of the steps instead of all, $GQ_SEED
# what configurations are drawn by.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$PWD/build-nightly failed=()
python=${GQ_PYTHON:-$PWD/build/venv/bin/python}
mkdir -p "$out"

# step NAME COMMAND...
step() {
  local name=$1
  shift
  [[ " ${GQ_NIGHTLY:-$name} " == *" $name "* ]] || return 0
  echo "== $name"
  "$@" 2>&1 | tee "$out/$name.log" || failed+=("$name")
}

# fuzz SECONDS: each target, with the libraries instrumented and sanitized.
fuzz() {
  cmake --preset fuzz -DGQ_PYTHON="$python" >/dev/null &&
    ninja -C build-fuzz fuzz_{npy,cache,api,mlir} || return
  local target status=0
  for target in npy cache api mlir; do
    mkdir -p "$out/corpus/$target"
    GQ_FUZZ_CORPUS=$out/corpus/$target GQ_FUZZ_ARTIFACTS=$out \
      test/fuzz/run.sh "build-fuzz/bin/fuzz_$target" "$1" || status=1
  done
  return $status
}

differential() {
  PYTHONPATH=python:test/gpu:test/python GQ_LIBRARY=$PWD/build/lib/libgq.so \
    GQ_GOLDEN_DIR=$PWD/golden "$python" -W ignore test/python/differential.py \
    --count "$1" --seed "${GQ_SEED:-$(date +%Y%m%d)}" --out "$out/differential"
}

faults() {
  GQ_FAULT_STEP=1 GQ_CUDA_DRIVER=$PWD/build/lib/libtest_cuda_fake.so \
    build/lib/test_faults
}

# The machine code of test kernels, and of those of lit's tests, for all chips.
chips() {
  cmake build -DGQ_TEST_CHIPS="sm_90a;sm_100a;sm_120a" >/dev/null &&
    ninja -C build &&
    ctest --test-dir build -R 'device-ptx|lit-gq-opt' --output-on-failure
}

# All cases of the tests.
tests() {
  GQ_TEST_STEP=1 GQ_TEST_KERNEL_STEP=1 tools/test.sh
}

step tests tests
step chips chips
step differential differential 100000
step faults faults
step fuzz fuzz 600
step asan tools/sanitize.sh asan
step tsan tools/sanitize.sh tsan
step builds tools/check-builds.sh
step coverage tools/coverage.sh
[ ${#failed[@]} -eq 0 ] || echo "failed: ${failed[*]}"
[ ${#failed[@]} -eq 0 ]
