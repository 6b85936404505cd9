"""Stages: accepted functions of axes, names and spans."""

import pytest

from irkit import te
from irkit.core import ShapeError
from irkit.ir import F32, I32
from tests.te.programs import matrix


def test_axes_take_their_names_from_the_function() -> None:
    a = matrix()
    c = te.compute((4, 5), lambda row, column: a[row, column], name="C")
    assert [axis.name for axis in c.op.axis] == ["row", "column"]
    d = te.compute((4, 5), lambda *i: a(*i) + 1.0)
    assert [axis.name for axis in d.op.axis] == ["ax0", "ax1"]


def test_a_function_that_returns_a_tuple_gives_a_tensor_for_each() -> None:
    a = matrix()
    twice, rounded = te.compute((4, 5), lambda i, j: (a[i, j] * 2.0, a[i, j].astype("i32")), "two")
    assert twice.op is rounded.op
    assert (twice.name, rounded.name) == ("two_0", "two_1")
    assert (twice.dtype, rounded.dtype) == (F32, I32)
    assert twice.op.output(1) is rounded


def test_the_span_of_a_stage_is_the_line_that_made_it() -> None:
    a = te.placeholder((4, 5), name="A")
    c = te.compute((4, 5), lambda i, j: a[i, j], name="C")
    d = a + 1.0
    for tensor, name in ((a, "A"), (c, "C"), (d, "add")):
        span = tensor.op.span
        assert span is not None
        assert (span.kind, span.name) == ("te", name)
        assert span.file == __file__
        assert span.line > 1


def test_a_function_of_the_wrong_arity_names_the_stage() -> None:
    with pytest.raises(ShapeError, match="stage 'C' has 1 axes; its function takes 2 indices"):
        te.compute((3,), lambda i, j: i + j, name="C")
