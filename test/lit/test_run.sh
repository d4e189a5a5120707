#!/usr/bin/env bash
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# test_run.sh LIT: what run.sh returns for suites of tests that pass, fail and
# cannot run.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/lit.cfg.py" <<'CONFIG'
import lit.formats

config.name = "run"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".test"]
CONFIG
echo '# RUN: true' > "$work/pass.test"
echo '# RUN: false' > "$work/fail.test"
printf '# REQUIRES: nothing-has-this\n# RUN: true\n' > "$work/unsupported.test"

expect() {
  local expected=$1 status=0
  shift
  "$here/run.sh" "$lit" -v "$@" >/dev/null 2>&1 || status=$?
  if [ "$status" -ne "$expected" ]; then
    echo "expected $expected, found $status: $*"
    exit 1
  fi
}

lit=$1
cd "$work"
expect 0 pass.test
expect 77 pass.test unsupported.test
expect 1 pass.test fail.test
expect 1 fail.test unsupported.test
