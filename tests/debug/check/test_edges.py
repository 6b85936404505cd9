"""Passes that are wrong only at a size, a width, a constant, a tie, or for some rows."""

import pytest

from tests.debug.check.edge_faults import FAULTS, RIGHT
from tests.debug.check.nest_faults import NEST_FAULTS
from tests.debug.check.verdict_of_pair import judged
from tests.draws import sampled

EVERY = FAULTS | NEST_FAULTS


@pytest.mark.parametrize("name", sampled(EVERY, every=3))
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


def test_sizes_are_tried_that_conditions_ask_for() -> None:
    """Both conditions hold, and beyond the first tile."""
    text = (
        "def f(A: f32[n, m], C: f32[n, m]):\n    for i in serial(0, n):\n"
        "        for j in serial(0, m):\n            C[i, j] = {}\n"
    )
    tile = "select(i >= 6 and j >= 4 and n % 6 == 0 and m % 4 == 0, f32(0.0), A[i, j])"
    assert judged((text.format("A[i, j]"), text.format(tile))).status == "differs"


def test_rows_are_tried_with_gaps() -> None:
    text = (
        "def f(A: buffer(f32[6, 8], strides=(s, 1)), C: f32[6, 8]):\n{}"
        "    for i in serial(0, 6):\n        for j in serial(0, 8):\n            C[i, j] = {}\n"
    )
    dense = text.format("    V = view(A, f32[6, 8], offset=0)\n", "V[i, j]")
    assert judged((text.format("", "A[i, j]"), dense)).status == "differs"


def test_threads_race_inside_of_one_statement() -> None:
    """No barrier can be put there, so a pass must not make such threads of a serial loop."""
    text = "def f(A: f32[9], C: f32[10]):\n    for i in {}:\n        C[i + 1] = C[i] * A[i]\n"
    case = text.format("serial(0, 9)"), text.format('thread(0, 9, "threadIdx.x")')
    assert judged(case).status == "races"
