"""Writing tensor expressions: what is accepted, what it gives, and which mistakes are named."""

import builtins

import pytest

from irkit import te
from irkit.core import DTypeError, IRKitError, ShapeError
from irkit.ir import BOOL, F32, F64, I32, I64, Add, Cast, Const, Mul, as_int


def matrix(rows: object = 4, columns: object = 5, name: str = "A") -> te.Tensor:
    """Make a placeholder with two axes."""
    return te.placeholder((rows, columns), name=name)  # pyright: ignore[reportArgumentType] -- a size of any type


def test_a_placeholder_holds_float32_unless_told_otherwise() -> None:
    a = te.placeholder((4, te.var("n")), name="A")
    assert (a.dtype, a.ndim, a.name, as_int(a.shape[0])) == (F32, 2, "A", 4)
    assert te.placeholder((2,), "int32").dtype == I32


def test_axes_take_their_names_from_the_function() -> None:
    a = matrix()
    c = te.compute((4, 5), lambda row, column: a[row, column], name="C")
    assert [axis.name for axis in c.op.axis] == ["row", "column"]
    d = te.compute((4, 5), lambda *i: a(*i) + 1.0)
    assert [axis.name for axis in d.op.axis] == ["ax0", "ax1"]


def test_the_call_form_and_the_index_form_read_the_same_element() -> None:
    a = matrix()
    i, j = te.var("i"), te.var("j")
    assert a(i, j) == a[i, j]


def test_a_function_that_returns_a_tuple_gives_a_tensor_for_each() -> None:
    a = matrix()
    twice, rounded = te.compute((4, 5), lambda i, j: (a[i, j] * 2.0, a[i, j].astype("i32")), "two")
    assert twice.op is rounded.op
    assert (twice.name, rounded.name) == ("two_0", "two_1")
    assert (twice.dtype, rounded.dtype) == (F32, I32)
    assert twice.op.output(1) is rounded


def test_a_tensor_without_axes_stands_for_its_element() -> None:
    a, s = matrix(), te.placeholder((), name="s")
    c = te.compute((4, 5), lambda i, j: a[i, j] * s)
    assert c.op.input_tensors == (a, s)
    assert te.compute((), lambda: s() + 1.0).ndim == 0


def test_a_stage_remembers_the_line_that_made_it() -> None:
    a = te.placeholder((4, 5), name="A")
    c = te.compute((4, 5), lambda i, j: a[i, j], name="C")
    d = a + 1.0
    for tensor, name in ((a, "A"), (c, "C"), (d, "add")):
        span = tensor.op.span
        assert span is not None
        assert (span.kind, span.name) == ("te", name)
        assert span.file == __file__
        assert span.line > 1


def test_a_reduction_knows_its_axes_and_inputs() -> None:
    a, b = matrix(4, 8, "A"), matrix(8, 5, "B")
    k = te.reduce_axis((0, 8), name="k")
    c = te.compute((4, 5), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    assert c.op.reduce_axis == (k,)
    assert c.op.input_tensors == (a, b)
    assert isinstance(c.op.body[0], te.Reduce)
    assert isinstance(c.op.body[0].sources[0], Mul)
    assert builtins.sum([1, 2]) == 3


def test_arithmetic_on_tensors_broadcasts() -> None:
    a, row = matrix(4, 5), te.placeholder((5,), name="row")
    total = 2.0 * a + row - 1
    assert [as_int(dim) for dim in total.shape] == [4, 5]
    assert (a + row).op.tag == "broadcast"
    assert (a * 2.0).op.tag == "elementwise"
    assert (a * 2.0).dtype == F32


def test_an_axis_is_a_variable_that_takes_part_in_arithmetic() -> None:
    k = te.reduce_axis((2, 8), name="k")
    assert isinstance(k * 2 + 1, Add)
    assert k.var is k
    assert as_int(k.dom.extent) == 6


def test_indices_of_other_integer_types_become_i64() -> None:
    a, at = te.placeholder((9,), name="a"), te.placeholder((3,), "int32", name="at")
    c = te.compute((3,), lambda i: a[at[i]])
    read = c.op.body[0]
    assert isinstance(read, te.TensorRead)
    assert isinstance(read.indices[0], Cast)
    assert read.indices[0].dtype == I64


def test_constants_have_the_type_asked_for() -> None:
    assert te.const(1) == Const(1, I64)
    assert te.const(1, "float64") == Const(1.0, F64)
    assert te.const(True) == Const(True, BOOL)
    assert te.min_value("int8") == te.const(-128, "int8")
    assert te.max_value("float16") == te.const(65504.0, "float16")


def test_a_wrong_number_of_indices_names_the_tensor() -> None:
    a = matrix()
    with pytest.raises(ShapeError, match=r"'A' of shape \[4, 5\] takes 2 indices, found 1"):
        _ = a[te.var("i")]


def test_a_float_index_names_the_tensor_and_the_axis() -> None:
    a = matrix()
    with pytest.raises(DTypeError, match="index 1 of tensor 'A' must be an integer, found f32"):
        _ = a[0, 1.5]


def test_a_negative_extent_names_the_tensor_and_the_axis() -> None:
    with pytest.raises(ShapeError, match="axis 1 of tensor 'A' is -1"):
        matrix(3, -1)
    with pytest.raises(DTypeError, match="axis 0 of tensor 'A' must be an integer, found f32"):
        matrix(2.5)


def test_a_function_of_the_wrong_arity_names_the_stage() -> None:
    with pytest.raises(ShapeError, match="stage 'C' has 1 axes; its function takes 2 indices"):
        te.compute((3,), lambda i, j: i + j, name="C")


def test_shapes_that_do_not_broadcast_name_the_axis() -> None:
    with pytest.raises(ShapeError, match="add: axis -1 is 5 in one operand and 4 in another"):
        _ = matrix(3, 5) + matrix(3, 4)
    n, m = te.var("n"), te.var("m")
    with pytest.raises(ShapeError, match="axis -2 is n in one operand and m in another"):
        _ = matrix(n) * matrix(m)


def test_a_reduction_inside_an_expression_is_refused() -> None:
    a, k = matrix(), te.reduce_axis((0, 5), name="k")
    with pytest.raises(IRKitError, match="stage 'C' uses a reduction inside an expression"):
        te.compute((4,), lambda i: te.sum(a[i, k], axis=k) * 2.0, name="C")
    with pytest.raises(IRKitError, match="sum cannot hold another reduction"):
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
