"""Carry IR where only steps go: into a trace file, or to another process."""

from irkit.core import Function, Level
from irkit.transform import IR, Step


def carrying_step(level: Level, ir: IR) -> Step:
    """Make a step of no pass that holds IR and leaves it as it is."""
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
