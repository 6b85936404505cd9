"""Random programs and their runs, shared by the tests of analyses."""

from typing import Any

from hypothesis import settings

from irkit.core import symbols_bound
from irkit.ir import Buffer, PrimFunc
from tests.draws import few_or_all

MANY = settings(max_examples=few_or_all(48, 120), deadline=None, derandomize=True)


def symbols(func: PrimFunc) -> list[Any]:
    return [b for b in symbols_bound(func) if isinstance(b, Buffer)]


PRECISE = """def f(A: i64[64], B: i64[8, 8]):
    for i in serial(0, 4):
        for j in serial(0, 4):
            A[i * 4 + j] = A[i * 4 + j] + 1
    for p in serial(0, 64):
        B[p // 8, p % 8] = 1
    for q in serial(0, 8):
        T = alloc(i64[8])
        T[0] = A[q]
        B[q, 0] = T[0]
    for r in serial(0, 4):
        for s in serial(0, 5):
            A[r * 4 + s] = 1
    for t in serial(0, 8):
        A[t] = A[t + 8]
    for u in serial(0, 8):
        A[u] = A[u + 7]
    for v in serial(0, 8):
        A[v - v // 2] = 1
    for w in serial(0, 8):
        A[0] = A[w + 8]
    for x in serial(0, 4):
        for y in serial(0, 12):
            A[x * 4 + y % 4] = A[x * 4 + y // 3]
    for z in serial(0, 4):
        for a in serial(0, 12):
            A[z * 4 + a % 5] = 1
"""
