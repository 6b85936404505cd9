"""The text of a step does not depend on which other steps were printed."""

from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from irkit.core import Names, free_symbols, fresh, rewrite, same, walk
from irkit.fuzz import KERNELS
from irkit.inspector_web import LineTable, Texts, diff_lines
from irkit.ir import LOOP_LEVEL, For, If, PrimFunc, Seq, Stmt, Store, parse
from irkit.ir.text.printer import listing
from irkit.transform import Step, Trace
from tests.inspector_web.text.texts_programs import of


def test_texts_are_those_of_the_steps() -> None:
    steps = of("MATMUL")
    texts = Texts(steps)
    for step in steps:
        assert isinstance(step.before, PrimFunc)
        assert isinstance(step.after, PrimFunc)
        before = listing(step.before, names=steps.names).lines
        assert texts.lines(step.index, "before") == before
        assert texts.lines(step.index) == listing(step.after, names=steps.names).lines
        assert same(parse("\n".join(texts.lines(step.index))), step.after)


def test_the_order_of_printing_changes_no_name() -> None:
    steps = of("SOFTMAX")
    forwards, backwards = Texts(steps), Texts(steps)
    last = len(steps) - 1
    down = [backwards.lines(last - at) for at in range(len(steps))]
    assert [forwards.lines(at) for at in range(len(steps))] == down[::-1]


def test_a_state_is_printed_once() -> None:
    steps = of("MATMUL")
    texts = Texts(steps)
    for step in steps:
        if not step.changed:
            assert texts.of(step.index) is texts.of(step.index, "before")


def test_two_runs_of_the_same_passes_print_alike() -> None:
    table = LineTable()
    one, other = Texts(of("MATMUL"), table), Texts(of("MATMUL"), table)
    assert one.trace is not other.trace
    for at in range(len(one.trace)):
        assert not diff_lines(one.of(at).ids, other.of(at).ids).added


def test_each_node_begins_on_its_line() -> None:
    texts = Texts(of("MATMUL"))
    ((_, part),) = texts.of(0).parts
    assert part.starts[id(part.func)] == 1


def holds_what_is_printed(texts: Texts, step: Step) -> None:
    """Print a step without remembering anything, by the same names, and compare."""
    names = Names()
    assert LOOP_LEVEL.listing is not None
    assert LOOP_LEVEL.symbols is not None
    for state in texts.histories[step.function]:
        names.choose(LOOP_LEVEL.symbols(state.func, None))
    part = texts.of(step.index).parts[0][1]
    anew = LOOP_LEVEL.listing(part.func, names=names)
    assert texts.table.text(part.ids) == anew.lines
    assert part.starts == anew.starts


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_memoised_text_is_the_printed_text(name: str) -> None:
    steps = of(name)
    remembered = Texts(steps)
    for step in steps:
        holds_what_is_printed(remembered, step)


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), max_size=6))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_memoised_text_is_right_wherever_statements_move(moves: list[tuple[int, int]]) -> None:
    funcs = [parse(MANY)]
    for source, target in moves:
        stmts = list(walk(funcs[-1].body, on=(For, Store, If)))
        closed = [stmt for stmt in stmts if set(free_symbols(stmt)) <= set(funcs[-1].params)]
        old, new = stmts[target % len(stmts)], closed[source % len(closed)]
        moved = substitute_stmt(funcs[-1], old, new)
        funcs.append(moved)
    made = [
        Step(at, LOOP_LEVEL, 0, "", "p", "p", {}, "f", before, after, 0.0)
        for at, (before, after) in enumerate(pairwise([funcs[0], *funcs]))
    ]
    texts = Texts(Trace(made))
    for step in made:
        holds_what_is_printed(texts, step)


def test_text_is_the_same_after_the_cache_is_emptied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("irkit.ir.text.memo.MAX_KEPT_LINES", 30)
    steps = of("SOFTMAX")
    texts = Texts(steps)
    for step in steps:
        holds_what_is_printed(texts, step)


def test_statements_that_stood_together_are_taken_together() -> None:
    nests = [f"    for i in serial(0, {at}):\n        A[i] = f32({at}.0)\n" for at in range(200)]
    before = parse("def f(A: f32[300]):\n" + "".join(nests))
    assert isinstance(before.body, Seq)
    stmts = before.body.stmts
    places = [*range(5, 90), 3, *range(100, 150), *range(90, 100), 7, 7, *range(150, 200)]
    after = before.replace(body=Seq(tuple(stmts[at] for at in places)))
    step = Step(0, LOOP_LEVEL, 0, "", "p", "p", {}, "f", before, after, 0.0)
    holds_what_is_printed(Texts(Trace([step])), step)


def test_names_that_cannot_stay_are_not_memoised() -> None:
    two = parse("def f(A: f32[4]):\n" + LOOP + LOOP)
    assert isinstance(two.body, Seq)
    s, t = two.body.stmts
    other = fresh(s)
    bodies = (other, Seq((other, s, fresh(s))), t)
    funcs = [two, *(two.replace(body=body) for body in bodies)]
    made = [
        Step(at, LOOP_LEVEL, 0, "", "p", "p", {}, "f", before, after, 0.0)
        for at, (before, after) in enumerate(pairwise(funcs))
    ]
    texts = Texts(Trace(made))
    for step in made:
        texts.of(step.index)
    first = texts.lines(0, "before")
    assert len({line for line in first if "for" in line}) == 2


LOOP = "    for i in serial(0, 4):\n        A[i] = f32(0.0)\n"
DEEP = "(" * 60 + "A[0]" + " + f32(1.0))" * 60
MANY = f"""
def f(A: f32[64], B: f32[64]):
    for i in serial(0, 8):
        for j in serial(0, 8):
            if i < j:
                A[i] = B[j]
            elif i == 3:
                T = alloc(f32[4])
                T[0] = A[i]
                B[j] = T[0]
            else:
                A[i * 8 + j] = f32(2.0)
    for i in serial(0, 64):
        A[i] = A[i] * f32(3.0)
    B[0] = {DEEP}
    B[1] = {DEEP}
"""


def substitute_stmt(func: PrimFunc, old: Stmt, new: Stmt) -> PrimFunc:
    """Put a copy of one statement in the place of another."""
    return rewrite(func, lambda stmt: fresh(new) if stmt is old else None, on=Stmt)
