"""The steps of a run that a job is about, and how the child gets them: as a trace."""

from pathlib import Path

import msgspec

from irkit.core import InputError
from irkit.inspector_web.jobs.job import RunSink
from irkit.inspector_web.runs.run import LEVELS, Run
from irkit.inspector_web.runs.workspace import Workspace
from irkit.processes import Limits
from irkit.transform import Step, Trace

RUN_JOB_LIMITS = Limits(seconds=300.0, memory=8 << 30)
TRACE = "asked.trace"
QUICK_BYTES = 1 << 26
"""Bytes of constants up to which they are read again from the model even for a quick check."""


class ChosenSteps(msgspec.Struct, frozen=True):
    """Steps of a run that a job is about, numbered as in the run."""

    run: Run
    steps: tuple[Step, ...]
    careful: bool = False
    function: str | None = None

    def save(self, folder: Path) -> str:
        """Write the steps to a trace, numbered from 0, and return its path."""
        path = str(folder / TRACE)
        Trace(self.steps).save(path, LEVELS)
        return path

    @property
    def numbers(self) -> tuple[int, ...]:
        """List the numbers of the steps in the run."""
        return tuple(step.index for step in self.steps)


def refuse_text(run: Run, what: str) -> None:
    """Refuse what needs the meaning of IR. Raises: InputError if another compiler made the run."""
    if run.is_text:
        raise InputError(
            f"{what} needs to know what the IR means, and another compiler made this one",
            hint="Differences, blame, search, comparisons and reports need its text only.",
        )


def choose_steps(
    workspace: Workspace, number: int, function: str | None, step: int | None, careful: bool
) -> ChosenSteps:
    """Look up one step, the steps of a function, or all steps of a run.

    Raises: InputError if there is no such run, function or step, or if the step failed.
    """
    run = workspace.run(number)
    refuse_text(run, "Running a program")
    if step is not None:
        found = workspace.step(number, step)
        if found is None:
            raise InputError("this pass failed, so there is no IR after it to compare with")
        return ChosenSteps(run, (found,), careful, found.function)
    if function is not None and function not in run.functions:
        raise InputError(f"the run has no function {function[:80]!r}")
    steps = tuple(each for each in run.trace if function in (None, each.function))
    return ChosenSteps(run, steps, careful, function)


def keep_result(sink: RunSink, chosen: ChosenSteps, made: object) -> object:
    """Return the result as it is: what a job does that adds no run."""
    return made
