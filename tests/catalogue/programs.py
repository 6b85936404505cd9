"""Programs that several entries run on, as IR text."""

import re
from textwrap import indent

from irkit.core import rewrite
from irkit.ir import PrimFunc, Stmt, Store, parse


def each(types: str, out: str, value: str, n: str = "64") -> str:
    """Return a loop that computes an element from the elements of A, B, D at the same place.

    ``types`` are their element types, separated by spaces; ``out`` is that of the result ``C``.
    """
    params = "".join(f"{name}: {t}[{n}], " for name, t in zip("ABDE", types.split(), strict=False))
    return f"def f({params}C: {out}[{n}]):\n    for i in serial(0, {n}):\n        C[i] = {value}\n"


def kernel(params: str, body: str) -> str:
    """Return a function from its parameters and its body."""
    lines = body.strip("\n")
    width = len(re.match(" *", lines)[0])
    lines = "\n".join(line[width:] for line in lines.split("\n"))
    return f"def f({params}):\n{indent(lines, '    ').rstrip()}\n"


def reduce(t: str, init: str, step: str, rows: str = "4", k: str = "24") -> str:
    """Return a reduction of the rows of A into C; ``step`` speaks of C[i] and A[i, k]."""
    return kernel(
        f"A: {t}[{rows}, {k}], C: {t}[{rows}]",
        f"""
        for i in serial(0, {rows}):
            C[i] = {init}
            for k in serial(0, {k}):
                C[i] = {step}
        """,
    )


MATMUL = kernel(
    "A: f32[8, 12], B: f32[12, 16], C: f32[8, 16]",
    """
    for i in serial(0, 8):
        for j in serial(0, 16):
            C[i, j] = f32(0.0)
            for k in serial(0, 12):
                C[i, j] = C[i, j] + A[i, k] * B[k, j]
    """,
)

SOFTMAX = kernel(
    "A: f32[4, 10], C: f32[4, 10]",
    """
    for i in serial(0, 4):
        M = alloc(f32[1])
        S = alloc(f32[1])
        M[0] = f32("-inf")
        for j in serial(0, 10):
            M[0] = max(M[0], A[i, j])
        S[0] = f32(0.0)
        for j in serial(0, 10):
            C[i, j] = exp(A[i, j] - M[0])
            S[0] = S[0] + C[i, j]
        for j in serial(0, 10):
            C[i, j] = C[i, j] / S[0]
    """,
)

STENCIL = kernel(
    "A: f32[n], C: f32[n]",
    """
    for i in serial(1, n - 1):
        C[i] = (A[i - 1] + A[i] + A[i + 1]) / f32(3.0)
    """,
)


def deep_sum() -> PrimFunc:
    """Return a function that stores a sum of 3,001 terms, one inside the other."""
    func = parse("def f(A: i32[4]):\n    A[0] = A[1]\n")

    def grow(store: Store) -> Stmt:
        value = store.value
        for _ in range(3000):
            value = value + store.value
        return store.replace(value=value)

    return rewrite(func, grow)
