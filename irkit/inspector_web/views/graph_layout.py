"""Where boxes of a layered graph go: few crossings, straight lines, and room for long arrows.

The method of Sugiyama: an arrow over several layers gets a bend in each, layers are ordered by
barycentres, up and down, the order with the fewest crossings is kept, and neighbours in it that
cross less the other way round are exchanged; then each layer is moved to the places of its
neighbours as far as its order allows (isotonic regression).
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence

SWEEPS = 12
"""Times that all layers are ordered, and again placed, by their neighbours."""
EXCHANGES = 8
"""Times that all neighbours in all layers are looked at."""
MOST_BENDS = 20_000
"""Bends of arrows over several layers; with more, those arrows are straight."""


class Layers:
    """A graph in layers: ``count`` boxes, then one bend for each layer that an arrow passes.

    ``bends`` maps the number of an arrow to its bends, from above.
    """

    def __init__(self, layer_of: Sequence[int], arrows: Sequence[tuple[int, int]]) -> None:
        self.count = len(layer_of)
        self.layer_of = list(layer_of)
        self.bends: dict[int, list[int]] = {}
        links = [*self._with_bends(arrows)]
        self.above: list[list[int]] = [[] for _ in self.layer_of]
        self.below: list[list[int]] = [[] for _ in self.layer_of]
        for source, target in links:
            self.below[source].append(target)
            self.above[target].append(source)
        self.rows: list[list[int]] = [[] for _ in range(max(self.layer_of, default=-1) + 1)]
        for node, layer in enumerate(self.layer_of):
            self.rows[layer].append(node)

    def _with_bends(self, arrows: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        links: list[tuple[int, int]] = []
        passed = sum(max(0, self.layer_of[b] - self.layer_of[a] - 1) for a, b in arrows)
        for number, (source, target) in enumerate(arrows):
            at = source
            if passed <= MOST_BENDS:
                for layer in range(self.layer_of[source] + 1, self.layer_of[target]):
                    self.bends.setdefault(number, []).append(len(self.layer_of))
                    links.append((at, len(self.layer_of)))
                    at = len(self.layer_of)
                    self.layer_of.append(layer)
            links.append((at, target))
        return links


def crossings(layers: Layers, rows: Sequence[Sequence[int]]) -> int:
    """Count the pairs of arrows between neighbouring layers that cross."""
    place = _places(layers, rows)
    found = 0
    for row in rows:
        ends: list[int] = []
        for node in row:
            targets = sorted(place[target] for target in layers.below[node])
            found += sum(len(ends) - bisect_right(ends, target) for target in targets)
            for target in targets:
                insort(ends, target)
    return found


def _places(layers: Layers, rows: Sequence[Sequence[int]]) -> list[int]:
    place = [0] * len(layers.layer_of)
    for row in rows:
        for at, node in enumerate(row):
            place[node] = at
    return place


def order(layers: Layers) -> list[list[int]]:
    """Order each layer so that few arrows cross."""
    rows = [list(row) for row in layers.rows]
    best, fewest = [list(row) for row in rows], crossings(layers, rows)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        down = sweep % 2 == 0
        near = layers.above if down else layers.below
        place = _places(layers, rows)
        for row in rows if down else reversed(rows):
            row.sort(key=lambda node: _mean([place[other] for other in near[node]], place[node]))
            for at, node in enumerate(row):
                place[node] = at
        found = crossings(layers, rows)
        if found < fewest:
            best, fewest = [list(row) for row in rows], found
    if fewest:
        _exchange(layers, best)
    return best


def _exchange(layers: Layers, rows: list[list[int]]) -> None:
    """Exchange neighbours in a layer as long as fewer arrows cross then."""
    place = _places(layers, rows)
    for _ in range(EXCHANGES):
        is_better = False
        for row in rows:
            ends = {
                node: [
                    sorted([place[other] for other in near[node]])
                    for near in (layers.above, layers.below)
                ]
                for node in row
            }
            for at in range(len(row) - 1):
                left, right = row[at], row[at + 1]
                pairs = list(zip(ends[left], ends[right], strict=True))
                if sum(_crossed(b, a) - _crossed(a, b) for a, b in pairs) < 0:
                    row[at], row[at + 1] = right, left
                    place[left], place[right] = at + 1, at
                    is_better = True
        if not is_better:
            return


def _crossed(left: Sequence[int], right: Sequence[int]) -> int:
    """Count the pairs of arrows of two neighbours that cross; each is a sorted list of ends."""
    return sum([bisect_left(right, end) for end in left])


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def columns(layers: Layers, rows: list[list[int]], box: int, bend: int) -> list[float]:
    """Return the middle of each box and bend; ``box`` and ``bend`` are how much room each needs."""
    wide = [float(box if node < layers.count else bend) for node in range(len(layers.layer_of))]
    middle = [0.0] * len(wide)
    for row in rows:
        _settle(row, [0.0] * len(row), wide, middle)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        near = layers.above if down else layers.below
        for row in rows if down else rows[::-1]:
            wanted = [_mean([middle[each] for each in near[node]], middle[node]) for node in row]
            _settle(row, wanted, wide, middle)
    left = min((middle[node] - wide[node] / 2 for node in range(len(wide))), default=0.0)
    return [place - left for place in middle]


def _settle(
    row: Sequence[int], wanted: Sequence[float], wide: Sequence[float], middle: list[float]
) -> None:
    """Put a layer as near to the wanted places as its order and the widths allow.

    Neighbours that would overlap are moved as one, to the mean of what they want.
    """
    offsets: list[float] = []
    at = 0.0
    for node in row:
        offsets.append(at + wide[node] / 2)
        at += wide[node]
    blocks: list[tuple[float, int]] = []
    for place, offset in zip(wanted, offsets, strict=True):
        total, count = place - offset, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / count:
            before = blocks.pop()
            total, count = total + before[0], count + before[1]
        blocks.append((total, count))
    starts = [total / count for total, count in blocks for _ in range(count)]
    for node, start, offset in zip(row, starts, offsets, strict=True):
        middle[node] = start + offset
