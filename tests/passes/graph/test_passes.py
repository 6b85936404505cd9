"""What each graph pass does, and what it leaves alone."""

import time

import numpy as np
import pytest

from irkit.core import Recorder, recording
from irkit.graph import (
    Apply,
    Constant,
    GraphFunc,
    Lambda,
    Op,
    interpret,
    parse,
    recorded_plan,
    verify,
)
from irkit.passes.graph import (
    eliminate_dead_nodes,
    fold_batch_norm,
    fold_constants,
    fuse_ops,
    plan_memory,
    simplify_graph,
)


def ops(func: GraphFunc) -> list[str]:
    return [bind.step.name for bind in func.body.bindings if isinstance(bind.step, Op)]


def groups(func: GraphFunc) -> list[list[str]]:
    return [
        [inner.step.name for inner in bind.step.body.bindings if isinstance(inner.step, Op)]
        for bind in func.body.bindings
        if isinstance(bind.step, Lambda)
    ]


def test_dead_bindings_inside_lambdas_and_branches_go_too() -> None:
    func = parse("""\
def main(x: f32[2], c: bool[()]):
    @function()
    def f(a: f32[2]):
        u = exp(a)
        v = relu(a)
        return v
    if c:
        d = exp(x)
        y: f32[2] = x
    else:
        y: f32[2] = x
    p = (x, y)
    q = p[1]
    z = f(q)
    return z
""")
    after = eliminate_dead_nodes(func)
    assert "exp" not in after.script()
    assert verify(after) == []
    assert eliminate_dead_nodes(after) is after


def test_a_chain_of_constants_folds_to_one() -> None:
    func = parse("""\
def main(x: f32[2]):
    a: f32[2] = constant([1.0, 2.0])
    b = add(a, a)
    c = multiply(b, a)
    d = add(x, c)
    return d
""")
    after = eliminate_dead_nodes(fold_constants(func))
    assert ops(after) == ["add"]
    (step,) = [b.step for b in after.body.bindings if isinstance(b.step, Constant)]
    np.testing.assert_array_equal(step.data.array, [2.0, 8.0])


def test_constants_that_would_grow_too_large_stay_operators() -> None:
    func = parse("def main():\n    a = full(shape=(64,), value=1.0)\n    return a\n")
    assert fold_constants(func, max_bytes=255) is func
    assert fold_constants(func, max_bytes=256) is not func


def test_a_result_no_larger_than_its_operands_is_folded_whatever_its_size() -> None:
    lines = ["w: f32[2, 2] = constant([1.0, 2.0, 3.0, 4.0])", "t = transpose(w, axes=(1, 0))"]
    func = parse("\n    ".join(["def main():", *lines, "return t", ""]))
    after = fold_constants(func, max_bytes=1, max_total_bytes=1)
    assert not any(isinstance(bind.step, Op) for bind in after.body.bindings)


def test_absent_constants_are_not_folded() -> None:
    digest = "0" * 64
    lines = [f'a: f32[99] = constant(digest="{digest}")', "b = relu(a)", "return b", ""]
    func = parse("\n    ".join(["def main():", *lines]), absent=True)
    assert fold_constants(func) is func


CONV_BN = """\
def main(x: f32[1, 2, 4, 4], s: f32[2]):
    w: f32[2, 2, 1, 1] = constant([1.0, 2.0, 3.0, 4.0])
    b: f32[2] = constant([0.5, -0.5])
    m: f32[2] = constant([0.25, 2.0])
    v: f32[2] = constant([4.0, 0.25])
    c = conv(x, w, b)
    n = batch_norm(c, b, m, m, v)
    return n
"""


def test_batch_norm_folds_into_weights_and_an_existing_bias() -> None:
    func = parse(CONV_BN)
    after = eliminate_dead_nodes(fold_batch_norm(func))
    assert ops(after) == ["conv"]
    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal((1, 2, 4, 4)).astype("f"), np.ones(2, "f")]
    np.testing.assert_allclose(
        np.asarray(interpret(after, inputs)), np.asarray(interpret(func, inputs)), 1e-5, 1e-5
    )


def test_what_is_folded_has_the_place_of_the_batch_norm() -> None:
    func = parse(CONV_BN)
    norm = func.body.bindings[-1]
    made = [bind for bind in fold_batch_norm(func).body.bindings if bind not in func.body.bindings]
    assert len(made) == 3
    assert norm.span is not None
    assert all(bind.span == norm.span for bind in made)


LEFT = [
    ("batch_norm(c, b, ", "batch_norm(c, s, "),
    ("return n", "r = add(n, c)\n    return r"),
    ("conv(x, w, b)", "relu(x)"),
]


@pytest.mark.parametrize(("old", "new"), LEFT)
def test_batch_norm_stays_where_it_cannot_be_folded(old: str, new: str) -> None:
    func = parse(CONV_BN.replace(old, new))
    assert fold_batch_norm(func) is func


def test_switched_off_foldings_do_not_take_place() -> None:
    func = parse(CONV_BN)
    with recording(Recorder(frozenset({0}))) as recorder:
        assert fold_batch_norm(func) is func
    assert recorder.count == 1


SIMPLE = [
    "y = relu(x)",
    "y = reshape(x, shape=(3, 2))",
    "y = transpose(x, axes=(1, 0))",
    "y = slice(x, begins=(-1,), ends=(-100,), strides=(-1,))",
    "y = pad(x, pads=(1, 0, -1, 0))",
    "y = cast(x, dtype='f64')",
]


@pytest.mark.parametrize("line", SIMPLE)
def test_steps_that_change_something_stay(line: str) -> None:
    func = parse(f"def main(x: f32[2, 3]):\n    {line}\n    return y\n")
    assert simplify_graph(func) is func


def test_a_transposition_of_a_square_stays() -> None:
    func = parse("def main(x: f32[2, 2]):\n    y = transpose(x)\n    return y\n")
    assert simplify_graph(func) is func


def test_nested_lets_become_flat_and_keep_the_outer_names() -> None:
    func = parse("""\
def main(x: f32[2]):
    with let():
        a = exp(x)
        with let():
            b = relu(a)
            c: f32[2] = b
        d: f32[2] = c
    e = tanh(d)
    with let():
        r: f32[2] = e
    return r
""")
    after = simplify_graph(func)
    assert (
        after.script()
        == """\
def main(x: f32[2]):
    a: f32[2] = exp(x)
    d: f32[2] = relu(a)
    e: f32[2] = tanh(d)
    return e
"""
    )


LET = """\
def main(x: f32[2]):
    with let():
        a = relu(x)
        r: f32[2] = a
    return r
"""


def test_a_let_that_is_switched_off_stays() -> None:
    func = parse(LET)
    with recording(Recorder(frozenset({0}))) as recorder:
        assert simplify_graph(func) is func
    assert recorder.count == 1


def test_folding_leaves_the_lets_of_others_alone() -> None:
    func = parse(LET)
    assert fold_batch_norm(func) is func


def test_an_item_of_an_item_of_a_tuple_is_known_at_once() -> None:
    func = parse("""\
def main(x: f32[2], y: f32[2]):
    t: (f32[2], f32[2]) = (x, y)
    u: (f32[2], (f32[2], f32[2])) = (y, t)
    v: (f32[2], f32[2]) = u[1]
    w: f32[2] = v[0]
    z = relu(w)
    return z
""")
    after = eliminate_dead_nodes(simplify_graph(func))
    assert (
        after.script() == "def main(x: f32[2], y: f32[2]):\n    z: f32[2] = relu(x)\n    return z\n"
    )


def fused(*lines: str, max_ops: int = 64) -> list[list[str]]:
    body = "\n    ".join([*lines, "return r"])
    params = "x: f32[1, 4, 8, 8], w: f32[4, 4, 1, 1], s: f32[1, 4, 1, 1]"
    func = parse(f"def main({params}):\n    {body}\n")
    after = fuse_ops(func, max_ops=max_ops)
    assert verify(after) == []
    if not groups(after):
        assert after is func
    return groups(after)


def test_a_convolution_takes_its_elementwise_epilogue() -> None:
    assert fused("c = conv(x, w)", "b = add(c, s)", "r = relu(b)") == [["conv", "add", "relu"]]


def test_a_residual_connection_joins_one_convolution_only() -> None:
    found = fused("c = conv(x, w)", "d = conv(x, w)", "a = add(c, d)", "r = relu(a)")
    assert found == [["conv", "add", "relu"]]


def test_a_diamond_of_elementwise_steps_becomes_one_group() -> None:
    found = fused("a = exp(x)", "b = relu(a)", "c = tanh(a)", "r = add(b, c)")
    assert found == [["exp", "relu", "tanh", "add"]]


def test_a_value_with_another_reader_ends_its_group() -> None:
    found = fused("a = exp(x)", "b = softmax(a)", "c = relu(a)", "r = add(b, c)")
    assert found == [["relu", "add"]]


def test_elementwise_steps_join_the_reduction_they_feed_and_nothing_follows_it() -> None:
    found = fused("a = exp(x)", "m = sum(a, axes=(1,))", "r = relu(m)")
    assert found == [["exp", "sum"]]


def test_nothing_is_fused_before_a_convolution_or_into_an_opaque_step() -> None:
    assert fused("a = relu(x)", "c = conv(a, w)", "r = softmax(c)") == []


def test_a_convolution_does_not_run_through_a_change_of_shape() -> None:
    assert fused("c = conv(x, w)", "r = reshape(c, shape=(4, 64))") == []


def test_injective_steps_form_chains() -> None:
    found = fused("a = reshape(x, shape=(4, 64))", "b = transpose(a)", "r = relu(b)")
    assert found == [["reshape", "transpose", "relu"]]


def test_groups_do_not_exceed_their_limit() -> None:
    lines = ["a0 = exp(x)", *(f"a{at} = exp(a{at - 1})" for at in range(1, 10)), "r = exp(a9)"]
    assert [len(group) for group in fused(*lines)] == [11]
    assert max(len(group) for group in fused(*lines, max_ops=4)) == 4


def test_constants_of_one_element_move_into_the_group() -> None:
    func = parse("""\
def main(x: f32[4]):
    two: f32[()] = constant([2.0])
    big: f32[4] = constant([1.0, 2.0, 3.0, 4.0])
    a = multiply(x, two)
    r = add(a, big)
    return r
""")
    (apply,) = [b.step for b in fuse_ops(func).body.bindings if isinstance(b.step, Apply)]
    assert [arg.name for arg in apply.args] == ["x", "big"]


def test_fusion_can_be_switched_off() -> None:
    func = parse("def main(x: f32[4]):\n    a = exp(x)\n    b = exp(a)\n    return b\n")
    with recording(Recorder(frozenset({0}))):
        assert fuse_ops(func) is func


def test_spans_survive_fusion() -> None:
    func = parse("def main(x: f32[4]):\n    a = exp(x)\n    b = exp(a)\n    return b\n")
    code, applied = fuse_ops(func).body.bindings
    assert isinstance(code.step, Lambda)
    inner = [bind.span.line for bind in code.step.body.bindings if bind.span is not None]
    assert inner == [2, 3]
    assert [code.span is not None, applied.span is not None] == [True, True]


def test_a_plan_is_read_back_as_it_was_recorded() -> None:
    func = parse(
        "def main(x: f32[64]):\n    a = exp(x)\n    b = exp(a)\n    c = exp(b)\n    return c\n"
    )
    after = plan_memory(func)
    plan = recorded_plan(after)
    assert plan is not None
    assert [(s.value, s.offset, s.size) for s in plan.slots] == [("a", 0, 256), ("b", 256, 256)]
    assert recorded_plan(func) is None
    assert plan_memory(after) is after
    assert recorded_plan(parse(after.script())) == plan


def test_items_of_items_are_found_at_once_however_deep() -> None:
    depth = 300
    made = [f"    t{at} = ({f't{at - 1}' if at else 'x'},)" for at in range(depth)]
    taken = [f"    i{at} = {f'i{at - 1}' if at else f't{depth - 1}'}[0]" for at in range(depth)]
    last = [f"    y = relu(i{depth - 1})", "    return y"]
    func = parse("\n".join(["def main(x: f32[4]):", *made, *taken, *last]) + "\n")
    started = time.process_time()
    after = simplify_graph(func)
    assert time.process_time() - started < 3.0  # Item by item it is 15 seconds.
    assert "y: f32[4] = relu(x)" in eliminate_dead_nodes(after).script()
