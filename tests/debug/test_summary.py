"""What passes did, in numbers and as a table."""

import io
from collections.abc import Sequence

from rich.console import Console

import irkit
from irkit.core import count_nodes
from irkit.debug import PassRow, console, pass_table, summarize
from irkit.ir import PrimFunc
from irkit.phases import DEFAULT
from irkit.transform import Step
from tests.passes.loop.kernels import kernel
from tests.runtime.models import mlp


def steps_of(name: str) -> list[Step]:
    return list(irkit.trace(kernel(name)))


def rows_by_name(rows: Sequence[PassRow], name: str) -> list[PassRow]:
    return [row for row in rows if row.name == name]


def test_each_place_of_the_pipeline_is_one_row_in_order() -> None:
    rows = summarize(steps_of("MATMUL"))
    assert tuple(row.name for row in rows) == DEFAULT.names
    assert [row.phase for row in rows] == [phase for phase, _ in DEFAULT.placed]
    assert {row.level for row in rows} == {"loop"}
    assert [row.runs for row in rows] == [1] * len(rows)


def test_a_row_counts_what_its_steps_did() -> None:
    steps = steps_of("MATMUL")
    for step, row in zip(steps, summarize(steps), strict=True):
        assert row.changed == int(step.changed)
        assert row.seconds == step.seconds
        assert isinstance(step.before, PrimFunc)
        assert isinstance(step.after, PrimFunc)
        assert (row.before, row.after) == (count_nodes(step.before), count_nodes(step.after))


def test_rows_are_sums_over_functions() -> None:
    steps = list(irkit.compile(mlp()).trace)
    rows = summarize(steps)
    assert [row.name for row in rows] == [*irkit.GRAPH.names, *DEFAULT.names]
    kernels = {step.function for step in steps if step.level.name == "loop"}
    for row in rows:
        own = [
            s for s in steps if (s.level.name, s.phase, s.name) == (row.level, row.phase, row.name)
        ]
        assert row.runs == len(own)
        assert row.changed == sum(step.changed for step in own)
        if row.level == "loop":
            assert row.runs == len(kernels)
    assert abs(sum(row.seconds for row in rows) - sum(step.seconds for step in steps)) < 1e-9


def test_a_pass_that_stands_in_a_phase_twice_has_two_rows() -> None:
    simplify = next(p for _, p in DEFAULT.placed if p.name == "simplify")
    twice = DEFAULT.with_passes([(1, simplify)])
    rows = rows_by_name(summarize(irkit.trace(kernel("MATMUL"), pipeline=twice)), "simplify")
    assert [(row.phase, row.runs) for row in rows] == [(1, 1), (1, 1), (3, 1)]


def test_nothing_gives_an_empty_summary() -> None:
    assert summarize([]) == []


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
