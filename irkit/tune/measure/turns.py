"""Turns of processes: those that build, and the one that times what they built.

Whatever is timed has a core of its own. While it runs on one thread, the other cores may build; a
race on several threads, and the last one, run alone.
"""

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager


def usable_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Turns:
    """Lets processes build, but only ``beside`` of them while something is timed: whoever wants to
    time goes first."""

    def __init__(self) -> None:
        self.beside = 0
        self._changed = threading.Condition()
        self._builders = 0
        self._races = 0

    @contextmanager
    def building(self) -> Generator[None, None, None]:
        """Wait for a turn to build."""
        with self._changed:
            self._changed.wait_for(lambda: not self._races or self._builders < self.beside)
            self._builders += 1
        try:
            yield
        finally:
            with self._changed:
                self._builders -= 1
                self._changed.notify_all()

    @contextmanager
    def racing(self) -> Generator[None, None, None]:
        """Wait for a turn to time."""
        with self._changed:
            self._races += 1
            self._changed.wait_for(lambda: self._builders <= self.beside)
        try:
            yield
        finally:
            with self._changed:
                self._races -= 1
                self._changed.notify_all()
