"""FIXME The runs on one page."""

import re
from collections.abc import Iterable

from irkit.core import InputError
from irkit.inspector_web.diff.line_diff import Diff, diff_lines
from irkit.inspector_web.diff.up_to_names import diff_up_to_names
from irkit.inspector_web.runs.run import MOST_LINES, LoadedTrace, Run, RunStage
from irkit.inspector_web.runs.steps import Filter
from irkit.inspector_web.single_flight import SingleFlight
from irkit.inspector_web.text.highlight import Highlighter
from irkit.inspector_web.text.lines import LineTable
from irkit.transform import Step

_REF = re.compile(r"(\d{1,4})\.(\d{1,7})\.([ab])\Z")
MOST_BYTES = 64 << 20
"""Bytes of the answers that are kept, each with so many for its question."""
ASKED_BYTES = 500


class Workspace:
    """The runs on one page."""

    def __init__(self, opened: Iterable[LoadedTrace]) -> None:
        self.table = LineTable()
        self.colours = Highlighter(self.table)
        self.runs = tuple(Run(each, at, self.table) for at, each in enumerate(opened))
        self._diffs = SingleFlight[tuple[str, str, bool], Diff](MOST_LINES, lambda d: len(d.before))
        self.answers = SingleFlight[str, bytes](MOST_BYTES, lambda made: len(made) + ASKED_BYTES)

    def add(self, opened: LoadedTrace) -> int:
        """Add a run, and return its number."""
        number = len(self.runs)
        self.runs = (*self.runs, Run(opened, number, self.table))
        return number

    def prepare(self) -> None:
        """Work out what the page shows first: that a pass failed, or the first change."""
        rows = [row for run in self.runs[:1] for row in run.steps.rows(Filter(changed=True))]
        first = next((row for row in rows if row.status == "failed"), rows[0] if rows else None)
        if first is not None and first.status == "changed":
            self.runs[0].steps.diff(first.index)

    def run(self, number: int) -> Run:
        """Find a run by its number."""
        if not 0 <= number < len(self.runs):
            raise InputError(f"there is no run {number}; there are {len(self.runs)}, from 0")
        return self.runs[number]

    def step(self, run: int, number: int) -> Step | None:
        """Find a step; None is a pass that failed."""
        found = self.run(run)
        count = len(found.trace)
        if number == count and found.opened.failure is not None:
            return None
        if not 0 <= number < count:
            raise InputError(f"there is no step {number}; the run has {count}, from 0")
        return found.trace[number]

    def stage(self, ref: str) -> RunStage:
        """Find a stage by its name.

        Raises: InputError if the name is none, or there is no such step.
        """
        match = _REF.match(ref)
        if match is None:
            raise InputError(f"{ref[:40]!r} names no stage; expected such as 0.12.a")
        run, number = int(match[1]), int(match[2])
        step = self.step(run, number)
        if step is None:
            failure = self.runs[run].opened.failure
            assert failure is not None
            return RunStage(self.runs[run], number, "before", failure.before)
        if match[3] == "b":
            return RunStage(self.runs[run], number, "before", step.before)
        return RunStage(self.runs[run], number, "after", step.after)

    def diff(self, left: RunStage, right: RunStage, *, up_to_names: bool = False) -> Diff:
        """Compare two stages; the last differences are kept."""
        if left.run is right.run and (left.step, left.side, right.side) == (
            right.step,
            "before",
            "after",
        ):
            return left.run.steps.diff(left.step, up_to_names=up_to_names)
        key = left.ref, right.ref, up_to_names
        return self._diffs.get(key, lambda: self._compared(left, right, up_to_names))

    def _compared(self, left: RunStage, right: RunStage, up_to_names: bool) -> Diff:
        before, after = left.text.ids, right.text.ids
        return (
            diff_up_to_names(before, after, self.table)
            if up_to_names
            else diff_lines(before, after)
        )
