"""A step without a pass, which carries IR into a trace file or to another process."""

from irkit.core import Function, Level
from irkit.graph import WHOLE_GRAPH_LEVEL
from irkit.ir import LOOP_LEVEL
from irkit.transform import IR, Step


def trace_step(level: Level, ir: IR) -> Step:
    """Return a step of no pass whose IR is the same before and after."""
    return Step(
        index=0,
        level=level,
        phase=0,
        phase_name="",
        name="",
        pass_text="",
        options={},
        function=ir.name if isinstance(ir, Function) else "",
        before=ir,
        after=ir,
        seconds=0.0,
    )


LEVELS = (LOOP_LEVEL, WHOLE_GRAPH_LEVEL)
