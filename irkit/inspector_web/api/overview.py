"""The runs of a page, with their functions and steps."""

import msgspec

from irkit.inspector_web.runs.run import Run
from irkit.inspector_web.runs.steps import LinesChanged, StepRow
from irkit.inspector_web.runs.workspace import Workspace
from irkit.inspector_web.views.kernels import KernelInfo


class FunctionInfo(msgspec.Struct):
    """A function that steps ran on, and how many there are."""

    name: str
    steps: int
    changed: int
    failed: int


class RunInfo(msgspec.Struct):
    """A run: its functions, its steps, and the versions of what made it."""

    number: int
    title: str
    versions: dict[str, str]
    functions: list[FunctionInfo]
    steps: list[StepRow]


class Overview(msgspec.Struct):
    """All runs of a page; the first ``opened`` came from files, the others were made on it."""

    runs: list[RunInfo]
    opened: int


def overview(workspace: Workspace) -> Overview:
    """List runs, functions and steps, without printing any IR."""
    return Overview([run_info(run) for run in workspace.runs], workspace.opened)


def run_info(run: Run) -> RunInfo:
    """List the steps of a run."""
    rows = run.steps.rows()
    found = {name: FunctionInfo(name, 0, 0, 0) for name in run.functions}
    for row in rows:
        info = found[row.function]
        info.steps += 1
        info.changed += row.status == "changed"
        info.failed += row.status == "failed"
    return RunInfo(run.number, run.title, dict(run.trace.versions), list(found.values()), rows)


def counts(run: Run, function: str) -> LinesChanged:
    """Count the lines that each step of a function added and removed."""
    return run.steps.lines_changed(function)


def kernel_infos(run: Run) -> list[KernelInfo]:
    """List the kernels of a run, with the operators they came from and their work."""
    return run.kernels
