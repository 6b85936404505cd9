"""Plans: where tensors are while a model runs."""

from typing import Any

import numpy as np
import pytest

import irkit
from irkit.codegen import ExecutorPlan, KernelCall, TensorPlace
from irkit.core import IRKitError, IRModule
from irkit.graph import (
    Builder,
    GraphFunc,
    Invoke,
    Op,
    TensorType,
    Tuple,
    TupleGet,
    TupleType,
    Value,
    interpret,
    op_spec,
    tensors_in,
)
from irkit.ir import as_int
from irkit.phases import GRAPH
from irkit.phases.executor.planner import make_plan
from irkit.transform import define_pass
from tests.draws import sampled
from tests.graph.graphs import inputs_of, random_graph

SIZES = {"f32": 4, "i64": 8, "i32": 4, "bool": 1}
RAW = GRAPH.without("simplify-graph").without("eliminate-dead-nodes").without("fuse-ops")


def lowered(func: GraphFunc, pipeline: Any = GRAPH) -> IRModule:
    return pipeline.run(IRModule({"main": func}))


Labels = Any
"""For a value, an array of numbers that are different for each element a kernel computes; for a
tuple, a tuple of such."""


def labels_of(module: IRModule) -> list[tuple[list[Labels], list[Labels]]]:
    """Return, for each call of a kernel in order, the labels of what it reads and of what it makes.

    Operators without a kernel move labels as NumPy moves elements.
    """
    main = module["main"]
    assert isinstance(main, GraphFunc)
    known: dict[Value, Labels] = dict.fromkeys(main.params, ())
    calls: list[tuple[list[Labels], list[Labels]]] = []
    for bind in main.body.bindings:
        step = bind.step
        if isinstance(step, Tuple):
            known[bind.var] = tuple(known[item] for item in step.items)
        elif isinstance(step, TupleGet):
            known[bind.var] = known[step.value][step.index]
        elif isinstance(step, Op):
            given = [known[arg] for arg in step.args]
            known[bind.var] = op_spec(step.name).evaluate(given, step.attrs)
        elif isinstance(step, Invoke):
            first = (len(calls) + 1) << 32
            kinds = tensors_in(bind.var.type)
            made = [first + (at << 24) + _numbered(kind) for at, kind in enumerate(kinds)]
            known[bind.var] = tuple(made) if isinstance(bind.var.type, TupleType) else made[0]
            calls.append(([known[arg] for arg in step.args], made))
        else:
            known[bind.var] = ()  # Not in the arena.
    return calls


def _numbered(kind: TensorType) -> Any:
    shape = [as_int(dim) or 0 for dim in kind.shape]
    return np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)


def overlapping(
    plan: ExecutorPlan, module: IRModule, sizes: dict[tuple[int, int], int]
) -> list[tuple[KernelCall, TensorPlace]]:
    """Follow the arena byte by byte: list the calls that read what another has written over.

    ``sizes`` maps number of call and argument to bytes. It knows nothing of how plans are made.
    """
    arena = np.full(plan.arena_bytes, -1, np.int64)
    wrong: list[tuple[KernelCall, TensorPlace]] = []
    for number, (call, (read, made)) in enumerate(zip(plan.calls, labels_of(module), strict=True)):
        for at, (place, labels) in enumerate(zip(call.args, [*read, *made], strict=True)):
            if place.kind != "arena":
                continue
            size = abs(sizes[number, at])
            held = arena[place.at : place.at + size]
            assert len(held) == size, "out of the arena"
            if at >= len(read):
                held[:] = np.repeat(labels.ravel(), size // max(labels.size, 1))
            elif not np.array_equal(held, np.repeat(labels.ravel(), size // max(labels.size, 1))):
                wrong.append((call, place))
        places = [(call.args[at], abs(sizes[number, at])) for at in range(len(call.args))]
        wrong += [
            (call, first)
            for at in range(len(read), len(places))
            for other, (first, size) in enumerate(places)
            if other != at and size and _meet((first, size), places[at])
        ]
    return wrong


def _meet(one: tuple[TensorPlace, int], two: tuple[TensorPlace, int]) -> bool:
    (a, a_size), (b, b_size) = one, two
    if a.kind != b.kind or a.kind == "param":
        return False
    if a.kind != "arena":
        return a.at == b.at
    return a.at < b.at + b_size and b.at < a.at + a_size


def sizes_of(module: IRModule, plan: ExecutorPlan) -> dict[tuple[int, int], int]:
    """Return the sizes of the arguments of calls, negative for outputs."""
    found: dict[tuple[int, int], int] = {}
    for number, call in enumerate(plan.calls):
        func: Any = module[call.kernel]
        outputs = dict(func.attrs)["outputs"]
        for at, param in enumerate(func.params):
            size = int(np.prod([int(dim.value) for dim in param.shape])) * param.dtype.bytes
            found[number, at] = -size if at in outputs else size
    return found


@pytest.mark.parametrize("pipeline", [GRAPH, RAW], ids=["fused", "raw"])
@pytest.mark.parametrize("seed", range(12))
def test_no_call_writes_over_what_is_still_needed(seed: int, pipeline: Any) -> None:
    module = pipeline.run(IRModule({"main": random_graph(seed, steps=20)}))
    plan, _ = make_plan(module)
    assert overlapping(plan, module, sizes_of(module, plan)) == []


def test_the_checker_sees_a_plan_that_is_wrong() -> None:
    module = RAW.run(IRModule({"main": chain()}))
    plan, _ = make_plan(module)
    moved = [
        KernelCall(
            call.kernel,
            tuple(TensorPlace("arena", 0) if p.kind == "arena" else p for p in call.args),
        )
        for call in plan.calls
    ]
    broken = ExecutorPlan(plan.inputs, plan.outputs, plan.params, 0, plan.arena_bytes, tuple(moved))
    assert overlapping(broken, module, sizes_of(module, broken))


@pytest.mark.parametrize("pipeline", [GRAPH, RAW], ids=["fused", "raw"])
@pytest.mark.parametrize("seed", sampled(range(6), every=3))
def test_random_graphs_give_what_the_reference_gives(seed: int, pipeline: Any) -> None:
    func = random_graph(seed)
    names = tuple(f"out{at}" for at in range(len(getattr(func.body.result.type, "items", "1"))))
    func = func.replace(attrs=(("outputs", names),))
    feeds = inputs_of(seed)
    found = irkit.compile(IRModule({"main": func}), graph_pipeline=pipeline).run(feeds)
    wanted: Any = interpret(func, feeds)
    for array, reference in zip(
        found.values(), wanted if isinstance(wanted, tuple) else (wanted,), strict=True
    ):
        np.testing.assert_allclose(array, reference, rtol=2e-4, atol=2e-4)


def chain() -> GraphFunc:
    b = Builder()
    value = b.param("x", (64,))
    for _ in range(5):
        value = b.op("exp", value)
    return b.finish(value)


def test_a_chain_of_calls_needs_the_room_of_two_values() -> None:
    plan, _ = make_plan(lowered(chain(), RAW))
    assert len(plan.calls) == 5
    assert plan.arena_bytes == 2 * 256


def test_the_last_call_writes_the_output_itself() -> None:
    plan, _ = make_plan(lowered(chain(), RAW))
    assert plan.calls[-1].args[-1] == TensorPlace("output", 0)
    assert plan.calls[0].args[0] == TensorPlace("input", 0)
    assert plan.copies == ()


def test_only_what_no_call_can_write_is_copied() -> None:
    b = Builder()
    x = b.param("x", (3,))
    c = b.constant(np.ones(5, np.int64), name="c")
    r = b.op("relu", x)
    plan, params = make_plan(lowered(b.finish(r, x, c, r)))
    assert [(copy.to.at, copy.source.kind, copy.size) for copy in plan.copies] == [
        (1, "input", 12),
        (2, "param", 40),
        (3, "output", 12),
    ]
    assert len(params) == plan.param_bytes == 64
    assert np.frombuffer(params, np.int64, count=5).tolist() == [1] * 5


def test_every_parameter_begins_at_a_multiple_of_64_bytes() -> None:
    b = Builder()
    x = b.param("x", (3,))
    for size in (1, 3, 17):
        weight = b.constant(np.full((size, 3), size, np.float32))
        x = b.op("sum", b.op("multiply", x, weight), axes=(0,))
    plan, params = make_plan(lowered(b.finish(x)))
    assert [offset % 64 for offset, _ in plan.params] == [0] * len(plan.params)
    for offset, spec in plan.params:
        values = np.frombuffer(params, np.float32, int(np.prod(spec.shape)), offset)
        assert set(values) == {spec.shape[0]}


def test_an_item_of_a_pair_is_the_value_put_in() -> None:
    b = Builder()
    x = b.param("x", (3,))
    r = b.op("relu", x)
    inner = b.tuple(r, x)
    pair = b.tuple(inner, b.op("exp", r))
    first = b.item(b.item(pair, 0), 0)
    func = b.finish(first, b.item(b.item(pair, 0), 1), b.item(pair, 1), outputs=("r", "x", "e"))
    given = np.array([-1, 0, 1], np.float32)
    found = irkit.compile(IRModule({"main": func}), graph_pipeline=RAW).run({"x": given})
    assert found["r"].tolist() == [0, 0, 1]
    assert found["x"].tolist() == [-1, 0, 1]
    np.testing.assert_allclose(found["e"], np.exp([0, 0, 1]), rtol=1e-6)


@define_pass
def append_a_copy(mod: IRModule) -> IRModule:
    """Add a step that no plan knows of."""
    main = mod["main"]
    assert isinstance(main, GraphFunc)
    last = main.body.bindings[-1]
    value = type(last.var)("late", last.var.type)
    bindings = (*main.body.bindings, last.replace(var=value))
    return mod.with_functions(
        {"main": main.replace(body=main.body.replace(bindings=bindings, result=value))}
    )


def test_a_memory_plan_that_is_older_than_the_values_is_refused() -> None:
    pipeline = RAW.insert(append_a_copy, after="plan-memory")
    with pytest.raises(IRKitError, match="memory plan of 'main' is older than its values"):
        irkit.compile(IRModule({"main": chain()}), graph_pipeline=pipeline)


def test_a_plan_is_made_if_no_pass_has_made_one() -> None:
    found = irkit.compile(IRModule({"main": chain()}), graph_pipeline=RAW.without("plan-memory"))
    assert found.plan.arena_bytes == 2 * 256


def test_steps_without_a_kernel_are_refused() -> None:
    with pytest.raises(IRKitError, match="exp 'exp' has no kernel"):
        make_plan(IRModule({"main": chain()}))
