"""Gradients of whole functions: branches, function values, lets, tuples, calls, and refusals."""

from typing import Any

import numpy as np
import pytest

from irkit.core import DTypeError, IRKitError, IRModule, ShapeError, Span, walk
from irkit.graph import (
    Bind,
    Builder,
    GraphFunc,
    GraphIf,
    Op,
    gradient,
    interpret,
    parse,
    parse_module,
    script,
    verify,
)
from tests.graph.differentiation.finite_differences import assert_gradients

X = np.array([0.7, -1.3, 2.1])
W = np.array([1.4, 0.6, -0.9])


def check(func: GraphFunc, *arrays: Any, module: IRModule | None = None) -> Any:
    """Compare the gradients of a function with finite differences; return the gradients."""
    arrays = tuple(np.asarray(array) for array in arrays)
    program = func if module is None else module
    derived = gradient(program)
    assert verify(derived) == []
    found = interpret(derived, list(arrays))
    several = found if isinstance(found, tuple) else (found,)
    floats = [at for at, array in enumerate(arrays) if array.dtype.kind == "f"]

    def run(changed: list[Any]) -> float:
        return float(np.asarray(interpret(program, changed)))

    pairs = dict(zip(floats, map(np.asarray, several), strict=True))
    assert_gradients(run, list(arrays), pairs)
    return found


BRANCH = """
def main(c: bool[()], x: f64[3], w: f64[3]):
    y: f64[3] = exp(x)
    if c:
        a: f64[3] = multiply(y, w)
        b: f64[3] = multiply(a, a)
        chosen: f64[3] = b
    else:
        d: f64[3] = sin(y)
        chosen: f64[3] = d
    z: f64[3] = multiply(chosen, w)
    loss: f64[()] = sum(z)
    return loss
"""


@pytest.mark.parametrize("cond", [True, False])
def test_a_branch_is_differentiated_side_by_side(cond: bool) -> None:
    func = parse(BRANCH)
    dx, dw = check(func, cond, X, W)
    assert dx.shape == dw.shape == (3,)
    branches = list(walk(gradient(func), GraphIf))
    assert len(branches) == 2
    assert {op.name for op in walk(branches[1].otherwise, Op)} >= {"sin", "cos"}


NESTED = """
def main(c: bool[()], e: bool[()], x: f64[3], w: f64[3]):
    if c:
        a: f64[3] = multiply(x, w)
        if e:
            b: f64[3] = multiply(a, x)
            inner: f64[3] = b
        else:
            d: f64[3] = exp(a)
            inner: f64[3] = d
        two: (f64[3], f64[3]) = (inner, a)
        both: (f64[3], f64[3]) = two
    else:
        three: (f64[3], f64[3]) = (x, x)
        both: (f64[3], f64[3]) = three
    first: f64[3] = both[0]
    second: f64[3] = both[1]
    z: f64[3] = multiply(first, second)
    loss: f64[()] = sum(z)
    return loss
"""


@pytest.mark.parametrize("cond", [True, False])
@pytest.mark.parametrize("other", [True, False])
def test_branches_in_branches_with_tuples_are_differentiated(cond: bool, other: bool) -> None:
    check(parse(NESTED), cond, other, X, W)


CLOSURES = """
def main(x: f64[3], w: f64[3]):
    scale: f64[3] = exp(w)
    @function()
    def times(y: f64[3]):
        z: f64[3] = multiply(y, scale)
        return z
    @function()
    def twice(f: func((f64[3],), f64[3]), y: f64[3]):
        once: f64[3] = f(y)
        again: f64[3] = f(once)
        return again
    with let():
        s: f64[3] = sin(x)
        t: f64[3] = twice(times, s)
        u: f64[3] = multiply(t, s)
        inside: f64[3] = u
    loss: f64[()] = sum(inside)
    return loss
"""


def test_functions_as_values_and_lets_are_differentiated_with_what_they_use() -> None:
    check(parse(CLOSURES), X, W)


CHOSEN = """
def main(c: bool[()], x: f64[3], w: f64[3]):
    if c:
        scale: f64[3] = exp(w)
        @function()
        def f(y: f64[3]):
            z: f64[3] = multiply(y, scale)
            return z
        which: func((f64[3],), f64[3]) = f
    else:
        @function()
        def g(y: f64[3]):
            z: f64[3] = sin(y)
            return z
        which: func((f64[3],), f64[3]) = g
    once: f64[3] = which(x)
    again: f64[3] = which(once)
    loss: f64[()] = sum(again)
    return loss
"""


@pytest.mark.parametrize("cond", [True, False])
def test_a_function_that_a_branch_chooses_is_differentiated(cond: bool) -> None:
    check(parse(CHOSEN), cond, X, W)


CALLS = """
def main(x: f64[3], w: f64[3]):
    a: (f64[3], f64[3]) = call("pair", x, w)
    b: f64[3] = a[0]
    c: f64[3] = a[1]
    d: f64[3] = multiply(b, c)
    loss: f64[()] = mean(d)
    return loss

def pair(p: f64[3], q: f64[3]):
    r: f64[3] = multiply(p, q)
    both: (f64[3], f64[3]) = (r, q)
    return both
"""


def test_calls_of_the_module_are_inlined() -> None:
    module = parse_module(CALLS)
    main = module["main"]
    assert isinstance(main, GraphFunc)
    check(main, X, W, module=module)
    assert "pair" in gradient(module)
    with pytest.raises(IRKitError, match="the program is a single function, not a module"):
        gradient(main)


def test_recursion_is_refused_by_name() -> None:
    text = CALLS.replace("r: f64[3] = multiply(p, q)", 'r0: f64[()] = call("main", p, q)\n'
                         "    r: f64[3] = multiply(p, q)")  # fmt: skip
    with pytest.raises(IRKitError, match="recursive function: 'main' calls 'pair' calls 'main'"):
        gradient(parse_module(text))


def test_mutation_is_refused_by_name() -> None:
    func = parse("@attrs(state=(0, 0))\ndef main(x: f64[()]):\n    return x\n")
    with pytest.raises(IRKitError, match="an output overwrites an input"):
        gradient(func)


def test_a_loop_function_is_refused_where_the_result_depends_on_it() -> None:
    from irkit.ir import parse as parse_loops

    kernel = parse_loops("def double(A: f64[3], B: f64[3]):\n    for i in serial(0, 3):\n"
                         "        B[i] = A[i] * f64(2.0)\n")  # fmt: skip
    b = Builder()
    x = b.param("x", (3,), "f64")
    y = b.kernel(kernel, x, type=x.type)
    module = IRModule({"main": b.finish(b.op("sum", y)), **b.functions})
    with pytest.raises(IRKitError, match="'double' is a loop function"):
        gradient(module)


PLAIN = """
def main(x: f32[3], n: i64[3], w: f32[3]):
    y: f32[3] = multiply(x, w)
    loss: f32[()] = sum(y)
    return loss
"""


def test_gradients_come_in_the_order_asked_for() -> None:
    func = parse(PLAIN)
    arrays = [np.float32(X), np.arange(3), np.float32(W)]
    value, dw, dx = interpret(gradient(func, ["w", "x"], with_value=True), arrays)
    assert value == np.float32(np.float32(X) * np.float32(W)).sum(dtype=np.float32)
    assert (dw == arrays[0]).all()
    assert (dx == arrays[2]).all()
    assert dict(gradient(func, "w").attrs)["outputs"] == ("d_w",)
    assert (interpret(gradient(func, "w"), arrays) == arrays[0]).all()


def test_a_parameter_that_the_result_does_not_depend_on_has_zeros() -> None:
    func = parse(PLAIN.replace("multiply(x, w)", "multiply(x, x)"))
    assert (
        interpret(gradient(func, "w"), [np.float32(X), np.arange(3), np.float32(W)]).tolist()
        == [0.0] * 3
    )


def test_a_wrong_request_is_refused() -> None:
    func = parse(PLAIN)
    with pytest.raises(IRKitError, match="'main' has no parameter 'v'; it has: x, n, w"):
        gradient(func, "v")
    with pytest.raises(DTypeError, match=r"with respect to 'n', which is i64\[3\]"):
        gradient(func, ["n"])
    with pytest.raises(IRKitError, match="wrt must name different parameters"):
        gradient(func, ["x", "x"])
    with pytest.raises(ShapeError, match=r"its result is f32\[3\], expected one float"):
        gradient(parse(PLAIN.replace("return loss", "return y")))
    with pytest.raises(DTypeError, match="has no parameter of floats"):
        gradient(parse("def main(n: i64[3]):\n    y: f32[3] = cast(n, dtype=\"f32\")\n"
                       "    z: f32[()] = sum(y)\n    return z\n"))  # fmt: skip


def test_an_operator_without_a_derivative_is_refused_with_its_reason() -> None:
    b = Builder()
    x = b.param("x", (2, 4))
    packed = b.constant(np.zeros((2, 3), np.uint8))
    y = b.op("matmul_4bit", x, packed, b.constant(np.ones((1, 3), np.float32)), block=4)
    with pytest.raises(IRKitError, match=r"matmul_4bit \('matmul_4bit'\): weights packed"):
        gradient(b.finish(b.op("sum", y)))


def test_what_integers_decide_stops_no_gradient() -> None:
    b = Builder()
    x = b.param("x", (3,), "f64")
    place = b.op("argmax", x, axis=0, keepdims=True)
    y = b.op("multiply", b.op("take", x, place), b.op("cast", place, dtype="f64"))
    check(b.finish(b.op("sum", y)), X)


def test_a_symbolic_batch_stays_symbolic() -> None:
    text = """
def main(x: f64[n, 4], w: f64[4, 2], b: f64[2]):
    y: f64[n, 2] = matmul(x, w)
    z: f64[n, 2] = add(y, b)
    r: f64[n, 2] = relu(z)
    s: f64[n, 2] = softmax(r)
    q: f64[n, 2] = multiply(s, s)
    loss: f64[()] = mean(q)
    return loss
"""
    derived = gradient(parse(text))
    assert parse(script(derived)) is not None
    random = np.random.default_rng(3)
    for batch in (1, 5):
        arrays = [random.standard_normal(each) for each in ((batch, 4), (4, 2), (2,))]
        check(parse(text), *arrays)


def test_the_operators_of_a_gradient_know_where_they_come_from() -> None:
    b = Builder()
    x = b.param("x", (3,))
    y = b.op("sigmoid", x, span=Span("python", "sigmoid", "model.py", 7))
    loss = b.op("sum", y, span=Span("python", "sum", "model.py", 9))
    func = gradient(b.finish(loss))
    lines = [
        bind.span.line
        for bind in walk(func, Bind)
        if isinstance(bind.step, Op) and bind.span is not None
    ]
    assert set(lines) == {7, 9}
    assert lines.count(7) > 2


def test_a_chain_of_a_thousand_operators_is_differentiated() -> None:
    b = Builder()
    x = b.param("x", (), "f64")
    y = x
    for _ in range(1000):
        y = b.op("multiply", y, b.constant(np.float64(1.001)))
    assert interpret(gradient(b.finish(y)), [np.float64(2)]) == pytest.approx(1.001**1000)
