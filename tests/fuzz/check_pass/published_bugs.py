"""Kinds of published miscompiles, with the phase in which each stands: wrong, and right."""

from irkit.graph import graph_rule, hole, op
from irkit.transform import AnyPass
from tests.fuzz.check_pass.published_graph_bugs import (
    flatten_negations,
    joined,
    of_rules,
    reciprocal,
    relu_of_add,
    relu_of_maximum,
    slices,
    sums,
)
from tests.fuzz.check_pass.published_loop_bugs import LOOPS

x, y = hole("x"), hole("y")

WRONG: tuple[tuple[AnyPass, int], ...] = (
    *((p, 0) for p in LOOPS),
    (of_rules("compose-transposes", joined(False)), 0),
    (of_rules("relu-of-add", graph_rule("relu", op("relu", op("add", x, y)), relu_of_add)), 0),
    (of_rules("multiply-reciprocal", reciprocal(False)), 0),
    (of_rules("join-maxima", sums(False)), 0),
    (of_rules("cut-concat", slices(False)), 0),
    (flatten_negations, 0),
)
RIGHT: tuple[tuple[AnyPass, int], ...] = (
    *((p.using(legal=True), 0) for p in LOOPS),
    (of_rules("right-transposes", joined(True)), 0),
    (
        of_rules(
            "relu-of-maximum", graph_rule("relu", op("relu", op("maximum", x, y)), relu_of_maximum)
        ),
        0,
    ),
    (of_rules("right-reciprocal", reciprocal(True)), 0),
    (of_rules("right-maxima", sums(True)), 0),
    (of_rules("right-cut", slices(True)), 0),
)
