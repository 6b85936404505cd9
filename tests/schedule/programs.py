"""Functions, and a check of refusals, for the tests of several primitives."""

from collections.abc import Callable

import pytest

import irkit
from irkit import te
from irkit.core import ScheduleError
from irkit.ir import PrimFunc
from irkit.schedule import Schedule

IN_PLACE = """def f(A: f32[8, 8], B: f32[8, 8]):
    for i in serial(0, 6):
        for j in serial(0, 6):
            with block("B"):
                v = axis.spatial(6, i)
                w = axis.spatial(6, j)
                B[v + 1, w + 1] = A[v + 1, w] + f32(1.0)
            with block("A"):
                v = axis.spatial(6, i)
                w = axis.spatial(6, j)
                A[v, w] = B[v, w + 1] * f32(2.0)
"""


def refuses(func: PrimFunc, what: Callable[[Schedule], object], reason: str) -> None:
    sch = Schedule(func, check="each")
    with pytest.raises(ScheduleError, match=reason):
        what(sch)


def added() -> irkit.IRModule:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] + 1.0, name="B")
    return irkit.IRModule({"main": te.create_prim_func([a, b])})
