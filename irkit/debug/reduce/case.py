"""A failing case: function, schedule, pipeline and inputs; and its size."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
import numpy as np

from irkit.core import count_nodes
from irkit.debug.check.schedule_steps import NO_SCHEDULE, scheduled_steps
from irkit.ir import Buffer, PrimFunc, parse, script
from irkit.schedule import ScheduleTrace
from irkit.transform import Apply, Pipeline, Step, apply_here


class FailingCase(msgspec.Struct, frozen=True, eq=False):
    """A reproducible failure.

    ``inputs`` are arrays and numbers by the names of the parameters; ``schedule`` runs on the
    function before the passes do.
    """

    func: PrimFunc
    pipeline: Pipeline
    inputs: Mapping[str, Any]
    schedule: ScheduleTrace = NO_SCHEDULE

    @property
    def args(self) -> list[Any]:
        """Return the inputs in the order of the parameters."""
        values = [(param, np.asarray(self.inputs[param.name])) for param in self.func.params]
        return [v if isinstance(param, Buffer) else v.item() for param, v in values]

    def replace(self, **changes: Any) -> "FailingCase":
        """Return a copy with some fields changed."""
        return msgspec.structs.replace(self, **changes)

    def steps(self, apply: Apply = apply_here) -> Iterator[Step]:
        """Run the schedule, then the passes, one step at a time."""
        return scheduled_steps(self.func, self.schedule, self.pipeline, apply=apply)

    def reread(self) -> "FailingCase":
        """Print the function and parse it back, so that only what its text shows counts."""
        func = parse(script(self.func))
        pairs = zip(func.params, self.func.params, strict=True)
        return self.replace(
            func=func, inputs={new.name: self.inputs[old.name] for new, old in pairs}
        )


Move = Callable[[FailingCase], FailingCase | None]
"""A change to a case; None if it does not apply."""


class CaseSize(msgspec.Struct, frozen=True):
    """Size of a case.

    It counts nodes and lines of the function, passes, elements of the inputs, those that are not 0,
    and steps of the schedule.
    """

    nodes: int
    lines: int
    passes: int
    elements: int
    nonzero: int
    steps: int = 0

    def __str__(self) -> str:
        steps = f"{self.steps} schedule steps, " if self.steps else ""
        return (
            f"{self.nodes} nodes on {self.lines} lines, {steps}{self.passes} passes, "
            f"{self.elements} input elements ({self.nonzero} not 0)"
        )


def size_of_case(case: FailingCase) -> CaseSize:
    """Return the size of a case."""
    arrays = [np.asarray(value) for value in case.inputs.values()]
    return CaseSize(
        count_nodes(case.func),
        len(script(case.func).splitlines()),
        len(case.pipeline.placed),
        sum(array.size for array in arrays),
        sum(int(np.count_nonzero(array)) for array in arrays),
        len(case.schedule),
    )
