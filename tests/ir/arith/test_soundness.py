"""Arithmetic must be sound for every value, as judged by an evaluator in plain Python integers."""

import os
from collections.abc import Iterator
from itertools import product

from hypothesis import given, note, settings, strategies as st

from irkit.core import children
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
    Conditional,
    Const,
    DType,
    Expr,
    FloorDiv,
    FloorMod,
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
    broadcast,
    call,
    cast,
    const,
    if_then_else,
    logical_not,
    prove,
    ramp,
    select,
)
from irkit.ir.arith import Simplification, simplify

Case = tuple[Expr, dict[Var, Interval]]
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
    """Evaluate one lane, following the docstrings of the node classes."""

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
        case Select(cond, then, otherwise) | Conditional(cond, then, otherwise):
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


def text(expr: Expr) -> str:
    match expr:
        case Var(name):
            return name
        case Const(number):
            return str(number)
        case Binary(a, b):
            return f"({text(a)} {expr.sign} {text(b)})"
        case _:
            below = ", ".join(text(child) for child in children(expr))
            return f"{getattr(expr, 'name', type(expr).__name__)}.{expr.dtype}({below})"


def environments(ranges: dict[Var, Interval]) -> Iterator[Env]:
    spans = [range(r.low, r.high + 1) for r in ranges.values()]
    points = list(product(*spans))
    step = (
        max(1, len(points) // 50) | 1
    )  # Odd, so that every low bit of the last variable is covered.
    return (dict(zip(ranges, point, strict=True)) for point in (*points[::step], points[-1]))


CONSTANTS = [-128, -16, -7, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 8, 12, 16, 64, 127]
ARITHMETIC = [Add, Add, Sub, Sub, Mul, FloorDiv, FloorDiv, FloorMod, FloorMod, Min, Max]
RARE = [Shl, Shr, BitAnd, BitOr, BitXor]
COMPARES = [EQ, NE, LT, LE, GT, GE]


# Each number of a program pushes a leaf or applies an operation to the top of a stack: such lists
# are quick to draw, and shrink well.
Program = list[tuple[int, int]]
PROGRAMS = st.lists(st.tuples(st.integers(0, 23), st.integers(0, 63)), min_size=2, max_size=16)
LOWS = {U8: [0, 0, 0, 1, 3, 120], I8: [0, 0, 0, -3, -7, 1, 120, -128]}


def built(program: Program, dtype: DType, names: list[Expr]) -> Expr:
    """Run a program that builds an expression."""
    numbers = [abs(n) if dtype.kind == "u" else n for n in CONSTANTS]
    stack: list[Expr] = []

    def pop() -> Expr:
        return stack.pop() if stack else names[0]

    for op, arg in program:
        number = const(numbers[arg % len(numbers)], dtype)
        a = names[arg % len(names)] if op < 5 else pop()
        if op < 5:
            stack.append(a)
        elif op < 12:
            stack.append(binary(ARITHMETIC[arg % len(ARITHMETIC)], pop(), a))
        elif op < 18:
            among = ARITHMETIC + RARE
            cls = among[(op * 64 + arg) // len(numbers) % len(among)]
            stack.append(binary(cls, a, number))
        elif op == 18:
            stack.append((a // number) * number + pop() % number)
        elif op == 19:
            stack.append(pop() * number + a)
        elif op == 20:
            choose = select if arg % 2 else if_then_else
            stack.append(choose(condition(arg // 2, a, pop(), number), a, pop()))
        elif op == 21:
            stack.append(cast(cast(a, [I8, I64, U8][arg % 3]), dtype) if arg % 2 else -a)
        elif op == 22:
            stack.append(call("truncdiv" if arg % 2 else "truncmod", a, number))
        else:
            stack.append(
                cast(condition(arg, a, pop(), number), dtype) if arg % 2 else call("abs", a)
            )
    return pop()


def condition(kind: int, a: Expr, b: Expr, c: Expr) -> Expr:
    """Build a condition."""
    first = binary(COMPARES[kind % 6], a, b)
    second = binary(COMPARES[kind // 6 % 6], a, c)
    return [first, first & second, logical_not(second), Or(first, second, first.dtype)][kind % 4]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw an expression over up to three variables with small ranges, some next to overflow."""
    dtype = draw(st.sampled_from([I8, I8, I32, I64, I64, U8]))
    ranges: dict[Var, Interval] = {}
    for name in "xyz"[: draw(st.integers(1, 3))]:
        low = draw(st.sampled_from(LOWS.get(dtype, LOWS[I8])))
        ranges[Var(name, dtype)] = Interval(low, low + draw(st.sampled_from([0, 1, 3, 4, 7])))
    return built(draw(PROGRAMS), dtype, list(ranges)), ranges


@st.composite
def vector_cases(draw: st.DrawFn) -> Case:
    """Draw an expression over ramps and broadcasts of four lanes."""
    _, ranges = draw(cases())
    x = next(iter(ranges))
    dtype = x.dtype.with_lanes(4)
    number = const(draw(st.sampled_from([1, 1, 2, 3, 4])), x.dtype)
    names = [broadcast(var, 4) for var in ranges]
    names += [ramp(x * 4, 1, 4), ramp(x, number, 4), ramp(number, x, 4)]
    return built(draw(PROGRAMS), dtype, names), ranges


N = int(os.environ.get("IRKIT_EXAMPLES", "150"))
FAST = settings(max_examples=N, derandomize=True, deadline=None)


@FAST
@given(cases())
def test_bounds_contain_every_value(case: Case) -> None:
    expr, ranges = case
    found = bounds(expr, ranges)
    for env in environments(ranges):
        assert found.contains(value(expr, env))


def index(program: Program, dtype: DType, names: list[Expr]) -> Expr:
    """Run a program that builds a typical index: sums, and quotients by small constants."""
    stack: list[Expr] = []
    for op, arg in program:
        a = stack.pop() if stack and op % 4 else names[arg % len(names)]
        b = stack.pop() if stack and op % 3 else names[op % len(names)]
        number = const([2, 3, 4, 6, 8, 16][arg % 6], dtype)
        offset = const((arg // 6) if dtype.kind == "u" else arg // 6 - 5, dtype)
        made = [
            a * number + b, a - b * number, a // number, a % number, a + offset,
            (a // number) * number + b % number, a // number * (number * 2) + a % number,
            a - a % number, (a + b) % (number * 2) // number, (a * number + offset) // (number * 2),
        ]  # fmt: skip
        stack.append(made[op % len(made)])
    return stack[-1]


@FAST
@given(vector_cases(), PROGRAMS)
def test_index_arithmetic_keeps_every_value(case: Case, program: Program) -> None:
    _, ranges = case
    x = next(iter(ranges))
    lanes = program[0][0] % 2 * 3 + 1
    names: list[Expr] = [broadcast(var, lanes) for var in ranges]
    if lanes > 1:
        names += [ramp(x * lanes + program[0][1] % 3, 1, lanes)]
    expr = index(program[:8], names[0].dtype, names)
    new = simplify(expr, ranges)
    note(f"{text(expr)}  became  {text(new)}")
    for env, lane in product(environments(ranges), range(lanes)):
        assert value(new, env, lane) == value(expr, env, lane), (env, lane)
    assert simplify(new, ranges) is new, text(simplify(new, ranges))


@FAST
@given(vector_cases())
def test_simplify_and_bounds_hold_in_every_lane(case: Case) -> None:
    expr, ranges = case
    new, found = simplify(expr, ranges), bounds(expr, ranges)
    note(f"{text(expr)}  became  {text(new)}")
    assert new.dtype == expr.dtype
    for env, lane in product(environments(ranges), range(4)):
        wanted = value(expr, env, lane)
        assert value(new, env, lane) == wanted, (env, lane)
        assert found.contains(wanted)
    assert simplify(new, ranges) is new, text(simplify(new, ranges))


@FAST
@given(cases(), PROGRAMS, PROGRAMS)
def test_what_is_proved_from_facts_holds_where_they_do(
    case: Case, program: Program, other: Program
) -> None:
    expr, ranges = case
    names = list(ranges)
    right = built(program[:6], expr.dtype, names)
    fact = binary(COMPARES[program[0][1] % 6], expr, right)
    again = built([*program[:6], *other[:4]], expr.dtype, names)
    cond = binary(COMPARES[program[1][1] % 6], expr, again)
    proved, new = prove(cond, ranges, [fact]), simplify(again, ranges, [fact])
    note(f"{text(cond)}  given  {text(fact)}; {text(new)}")
    for env in environments(ranges):
        if value(fact, env):
            assert value(cond, env) or not proved
            assert value(new, env) == value(again, env)


@FAST
@given(cases())
def test_simplify_keeps_value_and_type_and_is_idempotent(case: Case) -> None:
    expr, ranges = case
    new = simplify(expr, ranges)
    note(f"{text(expr)}  became  {text(new)}")
    assert new.dtype == expr.dtype
    for env in environments(ranges):
        assert value(new, env) == value(expr, env), env
    again = simplify(new, ranges)
    assert again is new, text(again)


@FAST
@given(cases(), PROGRAMS, PROGRAMS)
def test_expressions_simplified_at_one_place_keep_their_values(
    case: Case, program: Program, other: Program
) -> None:
    expr, ranges = case
    names = list(ranges)
    right = built(program[:6], expr.dtype, names)
    fact = binary(COMPARES[program[0][1] % 6], expr, right)
    place = Simplification(ranges, [fact])
    known = [env for env in environments(ranges) if value(fact, env)]
    for again in (right, expr, built([*program[:6], *other], expr.dtype, names), right + expr):
        new = place.of(again)
        note(f"{text(again)}  given  {text(fact)}  became  {text(new)}")
        assert new.dtype == again.dtype
        assert all(value(new, env) == value(again, env) for env in known)
        assert place.of(new) is new
