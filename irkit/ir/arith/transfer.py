"""The range of each operation from the ranges of its operands: one small function per class.

The range is that of the wrapped result: if the exact result can leave the type, it is the whole
type.
"""

from collections.abc import Callable
from typing import Any

from irkit.ir.arith.interval import Pair, clamped, fitted, limits
from irkit.ir.buffer import Load, Ramp
from irkit.ir.conditional import Conditional, Select
from irkit.ir.expr import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    And,
    BitAnd,
    BitOr,
    BitXor,
    Broadcast,
    Cast,
    Compare,
    Const,
    Div,
    Expr,
    FloorDiv,
    FloorMod,
    Max,
    Min,
    Mul,
    Neg,
    Not,
    Or,
    Shl,
    Shr,
    Sub,
    Var,
)
from irkit.ir.intrinsics import INTRINSICS, Call, InstructionCall, Ldexp, Reinterpret

Of = Callable[[Expr], Pair]
_BOTH: Pair = (0, 1)


def transfer(node: Expr, of: Of) -> Pair:
    """Return the range of an integer or bool expression; ``of`` returns those of its operands."""
    rule = RULES.get(node.__class__)
    return limits(node.dtype) if rule is None else rule(node, of)


def times(a: Pair, b: Pair) -> Pair:
    """Return the exact range of a product."""
    corners = (a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1])
    return min(corners), max(corners)


def union(a: Pair, b: Pair) -> Pair:
    """Return the smallest range that contains both."""
    return min(a[0], b[0]), max(a[1], b[1])


def _signs(den: Pair) -> list[Pair]:
    """Split a divisor's range into its negative and its positive part, without 0."""
    parts = [(den[0], min(den[1], -1)), (max(den[0], 1), den[1])]
    return [part for part in parts if part[0] <= part[1]]


def _hull(parts: list[Pair]) -> Pair:
    return min(low for low, _ in parts), max(high for _, high in parts)


def floordiv(num: Pair, den: Pair) -> Pair:
    """Return the range of a quotient, rounded down; a zero divisor gives 0."""
    # Monotone in each operand on either side of zero, so the corners are the extremes.
    parts = [_hull([(n // d, n // d) for n in num for d in part]) for part in _signs(den)]
    return _hull([*parts, (0, 0)] if den[0] <= 0 <= den[1] else parts)


def floormod(num: Pair, den: Pair) -> Pair:
    """Return the range of a remainder with the sign of the divisor; a zero divisor gives 0."""
    parts = [_floormod_one_sign(num, part) for part in _signs(den)]
    return _hull([*parts, (0, 0)] if den[0] <= 0 <= den[1] else parts)


def _floormod_one_sign(num: Pair, den: Pair) -> Pair:
    low, high = num
    if den[0] == den[1] and low // den[0] == high // den[0]:
        return low % den[0], high % den[0]
    if den[0] > 0:
        if low >= 0 and high < den[0]:
            return num
        return 0, min(high, den[1] - 1) if low >= 0 else den[1] - 1
    if high <= 0 and low > den[1]:
        return num
    return max(low, den[0] + 1) if high <= 0 else den[0] + 1, 0


def _add(node: Add, of: Of) -> Pair:
    a, b = of(node.a), of(node.b)
    return fitted(a[0] + b[0], a[1] + b[1], limits(node.dtype))


def _sub(node: Sub, of: Of) -> Pair:
    a, b = of(node.a), of(node.b)
    return fitted(a[0] - b[1], a[1] - b[0], limits(node.dtype))


def _mul(node: Mul, of: Of) -> Pair:
    return fitted(*times(of(node.a), of(node.b)), limits(node.dtype))


def _neg(node: Neg, of: Of) -> Pair:
    a = of(node.a)
    return fitted(-a[1], -a[0], limits(node.dtype))


def _floordiv(node: FloorDiv, of: Of) -> Pair:
    return fitted(*floordiv(of(node.a), of(node.b)), limits(node.dtype))


def _floormod(node: FloorMod, of: Of) -> Pair:
    return floormod(of(node.a), of(node.b))


def _min(node: Min | And, of: Of) -> Pair:
    a, b = of(node.a), of(node.b)
    return min(a[0], b[0]), min(a[1], b[1])


def _max(node: Max | Or, of: Of) -> Pair:
    a, b = of(node.a), of(node.b)
    return max(a[0], b[0]), max(a[1], b[1])


def _shl(node: Shl, of: Of) -> Pair:
    value, by = of(node.a), of(node.b)
    limit = limits(node.dtype)
    if not (by[0] >= 0 and by[1] < node.dtype.bits):
        return limit
    return fitted(*times(value, (1 << by[0], 1 << by[1])), limit)


def _shr(node: Shr, of: Of) -> Pair:
    value, by = of(node.a), of(node.b)
    far = (-1 if value[0] < 0 else 0, -1 if value[1] < 0 else 0)
    if by[1] < 0:
        return far
    low, high = (min(max(part, 0), node.dtype.bits) for part in by)
    ends = [value[0] >> low, value[0] >> high, value[1] >> low, value[1] >> high]
    near = (min(ends), max(ends))
    return union(near, far) if by[0] < 0 else near


def _bits_below(high: int) -> int:
    return (1 << high.bit_length()) - 1


def _bitand(node: BitAnd, of: Of) -> Pair:
    a, b = of(node.a), of(node.b)
    tops = [pair[1] for pair in (a, b) if pair[0] >= 0]
    if a[0] == a[1] and b[0] == b[1]:
        return a[0] & b[0], a[0] & b[0]
    return (0, min(tops)) if tops else limits(node.dtype)


def _bitor(node: BitOr, of: Of) -> Pair:
    a, b = of(node.a), of(node.b)
    if a[0] < 0 or b[0] < 0:
        return limits(node.dtype)
    return max(a[0], b[0]), _bits_below(max(a[1], b[1]))


def _bitxor(node: BitXor, of: Of) -> Pair:
    a, b = of(node.a), of(node.b)
    if a[0] < 0 or b[0] < 0:
        return limits(node.dtype)
    if a[0] == a[1] and b[0] == b[1]:
        return a[0] ^ b[0], a[0] ^ b[0]
    return 0, _bits_below(max(a[1], b[1]))


def verdict(cls: type[Compare], low: int, high: int) -> bool | None:
    """Decide the comparison of ``a - b``, between ``low`` and ``high``, with 0; None if
    undecided."""
    if cls is LT or cls is GE:
        less = True if high < 0 else False if low >= 0 else None
        return less if less is None or cls is LT else not less
    if cls is LE or cls is GT:
        at_most = True if high <= 0 else False if low > 0 else None
        return at_most if at_most is None or cls is LE else not at_most
    equal = True if low == high == 0 else False if low > 0 or high < 0 else None
    return equal if equal is None or cls is EQ else not equal


def _compare(node: Compare, of: Of) -> Pair:
    if node.a.dtype.is_float:
        return _BOTH
    a, b = of(node.a), of(node.b)
    found = verdict(node.__class__, a[0] - b[1], a[1] - b[0])
    return _BOTH if found is None else (int(found), int(found))


def _not(node: Not, of: Of) -> Pair:
    low, high = of(node.a)
    if node.dtype.kind == "i":
        return -1 - high, -1 - low
    top = limits(node.dtype)[1]
    return top - high, top - low


def _cast(node: Cast, of: Of) -> Pair:
    limit = limits(node.dtype)
    if node.value.dtype.is_float:
        return limit
    low, high = of(node.value)
    if node.dtype.is_bool:
        return (int(low > 0 or high < 0), int(low != 0 or high != 0))
    return fitted(low, high, limit)


def _choice(node: Select | Conditional, of: Of) -> Pair:
    cond = of(node.cond)
    if cond[0] == cond[1]:
        return of(node.then if cond[0] else node.otherwise)
    return union(of(node.then), of(node.otherwise))


def _ramp(node: Ramp, of: Of) -> Pair:
    base, reach = of(node.base), times(of(node.stride), (0, node.dtype.lanes - 1))
    return fitted(base[0] + reach[0], base[1] + reach[1], limits(node.dtype))


def _broadcast(node: Broadcast, of: Of) -> Pair:
    return of(node.value)


def _call(node: Call, of: Of) -> Pair:
    limit, row = limits(node.dtype), INTRINSICS.get(node.name)
    if row is None or row.bounds is None or not node.dtype.is_integer:
        return limit
    args = tuple([of(arg) for arg in node.args])
    low, high = row.bounds(args, node.dtype.bits)
    return (clamped if row.saturates else fitted)(low, high, limit)


# Rules are looked up by class, so each gets the class it was written for.
RULES: dict[type[Expr], Callable[[Any, Of], Pair]] = {
    Add: _add,
    Sub: _sub,
    Mul: _mul,
    Neg: _neg,
    FloorDiv: _floordiv,
    FloorMod: _floormod,
    Min: _min,
    Max: _max,
    Shl: _shl,
    Shr: _shr,
    BitAnd: _bitand,
    BitOr: _bitor,
    BitXor: _bitxor,
    **dict.fromkeys((EQ, NE, LT, LE, GT, GE), _compare),
    And: _min,
    Or: _max,
    Not: _not,
    Cast: _cast,
    Select: _choice,
    Conditional: _choice,
    Ramp: _ramp,
    Broadcast: _broadcast,
    Call: _call,
}
# Classes without a rule, and why; a test checks that none is missing.
ANY_VALUE: dict[type[Expr], str] = {
    Var: "has the range that is known of it",
    Const: "has its value",
    Load: "memory is not known here",
    InstructionCall: "mixes lanes, whose ranges are not known one by one",
    Div: "is of floats only",
    Ldexp: "is of floats only",
    Reinterpret: "the bits of a float can be any integer",
}
