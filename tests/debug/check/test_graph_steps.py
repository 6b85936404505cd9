"""Verdicts on graph passes, from the part of the graph that they changed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from irkit.core import IRModule, rewrite, substitute, walk
from irkit.debug import CheckOptions, Verdict, verdicts
from irkit.graph import ArrayData, Builder, Constant, GraphFunc, Op, Value, parse_module
from irkit.ir import Var
from irkit.phases import GRAPH
from irkit.transform import define_pass

Change = Callable[[GraphFunc], GraphFunc]


def network(weight: float | None = None, layers: int = 6) -> GraphFunc:
    """Return layers of a product and a relu, then a softmax; with ``weight`` all weights are equal,
    as in the light models of ONNX, whose results then hide most faults."""
    rng = np.random.default_rng(0)
    b = Builder("main")
    value = b.param("x", (2, 8))
    for number in range(layers):
        drawn = rng.standard_normal((8, 8)) if weight is None else np.full((8, 8), weight)
        w = b.constant(drawn.astype(np.float32), name=f"w{number}")
        value = b.op("matmul", value, w, name=f"product_{number}")
        value = b.op("relu", value, name=f"relu_{number}")
    return b.finish(b.op("softmax", value, axis=1, name="y"))


def judged(func: GraphFunc, change: Change, **options: Any) -> Verdict:
    rounds = options.pop("changes_rounding", False)

    @define_pass(changes_rounding=rounds)
    def changing(func: GraphFunc) -> GraphFunc:
        return change(func)

    pipeline = GRAPH.stop_after(0).insert(changing, phase=0)
    for name in pipeline.names[:-1]:
        pipeline = pipeline.without(name)
    (found,) = verdicts(pipeline.steps(IRModule({"main": func})), CheckOptions(**options))
    return found


def ops(change: Callable[[Op], Op | None]) -> Change:
    return lambda func: rewrite(func, change, on=Op)


def nth(name: str, number: int, change: Callable[[Op], Op]) -> Change:
    """Change only one of the operators of a name."""

    def apply(func: GraphFunc) -> GraphFunc:
        named = [op for op in walk(func.body, Op) if op.name == name]

        def only(op: Op) -> Op | None:
            return change(op) if op is named[number] else None

        return rewrite(func, only, on=Op)

    return apply


def operand(func: GraphFunc, name: str, number: int) -> Value:
    (found,) = [bind for bind in func.body.bindings if bind.var.name == f"{name}_{number}"]
    assert isinstance(found.step, Op)
    return found.step.args[0]


def without_relu(number: int) -> Change:
    """Use the operand of a relu in its place."""

    def apply(func: GraphFunc) -> GraphFunc:
        old = next(b.var for b in func.body.bindings if b.var.name == f"relu_{number}")
        new = operand(func, "relu", number)

        def rest(op: Op) -> Op | None:
            if old not in op.args:
                return None
            return op.replace(args=tuple(new if arg is old else arg for arg in op.args))

        return rewrite(func, rest, on=Op)

    return apply


@pytest.mark.parametrize("number", [0, 3, 5])
@pytest.mark.parametrize("weight", [None, 0.25])
def test_an_operator_that_is_lost_is_found_and_named(number: int, weight: float | None) -> None:
    found = judged(network(weight), without_relu(number))
    assert found.status == "differs", found
    named = {f"product_{number + 1}", f"relu_{number + 1}", "y"}
    assert found.buffer in named


@pytest.mark.parametrize("weight", [None, 0.25])
def test_a_wrong_operator_deep_in_a_network_is_found(weight: float | None) -> None:
    found = judged(network(weight), nth("relu", 3, lambda op: op.replace(name="abs")))
    assert (found.status, found.buffer) == ("differs", "relu_3")


def test_only_what_changed_is_run() -> None:
    func = network(layers=30)
    changed = nth("relu", 20, lambda op: op.replace(name="abs"))
    twice = judged(changed(func), nth("abs", 0, lambda op: op.replace(name="relu")))
    assert twice.status == "differs"
    twisted = ops(lambda op: op.replace(name="relu") if op.name == "sigmoid" else None)
    assert not judged(func, twisted).changed


def test_a_relu_after_a_relu_may_go() -> None:
    b = Builder("main")
    x = b.param("x", (4, 4))
    first = b.op("relu", x, name="first")
    turned = b.op("transpose", first, axes=(1, 0), name="turned")
    func = b.finish(b.op("abs", turned, name="relu_0"), b.op("negative", turned, name="after"))
    assert judged(func, nth("abs", 0, lambda op: op.replace(name="relu"))).ok


def test_what_constants_decide_is_not_drawn() -> None:
    b = Builder("main")
    x, y = b.param("x", (2, 3)), b.param("y", (2, 3))
    one = b.constant(np.ones(1, np.float32))
    first = b.op("maximum", one, y, name="first")
    second = b.op("maximum", b.op("relu", one, name="folded"), y, name="second")
    results = b.op("add", second, x, name="sum"), b.op("add", x, x, name="double")
    func = b.finish(second, *results)

    def taken(value: Value) -> Change:
        def change(given: GraphFunc) -> GraphFunc:
            results = given.body.bindings[-1]
            step = substitute(results.step, {second: value})
            bindings = (*given.body.bindings[:-1], results.replace(step=step))
            return given.replace(body=given.body.replace(bindings=bindings))

        return change

    assert judged(func, taken(first)).ok
    assert not judged(func, taken(x)).ok


def test_the_same_graph_with_other_names_is_proved() -> None:
    func = network()

    def renamed(given: GraphFunc) -> GraphFunc:
        made = network()
        return given.replace(body=substitute(made.body, {made.params[0]: given.params[0]}))

    found = judged(func, renamed)
    assert (found.status, found.basis) == ("same", "proved")


def test_other_rounding_has_to_be_declared() -> None:
    def doubled(func: GraphFunc) -> GraphFunc:
        b = Builder("main")
        third = b.constant(np.array(1 / 3, np.float32), name="third")
        return func.replace(body=b.body(b.op("multiply", func.params[0], third)))

    b = Builder("main")
    x = b.param("x", (2, 8))
    func = b.finish(b.op("divide", x, b.constant(np.array(3.0, np.float32), name="three")))
    assert judged(func, doubled).status == "differs"
    found = judged(func, doubled, changes_rounding=True)
    assert found.status == "rounds differently"


def test_a_graph_with_symbolic_sizes_is_run() -> None:
    b = Builder("main")
    func = b.finish(b.op("relu", b.param("x", (Var("n"), 4)), name="relu_0"))
    changed = nth("relu", 0, lambda op: op.replace(name="abs"))
    assert judged(func, changed).status == "differs"


def test_given_inputs_are_what_the_graph_runs_on() -> None:
    func = network()
    changed = nth("relu", 0, lambda op: op.replace(name="abs"))
    zeros = np.zeros((2, 8), np.float32)
    assert judged(func, changed, inputs={"x": zeros}).status == "same"
    assert judged(func, changed, inputs={"x": zeros - 1}).status == "differs"


def test_every_graph_pass_of_a_network_has_a_verdict() -> None:
    found = list(verdicts(GRAPH.steps(IRModule({"main": network()})), CheckOptions()))
    statuses = {each.name: each.status for each in found if each.changed}
    assert set(statuses) >= {"fuse-ops", "lower-to-loops", "plan-memory"}
    assert "not known" not in statuses.values()
    assert statuses["lower-to-loops"] in ("same", "rounds differently")


def test_a_constant_whose_data_was_not_kept_is_not_known_and_never_wrong() -> None:
    func = network()
    weights = [bind.step.data for bind in func.body.bindings if isinstance(bind.step, Constant)]

    def forget(step: Constant) -> Constant | None:
        if step.data is not weights[0]:
            return None
        absent = ArrayData.absent("0" * 64, step.data.shape, step.data.dtype)
        return step.replace(data=absent)

    found = judged(func, lambda func: rewrite(func, forget, on=Constant))
    assert found.status == "not known"
    assert "was not kept" in found.message


LOOP = """\
def main(x: f32[4], w: f32[4], n: i64[()], c: bool[()]):
    y: (i64[()], f32[4]) = loop("step", n, c, (x,), (w,))
    z: f32[4] = y[1]
    return z

def step(i: i64[()], a: f32[4], w: f32[4]):
    go: bool[()] = constant([True])
    b: f32[4] = multiply(a, w)
    e: f32[4] = add(b, w)
    r: (bool[()], f32[4]) = (go, e)
    return r
"""


@pytest.mark.parametrize("wrong", [False, True])
def test_a_loop_is_compared_by_what_it_computes(wrong: bool) -> None:
    module = parse_module(LOOP)

    @define_pass
    def changing(mod: IRModule) -> IRModule:
        step = mod["step"]
        name = "subtract" if wrong else "add"
        # Operands in the other order: b + w and w + b are the same.
        return mod.with_functions({"step": rewrite(
            step, lambda op: Op(name, op.args[::-1]) if op.name == "add" else None, on=Op
        )})  # fmt: skip

    inputs = {"x": [1, 2, 3, 4], "w": [1, 1, 2, 2], "n": 3, "c": True}
    given = {
        name: np.asarray(value, {"n": "i8", "c": "?"}.get(name, "f4"))
        for name, value in inputs.items()
    }
    pipeline = GRAPH.stop_after(0).insert(changing, phase=0)
    for name in pipeline.names[:-1]:
        pipeline = pipeline.without(name)
    (found,) = verdicts(pipeline.steps(module), CheckOptions(inputs=given))
    assert found.status == ("differs" if wrong else "same"), found.message


def pooled(border: bool) -> GraphFunc:
    """Return a maximum over 5 x 5 elements, behind a border of zeros or with one of its own."""
    b = Builder("main")
    x = b.param("x", (1, 1, 3, 3))
    if border:
        p = b.op("pad", x, pads=(0, 0, 2, 2, 0, 0, 2, 2), name="p")
        return b.finish(b.op("max_pool", p, kernel=(5, 5), name="y"))
    return b.finish(b.op("max_pool", x, kernel=(5, 5), pads=(2, 2, 2, 2), name="y"))


@pytest.mark.parametrize("seed", range(4))
def test_a_border_of_zeros_decides_where_all_elements_are_negative(seed: int) -> None:
    pool = pooled(border=False)

    def move_the_border(func: GraphFunc) -> GraphFunc:
        return func.replace(body=substitute(pool.body, {pool.params[0]: func.params[0]}))

    verdict = judged(pooled(border=True), move_the_border, seed=seed)
    assert verdict.status == "differs"


@pytest.mark.parametrize(("count", "tried"), [(8, "8 sets"), (1 << 15, "2 sets")])
def test_a_verdict_tells_where_special_values_were_not_tried(count: int, tried: str) -> None:
    b = Builder("main")
    a = b.op("negative", b.param("x", (count,)), name="a")
    func = b.finish(b.op("negative", a, name="y"))

    verdict = judged(func, ops(lambda op: op.replace(name="identity")))
    assert verdict.status == "same"
    assert verdict.tried.startswith(tried)
    assert ("no special values" in verdict.tried) == (count > 8)
