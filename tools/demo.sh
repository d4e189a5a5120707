#!/usr/bin/env bash
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs, builds and runs the main job on the CPU: a Mixture-of-Experts layer
# from separate ops to one fused quantization, checked against golden data. Where
# there is a GPU, also a whole feed-forward network there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tools/setup.sh
build=${GQ_BUILD_DIR:-build}

# The names of the ops that work on data, as the module on standard input has
# them.
ops() { grep -oE '(linalg|gq)\.[a-z_]+ ' | grep -v yield | sed 's/^/  /'; }

echo "The layer, examples/moe_layer.mlir:"
"$build/bin/gq-opt" examples/moe_layer.mlir | ops
echo "After gq-fuse-scale-layout:"
"$build/bin/gq-opt" examples/moe_layer.mlir \
  --pass-pipeline='builtin.module(canonicalize,cse,gq-fuse-scale-layout)' |
  tee "$build/fused.mlir" | ops
echo "The fused op:"
grep gq.grouped_block_quantize "$build/fused.mlir"
echo
GQ_LIBRARY="$build/lib/libgq.so" PYTHONPATH=python \
  "$build/venv/bin/python" examples/moe_layer.py

if nvidia-smi >/dev/null 2>&1; then
  echo
  echo "The whole network, examples/moe_ffn.mlir, on the GPU:"
  "$build/venv/bin/python" examples/moe_ffn.py "$build/bin/gq-run"
fi
