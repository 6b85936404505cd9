"""Memory for the intermediate values of a model: an arena for each call that runs."""

import threading
from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit.core import ALIGNMENT
from irkit.runtime.numpy_layout import address_of


class CallArena:
    """Memory of ``size`` bytes at an ``address``; the ``home`` arena is one that is always kept."""

    __slots__ = ("address", "home", "memory", "size")

    def __init__(self, size: int, *, home: bool = False) -> None:
        self.memory: NDArray[np.uint8] = aligned(size)
        self.address, self.size, self.home = address_of(self.memory), size, home


class Arenas:
    """Arenas of one model, each of as many bytes as a call needs.

    Calls that run at the same time have an arena each. The first of them takes the home arena,
    without a lock. Of the others, a free arena is kept for the next call; when a call ends, at most
    as many stay free as calls are still running with others. So memory follows the number of calls
    that overlap now, not the largest number there ever was. A free arena that is too small for a
    call is freed, and one that is larger serves.
    """

    def __init__(self) -> None:
        self._home = deque([CallArena(0, home=True)])
        self._free: list[CallArena] = []
        self._running = 0
        self._lock = threading.Lock()

    def take(self, size: int) -> CallArena:
        """Return an arena of at least ``size`` bytes for a call that begins; hand it to
        ``give_back`` when the call ends."""
        try:
            found = self._home.pop()
        except IndexError:
            return self._another(size)
        if found.size >= size:
            return found
        del found  # Freed before the larger one is made.
        try:
            return CallArena(size, home=True)
        except MemoryError:
            self._home.append(CallArena(0, home=True))
            raise

    def _another(self, size: int) -> CallArena:
        with self._lock:
            self._running += 1
            while self._free:
                found = self._free.pop()
                if found.size >= size:
                    return found
        try:
            return CallArena(size)
        except MemoryError:
            with self._lock:
                self._running -= 1
            raise

    def give_back(self, arena: CallArena) -> None:
        """Keep the arena of a call that has ended, or free it."""
        if arena.home:
            self._home.append(arena)
            return
        with self._lock:
            self._running -= 1
            self._free.append(arena)
            del self._free[self._running :]


def aligned(size: int) -> NDArray[Any]:
    """Return ``size`` bytes of memory that start at the alignment that plans assume."""
    room = np.empty(size + ALIGNMENT, dtype=np.uint8)
    start = -room.ctypes.data % ALIGNMENT
    return room[start : start + size]
