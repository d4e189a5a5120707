#!/usr/bin/env bash
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# run.sh BUILD_DIR WORK_DIR FILECHECK: installs gq, moves the install tree, and
# builds and runs separate C projects against it.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$(realpath "$1") work=$(realpath -m "$2") filecheck=$3
rm -rf "$work"
cmake --install "$build" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix"

# run PROGRAM ARGUMENT...: what loads instrumented libraries loads their sanitizer
# first; compilers and CMake do without.
run() {
  LD_PRELOAD=${GQ_SANITIZE_PRELOAD:-} "$@"
}

# configure SOURCE BUILD OPTION...
configure() {
  local source=$1 folder=$2
  shift 2
  cmake -G Ninja -S "$source" -B "$folder" -DCMAKE_PREFIX_PATH="$work/prefix" \
    -DCMAKE_C_COMPILER=clang-22 "$@"
}

# refuse MESSAGE SOURCE BUILD OPTION...: configuring must fail and say why.
refuse() {
  local message=$1 log=$work/log
  shift
  if configure "$@" >"$log" 2>&1; then
    echo "configured, but expected: $message"
    exit 1
  fi
  if ! tr -s ' \n' ' ' <"$log" | grep -qF "$message"; then
    echo "expected: $message"
    cat "$log"
    exit 1
  fi
}

configure "$here" "$work/build" -DCAPI_TEST_DIR="$here/../capi" >/dev/null
cmake --build "$work/build" >/dev/null
run "$work/build/build_and_run" | "$filecheck" "$here/../capi/build_and_run.c"
refuse "gq's headers need dlpack/dlpack.h" "$here" "$work/no-dlpack" \
  -DCAPI_TEST_DIR="$here/../capi" -DCMAKE_IGNORE_PATH=/usr/include
refuse "abacus" "$here" "$work/abacus" -DCAPI_TEST_DIR="$here/../capi" \
  -DCOMPONENT=abacus

# The dialect's classes, from C++ (clang++ by the same standard library as MLIR).
cmake -G Ninja -S "$here/cpp" -B "$work/cpp" -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_CXX_COMPILER=clang++-22 >/dev/null
cmake --build "$work/cpp" >/dev/null
run "$work/cpp/classes" | grep -q 'gq.block_quantize format(nvfp4)'

# Without CMake: by pkg-config, the runtime also as an archive.
export PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig
clang-22 "$here/../capi/build_and_run.c" $(pkg-config --cflags --libs gq) \
  -Wl,-rpath,"$work/prefix/lib" -o "$work/by-pkg-config"
run "$work/by-pkg-config" | "$filecheck" "$here/../capi/build_and_run.c"
sanitize=$(sed -n 's/^GQ_SANITIZE:STRING=//p' "$build/CMakeCache.txt")
clang-22 ${sanitize:+-fsanitize=$sanitize -shared-libsan} \
  "$here/runtime/runtime_only.c" $(pkg-config --cflags gq_runtime) \
  "$(pkg-config --variable=libdir gq_runtime)/libgq_runtime.a" \
  $(pkg-config --static --libs-only-other --libs-only-l gq_runtime |
    sed 's/-lgq_runtime//') -o "$work/static"
[ "$(run "$work/static")" = "OK 38 d7 01" ]
if ldd "$work/static" | grep libgq; then
  echo "the static runtime needs libgq_runtime.so"
  exit 1
fi
for file in LICENSE README.md docs/howto.md examples/ahead_of_time/main.c; do
  [ -s "$work/prefix/share/doc/gq/$file" ] || { echo "no $file"; exit 1; }
done

# The runtime alone needs no LLVM, neither to be found nor to run.
configure "$here/runtime" "$work/runtime" >/dev/null
cmake --build "$work/runtime" >/dev/null
# 6, -3 and 0.5 are the codes 7, 13 and 1; the scale 1 is the e4m3 code 0x38.
[ "$(run "$work/runtime/runtime_only")" = "OK 38 d7 01" ]
if ldd "$work/runtime/runtime_only" | grep -E 'LLVM|MLIR'; then
  echo "runtime_only is linked with LLVM"
  exit 1
fi
refuse find_package_with_the_component_compiler "$here/runtime" \
  "$work/not-runtime" -DTARGET=gq::gq

# The installed tools run where they are.
run "$work/prefix/bin/gq-opt" "$here/../../examples/moe_layer.mlir" >/dev/null
run "$work/prefix/bin/gq-run" --version
run "$work/prefix/bin/gq-reduce" --help >/dev/null
run "$work/prefix/bin/gq-translate" --version
