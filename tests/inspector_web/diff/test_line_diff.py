"""A difference of repetitive texts is where they were edited."""

from irkit.inspector_web import LineTable, diff_lines


def test_repetitive_text_differs_only_where_it_was_edited() -> None:
    nest = ["for i in serial(0, 8):", "    for j in serial(0, 8):", "        C[i, j] = A[i, j]"]
    before = nest * 700
    after = list(before)
    for at in range(50, 2_000, 100):
        after[at] = f"    # changed {at}"
    table = LineTable()
    difference = diff_lines(table.number(before), table.number(after))
    assert (difference.removed, difference.added) == (20, 20)
    assert len(difference.hunks) == 20
