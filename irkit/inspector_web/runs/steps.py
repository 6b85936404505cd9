"""The list of passes: a row for each step, and filters that choose rows.

A row needs no printed text. How many lines a step changed is counted on request, and then cached.
"""

import math
import threading
import time
from collections.abc import Hashable, Sequence
from typing import Literal

import msgspec

from irkit.core import Function, walk
from irkit.inspector_web.diff.line_diff import Diff, diff_lines
from irkit.inspector_web.diff.up_to_names import diff_up_to_names
from irkit.inspector_web.limits import MOST_COMPARED
from irkit.inspector_web.single_flight import SingleFlight
from irkit.inspector_web.text.dump_text import TEXT
from irkit.inspector_web.text.lines import Places
from irkit.inspector_web.text.texts import Texts, functions_in
from irkit.inspector_web.views.search import lines_with
from irkit.transform import IR, FunctionState, PassFailed, Step, Trace

Status = Literal["changed", "same", "failed"]
COUNTING = 0.05
COMPARING = 1.0
NODES_PER_CLOCK_READING = 2_000
"""Nodes that are counted between two readings of the clock."""
MOST_READ = 10_000
"""Most nodes that are read from a file only to be counted for the list."""


class StepRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """A row of the list, for one step.

    Units: ``ms`` is the time of the pass alone, in milliseconds; ``before`` and ``after`` count
    nodes of the IR, ``added`` and ``removed`` lines of text.

    Counts are None until they are computed. ``index`` is the place in the trace; a failed pass is
    one after the last step.
    """

    index: int
    level: str
    phase: int
    phase_name: str
    name: str
    pass_text: str
    function: str
    status: Status
    ms: float
    before: int | None = None
    after: int | None = None
    rewrites: int = 0
    remarks: int = 0
    added: int | None = None
    removed: int | None = None
    message: str = ""


class Filter(msgspec.Struct, frozen=True):
    """Filter of rows: a row has to meet all conditions.

    ``name`` is a part of the pass's text, case-insensitive; ``touches`` is a part of a line that
    the pass removed or added.
    """

    changed: bool = False
    phase: int | None = None
    level: str = ""
    name: str = ""
    function: str | None = None
    touches: str = ""


class LinesChanged(msgspec.Struct):
    """Lines that steps added and removed, as far as they are counted: ``fresh`` of them by this
    call; ``more`` if there are others."""

    counts: dict[int, tuple[int, int]]
    fresh: int = 0
    more: bool = False


class TouchingSteps(msgspec.Struct):
    """Steps that changed lines with a given text, as far as they are compared; ``more`` if there
    are others."""

    steps: list[int]
    more: bool = False


class Steps:
    """The steps of a run as rows, with their differences. ``failure`` is the pass that failed."""

    def __init__(self, texts: Texts, failure: PassFailed | None = None) -> None:
        self.texts = texts
        self.trace: Trace = texts.trace
        self.failure = failure
        self._diffs = SingleFlight[Hashable, Diff](MOST_COMPARED, lambda d: len(d.before))
        self._touched: dict[int, Places] = {}
        self._sizes: dict[int, int] = {}
        self._lock = threading.Lock()
        self._rows = [_row(step) for step in self.trace]
        if failure is not None:
            self._rows.append(_failed_row(failure, len(self._rows)))

    def diff(self, index: int, *, up_to_names: bool = False) -> Diff:
        """Compare the text before and after a step."""
        before, after = (self.trace[index].states(side) for side in ("before", "after"))
        key = (*(state.key for state in before), None, *(state.key for state in after), up_to_names)
        return self._diffs.get(key, lambda: self._compare_texts(before, after, up_to_names))

    def _compare_texts(
        self, old: list[FunctionState], new: list[FunctionState], up_to_names: bool
    ) -> Diff:
        before, after = self.texts.ids_of(old), self.texts.ids_of(new)
        return (
            diff_up_to_names(before, after, self.texts.table)
            if up_to_names
            else diff_lines(before, after)
        )

    def rows(self, chosen: Filter | None = None, *, seconds: float = COUNTING) -> list[StepRow]:
        """List the rows that pass a filter.

        Without a filter, list all rows, and spend up to ``seconds`` on counting nodes; large states
        are counted once something else has read them.
        """
        if chosen is None:
            self._count(seconds)
            return list(self._rows)
        kept = [row for row in self._rows if _passes(row, chosen)]
        if not chosen.touches:
            return kept
        touching = set(self._touching(kept, chosen.touches, math.inf).steps)
        return [row for row in kept if row.index in touching]

    def touching(self, function: str, text: str, *, seconds: float = COMPARING) -> TouchingSteps:
        """Find the steps of a function that changed lines with a text.

        Each call compares further steps for up to ``seconds``, and at least one.
        """
        rows = [row for row in list(self._rows) if row.function == function]
        return self._touching(rows, text, seconds)

    def lines_changed(self, function: str, *, seconds: float = COUNTING) -> LinesChanged:
        """Count the lines that each step of a function added and removed.

        Each call counts further steps for up to ``seconds``, and at least one.
        """
        until = time.perf_counter() + seconds
        found = LinesChanged({})
        for row in list(self._rows):
            if row.function != function or row.status != "changed":
                continue
            if row.added is None:
                if found.fresh and time.perf_counter() > until:
                    found.more = True
                    continue
                found.fresh += 1
                changed = self.diff(row.index)
                row = self._change(row.index, added=changed.added, removed=changed.removed)
            found.counts[row.index] = row.added or 0, row.removed or 0
        return found

    def _change(self, index: int, **counted: int | None) -> StepRow:
        # Several threads count at once, and none may overwrite what another has counted.
        with self._lock:
            made = self._rows[index] = msgspec.structs.replace(self._rows[index], **counted)
        return made

    def counted(self, index: int) -> StepRow:
        """Return a row with everything counted."""
        row = self._sized(index)
        if row.added is None and row.status != "failed":
            changed = self.diff(index)
            row = self._change(index, added=changed.added, removed=changed.removed)
        return row

    def _count(self, seconds: float) -> None:
        until = time.perf_counter() + seconds
        for at in range(len(self.trace)):
            if time.perf_counter() > until:
                return
            if self._rows[at].before is None and self.trace[at].unread <= MOST_READ:
                self._sized(at, until)

    def _sized(self, index: int, until: float = math.inf) -> StepRow:
        row = self._rows[index]
        # Text has no nodes that could be counted.
        if row.before is None and row.level != TEXT:
            step, sizes = self.trace[index], self._sizes
            before = _size(step.before, sizes, until)
            after = None if before is None else _size(step.after, sizes, until)
            if after is not None:
                row = self._change(index, before=before, after=after)
        return row

    def _touching(self, rows: Sequence[StepRow], text: str, seconds: float) -> TouchingSteps:
        until, fresh, more = time.perf_counter() + seconds, False, False
        # Kept apart from the cache of differences: evictions could make this go on for ever.
        touched = self._touched
        changed = [row.index for row in rows if row.status == "changed"]
        for index in changed:
            if index not in touched:
                more = fresh and time.perf_counter() > until
                if more:
                    break
                touched[index], fresh = self.diff(index).touched, True
        hits = lines_with(self.texts.table, text)
        known = [index for index in changed if index in touched]
        return TouchingSteps([index for index in known if hits[touched[index]].any()], more)


def _passes(row: StepRow, chosen: Filter) -> bool:
    return (
        (not chosen.changed or row.status != "same")
        and (chosen.phase is None or row.phase == chosen.phase)
        and (not chosen.level or row.level == chosen.level)
        and chosen.name.lower() in row.pass_text.lower()
        and (chosen.function is None or row.function == chosen.function)
    )


def _row(step: Step) -> StepRow:
    return StepRow(
        index=step.index,
        level=step.level.name,
        phase=step.phase,
        phase_name=step.phase_name,
        name=step.name,
        pass_text=step.pass_text,
        function=step.function,
        status="changed" if step.changed else "same",
        ms=step.seconds * 1e3,
        rewrites=step.applications,
        remarks=step.remark_count,
    )


def _failed_row(failure: PassFailed, index: int) -> StepRow:
    attempt = failure.attempt
    is_text = attempt is not None and attempt.level.name == TEXT
    size = None if is_text else _size(failure.before, {})
    return StepRow(
        index=index,
        level=attempt.level.name if attempt is not None else "",
        phase=failure.phase,
        phase_name="",
        name=failure.name,
        pass_text=failure.pass_text,
        function=failure.function,
        status="failed",
        ms=0.0,
        before=size,
        after=size,
        message=failure.what,
    )


def _size(ir: IR, sizes: dict[int, int], until: float = math.inf) -> int | None:
    """Count the nodes of all functions; return None if time is up before."""
    total = 0
    for _, func in functions_in(ir):
        size = _function_size(func, sizes, until)
        if size is None:
            return None
        total += size
    return total


def _function_size(func: Function, sizes: dict[int, int], until: float) -> int | None:
    known = sizes.get(id(func))
    if known is not None:
        return known
    count = 0
    for count, _ in enumerate(walk(func), 1):
        if not count % NODES_PER_CLOCK_READING and time.perf_counter() > until:
            return None
    sizes[id(func)] = count
    return count
