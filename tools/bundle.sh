#!/usr/bin/env bash
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# bundle.sh [FOLDER]: makes FOLDER/gq.tar.xz (default: dist), which runs where
# there is an NVIDIA driver and no LLVM: unpack it and run gq/test.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$(realpath -m "${1:-dist}")
tools/setup.sh
build=${GQ_BUILD_DIR:-build}
ninja --quiet -C "$build" gq-run-static >&2

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage/gq/bin" "$stage/gq/test" "$out"
cp "$build/bin/gq-run-static" "$stage/gq/bin/gq-run"
# Device functions are found beside the program.
cp -r "$build/lib/gq" "$stage/gq/bin/gq"
cp -r golden examples LICENSE "$stage/gq"
cp test/gpu/run.py test/gpu/silu.mlir "$stage/gq/test"
cat >"$stage/gq/test.sh" <<'EOF'
#!/usr/bin/env bash
# Runs the GPU tests; needs python3 with NumPy.
cd "$(dirname "$0")" && exec python3 test/run.py bin/gq-run golden
EOF
chmod +x "$stage/gq/test.sh"
tar -C "$stage" -c gq | xz -T0 -6 >"$out/gq.tar.xz"
size=$(stat -c %s "$out/gq.tar.xz")
echo "$out/gq.tar.xz: $((size / 1048576)) MiB"
[ "$size" -lt $((50 * 1048576)) ]
