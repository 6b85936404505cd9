"""The list of passes, compared with the printed texts."""

import difflib

import msgspec
import pytest

from irkit.core import count_nodes
from irkit.inspector_web import Steps, Texts
from irkit.inspector_web.runs.steps import Filter
from irkit.ir import PrimFunc
from irkit.phases import DEFAULT
from irkit.transform import PassFailed, Trace, define_pass
from tests.passes.loop.kernels import kernel


def test_rows_need_no_printing(texts: Texts) -> None:
    fresh = Texts(texts.trace)
    rows = Steps(fresh).rows()
    assert len(rows) == len(fresh.trace)
    assert len(fresh.table) == 0


def test_a_row_tells_what_its_step_did(texts: Texts) -> None:
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


def test_filters_keep_matching_rows(texts: Texts) -> None:
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
