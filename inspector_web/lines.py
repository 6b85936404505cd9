"""Lines of text by number: equal lines have one number, whichever step or run they stand in.

So two texts are compared as arrays of numbers, and whatever is worked out for a line (its colours,
whether it holds a text) is worked out once for all places where it stands.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int32]
Places = NDArray[np.int64]


class LineTable:
    """Give every distinct line a number, from 0 on in the order in which they come.

    Runs that are to be compared share one.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.lines)

    def number(self, lines: Iterable[str]) -> Ids:
        """Number lines; those not seen before are added."""
        numbers, known = self._numbers, self.lines
        found: list[int] = []
        for line in lines:
            at = numbers.get(line)
            if at is None:
                at = numbers[line] = len(known)
                known.append(line)
            found.append(at)
        return np.array(found, dtype=np.int32)

    def text(self, ids: Ids) -> list[str]:
        """Give back the lines."""
        lines = self.lines
        return [lines[at] for at in ids.tolist()]
