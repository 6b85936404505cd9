"""Compare two texts up to names: what a pass only calls otherwise counts as unchanged.

Lines are first matched by their shape, with every name left out; the lines so matched tell which
name became which. Under that renaming, which is one to one within a function, the texts are then
compared exactly.
"""

from collections import Counter

import numpy as np

from irkit.core import token_class, tokens
from irkit.inspector_web.diff.lcs import common_lines
from irkit.inspector_web.diff.line_diff import Diff, diff_lines
from irkit.inspector_web.text.lines import Ids, LineTable

_NAMING = ("names(", "@names(")
"""Lines that only say what a name is in the IR."""


def diff_up_to_names(before: Ids, after: Ids, table: LineTable) -> Diff:
    """Compare two texts, and let names differ that have changed everywhere."""
    if np.array_equal(before, after):
        return diff_lines(before, after)
    shapes = LineTable()
    lines = table.lines
    cut = {at: _cut(lines[at]) for at in map(int, np.union1d(before, after))}
    shape = {at: _shape(words) for at, words in cut.items()}
    old = shapes.number(shape[at] for at in before.tolist())
    new = shapes.number(shape[at] for at in after.tolist())
    kept = common_lines(old, new)
    renamed = LineTable()
    pairs = list(zip(kept.before.tolist(), kept.after.tolist(), strict=True))
    functions = _functions(before, lines), _functions(after, lines)
    maps = _renamings(
        pairs, functions, [cut[at] for at in before.tolist()], [cut[at] for at in after.tolist()]
    )
    left = renamed.number(
        _renamed(cut[at], maps.get(place, {}))
        for at, place in zip(before.tolist(), functions[0], strict=True)
    )
    right = renamed.number(_renamed(cut[at], {}) for at in after.tolist())
    found = common_lines(left, right)
    return Diff(before, after, found)


def _cut(line: str) -> list[str]:
    """Cut a line into tokens; one that only gives a name is empty, whatever the name."""
    if line.lstrip().startswith(_NAMING):
        indent = line[: len(line) - len(line.lstrip())]
        return [indent, "names"] if indent else ["names"]
    return tokens(line)


def _shape(words: list[str]) -> str:
    return "".join("\0" if token_class(word) == "v" else word for word in words)


def _renamed(words: list[str], renaming: dict[str, str]) -> str:
    return "".join([renaming.get(word, word) for word in words])


def _functions(ids: Ids, lines: list[str]) -> list[int]:
    """Say of each line in which function of a module it stands, by number."""
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
) -> dict[int, dict[str, str]]:
    """Find for each function before which name became which: the most frequent pairs win."""
    votes: dict[int, Counter[tuple[str, str]]] = {}
    for i, j in pairs:
        place = votes.setdefault(functions[0][i], Counter())
        for word, other in zip(old[i], new[j], strict=False):
            if token_class(word) == "v":
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
    # A name that nothing told of keeps its place unless another has taken it.
    for word, _ in votes:
        if word not in renaming and word in taken:
            renaming[word] = f"{word}\0"
    return renaming
