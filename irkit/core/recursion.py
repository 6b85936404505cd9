"""A guard under which irkit's own recursive visitors go as deep as the program they visit.

A program may be nested 100,000 deep, and Python stops recursion at 1,000 calls. Since Python 3.11 a
Python function that calls another uses memory, not the C stack, so the limit may be raised, but
only around code that is known to end:

- never around a function of the user's (a pass, a rule, a callback): without the limit, a mistake
  that recurses without end through C kills the process instead of raising RecursionError;
- never across a ``yield``: the caller would run with the raised limit;
- a visitor must not recurse through C: no ``map``, ``sum`` of a generator, ``sorted(key=...)``,
  property, cached function or generator between two of its calls. ``tests/test_recursion.py`` looks
  for those in the source.
"""

import os
import sys
import threading
from contextlib import ContextDecorator
from typing import Literal

RAISED_LIMIT = 1_000_000
"""Calls: ten for each level of a program that is nested 100,000 deep. Endless recursion in irkit
itself ends here, after some hundred megabytes, with a RecursionError."""


MAX_LEVELS = 100_000
"""How deep expressions that are read from text or a trace may be nested. Freeing one recurses in C
before Python 3.14, and overflows a stack of 8 MiB, which kills the process, from 128,000 levels
on."""


class _Held(threading.local):
    """How many times the current thread is inside the guard."""

    times = 0


class DeepRecursion(ContextDecorator):
    """Guard that raises the limit of recursion while at least one thread is inside it.

    The limit belongs to the process, so the guard counts the threads in it. The last one to leave
    puts back the limit that the first one found, unless somebody else has changed it meanwhile.
    """

    def __init__(self) -> None:
        self._held = _Held()
        self._threads = 0
        self._found = 0
        self._lock = threading.Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._keep_own_thread)

    def __enter__(self) -> None:
        if self._held.times == 0:
            with self._lock:
                if self._threads == 0:
                    self._found = sys.getrecursionlimit()
                    sys.setrecursionlimit(max(self._found, RAISED_LIMIT))
                self._threads += 1
        self._held.times += 1

    def __exit__(self, *_error: object) -> Literal[False]:
        self._held.times -= 1
        if self._held.times == 0:
            with self._lock:
                self._threads -= 1
                self._put_back()
        return False

    def _put_back(self) -> None:
        if self._threads == 0 and sys.getrecursionlimit() == max(self._found, RAISED_LIMIT):
            sys.setrecursionlimit(self._found)

    def _keep_own_thread(self) -> None:
        """Forget the threads that a forked child does not have."""
        self._lock = threading.Lock()
        had, self._threads = self._threads, int(self._held.times > 0)
        if had:
            self._put_back()


deep_recursion = DeepRecursion()
"""Use as ``with deep_recursion:`` around the first call of a visitor, or as ``@deep_recursion``
above the function that makes it (not above the one that recurses)."""
