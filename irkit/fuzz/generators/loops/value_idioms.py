"""Values in forms that compilers simplify: what holds for numbers and not for all bits is near."""

from collections.abc import Callable

from irkit.fuzz.picks import Picks
from irkit.ir import (
    F16,
    I16,
    I64,
    U8,
    DType,
    Expr,
    call,
    cast,
    const,
    eq,
    ge,
    gt,
    if_then_else,
    le,
    logical_and,
    logical_not,
    logical_or,
    lt,
    maximum,
    minimum,
    ne,
    select,
)

Idiom = Callable[[Expr, Expr, Expr, "Numbers"], Expr]


class Numbers:
    """Constants of a type, drawn."""

    def __init__(self, picks: Picks, dtype: DType) -> None:
        self.picks, self.dtype = picks, dtype

    def __call__(self, *values: float) -> Expr:
        """Return one of some values."""
        return const(self.picks.pick(values), self.dtype)


def value_idiom(picks: Picks, a: Expr, b: Expr, c: Expr) -> Expr:
    """Join values of one type in a form that is drawn."""
    forms = FLOATS if a.dtype.is_float else INTEGERS
    return picks.pick((*COMMON, *forms))(a, b, c, Numbers(picks, a.dtype))


COMMON: tuple[Idiom, ...] = (
    lambda a, b, c, n: a + b,
    lambda a, b, c, n: a - b,
    lambda a, b, c, n: a * n(2, 3) + b,
    lambda a, b, c, n: select(lt(a, b), a, b),
    lambda a, b, c, n: minimum(a, b),
    lambda a, b, c, n: maximum(a, b),
    lambda a, b, c, n: select(lt(b, a), a, b),
    lambda a, b, c, n: select(le(a, b), b, a),
    lambda a, b, c, n: select(ge(a, b), b, a),
    lambda a, b, c, n: select(lt(a, n(0)), -a, a) + b,
    lambda a, b, c, n: select(logical_not(lt(a, b)), a, c),
    lambda a, b, c, n: select(eq(a, b), a, c),
    lambda a, b, c, n: select(ne(a, b), a, b),
    lambda a, b, c, n: select(gt(a, n(0)), a, n(0)) - b,
    lambda a, b, c, n: maximum(minimum(a, n(4, 1)), n(0, -1, 2)) + b,
    lambda a, b, c, n: minimum(maximum(a, b), c),
    lambda a, b, c, n: maximum(a, n(0)) + maximum(b, n(0)),
    lambda a, b, c, n: maximum(a + b, n(0)),
    lambda a, b, c, n: (a + b) - b,
    lambda a, b, c, n: (a - b) + b,
    lambda a, b, c, n: a * b - a * c,
    lambda a, b, c, n: a * (b + c),
    lambda a, b, c, n: (a + n(1, 3)) + (b - n(1, 2)),
    lambda a, b, c, n: a - (b - c),
    lambda a, b, c, n: (a - a) + b,
    lambda a, b, c, n: a * n(0, 1, -1) + b,
    lambda a, b, c, n: n(0) - (a - b),
    lambda a, b, c, n: a + n(0),
    lambda a, b, c, n: n(0) - (-a) - b,
    lambda a, b, c, n: select(logical_and(lt(a, b), lt(b, c)), a, c),
    lambda a, b, c, n: select(logical_or(lt(a, b), logical_not(lt(a, c))), b, a),
    lambda a, b, c, n: if_then_else(lt(a, b), if_then_else(lt(a, b), b, c), a),
    lambda a, b, c, n: select(lt(a, n(2)), a, b) + select(lt(a, n(2)), c, b),
    lambda a, b, c, n: a // n(2, 3, 4, -2) + b,
    lambda a, b, c, n: a % n(2, 3, 4, 8) + b,
    lambda a, b, c, n: a // n(4, 2) * n(4, 2) + a % n(4, 2) - b,
)
FLOATS: tuple[Idiom, ...] = (
    lambda a, b, c, n: a / b,
    lambda a, b, c, n: a / n(2, 4, 3, 10, 0.5, 0) + b,
    lambda a, b, c, n: (a * b) / b,
    lambda a, b, c, n: a / b + c / b,
    lambda a, b, c, n: (a / b) * b,
    lambda a, b, c, n: select(ne(a, a), b, a),
    lambda a, b, c, n: select(call("isnan", a), b, a),
    lambda a, b, c, n: select(eq(a, a), a, c) * b,
    lambda a, b, c, n: call("abs", a) - b,
    lambda a, b, c, n: call("sqrt", a * a) + b,
    lambda a, b, c, n: cast(cast(a, F16), a.dtype) + b,
    lambda a, b, c, n: call("floor", a + n(0.5)) - b,
)
INTEGERS: tuple[Idiom, ...] = (
    lambda a, b, c, n: (a << n(1, 2, 3)) >> n(1, 2),
    lambda a, b, c, n: (a >> n(1, 2)) << n(1, 2),
    lambda a, b, c, n: (a & n(3, 7, -4)) | (b & n(-4, 3)),
    lambda a, b, c, n: (a ^ b) ^ b,
    lambda a, b, c, n: (a & b) + (a | b),
    lambda a, b, c, n: a * n(8, 3, -1, 4) + b,
    lambda a, b, c, n: a * n(6, 4) // n(3, 2) - b,
    lambda a, b, c, n: a // n(2, 3) // n(2, 4) + b,
    lambda a, b, c, n: (a + n(4, 8)) % n(4, 8) + b,
    lambda a, b, c, n: cast(cast(a, I16), a.dtype) + b,
    lambda a, b, c, n: cast(cast(a, U8), a.dtype) - b,
    lambda a, b, c, n: cast(cast(a, I64) * cast(b, I64), a.dtype),
    lambda a, b, c, n: logical_not(a) + b,
    lambda a, b, c, n: select(lt(a + n(1), a), b, c),
    lambda a, b, c, n: a % b,
)
