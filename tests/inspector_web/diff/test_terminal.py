"""Differences in a terminal."""

from irkit.inspector_web import LineTable, diff_lines
from irkit.inspector_web.diff.terminal import printed_diff


def test_a_hostile_line_does_not_steer_the_terminal() -> None:
    table = LineTable()
    found = diff_lines(table.number(["a"]), table.number(["\x1b[2J[bold]a"]))
    text = "".join(line.plain for line in printed_diff(found, table, 3))
    assert "\x1b" not in text
    assert "[bold]" in text
