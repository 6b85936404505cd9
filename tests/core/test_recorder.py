"""What a recorder reports on each rule: hits, seconds, and the rounds to a fixpoint."""

import time
from collections.abc import Callable

import pytest

from irkit.core import IRKitError, Node, Recorder, Rules, Span, fixpoint, recording, rewrite
from irkit.ir import I64, Add, Const, Expr, Neg, Var

X = Var("x")


def peel(node: Neg) -> Expr:
    return node.a


def slow(node: Add) -> None:
    time.sleep(0.01)


def negations(count: int) -> Expr:
    node: Expr = X
    for _ in range(count):
        node = Neg(node, I64)
    return node


def recorded(
    change: Callable[[Expr], object], *, disabled: frozenset[int] = frozenset(), timed: bool = False
) -> Recorder:
    with recording(Recorder(disabled, timed=timed)) as recorder:
        change(Add(negations(3), negations(2), I64))
    return recorder


def by_rules(node: Expr) -> Expr:
    return rewrite(node, Rules("all", peel, slow))


def by_function(node: Expr) -> Expr:
    return rewrite(node, slow)


def test_hits_are_counted_by_rule_with_the_place_of_the_rule() -> None:
    reports = recorded(by_rules).rules
    assert {name: each.hits for name, each in reports.items()} == {"peel": 5}
    span = reports["peel"].span
    assert isinstance(span, Span)
    assert span.file == __file__


def test_an_application_that_must_not_happen_is_no_hit() -> None:
    recorder = recorded(by_rules, disabled=frozenset({1, 2}))
    # What is not peeled stays below what would have been peeled after it.
    assert recorder.count == 5
    assert recorder.rules["peel"].hits == 3


@pytest.mark.parametrize("change", [by_rules, by_function])
def test_time_is_measured_only_if_asked_for_and_of_rules_that_never_fire_too(
    change: Callable[[Expr], Expr],
) -> None:
    assert [each.seconds for each in recorded(change).rules.values() if each.seconds] == []
    reports = recorded(change, timed=True).rules
    assert reports["slow"].seconds >= 0.01
    assert reports["slow"].hits == 0
    if "peel" in reports:
        assert 0 < reports["peel"].seconds < reports["slow"].seconds


def test_the_rounds_of_rules_repeated_at_a_node_are_the_most_at_any_node() -> None:
    def count_down(node: Const) -> Expr | None:
        return Const(node.value - 1, I64) if node.value else None

    down = fixpoint(Rules("down", count_down), 9)
    for rules in (down, Rules("several", peel, down)):
        with recording(Recorder()) as recorder:
            rewrite(Add(Const(2, I64), Add(Const(4, I64), Const(1, I64), I64), I64), rules)
        assert recorder.rules["fixpoint(down)"].rounds == 4


def test_the_rounds_and_time_of_a_repeated_pass_are_reported() -> None:
    def peel_once(node: Expr) -> Expr:
        time.sleep(0.001)
        return rewrite(node, peel) if isinstance(node, Neg) else node

    def peel_outermost(node: Neg) -> Expr:
        return node.a

    once = fixpoint(lambda node: peel_outermost(node) if isinstance(node, Neg) else node, 5)
    with recording(Recorder()) as recorder:
        assert once(negations(3)) is X
    (report,) = recorder.rules.values()
    assert (report.hits, report.rounds) == (0, 3)
    with recording(Recorder()) as recorder:
        fixpoint(peel_once, 2)(negations(3))
    assert [each.hits for each in recorder.rules.values()] == [3, 0]
    assert list(recorder.rules.values())[1].seconds >= 0.002


def test_a_rule_that_reaches_no_fixpoint_is_reported_with_what_it_did() -> None:
    def flip(node: Node) -> Node:
        return Neg(X, I64)

    with recording(Recorder()) as recorder, pytest.raises(IRKitError, match="no fixpoint"):
        rewrite(X, fixpoint(Rules("flip", flip), 3))
    assert recorder.rules["flip"].hits == 3
