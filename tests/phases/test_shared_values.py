"""The cost of compiling is linear in the nodes of a program, however its values are shared."""

import random
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import irkit
from irkit.codegen import complete_target, emit, emit_c
from irkit.core import Target, same, structural_hash
from irkit.ir import (
    Buffer,
    Expr,
    For,
    PrimFunc,
    Store,
    Var,
    as_expr,
    call,
    interpret,
    logical_and,
    logical_or,
    lt,
    maximum,
    minimum,
    parse,
    script,
    select,
)

MOST_CALLS = 6_000_000
"""Calls of Python functions; a value that is expanded 30 times makes a thousand times as many."""


class Expanded(Exception):
    """More work than any linear pass does."""


@contextmanager
def counted(found: list[int]) -> Generator[None]:
    """Count calls of functions, and stop at ``MOST_CALLS``."""
    count = 0

    def note(frame: FrameType, event: str, value: object) -> None:
        nonlocal count
        count += event == "call"
        if count > MOST_CALLS:
            sys.setprofile(None)
            raise Expanded(f"more than {MOST_CALLS} calls")

    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
        found.append(count)


class Graph:
    """Nodes of a model so far."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def op(self, kind: str, *inputs: str, **attrs: Any) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attrs))
        return name

    def constant(self, value: Any) -> str:
        name = f"c{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def model(self, result: str) -> ModelProto:
        graph = helper.make_graph(
            self.nodes,
            "shared",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [8, 8])],
            [helper.make_tensor_value_info(result, TensorProto.FLOAT, [8, 8])],
            self.weights,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


Step = Callable[[Graph, str, str], str]
STEPS: dict[str, Step] = {
    "twice": lambda g, v, _: g.op("Add", v, v),
    "before": lambda g, v, last: g.op("Sub", v, last),
    "half": lambda g, v, _: g.op("Mul", v, g.constant(np.float32(0.5))),
    "gate": lambda g, v, _: g.op("Mul", v, g.op("Sigmoid", v)),
    "turned": lambda g, v, _: g.op("Add", v, g.op("Transpose", v, perm=[1, 0])),
    "clipped": lambda g, v, last: g.op("Max", v, g.op("Min", v, last), v),
    "chosen": lambda g, v, last: g.op("Where", g.op("Less", v, last), v, g.op("Neg", v)),
    "centred": lambda g, v, _: g.op("Sub", v, g.op("ReduceMean", v, axes=[1], keepdims=1)),
    "picked": lambda g, v, _: g.op("Add", v, g.op("Gather", v, g.constant([*range(7, -1, -1)]))),
    "product": lambda g, v, _: g.op("Add", v, g.op("MatMul", v, v)),
    "wide": lambda g, v, last: g.op("Sum", v, last, v, last),
}  # fmt: skip


def shared_model(seed: int, length: int, names: list[str] | None = None) -> ModelProto:
    """Draw a model each of whose steps uses the value before it more than once."""
    draw, graph = random.Random(seed), Graph()
    value, last = "x", "x"
    names = names or draw.sample(sorted(STEPS), 3)
    for _ in range(length):
        value, last = STEPS[draw.choice(names)](graph, value, last), value
    return graph.model(value)


def test_forty_sums_of_a_value_with_itself_compile() -> None:
    model = irkit.compile(shared_model(0, 40, ["twice"]))
    result = model.run({"x": np.ones((8, 8), "f4")})
    assert (next(iter(result.values())) == 2.0**40).all()


@pytest.mark.parametrize("seed", range(1))
def test_a_model_of_twice_as_many_shared_values_costs_about_twice_as_much(seed: int) -> None:
    cost: list[int] = []
    for length in (8, 16):
        with counted(cost):
            irkit.compile(shared_model(seed, length))
    assert cost[1] < 5 * cost[0]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 160))
def test_more_models_of_shared_values(seed: int) -> None:
    test_a_model_of_twice_as_many_shared_values_costs_about_twice_as_much(seed)


FORMS: Mapping[str, Callable[[Expr], Expr]] = {
    "sum": lambda x: x + x,
    "square": lambda x: x * x,
    "chosen": lambda x: select(lt(x, x * x), x, x + x),
    "clipped": lambda x: maximum(minimum(x, x + x), x * x),
    "root": lambda x: call("sqrt", x) + x,
}
INTEGERS: Mapping[str, Callable[[Expr], Expr]] = {
    "sum": lambda x: x + x,
    "square": lambda x: x * x - x,
    "digits": lambda x: x // 3 + x % 7,
    "bits": lambda x: x ^ (x >> 1),
    "both": lambda x: select(logical_and(lt(x, 5), logical_or(lt(x, 7), lt(x, 9))), x, x + 1),
}  # fmt: skip


def nested(form: Callable[[Expr], Expr], start: Expr, depth: int) -> Expr:
    for _ in range(depth):
        start = form(start)
    return start


def loop_function(form: str, place: str, depth: int) -> PrimFunc:
    """Return a loop whose value, index or end is an expression that shares its operands."""
    func = parse(
        "def f(A: f32[64], C: f32[64], n: i64):\n    for i in serial(0, 64):\n        C[i] = A[i]\n"
    )
    loop = func.body
    assert isinstance(loop, For)
    store, source, scalar = loop.body, func.params[0], func.params[2]
    assert isinstance(store, Store)
    assert isinstance(source, Buffer)
    assert isinstance(scalar, Var)
    if place == "value":
        made = nested(FORMS[form], source[loop.var], depth)
        return func.replace(body=loop.replace(body=store.replace(value=made)))
    if place == "index":
        at = nested(INTEGERS[form], as_expr(loop.var), depth) % 64
        return func.replace(body=loop.replace(body=store.replace(value=source[at])))
    return func.replace(body=loop.replace(end=minimum(nested(INTEGERS[form], scalar, depth), 64)))


def uses(func: PrimFunc, other: PrimFunc) -> None:
    """Do with a function all that irkit does with one."""
    structural_hash(func)
    assert same(func, other)
    assert len(script(func)) < 60_000
    lowered = irkit.lower(func)
    emit([lowered], complete_target(Target()))
    emit_c([lowered], Target())
    irkit.build(func, schedule="auto")
    zeros = np.zeros(64, "f4")
    interpret(lowered, zeros, zeros.copy(), 0)


@pytest.mark.parametrize(
    ("place", "form"),
    [("value", "sum"), ("value", "chosen"), ("index", "both"), ("end", "sum")],
)  # fmt: skip
def test_an_expression_that_shares_its_operands_costs_what_its_nodes_do(
    place: str, form: str
) -> None:
    cost: list[int] = []
    for depth in (12, 24):
        with counted(cost):
            uses(loop_function(form, place, depth), loop_function(form, place, depth))
    assert cost[1] < 5 * cost[0]


@pytest.mark.long
@pytest.mark.parametrize(
    ("place", "form"),
    [("value", form) for form in FORMS]
    + [(place, form) for place in ("index", "end") for form in INTEGERS],
)
def test_more_expressions_that_share_their_operands(place: str, form: str) -> None:
    test_an_expression_that_shares_its_operands_costs_what_its_nodes_do(place, form)
