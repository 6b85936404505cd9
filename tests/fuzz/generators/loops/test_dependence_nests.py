"""Nests in which order matters: they are valid, defined, and no transformation of their order is
right for all of a theme."""

import pytest

from irkit.core import walk
from irkit.debug import input_sets
from irkit.fuzz import Picks
from irkit.fuzz.generators.loops.dependence_nests import THEMES, dependence_nest
from irkit.fuzz.picks import picks_of
from irkit.ir import For, InterpretedFunction, dependences, parse, script, verify


@pytest.mark.parametrize("theme", THEMES)
def test_nests_are_valid_and_defined(theme: str) -> None:
    for number in range(8):
        func = dependence_nest(picks_of(number), theme)
        assert not verify(func), func.script()
        assert script(parse(script(func))) == script(func)
        for inputs in input_sets(func, samples=2):
            InterpretedFunction(func)(*inputs.copied())


def test_most_nests_of_dependences_carry_one() -> None:
    carried = 0
    for number in range(40):
        func = dependence_nest(picks_of(number), ("crossing", "copied")[number % 2])
        known = dependences(func)
        carried += any(known.carried(loop) is not None for loop in walk(func, For))
    assert carried >= 30


def test_the_simplest_nest_is_short() -> None:
    func = dependence_nest(Picks(lambda count: 0))
    assert len(script(func).splitlines()) <= 6
