"""How many small changes to the result of a step over a graph its inputs would notice."""

import numpy as np

from irkit.core import rewrite
from irkit.debug import Trust
from irkit.debug.check.trust.graph_mutants import graph_mutants
from irkit.graph import Builder, GraphFunc, Op
from tests.debug.check.test_graph_steps import judged


def difference() -> GraphFunc:
    b = Builder("main")
    x, y = b.param("x", (2, 8)), b.param("y", (2, 8))
    total = b.op("subtract", x, b.op("negative", y, name="turned"), name="total")
    one = b.constant(np.ones((2, 8), np.float32), name="one")
    return b.finish(b.op("add", b.op("relu", total, name="positive"), one, name="z"))


def with_sum(func: GraphFunc) -> GraphFunc:
    """Add instead of subtracting the negative."""

    def rule(op: Op) -> Op | None:
        x, y = func.params
        return op.replace(name="add", args=(x, y)) if op.name == "subtract" else None

    return rewrite(func, rule, on=Op)


def test_the_inputs_of_a_graph_step_tell_its_mutants() -> None:
    trust = judged(difference(), with_sum, trust=True).trust
    assert isinstance(trust, Trust)
    assert trust.killed == trust.tried >= 1


def test_a_mutant_of_a_graph_that_the_inputs_do_not_notice_is_named_with_its_node() -> None:
    zeros = {"x": np.zeros((2, 8), np.float32), "y": np.zeros((2, 8), np.float32)}
    trust = judged(difference(), with_sum, trust=True, inputs=zeros).trust
    assert trust is not None
    assert "node total: `add` to `subtract`" in trust.survivors


def test_every_kind_of_change_is_made() -> None:
    b = Builder("main")
    empty = b.finish(b.param("x", (2, 8)))
    b = Builder("main")
    x = b.param("x", (4, 4))
    turned = b.op("transpose", x, axes=(1, 0), name="turned")
    made = b.op("subtract", turned, b.constant(np.ones((4, 4), np.float32), name="one"), name="z")
    changes = {str(each) for each in graph_mutants(empty, b.finish(made))}
    assert {
        "node z: its operands swapped",
        "node z: `subtract` to `add`",
        "node z: bypassed by turned",
        "node turned: bypassed by x",
        "node turned: axes is (0, 1)",
        "node one: its last element moved by 1",
    } <= changes


def test_only_the_nodes_that_changed_are_mutated() -> None:
    before = difference()
    after = with_sum(before)
    assert not list(graph_mutants(before, before))
    assert {each.node for each in graph_mutants(before, after)} == {"total"}
    assert judged(before, with_sum).trust is None
