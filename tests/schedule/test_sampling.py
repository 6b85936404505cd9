"""What is drawn keeps within its bounds, is the same again from a seed, and stays in the trace."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irkit.core import ScheduleError, same
from irkit.ir import script
from irkit.schedule import LoopRef, Schedule, ScheduleTrace
from tests.schedule.kernels import chain, matmul


@settings(max_examples=60, derandomize=True, deadline=None)
@given(n=st.integers(1, 48), parts=st.integers(1, 4), most=st.integers(1, 16), seed=st.integers())
def test_a_perfect_tile_is_perfect(n: int, parts: int, most: int, seed: int) -> None:
    sch = Schedule(chain(n), seed=seed)
    (loop,) = sch.get_loops(sch.get_block("B"))
    factors = sch.sample_perfect_tile(loop, parts, max_innermost_factor=most)
    assert len(factors) == parts
    assert math.prod(factors) == n
    assert parts == 1 or factors[-1] <= most
    assert len(sch.get_loops(sch.get_block("B"))) == 1
    sch.split(loop, factors)


@settings(max_examples=30, derandomize=True, deadline=None)
@given(seed=st.integers(0, 1000))
def test_a_partitioned_tile_keeps_its_inner_part(seed: int) -> None:
    sch = Schedule(chain(48), seed=seed)
    (loop,) = sch.get_loops(sch.get_block("B"))
    factors = sch.sample_partitioned_tile(loop, 4, 2, 8)
    assert math.prod(factors) == 48
    assert math.prod(factors[2:]) % 8 == 0


def test_the_same_seed_draws_the_same() -> None:
    def drawn(seed: int) -> list[int]:
        sch = Schedule(chain(5), seed=seed)
        return [int(sch.sample_categorical([1, 2, 4, 8])) for _ in range(20)]

    assert drawn(3) == drawn(3)
    assert drawn(3) != drawn(4)


def test_a_number_without_weight_is_never_drawn() -> None:
    sch = Schedule(chain(5))
    assert {int(sch.sample_categorical([1, 2, 3], [0.5, 0, 0.5])) for _ in range(100)} == {1, 3}


def test_a_trace_keeps_what_was_drawn_and_where_it_went() -> None:
    sch = Schedule(matmul(16, 16, 16), seed=5)
    i, j, _ = sch.get_loops(sch.get_block("C"))
    sch.split(i, sch.sample_perfect_tile(i, 3))
    width = sch.sample_categorical([2, 4, 8])
    sch.split(j, [None, width])
    assert "sch.split(j, [None, drawn_" in str(sch.trace)
    again = Schedule(matmul(16, 16, 16), seed=99)
    ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
    assert same(again.func, sch.func)
    printed = Schedule(matmul(16, 16, 16), seed=7)
    exec(str(sch.trace), {"sch": printed})
    assert same(printed.func, sch.func)


def test_a_decision_that_is_changed_changes_what_follows() -> None:
    sch = Schedule(chain(16), seed=5)
    (loop,) = sch.get_loops(sch.get_block("B"))
    sch.split(loop, [None, sch.sample_categorical([2, 4, 8], decision=0)])
    text = sch.trace.as_json().replace('"drawn": 0', '"drawn": 2')
    again = Schedule(chain(16))
    ScheduleTrace.from_json(text).apply(again)
    inner = again.get_loops(again.get_block("B"))[-1]
    assert script(again.loop(inner).end) == "8"


def test_a_compute_location_is_a_loop_of_the_consumer_or_the_root() -> None:
    places = set[str]()
    for seed in range(30):
        sch = Schedule(chain(16), seed=seed)
        place = sch.sample_compute_location(sch.get_block("B"))
        places.add("root" if place is None else place.var.name)
    assert places == {"root", "i"}


@pytest.mark.parametrize(
    "call",
    [
        lambda sch, loop: sch.sample_perfect_tile(loop, 2, decision=[3, 5]),
        lambda sch, loop: sch.sample_perfect_tile(loop, 0),
        lambda sch, _: sch.sample_categorical([]),
        lambda sch, _: sch.sample_categorical([1, 2], [1.0]),
        lambda sch, _: sch.sample_categorical([1, 2], [0.0, 0.0]),
        lambda sch, _: sch.sample_categorical([1, 2], decision=2),
        lambda sch, loop: sch.sample_partitioned_tile(loop, 2, 0, 4),
        lambda sch, loop: sch.sample_partitioned_tile(loop, 2, 1, 5),
        lambda sch, _: sch.sample_compute_location(sch.get_block("B"), decision=3),
    ],
)
def test_senseless_draws_are_refused(call: Callable[[Schedule, LoopRef], object]) -> None:
    sch = Schedule(chain(16))
    (loop,) = sch.get_loops(sch.get_block("B"))
    steps = len(sch.trace)
    with pytest.raises(ScheduleError):
        call(sch, loop)
    assert len(sch.trace) == steps


def test_a_seed_that_is_forked_is_the_same_from_the_same_seed() -> None:
    first, second = (Schedule(chain(16), seed=3) for _ in range(2))
    assert first.fork_seed() == second.fork_seed()
    assert first.fork_seed() != Schedule(chain(16), seed=4).fork_seed()
