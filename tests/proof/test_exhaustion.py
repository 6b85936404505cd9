"""Proofs by trying all values."""

import pytest

from irkit.ir import (
    BF16,
    BOOL,
    F16,
    F32,
    I8,
    I64,
    U8,
    Buffer,
    Const,
    Expr,
    Var,
    call,
    cast,
    const,
    eq,
    lt,
    maximum,
)
from irkit.ir.arith import Interval, claim_of
from irkit.proof import Outcome, Proved, Refuted, by_exhaustion, prove_equal

a, b, h, w = Var("a", I8), Var("b", U8), Var("h", F16), Var("w", BF16)
i, n = Var("i"), Var("n")
BYTES = Buffer("bytes", (n,), U8)
HALVES = Buffer("halves", (n,), F16)


def tried(before: Expr, after: Expr, *facts: Expr, **ranges: Interval) -> Outcome | None:
    known = {var: ranges[var.name] for var in (a, b) if var.name in ranges}
    return by_exhaustion(claim_of(before, after, known, facts))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (a // 4, a >> 2),
        (cast(a, U8) + b, b + cast(a, U8)),
        (h / const(2.0, F16), h * const(0.5, F16)),
        (w + const(-0.0, BF16), w),
        (HALVES[i] / const(4.0, F16), HALVES[i] * const(0.25, F16)),
        (maximum(h, h), h),
        (BYTES[i] // 2 // 3, BYTES[i] // 6),
        (Const(True, BOOL), eq(a * 2 % 2, 0)),
    ],
)
def test_all_values_are_tried(before: Expr, after: Expr) -> None:
    assert isinstance(tried(before, after), Proved)


def test_the_first_values_that_differ_are_named() -> None:
    found = tried(a // 3, call("truncdiv", a, const(3, I8)))
    assert isinstance(found, Refuted)
    assert found.values == {"a": -128}
    assert (found.before, found.after) == (-43, -42)
    halves = tried(HALVES[i] / const(3.0, F16), HALVES[i] * const(1 / 3, F16))
    assert isinstance(halves, Refuted)
    assert list(halves.values) == ["halves[i]"]


def test_ranges_and_facts_limit_what_is_tried() -> None:
    assert isinstance(tried(a % 8, a), Refuted)
    assert isinstance(tried(a % 8, a, a=Interval(0, 7)), Proved)
    assert isinstance(tried(a % 8, a, lt(a, 8), a=Interval(0, None)), Proved)


def test_too_many_values_are_left_to_the_solver() -> None:
    assert tried(i + 0, i) is None
    assert tried(cast(a, I64) + cast(b, I64) + cast(Var("c", I8), I64), const(0, I64)) is None
    assert tried(Var("x", F32) + 0.0, Var("x", F32)) is None


def test_two_loads_of_one_buffer_may_be_the_same_element() -> None:
    assert isinstance(tried(BYTES[i] & BYTES[i + n], BYTES[i + n] & BYTES[i]), Proved)
    assert tried(BYTES[i] & BYTES[i * 1], BYTES[i]) is None


def test_without_a_solver_few_values_are_still_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("irkit.proof.prove.has_z3", lambda: False)
    assert isinstance(prove_equal(a // 2 // 3, a // 6), Proved)
