"""Lines of text by number: equal lines have the same number in all steps and runs.

Two texts are compared as arrays of numbers, and what is computed for a line (its colours, whether
it contains a search text) is computed once for all its occurrences.
"""

import threading
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from irkit.inspector_web.text.lexers import Lexer, lexer_of

Ids = NDArray[np.int32]
Places = NDArray[np.int64]
PIECE = 10_000
"""Lines that are numbered at a time, while other threads wait."""


class LineTable:
    """Numbers of distinct lines, from 0 in the order in which they are added.

    Runs that are to be compared share a table. Safe to use from several threads.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._languages: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self.lines)

    def number(self, lines: Iterable[str], language: str = "") -> Ids:
        """Return the numbers of lines, adding those that are new as lines of a language."""
        wanted = list(lines)
        pieces = [wanted[at : at + PIECE] for at in range(0, len(wanted), PIECE)]
        numbered = [self._number_piece(piece, language) for piece in pieces]
        return np.concatenate([np.zeros(0, dtype=np.int32), *numbered])

    def lexer(self, number: int) -> Lexer:
        """Return the lexer of a line: that of the language in which it first occurred."""
        return lexer_of(self._languages.get(number, ""))

    def _number_piece(self, lines: list[str], language: str) -> Ids:
        numbers, known = self._numbers, self.lines
        found = list(map(numbers.get, lines))
        if None in found:
            with self._lock:
                for line in lines:
                    if line not in numbers:
                        # Others read without the lock, so the line is added before its number.
                        if language:
                            self._languages[len(known)] = language
                        known.append(line)
                        numbers[line] = len(known) - 1
            found = list(map(numbers.get, lines))
        return np.array(found, dtype=np.int32)

    def text(self, ids: Ids) -> list[str]:
        """Return the lines of numbers."""
        lines = self.lines
        return [lines[at] for at in ids.tolist()]
