"""Any sequence of primitives on loops keeps the results; illegal steps are refused."""

from copy import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit.core import ScheduleError, walk
from irkit.fuzz.generators.seed_corpus.texts import BLOCK_PROGRAMS
from irkit.ir import Block, Buffer, For, PrimFunc, evaluate, interpret, parse, shape_vars
from irkit.phases import build
from irkit.schedule import BlockRef, LoopRef, Schedule, ScheduleTrace
from tests.draws import few_or_all
from tests.schedule.kernels import chain, matmul_relu

SUMS = """def f(A: f32[6, 5, 4], B: f32[6], C: f32[6], D: f32[1]):
    for i in serial(0, 6):
        for k in serial(0, 5):
            for m in serial(0, 4):
                with block("B"):
                    vi = axis.spatial(6, i)
                    vk = axis.reduce(5, k)
                    vm = axis.reduce(4, m)
                    with init():
                        B[vi] = f32(1.0)
                    B[vi] = max(B[vi], A[vi, vk, vm])
    for i in serial(0, 6):
        for k in serial(0, 5):
            with block("C"):
                vi = axis.spatial(6, i)
                vk = axis.reduce(5, k)
                with init():
                    C[vi] = f32(0.0)
                C[vi] = C[vi] + A[5 - vi, vk, 0] * B[vi]
    for i in serial(0, 6):
        with block("D"):
            vi = axis.reduce(6, i)
            with init():
                D[0] = f32(0.0)
            D[0] = D[0] * f32(2.0) + C[vi]
"""

EMPTY = """def f(N: f32[n], A: f32[n + 16, n + 16], B: f32[n + 16, n + 16], C: f32[n + 16]):
    for i in serial(0, n - 4):
        for j in serial(0, n - 4):
            with block("B"):
                v = axis.spatial(n - 4, i)
                w = axis.spatial(n - 4, j)
                B[v, w] = A[w, v] * f32(2.0) + f32(1.0)
    for i in serial(0, (n - 3) // 2):
        for k in serial(0, n - 4):
            with block("C"):
                v = axis.spatial((n - 3) // 2, i)
                k0 = axis.reduce(n - 4, k)
                with init():
                    C[v] = f32(0.0)
                C[v] = C[v] + B[v, k0]
    for i in serial(1, n - 4):
        for j in serial(0, min(n, 5) - 4):
            with block("A"):
                v = axis.spatial(n, i)
                w = axis.spatial(min(n, 5) - 4, j)
                A[v, w] = B[v, w] + f32(3.0)
"""
"""Every loop is empty, or ends before it begins, for small ``n``."""

FUNCS: dict[str, PrimFunc] = {
    "halo": parse(BLOCK_PROGRAMS["HALO"].strip() + "\n"),
    "sums": parse(SUMS),
    "empty": parse(EMPTY),
    "chain": chain(9),
    "matmul": matmul_relu(5, 6, 4),
}

PRIMITIVES = (
    *("split", "shift_tail", "fuse", "reorder", "tile", "loop_partition", "cut_loop"),
    *("join_loops", "shift_loop", "merge", "fission", "lift_loop", "lift_if", "parallel"),
    *("vectorize", "bind", "decompose", "follow", "add_unit_loop", "env_threads", "unroll"),
)


def step(sch: Schedule, what: str, at: list[int]) -> None:
    """Apply a primitive to loops and blocks chosen by numbers."""
    found = [LoopRef(loop.var) for loop in walk(sch.func, on=For)]
    blocks = [BlockRef(block.name) for block in walk(sch.func, on=Block)]
    first = at[0] % len(found)  # The others come soon after it: far ones seldom go together.
    a, b, c = (found[(first + more) % len(found)] for more in (0, 1 + at[1] % 3, 2 + at[1] % 3))
    block, other = (blocks[number % len(blocks)] for number in at[:2])
    n = at[2] % 5 + 1
    calls: dict[str, Any] = {
        "split": lambda: sch.split(a, [None, n]),
        "shift_tail": lambda: sch.split(a, [None, n], tail="shift"),
        "fuse": lambda: sch.fuse(a, b),
        "reorder": lambda: sch.reorder(a, b, c) if c not in (a, b) else sch.reorder(a, b),
        "tile": lambda: sch.tile(a, b, 2, n),
        "loop_partition": lambda: sch.loop_partition(a, [1, None, n]),
        "cut_loop": lambda: sch.cut_loop(a, n),
        "join_loops": lambda: sch.join_loops(a, b),
        "shift_loop": lambda: sch.shift_loop(a, n - 3),
        "merge": lambda: sch.merge(a, b),
        "fission": lambda: sch.fission(a, block if at[2] % 2 else b),
        "lift_loop": lambda: sch.lift_scope(a),
        "lift_if": lambda: sch.lift_scope(block),
        "parallel": lambda: sch.parallel(a),
        "vectorize": lambda: sch.vectorize(a),
        "bind": lambda: sch.bind(a, ("threadIdx.x", "blockIdx.x", "vthread")[at[1] % 3]),
        "decompose": lambda: sch.decompose_reduction(block, a),
        "follow": lambda: sch.reverse_compute_at(other, a),
        "add_unit_loop": lambda: sch.add_unit_loop(block),
        "env_threads": lambda: sch.env_threads(block, [("threadIdx.y", n)]),
        "unroll": lambda: sch.unroll(a),
    }
    calls[what]()


def assert_native(func: PrimFunc, scheduled: PrimFunc) -> None:
    """Compare a scheduled function after all passes with the original function."""
    kernel = build(scheduled)
    for size in (9, 2) if shape_vars(func) else (0,):
        assert_native_at(func, kernel, size)


def assert_native_at(func: PrimFunc, kernel: Any, size: int) -> None:
    rng, sizes = np.random.default_rng(0), dict.fromkeys(shape_vars(func), size)
    arrays: list[Any] = []
    for param in func.params:
        if isinstance(param, Buffer):
            shape = [int(evaluate(dim, sizes)) for dim in param.shape]
            arrays.append(rng.integers(-3, 4, shape).astype(np.float32))
        else:
            arrays.append(np.int64(3))
    expected, found = [copy(each) for each in arrays], [copy(each) for each in arrays]
    interpret(func, *expected)
    kernel(*found)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


STEPS = st.lists(
    st.tuples(st.sampled_from(PRIMITIVES), st.lists(st.integers(0, 30), min_size=3, max_size=3)),
    min_size=4,
    max_size=10,
)


@pytest.mark.parametrize("name", FUNCS)
@settings(max_examples=few_or_all(10, 25), deadline=None, derandomize=True)
@given(steps=STEPS)
def test_primitives_in_any_order_keep_results_or_are_refused(
    name: str, steps: list[tuple[str, list[int]]]
) -> None:
    sch = Schedule(FUNCS[name], check="each")
    for what, at in steps:
        try:
            step(sch, what, at)
        except ScheduleError as error:
            if "changed the result" in str(error):
                raise
    assert_native(FUNCS[name], sch.func)
    again = Schedule(FUNCS[name], check="off")
    ScheduleTrace.from_json(sch.trace.as_json()).apply(again)
    assert [loop.kind for loop in walk(again.func, on=For)] == [
        loop.kind for loop in walk(sch.func, on=For)
    ]
