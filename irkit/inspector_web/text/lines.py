"""Lines of text by number: equal lines have one number, whichever step or run they stand in.

So two texts are compared as arrays of numbers, and whatever is worked out for a line (its colours,
whether it holds a text) is worked out once for all places where it stands.
"""

import threading
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]
Places = NDArray[np.int64]
PIECE = 10_000
"""Lines that are numbered while other threads wait."""


class LineTable:
    """Give every distinct line a number, from 0 on in the order in which they come.

    Runs that are to be compared share one, and threads may add lines at the same time.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._numbers: dict[str, int] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self.lines)

    def number(self, lines: Iterable[str]) -> Ids:
        """Number lines; those not seen before are added."""
        wanted = list(lines)
        pieces = [wanted[at : at + PIECE] for at in range(0, len(wanted), PIECE)]
        return np.concatenate([np.zeros(0, dtype=np.int32), *map(self._numbered, pieces)])

    def _numbered(self, lines: list[str]) -> Ids:
        numbers, known = self._numbers, self.lines
        found = list(map(numbers.get, lines))
        if None in found:
            with self._lock:
                for line in lines:
                    if line not in numbers:
                        # Others look without the lock, so the line is there before its number.
                        known.append(line)
                        numbers[line] = len(known) - 1
            found = list(map(numbers.get, lines))
        return np.array(found, dtype=np.int32)

    def text(self, ids: Ids) -> list[str]:
        """Give back the lines."""
        lines = self.lines
        return [lines[at] for at in ids.tolist()]
