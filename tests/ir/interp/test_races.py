"""Races that a recorded run finds: the element, both iterations and both lines; and no others."""

import numpy as np
import pytest

from irkit.ir import Buffer, PrimFunc, Race, as_int, find_race, parse
from irkit.ir.numpy_types import numpy_dtype


def race(text: str, values: int | None = None) -> Race | None:
    func = parse(text.lstrip("\n"), file="a.irs")
    assert isinstance(func, PrimFunc)
    generator = np.random.default_rng(0)
    args: list[object] = []
    for param in func.params:
        assert isinstance(param, Buffer)
        shape = tuple(as_int(size) or 0 for size in param.shape)
        kind = numpy_dtype(param.dtype)
        drawn = generator.permutation(int(np.prod(shape))).reshape(shape)
        args.append((drawn if values is None else np.full(shape, values)).astype(kind))
    return find_race(func, *args)


# Each with the iterations, element and line of both accesses.
BAD = {
    "parallel reduction": (
        """
def f(A: f32[8], C: f32[1]):
    for k in parallel(0, 8):
        C[0] = C[0] + A[k]
""",
        ("k = 0 writes C[0] at a.irs:3", "k = 1 reads C[0] at a.irs:3"),
    ),
    "overlapping writes by stride": (
        """
def f(A: f32[16]):
    for i in parallel(0, 4):
        for j in serial(0, 4):
            A[i * 3 + j] = f32(1.0) if j < 3 else f32(2.0)
""",
        ("i = 0 writes A[3] at a.irs:4", "i = 1 writes A[3] at a.irs:4"),
    ),
    "carried via view": (
        """
def f(A: f32[9]):
    V = view(A, f32[8], offset=1)
    for i in parallel(0, 8):
        V[i] = A[i] + f32(1.0)
""",
        ("i = 0 writes V[0] at a.irs:4", "i = 1 reads A[1] at a.irs:4"),
    ),
    "histogram scatter": (
        """
def f(P: i64[4], H: i64[4]):
    for i in parallel(0, 4):
        H[P[i] // 2] = H[P[i] // 2] + 1
""",
        ("writes H[", "reads H["),
    ),
    "missing barrier, read after write": (
        """
def f(A: f32[4], C: f32[4]):
    s = alloc(f32[4], scope="shared")
    for t in thread(0, 4, "threadIdx.x"):
        s[t] = A[t]
        C[t] = s[3 - t]
""",
        ("t = 1 reads s[2] at a.irs:5", "t = 2 writes s[2] at a.irs:4"),
    ),
    "missing barrier, write after read": (
        """
def f(A: f32[4], C: f32[4]):
    s = alloc(f32[4], scope="shared")
    for t in thread(0, 4, "threadIdx.x"):
        for k in serial(0, 2):
            s[t] = A[t] + f32(k)
            evaluate(barrier())
            C[t] = s[3 - t]
""",
        ("with no barrier between", "t = 1 writes s[1] at a.irs:5", "t = 2 reads s[1] at a.irs:7"),
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_race_is_found_with_its_element_and_lines(name: str) -> None:
    text, words = BAD[name]
    found = race(text)
    assert found is not None
    for word in words:
        assert word in str(found), str(found)


GOOD = {
    "each iteration its own element": """
def f(A: f32[8], C: f32[8]):
    for i in parallel(0, 8):
        C[i] = A[7 - i]
""",
    "memory of an iteration": """
def f(A: f32[8], C: f32[8]):
    for i in parallel(0, 8):
        T = alloc(f32[1])
        T[0] = A[i]
        C[i] = T[0]
""",
    "one same value": """
def f(A: f32[8], C: f32[1]):
    for i in parallel(0, 8):
        if A[i] >= f32(0.0):
            C[0] = f32(1.0)
""",
    "one parallel loop after the other": """
def f(A: f32[8], C: f32[8]):
    for i in parallel(0, 8):
        C[i] = A[i]
    for j in parallel(0, 8):
        A[j] = C[7 - j]
""",
    "a barrier between": """
def f(A: f32[4], C: f32[4]):
    s = alloc(f32[4], scope="shared")
    for t in thread(0, 4, "threadIdx.x"):
        s[t] = A[t]
        evaluate(barrier())
        C[t] = s[3 - t]
""",
    "two barriers in a loop": """
def f(A: f32[4], C: f32[4]):
    s = alloc(f32[4], scope="shared")
    for t in thread(0, 4, "threadIdx.x"):
        for k in serial(0, 2):
            s[t] = A[t] + f32(k)
            evaluate(barrier())
            C[t] = s[3 - t]
            evaluate(barrier())
""",
    "lanes of one store": """
def f(A: f32[8], C: f32[8]):
    C[ramp(0, 0, 4)] = A[ramp(0, 1, 4)]
""",
}


@pytest.mark.parametrize("name", GOOD)
def test_a_program_without_races_is_left_alone(name: str) -> None:
    assert race(GOOD[name]) is None


def test_barriers_do_not_join_blocks() -> None:
    found = race(
        """
def f(A: f32[4], C: f32[2]):
    for b in thread(0, 2, "blockIdx.x"):
        for t in thread(0, 2, "threadIdx.x"):
            if b == 0:
                C[t] = A[b * 2 + t]
            evaluate(barrier())
            if b == 1:
                C[t] = A[b * 2 + t]
"""
    )
    assert found is not None
    assert "b = 0, t = 0 writes C[0] at a.irs:5; b = 1, t = 0 writes C[0] at a.irs:8" in str(found)
