"""Adjacent and merged nests, and the ranges of loops."""

from typing import Any

from irkit import te
from irkit.core import walk
from irkit.ir import For, PrimFunc, parse, script
from irkit.schedule import Schedule

BODY = """def f(A: f32[12], B: f32[12], C: f32[12]):
    for i in serial(0, 8):
        with block("B"):
            v = axis.spatial(8, i)
            B[{b}] = A[v] + f32(1.0)
    for j in serial(0, 8):
        with block("C"):
            w = axis.spatial(8, j)
            {c}
"""


def apart(b: str, c: str) -> PrimFunc:
    return parse(BODY.format(b=b, c=c))


def together(b: str, c: str) -> PrimFunc:
    text = BODY.format(b=b, c=c).replace("    for j in serial(0, 8):\n", "")
    return parse(text.replace("axis.spatial(8, j)", "axis.spatial(8, i)"))


def planes(m: int, n: int) -> PrimFunc:
    a = te.placeholder((m, n), name="A")
    b = te.compute((m, n), lambda i, j: a[i, j] + 1.0, name="B")
    c = te.compute((m, n), lambda i, j: b[i, j] * 2.0, name="C")
    return te.create_prim_func([a, c])


# Second parts that may run between iterations of the first part, or only after all of them.
ORDERS = [
    ("v", "C[w] = B[w]", True),
    ("v + 1", "C[w] = B[w]", True),
    ("v", "C[w] = B[w + 1]", False),
    ("v + 1", "C[w] = B[w + 2]", False),
    ("0", "C[w] = B[0]", False),
    ("v", "C[w] = B[7 - w]", False),
    ("v", "A[w] = f32(0.0)", True),
    ("v", "A[w + 1] = f32(0.0)", False),
    ("v", "B[w] = f32(0.0)", True),
    ("v", "B[w + 1] = f32(0.0)", False),
]


def ranges(sch: Schedule) -> list[str]:
    return [f"{script(loop.begin)}:{script(loop.end)}" for loop in walk(sch.func, on=For)]


def ends(sch: Schedule, refs: list[Any]) -> list[str]:
    return [script(sch.loop(ref).end) for ref in refs]
