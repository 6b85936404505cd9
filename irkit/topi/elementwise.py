"""Elementwise operators on one tensor. The intrinsic functions come from irkit.te."""

from irkit import ir
from irkit.ir import DType, Expr, Scalar
from irkit.te import Tensor, define_stage, elementwise
from irkit.topi.extents import Dim


def identity(x: Tensor) -> Tensor:
    """Copy a tensor."""
    return elementwise(lambda v: v, x, name="identity")


def negative(x: Tensor) -> Tensor:
    """Return -x, element by element."""
    return elementwise(lambda v: -v, x, name="negative")


def reciprocal(x: Tensor) -> Tensor:
    """Return 1 / x, element by element."""
    return elementwise(lambda v: 1.0 / v, x, name="reciprocal")


def square(x: Tensor) -> Tensor:
    """Return x * x, element by element."""
    return elementwise(lambda v: v * v, x, name="square")


def cast(x: Tensor, dtype: DType | str) -> Tensor:
    """Convert each element to a type; floats to integers truncate and saturate.

    Source: ONNX Cast-13.
    """
    wanted = ir.as_dtype(dtype)
    return elementwise(lambda v: ir.cast(v, wanted), x, name="cast")


def clip(
    x: Tensor, low: Tensor | Scalar | None = None, high: Tensor | Scalar | None = None
) -> Tensor:
    """Limit each element to a range; if the lower bound is above the upper, the upper one wins.

    Source: ONNX Clip-13; numpy.clip.
    """
    operands = [bound for bound in (low, high) if bound is not None]

    def apply(value: Expr, *bounds: Expr) -> Expr:
        left = list(bounds)
        if low is not None:
            value = ir.maximum(value, left.pop(0))
        return value if high is None else ir.minimum(value, left.pop(0))

    return elementwise(apply, x, *operands, name="clip")


def full(shape: tuple[Dim, ...], value: Scalar, dtype: DType | str = "float32") -> Tensor:
    """Make a tensor filled with one value.

    Source: ONNX ConstantOfShape-9.
    """
    from_scalar = ir.const(value, ir.as_dtype(dtype))
    return _filled(shape, from_scalar)


def full_like(x: Tensor, value: Scalar) -> Tensor:
    """Make a tensor of the shape and type of another, filled with one value."""
    return _filled(tuple(x.shape), ir.const(value, x.dtype))


def _filled(shape: tuple[Dim, ...], value: Expr) -> Tensor:
    def at(*_: Expr) -> Expr:
        return value

    return define_stage(shape, at, "full", tag="elementwise")
