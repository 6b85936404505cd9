"""Patterns find what they describe, in any order where order does not matter, and nothing else."""

import numpy as np
import pytest

from irkit.graph import Match, Op, Value, either, hole, known, match, number, op, parse
from irkit.graph.patterns.graph_facts import GraphFacts
from irkit.graph.patterns.pattern import Pattern

PROGRAM = """\
def main(x: f32[2, 3], y: f32[2, 3]):
    a: f32[1] = constant([3.0])
    b: f32[1] = constant([4.0])
    c = add(a, b)
    d = multiply(c, x)
    e = add(d, y)
    f = add(e, e)
    g = relu(f)
    h = cast(g, dtype="i32")
    return h
"""
X, Y = hole("x"), hole("y")


def found(pattern: Pattern, name: str) -> Match | None:
    func = parse(PROGRAM)
    facts = GraphFacts(func)
    (root,) = [bind for bind in func.body.bindings if bind.var.name == name]
    return match(pattern, root, facts)


def names(result: Match | None) -> dict[str, str] | None:
    return None if result is None else {name: v.name for name, v in result.values.items()}


def test_holes_hold_operands_in_order() -> None:
    assert names(found(op("add", op("multiply", known("k"), X), Y), "e")) == {
        "k": "c",
        "x": "x",
        "y": "y",
    }


def test_a_known_hole_has_what_operators_compute_from_constants() -> None:
    result = found(op("multiply", known("k"), X), "d")
    assert result is not None
    assert result.array("k").tolist() == [7.0]
    assert found(op("multiply", X, known("k")), "d") is None


def test_commutative_operators_match_in_either_order() -> None:
    assert names(found(op("multiply", X, known("k"), commutative=True), "d")) is not None


def test_a_hole_in_two_places_stands_for_one_value() -> None:
    assert names(found(op("add", X, X), "f")) == {"x": "e"}
    assert found(op("add", X, X), "e") is None


def test_a_choice_is_taken_back_where_it_leads_to_nothing() -> None:
    inner = either(op("multiply", X, Y, name="wrong"), hole("y"))
    result = found(op("add", inner, either(op("relu", Y), hole("z"))), "e")
    assert names(result) == {"x": "c", "y": "x", "z": "y"}
    twice = op("add", either(op("add", X, Y), hole("x")), X)
    assert names(found(twice, "f")) == {"x": "e"}


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        (op("relu tanh", X), "g", True),
        (op("tanh", X), "g", False),
        (op("cast", X, where=lambda options: str(options.dtype("dtype")) == "i32"), "h", True),
        (op("cast", X, where=lambda options: str(options.dtype("dtype")) == "u8"), "h", False),
        (op("relu", hole("x", lambda value: value.name == "f")), "g", True),
        (op("relu", hole("x", lambda value: value.name == "e")), "g", False),
        (op("multiply", number(7.0), X), "d", True),
        (op("multiply", number(7.5), X), "d", False),
        (op("relu", X, Y), "g", False),
    ],
)
def test_operators_attributes_and_operands_are_asked(
    pattern: Pattern, name: str, fits: bool
) -> None:
    assert (found(pattern, name) is not None) == fits


def test_a_match_names_its_operators_and_lists_those_inside() -> None:
    result = found(op("relu", op("add", X, X, name="twice")), "g")
    assert result is not None
    assert isinstance(result.op("twice"), Op)
    assert [bind.var.name for bind in result.inside] == ["f"]
    assert result.root.var.name == "g"
    assert isinstance(result["x"], Value)
    assert np.array_equal(result.op("twice").args, [result["x"]] * 2)
