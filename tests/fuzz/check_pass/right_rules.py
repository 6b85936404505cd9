"""Right passes over expressions, as users write them."""

from irkit.core import Rules, equal, rewrite
from irkit.ir import (
    ANY_FLOAT,
    ANY_INTEGER,
    Add,
    Call,
    Cast,
    Const,
    Div,
    Expr,
    FloorDiv,
    FloorMod,
    Load,
    Mul,
    Not,
    PrimFunc,
    Var,
    const,
    gt,
    hole,
    lt,
    maximum,
    peephole,
    select,
)
from irkit.transform import define_pass

a, b = hole("a", ANY_INTEGER), hole("b", ANY_INTEGER)
f, g = hole("f", ANY_FLOAT), hole("g", ANY_FLOAT)
h = hole("h", "f32")
power = hole(
    "power", ANY_INTEGER, on=Const, where=lambda c: c.value > 0 and c.value & -c.value == c.value
)

SHIFTS = Rules(
    "shifts",
    peephole(
        "multiply", a * power, lambda a, power: a << power.value.bit_length() - 1, commutative=True
    ),
)


@define_pass
def use_shifts(func: PrimFunc) -> PrimFunc:
    """Shift instead of multiplying by a power of two."""
    return rewrite(func, SHIFTS)


IDENTITIES = Rules(
    "identities",
    peephole("subtract-itself", a - a, lambda a: const(0, a.dtype)),
    peephole("xor-itself", a ^ a, lambda a: const(0, a.dtype)),
    peephole("negate-twice", -(a - b), b - a),
    peephole("add-negative", a + -b, a - b, commutative=True),
)


@define_pass
def use_identities(func: PrimFunc) -> PrimFunc:
    """Simplify by identities of rings."""
    return rewrite(func, IDENTITIES)


CLAMPS = Rules(
    "clamps",
    peephole("relu", select(gt(h, 0.0), h, 0.0), select(lt(0.0, h), h, 0.0)),
    peephole("twice", maximum(maximum(a, b), b), maximum(a, b)),
)


@define_pass
def turn_comparisons(func: PrimFunc) -> PrimFunc:
    """Write a comparison of f32 the other way round, and drop a second maximum."""
    return rewrite(func, CLAMPS)


FACTORS = Rules("factors", peephole("factor", a * b + a, a * (b + 1)))


@define_pass
def factor_out(func: PrimFunc) -> PrimFunc:
    """Take a common factor of integers out of a sum."""
    return rewrite(func, FACTORS)


@define_pass
def double_by_adding(func: PrimFunc) -> PrimFunc:
    """Write ``x * 2`` of floats as ``x + x``, where x is a variable or a load."""

    def double(mul: Mul) -> Expr | None:
        match mul:
            case Mul(Load() | Var() as x, Const(2.0)) if mul.dtype.is_float:
                return x + x
            case _:
                return None

    return rewrite(func, double)


@define_pass(changes_rounding=True)
def use_reciprocals(func: PrimFunc) -> PrimFunc:
    """Multiply by the reciprocal of a constant."""

    def reciprocal(div: Div) -> Expr | None:
        if not isinstance(div.b, Const) or not div.dtype.is_float or div.b.value == 0:
            return None
        if abs(div.b.value) > 1e4 or abs(div.b.value) < 1e-4:
            return None
        return div.a * const(1.0 / div.b.value, div.dtype)

    return rewrite(func, reciprocal)


@define_pass
def exact_reciprocals(func: PrimFunc) -> PrimFunc:
    """Multiply by the reciprocal of a power of two, which is exact."""

    def reciprocal(div: Div) -> Expr | None:
        if isinstance(div.b, Const) and div.b.value in (2.0, 4.0, 8.0) and div.dtype.is_float:
            return div.a * const(1.0 / div.b.value, div.dtype)
        return None

    return rewrite(func, reciprocal, on=Div)


@define_pass(changes_rounding=True)
def reassociate(func: PrimFunc) -> PrimFunc:
    """Turn ``(a + b) + c`` of floats into ``a + (b + c)``."""

    def turn(add: Add) -> Expr | None:
        if isinstance(add.a, Add) and add.dtype.is_float:
            return add.a.a + (add.a.b + add.b)
        return None

    return rewrite(func, turn)


@define_pass
def squares(func: PrimFunc) -> PrimFunc:
    """Turn ``abs(abs(x))`` and ``abs(-x)`` into ``abs(x)``."""

    def inner(call: Call) -> Expr | None:
        match call:
            case Call("abs", (Call("abs", _) as same,)):
                return same
            case _:
                return None

    return rewrite(func, inner, on=Call)


@define_pass
def drop_casts(func: PrimFunc) -> PrimFunc:
    """Drop a cast of an integer to a wider type and back."""

    def drop(cast: Cast) -> Expr | None:
        inner = cast.value
        if not isinstance(inner, Cast) or cast.dtype != inner.value.dtype:
            return None
        kinds = {cast.dtype.kind, inner.dtype.kind}
        exact = len(kinds) == 1 and inner.dtype.bits >= cast.dtype.bits and cast.dtype.is_integer
        return inner.value if exact else None

    return rewrite(func, drop)


@define_pass
def push_not(func: PrimFunc) -> PrimFunc:
    """Remove double negation of conditions."""

    def push(cond: Not) -> Expr | None:
        return cond.a.a if isinstance(cond.a, Not) else None

    return rewrite(func, push)


@define_pass
def div_mod_to_whole(func: PrimFunc) -> PrimFunc:
    """Turn ``x // c * c + x % c`` into ``x``, for a constant that is not 0."""

    def join(add: Add) -> Expr | None:
        match add:
            case Add(Mul(FloorDiv(x, Const(c)), Const(d)), FloorMod(y, Const(e))):
                same = c == d == e != 0 and equal(x, y)
                return x if same and x.dtype.is_integer else None
            case _:
                return None

    return rewrite(func, join)
