"""Expressions of the loop IR: frozen values with structural equality, each with a type.

This file defines what can be computed, ``stmt.py`` what can be done. Build expressions with the
operators ``+ - * / // % & | ^ << >>`` of :class:`Expr` and the functions of ``build.py``, which
infer the type. ``==`` compares structure; ``eq`` and ``lt``, and in a trace ``==``, build.
"""

import struct
from typing import TYPE_CHECKING, ClassVar, Union

from msgspec.structs import force_setattr

from irkit.core import COLLECTED, DTypeError, Node
from irkit.ir.dtype import BOOL, F32, I64, DType, as_dtype, as_number, common
from irkit.ir.operators import OPERATORS, Operator
from irkit.ir.tracing.refused_operators import RefusedOperators, bool_error
from irkit.ir.tracing.traces import TRACES, Symbolic, marks_here, traced

Scalar = Union[int, float, bool]
ExprLike = Union["Expr", int, float, bool]
_PLAIN = frozenset({int, float, bool})


class _Typed:
    # A mixin, not a struct, so that each class can declare its own ``dtype`` as its last field.
    __slots__: tuple[str, ...] = ()
    expression: ClassVar[bool] = True
    if TYPE_CHECKING:
        dtype: DType  # pyright: ignore[reportUninitializedInstanceVariable]


class Expr(RefusedOperators, _Typed, Node, frozen=True, gc=COLLECTED):
    """Base class of expressions; every subclass has a field ``dtype``."""

    def __add__(self, other: ExprLike) -> "Expr":
        return binary(Add, self, other)

    def __radd__(self, other: ExprLike) -> "Expr":
        return binary(Add, other, self)

    def __sub__(self, other: ExprLike) -> "Expr":
        return binary(Sub, self, other)

    def __rsub__(self, other: ExprLike) -> "Expr":
        return binary(Sub, other, self)

    def __mul__(self, other: ExprLike) -> "Expr":
        return binary(Mul, self, other)

    def __rmul__(self, other: ExprLike) -> "Expr":
        return binary(Mul, other, self)

    def __truediv__(self, other: ExprLike) -> "Expr":
        return binary(Div, self, other)

    def __rtruediv__(self, other: ExprLike) -> "Expr":
        return binary(Div, other, self)

    def __floordiv__(self, other: ExprLike) -> "Expr":
        return binary(FloorDiv, self, other)

    def __rfloordiv__(self, other: ExprLike) -> "Expr":
        return binary(FloorDiv, other, self)

    def __mod__(self, other: ExprLike) -> "Expr":
        return binary(FloorMod, self, other)

    def __rmod__(self, other: ExprLike) -> "Expr":
        return binary(FloorMod, other, self)

    def __and__(self, other: ExprLike) -> "Expr":
        return binary(BitAnd, self, other)

    def __or__(self, other: ExprLike) -> "Expr":
        return binary(BitOr, self, other)

    def __xor__(self, other: ExprLike) -> "Expr":
        return binary(BitXor, self, other)

    def __lshift__(self, other: ExprLike) -> "Expr":
        return binary(Shl, self, other)

    def __rshift__(self, other: ExprLike) -> "Expr":
        return binary(Shr, self, other)

    def __neg__(self) -> "Expr":
        return traced(Neg(self, self.dtype))

    def astype(self, dtype: DType | str) -> "Expr":
        """Convert to a type, with the lanes of the value."""
        return traced(convert(self, as_dtype(dtype).with_lanes(self.dtype.lanes)))


class Var(Symbolic, Expr, frozen=True, gc=False, eq=False):
    """A variable with identity; its name is for people. It is bound once: by a loop, a let, a
    block, or a parameter."""

    symbol: ClassVar[bool] = True
    name: str
    dtype: DType = I64

    def __post_init__(self) -> None:
        if isinstance(self.dtype, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- a name will do
            force_setattr(self, "dtype", as_dtype(self.dtype))

    def copy(self, name: str | None = None) -> "Var":
        """Return another variable of the same type."""
        return Var(self.name if name is None else name, self.dtype)


class Const(Expr, frozen=True, gc=False, eq=False):
    """A scalar constant. Floats compare by bits (0.0 is not -0.0, NaN is NaN); 1 is not True."""

    value: Scalar
    dtype: DType

    def __eq__(self, other: object) -> bool:
        if TRACES and (marks := marks_here()) is not None:
            return marks.compare("eq", self, other)
        if not isinstance(other, Const) or self.dtype != other.dtype:
            return False
        a, b = self.value, other.value
        if isinstance(a, float):
            return isinstance(b, float) and struct.pack("<d", a) == struct.pack("<d", b)
        return a.__class__ is b.__class__ and a == b

    def __ne__(self, other: object) -> bool:
        if TRACES and (marks := marks_here()) is not None:
            return marks.compare("ne", self, other)
        return not self == other  # The __ne__ of Struct would compare by identity.

    def __hash__(self) -> int:
        return hash((self._key(), self.dtype))

    def _key(self) -> object:
        value = self.value
        return struct.pack("<d", value) if isinstance(value, float) else (type(value), value)


class Binary(Expr, frozen=True):
    """Base class of operations on two operands of one type; ``sign`` is the printed operator."""

    sign: ClassVar[str] = ""
    a: Expr
    b: Expr
    dtype: DType


class Add(Binary, frozen=True):
    """Sum; integers wrap around."""

    sign: ClassVar[str] = "+"


class Sub(Binary, frozen=True):
    """Difference; integers wrap around."""

    sign: ClassVar[str] = "-"


class Mul(Binary, frozen=True):
    """Product; integers wrap around."""

    sign: ClassVar[str] = "*"


class Div(Binary, frozen=True):
    """Quotient of floats (IEEE 754). Integers have FloorDiv, and the intrinsic ``truncdiv``."""

    sign: ClassVar[str] = "/"


class FloorDiv(Binary, frozen=True):
    """Quotient rounded towards minus infinity; of integers, a zero divisor gives 0
    (docs/semantics.md)."""

    sign: ClassVar[str] = "//"


class FloorMod(Binary, frozen=True):
    """Remainder with the sign of the divisor; of integers, a zero divisor gives 0."""

    sign: ClassVar[str] = "%"


class BitAnd(Binary, frozen=True):
    """Bitwise and of integers, or logical and of bools that evaluates both sides."""

    sign: ClassVar[str] = "&"


class BitOr(Binary, frozen=True):
    """Bitwise or of integers, or logical or of bools that evaluates both sides."""

    sign: ClassVar[str] = "|"


class BitXor(Binary, frozen=True):
    """Bitwise exclusive or of integers or bools."""

    sign: ClassVar[str] = "^"


class Shl(Binary, frozen=True):
    """Shift left; by the width or more, or by less than 0, gives 0."""

    sign: ClassVar[str] = "<<"


class Shr(Binary, frozen=True):
    """Shift right, arithmetic for signed types; by the width or more or by less than 0: 0 or -1."""

    sign: ClassVar[str] = ">>"


class Min(Binary, frozen=True):
    """The smaller; a NaN on either side gives NaN, as numpy.minimum does."""

    sign: ClassVar[str] = "min"


class Max(Binary, frozen=True):
    """The larger; a NaN on either side gives NaN, as numpy.maximum does."""

    sign: ClassVar[str] = "max"


class Compare(Binary, frozen=True):
    """Base class of comparisons; the type is bool with the operands' lanes."""


class EQ(Compare, frozen=True):
    """Equal; false if either is NaN."""

    sign: ClassVar[str] = "=="


class NE(Compare, frozen=True):
    """Not equal; true if either is NaN."""

    sign: ClassVar[str] = "!="


class LT(Compare, frozen=True):
    """Less than; false if either is NaN."""

    sign: ClassVar[str] = "<"


class LE(Compare, frozen=True):
    """Less or equal; false if either is NaN."""

    sign: ClassVar[str] = "<="


class GT(Compare, frozen=True):
    """Greater than; false if either is NaN."""

    sign: ClassVar[str] = ">"


class GE(Compare, frozen=True):
    """Greater or equal; false if either is NaN."""

    sign: ClassVar[str] = ">="


class And(Binary, frozen=True):
    """Logical and; the right side is evaluated only where the left is true."""

    sign: ClassVar[str] = "and"


class Or(Binary, frozen=True):
    """Logical or; the right side is evaluated only where the left is false."""

    sign: ClassVar[str] = "or"


OPERATIONS: dict[type[Binary], Operator] = {
    cls: OPERATORS[cls.sign]
    for base in (Binary, Compare)
    for cls in base.__subclasses__()
    if cls is not Compare
}
"""The operations on two operands, by class."""


class Not(Expr, frozen=True):
    """Logical not of a bool, bitwise not of an integer."""

    a: Expr
    dtype: DType


class Neg(Expr, frozen=True):
    """Negation: flips the sign of floats (also of 0.0 and NaN); integers wrap around."""

    a: Expr
    dtype: DType


class Cast(Expr, frozen=True):
    """Conversion to ``dtype``; out-of-range floats saturate and NaN gives 0 (docs/semantics.md)."""

    value: Expr
    dtype: DType


class Broadcast(Expr, frozen=True):
    """The vector of ``dtype.lanes`` equal values."""

    value: Expr
    dtype: DType


def const(value: Scalar, dtype: DType | str | None = None) -> Expr:
    """Return a constant of a type (else bool, i64 or f32), or its broadcast if that has lanes.

    Raises: DTypeError if the value is a fraction, or out of range, for an integer type.
    """
    if dtype is None:
        kind = as_number(value).__class__
        dtype = BOOL if kind is bool else I64 if kind is int else F32
    # By class and not isinstance, which costs as much as all the rest.
    wanted: DType = dtype if dtype.__class__ is DType else as_dtype(dtype)  # pyright: ignore[reportAssignmentType]
    if value.__class__ not in _PLAIN:
        value = as_number(value)
    if wanted.lanes > 1:
        return Broadcast(const(value, wanted.element), wanted)
    if wanted.is_float:
        return Const(float(value), wanted)
    if isinstance(value, float) and not value.is_integer():
        raise DTypeError(f"cannot write {value!r} as {wanted}: it is not a whole number")
    whole = int(value)
    if not wanted.low <= whole <= wanted.high:
        expected = f"expected {wanted.low} to {wanted.high}"
        raise DTypeError(f"cannot write {whole} as {wanted}: {expected}")
    return Const(bool(whole) if wanted.is_bool else whole, wanted)


def as_expr(value: ExprLike, like: DType | None = None) -> Expr:
    """Turn a number into a constant, of type ``like`` if that can represent it, else i64 or f32.

    Raises: DTypeError for a bool, which is what ``==`` gives outside of a trace.
    """
    if isinstance(value, Expr):
        return value
    if value.__class__ not in _PLAIN:
        stands_for = getattr(value, "as_expr", None)  # A tensor without dimensions, for example.
        if stands_for is not None:
            return stands_for()
        value = as_number(value)
    if isinstance(value, bool):
        raise bool_error(value)
    if like is not None and (like.is_float or not isinstance(value, float)):
        return const(value, I64 if like.is_bool else like.element)
    return Const(value, I64 if isinstance(value, int) else F32)


def convert(value: Expr, dtype: DType) -> Expr:
    """Cast and broadcast as needed; return the same expression if it has the type already."""
    if value.dtype.lanes == 1 and dtype.lanes > 1:
        return Broadcast(convert(value, dtype.element), dtype)
    if value.dtype == dtype:
        return value
    if value.dtype.lanes != dtype.lanes:
        raise DTypeError(f"cannot turn {value.dtype} into {dtype}: the number of lanes differs")
    if isinstance(value, Const) and not isinstance(value.value, float):
        try:
            return const(value.value, dtype)
        except DTypeError:
            pass  # Out of range: the cast defines the result.
    return Cast(value, dtype)


def meet(a: ExprLike, b: ExprLike) -> tuple[Expr, Expr]:
    """Convert operands to their common type; a Python number takes the type of the other side."""
    left = as_expr(a, b.dtype if isinstance(b, Expr) else None)
    right = as_expr(b, left.dtype)
    dtype = common(left.dtype, right.dtype)
    return convert(left, dtype), convert(right, dtype)


def binary(cls: type[Binary], a: ExprLike, b: ExprLike) -> Expr:
    """Build a binary operation and infer its type.

    Raises: DTypeError if the operation is not defined on the common type.
    """
    left, right = meet(a, b)
    dtype = left.dtype
    if issubclass(cls, Compare):
        dtype = BOOL.with_lanes(dtype.lanes)
    elif dtype.kind not in OPERATIONS[cls].kinds:
        whole = "Integers divide with // (floor) or truncdiv."
        hint = whole if cls is Div else "Cast the operands first."
        raise DTypeError(f"operator {cls.sign} is not defined on {dtype}", hint=hint)
    made = cls(left, right, dtype)
    return traced(made) if TRACES else made
