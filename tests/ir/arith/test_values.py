"""Whatever arithmetic claims must hold for every value: checked against an evaluator in plain
Python integers."""

from collections.abc import Iterator
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from irkit.ir import (
    EQ,
    GE,
    GT,
    I8,
    I32,
    I64,
    LE,
    LT,
    NE,
    U8,
    Add,
    And,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    Broadcast,
    Call,
    Cast,
    Const,
    DType,
    Expr,
    FloorDiv,
    FloorMod,
    IfThenElse,
    Interval,
    Max,
    Min,
    Mul,
    Neg,
    Not,
    Or,
    Ramp,
    Select,
    Shl,
    Shr,
    Sub,
    Var,
    binary,
    bounds,
    call,
    cast,
    const,
    if_then_else,
    logical_not,
    select,
)
from irkit.ir.arith import modular

Env = dict[Var, int]


def wrapped(value: int, dtype: DType) -> int:
    value %= 1 << dtype.bits
    return value - (1 << dtype.bits) if dtype.kind == "i" and value > dtype.high else value


def shifted(a: int, by: int, dtype: DType, left: bool) -> int:
    if left:
        return 0 if not 0 <= by < dtype.bits else a * 2**by
    return (-1 if a < 0 else 0) if not 0 <= by < dtype.bits else a // 2**by


def truncated(a: int, b: int) -> int:
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


RULES = {
    Add: lambda a, b, t: a + b,
    Sub: lambda a, b, t: a - b,
    Mul: lambda a, b, t: a * b,
    FloorDiv: lambda a, b, t: a // b if b else 0,
    FloorMod: lambda a, b, t: a % b if b else 0,
    Min: lambda a, b, t: min(a, b),
    Max: lambda a, b, t: max(a, b),
    BitAnd: lambda a, b, t: a & b,
    BitOr: lambda a, b, t: a | b,
    BitXor: lambda a, b, t: a ^ b,
    Shl: lambda a, b, t: shifted(a, b, t, True),
    Shr: lambda a, b, t: shifted(a, b, t, False),
    EQ: lambda a, b, t: a == b,
    NE: lambda a, b, t: a != b,
    LT: lambda a, b, t: a < b,
    LE: lambda a, b, t: a <= b,
    GT: lambda a, b, t: a > b,
    GE: lambda a, b, t: a >= b,
    And: lambda a, b, t: a and b,
    Or: lambda a, b, t: a or b,
}
CALLS = {
    "abs": lambda a: abs(a),
    "sign": lambda a: (a > 0) - (a < 0),
    "truncdiv": truncated,
    "truncmod": lambda a, b: a - b * truncated(a, b) if b else 0,
}


def value(expr: Expr, env: Env, lane: int = 0) -> int:
    """Evaluate one lane, straight from the docstrings of the node classes."""

    def of(node: Expr) -> int:
        return value(node, env, lane)

    match expr:
        case Var():
            return env[expr]
        case Const(number):
            return int(number)
        case Binary(a, b):
            found = RULES[type(expr)](of(a), of(b), expr.dtype)
        case Neg(a):
            found = -of(a)
        case Not(a):
            found = ~of(a)
        case Cast(inner):
            found = of(inner) != 0 if expr.dtype.is_bool else of(inner)
        case Select(cond, then, otherwise) | IfThenElse(cond, then, otherwise):
            return of(then) if of(cond) else of(otherwise)
        case Ramp(base, stride):
            found = of(base) + lane * of(stride)
        case Broadcast(inner):
            return of(inner)
        case Call(name, args):
            found = CALLS[name](*map(of, args))
        case _:
            raise NotImplementedError(expr)
    return wrapped(int(found), expr.dtype)


def environments(ranges: dict[Var, Interval]) -> Iterator[Env]:
    spans = [range(r.low, r.high + 1) for r in ranges.values()]
    points = list(product(*spans))
    step = max(1, len(points) // 50) | 1  # Odd, so that no low bit of the last variable is missed.
    return (dict(zip(ranges, point, strict=True)) for point in (*points[::step], points[-1]))


CONSTANTS = st.sampled_from([-128, -16, -7, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 8, 12, 16, 64, 127])
ARITHMETIC = [Add, Add, Sub, Sub, Mul, FloorDiv, FloorDiv, FloorMod, FloorMod, Min, Max]
RARE = [Shl, Shr, BitAnd, BitOr, BitXor]
COMPARES = [EQ, NE, LT, LE, GT, GE]


@st.composite
def cases(draw: st.DrawFn, *, only_bool: bool = False) -> tuple[Expr, dict[Var, Interval]]:
    """Draw an expression over up to three variables with small ranges, some next to overflow."""
    dtype = draw(st.sampled_from([I8, I8, I32, I64, I64, U8]))
    ranges: dict[Var, Interval] = {}
    for name in "xyz"[: draw(st.integers(1, 3))]:
        edges = [0, 0, 0, 1, 3, 120] if dtype == U8 else [0, 0, 0, -3, -7, 1, 120, -128]
        low = draw(st.sampled_from(edges))
        ranges[Var(name, dtype)] = Interval(low, low + draw(st.sampled_from([0, 1, 3, 4, 7])))
    names = st.sampled_from(list(ranges))
    numbers = CONSTANTS.map(lambda n: const(abs(n) if dtype == U8 else n, dtype))

    def grown(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        def build(cls: type[Binary], a: Expr, b: Expr) -> Expr:
            return binary(cls, a, b)

        tests = st.one_of(
            st.builds(build, st.sampled_from(COMPARES), inner, inner),
            st.builds(lambda a, b, c: binary(LT, a, b) & binary(GE, a, c), inner, inner, inner),
            st.builds(
                lambda cls, a, b, c: binary(cls, binary(LE, a, b), logical_not(binary(EQ, a, c))),
                st.sampled_from([And, Or]), inner, inner, inner,
            ),
        )  # fmt: skip
        other = st.sampled_from([I8, I64, U8])
        return st.one_of(
            st.builds(build, st.sampled_from(ARITHMETIC), inner, inner),
            st.builds(build, st.sampled_from(ARITHMETIC), inner, numbers),
            st.builds(build, st.sampled_from(ARITHMETIC), inner, numbers),
            st.builds(build, st.sampled_from(RARE), inner, numbers | inner),
            st.builds(lambda a, b, n: (a // n) * n + b % n, inner, inner, numbers),
            st.builds(lambda a, b, n: a * n + b, inner, inner, numbers),
            st.builds(select, tests, inner, inner),
            st.builds(if_then_else, tests, inner, inner),
            st.builds(lambda a: -a, inner),
            st.builds(lambda a, t: cast(cast(a, t), dtype), inner, other),
            st.builds(lambda t: cast(t, dtype), tests),
            st.builds(call, st.sampled_from(["truncdiv", "truncmod"]), inner, numbers),
            st.builds(call, st.sampled_from(["abs", "sign"]), inner),
        )  # fmt: skip

    expr = draw(st.recursive(names | numbers, grown, max_leaves=8))
    if only_bool:
        expr = binary(draw(st.sampled_from(COMPARES)), expr, draw(names | numbers))
    return expr, ranges


FAST = settings(max_examples=300, derandomize=True, deadline=None)


@FAST
@given(cases())
def test_bounds_contain_every_value(case: tuple[Expr, dict[Var, Interval]]) -> None:
    expr, ranges = case
    found = bounds(expr, ranges)
    for env in environments(ranges):
        assert found.contains(value(expr, env))


@FAST
@given(cases())
def test_a_residue_holds_for_every_value(case: tuple[Expr, dict[Var, Interval]]) -> None:
    expr, ranges = case
    coefficient, residue = modular(expr, ranges)
    for env in environments(ranges):
        off = value(expr, env) - residue
        assert off % coefficient == 0 if coefficient else off == 0
