"""Tables of passes in the terminal and in files."""

import io

from rich.console import Console

from irkit.debug import PassRow, console, pass_table


def drawn(rows: list[PassRow], width: int = 200) -> list[str]:
    file = io.StringIO()
    Console(file=file, width=width).print(pass_table(rows, title="what happened"))
    return file.getvalue().splitlines()


def test_a_table_has_a_line_for_each_row_and_one_for_the_sum() -> None:
    rows = [
        PassRow("graph", 0, "fuse-ops", runs=1, changed=1, seconds=0.0012, before=10, after=20),
        PassRow("loop", 0, "mine", runs=3, changed=0, seconds=0.5, before=7, after=7),
    ]
    lines = drawn(rows)
    assert lines[0].strip() == "what happened"
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if "│" in line]
    assert cells == [
        ["graph", "fuse-ops", "1", "1", "1.2", "10", "20"],
        ["0", "mine", "3", "-", "500.0", "7", "7"],
        ["", "all passes", "", "", "501.2", "", ""],
    ]


def test_a_name_with_brackets_is_shown_as_it_is() -> None:
    assert any("[red]" in line for line in drawn([PassRow("loop", 1, "a[red]b")]))


def test_a_file_gets_whole_rows_without_colours() -> None:
    screen = console()
    assert not screen.is_terminal
    file = io.StringIO()
    screen.file = file
    screen.print(pass_table([PassRow("loop", 1, "n" * 300)]))
    assert "n" * 300 in file.getvalue()
    assert "\x1b" not in file.getvalue()
    assert console(stderr=True).stderr
