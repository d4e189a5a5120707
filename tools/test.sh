#!/usr/bin/env bash
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs, builds and runs every test; of the cases and random examples of tests in
# Python, of emulated ones and of the graphs of gq-bench a sixth ($GQ_TEST_STEP;
# tools/nightly.sh has all), and without a GPU an eighth of the kernels that only one
# can run. Arguments go to ctest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ -e /dev/nvidiactl ] || export GQ_TEST_KERNEL_STEP=${GQ_TEST_KERNEL_STEP:-8}
tools/setup.sh --tests --torch
tools/count-lines.sh
# As many tests at a time as there are cores: threads that wait must not spin.
export OMP_WAIT_POLICY=passive GQ_TEST_STEP=${GQ_TEST_STEP:-6}
exec ctest --test-dir "${GQ_BUILD_DIR:-build}" --output-on-failure \
  -j "$(nproc)" "$@"
