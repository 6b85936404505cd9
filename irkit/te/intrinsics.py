"""Elementwise functions of scalars and tensors, with the names of NumPy and TVM."""

from collections.abc import Callable
from typing import overload

from irkit import ir
from irkit.ir import DType, Expr, ExprLike, Scalar, as_dtype, as_expr
from irkit.te.tensor import Tensor, elementwise


class ElementwiseFunction:
    """Function of one or more scalars, applied to each element of a tensor."""

    def __init__(self, name: str, function: Callable[..., Expr]) -> None:
        self.name = name
        self.function = function
        self.__doc__ = f"Apply {name} to scalars, or to each element of tensors."

    def __repr__(self) -> str:
        return f"te.{self.name}"

    @overload
    def __call__(self, first: Tensor, *rest: Tensor | ExprLike) -> Tensor: ...
    @overload
    def __call__(self, first: ExprLike, *rest: ExprLike) -> Expr: ...
    def __call__(self, first: Tensor | ExprLike, *rest: Tensor | ExprLike) -> Tensor | Expr:
        operands = (first, *rest)
        if any_tensor(operands):
            return elementwise(self.function, *operands, name=self.name)
        return self.function(*operands)


def any_tensor(operands: tuple[Tensor | ExprLike, ...]) -> bool:
    """Return True if any operand is a tensor."""
    return bool([operand for operand in operands if isinstance(operand, Tensor)])


def _intrinsic(name: str) -> ElementwiseFunction:
    return ElementwiseFunction(name, lambda *args: ir.call(name, *args))


exp, exp2, expm1 = _intrinsic("exp"), _intrinsic("exp2"), _intrinsic("expm1")
log, log2, log10, log1p = (_intrinsic(name) for name in ("log", "log2", "log10", "log1p"))
sqrt, rsqrt, sigmoid = _intrinsic("sqrt"), _intrinsic("rsqrt"), _intrinsic("sigmoid")
tanh, erf = _intrinsic("tanh"), _intrinsic("erf")
sin, cos, tan = _intrinsic("sin"), _intrinsic("cos"), _intrinsic("tan")
asin, acos, atan = _intrinsic("asin"), _intrinsic("acos"), _intrinsic("atan")
sinh, cosh = _intrinsic("sinh"), _intrinsic("cosh")
asinh, acosh, atanh = _intrinsic("asinh"), _intrinsic("acosh"), _intrinsic("atanh")
floor, ceil, trunc = _intrinsic("floor"), _intrinsic("ceil"), _intrinsic("trunc")
round, abs, sign = _intrinsic("round"), _intrinsic("abs"), _intrinsic("sign")
isnan, isinf, isfinite = _intrinsic("isnan"), _intrinsic("isinf"), _intrinsic("isfinite")
pow = power = _intrinsic("pow")
atan2, fmod, fma = _intrinsic("atan2"), _intrinsic("fmod"), _intrinsic("fma")
truncdiv, truncmod, popcount = (_intrinsic(name) for name in ("truncdiv", "truncmod", "popcount"))

floordiv, floormod = (
    ElementwiseFunction("floordiv", ir.floordiv),
    ElementwiseFunction("floormod", ir.floormod),
)
minimum, maximum = (
    ElementwiseFunction("minimum", ir.minimum),
    ElementwiseFunction("maximum", ir.maximum),
)
eq, ne = ElementwiseFunction("eq", ir.eq), ElementwiseFunction("ne", ir.ne)
lt, le = ElementwiseFunction("lt", ir.lt), ElementwiseFunction("le", ir.le)
gt, ge = ElementwiseFunction("gt", ir.gt), ElementwiseFunction("ge", ir.ge)
select, if_then_else = (
    ElementwiseFunction("select", ir.select),
    ElementwiseFunction("if_then_else", ir.if_then_else),
)
logical_not = ElementwiseFunction("logical_not", ir.logical_not)


def all(*conditions: ExprLike) -> Expr:
    """Return the conjunction of conditions, evaluated from left to right with short circuit."""
    return ir.logical_and(*conditions)


def any(*conditions: ExprLike) -> Expr:
    """Return the disjunction of conditions, evaluated from left to right with short circuit."""
    return ir.logical_or(*conditions)


def const(value: Scalar, dtype: DType | str | None = None) -> Expr:
    """Make a constant; without a type it is bool, i64 or f32, following the type in Python."""
    return as_expr(value) if dtype is None else ir.const(value, as_dtype(dtype))


@overload
def cast(value: Tensor, dtype: DType | str) -> Tensor: ...
@overload
def cast(value: ExprLike, dtype: DType | str) -> Expr: ...
def cast(value: Tensor | ExprLike, dtype: DType | str) -> Tensor | Expr:
    """Convert a scalar, or each element of a tensor, to a type."""
    return value.astype(dtype) if isinstance(value, Tensor) else ir.cast(value, dtype)
