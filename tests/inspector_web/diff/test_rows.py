"""Differences as rows: words marked, equal parts folded, every line once."""

from hypothesis import given, settings, strategies as st

from irkit.core import tokens
from irkit.inspector_web import LineTable, diff_lines, side_by_side
from irkit.inspector_web.diff.rows import Row, inline
from tests.inspector_web.diff.diff_programs import LOOP, both, texts


def unfolded(rows: list[Row]) -> list[Row]:
    """Replace each fold by the rows that it stands for."""
    opened: list[Row] = []
    for row in rows:
        folded = range(row.count) if row.kind == "fold" else ()
        opened += [Row("same", row.left + at, row.right + at) for at in folded] or [row]
    return opened


def test_a_changed_line_is_one_row_with_its_words_marked() -> None:
    before, after, table = both(LOOP, LOOP.replace("f32(1.0)", "f32(2.0)"))
    rows = side_by_side(diff_lines(before, after), table, context=1)
    assert [row.kind for row in rows] == ["same", "same", "changed", "same", "same"]
    changed = next(row for row in rows if row.kind == "changed")
    assert (changed.left, changed.right) == (3, 3)
    (marked,) = changed.left_marks
    assert tokens("        B[i] = A[i] + f32(1.0)")[marked[0] : marked[1]] == ["1.0"]


def test_equal_parts_fold_and_unfold() -> None:
    lines = [f"line {at}" for at in range(100)]
    changed = [*lines[:50], "new", *lines[50:]]
    table = LineTable()
    difference = diff_lines(table.number(lines), table.number(changed))
    rows = side_by_side(difference, table, context=3)
    assert [row.kind for row in rows] == ["fold", *["same"] * 3, "added", *["same"] * 3, "fold"]
    assert rows[0] == Row("fold", 1, 1, count=47)
    assert rows[-1] == Row("fold", 54, 55, count=47)
    assert unfolded(rows) == side_by_side(difference, table, context=None)


@given(texts(), st.sampled_from([None, 0, 1, 3]))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_rows_show_every_line_once_and_in_order(
    pair: tuple[list[int], list[int]], context: int | None
) -> None:
    table = LineTable()
    form = "{}for i{} in serial(0, 4):"
    before = table.number(form.format(" " * (x % 3), x) for x in pair[0])
    after = table.number(form.format(" " * (x % 3), x) for x in pair[1])
    rows = side_by_side(diff_lines(before, after), table, context=context)
    shown = unfolded(rows)
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


def test_a_line_that_is_elsewhere_now_is_said_to_move_and_a_bracket_is_not() -> None:
    loop = "for i in serial(0, 8):"
    old = [loop, "    a = 1", ")", "    b = 2", "    c = 3", "    d = 4"]
    new = ["    a = 1", "    b = 2", "    c = 3", "    d = 4", f"    {loop}", "e = 5", ")"]
    table = LineTable()
    rows = side_by_side(diff_lines(table.number(old), table.number(new)), table)
    moved = [(row.kind, row.left, row.right) for row in rows if row.moved]
    assert moved == [("removed", 1, 0), ("added", 0, 5)]
    assert sum(row.kind in ("removed", "added") for row in rows) == 5
    again = [*new[:4], "for i in serial(0, 9):"]
    rows = side_by_side(diff_lines(table.number(old), table.number(again)), table)
    assert not any(row.moved for row in rows)
