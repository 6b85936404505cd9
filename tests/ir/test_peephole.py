"""Peephole rules match what their pattern says, and preserve the value of expressions."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit.core import IRKitError, Rule, Rules, equal, rewrite
from irkit.ir import (
    ANY,
    ANY_FLOAT,
    ANY_INTEGER,
    BOOL,
    F32,
    I8,
    I32,
    I64,
    U8,
    Add,
    Buffer,
    Const,
    Expr,
    Mul,
    Neg,
    Select,
    Sub,
    Var,
    as_int,
    broadcast,
    call,
    cast,
    const,
    eq,
    evaluate,
    hole,
    lt,
    maximum,
    peephole,
    select,
)
from tests.depth import DEEP
from tests.draws import few_or_all

x, y = hole("x", ANY_INTEGER), hole("y", ANY_INTEGER)
c, d = hole("c", ANY_INTEGER, on=Const), hole("d", ANY_INTEGER, on=Const)
z, p = hole("z"), hole("p", BOOL)


def wrap(value: int, like: Expr) -> Expr:
    bits, low = like.dtype.bits, like.dtype.low
    return const((value - low) % (1 << bits) + low, like.dtype)


RULES = Rules(
    "integers",
    peephole("add-zero", x + 0, x, commutative=True),
    peephole("multiply-by-one", x * 1, x, commutative=True),
    peephole("multiply-by-zero", x * 0, lambda x: const(0, x.dtype), commutative=True),
    peephole("subtract-itself", x - x, lambda x: const(0, x.dtype)),
    peephole("add-twice", x + c + d, lambda x, c, d: x + wrap(c.value + d.value, c)),
    peephole("negate-twice", Neg(-x, x.dtype), x),
    peephole("minus-negative", x - (-y), x + y),
    peephole("common-factor", x * y + x * c, x * (y + c), commutative=True),
    peephole("same-sides", select(p, z, z), z),
)


@st.composite
def integers(draw: st.DrawFn, dtype=I8) -> Expr:  # pyright: ignore
    stack: list[Expr] = []
    for op, number in draw(st.lists(st.tuples(st.integers(0, 7), st.integers(-3, 3)), max_size=24)):
        other = stack.pop() if stack else NAMES[number % 3]
        literal = const(abs(number) if dtype.kind == "u" else number, dtype)
        match op:
            case 0 | 1:
                stack += [other, NAMES[number % 3]]
            case 2:
                stack.append(other + literal)
            case 3:
                stack.append(literal * other)
            case 4:
                stack.append(-other)
            case _:
                a = stack.pop() if stack else NAMES[0]
                choice = select(lt(a, 2), other, other)
                stack.append((a + other, a - other, a * other, choice)[number % 4])
    return stack[-1] if stack else NAMES[0]


NAMES = [Var(name, I8) for name in "abc"]
VALUES = dict(zip(NAMES, (np.int8(3), np.int8(-128), np.int8(77)), strict=True))


def becomes(rule: Rule | Rules, expr: Expr, wanted: Expr) -> bool:
    result = rule(expr)
    return result is not None and equal(result, wanted)


def meaning_kept(rules: Rules, expr: Expr) -> bool:
    return evaluate(rewrite(expr, rules), VALUES) == evaluate(expr, VALUES)


@settings(max_examples=few_or_all(60, 150), deadline=None, derandomize=True)
@given(integers())
def test_the_rules_keep_the_meaning_of_random_expressions(expr: Expr) -> None:
    assert meaning_kept(RULES, expr)


@pytest.mark.parametrize(
    "wrong",
    [
        peephole("bug", x - y, x),
        peephole("bug", x + 1, x, commutative=True),
        peephole("bug", x - y, y - x),
        peephole("bug", -x, x),
    ],
    ids=["forgets", "off by one", "turns around", "loses the sign"],
)
def test_a_planted_wrong_rule_is_found(wrong: Rule) -> None:
    a, b, _ = NAMES
    samples = [a - b + 1, 1 + a * b, -(a + 1), (a - b) * (b - a)]
    assert not all(meaning_kept(Rules("wrong", wrong), sample) for sample in samples)


def test_each_rule_matches_what_it_says() -> None:
    a, b = Var("a", I32), Var("b", I32)
    assert RULES(0 + a) is a
    assert RULES(a + 1) is None
    assert becomes(RULES, a + 1 + 2, a + 3)
    assert RULES((a * b) - (a * b)) == const(0, I32)
    assert RULES(a - b) is None
    assert becomes(RULES, a - (-b), a + b)
    assert becomes(RULES, 7 * a + b * a, a * (b + 7))


def test_a_rule_over_scalars_matches_vectors_of_the_same_lanes() -> None:
    v = Var("v", I32.with_lanes(4))
    assert RULES(v + 0) is v
    assert RULES(v - v) == const(0, v.dtype)
    doubled = Rules("double", peephole("double", x * 2, x + x), peephole("sub", x - 2, x + -2))
    assert doubled(v * 2) == v + v
    assert doubled(v - 2) == v + broadcast(const(-2, I32), 4)
    choice = Select(Var("q", BOOL), v, v, v.dtype)  # One condition for all lanes, not lane by lane.
    assert RULES(choice) is None
    u = Var("u", U8)
    assert doubled(u - 2) is None  # -2 is not a u8.


def test_an_open_type_is_the_same_throughout_a_pattern() -> None:
    back = Rules("casts", peephole("back", cast(cast(x, F32), ANY_INTEGER), x))
    narrow = Var("n", I8)
    assert back(cast(cast(narrow, F32), I8)) is narrow
    assert back(cast(cast(narrow, F32), I32)) is None


def test_constants_are_compared_by_their_bits() -> None:
    f = hole("f", ANY_FLOAT)
    rules = Rules("floats", peephole("minus-zero", f + -0.0, f))
    a = Var("a", F32)
    assert rules(a + -0.0) is a
    assert rules(a + 0.0) is None
    rules = Rules("bools", peephole("true", eq(p, const(True)), p))
    q = Var("q", BOOL)
    assert rules(eq(q, const(True))) is q
    assert rules(eq(q, const(False))) is None


def test_guards_and_classes_restrict_what_a_hole_stands_for() -> None:
    is_power = lambda n: n.value > 0 and not n.value & (n.value - 1)  # noqa: E731
    power = hole("power", ANY_INTEGER, on=Const, where=is_power)
    shift = peephole(
        "shift", x * power, lambda x, power: x << (as_int(power) or 1).bit_length() - 1
    )
    a = Var("a")
    assert becomes(shift, a * 8, a << 3)
    assert shift(a * 6) is None
    assert shift(a * Var("b")) is None
    small = peephole("small", x + c, x, where=lambda c: abs(c.value) < 2)
    assert small(a + 1) is a
    assert small(a + 2) is None
    only = peephole("only-sums", -hole("s", ANY_INTEGER, on=Add), lambda s: s.b)
    assert only(-(a + 5)) == const(5, I64)
    assert only(-(a * 5)) is None


def test_calls_match_by_name_and_arguments() -> None:
    f = hole("f", ANY_FLOAT)
    rule = peephole("twice", call("abs", call("abs", f)), call("abs", f))
    a = Var("a", F32)
    assert becomes(rule, call("abs", call("abs", a)), call("abs", a))
    assert rule(call("abs", call("exp", a))) is None


def test_a_rule_knows_where_it_is_defined() -> None:
    rule = peephole("here", x + 0, x)
    assert rule.span is not None
    line = Path(__file__).read_text().splitlines()[rule.span.line - 1]
    assert 'peephole("here"' in line


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: peephole("r", x + 0, y), "'y' of its replacement is not in its pattern"),
        (lambda: peephole("r", x + 0, lambda q: q), "no hole 'q' in its pattern, which has: x"),
        (lambda: peephole("r", x + 0, x, where=lambda y: True), "no hole 'y'"),
        (lambda: peephole("r", x, x), "its pattern is not an operation"),
        (lambda: peephole("r", eq(x, 0), x), "another type than its pattern"),
        (lambda: peephole("r", maximum(z, 0), z), "cannot contain 0.0 of any type"),
        (lambda: peephole("r", x + Var("a"), x), "cannot contain Var"),
        (lambda: peephole("r", x + hole("x", ANY_INTEGER), x), "two holes are named 'x'"),
        (lambda: peephole("r", Buffer("A", (), F32)[()] + 0, x), "cannot contain Load"),
        (lambda: peephole("r", x + y + c + d + x + y, x, commutative=True), "more than 4"),
        (lambda: peephole("r", cast(p, I32), cast(cast(x, I64), I32)), "'x' of its replacement"),
        (lambda: hole("a b"), "needs an identifier"),
    ],
)
def test_an_inconsistent_rule_is_refused(make, message: str) -> None:  # pyright: ignore
    with pytest.raises(IRKitError, match=message):
        make()


def test_a_replacement_of_another_type_is_found_when_it_is_made() -> None:
    rule = peephole("wrong", x + 0, lambda x: eq(x, x))
    with pytest.raises(IRKitError, match="rule 'wrong' gave bool for an expression of i64"):
        rule(Var("a") + 0)


def test_patterns_do_not_recurse_however_deep() -> None:
    deep: Expr = Var("a")
    for _ in range(DEEP):
        deep = Neg(deep, I64)
    other = rewrite(deep, Rule.of(lambda n: n.copied(), on=Neg, name="copy"))
    assert RULES(Sub(deep, other, I64)) == const(0, I64)
    assert RULES(Mul(deep, const(1, I64), I64)) is deep
    assert rewrite(deep, RULES) is not deep
    assert ANY.bits > I64.bits
