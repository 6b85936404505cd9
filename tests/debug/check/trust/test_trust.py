"""How many small changes to the result of a step its inputs would notice."""

import numpy as np
import pytest

from irkit.core import rewrite
from irkit.debug import CheckOptions, Trust, Verdict, verdicts
from irkit.debug.check.trust.mutants import mutants
from irkit.ir import LOOP_LEVEL, Const, Expr, Mul, PrimFunc, parse, verify
from irkit.proof import has_z3
from irkit.transform import Phase, Pipeline, define_pass

DOUBLED = """\
def f(A: f32[4], C: f32[4]):
    for i in serial(0, 4):
        C[i] = A[i] * f32(2.0)
"""
GUARDED = """\
def f(A: f32[4], C: f32[4]):
    for i in serial(0, 4):
        if i < 7:
            C[i] = A[i % 9] * f32(2.0)
"""


EXPRESSIONS = """\
def g(A: f32[9], I: i32[9], n: i64):
    for i in serial(0, min(n, 4)):
        if i % 2 == 0 and A[i] <= f32(2.0):
            A[i] = select(A[i] < A[i + 1], A[i] / f32(3.0), max(A[i], f32(1.0)))
            I[i] = I[i] // i32(3) + I[i + 1] % i32(5) - I[i]
        t: i32 = I[i] * i32(2)
        I[i] = t
"""


@define_pass
def add_instead(func: PrimFunc) -> PrimFunc:
    """Double by adding."""

    def rule(node: Mul) -> Expr | None:
        match node:
            case Mul(a, Const(2.0)):
                return a + a
            case _:
                return None

    return rewrite(func, rule, on=Mul)


def verdict_on(text: str, **options: object) -> Verdict:
    pipeline = Pipeline(LOOP_LEVEL, (Phase(0, "only", (add_instead,)),))
    settings = CheckOptions(**{"trust_in": frozenset({"add-instead"}), **options})  # pyright: ignore[reportArgumentType] -- as given
    (verdict,) = verdicts(pipeline.steps(parse(text)), settings)
    assert verdict.status == "same"
    return verdict


def test_inputs_that_tell_every_mutant_kill_all() -> None:
    trust = verdict_on(DOUBLED).trust
    assert trust is not None
    assert trust.killed == trust.tried >= 4
    assert str(trust) == f"{trust.tried} of {trust.tried} mutants differ"


def test_a_mutant_that_the_inputs_do_not_notice_is_named_with_its_line() -> None:
    trust = verdict_on(DOUBLED, inputs={"A": np.zeros(4, np.float32)}).trust
    assert trust is not None
    assert trust.killed < trust.tried
    assert "line 3 `A[i] + A[i]` to `A[i] - A[i]`" in trust.survivors
    assert "; not killed: " in str(trust)


@pytest.mark.skipif(not has_z3(), reason="no z3, without which nothing is proved")
def test_mutants_that_are_equal_are_left_out() -> None:
    func = parse(GUARDED)
    changes = [each.change for each in mutants(func, add_instead(func))]
    assert "`9` to `10`" in changes
    assert "`7` to `8`" not in changes
    trust = verdict_on(GUARDED).trust
    assert trust is not None
    assert not trust.survivors


def test_only_the_places_that_changed_are_mutated() -> None:
    func = parse(DOUBLED)
    assert not list(mutants(func, func))
    assert {each.line for each in mutants(func, add_instead(func))} == {3}


def test_passes_that_nobody_asked_about_get_no_number() -> None:
    nobody = frozenset[str]()
    assert verdict_on(DOUBLED, trust_in=nobody).trust is None
    assert isinstance(verdict_on(DOUBLED, trust_in=nobody, trust=True).trust, Trust)


def test_every_kind_of_expression_that_is_mutated_makes_a_valid_function() -> None:
    after = parse(EXPRESSIONS)
    made = list(mutants(parse(DOUBLED), after))
    assert len(made) >= 20
    assert not [each for each in made if verify(each.func)]
    assert {"dropped", "the condition negated", "statements 1 and 2 swapped"} <= {
        each.change for each in made
    }
