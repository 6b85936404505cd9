"""IR for a trace file or for another process: a step without a pass, and its message."""

from typing import Any

from msgspec.structs import replace

from irkit.core import Function, Level
from irkit.graph import WHOLE_GRAPH_LEVEL
from irkit.ir import LOOP_LEVEL, PrimFunc
from irkit.transform import IR, Step, StepChannel

LEVELS = (LOOP_LEVEL, WHOLE_GRAPH_LEVEL)


def trace_step(level: Level, ir: IR, **about: Any) -> Step:
    """Return a step whose IR is the same before and after, of no pass; ``about`` are other fields
    of it."""
    function = ir.name if isinstance(ir, Function) else ""
    return replace(Step(0, level, 0, "", "", "", {}, function, ir, ir, 0.0), **about)


def func_message(func: PrimFunc) -> bytes:
    """Encode a loop function for another process."""
    return StepChannel((LOOP_LEVEL,)).send(trace_step(LOOP_LEVEL, func))


def func_of_message(message: bytes) -> PrimFunc:
    """Decode a loop function that another process has encoded."""
    func = StepChannel((LOOP_LEVEL,)).receive(message).before
    assert isinstance(func, PrimFunc)
    return func
