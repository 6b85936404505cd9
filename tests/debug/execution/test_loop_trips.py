"""The estimate of how much a function computes."""

from irkit.debug.execution.loop_trips import loop_trips
from irkit.ir import parse

NEST = """\
def f(A: f32[n, 8], n: i64):
    for i in serial(0, n):
        for j in serial(2, 6):
            for k in vectorized(0, 8):
                A[i, k] = A[i, k] + f32(1.0)
            for k in serial(0, 3):
                A[i, k] = f32(0.0)
    if n > 3:
        for i in serial(5, 1):
            A[i, 0] = f32(0.0)
"""


def test_constant_loops_multiply_and_neighbours_add() -> None:
    assert loop_trips(parse(NEST.replace(", n: i64", ""))) == 4 * (8 + 3)
