#!/usr/bin/env bash
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# run.sh PROGRAM SECONDS [OPTION...]: runs a fuzz target on its corpus and, if
# it is that of modules, on those of test/lit, one input a chunk; then on
# mutations of them. What is new goes to $GQ_FUZZ_CORPUS, if that is set, what
# fails to $GQ_FUZZ_ARTIFACTS (the current folder).
set -euo pipefail
program=$1 seconds=$2
shift 2
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
name=${program##*/fuzz_}
seeds=$(mktemp -d)
trap 'rm -rf "$seeds"' EXIT
mkdir "$seeds/new"
if [ "$name" = mlir ]; then
  mkdir "$seeds/lit"
  # A RUN line names the passes.
  find "$tests/lit" "$tests/../examples" -name '*.mlir' -print0 | xargs -0 awk -v to="$seeds/lit/" '
    FNR == 1 { ++file; chunk = 0; passes = "" }
    match($0, /builtin\.module\([a-z0-9,-]*\)/) && !passes {
      passes = substr($0, RSTART + 15, RLENGTH - 16)
    }
    /^\/\/ -----/ { ++chunk; next }
    /^ *\/\// { next }
    {
      name = to file "-" chunk
      if (!(name in begun)) {
        begun[name] = 1
        if (passes) print "// passes: " passes > name
      }
      print > name
    }'
  set -- "$seeds/lit" "$@"
fi
mkdir -p "$tests/fuzz/corpus/$name"
# Allocations of many gigabytes are refused, as memory would refuse them.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1:detect_container_overflow=0
export LSAN_OPTIONS=suppressions=$tests/sanitize.supp:print_suppressions=0
# The sanitizers' library must come first, and libFuzzer's libraries do.
preload=$(ldd "$program" | awk '/libclang_rt/ { print $3; exit }')
# In CI the same inputs each time.
seed=${GQ_FUZZ_SEED:-0}
[ -z "${CI:-}" ] || seed=1
LD_PRELOAD=$preload "$program" -max_total_time="$seconds" -seed="$seed" -timeout=60 -rss_limit_mb=4096 \
  -malloc_limit_mb=0 -max_len=16384 -len_control=0 -keep_seed=1 -reduce_inputs=0 -verbosity=1 -print_final_stats=1 \
  -artifact_prefix="${GQ_FUZZ_ARTIFACTS:-.}/$name-" \
  "${GQ_FUZZ_CORPUS:-$seeds/new}" "$tests/fuzz/corpus/$name" "$@" 2>&1 | tail -n 60
