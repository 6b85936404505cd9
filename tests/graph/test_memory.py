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
    shared_memory,
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
            if not any(inside(plan.slot(arg.name), slot) for arg in step.args):
                place[...] = found.ravel()
            found = place.reshape(found.shape)
        values[id(bind.var)] = found
    return list(arrays_of(values[id(func.body.result)]))


def overlap(one: MemorySlot, other: MemorySlot) -> bool:
    """Return True if both are live at some time."""
    return one.first <= other.last and other.first <= one.last


def inside(one: MemorySlot | None, other: MemorySlot) -> bool:
    """Return True if one slot lies in another while both are live."""
    if one is None or not overlap(one, other):
        return False
    return other.offset <= one.offset and one.offset + one.size <= other.offset + other.size


def unshared(plan: MemoryPlan) -> int:
    """Return the bytes that the slots would need without sharing."""
    return sum(-(-slot.size // 64) * 64 for slot in plan.slots)


@settings(max_examples=few_or_all(16, 40), deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), steps=st.integers(1, 40))
def test_values_that_are_live_together_never_overlap(seed: int, steps: int) -> None:
    func = random_graph(seed, steps)
    plan = memory_plan(func)
    joined = {
        (arg.name, bind.var.name)
        for bind in func.body.bindings
        if isinstance(bind.step, Op) and bind.step.name == "concat"
        for arg in bind.step.args
    }
    for _ in range(3):  # What is joined can be joined again.
        joined |= {(a, d) for a, b in joined for c, d in joined if b == c}
    for at, one in enumerate(plan.slots):
        assert one.offset % 64 == 0
        assert one.offset + one.size <= plan.size
        for other in plan.slots[:at]:
            apart = one.offset + one.size <= other.offset or other.offset + other.size <= one.offset
            shares = {(one.value, other.value), (other.value, one.value)} & joined
            assert apart or not overlap(one, other) or shares
    assert plan.size <= unshared(plan)
    inputs = inputs_of(seed)
    expected = list(arrays_of(interpret(func, inputs)))
    for found, wanted in zip(run_in_arena(func, plan, inputs), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


PARTS = """\
def main(x: f32[1, 16, 4], y: f32[1, 32, 4]):
    a = exp(x)
    b = exp(y)
    c = concat(a, b, axis=1)
    d = exp(c)
    e = concat(c, d, axis=1)
    f = slice(e, begins=(16,), ends=(48,), axes=(1,))
    g = reshape(f, shape=(8, 16))
    h = exp(g)
    i = exp(e)
    j = reshape(i, shape=(16, 24))
    k = (h, j)
    return k
"""


def test_operands_of_a_concatenation_lie_in_it_and_slices_in_what_they_are_of() -> None:
    func = parse(PARTS)
    shared = shared_memory(func)
    assert {value.name for value in shared.joined} == {"c", "e"}
    found = {value.name: (part.whole.name, part.offset) for value, part in shared.parts.items()}
    assert found == {"a": ("c", 0), "b": ("c", 256), "c": ("e", 0), "d": ("e", 768)}
    views = {value.name: (part.whole.name, part.offset) for value, part in shared.views.items()}
    assert views == {"f": ("e", 256), "g": ("f", 0)}
    plan = memory_plan(func)
    assert plan.size == 1536 + 1536  # That of e, and that of i.
    slots = {slot.value: slot.offset for slot in plan.slots}
    assert slots["b"] - slots["e"] == 256
    assert slots["d"] - slots["e"] == 768
    assert "f" not in slots
    rng = np.random.default_rng(0)
    inputs = {
        p.name: rng.random([1, n, 4], np.float32)
        for p, n in zip(func.params, (16, 32), strict=True)
    }
    expected = list(arrays_of(interpret(func, inputs)))
    for found_, wanted in zip(run_in_arena(func, plan, inputs), expected, strict=True):
        np.testing.assert_array_equal(found_, wanted)


@pytest.mark.parametrize(
    "lines",
    [
        "c = concat(a, a, axis=1)\n    r = exp(c)",  # Twice the same.
        "c = concat(a, x, axis=1)\n    r = exp(c)",  # A parameter.
        "c = concat(a, b, axis=2)\n    r = exp(c)",  # In pieces.
        "c = concat(a, b, axis=1)\n    r = (c, b)",  # A result, which has memory of its own.
        "c = concat(a, b, axis=1)\n    r = identity(c)\n    s = (r, a)",
        "n = slice(a, begins=(0,), ends=(3,), axes=(1,))\n    m = exp(n)\n"
        "    c = concat(m, b, axis=1)\n    r = exp(c)",  # 48 bytes, not a multiple of 64.
        "c = slice(a, begins=(1,), ends=(3,), axes=(1,))\n    r = exp(c)",  # From byte 16 on.
        "c = slice(a, begins=(0,), ends=(3,), axes=(2,))\n    r = exp(c)",  # In pieces.
        "c = slice(a, begins=(0,), ends=(4,), strides=(2,), axes=(1,))\n    r = exp(c)",
        "c = slice(a, begins=(3,), ends=(-17,), strides=(-1,), axes=(1,))\n    r = exp(c)",
        "c = reshape(a, shape=(64,))",  # A result.
        "c = reshape(x, shape=(64,))\n    r = exp(c)",
    ],
)
def test_other_slices_and_concatenations_are_computed(lines: str) -> None:
    last = lines.split("\n")[-1].split("=")[0].strip()
    func = parse(
        "def main(x: f32[1, 16, 4]):\n    a = exp(x)\n    b = exp(a)\n"
        f"    {lines}\n    return {last}\n"
    )
    shared = shared_memory(func)
    named = {value.name for value in (*shared.views, *shared.joined)}
    assert named <= {"n"}


def test_an_operand_of_two_concatenations_lies_in_the_first() -> None:
    func = parse("""\
def main(x: f32[16]):
    a = exp(x)
    b = exp(a)
    c = concat(a, b, axis=0)
    d = concat(b, a, axis=0)
    e = exp(c)
    f = exp(d)
    g = (e, f)
    return g
""")
    assert [value.name for value in shared_memory(func).joined] == ["c"]


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
