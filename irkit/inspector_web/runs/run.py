"""FIXME The file that a run was made from, if it was no trace: one that the user named (``own``),
or"""

import threading
from functools import cached_property
from typing import Literal

import msgspec

from irkit.inspector_web.runs.pass_plan import PassInfo, PassPlacement
from irkit.inspector_web.runs.steps import Steps
from irkit.inspector_web.single_flight import SingleFlight
from irkit.inspector_web.text.lines import LineTable
from irkit.inspector_web.text.texts import Text, Texts
from irkit.inspector_web.views.blame import Blame
from irkit.inspector_web.views.graph_view import GraphView
from irkit.inspector_web.views.origin import Origins, origins
from irkit.transform import IR, PassFailed, Trace


class Source(msgspec.Struct, frozen=True):
    """The file that a run was made from, if it was no trace: one that the user named (``own``), or
    one that was sent to the page, and then it is a model or text."""

    kind: Literal["model", "text", "script"]
    path: str
    own: bool = True


MOST_LINES = 5_000_000
"""Lines of what is kept beside the texts, such as differences and origins."""


class LoadedTrace(msgspec.Struct, frozen=True, eq=False):
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
    left: tuple[PassPlacement, ...] = ()
    plan: tuple[PassPlacement, ...] = ()


class Run:
    """One run of passes, with everything that is worked out from it."""

    def __init__(self, opened: LoadedTrace, number: int, table: LineTable) -> None:
        self.opened, self.number = opened, number
        self.trace, self.title = opened.trace, opened.title
        self.texts = Texts(opened.trace, table)
        self.steps = Steps(self.texts, opened.failure)
        self._origins = SingleFlight[int, Origins](MOST_LINES, lambda found: len(found.lines))
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


class RunStage(msgspec.Struct, frozen=True, eq=False):
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
