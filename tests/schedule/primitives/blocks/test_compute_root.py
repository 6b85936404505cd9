"""compute_root: a block moves out of all loops that it shares with others."""

import pytest

from irkit import te
from irkit.core import ScheduleError
from irkit.schedule import Schedule
from tests.schedule.kernels import chain, loop_extents


def test_symbolic_tiles_are_guarded() -> None:
    n, m = te.var("n"), te.var("m")
    a = te.placeholder((n, m), name="A")
    b = te.compute((n, m), lambda i, j: a[i, j] * 3.0, name="B")
    c = te.compute((n, m), lambda i, j: b[i, j] + 1.0, name="C")
    sch = Schedule(te.create_prim_func([a, c]), check="each")
    i, j = sch.get_loops(sch.get_block("C"))
    io, ii = sch.split(i, [None, 4])
    jo, ji = sch.split(j, [None, 3])
    sch.reorder(io, jo, ii, ji)
    sch.compute_at(sch.get_block("B"), jo)
    assert "where(i_0 * 4 + ax0 < n and j_0 * 3 + ax1 < m)" in sch.mod.script()
    sch.compute_at(sch.get_block("B"), io)
    sch.compute_root(sch.get_block("B"))
    assert loop_extents(sch, "B") == ["n", "m"]


def test_a_chain_moves_from_the_end() -> None:
    sch = Schedule(chain(10), check="each")
    (i,) = sch.get_loops(sch.get_block("D"))
    outer, inner = sch.split(i, [None, 4])
    with pytest.raises(ScheduleError, match="not all of its consumers"):
        sch.compute_at(sch.get_block("B"), outer)
    sch.compute_at(sch.get_block("C"), outer)
    sch.compute_at(sch.get_block("B"), outer)
    with pytest.raises(ScheduleError, match="not allocated around that place"):
        sch.compute_root(sch.get_block("C"))
    sch.compute_root(sch.get_block("B"))
    sch.compute_at(sch.get_block("C"), inner)
    sch.compute_root(sch.get_block("C"))
    assert [len(sch.get_loops(sch.get_block(name))) for name in "BCD"] == [1, 1, 2]
