"""Checking after each step finds a primitive that changes results, and accepts the others."""

import pytest

from irkit import te
from irkit.core import ScheduleError
from irkit.schedule import Schedule


def test_checking_after_each_step_finds_a_wrong_primitive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a = te.placeholder((6,), name="A")
    b = te.compute((6,), lambda i: a[i] + 1.0, name="B")
    sch = Schedule(te.create_prim_func([a, b]), check="each")
    wrong = te.compute((6,), lambda i: a[i] + 2.0, name="B")
    other = te.create_prim_func([a, wrong])
    monkeypatch.setattr("irkit.schedule.methods.marks.mark", lambda *_: other)
    before = sch.func
    with pytest.raises(ScheduleError, match="changed the result"):
        sch.unroll(sch.get_loops(sch.get_block("B"))[0])
    assert sch.func is before


def test_a_function_that_disagrees_with_the_reference_is_refused_at_once() -> None:
    a = te.placeholder((6,), name="A")
    b = te.compute((6,), lambda i: a[i] + 1.0, name="B")
    wrong = te.compute((6,), lambda i: a[i] + 2.0, name="B")
    reference = te.numpy_reference([a, b])
    sch = Schedule(te.create_prim_func([a, b]), check="each", reference=reference)
    sch.vectorize(sch.get_loops(sch.get_block("B"))[0])
    with pytest.raises(ScheduleError, match="lowering changed the result"):
        Schedule(te.create_prim_func([a, wrong]), check="each", reference=reference)


def test_rounding_is_accepted_but_a_lost_element_is_not() -> None:
    a = te.placeholder((64,), name="A")
    k = te.reduce_axis((0, 64), name="k")
    b = te.compute((1,), lambda i: te.sum(te.exp(a[k]), axis=k), name="B")
    sch = Schedule(te.create_prim_func([a, b]), check="each")
    *_, loop = sch.get_loops(sch.get_block("B"))
    _, inner = sch.split(loop, [None, 8])
    sch.rfactor(inner)
