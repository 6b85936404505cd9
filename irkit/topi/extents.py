"""Arithmetic on extents: Python ints where they are known, expressions where they are not."""

from collections.abc import Sequence
from typing import Union

from irkit import ir
from irkit.core import ShapeError, user_span
from irkit.ir import F32, DType, Expr, as_int
from irkit.te import Tensor, dims_text

Dim = Union[int, Expr]


def known(value: Dim) -> Dim:
    """Return a constant expression as an int, and others unchanged."""
    number = as_int(value)
    return value if number is None else number


def extents(tensor: Tensor) -> tuple[Dim, ...]:
    """List the extents of a tensor."""
    return tuple(known(dim) for dim in tensor.shape)


def count(dims: Sequence[Dim]) -> Dim:
    """Return the product of extents; one that i64 does not hold is the largest i64."""
    return known(ir.element_count(dims))


def plus(a: Dim, b: Dim) -> Dim:
    if a == 0 or b == 0:
        return b if a == 0 else a
    if isinstance(a, Expr) and isinstance(b, int) and b < 0:
        return a - (-b)
    return a + b


def minus(a: Dim, b: Dim) -> Dim:
    return a if b == 0 else plus(a, -b) if isinstance(b, int) else a - b


def times(a: Dim, b: Dim) -> Dim:
    if a == 1 or b == 1:
        return b if a == 1 else a
    return a * b


def smaller(a: Dim, b: Dim) -> Dim:
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else ir.minimum(a, b)


def larger(a: Dim, b: Dim) -> Dim:
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else ir.maximum(a, b)


def ceil_divide(a: Dim, b: int) -> Dim:
    return a if b == 1 else plus(a, b - 1) // b


def axis_of(axis: int, rank: int, what: str) -> int:
    """Return an axis counted from the left; negative axes count from the right.

    Raises: ShapeError if there is no such axis.
    """
    if not -rank <= axis < rank:
        raise ShapeError(
            f"{what}: axis {axis} does not exist; the tensor has {rank} axes", span=user_span(what)
        )
    return axis % rank


def axes_of(axes: int | Sequence[int] | None, rank: int, what: str) -> tuple[int, ...]:
    """Return axes counted from the left; None means all of them.

    Raises: ShapeError if there is no such axis, or one is named twice.
    """
    if axes is None:
        return tuple(range(rank))
    given = (axes,) if isinstance(axes, int) else tuple(axes)
    found = tuple(axis_of(axis, rank, what) for axis in given)
    if len(set(found)) != len(found):
        raise ShapeError(
            f"{what}: axes {given} name an axis twice", span=user_span(what.partition(":")[0])
        )
    return found


def check_rank(tensor: Tensor, rank: int, what: str, at_least: bool = False) -> None:
    """Check that a tensor has ``rank`` axes.

    Raises: ShapeError naming the tensor.
    """
    if tensor.ndim < rank or (tensor.ndim > rank and not at_least):
        wanted = f"at least {rank}" if at_least else str(rank)
        raise ShapeError(
            f"{what}: {tensor.name!r} of shape {dims_text(tensor.shape)} must have {wanted} axes",
            span=user_span(what),
        )


def check_equal(a: Dim, b: Dim, what: str) -> None:
    """Check that two extents are the same number or expression.

    Raises: ShapeError with ``what`` as message, which begins with the name of the operator.
    """
    if a is not b and a != b and not ir.equal_sums(ir.index(a), ir.index(b)):
        texts = [dims_text((ir.index(dim),))[1:-1] for dim in (a, b)]
        raise ShapeError(
            f"{what}: {texts[0]} != {texts[1]}", span=user_span(what.partition(":")[0])
        )


def accumulator(dtype: DType) -> DType:
    """Return the type in which sums of ``dtype`` accumulate: f32 for 16-bit floats."""
    return F32 if dtype.is_float and dtype.bits == 16 else dtype
