"""Programs have what a pass looks for, and are valid and defined whatever it is."""

import pytest

from irkit.core import rewrite, walk
from irkit.debug import input_sets
from irkit.fuzz.generators.aimed.aim import PassAim, aim_of
from irkit.fuzz.generators.aimed.aimed_programs import aimed_function, planted
from irkit.fuzz.generators.aimed.match_patterns import patterns_in
from irkit.fuzz.generators.aimed.opportunities import opportunities
from irkit.fuzz.generators.aimed.own_passes import own_aims, own_passes
from irkit.fuzz.generators.loops.loop_functions import loop_function
from irkit.fuzz.picks import picks_of
from irkit.ir import (
    LT,
    Add,
    Binary,
    Call,
    Cast,
    Compare,
    Const,
    Div,
    Expr,
    For,
    Hole,
    InterpretedFunction,
    Mul,
    PrimFunc,
    verify,
)
from irkit.transform import AnyPass, define_pass
from tests.fuzz.check_pass import right_passes, right_rules

RULES = (
    right_rules.use_shifts,
    right_rules.use_identities,
    right_rules.turn_comparisons,
    right_rules.factor_out,
    right_rules.squares,
)


@define_pass
def about_loops(func: PrimFunc, *, lanes: int = 12) -> PrimFunc:
    """Mention two kinds of loops, and a number."""
    kinds = ("vectorized", "thread")
    assert all(loop.kind in kinds for loop in walk(func, For)) or lanes
    return func


def square(call: Call) -> Expr | None:
    match call:
        case Call("pow", (x, Const(2.0))):
            return x * x
        case Mul(Div(), _) | Mul(_, Cast(value=Const())):
            return None
        case _:
            return None


@pytest.mark.parametrize("p", [*RULES, right_passes.interchange, about_loops], ids=str)
def test_programs_are_valid_and_run(p: AnyPass) -> None:
    aim = aim_of(p)
    for number in range(12):
        picks = picks_of(number)
        func = opportunities(picks, aim) if number % 2 else loop_function(picks)
        made = planted(func, picks, aim)
        assert not verify(made), made.script()
        for inputs in input_sets(made, samples=2):
            InterpretedFunction(made)(*inputs.copied())


@pytest.mark.parametrize("p", RULES, ids=str)
def test_a_pass_of_rules_finds_something_in_most_programs(p: AnyPass) -> None:
    aim = aim_of(p)
    funcs = [opportunities(picks_of(number), aim) for number in range(20)]
    made = [planted(func, picks_of(number), aim) for number, func in enumerate(funcs)]
    assert sum(p(func) is not func for func in made) >= 12
    assert sum(p(func) is not func for func in funcs) <= 10


def test_the_source_of_a_pass_tells_kinds_of_loops_and_numbers() -> None:
    aim = aim_of(about_loops.using(lanes=6))
    assert {"vectorized", "thread"} <= set(aim.kinds)
    assert {6, 12} <= set(aim.numbers)
    assert aim.statements == (For,)
    loops = [
        loop for number in range(60) for loop in walk(opportunities(picks_of(number), aim), For)
    ]
    assert {"vectorized", "serial"} <= {loop.kind for loop in loops}
    assert any(loop.kind == "thread" for loop in loops)
    assert sum(loop.end == Const(12, loop.end.dtype) for loop in loops) > 5


def quotient(div: Div) -> Expr | None:
    return None if div.b == Const(5.0, div.dtype) else div


@define_pass
def about_quotients(func: PrimFunc) -> PrimFunc:
    """Apply a rule that stands elsewhere."""
    return rewrite(func, quotient)


def test_the_classes_of_a_rule_are_those_of_its_annotation() -> None:
    aim = aim_of(about_quotients)
    assert aim.classes == (Div, Const)
    assert aim.numbers == (5.0,)


def test_patterns_of_match_statements_are_read() -> None:
    power, quotient, product = patterns_in(square)
    assert isinstance(power, Call)
    assert power.name == "pow"
    assert power.args[1] == Const(2.0, power.dtype)
    assert isinstance(quotient, Mul)
    assert isinstance(quotient.a, Div)
    assert isinstance(product, Mul)
    assert isinstance(product.b, Cast)
    assert isinstance(product.b.value, Hole)
    assert product.b.value.on is Const


def any_comparison(node: Expr) -> Expr | None:
    match node:
        case Compare(a=Binary(), b=Const(0)):
            return node
        case _:
            return None


def test_a_class_of_several_operations_stands_for_one_of_them() -> None:
    (pattern,) = patterns_in(any_comparison)
    assert isinstance(pattern, LT)
    assert isinstance(pattern.a, Add)


@pytest.mark.parametrize("name", [p.name for p in own_passes()])
def test_programs_for_each_pass_of_irkit_are_valid_and_defined(name: str) -> None:
    aim = dict(zip([p.name for p in own_passes()], own_aims(), strict=True))[name]
    for number in range(8):
        func = aimed_function(picks_of(number), aim)
        assert verify(func) == []
        InterpretedFunction(func)(*input_sets(func, samples=1)[0].copied())


def test_nothing_is_run_and_no_source_is_needed() -> None:
    names: dict[str, object] = {"PrimFunc": PrimFunc}
    exec("def unknown(func: PrimFunc) -> PrimFunc:\n    return func / 0\n", names)
    p = define_pass(names["unknown"])  # pyright: ignore[reportArgumentType, reportCallIssue] -- any
    assert aim_of(p).patterns == ()
    assert PassAim().has_expressions is False
