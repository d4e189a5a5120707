#!/usr/bin/env bash
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# run.sh LIT ARGUMENT...: runs lit. Exits with 77, ctest's "skipped", if nothing
# failed but some tests could not run here: such a suite has not passed.
set -uo pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$@" | tee "$log"
status=$?
if [ "$status" -eq 0 ] && grep -q '^UNSUPPORTED: ' "$log"; then
  exit 77
fi
exit "$status"
