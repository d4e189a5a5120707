#!/usr/bin/env bash
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# bundle.sh BUILD_DIR WORK_DIR: makes the bundle, unpacks it, and runs what is in
# it: on the CPU and, if there is one, on the GPU.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1") work=$(realpath -m "$2")
rm -rf "$work"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
# With the test kernels that are built.
GQ_TEST_KERNEL_STEP=$(sed -n 's/^GQ_TEST_KERNEL_STEP:STRING=//p' \
  "$build/CMakeCache.txt")
export GQ_TEST_KERNEL_STEP
GQ_BUILD_DIR=$build GQ_BUNDLE_XZ=-1 tools/bundle.sh "$work"
tar -C "$work" -xf "$work/gq.tar.xz"
cd "$work/gq"

# Nothing but the C library is needed.
if ldd bin/gq-tools | grep -vE 'linux-vdso|ld-linux|lib[cm]\.so'; then
  echo "gq-tools needs other libraries"
  exit 1
fi

case=golden/nvfp4_bf16_four_groups
bin/gq-run examples/quantize.mlir --in $case/input.npy --in $case/offsets.npy \
  --in $case/scale_offsets.npy --out out
cmp out/0.npy $case/data.npy
# The scales after the header; there is more room than these groups need.
size=$(($(stat -c %s $case/scales.npy) - 128))
cmp -n "$size" -i 128 out/1.npy $case/scales.npy
bin/gq-bench --target=cpu --quick --operator={te-bf16-both,mm-nvfp4-n1536} \
  --json out/bench.json
bin/gq-tools gq-bench --from out/bench.json --svg out/bench.svg
grep -q '</svg>' out/bench.svg

# The tests need no other Python package than NumPy.
python=$(sed -n 's/^GQ_PYTHON:FILEPATH=//p' "$build/CMakeCache.txt")
mkdir none
echo 'raise ImportError' >none/ml_dtypes.py
PYTHONPATH=none "$python" test/run.py bin/gq-run golden --target=cpu \
  --only='varied mxfp8_e4m3'

# Under a bare name too, the program finds the device functions beside it. The
# driver is a fake: kernels do nothing, which gq-bench has to notice.
if GQ_CUDA_DRIVER=$build/lib/libtest_cuda_fake.so PATH=$PWD/bin:$PATH \
  gq-bench --quick --operator=quantize-bf16 --shape=256x64x2 2>out/errors; then
  echo "gq-bench did not notice that kernels do nothing"
  exit 1
fi
grep -q 'bytes are not what the separate ops write' out/errors || {
  cat out/errors
  exit 1
}

if nvidia-smi >/dev/null 2>&1; then
  ./test.sh
fi
