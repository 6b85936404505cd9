"""Who looks for statements enters no expression, and finds what a walk over everything finds."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings

from irkit.core import Node, binders, fields, postorder, symbols_bound, walk
from irkit.core.walk import may_be_expression, statements_postorder
from irkit.fuzz import prim_funcs
from irkit.ir import Block, Expr, For, If, Load, PrimFunc, Stmt, Store, View
from irkit.phases.default import DEFAULT
from irkit.te import Reduce
from tests.draws import few_or_all

WANTED: tuple[type[Node] | tuple[type[Node], ...], ...] = (
    Block, For, Stmt, (For, If), (Store, View), PrimFunc,
)  # fmt: skip
REWRITE: Any = import_module("irkit.core.rewrite")  # Functions of these names are in the way.
WALK: Any = import_module("irkit.core.walk")


def subclasses(cls: type[Node]) -> Iterator[type[Node]]:
    yield cls
    for each in cls.__subclasses__():
        yield from subclasses(each)


def classes_in(hint: Any) -> Iterator[type[Any]]:
    if isinstance(hint, type):
        yield hint
    for part in get_args(hint):
        yield from classes_in(part)


def test_an_expression_holds_expressions_only_and_introduces_nothing() -> None:
    found = [cls for cls in subclasses(Node) if cls.expression]
    assert len(found) > 30
    for cls in found:
        hints = get_type_hints(cls)
        for field in fields(cls):
            assert field.kind != "binder" or cls is Reduce  # It stands in no statement.
            if field.kind == "child":
                held = [each for each in classes_in(hints[field.name]) if issubclass(each, Node)]
                assert held
                assert all(each.expression for each in held), (cls, field.name)


def test_classes_that_can_be_expressions_are_known() -> None:
    assert not any(may_be_expression(on) for on in WANTED)
    assert all(may_be_expression(on) for on in (Node, Expr, Load, (Store, Load)))


@settings(
    max_examples=few_or_all(16, 40),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(prim_funcs())
def test_walks_for_statements_find_all_of_them_in_order(func: PrimFunc) -> None:
    whole = [*walk(func)]
    for on in WANTED:
        found = [*walk(func, on)]
        wanted = [node for node in whole if isinstance(node, on)]
        assert all(a is b for a, b in zip(found, wanted, strict=True))
    bound = [symbol for node in whole for symbol in binders(node)]
    assert all(a is b for a, b in zip(symbols_bound(func), bound, strict=True))
    below = [node for node in postorder(func) if not node.expression]
    assert all(a is b for a, b in zip(statements_postorder(func), below, strict=True))


@settings(
    max_examples=few_or_all(16, 40),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(prim_funcs())
def test_the_phases_give_the_same_with_and_without_the_shortcut(func: PrimFunc) -> None:
    quick = DEFAULT.run(func).script()
    with pytest.MonkeyPatch.context() as patch:

        def enter_all(on: object) -> bool:
            return True

        patch.setattr(WALK, "may_be_expression", enter_all)
        patch.setattr(REWRITE, "may_be_expression", enter_all)
        assert DEFAULT.run(func).script() == quick
