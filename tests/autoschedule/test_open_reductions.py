"""Reductions, softmax and pointwise stages whose sizes are not constant."""

import itertools
from collections.abc import Callable

import numpy as np
import pytest

import irkit
from irkit import te, topi
from irkit.autoschedule import GENERIC, auto_schedule
from irkit.core import Recorder, recording, walk
from irkit.ir import For, Var
from irkit.te import Tensor
from tests.draws import sampled

Size = int | Var


def columns(a: Tensor) -> Tensor:
    r = te.reduce_axis((0, a.shape[0]), name="r")
    return te.compute((a.shape[1],), lambda j: te.sum(a[r, j], axis=r), name="C")


def rows(a: Tensor) -> Tensor:
    k = te.reduce_axis((0, a.shape[1]), name="k")
    return te.compute((a.shape[0],), lambda i: te.sum(a[i, k], axis=k), name="C")


def softmax(a: Tensor) -> Tensor:
    return topi.nn.softmax(a)


def relu(a: Tensor) -> Tensor:
    return topi.nn.relu(a)


@pytest.mark.parametrize(
    ("kind", "opened"),
    sampled(
        itertools.product([columns, rows, softmax, relu], ["rows", "columns", "both"]), every=2
    ),
)
def test_results_are_those_of_the_loops_as_written(
    kind: Callable[[Tensor], Tensor], opened: str
) -> None:
    sizes: tuple[Size, Size] = (
        te.var("m") if opened != "columns" else 50,
        te.var("n") if opened != "rows" else 50,
    )
    a = te.placeholder(sizes, name="A")
    func = te.create_prim_func([a, kind(a)])
    recorder = Recorder()
    with recording(recorder):
        made = auto_schedule(func, GENERIC)
    assert not recorder.remarks
    assert any(loop.kind == "vectorized" for loop in walk(made, on=For))
    written, fast = irkit.build(func, schedule="none"), irkit.build(made)
    for size in (0, 1, 2, 3, 7, 15, 16, 17, 31, 63, 64, 65, 129):
        shape = (50 if opened == "columns" else size, 50 if opened == "rows" else size)
        assert_same(written, fast, shape, kind)


def assert_same(
    written: irkit.runtime.Kernel,
    fast: irkit.runtime.Kernel,
    shape: tuple[int, int],
    kind: Callable[[Tensor], Tensor],
) -> None:
    values = np.random.default_rng(0).integers(-4, 5, shape).astype(np.float32)
    result = {columns: shape[1:], rows: shape[:1]}.get(kind, shape)
    one, other = np.full((2, *result), np.nan, np.float32)
    written(values, one)
    fast(values, other)
    if kind is softmax:
        np.testing.assert_allclose(other, one, rtol=1e-5)
    else:
        np.testing.assert_array_equal(other, one)
