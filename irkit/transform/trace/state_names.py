"""The names that a function is printed with in each of its states.

Names are chosen in the order of the steps, and states are read only as far as needed. So the names
in a state depend on it and the states before it, and not on which state was printed first.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from irkit.core import Function, Level, Names, Node


class StateNames:
    """The names in all states of a function. Callers hold ``lock`` while they print a state, since
    the memo of printed statements is shared."""

    def __init__(
        self, states: Sequence[Callable[[], Function]], levels: dict[type[Function], Level]
    ) -> None:
        self.lock = threading.RLock()
        self._states, self._levels = states, levels
        self._read: list[Function] = []
        self._places: dict[int, int] = {}
        self._names = Names()
        memos = [level.memo for level in levels.values() if level.memo is not None]
        self._memo: dict[Any, Any] = memos[0]() if memos else {}
        self._reached = 0
        self._replaced: list[tuple[int, int, tuple[Node, str]]] = []

    def place_of(self, func: Function) -> int:
        """Return the number of a state, or -1; states are read up to it."""
        with self.lock:
            while id(func) not in self._places and len(self._read) < len(self._states):
                self._read.append(self._states[len(self._read)]())
                self._places.setdefault(id(self._read[-1]), len(self._read) - 1)
            return self._places.get(id(func), -1)

    def up_to(self, func: Function) -> Names:
        """Return a copy of the name table as of ``func``, after all states before it."""
        place = self.place_of(func)
        while self._reached <= place:
            self._name(self._reached)
            self._reached += 1
        names = self._names.copied()
        for at, key, entry in reversed(self._replaced):
            if at > place:
                names.put_back(key, entry)
        # The memo has statements printed with names that have since moved to other variables.
        names.memo = None if self._replaced else self._memo
        return names

    def _name(self, at: int) -> None:
        func = self._read[at]
        level = self._levels.get(type(func))
        if level is not None and level.symbols is not None:
            moved = self._names.choose(level.symbols(func, self._memo)).moved
            self._replaced += ((at, key, entry) for key, entry in moved.items())


def levels_by_class(levels: Iterable[Level]) -> dict[type[Function], Level]:
    """Return the level that functions of each class belong to."""
    return {cls: level for level in levels for cls in level.functions}
