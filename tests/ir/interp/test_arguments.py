"""What the interpreter checks before a call runs."""

import numpy as np
import pytest

from irkit.core import DTypeError, IRKitError, ShapeError
from irkit.ir import (
    BF16,
    BOOL,
    F32,
    I64,
    U8,
    Buffer,
    Const,
    For,
    PrimFunc,
    Seq,
    Store,
    Var,
    from_numpy,
    index,
    interpret,
    numpy_dtype,
)


def scale() -> PrimFunc:
    """Return ``B[i, j] = A[i, j] * s`` over symbolic m and n."""
    m, n, s, i, j = Var("m"), Var("n"), Var("s", F32), Var("i"), Var("j")
    a, b = Buffer("A", (m, n), F32), Buffer("B", (m, n), F32)
    body = For(j, index(0), n, Store(b, (i, j), a[i, j] * s))
    return PrimFunc("scale", (a, s, b), For(i, index(0), m, body))


def ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


def test_shapes_are_bound_from_the_arguments() -> None:
    for shape in [(2, 3), (1, 1), (0, 4)]:
        out = np.zeros(shape, np.float32)
        interpret(scale(), ones(*shape), 2.5, out)
        np.testing.assert_array_equal(out, 2.5 * ones(*shape))


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((ones(2, 3), 1.0), r"scale takes 3 arguments \(A, s, B\), found 2"),
        (([[1.0]], 1.0, ones(1, 1)), r"argument 1 \('A'\) of scale must be a NumPy array"),
        ((ones(2, 3).astype("f8"), 1.0, ones(2, 3)), "must hold float32, found float64"),
        ((ones(2), 1.0, ones(2, 3)), r"must have 2 dimensions, found shape \(2,\)"),
        (
            (ones(2, 3), 1.0, ones(2, 4)),
            r"dimension 1 of argument 3 \('B'\) of scale must be 3 = n, from dimension 1 of arg",
        ),
        ((ones(3, 2).T, 1.0, ones(2, 3)), "must be contiguous in row-major order"),
        ((ones(2, 3), "x", ones(2, 3)), "must be a number that f32 holds, found 'x'"),
        ((ones(2, 3), True, ones(2, 3)), "must be a number that f32 holds, found True"),
    ],
)
def test_an_argument_that_does_not_fit_is_named(args: tuple, message: str) -> None:
    with pytest.raises(IRKitError, match=message):
        interpret(scale(), *args)


def test_errors_are_type_and_value_errors_too() -> None:
    with pytest.raises(TypeError):
        interpret(scale(), ones(2, 3).astype("i4"), 1.0, ones(2, 3))
    with pytest.raises(ValueError, match="must be 3"):
        interpret(scale(), ones(2, 3), 1.0, ones(2, 4))


def test_an_output_must_be_writable_and_apart_from_the_inputs() -> None:
    locked = ones(2, 3)
    locked.flags.writeable = False
    interpret(scale(), locked, 1.0, ones(2, 3))
    with pytest.raises(ShapeError, match="is written by the function, but is read-only"):
        interpret(scale(), ones(2, 3), 1.0, locked)
    same = ones(2, 3)
    with pytest.raises(ShapeError, match=r"'B'\) of scale is written and overlaps argument 1"):
        interpret(scale(), same, 1.0, same)


def test_a_size_that_is_an_expression_is_checked_when_all_is_bound() -> None:
    n = Var("n")
    a, b = Buffer("A", (n * 2,), F32), Buffer("B", (n,), F32)
    func = PrimFunc("f", (a, b), Store(b, (index(0),), a[1]))
    interpret(func, ones(6), ones(3))
    with pytest.raises(
        ShapeError, match=r"dimension 0 of argument 1 \('A'\) of f must be 6; found 5"
    ):
        interpret(func, ones(5), ones(3))


def test_declared_strides_are_bound_and_followed() -> None:
    m, n, s, i = Var("m"), Var("n"), Var("s"), Var("i")
    a = Buffer("A", (m, n), F32, strides=(s, Const(1, I64)))
    b = Buffer("B", (m,), F32)
    func = PrimFunc("column", (a, b), For(i, index(0), m, Store(b, (i,), a[i, 1])))
    whole = np.arange(20, dtype=np.float32).reshape(4, 5)
    out = np.zeros(3, np.float32)
    interpret(func, whole[1:, :3], out)
    np.testing.assert_array_equal(out, whole[1:, 1])
    with pytest.raises(ShapeError, match="stride 1 of argument 1"):
        interpret(func, whole.T[:3], out)


def test_scalars_must_lie_in_the_range_of_their_type() -> None:
    x, p = Var("x", U8), Var("p", BOOL)
    func = PrimFunc("f", (x, p), For(Var("i"), index(0), index(0), Seq(())))
    interpret(func, 255, True)
    interpret(func, np.uint8(3), np.bool_(False))
    for bad in [(256, True), (-1, True), (1.0, True), (1, 1)]:
        with pytest.raises(DTypeError, match="must be a number that"):
            interpret(func, *bad)


def test_numpy_types_convert_there_and_back() -> None:
    for dtype in (BOOL, U8, I64, F32, BF16):
        assert from_numpy(numpy_dtype(dtype)) == dtype
    assert numpy_dtype(F32.with_lanes(4)) == np.float32
    for odd in (np.complex64, ">f4", "U3", object):
        with pytest.raises(DTypeError, match="the loop IR has no type like"):
            from_numpy(np.dtype(odd))
