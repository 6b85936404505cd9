"""The names that one function is printed with in all its states: chosen in the order of the steps,
and only for as many states as were asked for.

What a state is called by depends on it and the states before it, whichever was looked at first.
"""

import threading
from collections.abc import Callable, Sequence

from irkit.core import Function, Names, Node
from irkit.ir import Memo

Symbols = Callable[[Function, Memo], list[Node] | None]


class StateNames:
    """Name the states of a function. ``lock`` is held while one of them is printed: what is kept of
    printed statements is shared."""

    def __init__(self, states: Sequence[Function], symbols: Symbols) -> None:
        self.lock = threading.RLock()
        self._states, self._symbols = states, symbols
        self._places = {id(func): at for at, func in enumerate(states)}
        self._names = Names()
        self._memo = Memo()
        self._reached = 0
        self._moved: list[tuple[int, int, tuple[Node, str]]] = []

    def up_to(self, func: Function) -> Names:
        """Give a copy of the table as it is once ``func`` and all before it are named."""
        place = self._places.get(id(func), -1)
        while self._reached <= place:
            self._name(self._reached)
            self._reached += 1
        names = self._names.copied()
        for at, key, entry in reversed(self._moved):
            if at > place:
                names.put_back(key, entry)
        # What was printed with a name that has gone to another is not to be used again.
        names.memo = None if self._moved else self._memo
        return names

    def _name(self, at: int) -> None:
        symbols = self._symbols(self._states[at], self._memo)
        if symbols is not None:
            moved = self._names.choose(symbols).moved
            self._moved += ((at, key, entry) for key, entry in moved.items())
