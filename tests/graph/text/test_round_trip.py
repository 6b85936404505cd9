"""Graph text is printed and read back as the same function, and errors have a place."""

import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit.core import IRModule, ParseError, same
from irkit.graph import (
    GRAPH_NODES,
    ArrayData,
    Builder,
    FuncType,
    GraphFunc,
    GraphIf,
    Op,
    TensorType,
    TupleType,
    Value,
    interpret,
    parse,
    parse_module,
    script,
    tensor_type,
    verify,
)
from irkit.ir import F32, I32, Names, Var, parse as parse_loops
from irkit.passes.graph import fuse_ops, simplify_graph
from tests.draws import few_or_all
from tests.graph.graphs import random_graph

EVERYTHING = """\
@attrs(origin="a test")
@attrs(sizes=(1, 2))
def main(x: f32[n, 4], c: bool[()], m: f32[n + 1, k]):
    k_1: f32[2] = constant([1.5, -0.0])
    y: f32[n, 4] = relu(x)
    @function(composite="twice")
    def f(a: f32[n, 4], b: f32[n, 4]):
        s: f32[n, 4] = add(a, b)
        return s
    z: f32[n, 4] = f(y, x)
    if c:
        u: f32[n, 4] = exp(z)
        w: f32[n, 4] = u
    else:
        w: f32[n, 4] = z
    with let():
        v: f32[n, 4] = tanh(w)
        with let():
            t: f32[n, 4] = v
        r: f32[n, 4] = t
    p: (f32[n, 4], (f32[n, 4],), ()) = (r, q, e)
    o: f32[n, 4] = p[0]
    h: i64[()] = call("kernel", o, k_1)
    cut: f32[rows, 4] = prefix(o, h)
    l: (i64[()], f32[2], f32[n, 3]) = loop("step", h, c, (k_1,), (o, x))
    return o
""".replace("    p: ", "    q: (f32[n, 4],) = (r,)\n    e: () = ()\n    p: ")


def test_every_form_reads_back_as_it_was_printed() -> None:
    func = parse(EVERYTHING)
    assert script(func) == EVERYTHING
    assert same(parse(script(func)), func)
    assert verify(func) == []


def test_the_text_above_contains_every_node_class() -> None:
    func = parse(EVERYTHING)
    found: set[type[Any]] = {GraphFunc, Value, TensorType, TupleType, FuncType}
    stack: list[Any] = [func.body]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack += node
        elif type(node) in GRAPH_NODES:
            found.add(type(node))
            stack += [getattr(node, name) for name in node.__struct_fields__ if name != "type"]
    assert found == set(GRAPH_NODES)


@settings(max_examples=few_or_all(16, 40), deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_random_graphs_read_back_the_same(seed: int) -> None:
    func = random_graph(seed)
    again = parse(func.script(), absent=True)
    assert same(again, func)
    assert verify(again) == []
    assert again.script() == func.script()


def test_large_constants_are_found_by_their_digest() -> None:
    b, array = Builder(), np.arange(100, dtype="float32")
    func = b.finish(b.constant(array))
    text, digest = func.script(), ArrayData(array).digest
    assert digest in text
    assert same(parse(text, constants={digest: array}), func)
    assert same(parse(text, absent=True), func)
    with pytest.raises(ParseError, match=r"is not in the text[\s\S]*constants=\{digest: array\}"):
        parse(text)
    with pytest.raises(ParseError, match="has another digest"):
        parse(text, constants={digest: array + 1})


ARRAYS = [
    np.array([0.1, -0.0, np.inf, np.nan, 1e-45, 3.4028235e38], "float32"),
    np.array([0.1, 5e-324], "float64"),
    np.array([0.1, 65504, 6e-8], "float16"),
    np.array([0.1, 3e38], ml_dtypes.bfloat16),
    np.array([2**63 - 1, -(2**63)]),
    np.array([2**64 - 1], "uint64"),
    np.array(True),
    np.zeros((0, 3), "int8"),
    np.array([0x7FC00001, 0xFFC00000], "uint32").view("float32"),
    np.array([0x7F800001], "uint32").view("float32"),
    np.array([0x7D01], "uint16").view("float16"),
]


@pytest.mark.parametrize("array", ARRAYS, ids=str)
def test_small_constants_keep_every_bit(array: Any) -> None:
    b = Builder()
    func = b.finish(b.constant(array))
    assert same(parse(func.script()), func)


def test_names_that_are_not_identifiers_are_printed_beside_mangled_ones() -> None:
    b = Builder("net/1")
    x = b.param("data:0", (Var("batch size"), 2))
    inner = b.inner()
    result = inner.op("exp", inner.param("a b", x.type), name="class")
    f = b.function(inner, result, name="relu")
    func = b.finish(b.op("relu", b.apply(f, x, name="1"), name="out put"))
    text = func.script()
    assert 'names(out_put="out put")' in text
    assert "apply(relu," in text
    again = parse(text)
    assert same(again, func)
    assert [again.name, again.params[0].name] == ["net/1", "data:0"]
    assert [bind.var.name for bind in again.body.bindings] == ["relu", "1", "out put"]


def test_long_signatures_take_a_line_a_parameter() -> None:
    b = Builder()
    params = [b.param(f"a_rather_long_name_{at}", (Var("n", I32), 3)) for at in range(6)]
    func = b.finish(params[0])
    assert "@types(n=i32)" in func.script()
    assert "def main(\n    a_rather_long_name_0: f32[n, 3],\n" in func.script()
    assert same(parse(func.script()), func)


def test_an_operator_that_does_not_exist_still_has_a_text() -> None:
    x = Value("x", tensor_type((2,)))
    b = Builder()
    y = b.emit(Op("warp", (x,), (("speed", 9),)), "y", type=x.type)
    func = GraphFunc("main", (x,), b.body(y))
    assert 'op("warp", x, speed=9)' in func.script()
    assert same(parse(func.script()), func)
    assert [str(problem) for problem in verify(func)] == ["unknown operator 'warp'"]


def test_types_that_can_be_inferred_can_be_left_out() -> None:
    func = parse("def main(x: f32[4]):\n    y = relu(x)\n    return y\n")
    assert func.body.result.type == tensor_type((4,), F32)


def test_an_unchanged_value_keeps_its_printed_name_through_a_trace() -> None:
    names, func = Names(), random_graph(1)
    first = script(func, names=names)
    last = func.body.bindings[-1]
    shorter = func.replace(body=func.body.replace(bindings=(last,)))
    assert script(shorter, names=names).splitlines()[1] in first.splitlines()


def test_a_module_holds_graph_functions_and_loop_functions_in_text_order() -> None:
    text = """\
def main(x: f32[4]):
    y: f32[4] = call("double", x)
    return y

# A comment between them.
def double(A: f32[4], B: f32[4]):
    for i in serial(0, 4):
        B[i] = A[i] + A[i]

@attrs(extra=1)
def other(x: f32[4]):
    z: f32[4] = call("main", x)
    return z
"""
    module = parse_module(text)
    assert list(module) == ["main", "double", "other"]
    assert same(module, IRModule({name: module[name] for name in module}))
    assert same(parse_module(module.script()), module)
    assert same(module["double"], parse_loops(module["double"].script()))
    assert verify(module) == []
    x = np.arange(4, dtype="float32")
    np.testing.assert_array_equal(interpret(module, [x], entry="other"), x + x)


def test_dimensions_too_deep_for_a_line_get_lines_of_their_own() -> None:
    b = Builder()
    y = b.param("x", (1, 1, Var("h")))
    for _ in range(400):
        y = b.op("avg_pool", y, kernel=(3,), strides=(2,), pads=(1, 1))
    func = b.finish(y)
    assert verify(func) == []
    assert same(parse(func.script()), func)
    assert same(simplify_graph(fuse_ops(func)), func)


def test_nested_lets_read_back_at_any_depth_that_fits_a_line() -> None:
    depth = 300
    opened = [f"{'    ' * at}with let():" for at in range(1, depth)]
    inner = [f"y{at}" for at in range(3, depth + 1)] + ["z"]
    closed = [
        f"{'    ' * at}y{at}: f32[2] = {inner[at - 2]}" for at in reversed(range(2, depth + 1))
    ]
    middle = f"{'    ' * depth}z: f32[2] = relu(x)"
    lines = ["def main(x: f32[2]):", *opened, middle, *closed, "    return y2", ""]
    func = parse("\n".join(lines))
    assert script(func) == "\n".join(lines)
    assert same(parse(script(func)), func)


WRONG = [
    ("x = relu(x)", 1, "expected a function"),
    ("def main(x: f32[4]):\n    y = relu(z)\n    return y", 2, "unknown value 'z'"),
    ("def main(x: f32[4]):\n    y = relu(x)", 2, "expected return name at its end"),
    ("def main(x: f32[4]):\n    y = rely(x)\n    return y", 2, "unknown operator or function"),
    ("def main(x: f32[4]):\n    y = add(relu(x), x)\n    return y", 2, "a line of its own"),
    ("def main(x: f32[4]):\n    x = relu(x)\n    return x", 2, "the name 'x' is taken"),
    ("def main(x: f32[4], w: f32[3]):\n    y = add(x, w)\n    return y", 2, "does not broadcast"),
    ("def main(x: f32[4]):\n    y = call('f', x)\n    return y", 2, "needs a type"),
    ("def main(x: f32[4]):\n    k = constant([1.0])\n    return x", 2, "needs a type"),
    ("def main(x: f32[4]):\n    k: f32[2] = constant([1.0])\n    return x", 2, "2 elements"),
    ("def main(x: f32[4]):\n    k: i8[1] = constant([200])\n    return x", 2, "holds -128 to"),
    ("def main(x: f32[4]):\n    k: f32[1] = constant(bytes='00')\n    return x", 2, "4 bytes"),
    ("def main(x: f32[-4]):\n    return x", 1, "must not be negative"),
    ("def main(x: f32x4[4]):\n    return x", 1, "scalar elements"),
    ("def main(x=3):\n    return x", 1, "a type for each parameter"),
    (
        "def main(x: f32[4]):\n    return x\n    y = relu(x)",
        3,
        "expected the end of the body after its result",
    ),
    ("def main(x: f32[4]):\n  return x\n y = relu(x)", 3, "expected a function"),
    ("def main(x: f32[4]):\n    else:\n    return x", 2, "expected an if before"),
    ("def main(x: f32[4]):\n    y = x\n    return y", 2, "identity(x) returns"),
    (
        "def main(x: f32[4], c: bool[()]):\n    if c:\n        y = x\n    return x",
        4,
        "expected else",
    ),
    ("def main(x: f32[4]):\n    y = relu(x, **slope)\n    return y", 2, "expected **"),
    ("def main(x: f32[4]):\n    y = x[True]\n    return y", 2, "expected an integer"),
    ("@attrs(a=1)", 1, "expected a function after"),
    ("def main(\n    x: f32[4],", 2, "expected '):'"),
    ("def main(x: f32[4]):\n    y = __import__('os').system('true')\n    return y", 2, "unknown"),
    ("def main(x: f32[4]):\n    y = relu(" + "(" * 500 + "\n    return y", 2, "cannot read"),
]


@pytest.mark.parametrize(("text", "line", "message"), WRONG)
def test_an_error_has_the_line_of_the_mistake(text: str, line: int, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(text, file="net.irs")
    assert message in str(caught.value)
    assert caught.value.span is not None
    assert (caught.value.span.file, caught.value.span.line) == ("net.irs", line)


@settings(max_examples=few_or_all(60, 150), deadline=None, derandomize=True)
@given(st.data())
def test_damaged_text_is_an_error_and_never_a_crash(data: st.DataObject) -> None:
    lines = EVERYTHING.splitlines()
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(lines) - 1))
        cut = data.draw(st.integers(0, len(lines[at])))
        extra = data.draw(
            st.sampled_from(["", "(", "]", ":", " ", "x", "0", "=", "@", "\x00", "é"])
        )
        lines[at] = lines[at][:cut] + extra + lines[at][cut + data.draw(st.integers(0, 3)) :]
    try:
        func = parse("\n".join(lines))
    except ParseError:
        return
    verify(func)
    assert same(parse(func.script()), func)


def test_an_extent_that_does_not_fit_is_an_error_with_a_line() -> None:
    most = (1 << 63) - 1
    with pytest.raises(ParseError, match=r"<text>:2:9: pad: an extent of 9223372036854775811"):
        parse(f"def main(x: f32[4]):\n    p = pad(x, pads=(0, {most}))\n    return p\n")


def test_bodies_nested_deeper_than_the_limit_of_recursion_are_printed() -> None:
    b = Builder()
    x, flag = b.param("x", (2,)), b.param("c", (), "bool")
    side = b.inner()
    body = side.body(side.op("negative", x))
    for _ in range(sys.getrecursionlimit() + 200):
        outer = b.inner()
        body = outer.body(outer.emit(body, "y"))
    other = b.inner()
    func = b.finish(b.emit(GraphIf(flag, body, other.body(other.op("exp", x))), "z"))
    assert same(parse(func.script()), func)
