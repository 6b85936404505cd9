"""Repeated blocks of a graph: runs of boxes that occur several times after each other.

A block is found by structure: in the order of the text, the same operators with the same types of
elements use each other in the same way. What a block uses from outside does not count: the layers
of a dense network use ever more. A run of blocks is an interval of that order, so no path leaves it
and comes back, and one box can stand for it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

LONGEST = 64
"""Boxes of a block."""
LEAST_HIDDEN = 5
"""Boxes that a fold must spare."""


class Repeats(msgspec.Struct, frozen=True):
    """A run of ``count`` blocks of ``length`` boxes, from the box with number ``first``."""

    first: int
    length: int
    count: int

    @property
    def end(self) -> int:
        return self.first + self.length * self.count

    @property
    def hidden(self) -> int:
        """Return how many boxes one box in place of all spares."""
        return self.length * self.count - 1


def repeated_blocks(
    labels: Sequence[str], uses: Mapping[int, Sequence[int]], groups: Sequence[str]
) -> list[Repeats]:
    """Find runs of equal blocks that do not overlap, in the order of the text.

    ``uses`` maps the number of a box to those it uses; ``groups`` names what must stay together.
    """
    found: list[Repeats] = []
    for length in range(2, min(LONGEST, len(labels) // 2) + 1):
        # A run of longer blocks that each are several shorter ones shows nothing new.
        known = [run for run in found if length % run.length == 0]
        found += [
            run
            for run in _of_length(length, labels, uses, groups)
            if run.hidden >= LEAST_HIDDEN
            and not any(one.first <= run.first and run.end <= one.end for one in known)
        ]
    # The kind of block that spares most comes first: a run can have something between its parts.
    kinds = [tuple(labels[run.first : run.first + run.length]) for run in found]
    spared = Counter[tuple[str, ...]]()
    for run, kind in zip(found, kinds, strict=True):
        spared[kind] += run.hidden
    worth = {run: spared[kind] for run, kind in zip(found, kinds, strict=True)}
    found.sort(key=lambda run: (-worth[run], run.length, -run.hidden, run.first))
    taken = bytearray(len(labels))
    chosen: list[Repeats] = []
    for run in found:
        if not any(taken[run.first : run.end]):
            taken[run.first : run.end] = b"\1" * (run.end - run.first)
            chosen.append(run)
    return sorted(chosen, key=lambda run: run.first)


def _of_length(
    length: int,
    labels: Sequence[str],
    uses: Mapping[int, Sequence[int]],
    groups: Sequence[str],
) -> Iterator[Repeats]:
    """Yield the runs of blocks of a length, the longest from each place on."""
    equal = [labels[at] == labels[at + length] for at in range(len(labels) - length)]
    at = 0
    while at < len(equal):
        if not equal[at]:
            at += 1
            continue
        end = at
        while end < len(equal) and equal[end]:
            end += 1
        if end - at >= length:
            best = _run(at, length, end + length, uses, groups)
            for first in range(at + 1, min(at + length, end)):
                if best.count >= (end + length - first) // length:
                    break
                run = _run(first, length, end + length, uses, groups)
                best = run if run.count > best.count else best
            if best.count > 1:
                yield best
        at = end


def _run(
    first: int, length: int, end: int, uses: Mapping[int, Sequence[int]], groups: Sequence[str]
) -> Repeats:
    """Return the longest run of equal connected blocks from a box on, of at least one block."""
    shape = _shape(first, length, uses)
    count = 1
    if shape is None or not _whole(first, length, groups):
        return Repeats(first, length, count)
    while first + (count + 1) * length <= end:
        start = first + count * length
        if _shape(start, length, uses) != shape or not _whole(start, length, groups):
            break
        count += 1
    return Repeats(first, length, count)


def _shape(
    first: int, length: int, uses: Mapping[int, Sequence[int]]
) -> tuple[tuple[int, ...], ...] | None:
    """Return which boxes of a block each of its boxes uses; None if it falls into parts."""
    inside = tuple(
        tuple(
            sorted(other - first for other in uses.get(at, ()) if first <= other < first + length)
        )
        for at in range(first, first + length)
    )
    joined = list(range(length))

    def root(at: int) -> int:
        while joined[at] != at:
            at = joined[at]
        return at

    for at, others in enumerate(inside):
        for other in others:
            joined[root(at)] = root(other)
    return inside if len({root(at) for at in range(length)}) == 1 else None


def _whole(first: int, length: int, groups: Sequence[str]) -> bool:
    """Return True if a block has all boxes of each group that it has any of."""
    before = groups[first - 1] if first else ""
    after = groups[first + length] if first + length < len(groups) else ""
    return (not before or before != groups[first]) and (
        not after or after != groups[first + length - 1]
    )
