"""Loops of any extent run on several threads where their work, known at the call, is worth it."""

import os
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

import irkit
from irkit import te, topi
from irkit.autoschedule import Machine, automatic_schedule, threads
from irkit.core import walk
from irkit.ir import For, PrimFunc
from irkit.runtime import Kernel, num_threads, set_num_threads

SIZES = ((0, 3), (3, 0), (1, 1), (1, 40), (7, 5), (33, 70), (600, 512))


def elementwise() -> PrimFunc:
    n, m = te.var("n"), te.var("m")
    x = te.placeholder((n, m), name="x")
    return te.create_prim_func([x, te.compute((n, m), lambda i, j: te.exp(x[i, j]), name="y")])


def softmax() -> PrimFunc:
    n, m = te.var("n"), te.var("m")
    x = te.placeholder((n, m), name="x")
    return te.create_prim_func([x, topi.nn.softmax(x)])


def gram() -> PrimFunc:
    """Rows times rows: a product whose three extents are not constant."""
    n, m = te.var("n"), te.var("m")
    x, k = te.placeholder((n, m), name="x"), te.reduce_axis((0, m), name="k")
    return te.create_prim_func(
        [x, te.compute((n, n), lambda i, j: te.sum(x[i, k] * x[j, k], axis=k), name="y")]
    )


MAKERS: tuple[Callable[[], PrimFunc], ...] = (elementwise, softmax, gram)


@pytest.fixture(autouse=True)
def _same_number_of_threads_afterwards() -> Iterator[None]:
    before = num_threads()
    yield
    set_num_threads(before)


def parallel(func: PrimFunc) -> list[For]:
    return [loop for loop in walk(func, on=For) if loop.kind == "parallel"]


@pytest.mark.parametrize(
    ("make", "worth"), [*((each, 1) for each in MAKERS), (elementwise, 1 << 18)]
)
def test_results_have_the_same_bits_on_any_number_of_threads(
    make: Callable[[], PrimFunc], worth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "WORTH", worth)
    func = make()
    kernel, plain = irkit.build(func), irkit.build(func, schedule="none")
    for rows, columns in SIZES:
        x = np.random.default_rng(rows).standard_normal((rows, columns)).astype(np.float32)
        found = [_result(kernel, x, make is gram, count) for count in (1, 2, 4)]
        for other in found[1:]:
            np.testing.assert_array_equal(found[0].view(np.int32), other.view(np.int32))
        np.testing.assert_allclose(found[0], _result(plain, x, make is gram, 1), 2e-4, 2e-3)


def _result(
    kernel: Kernel, x: NDArray[np.float32], square: bool, count: int
) -> NDArray[np.float32]:
    y = np.full((len(x), len(x)) if square else x.shape, np.nan, np.float32)
    set_num_threads(count)
    kernel(x, y)
    return y


@pytest.mark.parametrize("make", [elementwise, gram])
def test_each_nest_is_parallel_under_a_condition_in_the_lowered_function(
    make: Callable[[], PrimFunc],
) -> None:
    lowered = irkit.lower(make(), schedule="auto")
    found = parallel(lowered)
    assert found
    assert all(dict(loop.attrs)["parallel_least"] == threads.WORTH for loop in found)


def test_constant_work_is_decided_when_the_function_is_scheduled() -> None:
    x = te.placeholder((1024, 1024), name="x")
    func = te.create_prim_func([x, te.compute(x.shape, lambda i, j: te.exp(x[i, j]), name="y")])
    scheduled = automatic_schedule(func, Machine.with_vectors(32))
    assert scheduled is not None
    assert [dict(loop.attrs) for loop in parallel(scheduled.func)] == [{}]


def test_threads_start_only_for_work_enough() -> None:
    kernel = irkit.build(elementwise())
    set_num_threads(2)
    if os.fork() == 0:  # Dismisses the threads of the pool here, and leaves the child without.
        os._exit(0)
    os.wait()
    before = len(os.listdir("/proc/self/task"))
    counts: list[int] = []
    for rows in (1, 500, 600):
        x = np.zeros((rows, 512), np.float32)
        kernel(x, np.empty_like(x))
        counts.append(len(os.listdir("/proc/self/task")) - before)
    assert counts == [0, 0, 1]
