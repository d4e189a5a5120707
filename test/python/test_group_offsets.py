# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gq.group_offsets, against sums in Python and what the other ops make of it."""

import gq
import numpy as np
import oracle
import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

INTEGERS = {"int32": np.int32, "int64": np.int64}


@examples(200)
@given(
    counts=st.lists(st.integers(0, 10_000), max_size=70),
    of=st.sampled_from(list(INTEGERS)),
    dtype=st.sampled_from(list(INTEGERS)),
    closed=st.booleans(),
)
def test_sums(counts, of, dtype, closed):
    array = np.array(counts, INTEGERS[of])
    offsets, scales = gq.group_offsets(array, dtype=dtype, closed=closed)
    wanted = oracle.group_offsets(counts, INTEGERS[dtype], closed)
    for actual, expected in zip((offsets, scales), wanted):
        assert actual.dtype == expected.dtype
        np.testing.assert_array_equal(actual, expected)
    alone = gq.group_offsets(array, dtype=dtype, closed=closed, scale_offsets=False)
    np.testing.assert_array_equal(alone, wanted[0])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_largest(dtype):
    """The largest sums that the type holds, and one more of each."""
    last = np.iinfo(INTEGERS[dtype]).max
    counts = np.array([last - 3, 0, 3], np.int64)
    offsets = gq.group_offsets(counts, dtype=dtype, scale_offsets=False)
    np.testing.assert_array_equal(offsets, [0, last - 3, last - 3, last])
    counts[1] = 1
    with pytest.raises(gq.Error, match=rf"counts\[2\] = 3 makes the sum more than an "
                                       rf"{dtype.replace('int', 'i')} holds"):  # fmt: skip
        gq.group_offsets(counts, dtype=dtype, scale_offsets=False)
    # Rounded up, the same counts need more.
    counts[:] = [last // 128 * 128 - 128, 128, 0]
    assert gq.group_offsets(counts, dtype=dtype)[1][2] == last // 128 * 128
    counts[2] = 1
    with pytest.raises(gq.Error, match=r"counts\[2\] = 1 makes the sum more"):
        gq.group_offsets(counts, dtype=dtype)
    assert gq.group_offsets(counts, dtype=dtype, scale_offsets=False)[3] == counts.sum()


@pytest.mark.parametrize("bad", [-1, -(2**63)])
def test_negative(bad):
    """An error names the entry, and nothing is written."""
    counts = np.array([3, 4, bad, 5], np.int64)
    out = np.full(5, 77, np.int32), np.full(4, 77, np.int32)
    with pytest.raises(gq.Error, match=rf"counts\[2\] = {bad} is negative"):
        gq.group_offsets(counts, out=out)
    assert all((x == 77).all() for x in out)


def test_refused():
    counts = np.arange(3)
    with pytest.raises(gq.Error, match="dtype: expected 'int32' or 'int64'"):
        gq.group_offsets(counts, dtype="int16")
    with pytest.raises(gq.Error, match="counts"):
        gq.group_offsets(counts.astype(np.float32))
    text = """
    func.func @main(%c: tensor<?xi32>, %o0: tensor<?xi32>) -> tensor<?xi32> {
      %o = gq.group_offsets ins(%c : tensor<?xi32>) outs(%o0 : tensor<?xi32>)
          -> tensor<?xi32>
      return %o : tensor<?xi32>
    }"""
    module = gq.compile(text)
    for entries in (2, 5):
        message = f"offsets has {entries} entries, expected 3 or 4 for 3 counts"
        with pytest.raises(gq.Error, match=message):
            module(counts.astype(np.int32), np.zeros(entries, np.int32))


def test_is_what_quantization_takes():
    """Of routed tokens, the op derives the same scale offsets."""
    rng = np.random.default_rng(3)
    expert = rng.integers(0, 5, 300)
    x = rng.standard_normal((300, 64), np.float32)[np.argsort(expert, kind="stable")]
    offsets, scales = gq.group_offsets(np.bincount(expert, minlength=5))
    np.testing.assert_array_equal(offsets, gq.layout.offsets_of(np.bincount(expert)))
    np.testing.assert_array_equal(scales, gq.layout.scale_offsets(offsets))
    q = gq.grouped_block_quantize(x, offsets)
    given = gq.grouped_block_quantize(x, offsets, scale_offsets=scales)
    end = scales[-1] + 128 * -(-np.bincount(expert)[-1] // 128)
    for a, b in zip(q, given):
        np.testing.assert_array_equal(a[:end].view(np.uint8), b[:end].view(np.uint8))
