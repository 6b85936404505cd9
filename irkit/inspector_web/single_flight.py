"""Work things out once for all threads that ask: the others wait for the one that came first, and
nobody waits for what was asked under another key."""

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class SingleFlight(Generic[K, V]):
    """Keep what was worked out, by key; of sizes that add up to ``most``, the last ones used."""

    def __init__(self, most: int | None = None, size: Callable[[V], int] = lambda _: 1) -> None:
        self.most, self.size = most, size
        self._lock = threading.Lock()
        self._known: dict[K, V] = {}
        self._working: dict[K, threading.RLock] = {}
        self._sizes = 0

    def __len__(self) -> int:
        return len(self._known)

    def known(self, key: K) -> V | None:
        """Give what is kept under a key."""
        with self._lock:
            found = self._known.get(key)
            if found is not None and self.most is not None:
                self._known[key] = self._known.pop(key)
            return found

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Give what is kept under a key, or make it; what raises is tried again next time."""
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
