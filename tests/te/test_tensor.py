"""Tensors: reads, arithmetic and errors."""

import pytest

from irkit import te
from irkit.core import DTypeError, ShapeError
from irkit.ir import BOOL, F32, F64, I32, I64, Add, Cast, Const, as_int
from tests.te.programs import matrix


def test_a_placeholder_holds_float32_unless_told_otherwise() -> None:
    a = te.placeholder((4, te.var("n")), name="A")
    assert (a.dtype, a.ndim, a.name, as_int(a.shape[0])) == (F32, 2, "A", 4)
    assert te.placeholder((2,), "int32").dtype == I32


def test_the_call_form_and_the_index_form_read_the_same_element() -> None:
    a = matrix()
    i, j = te.var("i"), te.var("j")
    assert a(i, j) == a[i, j]


def test_a_tensor_without_axes_stands_for_its_element() -> None:
    a, s = matrix(), te.placeholder((), name="s")
    c = te.compute((4, 5), lambda i, j: a[i, j] * s)
    assert c.op.input_tensors == (a, s)
    assert te.compute((), lambda: s() + 1.0).ndim == 0


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


def test_shapes_that_do_not_broadcast_name_the_axis() -> None:
    with pytest.raises(ShapeError, match="add: axis -1 is 5 in one operand and 4 in another"):
        _ = matrix(3, 5) + matrix(3, 4)
    n, m = te.var("n"), te.var("m")
    with pytest.raises(ShapeError, match="axis -2 is n in one operand and m in another"):
        _ = matrix(n) * matrix(m)
