"""Compare two texts up to names, so that a mere renaming is no difference.

Lines are first matched with all names omitted. The matched lines tell which name became which; the
renaming is one to one within a function. Then the texts are compared under that renaming.
"""

from collections import Counter

import numpy as np

from irkit.inspector_web.diff.lcs import common_lines
from irkit.inspector_web.diff.line_diff import Diff, diff_lines
from irkit.inspector_web.text.lexers import OWN, Lexer
from irkit.inspector_web.text.lines import Ids, LineTable

_NAME_LINES = ("names(", "@names(")
"""Beginnings of lines that only give the names of the IR."""


def diff_up_to_names(before: Ids, after: Ids, table: LineTable) -> Diff:
    """Compare two texts, ignoring names that changed everywhere."""
    if np.array_equal(before, after):
        return diff_lines(before, after)
    shapes = LineTable()
    lines = table.lines
    both: list[int] = np.union1d(before, after).tolist()
    cut = {at: _tokens_without_names(lines[at], table.lexer(at)) for at in both}
    shape = {at: _shape(words, table.lexer(at)) for at, words in cut.items()}
    old = shapes.number(shape[at] for at in before.tolist())
    new = shapes.number(shape[at] for at in after.tolist())
    kept = common_lines(old, new)
    renamed = LineTable()
    pairs = list(zip(kept.before.tolist(), kept.after.tolist(), strict=True))
    functions = _functions(before, lines), _functions(after, lines)
    renamings = _renamings(
        pairs,
        functions,
        [cut[at] for at in before.tolist()],
        [cut[at] for at in after.tolist()],
        [table.lexer(at) for at in before.tolist()],
    )
    left = renamed.number(
        _rename(cut[at], renamings.get(place, {}))
        for at, place in zip(before.tolist(), functions[0], strict=True)
    )
    right = renamed.number(_rename(cut[at], {}) for at in after.tolist())
    found = common_lines(left, right)
    return Diff(before, after, found)


def _tokens_without_names(line: str, lexer: Lexer) -> list[str]:
    """Split a line into tokens; all lines that only give names have the same tokens."""
    if lexer is OWN and line.lstrip().startswith(_NAME_LINES):
        indent = line[: len(line) - len(line.lstrip())]
        return [indent, "names"] if indent else ["names"]
    return lexer.cut(line)


def _shape(words: list[str], lexer: Lexer) -> str:
    return "".join("\0" if lexer.kind(word) == "v" else word for word in words)


def _rename(words: list[str], renaming: dict[str, str]) -> str:
    return "".join([renaming.get(word, word) for word in words])


def _functions(ids: Ids, lines: list[str]) -> list[int]:
    """Return for each line the number of its function in the module."""
    at, found = 0, list[int]()
    for number in ids.tolist():
        if not lines[number]:
            at += 1
        found.append(at)
    return found


def _renamings(
    pairs: list[tuple[int, int]],
    functions: tuple[list[int], list[int]],
    old: list[list[str]],
    new: list[list[str]],
    lexers: list[Lexer],
) -> dict[int, dict[str, str]]:
    """Find which name became which in each function; the most frequent pairs win."""
    votes: dict[int, Counter[tuple[str, str]]] = {}
    for i, j in pairs:
        place = votes.setdefault(functions[0][i], Counter())
        for word, other in zip(old[i], new[j], strict=False):
            if lexers[i].kind(word) == "v":
                place[word, other] += 1
    return {place: _one_to_one(counted) for place, counted in votes.items()}


def _one_to_one(votes: Counter[tuple[str, str]]) -> dict[str, str]:
    renaming: dict[str, str] = {}
    taken: set[str] = set()
    ordered = sorted(votes.items(), key=lambda item: (-item[1], item[0][0] != item[0][1], item[0]))
    for (word, other), _ in ordered:
        if word not in renaming and other not in taken:
            renaming[word] = other
            taken.add(other)
    # A name without a counterpart stays as it is, unless another name has become it.
    for word, _ in votes:
        if word not in renaming and word in taken:
            renaming[word] = f"{word}\0"
    return renaming
