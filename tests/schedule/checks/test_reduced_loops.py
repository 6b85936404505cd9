"""A block whose reduce axis chooses the element that it stores: such an element is not the result
of a reduction, and primitives that take it for one refuse."""

from collections.abc import Callable

import pytest

from irkit.core import ScheduleError
from irkit.ir import parse
from irkit.schedule import BlockRef, Schedule

ROWS = """def f(A: f32[8, 16], C: f32[16]):
    T = alloc(f32[16])
    for i in serial(0, 8):
        for k in serial(0, 16):
            with block("T"):
                vi = axis.{kind}(8, i)
                vk = axis.reduce(16, k)
                with init():
                    T[vk] = f32(0.0)
                T[vk] = T[vk] + A[vi, vk]
    for k in serial(0, 16):
        with block("C"):
            vk = axis.spatial(16, k)
            C[vk] = T[vk] + f32(1.0)
"""
Apply = Callable[[Schedule, BlockRef], object]


@pytest.mark.parametrize(
    "apply",
    [
        lambda s, b: s.rfactor(s.get_loops(b)[1]),
        lambda s, b: s.rfactor(s.get_loops(b)[1], 1),
        lambda s, b: s.decompose_reduction(b, s.get_loops(b)[1]),
        lambda s, b: s.reverse_compute_at(s.get_block("C"), s.get_loops(b)[0]),
        lambda s, b: s.compute_at(b, s.get_loops(s.get_block("C"))[0]),
        lambda s, b: s.pad_einsum(b, [3, 5]),
        lambda s, b: s.reindex(b, "T"),
        lambda s, b: s.rolling_buffer(b),
    ],
    ids=[
        "rfactor",
        "rfactor-inner",
        "decompose_reduction",
        "reverse_compute_at",
        "compute_at",
        "pad_einsum",
        "reindex",
        "rolling_buffer",
    ],
)
def test_primitives_on_reductions_refuse_it(apply: Apply) -> None:
    sch = Schedule(parse(ROWS.format(kind="spatial")))
    before = sch.func
    with pytest.raises(ScheduleError, match=r"ax[ei]s"):
        apply(sch, sch.get_block("T"))
    assert sch.func is before


@pytest.mark.parametrize(("kind", "at"), [("spatial", 1), ("reduce", 0), ("reduce", 1)])
def test_the_reason_names_the_axis_and_the_buffer(kind: str, at: int) -> None:
    sch = Schedule(parse(ROWS.format(kind=kind)))
    with pytest.raises(ScheduleError, match="stores in 'T' at a place that depends on its reduce"):
        sch.rfactor(sch.get_loops(sch.get_block("T"))[at])


@pytest.mark.parametrize("at", [0, 1])
@pytest.mark.parametrize("kind", ["spatial", "reduce"])
def test_blockize_leaves_its_initialisation_where_it_is(kind: str, at: int) -> None:
    sch = Schedule(parse(ROWS.format(kind=kind)))
    sch.blockize(sch.get_loops(sch.get_block("T"))[at])
    assert sch.get(sch.get_block("T")).init is not None
