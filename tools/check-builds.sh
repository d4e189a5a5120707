#!/usr/bin/env bash
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds the libraries and programs with GCC and clang, for debugging and for
# release, where warnings are errors (-Wall -Wextra -Wpedantic); then asks
# clang-tidy, the static analyzer included (.clang-tidy), about lib/ and tools/.
# Takes the Debian package clang-tidy-22.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for preset in gcc gcc-debug clang clang-debug; do
  echo "== $preset"
  cmake --preset "$preset" -DBUILD_TESTING=OFF >/dev/null
  ninja -C "build-$preset" gq gq_runtime gq-run gq-bench gq-translate gq-opt
done
echo "== clang-tidy" # Which reads what is asserted.
git ls-files 'lib/*.c' 'tools/*.c' |
  grep -v 'tools/common/multicall.c' |
  xargs -P "$(nproc)" -n 4 clang-tidy-22 -p build-clang-debug --quiet
