#!/usr/bin/env bash
# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# distributed.sh FOLDER: on a machine with several GPUs, about 8 minutes with 2 of them,
# more if a rank hangs: layers with 4096 tokens a rank, with 16384 in all on 1, 2, ... ranks, and
# torch_distributed.py. FOLDER gets *.json and log.txt; the table comes last. Needs
# python3 with torch and gq. Exits with 1 if something is wrong or took too long.
set -uo pipefail
out=$(realpath -m "${1:?a folder for results}")
mkdir -p "$out"
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
gpus=$(python3 -c 'import torch; print(torch.cuda.device_count())') || exit
failed=0

limited() { # SECONDS COMMAND...
  timeout -k 15 "$@" 2>&1 | tee -a "$out/log.txt" || failed=1
}
layers() { # RANKS OPTIONS...
  limited 130 python3 -W ignore -m torch.distributed.run --standalone \
    --nproc-per-node="$1" examples/expert_parallel.py \
    --repeat 10 --json "$out/ranks-$1.json" "${@:2}"
}

limited 10 nvidia-smi topo -m
mapfile -t tokens < <(printf '%s\n' 4096 $((16384 / gpus)) | sort -nu)
layers "$gpus" --tokens "${tokens[@]}" --chunks 2 4 --kernels
for ((ranks = 1; ranks < gpus; ranks *= 2)); do
  layers "$ranks" --tokens $((16384 / ranks))
done
limited 900 python3 -W ignore test/gpu/torch_distributed.py cuda
limited 30 python3 examples/expert_parallel.py --show "$out"/ranks-*.json
exit $failed
