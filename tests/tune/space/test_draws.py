from itertools import chain, islice
from random import Random
from typing import Any

import pytest

from irkit.ir import PrimFunc
from irkit.tune import task
from irkit.tune.space import Sketch
from irkit.tune.space.draws import drawn_setting, is_legal, mixed, neighbour
from tests.tune.programs import blur, convolution, nearest, nearest_filters, product, sums

PROGRAMS: list[PrimFunc] = [
    product(64, 96, 64),
    product(61, 97, 31),
    nearest(64, 61, 32),
    convolution(64, 28, 64),
    nearest_filters(16, 14, 32),
    sums(6, 64),
    blur(61),
]


def sketches() -> list[Sketch]:
    """Return every sketch of the programs but the standard rules."""
    return [
        sketch
        for func in PROGRAMS
        for group in task(func, threads=2).space.groups({})
        for sketch in group.sketches
        if sketch.name != "auto"
    ]


SKETCHES = sketches()


@pytest.mark.parametrize("sketch", SKETCHES, ids=lambda each: each.name)
def test_every_draw_and_every_move_is_legal(sketch: Sketch) -> None:
    rng, moved = Random(0), 0
    last = drawn_setting(sketch, rng)
    assert last is not None
    for _ in range(30):
        drawn = drawn_setting(sketch, rng)
        assert drawn is not None
        near, both = neighbour(sketch, last, rng), mixed(sketch, last, drawn, rng)
        assert all(is_legal(sketch, each) for each in (drawn, both))
        moved += near is not None and near != last and is_legal(sketch, near)
        last = drawn
    assert moved >= 27


@pytest.mark.parametrize("sketch", SKETCHES, ids=lambda each: each.name)
def test_no_knob_that_may_have_two_values_always_has_one(sketch: Sketch) -> None:
    rng = Random(1)
    drawn = [drawn_setting(sketch, rng) or {} for _ in range(100)]
    seldom = iter(lambda: drawn_setting(sketch, rng) or {}, None)
    for knob, options in sketch.knobs.items():
        others = [value for value in options if value != drawn[0][knob]]
        free = any(is_legal(sketch, {**own, knob: each}) for own in drawn[:20] for each in others)
        moved = (each[knob] != drawn[0][knob] for each in chain(drawn, islice(seldom, 2000)))
        assert not free or any(moved), knob


class Never:
    """A sketch whose knobs allow nothing."""

    def __init__(self, sketch: Sketch) -> None:
        self._sketch = sketch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sketch, name)

    def allows(self, setting: object) -> bool:
        return False


def test_a_sketch_that_allows_nothing_has_no_setting() -> None:
    never: Any = Never(SKETCHES[0])
    assert drawn_setting(never, Random(0)) is None
    assert neighbour(never, {"rows": 1}, Random(0)) is None
