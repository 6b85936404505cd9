"""A result that is written over a parameter stays one that a step computes, after every pass on
graphs, and is computed after the last read of the parameter."""

import random

import numpy as np
import pytest

from irkit.graph import (
    GraphFunc,
    StatePair,
    apply_rules,
    graph_rule,
    hole,
    interpret,
    op,
    parse,
    results_of,
    script,
    verify,
    with_state,
)
from irkit.passes.graph import (
    eliminate_common_nodes,
    fold_constants,
    move_transposes,
    simplify_graph,
)
from tests.draws import few_or_all

TWICE = """\
@attrs(state=((0, 0),))
def main(h: f32[4, 3], q: f32[4, 3]):
    c: f32[4, 3] = add(h, q)
    a: f32[3, 4] = transpose(q, axes=(1, 0))
    b: f32[4, 3] = transpose(a, axes=(1, 0))
    r: (f32[4, 3], f32[4, 3]) = (b, c)
    return r
"""
X = hole("x")
TRANSPOSED = graph_rule("transposed", op("transpose", op("transpose", X)), lambda b, m: m["x"])
EARLIER = """\
@attrs(state=((0, 0),))
def main(h: f32[4, 3], q: f32[4, 3]):
    a: f32[4, 3] = relu(q)
    b: f32[4, 3] = exp(h)
    c: f32[4, 3] = COPY
    r: (f32[4, 3], f32[4, 3]) = (c, b)
    return r
"""


def test_a_rule_leaves_a_state_result_computed() -> None:
    func = parse(TWICE)
    assert verify(func) == []
    assert apply_rules(func, "twice", (TRANSPOSED,)) is func


def test_a_rule_still_replaces_other_results() -> None:
    text = TWICE.replace("((0, 0),)", "((0, 1),)")
    after = apply_rules(parse(text), "twice", (TRANSPOSED,))
    assert verify(after) == []
    assert "(q, c)" in script(after)


@pytest.mark.parametrize("copy", ["identity(a)", "relu(q)", "identity(q)"])
def test_a_copy_stays_after_what_reads_the_parameter(copy: str) -> None:
    func = parse(EARLIER.replace("COPY", copy))
    assert verify(func) == []
    for run in (simplify_graph, eliminate_common_nodes):
        after = run(func)
        assert verify(after) == []
        assert len(after.body.bindings) == len(func.body.bindings)


def drawn(rng: random.Random) -> GraphFunc:
    """Draw a function of two parameters with many copies, and pair one of its results."""
    values, lines = ["h", "q"], list[str]()
    for number in range(rng.randint(2, 8)):
        a, b = rng.choice(values), rng.choice(values)
        name, kind = f"v{number}", "f32[4, 4]"
        form = rng.choice(("identity", "transpose", "transpose", "relu", "add", "exp", "reshape"))
        step = {
            "transpose": f"transpose({a}, axes=(1, 0))",
            "add": f"add({a}, {b})",
            "reshape": f"reshape({a}, shape=(4, 4))",
        }.get(form, f"{form}({a})")
        lines.append(f"    {name}: {kind} = {step}")
        values.append(name)
    made = values[2:]
    results = rng.sample(made, min(len(made), 2))
    kinds = ", ".join(["f32[4, 4]"] * len(results))
    text = "def main(h: f32[4, 4], q: f32[4, 4]):\n" + "\n".join(lines) + "\n"
    if len(results) > 1:
        text += f"    r: ({kinds}) = ({', '.join(results)})\n    return r\n"
    else:
        text += f"    return {results[0]}\n"
    func = parse(text)
    pairs = [StatePair(at, to) for at in range(2) for to in range(len(results_of(func)))]
    legal = [each for pair in pairs if not verify(each := with_state(func, (pair,)))]
    return rng.choice(legal) if legal else func


def test_passes_keep_drawn_functions_with_state_legal() -> None:
    rng = random.Random(3)
    with_pairs = 0
    given = [np.arange(16, dtype=np.float32).reshape(4, 4) % 5 - 2 for _ in range(2)]
    for _ in range(few_or_all(150, 3000)):
        func = drawn(rng)
        assert verify(func) == []
        with_pairs += bool(func.attrs)
        expected = interpret(func, given)
        for run in (simplify_graph, eliminate_common_nodes, move_transposes, fold_constants):
            after = run(func)
            assert verify(after) == [], f"{run}\n{script(func)}\n{script(after)}"
            for one, other in zip(interpret(after, given), expected, strict=True):
                np.testing.assert_array_equal(one, other)
            func = after
    assert with_pairs > 50
