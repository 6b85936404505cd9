"""The printed text of every step of a trace, made on demand.

Names are chosen in the order of the steps, whatever the order of printing. So the text of a step
does not depend on which other steps were printed, and two runs of the same passes print alike.
"""

from collections.abc import Callable, Hashable, Iterator

import msgspec
import numpy as np

from irkit.core import Function, IRModule, Level, Node
from irkit.inspector_web.limits import MOST_CACHED_TEXT
from irkit.inspector_web.single_flight import SingleFlight
from irkit.inspector_web.text.dump_text import TextFunction
from irkit.inspector_web.text.lines import Ids, LineTable, Places
from irkit.inspector_web.text.state_names import StateNames
from irkit.ir import Memo
from irkit.transform import IR, Side as Side, Trace

GIVEN = -1
"""The step number that stands for the IR before the first pass."""


class PrintedFunction(msgspec.Struct, eq=False):
    """A printed state of a function, as numbers of lines.

    The node whose ``id`` is ``keys[i]`` begins on line ``lines[i]``, counted from 1.
    """

    func: Function
    level: Level | None
    ids: Ids
    keys: Places
    lines: Ids

    @property
    def starts(self) -> dict[int, int]:
        """The line on which each node begins, by ``id``. It is large, so it is not cached."""
        return dict(zip(self.keys.tolist(), self.lines.tolist(), strict=True))


class Text(msgspec.Struct, eq=False):
    """The printed lines of a function or module. ``parts`` are its functions, each with the number
    of lines before it."""

    ids: Ids
    parts: tuple[tuple[int, PrintedFunction], ...]


class State(msgspec.Struct, frozen=True, eq=False):
    """A function as it was after step ``step``, or before the first pass (``GIVEN``).

    ``read`` returns the function, which may have to be read from a file.
    """

    step: int
    read: Callable[[], Function]

    @property
    def func(self) -> Function:
        """Return the function."""
        return self.read()


class Texts:
    """The printed texts of one trace, with a cache.

    Runs that are to be compared share ``table``.
    """

    def __init__(self, trace: Trace, table: LineTable | None = None) -> None:
        self.trace = trace
        self.table = LineTable() if table is None else table
        self.histories = _histories(trace)
        self._levels = _levels(trace)
        self._names = {
            name: StateNames([state.read for state in states], self._symbols)
            for name, states in self.histories.items()
        }
        self._functions = SingleFlight[int, PrintedFunction](
            MOST_CACHED_TEXT, lambda text: len(text.ids)
        )
        self._modules = SingleFlight[int, Text](MOST_CACHED_TEXT, lambda text: len(text.ids))

    def of(self, step: int, side: Side = "after") -> Text:
        """Print a step before or after its pass."""
        chosen = self.trace[step]
        return self.of_ir(chosen.before if side == "before" else chosen.after)

    def lines(self, step: int, side: Side = "after") -> list[str]:
        """Print a step as lines."""
        return self.table.text(self.of(step, side).ids)

    def of_ir(self, ir: IR) -> Text:
        """Print a function or a module of this trace."""
        return self._modules.get(id(ir), lambda: self._print_ir(ir))

    def of_function(self, func: Function) -> PrintedFunction:
        """Print a state of a function."""
        return self._functions.get(id(func), lambda: self._print_function(func))

    def history_of(self, func: Function) -> str | None:
        """Return the name of the function that this is a state of, if there is one. Its states are
        read up to this one."""
        known = self._names.get(func.name)
        if known is not None and known.place_of(func) >= 0:
            return func.name
        return next((name for name, all_ in self._names.items() if all_.place_of(func) >= 0), None)

    def names_of(self, function: str) -> StateNames:
        """Return the names that the states of a function are printed with."""
        return self._names[function]

    def _print_ir(self, ir: IR) -> Text:
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

    def _print_function(self, func: Function) -> PrintedFunction:
        level = self._levels.get(type(func))
        name = self.history_of(func)
        chosen = StateNames([lambda: func], self._symbols) if name is None else self._names[name]
        with chosen.lock:
            names = chosen.up_to(func)
            if level is None or level.listing is None:
                lines, starts = func.script(names=names).splitlines(), dict[int, int]()
            else:
                listing = level.listing(func, names=names)
                lines, starts = listing.lines, listing.starts
        keys = np.fromiter(starts.keys(), dtype=np.int64, count=len(starts))
        places = np.fromiter(starts.values(), dtype=np.int32, count=len(starts))
        language = func.language if isinstance(func, TextFunction) else ""
        return PrintedFunction(func, level, self.table.number(lines, language), keys, places)

    def _symbols(self, func: Function, memo: Memo) -> list[Node] | None:
        level = self._levels.get(type(func))
        return None if level is None or level.symbols is None else level.symbols(func, memo)


def functions_in(ir: IR) -> Iterator[tuple[str, Function]]:
    """Yield the functions of a module, or the one function, with their names."""
    if isinstance(ir, IRModule):
        yield from ir.functions.items()
    else:
        yield ir.name, ir


def _levels(trace: Trace) -> dict[type[Function], Level]:
    levels = {id(step.level): step.level for step in trace}
    return {cls: level for level in levels.values() for cls in level.functions}


def _histories(trace: Trace) -> dict[str, tuple[State, ...]]:
    """List the distinct states of every function, in order of the steps.

    A function that a step on a module creates has its first state after that step.
    """
    found: dict[str, dict[Hashable, State]] = {}
    for step in trace:
        for each in step.states("before"):
            found.setdefault(each.name, {}).setdefault(each.key, State(GIVEN, each.read))
        for each in step.states("after"):
            found.setdefault(each.name, {}).setdefault(each.key, State(step.index, each.read))
    return {name: tuple(states.values()) for name, states in found.items()}
