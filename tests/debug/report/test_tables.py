"""Tables of passes in the terminal and in files."""

import io

from rich.console import Console
from rich.table import Table

import irkit
from irkit.core import Rules, console, fixpoint, rewrite
from irkit.debug import PassRow, pass_table, rule_table, summarize_rules
from irkit.ir import LOOP_LEVEL, Const, Expr, PrimFunc, parse
from irkit.transform import Phase, Pipeline, define_pass


def lines_of(table: Table) -> list[str]:
    file = io.StringIO()
    Console(file=file, width=300).print(table)
    return file.getvalue().splitlines()


def cells_of(table: Table) -> list[list[str]]:
    lines = [line for line in lines_of(table) if "│" in line]
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines]


def drawn(rows: list[PassRow]) -> list[str]:
    return lines_of(pass_table(rows, title="what happened"))


def test_a_table_has_a_line_for_each_row_and_one_for_the_sum() -> None:
    rows = [
        PassRow("graph", 0, "fuse-ops", runs=1, changed=1, seconds=0.0012, before=10, after=20),
        PassRow("loop", 0, "mine", runs=3, changed=0, seconds=0.5, before=7, after=7),
    ]
    assert drawn(rows)[0].strip() == "what happened"
    assert cells_of(pass_table(rows)) == [
        ["graph", "fuse-ops", "1", "1", "1.2", "10", "20"],
        ["0", "mine", "3", "-", "500.0", "7", "7"],
        ["", "all passes", "", "", "501.2", "", ""],
    ]


def test_a_name_with_brackets_is_shown_as_it_is() -> None:
    assert any("[red]" in line for line in drawn([PassRow("loop", 1, "a[red]b")]))


def halve(node: Const) -> Expr | None:
    return node.replace(value=node.value // 2) if node.value > 1 else None


@define_pass
def halve_all(func: PrimFunc) -> PrimFunc:
    return rewrite(func, fixpoint(Rules("halve", halve), 9))


def test_the_table_of_rules_has_their_hits_time_and_rounds() -> None:
    func = parse("def f(C: i64[4]):\n    C[0] = 8\n    C[1] = 2\n")
    pipeline = Pipeline(LOOP_LEVEL, (Phase(0, "all", (halve_all,)),))
    timed = summarize_rules([*pipeline.steps(func, time_rules=True)] * 2)
    cells = {row[2]: row[3:6] for row in cells_of(rule_table(timed))}
    (seconds,) = [row.seconds for row in timed if row.rule == "halve"]
    assert cells == {
        "halve": ["8", f"{seconds * 1e3:.2f}", "-"],
        "fixpoint(halve)": ["0", "-", "3"],
    }
    (row, _) = cells_of(rule_table(summarize_rules(pipeline.steps(func))))
    assert row[:5] == ["0", "halve-all", "halve", "4", "-"]
    assert row[6].startswith(f"{__file__}:")


def test_a_trace_has_the_time_in_each_rule() -> None:
    func = parse("def f(C: i64[4]):\n    for i in serial(0, 4):\n        C[i] = i + 0\n")
    rows = summarize_rules(irkit.trace(func))
    assert any(row.seconds and row.fired for row in rows)
    assert any(row.seconds and not row.fired for row in rows)


def test_a_file_gets_whole_rows_without_colours() -> None:
    screen = console()
    assert not screen.is_terminal
    file = io.StringIO()
    screen.file = file
    screen.print(pass_table([PassRow("loop", 1, "n" * 300)]))
    assert "n" * 300 in file.getvalue()
    assert "\x1b" not in file.getvalue()
    assert console(stderr=True).stderr
