"""Running sums and scatters are computed, and a remark says why that takes long."""

from collections.abc import Callable

import numpy as np
import pytest

from irkit import te, topi
from irkit.autoschedule import auto_schedule
from irkit.core import Recorder, recording
from irkit.ir import Expr, PrimFunc, Var, eq, interpret, le, lt, select


def remarks_of(func: PrimFunc) -> str:
    recorder = Recorder()
    with recording(recorder):
        auto_schedule(func)
    return "\n".join(each.text for each in recorder.remarks)


def running(step: Callable[[te.IterVar, Var, Expr], Expr]) -> PrimFunc:
    x = te.placeholder((40,), name="x")
    k = te.reduce_axis((0, 40), name="k")
    return te.create_prim_func([x, te.compute((40,), lambda i: step(k, i, x[k]), name="y")])


def chosen(k: te.IterVar, i: Var, x: Expr) -> Expr:
    return te.sum(select(le(k, i), x, 0.0), axis=k)


def guarded(k: te.IterVar, i: Var, x: Expr) -> Expr:
    return te.sum(x, axis=k, where=lt(k, i + 1))


@pytest.mark.parametrize("step", [chosen, guarded])
def test_a_running_sum_is_computed_and_remarked(
    step: Callable[[te.IterVar, Var, Expr], Expr],
) -> None:
    func = running(step)
    assert "running total" in remarks_of(func)
    given = np.random.default_rng(0).integers(-3, 4, 40).astype(np.float32)
    found = np.zeros(40, np.float32)
    interpret(auto_schedule(func), given, found)
    np.testing.assert_array_equal(found, given.cumsum())


def test_a_scatter_is_computed_and_remarked() -> None:
    at, x = te.placeholder((30,), dtype="i64", name="at"), te.placeholder((30,), name="x")
    k = te.reduce_axis((0, 30), name="k")
    y = te.compute((50,), lambda i: te.sum(select(eq(at[k], i), x[k], 0.0), axis=k), name="y")
    func = te.create_prim_func([at, x, y])
    assert "every update" in remarks_of(func)
    rng = np.random.default_rng(0)
    places, given = rng.integers(0, 50, 30), rng.integers(-3, 4, 30).astype(np.float32)
    found, wanted = (np.zeros(50, np.float32) for _ in range(2))
    interpret(auto_schedule(func), places, given, found)
    np.add.at(wanted, places, given)
    np.testing.assert_array_equal(found, wanted)


def test_windows_and_plain_reductions_have_no_such_remark() -> None:
    x = te.placeholder((1, 4, 20, 20), name="x")
    pooled = topi.nn.max_pool(x, (3, 3), strides=(2, 2), pads=(1, 1, 1, 1))
    for y in (pooled, topi.sum(x, 3), topi.argmax(x, 2)):
        assert "each result" not in remarks_of(te.create_prim_func([x, y]))
