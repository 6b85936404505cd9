"""The NumPy evaluator of tensor expressions, against plain NumPy."""

import numpy as np
import pytest

from irkit import te
from irkit.core import IRKitError, ShapeError
from irkit.ir import Expr

RNG = np.random.default_rng(7)


def test_an_elementwise_stage_over_symbolic_extents() -> None:
    m, n = te.var("m"), te.var("n")
    a, b = te.placeholder((m, n), name="A"), te.placeholder((m, n), name="B")
    c = te.compute((m, n), lambda i, j: a[i, j] * b[i, j], name="C")
    x, y = RNG.random((2, 3, 4), np.float32)
    (out,) = te.evaluate([c], {a: x, b: y})
    assert out.dtype == np.float32
    np.testing.assert_array_equal(out, x * y)


def test_a_matrix_product_then_an_addition() -> None:
    a, b = te.placeholder((3, 4), name="A"), te.placeholder((4, 5), name="B")
    k = te.reduce_axis((0, 4), name="k")
    c = te.compute((3, 5), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k))
    x, y = RNG.random((3, 4), np.float32), RNG.random((4, 5), np.float32)
    product, shifted = te.evaluate([c, c + 1.0], {a: x, b: y}, wide=True)
    np.testing.assert_allclose(product, x @ y, rtol=1e-6)
    np.testing.assert_allclose(shifted, x @ y + 1, rtol=1e-6)


def test_a_reduction_may_begin_anywhere_and_skip_points() -> None:
    a = te.placeholder((3, 9), name="A")
    k = te.reduce_axis((2, 7), name="k")
    odd = te.compute((3,), lambda i: te.sum(a[i, k], axis=k, where=te.eq(k % 2, 1)))
    most = te.compute((3,), lambda i: te.max(a[i, k], axis=k, where=te.lt(k, 0)))
    x = RNG.random((3, 9), np.float32)
    total, nothing = te.evaluate([odd, most], {a: x})
    np.testing.assert_allclose(total, x[:, 3:7:2].sum(axis=1), rtol=1e-6)
    np.testing.assert_array_equal(nothing, np.full(3, -np.inf, np.float32))


def test_a_reducer_of_tuples_finds_the_first_largest() -> None:
    argmax = te.comm_reducer(
        lambda x, y: (
            te.select(te.ge(x[1], y[1]), x[0], y[0]),
            te.select(te.ge(x[1], y[1]), x[1], y[1]),
        ),
        lambda index, value: (te.const(-1, index), te.min_value(value)),
        name="argmax",
    )
    a = te.placeholder((4, 6), "int32", name="A")
    k = te.reduce_axis((0, 6), name="k")
    at, largest = te.compute((4,), lambda i: argmax((k, a[i, k]), axis=k), name="arg")
    x = RNG.integers(-4, 4, (4, 6)).astype(np.int32)
    found, values = te.evaluate([at, largest], {a: x})
    np.testing.assert_array_equal(found, x.argmax(axis=1))
    np.testing.assert_array_equal(values, x.max(axis=1))


def test_a_guard_keeps_a_read_within_bounds() -> None:
    a = te.placeholder((4,), name="A")
    padded = te.compute(
        (6,),
        lambda i: te.if_then_else(te.all(te.ge(i, 1), te.lt(i, 5)), a[i - 1], te.const(0.0)),
    )
    x = RNG.random(4, np.float32)
    np.testing.assert_array_equal(te.evaluate([padded], {a: x})[0], np.pad(x, 1))


def test_a_read_out_of_bounds_that_counts_is_an_error() -> None:
    a = te.placeholder((4,), name="A")
    beyond = te.compute((5,), lambda i: a[i], name="beyond")
    both = te.compute((5,), lambda i: te.select(te.lt(i, 4), a[i], te.const(0.0)), name="both")
    for stage in (beyond, both):
        with pytest.raises(IRKitError, match=f"stage '{stage.name}' reads out of bounds"):
            te.evaluate([stage], {a: np.zeros(4, np.float32)})


def test_a_large_stage_is_the_same_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    a = te.placeholder((7, 5), name="A")
    k = te.reduce_axis((0, 5), name="k")
    c = te.compute((7,), lambda i: te.sum(a[i, k] * k.astype("f32"), axis=k))
    x = RNG.random((7, 5), np.float32)
    (whole,) = te.evaluate([c], {a: x})
    monkeypatch.setattr("irkit.te.reference._GRID", 12)
    np.testing.assert_array_equal(te.evaluate([c], {a: x})[0], whole)


def test_a_chain_of_ten_thousand_operations_evaluates() -> None:
    a = te.placeholder((2,), "int32", name="A")

    def deep(i: te.IterVar) -> Expr:
        value = a[i]
        for _ in range(10_000):
            value = value + 1
        return value

    (out,) = te.evaluate([te.compute((2,), deep)], {a: np.array([1, -1], np.int32)})
    np.testing.assert_array_equal(out, [10_001, 9_999])


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (np.nan, "i32", 0),
        (3e9, "i32", 2**31 - 1),
        (-1.0, "u8", 0),
        (-2.9, "i8", -2),
        (127.0, "i8", 127),
    ],
)
def test_floats_become_integers_by_saturating(value: float, dtype: str, expected: int) -> None:
    a = te.placeholder((1,), name="A")
    cast = te.compute((1,), lambda i: a[i].astype(dtype))
    assert te.evaluate([cast], {a: np.array([value], np.float32)})[0].tolist() == [expected]


def test_integer_division_by_zero_gives_zero() -> None:
    a, b = te.placeholder((4,), "int32", "a"), te.placeholder((4,), "int32", "b")
    x, y = np.array([7, -7, 7, -7], np.int32), np.array([2, 2, 0, -2], np.int32)
    results = te.evaluate([a // b, a % b, te.truncdiv(a, b), te.truncmod(a, b)], {a: x, b: y})
    assert [result.tolist() for result in results] == [
        [3, -4, 0, 3],
        [1, 1, 0, -1],
        [3, -3, 0, 3],
        [1, -1, 0, -1],
    ]


def test_arrays_that_do_not_fit_are_named() -> None:
    n = te.var("n")
    a, b = te.placeholder((n,), name="A"), te.placeholder((n,), name="B")
    x = np.zeros(3, np.float32)
    with pytest.raises(ShapeError, match="'B' has 3 along axis 0, found 4"):
        te.evaluate([a + b], {a: x, b: np.zeros(4, np.float32)})
    with pytest.raises(IRKitError, match="no array given for placeholder 'B'"):
        te.evaluate([a + b], {a: x})
    with pytest.raises(IRKitError, match="'A' has type f32, found an array of float64"):
        te.evaluate([a], {a: np.zeros(3)})
    with pytest.raises(IRKitError, match="no value given for variable 'k'"):
        te.evaluate([te.compute((te.var("k"),), lambda i: i)], {})


def test_variables_that_are_no_extent_are_given() -> None:
    k = te.var("k")
    c = te.compute((k * 2,), lambda i: i * k)
    assert te.evaluate([c], {}, {k: 2})[0].tolist() == [0, 2, 4, 6]
