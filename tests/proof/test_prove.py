"""Proofs of equal expressions, and refutations that the interpreter confirms."""

from typing import Any

import pytest

from irkit.core import IRKitError
from irkit.ir import (
    F32,
    I8,
    I64,
    U8,
    Broadcast,
    Buffer,
    Const,
    Expr,
    Load,
    Ramp,
    Var,
    const,
    ge,
    le,
    logical_and,
    lt,
    minimum,
    select,
)
from irkit.ir.arith import Interval
from irkit.proof import ProofFault, Proved, Refuted, Unknown, prove_equal, z3_module
from irkit.proof.bit_vectors import BitVectors

pytest.importorskip("z3")

x, y, n = Var("x"), Var("y"), Var("n")
WIDE = I64.with_lanes(16)
A = Buffer("A", (n,), F32)
B = Buffer("B", (n,), I64)
DIGIT = {y: Interval(0, 15)}
SMALL = {y: Interval(0, 15), x: Interval(0, 1 << 30), n: Interval(0, 1 << 30)}
row = Ramp(x, Const(1, I64), WIDE)


@pytest.mark.parametrize(
    ("before", "after", "ranges", "facts"),
    [
        (x + y, y + x, {}, ()),
        (x * (y + 1), x * y + x, {}, ()),
        (x // 3 // 5, x // 15, {}, ()),
        (x // 7 * 7 + x % 7, x, {}, ()),
        ((x * 16 + y) // 16, x, SMALL, ()),
        ((x * 16 + y) % 16, y, DIGIT, ()),
        ((x * 7 + y) // 7, x + y // 7, SMALL, ()),
        (lt(x * 16 + y, n * 16), lt(x, n), SMALL, ()),
        (minimum(x, y), x, {}, (le(x, y),)),
        (x & 3, x % 4, {}, ()),
        (x << 3, x * 8, {}, ()),
        (x ^ x, const(0, I64), {}, ()),
        (A[x + 1 - 1] * A[y], A[y] * A[x], {}, ()),
        (A[x] + const(-0.0, F32), A[x], {}, ()),
        (B[B[x * 2 // 2]], B[B[x]], SMALL, ()),
        (row - row, const(0, WIDE), {}, ()),
        (row // 16, Broadcast(x // 16, WIDE), {}, (lt(x % 16, 1), lt(x, 1 << 20))),
        (A[row + 1], A[Ramp(x + 1, Const(1, I64), WIDE)], {}, ()),
    ],
)
def test_what_is_equal_is_proved(
    before: Expr, after: Expr, ranges: dict[Var, Interval], facts: tuple[Expr, ...]
) -> None:
    assert isinstance(prove_equal(before, after, ranges, facts), Proved)


@pytest.mark.parametrize(
    ("before", "after", "ranges", "values"),
    [
        ((x * 16 + y) // 16, x, DIGIT, {"x", "y"}),
        (lt(x + 1, y + 1), lt(x, y), {}, {"x", "y"}),
        (x // 2, x >> 2, {}, {"x"}),
        (B[x] + 1, B[x], {}, {"x", "B[x]"}),
        (row // 16, Broadcast(x // 16, WIDE), {}, {"x"}),
        (select(lt(x, y), B[x], B[y]), B[x], {}, {"x", "y", "B[x]", "B[y]"}),
    ],
)
def test_what_differs_is_refuted_with_values(
    before: Expr, after: Expr, ranges: dict[Var, Interval], values: set[str]
) -> None:
    found = prove_equal(before, after, ranges)
    assert isinstance(found, Refuted), found
    assert set(found.values) == values
    assert repr(found.before) != repr(found.after)
    assert str(found).endswith(" after")


def test_a_fact_is_needed_and_used() -> None:
    inside = logical_and(ge(x, 0), lt(x, 8))
    assert isinstance(prove_equal(x % 8, x, facts=[inside]), Proved)
    assert isinstance(prove_equal(x % 8, x, facts=[lt(x, 8)]), Refuted)


def test_floats_without_an_exact_meaning_are_not_refuted() -> None:
    found = prove_equal(A[x] + A[x], A[x] * const(2.0, F32))
    assert isinstance(found, Unknown)
    assert "Add of f32" in found.reason


def test_a_masked_load_gives_0_where_it_does_not_read() -> None:
    mask = lt(row, Broadcast(n, WIDE))
    masked = Load(B, (row,), mask, WIDE)
    guarded = select(mask, B[row], const(0, WIDE))
    assert isinstance(prove_equal(masked, guarded), Proved)
    assert isinstance(prove_equal(masked, B[row]), Refuted)


def test_narrow_and_unsigned_types_wrap_around() -> None:
    a, b = Var("a", I8), Var("b", U8)
    assert isinstance(prove_equal(a + 127 + 1, a - const(-128, I8)), Proved)
    assert isinstance(prove_equal(lt(b - 1, b), ge(b, 1)), Proved)
    found = prove_equal(lt(a - 1, a), const(True, "bool"))
    assert isinstance(found, Refuted)
    assert found.values == {"a": -128}


def test_types_must_agree() -> None:
    assert isinstance(prove_equal(x, x.astype("i32")), Unknown)


def test_a_refutation_that_the_interpreter_denies_is_a_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def wrong(self: BitVectors, cls: Any, a: Any, by: int, dtype: Any) -> Any:
        return a / self.number(by, dtype)

    monkeypatch.setattr(BitVectors, "_divided_by", wrong)
    a = Var("a", I8)
    with pytest.raises(ProofFault, match="z3 and the interpreter disagree"):
        prove_equal(a // 3, select(lt(a, 0), -((2 - a) // 3), a // 3))


def test_without_z3_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    z3_module.cache_clear()
    monkeypatch.setattr("irkit.proof.solver.import_module", missing)
    with pytest.raises(IRKitError, match=r"irkit\[prove\]"):
        prove_equal(x, x + 0)
    z3_module.cache_clear()


def test_outcomes_do_not_depend_on_what_was_proved_before() -> None:
    hard = (x * y * n + x) // 7, x * (y * n + 1) // 7
    first = prove_equal(*hard, seconds=0.02)
    prove_equal(x // 3 // 5, x // 15)
    assert prove_equal(*hard, seconds=0.02) == first
