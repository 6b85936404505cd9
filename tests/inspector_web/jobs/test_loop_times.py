"""The loops of a kernel, timed by clocks in its native code."""

from pathlib import Path

import pytest

from irkit.core import InputError
from irkit.inspector_web.jobs.loop_times import (
    LOOP_TIMES,
    LoopTimesRequest,
    run_loop_times,
    time_loops_of,
)
from irkit.inspector_web.runs.run import LoadedTrace
from irkit.inspector_web.runs.workspace import Workspace
from irkit.ir import PrimFunc, parse, script
from irkit.phases import trace
from irkit.transform import Trace

PLANTED = """\
def f(A: f32[64, 64], B: f32[64]):
    for i in serial(0, 64):
        for j in serial(0, 64):
            A[i, j] = A[i, j] + f32(1.0)
    for slow in serial(0, 40000):
        B[0] = B[0] * f32(0.999) + f32(1.0)
"""


def test_the_slow_loop_is_found_at_its_line_with_what_the_clocks_cost(tmp_path: Path) -> None:
    workspace = Workspace([LoadedTrace(Trace(trace(parse(PLANTED))), "one")])
    found = LOOP_TIMES.find(workspace, LoopTimesRequest(0, "f"))
    made = run_loop_times(*LOOP_TIMES.send(found, tmp_path))
    assert (made.function, made.message) == ("f", "")
    slow = max(made.loops, key=lambda loop: loop.own)
    assert slow.iterations == 40000
    assert slow.own / made.timed > 0.5
    after = workspace.runs[0].trace[made.step].after
    assert isinstance(after, PrimFunc)
    text = script(after).split("\n")
    assert text[slow.line - 1].strip().startswith("for slow in")
    assert made.plain > 0
    assert made.timed > 0


def test_a_function_that_is_not_there_is_refused() -> None:
    workspace = Workspace([LoadedTrace(Trace(trace(parse(PLANTED))), "one")])
    with pytest.raises(InputError, match="loop function"):
        LOOP_TIMES.find(workspace, LoopTimesRequest(0, "g"))
    with pytest.raises(InputError, match="no loop function 'g'"):
        time_loops_of(workspace.runs[0].trace, "g")
