"""Samples are the same for the same number, and start from the seed corpus now and then."""

import pytest

from irkit.core import IRKitError
from irkit.fuzz.generators import Kind
from irkit.fuzz.generators.draw_sample import (
    choices_of_seeds,
    draw_case,
    draw_sample,
    seed_choices,
)
from irkit.fuzz.generators.programs.seed_functions import seed_functions
from irkit.fuzz.generators.sample import KINDS
from irkit.fuzz.picks import beginning_with, picks_of
from irkit.ir import PrimFunc
from tests.draws import sampled


def test_each_function_of_the_seed_corpus_can_be_selected() -> None:
    for lead, fixed in zip(choices_of_seeds("programs"), seed_functions(), strict=True):
        drawn = draw_case("programs", beginning_with(lead, picks_of(0))).ir
        assert isinstance(drawn, PrimFunc)
        assert [param.name for param in drawn.params] == [p.name for p in fixed.func.params]
        assert drawn.name == fixed.func.name


def test_a_campaign_draws_extents_beyond_any_memory() -> None:
    cases = [draw_case("programs", picks_of(number)) for number in range(120)]
    assert 1 <= sum(case.may_lack_memory for case in cases) <= 12


@pytest.mark.parametrize("kinds", [KINDS, ("programs",), ("graphs", "schedules", "programs")])
def test_a_campaign_tries_the_whole_seed_corpus(kinds: tuple[Kind, ...]) -> None:
    turns: list[Kind] = [kinds[number % len(kinds)] for number in range(700 * len(kinds))]
    led_to = {(drawn, seed_choices(drawn, 3, number)) for number, drawn in enumerate(turns)}
    for kind in kinds:
        leads = {lead for drawn, lead in led_to if drawn == kind and lead}
        assert leads == set(choices_of_seeds(kind))
        assert bool(leads) == (kind in ("programs", "schedules"))


@pytest.mark.parametrize("kind", sampled(KINDS, every=3))
def test_the_same_number_draws_the_same(kind: Kind) -> None:
    for number in range(3):
        try:
            first, again = (draw_sample(kind, picks_of(number)) for _ in range(2))
        except IRKitError:
            continue
        assert first.features == again.features
        assert str(first.pipeline) == str(again.pipeline)
        assert first.schedule == again.schedule
