"""What was valid before needs no second look, and hides no problem of what is around it."""

import gc

import pytest
from hypothesis import given, settings, strategies as st

from irkit.core import Node, rewrite, substitute, walk
from irkit.fuzz.generators.loops.loop_functions import prim_funcs
from irkit.ir import Const, Expr, For, Load, PrimFunc, Store, Var, eq, parse, seq, verify
from irkit.ir.verify.valid_expressions import remember_valid, valid_before
from tests.draws import few_or_all

TEXT = """
def f(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        C[i] = A[i + 0]
    for j in serial(0, 8):
        C[j] = A[j + 1 - 1]
"""


def forgotten() -> None:
    other = parse("def g():\n    pass\n")
    remember_valid(other, {})
    del other
    gc.collect()
    assert valid_before() == (None, {})


def anew(func: PrimFunc) -> list[str]:
    """List the problems that are found without anything known."""
    forgotten()
    return [problem.message for problem in verify(func)]


def after(before: PrimFunc, func: PrimFunc) -> list[str]:
    """List the problems that are found where ``before`` was verified last."""
    forgotten()
    assert verify(before) == []
    assert valid_before()[0] is before
    return [problem.message for problem in verify(func)]


def moved(func: PrimFunc) -> PrimFunc:
    """Use the expressions of the first loop in the second."""
    first, second = walk(func.body, For)
    return func.replace(body=seq(first, second.replace(body=first.body)))


def test_a_valid_expression_outside_of_its_scope_is_reported() -> None:
    before = parse(TEXT)
    found = after(before, moved(before))
    assert found == anew(moved(before))
    assert any("outside of its scope" in message for message in found)


def test_a_new_expression_is_checked() -> None:
    before = parse(TEXT)

    def wrong(node: Load) -> Load:
        return node.replace(indices=(*node.indices, *node.indices))

    func = rewrite(before, wrong)
    found = after(before, func)
    assert found == anew(func)
    assert len(found) == 2


def test_a_valid_expression_in_the_wrong_field_is_reported() -> None:
    before = parse(TEXT)
    index = next(walk(before.body, Store)).indices[0]
    broken = before.replace(body=index)
    assert after(before, broken) == anew(broken) != []


def test_nothing_is_known_once_the_function_is_gone() -> None:
    func = parse(TEXT)
    assert verify(func) == []
    assert valid_before()[1]
    del func
    gc.collect()
    assert valid_before() == (None, {})


WRONG = ["constant", "type", "scope", "indices", "field"]


@settings(max_examples=few_or_all(16, 40), deadline=None, derandomize=True)
@given(prim_funcs(), st.sampled_from(WRONG), st.integers(0, 20))
def test_what_is_known_changes_no_answer(func: PrimFunc, what: str, at: int) -> None:
    changed = damaged(func, what, at)
    assert after(func, changed) == anew(changed)


def damaged(func: PrimFunc, what: str, at: int) -> PrimFunc:
    """Break one access or loop of a function, if it has as many."""
    counted = iter(range(1 << 20))

    def damage(node: Store | For) -> Node | None:
        if next(counted) != at:
            return None
        match node:
            case Store() if what == "indices":
                return node.replace(indices=node.indices[1:])
            case Store() if what == "field":
                return node.replace(indices=[*node.indices])
            case Store() if what == "type":
                return node.replace(value=eq(node.value, node.value))
            case For() if what == "scope":
                return node.replace(var=Var("other", node.var.dtype))
            case For() if what == "constant":
                wrong: dict[Node, Expr] = {node.var: Const(1.5, node.var.dtype)}
                return node.replace(body=substitute(node.body, wrong))
            case _:
                return None

    return rewrite(func, damage, on=(Store, For))


@pytest.mark.parametrize("what", WRONG)
def test_the_damage_of_these_tests_is_found(what: str) -> None:
    found = [anew(damaged(parse(TEXT), what, at)) for at in range(4)]
    assert any(found)
