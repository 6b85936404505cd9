"""sample_partitioned_tile: the drawn factors respect the partition."""

import math

from hypothesis import given, settings, strategies as st

from irkit.schedule import Schedule
from tests.draws import few_or_all
from tests.schedule.kernels import chain


@settings(max_examples=few_or_all(12, 30), derandomize=True, deadline=None)
@given(seed=st.integers(0, 1000))
def test_a_partitioned_tile_keeps_its_inner_part(seed: int) -> None:
    sch = Schedule(chain(48), seed=seed)
    (loop,) = sch.get_loops(sch.get_block("B"))
    factors = sch.sample_partitioned_tile(loop, 4, 2, 8)
    assert math.prod(factors) == 48
    assert math.prod(factors[2:]) % 8 == 0
