"""FIXME Steps of a run that were asked about, with the numbers they have there."""

from pathlib import Path

import msgspec

from irkit.core import InputError
from irkit.debug import Limits
from irkit.graph import GRAPH_LEVEL
from irkit.inspector_web.jobs.job import RunSink
from irkit.inspector_web.runs.run import Run
from irkit.inspector_web.runs.workspace import Workspace
from irkit.ir import LOOP_LEVEL
from irkit.transform import Step, Trace

RUN_JOB_LIMITS = Limits(seconds=300.0, memory=8 << 30)
LEVELS = (LOOP_LEVEL, GRAPH_LEVEL)
TRACE = "asked.trace"
QUICK_BYTES = 1 << 18
"""Of constants, with which a model is run without being asked twice."""


class ChosenSteps(msgspec.Struct, frozen=True):
    """Steps of a run that were asked about, with the numbers they have there."""

    run: Run
    steps: tuple[Step, ...]
    careful: bool = False
    function: str | None = None

    def save(self, folder: Path) -> str:
        """Write the steps, numbered from 0, as a trace."""
        path = str(folder / TRACE)
        Trace(self.steps).save(path)
        return path

    @property
    def numbers(self) -> tuple[int, ...]:
        """List the numbers that the steps have in the run."""
        return tuple(step.index for step in self.steps)


def choose_steps(
    workspace: Workspace, number: int, function: str | None, step: int | None, careful: bool
) -> ChosenSteps:
    run = workspace.run(number)
    if step is not None:
        found = workspace.step(number, step)
        if found is None:
            raise InputError("this pass failed, so there is nothing after it to compare with")
        return ChosenSteps(run, (found,), careful, found.function)
    if function is not None and function not in run.functions:
        raise InputError(f"the run has no function {function[:80]!r}")
    steps = tuple(each for each in run.trace if function in (None, each.function))
    return ChosenSteps(run, steps, careful, function)


def keep_result(desk: RunSink, chosen: ChosenSteps, made: object) -> object:
    return made
