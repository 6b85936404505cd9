"""Passes that are wrong only at a size, a width, a constant, a tie, or for some rows."""

import pytest

from tests.debug.check.edge_faults import FAULTS, RIGHT
from tests.debug.check.nest_faults import NEST_FAULTS
from tests.debug.check.verdict_of_pair import judged

EVERY = FAULTS | NEST_FAULTS


@pytest.mark.parametrize("name", EVERY)
def test_what_is_wrong_only_at_an_edge_is_found(name: str) -> None:
    found = judged(EVERY[name])
    assert found.is_wrong, str(found)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_everywhere_gives_no_alarm(name: str) -> None:
    found = judged(RIGHT[name])
    assert found.status == "same", str(found)


@pytest.mark.long
@pytest.mark.parametrize("name", EVERY)
def test_luck_does_not_decide_whether_a_fault_is_found(name: str) -> None:
    found = [judged(EVERY[name], seed) for seed in range(1, 11)]
    assert all(each.is_wrong for each in found), [each.status for each in found]
