# Part of the gq project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the programs of tests with torch share.

PROGRAM.py [cpu | cuda [TEST...]]: runs all tests, or those; the last line counts them.
"""

import re
import sys
import traceback

WHERE = sys.argv[1] if len(sys.argv) > 1 else "cuda"
CUDA = WHERE == "cuda"
TESTS = []


def test(function):
    TESTS.append(function)
    return function


def raises(kind, message, function, *arguments, **options):
    try:
        function(*arguments, **options)
    except kind as error:
        assert re.search(message, str(error)), str(error)
        return
    raise AssertionError(f"no {kind.__name__}: {message}")


def main(last=lambda: None):
    """Runs the tests, then `last`; what the program exits with."""
    failed = 0
    chosen = [t for t in TESTS if t.__name__ in sys.argv[2:] or len(sys.argv) < 3]
    for function in chosen:
        try:
            function()
            print(f"PASS {function.__name__}", flush=True)
        except Exception:  # noqa: BLE001
            failed += 1
            print(f"FAIL {function.__name__}\n{traceback.format_exc(-3)}", flush=True)
    last()
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return failed != 0
