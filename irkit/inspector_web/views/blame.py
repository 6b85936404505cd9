"""Blame: for every line of every step, the pass that last changed it."""

import math
import threading
import time
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from irkit.inspector_web.diff.line_diff import diff_lines
from irkit.inspector_web.text.texts import GIVEN, State, Texts
from irkit.transform import IR, FunctionState

LineSteps = NDArray[np.int32]
"""For each line of a text, the step that last changed it."""


class Blame:
    """Blame of a trace, which follows lines through the states of functions; with a cache."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts
        self._known: dict[Hashable, LineSteps] = {}
        self._names = {s.key: name for name, all_ in texts.histories.items() for s in all_}
        self._lock = threading.Lock()

    def of(self, ir: IR) -> LineSteps:
        """Return for each line of a function or module the step that last changed it.

        ``GIVEN`` if it was there before the first pass.
        """
        found = self.within(self.texts.states_of(ir), math.inf)
        assert found is not None
        return found

    def within(self, states: Sequence[FunctionState | State], seconds: float) -> LineSteps | None:
        """Do the same for the states of functions, or return None if time is up before.

        Each call works for up to ``seconds``, and on at least one further state.
        """
        until = time.perf_counter() + seconds
        found: list[LineSteps] = []
        for state in states:
            with self._lock:
                self._follow(state, until)
            blamed = self._known.get(state.key)
            if blamed is None:
                return None
            if found:
                found.append(np.full(1, GIVEN, dtype=np.int32))  # The blank line between two.
            found.append(blamed)
        return np.concatenate([np.zeros(0, dtype=np.int32), *found])

    def _follow(self, wanted: FunctionState | State, until: float) -> None:
        """Follow the lines of a function up to one of its states, or until time is up."""
        if wanted.key in self._known:
            return
        previous: State | None = None
        fresh = False
        name = self._names.get(wanted.key)
        for state in () if name is None else self.texts.histories[name]:
            if state.key not in self._known:
                if fresh and time.perf_counter() > until:
                    return
                fresh = True
                self._known[state.key] = self._after(previous, state)
            if state.key == wanted.key:
                return
            previous = state
        count = len(self.texts.ids_of([wanted]))
        self._known.setdefault(wanted.key, np.full(count, GIVEN, dtype=np.int32))

    def _after(self, previous: State | None, state: State) -> LineSteps:
        ids = self.texts.ids_of([state])
        made = np.full(len(ids), state.step, dtype=np.int32)
        if previous is not None and state.step != GIVEN:
            kept = diff_lines(self.texts.ids_of([previous]), ids).kept
            made[kept.after] = self._known[previous.key][kept.before]
        return made
