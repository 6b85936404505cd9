"""The intrinsic functions of ``Call``: number of arguments, types they accept, and type of result.

Their meaning is in docs/semantics.md. The interpreter, the folder and each emitter must handle
every row; a test names the missing ones.
"""

from typing import Literal

import msgspec

from irkit.ir.dtype import DType
from irkit.ir.expr import Expr

On = Literal["float", "integer", "number", "any", "effect"]


class Intrinsic(msgspec.Struct, frozen=True):
    """An intrinsic function: ``on`` is the kind of types it accepts; ``gives`` is the type of its
    result, that of the arguments or bool."""

    name: str
    arity: int
    on: On
    gives: Literal["same", "bool", "none"] = "same"


_UNARY_FLOAT = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "sigmoid", "tanh",
    "erf",
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh",
    "floor", "ceil", "trunc", "round",
)  # fmt: skip
_ROWS = (
    *(Intrinsic(name, 1, "float") for name in _UNARY_FLOAT),
    Intrinsic("abs", 1, "number"),
    Intrinsic("sign", 1, "number"),
    Intrinsic("isnan", 1, "float", "bool"),
    Intrinsic("isinf", 1, "float", "bool"),
    Intrinsic("isfinite", 1, "float", "bool"),
    Intrinsic("pow", 2, "number"),
    Intrinsic("atan2", 2, "float"),
    Intrinsic("fmod", 2, "float"),
    Intrinsic("truncdiv", 2, "integer"),
    Intrinsic("truncmod", 2, "integer"),
    Intrinsic("popcount", 1, "integer"),
    Intrinsic("fma", 3, "float"),
    Intrinsic("barrier", 0, "effect", "none"),
    Intrinsic("prefetch", 1, "effect", "none"),
)
INTRINSICS: dict[str, Intrinsic] = {row.name: row for row in _ROWS}


class Call(Expr, frozen=True, gc=False):
    """A call of an intrinsic function by name; ``INTRINSICS`` lists them."""

    name: str
    args: tuple[Expr, ...]
    dtype: DType
