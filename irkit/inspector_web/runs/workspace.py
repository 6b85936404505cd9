"""The runs on one page, over one table of lines, and lookups by number and name."""

import re
from collections.abc import Iterable

from irkit.core import InputError
from irkit.inspector_web.diff.line_diff import Diff, diff_lines
from irkit.inspector_web.diff.up_to_names import diff_up_to_names
from irkit.inspector_web.limits import MOST_CACHED_LINES, MOST_RESPONSE_BYTES, PASS_LIMITS
from irkit.inspector_web.runs.run import LoadedTrace, Run, RunStage
from irkit.inspector_web.runs.steps import Filter
from irkit.inspector_web.single_flight import SingleFlight
from irkit.inspector_web.text.highlight import Highlighter
from irkit.inspector_web.text.lines import LineTable
from irkit.processes import Limits
from irkit.transform import Step

_REF = re.compile(r"(\d{1,4})\.(\d{1,7})\.([ab])\Z")
KEY_BYTES = 500
"""Estimate of what the key of a cached response takes."""


class Workspace:
    """The runs on one page. ``pass_limits`` are those of each pass that runs again."""

    def __init__(self, loaded: Iterable[LoadedTrace], pass_limits: Limits = PASS_LIMITS) -> None:
        self.pass_limits = pass_limits
        self.table = LineTable()
        self.colours = Highlighter(self.table)
        self.runs = tuple(Run(each, at, self.table) for at, each in enumerate(loaded))
        self.opened = len(self.runs)  # The others were made on the page.
        self._diffs = SingleFlight[tuple[str, str, bool], Diff](
            MOST_CACHED_LINES, lambda d: len(d.before)
        )
        self.responses = SingleFlight[str, bytes](
            MOST_RESPONSE_BYTES, lambda made: len(made) + KEY_BYTES
        )

    def add(self, loaded: LoadedTrace) -> int:
        """Add a run and return its number."""
        number = len(self.runs)
        self.runs = (*self.runs, Run(loaded, number, self.table))
        return number

    def prepare(self) -> None:
        """Compute what the page shows first: the kernels, or the difference of the first changed
        step."""
        for run in self.runs[:1]:
            if len(run.functions) > 1:
                _ = run.kernels
        rows = [row for run in self.runs[:1] for row in run.steps.rows(Filter(changed=True))]
        first = next((row for row in rows if row.status == "failed"), rows[0] if rows else None)
        if first is not None and first.status == "changed":
            self.runs[0].steps.diff(first.index)

    def run(self, number: int) -> Run:
        """Find a run by number. Raises: InputError if there is none."""
        if not 0 <= number < len(self.runs):
            raise InputError(
                f"there is no run {number}; the page has {len(self.runs)}, numbered from 0"
            )
        return self.runs[number]

    def step(self, run: int, number: int) -> Step | None:
        """Find a step by number; None for the failed pass. Raises: InputError if there is none."""
        found = self.run(run)
        count = len(found.trace)
        if number == count and found.loaded.failure is not None:
            return None
        if not 0 <= number < count:
            raise InputError(f"there is no step {number}; the run has {count}, numbered from 0")
        return found.trace[number]

    def stage(self, ref: str) -> RunStage:
        """Find a stage by name, such as ``0.12.a``.

        Raises: InputError if the name is malformed, or there is no such step.
        """
        match = _REF.match(ref)
        if match is None:
            raise InputError(
                f"{ref[:40]!r} is not the name of a stage; expected one such as 0.12.a"
            )
        run, number = int(match[1]), int(match[2])
        step = self.step(run, number)
        if step is None:
            return RunStage(self.runs[run], number, "before")
        return RunStage(self.runs[run], number, "before" if match[3] == "b" else "after")

    def diff(self, left: RunStage, right: RunStage, *, up_to_names: bool = False) -> Diff:
        """Compare two stages, with a cache."""
        if left.run is right.run and (left.step, left.side, right.side) == (
            right.step,
            "before",
            "after",
        ):
            return left.run.steps.diff(left.step, up_to_names=up_to_names)
        key = left.ref, right.ref, up_to_names
        return self._diffs.get(key, lambda: self._diff(left, right, up_to_names))

    def _diff(self, left: RunStage, right: RunStage, up_to_names: bool) -> Diff:
        before, after = left.ids, right.ids
        return (
            diff_up_to_names(before, after, self.table)
            if up_to_names
            else diff_lines(before, after)
        )
