"""The list of passes, blame and search, held against plain readings of the printed texts."""

import difflib

import msgspec
import pytest

from irkit.core import InputError, count_nodes, rewrite
from irkit.inspector_web import (
    GIVEN,
    Blame,
    Filter,
    LineTable,
    Steps,
    Texts,
    Touch,
    align,
    pickaxe,
    search,
)
from irkit.inspector_web.search import lines_with
from irkit.ir import F32, LOOP_LEVEL, Const, PrimFunc, Store, parse
from irkit.phases import DEFAULT, trace
from irkit.transform import PassFailed, Phase, Pipeline, Trace, define_pass
from tests.passes.loop.kernels import kernel

KERNELS = ("MATMUL", "SOFTMAX")


@pytest.fixture(scope="module", params=KERNELS)
def texts(request: pytest.FixtureRequest) -> Texts:
    return Texts(Trace(trace(kernel(request.param))))


def test_rows_cost_no_printing(texts: Texts) -> None:
    fresh = Texts(texts.trace)
    rows = Steps(fresh).rows()
    assert len(rows) == len(fresh.trace)
    assert len(fresh.table) == 0


def test_a_row_says_what_its_step_did(texts: Texts) -> None:
    steps = Steps(texts)
    for step, row in zip(texts.trace, steps.rows(seconds=60), strict=True):
        assert isinstance(step.before, PrimFunc)
        assert isinstance(step.after, PrimFunc)
        assert row.status == ("changed" if step.changed else "same")
        assert (row.before, row.after) == (count_nodes(step.before), count_nodes(step.after))
        counted = steps.counted(row.index)
        before, after = step.scripts(texts.trace.names)
        net = after.count("\n") - before.count("\n")
        assert counted.added is not None
        assert counted.removed is not None
        assert counted.added - counted.removed == net
        theirs = [line[0] for line in difflib.ndiff(before.splitlines(), after.splitlines())]
        assert counted.added <= theirs.count("+")
        msgspec.json.encode(counted)


def test_filters_keep_what_they_say(texts: Texts) -> None:
    steps = Steps(texts)
    rows = steps.rows()
    assert steps.rows(Filter(changed=True)) == [row for row in rows if row.status == "changed"]
    assert {row.phase for row in steps.rows(Filter(phase=2))} == {2}
    assert {row.name for row in steps.rows(Filter(name="SIMPL"))} == {"simplify"}
    assert steps.rows(Filter(function="nobody")) == []
    flattened = steps.rows(Filter(touches="view("))
    assert next(row.name for row in flattened) == "flatten-buffers"
    for row in flattened:
        before, after = texts.lines(row.index, "before"), texts.lines(row.index)
        assert [line for line in before if "view(" in line] != [
            line for line in after if "view(" in line
        ]


def test_a_pass_that_failed_is_the_last_row() -> None:
    @define_pass
    def break_it(func: PrimFunc) -> PrimFunc:
        """Raise."""
        raise ValueError("no good")

    broken = DEFAULT.insert(break_it, phase=1)
    done = []
    with pytest.raises(PassFailed) as caught:
        done.extend(broken.steps(kernel("MATMUL")))
    row = Steps(Texts(Trace(done)), caught.value).rows()[-1]
    assert (row.status, row.name, row.phase) == ("failed", "break-it", 1)
    assert "no good" in row.message


def test_blame_names_a_step_whose_text_is_new_there(texts: Texts) -> None:
    blame = Blame(texts)
    for step in texts.trace:
        lines, blamed = texts.lines(step.index), blame.of(step.after).tolist()
        assert len(lines) == len(blamed)
        for line, at in zip(lines, blamed, strict=True):
            assert at <= step.index
            if at != GIVEN:
                was = texts.lines(at, "before")
                assert texts.lines(at).count(line) > 0
                # A line may move to where the same text stood before; else it was not there.
                assert was.count(line) < texts.lines(at).count(line) or line in was
            else:
                assert line in texts.lines(0, "before")


def test_blame_of_a_line_nobody_touched_is_given() -> None:
    texts = Texts(Trace(trace(kernel("MATMUL"))))
    last = texts.trace[len(texts.trace) - 1].after
    assert Blame(texts).of(last)[0] == GIVEN


def test_blame_stays_when_nothing_changes(texts: Texts) -> None:
    blame = Blame(texts)
    for step in texts.trace:
        if not step.changed:
            assert (blame.of(step.before) == blame.of(step.after)).all()


def test_the_pickaxe_counts_as_reading_all_texts_does(texts: Texts) -> None:
    touches = {each.step: each for each in pickaxe(texts, "view(")}
    assert touches
    for step in texts.trace:
        before = sum("view(" in line for line in texts.lines(step.index, "before"))
        after = sum("view(" in line for line in texts.lines(step.index))
        assert (step.index in touches) == (before != after)
        if before != after:
            touch = touches[step.index]
            assert (touch.before, touch.after) == (before, after)
            assert touch.introduced == (before == 0)


def test_the_pickaxe_says_who_removed_a_text() -> None:
    texts = Texts(Trace(trace(kernel("MATMUL"))))
    touches = pickaxe(texts, "with block(")
    names = [texts.trace[touch.step].name if touch.step >= 0 else "" for touch in touches]
    assert (names[0], touches[0].introduced) == ("", True)
    assert (names[-1], touches[-1].removed) == ("lower-blocks", True)
    assert isinstance(touches[-1], Touch)


def test_search_gives_the_lines_that_hold_the_text(texts: Texts) -> None:
    for found in search(texts, "FOR ", case=False):
        side = "before" if found.step == GIVEN else "after"
        lines = texts.lines(max(found.step, 0), side)
        expected = [at + 1 for at, line in enumerate(lines) if "for " in line]
        assert (found.count, list(found.lines)) == (len(expected), expected[:20])


def test_a_regular_expression_finds_what_it_matches(texts: Texts) -> None:
    plain = search(texts, "serial(", at_most=1000)
    assert search(texts, r"serial\(", regex=True, at_most=1000) == plain


def test_a_regular_expression_without_end_is_stopped() -> None:
    table = LineTable()
    table.number(["a" * 200 + "!"])
    with pytest.raises(InputError, match=r"more than 0\.3 s"):
        lines_with(table, r"(a+)+$", regex=True, seconds=0.3)


@pytest.mark.parametrize("pattern", ["(", "a{99999999999}", "[", "(?P<x", "x" * 2000])
def test_what_is_no_regular_expression_is_refused(pattern: str) -> None:
    table = LineTable()
    table.number(["abc"])
    with pytest.raises(InputError):
        lines_with(table, pattern, regex=True)


def test_runs_are_aligned_by_phase_and_pass() -> None:
    func = kernel("MATMUL")
    whole, less = Trace(trace(func)), Trace(trace(func, pipeline=DEFAULT.without("unroll-loops")))
    pairs = align(whole, less)
    alone = [pair for pair in pairs if pair.left is None or pair.right is None]
    assert [whole[pair.left].name for pair in alone if pair.left is not None] == ["unroll-loops"]
    for pair in pairs:
        if pair.left is not None and pair.right is not None:
            assert whole[pair.left].name == less[pair.right].name


ZEROS = """
def f(A: f32[4]):
    for i in serial(0, 4):
        A[i] = f32(0.0)
"""


def test_a_line_that_a_pass_writes_is_blamed_on_it() -> None:
    @define_pass
    def write_ones(func: PrimFunc) -> PrimFunc:
        """Write ones in place of zeros."""
        return rewrite(func, lambda store: store.replace(value=Const(1.0, F32)), on=Store)

    pipeline = Pipeline(LOOP_LEVEL, (Phase(0, "raw", (write_ones,)),))
    steps = Trace(pipeline.steps(parse(ZEROS)))
    assert Blame(Texts(steps)).of(steps[0].after).tolist() == [GIVEN, GIVEN, 0]
