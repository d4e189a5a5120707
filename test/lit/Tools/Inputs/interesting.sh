#!/bin/sh
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# interesting.sh FILE: exits with 1 if gq-pack-subbyte refuses a transposition.
message=$(gq-opt --gq-pack-subbyte "$1" 2>&1)
case $message in
*"'linalg.transpose' op has f4E2M1FN"*) exit 1 ;;
esac
