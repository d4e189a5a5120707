# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# awk -v threads=N -f bounds.awk KERNELS.ptx: gives kernels the bounds that the
# lowering gives them and C cannot express: so many threads and, where a comment
# in the kernel says so, so many CTAs a multiprocessor.

function flush_kernel(   i) {
  for (i = 0; i < count; ++i) {
    print lines[i]
    if (lines[i] ~ /^\)/) {
      print ".maxntid " threads
      if (ctas) print ".minnctapersm " ctas
    }
  }
  count = ctas = 0
}
/^\.visible \.entry/ { inside = 1 }
$1 == "//" && $2 == "minnctapersm" { ctas = $3 }
{ if (inside) lines[count++] = $0; else print }
/^}/ { flush_kernel(); inside = 0 }
