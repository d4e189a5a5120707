#!/usr/bin/env bash
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs, builds and runs every test. Arguments go to ctest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tools/setup.sh --tests --torch
tools/count-lines.sh
# As many tests at a time as there are cores: threads that wait must not spin.
export OMP_WAIT_POLICY=passive
exec ctest --test-dir "${GQ_BUILD_DIR:-build}" --output-on-failure \
  -j "$(nproc)" "$@"
