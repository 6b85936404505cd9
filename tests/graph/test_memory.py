"""The memory plan: values that are live at the same time never overlap, and others share memory."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit.core import IRKitError, ShapeError
from irkit.graph import (
    Builder,
    Constant,
    GraphFunc,
    MemoryPlan,
    MemorySlot,
    Op,
    Tuple,
    arrays_of,
    interpret,
    memory_plan,
    op_spec,
    parse,
    recorded_plan,
    without_plan,
)
from irkit.ir import Var
from tests.draws import few_or_all
from tests.graph.graphs import inputs_of, random_graph


def run_in_arena(func: GraphFunc, plan: MemoryPlan, inputs: dict[str, Any]) -> list[Any]:
    """Run with every planned value in one block of memory, as the executor does."""
    arena = np.full(plan.size, 0xFF, np.uint8)
    values: dict[int, Any] = {id(param): inputs[param.name] for param in func.params}
    for bind in func.body.bindings:
        step = bind.step
        if isinstance(step, Tuple):
            values[id(bind.var)] = tuple(values[id(item)] for item in step.items)
            continue
        if isinstance(step, Constant):
            values[id(bind.var)] = step.data.array
            continue
        assert isinstance(step, Op)
        found = op_spec(step.name).evaluate([values[id(arg)] for arg in step.args], step.attrs)
        assert isinstance(found, np.ndarray)
        found = found.copy()  # It can be a view of the arena.
        slot = plan.slot(bind.var.name)
        if slot is not None:
            place = arena[slot.offset : slot.offset + slot.size].view(found.dtype)
            place[...] = found.ravel()
            found = place.reshape(found.shape)
        values[id(bind.var)] = found
    return list(arrays_of(values[id(func.body.result)]))


def overlap(one: MemorySlot, other: MemorySlot) -> bool:
    """Return True if both are live at some time."""
    return one.first <= other.last and other.first <= one.last


def unshared(plan: MemoryPlan) -> int:
    """Return the bytes that the slots would need without sharing."""
    return sum(-(-slot.size // 64) * 64 for slot in plan.slots)


@settings(max_examples=few_or_all(16, 40), deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), steps=st.integers(1, 40))
def test_values_that_are_live_together_never_overlap(seed: int, steps: int) -> None:
    func = random_graph(seed, steps)
    plan = memory_plan(func)
    for at, one in enumerate(plan.slots):
        assert one.offset % 64 == 0
        assert one.offset + one.size <= plan.size
        for other in plan.slots[:at]:
            apart = one.offset + one.size <= other.offset or other.offset + other.size <= one.offset
            assert apart or not overlap(one, other)
    assert plan.size <= unshared(plan)
    inputs = inputs_of(seed)
    expected = list(arrays_of(interpret(func, inputs)))
    for found, wanted in zip(run_in_arena(func, plan, inputs), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_chain_needs_two_places() -> None:
    lines = ["v0 = exp(x)", *(f"v{at} = exp(v{at - 1})" for at in range(1, 20))]
    func = parse("def main(x: f32[1000]):\n    " + "\n    ".join([*lines, "return v19\n"]))
    plan = memory_plan(func)
    assert (plan.size, unshared(plan)) == (2 * 4032, 19 * 4032)


def test_parameters_constants_and_results_are_not_in_the_arena() -> None:
    func = parse(
        "def main(x: f32[4]):\n    k: f32[1] = constant([1.0])\n    y = add(x, k)\n    return y\n"
    )
    assert memory_plan(func).slots == ()


def test_an_item_of_a_tuple_keeps_its_own_memory_alive_only() -> None:
    func = parse("""\
def main(x: f32[1, 1, 4, 4]):
    p = max_pool_with_indices(x, kernel=(2, 2))
    a = p[0]
    i = p[1]
    b = exp(a)
    c = cast(i, dtype="f32")
    d = add(b, c)
    return d
""")
    lives = {(s.value, s.item): (s.first, s.last) for s in memory_plan(func).slots}
    assert lives[("p", 0)] == (0, 3)
    assert lives[("p", 1)] == (0, 4)


def test_an_item_of_a_tuple_with_an_input_in_it_is_that_input_alone() -> None:
    func = parse("""\
def main(x: f32[4]):
    a = exp(x)
    k: f32[1] = constant([1.0])
    q = (a, k)
    p = (x, q)
    y = p[0]
    z = exp(y)
    return z
""")
    assert [(slot.value, slot.first, slot.last) for slot in memory_plan(func).slots] == [
        ("a", 0, 4)
    ]


def test_what_a_function_value_refers_to_stays_alive() -> None:
    func = parse("""\
def main(x: f32[4]):
    a = exp(x)
    @function()
    def f(u: f32[4]):
        v = add(u, a)
        return v
    b = exp(x)
    c = exp(b)
    d = f(c)
    return d
""")
    plan = memory_plan(func)
    slots = {slot.value: slot for slot in plan.slots}
    assert overlap(slots["a"], slots["c"])
    assert slots["a"].offset != slots["c"].offset


def test_values_of_symbolic_size_have_no_offset() -> None:
    func = parse("def main(x: f32[n]):\n    a = exp(x)\n    b = exp(a)\n    return b\n")
    plan = memory_plan(func)
    assert plan.slots == ()
    assert [room.value for room in plan.rooms] == ["a"]


def test_a_damaged_plan_is_an_error() -> None:
    func = parse(
        "@attrs(arena_size=64)\n@attrs(slot_a=(1, 2))\ndef main(x: f32[4]):\n    return x\n"
    )
    with pytest.raises(IRKitError, match="the memory plan of 'main' is damaged"):
        recorded_plan(func)


def test_two_values_of_one_name_cannot_be_planned() -> None:
    func = random_graph(0)
    first, second, *_ = [b for b in func.body.bindings if isinstance(b.step, Op)]
    renamed = second.replace(var=second.var.replace(name=first.var.name))
    bindings = tuple(renamed if bind is second else bind for bind in func.body.bindings)
    with pytest.raises(IRKitError, match="two values are named"):
        memory_plan(func.replace(body=func.body.replace(bindings=bindings)))


@pytest.mark.parametrize("size", [1 << 30, 1 << 32])
def test_values_that_no_memory_holds_are_refused(size: int) -> None:
    func = parse(f"""def main(x: f32[{size}, 1], y: f32[1, {size}]):
    a = add(x, y)
    b = relu(a)
    c = relu(b)
    d = add(b, c)
    return d
""")
    with pytest.raises(ShapeError, match="bytes together"):
        memory_plan(func)


def test_values_of_open_size_share_rooms_and_the_plan_is_read_back() -> None:
    b = Builder("main")
    value = b.param("x", (Var("n"), 4))
    for _ in range(4):
        value = b.op("exp", value)
    func = b.finish(value)
    plan = memory_plan(func)
    assert plan.size == 0
    assert [(room.number, room.first, room.last) for room in plan.rooms] == [
        (0, 0, 1),
        (1, 1, 2),
        (0, 2, 3),
    ]
    assert recorded_plan(func.replace(attrs=plan.as_attrs())) == plan
    assert without_plan(plan.as_attrs()) == ()
