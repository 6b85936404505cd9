"""sample_perfect_tile: the product of the drawn factors is the extent."""

import math

from hypothesis import given, settings, strategies as st

from irkit.schedule import Schedule
from tests.draws import few_or_all
from tests.schedule.kernels import chain, matmul


def test_a_tile_is_drawn_of_how_often_a_loop_runs() -> None:
    sch = Schedule(matmul(4, 6, 4))
    i, j, _ = sch.get_loops(sch.get_block("C"))
    sch.shift_loop(j, 3)
    drawn = sch.sample_perfect_tile(j, 2)
    assert int(drawn[0]) * int(drawn[1]) == 6
    sch.shift_loop(i, -4)
    drawn = sch.sample_perfect_tile(i, 2)
    assert int(drawn[0]) * int(drawn[1]) == 4


@settings(max_examples=few_or_all(24, 60), derandomize=True, deadline=None)
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
