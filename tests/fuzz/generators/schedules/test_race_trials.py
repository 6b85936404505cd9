"""No step of a drawn legal schedule, nor of its lowering, is called a race; a wrong one is."""

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from irkit.core import rewrite
from irkit.fuzz.generators.schedules import draw_table
from irkit.fuzz.generators.schedules.site import Site
from irkit.ir import For, PrimFunc
from tests.draws import few_or_all
from tests.fuzz.generators.schedules.race_trials import RaceTally, race_trials

SCHEDULES = 10_000
A_FEW = few_or_all(6, 12)


def test_drawn_schedules_and_their_lowering_give_no_alarm() -> None:
    tally = race_trials(range(A_FEW), lower_one_in=5)
    assert not tally.alarms, next(iter(tally.alarms.values()))
    assert tally.concurrent > A_FEW // 2
    assert tally.answers["independent"] > A_FEW * 10 // 3


def test_threads_beside_others_give_no_alarm() -> None:
    # Memory of a virtual thread, a condition on one, and a reduction beside one with a barrier.
    tally = race_trials((1207, 1283, 8154))
    assert tally.schedules == tally.concurrent == 3
    assert not tally.alarms, next(iter(tally.alarms.values()))


def test_padding_in_a_parallel_loop_gives_no_alarm() -> None:
    tally = race_trials((9720,))
    assert tally.concurrent == 1
    assert not tally.alarms, next(iter(tally.alarms.values()))


def in_any_order(change: Callable[[For], For | None]) -> Callable[[Site], object]:
    """Return a primitive that marks loops without asking whether that is legal."""

    def drawn(s: Site) -> object:
        func: PrimFunc = rewrite(s.sch.func, change, on=For)
        s.sch._func = func  # pyright: ignore[reportPrivateUsage] -- as a wrong primitive would
        return s.sch.add_unit_loop(s.block())

    return drawn


def test_a_primitive_that_makes_every_loop_parallel_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def mark(loop: For) -> For | None:
        return loop.replace(kind="parallel") if loop.kind == "serial" else None

    monkeypatch.setitem(draw_table.DRAWERS, "parallel", in_any_order(mark))
    tally = race_trials(range(12), lower_one_in=100)
    assert tally.alarms
    assert all("iterations of the parallel loop over" in text for text in tally.alarms.values())


@pytest.mark.long
def test_ten_thousand_drawn_schedules_give_no_alarm() -> None:
    first = int(os.environ.get("IRKIT_SEED", "0")) * SCHEDULES
    parts = [range(first + at, first + SCHEDULES, 100) for at in range(100)]
    tally = RaceTally()
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        for part in pool.map(race_trials, parts):
            tally.add(part)
    assert tally.schedules == SCHEDULES
    assert not tally.alarms, f"{sorted(tally.alarms)}; {tally.alarms[min(tally.alarms)]}"
