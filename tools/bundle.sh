#!/usr/bin/env bash
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# bundle.sh [FOLDER]: makes FOLDER/gq.tar.xz (default: dist), which runs where
# there is an NVIDIA driver and no LLVM: gq/bin/gq-run, gq/bin/gq-bench, and
# gq/test.sh, which runs the GPU tests. $GQ_BUNDLE_XZ are options of xz.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$(realpath -m "${1:-dist}")
tools/setup.sh --tests gqDeviceBitcode gq-opt gq-tools device_kernels \
  gqDeviceTestKernels gq_runtime_static
build=$(realpath -m "${GQ_BUILD_DIR:-build}")

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage/gq/bin" "$stage/gq/test" "$out"
cp "$build/bin/gq-tools" "$stage/gq/bin"
ln -s gq-tools "$stage/gq/bin/gq-run"
ln -s gq-tools "$stage/gq/bin/gq-bench"
# Device functions are found beside the program.
cp -r "$build/lib/gq" "$stage/gq/bin/gq"
cp -r golden examples LICENSE test/gpu/test.sh "$stage/gq"
cp test/gpu/*.{py,def,mlir} "$build/bin/device_kernels" \
  test/python/{cases,elements,epilogues,oracle,values}.py "$stage/gq/test"
ln -s ../bin/gq-tools "$stage/gq/test/gq-test-compiled"
# The how-to guide's program that is compiled ahead of time.
"$build/bin/gq-opt" examples/ahead_of_time/quantize.mlir \
  --pass-pipeline='builtin.module(gq-to-nvvm{chip=sm_90a format=isa})' |
  mlir-translate-22 --mlir-to-llvmir |
  llc-22 -O3 -relocation-model=pic -filetype=obj -o "$stage/quantize.o"
sanitize=$(sed -n 's/^GQ_SANITIZE:STRING=//p' "$build/CMakeCache.txt")
clang-22 ${sanitize:+-fsanitize=$sanitize -shared-libsan} -DGPU \
  examples/ahead_of_time/main.c "$stage/quantize.o" -Iinclude \
  "$build/lib/libgq_runtime.a" -lm -ldl -pthread \
  -o "$stage/gq/test/ahead-of-time-sm_90a"

# The kernels of device_kernels: machine code, or PTX for the driver.
for ptx in "$build"/test/gpu/device/*kernels-*.ptx; do
  cubin=${ptx%.ptx}.cubin
  cp "$(if [ -f "$cubin" ]; then echo "$cubin"; else echo "$ptx"; fi)" \
    "$stage/gq/test"
done

tar -C "$stage" -c gq | xz -T0 ${GQ_BUNDLE_XZ:--6} >"$out/gq.tar.xz"
size=$(stat -c %s "$out/gq.tar.xz")
echo "$out/gq.tar.xz: $((size / 1048576)) MiB"
[ "$size" -lt $((60 * 1048576)) ]
