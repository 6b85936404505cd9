"""Rows of numbers about passes."""

from collections.abc import Sequence

import irkit
from irkit.core import Target, count_nodes
from irkit.debug import PassRow, summarize
from irkit.ir import PrimFunc
from irkit.phases import DEFAULT, LEGALIZE, phases_of
from irkit.transform import Step
from tests.passes.loop.kernels import kernel
from tests.runtime.models import mlp


def steps_of(name: str) -> list[Step]:
    return list(irkit.trace(kernel(name)))


def rows_by_name(rows: Sequence[PassRow], name: str) -> list[PassRow]:
    return [row for row in rows if row.name == name]


def test_each_position_of_the_pipeline_is_one_row_in_order() -> None:
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
    legalized = phases_of(Target(), LEGALIZE).names
    assert [row.name for row in rows] == [*irkit.GRAPH.names, *DEFAULT.names, *legalized]
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


def test_no_steps_give_an_empty_summary() -> None:
    assert summarize([]) == []
