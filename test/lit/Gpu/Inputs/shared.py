# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Says of each kernel of PTX modules on standard input whether as many CTAs as
.minnctapersm says fit into the shared memory of a multiprocessor of sm_90.
Arrays that no kernel of a module uses are not in it.
"""

import re
import sys

MULTIPROCESSOR, RESERVED = 228 << 10, 1 << 10  # Bytes: of all, and of a CTA.

for module in sys.stdin.read().split(".address_size")[1:]:
    sizes = re.findall(
        r"\.shared(?: \.align \d+)? \.[bu](\d+) \w+(?:\[(\d+)\])?", module
    )
    used = sum(int(bits) // 8 * int(count or 1) for bits, count in sizes)
    name = re.search(r"\.entry (\w+)", module)[1]
    ctas = re.search(r"\.minnctapersm (\d+)", module)
    if ctas:
        fits = int(ctas[1]) * (used + RESERVED) <= MULTIPROCESSOR
        print(f"{name}: {ctas[1]} CTAs of {used} bytes", "fit" if fits else "do not fit")
