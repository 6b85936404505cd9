"""One run of passes, the trace and file that it was made from, and its stages."""

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import msgspec

from irkit.graph import GRAPH_LEVEL
from irkit.inspector_web.limits import MOST_CACHED_LINES
from irkit.inspector_web.runs.pass_plan import PassInfo, PassPlacement
from irkit.inspector_web.runs.pass_source import PassSource
from irkit.inspector_web.runs.steps import Filter, Steps
from irkit.inspector_web.single_flight import SingleFlight
from irkit.inspector_web.text.dump_text import TEXT_LEVEL
from irkit.inspector_web.text.lines import Ids, LineTable
from irkit.inspector_web.text.texts import State, Text, Texts
from irkit.inspector_web.views.blame import Blame
from irkit.inspector_web.views.graph_view import GraphView
from irkit.inspector_web.views.kernels import KernelInfo, kernels
from irkit.inspector_web.views.origin import Origins, origins
from irkit.ir import LOOP_LEVEL
from irkit.transform import IR, FunctionState, PassFailed, Trace

LEVELS = (LOOP_LEVEL, GRAPH_LEVEL, TEXT_LEVEL)
"""The levels of the traces that can be looked at."""


class Source(msgspec.Struct, frozen=True):
    """The file that a run was made from, unless it is a trace, with the shapes and values of inputs
    of a model that are fixed, and the registered converters that it needs.

    The user named it on the command line (``own``), or it was uploaded; then it is not a script.
    """

    kind: Literal["model", "text", "script", "dump"]
    path: str
    own: bool = True
    shapes: Mapping[str, Sequence[int | str]] = {}
    values: Mapping[str, Any] = {}
    converters: tuple[str, ...] = ()


class LoadedTrace(msgspec.Struct, frozen=True, eq=False):
    """A trace that was loaded or recorded, and the pass that failed at its end, if any.

    ``source`` is what it was made from; ``passes`` are those that its script defines, ``sources``
    what is written there; ``left``
    those that did not run because one failed; ``plan`` the requested passes of a second run.
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
    sources: tuple[PassSource, ...] = ()


class Run:
    """One run of passes, and everything that is computed from it."""

    def __init__(self, loaded: LoadedTrace, number: int, table: LineTable) -> None:
        self.loaded, self.number = loaded, number
        self.trace, self.title = loaded.trace, loaded.title
        self.texts = Texts(loaded.trace, table)
        self.steps = Steps(self.texts, loaded.failure)
        self._origins = SingleFlight[int, Origins](
            MOST_CACHED_LINES, lambda found: len(found.lines)
        )
        self._kernels = SingleFlight[int, list[KernelInfo]]()
        self.graphs: dict[tuple[int, frozenset[str]], GraphView] = {}
        self.drawing = threading.RLock()

    @cached_property
    def blame(self) -> Blame:
        """Return the blame of the run, which follows lines through its steps."""
        return Blame(self.texts)

    def origins(self, ir: IR) -> Origins:
        """Return where the lines of a function or module come from, from a cache if possible."""
        return self._origins.get(id(ir), lambda: origins(self.texts, ir))

    @property
    def kernels(self) -> list[KernelInfo]:
        """List the kernels, with the operators they came from and their work."""
        return self._kernels.get(self.number, lambda: kernels(self.texts))

    @property
    def is_text(self) -> bool:
        """True if another compiler made the run, so that its IR is only text."""
        return any(step.level is TEXT_LEVEL for step in self.trace)

    @property
    def functions(self) -> tuple[str, ...]:
        """List the functions that steps ran on, in order; the empty name is the whole module."""
        return tuple(dict.fromkeys(row.function for row in self.steps.rows(Filter())))


class RunStage(msgspec.Struct, frozen=True, eq=False):
    """The IR before or after a step of a run."""

    run: Run
    step: int
    side: Literal["before", "after"]

    @property
    def is_of_failed_pass(self) -> bool:
        """True if the stage is what the pass that failed was given."""
        return self.step == len(self.run.trace)

    @property
    def ir(self) -> IR:
        """Return the IR, which may have to be read from a file."""
        if self.is_of_failed_pass:
            failure = self.run.loaded.failure
            assert failure is not None
            return failure.before
        step = self.run.trace[self.step]
        return step.before if self.side == "before" else step.after

    @property
    def states(self) -> Sequence[FunctionState | State]:
        """Return the functions of the stage, without reading them."""
        if self.is_of_failed_pass:
            return self.run.texts.states_of(self.ir)
        return self.run.trace[self.step].states(self.side)

    @property
    def ids(self) -> Ids:
        """Return the printed lines; the IR is only read if they are not in the file."""
        return self.run.texts.ids_of(self.states)

    @property
    def unread(self) -> int:
        """About how many nodes have to be read to have the IR."""
        return 0 if self.is_of_failed_pass else self.run.trace[self.step].unread

    @property
    def ref(self) -> str:
        """Return the name of the stage in addresses, such as ``0.12.a``."""
        return f"{self.run.number}.{self.step}.{self.side[0]}"

    @property
    def text(self) -> Text:
        """Return the printed IR."""
        return self.run.texts.of_ir(self.ir)
