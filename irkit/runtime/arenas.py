"""Memory for the intermediate values of a model: an arena for each call that runs."""

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit.core import ALIGNMENT


class Arenas:
    """Arenas of one model, of ``size`` bytes each.

    Calls that run at the same time have an arena each. A free arena is kept for the next call; when
    a call ends, at most as many stay free as calls are still running, or one. So memory follows the
    number of calls that overlap now, not the largest number there ever was.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._free: list[NDArray[np.uint8]] = []
        self._running = 0
        self._lock = threading.Lock()

    def take(self) -> NDArray[np.uint8]:
        """Return an arena for a call that begins; hand it to ``give_back`` when the call ends."""
        with self._lock:
            self._running += 1
            if self._free:
                return self._free.pop()
        try:
            return aligned(self._size)
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
