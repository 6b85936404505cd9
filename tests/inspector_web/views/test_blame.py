"""Blame, compared with the printed texts."""

from irkit.core import rewrite
from irkit.inspector_web import Blame, Texts
from irkit.inspector_web.text.texts import GIVEN
from irkit.ir import F32, LOOP_LEVEL, Const, PrimFunc, Store, parse
from irkit.phases import trace
from irkit.transform import Phase, Pipeline, Trace, define_pass
from tests.passes.loop.kernels import kernel


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


def test_an_unchanged_line_is_blamed_on_the_start() -> None:
    texts = Texts(Trace(trace(kernel("MATMUL"))))
    last = texts.trace[len(texts.trace) - 1].after
    assert Blame(texts).of(last)[0] == GIVEN


def test_blame_stays_when_nothing_changes(texts: Texts) -> None:
    blame = Blame(texts)
    for step in texts.trace:
        if not step.changed:
            assert (blame.of(step.before) == blame.of(step.after)).all()


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
