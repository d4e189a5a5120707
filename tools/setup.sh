#!/usr/bin/env bash
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# setup.sh [--tests] [--torch] [TARGET...]: installs what gq needs on Debian 12, and
# builds it, or the targets. With --tests the tests are configured too, and stay so;
# with --torch, torch is installed for those that need it (2 GB).
# demo.sh, test.sh and bundle.sh call it; done once, it does nothing.
# $GQ_BUILD_DIR names the build folder. Of the test kernels one in
# $GQ_TEST_KERNEL_STEP is built, or all.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=$(realpath -m "${GQ_BUILD_DIR:-build}")
tests=OFF torch=OFF step=${GQ_TEST_KERNEL_STEP:-1}
if [ "${1:-}" = --tests ]; then
  tests=ON
  shift
fi
if [ "${1:-}" = --torch ]; then
  torch=ON
  shift
fi

packages=(
  clang-22 clang-format-22 cmake libcmocka-dev libdlpack-dev libjansson-dev
  libmlir-22-dev libxml2-dev libzstd-dev lld-22 llvm-22-dev llvm-22-tools
  mlir-22-tools ninja-build python3-venv zlib1g-dev
)
[ $tests = OFF ] || packages+=(libclang-rt-22-dev pkg-config)
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null |
    grep -qx installed || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "Installing ${missing[*]}"
  sudo=
  [ "$(id -u)" -eq 0 ] || sudo=sudo
  $sudo apt-get update -qq
  $sudo env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

# environment FOLDER REQUIREMENTS [OPTION...]: an environment of Python with these
# packages, which pip installs with the options; Debian's own keeps to Debian's.
environment() {
  cmp -s "$2" "$1/requirements.txt" && return
  echo "Installing Python packages: $2"
  /usr/bin/python3 -m venv --clear "$1" &&
    "$1/bin/pip" install -q --disable-pip-version-check "${@:3}" -r "$2" &&
    cp "$2" "$1/requirements.txt"
}
environment "$build/venv" test/python/requirements.txt
[ $tests = OFF ] || environment "$build/docs-venv" docs/requirements.txt
[ $torch = OFF ] ||
  environment "$build/torch-venv" test/gpu/requirements.txt --no-deps || {
  echo "torch cannot be installed: its tests are skipped"
  rm -rf "$build/torch-venv"
}

# Test kernels of one chip; tools/nightly.sh has those of all.
options=(-DCMAKE_BUILD_TYPE=Release -DGQ_TEST_CHIPS=sm_90a
  "-DGQ_TEST_KERNEL_STEP=$step")
# ptxas, fatbinary and libdevice, if there is no CUDA toolkit: as wheels.
toolkit=${CUDA_HOME:-${CUDA_PATH:-/usr/local/cuda}}
if [ ! -e "$toolkit/nvvm/libdevice/libdevice.10.bc" ]; then
  if [ ! -e "$build/cuda/nvidia/cu13/bin/ptxas" ]; then
    echo "Installing ptxas and libdevice"
    "$build/venv/bin/pip" install -q --disable-pip-version-check --no-deps \
      --target "$build/cuda" nvidia-cuda-nvcc==13.0.88 nvidia-nvvm==13.0.88
  fi
  options+=("-DGQ_CUDA_TOOLKIT=$build/cuda/nvidia/cu13")
fi

# Whether the build folder is configured, and for the tests where they are asked
# for: CMake's default.
isConfigured() {
  [ -f "$build/build.ninja" ] || return
  [ $tests = OFF ] || {
    ! grep -q '^BUILD_TESTING:BOOL=OFF' "$build/CMakeCache.txt" &&
      grep -qx "GQ_TEST_KERNEL_STEP:STRING=$step" "$build/CMakeCache.txt"
  }
}

if ! isConfigured; then
  echo "Configuring $build"
  cmake -G Ninja -S . -B "$build" "${options[@]}" -DBUILD_TESTING=$tests \
    >/dev/null
fi
ninja -C "$build" "$@" >&2
