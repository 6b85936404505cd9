"""Which operators form a group, and which stay apart."""

from irkit.core import Recorder, recording
from irkit.graph import Apply, GraphFunc, Lambda, Op, parse, verify
from irkit.passes.graph import fuse_ops


def groups(func: GraphFunc) -> list[list[str]]:
    return [
        [inner.step.name for inner in bind.step.body.bindings if isinstance(inner.step, Op)]
        for bind in func.body.bindings
        if isinstance(bind.step, Lambda)
    ]


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
