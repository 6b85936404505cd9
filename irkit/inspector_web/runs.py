"""What is being looked at: one or more runs, over one table of lines so that they can be compared.

Threads may ask for anything at the same time: what takes long is worked out once, and only those
wait who asked for the same.

Stages are named by ``RUN.STEP.b`` (before a step) or ``RUN.STEP.a`` (after it). Nothing outside
the process is ever named: a request cannot reach a file.
"""

import re
import threading
from collections.abc import Iterable
from functools import cached_property
from typing import Literal

import msgspec

from irkit.core import InputError
from irkit.inspector_web.blame import Blame
from irkit.inspector_web.diff import Diff, diff
from irkit.inspector_web.graph_view import GraphView
from irkit.inspector_web.highlight import Highlighter
from irkit.inspector_web.lines import LineTable
from irkit.inspector_web.once import Once
from irkit.inspector_web.origin import Origins, origins
from irkit.inspector_web.planning import PassInfo, Placed, Source
from irkit.inspector_web.renaming import diff_up_to_names
from irkit.inspector_web.steps import Filter, Steps
from irkit.inspector_web.texts import Text, Texts
from irkit.transform import IR, PassFailed, Step, Trace

_REF = re.compile(r"(\d{1,4})\.(\d{1,7})\.([ab])\Z")
MOST_LINES = 5_000_000
"""Lines of what is kept beside the texts, such as differences and origins."""
MOST_BYTES = 64 << 20
"""Bytes of the answers that are kept, each with so many for its question."""
ASKED_BYTES = 500


class Opened(msgspec.Struct, frozen=True, eq=False):
    """A trace that was read or made, and the pass that ended it, if one failed.

    ``source`` is what it was made from; ``passes`` are those that only this file knows; ``left``
    those that did not run any more; ``plan`` what was asked for, if it was run again.
    """

    trace: Trace
    title: str
    failure: PassFailed | None = None
    traceback: str = ""
    replay: str = ""
    source: Source | None = None
    passes: tuple[PassInfo, ...] = ()
    left: tuple[Placed, ...] = ()
    plan: tuple[Placed, ...] = ()


class Run:
    """One run of passes, with everything that is worked out from it."""

    def __init__(self, opened: Opened, number: int, table: LineTable) -> None:
        self.opened, self.number = opened, number
        self.trace, self.title = opened.trace, opened.title
        self.texts = Texts(opened.trace, table)
        self.steps = Steps(self.texts, opened.failure)
        self._origins = Once[int, Origins](MOST_LINES, lambda found: len(found.lines))
        self.graphs: dict[int, GraphView] = {}
        self.drawing = threading.RLock()

    @cached_property
    def blame(self) -> Blame:
        """Follow lines through the steps."""
        return Blame(self.texts)

    def origins(self, ir: IR) -> Origins:
        """Find where the lines of a function or module come from; what was found is kept."""
        return self._origins.get(id(ir), lambda: origins(self.texts, ir))

    @property
    def functions(self) -> tuple[str, ...]:
        """List the functions that steps are about, in order; a whole module is the empty name."""
        return tuple(dict.fromkeys(row.function for row in self.steps.rows()))


class Stage(msgspec.Struct, frozen=True, eq=False):
    """The IR before or after a step of a run."""

    run: Run
    step: int
    side: Literal["before", "after"]
    ir: IR

    @property
    def ref(self) -> str:
        """Return the name that stands in addresses."""
        return f"{self.run.number}.{self.step}.{self.side[0]}"

    @property
    def text(self) -> Text:
        """Print it."""
        return self.run.texts.of_ir(self.ir)


class Workspace:
    """The runs on one page."""

    def __init__(self, opened: Iterable[Opened]) -> None:
        self.table = LineTable()
        self.colours = Highlighter(self.table)
        self.runs = tuple(Run(each, at, self.table) for at, each in enumerate(opened))
        self._diffs = Once[tuple[str, str, bool], Diff](MOST_LINES, lambda d: len(d.before))
        self.answers = Once[str, bytes](MOST_BYTES, lambda made: len(made) + ASKED_BYTES)

    def add(self, opened: Opened) -> int:
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

    def stage(self, ref: str) -> Stage:
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
            return Stage(self.runs[run], number, "before", failure.before)
        if match[3] == "b":
            return Stage(self.runs[run], number, "before", step.before)
        return Stage(self.runs[run], number, "after", step.after)

    def diff(self, left: Stage, right: Stage, *, up_to_names: bool = False) -> Diff:
        """Compare two stages; the last differences are kept."""
        if left.run is right.run and (left.step, left.side, right.side) == (
            right.step,
            "before",
            "after",
        ):
            return left.run.steps.diff(left.step, up_to_names=up_to_names)
        key = left.ref, right.ref, up_to_names
        return self._diffs.get(key, lambda: self._compared(left, right, up_to_names))

    def _compared(self, left: Stage, right: Stage, up_to_names: bool) -> Diff:
        before, after = left.text.ids, right.text.ids
        return diff_up_to_names(before, after, self.table) if up_to_names else diff(before, after)
