"""Laws that the simplifier applies, and invalid ones that it must not."""

import math
from time import perf_counter

import pytest

from irkit.core import postorder
from irkit.ir import (
    BOOL,
    F32,
    I8,
    I32,
    I64,
    Buffer,
    Const,
    Expr,
    Interval,
    Neg,
    Ramp,
    Var,
    bounds,
    broadcast,
    call,
    cast,
    const,
    eq,
    ge,
    gt,
    if_then_else,
    le,
    linear,
    logical_and,
    logical_not,
    logical_or,
    lt,
    maximum,
    minimum,
    ne,
    prove,
    ramp,
    select,
    simplify,
)
from irkit.ir.arith import Simplification
from tests.draws import sampled

A, J, K, N, M = (Var(name) for name in "ijknm")
B = Var("b", BOOL)
RANGES = {A: Interval(0, 9), J: Interval(0, 15), K: Interval(-8, 7)}
TRUE, FALSE = Const(True, BOOL), Const(False, BOOL)


def becomes(before: Expr, after: Expr) -> bool:
    """Return the simplified form of one expression, and whether the other is already in that
    form."""
    found = simplify(before, RANGES)
    return found == after and simplify(found, RANGES) is found


def stays(expr: Expr) -> bool:
    return simplify(expr, RANGES) is expr


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((A * 16 + J) * 4 + 2, A * 64 + J * 4 + 2),
        (3 + A * 2 - A + 4, A + 7),
        (N - N, const(0, I64)),
        (N * M - M * N, const(0, I64)),
        ((A + 1) * N - N, A * N),
        (-(J - A), A - J),
        (10 - A + 5, 15 - A),
        (const(2, I64) << const(3, I64), const(16, I64)),
        ((A << 2) + A, A * 5),
        ((N // 16) * 16 + N % 16, N),
        ((N % 12 // 4) * 4 + N % 4, N % 12),
        ((N // 12) * 12 + (N % 12 // 4) * 4 + N % 4, N),
        ((A * 16 + J) // 16, A),
        ((A * 16 + J) % 16, J),
        ((A * 16 + J + 16) // 16, A + 1),
        ((A * 16 + J) // 4, A * 4 + J // 4),
        ((A * 6 + 3) // 4, (A * 3 + 1) // 2),
        ((A * 8 + J * 4 + K % 4) // 8, A + J // 2),
        (N | -1, const(-1, I64)),
        (N & 0, const(0, I64)),
        (N ^ N, const(0, I64)),
        (N // 4 // 2, N // 8),
        ((A // 4 + 1) // 2, (A + 4) // 8),
        (N // 4 % 2, N % 8 // 4),
        (N % 8 % 4, N % 4),
        (N % 4 % 8, N % 4),
        ((N % 8 + A) % 4, (N + A) % 4),
        (J % 16, J),
        (J // 16, const(0, I64)),
        ((J - 16) % 16, J),
        (minimum(A, 9), A),
        (maximum(A + 1, A), A + 1),
        (minimum(minimum(N, 3), 5), minimum(N, 3)),
        (minimum(minimum(N, 5), 3), minimum(N, 3)),
        (lt(A * 16 + J, 160), TRUE),
        (ge(A, 10), FALSE),
        (lt(A * 16 + J, 80), lt(A, 5)),
        (le(A * 4, 18), le(A, 4)),
        (gt(A * 4 + 1, 18), gt(A, 4)),
        (lt(A * 2 + J, A * 2 + K), lt(J, K)),
        (eq(A * 2, 5), FALSE),
        (ne(N * 2 - N, N), FALSE),
        (select(lt(A, 100), N, M), N),
        (if_then_else(lt(N, M), A, A), A),
        (select(logical_not(B), A, J), select(B, J, A)),
        (logical_not(lt(N, M)), ge(N, M)),
        (logical_and(lt(N, M), lt(A, 10)), lt(N, M)),
        (logical_and(lt(N, M), ge(N, M)), FALSE),
        (logical_or(lt(N, M), ge(N, M)), TRUE),
        (cast(cast(A, I8), I64), A),
        (cast(const(300, I64), I8), const(44, I8)),
        (ramp(A, 1, 4) + broadcast(J, 4), ramp(A + J, 1, 4)),
        (ramp(A, J, 4) * broadcast(K, 4), ramp(A * K, J * K, 4)),
        (ramp(A, 0, 4), broadcast(A, 4)),
        (ramp(A * 8, 1, 8) // 8, broadcast(A, 8)),
        (ramp(A * 8, 1, 8) % 8, ramp(0, 1, 8)),
        (ramp(A * 4 + 1, 1, 4) // 4, ramp(const(1, I64), 1, 4) // 4 + broadcast(A, 4)),
        (lt(ramp(A * 8, 1, 8), broadcast(80, 8)), broadcast(TRUE, 8)),
        (call("truncdiv", J, 4), J // 4),
    ],
)  # fmt: skip
def test_a_law_is_applied_and_its_result_is_final(before: Expr, after: Expr) -> None:
    assert becomes(before, after)


X8, Y8 = Var("x", I8), Var("y", I8)
F = Var("f", F32)


@pytest.mark.parametrize(
    "expr",
    [
        pytest.param(J - K % 2, id="y - x % 2 is no remainder (tvm 14571)"),
        pytest.param((K * 2 + J) % 16, id="a remainder stays outside its range (tvm 8616)"),
        pytest.param(K // 4, id="floored division of negatives is not truncated (tvm 5922)"),
        pytest.param(ramp(J + 2, 1, 4) % 4, id="a ramp may cross the modulus (tvm 5924)"),
        pytest.param(A // N * N + A % N, id="n may be 0"),
        pytest.param(K // const(-4, I64), id="the sign of the divisor counts (Halide 3154)"),
        pytest.param(call("truncdiv", K, 4), id="truncated is not floored"),
        pytest.param((X8 * 16 + Y8) // const(16, I8), id="x * 16 + y may wrap around"),
        pytest.param(lt(X8, Y8 + 1), id="y + 1 may wrap around"),
        pytest.param(X8 // const(16, I8) // const(16, I8), id="16 * 16 is no i8"),
        pytest.param(cast(cast(N, I8), I64), id="a cast to i8 loses bits"),
        pytest.param(N // 4 * 8 + N % 4, id="the factor of a quotient is not its divisor"),
        pytest.param((A + K) // 4, id="a part of a numerator may be negative"),
        pytest.param((X8 * 4 + Y8 % 4) % const(12, I8), id="x * 4 may wrap around"),
        pytest.param(F + 0.0, id="-0.0 + 0.0 is 0.0"),
        pytest.param(F - F, id="inf - inf is NaN"),
        pytest.param(F * 0.0, id="NaN * 0.0 is NaN"),
        pytest.param(logical_not(lt(F, 1.0)), id="not (NaN < 1.0) is true, NaN >= 1.0 is not"),
        pytest.param(N // M, id="nothing is known"),
        pytest.param(A * 16 + J, id="canonical already"),
    ],
)  # fmt: skip
def test_a_law_that_fails_for_some_value_is_not_applied(expr: Expr) -> None:
    assert stays(expr)


def test_floats_drop_only_what_changes_no_bit() -> None:
    for expr in (F * 1.0, 1.0 * F, F / 1.0, F - 0.0, F + -0.0, -Neg(F, F32)):
        assert simplify(expr) is F
    for expr in (F - -0.0, F / -1.0, F * math.nan, F - math.inf):
        assert simplify(expr) is expr


def test_a_condition_known_to_hold_decides_what_follows_from_it() -> None:
    guard = lt(A * 16 + J, N)
    assert prove(guard, RANGES, [guard])
    assert prove(lt(A * 16, N), RANGES, [guard])
    assert prove(le(A * 16 + J + 1, N + 5), {**RANGES, N: Interval(0, 999)}, [guard])
    assert prove(gt(N, J + A * 16), RANGES, [guard])
    assert not prove(lt(A * 16 + J + 1, N), RANGES, [guard])
    assert not prove(lt(A * 16 + 15, N), RANGES, [guard])
    assert simplify(minimum(A, 5), RANGES, [lt(A, 5)]) is A
    assert simplify(select(guard, A, J), RANGES, [logical_not(guard)]) is J
    assert simplify(logical_and(guard, lt(M, N)), RANGES, [guard]) == lt(M, N)


def test_facts_are_used_in_their_direction_and_without_overflow() -> None:
    ranges = {N: Interval(0, 999), M: Interval(0, 999)}
    assert not prove(le(M, N + 100), ranges, [ge(M, N + 5)])
    assert prove(ge(M, N + 4), ranges, [ge(M, N + 5)])
    assert not prove(lt(X8, Y8), {}, [lt(X8 + 1, Y8)])  # 127 + 1 is -128.


def test_a_fact_about_memory_is_ignored() -> None:
    load = Buffer("X", (const(8, I64),), I64)[A]
    assert not prove(lt(load, 5), RANGES, [lt(load, 5)])


def test_nothing_is_proved_about_what_may_overflow() -> None:
    assert not prove(lt(X8, X8 + 1))
    assert prove(lt(X8, X8 + 1), {X8: Interval(-128, 126)})
    assert not prove(ge(N * N, 0))


def test_a_linear_form_reads_computes_and_writes() -> None:
    form = linear(A * 3 + N // 2 - J + 7)
    assert form is not None
    assert (form.coefficient(A), form.coefficient(N // 2), form.constant) == (3, 1, 7)
    assert (form - form).is_constant
    assert (form * 2 - 14).expr() == A * 6 + N // 2 * 2 - J * 2
    assert form == linear(7 + N // 2 - J + A + A * 2)
    assert linear(F) is None


def test_equal_quotients_of_reordered_sums_are_one_term() -> None:
    assert becomes((A + J) // 3 + (J + A) // 3, (A + J) // 3 * 2)


def deep(kind: str) -> Expr:
    expr: Expr = N
    for level in range(10_000):
        match kind:
            case "sum":
                expr = expr + (A if level % 2 else 1)
            case "shared":
                expr = expr + expr
            case "quotients":
                expr = (expr + A) // 3
            case "products":
                expr = expr * M
            case "minima":
                expr = minimum(expr, Var(f"v{level}"))
            case "choices":
                expr = select(lt(expr, J), A, expr)
            case "not":
                expr = cast(logical_not(gt(expr, 0)), I64)
            case _:
                expr = cast(cast(expr, F32) * 2.0, I64)
    return expr


@pytest.mark.parametrize(
    "kind",
    sampled(
        ["sum", "shared", "quotients", "products", "minima", "choices", "not", "casts"], every=3
    ),
)
def test_ten_thousand_levels_are_simplified_fast_and_without_recursion(kind: str) -> None:
    expr = deep(kind)
    start = perf_counter()
    found = simplify(expr, RANGES)
    assert simplify(found, RANGES) is found
    assert bounds(expr, RANGES).contains(0)
    prove(lt(expr, 0), RANGES)
    assert perf_counter() - start < 20
    assert len(postorder(found)) <= len(postorder(expr)) + 10


def test_a_masked_load_whose_mask_is_true_is_a_plain_load() -> None:
    plain = Buffer("X", (const(64, I64),), I32)[ramp(A, 1, 4)]
    masked = plain.replace(mask=lt(ramp(A, 1, 4), broadcast(64, 4)))
    found = simplify(masked, RANGES)
    assert found == plain
    assert isinstance(plain.indices[0], Ramp)


def test_sums_that_are_written_anew_are_one_object() -> None:
    place = Simplification(RANGES, [lt(N, 4)])
    assert place.of(A * 4 + J + A * 4) is place.of(N - N + A * 8 + J + 0)
    assert place.of(lt(N, 5)) == TRUE
    plain = J + A * 8
    assert place.of(plain) is plain  # It has that form already.
