# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activations and their derivatives, computed where they are quantized."""

import activations
import modules
import pytest


@pytest.mark.parametrize("fusion", [True, False])
@pytest.mark.parametrize("name", activations.FUNCTIONS)
def test_activation(name, fusion):
    activation = activations.Activation(name)
    module = modules.compiled(activations.TEXT, fusion)
    activation.check(module(*activation.arrays, entry=name))
