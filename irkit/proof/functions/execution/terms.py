"""Values of a symbolic run: numbers of Python where they are known, and else terms.

A term is an expression over the elements of memory at the start and over scalar arguments. Each
distinct one exists once, so two equal ones are the same object. Integers and bools that are known
are numbers; floats are always terms, since a constant one has bits that Python may not keep.
"""

import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irkit.core import children
from irkit.ir import (
    BOOL,
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    OPERATIONS,
    Add,
    And,
    Binary,
    BitAnd,
    BitOr,
    Buffer,
    Call,
    Cast,
    Const,
    Div,
    DType,
    Expr,
    FloorDiv,
    FloorMod,
    Load,
    Max,
    Min,
    Mul,
    Neg,
    Not,
    Or,
    Select,
    Sub,
    evaluate,
)

Value = Any
"""An int or bool of Python, or a term; of a vector, a list of those."""
MOST_TERMS = 200_000
MOST_DEPTH = 40_000
"""Operations one inside the other: Python frees nested objects by recursion in C, which overflows
its stack at some hundred thousand."""


class NotExecuted(Exception):
    """A function, or a part of it, that a symbolic run cannot follow, with the reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Terms:
    """The terms that two versions of a function compute, each once."""

    def __init__(self, most: int = MOST_TERMS) -> None:
        self.left = most
        self._made: dict[tuple[object, ...], Expr] = {}
        self._number: dict[int, int] = {}
        self._depth: dict[int, int] = {}
        self._computed: dict[tuple[object, ...], Value] = {}

    def constant(self, value: Any, dtype: DType) -> Expr:
        """Return a scalar constant."""
        key: object = struct.pack("<d", value) if isinstance(value, float) else value
        return self._once((Const, key.__class__, key, dtype), lambda: Const(value, dtype))

    def term(self, value: Value, dtype: DType) -> Expr:
        """Return a value as a term."""
        return value if isinstance(value, Expr) else self.constant(value, dtype)

    def element(self, buffer: Buffer, at: Expr) -> Expr:
        """Return an element of a buffer of one dimension, which nothing has written."""
        key = (Load, id(buffer), id(at))
        return self._once(key, lambda: Load(buffer, (at,), None, buffer.dtype))

    def binary(self, cls: type[Binary], a: Value, b: Value, dtype: DType, of: DType) -> Value:
        """Return the result of an operation on two scalars of type ``of``."""
        if of.is_bool:
            cls = _LOGICAL.get(cls, cls)
        known = self._without_operation(cls, a, b, of)
        if known is not None:
            return known
        x, y = self.term(a, of), self.term(b, of)
        if isinstance(x, Const) and isinstance(y, Const):
            return self._evaluated(cls(x, y, dtype))
        if _commutes(cls, of) and self._rank(y) < self._rank(x):
            x, y = y, x
        return self._once((cls, dtype, id(x), id(y)), lambda: cls(x, y, dtype))

    def _without_operation(self, cls: type[Binary], a: Value, b: Value, of: DType) -> Value | None:
        """Return the operand, or constant, that an operation amounts to, or None."""
        if cls in (And, Or):
            wins = cls is Or
            for one, other in ((a, b), (b, a)):
                if isinstance(one, bool):
                    return wins if one is wins else other
            return a if a is b else None
        if of.is_float:
            neutral = _NEUTRAL.get(cls)
            if neutral is None:
                return None
            if b is self.constant(neutral, of):
                return a
            return b if cls in (Add, Mul) and a is self.constant(neutral, of) else None
        if cls in (Add, Sub) and b.__class__ is int and b == 0:
            return a
        if cls is Add and a.__class__ is int and a == 0:
            return b
        if cls is Mul and b.__class__ is int and b == 1:
            return a
        return b if cls is Mul and a.__class__ is int and a == 1 else None

    def unary(self, cls: type[Neg | Not | Cast], a: Value, dtype: DType, of: DType) -> Value:
        """Return the result of a negation, an inversion or a conversion of a scalar."""
        x = self.term(a, of)
        if isinstance(x, Const):
            return self._evaluated(cls(x, dtype))
        if isinstance(x, Not) and cls is Not:
            return x.a
        return self._once((cls, dtype, id(x)), lambda: cls(x, dtype))

    def chosen(self, cond: Value, a: Value, b: Value, dtype: DType) -> Value:
        """Return ``a`` where a condition holds, else ``b``."""
        if isinstance(cond, bool):
            return a if cond else b
        if a is b or (a.__class__ is b.__class__ and not isinstance(a, Expr) and a == b):
            return a
        if isinstance(cond, Not):
            return self.chosen(cond.a, b, a, dtype)
        x, y = self.term(a, dtype), self.term(b, dtype)
        key = (Select, dtype, id(cond), id(x), id(y))
        return self._once(key, lambda: Select(cond, x, y, dtype))

    def called(self, name: str, args: Sequence[Value], dtype: DType, of: DType) -> Value:
        """Return the result of an intrinsic function of scalars of type ``of``."""
        terms = [self.term(arg, of) for arg in args]
        if all(isinstance(each, Const) for each in terms):
            return self._evaluated(Call(name, tuple(terms), dtype))
        key = (Call, name, dtype, *map(id, terms))
        return self._once(key, lambda: Call(name, tuple(terms), dtype))

    def both(self, a: Value, b: Value) -> Value:
        """Return that two conditions hold."""
        if a is True:
            return b
        return a if b is True else self.binary(And, a, b, BOOL, BOOL)

    def inverse(self, cond: Value) -> Value:
        """Return that a condition does not hold."""
        return not cond if isinstance(cond, bool) else self.unary(Not, cond, BOOL, BOOL)

    def _rank(self, term: Expr) -> int:
        return self._number[id(term)]

    def _once(self, key: tuple[object, ...], make: Callable[[], Expr]) -> Expr:
        found = self._made.get(key)
        if found is None:
            self.left -= 1
            if self.left < 0:
                raise NotExecuted("it computes too many distinct values")
            found = self._made[key] = make()
            self._number[id(found)] = len(self._number)
            depth = 1 + max([self._depth.get(id(part), 0) for part in children(found)], default=0)
            if depth > MOST_DEPTH:
                raise NotExecuted("it computes a value in too many steps")
            self._depth[id(found)] = depth
        return found

    def _evaluated(self, expr: Expr) -> Value:
        """Compute an operation on constants, as the interpreter does."""
        parts = [getattr(expr, name, None) for name in ("a", "b", "value", "name")]
        parts += list(getattr(expr, "args", ()))
        key = (
            expr.__class__,
            expr.dtype,
            *[each if isinstance(each, str) else id(each) for each in parts],
        )
        found = self._computed.get(key)
        if found is None:
            with np.errstate(all="ignore"):
                number = np.asarray(evaluate(expr)).reshape(())
            dtype = expr.dtype
            if dtype.is_float:
                found = self.constant(float(number), dtype)
            else:
                found = bool(number) if dtype.is_bool else int(number)
            self._computed[key] = found
        return found


_LOGICAL: dict[type[Binary], type[Binary]] = {BitAnd: And, BitOr: Or, Min: And, Max: Or}
_NEUTRAL: dict[type[Binary], float] = {Add: -0.0, Sub: 0.0, Mul: 1.0, Div: 1.0}


def _commutes(cls: type[Binary], of: DType) -> bool:
    """Return True if the operands of an operation can change places; of two zeros, ``min`` and
    ``max`` of floats give the second one."""
    if cls in (Min, Max) and of.is_float:
        return False
    return OPERATIONS[cls].commutes or cls in (And, Or)


def _quotient(a: int, b: int) -> int:
    return a // b if b else 0


def _remainder(a: int, b: int) -> int:
    return a % b if b else 0


PLAIN: dict[type[Binary], Callable[[int, int], int | bool]] = {
    Add: lambda a, b: a + b,
    Sub: lambda a, b: a - b,
    Mul: lambda a, b: a * b,
    FloorDiv: _quotient,
    FloorMod: _remainder,
    Min: lambda a, b: min(b, a),
    Max: lambda a, b: max(b, a),
    EQ: lambda a, b: a == b,
    NE: lambda a, b: a != b,
    LT: lambda a, b: a < b,
    LE: lambda a, b: a <= b,
    GT: lambda a, b: a > b,
    GE: lambda a, b: a >= b,
}
"""Operations on integers that are numbers; the result is yet to be wrapped around."""


def wrapped(value: int, dtype: DType) -> int:
    """Return an integer in the range of a type."""
    if dtype.low <= value <= dtype.high:
        return value
    low = value & ((1 << dtype.bits) - 1)
    return low - (1 << dtype.bits) if dtype.kind == "i" and low > dtype.high else low
