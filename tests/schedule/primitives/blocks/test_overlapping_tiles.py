"""Tiles that overlap: which of them compute each element completely."""

import pytest

from irkit.core import walk
from irkit.ir import Block, parse
from irkit.schedule.analysis.domain import points_of

REPEATED = """def f(A: f32[13, 4], C: f32[13]):
    for {outer} in serial(0, {ends[0]}):
        for {inner} in serial(0, {ends[1]}):
            for i in serial(0, 8):
                with block("C"):
                    v = axis.spatial(13, min(o * 8, 5) + i)
                    w = axis.reduce(4, r)
                    with init():
                        C[v] = f32(0.0)
                    C[v] = C[v] + A[v, w]
"""


@pytest.mark.parametrize(
    ("outer", "inner", "ends", "complete"),
    [("o", "r", (2, 4), True), ("r", "o", (4, 2), False)],
)
def test_tiles_that_overlap_are_complete_only_outside_of_a_reduction(
    outer: str, inner: str, ends: tuple[int, int], complete: bool
) -> None:
    func = parse(REPEATED.format(outer=outer, inner=inner, ends=ends))
    (block,) = walk(func, on=Block)
    assert points_of(func, block).covers_all_points() is complete
