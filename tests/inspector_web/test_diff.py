"""Differences are the smallest there are, on random and on repetitive texts."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irkit.core import tokens
from irkit.inspector_web import Ids, LineTable, Row, diff, diff_up_to_names, inline, side_by_side
from irkit.inspector_web import lcs as lcs_module
from irkit.inspector_web.few_edits import few_edits
from irkit.inspector_web.lcs import common_lines, in_band
from irkit.inspector_web.rows import unfolded


def longest_common(a: Sequence[int], b: Sequence[int]) -> int:
    """The textbook table, which shares nothing with what is tested."""
    above = [0] * (len(b) + 1)
    for x in a:
        row = [0]
        for j, y in enumerate(b):
            row.append(above[j] + 1 if x == y else max(above[j + 1], row[j]))
        above = row
    return above[-1]


def ids(values: Sequence[int]) -> Ids:
    return np.array(values, dtype=np.int32)


@st.composite
def texts(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Two texts: unrelated, or one an edited copy of the other; few kinds of lines repeat much."""
    kinds = st.integers(0, draw(st.sampled_from([1, 3, 40])))
    before = draw(st.lists(kinds, max_size=40))
    if draw(st.booleans()):
        return before, draw(st.lists(kinds, max_size=40))
    after = list(before)
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(after)))
        after[at : at + draw(st.integers(0, 3))] = draw(st.lists(kinds, max_size=3))
    return before, after


@given(texts())
@settings(max_examples=150, deadline=None, derandomize=True)
def test_as_many_lines_are_kept_as_can_be(pair: tuple[list[int], list[int]]) -> None:
    before, after = ids(pair[0]), ids(pair[1])
    kept = common_lines(before, after)
    assert kept.exact
    assert [pair[0][at] for at in kept.before] == [pair[1][at] for at in kept.after]
    assert (np.diff(kept.before) > 0).all()
    assert (np.diff(kept.after) > 0).all()
    assert len(kept.before) == longest_common(*pair)


@pytest.mark.parametrize("band", [1, 2, 16])
@pytest.mark.parametrize("few", [0, 3])
@given(texts())
@settings(max_examples=100, deadline=None, derandomize=True)
def test_each_way_of_searching_finds_the_longest(
    few: int, band: int, pair: tuple[list[int], list[int]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lcs_module, "SMALL", 0)
        patch.setattr(lcs_module, "MIDDLING", 0)
        patch.setattr(lcs_module, "FIRST_BAND", band)
        patch.setattr(lcs_module, "few_edits", lambda a, b: few_edits(a, b, few))  # pyright: ignore
        kept = common_lines(ids(pair[0]), ids(pair[1]))
    assert [pair[0][at] for at in kept.before] == [pair[1][at] for at in kept.after]
    assert len(kept.before) == longest_common(*pair)


@given(texts())
@settings(max_examples=100, deadline=None, derandomize=True)
def test_a_band_as_wide_as_the_texts_holds_everything(pair: tuple[list[int], list[int]]) -> None:
    before, after = pair
    assert len(in_band(before, after, len(before) + len(after))) == longest_common(before, after)


@given(texts())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_texts_too_large_for_an_exact_answer_are_still_matched(
    pair: tuple[list[int], list[int]],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SMALL", "MIDDLING", "MOST_CELLS"):
            patch.setattr(lcs_module, name, 0)
        patch.setattr(lcs_module, "few_edits", nothing_found)
        kept = common_lines(ids(pair[0]), ids(pair[1]))
    assert [pair[0][at] for at in kept.before] == [pair[1][at] for at in kept.after]
    assert (np.diff(kept.before) > 0).all()
    assert (np.diff(kept.after) > 0).all()


def nothing_found(a: Ids, b: Ids) -> None:
    return None


def test_repetitive_text_differs_only_where_it_was_edited() -> None:
    nest = ["for i in serial(0, 8):", "    for j in serial(0, 8):", "        C[i, j] = A[i, j]"]
    before = nest * 700
    after = list(before)
    for at in range(50, 2_000, 100):
        after[at] = f"    # changed {at}"
    table = LineTable()
    difference = diff(table.number(before), table.number(after))
    assert (difference.removed, difference.added) == (20, 20)
    assert len(difference.hunks) == 20


def both(before: str, after: str) -> tuple[Ids, Ids, LineTable]:
    table = LineTable()
    return table.number(before.splitlines()), table.number(after.splitlines()), table


LOOP = """def f(A: f32[8], B: f32[8]):
    for i in serial(0, 8):
        B[i] = A[i] + f32(1.0)
    for j in serial(0, 8):
        A[j] = B[j]
"""


def test_a_changed_line_is_one_row_with_its_words_marked() -> None:
    before, after, table = both(LOOP, LOOP.replace("f32(1.0)", "f32(2.0)"))
    rows = side_by_side(diff(before, after), table, context=1)
    assert [row.kind for row in rows] == ["same", "same", "changed", "same", "same"]
    changed = next(row for row in rows if row.kind == "changed")
    assert (changed.left, changed.right) == (3, 3)
    (marked,) = changed.left_marks
    assert tokens("        B[i] = A[i] + f32(1.0)")[marked[0] : marked[1]] == ["1.0"]


def test_equal_parts_fold_and_unfold() -> None:
    lines = [f"line {at}" for at in range(100)]
    changed = [*lines[:50], "new", *lines[50:]]
    table = LineTable()
    difference = diff(table.number(lines), table.number(changed))
    rows = side_by_side(difference, table, context=3)
    assert [row.kind for row in rows] == ["fold", *["same"] * 3, "added", *["same"] * 3, "fold"]
    assert rows[0] == Row("fold", 1, 1, count=47)
    assert rows[-1] == Row("fold", 54, 55, count=47)
    opened = [row for fold in rows for row in (unfolded(fold) if fold.kind == "fold" else [fold])]
    assert opened == side_by_side(difference, table, context=None)


@given(texts(), st.sampled_from([None, 0, 1, 3]))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_rows_show_every_line_once_and_in_order(
    pair: tuple[list[int], list[int]], context: int | None
) -> None:
    table = LineTable()
    form = "{}for i{} in serial(0, 4):"
    before = table.number(form.format(" " * (x % 3), x) for x in pair[0])
    after = table.number(form.format(" " * (x % 3), x) for x in pair[1])
    rows = side_by_side(diff(before, after), table, context=context)
    shown = [row for fold in rows for row in (unfolded(fold) if fold.kind == "fold" else [fold])]
    assert [row.left for row in shown if row.left] == list(range(1, len(before) + 1))
    assert [row.right for row in shown if row.right] == list(range(1, len(after) + 1))
    for row in shown:
        if row.kind == "same":
            assert before[row.left - 1] == after[row.right - 1]
    column = [row for row in inline(shown) if row.kind != "same"]
    assert all(bool(row.left) != bool(row.right) for row in column)
    assert [row.left for row in column if row.left] == [
        row.left for row in shown if row.kind in ("changed", "removed")
    ]


NESTS = """def f(A: f32[4], B: f32[4]):
    for i in serial(0, 4):
        A[i] = f32(0.0)
    for j in serial(0, 4):
        A[j] = f32(0.0)
    for i in serial(0, 4):
        A[i] = f32(0.0)
"""


def test_a_loop_that_is_new_begins_at_its_head() -> None:
    loop = "    for k in serial(0, 4):\n        A[0] = f32(0.0)\n"
    before, after, table = both(NESTS + loop, NESTS + loop + loop)
    rows = side_by_side(diff(before, after), table)
    added = [table.lines[int(after[row.right - 1])] for row in rows if row.kind == "added"]
    assert added == loop.splitlines()
    before, after, table = both(
        "    for i in serial(0, 4):\n        A[0] = f32(0.0)\n    B[0] = f32(0.0)\n",
        "    for i in serial(0, 4):\n        A[0] = f32(0.0)\n    B[0] = f32(0.0)\n"
        "        A[0] = f32(0.0)\n    B[0] = f32(0.0)\n",
    )
    rows = side_by_side(diff(before, after), table)
    heads = [table.lines[int(after[row.right - 1])] for row in rows if row.kind == "added"]
    assert heads[0] == "    B[0] = f32(0.0)"


RENAMINGS: list[Callable[[str], str]] = [
    lambda text: text.replace("[i]", "[row]").replace(" i ", " row "),
    lambda text: text.replace("B", "out"),
]


@pytest.mark.parametrize("rename", RENAMINGS)
def test_a_pass_that_only_renames_shows_no_change(rename: Callable[[str], str]) -> None:
    before, after, table = both(LOOP, rename(LOOP))
    assert diff(before, after).added
    difference = diff_up_to_names(before, after, table)
    assert (difference.added, difference.removed) == (0, 0)


def test_names_that_are_exchanged_are_a_renaming_too() -> None:
    exchanged = LOOP.replace("A", "\1").replace("B", "A").replace("\1", "B")
    before, after, table = both(LOOP, exchanged)
    assert diff_up_to_names(before, after, table).added == 0


def test_up_to_names_a_line_that_only_gives_names_does_not_differ() -> None:
    table = LineTable()
    before = table.number(["@names(x_0='a b')", "def f(x_0: f32[8]):"])
    after = table.number(["@names(x_0='c d')", "def f(x_0: f32[8]):"])
    assert diff_up_to_names(before, after, table).added == 0


def test_up_to_names_another_operand_is_still_a_change() -> None:
    before, after, table = both(LOOP, LOOP.replace("A[j] = B[j]", "A[j] = A[j]"))
    assert diff_up_to_names(before, after, table).added == 1
