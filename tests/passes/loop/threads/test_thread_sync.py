"""Barriers are inserted where threads need them."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit.core import rewrite
from irkit.fuzz.generators.seed_corpus.texts import THREADS
from irkit.ir import Evaluate, seq
from irkit.ir.threads import is_barrier
from irkit.passes.loop import thread_sync
from tests.passes.loop.threads.execution import (
    func_of,
    interpreted,
    native,
    same_bits,
    small_integers,
)

REDUCTION = """
def tree(A: i32[{blocks}, {threads}], C: i32[{blocks}]):
    for b in thread(0, {blocks}, "blockIdx.x"):
        S = alloc(i32[{threads}], scope="shared")
        for t in thread(0, {threads}, "threadIdx.x"):
            S[t] = A[b, t]
            for s in serial(0, {rounds}):
                if t + (1 << s) < {threads} and t % (2 << s) == 0:
                    S[t] = S[t] + S[t + (1 << s)]
            if t == 0:
                C[b] = S[0]
"""


@settings(max_examples=12, deadline=None, derandomize=True)
@given(st.integers(1, 4), st.integers(1, 13))
def test_a_tree_of_any_size_gets_its_barriers_and_sums(blocks: int, threads: int) -> None:
    rounds = max(1, (threads - 1).bit_length())
    func = func_of(REDUCTION.format(blocks=blocks, threads=threads, rounds=rounds))
    arrays = small_integers(func)
    for made in (interpreted(thread_sync(func), arrays), native(func, arrays)):
        assert (made[1] == arrays[0].sum(1)).all()


@pytest.mark.parametrize(
    "name", ["THREAD_MATMUL", "THREAD_SOFTMAX", "THREAD_STENCIL", "THREAD_TREE"]
)
def test_missing_barriers_are_inserted(name: str) -> None:
    func = func_of(THREADS[name])
    bare = rewrite(func, lambda stmt: seq() if is_barrier(stmt) else None, on=Evaluate)
    assert bare is not func
    arrays = small_integers(func)
    synced = thread_sync(bare)
    assert same_bits(interpreted(synced, arrays), interpreted(func, arrays))
    assert thread_sync(func) is func


def test_threads_inside_a_loop_of_other_threads_get_their_barrier() -> None:
    func = func_of("""
def f(A: i32[2], C: i32[2, 2]):
    S = alloc(i32[2, 2], scope="shared")
    for y in thread(0, 2, "threadIdx.y"):
        for k in serial(0, 1):
            for t in thread(0, 2, "threadIdx.x"):
                S[y, t] = A[t]
                C[y, t] = S[y, 1 - t]
""")
    arrays = [np.array([3, 4], np.int32), np.zeros((2, 2), np.int32)]
    assert interpreted(thread_sync(func), arrays)[1].tolist() == [[4, 3]] * 2
    assert native(func, arrays)[1].tolist() == [[4, 3]] * 2
