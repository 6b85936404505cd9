"""The automatic schedule as a pass: what it leaves alone, its options and its remarks."""

import numpy as np

from irkit import te
from irkit.autoschedule import Machine
from irkit.core import Recorder, recording, same, walk
from irkit.ir import Block, PrimFunc, as_scheduled, interpret, is_unscheduled, script, verify
from irkit.passes.loop import auto_schedule
from irkit.transform import apply_pass


def double(size: int = 64) -> PrimFunc:
    x = te.placeholder((size,), name="x")
    return te.create_prim_func([x, te.compute((size,), lambda i: x[i] * 2.0, name="y")])


def test_scheduled_and_small_functions_stay() -> None:
    func = as_scheduled(double())
    assert auto_schedule(func) is func
    small = double()
    assert auto_schedule.using(fewest=65)(small) is small


def test_the_machine_is_data_and_part_of_the_text_of_the_pass() -> None:
    narrow = auto_schedule.using(machine=Machine(vector_bytes=16).settings)
    assert str(narrow) == 'auto-schedule{machine=[["vector_bytes",16]]}'
    assert "vectorized(0, 4)" in script(narrow(double()))
    assert "vectorized(0, 16)" in script(auto_schedule(double()))


def test_the_loops_as_written_run_first_if_asked() -> None:
    func = double()
    both = auto_schedule.using(written_first=True)(func)
    assert verify(both) == []
    assert not is_unscheduled(both)
    assert [block.name for block in walk(both, on=Block)] == ["y", "y"]
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    interpret(both, x, y)
    assert (y == 2 * x).all()


def test_what_it_did_is_a_remark() -> None:
    recorder = Recorder()
    func = double()
    made = apply_pass(auto_schedule, func, recorder)
    (said,) = recorder.remarks
    assert said.node is func
    assert said.text.splitlines()[-1] == "sch.vectorize(i_1)"
    with recording(Recorder()):
        assert same(auto_schedule(func), made)
