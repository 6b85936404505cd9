"""The printed text of every step of a trace, made on demand.

Names are chosen in the order of the steps, whatever the order of printing. So the text of a step
does not depend on which other steps were printed, and two runs of the same passes print alike.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence

import msgspec
import numpy as np

from irkit.core import FormatError, Function, IRModule, Level
from irkit.inspector_web.limits import MOST_CACHED_TEXT
from irkit.inspector_web.single_flight import SingleFlight
from irkit.inspector_web.text.dump_text import TextFunction
from irkit.inspector_web.text.lines import Ids, LineTable, Places
from irkit.transform import (
    IR,
    FunctionState,
    Side as Side,
    StateNames,
    Trace,
    levels_by_class,
)

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

    ``read`` returns the function, which may have to be read from a file; ``key`` is that of
    FunctionState.
    """

    step: int
    name: str
    key: Hashable
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
        self._levels = levels_by_class({id(step.level): step.level for step in trace}.values())
        self._names = {
            name: StateNames([state.read for state in states], self._levels)
            for name, states in self.histories.items()
        }
        self._functions = SingleFlight[int, PrintedFunction](
            MOST_CACHED_TEXT, lambda text: len(text.ids)
        )
        self._stored = SingleFlight[Hashable, Ids](MOST_CACHED_TEXT, len)
        self._numbered = SingleFlight[int, tuple[list[str], Ids]](MOST_CACHED_TEXT, _lines_in)
        self._modules = SingleFlight[int, Text](MOST_CACHED_TEXT, lambda text: len(text.ids))

    def of(self, step: int, side: Side = "after") -> Text:
        """Print a step before or after its pass."""
        chosen = self.trace[step]
        return self.of_ir(chosen.before if side == "before" else chosen.after)

    def ids(self, step: int, side: Side = "after") -> Ids:
        """Return the lines of a step before or after its pass; its IR is only read if the text is
        not in the file."""
        return self.ids_of(self.trace[step].states(side))

    def ids_of(self, states: Sequence[FunctionState | State]) -> Ids:
        """Return the lines of states of functions, with a blank line between two."""
        pieces: list[Ids] = []
        for state in states:
            pieces += [self.table.number([""])] * bool(pieces)
            stored = self._stored_ids(state.key)
            pieces.append(self.of_function(state.read()).ids if stored is None else stored)
        return pieces[0] if len(pieces) == 1 else _joined(pieces)

    def lines(self, step: int, side: Side = "after") -> list[str]:
        """Print a step as lines."""
        return self.table.text(self.ids(step, side))

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

    def states_of(self, ir: IR) -> list[State]:
        """Return the states that a function, or the functions of a module, are."""
        return [self._state_of(func) for _, func in functions_in(ir)]

    def _state_of(self, func: Function) -> State:
        name = self.history_of(func)
        if name is None:
            return State(GIVEN, func.name, id(func), lambda: func)
        return self.histories[name][self._names[name].place_of(func)]

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
        return Text(_joined(pieces), tuple(parts))

    def _stored_ids(self, key: Hashable) -> Ids | None:
        """Return the lines of a state as they are in the file, if they are."""
        known = self._stored.known(key)
        found = None if known is not None or self.trace.texts is None else self.trace.texts.of(key)
        if found is None:
            return known
        lines = found.lines
        _, numbers = self._numbered.get(id(lines), lambda: (lines, self.table.number(lines)))
        return self._stored.get(key, lambda: numbers[np.frombuffer(found.places, dtype=np.int32)])

    def _print_function(self, func: Function) -> PrintedFunction:
        level = self._levels.get(type(func))
        name = self.history_of(func)
        chosen = StateNames([lambda: func], self._levels) if name is None else self._names[name]
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
        ids = self.table.number(lines, language)
        if name is not None:
            stored = self._stored_ids(self.histories[name][chosen.place_of(func)].key)
            if stored is not None and not np.array_equal(stored, ids):
                raise FormatError(
                    f"the file has another text of {func.name} than that of its IR",
                    hint="It was not written by irkit; record the trace again.",
                )
        return PrintedFunction(func, level, ids, keys, places)


def functions_in(ir: IR) -> Iterator[tuple[str, Function]]:
    """Yield the functions of a module, or the one function, with their names."""
    if isinstance(ir, IRModule):
        yield from ir.functions.items()
    else:
        yield ir.name, ir


def _joined(pieces: list[Ids]) -> Ids:
    return np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.int32)


def _lines_in(numbered: tuple[list[str], Ids]) -> int:
    return len(numbered[1])


def _histories(trace: Trace) -> dict[str, tuple[State, ...]]:
    """List the distinct states of every function, in order of the steps.

    A function that a step on a module creates has its first state after that step.
    """
    found: dict[str, dict[Hashable, State]] = {}
    for step in trace:
        sides = (GIVEN, step.states("before")), (step.index, step.states("after"))
        for number, states in sides:
            for each in states:
                own = found.setdefault(each.name, {})
                own.setdefault(each.key, State(number, each.name, each.key, each.read))
    return {name: tuple(states.values()) for name, states in found.items()}
