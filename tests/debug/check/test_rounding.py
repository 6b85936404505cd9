"""Verdicts on steps that round: only what is declared, and only within the bound."""

from collections.abc import Callable
from typing import Any

import pytest

from irkit.core import rewrite, substitute
from irkit.debug import Verdict, check
from irkit.ir import (
    LOOP_LEVEL,
    Add,
    Div,
    Expr,
    For,
    Load,
    Max,
    Min,
    Mul,
    PrimFunc,
    Store,
    const,
    parse,
)
from irkit.transform import Phase, Pipeline, define_pass
from tests.draws import sampled

Rule = Callable[..., Expr | None]

POINTWISE = """
def f(A: f32[24], B: f32[24], D: f32[24], C: f32[24]):
    for i in serial(0, 24):
        C[i] = {}
"""
ROW_MAXIMUM = """
def f(A: f32[6, 9], C: f32[6]):
    for i in serial(0, 6):
        C[i] = f32('-inf')
        for j in serial(0, 9):
            C[i] = max(C[i], A[i, j])
"""


def judged(text: str, rule: Callable[..., Any], on: type, *, declared: bool) -> Verdict:
    @define_pass(changes_rounding=declared)
    def change(func: PrimFunc) -> PrimFunc:
        return rewrite(func, rule, on=on)

    pipeline = Pipeline(LOOP_LEVEL, (Phase(0, "only", (change,)),))
    (found,) = check(pipeline.steps(parse(text.strip())))
    assert found.changed
    return found


def reciprocal(e: Div) -> Expr:
    return Mul(e.a, Div(const(1.0, e.dtype), e.b, e.dtype), e.dtype)


def to_the_right(e: Add) -> Expr | None:
    match e:
        case Add(Add(a, b), c):
            return Add(a, Add(b, c, e.dtype), e.dtype)
    return None


def factored(e: Add) -> Expr | None:
    match e:
        case Add(Mul(a, b), Mul(_, d)):
            return Mul(a, Add(b, d, e.dtype), e.dtype)
    return None


ROUNDING: dict[str, tuple[str, Rule, type]] = {
    "reciprocal": ("A[i] / B[i]", reciprocal, Div),
    "associated": ("A[i] + B[i] + D[i]", to_the_right, Add),
    "factored": ("A[i] * B[i] + A[i] * D[i]", factored, Add),
}


@pytest.mark.parametrize("name", ROUNDING)
def test_other_rounding_differs_unless_it_is_declared(name: str) -> None:
    value, rule, on = ROUNDING[name]
    text = POINTWISE.format(value)
    assert judged(text, rule, on, declared=False).status == "differs"


@pytest.mark.parametrize("name", ["associated"])
def test_declared_rounding_within_the_bound_is_said_on_the_row(name: str) -> None:
    value, rule, on = ROUNDING[name]
    found = judged(POINTWISE.format(value), rule, on, declared=True)
    assert (found.status, found.ok, found.is_wrong) == ("rounds differently", True, False)


def test_a_declaration_does_not_lift_the_bound() -> None:
    def coarse(e: Add) -> Expr:
        return Mul(e, const(1 + 2.0**-16, e.dtype), e.dtype)

    found = judged(POINTWISE.format("A[i] + B[i]"), coarse, Add, declared=True)
    assert found.status == "differs"


@pytest.mark.parametrize("declared", [False, True])
def test_a_maximum_that_starts_at_minus_infinity_is_exact(declared: bool) -> None:
    def one_more(e: Max) -> Expr:
        return Add(e, const(1.0, e.dtype), e.dtype)

    def last_lost(loop: For) -> For | None:
        return loop.replace(end=loop.end - 1) if isinstance(loop.body, Store) else None

    assert judged(ROW_MAXIMUM, one_more, Max, declared=declared).status == "differs"
    assert judged(ROW_MAXIMUM, last_lost, For, declared=declared).status == "differs"


@pytest.mark.parametrize(("outer", "inner"), [(Max, Min), (Min, Max)])
def test_operands_of_min_and_max_may_be_exchanged(outer: type, inner: type) -> None:
    def exchanged(e: Expr) -> Expr:
        assert isinstance(e, (Min, Max))
        return e.replace(a=e.b, b=e.a)

    clip = "max(min(A[i], B[i]), D[i])" if outer is Max else "min(max(A[i], B[i]), D[i])"
    for value in (clip, clip.replace("A[i]", "f32(1.0) / A[i]"), f"f32(1.0) / {clip}"):
        for only in (outer, inner):
            found = judged(POINTWISE.format(value), exchanged, only, declared=False)
            assert found.status == "same", (value, only, str(found))


def test_a_zero_that_comes_from_elsewhere_keeps_its_sign() -> None:
    def plus_zero(e: Load) -> Expr:
        return Add(e, const(0.0, e.dtype), e.dtype)

    for value in ("D[i]", "D[i] - max(A[i], B[i]) * f32(0.0)"):
        assert judged(POINTWISE.format(value), plus_zero, Load, declared=False).status == "differs"


def test_a_reversed_maximum_is_the_same_for_zeros_too() -> None:
    def backwards(loop: For) -> For | None:
        if not isinstance(loop.body, Store):
            return None
        return loop.replace(body=substitute(loop.body, {loop.var: loop.end - 1 - loop.var}))

    assert judged(ROW_MAXIMUM, backwards, For, declared=False).status == "same"


@pytest.mark.parametrize(
    "value",
    [
        "ceil(A[i] + B[i] + D[i])",
        "select(A[i] + B[i] + D[i] <= f32(0.0), f32(1.0), B[i])",
        "f32(i32(A[i] * f32(1e6) + B[i] + D[i]))",
        "(A[i] + B[i] + D[i]) % f32(0.25)",
    ],
)
def test_no_bound_says_anything_where_rounding_decides_a_choice(value: str) -> None:
    found = judged(POINTWISE.format(value), to_the_right, Add, declared=True)
    assert found.status != "differs", found


def test_other_rounding_may_give_another_whole_number() -> None:
    text = POINTWISE.replace("C: f32", "C: i32").format("i32(ceil(A[i] + B[i] + D[i]))")
    found = judged(text, to_the_right, Add, declared=True)
    assert found.status != "differs", found


def test_a_wrong_pass_is_found_in_spite_of_a_choice() -> None:
    def one_more(e: Add) -> Expr | None:
        return Add(e, const(1.0, e.dtype), e.dtype) if isinstance(e.a, Add) else None

    text = POINTWISE.format("max(ceil(A[i] + B[i] + D[i]), f32(2.0))")
    found = judged(text, one_more, Add, declared=True)
    assert found.status == "differs"


@pytest.mark.parametrize(
    "value",
    sampled(
        [
            "A[i] + f32(1.0) + (A[i] + f32(1.0)) + (A[i] + f32(1.0) + (B[i] - f32(1.0)))",
            "A[i] / B[i] + D[i] + (A[i] - D[i] * f32(3.0))",
            "A[i] * f32(1e-38) + B[i] * f32(1e-30) + sqrt(abs(D[i])) * f32(1e-40)",
        ],
        every=3,
    ),
)
def test_terms_that_cancel_leave_a_large_error(value: str) -> None:
    for text in (POINTWISE, POINTWISE.replace("f32[", "f64[")):
        written = value.replace("f32", "f64") if "f64[" in text else value
        found = judged(text.format(written), to_the_right, Add, declared=True)
        assert found.status != "differs", found
