"""The wrong elements of a step as a picture, and the line and iteration that wrote the first one.

An array is cut into slices of its last two dimensions, and a slice into tiles; a tile has the
largest error inside it. The kind of job is at the end of the module.
"""

import math
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from irkit.core import InputError
from irkit.debug import FirstMismatch, first_mismatch
from irkit.inspector_web.jobs.chosen_steps import (
    RUN_JOB_LIMITS,
    ChosenSteps,
    choose_steps,
    keep_result,
)
from irkit.inspector_web.jobs.job import JobKind
from irkit.inspector_web.jobs.verdicts import QUICK, as_step_verdict
from irkit.inspector_web.record.progress import report_progress
from irkit.inspector_web.runs.run import LEVELS
from irkit.inspector_web.runs.workspace import Workspace
from irkit.ir import LOOP_LEVEL, ElementWrites, PrimFunc
from irkit.transform import Step, Trace

MOST_SLICES = 64
MOST_ROWS, MOST_COLUMNS = 48, 64
"""Most tiles of a slice each way."""
LEVELS_OF_ERROR = 4
Array = np.ndarray[Any, Any]


class ErrorTile(msgspec.Struct, frozen=True):
    """A part of a slice with wrong elements: its row and column, the strength of its error from 1
    to 4, and its worst element, with both values."""

    row: int
    column: int
    level: int
    at: tuple[int, ...]
    expected: str
    found: str


class ErrorSlice(msgspec.Struct, frozen=True):
    """A slice of an array: where it is, its wrong elements, and its tiles that have some.

    Units: ``tile`` is the height and width of a tile in elements.
    """

    name: str
    wrong: int
    size: tuple[int, int]
    tile: tuple[int, int]
    tiles: list[ErrorTile]


class ElementWriter(msgspec.Struct, frozen=True, omit_defaults=True):
    """What wrote an element last: its line in the function, from 1, the iteration, and how often
    the element was written. The count is 0 if nothing wrote it; ``note`` says why it is not known.
    """

    line: int = 0
    code: str = ""
    iteration: tuple[tuple[str, int], ...] = ()
    count: int = 0
    value: str = ""
    note: str = ""


class StepMismatch(msgspec.Struct, frozen=True, omit_defaults=True):
    """The wrong elements of a step; ``note`` says why there are none.

    ``slices`` are those with the most wrong elements, in order of their place; ``more`` others have
    some.
    """

    step: int
    note: str = ""
    buffer: str = ""
    dtype: str = ""
    shape: tuple[int, ...] = ()
    at: tuple[int, ...] = ()
    expected: str = ""
    found: str = ""
    inputs: str = ""
    wrong: int = 0
    slices: list[ErrorSlice] = []
    more: int = 0
    before: ElementWriter = ElementWriter()
    after: ElementWriter = ElementWriter()


def step_mismatch(step: Step, number: int) -> StepMismatch:
    """Find the wrong elements of a step, and who wrote the first one."""
    made = first_mismatch(step, QUICK)
    if not isinstance(made, FirstMismatch):
        return StepMismatch(number, note=as_step_verdict(made, QUICK.samples).text)
    told = as_step_verdict(made.verdict, QUICK.samples)
    slices = error_slices(made.expected, made.found)
    worst = sorted(range(len(slices)), key=lambda at: -slices[at].wrong)[:MOST_SLICES]
    return StepMismatch(
        number,
        buffer=told.buffer,
        dtype=made.expected.dtype.name,
        shape=made.expected.shape,
        at=told.at,
        expected=told.expected,
        found=told.found,
        inputs=told.inputs,
        wrong=sum(each.wrong for each in slices),
        slices=[slices[at] for at in sorted(worst)],
        more=len(slices) - len(worst),
        before=_writer(step.before, made.wrote_before),
        after=_writer(step.after, made.wrote_after),
    )


def error_slices(expected: Array, found: Array) -> list[ErrorSlice]:
    """Cut two arrays into slices of their last two dimensions; return those that differ."""
    shape = (1,) * (2 - expected.ndim) + expected.shape
    one, other = expected.reshape(shape), found.reshape(shape)
    with np.errstate(all="ignore"):
        apart = np.abs(other.astype(np.float64) - one.astype(np.float64))
        differ = (one != other) & ~((one != one) & (other != other))
    apart = np.where(differ, np.where(np.isfinite(apart) & (apart > 0), apart, math.inf), 0.0)
    levels = _levels(apart)
    slices: list[ErrorSlice] = []
    for outer in np.ndindex(shape[:-2]):
        if differ[outer].any():
            parts = apart[outer], levels[outer], one[outer], other[outer]
            slices.append(_slice(outer, expected.ndim, *parts))
    return slices


def _levels(apart: Array) -> Array:
    """Grade errors from 1 to 4 on a logarithmic scale of what there is; none is 0."""
    some = apart[(apart > 0) & np.isfinite(apart)]
    if not some.size:
        return np.where(apart > 0, LEVELS_OF_ERROR, 0)
    low, high = math.log(some.min()), math.log(some.max())
    with np.errstate(all="ignore"):
        logs = np.log(np.where(np.isfinite(apart) & (apart > 0), apart, some.max()))
    if high - low < 1e-9:
        grades = np.full(apart.shape, LEVELS_OF_ERROR)
    else:
        grades = 1 + np.round((logs - low) / (high - low) * (LEVELS_OF_ERROR - 1)).astype(int)
    return np.where(apart > 0, grades, 0)


def _slice(
    outer: tuple[int, ...], rank: int, apart: Array, levels: Array, one: Array, other: Array
) -> ErrorSlice:
    rows, columns = apart.shape
    high, wide = -(-rows // MOST_ROWS), -(-columns // MOST_COLUMNS)
    tiles: list[ErrorTile] = []
    for row in range(0, rows, high):
        for column in range(0, columns, wide):
            part = apart[row : row + high, column : column + wide]
            if not part.any():
                continue
            i, j = (int(x) for x in np.unravel_index(int(part.argmax()), part.shape))
            i, j = row + i, column + j
            at = (*outer, i, j)[-rank:] if rank else ()
            texts = str(one[i, j]), str(other[i, j])
            tiles.append(ErrorTile(row // high, column // wide, int(levels[i, j]), at, *texts))
    name = f"[{', '.join([*map(str, outer), ':', ':'][-rank:])}]" if rank else ""
    wrong = int(np.count_nonzero(apart))
    size = -(-rows // high), -(-columns // wide)
    return ErrorSlice(name, wrong, size, (high, wide), tiles)


def _writer(func: object, writes: ElementWrites) -> ElementWriter:
    last = writes.last
    if writes.error:
        return ElementWriter(note=f"It could not be followed: {writes.error}")
    if last is None or not isinstance(func, PrimFunc) or LOOP_LEVEL.listing is None:
        return ElementWriter()
    listing = LOOP_LEVEL.listing(func)
    line = listing.starts.get(id(last.stmt), 0)
    code = listing.lines[line - 1].strip() if line else ""
    return ElementWriter(line, code, last.iteration, writes.count, str(last.value))


class MismatchRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Request for the wrong elements of a step."""

    run: int
    step: int


def _find(workspace: Workspace, asked: MismatchRequest) -> ChosenSteps:
    chosen = choose_steps(workspace, asked.run, None, asked.step, False)
    step = chosen.steps[0]
    if not isinstance(step.before, PrimFunc) or not isinstance(step.after, PrimFunc):
        raise InputError("wrong elements are shown of a loop function, and this step is on a graph")
    return chosen


def _send(chosen: ChosenSteps, folder: Path) -> tuple[Any, ...]:
    return chosen.save(folder), chosen.numbers[0]


def run_mismatch(path: str, number: int) -> StepMismatch:
    """Find the wrong elements of the step of a trace file; the child calls this."""
    report_progress("running the function before and after the pass")
    return step_mismatch(Trace.load(path, LEVELS)[0], number)


MISMATCH = JobKind(MismatchRequest, _find, _send, run_mismatch, keep_result, RUN_JOB_LIMITS)
