# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The README's two commands in a fresh Debian 12:
#   docker build --target demo -t gq .    # build and demo
#   docker build .                        # and every test
# `docker run --gpus all -it gq` gives a shell with the CUDA driver of the host.
FROM debian:12 AS demo
WORKDIR /gq
COPY . .
RUN tools/demo.sh

FROM demo AS test
RUN tools/test.sh
