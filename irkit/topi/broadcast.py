"""Operators on several tensors or numbers, with NumPy's broadcasting."""

from functools import reduce
from typing import cast

from irkit import ir
from irkit.core import ShapeError, user_span
from irkit.ir import Expr, ExprLike
from irkit.te import (
    Scalarwise,
    Tensor,
    broadcast_read,
    broadcast_shape,
    define_stage,
    dims_text,
    elementwise,
)
from irkit.topi.extents import Dim

Operand = Tensor | ExprLike


def add(a: Operand, b: Operand) -> Tensor:
    """Add two tensors. Source: ONNX Add-14."""
    return elementwise(lambda x, y: x + y, a, b, name="add")


def subtract(a: Operand, b: Operand) -> Tensor:
    """Subtract two tensors. Source: ONNX Sub-14."""
    return elementwise(lambda x, y: x - y, a, b, name="subtract")


def multiply(a: Operand, b: Operand) -> Tensor:
    """Multiply two tensors. Source: ONNX Mul-14."""
    return elementwise(lambda x, y: x * y, a, b, name="multiply")


def divide(a: Operand, b: Operand) -> Tensor:
    """Divide two tensors; integers truncate, and division by zero gives 0.

    Source: ONNX Div-14.
    """

    def apply(x: Expr, y: Expr) -> Expr:
        x, y = ir.meet(x, y)
        return x / y if x.dtype.is_float else ir.call("truncdiv", x, y)

    return elementwise(apply, a, b, name="divide")


def floor_divide(a: Operand, b: Operand) -> Tensor:
    """Divide two tensors, rounding down."""
    return elementwise(lambda x, y: x // y, a, b, name="floor_divide")


def mod(a: Operand, b: Operand) -> Tensor:
    """Return the remainder, with the sign of the divisor. Source: ONNX Mod-13, fmod = 0."""
    return elementwise(lambda x, y: x % y, a, b, name="mod")


def maximum(a: Operand, b: Operand) -> Tensor:
    """Return the larger of two elements, or NaN if either is NaN. Source: ONNX Max-13."""
    return elementwise(ir.maximum, a, b, name="maximum")


def minimum(a: Operand, b: Operand) -> Tensor:
    """Return the smaller of two elements, or NaN if either is NaN. Source: ONNX Min-13."""
    return elementwise(ir.minimum, a, b, name="minimum")


def power(a: Operand, b: Operand) -> Tensor:
    """Raise ``a`` to a power; the result has the type of ``a``, as in ONNX Pow-15."""

    def apply(x: Expr, y: Expr) -> Expr:
        return ir.cast(ir.call("pow", x, y), x.dtype)

    return elementwise(apply, a, b, name="power")


def equal(a: Operand, b: Operand) -> Tensor:
    """Return a == b, element by element. Source: ONNX Equal-13."""
    return elementwise(ir.eq, a, b, name="equal")


def not_equal(a: Operand, b: Operand) -> Tensor:
    """Return a != b, element by element."""
    return elementwise(ir.ne, a, b, name="not_equal")


def less(a: Operand, b: Operand) -> Tensor:
    """Return a < b, element by element. Source: ONNX Less-13."""
    return elementwise(ir.lt, a, b, name="less")


def less_equal(a: Operand, b: Operand) -> Tensor:
    """Return a <= b, element by element. Source: ONNX LessOrEqual-16."""
    return elementwise(ir.le, a, b, name="less_equal")


def greater(a: Operand, b: Operand) -> Tensor:
    """Return a > b, element by element. Source: ONNX Greater-13."""
    return elementwise(ir.gt, a, b, name="greater")


def greater_equal(a: Operand, b: Operand) -> Tensor:
    """Return a >= b, element by element. Source: ONNX GreaterOrEqual-16."""
    return elementwise(ir.ge, a, b, name="greater_equal")


def logical_and(a: Operand, b: Operand) -> Tensor:
    """Return a and b, element by element. Source: ONNX And-7."""
    return elementwise(lambda x, y: x & y, a, b, name="logical_and")


def logical_or(a: Operand, b: Operand) -> Tensor:
    """Return a or b, element by element. Source: ONNX Or-7."""
    return elementwise(lambda x, y: x | y, a, b, name="logical_or")


def logical_not(x: Tensor) -> Tensor:
    """Return not x, element by element. Source: ONNX Not-1."""
    return elementwise(ir.logical_not, x, name="logical_not")


def where(condition: Tensor, then: Operand, otherwise: Operand) -> Tensor:
    """Choose between two tensors, element by element. Source: ONNX Where-16."""
    return elementwise(ir.select, condition, then, otherwise, name="where")


def add_all(*operands: Tensor) -> Tensor:
    """Add any number of tensors, from left to right. Source: ONNX Sum-13."""

    def apply(*values: Expr) -> Expr:
        return reduce(lambda x, y: x + y, values)

    return elementwise(cast(Scalarwise, apply), *operands, name="add_all")


def broadcast_to(x: Tensor, shape: tuple[Dim, ...]) -> Tensor:
    """Repeat a tensor along axes of extent 1, or new ones on the left, to fill a shape.

    Raises: ShapeError if it does not broadcast to that shape.
    Source: numpy.broadcast_to; ONNX Expand-13.
    """
    target = tuple(ir.index(dim) for dim in shape)
    if len(target) < x.ndim or broadcast_shape([target, x.shape], "broadcast_to") != target:
        raise ShapeError(
            f"broadcast_to: {x.name!r} of shape {dims_text(x.shape)} does not broadcast to "
            f"{dims_text(target)}",
            span=user_span("broadcast_to"),
        )

    def at(*i: Expr) -> Expr:
        return broadcast_read(x, target, i)

    return define_stage(target, at, "broadcast_to", tag="broadcast")
