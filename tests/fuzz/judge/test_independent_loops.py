"""Loops that are wrongly said to be independent are found."""

import pytest

from irkit.fuzz.generators.draw_sample import draw_sample
from irkit.fuzz.judge import Outcome, judge
from irkit.fuzz.picks import picks_of
from irkit.ir.threads import independence


def found_in(count: int) -> Outcome | None:
    """Return the first finding of the invariant in some programs."""
    for number in range(count):
        sample = draw_sample("programs", picks_of(number))
        outcome = judge(sample, native=False, invariants=["independent loops"], number=number)
        if outcome.is_finding:
            return outcome
    return None


@pytest.mark.long
def test_loops_that_are_said_to_be_independent_are() -> None:
    assert found_in(40) is None


@pytest.mark.parametrize("name", ["_carries"])
def test_a_wrong_answer_of_the_dependence_test_is_found(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = __import__(independence.__module__, fromlist=[name])
    monkeypatch.setattr(module, name, lambda func, loop: "")
    found = found_in(40)
    assert found is not None
    assert "which are said to be independent" in found.message
