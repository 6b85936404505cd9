"""Reductions: axes, reducers and errors."""

import builtins

import pytest

from irkit import te
from irkit.core import DTypeError, IRKitError
from irkit.ir import Mul
from tests.te.programs import matrix


def test_a_reduction_knows_its_axes_and_inputs() -> None:
    a, b = matrix(4, 8, "A"), matrix(8, 5, "B")
    k = te.reduce_axis((0, 8), name="k")
    c = te.compute((4, 5), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    assert c.op.reduce_axis == (k,)
    assert c.op.input_tensors == (a, b)
    assert isinstance(c.op.body[0], te.Reduce)
    assert isinstance(c.op.body[0].sources[0], Mul)
    assert builtins.sum([1, 2]) == 3


def test_a_reduction_inside_an_expression_is_refused() -> None:
    a, k = matrix(), te.reduce_axis((0, 5), name="k")
    with pytest.raises(IRKitError, match="stage 'C' uses a reduction inside an expression"):
        te.compute((4,), lambda i: te.sum(a[i, k], axis=k) * 2.0, name="C")
    with pytest.raises(IRKitError, match="sum cannot contain another reduction"):
        te.sum(te.sum(a[0, k], axis=k), axis=k)


def test_a_reduce_axis_outside_a_reduction_is_refused() -> None:
    a, k = matrix(), te.reduce_axis((0, 5), name="k")
    with pytest.raises(IRKitError, match="stage 'C' uses reduce axis 'k'"):
        te.compute((4,), lambda i: a[i, k], name="C")
    with pytest.raises(IRKitError, match="only run over reduce axes, found 'i'"):
        te.compute((4,), lambda i: te.sum(a[i, 0], axis=i), name="C")


def test_outputs_that_are_not_one_reduction_are_refused() -> None:
    a, k = matrix(), te.reduce_axis((0, 5), name="k")
    with pytest.raises(IRKitError, match="not the values, in order, of one reduction"):
        te.compute((4,), lambda i: (te.sum(a[i, k], axis=k), te.max(a[i, k], axis=k)))


def test_a_reducer_whose_values_do_not_fit_is_refused() -> None:
    a, k = matrix(), te.reduce_axis((0, 5), name="k")
    both = te.comm_reducer(lambda x, y: x[0], lambda t, u: (0, 0), name="both")
    with pytest.raises(IRKitError, match="'both' combines to 1 values; it is used on 2"):
        both((a[0, k], a[1, k]), axis=k)
    wide = te.comm_reducer(lambda x, y: x + y, lambda t: te.const(0, "f64"), name="wide")
    with pytest.raises(DTypeError, match="'wide' has as identity f64; the values are f32"):
        wide(a[0, k], axis=k)
    one = te.comm_reducer(lambda x, y: x, lambda t: te.const(0, t), name="one")
    with pytest.raises(IRKitError, match="identity of reducer 'one' does not take the types of 2"):
        one((a[0, k], a[1, k]), axis=k)
