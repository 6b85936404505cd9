"""Statements and names without effect go."""

from collections import Counter
from pathlib import Path

from irkit.debug import rule_table, summarize_rules
from irkit.ir import LOOP_LEVEL, parse
from irkit.passes import loop
from irkit.passes.loop import remove_no_ops
from irkit.transform import Phase, Pipeline, Trace
from tests.passes.loop.programs import body, func, text


def test_unused_names_go_with_everything_that_only_they_used() -> None:
    given = func("a: i64 = n + 1", "b: i64 = a * 2", "C[0] = A[0]")
    assert body(loop.remove_no_ops(given)) == text("C[0] = A[0]")


def test_a_masked_store_of_a_plain_load_of_itself_does_nothing() -> None:
    mask = "mask=ramp(0, 1, 8) < broadcast(n, 8)"
    given = func(f"store(C, (ramp(0, 1, 8),), C[ramp(0, 1, 8)], {mask})")
    assert body(loop.remove_no_ops(given)) == text("pass")


NO_OPS = """def f(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        C[i] = C[i]
    for j in serial(0, 0):
        C[j] = A[j]
    k: i64 = 1
    C[2] = C[2]
"""


def test_a_trace_shows_which_rule_fired_how_often_and_where_it_is_written(tmp_path: Path) -> None:
    pipeline = Pipeline(LOOP_LEVEL, (Phase(0, "all", (remove_no_ops,)),))
    trace = Trace.of(pipeline.steps(parse(NO_OPS), keep_applications=True))
    wanted = Counter({"stored-already": 2, "dead-loop": 2, "unused": 1})
    assert trace[0].rules == wanted
    trace.save(tmp_path / "t.trace")
    read = Trace.load(tmp_path / "t.trace", [LOOP_LEVEL])
    assert read[0].rules == wanted
    for steps in (trace, read):
        rows = {row.rule: row for row in summarize_rules(steps)}
        assert {name: row.fired for name, row in rows.items()} == wanted
        span = rows["dead-loop"].span
        assert span is not None
        lines = Path(span.file).read_text().splitlines()
        assert lines[span.line - 1].startswith("def dead_loop(")
        assert rule_table(rows.values()).row_count == 3


def test_a_name_that_only_the_shape_of_a_buffer_mentions_stays() -> None:
    func = parse(SHAPE)
    assert remove_no_ops(func) is func


SHAPE = """def f(A: f32[n], C: f32[n]):
    k: i64 = n + 1
    T = alloc(f32[k])
    T[0] = A[0]
    C[0] = T[0]
"""
