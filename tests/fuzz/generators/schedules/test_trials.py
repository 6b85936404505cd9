"""Random schedules of random programs: each primitive is refused or keeps the meaning, bit for
bit."""

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from hypothesis import given, settings

from irkit.core import rewrite
from irkit.fuzz import prim_funcs
from irkit.fuzz.generators.schedules import draw_table
from irkit.fuzz.generators.schedules.attempt import WrongSchedule
from irkit.fuzz.generators.schedules.draw_table import DRAWERS
from irkit.fuzz.generators.schedules.site import Site
from irkit.fuzz.picks import Picks, picks, picks_of
from irkit.ir import Block, Const, PrimFunc, Store
from irkit.schedule import BlockRef
from tests.draws import few_or_all
from tests.fuzz.generators.schedules.hypothesis_settings import FEW
from tests.fuzz.generators.schedules.trials import ScheduleTally, try_schedule, try_schedules

SEQUENCES = 20_000
ACCEPTED = 20


@settings(FEW, max_examples=few_or_all(40, 150))
@given(picks())
def test_a_schedule_is_refused_or_keeps_the_meaning(made: Picks) -> None:
    try_schedule(made, ScheduleTally(), native=made.one_in(40))


@FEW
@given(prim_funcs(), picks())
def test_a_schedule_of_any_function_is_refused_or_keeps_the_meaning(
    func: PrimFunc, made: Picks
) -> None:
    numbers = iter(range(100))

    def name(block: Block) -> Block:
        return block.replace(name=f"{block.name}{next(numbers)}")

    try_schedule(made, ScheduleTally(), func=rewrite(func, name, on=Block))


@pytest.mark.long
def test_numbers_make_the_same_schedules_again() -> None:
    first, second = try_schedules(range(20)), try_schedules(range(20))
    assert first == second
    assert first.accepted.total() > 20
    assert not first.wrong


def _with_drawer(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[Site, BlockRef], object]
) -> None:
    """Replace the function that draws one primitive by a wrong one."""

    def drawn(s: Site) -> object:
        block = s.block()
        change(s, block)
        return s.sch.add_unit_loop(block)

    for name in DRAWERS:
        monkeypatch.setitem(draw_table.DRAWERS, name, drawn)


def test_a_primitive_that_changes_what_is_stored_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def seven(store: Store) -> Store:
        return store.replace(value=Const(7, store.value.dtype))

    def lie(s: Site, block: BlockRef) -> None:
        s.sch._func = rewrite(s.sch.func, seven, on=Store)  # pyright: ignore[reportPrivateUsage] -- as a wrong primitive would

    _with_drawer(monkeypatch, lie)
    assert any("is 7" in text for text in try_schedules(range(10)).wrong.values())


def test_a_primitive_that_crashes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(s: Site, block: BlockRef) -> None:
        raise KeyError(block.name)

    _with_drawer(monkeypatch, crash)
    with pytest.raises(WrongSchedule, match="KeyError"):
        try_schedule(picks_of(1), ScheduleTally())


@pytest.mark.long
def test_twenty_thousand_schedules_are_refused_or_keep_the_meaning() -> None:
    first = int(os.environ.get("IRKIT_SEED", "0")) * SEQUENCES
    parts = [range(first + at, first + SEQUENCES, 40) for at in range(40)]
    tally = ScheduleTally()
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        for part in pool.map(try_schedules, parts):
            tally.add(part)
    print(tally)  # noqa: T201 -- the figures are wanted
    assert not tally.wrong, tally.first_wrong()
    idle = [name for name in DRAWERS if tally.accepted[name] < ACCEPTED]
    assert not idle, f"these were hardly ever accepted, so little was tested: {idle}"
