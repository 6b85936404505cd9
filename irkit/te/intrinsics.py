"""Elementwise functions of scalars and tensors, with the names of NumPy and TVM."""

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import overload

from irkit import ir
from irkit.ir import INTRINSICS, DType, Expr, ExprLike, Scalar
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
    """Make the function of a row of ``INTRINSICS``, with its signature and help.

    Type checkers need a line below for each; a test compares the lines with the rows.
    """
    row = INTRINSICS[name]
    made = ElementwiseFunction(name, lambda *args: ir.call(name, *args))
    params = [Parameter(param, Parameter.POSITIONAL_ONLY) for param in row.params]
    setattr(made, "__signature__", Signature(params))
    kind = "floats or integers" if row.on == "number" else f"{row.on}s"
    made.__doc__ = (
        f"{name}({', '.join(row.params)})\n\nReturn {row.summary}.\n\n"
        f"Takes {kind}, or tensors of them, element by element."
    )
    return made


exp = _intrinsic("exp")
exp2 = _intrinsic("exp2")
expm1 = _intrinsic("expm1")
log = _intrinsic("log")
log2 = _intrinsic("log2")
log10 = _intrinsic("log10")
log1p = _intrinsic("log1p")
sqrt = _intrinsic("sqrt")
rsqrt = _intrinsic("rsqrt")
sigmoid = _intrinsic("sigmoid")
tanh = _intrinsic("tanh")
erf = _intrinsic("erf")
sin = _intrinsic("sin")
cos = _intrinsic("cos")
tan = _intrinsic("tan")
asin = _intrinsic("asin")
acos = _intrinsic("acos")
atan = _intrinsic("atan")
sinh = _intrinsic("sinh")
cosh = _intrinsic("cosh")
asinh = _intrinsic("asinh")
acosh = _intrinsic("acosh")
atanh = _intrinsic("atanh")
floor = _intrinsic("floor")
ceil = _intrinsic("ceil")
trunc = _intrinsic("trunc")
round = _intrinsic("round")
abs = _intrinsic("abs")
sign = _intrinsic("sign")
isnan = _intrinsic("isnan")
isinf = _intrinsic("isinf")
isfinite = _intrinsic("isfinite")
pow = _intrinsic("pow")
atan2 = _intrinsic("atan2")
fmod = _intrinsic("fmod")
truncdiv = _intrinsic("truncdiv")
truncmod = _intrinsic("truncmod")
mul_sat = _intrinsic("mul_sat")
popcount = _intrinsic("popcount")
clz = _intrinsic("clz")
fma = _intrinsic("fma")
muladd = _intrinsic("muladd")
strict_add = _intrinsic("strict_add")
strict_sub = _intrinsic("strict_sub")
strict_mul = _intrinsic("strict_mul")
power = pow

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
    return ir.const(value, dtype)


@overload
def cast(value: Tensor, dtype: DType | str) -> Tensor: ...
@overload
def cast(value: ExprLike, dtype: DType | str) -> Expr: ...
def cast(value: Tensor | ExprLike, dtype: DType | str) -> Tensor | Expr:
    """Convert a scalar, or each element of a tensor, to a type."""
    return value.astype(dtype) if isinstance(value, Tensor) else ir.cast(value, dtype)
