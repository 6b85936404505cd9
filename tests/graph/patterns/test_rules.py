"""Rules replace what they match until nothing matches, and say why they leave something."""

import pytest

from irkit.core import IRKitError, Recorder, recording
from irkit.graph import (
    GraphFunc,
    Match,
    Replacement,
    Value,
    apply_rules,
    graph_rule,
    hole,
    op,
    parse,
)

TWICE = op("negative", op("negative", hole("x")))
BACK = graph_rule("negative-twice", TWICE, lambda b, m: m["x"])
PROGRAM = """\
def main(x: f32[2]):
    a = negative(x)
    b = negative(a)
    c = negative(b)
    d = negative(c)
    return d
"""


def applied(func: GraphFunc) -> GraphFunc:
    return apply_rules(func, "test", (BACK,))


def test_rules_are_applied_until_none_changes_anything() -> None:
    assert applied(parse(PROGRAM)).body.result.name == "x"


def test_what_nothing_matches_is_left_alone() -> None:
    func = parse(
        PROGRAM.replace("b = negative(a)", "b = relu(a)").replace("d = neg", "d = relu(c)#")
    )
    assert applied(func) is func


def test_an_operator_with_other_uses_stays_unless_it_may_be_shared() -> None:
    func = parse(PROGRAM.replace("return d", "e = add(c, a)\n    f = add(e, d)\n    return f"))
    with recording(Recorder()) as recorder:
        applied(func)
    assert "negative-twice: a has other uses: left as it is" in [e.text for e in recorder.remarks]
    shared = graph_rule("negative-twice", TWICE, lambda b, m: m["x"], shared=True)
    after = apply_rules(func, "test", (shared,))
    assert after.script().count("negative") == 2


def test_each_application_is_reported_and_can_be_switched_off() -> None:
    func = parse(
        PROGRAM.replace("    c = negative(b)\n    d = negative(c)\n", "").replace("n d", "n b")
    )
    with recording(Recorder(keep=True)) as recorder:
        assert applied(func) is not func
    assert [each.rule for each in recorder.applications] == ["negative-twice"]
    with recording(Recorder(frozenset({0}))):
        assert applied(func) is func


def test_a_replacement_has_the_place_of_what_it_replaces_and_names_after_it() -> None:
    def square(b: Replacement, m: Match) -> Value:
        return b.op("multiply", b.op("abs", m["x"]), m["x"])

    func = parse("def main(x: f32[2]):\n    a = tanh(x)\n    return a\n")
    after = apply_rules(func, "test", (graph_rule("square", op("tanh", hole("x")), square),))
    assert [bind.var.name for bind in after.body.bindings] == ["a_abs", "a"]
    assert {bind.span for bind in after.body.bindings} == {func.body.bindings[0].span}


def test_a_replacement_of_another_type_names_its_rule() -> None:
    wrong = graph_rule("wrong", op("negative", hole("x")), lambda b, m: b.op("isnan", m["x"]))
    with pytest.raises(IRKitError, match="rule 'wrong' gives another type"):
        apply_rules(parse(PROGRAM), "test", (wrong,))


def test_rules_without_an_end_are_named() -> None:
    again = graph_rule("again", op("negative", hole("x")), lambda b, m: b.op("negative", m["x"]))
    with pytest.raises(IRKitError, match="'test' reached no fixpoint in 1000 rounds"):
        apply_rules(
            parse("def main(x: f32[2]):\n    a = negative(x)\n    return a\n"), "test", (again,)
        )
