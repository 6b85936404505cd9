"""Masked stores to memory of the thread alone are blended: wider loads follow them."""

import numpy as np

from irkit.codegen import emit, host_target
from irkit.core import Target
from irkit.ir import parse
from irkit.runtime import compile_functions

KERNEL = """
def main(A: f32[8], C: f32[8], n: i32):
    T = alloc(f32[SIZE], scope="SCOPE")
    T[ramp(i32(0), i32(1), 8)] = broadcast(f32(1.0), 8)
    few: boolx8 = ramp(i32(0), i32(1), 8) < broadcast(n, 8)
    store(T, (ramp(i32(AT), i32(1), 8),), A[ramp(i32(0), i32(1), 8)], mask=few)
    C[ramp(i32(0), i32(1), 8)] = T[ramp(i32(0), i32(1), 8)]
"""


def kernel(size: int = 8, scope: str = "local", at: int = 0) -> str:
    return KERNEL.replace("SIZE", str(size)).replace("SCOPE", scope).replace("AT", str(at))


def is_masked(text: str) -> bool:
    return "llvm.masked.store" in emit([parse(text)], host_target())


def test_other_lanes_keep_their_values() -> None:
    run = compile_functions({"main": parse(kernel())}, Target())["main"]
    assert not is_masked(kernel())
    given, found = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    for count in range(9):
        run(given, found, count)
        np.testing.assert_array_equal(found, np.where(np.arange(8) < count, given, 1))


def test_lanes_beyond_the_end_stay_masked() -> None:
    assert is_masked(kernel(at=1))
    assert is_masked(kernel(size=12, at=5))
    assert not is_masked(kernel(size=12, at=4))


def test_memory_that_others_see_stays_masked() -> None:
    assert is_masked(kernel(scope="global"))


def test_memory_around_a_parallel_loop_stays_masked() -> None:
    """Another thread may write the other lanes at the same time."""
    text = """
def main(A: f32[8], C: f32[8]):
    T = alloc(f32[8], scope="local")
    for i in parallel(i32(0), i32(2)):
        half: boolx8 = ramp(i32(0), i32(1), 8) % broadcast(i32(2), 8) == broadcast(i, 8)
        store(T, (ramp(i32(0), i32(1), 8),), A[ramp(i32(0), i32(1), 8)], mask=half)
    C[ramp(i32(0), i32(1), 8)] = T[ramp(i32(0), i32(1), 8)]
"""
    assert is_masked(text)
