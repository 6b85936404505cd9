"""The printed text of every step of a trace, made when it is looked at.

Names are chosen for the states of a function in the order of the steps, however they are looked at.
So the text of a step does not depend on which others were looked at, and two runs
of the same passes print alike.
"""

from collections.abc import Iterator
from typing import Literal

import msgspec
import numpy as np

from irkit.core import Function, IRModule, Level, Node
from irkit.inspector_web.single_flight import SingleFlight
from irkit.inspector_web.text.lines import Ids, LineTable, Places
from irkit.inspector_web.text.state_names import StateNames
from irkit.ir import Memo
from irkit.transform import IR, Step, Trace

Side = Literal["before", "after"]
GIVEN = -1
"""The step of what was there before the first pass."""

MOST_KEPT = 20_000_000
"""Lines of the texts that are kept; others are printed again when they are looked at again."""


class PrintedFunction(msgspec.Struct, eq=False):
    """The printed lines of one state of one function, as numbers of a table; on line ``lines[i]``
    (from 1) begins the node whose ``id`` is ``keys[i]``."""

    func: Function
    level: Level | None
    ids: Ids
    keys: Places
    lines: Ids

    @property
    def starts(self) -> dict[int, int]:
        """Say by ``id`` on which line each node begins. It is large, so it is not kept."""
        return dict(zip(self.keys.tolist(), self.lines.tolist(), strict=True))


class Text(msgspec.Struct, eq=False):
    """The printed lines of a function or module; ``parts`` are its functions, each with the number
    of lines before it."""

    ids: Ids
    parts: tuple[tuple[int, PrintedFunction], ...]


class State(msgspec.Struct, frozen=True, eq=False):
    """A function as it stood after step ``step``, or as it was given (``GIVEN``)."""

    step: int
    func: Function


class Texts:
    """Print the steps of one trace on demand; each state is printed once.

    ``table`` is shared by runs that are to be compared.
    """

    def __init__(self, trace: Trace, table: LineTable | None = None) -> None:
        self.trace = trace
        self.table = LineTable() if table is None else table
        self.histories = _histories(trace)
        self._levels = _levels(trace)
        self._history_of = {
            id(state.func): name for name, states in self.histories.items() for state in states
        }
        self._names = {
            name: StateNames([state.func for state in states], self._symbols)
            for name, states in self.histories.items()
        }
        self._functions = SingleFlight[int, PrintedFunction](MOST_KEPT, lambda text: len(text.ids))
        self._modules = SingleFlight[int, Text](MOST_KEPT, lambda text: len(text.ids))

    def of(self, step: int, side: Side = "after") -> Text:
        """Print a step before or after its pass."""
        chosen = self.trace[step]
        return self.of_ir(chosen.before if side == "before" else chosen.after)

    def lines(self, step: int, side: Side = "after") -> list[str]:
        """Print a step as lines."""
        return self.table.text(self.of(step, side).ids)

    def of_ir(self, ir: IR) -> Text:
        """Print a function or a module of this trace."""
        return self._modules.get(id(ir), lambda: self._printed(ir))

    def of_function(self, func: Function) -> PrintedFunction:
        """Print a state of a function."""
        return self._functions.get(id(func), lambda: self._listed(func))

    def names_of(self, function: str) -> StateNames:
        """Give the names that the states of a function are printed with."""
        return self._names[function]

    def _printed(self, ir: IR) -> Text:
        if isinstance(ir, Function):
            text = self.of_function(ir)
            return Text(text.ids, ((0, text),))
        parts: list[tuple[int, PrintedFunction]] = []
        pieces: list[Ids] = []
        blank, at = self.table.number([""]), 0
        for func in ir.functions.values():
            text = self.of_function(func)
            if pieces:
                pieces.append(blank)
                at += 1
            parts.append((at, text))
            pieces.append(text.ids)
            at += len(text.ids)
        return Text(np.concatenate(pieces) if pieces else blank[:0], tuple(parts))

    def _listed(self, func: Function) -> PrintedFunction:
        level = self._levels.get(type(func))
        known = self._names.get(self._history_of.get(id(func), ""))
        chosen = StateNames([func], self._symbols) if known is None else known
        with chosen.lock:
            names = chosen.up_to(func)
            if level is None or level.listing is None:
                lines, starts = func.script(names=names).splitlines(), dict[int, int]()
            else:
                listing = level.listing(func, names=names)
                lines, starts = listing.lines, listing.starts
        keys = np.fromiter(starts.keys(), dtype=np.int64, count=len(starts))
        places = np.fromiter(starts.values(), dtype=np.int32, count=len(starts))
        return PrintedFunction(func, level, self.table.number(lines), keys, places)

    def _symbols(self, func: Function, memo: Memo) -> list[Node] | None:
        level = self._levels.get(type(func))
        return None if level is None or level.symbols is None else level.symbols(func, memo)


def functions_in(ir: IR) -> Iterator[tuple[str, Function]]:
    """List the functions of a module, or the one function, by name."""
    if isinstance(ir, IRModule):
        yield from ir.functions.items()
    else:
        yield ir.name, ir


def _levels(trace: Trace) -> dict[type[Function], Level]:
    levels = {id(step.level): step.level for step in trace}
    return {cls: level for level in levels.values() for cls in level.functions}


def _histories(trace: Trace) -> dict[str, tuple[State, ...]]:
    """List the states of every function, without repetition, in order of the steps.

    A function that a step on a module makes is first seen after that step.
    """
    found: dict[str, dict[int, State]] = {}
    for step in trace:
        for name, func in _named(step, step.before):
            found.setdefault(name, {}).setdefault(id(func), State(GIVEN, func))
        for name, func in _named(step, step.after):
            found.setdefault(name, {}).setdefault(id(func), State(step.index, func))
    return {name: tuple(states.values()) for name, states in found.items()}


def _named(step: Step, ir: IR) -> Iterator[tuple[str, Function]]:
    if isinstance(ir, IRModule):
        yield from ir.functions.items()
    else:
        yield step.function or ir.name, ir
