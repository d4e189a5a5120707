# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many examples hypothesis tries."""

import os

from hypothesis import settings


def examples(count):
    """A decorator: so many, or with $GQ_TEST_STEP that part of them."""
    step = int(os.environ.get("GQ_TEST_STEP") or 1)
    return settings(max_examples=max(count // step, 10), deadline=None)
