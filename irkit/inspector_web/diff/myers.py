"""Match two texts that differ in a few lines, by Myers' greedy search.

Its cost grows with the square of the number of differences, and hardly with the length.

Source: Myers, "An O(ND) difference algorithm and its variations", 1986.
"""

import numpy as np

from irkit.inspector_web.text.lines import Ids

MOST_DIFFERENCES = 128


def myers_lcs(a: Ids, b: Ids, most: int = MOST_DIFFERENCES) -> list[tuple[int, int, int]] | None:
    """List the runs of common lines, as place in ``a``, place in ``b`` and length.

    None if more than ``most`` lines differ.
    """
    reach = _Reach(a, b)
    furthest = {1: 0}  # How far a path gets in a, by diagonal (place in a minus place in b).
    history: list[dict[int, int]] = []
    for differences in range(min(most, len(a) + len(b)) + 1):
        history.append(dict(furthest))
        for diagonal in range(-differences, differences + 1, 2):
            x = _step(furthest, diagonal, differences)
            y = x - diagonal
            if x > len(a) or y > len(b):
                furthest[diagonal] = x
                continue
            x = furthest[diagonal] = reach.end(x, y)
            if x == len(a) and x - diagonal == len(b):
                return _runs(history, diagonal, x)
    return None


def _step(furthest: dict[int, int], diagonal: int, differences: int) -> int:
    """Return where the best path enters a diagonal: after a line of b or a line of a."""
    if diagonal == -differences:
        return furthest.get(diagonal + 1, 0)
    left = furthest[diagonal - 1]
    if diagonal == differences:
        return left + 1
    return max(left + 1, furthest[diagonal + 1])


def _runs(history: list[dict[int, int]], diagonal: int, x: int) -> list[tuple[int, int, int]]:
    found: list[tuple[int, int, int]] = []
    for differences in range(len(history) - 1, -1, -1):
        furthest = history[differences]
        begin = 0 if not differences else _step(furthest, diagonal, differences)
        if x > begin:
            found.append((begin, begin - diagonal, x - begin))
        if not differences:
            break
        down = diagonal == -differences or (
            diagonal != differences and furthest[diagonal - 1] + 1 < furthest[diagonal + 1]
        )
        diagonal += 1 if down else -1
        x = furthest[diagonal]
    return found[::-1]


class _Reach:
    """Finder of how far two texts agree from given places on."""

    def __init__(self, a: Ids, b: Ids) -> None:
        self.ids = a, b
        self.listed: tuple[list[int], list[int]] = a.tolist(), b.tolist()
        self.raw = a.tobytes(), b.tobytes()
        self.item = a.itemsize

    def end(self, x: int, y: int) -> int:
        """Return the place in ``a`` of the first line that differs, or of the end of a text."""
        a, b = self.listed
        most = min(len(a) - x, len(b) - y)
        near = min(8, most)
        for ahead in range(near):
            if a[x + ahead] != b[y + ahead]:
                return x + ahead
        return x + near if near == most else self._far(x, y, near, most)

    def _far(self, x: int, y: int, done: int, most: int) -> int:
        raw_a, raw_b = self.raw
        item, size = self.item, 32
        while done < most:
            size = min(size, most - done)
            at, other = (x + done) * item, (y + done) * item
            if raw_a[at : at + size * item] != raw_b[other : other + size * item]:
                a, b = self.ids
                differs = a[x + done : x + done + size] != b[y + done : y + done + size]
                return x + done + int(np.argmax(differs))
            done += size
            size *= 2
        return x + most
