"""A softmax between two products becomes one operator, whatever scales and masks it."""

from typing import Any

import numpy as np
import pytest

import irkit
from irkit.core import IRModule, Recorder, recording, walk
from irkit.fuzz import check_pass
from irkit.fuzz.picks import picks_of
from irkit.graph import (
    Builder,
    GraphFunc,
    Lambda,
    Op,
    Value,
    arrays_of,
    attributes,
    dtype_of_value,
    extents_of,
    interpret,
    parse,
)
from irkit.ir import BOOL
from irkit.passes.graph import eliminate_dead_nodes, fuse_attention, fuse_ops
from tests.draws import few_or_all
from tests.passes.graph.programs import ops
from tests.shared.attention_graphs import attention_graph

TEXT = """\
def main(q: f32[2, 12, 8], k: f32[2, 8, 10], v: f32[2, 10, 4], m: MASK):
    scores: f32[2, 12, 10] = matmul(q, k)
    STEPS
    p: f32[2, 12, 10] = softmax(s, axis=AXIS)
    y: f32[2, 12, 4] = matmul(p, v)
    return y
"""
STEPS: dict[str, tuple[str, str, dict[str, float]]] = {
    "plain": ("f32[1]", "s: f32[2, 12, 10] = add(scores, m)", {}),
    "times": (
        "f32[12, 10]",
        "c: f32[()] = constant([0.25])\n    t: f32[2, 12, 10] = multiply(c, scores)\n"
        "    s: f32[2, 12, 10] = add(m, t)",
        {"scale": 0.25},
    ),
    "divided": (
        "f32[2, 1, 10]",
        "c: f32[1] = constant([4.0])\n    t: f32[2, 12, 10] = divide(scores, c)\n"
        "    s: f32[2, 12, 10] = add(t, m)",
        {"scale": 0.25},
    ),
    "chosen": (
        "bool[12, 10]",
        'c: f32[()] = constant(["-inf"])\n    s: f32[2, 12, 10] = where(m, scores, c)',
        {"fill": -np.inf},
    ),
    "filled": (
        "bool[12, 1]",
        "c: f32[()] = constant([-1000.0])\n    s: f32[2, 12, 10] = where(m, scores, c)",
        {"fill": -1000.0},
    ),
}


def graph(kind: str, axis: int = -1) -> GraphFunc:
    mask, lines, _ = STEPS[kind]
    return parse(TEXT.replace("MASK", mask).replace("STEPS", lines).replace("AXIS", str(axis)))


def fused(func: GraphFunc, **options: Any) -> GraphFunc:
    return eliminate_dead_nodes(fuse_attention(func, vector_bytes=16, **options))


def steps(func: GraphFunc) -> list[Op]:
    return [bind.step for bind in func.body.bindings if isinstance(bind.step, Op)]


def results(func: GraphFunc) -> Any:
    """Interpret a function on drawn arrays; masks of bools let each row keep a key."""
    rng, inputs = np.random.default_rng(0), dict[str, Any]()
    for param in func.params:
        shape = tuple(extent or 3 for extent in extents_of(param))
        array = rng.standard_normal(shape).astype(np.float32)
        inputs[param.name] = array < 0.5 if dtype_of_value(param) == BOOL else array
    (found,) = arrays_of(interpret(func, inputs))
    return found


@pytest.mark.parametrize("kind", STEPS)
def test_scale_and_mask_become_attributes_and_an_operand(kind: str) -> None:
    func = graph(kind)
    after = fused(func)
    (found,) = steps(after)
    assert found.name == "attention"
    assert [arg.name for arg in found.args] == ["q", "k", "v", "m"]
    for name, value in STEPS[kind][2].items():
        assert attributes(found)[name] == value
    assert np.allclose(results(func), results(after), rtol=1e-5, atol=1e-6)


SAFE = """\
def main(q: f32[2, 3, 7, 8], k: f32[2, 3, 8, 5], v: f32[2, 3, 5, 4], m: f32[7, 5]):
    q3: f32[6, 7, 8] = reshape(q, shape=(6, 7, 8))
    k3: f32[6, 8, 5] = reshape(k, shape=(6, 8, 5))
    v3: f32[6, 5, 4] = reshape(v, shape=(6, 5, 4))
    joined: f32[6, 7, 5] = matmul(q3, k3)
    plain: f32[2, 3, 7, 5] = reshape(joined, shape=(2, 3, 7, 5))
    s: f32[2, 3, 7, 5] = add(plain, m)
    none: f32[()] = constant(["-inf"])
    e: bool[2, 3, 7, 5] = equal(s, none)
    n: bool[2, 3, 7, 5] = logical_not(e)
    i: i32[2, 3, 7, 5] = cast(n, dtype="i32")
    t: i32[SHAPE] = max(i, axes=(AXIS,), keepdims=True)
    a: bool[SHAPE] = cast(t, dtype="bool")
    l: bool[SHAPE] = logical_not(a)
    p: f32[2, 3, 7, 5] = softmax(s, axis=3)
    z: f32[2, 3, 7, 5] = full_like(p, value=0)
    w: f32[2, 3, 7, 5] = where(l, z, p)
    p3: f32[6, 7, 5] = reshape(w, shape=(6, 7, 5))
    y: f32[6, 7, 4] = matmul(p3, v3)
    return y
"""


def test_a_safe_softmax_of_joined_heads_is_attention_whose_empty_rows_are_0() -> None:
    func = parse(SAFE.replace("SHAPE", "2, 3, 7, 1").replace("AXIS", "3"))
    after = fused(func)
    (found,) = [step for step in steps(after) if step.name == "attention"]
    assert attributes(found).flag("empty")
    assert "softmax" not in ops(after)
    rng = np.random.default_rng(0)
    shapes = ((2, 3, 7, 8), (2, 3, 8, 5), (2, 3, 5, 4), (7, 5))
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    arrays[3][2], arrays[3][4, 1:] = -np.inf, -np.inf
    inputs: dict[str, Any] = dict(zip("qkvm", arrays, strict=True))
    (before,), (now,) = (arrays_of(interpret(each, inputs)) for each in (func, after))
    assert np.array_equal(now[:, 2], np.zeros((6, 4)))
    assert np.allclose(before, now, rtol=1e-5, atol=1e-6)


def test_a_test_along_another_axis_is_no_safe_softmax() -> None:
    func = parse(SAFE.replace("SHAPE", "2, 3, 1, 5").replace("AXIS", "2"))
    assert "softmax" in ops(fused(func))


def test_a_mask_that_is_not_the_last_axis_of_a_softmax_stays() -> None:
    func = graph("plain", axis=1)
    assert fuse_attention(func, vector_bytes=16) is func


def test_scores_that_others_read_stay() -> None:
    text = TEXT.replace("MASK", "f32[10]").replace("STEPS", STEPS["plain"][1])
    func = parse(text.replace("AXIS", "2").replace("return y", "r = (y, s)\n    return r"))
    with recording(Recorder()) as recorder:
        assert fuse_attention(func, vector_bytes=16) is func
    assert "other uses" in recorder.remarks[0].text


GROWN = """\
def main(q: f32[8, 4], k: f32[4, KEYS], v: f32[5, 4], m: MASK):
    s: f32[8, KEYS] = matmul(q, k)
    STEPS
    p: f32[LEAD8, 5] = softmax(t, axis=-1)
    y: f32[LEAD8, 4] = matmul(p, v)
    return y
"""
GROWN_STEPS = {
    "a mask of more keys": ("1", "", "f32[8, 5]", "t: f32[8, 5] = add(s, m)"),
    "a scale of more axes": (
        "5",
        "1, ",
        "f32[1]",
        "c: f32[1, 1, 1] = constant([2.0])\n    t: f32[1, 8, 5] = multiply(s, c)",
    ),
    "a fill of more axes": (
        "5",
        "1, 2, ",
        "bool[2, 8, 5]",
        "c: f32[1, 1, 1, 1] = constant([-9.0])\n    t: f32[1, 2, 8, 5] = where(m, s, c)",
    ),
}


@pytest.mark.parametrize("what", GROWN_STEPS)
def test_scores_that_grow_between_the_products_stay(what: str) -> None:
    keys, lead, mask, steps = GROWN_STEPS[what]
    text = GROWN.replace("KEYS", keys).replace("LEAD", lead).replace("MASK", mask)
    func = parse(text.replace("STEPS", steps))
    assert ops(fuse_attention.using(vector_bytes=16, fewest=1)(func)) == ops(func)


def test_without_a_machine_nothing_changes() -> None:
    func = graph("plain")
    assert fuse_attention(func) is func


def test_few_queries_are_left_and_it_is_said_why() -> None:
    func = graph("plain")
    with recording(Recorder()) as recorder:
        assert fuse_attention(func, vector_bytes=16, fewest=13) is func
    (said,) = recorder.remarks
    assert said.text == "y: 12 queries are fewer than 13: their keys are not copied"


def test_a_remark_says_which_tile() -> None:
    with recording(Recorder()) as recorder:
        fuse_attention(graph("plain"), vector_bytes=16)
    (said,) = recorder.remarks
    assert "y: tiles of " in said.text


def test_a_transpose_of_heads_becomes_the_order_of_results() -> None:
    b = Builder("main")
    q, k, v = (b.param(name, shape) for name, shape in zip("qkv", SHAPES, strict=True))
    q = b.op("expand_dims", q, axes=(0,))
    made = b.op("attention", q, k, v, axes=(0, 2, 1, 3))
    func = b.finish(b.op("transpose", made, axes=(1, 2, 0, 3)))
    *_, found = steps(fused(func))
    assert attributes(found).ints("axes") == (2, 1, 0, 3)
    assert attributes(found).int("rows") > 0
    assert np.allclose(results(func), results(fused(func)), rtol=1e-5, atol=1e-6)


def test_a_transpose_of_features_stays() -> None:
    b = Builder("main")
    q, k, v = (b.param(name, shape) for name, shape in zip("qkv", SHAPES, strict=True))
    func = b.finish(b.op("transpose", b.op("attention", q, k, v), axes=(0, 2, 1)))
    assert ops(fused(func)) == ["attention", "transpose"]


SHAPES = ((2, 12, 8), (2, 8, 10), (2, 10, 4))


def test_what_makes_the_operands_joins_the_kernel() -> None:
    b = Builder("main")
    x = b.param("x", (9, 3 * 2 * 4))
    parted = b.op("transpose", b.op("reshape", x, shape=(9, 3, 2, 4)), axes=(1, 2, 0, 3))
    q, k, v = (b.op("take", parted, b.constant(np.array(n)), axis=0) for n in range(3))
    turned = b.op("multiply", b.op("transpose", k, axes=(0, 2, 1)), b.constant(np.float32(0.5)))
    func = b.finish(b.op("attention", q, turned, v))
    (group,) = walk(fuse_ops(func), on=Lambda)
    inside = [bind.step.name for bind in group.body.bindings if isinstance(bind.step, Op)]
    assert set(inside) == {
        "reshape", "transpose", "take", "multiply", "attention",
    }  # fmt: skip


def rotated(b: Builder, x: Value, cosine: Value, sine: Value) -> Value:
    """Return x with rotary embeddings, whose halves are rotated."""
    size = extents_of(x)[-1] or 0
    low, high = (
        b.op("slice", x, begins=(begin,), ends=(begin + size // 2,), axes=(-1,), strides=(1,))
        for begin in (0, size // 2)
    )
    turned = b.op("concat", b.op("negative", high), low, axis=-1)
    return b.op("add", b.op("multiply", x, cosine), b.op("multiply", turned, sine))


def test_rotary_embeddings_are_computed_in_the_kernel() -> None:
    b = Builder("main")
    q, k, v = (b.param(name, (1, 9, 2, 8)) for name in "qkv")
    q, k, v = (b.op("transpose", each, axes=(0, 2, 1, 3)) for each in (q, k, v))
    cosine, sine = (b.param(name, (9, 8)) for name in ("cosine", "sine"))
    q, k = (rotated(b, each, cosine, sine) for each in (q, k))
    scores = b.op("matmul", q, b.op("transpose", k, axes=(0, 1, 3, 2)))
    func = b.finish(b.op("matmul", b.op("softmax", scores, axis=-1), v))
    (group,) = walk(fuse_ops(fused(func)), on=Lambda)
    inside = [bind.step.name for bind in group.body.bindings if isinstance(bind.step, Op)]
    assert len(inside) == len(ops(fused(func)))
    rng = np.random.default_rng(0)
    inputs = {
        param.name: rng.standard_normal([extent or 0 for extent in extents_of(param)]).astype("f")
        for param in func.params
    }
    (wanted,) = arrays_of(interpret(func, inputs))
    model = irkit.compile(IRModule({"main": func}))
    (found,) = model.run(inputs).values()
    assert np.allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("case", range(few_or_all(2, 40)))
def test_drawn_networks_compile_to_their_meaning(case: int) -> None:
    func = attention_graph(picks_of(case))
    if any(extent is None for param in func.params for extent in extents_of(param)):
        func = attention_graph(picks_of(1000 + case))
    model = irkit.compile(IRModule({"main": func}))
    rng = np.random.default_rng(case)
    inputs = {
        param.name: rng.standard_normal([extent or 3 for extent in extents_of(param)]).astype("f")
        for param in func.params
    }
    wanted = arrays_of(interpret(func, inputs))
    for found, expected in zip(model.run(inputs).values(), wanted, strict=True):
        assert np.allclose(found, expected, rtol=1e-4, atol=1e-5)


@check_pass(
    fuse_attention.using(vector_bytes=16, fewest=1),
    strategy=attention_graph,
    examples=few_or_all(2, 200),
)
def test_drawn_networks_keep_their_results(case: Any) -> None: ...
