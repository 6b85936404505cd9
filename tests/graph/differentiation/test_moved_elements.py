"""Gradients of slices whose bounds are computed from dimensions, compared with NumPy's slices."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit.core import IRKitError, IRModule, substitute
from irkit.frontend.sizes import AxisWindow, sliced, subtract, window_kernel
from irkit.graph import (
    Builder,
    TensorType,
    arrays_of,
    gradient,
    interpret,
    parse,
    parse_module,
    verify,
)
from irkit.ir import DType, Expr, Interval, Var, as_dtype, as_int, index, simplify

F64: DType = as_dtype("f64")
N, M = Var("n"), Var("m")
EVERY = {N: Interval(0, 1 << 31), M: Interval(0, 1 << 31)}


def value(bound: Expr, n: int, m: int) -> int:
    found = as_int(simplify(substitute(bound, {N: index(n), M: index(m)})))
    assert found is not None
    return found


def weighted_sum(windows: list[AxisWindow]) -> IRModule:
    """Return the sum of the elements that windows take of x, each times an element of w."""
    builder = Builder()
    x, like = builder.param("x", (N, 3), "f64"), builder.param("like", (M,), "f64")
    func, kind = window_kernel(TensorType((N, index(3)), F64), windows, [TensorType((M,), F64)])
    taken = builder.kernel(func, x, like, type=kind)
    w = builder.param("w", kind)
    loss = builder.op("sum", builder.op("multiply", taken, w))
    return IRModule({"main": builder.finish(loss), **builder.functions})


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from([None, 0, 1, -2, N - 3, M]),
    st.sampled_from([None, 4, -1, N, M + 1]),
    st.sampled_from([1, 2, 3, -1, -2]),
    st.integers(0, 7),
    st.integers(0, 5),
)
def test_a_gradient_goes_back_to_where_a_slice_took_elements(
    begin: Expr | int | None, end: Expr | int | None, step: int, n: int, m: int
) -> None:
    def at(bound: Expr | int | None) -> int | None:
        return bound if bound is None or isinstance(bound, int) else value(bound, n, m)

    first = (0 if step > 0 else 1 << 62) if begin is None else begin
    last = (1 << 62 if step > 0 else -(1 << 62)) if end is None else end
    rows = sliced(first, last, step, N, EVERY)
    columns = AxisWindow(2, 3, -1)
    module = gradient(weighted_sum([rows, columns]), ["x"])
    assert verify(module) == []
    part = (slice(at(begin), at(end), step), slice(None, None, -1))
    random = np.random.default_rng(0)
    x = random.standard_normal((n, 3))
    w = random.standard_normal(x[part].shape)
    wanted = np.zeros_like(x)
    wanted[part] = w
    (found,) = arrays_of(interpret(module, {"x": x, "like": np.zeros(m), "w": w}))
    np.testing.assert_array_equal(found, wanted)


def test_the_gradient_of_a_part_that_is_the_rest_asks_one_question() -> None:
    module = gradient(weighted_sum([AxisWindow(index(1), subtract(N, 1)), AxisWindow(0, 3)]), ["x"])
    assert "(gradient[v0 - 1, v1] if v0 >= 1 else f64(0.0))" in module.script()


SUMMED = """
def main(x: f64[n]):
    y: f64[n] = call("pairs", x)
    loss: f64[()] = sum(y)
    return loss

def pairs(x: f64[n], y: f64[n]):
    for i in serial(0, n):
        with block("y"):
            v = axis.spatial(n, i)
            y[v] = x[v] + x[n - 1 - v]
"""


@pytest.mark.parametrize("stored", ["x[v] + x[n - 1 - v]", "x[v // 2]", "x[n - n]"])
def test_a_loop_function_that_does_more_is_refused_by_name(stored: str) -> None:
    module = parse_module(SUMMED.replace("x[v] + x[n - 1 - v]", stored))
    with pytest.raises(IRKitError, match="'y': 'pairs' is a loop function that does more than"):
        gradient(module)


EMBEDDED = """
def main(table: f64[5, 3], places: i64[b, s], w: f64[b, s, 3]):
    rows: f64[b, s, 3] = take(table, places, axis=0)
    weighted: f64[b, s, 3] = multiply(rows, w)
    loss: f64[()] = sum(weighted)
    return loss
"""


@pytest.mark.parametrize("shape", [(2, 3), (1, 7), (0, 4), (3, 0)])
def test_a_gradient_of_rows_whose_number_is_open_adds_up_in_their_places(
    shape: tuple[int, int],
) -> None:
    found = gradient(parse(EMBEDDED), ["table"])
    assert verify(found) == []
    random = np.random.default_rng(0)
    places, w = random.integers(-5, 5, shape), random.standard_normal((*shape, 3))
    wanted = np.zeros((5, 3))
    np.add.at(wanted, places, w)
    (made,) = arrays_of(interpret(found, [np.ones((5, 3)), places, w]))
    np.testing.assert_allclose(made, wanted, 1e-12, 1e-12)
