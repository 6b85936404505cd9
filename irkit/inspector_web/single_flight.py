"""Compute a value once for all threads that ask for it.

The first thread computes it and the others wait; threads that ask for another key do not wait.
"""

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class SingleFlight(Generic[K, V]):
    """Cache of computed values by key. Beyond a total size of ``most`` the least recently used are
    dropped."""

    def __init__(self, most: int | None = None, size: Callable[[V], int] = lambda _: 1) -> None:
        self.most, self.size = most, size
        self._lock = threading.Lock()
        self._known: dict[K, V] = {}
        self._working: dict[K, threading.RLock] = {}
        self._sizes = 0

    def __len__(self) -> int:
        return len(self._known)

    def known(self, key: K) -> V | None:
        """Return the value of a key, or None if it is not cached."""
        with self._lock:
            found = self._known.get(key)
            if found is not None and self.most is not None:
                self._known[key] = self._known.pop(key)
            return found

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of a key, computing it if necessary. If ``make`` raises, nothing is
        cached."""
        found = self.known(key)
        if found is not None:
            return found
        with self._lock:
            turn = self._working.setdefault(key, threading.RLock())
        with turn:
            found = self.known(key)
            if found is None:
                try:
                    found = make()
                    self._keep(key, found)
                finally:
                    with self._lock:
                        self._working.pop(key, None)
            return found

    def _keep(self, key: K, value: V) -> None:
        with self._lock:
            self._known[key] = value
            self._sizes += self.size(value)
            while self.most is not None and self._sizes > self.most and len(self._known) > 1:
                oldest = next(iter(self._known))
                self._sizes -= self.size(self._known.pop(oldest))
