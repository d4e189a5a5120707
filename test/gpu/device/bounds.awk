# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# awk -f bounds.awk KERNELS.ptx...: gives kernels the bounds that the lowering
# gives them and C cannot express: threads and CTAs per multiprocessor, where
# comments in the kernel say so. Of several files it makes one: what is outside of
# kernels, declarations of one line each, is the same in all and kept once.

function flush_kernel(   i) {
  for (i = 0; i < count; ++i) {
    print lines[i]
    if (lines[i] ~ /^\)/) {
      if (threads) print ".maxntid " threads
      if (ctas) print ".minnctapersm " ctas
    }
  }
  count = threads = ctas = 0
}
/^\.visible \.entry/ { inside = 1 }
$1 == "//" && $2 == "maxntid" { threads = $3 }
$1 == "//" && $2 == "minnctapersm" { ctas = $3 }
{ if (inside) lines[count++] = $0; else if (!seen[$0]++) print }
/^}/ { flush_kernel(); inside = 0 }
