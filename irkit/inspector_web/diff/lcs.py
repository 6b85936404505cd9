"""Longest common subsequences of two arrays of line numbers, exact except for very large texts.

The common head and tail are set aside, and so are lines that occur on one side only. Small middles
go to rapidfuzz, whose cost does not depend on how much changed. Passes usually change little, so
larger middles are first searched for a few edits, and then in a band around the diagonal; the
result of a band tells how wide it has to be to contain the best path. If that band would take more
than ``MOST_CELLS``, the texts are cut at lines that occur once on each side. This bounds memory and
time but can miss a longer subsequence; the result is then not ``exact``.
"""

from bisect import bisect_left

import msgspec
import numpy as np
from rapidfuzz.distance import LCSseq

from irkit.inspector_web.diff.myers import myers_lcs
from irkit.inspector_web.text.lines import Ids, Places

# Cells are lines of one side times lines of the other.
SMALL = 1 << 18
MIDDLING = 1 << 27
MOST_CELLS = 1 << 31  # A bit each.
FIRST_BAND = 128


class CommonLines(msgspec.Struct, frozen=True, eq=False):
    """The common lines of two texts: line ``before[i]`` of one is line ``after[i]`` of the other.

    Both arrays are increasing. ``exact`` if no longer subsequence exists.
    """

    before: Places
    after: Places
    exact: bool = True


def common_lines(a: Ids, b: Ids) -> CommonLines:
    """Match as many equal lines of two texts as possible, in order."""
    head = _common_head(a, b)
    tail = _common_head(a[head:][::-1], b[head:][::-1])
    middle_a, middle_b = a[head : len(a) - tail], b[head : len(b) - tail]
    left = np.flatnonzero(_present(middle_a, middle_b))
    right = np.flatnonzero(_present(middle_b, middle_a))
    inner = _match_middle(middle_a[left], middle_b[right])
    before = np.concatenate(
        [np.arange(head), left[inner.before] + head, np.arange(len(a) - tail, len(a))]
    )
    after = np.concatenate(
        [np.arange(head), right[inner.after] + head, np.arange(len(b) - tail, len(b))]
    )
    return CommonLines(before, after, inner.exact)


def _common_head(a: Ids, b: Ids) -> int:
    length = min(len(a), len(b))
    differs = a[:length] != b[:length]
    at = int(differs.argmax()) if length else 0
    return at if length and differs[at] else length


def _present(these: Ids, those: Ids) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return for each line whether it occurs on the other side."""
    known = np.zeros(int(max(these.max(initial=0), those.max(initial=0))) + 1, dtype=np.bool_)
    known[those] = True
    return known[these]


def _match_middle(a: Ids, b: Ids) -> CommonLines:
    """Match the parts of two texts between the common head and tail."""
    if not len(a) or not len(b):
        return _of_pairs([])
    cells = len(a) * len(b)
    if cells <= SMALL:
        return _by_library(a, b)
    runs = myers_lcs(a, b)
    if runs is not None:
        return _of_runs(runs)
    room = len(b) // 8 if cells <= MIDDLING else MOST_CELLS // (2 * len(a))
    found = _match_in_bands(a, b, min(room, len(a) + len(b)))
    if found is not None:
        return _of_pairs(found)
    return _by_library(a, b) if cells <= MIDDLING else _by_anchors(a, b)


def _match_in_bands(a: Ids, b: Ids, most: int) -> list[tuple[int, int]] | None:
    """Search in wider and wider bands, up to ``most``; None if none is wide enough."""
    slack, left, right = min(FIRST_BAND, most), a.tolist(), b.tolist()
    while 0 < slack <= most:
        found = in_band(left, right, slack)
        needed = len(a) - len(found) - max(0, len(a) - len(b))
        if needed <= slack:
            return found
        # Omitting that many lines is enough, so a band of that width contains the best path.
        slack = min(needed, slack * 16)
    return None


def _of_runs(runs: list[tuple[int, int, int]]) -> CommonLines:
    before = [np.arange(x, x + length) for x, _, length in runs]
    after = [np.arange(y, y + length) for _, y, length in runs]
    return CommonLines(_concatenate(before), _concatenate(after))


def _concatenate(pieces: list[Places]) -> Places:
    return np.concatenate([np.zeros(0, dtype=np.int64), *pieces])


def _of_pairs(pairs: list[tuple[int, int]], exact: bool = True) -> CommonLines:
    both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return CommonLines(both[:, 0], both[:, 1], exact)


def _by_library(a: Ids, b: Ids) -> CommonLines:
    ops = LCSseq.opcodes(a.tolist(), b.tolist())
    return _of_runs(
        [(o.src_start, o.dest_start, o.src_end - o.src_start) for o in ops if o.tag == "equal"]
    )


def in_band(a: list[int], b: list[int], slack: int) -> list[tuple[int, int]]:
    """Match two texts along paths that omit at most ``slack`` lines of ``a`` and as many of ``b``,
    beyond the difference of their lengths.

    A row of the table of lengths is an integer with one bit for each column; 0 means that the
    length grows there. The window of columns moves along with the row.
    Source: Hyyrö, "Bit-parallel LCS-length computation revisited", 2004.
    """
    more = len(b) - len(a)
    low = max(0, -more) + slack  # How far a path can be left of the diagonal: lines omitted from a.
    width = low + max(0, more) + slack + 1
    rows, kept = _rows(a, b, low, width), list[tuple[int, int]]()
    i, j = len(a), len(b)
    while i and j:
        at = j - 1 - (i - 1 - low)
        if at < 0:
            i -= 1
        elif at >= width or rows[i] >> at & 1:
            j -= 1
        elif i > 1 and at + 1 < width and not rows[i - 1] >> (at + 1) & 1:
            i -= 1
        else:
            i, j = i - 1, j - 1
            kept.append((i, j))
    kept.reverse()
    return kept


def _rows(a: list[int], b: list[int], low: int, width: int) -> list[int]:
    """Compute a row for every line of ``a``; bit k of row i is column i - 1 - low + k of ``b``."""
    places: dict[int, int] = {}  # Where each line occurs in the window, as bits from its base.
    bases: dict[int, int] = {}
    full = (1 << width) - 1
    row, entered, size = full, 0, len(b)
    rows = [row]
    for i, line in enumerate(a):
        base = i - low
        while entered < size and entered < base + width:
            new = b[entered]
            since = bases.get(new)
            if since is None:
                places[new], bases[new] = 1, entered
            else:
                places[new] |= 1 << (entered - since)
            entered += 1
        row = row >> 1 | 1 << (width - 1)
        since = bases.get(line)
        if since is not None:
            bits = places[line]
            if since < base:
                bits = places[line] = bits >> (base - since)
                bases[line] = since = base
            hits = row & (bits << (since - base))
            if hits:
                row = (row + hits | row - hits) & full
        rows.append(row)
    return rows


def _by_anchors(a: Ids, b: Ids) -> CommonLines:
    """Cut two texts at lines that occur once on each side and in the same order, and match the
    parts between them."""
    anchors = _anchors(a, b)
    pairs: list[tuple[int, int]] = []
    i = j = 0
    for at, (end_i, end_j) in enumerate([*anchors, (len(a), len(b))]):
        inner_a, inner_b = a[i:end_i], b[j:end_j]
        if len(inner_a) * len(inner_b) <= MOST_CELLS:
            inner = common_lines(inner_a, inner_b)
            pairs += zip((inner.before + i).tolist(), (inner.after + j).tolist(), strict=True)
        if at < len(anchors):
            pairs.append((end_i, end_j))
        i, j = end_i + 1, end_j + 1
    return _of_pairs(pairs, exact=False)


def _anchors(a: Ids, b: Ids) -> list[tuple[int, int]]:
    """Find the longest sequence of lines that occur once on each side, in order on both."""
    ids_a, first_a, count_a = np.unique(a, return_index=True, return_counts=True)
    ids_b, first_b, count_b = np.unique(b, return_index=True, return_counts=True)
    _, at_a, at_b = np.intersect1d(
        ids_a[count_a == 1], ids_b[count_b == 1], assume_unique=True, return_indices=True
    )
    places = np.stack([first_a[count_a == 1][at_a], first_b[count_b == 1][at_b]], axis=1)
    ordered = [(int(i), int(j)) for i, j in places[np.argsort(places[:, 0])].tolist()]
    ends: list[int] = []
    holders: list[int] = []
    previous: list[int] = []
    for at, (_, j) in enumerate(ordered):
        place = bisect_left(ends, j)
        previous.append(holders[place - 1] if place else -1)
        if place == len(ends):
            ends.append(j)
            holders.append(at)
        else:
            ends[place], holders[place] = j, at
    found: list[tuple[int, int]] = []
    at = holders[-1] if holders else -1
    while at >= 0:
        found.append(ordered[at])
        at = previous[at]
    return found[::-1]
