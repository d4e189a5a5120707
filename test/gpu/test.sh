#!/usr/bin/env bash
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs all GPU tests where tools/bundle.sh was unpacked; needs python3 with
# NumPy. The last line counts them.
set -uo pipefail
cd "$(dirname "$0")"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0

# run NAME COMMAND...: runs a program whose last line counts its tests. One that
# did not come so far, or says it failed, has failed at least one.
run() {
  echo "== $1"
  shift
  "$@" 2>&1 | tee "$log"
  local status=$? counts='^([0-9]+) passed, ([0-9]+) failed$' new=0
  if [[ $(tail -n 1 "$log") =~ $counts ]]; then
    passed=$((passed + BASH_REMATCH[1])) new=${BASH_REMATCH[2]}
  elif [ "$status" -eq 0 ]; then
    status=1
  fi
  if [ "$status" -ne 0 ] && [ "$new" -eq 0 ]; then
    echo "FAIL: exit status $status"
    new=1
  fi
  failed=$((failed + new))
}

# The kernels for this GPU.
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader |
  head -n 1 | tr -d .)
chip=sm_${capability:-90}a
kernels=(test/kernels-"$chip".*) tiles=(test/tiles_kernels-"$chip".*)

run "compiled MLIR" python3 test/run.py bin/gq-run golden
run "graphs, streams, threads" test/gq-test-compiled
run "kernels of rows" test/device_kernels test "${kernels[0]}" golden
run "kernels of tiles" test/device_kernels tiles "${tiles[0]}" golden
dequantize=(test/dequantize_kernels-"$chip".*)
run "kernels of dequantization" test/device_kernels dequantize "${dequantize[0]}"
amax=(test/amax_kernels-"$chip".*)
run "kernels of amax" test/device_kernels amax "${amax[0]}"
mm=(test/mm_kernels-"$chip".*)
[ ! -e "${mm[0]}" ] ||
  run "kernels of the grouped matmul" test/device_kernels mm "${mm[0]}"
wgrad=(test/wgrad_kernels-"$chip".*)
[ ! -e "${wgrad[0]}" ] ||
  run "kernels of the gradient of weights" test/device_kernels wgrad "${wgrad[0]}"
# What it must print follows from its input: 6/6 and 3/6 are the scales.
ahead_of_time() {
  if [ "$("test/ahead-of-time-$chip")" = "expert 0: codes 77, scale 38
expert 1: codes ff, scale 30" ]; then
    echo "1 passed, 0 failed"
  else
    echo "0 passed, 1 failed"
  fi
}
[ ! -e "test/ahead-of-time-$chip" ] ||
  run "compiled ahead of time" ahead_of_time
echo "all: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
