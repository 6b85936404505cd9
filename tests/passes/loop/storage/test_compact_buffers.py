"""Buffers shrink to the box of their accesses."""

import numpy as np
import pytest

from irkit.ir import PrimFunc, find_race, parse, script
from irkit.passes import loop
from tests.passes.loop.programs import body, func


def test_a_buffer_with_symbolic_sides_keeps_them() -> None:
    given = func(
        "T = alloc(f32[n, 64])",
        "for i in serial(0, n):",
        "    for j in serial(0, 4):",
        "        T[i, j + 2] = A[j]",
        "        C[j] = T[i, j + 2]",
    )
    assert "T = alloc(f32[n, 4])" in body(loop.compact_buffers(given))


TILES = """
def f(A: f32[16], C: f32[4, 4]):
    for t in thread(0, 4, "threadIdx.x"):
        for k in serial(0, 4):
            S = alloc(f32[16], scope="shared")
            for i in serial(0, 4):
                S[k * 4 + i] = A[k * 4 + i]
            evaluate(barrier())
            C[t, k] = S[k * 4 + 3 - t]
"""


def races(given: PrimFunc) -> bool:
    a, c = np.arange(16, dtype=np.float32), np.zeros((4, 4), np.float32)
    race = find_race(given, a, c)
    assert race is not None or (c == a.reshape(4, 4)[:, ::-1].T).all()
    return race is not None


def test_threads_wait_before_they_write_a_shared_tile_again() -> None:
    given = parse(TILES)
    made = loop.compact_buffers(given)
    assert "S = alloc(f32[4]" in script(made)
    assert script(made).count("barrier()") == 2
    assert not races(given)
    assert not races(made)


@pytest.mark.parametrize("around", ["for k in serial(0, 3 + t % 2)", "if t < 3"])
def test_a_shared_tile_stays_large_where_threads_do_not_come_together(around: str) -> None:
    lines = TILES.replace("            evaluate(barrier())\n", "").splitlines()
    lines.insert(3, "        evaluate(barrier())")
    if around.startswith("for"):
        lines[4] = f"        {around}:"
    else:
        lines[5:] = [f"            {around}:", *("    " + line for line in lines[5:])]
    made = loop.compact_buffers(parse("\n".join(lines) + "\n"))
    assert "S = alloc(f32[16]" in script(made)


def test_threads_in_step_get_a_small_tile_without_barriers() -> None:
    given = parse(TILES.replace("            evaluate(barrier())\n", ""))
    assert "barrier" not in script(loop.compact_buffers(given))
