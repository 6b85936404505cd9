"""Memory for the intermediate values of a model: an arena for each call that runs."""

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit.core import ALIGNMENT


class Arenas:
    """Arenas of one model, each of as many bytes as a call needs.

    Calls that run at the same time have an arena each. A free arena is kept for the next call; when
    a call ends, at most as many stay free as calls are still running, or one. So memory follows the
    number of calls that overlap now, not the largest number there ever was. A free arena that is
    too small for a call is freed, and one that is larger serves.
    """

    def __init__(self) -> None:
        self._free: list[NDArray[np.uint8]] = []
        self._running = 0
        self._lock = threading.Lock()

    def take(self, size: int) -> NDArray[np.uint8]:
        """Return an arena of at least ``size`` bytes for a call that begins; hand it to
        ``give_back`` when the call ends."""
        with self._lock:
            self._running += 1
            while self._free:
                found = self._free.pop()
                if len(found) >= size:
                    return found
        try:
            return aligned(size)
        except MemoryError:
            with self._lock:
                self._running -= 1
            raise

    def give_back(self, arena: NDArray[np.uint8]) -> None:
        """Keep the arena of a call that has ended, or free it."""
        with self._lock:
            self._running -= 1
            self._free.append(arena)
            del self._free[max(1, self._running) :]


def aligned(size: int) -> NDArray[Any]:
    """Return ``size`` bytes of memory that start at the alignment that plans assume."""
    room = np.empty(size + ALIGNMENT, dtype=np.uint8)
    start = -room.ctypes.data % ALIGNMENT
    return room[start : start + size]
