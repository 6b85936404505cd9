"""How deep the programs are with which tests show that nothing overflows."""

import pytest

DEEP = 100_000
DEPTHS = [20_000, pytest.param(DEEP, marks=pytest.mark.long)]
"""For tests that take long: the whole depth is for the long tests."""
