"""Programs over threads give the same bits in the interpreter and natively."""

import numpy as np
import pytest

from irkit.fuzz.generators.seed_corpus.texts import THREADS
from irkit.ir import no_thread_loops
from irkit.phases import build, lower
from tests.passes.loop.threads.execution import (
    func_of,
    interpreted,
    native,
    same_bits,
    small_integers,
)


@pytest.mark.parametrize("name", sorted(set(THREADS) - {"THREAD_SOFTMAX"}))
def test_native_code_gives_the_bits_of_threads_that_meet_at_barriers(name: str) -> None:
    func = func_of(THREADS[name])
    arrays = small_integers(func, m=3)
    assert same_bits(native(func, arrays), interpreted(func, arrays))


@pytest.mark.parametrize("name", THREADS)
def test_no_thread_loop_and_no_barrier_is_left(name: str) -> None:
    func = func_of(THREADS[name])
    assert no_thread_loops.predicate(func)
    assert not no_thread_loops.predicate(lower(func))


def test_programs_mean_what_they_say() -> None:
    a, b, c = (np.random.default_rng(1).integers(-4, 5, (8, 8)).astype(np.float32) for _ in "abc")
    for name in ("THREAD_MATMUL", "COOPERATIVE_MATMUL"):
        build(func_of(THREADS[name]))(a, b, c)
        assert (c == a @ b).all()
    x, y = np.linspace(-3, 5, 30, dtype=np.float32).reshape(3, 10), np.zeros((3, 10), np.float32)
    build(func_of(THREADS["THREAD_SOFTMAX"]))(x, y)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=1e-6)
    numbers, sums = np.arange(32, dtype=np.int32).reshape(4, 8), np.zeros(4, np.int32)
    build(func_of(THREADS["THREAD_TREE"]))(numbers, sums)
    assert (sums == numbers.sum(1)).all()
    line, out = np.arange(16, dtype=np.float32) ** 2, np.zeros(16, np.float32)
    build(func_of(THREADS["THREAD_STENCIL"]))(line, out)
    assert (out == np.convolve(line, [1, 2, 1], "same")).all()
