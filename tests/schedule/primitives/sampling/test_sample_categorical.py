"""sample_categorical: one of the candidates is drawn, the same one for the same seed."""

from collections.abc import Callable

import pytest

from irkit.core import ScheduleError
from irkit.ir import script
from irkit.schedule import LoopRef, Schedule, ScheduleTrace
from tests.schedule.kernels import chain


def test_the_same_seed_draws_the_same() -> None:
    def drawn(seed: int) -> list[int]:
        sch = Schedule(chain(5), seed=seed)
        return [int(sch.sample_categorical([1, 2, 4, 8])) for _ in range(20)]

    assert drawn(3) == drawn(3)
    assert drawn(3) != drawn(4)


def test_a_number_without_weight_is_never_drawn() -> None:
    sch = Schedule(chain(5))
    assert {int(sch.sample_categorical([1, 2, 3], [0.5, 0, 0.5])) for _ in range(100)} == {1, 3}


def test_changing_a_decision_changes_the_following_steps() -> None:
    sch = Schedule(chain(16), seed=5)
    (loop,) = sch.get_loops(sch.get_block("B"))
    sch.split(loop, [None, sch.sample_categorical([2, 4, 8], decision=0)])
    text = sch.trace.as_json().replace('"drawn": 0', '"drawn": 2')
    again = Schedule(chain(16))
    ScheduleTrace.from_json(text).apply(again)
    inner = again.get_loops(again.get_block("B"))[-1]
    assert script(again.loop(inner).end) == "8"


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
def test_invalid_arguments_are_refused(call: Callable[[Schedule, LoopRef], object]) -> None:
    sch = Schedule(chain(16))
    (loop,) = sch.get_loops(sch.get_block("B"))
    steps = len(sch.trace)
    with pytest.raises(ScheduleError):
        call(sch, loop)
    assert len(sch.trace) == steps
