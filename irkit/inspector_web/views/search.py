"""Find text in every step: which lines contain it, and which step introduced or removed it.

Each distinct line is matched once; its occurrences are found by the line numbers of the texts.
"""

import msgspec
import numpy as np
from numpy.typing import NDArray

from irkit.core import InputError
from irkit.inspector_web.limits import MOST_PATTERN
from irkit.inspector_web.text.lines import LineTable
from irkit.inspector_web.text.texts import State, Texts
from irkit.processes import ChildDied, Limits, matching_lines

Hits = NDArray[np.bool_]
LONGEST_LINE = 2_000
"""Characters of a line that a regular expression is matched against."""
LONGEST_SHOWN = 200
"""Characters of a found line that are shown."""
MEMORY = 1 << 30
SECONDS = 2.0


def lines_with(
    table: LineTable, text: str, *, case: bool = True, regex: bool = False, seconds: float = SECONDS
) -> Hits:
    """Return for each line of a table whether it contains a text or matches a regular expression.

    Raises: InputError if the expression is invalid, too long, or takes more than ``seconds``.
    """
    if regex:
        return _match_regex(table, text, case, seconds)
    if case:
        found = [text in line for line in table.lines]
    else:
        lowered = text.lower()
        found = [lowered in line.lower() for line in table.lines]
    return np.array(found, dtype=np.bool_)


def _match_regex(table: LineTable, pattern: str, case: bool, seconds: float) -> Hits:
    """Match a regular expression in a child, which is killed when time is up."""
    if len(pattern) > MOST_PATTERN:
        raise InputError(
            f"the regular expression has {len(pattern)} characters; at most {MOST_PATTERN} are "
            "allowed"
        )
    lines = [line[:LONGEST_LINE] for line in table.lines]
    try:
        found = matching_lines(pattern, lines, case=case, limits=Limits(seconds, MEMORY))
    except ChildDied as died:
        if died.kind != "timeout":
            raise InputError("the regular expression takes too much memory") from None
        raise InputError(
            f"the regular expression took more than {seconds:g} s; the usual cause is a repetition "
            "inside a repetition"
        ) from None
    hits = np.zeros(len(table), dtype=np.bool_)
    hits[np.array(found, dtype=np.int64)] = True
    return hits


class SearchHit(msgspec.Struct, frozen=True):
    """Occurrences of a text in a function after a step (``GIVEN``: before the first).

    It is in ``count`` lines, the first of which are ``lines``, counted from 1; ``text`` is the
    first.
    """

    step: int
    function: str
    count: int
    lines: tuple[int, ...]
    text: str = ""


class PickaxeHit(msgspec.Struct, frozen=True):
    """A step that changed the number of lines with a text in a function.

    ``line`` is the first such line after the step, 0 if there is none.
    """

    step: int
    function: str
    before: int
    after: int
    line: int


def print_all(texts: Texts) -> None:
    """Print every state of every function, to be searched."""
    for states in texts.histories.values():
        for state in states:
            texts.ids_of([state])


def search(
    texts: Texts, text: str, *, case: bool = True, regex: bool = False, at_most: int = 20
) -> list[SearchHit]:
    """Find a text in every state of every function, listing ``at_most`` lines of each."""
    print_all(texts)
    hits = lines_with(texts.table, text, case=case, regex=regex)
    found: list[SearchHit] = []
    for name, states in texts.histories.items():
        for state in states:
            ids = texts.ids_of([state])
            places = np.flatnonzero(hits[ids])
            if len(places):
                first = tuple((places[:at_most] + 1).tolist())
                line = texts.table.lines[int(ids[places[0]])].strip()[:LONGEST_SHOWN]
                found.append(SearchHit(state.step, name, len(places), first, line))
    return found


def pickaxe(texts: Texts, text: str, *, case: bool = True, regex: bool = False) -> list[PickaxeHit]:
    """List the steps that introduced or removed a text, by function and in order.

    A text that occurs before the first pass is introduced by step ``GIVEN``.
    """
    print_all(texts)
    hits = lines_with(texts.table, text, case=case, regex=regex)
    found: list[PickaxeHit] = []
    for name, states in texts.histories.items():
        before = 0
        for state in states:
            count, line = _count_lines(texts, state, hits)
            if count != before:
                found.append(PickaxeHit(state.step, name, before, count, line))
            before = count
    return found


def _count_lines(texts: Texts, state: State, hits: Hits) -> tuple[int, int]:
    here = hits[texts.ids_of([state])]
    count = int(np.count_nonzero(here))
    return count, int(here.argmax()) + 1 if count else 0
