"""Which operators form a group, and which stay apart."""

import pytest

from irkit.core import Recorder, Span, recording
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


NORM = (
    "m = mean(x, axes=(3,), keepdims=True)",
    "c = subtract(x, m)",
    "d = multiply(c, c)",
    "v = mean(d, axes=(3,), keepdims=True)",
    "k = rsqrt(v)",
    "r = multiply(c, k)",
)


def rows(*lines: str) -> list[list[str]]:
    body = "\n    ".join([*lines, "return r"])
    params = "x: f32[2, 3, 1, 32], w: f32[32], s: f32[2, 3, 1, 1], t: f32[3, 1, 32]"
    return groups(fuse_ops(parse(f"def main({params}):\n    {body}\n")))


def test_reductions_of_rows_and_what_is_computed_from_them_are_one_group() -> None:
    (found,) = rows(*NORM)
    assert found == ["mean", "subtract", "multiply", "mean", "rsqrt", "multiply"]
    scaled = (*NORM[:-1], "n = multiply(c, k)", "a = multiply(n, w)", "r = add(a, s)")
    assert [len(each) for each in rows(*scaled)] == [8]
    moved = (*NORM[:-1], "n = multiply(c, k)", "r = transpose(n, axes=(2, 0, 1, 3))")
    assert [len(each) for each in rows(*moved)] == [7]


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        (0, "m = mean(x, axes=(1,), keepdims=True)"),
        (3, "v = mean(d, axes=(1, 3), keepdims=True)"),
        (5, "n = multiply(c, k)\n    r = add(n, t)"),
        (5, "n = multiply(c, k)\n    r = transpose(n, axes=(1, 0, 2, 3))"),
    ],
)
def test_what_needs_other_rows_is_no_part_of_the_group(line: int, instead: str) -> None:
    lines = [*NORM]
    lines[line] = instead
    assert max(len(each) for each in rows(*lines)) < 6 + (line == 5)


def test_short_rows_have_no_group() -> None:
    text = "def main(x: f32[9, SIZE]):\n    m = mean(x, axes=(1,), keepdims=True)\n"
    text += "    r = subtract(x, m)\n    return r\n"
    assert [len(groups(fuse_ops(parse(text.replace("SIZE", n))))) for n in ("32", "8")] == [1, 0]


def test_nothing_is_fused_before_a_convolution_or_into_an_opaque_step() -> None:
    assert fused("a = relu(x)", "c = conv(a, w)", "r = softmax(c)") == []


def blocked(*lines: str) -> list[list[str]]:
    body = "\n    ".join([*lines, "return r"])
    params = "x: f32[1, 1, 8, 8, 4], w: f32[1, 1, 1, 1, 4, 4], s: f32[1, 4]"
    return groups(fuse_ops(parse(f"def main({params}):\n    {body}\n")))


def test_a_convolution_on_blocks_takes_what_only_its_input_needs() -> None:
    found = blocked("a = sigmoid(x)", "b = multiply(x, a)", "c = conv_blocked(b, w)", "r = relu(c)")
    assert found == [["sigmoid", "multiply", "conv_blocked", "relu"]]
    # What only its weights or its bias need, or something else too, has a kernel of its own.
    assert blocked("a = relu(w)", "r = conv_blocked(x, a)") == []
    assert blocked("a = relu(s)", "r = conv_blocked(x, w, a)") == []
    assert blocked("a = relu(x)", "c = conv_blocked(a, w)", "r = add(c, a)") == [
        ["conv_blocked", "add"]
    ]


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


def remarks_of(text: str, **options: int) -> list[str]:
    with recording(Recorder()) as recorder:
        fuse_ops(parse(text), **options)
    return [each.text for each in recorder.remarks]


APART = [
    (
        "a = matmul(x, x)\n    b = matmul(a, x)\n    return b",
        "'a' (matmul) is not fused with 'b' (matmul): each of two products or windows needs a "
        "kernel of its own",
    ),
    (
        "a = relu(x)\n    b = matmul(a, x)\n    return b",
        "'a' (relu) is not fused with 'b' (matmul): 'b' (matmul) reads each element several times, "
        "so it would be computed again each time; move it behind, or into the weights where it is "
        "by a constant",
    ),
    (
        "a = matmul(x, x)\n    b = transpose(a, axes=(1, 0))\n    return b",
        "'a' (matmul) is not fused with 'b' (transpose): behind a matmul only operators on its own "
        "elements are fused, and transpose moves or sums them; apply it to the operand, or later",
    ),
    (
        "a = softmax(x)\n    b = relu(a)\n    return b",
        "'a' (softmax) is not fused with 'b' (relu): 'a' (softmax) always has a kernel of its own",
    ),
    (
        "a = sum(x, axes=(0,))\n    b = relu(a)\n    return b",
        "'a' (sum) is not fused with 'b' (relu): a sum has to be complete before the next operator "
        "starts; reduce after the other operators where the model allows it",
    ),
    (
        "a = exp(x)\n    b = relu(a)\n    c = (a, b)\n    return c",
        "'a' (exp) is not fused with 'b' (relu): its result is needed elsewhere too, so it has to "
        "be in memory; let one operator use it, or compute it again for each",
    ),
]


@pytest.mark.parametrize(("text", "said"), APART)
def test_a_remark_says_why_two_operators_have_two_kernels(text: str, said: str) -> None:
    assert remarks_of(f"def main(x: f32[4, 4]):\n    {text}\n") == [said]


def test_a_remark_names_the_option_that_keeps_operators_apart() -> None:
    text = "def main(x: f32[4]):\n    a = exp(x)\n    b = relu(a)\n    return b\n"
    assert remarks_of(text) == []
    assert remarks_of(text, max_ops=1) == [
        "'a' (exp) is not fused with 'b' (relu): one kernel would have 2 operators, max_ops is 1"
    ]


def test_a_remark_has_the_names_of_the_nodes_of_a_model() -> None:
    func = parse("def main(x: f32[4]):\n    a = softmax(x)\n    b = relu(a)\n    return b\n")
    named = [
        bind.replace(span=Span("onnx", name))
        for bind, name in zip(func.body.bindings, ("/head/Softmax", "/head/Relu"), strict=True)
    ]
    with recording(Recorder()) as recorder:
        fuse_ops(func.replace(body=func.body.replace(bindings=tuple(named))))
    (said,) = recorder.remarks
    assert said.text.startswith("'/head/Softmax' (softmax) is not fused with '/head/Relu' (relu): ")


def test_a_tensor_without_operands_is_no_row_of_another() -> None:
    func = parse(
        "def main(x: f32[9, 32]):\n    k: f32[9, 32] = full(shape=(9, 32), value=2.0, "
        'dtype="f32")\n    m: f32[9, 1] = sum(x, axes=(1,), keepdims=True)\n'
        "    a: f32[9, 32] = add(x, m)\n    r: f32[9, 32] = add(a, k)\n    return r\n"
    )
    assert verify(fuse_ops(func)) == []
