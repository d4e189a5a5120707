#!/usr/bin/env bash
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints the lines of C and of hand-written C++, tests left out. C++ is for what
# MLIR has no C API for: a tenth of it or more is a failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Gq.h is the one header that holds C++.
cxx=$(find include lib tools -name '*.cpp' -o -path include/gq/IR/Gq.h |
  xargs cat | wc -l)
c=$(find include lib tools runtime_kernels -name '*.[ch]' \
  ! -path include/gq/IR/Gq.h | xargs cat | wc -l)
echo "Lines of C: $c, of hand-written C++: $cxx"
[ $((cxx * 10)) -lt "$c" ]
