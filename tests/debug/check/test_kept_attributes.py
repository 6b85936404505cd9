"""What a step must keep that is no value: attributes by their direction, names and calls."""

from collections.abc import Callable
from typing import Any

import pytest

from irkit.core import rewrite
from irkit.debug import Verdict, check
from irkit.debug.check.kept_attributes import ATTRIBUTES, AttributeRow
from irkit.graph import GRAPH_LEVEL, GraphFunc, Invoke, parse_module
from irkit.ir import LOOP_LEVEL, For, PrimFunc, parse
from irkit.transform import Phase, Pipeline, define_pass

PROGRAM = """
def f(A: f32[8], C: f32[8]):
    for i in serial(0, 8{}):
        C[i] = A[i] * f32(2.0) + C[i]
"""
CALLS = """
def main(x: f32[4], y: f32[4]):
    a: f32[4] = call("difference", x, y)
    return a

def difference(A: f32[4], B: f32[4], C: f32[4]):
    for i in serial(0, 4):
        C[i] = A[i] - B[i]
"""
Change = Callable[[PrimFunc], PrimFunc]


def judged(func: PrimFunc, change: Change, *, prove: bool = False) -> Verdict:
    @define_pass
    def step(func: PrimFunc) -> PrimFunc:
        return change(func)

    pipeline = Pipeline(LOOP_LEVEL, (Phase(0, "only", (step,)),))
    (found,) = check(pipeline.steps(func), prove=prove)
    assert found.changed
    return found


def with_attr(func: PrimFunc, name: str, value: Any) -> PrimFunc:
    others = tuple(pair for pair in func.attrs if pair[0] != name)
    return func.replace(attrs=others if value is None else (*others, (name, value)))


def of_loops(*attrs: tuple[str, Any]) -> Change:
    return lambda func: rewrite(func, lambda loop: loop.replace(attrs=attrs), on=For)


@pytest.mark.parametrize("row", ATTRIBUTES, ids=lambda row: row.name)
def test_each_attribute_goes_in_its_direction_only(row: AttributeRow) -> None:
    plain = parse(PROGRAM.strip().format(""))
    marked = with_attr(plain, row.name, (1,) if row.value is None else row.value)
    added = judged(plain, lambda func: marked)
    taken = judged(marked, lambda func: plain)
    assert added.ok is (row.direction == "may only be added")
    assert taken.ok is (row.direction == "may only be taken")
    wrong = taken if added.ok else added
    assert wrong.status == "failed"
    assert row.direction in wrong.message


def test_other_attributes_are_hints() -> None:
    plain = parse(PROGRAM.strip().format(""))
    hinted = with_attr(plain, "my_hint", 3)
    assert judged(plain, lambda func: hinted).status == "same"
    assert judged(hinted, lambda func: plain).status == "same"
    assert judged(plain, of_loops(("unroll", 4))).status == "same"


def test_a_loop_gets_no_permission_to_reorder() -> None:
    plain = parse(PROGRAM.strip().format(""))
    assert "'reassoc'" in judged(plain, of_loops(("reassoc", True))).message
    marked = parse(PROGRAM.strip().format(", reassoc=True"))
    assert judged(marked, of_loops()).status == "same"


def test_a_loop_that_is_rebuilt_gets_no_permission_of_another_one() -> None:
    text = """
def f(A: f32[8], C: f32[8], D: f32[8]):
    for i in serial(0, 8, reassoc=True):
        D[0] = D[0] + A[i]
    for i in serial(0, 8):
        C[0] = C[0] + A[i]
"""
    found = judged(parse(text.strip()), of_loops(("reassoc", True)))
    assert found.status == "failed"


def test_a_function_keeps_its_name_also_where_a_proof_is_asked_for() -> None:
    pytest.importorskip("z3")
    func = parse(PROGRAM.strip().format(""))
    found = judged(func, lambda func: func.replace(name="g"), prove=True)
    assert found.status == "failed"
    assert "'f' became 'g'" in found.message


def test_a_pass_over_one_graph_calls_nothing_new() -> None:
    @define_pass
    def call_another(func: GraphFunc) -> GraphFunc:
        return rewrite(func, lambda call: call.replace(function="nothing"), on=Invoke)

    pipeline = Pipeline(GRAPH_LEVEL, (Phase(0, "only", (call_another,)),))
    (found,) = check(pipeline.steps(parse_module(CALLS.strip())))
    assert found.status == "failed"
    assert "'nothing'" in found.message
