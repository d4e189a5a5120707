#!/usr/bin/env bash
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check-ptx.sh KERNELS.ptx CHIP [REPORT]: what must hold of every kernel. REPORT is
# what `ptxas -v` says of them.
set -euo pipefail
ptx=$1 chip=$2 report=${3:-}

fail() {
  echo "$ptx: $*" >&2
  exit 1
}

# Everything is inlined and in registers.
! grep -nE '^[[:space:]]*call' "$ptx" || fail "a call"
! grep -n '\.local' "$ptx" || fail "local memory"

# Every kernel of data loads 16 bytes, and all that quantize
# store the codes of a unit at once, four units a thread: 8 bytes, or 16 of fp8 and
# of numbers (_to_), beside 16 of scales in tiles.
# Kernels of tiles leave half of the stores to inline assembly of their own, and
# matrix products do not quantize. What is left out (Call.h) traps.
[[ $(basename "$ptx") == @(tiles|mm|amax|wgrad|dequantize)_* ]] ||
awk '/\.entry/ { name = $3; sub(/\(.*/, "", name); seen[name] = 1 }
     /ld\.global\.nc\.v4\.b32/ { loads[name]++ }
     /st\.global\.v2\.b32/ { stores[name]++ }
     /st\.global\.v4\.b32/ && name ~ /fp8|_to_/ { stores[name]++ }
     /trap;/ { delete seen[name] }
     END {
       for (name in seen) {
         if (name == "preprocess" || name ~ /^offsets_/) continue
         if (!loads[name])
           { print name ": no 16-byte loads"; bad = 1 }
         # Units of a producer are the turns of a loop.
         if (name !~ /_(ahead|stays)/ && stores[name] < 4)
           { print name ": narrow stores"; bad = 1 }
       }
       exit bad
     }' "$ptx" >&2 || fail "narrow accesses"

if [[ $chip == sm_90a ]]; then
  ! grep -n 'e2m1' "$ptx" || fail "an e2m1 conversion, which sm_90 lacks"
elif [[ $(basename "$ptx") != @(amax|dequantize)_* ]]; then # That converts nothing.
  grep -q 'cvt\.rn\.satfinite\.e2m1x2\.f32' "$ptx" || fail "no e2m1 conversion"
fi

if [[ -n $report ]]; then
  awk -v chip="$chip" '
    /Compiling entry/ { name = $0; gsub(/.*function .|. for .*/, "", name) }
    # Two directions of the same layout at once, with sums or row indices,
    # gathered rows with outer amaxes and the better of two scales, or MXFP4
    # with sums or linear scales, are a value or two more than there are
    # registers.
    /stack frame/ && $1 <= 8 && $5 <= 8 && $9 <= 8 &&
      name ~ /^tiles_(small_)?(mxfp8_both_dbias|mxfp8_all_f16|mxfp4_all|mxfp8_gathered_unaligned|fp8_gathered|fp8_both_(amax|dbias)|te_four_over_six_tokens_f16|mxfp4_column_f16|mxfp4_ragged_linear|fp8_128x128_all)$/ { next }
    # Warps alone, both directions of 8 bits or of mxfp4: of sums, of an amax, of
    # a scale that is given, or of long blocks of unaligned inputs. Faster than
    # the kernel of tiles all the same.
    /stack frame/ && $1 <= 32 && $5 <= 64 && $9 <= 76 &&
      name ~ /^tiles_small_(mxfp8_both_dbias|fp8_both(_amax|_gathered)?|mxfp4_both_amax|fp8_1x128_(dbias|unaligned))$/ { next }
    /stack frame/ && $1 <= 48 && $5 <= 72 && $9 <= 92 &&
      name == "tiles_small_mxfp4_both_dbias" { next }
    /stack frame/ && $1 <= 16 && $5 <= 12 && $9 <= 32 &&
      name ~ /^tiles_(fp8_both_amax|small_fp8_1x128_gathered)$/ { next }
    # Bytes that leave one after the other keep their words during a loop.
    /stack frame/ && $1 <= 16 && $5 <= 16 && $9 <= 16 &&
      name ~ /^tiles_(mxfp4_all|small_nvfp4_both_dbias)$/ { next }
    # Tall lanes, whose columns have outer scales of their own, or whose groups
    # have their own columns: gradients of these were not measured.
    /stack frame/ && $1 <= 24 && $5 <= 32 && $9 <= 56 &&
      name ~ /^tiles_(small_te_tokens|te_hadamard_column_outer|te_gradient_both_ragged)$/ { next }
    # The same in pairs with four CTAs: tokens are faster all the same, of f16
    # and of linear scales nothing was measured.
    /stack frame/ && $1 <= 48 && $5 <= 88 && $9 <= 72 &&
      name ~ /^tiles_te_(tokens(_golden)?|hadamard_f16|gradient_column_f16)$/ { next }
    # Of these chips, on which nothing has run, ptxas 13.0 needs a few more.
    chip != "sm_90a" && /stack frame/ && $1 <= 8 && $5 <= 8 && $9 <= 12 &&
      name ~ /^tiles_mxfp4_(both|ragged_linear)$/ { next }
    chip == "sm_100a" && /stack frame/ && $1 <= 24 && $5 <= 40 && $9 <= 20 &&
      name ~ /^tiles_(te_hadamard_column_outer|mxfp8_both_dbias)$/ { next }
    chip == "sm_100a" && /stack frame/ && $1 <= 8 && $5 <= 8 && $9 <= 56 &&
      name ~ /^tiles_small_mxfp4_(both|gathered)$/ { next }
    chip == "sm_120a" && /stack frame/ && $1 <= 16 && $5 <= 20 && $9 <= 32 &&
      name ~ /^(dequantize_(fp8_e4m3_1x128_ragged|e5m2_per_tensor_columns)|tiles_(fp8_ragged|small_(te_tokens_unaligned|te_gradient(_both)?|fp8_both_dbias)|te_column_stochastic_f16|te_stochastic_golden|nvfp4_hadamard_f16))$/ { next }
    chip == "sm_120a" && /stack frame/ && $1 <= 16 && $5 <= 28 && $9 <= 48 &&
      name ~ /^tiles_small_(te_row_unaligned|nvfp4_row_gathered)$/ { next }
    # Its shared memory lets two CTAs run there, but registers are for three or
    # four.
    chip == "sm_120a" && /stack frame/ && $1 <= 56 && $5 <= 92 && $9 <= 68 &&
      name ~ /^tiles_(te_gradient(_both_ragged)?|small_te_tokens)$/ { next }
    chip == "sm_120a" && /stack frame/ && $1 <= 32 && $5 <= 60 && $9 <= 94 &&
      name == "tiles_small_mxfp8_both_dbias" { next }
    chip == "sm_120a" && /stack frame/ && $1 <= 40 && $5 <= 52 && $9 <= 72 &&
      name ~ /^tiles_small_(mxfp8_all_f16|mxfp8_both|fp8_both)$/ { next }
    chip == "sm_120a" && /stack frame/ && $1 <= 32 && $5 <= 48 && $9 <= 80 &&
      name ~ /^tiles_small_(mxfp4|fp8_1x128)_(both|gathered)$/ { next }
    chip == "sm_120a" && /stack frame/ && $1 <= 56 && $5 <= 96 && $9 <= 106 &&
      name ~ /^tiles_small_fp8_1x128_(dbias|unaligned)$/ { next }
    # What a producer makes, whose loop has registers of its own.
    /stack frame/ && $1 <= 48 && $5 <= 56 && $9 <= 72 &&
      name ~ /^tiles_(te_ahead|te_tokens_ahead|nvfp4_all_made|mxfp8_dbias_ahead|fp8_128x128_made|fp8_amax_ahead|small_(te|te_hadamard|mxfp8|fp8_1x128)_ahead|small_(mxfp4|fp8_amax)_made)$/ { next }
    /stack frame/ && $1 + $5 + $9 > 0 { print name, $0; bad = 1 }
    END { exit bad }' "$report" >&2 || fail "a stack frame or spills"
  # Where ptxas sees a hazard it waits after each wgmma, and says so.
  ! grep -E 'C75[0-9][0-9]|serializ' "$report" >&2 || fail "wgmma in turn"
  # Three CTAs of 128 threads need at most 168 registers. Directions of float32
  # that are not as usual are for two, and a gradient of weights has a
  # multiprocessor for 256.
  most=168
  [[ $(basename "$ptx") != wgrad_* ]] || most=255
  awk -v most=$most '
       /Compiling entry/ { two = /te_(gradient|squares|four_over_six|four_over_six_squares)_f32|nvfp4_row_stochastic_f32/ }
       /Used/ && !two { for (i = 1; i < NF; i++) if ($i == "Used" && $(i + 1) > most) bad = 1 }
       END { exit bad }' "$report" || fail "too many registers"
fi
