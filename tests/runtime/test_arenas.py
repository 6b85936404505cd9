"""Arenas of calls that run at the same time are given back."""

import threading
import tracemalloc

import numpy as np
import pytest

from irkit.core import ALIGNMENT
from irkit.graph import Builder, tensor_type
from irkit.runtime.arenas import Arenas
from tests.runtime.models import compiled, kernel

MEGABYTE = 1 << 20
COUNT = 16


def test_the_memory_of_many_threads_is_given_back() -> None:
    b = Builder()
    x = b.param("x", (1024, 1024))  # 4 MB, and so is the arena.
    rows = b.op("softmax", x, axis=1)
    model = compiled(b.finish(b.op("sum", b.op("softmax", rows, axis=0), axes=(0, 1))))
    arena_bytes = model.plan.arena_bytes
    assert isinstance(arena_bytes, int)
    assert arena_bytes >= 4 * MEGABYTE
    given = np.ones((1024, 1024), np.float32)
    start = threading.Barrier(COUNT)
    tracemalloc.start()

    def work() -> None:
        start.wait()
        for _ in range(2):
            model.run({"x": given})

    try:
        model.run({"x": given})
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        threads = [threading.Thread(target=work) for _ in range(COUNT)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - before > 2 * arena_bytes  # Several ran at the same time.
    assert after - before < MEGABYTE


def test_as_many_arenas_stay_free_as_calls_still_run() -> None:
    arenas = Arenas()
    taken = [arenas.take(1 << 10) for _ in range(6)]
    assert len({array.address for array in taken}) == 6
    assert all(array.address % ALIGNMENT == 0 and array.size == 1 << 10 for array in taken)
    kept: list[int] = []
    for array in taken:
        arenas.give_back(array)
        kept.append(len(arenas._free))  # pyright: ignore[reportPrivateUsage]
    assert kept == [0, 1, 2, 2, 1, 0]


def test_one_call_after_another_uses_one_arena() -> None:
    arenas = Arenas()
    found = set[int]()
    for _ in range(5):
        arena = arenas.take(1 << 10)
        found.add(arena.address)
        arenas.give_back(arena)
    assert len(found) == 1


def test_a_free_arena_serves_a_smaller_call_and_makes_room_for_a_larger_one() -> None:
    arenas = Arenas()
    first = arenas.take(1 << 10)
    arenas.give_back(first)
    again = arenas.take(1 << 9)
    assert again is first
    arenas.give_back(again)
    assert arenas.take(1 << 11).size == 1 << 11
    assert not arenas._free  # pyright: ignore[reportPrivateUsage]


def test_an_arena_comes_back_from_a_call_that_fails() -> None:
    stops = kernel(
        'def stops(A: f32[4], B: f32[4]):\n    assert A[0] > f32(0.0), "positive"\n'
        "    for i in serial(0, 4):\n        B[i] = A[i]\n"
    )
    b = Builder()
    y = b.invoke("stops", b.op("exp2", b.param("x", (4,))), type=tensor_type((4,)), name="y")
    model = compiled(b.finish(y), stops=stops)
    for _ in range(3):
        with pytest.raises(Exception, match="stopped at assertion"):
            model.run({"x": np.full(4, -np.inf, np.float32)})
    arenas = model._arenas  # pyright: ignore[reportPrivateUsage]
    assert arenas._running == 0  # pyright: ignore[reportPrivateUsage]
    assert len(arenas._home) == 1  # pyright: ignore[reportPrivateUsage] -- no face shows it


def test_memory_that_is_not_there_leaves_the_count_as_it_was() -> None:
    arenas = Arenas()
    with pytest.raises(MemoryError):
        arenas.take(1 << 60)
    assert arenas._running == 0  # pyright: ignore[reportPrivateUsage]
