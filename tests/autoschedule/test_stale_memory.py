"""What memory held before a call does not slow the call down: numbers near zero are slow to
multiply, so padding is written where it is packed.

The test of time finds a fault only on processors on which such numbers are slow (they are not on
Zen 3); the one that all is written finds it on every one.
"""

import math
import time
from typing import Any

import numpy as np
import pytest

from irkit.autoschedule import Machine, auto_schedule
from irkit.core import Target, rewrite, walk
from irkit.ir import (
    Allocate,
    Block,
    Buffer,
    Conditional,
    PrimFunc,
    Stmt,
    Store,
    as_int,
    numpy_dtype,
)
from irkit.phases import DEFAULT
from irkit.runtime import compile_functions, set_num_threads
from tests.autoschedule.products.test_products import arrays_of, product

ROUNDS = 15
SMALLEST = {"float32": 1e-41, "float64": 1e-310}
"""Numbers with fewer bits than others: denormals."""


def lent(func: PrimFunc) -> PrimFunc:
    """Return a lowered function that takes its memory from its caller, as more arguments."""
    buffers = [stmt.buffer for stmt in walk(func, on=Allocate) if stmt.buffer.scope == "global"]

    def body_alone(stmt: Allocate) -> Stmt | None:
        return stmt.body if stmt.buffer in buffers else None

    made = rewrite(func, body_alone)
    return made.replace(params=(*made.params, *buffers))


class Borrower:
    """A function that is called with memory of this test for what it packs."""

    def __init__(self, func: PrimFunc) -> None:
        made = lent(DEFAULT.run(func))
        self.kernel = compile_functions({"main": made}, Target())["main"]
        self.arrays = [array / 4 + 2 for array in arrays_of(func)]
        self.scratch: list[Any] = []
        for param in made.params[len(func.params) :]:
            assert isinstance(param, Buffer)
            count = math.prod(as_int(dim) or 0 for dim in param.shape)
            self.scratch.append(np.zeros(count, numpy_dtype(param.dtype)))
        assert self.scratch, "nothing is packed"

    def call(self, value: float) -> int:
        """Return the nanoseconds of a call on one thread, with memory full of a number."""
        set_num_threads(1)
        for each in self.scratch:
            each.fill(value)
        start = time.thread_time_ns()
        self.kernel(*self.arrays, *self.scratch)
        return time.thread_time_ns() - start

    def left(self, value: float) -> int:
        """Return how many elements a call leaves as they were."""
        self.call(value)
        return sum(int(np.count_nonzero(each == value)) for each in self.scratch)


CASES = [
    ((100, 100, 100), (False, False), 64),
    ((101, 97, 103), (False, True), 64),
    ((33, 50, 30), (False, True), 16),
]


@pytest.mark.parametrize("dtype", SMALLEST)
@pytest.mark.parametrize(("sizes", "transposed", "vector"), CASES)
def test_all_that_is_packed_is_written(
    sizes: tuple[int, int, int], transposed: tuple[bool, bool], vector: int, dtype: str
) -> None:
    func = product(*sizes, transposed=transposed, dtype=dtype)
    made = Borrower(auto_schedule(func, Machine.with_vectors(vector)))
    assert made.left(SMALLEST[dtype]) == 0


@pytest.mark.parametrize("dtype", SMALLEST)
def test_denormals_in_memory_change_no_times(dtype: str) -> None:
    made = Borrower(auto_schedule(product(100, 100, 100, dtype=dtype)))
    times = [(made.call(0.0), made.call(SMALLEST[dtype])) for _ in range(ROUNDS)]
    zeros, denormals = map(min, zip(*times, strict=True))
    assert denormals < 1.5 * zeros


def without_zeros(func: PrimFunc) -> PrimFunc:
    """Leave the padding of packed operands as it is in memory."""

    def stale(store: Store) -> Store | None:
        if not isinstance(store.value, Conditional):
            return None
        return store.replace(value=store.value.replace(otherwise=store.buffer[store.indices]))

    return rewrite(func, stale)


def test_padding_that_keeps_what_was_there_is_noticed() -> None:
    made = auto_schedule(product(33, 50, 30, transposed=(False, True)))
    assert [block for block in walk(made, on=Block) if block.name == "C_pad_B"]
    assert Borrower(without_zeros(made)).left(SMALLEST["float32"]) > 0
