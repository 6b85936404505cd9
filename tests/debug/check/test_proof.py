"""A proof as part of a verdict."""

import pytest

from irkit.core import rewrite, substitute
from irkit.debug.check import proof
from irkit.debug.report.tables import verdict_table
from irkit.ir import Const, Expr, FloorDiv, For, Load, Mul, PrimFunc, Store, eq, if_then_else, parse
from irkit.proof import StepProof
from irkit.transform import define_pass
from tests.debug.check.test_check import verdict

pytest.importorskip("z3")

START = parse("""
def f(A: i64[n], C: i64[n], x: i64):
    for i in serial(0, n):
        C[i] = A[i] // 3 // 5 + x * 2
""")


@define_pass
def one_division(func: PrimFunc) -> PrimFunc:
    """Divide once instead of twice."""

    def once(node: FloorDiv) -> Expr | None:
        match node:
            case FloorDiv(FloorDiv(x, Const(int(a))), Const(int(b))):
                return x // (a * b)
            case _:
                return None

    return rewrite(func, once, on=FloorDiv)


@define_pass
def wrong_for_one_scalar(func: PrimFunc) -> PrimFunc:
    """Compute another number where a scalar argument is a certain number."""

    def change(node: Mul) -> Expr:
        return if_then_else(eq((node.a ^ (node.a >> 7)) * 5 + 3, 0x5DEECE66D), node.a, node)

    return rewrite(func, change, on=Mul)


@define_pass
def wrong_for_one_element(func: PrimFunc) -> PrimFunc:
    """Compute another number where an element is a certain number."""

    def change(node: Store) -> Store:
        (load,) = (node.value.a.a.a,)  # type: ignore[attr-defined]
        assert isinstance(load, Load)
        rare = eq((load ^ (load >> 7)) * 3 + 1, 0x5DEECE66D * 7)
        return node.replace(value=if_then_else(rare, node.value + 1, node.value))

    return rewrite(func, change, on=Store)


@define_pass
def reversed_loops(func: PrimFunc) -> PrimFunc:
    """Run loops backwards."""

    def backwards(loop: For) -> For:
        return loop.replace(body=substitute(loop.body, {loop.var: loop.end - 1 - loop.var}))

    return rewrite(func, backwards, on=For)


def test_a_proof_is_the_basis_of_a_verdict() -> None:
    found = verdict(START, one_division, prove=True)
    assert (found.status, found.basis, found.unproved) == ("same", "proved", "")
    assert verdict(START, one_division).basis == "tested"


def test_what_is_right_and_not_proved_was_tested() -> None:
    found = verdict(START, reversed_loops, prove=True)
    assert (found.status, found.basis) == ("same", "tested")
    assert "i became n - 1 - i, which differs at" in found.unproved
    assert found.sizes.startswith("n = 0, 1, 2, 3, ")
    (row,) = verdict_table([found]).columns[-1].cells
    assert str(row).startswith(f"proved for {found.sizes}; tested on ")
    assert "not for all values: i became n - 1 - i" in str(row)


@pytest.mark.parametrize("wrong", [wrong_for_one_scalar, wrong_for_one_element])
def test_values_that_no_test_tries_are_found_and_run(wrong: object) -> None:
    assert verdict(START, wrong).status == "same"  # type: ignore[arg-type]
    found = verdict(START, wrong, prove=True)  # type: ignore[arg-type]
    assert found.status == "differs"
    assert found.buffer == "C"
    assert "values of a refutation" in found.inputs


def test_what_was_run_decides_against_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    def anything(*args: object) -> StepProof:
        return StepProof(True)

    monkeypatch.setattr(proof, "prove_step", anything)

    @define_pass
    def drop(func: PrimFunc) -> PrimFunc:
        """Write 7."""
        return rewrite(func, lambda node: node.replace(value=Const(7, node.value.dtype)), on=Store)

    found = verdict(START, drop, prove=True)
    assert found.status == "differs"
    assert "a fault of irkit" in found.unproved


@define_pass
def in_any_order(func: PrimFunc) -> PrimFunc:
    """Make every outermost loop parallel, which need not be right."""

    def marked(loop: For) -> For:
        return loop.replace(kind="parallel")

    return rewrite(func, marked)


@pytest.mark.parametrize(
    ("index", "answer", "status"),
    [("(i + x) % n", "independent", "same"), ("i % 1000", "carried", "races")],
)
def test_the_order_of_iterations_is_proved_or_refuted(index: str, answer: str, status: str) -> None:
    func = parse(f"""
def f(A: f32[n], C: f32[n], x: i64):
    assert x >= 0 and x < 1000, "x"
    for i in serial(0, n):
        C[{index}] = A[i]
""")
    tested = verdict(func, in_any_order)
    assert [each.answer for each in tested.orders] == ["not known"]
    proved = verdict(func, in_any_order, prove=True)
    assert proved.status == status
    assert [(each.answer, each.loop) for each in proved.orders] == [(answer, "i")]
