from pathlib import Path

import pytest

from irkit.core import (
    IRKitError,
    Node,
    Recorder,
    Rule,
    Rules,
    Span,
    first,
    fixpoint,
    recording,
    rewrite,
)
from irkit.ir import I64, Add, Const, Evaluate, Expr, Load, Mul, Neg, Not, Store, Var

ONE, TWO = Const(1, I64), Const(2, I64)
X = Var("x")


def two_negations(node: Neg) -> Expr | None:
    return node.a.a if isinstance(node.a, Neg) else None


def sum_of_ones(node: Add) -> Expr | None:
    return TWO if node.a == ONE == node.b else None


ARITHMETIC = Rules("arithmetic", two_negations, sum_of_ones)


def negations(count: int, leaf: Expr = X) -> Expr:
    for _ in range(count):
        leaf = Neg(leaf, I64)
    return leaf


def test_a_rule_has_the_name_of_its_function_its_classes_and_its_line() -> None:
    rule = ARITHMETIC["two-negations"]
    assert rule.on == (Neg,)
    assert rule.span is not None
    line = Path(__file__).read_text().splitlines()[rule.span.line - 1]
    assert line == "def two_negations(node: Neg) -> Expr | None:"
    assert Rule.of(lambda node: ONE, on=(Add, Mul), name="fold").on == (Add, Mul)


def test_a_rule_about_several_classes_says_so_in_its_annotation() -> None:
    def access(node: Load | Store) -> Node | None:
        return None

    def anything(node):  # pyright: ignore
        return None

    assert Rules("x", access).rules[0].on == (Load, Store)
    assert Rules("x", anything).rules[0].on == (Node,)


def test_rules_fire_on_their_classes_and_leave_the_rest_alone() -> None:
    root = Add(Neg(Neg(ONE, I64), I64), ONE, I64)
    assert rewrite(root, ARITHMETIC) is TWO
    other = Mul(X, Not(X, I64), I64)
    assert rewrite(other, ARITHMETIC) is other
    assert ARITHMETIC.table[Mul] is None
    assert ARITHMETIC(X) is None
    assert rewrite(root, ARITHMETIC, on=Add) is root


def test_the_recorder_gets_the_rule_and_where_it_is_defined() -> None:
    root = Add(Neg(Neg(ONE, I64), I64), ONE, I64)
    with recording(Recorder(keep=True)) as recorder:
        rewrite(root, ARITHMETIC)
    assert [each.rule for each in recorder.applications] == ["two-negations", "sum-of-ones"]
    assert [each.span for each in recorder.applications] == [r.span for r in ARITHMETIC]
    with recording(Recorder(frozenset({0}))) as recorder:
        assert rewrite(root, ARITHMETIC) is root
    assert recorder.count == 1


def test_sets_of_rules_can_be_joined_and_reduced() -> None:
    joined = Rules("all", ARITHMETIC, Rule.of(lambda node: ONE, on=Var, name="ones"))
    assert [rule.name for rule in joined] == ["two-negations", "sum-of-ones", "ones"]
    assert rewrite(Add(X, X, I64), joined) is TWO
    assert rewrite(Add(X, X, I64), joined.without("sum-of-ones")) == Add(ONE, ONE, I64)
    assert first(ARITHMETIC, lambda node: ONE)(X) is ONE


def test_malformed_rules_are_errors() -> None:
    with pytest.raises(IRKitError, match="has two rules 'sum-of-ones'"):
        Rules("twice", sum_of_ones, Rule.of(lambda node: ONE, name="sum-of-ones"))
    with pytest.raises(IRKitError, match="no rule 'zero'; it has: two-negations, sum-of-ones"):
        ARITHMETIC.without("zero")

    def wrong(node: int) -> None: ...
    def unknown(node: "Nowhere") -> None: ...  # pyright: ignore # noqa: F821

    with pytest.raises(IRKitError, match="'wrong': its first parameter must be annotated"):
        Rules("x", wrong)
    with pytest.raises(IRKitError, match="'unknown': its annotations cannot be read"):
        Rules("x", unknown)


def test_fixpoint_rules_are_applied_at_one_place_until_none_fires() -> None:
    def peel(node: Neg) -> Expr:
        return node.a

    stable = fixpoint(Rules("peel", peel), 5)
    assert stable(negations(5)) is X
    assert stable(X) is None
    with recording(Recorder(keep=True)) as recorder:
        assert rewrite(negations(3), stable) is X
    # Children first: each node is peeled when it is met.
    assert [each.rule for each in recorder.applications] == ["peel"] * 3

    def grow(node: Var) -> Expr | None:
        return negations(4) if node is X else None

    both = fixpoint(Rules("both", grow, peel), 3)
    with pytest.raises(IRKitError, match="'peel' of 'fixpoint\\(both\\)' reached no fixpoint"):
        both(negations(6, ONE))


def test_each_firing_of_fixpoint_rules_is_an_application_that_can_be_switched_off() -> None:
    def count_down(node: Const) -> Expr | None:
        return Const(node.value - 1, I64) if node.value else None

    stable = fixpoint(Rules("count", count_down), 9)
    with recording(Recorder(keep=True)) as recorder:
        assert rewrite(Const(4, I64), stable) == Const(0, I64)
    assert [each.number for each in recorder.applications] == [0, 1, 2, 3]
    with recording(Recorder(frozenset({2}))):
        assert rewrite(Const(4, I64), stable) == Const(2, I64)


def test_rules_without_a_fixpoint_are_named_with_the_node() -> None:
    def flip(node: Evaluate) -> Evaluate:
        return node.replace(value=Neg(node.value, I64))

    span = Span("text", file="a.irs", line=3)
    with pytest.raises(
        IRKitError, match=r"a\.irs:3: 'flip' of .* reached no fixpoint in 7 rounds at Evaluate"
    ):
        rewrite(Evaluate(X, span=span), fixpoint(Rules("loop", flip), 7))
    with pytest.raises(IRKitError, match="reached no fixpoint in 7 rounds at Evaluate"):
        fixpoint(flip, 7)(Evaluate(X))


def test_the_applied_callback_gets_only_rewrites_that_took_place() -> None:
    applied: list[tuple[Node, Node]] = []
    root = Add(Neg(Neg(ONE, I64), I64), Neg(Neg(ONE, I64), I64), I64)
    with recording(Recorder(frozenset({0}))):
        rewrite(root, ARITHMETIC, applied=lambda a, b: applied.append((a, b)))
    assert applied == [(root.b, ONE)]


def test_a_tree_of_10_000_levels_is_rewritten() -> None:
    assert rewrite(negations(10_000), ARITHMETIC) is X
