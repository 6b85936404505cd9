"""What was drawn from choices can be drawn again, and shrunk."""

import pytest
from hypothesis import given, settings, strategies as st

from irkit.fuzz.generators.draw_sample import draw_sample
from irkit.fuzz.generators.sample import KINDS, Kind, Unusable
from irkit.fuzz.generators.sample_file import sample_text
from irkit.fuzz.picks import picks_of
from irkit.fuzz.shrink.choices import record_choices, replay_choices, shrink_choices
from tests.draws import few_or_all, sampled
from tests.fuzz.shrink.test_make_small import drawn


@pytest.mark.parametrize("kind", sampled(KINDS, every=3))
def test_a_sample_is_drawn_again_from_its_choices(kind: Kind) -> None:
    drawn(kind, 0)
    for number in range(few_or_all(5, 10)):
        picks, kept = record_choices(picks_of(number))
        try:
            sample = draw_sample(kind, picks)
        except Unusable:
            continue
        again = draw_sample(kind, replay_choices(kept))
        assert sample_text(sample, {}) == sample_text(again, {})


@settings(derandomize=True, deadline=None, max_examples=few_or_all(24, 60))
@given(
    st.lists(st.integers(0, 200), max_size=40),
    st.integers(1, 60),
    st.integers(0, 3),
)
def test_choices_shrink_to_the_fewest_and_lowest_that_hold(
    choices: list[int], least: int, count: int
) -> None:
    def holds(made: tuple[int, ...]) -> bool:
        return sum(each >= least for each in made) >= count

    if not holds(tuple(choices)):
        return
    found = shrink_choices(tuple(choices), holds, seconds=60, candidates=10_000)
    assert found == (least,) * count
