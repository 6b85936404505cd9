"""Blame: for every line of every step, the pass that last changed it."""

import math
import threading
import time

import numpy as np
from numpy.typing import NDArray

from irkit.core import Function
from irkit.inspector_web.diff.line_diff import diff_lines
from irkit.inspector_web.text.texts import GIVEN, Texts
from irkit.transform import IR

LineSteps = NDArray[np.int32]
"""For each line of a text, the step that last changed it."""


class Blame:
    """Blame of a trace, which follows lines through the states of functions; with a cache."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts
        self._known: dict[int, LineSteps] = {}
        self._lock = threading.Lock()

    def of(self, ir: IR) -> LineSteps:
        """Return for each line of a function or module the step that last changed it.

        ``GIVEN`` if it was there before the first pass.
        """
        found = self.within(ir, math.inf)
        assert found is not None
        return found

    def within(self, ir: IR, seconds: float) -> LineSteps | None:
        """Do the same, or return None if time is up before.

        Each call works for up to ``seconds``, and on at least one further state.
        """
        until = time.perf_counter() + seconds
        text = self.texts.of_ir(ir)
        found = np.full(len(text.ids), GIVEN, dtype=np.int32)
        for before, part in text.parts:
            with self._lock:
                self._follow(part.func, until)
            blamed = self._known.get(id(part.func))
            if blamed is None:
                return None
            found[before : before + len(part.ids)] = blamed
        return found

    def _follow(self, func: Function, until: float) -> None:
        """Follow the lines of a function up to one of its states, or until time is up."""
        if id(func) in self._known:
            return
        previous: Function | None = None
        fresh = False
        name = self.texts.history_of(func)
        for state in () if name is None else self.texts.histories[name]:
            if id(state.func) not in self._known:
                if fresh and time.perf_counter() > until:
                    return
                fresh = True
                self._known[id(state.func)] = self._after(previous, state.func, state.step)
            if state.func is func:
                return
            previous = state.func
        text = self.texts.of_function(func)
        self._known.setdefault(id(func), np.full(len(text.ids), GIVEN, dtype=np.int32))

    def _after(self, previous: Function | None, func: Function, step: int) -> LineSteps:
        ids = self.texts.of_function(func).ids
        made = np.full(len(ids), step, dtype=np.int32)
        if previous is not None and step != GIVEN:
            kept = diff_lines(self.texts.of_function(previous).ids, ids).kept
            made[kept.after] = self._known[id(previous)][kept.before]
        return made
