"""Which line of a hunk became which, and which of its words changed."""

from collections import Counter
from collections.abc import Sequence

from rapidfuzz.distance import LCSseq

from irkit.inspector_web.text.highlight import Marks, cut_line
from irkit.inspector_web.text.lexers import OWN, Lexer

MOST_PAIRS = 4_096
"""Limit of pairs of lines that are compared; in larger hunks lines pair up in order."""

MOST_CELLS = 250_000
"""Limit of the tokens of one line times those of the other; above, whole lines are marked."""

ALIKE = 0.5
"""Least share of common words of two lines that can be a pair."""


def pair_lines(old: Sequence[str], new: Sequence[str], lexer: Lexer = OWN) -> list[tuple[int, int]]:
    """Pair the most similar lines of two short texts, in order on both sides."""
    if not old or not new:
        return []
    if len(old) == len(new):
        return [(at, at) for at in range(len(old)) if _is_alike(old[at], new[at], lexer)]
    if len(old) * len(new) > MOST_PAIRS:
        count = min(len(old), len(new))
        return [(at, at) for at in range(count) if _is_alike(old[at], new[at], lexer)]
    return _best([_words(line, lexer) for line in old], [_words(line, lexer) for line in new])


def _is_alike(old: str, new: str, lexer: Lexer) -> bool:
    return _likeness(_words(old, lexer), _words(new, lexer)) >= ALIKE


def _words(line: str, lexer: Lexer) -> Counter[str]:
    return Counter(token for token in lexer.cut(cut_line(line)) if not token.isspace())


def _likeness(old: Counter[str], new: Counter[str]) -> float:
    most = max(old.total(), new.total())
    return (old & new).total() / most if most else 1.0


def _best(old: list[Counter[str]], new: list[Counter[str]]) -> list[tuple[int, int]]:
    """Choose pairs, in order, with the greatest total likeness."""
    gains = [[0.0] * (len(new) + 1)]
    for words in old:
        above, row = gains[-1], [0.0]
        for at, others in enumerate(new):
            likeness = _likeness(words, others)
            both = above[at] + likeness if likeness >= ALIKE else 0.0
            row.append(max(above[at + 1], row[at], both))
        gains.append(row)
    found: list[tuple[int, int]] = []
    i, j = len(old), len(new)
    while i and j:
        if gains[i][j] == gains[i - 1][j]:
            i -= 1
        elif gains[i][j] == gains[i][j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            found.append((i, j))
    return found[::-1]


def changed_words(
    old: str, new: str, lexers: tuple[Lexer, Lexer] = (OWN, OWN)
) -> tuple[Marks, Marks]:
    """Return the tokens of two lines that differ, on each side."""
    left, right = lexers[0].cut(cut_line(old)), lexers[1].cut(cut_line(new))
    if len(left) * len(right) > MOST_CELLS:
        return ((0, len(left)),), ((0, len(right)),)
    gone: list[tuple[int, int]] = []
    come: list[tuple[int, int]] = []
    for op in LCSseq.opcodes(left, right):
        if op.tag == "equal":
            continue
        if op.src_end > op.src_start:
            gone.append((op.src_start, op.src_end))
        if op.dest_end > op.dest_start:
            come.append((op.dest_start, op.dest_end))
    return _join_marks(gone, left), _join_marks(come, right)


def _join_marks(ranges: list[tuple[int, int]], words: list[str]) -> Marks:
    """Join ranges that only space separates, so that the marks are less fragmented."""
    made: list[tuple[int, int]] = []
    for begin, end in ranges:
        if made and all(word.isspace() for word in words[made[-1][1] : begin]):
            made[-1] = made[-1][0], end
        else:
            made.append((begin, end))
    return tuple(made)
