"""Symbols that are bound twice get new names."""

import pytest
from hypothesis import given, settings

from irkit.core import IRKitError, same
from irkit.fuzz.generators.loops.loop_functions import arguments, prim_funcs
from irkit.ir import Expr, For, If, PrimFunc, Seq, interpret, parse, script, seq, verify
from irkit.passes.loop import convert_ssa
from tests.draws import few_or_all
from tests.passes.loop.programs import func


@settings(max_examples=few_or_all(16, 40), deadline=None, derandomize=True)
@given(prim_funcs())
def test_a_body_copied_without_fresh_is_repaired(func: PrimFunc) -> None:
    careless = func.replace(body=seq(func.body, func.body))
    made = convert_ssa(careless)
    assert verify(made) == []
    # What it should have been: each copy alone, one after the other.
    arrays = arguments(func)
    interpret(func, *arrays)
    interpret(func, *arrays)
    again = arguments(func)
    interpret(made, *again)
    for a, b in zip(arrays, again, strict=True):
        assert getattr(a, "tobytes", lambda a=a: a)() == getattr(b, "tobytes", lambda b=b: b)()
    assert convert_ssa(made) is made
    assert same(parse(script(made)), made)


def test_a_use_belongs_to_the_innermost_definition() -> None:
    given = func("for i in serial(0, 4):", "    for j in serial(i, 8):", "        C[j] = A[i]")
    outer = given.body
    assert isinstance(outer, For)
    inner = outer.body
    assert isinstance(inner, For)
    # `for i: for i in (i, 8)`: the begin is the outer variable, the body speaks of the inner one.
    made = convert_ssa(
        given.replace(body=outer.replace(body=inner.replace(var=outer.var, body=inner.body)))
    )
    assert "for i_1 in serial(i, 8):" in script(made)
    assert "= A[i_1]" in script(made)


def test_copies_of_copies_without_end_are_an_error() -> None:
    given = func("C[0] = A[0]")
    body = given.body
    for _ in range(60):
        body = Seq((If(parse_cond(), body), If(parse_cond(), body)))
    with pytest.raises(IRKitError, match="shared between several places"):
        convert_ssa(given.replace(body=body))


def parse_cond() -> Expr:
    branch = func("if 0 < 1:", "    C[0] = A[0]").body
    assert isinstance(branch, If)
    return branch.cond
