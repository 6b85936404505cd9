"""How deep the programs are with which tests show that nothing overflows."""

import pytest

from tests.draws import few_or_all

DEEPEST = 100_000
"""What irkit admits."""
_FEWER = 20_000  # Recursion through C ends the process here already.
DEEP = few_or_all(_FEWER, DEEPEST)
DEPTHS = [_FEWER, pytest.param(DEEPEST, marks=pytest.mark.long)]
"""For tests that take long: the whole depth is for the long tests."""
